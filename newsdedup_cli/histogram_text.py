"""A histogram's answer drawn in a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from newsdedup_cli.histogram import BINS, Histogram, Merge, Near, score_edges
from newsdedup_cli.tables import I64
from newsdedup_cli.terminal import Screen, clipped, column_chart, padded, shortened, table, text_width, wrapped
from newsdedup_cli.valley import Valley

HEIGHT = 7  # lines of a chart


def draw(found: Histogram, screen: Screen, command: str) -> str:
    """The whole answer for a person; `command` is the one to type next, put at its end."""
    if found.comparable < 2:
        return f"nothing to compare: {rows_in_words(found)}"
    parts = [_distances(found, screen)]
    if found.by_score:
        parts += [_scores(found, screen), _merges(found, screen)]
    parts += [_distance_merges(found, screen), _read(found, screen)]
    chosen = found.suggestion
    option = f"--{chosen.setting.replace('_', '-')} {number(chosen.value)}"
    reason = wrapped(f"Suggested: {option} ({chosen.reason}).", screen.columns)
    parts.append([*reason, "", f"  {screen.style(command, bold=True)}"])
    return "\n\n".join("\n".join(part) for part in parts if part)


def rows_in_words(found: Histogram) -> str:
    """How many rows there are and how many of them can be compared."""
    rows = "1 row" if found.rows == 1 else f"{found.rows:,} rows"
    return f"{rows}, {found.comparable:,} of them with a text that can be compared"


def as_json(found: Histogram, command: str) -> str:
    """Every figure, on one line."""
    return json.dumps(figures(found) | {"command": command}, ensure_ascii=False)


def figures(found: Histogram) -> dict[str, Any]:
    """Every figure as plain values; valleys as bits and as scores."""
    d = found.distances
    return {
        "rows": found.rows,
        "comparable": found.comparable,
        "distances": {
            "rows": d.rows,
            "pairs": d.total_pairs,
            "measured_pairs": d.measured_pairs,
            "exact": d.exact,
            "equal_pairs": d.equal_pairs,
            "counts": d.counts.tolist(),
            "standard_errors": np.round(d.errors, 1).tolist(),
            "valley": _interval(found.distance_valley, (found.distance_valley.first, found.distance_valley.last)),
        },
        "scores": {
            "proposed_pairs": found.proposed,
            "bin_width": 1 / BINS,
            "counts": found.scores.tolist(),
            "held_back": found.guarded.tolist(),
            "valley": _interval(found.score_valley, score_edges(found.score_valley)),
        },
        "by_score": [asdict(merge) for merge in found.by_score],
        "by_distance": [asdict(merge) for merge in found.by_distance],
        "over": [asdict(near) for near in found.over],
        "under": [asdict(near) for near in found.under],
        "suggestion": asdict(found.suggestion),
    }


def _interval(dip: Valley, edges: tuple[float, float]) -> dict[str, Any]:
    return {"from": edges[0], "to": edges[1], "reason": ""} if dip.found else {"reason": dip.reason}


def number(value: float) -> str:
    """A threshold as it is typed: 8, 0.62."""
    return f"{value:g}"


def log_heights(counts: I64, top: int | None = None) -> list[float]:
    """Heights 0..1 of counts on a log scale from 1, so that one pair still shows."""
    most = np.log2(1 + (top or int(counts.max(initial=1))))
    heights: list[float] = (np.log2(1 + counts) / max(most, 1.0)).tolist()
    return heights


def _chart(counts: I64, screen: Screen, top: int | None = None) -> list[str]:
    """The columns with the greatest count at the top and 1 at the foot of the scale."""
    lines = column_chart(log_heights(counts, top), HEIGHT, screen.blocks)
    labels = [f"{top or int(counts.max(initial=1)):,}", *[""] * (HEIGHT - 2), "1"]
    return [f"{label:>11} {screen.style('|', dim=True)}{line}" for label, line in zip(labels, lines, strict=True)]


def _axis(marks: Sequence[tuple[int, str]], width: int) -> list[str]:
    line, names = ["-"] * width, [" "] * (width + 8)
    for at, name in marks:
        line[min(at, width - 1)] = "+"
        names[at : at + len(name)] = list(name)
    return [" " * 12 + "+" + "".join(line), " " * 13 + "".join(names).rstrip()]


def _marked(first: int, last: int, screen: Screen) -> str:
    """A line under the axis that marks an interval of columns."""
    return " " * 13 + " " * first + screen.style("^" * (last - first + 1), fg="green") + " valley"


def _distances(found: Histogram, screen: Screen) -> list[str]:
    d = found.distances
    how = "all" if d.exact else f"estimated from {d.measured_pairs:,} of"
    about = (
        f"{how} {d.total_pairs:,} pairs of {d.rows:,} rows; {d.equal_pairs:,} pairs have equal texts and are left out"
    )
    if d.rows < found.comparable:
        about += f"; {found.comparable - d.rows:,} rows have too few words for a fingerprint"
    dip = found.distance_valley
    lines = [screen.heading("Distance of simhash fingerprints, in bits (log scale)"), *wrapped(about, screen.columns)]
    if d.rows < 2:
        return lines
    lines += ["", *_chart(d.counts, screen), *_axis([(at, str(at)) for at in range(0, 65, 8)], 65)]
    if dip.found:
        lines += [_marked(dip.first, dip.last, screen), f"Valley: {_bits(dip.first, dip.last)}."]
    else:
        lines += wrapped(f"No valley: {dip.reason}.", screen.columns)
    return [*lines, *_errors(found, screen)]


def _bits(first: int, last: int) -> str:
    return f"{first} bits" if first == last else f"{first}-{last} bits"


def _errors(found: Histogram, screen: Screen) -> list[str]:
    d = found.distances
    if d.exact:
        return []
    some = [0, 4, 8, 12, 16]
    told = ", ".join(
        f"{d.counts[: at + 1].sum():,} ± {np.sqrt((d.errors[: at + 1] ** 2).sum()):,.0f} within {at}" for at in some
    )
    return wrapped(f"Pairs with their sampling error: {told} bits.", screen.columns)


def _scores(found: Histogram, screen: Screen) -> list[str]:
    dip = found.score_valley
    held = int(found.guarded.sum())
    lines = [
        screen.heading("Score of candidate pairs, 1 = same (log scale)"),
        *wrapped(
            f"{found.proposed:,} pairs proposed, {int(found.scores.sum()) + held:,} of them read; drawn are those "
            f"that no guard holds back, the other {held:,} stand in the table below",
            screen.columns,
        ),
        "",
        *_chart(found.scores, screen),
        *_axis([(at * BINS // 10, f"{at / 10:g}") for at in range(0, 11, 2)], BINS),
    ]
    if dip.found:
        low, high = score_edges(dip)
        lines += [_marked(BINS - 1 - dip.last, BINS - 1 - dip.first, screen), f"Valley: {low:g}-{high:g}."]
    else:
        lines += wrapped(f"No valley: {dip.reason}.", screen.columns)
    return lines


def _merges(found: Histogram, screen: Screen) -> list[str]:
    rows = [(*_row(merge), f"{merge.held_back:,}", _mark(merge, found, "min_score")) for merge in found.by_score]
    header = ("score from", "pairs", "rows removed", "largest cluster", "held back", "")
    return [
        screen.heading("What each score would merge"),
        *wrapped(
            "held back: pairs past the score that a guard keeps apart (numbers, excerpts, short texts)", screen.columns
        ),
        *_table(header, rows),
    ]


def _distance_merges(found: Histogram, screen: Screen) -> list[str]:
    if not found.by_distance:
        return []
    rows = [(*_row(merge), _mark(merge, found, "max_distance")) for merge in found.by_distance]
    header = ("bits up to", "pairs", "rows removed", "largest cluster", "")
    title = "What each distance would merge" + (" without verification" if found.by_score else "")
    return [screen.heading(title), *_table(header, rows)]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The table with its marks, the last column, behind the numbers."""
    lines = table(header[:-1], [row[:-1] for row in rows], left=0)
    return [lines[0], *(f"{line}  {row[-1]}".rstrip() for line, row in zip(lines[1:], rows, strict=True))]


def _row(merge: Merge) -> tuple[str, ...]:
    threshold = f"{merge.threshold:.2f}" if isinstance(merge.threshold, float) else str(merge.threshold)
    return threshold, f"{merge.pairs:,}", f"{merge.removed:,}", f"{merge.largest:,}"


def _mark(merge: Merge, found: Histogram, setting: str) -> str:
    chosen = found.suggestion
    return "<- suggested" if chosen.setting == setting and merge.threshold == chosen.value else ""


def _read(found: Histogram, screen: Screen) -> list[str]:
    value = number(found.suggestion.value)
    lines = [screen.heading("To read: the closest pairs")]
    sides = (
        (f"just good enough for {value} (would be merged)", found.over),
        (f"just not good enough for {value} (would stay apart)", found.under),
    )
    for title, pairs in sides:
        lines += [f"{title}:" if pairs else f"{title}: none"]
        for pair in pairs:
            lines += _pair(pair, screen)
    return lines


def _pair(pair: Near, screen: Screen) -> list[str]:
    lines = [f"  score {pair.score:.3f}, {pair.distance} bits"]
    width = max(min(24, max(map(text_width, pair.ids))), 4)
    for name, title, text in zip(pair.ids, pair.titles, pair.texts, strict=True):
        told = title if title and len(set(pair.titles)) > 1 else f"{title}: {text}" if title else text
        lines.append(f"    {padded(shortened(name, width), width)}  {clipped(told, screen.columns - width - 6)}")
    return lines
