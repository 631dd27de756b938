"""CSV and TSV output: UTF-8, quoted only where needed, lines end in LF."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.files.base import Batch, WriteOptions
from newsdedup_cli.files.sniff import one_byte
from newsdedup_cli.files.streams import ByteWriter
from newsdedup_cli.files.texts import BAD_UTF8, as_text


class DelimitedSink:
    """A CSV file being written; nested values are written as compact JSON, null as an empty field."""

    delimiter = ","

    def __init__(self, target: Path | BinaryIO, schema: pa.Schema, options: WriteOptions) -> None:
        self.warnings: list[str] = []
        self._counts: Counter[str] = Counter()
        given = one_byte(options.delimiter, "--delimiter")
        self._delimiter = chr(given) if given else self.delimiter
        self._file = ByteWriter(target, options.compression)
        if options.bom:
            self._file.write(b"\xef\xbb\xbf")
        if options.header and schema.names:
            self._file.write(self._header(schema.names))

    def _header(self, names: list[str]) -> bytes:
        text = io.StringIO()
        csv.writer(text, delimiter=self._delimiter, lineterminator="\r\n").writerow(names)
        return text.getvalue().removesuffix("\r\n").encode("utf-8", "replace") + b"\n"

    def write(self, batch: Batch) -> None:
        """Append the rows, marks after their columns."""
        arrays = [*batch.columns.columns, *(batch.marks.columns if batch.marks else ())]
        columns = [as_text(array, self._counts) for array in arrays]
        if not columns:
            return
        if len(columns) == 1:  # an empty field alone would be a blank line
            columns = [pc.fill_null(columns[0], "")]
        import polars as pl  # here, for it takes a third of a second

        table = pa.table({str(i): column for i, column in enumerate(columns)})
        frame = pl.DataFrame(pl.from_arrow(table))
        text = io.BytesIO()
        frame.write_csv(text, include_header=False, separator=self._delimiter, quote_style="necessary")
        self._file.write(text.getbuffer())

    def abort(self) -> None:
        """Let go of the unfinished file."""
        self._file.abort()

    def close(self) -> None:
        """Flush the file to the disk."""
        if self._counts[BAD_UTF8]:
            self.warnings.append(f"{self._counts[BAD_UTF8]} values were not UTF-8: bad bytes were written as U+FFFD")
        self._file.close()


class TabSink(DelimitedSink):
    """A TSV file being written."""

    delimiter = "\t"
