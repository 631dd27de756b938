"""The parts of an XLSX workbook, read as a stream: sheets, shared strings, and cells as text.

The used range that a sheet claims is not believed; phonetic guides are left out; `_x000D_` is undone.
"""

from __future__ import annotations

import errno
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import sheet_text
from newsdedup_cli.files.streams import first_bytes, kind_of

ERRORS = (
    zipfile.BadZipFile, zlib.error, ElementTree.ParseError, LookupError, ValueError, EOFError, OSError,
    NotImplementedError, RuntimeError, OverflowError, AttributeError,
)  # fmt: skip
EXACT_DIGITS = 15
_CHUNK = 1 << 18
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_TIME_FORMATS = {18, 19, 20, 21, 32, 33, 45, 46, 47, 55, 56}
_WITH_TIME = {*_TIME_FORMATS, 22}
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]')
_LAST_DAY = 2958466


@dataclass(frozen=True)
class Sheet:
    """A worksheet: its name, whether it is shown, and where it is in the archive."""

    name: str
    visible: bool
    part: str


@dataclass
class Tally:
    """What was found in the cells of a sheet, by column (from 0) where a column can be named."""

    formulas: int = 0
    long_numbers: dict[int, int] = field(default_factory=dict)
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)

    def clear(self) -> None:
        """Begin anew."""
        self.formulas = 0
        self.long_numbers.clear()
        self.merges.clear()


def damaged(name: str, error: BaseException) -> UserError:
    """A message for a workbook that cannot be read."""
    reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    if isinstance(error, OSError) and error.errno:
        places = "its directory points outside the file"
        reason = places if error.errno == errno.EINVAL else error.strerror or reason
    return UserError(f"{name} is a damaged workbook: {reason}", todo="opening it in Excel or WPS and saving it anew")


def check_kind(path: Path, name: str) -> None:
    """Raise unless the file is a ZIP archive, as workbooks are."""
    head = first_bytes(path, name)
    if head.startswith(b"PK\x03\x04"):
        return
    if not head:
        raise UserError(f"{name} is empty", wanted="an Excel workbook (.xlsx)")
    what = kind_of(head)
    if what is None and head.strip() and b"\x00" not in head:
        what, todo = "text", "--format csv (or tsv, jsonl)"
    elif head.startswith(b"\xd0\xcf\x11\xe0"):
        todo = "opening it in Excel, WPS or LibreOffice and saving it as .xlsx without a password"
    else:
        todo = "the --format that it has"
    found = f": it is {what}" if what else ""
    raise UserError(f"{name} is no Excel workbook (.xlsx){found}", todo=todo)


def _elements(file: IO[bytes]) -> Iterator[Element]:
    """The elements of an XML file, each at its end."""
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser()
    while chunk := file.read(_CHUNK):
        parser.feed(chunk)
        for event in parser.read_events():
            yield cast(Element, event[-1])
    parser.close()


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


class Workbook:
    """An opened workbook."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        self._parts = {name.lower(): name for name in self._zip.namelist()}
        root_part = self._target("_rels/.rels", "officeDocument") or "xl/workbook.xml"
        self._folder = posixpath.dirname(root_part)
        self._relations_part = f"{self._folder}/_rels/{posixpath.basename(root_part)}.rels".lstrip("/")
        root = self._tree(root_part)
        self.sheets = self._sheets(root)
        flags = [element for element in root.iter() if _local(element.tag) == "workbookPr"]
        self._epoch_1904 = any(element.get("date1904") in ("1", "true") for element in flags)
        self._kinds = self._date_kinds()
        self._strings: list[str] | None = None

    def close(self) -> None:
        """Close the archive."""
        self._zip.close()

    def _open(self, part: str) -> IO[bytes]:
        return self._zip.open(self._parts[part.lower()])

    def _tree(self, part: str) -> Element:
        with self._open(part) as file:
            return ElementTree.parse(file).getroot()

    def _relations(self, part: str) -> list[Element]:
        return list(self._tree(part)) if part.lower() in self._parts else []

    def _target(self, relations: str, kind: str, folder: str = "") -> str | None:
        for relation in self._relations(relations):
            if relation.get("Type", "").endswith(f"/{kind}"):
                return _resolved(folder, relation.get("Target", ""))
        return None

    def _sheets(self, root: Element) -> list[Sheet]:
        targets = {
            relation.get("Id"): _resolved(self._folder, relation.get("Target", ""))
            for relation in self._relations(self._relations_part)
            if relation.get("Type", "").endswith("/worksheet")
        }
        found = []
        for element in root.iter():
            if _local(element.tag) != "sheet":
                continue
            part = targets.get(element.get(_RELATION) or element.get(_STRICT_RELATION))
            if part and part.lower() in self._parts:
                found.append(Sheet(element.get("name", ""), element.get("state", "visible") == "visible", part))
        return found

    def _date_kinds(self) -> list[str]:
        """Per cell style "" or how its numbers are shown: date, datetime, time."""
        part = self._target(self._relations_part, "styles", self._folder)
        if part is None or part.lower() not in self._parts:
            return []
        root = self._tree(part)
        custom = {}
        for element in root.iter():
            if _local(element.tag) == "numFmt":
                custom[int(element.get("numFmtId", "0"))] = _format_kind(element.get("formatCode", ""))
        styles = next((element for element in root if _local(element.tag) == "cellXfs"), None)
        numbers = [int(style.get("numFmtId", "0")) for style in styles] if styles is not None else []
        return [custom[n] if n in custom else _known_kind(n) for n in numbers]

    @property
    def strings(self) -> list[str]:
        """The shared strings."""
        if self._strings is None:
            part = self._target(self._relations_part, "sharedStrings", self._folder)
            self._strings = list(self._read_strings(part)) if part and part.lower() in self._parts else []
        return self._strings

    def _read_strings(self, part: str) -> Iterator[str]:
        given = 0
        try:
            for text in self._strings_by_text(part):
                yield text
                given += 1
        except sheet_text.Unusual:
            yield from islice(self._strings_by_element(part), given, None)

    def _strings_by_text(self, part: str) -> Iterator[str]:
        with self._open(part) as file:
            elements = sheet_text.Part(file, "si")
            for attributes, inside in elements:
                if attributes is None:
                    yield unescaped(sheet_text.text_of(inside))
                else:
                    yield string_of(ElementTree.fromstring(elements.document(attributes, inside))[0])

    def _strings_by_element(self, part: str) -> Iterator[str]:
        with self._open(part) as file:
            for element in _elements(file):
                if _local(element.tag) == "si":
                    yield string_of(element)
                    element.clear()

    def rows(self, sheet: Sheet, tally: Tally) -> Iterator[tuple[int, dict[int, str]]]:
        """Each row's number (from 1) and its cells that are not empty, by column (from 0)."""
        given = 0
        try:
            for row in self._rows_by_text(sheet, tally):
                yield row
                given += 1
        except sheet_text.Unusual:
            tally.clear()
            yield from islice(self._rows_by_element(sheet, tally), given, None)

    def _rows_by_text(self, sheet: Sheet, tally: Tally) -> Iterator[tuple[int, dict[int, str]]]:
        number = 0
        with self._open(sheet.part) as file:
            elements = sheet_text.Part(file, "row")
            for attributes, inside in elements:
                number = sheet_text.row_number(attributes or "", number)
                found = sheet_text.CELL.findall(inside)
                if len(found) == inside.count("<c"):
                    yield number, self._cells_of(found, tally)
                else:
                    row = ElementTree.fromstring(elements.document(attributes or "", inside))[0]
                    yield number, self._cells(row, row.tag[: row.tag.rfind("}") + 1], tally)
            tally.merges += map(_range, sheet_text.merges(elements.tail))

    def _cells_of(self, found: list[tuple[str, str, str, str, str]], tally: Tally) -> dict[int, str]:
        cells: dict[int, str] = {}
        for letters, style, kind, value, inline in found:
            column = _letters_column(letters)
            if kind == "s" and value:
                text = self.strings[int(value)]
            elif value:
                text = self._value(kind or "n", sheet_text.text_of(value), style, column, tally)
            else:
                text = unescaped(sheet_text.text_of(inline))
            if text:
                cells[column] = text
        return cells

    def _rows_by_element(self, sheet: Sheet, tally: Tally) -> Iterator[tuple[int, dict[int, str]]]:
        number = 0
        space = row = merge = ""
        with self._open(sheet.part) as file:
            for element in _elements(file):
                tag = element.tag
                if tag == row:
                    given = element.get("r")
                    number = int(given) if given else number + 1
                    cells = self._cells(element, space, tally)
                    element.clear()
                    yield number, cells
                elif tag == merge:
                    tally.merges.append(_range(element.get("ref", "")))
                elif not row and _local(tag) in ("c", "row"):
                    space = tag[: tag.rfind("}") + 1]
                    row, merge = f"{space}row", f"{space}mergeCell"
                    if tag == row:  # an empty one is the very first element
                        number = int(element.get("r", "1"))

    def _cells(self, row: Element, space: str, tally: Tally) -> dict[int, str]:
        cells: dict[int, str] = {}
        value_tag, text_tag = f"{space}v", f"{space}t"
        column = -1
        for cell in row:
            ref = cell.get("r")
            column = _column(ref) if ref else column + 1
            kind = cell.get("t", "n")
            if kind == "inlineStr":
                item = cell[0] if len(cell) == 1 else None
                if item is not None and len(item) == 1 and item[0].tag == text_tag:
                    text = unescaped(item[0].text or "")
                else:
                    text = "".join(string_of(part) for part in cell if _local(part.tag) == "is")
            elif value := cell.findtext(value_tag):
                text = self._value(kind, value, cell.get("s"), column, tally)
            else:
                tally.formulas += kind != "str" and cell.find(f"{space}f") is not None
                continue
            if text:
                cells[column] = text
        return cells

    def _value(self, kind: str, value: str, style: str | None, column: int, tally: Tally) -> str:
        if kind == "s":
            return self.strings[int(value)]
        if kind == "b":
            return "true" if value.strip() == "1" else "false"
        if kind == "n":
            shown = self._kinds[int(style)] if style and int(style) < len(self._kinds) else ""
            text = date_text(value, shown, self._epoch_1904) if shown else None
            return text if text is not None else number_text(value, column, tally)
        return unescaped(value)


def _resolved(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def unescaped(text: str) -> str:
    r"""The text with Excel's escapes for characters undone.

    >>> unescaped("一_x000D_\n二 _x005F_x000D_")
    '一\r\n二 _x000D_'
    """
    if "_x" not in text:
        return text
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def string_of(element: Element) -> str:
    """A string item: its plain text or its rich runs, without phonetic guides."""
    parts = []
    for child in element:
        name = _local(child.tag)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts += [part.text or "" for part in child if _local(part.tag) == "t"]
    return unescaped("".join(parts))


@lru_cache(1 << 10)
def _letters_column(letters: str) -> int:
    """The column (from 0) of letters."""
    number = 0
    for char in letters:
        number = number * 26 + ord(char) - 64 if "A" <= char <= "Z" else 1 << 20
    if not 0 < number <= 1 << 16:
        raise ValueError(f"column {letters[:20]!r}")
    return number - 1


def _column(ref: str) -> int:
    """The column (from 0) of a cell reference.

    >>> _column("AA12")
    26
    """
    return _letters_column(ref.rstrip("0123456789"))


def _range(ref: str) -> tuple[int, int, int, int]:
    """First column (from 0), first row, last column, last row of a range such as A4:A6."""
    first, _, last = ref.partition(":")
    last = last or first
    rows = [int(part.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) for part in (first, last)]
    return _column(first), rows[0], _column(last), rows[1]


def number_text(value: str, column: int, tally: Tally) -> str:
    """A stored number as text: whole ones without .0, no exponent; too long ones are counted.

    >>> number_text("45300.0", 0, Tally())
    '45300'
    """
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) <= EXACT_DIGITS:
        return value
    try:
        number = Decimal(value)
        if not number.is_finite() or not -400 < number.adjusted() < 400:
            return value
    except InvalidOperation:
        return value
    if number == number.to_integral_value():
        text = str(int(number))
        if len(text.lstrip("-")) > EXACT_DIGITS:
            tally.long_numbers[column] = tally.long_numbers.get(column, 0) + 1
        return text
    return format(Decimal(repr(float(number))), "f")


def date_text(value: str, shown: str, epoch_1904: bool) -> str | None:
    """A day number as ISO text, by how its format shows it; None if it is no date.

    >>> date_text("45293.35416666666", "datetime", False)
    '2024-01-02T08:30:00'
    """
    try:
        days = float(value)
    except ValueError:
        return None
    if not 0 <= days < _LAST_DAY:
        return None
    span = timedelta(milliseconds=round(days * 86_400_000))
    if shown == "time" and days < 1:
        return _clock(datetime(1900, 1, 1) + span)
    # 1900 is a leap year to Excel.
    begin = datetime(1904, 1, 1) if epoch_1904 else datetime(1899, 12, 30 if days >= 60 else 31)
    moment = begin + span
    day = moment.date().isoformat()
    return day if shown == "date" and moment.time() == datetime.min.time() else f"{day}T{_clock(moment)}"


def _clock(moment: datetime) -> str:
    return moment.time().isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def _known_kind(number: int) -> str:
    if number not in _DATE_FORMATS:
        return ""
    return "time" if number in _TIME_FORMATS else "datetime" if number in _WITH_TIME else "date"


def _format_kind(code: str) -> str:
    """What a number format shows: date, datetime, time or "" for a number.

    >>> _format_kind('yyyy"年"m"月"d"日" h:mm'), _format_kind("[h]:mm"), _format_kind("0.00")
    ('datetime', 'time', '')
    """
    plain = _QUOTED.sub("", code.split(";")[0]).lower()
    if "general" in plain or not any(c in plain for c in "ymdhsg年月日"):
        return ""
    day, clock = any(c in plain for c in "ydg年月日"), any(c in plain for c in "hs")
    if not clock:
        return "date" if day or "m" in plain else ""
    return "datetime" if day else "time"
