"""Records of delimited text that are not well formed: mended where that is sure, else put aside.

The kernel reads what RFC 4180 allows. What it stops at comes here:

- a field that starts with a quote but goes on after the closing one (`"Big" news,...`) is taken as it is
  written if the line then has as many fields as the header;
- a quote inside a quoted field that is not doubled is taken as a character if the record then has as many
  fields as the header and no line inside it is a record of its own;
- everything else is rejected, from its first line up to the next line that is a record.

So an open quote never swallows the records after it.
"""

from __future__ import annotations

from dataclasses import dataclass

LOOK_AHEAD = 2000
TAB = 9
INNER_RECORD = 1 << 20
LENIENT = 1 << 22
_PLAIN_LINE_END = 10


@dataclass(frozen=True)
class Dialect:
    """How a file is delimited: single bytes, `quote` -1 for none; `newline` 10, or 13 in a CR-only file."""

    delimiter: int
    quote: int
    newline: int
    fields: int


@dataclass(frozen=True)
class Record:
    """The fields of a record and where the next one starts; `fault` is empty, `malformed` or `open`."""

    values: list[bytes]
    end: int
    fault: str = ""


@dataclass(frozen=True)
class Mended:
    """What to do with a problem: `values` make a row; without them the text up to `end` is rejected."""

    end: int
    values: list[bytes] | None = None
    reason: str = ""


def line_end(data: bytes | bytearray, pos: int, end: int, newline: int) -> int:
    """Where the line after the one at `pos` starts."""
    found = data.find(newline, pos, end)
    return end if found < 0 else found + 1


def strip_line_end(text: bytes, newline: int) -> bytes:
    """A line without its end."""
    if newline != _PLAIN_LINE_END:
        return text.removesuffix(b"\r")
    return text.removesuffix(b"\n").removesuffix(b"\r")


def read_record(data: bytes | bytearray, pos: int, end: int, dialect: Dialect, *, lenient: bool = False) -> Record:
    """One record by RFC 4180; `lenient`: a quote closes only before a delimiter or line end."""
    values: list[bytes] = []
    while True:
        if pos < end and data[pos] == dialect.quote:
            value, pos, fault = _quoted(data, pos + 1, end, dialect, lenient)
            values.append(value)
            if fault:
                return Record(values, pos, fault)
        else:
            value, pos = _plain(data, pos, end, dialect)
            values.append(value)
        if pos >= end:
            return Record(values, end)
        if data[pos] == dialect.newline:
            return Record(values, pos + 1)
        pos += 1


def _plain(data: bytes | bytearray, pos: int, end: int, dialect: Dialect) -> tuple[bytes, int]:
    stop = data.find(dialect.newline, pos, end)
    at_line_end = stop >= 0 or end == len(data)
    stop = end if stop < 0 else stop
    delimiter = data.find(dialect.delimiter, pos, stop)
    if delimiter >= 0:
        return bytes(data[pos:delimiter]), delimiter
    value = bytes(data[pos:stop])
    if at_line_end and dialect.newline == _PLAIN_LINE_END:
        value = value.removesuffix(b"\r")
    return value, stop


def _quoted(data: bytes | bytearray, pos: int, end: int, dialect: Dialect, lenient: bool) -> tuple[bytes, int, str]:
    """The value of a quoted field, where it ends (at a delimiter, a line end or the end), and its fault."""
    parts: list[bytes] = []
    while True:
        found = data.find(dialect.quote, pos, end)
        if found < 0:
            return b"".join([*parts, bytes(data[pos:end])]), end, "open"
        after = found + 1
        if after < end and data[after] == dialect.quote:
            parts.append(bytes(data[pos:after]))
            pos = after + 1
            continue
        stop = _field_end(data, after, end, dialect)
        if stop >= 0:
            return b"".join([*parts, bytes(data[pos:found])]), stop, ""
        if not lenient:
            return b"".join([*parts, bytes(data[pos:found])]), after, "malformed"
        parts.append(bytes(data[pos:after]))
        pos = after


def _field_end(data: bytes | bytearray, pos: int, end: int, dialect: Dialect) -> int:
    """Where the delimiter or line end directly after a closing quote is, -1 if something else follows."""
    if pos >= end or data[pos] in (dialect.delimiter, dialect.newline):
        return min(pos, end)
    if dialect.newline == _PLAIN_LINE_END and data[pos] == 13:
        if pos + 1 >= end:
            return end
        if data[pos + 1] == _PLAIN_LINE_END:
            return pos + 1
    return -1


def fits(record: Record, fields: int) -> bool:
    """Whether it is a whole record with the right number of fields, or one empty field more."""
    count = len(record.values)
    return not record.fault and (count == fields or (count == fields + 1 and not record.values[-1]))


def mend(data: bytes | bytearray, pos: int, end: int, dialect: Dialect, *, final: bool) -> Mended | None:
    """What to do with the record at `pos`, which the kernel refused; None if more text is needed first."""
    record = read_record(data, pos, end, dialect)
    if not final and record.fault != "malformed" and record.end >= end:
        return None
    if not record.fault:
        return _ragged(data, pos, end, dialect, record)
    return _misquoted(data, pos, end, dialect, final=final)


def _ragged(data: bytes | bytearray, pos: int, end: int, dialect: Dialect, record: Record) -> Mended:
    if fits(record, dialect.fields):
        return Mended(record.end, record.values[: dialect.fields])
    first = line_end(data, pos, end, dialect.newline)
    inner = _inner_record(data, first, record.end, end, dialect) if first < record.end else -1
    if inner >= 0:
        return Mended(inner, reason=_open_quote(dialect))
    return Mended(record.end, reason=_expected(dialect.fields, len(record.values)))


def _misquoted(data: bytes | bytearray, pos: int, end: int, dialect: Dialect, *, final: bool) -> Mended | None:
    first = line_end(data, pos, end, dialect.newline)
    window = min(end, pos + LENIENT)
    if not final and end - pos < LENIENT:
        return None
    inner = _inner_record(data, first, window, end, dialect)
    alone = first >= end or inner == first
    literal = _as_written(data, pos, first, dialect, alone=alone)
    if literal and alone:
        return Mended(first, literal)
    lenient = read_record(data, pos, window if inner < 0 else inner, dialect, lenient=True)
    if fits(lenient, dialect.fields):
        return Mended(lenient.end, lenient.values[: dialect.fields])
    if literal:
        return Mended(first, literal)
    if not lenient.fault:
        return Mended(lenient.end, reason=_expected(dialect.fields, len(lenient.values)))
    if inner < 0:
        inner = end if final and window == end else first
    return Mended(inner, reason=_open_quote(dialect))


def _expected(fields: int, found: int) -> str:
    return f"expected {fields} field{'s' * (fields != 1)}, found {found}"


def _open_quote(dialect: Dialect) -> str:
    return f"a quote {chr(dialect.quote)} is not closed, or not doubled inside its field"


def _as_written(data: bytes | bytearray, pos: int, end: int, dialect: Dialect, *, alone: bool) -> list[bytes] | None:
    """The line's fields with their quotes as characters, if it then is a record.

    Fields with an open quote are taken only where tabs delimit (such files often have no quoting) and the
    next line is a record too.
    """
    line = strip_line_end(bytes(data[pos:end]), dialect.newline)
    values = line.split(bytes([dialect.delimiter]))
    if len(values) != dialect.fields:
        return None
    quote = bytes([dialect.quote])
    if any(v.startswith(quote) and v.count(quote) % 2 for v in values) and not (alone and dialect.delimiter == TAB):
        return None
    return [_unquoted(value, quote) for value in values]


def _unquoted(value: bytes, quote: bytes) -> bytes:
    inside = value[1:-1]
    if (
        len(value) > 1
        and value.startswith(quote)
        and value.endswith(quote)
        and not inside.replace(quote * 2, b"").count(quote)
    ):
        return inside.replace(quote * 2, quote)
    return value


def _inner_record(data: bytes | bytearray, pos: int, stop: int, end: int, dialect: Dialect) -> int:
    """The first line from `pos` to before `stop` that is a whole record by itself; -1 if none is."""
    if dialect.fields < 2:
        return -1
    for _ in range(LOOK_AHEAD):
        if pos >= stop:
            return -1
        limit = min(end, pos + INNER_RECORD)
        after = line_end(data, pos, end, dialect.newline)
        if fits(read_record(data, pos, limit, dialect), dialect.fields):
            return pos
        if dialect.delimiter == TAB and data.count(TAB, pos, after) == dialect.fields - 1:
            return pos
        pos = after
    return pos if pos < stop else -1
