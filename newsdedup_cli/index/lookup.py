"""Which stored rows have anything in common with new ones.

Nothing is proposed here. Of the stored rows those are fetched that share a digest, a sentence, a min-hash key, a url
or a near fingerprint with any new row; with them at hand the same code proposes pairs as for one corpus, so the
groups that a new row falls into are whole. Stored rows stream row group by row group, and texts are fetched later,
of the few rows whose pairs are worth reading, so memory grows with the new rows and what they resemble only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from newsdedup_cli.dates import day_of
from newsdedup_cli.evidence import Evidence, from_arrow, select
from newsdedup_cli.index.manifest import Part
from newsdedup_cli.index.seek import New, Seeker
from newsdedup_cli.index.store import BOILERPLATE, LINKS, Index, numbers_of
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import F32, I64, U8, U64, UNKNOWN

LIGHT = (
    "number", "representative", "alone", "digest", "digest_2", "simhash", "features", "sentences", "keys", "pieces",
    "url", "identity", "id_hash", "date",
)  # fmt: skip
HEAVY = (
    "id", "title", "source", "file", "file_row", "significant", "title_support", "sketch", "title_bits", "kept_row",
    "content", "content_2", "as_read",
)  # fmt: skip
OWN = (
    "number", "identity", "file", "file_row", "kept_row", "alone", "reason", "distance", "shared_sentences", "score",
)  # fmt: skip
NUMBERS = ("number", "kept_row", "representative")  # columns that count over one index


@dataclass
class Own:
    """New rows that were added before themselves: the same row of the same file. What was decided then, stands."""

    position: I64  # of the new row
    number: I64
    keeper: I64  # number of the row it was removed for, its own where it stays
    alone: U8
    reason: list[str]
    distance: U8
    shared_sentences: U8
    score: F32


@dataclass
class Past:
    """The stored rows that matter to some new ones, in order of their numbers."""

    rows: Evidence
    number: I64  # [M] over all indexes
    keeper: I64  # [M] which of these rows each was removed for, itself where it stays; -1 where that is not at hand
    file_row: I64  # [M] its number in its file
    places: npt.NDArray[np.int64]  # [M,3] part, row group and place in it
    parts: list[Opened]
    own: Own
    id_elsewhere: I64  # positions of new rows whose id a stored row has that is another one
    compared: int  # stored rows that were looked at

    def __len__(self) -> int:
        return len(self.number)

    def position(self, numbers: I64) -> I64:
        """Positions of the rows with these numbers, -1 where not at hand."""
        return positions(self.number, numbers)

    def texts(self, some: I64) -> pa.LargeStringArray:
        """The texts as compared of the rows at these positions, in this order."""
        places = self.places[some]
        order = np.lexsort((places[:, 2], places[:, 1], places[:, 0]))
        texts = [pa.array([], pa.large_string())]
        for run in _runs(places[order]):
            table = self.parts[int(run[0, 0])].group(("text",), int(run[0, 1]))
            texts.append(table["text"].combine_chunks().take(pa.array(run[:, 2])))
        back = np.empty(len(some), np.int64)
        back[order] = np.arange(len(some))
        return pa.concat_arrays(texts).take(pa.array(back))


@dataclass
class Opened:
    """A part of one of the indexes, whose numbers begin at `offset`."""

    index: Index
    part: Part
    offset: int

    def group(self, columns: Sequence[str], group: int) -> pa.Table:
        """One row group, with numbers over all indexes."""
        return self._moved(next(self.index.groups(self.part, columns, [group])))

    def groups(self, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """All row groups with their number."""
        for group, table in enumerate(self.index.groups(self.part, columns)):
            yield group, self._moved(table)

    def _moved(self, table: pa.Table) -> pa.Table:
        for name in NUMBERS:
            if self.offset and name in table.schema.names:
                values = pa.array(numbers_of(table, name) + self.offset)
                table = table.set_column(table.schema.get_field_index(name), name, values)
        return table


class History:
    """One or several open indexes, as one: the rows of the first come first."""

    def __init__(self, indexes: Sequence[Index]) -> None:
        self.indexes = list(indexes)
        sizes = [index.manifest.next_number for index in self.indexes]
        self.offsets: I64 = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def rows(self) -> int:
        """Rows of all indexes."""
        return sum(index.manifest.rows for index in self.indexes)

    @property
    def numbers(self) -> int:
        """Numbers given so far, over all indexes."""
        return int(self.offsets[-1])

    def boilerplate(self) -> pa.Table:
        """All that was learnt: BOILERPLATE, a piece once for each index and day."""
        return pa.concat_tables([index.table("boilerplate", BOILERPLATE) for index in self.indexes])

    def links(self) -> tuple[I64, I64, U8]:
        """Every pair of stored rows that are alike, by number, and whether they are the same."""
        found = [(index.table("links", LINKS), at) for index, at in zip(self.indexes, self.offsets, strict=False)]
        a, b = (np.concatenate([numbers_of(table, name) + at for table, at in found]) for name in ("a", "b"))
        return a, b, np.concatenate([numbers_of(table, "same") for table, _ in found]).astype(np.uint8)

    def look_up(self, new: New, common: U64, matching: Matching, window: int) -> Past:
        """The stored rows that matter to the new ones. `common` sentences say nothing; `window` in microseconds, 0
        for none: only the days within it are opened."""
        days = _days(new.evidence.rows.date, window)
        parts = [
            Opened(index, part, int(offset))
            for index, offset in zip(self.indexes, self.offsets, strict=False)
            for part in index.parts("rows", days)
        ]
        seeker = Seeker(new, common, matching, window)
        found, compared = _Found(parts), 0
        for at, opened in enumerate(parts):
            for group, light in opened.groups(LIGHT):
                compared += len(light)
                found.elsewhere.append(seeker.ids(light))
                mine = seeker.own(light)
                if len(mine):
                    found.own.append(opened.group(OWN, group).take(pa.array(mine)))
                found.add(at, group, light, seeker.alike(light))
        own = _own(found.own, new)
        found.fetch(np.unique(np.concatenate([found.column("kept_row"), own.keeper])))
        return found.past(own, new, compared)


class _Found:
    """Rows gathered from parts."""

    def __init__(self, parts: list[Opened]) -> None:
        self.parts = parts
        self.own: list[pa.Table] = []
        self.elsewhere: list[U64] = [np.zeros(0, np.uint64)]
        self._tables: list[pa.Table] = []
        self._places: list[npt.NDArray[np.int64]] = [np.zeros((0, 3), np.int64)]

    def add(self, at: int, group: int, light: pa.Table, some: I64) -> None:
        """Some rows of a row group."""
        if len(some):
            heavy = self.parts[at].group(HEAVY, group).take(pa.array(some))
            table = light.take(pa.array(some))
            for name in HEAVY:
                table = table.append_column(name, heavy[name])
            self._tables.append(table)
            self._places.append(np.stack([np.full(len(some), at), np.full(len(some), group), some], axis=1))

    def column(self, name: str) -> I64:
        """A column of numbers of all rows so far."""
        return np.concatenate([np.zeros(0, np.int64), *(numbers_of(table, name) for table in self._tables)])

    def fetch(self, numbers: I64) -> None:
        """Those of the rows with these numbers that are not there yet, as far as the parts have them."""
        numbers = np.setdiff1d(numbers, self.column("number"))
        for at, opened in enumerate(self.parts):
            low, high = np.searchsorted(
                numbers, [opened.part.first + opened.offset, opened.part.last + opened.offset + 1]
            )
            if low == high:
                continue
            for group, table in opened.groups(("number",)):
                some = np.flatnonzero(positions(numbers[low:high], numbers_of(table, "number")) >= 0)
                if len(some):
                    self.add(at, group, opened.group(LIGHT, group), some)

    def past(self, own: Own, new: New, compared: int) -> Past:
        """All of them in order of their numbers."""
        places = np.concatenate(self._places)
        if self._tables:
            table = pa.concat_tables(self._tables)
            order = np.argsort(numbers_of(table, "number"))
            table, places = table.take(pa.array(order)), places[order]
            rows, numbers = from_arrow(table), {n: numbers_of(table, n) for n in ("number", "kept_row", "file_row")}
        else:
            rows = select(new.evidence, np.zeros(0, np.int64))
            numbers = dict.fromkeys(("number", "kept_row", "file_row"), np.zeros(0, np.int64))
        rows.cleaned = rows.urls = None
        return Past(
            rows,
            numbers["number"],
            positions(numbers["number"], numbers["kept_row"]),
            numbers["file_row"],
            places,
            self.parts,
            own,
            np.flatnonzero(np.isin(new.id_hash, np.concatenate(self.elsewhere))),
            compared,
        )


def _own(tables: list[pa.Table], new: New) -> Own:
    """Of stored rows that have the identity of a new row, those that are it: of the same file and line."""
    rows = new.evidence.rows
    names = np.array([*new.evidence.files, ""], object)[rows.file]
    keys = zip(new.evidence.identity.tolist(), names.tolist(), new.file_row.tolist(), strict=True)
    known = {key: position for position, key in enumerate(keys)}
    found: dict[int, dict[str, Any]] = {}
    for line in (line for table in tables for line in table.to_pylist()):
        position = known.get((line["identity"], line["file"], line["file_row"]))
        if position is not None:
            found.setdefault(position, line)
    lines = [found[position] for position in sorted(found)]

    def column(name: str, kind: type[np.generic]) -> npt.NDArray[Any]:
        return np.array([line[name] or 0 for line in lines], kind)

    return Own(
        np.array(sorted(found), np.int64),
        column("number", np.int64),
        column("kept_row", np.int64),
        column("alone", np.uint8),
        [line["reason"] or "" for line in lines],
        column("distance", np.uint8),
        column("shared_sentences", np.uint8),
        column("score", np.float32),
    )


def _days(date: I64, window: int) -> tuple[str, str] | None:
    """The first and last day of stored rows that may be within the window of a new one; None for all."""
    known = date[date != UNKNOWN]
    if window == 0 or len(known) < len(date) or len(known) == 0:
        return None
    return day_of(int(known.min()) - window), day_of(int(known.max()) + window)


def positions(number: I64, wanted: I64) -> I64:
    """Where the wanted are in number i8[M] (ascending), -1 where they are not."""
    at = np.minimum(np.searchsorted(number, wanted), max(len(number) - 1, 0))
    if len(number) == 0:
        return np.full(len(wanted), -1)
    return np.where(number[at] == wanted, at, -1)


def _runs(places: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Places [P,3] that are sorted, cut where the part or the row group changes."""
    if len(places) == 0:
        return []
    bounds = np.flatnonzero((np.diff(places[:, :2], axis=0) != 0).any(axis=1)) + 1
    return np.split(places, bounds)
