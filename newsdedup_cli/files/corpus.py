"""Several input files as one corpus: a union of columns, rows numbered over all of them."""

from __future__ import annotations

import difflib
import glob
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir

import pyarrow as pa

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files import format_of, open_source, roles
from newsdedup_cli.files.base import BATCH_ROWS, Batch, FieldRef, Findings, ReadOptions, Reject, Source
from newsdedup_cli.files.streams import checksum, first_bytes, spool_stdin
from newsdedup_cli.files.texts import TEXT, as_text

_LISTED = 30


@dataclass(frozen=True)
class Column:
    """A column of the corpus: the `occurrence`-th (from 0) of its name, or a field inside it.

    `position` counts from 0 over the columns known when it was resolved.
    """

    name: str
    occurrence: int = 0
    path: tuple[str, ...] = ()
    position: int = 0

    @property
    def label(self) -> str:
        """How it is called in messages and on the command line.

        >>> Column("content", path=("text",)).label
        'content.text'
        """
        return ".".join((self.name, *self.path)) if self.name else f"#{self.position + 1}"


@dataclass(frozen=True)
class TextBatch:
    """Texts of some consecutive rows: `first_row` counts from 1 over all inputs.

    `values` has per key asked for one array per column; a file without the column has nulls.
    """

    first_row: int
    file: str
    values: dict[str, list[pa.LargeStringArray]]

    @property
    def num_rows(self) -> int:
        """How many rows these are."""
        return next((len(arrays[0]) for arrays in self.values.values() if arrays), 0)


class Corpus:
    """The inputs, opened, in order."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)
        self._before: dict[int, int] = {}  # rows of all sources before the one of this place, as far as they are read

    @property
    def columns(self) -> list[Column]:
        """The union of the columns over all sources, in order of first appearance."""
        found: dict[tuple[str, int], Column] = {}
        for source in self.sources:
            for key in _keys(source.schema.names):
                if key not in found:
                    found[key] = Column(*key, position=len(found))
        return list(found.values())

    @property
    def findings(self) -> Findings:
        """What the last whole pass found, over all sources."""
        total = Findings()
        for place, source in enumerate(self.sources):
            total.notes += source.findings.notes
            total.warnings += source.findings.warnings
            total.rejects += [_moved(reject, self._before.get(place)) for reject in source.findings.rejects]
        return total

    @property
    def rejects(self) -> list[Reject]:
        """The rejected input of all sources."""
        return self.findings.rejects

    def checksums(self) -> list[tuple[str, str, int]]:
        """Name, SHA-256 and size in bytes of each input file."""
        return [(source.name, *checksum(source.path)) for source in self.sources]

    def complete(self) -> None:
        """Read as far as needed to know all columns."""
        for source in self.sources:
            source.complete()

    @property
    def schema(self) -> pa.Schema:
        """The columns of `full`: a single file's own schema, else the union, text where types differ."""
        if len(self.sources) == 1:
            return self.sources[0].schema
        types = [dict(zip(_keys(s.schema.names), s.schema, strict=True)) for s in self.sources]
        fields = []
        for column in self.columns:
            key = (column.name, column.occurrence)
            found = [fields_of[key] for fields_of in types if key in fields_of]
            same = all(field.type == found[0].type for field in found)
            fields.append(pa.field(column.name, found[0].type if same else TEXT))
        return pa.schema(fields)

    def resolve(self, spec: str, option: str = "--text") -> Column:
        """The column that `spec` names: a name, `#N` (from 1), or a path such as `content.text`."""
        column = self._find(spec, option)
        if column is None:
            self.complete()
            column = self._find(spec, option)
        if column is None and not self.columns:  # JSONL without a row: nothing is missing
            return Column(spec)
        if column is None:
            raise self._no_column(spec, option)
        self._check_struct(column, option)
        return column

    def _find(self, spec: str, option: str) -> Column | None:
        columns = self.columns
        named = [column for column in columns if column.name == spec]
        if len(named) > 1:
            places = " and ".join(f"#{column.position + 1}" for column in named)
            raise UserError(
                f"{option} {visible(spec)} stands for {len(named)} columns: {places}",
                wanted="one of them, by its number",
                todo=f"{option} '#{named[0].position + 1}'",
            )
        if named:
            return named[0]
        if spec.startswith("#") and spec[1:].isdecimal():
            return self._by_number(int(spec[1:]), columns, option)
        return self._by_path(spec, columns)

    def _by_number(self, number: int, columns: list[Column], option: str) -> Column | None:
        if 1 <= number <= len(columns):
            return columns[number - 1]
        self.complete()
        columns = self.columns
        if 1 <= number <= len(columns):
            return columns[number - 1]
        raise UserError(f"{option} '#{number}': there are {len(columns)} columns", wanted=_listed(columns) or "columns")

    def _by_path(self, spec: str, columns: list[Column]) -> Column | None:
        for column in sorted(columns, key=lambda c: -len(c.name)):
            if column.name and spec.startswith(f"{column.name}."):
                path = tuple(spec[len(column.name) + 1 :].split("."))
                if any(_has_path(source, column, path) for source in self.sources):
                    return Column(column.name, column.occurrence, path, column.position)
        return None

    def _no_column(self, spec: str, option: str) -> UserError:
        columns = self.columns
        names = [column.name for column in columns if column.name]
        plain = {"".join(filter(str.isprintable, n)).strip().casefold(): n for n in names}
        asked = "".join(filter(str.isprintable, spec)).strip().casefold()
        close = difflib.get_close_matches(asked, plain, 1, 0.6)
        files = self.sources[0].name if len(self.sources) == 1 else f"any of the {len(self.sources)} files"
        return UserError(
            f"{option} {visible(spec)}: no such column in {files}",
            wanted=f"one of {_listed(columns)}" if columns else "a file with columns",
            todo=_spelled(option, plain[close[0]], columns) if close else None,
        )

    def _check_struct(self, column: Column, option: str) -> None:
        """A struct needs a field named; only strings inside it can be compared as a text."""
        for source in self.sources:
            field = _field(source, column)
            if field is None or source.format == "jsonl":
                continue
            kind = _type_at(field.type, column.path)
            if kind is not None and pa.types.is_struct(kind):
                inside = [f"{column.label}.{kind.field(i).name}" for i in range(kind.num_fields)]
                texts = [name for name in inside if name.endswith((".text", ".content"))]
                raise UserError(
                    f"{option} {visible(column.label)} is a struct in {source.name}, not a text: {kind}",
                    wanted=f"one of its fields: {', '.join(inside)}",
                    todo=f"{option} {[*texts, *inside][0]}" if inside else None,
                )

    def guess_roles(self) -> dict[str, list[Column]]:
        """The columns for id, title, text, date, source and url that the headers tell, over all files.

        Each file is asked for itself: where one says `content` and another 正文, both are the text.
        """
        columns = {(column.name, column.occurrence): column for column in self.columns}
        found: dict[str, list[Column]] = {}
        for source in self.sources:
            names = source.schema.names
            keys = _keys(names)
            for role, position in roles.guess(names).items():
                column = columns[keys[position]]
                if column not in found.setdefault(role, []):
                    found[role].append(column)
        return found

    def texts(self, columns: Mapping[str, Sequence[Column]], rows: int = BATCH_ROWS) -> Iterator[TextBatch]:
        """The values of the columns as text, in batches within one file; nothing else is decoded."""
        first = 1
        for place, source in enumerate(self.sources):
            self._before[place] = first - 1
            for batch in self._texts_of(source, columns, rows, first):
                first += batch.num_rows
                yield batch

    def _texts_of(
        self, source: Source, columns: Mapping[str, Sequence[Column]], rows: int, first: int
    ) -> Iterator[TextBatch]:
        refs = {column: _ref(source, column) for group in columns.values() for column in group}
        if any(ref is None for ref in refs.values()):
            source.complete()
            refs = {column: _ref(source, column) for column in refs}
        wanted = [ref for ref in refs.values() if ref is not None]
        # Without any of the columns the rows still count.
        asked = wanted or [FieldRef(0)]
        if not len(source.schema):
            yield from _without_columns(source, columns, rows, first)
            return
        for arrays in source.texts(asked, rows):
            found = dict(zip(asked, arrays, strict=True))
            size = len(arrays[0])
            values = {
                key: [found[ref] if (ref := refs[column]) is not None else as_text(pa.nulls(size)) for column in group]
                for key, group in columns.items()
            }
            yield TextBatch(first, source.name, values)
            first += size

    def full(self, rows: int = BATCH_ROWS, *, lines: bool = False) -> Iterator[Batch]:
        """All columns in the union's schema, in the same order; with `lines` JSONL rows as lines only."""
        self.complete()
        schema = self.schema
        for source in self.sources:
            if len(self.sources) == 1:
                yield from source.batches(rows, lines=lines)
                continue
            places = {key: i for i, key in enumerate(_keys(source.schema.names))}
            order = [places.get((c.name, c.occurrence)) for c in self.columns]
            counts: Counter[str] = Counter()
            for batch in source.batches(rows, lines=lines):
                yield (
                    _unified(batch, schema, order, counts) if batch.columns.num_columns or batch.raw is None else batch
                )


def _moved(reject: Reject, before: int | None) -> Reject:
    """The reject with its place among the rows of all sources."""
    return replace(reject, row=None if before is None or reject.row is None else before + reject.row)


def _keys(names: Sequence[str]) -> list[tuple[str, int]]:
    seen: Counter[str] = Counter()
    keys = []
    for name in names:
        keys.append((name, seen[name]))
        seen[name] += 1
    return keys


def _field(source: Source, column: Column) -> pa.Field | None:
    keys = _keys(source.schema.names)
    key = (column.name, column.occurrence)
    return source.schema.field(keys.index(key)) if key in keys else None


def _ref(source: Source, column: Column) -> FieldRef | None:
    keys = _keys(source.schema.names)
    key = (column.name, column.occurrence)
    if key not in keys or (column.path and not _has_path(source, column, column.path)):
        return None
    return FieldRef(keys.index(key), column.path)


def _has_path(source: Source, column: Column, path: tuple[str, ...]) -> bool:
    field = _field(source, column)
    if field is None:
        return False
    return source.format == "jsonl" or _type_at(field.type, path) is not None


def _type_at(kind: pa.DataType, path: Sequence[str]) -> pa.DataType | None:
    for name in path:
        if not pa.types.is_struct(kind) or (index := kind.get_field_index(name)) < 0:
            return None
        kind = kind.field(index).type
    return kind


def _unified(batch: Batch, schema: pa.Schema, order: Sequence[int | None], counts: Counter[str]) -> Batch:
    size = batch.num_rows
    arrays = []
    for field, place in zip(schema, order, strict=True):
        if place is None:
            arrays.append(pa.nulls(size, field.type))
        else:
            array = batch.columns.column(place)
            arrays.append(array if array.type == field.type else as_text(array, counts))
    return Batch(pa.RecordBatch.from_arrays(arrays, schema=schema), batch.raw)


def _without_columns(
    source: Source, columns: Mapping[str, Sequence[Column]], rows: int, first: int
) -> Iterator[TextBatch]:
    """The rows of a source that has no column at all (JSON objects without keys)."""
    for batch in source.batches(rows):
        values = {key: [as_text(pa.nulls(batch.num_rows))] * len(group) for key, group in columns.items()}
        yield TextBatch(first, source.name, values)
        first += batch.num_rows


def _listed(columns: Sequence[Column]) -> str:
    shown = [visible(column.name) for column in columns[:_LISTED]]
    return ", ".join(shown) + (f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else "")


def _spelled(option: str, name: str, columns: Sequence[Column]) -> str:
    """How to type a column's name; by its number where that is hard."""
    if name.isprintable() and name == name.strip():
        return f"{option} {name}" if " " not in name else f"{option} '{name}'"
    return f"{option} '#{next(c.position + 1 for c in columns if c.name == name)}'"


def input_paths(inputs: Sequence[str]) -> list[Path]:
    """The files that the inputs stand for: patterns are expanded (sorted), `-` stays. Raises `UserError`."""
    paths: list[Path] = []
    for item in inputs:
        if item == "-" or Path(item).exists() or not glob.has_magic(item):
            paths.append(Path(item))
            continue
        found = sorted(glob.glob(item, recursive=True))  # noqa: PTH207 - also absolute patterns
        if not found:
            raise UserError(f"no file matches {visible(item)}")
        paths += [Path(name) for name in found if not Path(name).is_dir()]
    if sum(path == Path("-") for path in paths) > 1:
        raise UserError("standard input (-) is given more than once")
    return paths


def open_corpus(inputs: Sequence[str], options: ReadOptions, tmpdir: Path | str | None = None) -> Corpus:
    """Open all inputs; `tmpdir` takes standard input and the tables of workbooks. Raises `UserError`."""
    paths = input_paths(inputs)
    if not paths:
        raise UserError("no input files", wanted="files, or - for standard input")
    folder = Path(tmpdir) if tmpdir else Path(gettempdir())
    names = _names(paths)
    for path, name in zip(paths, names, strict=True):
        if name != "-":
            first_bytes(path, name)  # whether it is there comes before what it is
    formats = [format_of(path, options.format) for path in paths]
    sources = []
    for path, name, format in zip(paths, names, formats, strict=True):
        if name == "-":
            path = spool_stdin(folder)
            first_bytes(path, name)
        sources.append(open_source(path, name, format, options, folder))
    return Corpus(sources)


def _names(paths: Sequence[Path]) -> list[str]:
    """Names for messages: file names where these differ, else paths as given."""
    names = [path.name or str(path) for path in paths]
    return names if len(set(names)) == len(names) else [os.fspath(path) for path in paths]


def check_writable(corpus: Corpus, format: str) -> None:
    """Raise before the work starts if the format cannot hold the rows; reads all of them for XLSX."""
    if format == "xlsx":
        from newsdedup_cli.files.xlsx_sink import check_batches

        corpus.complete()
        check_batches(corpus.full(), corpus.schema.names)
