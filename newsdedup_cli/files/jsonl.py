"""JSON lines: numbers keep their spelling, keys may appear late, lines go out unchanged.

A file that is one array of objects is read too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.base import BATCH_ROWS, Batch, FieldRef, Findings, ReadOptions, Reject
from newsdedup_cli.files.encoding import Encoding, Utf8Reader, checked_name, detect
from newsdedup_cli.files.json_lines import Line, elements, is_array, lines_of
from newsdedup_cli.files.json_values import BadLine, Cells, RawJson, read_object
from newsdedup_cli.files.streams import ByteReader
from newsdedup_cli.files.texts import TEXT

BATCH_BYTES = 8 << 20
PEEK_BYTES = 8 << 20


class JsonlSource:
    """A file of JSON objects, one a line, or of one array of objects."""

    def __init__(self, path: Path, name: str, format: str, options: ReadOptions) -> None:
        self.path, self.name, self.format = path, name, format
        with ByteReader(path, name) as reader:
            named = options.encoding and Encoding(checked_name(options.encoding), "--encoding says so")
            self.encoding = named or detect(reader)
        self._notes: list[str] = []
        if self.encoding.why:
            self._notes.append(f"{name}: encoding {self.encoding.name} ({self.encoding.why})")
        self.findings = Findings(notes=list(self._notes))
        self._names: dict[str, int] = {}
        self._complete = False
        self._peek()

    @property
    def schema(self) -> pa.Schema:
        """One text column per key, in order of first appearance."""
        return pa.schema([pa.field(name, TEXT) for name in self._names])

    @property
    def details(self) -> dict[str, str]:
        """Encoding, and why."""
        return {"encoding": self.encoding.name, "why": self.encoding.why}

    def _peek(self) -> None:
        """The keys of the first megabytes; that no line there is an object ends it."""
        size = rows = 0
        first: Reject | None = None
        for line, found in self._objects(Findings()):
            if isinstance(found, Reject):
                first = first or found
            else:
                rows += 1
            size += len(line)
            if size > PEEK_BYTES and rows:
                return
        if first and not rows:
            raise UserError(
                f"{self.name} line {first.line}: {first.reason}: {visible(first.raw)}",
                wanted="one JSON object a line",
                todo="--format csv, if it is no JSON",
            )
        self._complete = True

    def complete(self) -> None:
        """Read the whole file for its keys."""
        if not self._complete:
            for _ in self._objects(Findings()):
                pass
            self._complete = True

    def texts(self, fields: Sequence[FieldRef], rows: int = BATCH_ROWS) -> Iterator[list[pa.LargeStringArray]]:
        """The asked-for keys; lists of strings joined by newlines."""
        names = list(self._names)
        asked = [names[field.index] for field in fields]
        cells = Cells(joined=True)
        for _, columns in self._groups(asked, rows):
            pairs = zip(fields, columns, strict=True)
            yield [cells.array(column, field.path) for field, column in pairs]

    def batches(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All keys as text columns, and the lines."""
        self.complete()
        schema = pa.schema([]) if lines else self.schema
        cells = Cells(joined=False)
        for found, columns in self._groups(schema.names, rows):
            raw = pa.array(found, pa.large_binary())
            arrays = [cells.array(column) for column in columns]
            yield Batch(pa.RecordBatch.from_arrays(arrays, schema=schema), raw)

    def _groups(self, names: Sequence[str], rows: int) -> Iterator[tuple[list[bytes], list[list[RawJson | None]]]]:
        """Lines, and per name the raw values in them, in groups of bounded size."""
        findings = Findings(notes=list(self._notes))
        lines: list[bytes] = []
        columns: list[list[RawJson | None]] = [[] for _ in names]
        size = read = 0
        for line, found in self._objects(findings):
            if isinstance(found, Reject):
                findings.reject(replace(found, row=read + 1))
                continue
            read += 1
            lines.append(line)
            for name, column in zip(names, columns, strict=True):
                column.append(found.get(name))
            size += len(line)
            if len(lines) >= rows or size >= BATCH_BYTES:
                yield lines, columns
                lines, columns, size = [], [[] for _ in names], 0
        if lines:
            yield lines, columns
        self._complete = True
        self.findings = findings

    def _objects(self, findings: Findings) -> Iterator[tuple[bytes, Mapping[str, RawJson] | Reject]]:
        """Each line with its values (raw JSON by key) or why it is none; warnings go to `findings`."""
        counts = {"blank": 0, "surrogates": 0}
        names = self._names
        with ByteReader(self.path, self.name) as reader:
            text = Utf8Reader(reader, self.encoding.name)
            for line in self._lines(text, counts):
                try:
                    found = read_object(line.text, counts)
                except BadLine as bad:
                    yield (
                        line.text,
                        Reject(self.name, line.number, str(bad), line.text.decode("utf-8", "replace")),
                    )
                    continue
                if not names.keys() >= found.keys():
                    for name in found:
                        names.setdefault(name, len(names))
                yield line.text, found
        findings.warnings += _warnings(self.name, counts, text.bad)

    def _lines(self, text: Utf8Reader, counts: dict[str, int]) -> Iterator[Line]:
        chunks = iter(text)
        start = b""
        while not start.strip() and (chunk := next(chunks, None)) is not None:
            start += chunk
        read: Callable[..., Iterator[Line]] = elements if is_array(start) else lines_of
        return read(start, chunks, counts)


def _warnings(name: str, counts: dict[str, int], bad: int) -> list[str]:
    warnings = []
    if bad:
        warnings.append(f"{name}: {bad} bytes could not be decoded and became U+FFFD")
    if counts["surrogates"]:
        warnings.append(f"{name}: {counts['surrogates']} lone surrogates (halves of a character) became U+FFFD")
    if counts["blank"]:
        warnings.append(f"{name}: {counts['blank']} blank lines skipped")
    return warnings
