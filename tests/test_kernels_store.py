"""Copying texts, recurring pieces and hashes of rows against their plain twins."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, arrow, back, i64, numbers, sliced, u64

from newsdedup_cli.kernels import store

strings_lists = st.lists(any_text, min_size=1, max_size=5)


@given(strings_lists, st.data())
def test_gather(strings, data):
    chosen = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=8))
    whole, offsets = sliced(strings)
    found = store.gather(whole, offsets[:-1], np.diff(offsets), i64(chosen))
    assert back(*found) == [strings[i] for i in chosen]


# Pieces that lie in slots of their own, so that the table of counters is exact.
PIECES = [naive.mix(i) for i in range(1, 13)]
piece_lists = st.lists(st.lists(st.sampled_from(PIECES), unique=True, max_size=5), min_size=1, max_size=8)


def flat(rows, kind=np.uint64):
    return np.array([p for row in rows for p in row], kind), i64(np.cumsum([0, *map(len, rows)]))


@given(piece_lists, st.integers(1, 4), st.data())
def test_recurring(rows, least, data):
    counted = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    found = store.recurring(*flat(rows), np.array(counted), least, 16)
    twin = naive.recurring(rows, counted, least)
    assert found.astype(bool).tolist() == [yes for row in twin for yes in row]


@given(st.lists(st.lists(numbers, max_size=5), min_size=1, max_size=8), st.integers(1, 4), st.integers(1, 4))
def test_recurring_never_misses_one_in_a_small_table(rows, least, bits):
    counted = [True] * len(rows)
    found = store.recurring(*flat(rows), np.array(counted), least, bits).astype(bool)
    twin = np.array([yes for row in naive.recurring(rows, counted, least) for yes in row], bool)
    assert (found >= twin).all()


def test_a_counter_does_not_come_round():
    rows = 70_000
    pieces = np.full(rows, 5, np.uint64)
    assert store.recurring(pieces, np.arange(rows + 1), np.ones(rows, bool), 65_535, 4).all()


@given(
    st.lists(st.lists(st.integers(1, 12), max_size=9).map(sorted), min_size=1, max_size=9),
    st.lists(st.integers(1, 9), min_size=12, max_size=12),
    st.integers(1, 6),
    st.integers(1, 9),
    st.data(),
)
def test_otherwise_different(rows, often, wanted, sample, data):
    frequency = dict(zip(range(1, 13), often, strict=True))
    some = st.lists(st.integers(0, len(rows) - 1), unique=True, min_size=1)
    made = data.draw(st.lists(some, min_size=1, max_size=3))
    pieces, piece_rows = flat(rows)
    members, starts = flat(made, np.int64)
    counts = np.array([frequency[p] for row in rows for p in row], np.int32)
    found = store.otherwise_different(pieces, counts, piece_rows, starts, members, wanted, sample)
    assert found.tolist() == [naive.otherwise_different(rows, frequency, g, wanted, sample) for g in made]


@given(st.lists(st.lists(st.booleans(), max_size=9), min_size=1, max_size=5), st.integers(0, 4), st.integers(0, 4))
def test_edges(rows, head, tail):
    frequent, piece_rows = flat(rows, np.uint8)
    found = store.edges(frequent, piece_rows, head, tail).astype(bool).tolist()
    assert found == [yes for row in naive.edges(rows, head, tail) for yes in row]


@given(piece_lists, st.integers(1, 4), st.data())
def test_edge_shares(rows, long, data):
    at_edge = [data.draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row))) for row in rows]
    known = sorted({p for row in rows for p in row})
    groups = [[i for i, row in enumerate(rows) if p in row] for p in known]
    pieces, piece_rows = flat(rows)
    members, starts = flat(groups, np.int64)
    found = store.edge_shares(pieces, flat(at_edge, np.uint8)[0], piece_rows, u64(known), starts, members, long)
    twin = [naive.edge_share(rows, at_edge, p, group, long) for p, group in zip(known, groups, strict=True)]
    np.testing.assert_allclose(found, np.array(twin, np.float32), rtol=1e-6)


@given(strings_lists, numbers)
def test_hash_rows(strings, seed):
    for data, offsets in (arrow(strings), sliced(strings)):
        found = store.hash_rows(data, offsets, u64([seed] * len(strings))).tolist()
        assert found == [naive.hash_row(text.encode(), seed) for text in strings]


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("", "a"), ("ab", "ba"), ("中", "国")])
def test_hash_rows_tells_rows_apart(one, other):
    found = store.hash_rows(*arrow([one, other]), u64([0, 0]))
    assert found[0] != found[1]
