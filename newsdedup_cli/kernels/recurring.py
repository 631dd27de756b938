"""Which pieces of text recur, in which rows, and where they stand in them. All go through rows begin..end of pieces
u8[M] by row, piece_rows i8[N+1], so that a large array need not be in memory at once.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

_P1 = np.uint64(0x9E3779B97F4A7C15)
_U1 = np.uint64(1)
_U20 = np.uint64(20)
_U56 = np.uint64(56)
_U6 = np.uint64(6)
_U63 = np.uint64(63)
_FULL = np.uint8(255)


@kernel()
def tally(table, pieces, piece_rows, begin, end, counted):
    """Count the pieces of the rows that are counted (bool[N]) in table u1[2^bits], up to 255.

    Counters by hash, as in a counting Bloom filter with one function: they may be too high, never too low.
    """
    shift = np.uint64(64 - np.int64(np.log2(table.shape[0])))
    for row in range(begin, end):
        if counted[row]:
            for i in range(piece_rows[row], piece_rows[row + 1]):
                slot = np.int64(pieces[i] * _P1 >> shift)
                if table[slot] < _FULL:
                    table[slot] += np.uint8(1)


@kernel()
def spread(table, least, pieces, piece_rows, begin, end, counted, found):
    """Add up in found i8[256], by their highest eight bits, the pieces that `tally` counted `least` times or more."""
    shift = np.uint64(64 - np.int64(np.log2(table.shape[0])))
    enough = min(least, 255)
    for row in range(begin, end):
        if counted[row]:
            for i in range(piece_rows[row], piece_rows[row + 1]):
                if table[np.int64(pieces[i] * _P1 >> shift)] >= enough:
                    found[np.int64(pieces[i] >> _U56)] += 1


@kernel()
def often(table, least, low, high, pieces, piece_rows, begin, end, counted):
    """The pieces from low to high (both included) that `tally` counted `least` times or more, and their rows.

    Returns values u8[K] and rows i8[K], in order of rows.
    """
    shift = np.uint64(64 - np.int64(np.log2(table.shape[0])))
    enough = min(least, 255)
    values = np.empty(piece_rows[end] - piece_rows[begin], np.uint64)
    rows = np.empty(values.shape[0], np.int64)
    n = 0
    for row in range(begin, end):
        if counted[row]:
            for i in range(piece_rows[row], piece_rows[row + 1]):
                piece = pieces[i]
                if low <= piece <= high and table[np.int64(piece * _P1 >> shift)] >= enough:
                    values[n] = piece
                    rows[n] = row
                    n += 1
    return values[:n].copy(), rows[:n].copy()


@kernel()
def hung(keys):
    """A table of different keys u8[K]: the keys by slot u8[S], and which each is i8[S], -1 where there is none."""
    size = 16
    while size < 2 * keys.shape[0]:
        size *= 2
    slots = np.zeros(size, np.uint64)
    which = np.full(size, -1, np.int64)
    mask = np.uint64(size - 1)
    for k in range(keys.shape[0]):
        slot = (keys[k] * _P1 >> _U20) & mask
        while which[slot] >= 0:
            slot = (slot + _U1) & mask
        slots[slot] = keys[k]
        which[slot] = k
    return slots, which


@kernel()
def _number(slots, which, key):
    mask = np.uint64(slots.shape[0] - 1)
    slot = (key * _P1 >> _U20) & mask
    while which[slot] >= 0:
        if slots[slot] == key:
            return which[slot]
        slot = (slot + _U1) & mask
    return np.int64(-1)


@kernel()
def flags(keys, size):
    """A bitmap u8[2^size] in which each of the keys u8[K] has set a bit: a Bloom filter with one function."""
    out = np.zeros(1 << size, np.uint64)
    shift = np.uint64(58 - size)
    for k in range(keys.shape[0]):
        at = keys[k] * _P1 >> shift
        out[np.int64(at >> _U6)] |= _U1 << (at & _U63)
    return out


@kernel()
def flagged(bits, low, high, pieces, piece_rows, begin, end, counted):
    """The pieces from low to high (both included) of rows that are counted whose bit `flags` has set, and their rows.

    All that are among its keys, and a few others. Returns values u8[K] and rows i8[K], in order of rows. Without a
    branch, so that the look-ups do not wait for one another.
    """
    shift = np.uint64(64 - np.int64(np.log2(bits.shape[0])) - 6)
    values = np.empty(piece_rows[end] - piece_rows[begin] + 1, np.uint64)
    rows = np.empty(values.shape[0], np.int64)
    n = 0
    for row in range(begin, end):
        if counted[row]:
            for i in range(piece_rows[row], piece_rows[row + 1]):
                piece = pieces[i]
                at = piece * _P1 >> shift
                values[n] = piece
                rows[n] = row
                n += np.int64((bits[np.int64(at >> _U6)] >> (at & _U63)) & _U1) & (low <= piece) & (piece <= high)
    return values[:n].copy(), rows[:n].copy()


@kernel()
def _otherwise_same(pieces, frequency, begin_a, end_a, begin_b, end_b, limit):
    """Whether two rows (pieces sorted) agree in what is rarer than `limit`, or have too little of it to tell."""
    rare_a, rare_b, common = 0, 0, 0
    for i in range(begin_a, end_a):
        rare_a += frequency[i] <= limit
    for i in range(begin_b, end_b):
        rare_b += frequency[i] <= limit
    if rare_a < 1 or rare_b < 1 or 4 * rare_a < end_a - begin_a or 4 * rare_b < end_b - begin_b:
        return True
    i, j = begin_a, begin_b
    while i < end_a and j < end_b:
        if pieces[i] < pieces[j]:
            i += 1
        elif pieces[i] > pieces[j]:
            j += 1
        else:
            common += frequency[i] <= limit
            i += 1
            j += 1
    return 2 * common >= min(rare_a, rare_b)


@kernel()
def otherwise_different(pieces, piece_rows, slots, which, often, starts, sizes, members, wanted):
    """For each group of rows that share a piece, how many otherwise different rows it has, up to `wanted`: i8[G].

    Parameters: pieces u8[M] of rows, piece_rows i8[N+1]; in how many rows pieces stand, often i8[F] by the table of
    `hung` (1 for others); starts i8[G+1] and members i8[K], some rows of each group in an order that does not depend on
    the input's, and the sizes i8[G] of the whole groups. Two rows are otherwise the same if, of their pieces that are
    at most half as frequent as the group is large, half are shared (of the row that has fewer), or if such pieces
    are less than a quarter of either row: too little to tell.
    """
    out = np.zeros(starts.shape[0] - 1, np.int64)
    leaders = np.empty(wanted, np.int64)
    ready = np.zeros(piece_rows.shape[0] - 1, np.bool_)
    ordered = pieces.copy()
    frequency = np.ones(pieces.shape[0], np.int64)
    for g in range(starts.shape[0] - 1):
        n = 0
        for k in range(starts[g], starts[g + 1]):
            row = members[k]
            begin, end = piece_rows[row], piece_rows[row + 1]
            if not ready[row]:
                ready[row] = True
                ordered[begin:end].sort()
                for i in range(begin, end):
                    number = _number(slots, which, ordered[i])
                    if number >= 0:
                        frequency[i] = often[number]
            new = True
            for i in range(n):
                other = leaders[i]
                if _otherwise_same(
                    ordered, frequency, begin, end, piece_rows[other], piece_rows[other + 1], sizes[g] // 2
                ):
                    new = False
                    break
            if new:
                leaders[n] = row
                n += 1
                if n == wanted:
                    break
        out[g] = n
    return out


@kernel()
def edges(slots, which, pieces, piece_rows, begin, end, counted, head, tail, long, last, counts):
    """Count in how many rows that are counted (bool[N]) each piece of the table of `hung` stands, and where.

    An edge is the first `head` and the last `tail` pieces of a row, and the run of pieces in the table from either
    end; a row of `long` pieces or more is long. Adds to counts i8[K,4]: rows, rows in which it stands at an edge, and
    the same of long rows. last i8[K,2] is -1 at the begin, and stays with counts from one block to the next.
    """
    longest = 0
    for row in range(begin, end):
        longest = max(longest, piece_rows[row + 1] - piece_rows[row])
    numbers = np.empty(longest, np.int64)
    for row in range(begin, end):
        if not counted[row]:
            continue
        start, size = piece_rows[row], piece_rows[row + 1] - piece_rows[row]
        for i in range(size):
            numbers[i] = _number(slots, which, pieces[start + i])
        first = 0
        while first < size and (numbers[first] >= 0 or first < head):
            first += 1
        behind = size - 1
        while behind >= 0 and (numbers[behind] >= 0 or behind >= size - tail):
            behind -= 1
        for i in range(size):
            k = numbers[i]
            if k < 0:
                continue
            if last[k, 0] != row:
                last[k, 0] = row
                counts[k, 0] += 1
                counts[k, 2] += size >= long
            if (i < first or i > behind) and last[k, 1] != row:
                last[k, 1] = row
                counts[k, 1] += 1
                counts[k, 3] += size >= long
