"""Rows and shared strings found in the text of their XML, where that is written as nearly all programs write it.

Six times as fast as building every element, which is done (by the caller) for a row or string that has anything
unusual, and for a whole part that has: another encoding, prefixes, comments, CDATA, processing instructions or an
entity of its own. Such a part raises `Unusual`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

CHUNK = 1 << 19
LONGEST = 64 << 20
_HEAD = re.compile(rb'\s*(?:<\?xml version="1\.0"(?: encoding="[Uu][Tt][Ff]-8")?[^>]*\?>)?\s*<(worksheet|sst)\b[^>]*>')
# Attributes in the order in which Excel, WPS, LibreOffice, openpyxl and XlsxWriter write them.
CELL = re.compile(
    r'<c r="([A-Z]+)[0-9]+"(?: s="([0-9]+)")?(?: t="([a-zA-Z]+)")?(?:/>|>'
    r'(?:(?:<f[^<>]*>[^<]*</f>)?<v>([^<]+)</v>|<is><t(?: xml:space="preserve")?>([^<]*)</t></is>)?</c>)'
)
_PLAIN = re.compile(rb'<si><t(?: xml:space="preserve")?>([^<]*)</t></si>')
_NUMBER = re.compile(r'(?:^|\s)r="([0-9]+)"')
_MERGE = re.compile(rb'<mergeCell ref="([A-Z0-9:]+)"\s*/>')
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|([a-z]+));|&")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class Unusual(Exception):
    """The part is to be read as XML."""


class Part:
    """The elements `row` of a worksheet, or `si` of the shared strings, as texts."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name
        self._opening, self._end = f"<{name}".encode(), f"</{name}>".encode()
        self._data = file.read(CHUNK).removeprefix(b"\xef\xbb\xbf")
        head = _HEAD.match(self._data)
        if head is None or (head[1] == b"sst") != (name == "si"):
            raise Unusual
        _check(self._data[head.end() :])
        self._root, self._closing = self._data[head.start(1) - 1 : head.end()].decode(), b"</" + head[1] + b">"
        self.tail = b""

    def __iter__(self) -> Iterator[tuple[str | None, str]]:
        """Attributes and content of each; of a plain string None and its text. `tail` is what follows the last."""
        begun = False
        while True:
            pos = 0
            while True:
                while plain := _PLAIN.match(self._data, pos):
                    pos = plain.end()
                    yield None, plain[1].decode()
                if (found := self._next(pos)) is None:
                    break
                start, inside, end, after = found
                # Between two of them there is nothing; before the first there may be much.
                if begun and self._data[pos:start].strip():
                    raise Unusual
                begun, pos = True, after
                attributes = self._data[start + len(self._opening) : inside].decode().rstrip("/>")
                yield attributes, self._data[inside:end].decode()
            chunk = self._file.read(CHUNK)
            # What makes a part unusual may be cut in two.
            _check(self._data[-1:] + chunk)
            self._data = self._data[pos:] + chunk
            if not chunk:
                break
            if len(self._data) > LONGEST:
                raise Unusual
        self.tail = self._data
        if self._closing not in self.tail or self._opening_at(0) >= 0:
            raise Unusual

    def _opening_at(self, pos: int) -> int:
        """Where the next of the elements begins: `<row `, and not `<rowBreaks`."""
        while (pos := self._data.find(self._opening, pos)) >= 0:
            if self._data[pos + len(self._opening) : pos + len(self._opening) + 1] in (b" ", b">", b"/", b""):
                return pos
            pos += 1
        return -1

    def _next(self, pos: int) -> tuple[int, int, int, int] | None:
        """Where the next whole element begins, its content begins and ends, and what follows it begins."""
        start = self._opening_at(pos)
        inside = self._data.find(b">", start) + 1 if start >= 0 else 0
        if not inside:
            return None
        if self._data[inside - 2 : inside] == b"/>":
            return start, inside, inside, inside
        end = self._data.find(self._end, inside)
        if end < 0:
            return None
        nested = self._data.find(self._opening, inside, end)
        if nested >= 0:
            raise Unusual
        return start, inside, end, end + len(self._end)

    def document(self, attributes: str, inside: str) -> str:
        """An element of this part with the namespaces of its root."""
        return f"{self._root}<{self._name}{attributes}>{inside}</{self._name}>{self._closing.decode()}"


def _check(data: bytes) -> None:
    if b"<!" in data or b"<?" in data or b"\0" in data:
        raise Unusual


def row_number(attributes: str, before: int) -> int:
    """The number of a row: as it says, else one more than the one before.

    >>> row_number(' r="7" spans="1:3"', 2), row_number("", 2)
    (7, 3)
    """
    found = _NUMBER.search(attributes)
    return int(found[1]) if found else before + 1


def merges(tail: bytes) -> list[str]:
    """The ranges of merged cells in what follows the rows."""
    found = [ref.decode() for ref in _MERGE.findall(tail)]
    if len(found) != tail.count(b"<mergeCell "):
        raise Unusual
    return found


def text_of(value: str) -> str:
    r"""The text that a piece of XML without tags stands for.

    >>> text_of("a&lt;b&#13;\r\nc")
    'a<b\r\nc'
    """
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return _REFERENCE.sub(_character, value) if "&" in value else value


def _character(reference: re.Match[str]) -> str:
    hexadecimal, decimal, name = reference.groups()
    if name in _NAMED:
        return _NAMED[name]
    if not hexadecimal and not decimal:
        raise Unusual
    number = int(hexadecimal, 16) if hexadecimal else int(decimal)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000 or (number < 32 and number not in (9, 10, 13)):
        raise Unusual
    return chr(number)
