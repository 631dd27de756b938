"""Tables that grow row by row: rows by key, and fingerprints within some bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from newsdedup_cli import candidates
from newsdedup_cli.kernels import online
from newsdedup_cli.tables import I32, U64

ROOM = 1024  # rows that the tables have room for at first
LATER = 4096  # fingerprints that are looked through one by one before buckets are made anew, or a sixteenth of all


class Chains:
    """Rows by key: 16 bytes an entry."""

    def __init__(self) -> None:
        self.heads = np.full(4 * ROOM, -1, np.int32)
        self.keys = np.zeros(4 * ROOM, np.uint64)
        self.rows = np.zeros(4 * ROOM, np.int32)
        self.before = np.zeros(4 * ROOM, np.int32)
        self.count = 0

    def insert(self, keys: U64, rows: I32) -> None:
        """Add entries in this order."""
        need = self.count + len(keys)
        if need > len(self.keys):
            for name in ("keys", "rows", "before"):
                setattr(self, name, grown(getattr(self, name), need))
        if need > 2 * len(self.heads):
            self.heads = np.full(1 << int(need).bit_length(), -1, np.int32)
            online.hang(self.heads, self.keys, self.before, self.count)
        self.count = online.insert(self.heads, self.keys, self.rows, self.before, self.count, keys, rows)

    def find(self, keys: U64) -> tuple[I32, I32]:
        """The rows that share a key, as candidates.Order pairs them, and for each the place of its key in `keys`."""
        room = 256
        while True:
            rows, by, found = online.find(
                self.heads, self.keys, self.rows, self.before, keys, candidates.NEAR, candidates.ANCHORS, room
            )
            if found <= room:
                return rows, by
            room = found


class Nearby:
    """Different fingerprints, each with the first row that has it."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.values = np.zeros(ROOM, np.uint64)
        self.first = np.zeros(ROOM, np.int32)
        self.place: dict[int, int] = {}
        self._built = 0
        self._buckets = online.buckets(self.values[:0])
        self._changes = np.array([x for x in range(8192) if x.bit_count() <= k // 5], np.uint64)

    def find(self, value: int) -> I32:
        """The row first with this fingerprint, else the first of each fingerprint within k bits."""
        n = len(self.place)
        if value in self.place:
            same: I32 = self.first[self.place[value] : self.place[value] + 1]
            return same
        room = 256
        while True:
            places, found = online.near_values(
                *self._buckets, self.values[self._built : n], np.uint64(value), self.k, self._changes, room
            )
            if found <= room:
                near: I32 = self.first[places]
                return near
            room = found

    def fill(self, values: U64, rows: I32) -> None:
        """Many rows i4[R] at once, in their order, with fingerprints u8[R]."""
        _, first = np.unique(values, return_index=True)
        first = np.sort(first)
        n = len(first)
        self.values, self.first = grown(self.values, n), grown(self.first, n)
        self.values[:n], self.first[:n] = values[first], rows[first]
        self.place = dict(zip(self.values[:n].tolist(), range(n), strict=True))
        self._buckets = online.buckets(self.values[:n])
        self._built = n

    def add(self, value: int, row: int) -> None:
        """A row with its fingerprint, after all before it."""
        if value in self.place:
            return
        n = len(self.place)
        self.values, self.first = grown(self.values, n + 1), grown(self.first, n + 1)
        self.values[n], self.first[n] = value, row
        self.place[value] = n
        if n + 1 - self._built > max(LATER, n // 16):
            self._buckets = online.buckets(self.values[: n + 1])
            self._built = n + 1


def grown(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """The array with room for `size` rows, twice as large where it had too little."""
    if size <= len(array):
        return array
    larger = np.zeros((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
