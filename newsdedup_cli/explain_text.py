"""An explanation drawn in a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from newsdedup_cli.explain import Explanation, Side
from newsdedup_cli.explain_texts import Line, Segment
from newsdedup_cli.terminal import Screen, char_width, clipped, one_line, padded, text_width, wrapped

COLLAPSE = 3  # equal sentences in a row from which only the first and the last are shown
MARKS = {"-": ("[-", "-]"), "+": ("{+", "+}")}  # of differences where there is no colour, as in wdiff
COLOURS = {"-": "red", "+": "green"}
KINDS = {"same": " ", "changed": "~", "moved": ">", "first": "<", "second": ">"}


def draw(found: Explanation, screen: Screen) -> str:
    """The whole answer for a person: the verdict first."""
    parts = [
        wrapped(found.judgement.sentence, screen.columns),
        _sides(found.sides, screen),
        _rules(found, screen),
        _bits(found, screen),
        _words(found, screen),
        _cleaning(found, screen),
        _texts(found, screen),
    ]
    parts[0] = [screen.style(line, bold=True) for line in parts[0]]
    return "\n\n".join("\n".join(part) for part in parts if part)


def as_json(found: Explanation) -> str:
    """Everything on one line; rows count from 1, bits from 0, the least."""
    judgement = found.judgement
    values = {
        "verdict": judgement.sentence,
        "merged": judgement.merged,
        "reason": judgement.code,
        "path": [asdict(step) for step in judgement.path],
        "score": round(float(judgement.pair.score[0]), 4) if len(judgement.pair) else None,
        "rows": [asdict(side) for side in found.sides],
        "rules": [asdict(rule) for rule in found.rules],
        **asdict(found.comparison),
        "settings": found.signature,
    }
    values["fingerprints"] = [f"{value:016x}" for value in found.comparison.fingerprints]
    return json.dumps(values, ensure_ascii=False)


def _sides(sides: Sequence[Side], screen: Screen) -> list[str]:
    width = (screen.columns - 8) // 2
    names = ("", "row", "file", "title", "date", "source", "url", "here")
    cells = [
        [
            f"{'AB'[i]}  {side.id}",
            str(side.row),
            side.file,
            *(side.values.get(name, "") for name in names[3:7]),
            "kept" if side.kept else "removed",
        ]
        for i, side in enumerate(sides)
    ]
    return [
        f"{name:6}  {padded(clipped(a, width - 1), width)}{clipped(b, width)}".rstrip()
        for name, a, b in zip(names, *cells, strict=True)
        if a or b
    ]


def _rules(found: Explanation, screen: Screen) -> list[str]:
    lines = [screen.heading("Rules: what was found, what is asked for, what it says")]
    colours = {"apart": "red", "same": "green", "proposes": "cyan", "excerpt": "yellow"}
    for rule in found.rules:
        lead = screen.style(padded(rule.says, 9), fg=colours.get(rule.says, "white"))
        first, *rest = wrapped(f"{rule.name}: {rule.figure}  ({rule.threshold})", screen.columns - 9, "")
        lines += [f"{lead}{first}", *(" " * 11 + line for line in rest)]
    return lines


def _bits(found: Explanation, screen: Screen) -> list[str]:
    comparison = found.comparison
    lines = [screen.heading(f"Fingerprints: {len(comparison.bits)} bits differ")]
    marks = "".join("^" if bit in comparison.bits else " " for bit in range(63, -1, -1)).rstrip()
    for name, value in zip("AB", comparison.fingerprints, strict=True):
        lines.append(f"  {name}  {value:064b}")
    return [*lines, f"     {screen.style(marks, fg='red')}".rstrip()]


def _words(found: Explanation, screen: Screen) -> list[str]:
    comparison = found.comparison
    lines = [screen.heading("Words that make the fingerprints (times counted)")]
    for name, words in (
        ("both", comparison.common_words),
        ("only A", comparison.only_first),
        ("only B", comparison.only_second),
    ):
        told = " ".join(f"{one_line(word)}({weight})" if weight > 1 else one_line(word) for word, weight in words)
        first, *rest = wrapped(told or "-", screen.columns - 10)
        lines += [f"  {name:8}{first}", *(" " * 10 + line for line in rest)]
    if comparison.shared_sentences:
        lines += ["", screen.heading("Shared among the longest sentences")]
        lines += [f"  {clipped(sentence, screen.columns - 2)}" for sentence in comparison.shared_sentences]
    if comparison.clauses:
        lines += ["", screen.heading("Clauses equal but for a number or its opposite")]
        for a, b in comparison.clauses:
            lines += [f"  A  {clipped(a, screen.columns - 5)}", f"  B  {clipped(b, screen.columns - 5)}"]
    return lines


def _cleaning(found: Explanation, screen: Screen) -> list[str]:
    comparison = found.comparison
    lines = [screen.heading("Cleaning before the comparison: steps that changed the text")]
    for name, steps, gone in zip("AB", comparison.cleaned, comparison.boilerplate, strict=True):
        first, *rest = wrapped(", ".join(steps) or "none", screen.columns - 5)
        lines += [f"  {name}  {first}", *(f"     {line}" for line in rest)]
        lines += [f"     boilerplate left out: {clipped(sentence, screen.columns - 27)}" for sentence in gone]
    return lines


def _texts(found: Explanation, screen: Screen) -> list[str]:
    width = (screen.columns - 5) // 2
    legend = "~ changed, < only A, > only B" + ("" if screen.colour else "; [-only A-] {+only B+}")
    lines = [screen.heading(f"The texts as compared ({legend})")]
    lines.append(f"  {padded('A', width)} | B")
    for line in _collapsed(found.comparison.lines):
        if isinstance(line, int):
            lines.append(f"  {screen.style(f'... {line:,} more equal sentences ...', dim=True)}")
            continue
        lines += _side_by_side(line, width, screen)
    return lines


def _collapsed(lines: Sequence[Line]) -> Iterator[Line | int]:
    """The lines, with the number of those that are left out in the middle of equal ones."""
    run: list[Line] = []
    for line in [*lines, None]:
        if line is not None and line.kind == "same":
            run.append(line)
            continue
        if len(run) > COLLAPSE:
            yield from (run[0], len(run) - 2, run[-1])
        else:
            yield from run
        run = []
        if line is not None:
            yield line


def _side_by_side(line: Line, width: int, screen: Screen) -> Iterator[str]:
    left, right = _cells(line.first, width, screen), _cells(line.second, width, screen)
    mark = KINDS[line.kind]
    if line.kind == "moved":
        mark = "^"
    for at in range(max(len(left), len(right))):
        a, b = (side[at] if at < len(side) else ("", 0) for side in (left, right))
        yield f"{mark if at == 0 else ' '} {a[0]}{' ' * (width - a[1])} | {b[0]}".rstrip()


def _cells(segments: Sequence[Segment], width: int, screen: Screen) -> list[tuple[str, int]]:
    """A cell's lines, styled, with their widths; a difference that goes on over a line end is marked on both."""
    lines: list[tuple[str, int]] = []
    line, used = "", 0
    for kind, whole in segments:
        opening, closing = ("", "") if screen.colour or kind == "=" else MARKS[kind]
        extra = len(opening) + len(closing)
        piece = ""
        for char in one_line(whole) if whole.strip() else whole:
            if used + text_width(piece) + char_width(char) + extra > width and (piece or line):
                if piece:
                    line += _styled(kind, opening + piece + closing, screen)
                    used += text_width(piece) + extra
                lines.append((line, used))
                line, used, piece = "", 0, ""
            piece += char
        if piece:
            line += _styled(kind, opening + piece + closing, screen)
            used += text_width(piece) + extra
    return [*lines, (line, used)] if line else lines


def _styled(kind: str, text: str, screen: Screen) -> str:
    return text if kind == "=" else screen.style(text, fg=COLOURS[kind], underline=True)
