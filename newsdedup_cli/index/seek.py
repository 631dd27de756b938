"""Small tables of the new rows' keys, past which stored rows stream."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa

from newsdedup_cli.evidence import Evidence, digests, from_ragged, from_wide
from newsdedup_cli.index.store import numbers_of
from newsdedup_cli.kernels import lookup
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import I64, U8, U32, U64, UNKNOWN, Bools

BITS = 64
BRUTE = 24  # bits from which blocks narrow nothing down, and every pair is compared
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class New:
    """The new rows, as far as a look-up needs them."""

    evidence: Evidence
    id_hash: U64  # [N]
    file_row: I64  # [N] each row's number in its file, from 1


class HashSet:
    """Hashes that can be looked for in many rows at once."""

    def __init__(self, values: U64) -> None:
        self.bits = max(4, int(2 * len(values)).bit_length())
        self.table = lookup.hash_set(np.ascontiguousarray(values), self.bits)

    def mark(self, values: U64, offsets: I64, out: U8) -> None:
        """Set out u1[N] where a row of values u8[M], offsets i8[N+1], has one of ours."""
        lookup.mark_rows(self.table, self.bits, values, offsets, out)

    def among(self, values: U64) -> Bools:
        """Which of the values are ours."""
        out = np.zeros(len(values), np.uint8)
        self.mark(values, np.arange(len(values) + 1), out)
        return out.astype(bool)


class Near:
    """Fingerprints, to find which others lie within k bits of any of them."""

    def __init__(self, fingerprints: U64, k: int) -> None:
        self.fingerprints, self.k = np.unique(fingerprints), k
        blocks = 1 if k >= BRUTE else max(k + 2, 5)
        depth = 0 if k >= BRUTE else blocks - k
        bounds = np.round(np.linspace(0, BITS, blocks + 1)).astype(int)
        masks = [((1 << int(high - low)) - 1) << int(low) for low, high in pairwise(bounds)]
        self.masks = np.array([sum(chosen) for chosen in combinations(masks, depth)], np.uint64)
        self.bits = int(np.clip(len(self.fingerprints).bit_length() + 1, 1, 20))
        self.starts, self.order = lookup.block_tables(self.fingerprints, self.masks, self.bits)

    def mark(self, stored: U64, counted: Bools, out: U8) -> None:
        """Set out u1[M] where one of stored u8[M] that is counted lies near."""
        lookup.mark_near(
            self.fingerprints, self.masks, self.bits, self.starts, self.order, self.k, stored, counted, out
        )


class Seeker:
    """All that new rows can have in common with stored ones."""

    def __init__(self, new: New, common: U64, matching: Matching, window: int) -> None:
        prints, batch = new.evidence.batch.fingerprints, new.evidence.batch
        compared = prints.alone == 0
        self._matching = matching
        self._identity, self._ids = HashSet(new.evidence.identity), HashSet(new.id_hash)
        self._digest = HashSet(mixed(prints.digest[compared]))
        self._longest = HashSet(np.setdiff1d(prints.sentences[compared], common))
        self._pieces = HashSet(np.setdiff1d(batch.pieces, common))
        self._keys = HashSet(np.unique(by_column(prints.keys[compared])) if matching.minhash else _NONE)
        self._urls = HashSet(np.unique(new.evidence.rows.url[compared]))
        self._near = Near(prints.simhash[compared & (prints.features >= matching.least_words)], matching.max_distance)
        self._days = _span(new.evidence.rows.date, window)

    def own(self, light: pa.Table) -> I64:
        """Places of the stored rows that may be a new row themselves."""
        return np.flatnonzero(self._identity.among(numbers_of(light, "identity").astype(np.uint64)))

    def ids(self, light: pa.Table) -> U64:
        """The hashes of ids that a new row has too, of stored rows that are another row."""
        hashes = numbers_of(light, "id_hash").astype(np.uint64)
        own = self._identity.among(numbers_of(light, "identity").astype(np.uint64))
        found: U64 = hashes[self._ids.among(hashes) & ~own]
        return found

    def alike(self, light: pa.Table) -> I64:
        """Places of the stored rows that have anything in common with a new one."""
        counted = (numbers_of(light, "alone") == 0) & (
            numbers_of(light, "representative") == numbers_of(light, "number")
        )
        counted &= self._in_time(light)
        n = len(light)
        out = np.zeros(n, np.uint8)
        single = np.arange(n + 1)
        self._digest.mark(mixed(digests(light)), single, out)
        sentences = from_wide(light["sentences"].combine_chunks(), np.uint64)
        self._pieces.mark(sentences.reshape(-1), single * sentences.shape[1], out)
        if self._matching.minhash:
            keys = from_wide(light["keys"].combine_chunks(), np.uint32)
            self._keys.mark(by_column(keys), single * keys.shape[1], out)
        self._urls.mark(numbers_of(light, "url").astype(np.uint64), single, out)
        self._longest.mark(*from_ragged(light["pieces"].combine_chunks()), out)
        worded = counted & (numbers_of(light, "features") >= self._matching.least_words)
        self._near.mark(numbers_of(light, "simhash").astype(np.uint64), worded, out)
        return np.flatnonzero(out.astype(bool) & counted)

    def _in_time(self, light: pa.Table) -> Bools:
        if self._days is None:
            return np.ones(len(light), bool)
        date = light["date"].combine_chunks().cast(pa.int64()).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
        found: Bools = (date == UNKNOWN) | ((date >= self._days[0]) & (date <= self._days[1]))
        return found


_NONE = np.zeros(0, np.uint64)


def mixed(digest: U64) -> U64:
    """One number u8[N] of each digest u8[N,2]."""
    found: U64 = digest[:, 0] ^ (digest[:, 1] * _MIX)
    return np.maximum(found, 1)


def by_column(keys: U32) -> U64:
    """The keys u4[N,K], flat, so that those of different columns differ; 0 stays 0."""
    column = np.arange(1, keys.shape[1] + 1, dtype=np.uint64) << np.uint64(32)
    return np.where(keys != 0, keys + column, np.uint64(0)).reshape(-1)


def _span(date: I64, window: int) -> tuple[int, int] | None:
    """The first and last moment that a new row is within the window of; None where all are."""
    known = date[date != UNKNOWN]
    if window == 0 or len(known) < len(date) or len(known) == 0:
        return None
    return int(known.min()) - window, int(known.max()) + window
