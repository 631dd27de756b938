"""Copying rows of text between buffers, and their hashes."""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

_P1 = np.uint64(0x9E3779B97F4A7C15)
_P2 = np.uint64(0xFF51AFD7ED558CCD)


@kernel()
def gather(data, starts, lengths, rows):
    """Rows i8[R] of texts that begin at starts i8[N] of data u1[B] with lengths i8[N]: data u1[B'], offsets i8[R+1]."""
    offsets = np.zeros(rows.shape[0] + 1, np.int64)
    for i in range(rows.shape[0]):
        offsets[i + 1] = offsets[i] + lengths[rows[i]]
    out = np.empty(offsets[-1], np.uint8)
    for i in range(rows.shape[0]):
        start = starts[rows[i]]
        for j in range(lengths[rows[i]]):
            out[offsets[i] + j] = data[start + j]
    return out, offsets


@kernel()
def _eight(data, i):
    """Bytes i..i+7 as one number, the first the lowest: one load once compiled."""
    x = np.uint64(data[i])
    for k in range(1, 8):
        x |= np.uint64(data[i + k]) << np.uint64(8 * k)
    return x


@kernel()
def hash_rows(data, offsets, seed):
    """A 64-bit hash u8[N] of the bytes of each row of data u1[B], offsets i8[N+1], mixed into seed u8[N].

    Eight bytes a step, the rest in one, the length at last.
    """
    out = seed.copy()
    for row in range(offsets.shape[0] - 1):
        h = out[row] ^ _P1
        i, end = offsets[row], offsets[row + 1]
        while i + 8 <= end:
            h = (h ^ _eight(data, i)) * _P2
            h ^= h >> np.uint64(32)
            i += 8
        rest = np.uint64(0)
        for k in range(i, end):
            rest = rest << np.uint64(8) | np.uint64(data[k])
        h = (h ^ rest) * _P2
        h ^= h >> np.uint64(32)
        h = (h ^ np.uint64(end - offsets[row])) * _P2
        out[row] = h ^ (h >> np.uint64(32))
    return out
