"""The worst mistakes of a report, with the texts that were mistaken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from newsdedup_cli.errors import UserError
from newsdedup_cli.evaluate_tables import PairTruth, Report, RowTruth
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import Corpus, open_corpus
from newsdedup_cli.tables import I64


@dataclass
class Mistake:
    """Two rows wrongly in one cluster, or wrongly in two; rows count from 1."""

    what: str  # merged | missed
    row_a: int
    row_b: int
    rows: int  # how many rows stand behind it
    lost: bool = False
    reason: str = ""  # of the removal, or why the pair is listed for a person
    score: float | None = None
    ids: tuple[str, str] = ("", "")
    kinds: tuple[str, str] = ("", "")
    titles: tuple[str, str] = ("", "")
    texts: tuple[str, str] = ("", "")


def worst(report: Report, truth: RowTruth | PairTruth, limit: int, read: ReadOptions) -> list[Mistake]:
    """Up to so many wrong merges, then as many copies missed, each with its texts where they can be read."""
    if limit < 1:
        return []
    mistakes = [*_first(_merged(report, truth), limit), *_first(_missed(report, truth), limit)]
    wanted = {row for mistake in mistakes for row in (mistake.row_a, mistake.row_b)}
    texts = read_texts(report, wanted, read) if wanted else {}
    for mistake in mistakes:
        rows = (mistake.row_a, mistake.row_b)
        a, b = (report.ids[row - 1].as_py() or "" for row in rows)
        mistake.ids = (a, b)
        if all(row in texts for row in rows):
            (title_a, text_a), (title_b, text_b) = (texts[row] for row in rows)
            mistake.titles, mistake.texts = (title_a, title_b), differing(text_a, text_b)
    return mistakes


def differing(a: str, b: str, before: int = 16, length: int = 100) -> tuple[str, str]:
    """Pieces of the texts from shortly before where they begin to differ; of equal texts the begin.

    >>> differing("今日油价上调", "今日油价下调", before=2, length=4)
    ('…油价上调', '…油价下调')
    """
    a, b = ("".join(text.split("\n")).strip() for text in (a, b))
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    begin = max(first - before, 0) if a != b else 0
    left, right = (
        ("…" if begin else "") + text[begin : begin + length] + ("…" if len(text) > begin + length else "")
        for text in (a, b)
    )
    return left, right


def read_texts(report: Report, rows: set[int], read: ReadOptions) -> dict[int, tuple[str, str]]:
    """Title and text of the rows (counted from 1): from the inputs, else of removed rows from the report.

    Rows that are in neither, or whose inputs were changed since, are left out.
    """
    columns = report.run.get("columns", {})
    inputs = report.unchanged_inputs()
    if inputs:
        return _texts(open_corpus(inputs, read), columns, {row: row for row in rows})
    removed = next((path for path in sorted(report.folder.glob("removed.*"))), None)
    if removed is None:
        return {}
    numbers = np.flatnonzero(~report.found.kept) + 1
    places = {place: int(row) for place, row in enumerate(numbers, 1) if int(row) in rows}
    return _texts(open_corpus([str(removed)], ReadOptions()), columns, places)


def _texts(corpus: Corpus, labels: Mapping[str, list[str]], places: Mapping[int, int]) -> dict[int, tuple[str, str]]:
    """Title and text by what `places` calls the rows of the corpus."""
    try:
        columns = {
            role: [corpus.resolve(label) for label in labels[role]] for role in ("title", "text") if labels.get(role)
        }
        found: dict[int, tuple[str, str]] = {}
        for batch in corpus.texts(columns):
            for row in places.keys() & set(range(batch.first_row, batch.first_row + batch.num_rows)):
                at = row - batch.first_row
                title, text = (
                    "\n".join(array[at].as_py() or "" for array in batch.values.get(role, ()))
                    for role in ("title", "text")
                )
                found[places[row]] = (title, text)
        return found
    except UserError:  # read with options that the report does not tell
        return {}


def _first(mistakes: Iterator[Mistake], limit: int) -> list[Mistake]:
    """The worst: stories lost, then many rows, then pairs that nobody will be shown."""

    def order(mistake: Mistake) -> tuple[bool, int, bool, int, int]:
        listed = mistake.what == "missed" and bool(mistake.reason)
        return not mistake.lost, -mistake.rows, listed, mistake.row_a, mistake.row_b

    return sorted(mistakes, key=order)[:limit]


def _merged(report: Report, truth: RowTruth | PairTruth) -> Iterator[Mistake]:
    """Rows that are in one cluster with a row of another story."""
    if isinstance(truth, PairTruth):
        found = report.found.similar_id
        for i in np.flatnonzero(~truth.same & (found[truth.a] == found[truth.b])):
            yield _removal(report, int(truth.a[i]), int(truth.b[i]), 2, False, truth.kinds, (int(i), int(i)))
        return
    lost = np.bincount(truth.cluster, report.found.kept[truth.rows], len(truth.rows)) == 0
    for members in _groups(report.found.similar_id[truth.rows]):
        if (truth.cluster[members] == truth.cluster[members[0]]).all():
            continue
        kept = members[report.found.kept[truth.rows[members]]]
        head = kept[0] if len(kept) else members[0]
        strangers = members[truth.cluster[members] != truth.cluster[head]]
        for story in _groups(truth.cluster[strangers]):
            i, rows = strangers[story[0]], truth.rows
            gone = bool(lost[truth.cluster[i]])
            ends = (int(i), int(head))
            yield _removal(report, int(rows[i]), int(rows[head]), len(story), gone, truth.kinds, ends)


def _removal(
    report: Report, a: int, b: int, rows: int, lost: bool, kinds: list[str] | None, at: tuple[int, int]
) -> Mistake:
    removed = b if report.found.kept[a] else a
    line = report.rows.slice(removed, 1).to_pylist()[0]
    named = (kinds[at[0]], kinds[at[1]]) if kinds else ("", "")
    return Mistake("merged", a + 1, b + 1, rows, lost, line["reason"] or "", line["score"], kinds=named)


def _missed(report: Report, truth: RowTruth | PairTruth) -> Iterator[Mistake]:
    """Parts of one story in several clusters."""
    listed = _listed_between(report)
    found = report.found.similar_id
    if isinstance(truth, PairTruth):
        for i in np.flatnonzero(truth.same & (found[truth.a] != found[truth.b])):
            yield _apart(report, int(truth.a[i]), int(truth.b[i]), 2, listed, truth.kinds, (int(i), int(i)))
        return
    for members in _groups(truth.cluster):
        parts = list(_groups(found[truth.rows[members]]))
        if len(parts) < 2:
            continue
        parts.sort(key=lambda part: (-len(part), part[0]))
        heads = [_head(report, truth, members[part]) for part in parts]
        for part, head in zip(parts[1:], heads[1:], strict=True):
            ends = (head, heads[0])
            a, b = int(truth.rows[head]), int(truth.rows[heads[0]])
            yield _apart(report, a, b, len(part), listed, truth.kinds, ends)


def _head(report: Report, truth: RowTruth, members: I64) -> int:
    kept = members[report.found.kept[truth.rows[members]]]
    return int(kept[0] if len(kept) else members[0])


def _apart(
    report: Report,
    a: int,
    b: int,
    rows: int,
    listed: dict[tuple[int, int], tuple[str, float]],
    kinds: list[str] | None,
    at: tuple[int, int],
) -> Mistake:
    x, y = sorted((int(report.found.similar_id[a]), int(report.found.similar_id[b])))
    reason, score = listed.get((x, y), ("", None))
    named = (kinds[at[0]], kinds[at[1]]) if kinds else ("", "")
    return Mistake("missed", a + 1, b + 1, rows, False, reason, score, kinds=named)


def _listed_between(report: Report) -> dict[tuple[int, int], tuple[str, float]]:
    """The best candidate between two clusters."""
    best: dict[tuple[int, int], tuple[str, float]] = {}
    for line in report.candidates().to_pylist():
        x, y = sorted(int(report.found.similar_id[line[name] - 1]) for name in ("row_a", "row_b"))
        if (x, y) not in best or best[x, y][1] < line["score"]:
            best[x, y] = (line["reason"], line["score"])
    return best


def _groups(labels: I64) -> list[I64]:
    """The positions of each label, ascending, in order of labels."""
    if not len(labels):
        return []
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
