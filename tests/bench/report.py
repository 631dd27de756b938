"""Tables with marks, and BENCHMARKS.md, whose tables are replaced between markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TITLE = "# Benchmarks"
ORDER = (
    *("introduction", "whole", "peers", "growth", "growth-stages", "stages", "join", "degenerate"),
    *("workbook", "memory", "startup"),
)  # of the tables on a new page


@dataclass
class Table:
    """A part's table: what stands between two markers."""

    name: str  # of the marker
    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # a line each: how it was measured

    def as_json(self) -> dict[str, Any]:
        """For another process."""
        return asdict(self)


@dataclass(frozen=True)
class Mark:
    """What a figure must reach: at least, or at most, so much."""

    bound: float
    unit: str = "x"
    least: bool = True

    def cells(self, value: float | None, applies: bool = True) -> list[str]:
        """The mark and whether it is met; `applies` is false where it is meant for another size."""
        said = f"{'≥' if self.least else '≤'} {self.bound:g}{space(self.unit)}"
        if value is None or not applies:
            return [said, "not measured" if value is None else "not at this size"]
        met = value >= self.bound if self.least else value <= self.bound
        return [said, "met" if met else "**not met**"]


NO_MARK = ["", ""]


def space(unit: str) -> str:
    """A unit as it stands behind a figure."""
    return unit if unit in ("x", "%", "") else f" {unit}"


def figure(value: float | None, unit: str = "") -> str:
    """Three digits, more only before the point; `-` for what was not measured.

    >>> [figure(v) for v in (1234.5, 87.62, 1.304, 0.02)]
    ['1,234', '87.6', '1.30', '0.020']
    """
    if value is None:
        return "-"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3
    return f"{value:,.{digits}f}{space(unit)}"


def markdown(table: Table) -> str:
    """The table with its title and notes."""
    lines = [f"## {table.title}", ""]
    right = [_is_number(column) for column in zip(*table.rows, strict=True)] or [False] * len(table.columns)
    lines.append(_line(table.columns))
    lines.append("|" + "|".join("---:" if side else "---" for side in right) + "|")
    lines += map(_line, table.rows)
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_number(cells: Iterable[str]) -> bool:
    some = [cell for cell in cells if cell not in ("", "-")]
    return bool(some) and all(cell[0].isdigit() for cell in some)


def _block(name: str, body: str) -> str:
    return f"<!-- bench:{name} -->\n{body}\n<!-- /bench:{name} -->"


def updated(text: str, tables: Iterable[Table], introduction: str) -> str:
    """The page with these tables in the place of those of their names; new ones come last, all else stays."""
    text = text or "\n\n".join([TITLE, *(_block(name, "") for name in ORDER)]) + "\n"
    for name, body in [("introduction", introduction), *((table.name, markdown(table)) for table in tables)]:
        block = _block(name, body.strip())
        there = re.compile(rf"<!-- bench:{re.escape(name)} -->\n.*?<!-- /bench:{re.escape(name)} -->", re.DOTALL)
        text, found = there.subn(_always(block), text, count=1)
        text = text if found else f"{text.rstrip()}\n\n{block}\n"
    return text


def _always(block: str) -> Callable[[re.Match[str]], str]:
    return lambda _: block


def write(path: Path, tables: Iterable[Table], introduction: str) -> None:
    """Bring the page up to date."""
    old = path.read_text("utf-8") if path.exists() else ""
    path.write_text(updated(old, tables, introduction), "utf-8")
