"""XLSX input: one sheet as a table of texts.

The sheet is read once, into a temporary Arrow file, because its columns and merged cells are known only at
its end.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files import roles
from newsdedup_cli.files.base import BATCH_ROWS, Batch, FieldRef, Findings, ReadOptions
from newsdedup_cli.files.texts import TEXT, as_text
from newsdedup_cli.files.workbook import ERRORS, Sheet, Tally, Workbook, check_kind, damaged

_HEADER_WITHIN = 100
_PART_ROWS = 4096
_PART_CHARACTERS = 4 << 20
Row = tuple[int, dict[int, str]]


class XlsxSource:
    """One sheet of a workbook."""

    def __init__(self, path: Path, name: str, format: str, options: ReadOptions, tmpdir: Path | None = None) -> None:
        self.path, self.name, self.format = path, name, format
        check_kind(path, name)
        self._tally = Tally()
        self._parts = _Parts(tmpdir)
        self._header: dict[int, str] = {}
        self._notes: list[str] = []
        self._warnings: list[str] = []
        try:
            with closing(Workbook(path)) as book:
                sheet = self._choose(book, options)
                self._sheet, self._sheets = sheet.name, [s.name for s in book.sheets]
                self._read(book.rows(sheet, self._tally), sheet, options)
        except ERRORS as error:
            raise damaged(name, error) from None
        self._columns = sorted({*self._header, *self._parts.columns})
        self._fill_merged()
        self._say()
        self.findings = Findings(self._notes, self._warnings)

    @property
    def schema(self) -> pa.Schema:
        """One text column for each that has a name or a value."""
        return pa.schema([pa.field(self._header.get(column, ""), TEXT) for column in self._columns])

    @property
    def details(self) -> dict[str, str]:
        """The sheet that is read, and all there are."""
        return {"sheet": self._sheet, "sheets": ", ".join(self._sheets)}

    def complete(self) -> None:
        """The sheet has been read."""

    def _choose(self, book: Workbook, options: ReadOptions) -> Sheet:
        sheets = book.sheets
        if not sheets:
            raise UserError(f"{self.name} has no worksheet")
        shown = [sheet for sheet in sheets if sheet.visible] or sheets
        if options.sheet is not None:
            named = [sheet for sheet in sheets if sheet.name == options.sheet]
            if not named and options.sheet.isdecimal() and 1 <= int(options.sheet) <= len(sheets):
                named = [sheets[int(options.sheet) - 1]]
            if not named:
                listed = ", ".join(visible(sheet.name) for sheet in sheets)
                raise UserError(f"{self.name} has no sheet {visible(options.sheet)}", wanted=f"one of {listed}")
            return named[0]
        if len(sheets) > 1:
            others = ", ".join(visible(s.name) + ("" if s.visible else " (hidden)") for s in sheets if s != shown[0])
            self._notes.append(
                f"{self.name}: sheet {visible(shown[0].name)} is read; there are also {others} (--sheet NAME)"
            )
        return shown[0]

    def _read(self, rows: Iterator[Row], sheet: Sheet, options: ReadOptions) -> None:
        empty = pending = repeated = 0
        for number, cells in self._after_header(rows, sheet, options):
            if not any(text.strip() for text in cells.values()):
                pending += 1
            elif len(cells) > 1 and cells == self._header and options.header:
                repeated += 1
            else:
                empty, pending = empty + pending, 0
                self._parts.add(number, cells)
        self._parts.finish()
        if empty:
            self._notes.append(f"{self.name}: {empty} empty rows skipped")
        if repeated:
            self._warnings.append(f"{self.name}: the header is repeated in {repeated} rows, skipped")

    def _after_header(self, rows: Iterator[Row], sheet: Sheet, options: ReadOptions) -> Iterator[Row]:
        """The rows below the header, which is taken out and kept."""
        first: list[Row] = []
        filled = 0
        for number, cells in rows:
            first.append((number, cells))
            filled += any(text.strip() for text in cells.values())
            if number >= options.header_row if options.header_row else filled >= _HEADER_WITHIN:
                break
        if not filled:
            name = visible(sheet.name)
            raise UserError(f"{self.name}: sheet {name} is empty", wanted="a row of column names")
        if options.header:
            place = self._header_place(first, options)
            number, self._header = first[place]
            above = sum(any(cells.values()) for _, cells in first[:place])
            if above:
                text = f"the header is row {number}; rows above it that are left out: {above}"
                self._notes.append(f"{self.name}: {text}")
            first = first[place + 1 :]
        else:
            width = max(max(cells, default=0) for _, cells in first) + 1
            self._header = {column: f"column_{column + 1}" for column in range(width)}
        yield from first
        yield from rows

    def _header_place(self, first: Sequence[Row], options: ReadOptions) -> int:
        """Which of the first rows is the header: the one asked for, or with names asked for, or guessable."""
        filled = [place for place, (_, cells) in enumerate(first) if any(t.strip() for t in cells.values())]
        if options.header_row is not None:
            found = [place for place in filled if first[place][0] == options.header_row]
            if not found:
                raise UserError(f"{self.name}: row {options.header_row}, where --header-row looks, is empty")
            return found[0]
        wanted = {name for name in options.wanted if not name.startswith("#")}
        hits = [len(wanted & set(first[place][1].values())) for place in filled]
        if max(hits):
            return filled[hits.index(max(hits))]
        for place in filled:
            if "text" in roles.guess(list(first[place][1].values())):
                return place
        return filled[0]

    def _fill_merged(self) -> None:
        filled: dict[int, int] = {}
        for column, first, _, last in self._tally.merges:
            if last > first and column in self._parts.columns:
                count = self._parts.fill(column, first, last)
                if count:
                    filled[column] = filled.get(column, 0) + count
        for column, count in filled.items():
            label = visible(self._header.get(column, ""))
            self._notes.append(f"{self.name}: column {label}: {count} cells filled from the merged cell above them")

    def _say(self) -> None:
        if self._tally.formulas:
            self._warnings.append(
                f"{self.name}: {self._tally.formulas} formulas have no stored value and are read as missing"
            )
        for column, count in sorted(self._tally.long_numbers.items()):
            label = visible(self._header.get(column, "")) if column in self._header else f"number {column + 1}"
            self._warnings.append(
                f"{self.name}: column {label}: {count} numbers have more than 15 digits; Excel keeps 15, so "
                "their last digits may be lost (ids should be text cells)"
            )

    def texts(self, fields: Sequence[FieldRef], rows: int = BATCH_ROWS) -> Iterator[list[pa.LargeStringArray]]:
        """The asked-for columns."""
        for arrays in self._parts.read([self._columns[field.index] for field in fields], rows):
            yield [as_text(array) for array in arrays]

    def batches(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All columns."""
        schema = self.schema
        for arrays in self._parts.read(self._columns, rows):
            yield Batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


class _Parts:
    """Rows as Arrow record batches in a temporary file, each with the columns that it needs."""

    def __init__(self, folder: Path | None) -> None:
        self._file = tempfile.TemporaryFile(prefix="sheet-", dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._places: list[tuple[int, int, pa.Schema]] = []
        self._numbers: list[np.ndarray] = []
        self._fills: list[dict[int, dict[int, str]]] = []
        self._held: list[Row] = []
        self._size = 0
        self.columns: set[int] = set()

    def add(self, number: int, cells: dict[int, str]) -> None:
        """Append a row."""
        self._held.append((number, cells))
        self._size += sum(map(len, cells.values()))
        if len(self._held) >= _PART_ROWS or self._size >= _PART_CHARACTERS:
            self.finish()

    def finish(self) -> None:
        """Write what is held."""
        if not self._held:
            return
        columns = sorted({column for _, cells in self._held for column in cells})
        arrays = [pa.array([cells.get(c) for _, cells in self._held], TEXT) for c in columns]
        schema = pa.schema([pa.field(str(column), TEXT) for column in columns])
        buffer = pa.RecordBatch.from_arrays(arrays, schema=schema).serialize()
        start = self._file.seek(0, 2)
        self._file.write(buffer)
        self._places.append((start, buffer.size, schema))
        self._numbers.append(np.array([number for number, _ in self._held], np.int64))
        self._fills.append({})
        self.columns.update(columns)
        self._held, self._size = [], 0

    def _load(self, part: int) -> pa.RecordBatch:
        start, size, schema = self._places[part]
        self._file.seek(start)
        return pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), schema)

    def _column(self, part: int, batch: pa.RecordBatch, column: int) -> pa.Array:
        place = batch.schema.get_field_index(str(column))
        array = batch.column(place) if place >= 0 else pa.nulls(batch.num_rows, TEXT)
        fills = self._fills[part].get(column)
        if not fills:
            return array
        values = array.to_pylist()
        for row, text in fills.items():
            values[row] = text
        return pa.array(values, TEXT)

    def fill(self, column: int, first: int, last: int) -> int:
        """Give the empty cells of a merged range the value of its first; returns how many."""
        text: str | None = None
        count = 0
        for part, numbers in enumerate(self._numbers):
            low, high = np.searchsorted(numbers, [first, last + 1])
            if low == high:
                continue
            values = self._column(part, self._load(part), column).slice(low, high - low).to_pylist()
            if text is None:
                if numbers[low] != first or values[0] is None:
                    return 0
                text = values[0]
            empty = [int(low) + i for i, value in enumerate(values) if value is None]
            self._fills[part].setdefault(column, {}).update(dict.fromkeys(empty, text))
            count += len(empty)
        return count

    def read(self, columns: Sequence[int], rows: int) -> Iterator[list[pa.Array]]:
        """The columns, in batches."""
        for part in range(len(self._places)):
            batch = self._load(part)
            arrays = [self._column(part, batch, column) for column in columns]
            for start in range(0, batch.num_rows, rows):
                yield [array.slice(start, rows) for array in arrays]
