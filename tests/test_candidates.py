"""Which pairs are proposed."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
import pytest
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st
from strategies import i64, numbers, u64

from newsdedup_cli import candidates, near
from newsdedup_cli.kernels import join
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import BAND, MINHASH, SENTENCE, URL, Fingerprints

ROW = st.tuples(
    st.integers(1, 6),  # digest
    st.sampled_from([0, 1, 3, 2**63, 2**64 - 1]),  # simhash
    st.integers(0, 12),  # words
    st.lists(st.integers(1, 5), unique=True, max_size=2),  # sentences
    st.lists(st.integers(1, 4), min_size=2, max_size=2),  # keys
    st.booleans(),  # alone
)


def table(rows) -> Fingerprints:
    """Fingerprints of made-up rows; all that follows from the text follows from the digest."""
    n = len(rows)
    by_digest = {row[0]: row for row in reversed(rows)}
    rows = [by_digest[row[0]] for row in rows]
    return Fingerprints(
        u64([[naive.mix(r[0]), r[0]] for r in rows]),
        u64([r[1] for r in rows]),
        np.array([r[2] for r in rows], np.int32),
        u64([r[3] + [0] * (2 - len(r[3])) for r in rows]),
        np.ones((n, 128), np.uint16),
        np.array([r[4] for r in rows], np.uint32),
        np.full(n, 100, np.int32),
        np.array([r[5] for r in rows], np.uint8),
    )


def pieces_of(prints: Fingerprints):
    """All sentences of each row: the longest, and a shorter one that some share."""
    rows = [
        [*(s for s in row if s), 1 + digest % 5]
        for row, digest in zip(prints.sentences.tolist(), prints.digest[:, 1].tolist(), strict=True)
    ]
    return u64([p for row in rows for p in row]), i64(np.cumsum([0, *map(len, rows)]))


tables = st.lists(ROW, min_size=1, max_size=10).map(table)


@given(tables, st.data())
def test_representatives(prints, data):
    rank = np.array(data.draw(st.permutations(range(len(prints)))))
    found = candidates.representatives(prints.digest, rank, prints.alone > 0)
    for row in range(len(prints)):
        same = [i for i in range(len(prints)) if (prints.digest[i] == prints.digest[row]).all()]
        assert found[row] == (row if prints.alone[row] else min(same, key=lambda i: rank[i]))


@given(
    st.lists(numbers, max_size=12), st.lists(st.integers(0, 63), max_size=8), st.sampled_from([0, 3, 4, 8, 12, 40, 64])
)
def test_near_fingerprints(prints, bits, k):
    prints += [prints[0] ^ 1 << bit for bit in bits] if prints else []
    rows = np.arange(len(prints))
    a, b = candidates.near_fingerprints(u64(prints), rows, k)
    edges = set(zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True))
    exact = naive.pairs_within(prints, k)
    assert edges <= exact
    firsts = {x: prints.index(x) for x in prints}
    # Equal fingerprints are represented by the first of them.
    assert edges == {(i, j) for i, j in exact if prints[i] != prints[j] and {i, j} <= set(firsts.values())} | {
        (firsts[x], i) for i, x in enumerate(prints) if firsts[x] != i
    }


@given(tables)
def test_propose(prints):
    matching = Matching(least_words=3, max_distance=2)
    n = len(prints)
    representative = candidates.representatives(prints.digest, np.arange(n), prints.alone > 0)
    url = u64([i % 3 for i in range(n)])
    pieces, piece_rows = pieces_of(prints)
    found = candidates.propose(prints, representative, u64([5]), matching, url, pieces, piece_rows)
    texts = [set(pieces[x:y].tolist()) for x, y in pairwise(piece_rows)]
    twin: dict[tuple[int, int], int] = {}
    rows = [i for i in range(n) if representative[i] == i and not prints.alone[i]]
    # A sentence anywhere in a text counts if it is among the longest of any.
    longest = {int(s) for i in rows for s in prints.sentences[i]} - {0, 5}
    # A row that is mostly common sentences is paired with all that have one of them, unless it is a form of many rows.
    of = {i: [int(s) for s in prints.sentences[i] if s] for i in rows}
    quotes = {i for i in rows if 5 in of[i] and 2 * of[i].count(5) >= len(of[i])}
    quotes = quotes if len(quotes) <= candidates.FORM_ROWS else set()
    for i in rows:
        for j in rows[rows.index(i) + 1 :]:
            sentences = texts[i] & texts[j] & longest
            sentences |= texts[i] & texts[j] & {5} if {i, j} & quotes else set()
            near = naive.distance(int(prints.simhash[i]), int(prints.simhash[j])) <= 2
            worded = min(prints.features[i], prints.features[j]) >= 3
            origin = SENTENCE * bool(sentences) | BAND * (near and worded)
            origin |= MINHASH * bool((prints.keys[i] == prints.keys[j]).any()) | URL * bool(url[i] and url[i] == url[j])
            if origin:
                twin[i, j] = origin
    got = dict(zip(zip(found.a.tolist(), found.b.tolist(), strict=True), found.origin.tolist(), strict=True))
    assert list(got) == sorted(got)
    assert set(got) <= set(twin)
    # Rows with one simhash are paired with one of them, not all with all.
    band = {
        pair for pair, origin in twin.items() if origin == BAND and prints.simhash[pair[0]] == prints.simhash[pair[1]]
    }
    far = {pair for pair, origin in twin.items() if origin == BAND} - band
    assert set(twin) - band - far <= set(got)
    for (i, j), origin in got.items():
        assert origin & ~BAND == twin[i, j] & ~BAND
    label = naive.components(n, got)
    assert label == naive.components(n, twin)
    assert found.distance.tolist() == [naive.distance(int(prints.simhash[i]), int(prints.simhash[j])) for i, j in got]
    assert found.shared_sentences.tolist() == [
        naive.shared_sentences(prints.sentences[i].tolist(), prints.sentences[j].tolist()) for i, j in got
    ]


@given(tables, st.data())
def test_the_order_of_rows_does_not_matter(prints, data):
    order = np.array(data.draw(st.permutations(range(len(prints)))))
    rank = np.arange(len(prints))
    other = Fingerprints(*(getattr(prints, name)[order] for name in prints.__dataclass_fields__))
    made = []
    for one, ranks, names in ((prints, rank, rank), (other, rank[order], order)):
        representative = candidates.representatives(one.digest, ranks, one.alone > 0)
        pairs = candidates.propose(one, representative, u64([]), Matching(least_words=3), None, *pieces_of(one))
        made.append(
            {
                (frozenset((int(names[a]), int(names[b]))), int(o))
                for a, b, o in zip(pairs.a, pairs.b, pairs.origin, strict=True)
            }
        )
    assert made[0] == made[1]


@pytest.mark.parametrize("rows", [1, 2, 300, 10**5, 10**7])
@pytest.mark.parametrize("k", [0, 3, 8, 12, 30, 63])
def test_plan_cuts_64_bits_into_enough_blocks(rows, k):
    bounds = near.plan(rows, k)
    assert bounds[0] == 0
    assert bounds[-1] == 64
    assert (np.diff(bounds) > 0).all()
    assert k < len(bounds) - 1 <= 64


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=64), st.integers(0, 70), st.integers(1, 10**7))
def test_plan_for_bits_that_tell_little(weights, k, rows):
    bits = len(weights)
    bounds = near.plan(rows, min(k, bits - 1), np.array(weights))
    assert bounds[0] == 0
    assert bounds[-1] == bits
    assert (np.diff(bounds) > 0).all()
    assert np.diff(bounds).max() <= near.WIDEST  # a block's table of counters has two to the width entries
    assert min(k, bits - 1) < len(bounds) - 1


@pytest.mark.skipif(NO_JIT, reason="minutes without JIT")
def test_what_is_plainly_crowded_gives_edges_at_once():
    rng = np.random.default_rng(2)
    crowd = np.unique(rng.integers(0, 2**15, 40_000, np.uint64))
    apart = np.unique(rng.integers(0, 2**64, 40_000, np.uint64))
    assert near._is_crowded(crowd, 3, near.PAIRS_PER_ROW * len(crowd))
    assert not near._is_crowded(apart, 3, near.PAIRS_PER_ROW * len(apart))
    a, b = near.near_pairs(crowd, 3)
    assert (np.bitwise_count(crowd[a] ^ crowd[b]) <= 3).all()
    assert len(a) == len(crowd) - 1
    assert not join.components(len(crowd), a, b).any()


def test_a_key_that_all_share_stays_linear():
    n = 400
    a, b = candidates.shared_keys(np.full((n, 1), 7, np.uint64), np.arange(n))
    assert len(a) < 2 * candidates.ANCHORS * n + candidates.NEAR**2
    assert set(naive.components(n, zip(a.tolist(), b.tolist(), strict=True))) == {0}
    a, _ = candidates.shared_keys(np.zeros((n, 1), np.uint64), np.arange(n))
    assert len(a) == 0
    assert len(candidates.shared_keys(np.zeros((0, 3), np.uint64), i64([]))[0]) == 0


def test_of_a_row_with_very_many_pairs_the_most_alike_are_read():
    n = candidates.MOST + 30
    prints = table([(i + 1, 0, 0, [], [], False) for i in range(n)])
    prints.sketch[:] = 1
    for row in range(n):
        prints.sketch[row, : row // 2] = 2 + row  # the later, the less like the first rows
    a, b = np.triu_indices(n, 1)
    pairs = candidates.with_figures(a, b, np.zeros(n, np.uint64), prints)
    keep = candidates.best_of_each(pairs, prints)
    counts = np.bincount(a[keep], minlength=n) + np.bincount(b[keep], minlength=n)
    assert keep.sum() < len(keep)
    assert counts.min() >= candidates.MOST
    assert keep[(a == 0) & (b <= candidates.MOST)].all()
    few = candidates.with_figures(a[:3], b[:3], np.zeros(n, np.uint64), prints)
    assert candidates.best_of_each(few, prints).all()
