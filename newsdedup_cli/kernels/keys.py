"""Which of many 64-bit keys are among others: a hash table in place of a sort."""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

_P1 = np.uint64(0x9E3779B97F4A7C15)
_U0 = np.uint64(0)
_U1 = np.uint64(1)
_U20 = np.uint64(20)


@kernel()
def among(values, keys):
    """Which of the values u8[M] are among the keys u8[K], as bool[M]; 0 is none.

    Open addressing with linear probing at half load; keys are hashes already, one multiplication spreads them.
    """
    size = 16
    while size < 2 * keys.shape[0]:
        size *= 2
    mask = np.uint64(size - 1)
    table = np.zeros(size, np.uint64)
    for k in range(keys.shape[0]):
        if keys[k] != _U0:
            slot = (keys[k] * _P1 >> _U20) & mask
            while table[slot] != _U0 and table[slot] != keys[k]:
                slot = (slot + _U1) & mask
            table[slot] = keys[k]
    out = np.zeros(values.shape[0], np.bool_)
    for i in range(values.shape[0]):
        if values[i] != _U0:
            slot = (values[i] * _P1 >> _U20) & mask
            while table[slot] != _U0 and table[slot] != values[i]:
                slot = (slot + _U1) & mask
            out[i] = table[slot] != _U0
    return out
