"""Fingerprints -> pairs of rows that may be copies: equal digest, shared sentences, near simhash, min-hash keys.

All is done on one representative of each digest, in an order of content, so that neither the order of rows nor
the threads can matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from newsdedup_cli.kernels import compare, join
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import BAND, I64, MINHASH, SENTENCE, U8, U64, URL, Bools, Fingerprints, Pairs

NEAR = 24  # rows of a group that all are paired with one another
ANCHORS = 4  # in larger groups: with how many at its head and just before
DENSE = 512  # rows in a bucket of the join that all are compared for pairs
PAIRS_PER_ROW = 48  # beyond it the join gives edges that connect the same components
BITS = 64


def representatives(digest: U64, rank: I64, alone: Bools) -> I64:
    """For each row the one of its digest u8[N,2] with the least rank i8[N]; a row `alone` stands for itself."""
    rows = np.arange(len(digest))
    order = np.lexsort((rank, digest[:, 1], digest[:, 0]))
    ordered = digest[order]
    new = np.ones(len(order), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = order[np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    result = np.empty(len(digest), np.int64)
    result[order] = first
    return np.where(alone, rows, result)


def plan(rows: int, k: int) -> I64:
    """Where the blocks of the join begin, i8[r+1]: the cheapest r for so many rows at distance k."""
    from math import comb

    best, best_cost = 0, np.inf
    for r in range(max(k + 1, 4), min(k + 5, BITS) + 1):
        depth = r - k
        bucket_bits = BITS * depth / r
        choices = comb(r, depth)
        compares = choices * rows * rows / 2 / 2**bucket_bits
        moves = sum(comb(k + level, level) for level in range(1, depth + 1)) * rows
        cost = 1.0 * compares + 6.0 * moves
        if cost < best_cost:
            best, best_cost = r, cost
    return np.round(np.linspace(0, BITS, best + 1)).astype(np.int64)


def near_fingerprints(fingerprints: U64, rows: I64, k: int) -> tuple[I64, I64]:
    """All pairs of `rows` whose simhash differs in at most k bits; equal ones are paired with the first of them.

    fingerprints u8[N] by position, rows i8[R] in an order of content.
    """
    if len(rows) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    distinct, first, inverse = np.unique(fingerprints[rows], return_index=True, return_inverse=True)
    stars = first[inverse]
    equal = stars != np.arange(len(rows))
    a, b = _joined(distinct, k)
    return np.concatenate([rows[first[a]], rows[equal]]), np.concatenate([rows[first[b]], rows[stars[equal]]])


def _joined(distinct: U64, k: int) -> tuple[I64, I64]:
    """Positions of the pairs within k bits among distinct fingerprints, ascending."""
    if k >= BITS:
        every: tuple[I64, I64] = np.triu_indices(len(distinct), 1)
        return every
    bounds = plan(len(distinct), k)
    room = 4 * len(distinct) + 1024
    dense = DENSE
    while True:
        a, b, found = join.pairs_within(distinct, k, bounds, len(bounds) - 1 - k, dense, room)
        if found <= room:
            break
        if found > PAIRS_PER_ROW * len(distinct) and dense > 2:
            dense //= 16
        else:
            room = found
    return a, b


def shared_keys(keys: Any, rows: I64) -> tuple[I64, I64]:
    """Pairs of `rows` i8[R] (in an order of content) that share a key: keys u8[R,K] or u4[R,K], 0 for none."""
    return _pairs_of_groups(*_groups(keys, rows))


def shared_sentences(sentences: U64, rows: I64, common: U64, pieces: U64, piece_rows: I64) -> tuple[I64, I64]:
    """Pairs of `rows` of which one has a longest sentence of the other anywhere in its text.

    sentences u8[R,S] of the rows i8[R]; pieces u8[M] all sentences by row, offsets piece_rows i8[N+1]. An
    excerpt's longest sentences are seldom among the five longest of the article that it is from.
    """
    keys = np.setdiff1d(np.unique(sentences), np.append(common, np.uint64(0)))
    place = np.searchsorted(keys, pieces)
    place[place == len(keys)] = 0
    at = np.flatnonzero(keys[place] == pieces) if len(keys) else np.zeros(0, np.int64)
    order = np.full(len(piece_rows) - 1, -1)
    order[rows] = np.arange(len(rows))
    members = order[np.searchsorted(piece_rows, at, side="right") - 1]
    at, members = at[members >= 0], members[members >= 0]
    arranged = np.argsort(members, kind="stable")
    return shared_keys(pieces[at[arranged]][:, None], rows[members[arranged]])


def _groups(keys: Any, rows: I64) -> tuple[I64, I64]:
    flat = keys.reshape(-1)
    members = np.repeat(rows, keys.shape[1])
    order = np.argsort(flat, kind="stable")
    order = order[np.searchsorted(flat[order], 1) :]  # 0 is no key
    values = flat[order]
    new = np.ones(len(order), bool)
    new[1:] = values[1:] != values[:-1]
    starts = np.append(np.flatnonzero(new), len(order)).astype(np.int64)
    shared = np.repeat(np.diff(starts) > 1, np.diff(starts))
    sizes = np.diff(starts)
    return np.concatenate([[0], np.cumsum(sizes[sizes > 1])]).astype(np.int64), members[order][shared]


def _pairs_of_groups(starts: I64, members: I64) -> tuple[I64, I64]:
    room = 4 * len(members) + 1024
    while True:
        a, b, found = join.pairs_of_groups(starts, members, NEAR, ANCHORS, room)
        if found <= room:
            return a, b
        room = found


def propose(
    fingerprints: Fingerprints,
    representative: I64,
    common: U64,
    matching: Matching,
    url_keys: U64 | None,
    pieces: U64,
    piece_rows: I64,
) -> Pairs:
    """The pairs of representatives that any source of candidates proposes, sorted and distinct.

    `common` u8[K] are sentences that propose nothing; url_keys u8[N] (0: none); pieces u8[M] all sentences and
    lines by row, offsets piece_rows i8[N+1].
    """
    rows = np.flatnonzero((representative == np.arange(len(fingerprints))) & (fingerprints.alone == 0))
    rows = rows[np.lexsort((fingerprints.digest[rows, 1], fingerprints.digest[rows, 0]))]
    found: list[tuple[I64, I64, int]] = []
    found.append((*shared_sentences(fingerprints.sentences[rows], rows, common, pieces, piece_rows), SENTENCE))
    worded = rows[fingerprints.features[rows] >= matching.least_words]
    found.append((*near_fingerprints(fingerprints.simhash, worded, matching.max_distance), BAND))
    if matching.minhash:
        for column in range(fingerprints.keys.shape[1]):
            keys = fingerprints.keys[rows, column : column + 1]
            found.append((*shared_keys(keys, rows), MINHASH))
    if url_keys is not None:
        found.append((*shared_keys(url_keys[rows][:, None], rows), URL))
    return _merge(found, fingerprints)


def _merge(found: list[tuple[I64, I64, int]], fingerprints: Fingerprints) -> Pairs:
    a = np.concatenate([np.minimum(x, y) for x, y, _ in found])
    b = np.concatenate([np.maximum(x, y) for x, y, _ in found])
    origin = np.concatenate([np.full(len(x), kind, np.uint8) for x, _, kind in found])
    apart = a != b
    a, b, origin = a[apart], b[apart], origin[apart]
    order = np.argsort(a * np.int64(len(fingerprints)) + b, kind="stable")
    a, b, origin = a[order], b[order], origin[order]
    new = np.ones(len(a), bool)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    starts = np.flatnonzero(new)
    merged: U8 = np.bitwise_or.reduceat(origin, starts) if len(starts) else origin
    return _figures(a[starts], b[starts], merged, fingerprints)


def with_figures(a: I64, b: I64, url: U64, fingerprints: Fingerprints) -> Pairs:
    """The pairs a, b with their distances and shared sentences; url u8[N] tells which are versions of one page."""
    one_url = (url[a] != 0) & (url[a] == url[b])
    return _figures(a, b, np.where(one_url, np.uint8(URL), np.uint8(0)), fingerprints)


def _figures(a: I64, b: I64, origin: U8, fingerprints: Fingerprints) -> Pairs:
    return Pairs(
        a,
        b,
        origin,
        join.distances(fingerprints.simhash, a, b),
        compare.shared_sentences(fingerprints.sentences, a, b),
    )
