"""One sheet of a workbook, line by line: texts that stay texts, no more links than Excel holds, no silent cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import xlsxwriter

MOST_CHARACTERS = 2_000  # of a cell: longer texts are in the Parquet files
MOST_LINKS = 65_000  # of a sheet; Excel opens none with more than 65,530
MOST_URL = 2_000  # characters of a link; Excel holds 2,079
# What XML cannot hold, and halves of characters.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
BANDS = ("#FFFFFF", "#E9EFF8")  # the ground of every other cluster
INPUT = "#FFF6D6"  # the ground of cells to be filled in


def safe_text(text: str) -> str:
    """A text as a cell can hold it.

    >>> safe_text("a\\x00b")
    'a\ufffdb'
    """
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}… ({len(text):,} characters)"
    if not text.isprintable():
        text = _ILLEGAL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    # xlsxwriter takes a text in <r>...</r> for a rich one and would write it as XML.
    return f"{text} " if text.startswith("<r>") and text.endswith("</r>") else text


@dataclass(frozen=True)
class Column:
    """A column: its name, its width in characters, and how its numbers are shown."""

    name: str
    width: int
    number: str = "0"
    hidden: bool = False


@dataclass
class Styles:
    """The formats of a workbook, each made once."""

    book: xlsxwriter.Workbook
    made: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def get(self, **properties: str | bool | int) -> Any:
        """The format of the properties."""
        key = tuple(sorted(properties.items()))
        if key not in self.made:
            self.made[key] = self.book.add_format(properties)
        return self.made[key]

    def cell(self, ground: str, bold: bool, linked: bool, number: str) -> Any:
        """The format of a cell."""
        key = (ground, bold, linked, number)
        if key not in self.made:
            properties: dict[str, str | bool | int] = {"valign": "top", "num_format": number, "bold": bold}
            if ground != BANDS[0]:
                properties |= {"bg_color": ground, "border": 1, "border_color": "#D5DBE3"}
            if linked:
                properties |= {"font_color": "#1F4E9E", "underline": 1}
            self.made[key] = self.get(**properties)
        return self.made[key]


class Sheet:
    """A sheet with a frozen header, filters and widths."""

    def __init__(self, book: xlsxwriter.Workbook, styles: Styles, name: str, columns: Sequence[Column]) -> None:
        self.sheet, self.styles, self.columns = book.add_worksheet(name), styles, columns
        self.name, self.line, self.links, self.unlinked, self.cut = name, 0, 0, 0, 0
        self.sheet.freeze_panes(1, 0)
        for at, column in enumerate(columns):
            self.sheet.set_column(at, at, column.width, None, {"hidden": column.hidden})
        head = styles.get(bold=True, bg_color="#263238", font_color="#FFFFFF", valign="top")
        self.sheet.write_row(0, 0, [column.name for column in columns], head)

    def write(
        self,
        values: Iterable[object],
        ground: str = BANDS[0],
        bold: bool = False,
        links: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Append a line; `links` has for some columns where their cells lead to."""
        self.line += 1
        for at, value in enumerate(values):
            style = self.styles.cell(ground, bold, at in links, self.columns[at].number)
            if at in links:
                self._link(at, links[at], style)
            if value is not None:
                self._cell(at, value, style)
            elif ground != BANDS[0]:
                self.sheet.write_blank(self.line, at, None, style)

    def _link(self, at: int, target: str, style: Any) -> None:
        if self.links >= MOST_LINKS or len(target) > MOST_URL:
            self.unlinked += 1
            return
        self.links += 1
        # The cell's own value is written over the text that this puts into it; the link stays.
        self.sheet.write_url(self.line, at, target, style, "link")

    def _cell(self, at: int, value: object, style: Any) -> None:
        if isinstance(value, bool):
            self.sheet.write_boolean(self.line, at, value, style)
        elif isinstance(value, int | float) and abs(value) < 10**15:
            self.sheet.write_number(self.line, at, value, style)
        else:
            text = str(value)
            self.cut += len(text) > MOST_CHARACTERS
            self.sheet.write_string(self.line, at, safe_text(text), style)

    def close(self, total: int, whole: str) -> list[str]:
        """Add the filter, and what is not here as a last line; returns in words what is missing."""
        written = self.line
        told = []
        if total > written:
            told.append(f"the first {written:,} of {total:,} lines; all of them are in {whole}")
            self.write([told[0]], ground=INPUT, bold=True)
            self.sheet.set_tab_color("#C0672A")
        self.sheet.autofilter(0, 0, max(written, 1), len(self.columns) - 1)
        if self.cut:
            told.append(f"{self.cut:,} texts are cut to {MOST_CHARACTERS:,} characters; whole ones are in {whole}")
        if self.unlinked:
            told.append(f"{self.unlinked:,} cells are without their link: a sheet holds {MOST_LINKS:,}")
        return told
