"""Simhash of words that `words.word_ends` has found, with integer weights: order and threads cannot matter.

A word's hash is the low half of the md5 of its UTF-8 bytes, read as one big-endian number: bit i of the
fingerprint is bit i of that number. Bit i is set iff the words that have it outweigh those that have not.

Votes are counted by carry-save adders (Harley and Seal, in H. S. Warren, Hacker's Delight, 5-1): `planes[p]`
holds bit p of all 64 counts, and eight words cost some forty operations instead of 512.
"""

from __future__ import annotations

import numpy as np
from numba import types

from newsdedup_cli.kernels.jit import kernel

__all__ = ["simhash_all", "simhash_capped"]

U = np.uint64
_M32 = U(0xFFFFFFFF)
_SINES = np.array([int(abs(np.sin(i + 1.0)) * 2**32) for i in range(64)], np.uint64)
_TURNS = np.array([7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4, np.uint64)
_inner = kernel(no_cpython_wrapper=True, forceinline=True)  # as in kernels.words
_PRIME = U(0x9E3779B97F4A7C15)


@kernel(no_cpython_wrapper=True)
def _md5_block(m, a0, b0, c0, d0):
    """One round of md5 (RFC 1321) over the sixteen words of m."""
    a, b, c, d = a0, b0, c0, d0
    for i in range(64):
        if i < 16:
            f = (b & c) | (~b & d)
            g = i
        elif i < 32:
            f = (d & b) | (~d & c)
            g = (5 * i + 1) & 15
        elif i < 48:
            f = b ^ c ^ d
            g = (3 * i + 5) & 15
        else:
            f = c ^ (b | (~d & _M32))
            g = (7 * i) & 15
        f = (f + a + _SINES[i] + m[g]) & _M32
        a, d, c = d, c, b
        b = (b + ((f << _TURNS[i]) | (f >> (U(32) - _TURNS[i])))) & _M32
    return (a0 + a) & _M32, (b0 + b) & _M32, (c0 + c) & _M32, (d0 + d) & _M32


@_inner
def _swap32(x):
    return (x & U(0xFF)) << U(24) | (x & U(0xFF00)) << U(8) | (x >> U(8)) & U(0xFF00) | x >> U(24)


@kernel(no_cpython_wrapper=True)
def _md5_low(data, first, last, m):
    """The low 64 bits of the big-endian md5 of bytes first..last; m u8[16] is work space."""
    a, b, c, d = U(0x67452301), U(0xEFCDAB89), U(0x98BADCFE), U(0x10325476)
    size = last - first
    for block in range((size + 8) // 64 + 1):
        at = block * 64
        m[:] = U(0)
        for k in range(at, min(size, at + 64)):
            m[(k & 63) >> 2] |= U(data[first + k]) << U((k & 3) * 8)
        if at <= size < at + 64:
            m[(size & 63) >> 2] |= U(0x80) << U((size & 3) * 8)
        if at + 64 >= size + 9:
            m[14] = (U(size) << U(3)) & _M32
            m[15] = (U(size) >> U(29)) & _M32
        a, b, c, d = _md5_block(m, a, b, c, d)
    return _swap32(c) << U(32) | _swap32(d)


@_inner
def _hash_of(data, first, last, hashes, slot, m, keys, values, places):
    """The hash of the word at bytes first..last, by its slot or through a cache of unknown words.

    keys, values u8[2**n]; places i8[2**n, 2] the bytes in `data` of the word that is stored.
    """
    if slot >= 0:
        return hashes[slot]
    key = U(last - first)
    for k in range(first, last):
        key = (key ^ U(data[k])) * _PRIME
    cell = np.int64(key >> U(32)) & (len(keys) - 1)
    if keys[cell] == key and places[cell, 1] - places[cell, 0] == last - first:
        back = places[cell, 0] - first
        same = True
        for k in range(first, last):
            if data[k] != data[k + back]:
                same = False
                break
        if same:
            return values[cell]
    value = _md5_low(data, first, last, m)
    keys[cell] = key
    values[cell] = value
    places[cell, 0] = first
    places[cell, 1] = last
    return value


@_inner
def _ripple(planes, carry, p):
    """Adds `carry` at bit p of the counts."""
    while carry != U(0):
        rest = planes[p] & carry
        planes[p] ^= carry
        carry = rest
        p += 1


@_inner
def _full_add(a, b, c):
    u = a ^ b
    return u ^ c, (a & b) | (u & c)


@_inner
def _count(words, n, planes, low):
    """Adds words[:n] to the counts in planes, each with weight 2**low."""
    ones = twos = fours = U(0)
    k = 0
    while k + 8 <= n:
        ones, t0 = _full_add(ones, words[k], words[k + 1])
        ones, t1 = _full_add(ones, words[k + 2], words[k + 3])
        twos, f0 = _full_add(twos, t0, t1)
        ones, t0 = _full_add(ones, words[k + 4], words[k + 5])
        ones, t1 = _full_add(ones, words[k + 6], words[k + 7])
        twos, f1 = _full_add(twos, t0, t1)
        fours, eights = _full_add(fours, f0, f1)
        _ripple(planes, eights, low + 3)
        k += 8
    _ripple(planes, ones, low)
    _ripple(planes, twos, low + 1)
    _ripple(planes, fours, low + 2)
    while k < n:
        _ripple(planes, words[k], low)
        k += 1


@_inner
def _more_than(planes, limit):
    """The bits whose count exceeds `limit`."""
    more = U(0)
    same = ~U(0)
    for p in range(len(planes) - 1, -1, -1):
        if limit >> p & 1:
            same &= planes[p]
        else:
            more |= same & planes[p]
            same &= ~planes[p]
    return more


_BYTES = types.Array(types.uint8, 1, "C", readonly=True)
_INTS = types.Array(types.int64, 1, "C", readonly=True)
_SLOTS = types.Array(types.int32, 1, "C", readonly=True)
_WORDS = types.Array(types.uint64, 1, "C", readonly=True)
_CACHE = (
    types.Array(types.uint64, 1, "C"),
    types.Array(types.uint64, 1, "C"),
    types.Array(types.int64, 2, "C"),
)
_BITS = types.Array(types.uint64, 1, "C")
_SIZES = types.Array(types.int32, 1, "C")


@kernel(types.void(_BYTES, types.int64, _INTS, _SLOTS, _INTS, _WORDS, *_CACHE, _BITS, _SIZES))
def simhash_all(data, begin, ends, slots, starts, hashes, keys, values, places, out, sizes):
    """The published recipe: every word each time it occurs.

    data u1[B]; begin: the first row's first byte; ends i8[W], slots i4[W], starts i8[N+1]: see word_ends.
    hashes u8[S + 0x10001] by slot. keys, values u8[2**n], places i8[2**n, 2]: cache, zeros at first, to be
    given again with the same data. Writes the fingerprints, u8[N], and the number of words, i4[N].
    """
    rows = len(starts) - 1
    longest = 0
    for row in range(rows):
        longest = max(longest, starts[row + 1] - starts[row])
    words = np.empty(longest, np.uint64)
    planes = np.zeros(48, np.uint64)
    m = np.zeros(16, np.uint64)
    last = begin
    for row in range(rows):
        n = starts[row + 1] - starts[row]
        for k in range(n):
            first = last
            last = ends[starts[row] + k]
            slot = slots[starts[row] + k]
            words[k] = _hash_of(data, first, last, hashes, slot, m, keys, values, places)
        planes[:] = U(0)
        _count(words, n, planes, 0)
        out[row] = _more_than(planes, n // 2)
        sizes[row] = n


@_inner
def _is_feature(data, first, last):
    """Two or more characters, one of them a letter, a digit or Han (no others above 127 in longer words)."""
    lead = data[first]
    if last - first < 2 or (lead >= 0xC0 and last - first == (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4)):
        return False
    for k in range(first, last):
        b = data[k]
        if b >= 128 or 48 <= b <= 57 or 65 <= b <= 90 or 97 <= b <= 122:
            return True
    return False


@_inner
def _times_seen(table, seen, value, mask):
    """How often `value` has come before, at most 255, in an open-addressed table; it is counted."""
    cell = np.int64(value & U(0x7FFFFFFFFFFFFFFF)) & mask
    while seen[cell] != 0 and table[cell] != value:
        cell = (cell + 1) & mask
    table[cell] = value
    before = np.int64(seen[cell])
    if before < 255:
        seen[cell] = before + 1
    return before


@_inner
def _look_up(data, last, ends, slots, begin, end, votes, m, keys, values, places, out):
    """The hashes of the words begin..end that count, 0 for the others, into out; the byte after the last word.

    In a loop of its own: so the look-ups, which seldom find the table in the cache, do not wait for one another.
    """
    for k in range(begin, end):
        slot = slots[k]
        if slot >= 0:
            out[k - begin] = votes[slot] if slot < len(votes) else U(0)
        else:
            first = ends[k - 1] if k > begin else last
            counts = _is_feature(data, first, ends[k])
            out[k - begin] = _hash_of(data, first, ends[k], votes, -1, m, keys, values, places) if counts else U(0)
    return ends[end - 1] if end > begin else last


@kernel(types.void(_BYTES, types.int64, _INTS, _SLOTS, _INTS, _WORDS, types.int64, *_CACHE, _BITS, _SIZES))
def simhash_capped(data, begin, ends, slots, starts, votes, most, keys, values, places, out, sizes):
    """Words of two and more characters, each counted at most `most` (< 256) times a row.

    votes u8[S]: the hashes of the dictionary's words that count, by slot, 0 for the others. As simhash_all
    otherwise. Words are told apart by their hashes. Writes the fingerprints, u8[N], and the number of different
    words, i4[N].
    """
    rows = len(starts) - 1
    longest = 0
    for row in range(rows):
        longest = max(longest, starts[row + 1] - starts[row])
    size = 16
    while size < 2 * longest:
        size *= 2
    table = np.empty(size, np.uint64)
    seen = np.empty(size, np.uint8)
    found = np.empty(longest, np.uint64)
    words = np.empty(longest, np.uint64)
    planes = np.zeros(48, np.uint64)
    m = np.zeros(16, np.uint64)
    last = begin
    for row in range(rows):
        count = starts[row + 1] - starts[row]
        last = _look_up(data, last, ends, slots, starts[row], starts[row + 1], votes, m, keys, values, places, found)
        size = 16
        while size < 2 * count:
            size *= 2
        seen[:size] = 0
        n = 0
        distinct = 0
        for k in range(count):
            value = found[k]
            if value == U(0):
                continue
            before = _times_seen(table, seen, value, size - 1)
            if before == 0:
                distinct += 1
            if before < most:
                words[n] = value
                n += 1
        planes[:] = U(0)
        _count(words, n, planes, 0)
        out[row] = _more_than(planes, n // 2)
        sizes[row] = distinct
