"""How a delimited file is laid out: delimiter, quoting, line ends, and where its header is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.records import Dialect, line_end, read_record

SAMPLE = 1 << 20
SAMPLE_RECORDS = 300
HEADER_BYTES = 32 << 20
_TAG = re.compile(rb"\s*<[?!]?[A-Za-z][^,;|\t\r\n]*>\s*[\r\n]")  # a first line that is nothing but tags
CANDIDATES = ",\t;|"


@dataclass(frozen=True)
class Layout:
    """`skip` bytes (as UTF-8) stand before the first data record; `header` has the names' bytes."""

    delimiter: int
    quote: int
    newline: int
    header: list[bytes]
    skip: int
    has_header: bool


def layout_of(chunks: Iterable[bytes], name: str, format: str, options: ReadOptions) -> Layout:
    """The layout by the first megabyte, or as the options say."""
    sample, final = _sample(chunks)
    if not sample.strip():
        raise UserError(f"{name} is empty: it has no header line", wanted="a line of column names")
    if options.format is None and _is_json(sample):
        raise UserError(f"{name} has JSON in it, not {format}", todo="--format jsonl")
    if options.header and _TAG.match(sample):
        raise UserError(
            f"{name} looks like XML or HTML, which is not read",
            wanted="one row a line with its fields (CSV, TSV), or one JSON object a line",
        )
    quote = _quote(options)
    newline = _newline(sample, quote)
    given = one_byte(options.delimiter, "--delimiter")
    start, said = _start(sample, newline, options, name)
    delimiter = given or said or _delimiter(sample, start, quote, newline, final, format)
    dialect = Dialect(delimiter, quote, newline, 0)
    record = read_record(sample, start, len(sample), dialect)
    if record.fault:
        end = line_end(sample, start, len(sample), newline)
        record = read_record(sample, start, end, Dialect(delimiter, -1, newline, 0))
    if not options.header:
        names = [f"column_{i}".encode() for i in range(1, len(record.values) + 1)]
        return Layout(delimiter, quote, newline, names, start, False)
    return Layout(delimiter, quote, newline, record.values, record.end, True)


def _sample(chunks: Iterable[bytes]) -> tuple[bytes, bool]:
    """The start of the text, and on until it has a line end."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= HEADER_BYTES or (size >= SAMPLE and (b"\n" in chunk or b"\r" in chunk)):
            return b"".join(parts), False
    return b"".join(parts), True


def _is_json(sample: bytes) -> bool:
    """Whether the first line is a JSON object, or the begin of an array of them."""
    text = sample.lstrip()
    if text.startswith(b"["):
        return text[1:].lstrip().startswith(b'{"')
    line = text.splitlines()[0].strip()
    if not line.startswith(b'{"') or not line.endswith(b"}"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _newline(sample: bytes, quote: int) -> int:
    """13 if the first line ends in a CR that no LF follows, else 10."""
    text = sample.lstrip(b"\r\n")
    if quote >= 0:
        mark = re.escape(bytes([quote]))
        text = re.sub(mark + b"[^" + mark + b"]*" + mark, b"", text)
    cr, lf = text.find(b"\r"), text.find(b"\n")
    if cr < 0 or (0 <= lf < cr) or text[cr + 1 : cr + 2] == b"\n":
        return 10
    return 13


def one_byte(given: str | None, option: str) -> int:
    """The byte that an option names: one character, or a word such as `tab`; 0 if it is not given."""
    if given is None:
        return 0
    text = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}.get(given.lower(), given)
    if len(text) != 1 or ord(text) > 127 or text in "\r\n\x00":
        raise UserError(
            f"{option} {visible(given)} is not one ASCII character",
            wanted="one character, or none" if option == "--quote" else "one character, or tab",
            todo=f"{option} none" if option == "--quote" else f"{option} ','",
        )
    return ord(text)


def _quote(options: ReadOptions) -> int:
    if options.quote is None:
        return ord('"')
    return -1 if options.quote.lower() in ("", "none") else one_byte(options.quote, "--quote")


def _start(sample: bytes, newline: int, options: ReadOptions, name: str) -> tuple[int, int]:
    """Where the header starts; and the delimiter if a first line `sep=;` names it (0 if not)."""
    pos, end = 0, len(sample)
    if options.header_row is not None:
        for _ in range(options.header_row - 1):
            pos = line_end(sample, pos, end, newline)
        if pos >= end:
            raise UserError(f"{name} has no line {options.header_row}, where --header-row looks for the header")
        return pos, 0
    delimiter = 0
    while pos < end:
        after = line_end(sample, pos, end, newline)
        line = sample[pos:after].strip(b"\r\n")
        if pos == 0 and len(line) == 5 and line[:4].lower() == b"sep=":
            delimiter = line[4]
        elif line.strip():
            break
        pos = after
    return pos, delimiter


def _delimiter(sample: bytes, start: int, quote: int, newline: int, final: bool, format: str) -> int:
    """The candidate by which most records have as many fields as the header, and that more than one."""
    usual = "\t" if format == "tsv" else ","
    best, best_score = ord(usual), (0.0, 0)
    for candidate in usual + CANDIDATES.replace(usual, ""):
        counts = _field_counts(sample, start, Dialect(ord(candidate), quote, newline, 0), final)
        if not counts or counts[0] < 2:
            continue
        same = sum(count in (counts[0], counts[0] + 1) for count in counts) / len(counts)
        usual_too = candidate == usual and same > 0.5
        score = (2.0 if usual_too else same, counts[0])
        if score > best_score:
            best, best_score = ord(candidate), score
    return best


def _field_counts(sample: bytes, pos: int, dialect: Dialect, final: bool) -> list[int]:
    counts: list[int] = []
    while pos < len(sample) and len(counts) < SAMPLE_RECORDS:
        record = read_record(sample, pos, len(sample), dialect)
        if record.fault:
            stop = line_end(sample, pos, len(sample), dialect.newline)
            record = read_record(sample, pos, stop, Dialect(dialect.delimiter, -1, dialect.newline, 0))
        if record.end >= len(sample) and not final and counts:
            break
        if record.values != [b""]:
            counts.append(len(record.values))
        pos = record.end
    return counts
