"""Exact join of 64-bit fingerprints within a Hamming distance, and pairs of rows that share a key.

The join is the block permutation of Manku, Jain, Das Sarma (WWW 2007), nested: with the 64 bits cut into r
blocks, any two fingerprints within k bits agree on at least r - k of them, so it is enough to compare inside
the buckets of every choice of r - k blocks. Buckets of one block are sorted by the next inside the bucket,
where they lie in the cache. A pair is given at the first choice on which it agrees, so exactly once.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.bits import popcount
from newsdedup_cli.kernels.jit import kernel

_U0 = np.uint64(0)
_U1 = np.uint64(1)


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
def squeezed(fingerprints, varying):
    """Fingerprints u8[N] without the bits that are not in `varying`, the others moved together: u8[N].

    Bits in which no two differ tell nothing, and blocks of them make buckets of everything.
    """
    out = np.zeros(fingerprints.shape[0], np.uint64)
    to = _U0
    for bit in range(64):
        if varying >> np.uint64(bit) & _U1:
            for i in range(fingerprints.shape[0]):
                out[i] |= (fingerprints[i] >> np.uint64(bit) & _U1) << to
            to += _U1
    return out


@kernel()
def _by_block(values, rows, to_values, to_rows, first, last, low, mask, counts):
    """Sort values and rows first..last by a block of bits into the next level: by counting, or by insertion if few."""
    if last - first > 64:
        size = np.int64(mask >> low) + 1
        counts[: size + 1] = 0
        for i in range(first, last):
            counts[np.int64((values[i] & mask) >> low) + 1] += 1
        for v in range(size):
            counts[v + 1] += counts[v]
        for i in range(first, last):
            v = np.int64((values[i] & mask) >> low)
            at = first + counts[v]
            to_values[at] = values[i]
            to_rows[at] = rows[i]
            counts[v] += 1
        return
    for i in range(first, last):
        value = values[i]
        j = i
        while j > first and (to_values[j - 1] & mask) > (value & mask):
            to_values[j] = to_values[j - 1]
            to_rows[j] = to_rows[j - 1]
            j -= 1
        to_values[j] = value
        to_rows[j] = rows[i]


@kernel()
def _first_agreed(x, masks, block, chosen, d):
    """Whether the blocks chosen at depths 0..d are the first on which two rows that differ in the bits x agree."""
    at = 0
    for i in range(block + 1):
        if x & masks[i] == _U0:
            if at > d or chosen[at] != i:
                return False
            at += 1
    return True


@kernel()
def _compare(values, rows, begin, end, k, masks, block, chosen, d, out_a, out_b, found):
    """All pairs of a bucket; how many are found with them. The inner loop has no branch, so that it is vectorized."""
    for i in range(begin, end - 1):
        value = values[i]
        hits = 0
        for j in range(i + 1, end):
            hits += popcount(value ^ values[j]) <= k
        if hits == 0:
            continue
        for j in range(i + 1, end):
            x = value ^ values[j]
            if popcount(x) <= k and _first_agreed(x, masks, block, chosen, d):
                if found < out_a.shape[0]:
                    out_a[found] = min(rows[i], rows[j])
                    out_b[found] = max(rows[i], rows[j])
                found += 1
        if found > out_a.shape[0]:
            break
    return found


@kernel()
def _root(parent, x):
    """The root of x, with path halving."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel()
def _connected(parent, rows, begin, end):
    """Whether the rows of a bucket are of one component already."""
    root = _root(parent, rows[begin])
    for i in range(begin + 1, end):
        if _root(parent, rows[i]) != root:
            return False
    return True


@kernel()
def _connect(values, rows, begin, end, k, parent, queue, out_a, out_b, found):
    """Edges that connect what is near in a bucket and is not connected yet; how many are found with them.

    Breadth first: what is found is taken out of the bucket, so that near equals drain in one sweep. `values` and
    `rows` of the bucket are rearranged.
    """
    if _connected(parent, rows, begin, end):
        return found
    free = begin
    while free < end:
        queue[0] = free
        free += 1
        head, tail = 0, 1
        while head < tail and free < end:
            value, row = values[queue[head]], rows[queue[head]]
            head += 1
            for j in range(free, end):
                if popcount(value ^ values[j]) > k:
                    continue
                values[j], values[free] = values[free], values[j]
                rows[j], rows[free] = rows[free], rows[j]
                queue[tail] = free
                tail += 1
                x, y = _root(parent, row), _root(parent, rows[free])
                if x != y:
                    parent[max(x, y)] = min(x, y)
                    out_a[found] = min(row, rows[free])
                    out_b[found] = max(row, rows[free])
                    found += 1
                free += 1
    return found


@kernel()
def _set_hash(rows, begin, end):
    """A hash of the rows of a bucket, whatever their order."""
    total = _U0
    for i in range(begin, end):
        x = (np.uint64(rows[i]) + _U1) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        total += x * np.uint64(0xFF51AFD7ED558CCD)
    return total


@kernel()
def pairs_within(fingerprints, k, bounds, depth, room, connect, large):
    """All pairs of distinct fingerprints within k bits, or edges that connect the same components.

    Parameters: fingerprints u8[N], distinct; k; `bounds` i8[r+1], where the r blocks of bits begin (bounds[0] = 0,
    all set bits below bounds[r]); depth = r - k, how many blocks a bucket agrees on; `room`, how many pairs fit
    (no more than room + 1 are looked for: beyond, call again with more, or with `connect`); `connect`: no pairs
    but the edges of a spanning forest of them, N - 1 at most. Then a bucket costs what its sweeps cost, and one
    that is connected already nothing: the number of pairs, which may be a square, does not matter. Buckets of
    more than `large` rows (0: none) are then not looked into but given back, each once: in most of their bits no
    two of their rows differ, so they want other blocks.

    Returns a i8[P], b i8[P] (a < b, positions), the number of pairs found, and of the large buckets the rows
    i8[L] and where each begins i8[G+1].
    """
    n = fingerprints.shape[0]
    r = bounds.shape[0] - 1
    out_a = np.empty(n if connect else room, np.int64)
    out_b = np.empty(n if connect else room, np.int64)
    parent = np.arange(n if connect else 0)
    queue = np.empty(n if connect else 0, np.int64)
    large_rows = np.empty(4 * n if connect and large else 0, np.int64)
    large_starts = np.zeros(len(large_rows) // (large + 1) + 1, np.int64)
    seen = np.zeros(len(large_starts), np.uint64)
    groups = 0
    found = 0
    masks = np.empty(r, np.uint64)
    widest = 0
    for block in range(r):
        width = bounds[block + 1] - bounds[block]
        masks[block] = ((_U1 << np.uint64(width)) - _U1) << np.uint64(bounds[block])
        widest = max(widest, width)
    counts = np.zeros((1 << widest) + 2, np.int64)
    # Each level sorts the buckets of the one above; values beside rows, so that a bucket is read in order.
    values = np.empty((depth + 1, n), np.uint64)
    rows = np.empty((depth + 1, n), np.int64)
    for i in range(n):
        values[0, i] = fingerprints[i]
        rows[0, i] = i
    # The explicit stack: at each depth the bucket, its block and where in it the next sub-bucket begins.
    first = np.zeros(depth + 1, np.int64)
    last = np.zeros(depth + 1, np.int64)
    block_at = np.zeros(depth + 1, np.int64)
    cursor = np.zeros(depth + 1, np.int64)
    chosen = np.zeros(depth + 1, np.int64)
    d = 0
    last[0] = n
    block_at[0] = -1
    cursor[0] = n  # forces the first block to be taken
    while d >= 0 and (connect or found <= room):
        if cursor[d] >= last[d]:
            # The next block of this level, if enough blocks remain below it.
            block_at[d] += 1
            block = block_at[d]
            if block > r - (depth - d):
                d -= 1
                continue
            low = np.uint64(bounds[block])
            _by_block(values[d], rows[d], values[d + 1], rows[d + 1], first[d], last[d], low, masks[block], counts)
            chosen[d] = block
            cursor[d] = first[d]
            continue
        # The next bucket of rows equal on the block of this level.
        level, begin, mask = values[d + 1], cursor[d], masks[block_at[d]]
        value = level[begin] & mask
        end = begin + 1
        while end < last[d] and (level[end] & mask) == value:
            end += 1
        cursor[d] = end
        if end - begin < 2:
            continue
        if d + 1 < depth:
            d += 1
            first[d], last[d] = begin, end
            block_at[d] = block_at[d - 1]
            cursor[d] = end
        elif connect and large and large < end - begin <= len(large_rows) - large_starts[groups]:
            if not _connected(parent, rows[d + 1], begin, end):
                known = _set_hash(rows[d + 1], begin, end)
                if not (seen[:groups] == known).any():
                    seen[groups] = known
                    start = large_starts[groups]
                    for i in range(begin, end):
                        large_rows[start + i - begin] = rows[d + 1, i]
                    groups += 1
                    large_starts[groups] = start + end - begin
        elif connect:
            found = _connect(level, rows[d + 1], begin, end, k, parent, queue, out_a, out_b, found)
        else:
            found = _compare(level, rows[d + 1], begin, end, k, masks, block_at[d], chosen, d, out_a, out_b, found)
    stored = min(found, out_a.shape[0])
    starts = large_starts[: groups + 1]
    return out_a[:stored], out_b[:stored], found, large_rows[: starts[groups]], starts


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
