"""Pairs in order, rows that follow the first of their kind, and look-ups, against their plain twins."""

from __future__ import annotations

from itertools import chain

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import i64, numbers, u64

from newsdedup_cli.follow import Before, Families, follow
from newsdedup_cli.index.seek import HashSet, Near
from newsdedup_cli.kernels import leaders
from newsdedup_cli.tables import APART, NEAR, SAME, UNKNOWN, Verified

VERDICT = {"same": SAME, "apart": APART, "near": NEAR, "": 0}
few = st.integers(0, 9)


def flat(lists):
    return list(chain.from_iterable(lists))


@st.composite
def groups(draw):
    """Groups of rows in order, and their dates."""
    rows = draw(st.integers(2, 14))
    row = st.integers(0, rows - 1)
    found = draw(st.lists(st.sets(row, min_size=1).map(sorted), min_size=1, max_size=3))
    return rows, found, draw(st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=rows, max_size=rows))


@pytest.mark.parametrize("room", [0, 1000])
@given(groups(), st.integers(0, 5), st.integers(0, 6), st.integers(1, 4), st.integers(1, 2))
def test_pairs_in_order(room, made, window, past, near, anchors):
    rows, found, date = made
    near = max(near, 2 * anchors)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in found])]).astype(np.int64)
    dates = i64([UNKNOWN if moment is None else moment for moment in date])
    fresh = (np.arange(rows) >= past).astype(np.uint8)
    a, b, n = leaders.pairs_in_order(starts, i64(flat(found)), dates, window, fresh, near, anchors, room)
    expected = naive.pairs_in_order(found, date, window, past, near, anchors)
    if room:
        assert set(zip(a.tolist(), b.tolist(), strict=True)) == expected
    assert n == len(a) or not room
    assert n >= len(expected)


@given(st.lists(st.tuples(st.lists(few, min_size=2, max_size=2), st.lists(few, max_size=4)), min_size=2, max_size=5))
def test_has_longest(rows):
    sentences, pieces = map(list, zip(*rows, strict=True))
    a, b = np.triu_indices(len(rows), 1)
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in pieces])]).astype(np.int64)
    found = leaders.has_longest(u64(sentences), u64(flat(pieces)), offsets, a, b)
    assert found.tolist() == [naive.has_longest(sentences, pieces, i, j) for i, j in zip(a, b, strict=True)]


@st.composite
def crowds(draw):
    """Rows before with their keepers, edges, and what a further look at a pair would say."""
    rows = draw(st.integers(2, 9))
    past = draw(st.integers(0, rows - 1))
    keeper = []
    for row in range(past):
        heads = [k for k in range(row) if keeper[k] == k]
        keeper.append(draw(st.sampled_from([row, -1, *heads])))
    verdict = st.tuples(
        st.sampled_from(["same", "same", "apart", "near", ""]), st.sampled_from([0.5, 0.625, 0.75, 0.9])
    )
    every = {(a, b): draw(verdict) for b in range(past, rows) for a in range(b)}
    proposed = {pair for pair in every if draw(st.booleans())}
    return rows, keeper, every, proposed


def verified(pairs, every):
    n = len(pairs)
    verdict = np.array([VERDICT[every[pair][0]] for pair in pairs], np.uint8)
    score = np.array([every[pair][1] for pair in pairs], np.float32)
    zero = np.zeros(n, np.uint8)
    return Verified(i64([a for a, _ in pairs]), i64([b for _, b in pairs]), zero, zero, score, score, verdict)


@given(crowds(), st.integers(2, 5))
def test_follow(made, family):
    rows, keeper, every, proposed = made
    none = np.zeros(0, np.int64)
    before = Before(i64(keeper), np.arange(rows), Families.of(rows, none, none, none.astype(np.uint8)))

    def score(a, b):
        return verified(list(zip(a.tolist(), b.tolist(), strict=True)), every)

    edges = verified(sorted(proposed), every)
    found, known = follow(edges, before, score, np.zeros(len(edges), bool), family, 0.85)
    known_pairs = {pair: every[pair] for pair in proposed}
    assert found.tolist() == naive.follow(rows, keeper, known_pairs, lambda a, b: every[a, b], family, 0.85)
    assert (np.diff(known.a * rows + known.b) > 0).all()
    removed = np.flatnonzero(found[len(keeper) :] != np.arange(len(keeper), rows)) + len(keeper)
    said = {(int(a), int(b)): int(v) for a, b, v in zip(known.a, known.b, known.verdict, strict=True)}
    assert all(said[int(found[row]), int(row)] == SAME for row in removed)


@given(crowds(), st.integers(2, 5))
def test_follow_can_be_stopped_and_go_on(made, family):
    """Decided in two halves, the second with the links of the first, the rows come out as in one go."""
    rows, _, every, proposed = made
    every = {(a, b): every.get((a, b), ("", 0.5)) for b in range(rows) for a in range(b)}

    def score(a, b):
        return verified(list(zip(a.tolist(), b.tolist(), strict=True)), every)

    def decided(first, last, keeper, links):
        pairs = sorted(pair for pair in proposed if first <= pair[1] < last)
        same = np.array([every[pair][0] == "same" for pair in links], np.uint8)
        a, b = (i64([pair[side] for pair in links]) for side in (0, 1))
        before = Before(i64(keeper), np.arange(last), Families.of(last, a, b, same))
        edges = verified(pairs, every)
        found, _ = follow(edges, before, score, np.zeros(len(edges), bool), family, 0.85)
        return found.tolist(), [pair for pair in pairs if every[pair][0]]

    whole, _ = decided(0, rows, [], [])
    half, links = decided(0, rows // 2, [], [])
    assert decided(rows // 2, rows, half, links)[0] == whole


@given(st.lists(numbers, max_size=20), st.lists(st.lists(numbers, max_size=4), min_size=1, max_size=8), st.data())
def test_hash_set(values, rows, data):
    rows = [row + data.draw(st.lists(st.sampled_from([*values, 0]), max_size=2)) for row in rows]
    out = np.zeros(len(rows), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    HashSet(u64(values)).mark(u64(flat(rows)), offsets, out)
    assert out.astype(bool).tolist() == naive.rows_with_any(rows, set(values))


@pytest.mark.parametrize("k", [0, 1, 3, 4, 8, 12, 23, 40, 64])
@given(st.lists(numbers, min_size=1, max_size=4), st.lists(st.sets(st.integers(0, 63), max_size=26), max_size=8))
def test_near(k, fingerprints, flips):
    stored = [fingerprints[i % len(fingerprints)] ^ sum(1 << bit for bit in bits) for i, bits in enumerate(flips)]
    out = np.zeros(len(stored), np.uint8)
    counted = np.arange(len(stored)) % 5 != 4
    Near(u64(fingerprints), k).mark(u64(stored), counted, out)
    expected = naive.rows_near_any(stored, fingerprints, k)
    assert out.astype(bool).tolist() == [yes and bool(c) for yes, c in zip(expected, counted, strict=True)]
