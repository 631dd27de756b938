"""Exact join of 64-bit fingerprints within a Hamming distance, and pairs of rows that share a key.

The join is the block permutation of Manku, Jain, Das Sarma (WWW 2007), nested: with the 64 bits cut into r
blocks, any two fingerprints within k bits agree on at least r - k of them, so it is enough to compare inside
the buckets of every choice of r - k blocks. Buckets of one block are sorted by the next inside the bucket,
where they lie in the cache. A pair is given at the first choice on which it agrees, so exactly once.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from newsdedup_cli.kernels.jit import kernel

_U0 = np.uint64(0)
_U1 = np.uint64(1)


@intrinsic
def _ctpop(typing_context, x):  # pragma: no cover - compiled
    def build(context, builder, signature, args):
        return builder.zext(builder.ctpop(args[0]), ir.IntType(64))

    return types.int64(types.uint64), build


def popcount(x):
    """How many bits of a uint64 are set."""
    return int(x).bit_count()


@overload(popcount)
def _popcount_compiled(x):
    return lambda x: _ctpop(x)


@kernel()
def distances(fingerprints, a, b):
    """Hamming distance u1[P] of fingerprints u8[N] at positions a i8[P] and b i8[P]."""
    out = np.empty(a.shape[0], np.uint8)
    for p in range(a.shape[0]):
        out[p] = popcount(fingerprints[a[p]] ^ fingerprints[b[p]])
    return out


@kernel()
def all_distances(fingerprints, first, last):
    """Histogram i8[65] of the distances of rows first..last-1 to every later row of fingerprints u8[N]."""
    counts = np.zeros(65, np.int64)
    n = fingerprints.shape[0]
    for i in range(first, last):
        f = fingerprints[i]
        for j in range(i + 1, n):
            counts[popcount(f ^ fingerprints[j])] += 1
    return counts


@kernel()
def pairs_within(fingerprints, k, bounds, depth, dense, room):
    """All pairs of distinct fingerprints within k bits.

    Parameters: fingerprints u8[N], ascending and distinct; k; `bounds` i8[r+1], where the r blocks of bits begin
    (bounds[0] = 0, bounds[r] = 64); depth = r - k, how many blocks a bucket agrees on; `dense`, the bucket size
    beyond which not all pairs are given but edges that connect the same components (each found row is taken
    out of the bucket, so that a bucket of near equals drains in one sweep); `room`, how many pairs fit.

    Returns a i8[P], b i8[P] (a < b, positions) and the number of pairs that there are; if that is larger than
    `room`, call again with more.
    """
    n = fingerprints.shape[0]
    r = bounds.shape[0] - 1
    out_a = np.empty(room, np.int64)
    out_b = np.empty(room, np.int64)
    found = 0
    masks = np.empty(r, np.uint64)
    for block in range(r):
        width = bounds[block + 1] - bounds[block]
        masks[block] = ((_U1 << np.uint64(width)) - _U1) << np.uint64(bounds[block])
    # order[d] is the arrangement of rows at depth d; each level sorts the buckets of the one above.
    order = np.empty((depth + 1, n), np.int64)
    for i in range(n):
        order[0, i] = i
    # The explicit stack: at each depth the bucket, its block and where in it the next sub-bucket begins.
    first = np.zeros(depth + 1, np.int64)
    last = np.zeros(depth + 1, np.int64)
    block_at = np.zeros(depth + 1, np.int64)
    cursor = np.zeros(depth + 1, np.int64)
    chosen = np.zeros(depth + 1, np.int64)
    widest = 0
    for block in range(r):
        widest = max(widest, bounds[block + 1] - bounds[block])
    counts = np.zeros((1 << widest) + 1, np.int64)
    queue = np.empty(n if n > dense else 0, np.int64)
    d = 0
    last[0] = n
    block_at[0] = -1
    cursor[0] = n  # forces the first block to be taken
    while d >= 0:
        if cursor[d] >= last[d]:
            # The next block of this level, if enough blocks remain below it.
            block_at[d] += 1
            block = block_at[d]
            if block > r - (depth - d):
                d -= 1
                continue
            low, mask = np.uint64(bounds[block]), masks[block]
            size = last[d] - first[d]
            if size > 64:
                values = 1 << (bounds[block + 1] - bounds[block])
                counts[: values + 1] = 0
                for i in range(first[d], last[d]):
                    counts[np.int64((fingerprints[order[d, i]] & mask) >> low) + 1] += 1
                for v in range(values):
                    counts[v + 1] += counts[v]
                for i in range(first[d], last[d]):
                    row = order[d, i]
                    v = np.int64((fingerprints[row] & mask) >> low)
                    order[d + 1, first[d] + counts[v]] = row
                    counts[v] += 1
            else:
                for i in range(first[d], last[d]):
                    row = order[d, i]
                    v = fingerprints[row] & mask
                    j = i
                    while j > first[d] and (fingerprints[order[d + 1, j - 1]] & mask) > v:
                        order[d + 1, j] = order[d + 1, j - 1]
                        j -= 1
                    order[d + 1, j] = row
            chosen[d] = block
            cursor[d] = first[d]
            continue
        # The next bucket of rows equal on the block of this level.
        begin = cursor[d]
        mask = masks[block_at[d]]
        value = fingerprints[order[d + 1, begin]] & mask
        end = begin + 1
        while end < last[d] and (fingerprints[order[d + 1, end]] & mask) == value:
            end += 1
        cursor[d] = end
        if end - begin < 2:
            continue
        if d + 1 < depth:
            d += 1
            first[d], last[d] = begin, end
            block_at[d] = block_at[d - 1]
            cursor[d] = end
            continue
        if end - begin <= dense:
            for i in range(begin, end):
                f = fingerprints[order[d + 1, i]]
                for j in range(i + 1, end):
                    x = f ^ fingerprints[order[d + 1, j]]
                    if popcount(x) > k:
                        continue
                    # Is this the first choice of blocks on which the two agree?
                    agreed, at = True, 0
                    for block in range(block_at[d] + 1):
                        if x & masks[block] == _U0:
                            if at > d or chosen[at] != block:
                                agreed = False
                                break
                            at += 1
                    if agreed:
                        if found < room:
                            row, other = order[d + 1, i], order[d + 1, j]
                            out_a[found] = min(row, other)
                            out_b[found] = max(row, other)
                        found += 1
            continue
        # A dense bucket: breadth first, each row found only once.
        free = begin
        while free < end:
            queue[0] = order[d + 1, free]
            free += 1
            head, tail = 0, 1
            while head < tail and free < end:
                row = queue[head]
                f = fingerprints[row]
                head += 1
                for j in range(free, end):
                    other = order[d + 1, j]
                    if popcount(f ^ fingerprints[other]) <= k:
                        if found < room:
                            out_a[found] = min(row, other)
                            out_b[found] = max(row, other)
                        found += 1
                        queue[tail] = other
                        tail += 1
                        order[d + 1, j] = order[d + 1, free]
                        order[d + 1, free] = other
                        free += 1
    stored = min(found, room)
    return out_a[:stored], out_b[:stored], found


@kernel()
def pairs_of_groups(starts, members, near, anchors, room):
    """Pairs of rows that share a key, near-linear in the size of a group.

    Parameters: starts i8[G+1], where each group begins in members i8[M] (rows, in an order that does not depend
    on the input's). Groups of at most `near` rows give all their pairs. In larger ones each row is paired
    with the `anchors` rows before it and with the first `anchors` of the group.

    Returns a i8[P], b i8[P] (a < b) and the number of pairs there are; call again with more room if larger.
    """
    out_a = np.empty(room, np.int64)
    out_b = np.empty(room, np.int64)
    found = 0
    for g in range(starts.shape[0] - 1):
        begin, end = starts[g], starts[g + 1]
        all_pairs = end - begin <= near
        for i in range(begin + 1, end):
            for j in range(begin, i):
                if not all_pairs and anchors <= j - begin < i - begin - anchors:
                    continue
                if found < room:
                    out_a[found] = min(members[i], members[j])
                    out_b[found] = max(members[i], members[j])
                found += 1
    stored = min(found, room)
    return out_a[:stored], out_b[:stored], found


@kernel()
def sketch_similarity(sketch, a, b):
    """Estimated Jaccard f4[P] of sketch u2[N,128] rows a i8[P] and b i8[P]: equal bins over bins not both empty.

    One-permutation hashing (Li, Owen, Zhang 2012); 0 where both are empty.
    """
    out = np.zeros(a.shape[0], np.float32)
    for p in range(a.shape[0]):
        x, y = sketch[a[p]], sketch[b[p]]
        equal, used = 0, 0
        for bin_ in range(sketch.shape[1]):
            some = (x[bin_] | y[bin_]) != 0
            used += some
            equal += some and x[bin_] == y[bin_]
        if used:
            out[p] = equal / used
    return out


@kernel()
def components(rows, a, b):
    """The smallest row i8[N] of each row's component under the edges a i8[P], b i8[P].

    Union by smaller root with path halving (Tarjan, van Leeuwen 1984), so that the label is the smallest row.
    """
    parent = np.arange(rows)
    for p in range(a.shape[0]):
        x, y = a[p], b[p]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x < y:
            parent[y] = x
        elif y < x:
            parent[x] = y
    for x in range(rows):
        parent[x] = parent[parent[x]]
    return parent
