"""JSONL output: lines that came in as JSON go out unchanged, all else is written anew."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa

from newsdedup_cli.files.base import Batch, WriteOptions
from newsdedup_cli.files.naming import unique_names
from newsdedup_cli.files.streams import ByteWriter
from newsdedup_cli.files.texts import BAD_UTF8, plain

_ENCODER = msgspec.json.Encoder()


class JsonlSink:
    """A JSONL file being written; repeated column names get a number, since a key can stand only once."""

    def __init__(self, target: Path | BinaryIO, schema: pa.Schema, options: WriteOptions) -> None:
        self._counts: Counter[str] = Counter()
        self._names, self.warnings = unique_names(schema.names)
        self._file = ByteWriter(target, options.compression)

    def write(self, batch: Batch) -> None:
        """Append the rows, marks after their columns or before a line's closing brace."""
        marks = _rows(batch.marks, batch.marks.schema.names, self._counts) if batch.marks else None
        if batch.raw is not None:
            lines = batch.raw.to_pylist()
            if marks is not None:
                lines = [_spliced(line, mark) for line, mark in zip(lines, marks, strict=True)]
            self._file.write(b"".join(line + b"\n" for line in lines))
            return
        rows = _rows(batch.columns, self._names[: batch.columns.num_columns], self._counts)
        if marks is not None:
            rows = [row | mark for row, mark in zip(rows, marks, strict=True)]
        self._file.write(_ENCODER.encode_lines(rows))

    def abort(self) -> None:
        """Let go of the unfinished file."""
        self._file.abort()

    def close(self) -> None:
        """Flush the file to the disk."""
        if self._counts[BAD_UTF8]:
            self.warnings.append(f"{self._counts[BAD_UTF8]} values were not UTF-8: bad bytes were written as U+FFFD")
        self._file.close()


def _rows(batch: pa.RecordBatch, names: list[str], counts: Counter[str]) -> list[dict[str, Any]]:
    columns = [plain(column, counts) for column in batch.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _spliced(line: bytes, mark: dict[str, Any]) -> bytes:
    """The line with more keys at its end."""
    head = line.rstrip()[:-1].rstrip()
    comma = b"" if head.endswith(b"{") else b","
    return head + comma + _ENCODER.encode(mark)[1:]
