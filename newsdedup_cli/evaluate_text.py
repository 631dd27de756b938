"""An evaluation as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from newsdedup_cli.evaluate import Evaluation, PairKind, RowKind, Score
from newsdedup_cli.evaluate_mistakes import Mistake
from newsdedup_cli.evaluate_sweep import Point

BAR = 24  # characters of a whole bar


def as_text(made: Evaluation, points: Sequence[Point] = ()) -> str:
    """All of it: figures, kinds, curves, mistakes."""
    parts = [_figures(made), _kinds(made), _curves(points), _mistakes(made.mistakes)]
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def _figures(made: Evaluation) -> Iterator[str]:
    unit = "pairs" if made.stories is None and made.ari is None else "rows"
    yield (f"{made.compared:,} {unit} compared, {made.undecided:,} undecided, {made.not_in_report:,} not in the report")
    yield ""
    yield f"{'':10}{'precision':>10}{'recall':>10}{'F1':>10}{'right':>12}{'found':>12}{'true':>12}"
    yield _score("pairs", made.pairs)
    if made.clusters:
        yield _score("clusters", made.clusters)
    if made.ari is not None:
        yield f"{'ARI':10}{made.ari:10.4f}"
    if made.stories:
        s = made.stories
        yield ""
        yield f"stories lost       {s.lost:,} of {s.true:,} (none of their rows was kept)"
        yield f"copies left over   {s.left_over:,} of {s.kept_rows:,} rows kept"


def _score(name: str, score: Score) -> str:
    shares = "".join(_share(value) for value in (score.precision, score.recall, score.f1))
    return f"{name:10}{shares}{score.right:12,}{score.found:12,}{score.true:12,}"


def _share(value: float | None) -> str:
    return f"{'-':>10}" if value is None else f"{value:10.4f}"


def _kinds(made: Evaluation) -> Iterator[str]:
    if not made.kinds:
        return
    width = max(len("kind"), *map(len, made.kinds)) + 2
    kinds: Mapping[str, RowKind | PairKind] = made.kinds
    names = [f.name for f in fields(next(iter(kinds.values()))) if f.name != "recall"]
    yield f"{'kind':{width}}{'recall':>10}" + "".join(f"{name.replace('_', ' '):>16}" for name in names)
    for name, kind in kinds.items():
        yield f"{name:{width}}{_share(kind.recall)}" + _counts(kind, names)


def _counts(kind: RowKind | PairKind, names: list[str]) -> str:
    return "".join(f"{getattr(kind, name):16,}" for name in names)


def _curves(points: Sequence[Point]) -> Iterator[str]:
    """Both curves; at the thresholds of the report stands a *."""
    used = next((point for point in points if point.used), None)
    if used is None:
        return
    over = [p for p in points if p.min_score == used.min_score]
    yield from _curve("max distance", [(f"{p.max_distance}", p) for p in over])
    over = sorted((p for p in points if p.max_distance == used.max_distance), key=lambda p: p.min_score)
    if len(over) > 1:
        yield ""
        yield from _curve("min score", [(f"{p.min_score:.2f}", p) for p in over])


def _curve(name: str, points: Sequence[tuple[str, Point]]) -> Iterator[str]:
    yield (
        f"{name:>13}{'precision':>10}{'recall':>10}{'lost':>7}{'left over':>11}  {'precision':{BAR}}  {'recall':{BAR}}"
    )
    for label, point in points:
        pairs, stories = point.figures.pairs, point.figures.stories
        lost, left = (f"{stories.lost:,}", f"{stories.left_over:,}") if stories else ("-", "-")
        yield (
            f"{label:>12}{'*' if point.used else ' '}{_share(pairs.precision)}{_share(pairs.recall)}"
            f"{lost:>7}{left:>11}  {_bar(pairs.precision)}  {_bar(pairs.recall)}"
        ).rstrip()


def _bar(share: float | None) -> str:
    """A bar of eighths of characters.

    >>> _bar(0.53).rstrip()
    '████████████▊'
    """
    eighths = round((share or 0) * BAR * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(BAR)


def _mistakes(mistakes: Sequence[Mistake]) -> Iterator[str]:
    headings = {"merged": "different, but in one cluster", "missed": "the same, but in two clusters"}
    for what, heading in headings.items():
        some = [mistake for mistake in mistakes if mistake.what == what]
        if some:
            yield f"{heading}, the worst first:"
            for mistake in some:
                yield from _mistake(mistake)


def _mistake(mistake: Mistake) -> Iterator[str]:
    about = [f"{mistake.rows} rows" if mistake.rows > 1 else ""]
    about.append("story lost" if mistake.lost else "")
    if mistake.reason:
        listed = f"listed as {mistake.reason}" if mistake.what == "missed" else f"removed by {mistake.reason}"
        about.append(listed + (f" {mistake.score:.3f}" if mistake.score is not None else ""))
    yield "  " + ", ".join(filter(None, about or ["-"])) if any(about) else "  1 row"
    ends = zip((mistake.row_a, mistake.row_b), mistake.ids, mistake.kinds, mistake.titles, mistake.texts, strict=True)
    for row, name, kind, title, text in ends:
        yield f"    row {row:<8,} {name}" + (f" ({kind})" if kind else "") + (f"  {title}" if title else "")
        if text:
            yield f"      {text}"
