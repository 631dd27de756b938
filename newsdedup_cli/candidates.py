"""Fingerprints -> pairs of rows that may be copies: equal digest, shared sentences, near simhash, min-hash keys.

All is done on one representative of each digest, in an order of content, so that neither the order of rows nor
the threads can matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from newsdedup_cli import recurring
from newsdedup_cli.kernels import join, keys, leaders, overlap
from newsdedup_cli.near import near_pairs
from newsdedup_cli.settings import Matching
from newsdedup_cli.spill import PAIRS, over_pairs, ragged_rows, release, rows_of
from newsdedup_cli.tables import BAND, EXACT, I64, MINHASH, SENTENCE, U8, U64, UNKNOWN, URL, Bools, Fingerprints, Pairs

NEAR = 24  # rows of a group that all are paired with one another
ANCHORS = 2  # in larger groups: with how many at its head and just before
# Jaccard by the sketch that two rows of one min-hash key must have: in English texts that have nothing in common but
# `ofthe` and the like share keys.
LEAST_ALIKE = 0.08
MOST = 12  # pairs of a row that are read, of those whose other row has as many
FORM_ROWS = 4  # rows that are mostly common sentences with one of them: it is of a form
AT_ONCE = 1 << 20  # pairs of shared keys whose sketches are compared at a time
QUOTES = 128  # rows with such a sentence that are proposed


@dataclass
class Order:
    """Where what is proposed depends on time or on the order of rows."""

    date: I64  # [N] microseconds, UNKNOWN where there is none
    past: int = 0  # of the rows at the head no two are paired: they were before
    window: int = 0  # microseconds between two rows beyond which they are no pair; 0 for none
    by_rows: bool = False  # a pair depends on the rows before it only

    @property
    def plain(self) -> bool:
        """Whether neither matters."""
        return not (self.window or self.by_rows)

    def arranged(self, rows: I64, digest: U64) -> I64:
        """The rows as they come: by row, by time, or in an order of content."""
        if self.by_rows:
            return rows
        time = self.date[rows] if self.window else np.zeros(len(rows), np.int64)
        found: I64 = rows[np.lexsort((digest[rows, 1], digest[rows, 0], time))]
        return found

    def pairs(self, starts: I64, members: I64) -> tuple[I64, I64]:
        """Pairs of each group starts i8[G+1] of members i8[M], near-linear in its size."""
        if self.plain:
            return _pairs_of_groups(starts, members)
        fresh = np.ones(len(self.date), np.uint8)
        fresh[: self.past] = 0
        room = 4 * len(members) + 1024
        while True:
            a, b, found = leaders.pairs_in_order(starts, members, self.date, self.window, fresh, NEAR, ANCHORS, room)
            if found <= room:
                return a.copy(), b.copy()  # not views of the room
            room = found

    def allowed(self, pairs: Pairs) -> Pairs:
        """The pairs that are neither both of the past nor too far apart in time."""
        return _chosen(pairs, (pairs.b >= self.past) & ~self.too_far(pairs.a, pairs.b))

    def too_far(self, a: I64, b: I64) -> Bools:
        """Which pairs of rows are further apart in time than the window; none where a date is not known."""
        if self.window == 0:
            return np.zeros(len(a), bool)
        x, y = self.date[a], self.date[b]
        known = (x != UNKNOWN) & (y != UNKNOWN)
        far: Bools = known & (np.abs(np.where(known, x, 0) - np.where(known, y, 0)) > self.window)
        return far


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


def near_fingerprints(fingerprints: U64, rows: I64, k: int, order: Order | None = None) -> tuple[I64, I64]:
    """All pairs of `rows` whose simhash differs in at most k bits; equal ones are paired with the first of them.

    fingerprints u8[N] by position, rows i8[R] in an order of content. With a window the first of them may be too far
    away in time: there the rows of two near fingerprints are a group.
    """
    if len(rows) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    distinct, first, inverse = np.unique(fingerprints[rows], return_index=True, return_inverse=True)
    if order is not None and order.window:
        return order.pairs(*_near_groups(inverse, rows, *near_pairs(distinct, k)))
    stars = first[inverse]
    equal = stars != np.arange(len(rows))
    a, b = near_pairs(distinct, k)
    return np.concatenate([rows[first[a]], rows[equal]]), np.concatenate([rows[first[b]], rows[stars[equal]]])


def _near_groups(distinct: I64, rows: I64, a: I64, b: I64) -> tuple[I64, I64]:
    """Groups starts i8[G+1], members i8[M] of rows i8[R], each in their order: the rows of each fingerprint (its number
    distinct i8[R]), and of each two fingerprints a i8[P], b i8[P]."""
    by_value = np.argsort(distinct, kind="stable")
    bounds = np.searchsorted(distinct[by_value], np.arange(distinct.max() + 2))
    size = np.diff(bounds)
    single = np.flatnonzero(size > 1)
    first, second = np.concatenate([single, a]), np.concatenate([single, b])
    twice = np.where(first == second, 0, size[second])
    members = [
        bounds[one] + np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        for one, sizes, total in (
            (np.repeat(first, size[first]), size[first], int(size[first].sum())),
            (np.repeat(second, twice), twice, int(twice.sum())),
        )
    ]
    group = np.concatenate([np.repeat(np.arange(len(first)), size[first]), np.repeat(np.arange(len(first)), twice)])
    place = by_value[np.concatenate(members)]
    order = np.lexsort((place, group))
    starts = np.concatenate([[0], np.cumsum(size[first] + twice)]).astype(np.int64)
    return starts, rows[place[order]]


def shared_keys(values: Any, rows: I64, order: Order | None = None) -> tuple[I64, I64]:
    """Pairs of `rows` i8[R] (in an order of content) that share a key: values u8[R,K] or u4[R,K], 0 for none."""
    groups = _groups(values, rows)
    return _pairs_of_groups(*groups) if order is None else order.pairs(*groups)


def shared_sentences(
    sentences: U64, rows: I64, common: U64, pieces: U64, piece_rows: I64, order: Order | None = None
) -> tuple[I64, I64]:
    """Pairs of `rows` of which one has a longest sentence of the other anywhere in its text.

    sentences u8[R,S] of the rows i8[R]; pieces u8[M] all sentences by row, offsets piece_rows i8[N+1]. An
    excerpt's longest sentences are seldom among the five longest of the article that it is from.
    """
    place_of = np.full(len(piece_rows) - 1, -1)
    place_of[rows] = np.arange(len(rows))
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for starts, places in recurring.shared(_without(sentences.reshape(-1), common), pieces, piece_rows, place_of):
        groups = starts, rows[places]
        found.append(_pairs_of_groups(*groups) if order is None else order.pairs(*groups))
    a, b = map(np.concatenate, zip(*found, strict=True))
    if order is not None and order.by_rows:
        # A sentence that is longest in a later row must not bring earlier ones together.
        whole = np.zeros((len(piece_rows) - 1, sentences.shape[1]), np.uint64)
        whole[rows] = np.where(np.isin(sentences, common), np.uint64(0), sentences)
        own_pair = has_longest(whole, pieces, piece_rows, a, b)
        a, b = a[own_pair], b[own_pair]
    return a, b


def _without(sentences: U64, common: U64) -> U64:
    found: U64 = sentences[~keys.among(sentences, common)]
    return found


def has_longest(sentences: U64, pieces: U64, piece_rows: I64, a: I64, b: I64) -> Bools:
    """kernels.leaders.has_longest, some pairs at a time."""
    found = [np.zeros(0, np.uint8)]
    for begin in range(0, len(a), PAIRS):
        x, y = a[begin : begin + PAIRS], b[begin : begin + PAIRS]
        some, place = np.unique(np.concatenate([x, y]), return_inverse=True)
        parts = ragged_rows(pieces, piece_rows, some)
        found.append(leaders.has_longest(sentences[some], *parts, place[: len(x)], place[len(x) :]))
    return np.concatenate(found).astype(bool)


def quoted(sentences: U64, rows: I64, common: U64, pieces: U64, piece_rows: I64) -> tuple[I64, I64]:
    """Pairs of rows of which one is mostly sentences that many have, and the other has one of them.

    A notice that every paper quotes is found only so: its sentences are `common` and propose no pair. A sentence
    that many such rows have is of a form, and proposes none. Arguments as in `shared_sentences`.
    """
    is_common = keys.among(sentences.reshape(-1), common).reshape(sentences.shape)
    mostly = 2 * is_common.sum(axis=1) >= np.maximum((sentences != 0).sum(axis=1), 1)
    whole, column = np.nonzero(is_common & mostly[:, None])
    chosen, number, count = np.unique(sentences[whole, column], return_inverse=True, return_counts=True)
    few = count <= FORM_ROWS
    whole, number = whole[few[number]], (np.cumsum(few) - 1)[number[few[number]]]
    chosen = chosen[few]
    if len(chosen) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    place_of = np.full(len(piece_rows) - 1, -1)
    place_of[rows] = np.arange(len(rows))
    which, members = recurring.standing(chosen, pieces, piece_rows, place_of >= 0)
    members = place_of[members]
    order = np.lexsort((members, which))
    bounds = np.searchsorted(which[order], np.arange(len(chosen) + 1))
    members = members[order]
    size = np.minimum(np.diff(bounds), QUOTES)[number]
    step = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return rows[np.repeat(whole, size)], rows[members[np.repeat(bounds[number], size) + step]]


def _groups(keyed: Any, rows: I64) -> tuple[I64, I64]:
    flat = keyed.reshape(-1)
    members = np.repeat(rows, keyed.shape[1])
    if flat.dtype == np.uint32:
        # Key and place as one number: numpy sorts those several times as fast as it finds an order.
        packed = np.sort(flat.astype(np.uint64) << np.uint64(32) | np.arange(len(flat), dtype=np.uint64))
        values, order = packed >> np.uint64(32), (packed & np.uint64(0xFFFFFFFF)).astype(np.int64)
    else:
        order = np.argsort(flat, kind="stable")
        values = flat[order]
    first = np.searchsorted(values, 1)  # 0 is no key
    values, order = values[first:], order[first:]
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
            return a.copy(), b.copy()  # not views of the room
        room = found


def propose(
    fingerprints: Fingerprints,
    representative: I64,
    common: U64,
    matching: Matching,
    url_keys: U64 | None,
    pieces: U64,
    piece_rows: I64,
    order: Order | None = None,
) -> Pairs:
    """The pairs of representatives that any source of candidates proposes, sorted and distinct.

    `common` u8[K] are sentences that propose nothing; url_keys u8[N] (0: none); pieces u8[M] all sentences and
    lines by row, offsets piece_rows i8[N+1]. With a window every row stands for itself, and rows of one digest are
    pairs too.
    """
    order = order or Order(np.full(len(fingerprints), UNKNOWN))
    rows = np.flatnonzero((representative == np.arange(len(fingerprints))) & (fingerprints.alone == 0))
    rows = order.arranged(rows, fingerprints.digest)
    found: list[tuple[I64, I64, int]] = []
    longest = rows_of(fingerprints.sentences, rows)
    found.append((*shared_sentences(longest, rows, common, pieces, piece_rows, order), SENTENCE))
    if not order.by_rows:
        found.append((*quoted(longest, rows, common, pieces, piece_rows), SENTENCE))
    del longest
    worded = rows[fingerprints.features[rows] >= matching.least_words]
    found.append((*near_fingerprints(fingerprints.simhash, worded, matching.max_distance, order), BAND))
    if matching.minhash:
        found += [(*pair, MINHASH) for pair in _by_minhash(fingerprints, rows, order)]
    if url_keys is not None:
        found.append((*shared_keys(url_keys[rows][:, None], rows, order), URL))
    if order.window:
        number = np.unique(fingerprints.digest[rows], axis=0, return_inverse=True)[1].astype(np.uint64)
        found.append((*shared_keys(number.reshape(-1, 1) + np.uint64(1), rows, order), EXACT))
    return order.allowed(_merge(found, fingerprints))


def _by_minhash(fingerprints: Fingerprints, rows: I64, order: Order) -> Iterator[tuple[I64, I64]]:
    """Pairs that share a look-up key and are somewhat alike by their sketches; once, but for what many keys give."""
    n = len(fingerprints)
    waiting: list[I64] = []
    columns = fingerprints.keys.shape[1]
    for column in range(columns):
        a, b = shared_keys(fingerprints.keys[rows, column : column + 1], rows, order)
        release()
        waiting.append(np.minimum(a, b) * n + np.maximum(a, b))
        if sum(map(len, waiting)) >= AT_ONCE or column == columns - 1:
            pairs = recurring.distinct(np.concatenate(waiting))
            a, b = pairs // n, pairs % n
            alike = over_pairs(join.sketch_similarity, fingerprints.sketch, a, b) >= LEAST_ALIKE
            yield a[alike], b[alike]
            waiting = []


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


def to_read(pairs: Pairs, worth: Bools, fingerprints: Fingerprints, order: Order) -> Pairs:
    """The pairs whose texts are read: those that are worth it, of a row with very many the best."""
    some = _chosen(pairs, worth)
    # Where a pair may depend on the rows before it only, no later row may push it out.
    return _chosen(some, best_of_each(some, fingerprints)) if order.plain and not order.past else some


def best_of_each(pairs: Pairs, fingerprints: Fingerprints) -> Bools:
    """Which pairs are among the MOST most alike of either of their rows, by the sketch.

    In a form that is filled in every day each row is proposed with dozens; what is the same is known by few.
    """
    n = len(fingerprints)
    degree = np.bincount(pairs.a, minlength=n) + np.bincount(pairs.b, minlength=n)
    keep: Bools = (degree[pairs.a] <= MOST) | (degree[pairs.b] <= MOST)
    dense = np.flatnonzero(~keep)
    if len(dense) == 0:
        return keep
    a, b = pairs.a[dense], pairs.b[dense]
    alike = np.tile(-over_pairs(join.sketch_similarity, fingerprints.sketch, a, b), 2)
    row, other = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.lexsort((fingerprints.digest[other, 1], fingerprints.digest[other, 0], alike, row))
    ordered = row[order]
    first = np.searchsorted(ordered, ordered)
    best = order[np.arange(len(order)) - first < MOST] % len(dense)
    keep[dense[best]] = True
    return keep


def _chosen(pairs: Pairs, some: Bools) -> Pairs:
    return Pairs(*(getattr(pairs, f.name)[some] for f in fields(Pairs)))


def with_more(pairs: Pairs, a: I64, b: I64, url: U64, fingerprints: Fingerprints) -> Pairs:
    """The pairs and others a, b that are not among them, sorted."""
    if len(a) == 0:
        return pairs
    more = with_figures(a, b, url, fingerprints)
    both = Pairs(*(np.concatenate([getattr(pairs, f.name), getattr(more, f.name)]) for f in fields(Pairs)))
    order = np.lexsort((both.b, both.a))
    return Pairs(*(getattr(both, f.name)[order] for f in fields(Pairs)))


def _figures(a: I64, b: I64, origin: U8, fingerprints: Fingerprints) -> Pairs:
    return Pairs(
        a,
        b,
        origin,
        join.distances(fingerprints.simhash, a, b),
        overlap.shared_sentences(fingerprints.sentences, a, b),
    )
