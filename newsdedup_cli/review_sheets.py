"""A review as a workbook to be filled in, or as a table in any other format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import xlsxwriter

from newsdedup_cli.decisions import SHEETS
from newsdedup_cli.errors import UserError
from newsdedup_cli.files import format_of, open_sink
from newsdedup_cli.files.base import Batch, WriteOptions
from newsdedup_cli.report.cells import BANDS, INPUT, Column, Sheet, Styles, safe_text
from newsdedup_cli.report.examples import is_web
from newsdedup_cli.report.marked import Part
from newsdedup_cli.report.sheets import drop_down
from newsdedup_cli.review import Line, Review

COLUMNS = (
    Column("group", 10, "General"),
    Column("line", 5),
    Column("settles", 7),
    Column("decision", 11),
    Column("reason", 15),
    Column("score", 7, "0.000"),
    Column("title_a", 26),
    Column("title_b", 26),
    Column("text_a", 62),
    Column("text_b", 62),
    Column("source_a", 14),
    Column("source_b", 14),
    Column("date_a", 17),
    Column("date_b", 17),
    Column("id_a", 18),
    Column("id_b", 18),
    Column("url_a", 24),
    Column("url_b", 24),
    Column("distance", 8),
    Column("shared_sentences", 9),
    Column("containment", 11, "0.000"),
    Column("row_a", 8),
    Column("row_b", 8),
    Column("key_a", 8, hidden=True),
    Column("key_b", 8, hidden=True),
)
FROZEN = 4  # columns that stay in sight: up to the decision
LINE_POINTS, MOST_POINTS = 15, 180  # height of a line, and of the highest row
PER_LINE = 30  # Han characters on a line of a text column
HOW = (
    ("decision", "same: one article, one of the two rows goes. different: two articles, both stay, for good."),
    ("group", "Pairs that one decision may settle. What stands on line 1 holds for the lines of its group left empty."),
    ("family", "Texts of one form that differ in their numbers. Here `same` on line 1 holds for that line alone."),
    ("candidates", "Pairs that were not merged, the most likely copies first."),
    ("merged", "Removed rows (a) beside the rows that stayed (b), the least alike first."),
    ("texts", "As compared: cleaned. Red, struck out: only in a. Green, bold: only in b. Equal parts are shortened."),
    ("then", "newsdedup run INPUT... -o OUT --decisions FILE, or: newsdedup review --apply REPORT --decisions FILE"),
    ("key_a, key_b", "Hidden columns, by which a decision is known again in other files: leave them in."),
    ("decision 怎么填", "same（相同）：同一篇，去掉一条；different（不同）：都保留，以后也不再合并；不填：以后再说。"),
    ("group 分组", "一组填第 1 行即可，组内空着的行都按它算；family 组里第 1 行的 same 只算这一行。"),
)  # fmt: skip


def write(review: Review, out: Path) -> None:
    """Write the review beside its place, then rename it; the format by extension."""
    kind = format_of(out)
    beside = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        if kind == "xlsx":
            _workbook(review, beside)
        else:
            _table(review, beside, kind, out)
        beside.replace(out)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


def check(out: Path, overwrite: bool) -> None:
    """Raise where the review cannot be written."""
    format_of(out)
    if not out.parent.is_dir():
        raise UserError(f"no folder {out.parent} for the output", todo=f"mkdir -p {out.parent}")
    if out.exists() and not overwrite:
        raise UserError(f"{out} is there already: it may hold decisions", todo="--overwrite, or another -o")


def _values(line: Line) -> dict[str, Any]:
    told: dict[str, Any] = {name: getattr(line, name) for name in Line.__dataclass_fields__ if name != "values"}
    return told | line.values


class _Texts(Sheet):
    """A sheet whose texts are wrapped and marked."""

    def write(
        self,
        values: Any,
        ground: str = BANDS[0],
        bold: bool = False,
        links: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Append a line as high as its texts need."""
        super().write(values, ground, bold, links)
        longest = max((_length(value) / column.width for value, column in zip(values, self.columns, strict=False)))
        points = LINE_POINTS * (1 + int(longest * 2))
        self.sheet.set_row(self.line, min(points, MOST_POINTS))

    def _cell(self, at: int, value: object, style: Any) -> None:
        ground = dict(self.ground)
        wrapped = self.styles.get(text_wrap=True, valign="top", num_format=self.columns[at].number, **ground)
        if isinstance(value, list):
            self._marked(at, value, wrapped)
        else:
            super()._cell(at, value, style if isinstance(value, float) else wrapped)

    ground: tuple[tuple[str, str | bool | int], ...] = ()

    def _marked(self, at: int, parts: list[Part], style: Any) -> None:
        get = self.styles.get
        looks = {
            "first": get(font_color="#B3261E", font_strikeout=True),
            "second": get(font_color="#1B6E3C", bold=True),
            "cut": get(font_color="#8A8A8A", italic=True),
            "same": get(font_color="#202124"),
        }
        told: list[Any] = []
        for kind, text in parts:
            told += [looks[kind], safe_text(_gap(text) if kind == "cut" else text)]
        if len(told) < 4:
            self.sheet.write_string(self.line, at, told[1] if told else "", style)
        else:
            self.sheet.write_rich_string(self.line, at, *told, style)


def _gap(size: str) -> str:
    return f" [… {int(size):,} …] "


def _length(value: object) -> int:
    if isinstance(value, list):
        return sum(len(part.text) if part.kind != "cut" else 9 for part in value)
    return len(value) // 2 if isinstance(value, str) and not value.startswith("http") else 0


def _workbook(review: Review, path: Path) -> None:
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(str(path), options) as book:
        styles = Styles(book)
        for name in SHEETS:
            sheet = _Texts(book, styles, name, COLUMNS)
            _fill(sheet, review.of(name))
            left = review.left_out.get(name, 0)
            sheet.close(sheet.line + left, "the report")
        how = Sheet(book, styles, "how", (Column("what", 18), Column("means", 120)))
        for line in HOW:
            how.write(line)


def _fill(sheet: _Texts, lines: list[Line]) -> None:
    sheet.sheet.freeze_panes(1, FROZEN)
    sheet.sheet.set_landscape()
    sheet.sheet.fit_to_pages(1, 0)
    sheet.sheet.repeat_rows(0)
    group, band = "", 1
    for line in lines:
        if line.group != group:
            group, band = line.group, 1 - band
        sheet.ground = () if band == 0 else (("bg_color", BANDS[1]), ("border", 1), ("border_color", "#D5DBE3"))
        told = _values(line)
        values = [_cell(told[column.name], column.name) for column in COLUMNS]
        links = {
            at: told[column.name].strip()
            for at, column in enumerate(COLUMNS)
            if column.name.startswith("url_") and is_web(told[column.name])
        }
        sheet.write(values, BANDS[band], bold=line.line == 1, links=links)
    if lines:
        drop_down(sheet)


def _cell(value: Any, name: str) -> Any:
    if name == "group" and value.isdecimal():
        return int(value)
    return None if value == "" else value


def _table(review: Review, path: Path, kind: str, out: Path) -> None:
    """One table of both lists; differences as [-only in a-] and {+only in b+}."""
    lines = [_values(line) for line in review.lines]
    names = ["sheet", *(column.name for column in COLUMNS)]
    columns = [pa.array([_plain(line[name]) for line in lines], pa.string()) for name in names]
    batch = pa.RecordBatch.from_arrays(columns, names=names)
    sink = open_sink(path, kind, batch.schema, WriteOptions(bom=kind == "csv", compression=_packed(out)))
    sink.write(Batch(batch))
    sink.close()


def _packed(out: Path) -> str | None:
    suffix = out.suffix.lower().removeprefix(".")
    return suffix if suffix in ("gz", "zst") else None


_MARKS = {"first": "[-{}-]", "second": "{{+{}+}}", "same": "{}"}


def _plain(value: Any) -> str | None:
    if isinstance(value, list):
        return "".join(_gap(t) if kind == "cut" else _MARKS[kind].format(t) for kind, t in value)
    return None if value in (None, "") else str(value)


__all__ = ["COLUMNS", "INPUT", "check", "write"]
