"""Which of many stored rows have anything in common with a few new ones: hash sets, and fingerprints within k bits.

The new rows' keys lie in small tables (cached), past which the stored rows stream. Fingerprints are looked up by
blocks as in kernels.join: with the 64 bits cut into r blocks, two fingerprints within k bits agree on at least
r - k of them, so a stored one is compared with the new ones in its bucket of every choice of r - k blocks.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.bits import popcount
from newsdedup_cli.kernels.jit import kernel

_P1 = np.uint64(0x9E3779B97F4A7C15)
_U0 = np.uint64(0)


@kernel()
def hash_set(values, bits):
    """An open-addressed table u8[2**bits] of the values u8[N] other than 0; 0 marks a free place.

    `bits` so large that a place stays free.
    """
    table = np.zeros(1 << bits, np.uint64)
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for value in values:
        if value == _U0:
            continue
        slot = np.int64(value * _P1 >> shift)
        while table[slot] != _U0 and table[slot] != value:
            slot = (slot + 1) & mask
        table[slot] = value
    return table


@kernel()
def mark_rows(table, bits, values, offsets, out):
    """Set out u1[N] to 1 for each row of values u8[M], offsets i8[N+1], that has a value of the table."""
    shift = np.uint64(64 - bits)
    mask = (1 << bits) - 1
    for row in range(offsets.shape[0] - 1):
        for i in range(offsets[row], offsets[row + 1]):
            value = values[i]
            if out[row] or value == _U0:
                continue
            slot = np.int64(value * _P1 >> shift)
            while table[slot] != _U0 and table[slot] != value:
                slot = (slot + 1) & mask
            out[row] = table[slot] == value


@kernel()
def block_tables(fingerprints, masks, bits):
    """Fingerprints u8[N] in buckets, by the bits of each of masks u8[C] hashed to `bits` bits.

    Returns starts i4[C, 2**bits + 1] and order i4[C, N]: the rows of bucket v are order[c, starts[c, v]:
    starts[c, v + 1]].
    """
    n = fingerprints.shape[0]
    shift = np.uint64(64 - bits)
    starts = np.zeros((masks.shape[0], (1 << bits) + 1), np.int32)
    order = np.empty((masks.shape[0], n), np.int32)
    filled = np.empty(1 << bits, np.int32)
    for c in range(masks.shape[0]):
        for i in range(n):
            starts[c, np.int64((fingerprints[i] & masks[c]) * _P1 >> shift) + 1] += 1
        for v in range(1 << bits):
            starts[c, v + 1] += starts[c, v]
            filled[v] = starts[c, v]
        for i in range(n):
            v = np.int64((fingerprints[i] & masks[c]) * _P1 >> shift)
            order[c, filled[v]] = i
            filled[v] += 1
    return starts, order


@kernel()
def mark_near(fingerprints, masks, bits, starts, order, k, stored, counted, out):
    """Set out u1[M] to 1 for each of stored u8[M] that is `counted` and within k bits of any of fingerprints u8[N].

    masks, bits, starts and order are those of `block_tables`; the masks are every choice of r - k blocks of r.
    """
    shift = np.uint64(64 - bits)
    for row in range(stored.shape[0]):
        if out[row] or not counted[row]:
            continue
        f = stored[row]
        for c in range(masks.shape[0]):
            v = np.int64((f & masks[c]) * _P1 >> shift)
            for i in range(starts[c, v], starts[c, v + 1]):
                if popcount(f ^ fingerprints[order[c, i]]) <= k:
                    out[row] = 1
                    break
            if out[row]:
                break
