"""XLSX output: every text is a text cell, never a formula, a link or a number.

Written as a stream of inline strings. A carriage return is written as a character reference, which XML
readers keep (as itself they would make it a line feed).
"""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.base import Batch, WriteOptions
from newsdedup_cli.files.streams import ByteWriter
from newsdedup_cli.files.texts import BAD_UTF8, as_text

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
MAX_CHARACTERS = 32_767
EXACT_DIGITS = 15
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_SPECIAL = re.compile("[&<>\r]")
_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/>'
    '</font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
_SHEET = (
    f'<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" '
    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)


class XlsxSink:
    """A workbook of one sheet being written."""

    def __init__(self, target: Path | BinaryIO, schema: pa.Schema, options: WriteOptions) -> None:
        self.warnings: list[str] = []
        self._counts: Counter[str] = Counter()
        self._controls = self._cells = 0
        self._rows = 0
        _check_columns(schema.names)
        self._letters = [_letters(column) for column in range(len(schema.names))]
        self._file = ByteWriter(target)
        self._zip = zipfile.ZipFile(self._file.file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        for part, text in _PARTS.items():
            self._zip.writestr(zipfile.ZipInfo(part), _HEAD + text, zipfile.ZIP_DEFLATED)
        info = zipfile.ZipInfo("xl/worksheets/sheet1.xml")
        info.compress_type = zipfile.ZIP_DEFLATED
        self._sheet = self._zip.open(info, "w", force_zip64=True)
        self._sheet.write((_HEAD + _SHEET).encode())
        if options.header and schema.names:
            self._append([schema.names])

    def write(self, batch: Batch) -> None:
        """Append the rows, marks after their columns; a cell or row too many raises `UserError`."""
        arrays = [*batch.columns.columns, *(batch.marks.columns if batch.marks else ())]
        columns = [_cells(array, self._counts) for array in arrays]
        for start in range(0, batch.num_rows, 512):
            self._append(zip(*(column[start : start + 512] for column in columns), strict=True))

    def _append(self, rows: Iterable[Iterable[Any]]) -> None:
        parts = []
        for row in rows:
            self._rows += 1
            if self._rows > MAX_ROWS:
                raise _too_many_rows()
            parts.append(f'<row r="{self._rows}">')
            parts += [self._cell(letters, value) for letters, value in zip(self._letters, row, strict=True)]
            parts.append("</row>")
        self._sheet.write("".join(parts).encode())

    def _cell(self, letters: str, value: object) -> str:
        if value is None or value == "":
            return ""
        if not isinstance(value, str):
            return f'<c r="{letters}{self._rows}"><v>{value}</v></c>'
        if len(value) * 2 > MAX_CHARACTERS and utf16_length(value) > MAX_CHARACTERS:
            raise _too_long(self._rows - 1, letters, utf16_length(value))
        text = self._text(value)
        return f'<c r="{letters}{self._rows}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'

    def _text(self, value: str) -> str:
        if not value.isprintable():
            value, found = _CONTROL.subn("\ufffd", value)
            self._controls += found
            self._cells += found > 0
        if "_x" in value:
            value = _ESCAPED.sub("_x005F_", value)
        return _SPECIAL.sub(lambda match: _REFERENCES[match[0]], value) if _SPECIAL.search(value) else value

    def abort(self) -> None:
        """Let go of the unfinished file."""
        for part in (self._sheet, self._zip):
            with contextlib.suppress(OSError, ValueError):
                part.close()
        self._file.abort()

    def __del__(self) -> None:
        """An archive that is dropped while it is open would complain on stderr."""
        if hasattr(self, "_sheet"):
            self.abort()

    def close(self) -> None:
        """Finish the archive and flush it to the disk."""
        self._sheet.write(b"</sheetData></worksheet>")
        self._sheet.close()
        self._zip.close()
        self._file.close()
        if self._controls:
            text = f"{self._controls} control characters in {self._cells} cells became U+FFFD (XLSX holds none)"
            self.warnings.append(text)
        if self._counts[BAD_UTF8]:
            self.warnings.append(f"{self._counts[BAD_UTF8]} values were not UTF-8: bad bytes were written as U+FFFD")


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, which is what Excel counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _letters(column: int) -> str:
    """The letters of a column (from 0).

    >>> _letters(26)
    'AA'
    """
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _cells(array: pa.Array, counts: Counter[str]) -> list[Any]:
    """Cell values: numbers that Excel holds exactly, all else as text."""
    kind = array.type
    if pa.types.is_integer(kind):
        return [v if v is None or -(10**EXACT_DIGITS) < v < 10**EXACT_DIGITS else str(v) for v in array.to_pylist()]
    if pa.types.is_floating(kind) and pc.all(pc.is_finite(array.cast(pa.float64()).drop_null())).as_py() is not False:
        return list(array.cast(pa.float64()).to_pylist())
    return list(as_text(array, counts).to_pylist())


def _instead() -> str:
    return "-o out.parquet, or .csv"


def _too_long(row: int, column: str, length: int, file: str = "") -> UserError:
    place = f"row {row}, column {column}" + (f" ({file})" if file else "")
    return UserError(
        f"{place}: a text of {length:,} characters is too long for an XLSX cell",
        wanted=f"at most {MAX_CHARACTERS:,} characters in a cell",
        todo=_instead(),
    )


def _too_many_rows() -> UserError:
    return UserError(
        f"more than {MAX_ROWS - 1:,} rows do not fit a sheet",
        wanted="fewer rows, or another format",
        todo=_instead(),
    )


def _check_columns(names: list[str]) -> None:
    if len(names) > MAX_COLUMNS:
        raise UserError(f"{len(names):,} columns do not fit a sheet ({MAX_COLUMNS:,})", todo=_instead())
    for name in names:
        if utf16_length(name) > MAX_CHARACTERS:
            raise UserError(f"the column name {visible(name)} is too long for an XLSX cell", todo=_instead())


def check_batches(batches: Iterable[Batch], names: list[str]) -> None:
    """Raise if rows cannot be written as XLSX: too many of them, or a text too long for a cell."""
    _check_columns(names)
    rows = 0
    for batch in batches:
        for name, array in zip(names, batch.columns.columns, strict=True):
            found = _first_too_long(array)
            if found is not None:
                raise _too_long(rows + found[0] + 1, visible(name), found[1])
        rows += batch.num_rows
        if rows >= MAX_ROWS:
            raise _too_many_rows()


def _first_too_long(array: pa.Array) -> tuple[int, int] | None:
    if pa.types.is_primitive(array.type):
        return None
    texts = as_text(array)
    # UTF-8 has at least as many bytes as UTF-16 has units.
    for row in pc.indices_nonzero(pc.greater(pc.binary_length(texts), MAX_CHARACTERS)).to_pylist():
        length = utf16_length(texts[row].as_py())
        if length > MAX_CHARACTERS:
            return row, length
    return None
