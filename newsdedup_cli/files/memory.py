"""A table in memory as a source: for a program that has its rows at hand, and for parts of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.files.base import BATCH_ROWS, Batch, FieldRef, Findings
from newsdedup_cli.files.texts import as_text


class MemorySource:
    """An Arrow table; nothing is copied but the texts that are asked for."""

    format = "parquet"

    def __init__(self, table: pa.Table, name: str = "frame") -> None:
        self.table, self.name, self.path = table, name, Path(name)
        self.findings = Findings()

    @property
    def schema(self) -> pa.Schema:
        """The table's own."""
        return self.table.schema

    @property
    def details(self) -> dict[str, str]:
        """How many rows."""
        return {"rows": str(self.table.num_rows)}

    def complete(self) -> None:
        """All columns are known."""

    def texts(self, fields: Sequence[FieldRef], rows: int = BATCH_ROWS) -> Iterator[list[pa.LargeStringArray]]:
        """The asked-for columns or struct fields as text."""
        wanted = sorted({field.index for field in fields})
        counts: Counter[str] = Counter()
        for begin in range(0, self.table.num_rows, rows):
            part = self.table.slice(begin, rows)
            columns = {index: part.column(index).combine_chunks() for index in wanted}
            yield [as_text(_inside(columns[field.index], field.path), counts, joined=True) for field in fields]

    def batches(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All columns as they are."""
        for batch in self.table.combine_chunks().to_batches(rows):
            yield Batch(batch)


def _inside(column: pa.Array, path: Sequence[str]) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    for name in path:
        column = pc.struct_field(column, name)
    return column
