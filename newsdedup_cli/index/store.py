"""The files of an index: read part by part, added to, pruned and compacted; whole at every moment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from newsdedup_cli.errors import UserError
from newsdedup_cli.index import lock, manifest
from newsdedup_cli.index.manifest import Manifest, Part
from newsdedup_cli.tables import I64

GROUP_ROWS = 8192  # rows of a row group: what is in memory at a time
LEVEL = 3  # of zstd: measured on news, 31 % smaller than level 1, and 5 is only 7 % smaller still at twice the time
# What an index says of a row beside its evidence. Numbers count all rows ever added, from 0.
DECISION = pa.schema(
    [
        ("number", pa.int64()),
        ("file_row", pa.int64()),  # its number in its file, from 1
        ("id_hash", pa.uint64()),
        ("representative", pa.int64()),  # number of the row that stands for all of one digest
        ("kept_row", pa.int64()),  # number of the row it was removed for, its own where it was kept
        ("reason", pa.string()),
        ("distance", pa.uint8()),
        ("shared_sentences", pa.uint8()),
        ("score", pa.float32()),
    ]
)
LINKS = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("same", pa.uint8())])
BOILERPLATE = pa.schema(
    [("hash", pa.uint64()), ("left_out", pa.bool_()), ("rows", pa.int64()), ("text", pa.string()), ("day", pa.string())]
)
_PACKED = ("text", "title", "url_text", "id", "pieces", "source", "file", "reason")
_REPEATED = ("file", "source", "reason")


class Index:
    """An index that is open: a context manager.

    With `write` nobody else writes meanwhile. `wanted` are the settings that it must have been made with (see
    manifest.signed_settings); None takes it as it is.
    """

    def __init__(
        self, folder: Path, wanted: dict[str, Any] | None, write: bool = False, wait: float = lock.WAIT
    ) -> None:
        self.folder, self.write = folder, write
        self._wanted, self._wait = wanted, wait
        self._stack = ExitStack()
        self._file: tuple[str, pq.ParquetFile] | None = None
        self.manifest: Manifest

    def __enter__(self) -> Index:
        try:
            manifest.read(self.folder)  # before anything is written there: it may be no index
            if self.write:
                self._stack.enter_context(lock.writing(self.folder, self._wait))
            else:
                self._stack.enter_context(lock.reading(self.folder))
            self.manifest = manifest.read(self.folder)
            manifest.check(self.folder, self.manifest, self._wanted)
            if self.write:
                self.clean()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file = None
        self._stack.close()

    def parts(self, kind: str, days: tuple[str, str] | None = None) -> list[Part]:
        """The files of a kind; of rows only those of `days` (first, last), and those with rows without a date."""
        found = self.manifest.of(kind)
        return [p for p in found if days is None or days[0] <= p.day <= days[1] or p.undated]

    def groups(self, part: Part, columns: Sequence[str], only: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """The row groups of a file, one after the other; of `only` some."""
        try:
            file = self._opened(part)
            for group in range(file.num_row_groups) if only is None else only:
                yield file.read_row_group(group, columns=list(columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise UserError(
                f"{self.folder}: {part.path} cannot be read: {error}",
                todo=f"newsdedup index build {self.folder}-new INPUT...",
            ) from error

    def _opened(self, part: Part) -> pq.ParquetFile:
        """The file, which stays open until another one is asked for."""
        if self._file is None or self._file[0] != part.path:
            # Checksums are verified: a page that was changed is an error, not an answer.
            path = self.folder / part.path
            self._file = (
                part.path,
                pq.ParquetFile(path, memory_map=True, pre_buffer=False, page_checksum_verification=True),
            )
        return self._file[1]

    def table(self, kind: str, schema: pa.Schema) -> pa.Table:
        """All lines of a kind that is small: links, boilerplate."""
        tables = [table for part in self.parts(kind) for table in self.groups(part, schema.names)]
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def clean(self) -> None:
        """Remove files that do not belong to the index: what killed writers left, and what was replaced."""
        known = {part.path for part in self.manifest.parts}
        found = [path for name in ("day=*", "links", "boilerplate") for path in self.folder.glob(f"{name}/*")]
        stray = [path for path in found if path.relative_to(self.folder).as_posix() not in known]
        stray += self.folder.glob(f".{manifest.NAME}.*.part")
        if not stray:
            return
        with lock.nobody_reading(self.folder) as free:
            for path in stray if free else ():
                path.unlink(missing_ok=True)
        for folder in self.folder.glob("day=*"):
            if not any(folder.iterdir()):
                folder.rmdir()

    def prune(self, before: str) -> int:
        """Remove the rows of days before `before` (YYYY-MM-DD), but for those that later rows were removed for.

        Returns how many rows went.
        """
        old = [part for part in self.manifest.of("rows") if part.day < before]
        young = [part for part in self.manifest.of("rows") if part.day >= before]
        needed = self._pointed_at(young)
        staged, gone = Staged(self), 0
        for part in old:
            tables = (
                table.filter(pc.is_in(table["number"], needed)) for table in self.groups(part, self._columns(part))
            )
            new = staged.write_part("rows", tables, part.day)
            staged.drop.add(part.path)
            gone += part.rows - (new.rows if new else 0)
        if old:
            self._prune_links(staged, young)
            staged.commit()
            self.clean()
        return gone

    def _pointed_at(self, parts: list[Part]) -> pa.Array:
        found = [
            np.unique(np.concatenate([table["kept_row"].to_numpy(), table["representative"].to_numpy()]))
            for part in parts
            for table in self.groups(part, ["kept_row", "representative"])
        ]
        return pa.array(np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64))

    def _prune_links(self, staged: Staged, young: list[Part]) -> None:
        """A link is of use as long as one of its rows is there."""
        there = np.zeros(self.manifest.next_number, bool)
        for part in [*young, *staged.added]:
            if part.kind == "rows":
                for table in self.groups(part, ["number"]):
                    there[table["number"].to_numpy()] = True
        links = self.table("links", LINKS)
        staged.drop |= {part.path for part in self.parts("links")}
        stays = there[links["a"].to_numpy()] | there[links["b"].to_numpy()]
        staged.write_part("links", [links.filter(pa.array(stays))])

    def compact(self) -> int:
        """One file a day, in order of the rows' numbers, and one of every other kind; returns how many files went."""
        staged = Staged(self)
        by_day: dict[tuple[str, str], list[Part]] = {}
        for part in self.manifest.parts:
            by_day.setdefault((part.kind, part.day), []).append(part)
        for (kind, day), parts in by_day.items():
            if len(parts) > 1:
                parts = sorted(parts, key=lambda part: part.first)
                tables: Iterator[pa.Table] = (t for part in parts for t in self.groups(part, self._columns(part)))
                if kind == "boilerplate":
                    tables = iter([merged_boilerplate(pa.concat_tables(tables))])
                staged.write_part(kind, tables, day)
                staged.drop |= {part.path for part in parts}
        if staged.drop:
            staged.commit()
            self.clean()
        return len(staged.drop)

    def _columns(self, part: Part) -> list[str]:
        try:
            return list(pq.read_schema(self.folder / part.path).names)
        except (pa.ArrowException, OSError) as error:
            raise UserError(f"{self.folder}: {part.path} cannot be read: {error}") from error


@dataclass
class Staged:
    """Files written into the folder that do not belong to the index before `commit`."""

    index: Index
    added: list[Part] = field(default_factory=list)
    drop: set[str] = field(default_factory=set)
    next_number: int | None = None
    news: list[dict[str, Any]] = field(default_factory=list)  # boilerplate that the history did not know

    def write_part(self, kind: str, tables: Iterable[pa.Table], day: str = "") -> Part | None:
        """Write one file of these lines, and say what it is; None where there is no line."""
        folder = self.index.folder / (f"day={day}" if kind == "rows" else kind)
        path = folder / f"part-{self.index.manifest.generation + 1:06}-{len(self.added):04}.parquet"
        rows, undated, first, last = 0, 0, np.iinfo(np.int64).max, 0
        writer = None
        try:
            for table in _regrouped(tables):
                if writer is None:
                    folder.mkdir(exist_ok=True)
                    writer = _writer(path, table.schema)
                writer.write_table(table)
                rows += len(table)
                if kind == "rows":
                    undated += table["date"].null_count
                    first = min(first, pc.min(table["number"]).as_py())
                    last = max(last, pc.max(table["number"]).as_py())
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            return None
        _sync(path)
        manifest.sync_folder(folder)
        name = path.relative_to(self.index.folder).as_posix()
        low = int(first) if kind == "rows" else 0
        size, end = path.stat().st_size, manifest.end_checksum(path)
        part = Part(name, kind, rows, size, day, undated, low, last, end)
        self.added.append(part)
        return part

    def commit(self) -> None:
        """Make the files part of the index, at once."""
        self.index.manifest = self.index.manifest.changed(self.drop, self.added, self.next_number)
        manifest.write(self.index.folder, self.index.manifest)


def create(folder: Path, settings: dict[str, Any]) -> None:
    """Make an empty index. Raises UserError where the folder has something else in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from error
    others = [path.name for path in folder.iterdir() if path.name not in ("lock", "reading", manifest.NAME)]
    if others and not (folder / manifest.NAME).exists():
        raise UserError(f"{folder} is no index and not empty: {sorted(others)[0]}", todo="another folder")
    with lock.writing(folder):
        if not (folder / manifest.NAME).exists():
            manifest.write(folder, Manifest(settings))


def merged_boilerplate(lines: pa.Table) -> pa.Table:
    """One line per hash: left out if it ever was, the most rows, the day on which it was first learnt."""
    grouped = lines.group_by("hash", use_threads=False).aggregate(
        [("left_out", "max"), ("rows", "max"), ("text", "max"), ("day", "min")]
    )
    return (
        grouped.rename_columns(["hash", "left_out", "rows", "text", "day"]).select(BOILERPLATE.names).cast(BOILERPLATE)
    )


def _regrouped(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same lines in tables of GROUP_ROWS, so that many small additions make no small row groups."""
    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        while sum(map(len, held)) >= GROUP_ROWS:
            whole = pa.concat_tables(held)
            yield whole.slice(0, GROUP_ROWS)
            held = [whole.slice(GROUP_ROWS)]
    whole = pa.concat_tables(held) if held else None
    if whole is not None and len(whole):
        yield whole


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    # Hashes do not get smaller by packing, and cost time at every look-up.
    packed = [name for name in schema.names if name in _PACKED]
    return pq.ParquetWriter(
        path,
        schema,
        compression={name: "zstd" if name in packed else "none" for name in schema.names},
        compression_level=dict.fromkeys(packed, LEVEL),
        use_dictionary=[name for name in _REPEATED if name in schema.names],
        write_statistics=["number"],
        write_page_checksum=True,
    )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def numbers_of(table: pa.Table, name: str) -> I64:
    """A column of numbers."""
    found: I64 = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return found
