"""Which fingerprints lie within k bits of one another: how the join is cut into blocks, and what it costs at most."""

from __future__ import annotations

from math import comb

import numpy as np

from newsdedup_cli.kernels import join
from newsdedup_cli.tables import F64, I64, U64

BITS = 64
PAIRS_PER_ROW = 8  # beyond it the join gives edges that connect the same components
FEW_PAIRS = 1 << 16  # so many are given in any case
PROBE, FAR_MORE = 4096, 16  # fingerprints that tell whether there are more than so many times the pairs
LARGE = 4096  # rows of a bucket that are joined by themselves
FEW = 256  # rows that are compared with all of a bucket
# Nanoseconds of a comparison and of moving a fingerprint into its bucket, bucket and all (a million of them, k = 8).
COMPARE, MOVE = 1.5, 28.0
SAMPLE, LEAST_WEIGHT = 1 << 15, 0.01  # fingerprints that the weights of bits are taken from, and the least of them
UNIFORM = np.ones(BITS)
WIDEST = 16  # bits of a block: its counters should stay in the cache


def plan(rows: int, k: int, weights: F64 = UNIFORM) -> I64:
    """Where the blocks of the join begin, i8[r+1]: the cheapest r for so many rows of bits with these weights f8[bits].

    A bit that is set in most fingerprints or in few tells less: blocks have the same weight, not the same width.
    """
    bits, total = len(weights), float(weights.sum())
    best, least = min(k + 5, bits), np.inf
    for r in range(max(k + 1, -(-bits // WIDEST)), min(k + 5, bits) + 1):
        depth = r - k
        compares = comb(r, depth) * rows * rows / 2 / 2 ** (total * depth / r)
        moves = sum(comb(k + level, level) for level in range(1, depth + 1)) * rows
        cost = COMPARE * compares + MOVE * moves
        if cost < least:
            best, least = r, cost
    return _bounds(weights, best)


def _bounds(weights: F64, blocks: int) -> I64:
    """Cuts i8[blocks+1] of the bits into blocks of nearly one weight, each of one bit to WIDEST."""
    before = np.concatenate([[0], np.cumsum(weights)])
    ideal = np.searchsorted((before[1:] + before[:-1]) / 2, np.linspace(0, before[-1], blocks + 1))
    cuts = np.zeros(blocks + 1, np.int64)
    for i in range(1, blocks + 1):
        after = blocks - i  # blocks that the bits behind the cut must be enough for, and not too many
        low = max(cuts[i - 1] + 1, len(weights) - after * WIDEST)
        cuts[i] = min(max(int(ideal[i]), low), cuts[i - 1] + WIDEST, len(weights) - after)
    return cuts


def weights_of(values: U64, bits: int) -> F64:
    """How much each of the low bits of values u8[N] tells: minus log2 of how often it is the same in two of them."""
    some = values[:: max(1, len(values) // SAMPLE)]
    share = np.array([(some >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(bits)])
    weights: F64 = np.maximum(-np.log2(share**2 + (1 - share) ** 2), LEAST_WEIGHT)
    return weights


def near_pairs(distinct: U64, k: int) -> tuple[I64, I64]:
    """Positions of the pairs within k bits among distinct fingerprints u8[N], a < b.

    All of them, or, where there are more than PAIRS_PER_ROW a row, edges that connect the same components: the
    memory is bounded, and what is crowded costs no more than what is not.
    """
    n = len(distinct)
    if n < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    varying = np.bitwise_or.reduce(distinct ^ distinct[0])
    bits = int(np.bitwise_count(varying))
    if k >= bits:
        return _every_pair(n)
    values = distinct if bits == BITS else join.squeezed(distinct, varying)
    room = max(PAIRS_PER_ROW * n, FEW_PAIRS)
    if _is_crowded(values, k, room):
        return _edges(values, k, bits)
    bounds = plan(n, k, weights_of(values, bits))
    a, b, found, _, _ = join.pairs_within(values, k, bounds, len(bounds) - 1 - k, room, False, 0)
    return (a, b) if found <= room else _edges(values, k, bits)


def _is_crowded(values: U64, k: int, room: int) -> bool:
    """Whether by some of the values there are far more pairs within k bits than `room`, so that to begin is a waste."""
    n = len(values)
    if n < 4 * PROBE:
        return False
    some = values[np.random.default_rng(0).integers(0, n, PROBE)]
    near = int(join.all_distances(some, 0, PROBE)[: k + 1].sum())
    return near * (n / PROBE) ** 2 > FAR_MORE * room


def _edges(values: U64, k: int, bits: int) -> tuple[I64, I64]:
    """Edges that connect what is within k bits among distinct values u8[N] of so many bits.

    Where very many agree in a bucket's bits, they are joined by themselves, on the bits in which they differ.
    """
    bounds = plan(len(values), k, weights_of(values, bits))
    a, b, _, rows, starts = join.pairs_within(values, k, bounds, len(bounds) - 1 - k, 0, True, LARGE)
    label = join.components(len(values), a, b)
    for group in np.argsort(-np.diff(starts), kind="stable"):
        members = rows[starts[group] : starts[group + 1]]
        known, size = np.unique(label[members], return_counts=True)
        if len(known) == 1:
            continue
        rest = np.flatnonzero(label[members] != known[size.argmax()])
        if len(rest) <= FEW:
            x, y = _edges_of(rest, values[members], label[members], k)
        else:
            x, y = _edges_among(values[members], k, bits)
        a, b = np.append(a, np.minimum(members[x], members[y])), np.append(b, np.maximum(members[x], members[y]))
        label = join.components(len(values), a, b)
    return a, b


def _edges_of(some: I64, values: U64, label: I64, k: int) -> tuple[I64, I64]:
    """Edges from `some` positions to each component (label i8[N]) that is within k bits of them."""
    found = [(at, np.flatnonzero(np.bitwise_count(values ^ values[at]) <= k)) for at in some.tolist()]
    single = [(at, near[np.unique(label[near], return_index=True)[1]]) for at, near in found]
    x = np.concatenate([np.full(len(near), at) for at, near in single])
    y = np.concatenate([near for _, near in single])
    apart = label[x] != label[y]
    return x[apart], y[apart]


def _edges_among(values: U64, k: int, bits: int) -> tuple[I64, I64]:
    varying = np.bitwise_or.reduce(values ^ values[0])
    fewer = int(np.bitwise_count(varying))
    if k >= fewer:
        return _every_pair(len(values))
    if fewer < bits:
        return _edges(join.squeezed(values, varying), k, fewer)
    bounds = plan(len(values), k, weights_of(values, bits))
    a, b, _, _, _ = join.pairs_within(values, k, bounds, len(bounds) - 1 - k, 0, True, 0)
    return a, b


def _every_pair(n: int) -> tuple[I64, I64]:
    """All pairs of n where they are few, else each with the first."""
    if n * (n - 1) // 2 <= max(PAIRS_PER_ROW * n, FEW_PAIRS):
        every: tuple[I64, I64] = np.triu_indices(n, 1)
        return every
    return np.zeros(n - 1, np.int64), np.arange(1, n)
