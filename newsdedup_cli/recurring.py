"""Pieces that recur in many rows, and where given pieces stand: in blocks of rows and ranges of hashes, so that what is
in memory does not grow with the pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from newsdedup_cli.kernels import recurring as kernels
from newsdedup_cli.spill import blocks, ragged_rows, release
from newsdedup_cli.tables import F64, I64, U8, U64, Bools
from newsdedup_cli.texts import offsets_of

Numbers = TypeVar("Numbers", U64, I64)
AT_ONCE = 1 << 20  # pieces that are sorted at a time, if they are not all one
GROUPS_AT_ONCE = 4096  # groups whose rows are compared at a time
BITS = 10, 28  # least and most of the table of counters: a quarter of a gigabyte
TOP = 2**64 - 1


@dataclass
class Groups:
    """Pieces that recur, ascending, with the rows that have them."""

    pieces: U64  # [G]
    sizes: I64  # [G] different rows with each
    starts: I64  # [G+1] into members
    members: I64  # [K] some of those rows, at even distances in an order of content

    def __len__(self) -> int:
        return len(self.pieces)


def groups(pieces: U64, piece_rows: I64, counted: Bools, place: I64, least: int, most: int) -> Groups:
    """The pieces u8[M] (by row, offsets piece_rows i8[N+1]) in `least` or more rows that are counted, each with at most
    `most` of its rows, in the order that place i8[N] gives them."""
    table = np.zeros(1 << int(np.clip(np.ceil(np.log2(max(len(pieces), 1))), *BITS)), np.uint8)
    for begin, end in blocks(piece_rows):
        kernels.tally(table, pieces, piece_rows, begin, end, counted)
        release()
    parts = [Groups(np.zeros(0, np.uint64), *(np.zeros(n, np.int64) for n in (0, 1, 0)))]
    for low, high in _ranges(table, least, pieces, piece_rows, counted):
        found = []
        for begin, end in blocks(piece_rows):
            found.append(kernels.often(table, least, low, high, pieces, piece_rows, begin, end, counted))
            release()
        values, rows = map(np.concatenate, zip(*found, strict=True))
        del found
        parts.append(_grouped(values, rows, place, least, most))
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    return Groups(
        np.concatenate([part.pieces for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        offsets_of(sizes),
        np.concatenate([part.members for part in parts]),
    )


def _ranges(
    table: U8, least: int, pieces: U64, piece_rows: I64, counted: Bools
) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Ranges of hashes, ascending, that have not many more than AT_ONCE of what may recur."""
    found = np.zeros(256, np.int64)
    for begin, end in blocks(piece_rows):
        kernels.spread(table, least, pieces, piece_rows, begin, end, counted, found)
        release()
    low, inside = 0, 0
    for top in range(256):
        inside += int(found[top])
        full = inside + (int(found[top + 1]) if top < 255 else AT_ONCE) >= AT_ONCE
        if inside and (full or top == 255):
            yield np.uint64(low << 56), np.uint64(TOP if top == 255 else ((top + 1) << 56) - 1)
            low, inside = top + 1, 0


def _grouped(values: U64, rows: I64, place: I64, least: int, most: int) -> Groups:
    """The pieces values u8[K] that stand in `least` or more of the rows i8[K] (ascending) beside them."""
    order = np.argsort(values, kind="stable")
    values, rows = values[order], rows[order]
    new = np.ones(len(values), bool)
    new[1:] = (values[1:] != values[:-1]) | (rows[1:] != rows[:-1])  # a piece that a row has twice counts once
    values, rows = values[new], rows[new]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    sizes = np.diff(np.append(starts, len(values)))
    frequent = sizes >= least
    inside = np.repeat(frequent, sizes)
    pieces, sizes, rows = values[starts[frequent]], sizes[frequent], rows[inside]
    group = np.repeat(np.arange(len(sizes)), sizes)
    rows = rows[np.argsort(group * np.int64(len(place)) + place[rows], kind="stable")]
    few = np.minimum(sizes, most)
    bounds = offsets_of(few)
    step = np.arange(bounds[-1]) - np.repeat(bounds[:-1], few)
    first = np.cumsum(sizes) - sizes
    picked = np.repeat(first, few) + step * np.repeat(np.maximum(sizes // most, 1), few)
    return Groups(pieces, sizes, bounds, rows[picked])


def otherwise_different(found: Groups, pieces: U64, piece_rows: I64, wanted: int) -> I64:
    """How many otherwise different rows each group has, up to `wanted`; see kernels.recurring."""
    table = kernels.hung(found.pieces)
    out = np.zeros(len(found), np.int64)
    # Sentences of one story have the same rows: groups that begin alike are looked at together.
    order = np.argsort(found.members[found.starts[:-1]], kind="stable") if len(found) else np.zeros(0, np.int64)
    for at in range(0, len(order), GROUPS_AT_ONCE):
        some = order[at : at + GROUPS_AT_ONCE]
        members, starts = ragged_rows(found.members, found.starts, some)
        rows, place = np.unique(members, return_inverse=True)
        texts, bounds = ragged_rows(pieces, piece_rows, rows)
        out[some] = kernels.otherwise_different(
            texts, bounds, *table, found.sizes, starts, found.sizes[some], place.astype(np.int64), wanted
        )
    return out


def edge_shares(chosen: U64, pieces: U64, piece_rows: I64, counted: Bools, head: int, tail: int, long: int) -> F64:
    """The share of rows in which each of the chosen pieces stands at an edge (see kernels.recurring.edges): f8[K].

    Rows of fewer than `long` pieces are nearly all edge: they count only where fewer than three longer ones have it.
    """
    table = kernels.hung(chosen)
    last, counts = np.full((len(chosen), 2), -1), np.zeros((len(chosen), 4), np.int64)
    for begin, end in blocks(piece_rows):
        kernels.edges(*table, pieces, piece_rows, begin, end, counted, head, tail, long, last, counts)
        release()
    rows, edge, long_rows, long_edge = counts.T
    enough = long_rows >= 3
    shares: F64 = np.where(enough, long_edge, edge) / np.maximum(np.where(enough, long_rows, rows), 1)
    return shares


def standing(keys: U64, pieces: U64, piece_rows: I64, counted: Bools | None = None) -> tuple[I64, I64]:
    """Where the keys u8[K] (ascending, distinct) stand in rows that are counted: which key i8[F] and row i8[F]."""
    counted = np.ones(len(piece_rows) - 1, bool) if counted is None else counted
    nowhere = np.zeros(0, np.int64)
    if len(keys) == 0:
        return nowhere, nowhere
    values, rows = _flagged(_bitmap(keys), keys[0], keys[-1], pieces, piece_rows, counted)
    which = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    found = keys[which] == values
    return which[found], rows[found]


def shared(keys: U64, pieces: U64, piece_rows: I64, place: I64) -> Iterator[tuple[I64, I64]]:
    """The keys u8[K] (0: none) that stand in several of the rows that have a place i8[N] (the others: -1).

    Gives groups: where each begins i8[G+1] in the places of the rows i8[M], ascending in each. A row that has a key
    twice is twice in its group.
    """
    keys = distinct(keys[keys != 0])
    counted = place >= 0
    bits = _bitmap(keys)
    parts = max(1, len(keys) // AT_ONCE)
    for first in range(parts):
        some = keys[first * len(keys) // parts : (first + 1) * len(keys) // parts]
        if len(some) == 0:
            continue
        values, rows = _flagged(bits, some[0], some[-1], pieces, piece_rows, counted)
        order = np.argsort(values)
        values, places = values[order], place[rows[order]]
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        sizes = np.diff(np.append(starts, len(values)))
        heads = values[starts]
        several = (sizes > 1) & (some[np.minimum(np.searchsorted(some, heads), len(some) - 1)] == heads)
        sizes, inside = sizes[several], np.repeat(several, sizes)
        group = np.repeat(np.arange(len(sizes)), sizes)
        # Group and place as one number: numpy sorts those several times as fast as it finds an order.
        packed = np.sort(group << 32 | places[inside])
        yield offsets_of(sizes), packed & 0xFFFFFFFF


def _flagged(
    bits: U64, low: np.uint64, high: np.uint64, pieces: U64, piece_rows: I64, counted: Bools
) -> tuple[U64, I64]:
    found = [(np.zeros(0, np.uint64), np.zeros(0, np.int64))]
    for begin, end in blocks(piece_rows):
        found.append(kernels.flagged(bits, low, high, pieces, piece_rows, begin, end, counted))
        release()
    values, rows = map(np.concatenate, zip(*found, strict=True))
    return values, rows


def _bitmap(keys: U64) -> U64:
    """Thirty-two bits a key: one in as many of the others is flagged too."""
    bits: U64 = kernels.flags(keys, int(np.clip(np.ceil(np.log2(max(len(keys), 1))) - 1, 6, 26)))
    return bits


def distinct(values: Numbers) -> Numbers:
    """The different ones of some numbers, ascending: for many faster than np.unique, which hashes them first."""
    ordered = np.sort(values)
    found: Numbers = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found
