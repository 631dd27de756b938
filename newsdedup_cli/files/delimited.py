"""CSV and TSV: every cell is text, goes out as it came in, and nothing is inferred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from newsdedup_cli.errors import visible
from newsdedup_cli.files import records, sniff
from newsdedup_cli.files.base import BATCH_ROWS, Batch, FieldRef, Findings, ReadOptions, Reject
from newsdedup_cli.files.encoding import Encoding, Utf8Reader, checked_name, detect
from newsdedup_cli.files.streams import ByteReader
from newsdedup_cli.files.texts import TEXT, with_buffers
from newsdedup_cli.kernels.records import MORE, PROBLEM, copy_fields, scan_records

BATCH_BYTES = 8 << 20
RECORD_BYTES = 64 << 20
MAX_CELLS = 1 << 21
_BOM = b"\xef\xbb\xbf"
_LISTED = 3


class DelimitedSource:
    """A CSV or TSV file."""

    def __init__(self, path: Path, name: str, format: str, options: ReadOptions) -> None:
        self.path, self.name, self.format = path, name, format
        with ByteReader(path, name) as reader:
            named = options.encoding and Encoding(checked_name(options.encoding), "--encoding says so")
            self.encoding = named or detect(reader)
        with ByteReader(path, name) as reader:
            self.layout = sniff.layout_of(self._chunks(reader), name, format, options)
        self.header = [value.decode("utf-8", "replace") for value in self.layout.header]
        self._notes = self._first_notes(options)
        self.findings = Findings(notes=list(self._notes))

    @property
    def schema(self) -> pa.Schema:
        """One text column per field of the header."""
        return pa.schema([pa.field(name, TEXT) for name in self.header])

    def _chunks(self, reader: ByteReader) -> Utf8Reader:
        return Utf8Reader(reader, self.encoding.name)

    def _first_notes(self, options: ReadOptions) -> list[str]:
        notes = []
        if self.encoding.why:
            notes.append(f"{self.name}: encoding {self.encoding.name} ({self.encoding.why})")
        usual = "\t" if self.format == "tsv" else ","
        if options.delimiter is None and chr(self.layout.delimiter) != usual:
            notes.append(f"{self.name}: delimiter {visible(chr(self.layout.delimiter))}")
        if self.layout.newline != 10:
            notes.append(f"{self.name}: lines end in CR only")
        return notes

    @property
    def details(self) -> dict[str, str]:
        """Encoding, why, and delimiter."""
        delimiter = visible(chr(self.layout.delimiter))
        return {"encoding": self.encoding.name, "why": self.encoding.why, "delimiter": delimiter}

    def complete(self) -> None:
        """The header has all columns."""

    def texts(self, fields: Sequence[FieldRef], rows: int = BATCH_ROWS) -> Iterator[list[pa.LargeStringArray]]:
        """The asked-for columns."""
        return self._columns([field.index for field in fields], rows)

    def batches(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All columns."""
        schema = self.schema
        for arrays in self._columns(range(len(schema)), rows):
            yield Batch(pa.RecordBatch.from_arrays(arrays, schema=schema))

    def _columns(self, indices: Sequence[int], rows: int) -> Iterator[list[pa.LargeStringArray]]:
        with ByteReader(self.path, self.name) as reader:
            scan = _Scan(self, self._chunks(reader), rows)
            for table in scan:
                yield [table.column(index) for index in indices]
            self.findings = scan.findings(self._notes)


class _Table:
    """The fields of some records, still in their bytes."""

    def __init__(self, data: bytes, parts: tuple[np.ndarray, np.ndarray, np.ndarray], quote: int) -> None:
        self._data = np.frombuffer(data, np.uint8)
        self._starts, self._ends, self._kinds = parts
        self._quote = quote

    def column(self, index: int) -> pa.LargeStringArray:
        """One column; empty fields are null."""
        size = len(self._starts)
        out = np.empty(int((self._ends[:, index] - self._starts[:, index]).sum()), np.uint8)
        offsets, valid = np.empty(size + 1, np.int64), np.empty(size, np.bool_)
        copy_fields(self._data, self._starts, self._ends, self._kinds, index, self._quote, out, offsets, valid)
        return with_buffers(valid, offsets, pa.py_buffer(out))


class _Scan:
    """One pass over a file: tables of records, and what was found on the way."""

    def __init__(self, source: DelimitedSource, text: Utf8Reader, rows: int) -> None:
        layout = source.layout
        self._name, self._text, self._header = source.name, text, layout.header if layout.has_header else None
        fields = len(layout.header)
        rows = max(1, min(rows, MAX_CELLS // fields))
        self._dialect = records.Dialect(layout.delimiter, layout.quote, layout.newline, fields)
        self._chunks = iter(text)
        self._data, self._pos, self._final = b"", 0, False
        self._skip, self._line = layout.skip, 1
        self._starts = np.empty((rows, fields), np.int64)
        self._ends = np.empty((rows, fields), np.int64)
        self._kinds = np.empty((rows, fields), np.uint8)
        self._lines, self._where = np.empty(rows, np.int64), np.empty(rows, np.int64)
        self._rejects = Findings()
        self._repeated: list[int] = []
        self._mended: list[int] = []
        self._blanks = self._rows = 0

    def __iter__(self) -> Iterator[_Table]:
        self._more(self._skip)
        self._line += self._data.count(self._dialect.newline, 0, self._skip)
        self._pos = self._skip
        while True:
            found, status = self._kernel()
            if found:
                yield from self._found(found)
            if status == PROBLEM:
                yield from self._problem()
            elif status == MORE and self._final:
                return
            elif status == MORE and len(self._data) - self._pos > RECORD_BYTES:
                yield from self._problem()
            elif status == MORE:
                self._more()

    def _kernel(self) -> tuple[int, int]:
        data = np.frombuffer(self._data, np.uint8)
        d = self._dialect
        found, self._pos, self._line, status, blanks = scan_records(
            data, self._pos, len(data), self._final, d.delimiter, d.quote, d.newline, self._line,
            self._starts, self._ends, self._kinds, self._lines, self._where,
        )  # fmt: skip
        self._blanks += blanks
        return found, status

    def _found(self, found: int) -> Iterator[_Table]:
        keep = self._not_header(found)
        parts = (self._starts[:found], self._ends[:found], self._kinds[:found])
        if not keep.all():
            parts = (parts[0][keep], parts[1][keep], parts[2][keep])
        self._rows += len(parts[0])
        if len(parts[0]):
            yield _Table(self._data, parts, self._dialect.quote)

    def _not_header(self, found: int) -> np.ndarray:
        """False for records that repeat the header, as in files that were joined."""
        keep = np.ones(found, np.bool_)
        if self._header is None or len(self._header) < 2:
            return keep
        sizes = self._ends[:found] - self._starts[:found]
        alike = sizes[:, -1] == len(self._header[-1])
        for row in np.flatnonzero(alike & (sizes[:, 0] <= len(self._header[0]) * 2 + 8)).tolist():
            record = records.read_record(self._data, int(self._where[row]), len(self._data), self._dialect)
            if self._is_header(record.values):
                keep[row] = False
                self._repeated.append(int(self._lines[row]))
        return keep

    def _is_header(self, values: list[bytes]) -> bool:
        first = values[0].removeprefix(_BOM)
        if len(first) > 1 and first[0] == self._dialect.quote == first[-1]:
            first = first[1:-1]
        return [first, *values[1:]] == self._header

    def _problem(self) -> Iterator[_Table]:
        """The record at the position is no plain one: mend it, put it aside, or read more first."""
        size = len(self._data)
        final = self._final or size - self._pos > RECORD_BYTES
        done = records.mend(self._data, self._pos, size, self._dialect, final=final)
        if done is None:
            self._more()
            return
        raw = self._data[self._pos : done.end]
        line = self._line
        self._line += raw.count(self._dialect.newline)
        self._pos = done.end
        if done.values is not None:
            self._mended.append(line)
            self._rows += 1
            yield _table_of(done.values, self._dialect.quote)
        elif not raw.strip():
            self._blanks += 1
        else:
            text = records.strip_line_end(raw, self._dialect.newline).decode("utf-8", "replace")
            long = "" if final == self._final else f", or the record is longer than {RECORD_BYTES >> 20} MB"
            self._rejects.reject(Reject(self._name, line, done.reason + long, text, self._rows + 1))

    def _more(self, least: int = 0) -> None:
        """Drop what is done and read on, at least as much again as is left, so that work stays linear."""
        parts = [self._data[self._pos :]]
        size, self._pos = len(parts[0]), 0
        wanted = max(least, 2 * size, BATCH_BYTES if least == 0 else 0)
        while size < wanted:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._final = True
                break
            parts.append(chunk)
            size += len(chunk)
        self._data = b"".join(parts)

    def findings(self, notes: list[str]) -> Findings:
        """What the pass found, in words."""
        warnings = []
        if self._text.bad:
            warnings.append(f"{self._name}: {self._text.bad} bytes could not be decoded and became U+FFFD")
        if self._repeated:
            warnings.append(f"{self._name}: the header is repeated on {_lines(self._repeated)}, skipped")
        if self._blanks:
            warnings.append(f"{self._name}: {self._blanks} blank lines skipped")
        if self._mended:
            warnings.append(f"{self._name}: stray quotes on {_lines(self._mended)}, kept as characters")
        return Findings(list(notes), warnings, self._rejects.rejects)


def _lines(numbers: list[int]) -> str:
    listed = ", ".join(map(str, numbers[:_LISTED]))
    more = f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else ""
    return f"line{'s' if len(numbers) > 1 else ''} {listed}{more}"


def _table_of(values: list[bytes], quote: int) -> _Table:
    sizes = np.cumsum([0, *map(len, values)], dtype=np.int64)
    kinds = np.zeros((1, len(values)), np.uint8)
    return _Table(b"".join(values), (sizes[:-1].reshape(1, -1), sizes[1:].reshape(1, -1), kinds), quote)
