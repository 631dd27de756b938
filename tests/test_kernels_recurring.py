"""Pieces that recur, the rows that have them and where they stand, against their plain twins."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import i64, numbers, u64

from newsdedup_cli import recurring, spill
from newsdedup_cli.kernels import recurring as kernels

PIECES = [naive.mix(i) for i in range(1, 13)]
piece_lists = st.lists(st.lists(st.sampled_from(PIECES), max_size=6), min_size=1, max_size=9)
TOP = np.uint64(2**64 - 1)


def flat(rows, kind=np.uint64):
    return np.array([p for row in rows for p in row], kind), i64(np.cumsum([0, *map(len, rows)]))


def counted_of(data, rows):
    return np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)


@given(piece_lists, st.integers(1, 4), st.integers(2, 16), st.data())
def test_what_recurs_is_counted_enough_whatever_the_size_of_the_table(rows, least, bits, data):
    counted = counted_of(data, rows)
    pieces, piece_rows = flat(rows)
    table = np.zeros(1 << bits, np.uint8)
    for row in range(len(rows)):  # row by row: the table goes from one block to the next
        kernels.tally(table, pieces, piece_rows, row, row + 1, counted)
    low, high = sorted(data.draw(st.tuples(numbers, numbers)))
    values, at = kernels.often(table, least, np.uint64(low), np.uint64(high), pieces, piece_rows, 0, len(rows), counted)
    found = list(zip(at.tolist(), values.tolist(), strict=True))
    here = [(i, p) for i, row in enumerate(rows) if counted[i] for p in row if low <= p <= high]
    assert [one for one in here if one in found] == found
    recurs = naive.recurring(rows, counted.tolist(), least)
    assert {(i, p) for i, row in enumerate(rows) for p, yes in zip(row, recurs[i], strict=True) if yes} & set(
        here
    ) <= set(found)
    spread = np.zeros(256, np.int64)
    kernels.spread(table, least, pieces, piece_rows, 0, len(rows), counted, spread)
    every = kernels.often(table, least, np.uint64(0), TOP, pieces, piece_rows, 0, len(rows), counted)[0]
    assert spread.tolist() == np.bincount((every >> np.uint64(56)).astype(np.int64), minlength=256).tolist()


def test_a_counter_does_not_come_round():
    rows = 70_000
    table = np.zeros(4, np.uint8)
    pieces, counted = np.full(rows, 5, np.uint64), np.ones(rows, bool)
    kernels.tally(table, pieces, np.arange(rows + 1), 0, rows, counted)
    found = kernels.often(table, 65_535, np.uint64(0), TOP, pieces, np.arange(rows + 1), 0, rows, counted)
    assert len(found[0]) == rows


@given(piece_lists, st.lists(st.sampled_from([*PIECES, 0, 7]), unique=True, min_size=1), st.data())
def test_standing(rows, keys, data):
    counted = counted_of(data, rows)
    which, at = recurring.standing(u64(sorted(keys)), *flat(rows), counted)
    found = [(i, p) for i, row in enumerate(rows) if counted[i] for p in row if p in keys]
    assert list(zip(at.tolist(), [sorted(keys)[k] for k in which], strict=True)) == found


@given(
    st.lists(st.lists(st.integers(1, 12), max_size=9), min_size=1, max_size=9),
    st.lists(st.integers(2, 9), min_size=8, max_size=8),
    st.integers(1, 6),
    st.integers(1, 9),
    st.data(),
)
def test_otherwise_different(rows, often, wanted, sample, data):
    keys = list(range(1, 9))
    frequency = {p: 1 for p in range(1, 13)} | dict(zip(keys, often, strict=True))
    some = st.lists(st.integers(0, len(rows) - 1), unique=True, min_size=1)
    made = data.draw(st.lists(some, min_size=1, max_size=3))
    members, starts = flat([group[:: max(1, len(group) // sample)][:sample] for group in made], np.int64)
    found = kernels.otherwise_different(
        *flat(rows), *kernels.hung(u64(keys)), i64(often), starts, i64(list(map(len, made))), members, wanted
    )
    assert found.tolist() == [naive.otherwise_different(rows, frequency, g, wanted, sample) for g in made]


@given(piece_lists, st.integers(0, 3), st.integers(0, 3), st.integers(1, 5), st.data())
def test_edges(rows, head, tail, long, data):
    counted = counted_of(data, rows)
    chosen = sorted(data.draw(st.lists(st.sampled_from(PIECES), unique=True, min_size=1)))
    pieces, piece_rows = flat(rows)
    last, counts = np.full((len(chosen), 2), -1), np.zeros((len(chosen), 4), np.int64)
    for begin, end in pairwise([0, len(rows) // 2, len(rows)]):
        kernels.edges(
            *kernels.hung(u64(chosen)), pieces, piece_rows, begin, end, counted, head, tail, long, last, counts
        )
    some = [row for row, yes in zip(rows, counted, strict=True) if yes]
    assert counts.tolist() == [naive.edge_counts(some, set(chosen), head, tail, long, p) for p in chosen]


@given(piece_lists, st.integers(1, 3), st.integers(1, 4), st.data())
def test_groups_do_not_depend_on_how_much_is_looked_at_at_once(rows, least, most, data):
    counted = counted_of(data, rows)
    place = np.array(data.draw(st.permutations(range(len(rows)))))
    pieces, piece_rows = flat(rows)

    def found():
        groups = recurring.groups(pieces, piece_rows, counted, place, least, most)
        different = recurring.otherwise_different(groups, pieces, piece_rows, 3)
        shares = recurring.edge_shares(groups.pieces, pieces, piece_rows, counted, 1, 1, 3)
        return [groups.pieces, groups.sizes, groups.starts, groups.members, different, shares]

    whole = found()
    kept = recurring.AT_ONCE, recurring.GROUPS_AT_ONCE, spill.BLOCK
    try:
        recurring.AT_ONCE, recurring.GROUPS_AT_ONCE, spill.BLOCK = 2, 1, 16
        parts = found()
    finally:
        recurring.AT_ONCE, recurring.GROUPS_AT_ONCE, spill.BLOCK = kept
    assert [one.tolist() for one in whole] == [one.tolist() for one in parts]
    of_piece = {p: [i for i, row in enumerate(rows) if counted[i] and p in row] for p in PIECES}
    assert whole[0].tolist() == [p for p in sorted(PIECES) if len(of_piece[p]) >= max(least, 1)]
    for k, piece in enumerate(whole[0].tolist()):
        ordered = sorted(of_piece[piece], key=lambda row: place[row])
        sampled = ordered[:: max(1, len(ordered) // most)][:most]
        assert whole[3][whole[2][k] : whole[2][k + 1]].tolist() == sampled
        assert whole[1][k] == len(ordered)


@given(piece_lists, st.lists(st.sampled_from([*PIECES, 0]), max_size=20), st.data())
def test_shared(rows, keys, data):
    counted = counted_of(data, rows)
    order = data.draw(st.permutations(range(len(rows))))
    place = np.where(counted, i64(order), -1)
    expected = []
    for key in sorted(set(keys) - {0}):
        places = sorted(int(place[i]) for i, row in enumerate(rows) if counted[i] for p in row if p == key)
        if len(places) > 1:
            expected.append(places)
    for at_once in (recurring.AT_ONCE, 1, 3):
        kept, recurring.AT_ONCE = recurring.AT_ONCE, at_once
        try:
            groups = list(recurring.shared(u64(keys), *flat(rows), place))
        finally:
            recurring.AT_ONCE = kept
        found = [members[a:b].tolist() for starts, members in groups for a, b in pairwise(starts.tolist())]
        assert found == expected


@given(piece_lists, st.lists(st.sampled_from(PIECES), max_size=5), st.integers(0, 8), st.data())
def test_flagged_is_what_the_flags_say(rows, keys, size, data):
    counted = counted_of(data, rows)
    bits = kernels.flags(u64(keys), size)
    slots = {naive.mixed_slot(key, size + 6) for key in keys}
    low, high = sorted(data.draw(st.tuples(numbers, numbers)))
    values, at = kernels.flagged(bits, np.uint64(low), np.uint64(high), *flat(rows), 0, len(rows), counted)
    found = [
        (i, p) for i, row in enumerate(rows) if counted[i]
        for p in row if low <= p <= high and naive.mixed_slot(p, size + 6) in slots
    ]  # fmt: skip
    assert list(zip(at.tolist(), values.tolist(), strict=True)) == found
