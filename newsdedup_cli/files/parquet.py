"""Parquet: schema, metadata and values pass through untouched, in batches."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import texts
from newsdedup_cli.files.base import BATCH_ROWS, Batch, FieldRef, Findings, ReadOptions, WriteOptions
from newsdedup_cli.files.naming import unique_names
from newsdedup_cli.files.streams import ByteWriter, first_bytes, kind_of

BATCH_BYTES = 4 << 20
READ_BYTES = 1 << 20  # of a column chunk at a time
GROUP_BYTES = 16 << 20
GROUP_ROWS = 1 << 17
_MAGIC = b"PAR1"
# pyarrow raises ValueError and its kin for names and statistics that are no UTF-8.
_ERRORS = (pa.ArrowException, OSError, ValueError, LookupError, TypeError)


class ParquetSource:
    """A Parquet file."""

    def __init__(self, path: Path, name: str, format: str, options: ReadOptions) -> None:
        self.path, self.name, self.format = path, name, format
        _check_whole(path, name)
        with self._open() as file:
            self._schema = file.schema_arrow
            self._row_bytes = _row_bytes(file.metadata)
        sizes = [_leaves(field.type) for field in self._schema]
        self._leaves = [list(range(sum(sizes[:i]), sum(sizes[: i + 1]))) for i in range(len(sizes))]
        self._counts: dict[int, Counter[str]] = {}
        self.findings = Findings()

    @property
    def schema(self) -> pa.Schema:
        """The file's own Arrow schema, with its metadata."""
        return self._schema

    @property
    def details(self) -> dict[str, str]:
        """Rows, row groups, and what wrote the file."""
        with self._open() as file:
            about = file.metadata
            return {
                "rows": str(about.num_rows),
                "groups": str(about.num_row_groups),
                "writer": about.created_by,
            }

    def complete(self) -> None:
        """The footer has all columns."""

    def _open(self) -> pq.ParquetFile:
        try:
            # pyarrow's own buffering keeps what it has read of all row groups until the last one is done.
            return pq.ParquetFile(self.path, pre_buffer=False, buffer_size=READ_BYTES)
        except _ERRORS as error:
            raise _damaged(self.name, error) from None

    def texts(self, fields: Sequence[FieldRef], rows: int = BATCH_ROWS) -> Iterator[list[pa.LargeStringArray]]:
        """The asked-for columns or struct fields; only these are decoded."""
        wanted = sorted({field.index for field in fields})
        counts: dict[int, Counter[str]] = {index: Counter() for index in wanted}
        for batch in self._read(wanted, rows):
            columns = dict(zip(wanted, batch.columns, strict=True))
            yield [
                texts.as_text(_inside(columns[field.index], field.path), counts[field.index], joined=True)
                for field in fields
            ]
        self._counts.update(counts)
        self.findings = Findings(warnings=self._warnings())

    def batches(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All columns as they are."""
        for batch in self._read(range(len(self._schema)), rows):
            yield Batch(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema))

    def _read(self, indices: Sequence[int], rows: int) -> Iterator[pa.RecordBatch]:
        leaves = [leaf for index in indices for leaf in self._leaves[index]]
        size = max(1, min(rows, BATCH_BYTES // self._row_bytes))
        with self._open() as file:
            groups = list(range(file.num_row_groups))
            try:
                yield from file.reader.iter_batches(size, groups, column_indices=leaves, use_threads=True)
            except _ERRORS as error:
                raise _damaged(self.name, error) from None

    def _warnings(self) -> list[str]:
        words = {
            texts.BAD_UTF8: "values are not valid UTF-8; what cannot be decoded became U+FFFD",
            texts.NOT_UTF8_BINARY: "values are not UTF-8 and were read as GB18030",
            texts.BIG_FLOAT: "numbers are floats above 2^53, where neighbours become equal",
        }
        return [
            f"{self.name}: column {self._schema.names[index]}: {counts[kind]} {text}"
            for index, counts in sorted(self._counts.items())
            for kind, text in words.items()
            if counts[kind]
        ]


def _check_whole(path: Path, name: str) -> None:
    head = first_bytes(path, name, 4)
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 4))
        tail = file.read(4)
    if not head:
        raise UserError(f"{name} is empty", wanted="a Parquet file")
    if head != _MAGIC:
        kind = f": it is {kind_of(head)}" if kind_of(head) else " (it lacks the mark at its start)"
        raise UserError(f"{name} is no Parquet file{kind}", todo="another --format")
    if tail != _MAGIC or size < 12:
        raise UserError(
            f"{name} is incomplete: the footer of the Parquet file is missing",
            wanted="the whole file; the program that wrote it was stopped, or the copy was",
        )


def _damaged(name: str, error: BaseException) -> UserError:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return UserError(f"{name} is a damaged Parquet file: {reason}")


def _row_bytes(metadata: pq.FileMetaData) -> int:
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    sizes = [int(group.total_byte_size) // max(1, int(group.num_rows)) for group in groups]
    return max([1, *sizes])


def _leaves(kind: pa.DataType) -> int:
    """How many Parquet columns a value of the type is stored in."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    if pa.types.is_map(kind):
        return _leaves(kind.key_type) + _leaves(kind.item_type)
    if pa.types.is_nested(kind):
        return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields))
    return 1


def _inside(array: pa.Array, path: tuple[str, ...]) -> pa.Array:
    for name in path:
        array = pc.struct_field(array, name)
    return array


class ParquetSink:
    """A Parquet file being written, zstd-compressed, in row groups of some 32 MB before compression."""

    def __init__(self, target: Path | BinaryIO, schema: pa.Schema, options: WriteOptions) -> None:
        names, self.warnings = unique_names(schema.names)
        self._schema = schema = pa.schema(
            [field.with_name(name) for field, name in zip(schema, names, strict=True)], schema.metadata
        )
        self._file = ByteWriter(target)
        self._writer = pq.ParquetWriter(self._file.file, schema, compression="zstd")
        self._held: list[pa.RecordBatch] = []
        self._size = 0

    def write(self, batch: Batch) -> None:
        """Append the rows, marks after their columns."""
        arrays = [*batch.columns.columns, *(batch.marks.columns if batch.marks else ())]
        cast = [a if a.type == f.type else a.cast(f.type) for a, f in zip(arrays, self._schema, strict=True)]
        held = pa.RecordBatch.from_arrays(cast, schema=self._schema)
        self._held.append(held)
        self._size += held.get_total_buffer_size()
        if self._size >= GROUP_BYTES or sum(b.num_rows for b in self._held) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            table = pa.Table.from_batches(self._held, self._schema)
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._held, self._size = [], 0

    def abort(self) -> None:
        """Let go of the unfinished file."""
        with contextlib.suppress(*_ERRORS):
            self._writer.close()
        self._file.abort()

    def close(self) -> None:
        """Write the footer and flush the file to the disk."""
        self._flush()
        self._writer.close()
        self._file.close()
