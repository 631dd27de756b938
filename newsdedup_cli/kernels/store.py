"""Copying rows of text between buffers, and finding which pieces of text recur."""

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
def recurring(pieces, piece_rows, counted, least, bits):
    """Which pieces may stand in `least` rows or more: a mask u1[M], never 0 for one that does.

    Parameters: pieces u8[M] by row, piece_rows i8[N+1], counted (bool[N], rows that count), the table's size in
    bits. A table of counters by hash (as in a counting Bloom filter with one function) forgets nothing.
    """
    table = np.zeros(1 << bits, np.uint16)
    shift = np.uint64(64 - bits)
    limit = np.uint16(65535)
    for row in range(counted.shape[0]):
        if counted[row]:
            for i in range(piece_rows[row], piece_rows[row + 1]):
                slot = np.int64(pieces[i] * _P1 >> shift)
                if table[slot] < limit:
                    table[slot] += 1
    mask = np.zeros(pieces.shape[0], np.uint8)
    for row in range(counted.shape[0]):
        if counted[row]:
            for i in range(piece_rows[row], piece_rows[row + 1]):
                mask[i] = table[np.int64(pieces[i] * _P1 >> shift)] >= least
    return mask


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
def otherwise_different(pieces, frequency, piece_rows, starts, members, wanted, sample):
    """For each group of rows that share a piece, how many otherwise different rows it has, up to `wanted`: i8[G].

    Parameters: pieces u8[M] and their frequency i4[M], sorted within each row; piece_rows i8[N+1]; starts i8[G+1]
    and members i8[K], the rows of each group in an order that does not depend on the input's; at most
    `sample` rows of a group are looked at. Two rows are otherwise the same if, of their pieces that are at most
    half as frequent as the group is large, half are shared (of the row that has fewer), or if such pieces
    are less than a seventh of either row: too little to tell.
    """
    out = np.zeros(starts.shape[0] - 1, np.int64)
    leaders = np.empty(wanted, np.int64)
    for g in range(starts.shape[0] - 1):
        size = starts[g + 1] - starts[g]
        step = max(1, size // sample)
        n = 0
        for k in range(0, min(size, step * sample), step):
            row = members[starts[g] + k]
            new = True
            for i in range(n):
                other = leaders[i]
                if _otherwise_same(
                    pieces,
                    frequency,
                    piece_rows[row],
                    piece_rows[row + 1],
                    piece_rows[other],
                    piece_rows[other + 1],
                    size // 2,
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
def edges(frequent, piece_rows, head, tail):
    """Which pieces stand at an edge of their row: a mask u1[M].

    Parameters: frequent u1[M] (pieces that recur), by row, piece_rows i8[N+1]. An edge is the first `head` and the
    last `tail` pieces of a row, and the run of frequent pieces from either end.
    """
    out = np.zeros(frequent.shape[0], np.uint8)
    for row in range(piece_rows.shape[0] - 1):
        begin, end = piece_rows[row], piece_rows[row + 1]
        i = begin
        while i < end and (frequent[i] or i < begin + head):
            out[i] = 1
            i += 1
        i = end - 1
        while i >= begin and (frequent[i] or i >= end - tail):
            out[i] = 1
            i -= 1
    return out


@kernel()
def edge_shares(pieces, at_edge, piece_rows, known, starts, members, long):
    """For each group of rows that share a piece, the share of rows in which it stands at an edge: f4[G].

    Parameters: pieces u8[M] by row and at_edge u1[M], piece_rows i8[N+1]; the groups' pieces known u8[G], their
    rows members i8[K] from starts i8[G+1]. Rows of fewer than `long` pieces are nearly all edge: they count
    only where fewer than three longer ones have the piece.
    """
    out = np.zeros(starts.shape[0] - 1, np.float32)
    for g in range(starts.shape[0] - 1):
        edge_rows, long_rows, long_edge_rows = 0, 0, 0
        for k in range(starts[g], starts[g + 1]):
            begin, end = piece_rows[members[k]], piece_rows[members[k] + 1]
            edge = False
            for i in range(begin, end):
                if pieces[i] == known[g]:
                    edge |= at_edge[i] != 0
            edge_rows += edge
            if end - begin >= long:
                long_rows += 1
                long_edge_rows += edge
        out[g] = long_edge_rows / long_rows if long_rows >= 3 else edge_rows / (starts[g + 1] - starts[g])
    return out


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
