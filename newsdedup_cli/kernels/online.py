"""Look-ups that grow row by row: chains of keys, and fingerprints within k bits.

A key's rows are a chain through one table of entries, the latest first; the table of heads is addressed by the key's
hash, so other keys may stand in a chain and are told apart by the key itself. Fingerprints lie in buckets by each of
five blocks of 13 bits: two within k bits differ in at most k // 5 of them in one block at least, so all buckets so
near are looked into (multi-index hashing: Norouzi, Punjani, Fleet, CVPR 2012). What came since the buckets were made
is looked through one by one.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.bits import popcount
from newsdedup_cli.kernels.jit import kernel

_P1 = np.uint64(0x9E3779B97F4A7C15)
_P3 = np.uint64(0xFF51AFD7ED558CCD)
_U0 = np.uint64(0)
_U32 = np.uint64(32)
_LOW13 = np.uint64(0x1FFF)


@kernel()
def _slot(key, size):
    """The place of a key among so many heads, a power of two."""
    return np.int64(((key ^ (key >> _U32)) * _P1 ^ (key * _P3 >> _U32)) & np.uint64(size - 1))


@kernel()
def insert(heads, keys, rows, before, count, new_keys, new_rows):
    """Add entries (new_keys u8[K], new_rows i4[K]) behind the `count` that there are; 0 is no key. Returns how many
    there are then. heads i4[2**p] (-1: none), keys u8[E], rows i4[E], before i4[E] (the entry before, -1: none) are
    changed; E has room for all."""
    for i in range(new_keys.shape[0]):
        key = new_keys[i]
        if key == _U0:
            continue
        slot = _slot(key, heads.shape[0])
        keys[count] = key
        rows[count] = new_rows[i]
        before[count] = heads[slot]
        heads[slot] = count
        count += 1
    return count


@kernel()
def hang(heads, keys, before, count):
    """Put the first `count` entries into an empty table of heads, in their order."""
    for i in range(count):
        slot = _slot(keys[i], heads.shape[0])
        before[i] = heads[slot]
        heads[slot] = i


@kernel()
def find(heads, keys, rows, before, asked, near, anchors, room):
    """The rows that a new row is paired with by each of the keys asked u8[K]: those of the key's rows before it, all
    while these are fewer than `near`, else the first and the last `anchors`.

    Returns rows i4[F], for each the place of its key in `asked` i4[F], and the number there is; call again with more
    room if that is larger. The new row's own earlier keys count, as in a batch where it has been added up to there.
    """
    out = np.empty(room, np.int32)
    by = np.empty(room, np.int32)
    ring = np.empty(anchors, np.int32)
    found = 0
    for i in range(asked.shape[0]):
        key = asked[i]
        if key == _U0:
            continue
        own = 0
        for j in range(i):
            own += asked[j] == key
        entry = heads[_slot(key, heads.shape[0])]
        n, start = own, found
        while entry >= 0:
            if keys[entry] == key:
                row = rows[entry]
                ring[n % anchors] = row
                if n < near or n < anchors:
                    if found < room:
                        out[found] = row
                        by[found] = i
                    found += 1
                n += 1
            entry = before[entry]
        if n >= near:
            # The chain gave the latest first: the last anchors are its first, the first anchors its last.
            found = start + min(anchors - own, n - own) if own < anchors else start
            for m in range(n - 1, max(n - 1 - anchors, own - 1), -1):
                if found < room:
                    out[found] = ring[m % anchors]
                    by[found] = i
                found += 1
    stored = min(found, room)
    return out[:stored], by[:stored], found


@kernel()
def buckets(values):
    """Fingerprints u8[N] by each of five blocks of 13 bits (the last of 12): starts i4[5, 8193], the values in order
    of buckets u8[5, N] and their places i4[5, N]."""
    n = values.shape[0]
    starts = np.zeros((5, 8193), np.int32)
    ordered = np.empty((5, n), np.uint64)
    places = np.empty((5, n), np.int32)
    at = np.empty(8192, np.int32)
    for block in range(5):
        low = np.uint64(13 * block)
        for i in range(n):
            starts[block, np.int64(values[i] >> low & _LOW13) + 1] += 1
        for v in range(8192):
            starts[block, v + 1] += starts[block, v]
            at[v] = starts[block, v]
        for i in range(n):
            v = np.int64(values[i] >> low & _LOW13)
            ordered[block, at[v]] = values[i]
            places[block, at[v]] = i
            at[v] += 1
    return starts, ordered, places


@kernel()
def near_values(starts, ordered, places, later, value, k, changes, room):
    """Places of the fingerprints within k bits of `value`: i4[F], each once, and the number there is.

    starts, ordered and places are those of `buckets`; later u8[M] are the fingerprints that follow the N in the
    buckets; changes u8[C] all numbers of 13 bits with at most k // 5 of them set.
    """
    out = np.empty(room, np.int32)
    found = 0
    n = ordered.shape[1]
    radius = k // 5
    for block in range(5 if n else 0):
        low = np.uint64(13 * block)
        own = value >> low & _LOW13
        for c in range(changes.shape[0]):
            v = np.int64(own ^ changes[c])
            begin = starts[block, v]
            bucket = ordered[block, begin : starts[block, v + 1]]
            for i in range(bucket.shape[0]):
                x = bucket[i] ^ value
                if popcount(x) > k:
                    continue
                first = True
                for other in range(block):
                    first &= popcount(x >> np.uint64(13 * other) & _LOW13) > radius
                if first:
                    if found < room:
                        out[found] = places[block, begin + i]
                    found += 1
    for i in range(later.shape[0]):
        if popcount(later[i] ^ value) <= k:
            if found < room:
                out[found] = n + i
            found += 1
    stored = min(found, room)
    return out[:stored], found
