"""What every file format provides: sources that yield Arrow batches, sinks that write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from newsdedup_cli.errors import UserError

BATCH_ROWS = 4096
MAX_REJECTED = 64 << 20


@dataclass(frozen=True)
class ReadOptions:
    """How inputs are read; None is found out from the file.

    `quote` is one character, or "" or "none" for no quoting at all. `wanted` has the column names asked for
    on the command line: in a workbook they tell which row is the header.
    """

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    header: bool = True
    header_row: int | None = None
    sheet: str | None = None
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True)
class WriteOptions:
    """How outputs are written; `compression` is "gz", "zst" or None."""

    bom: bool = False
    delimiter: str | None = None
    header: bool = True
    compression: str | None = None


@dataclass(frozen=True)
class Reject:
    """Input that could not be read as a row.

    `line` is the line of its file where it starts; `row` the number of the row that it stands before, so that it
    can be found among the rows: a source counts its own rows, the corpus over all inputs.
    """

    file: str
    line: int
    reason: str
    raw: str
    row: int | None = None


@dataclass(frozen=True)
class FieldRef:
    """A column of one source by its position, and the path into it where it is a struct or an object."""

    index: int
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows.

    `columns` has the values as they came in; `raw` the lines of a JSONL input (large_binary, UTF-8), so that
    JSONL output can carry each of them unchanged; `marks` columns of ours to be appended (--mark). Where only
    the lines were asked for, `columns` has no column.
    """

    columns: pa.RecordBatch
    raw: pa.Array | None = None
    marks: pa.RecordBatch | None = None

    @property
    def num_rows(self) -> int:
        """How many rows these are."""
        return self.columns.num_rows if self.raw is None else len(self.raw)

    def filter(self, mask: pa.BooleanArray) -> Batch:
        """The rows whose mask is true."""
        columns = _filtered(self.columns, mask) if self.columns.num_columns else self.columns
        raw = None if self.raw is None else self.raw.filter(mask)
        marks = None if self.marks is None else self.marks.filter(mask)
        return Batch(columns, raw, marks)


def _filtered(batch: pa.RecordBatch, mask: pa.BooleanArray) -> pa.RecordBatch:
    """The rows whose mask is true, also of types that pyarrow 26 cannot filter (views of strings, run-end encoded)."""
    try:
        return batch.filter(mask)
    except pa.ArrowNotImplementedError:
        edges = np.flatnonzero(np.diff(mask.to_numpy(zero_copy_only=False), prepend=False, append=False))
        runs = edges.reshape(-1, 2).tolist()
    arrays = [
        pa.concat_arrays([array.slice(first, last - first) for first, last in runs] or [array.slice(0, 0)])
        for array in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)


@dataclass
class Findings:
    """What reading found out: complete after one whole pass; the same after every pass.

    `notes` say what was chosen (an encoding, a sheet), `warnings` what was lost, mended or skipped.
    """

    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    _held: int = field(default=0, repr=False, compare=False)

    def reject(self, reject: Reject) -> None:
        """Put input aside; raises `UserError` when that would no longer fit in memory."""
        self.rejects.append(reject)
        self._held += len(reject.raw)
        if self._held > MAX_REJECTED:
            raise UserError(
                f"{reject.file}: more than {MAX_REJECTED >> 20} million characters are no rows, up to line "
                f"{reject.line}: {reject.reason}",
                todo="--delimiter, --quote, --encoding or another --format",
            )


class Source(Protocol):
    """One input file, opened. All passes yield the same rows in the same order.

    `schema` has one field per column in the file's order (names may repeat or be blank). For JSONL it is
    complete only after one whole pass or `complete`, since keys may appear late.
    """

    name: str
    path: Path
    format: str
    findings: Findings

    @property
    def schema(self) -> pa.Schema:
        """The columns as they are in the file."""
        ...

    @property
    def details(self) -> dict[str, str]:
        """What is worth knowing about the file: encoding, delimiter, sheet."""
        ...

    def complete(self) -> None:
        """Read as far as needed for a complete `schema`."""
        ...

    def texts(self, fields: Sequence[FieldRef], rows: int = BATCH_ROWS) -> Iterator[list[pa.LargeStringArray]]:
        """Only the fields asked for, each value as text (see `texts.as_text`, lists joined by newlines)."""
        ...

    def batches(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All columns as they came in; with `lines` a JSONL source yields its lines only."""
        ...


class Sink(Protocol):
    """An output file being written; whole only after `close`. `warnings` say what had to be changed."""

    warnings: list[str]

    def write(self, batch: Batch) -> None:
        """Append the rows."""
        ...

    def close(self) -> None:
        """Finish the file and flush it to the disk."""
        ...

    def abort(self) -> None:
        """Let go of an unfinished file, without an error; after `close` nothing happens."""
        ...
