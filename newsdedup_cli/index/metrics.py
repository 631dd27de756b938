"""One line per run that added to an index, and what in the last one broke with the habit of those before."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

NAME = "metrics.jsonl"
LEAST_RUNS = 5  # runs before the last one that make a habit
LEAST_ROWS = 10  # rows of a run that make its share mean something
FAR = 4 * 1.4826  # times the median deviation: four standard deviations, were it normal (Rousseeuw, Croux 1993)
LEAST_STEP = 0.1  # and a change of a share under this is none


@dataclass(frozen=True)
class Broken:
    """A habit that the last run broke."""

    kind: str  # copy_rate, exact_rate or boilerplate
    source: str  # "" for all
    value: float
    usual: float
    text: str  # for a person


def append(folder: Path, line: Mapping[str, Any]) -> None:
    """Add a line; only who may write the index does."""
    path = folder / NAME
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")  # a run that was killed while it wrote
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines, oldest first; one that is not whole is left out."""
    try:
        text = (folder / NAME).read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    lines = []
    for raw in text.splitlines():
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and isinstance(line.get("rows"), int):
            lines.append(line)
    return lines


def copy_rate(line: Mapping[str, Any]) -> float:
    """The share of a run's rows that were removed."""
    return float(line["removed"] / line["rows"]) if line["rows"] else 0.0


def broken_habits(lines: Sequence[Mapping[str, Any]]) -> list[Broken]:
    """What the last run broke: a source whose copy rate jumped, a fall of exact hits, new boilerplate of a source."""
    if not lines:
        return []
    last, before = lines[-1], lines[:-1]
    found = []
    for name, counted in sorted(last.get("sources", {}).items()):
        earlier = [line["sources"][name] for line in before if name in line.get("sources", {})]
        change = _change(_rate(counted), [_rate(one) for one in earlier if one[0] >= LEAST_ROWS], counted[0])
        if change:
            said = f"{name}: {change[0]:.0%} of its rows are copies, usually {change[1]:.0%}"
            found.append(Broken("copy_rate", name, *change, said))
    change = _change(_exact(last), [_exact(line) for line in before if line["rows"] >= LEAST_ROWS], last["rows"])
    if change and change[0] < change[1]:
        said = f"exact copies fell to {change[0]:.0%} of the rows, usually {change[1]:.0%}"
        found.append(Broken("exact_rate", "", *change, said))
    return found + [_new_boilerplate(piece) for piece in last.get("new_boilerplate", []) if len(before) > 0]


def _new_boilerplate(piece: Mapping[str, Any]) -> Broken:
    whose = f"{piece['source']}: " if piece.get("source") else ""
    said = f"{whose}new boilerplate in {piece['rows']:,} rows: {piece['text']}"
    return Broken("boilerplate", piece.get("source") or "", float(piece["rows"]), 0.0, said)


def _rate(counted: Sequence[int]) -> float:
    rows, removed = counted
    return removed / rows if rows else 0.0


def _exact(line: Mapping[str, Any]) -> float:
    return float(line["removed_by"].get("exact", 0) / line["rows"]) if line["rows"] else 0.0


def _change(value: float, earlier: Sequence[float], rows: int) -> tuple[float, float] | None:
    """The value and the usual one, where it lies far from that."""
    if len(earlier) < LEAST_RUNS or rows < LEAST_ROWS:
        return None
    usual = median(earlier)
    spread = median([abs(one - usual) for one in earlier])
    return (value, usual) if abs(value - usual) > max(FAR * spread, LEAST_STEP) else None
