"""Pairs, groups, sketches and components against their plain twins."""

from __future__ import annotations

from itertools import chain

import naive
import networkx as nx
import numpy as np
import pytest
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st
from strategies import i64, numbers, u64

from newsdedup_cli import near
from newsdedup_cli.kernels import join
from newsdedup_cli.kernels.bits import popcount
from newsdedup_cli.near import plan, weights_of


@st.composite
def crowds(draw):
    """Fingerprints around a few centres, some bits off: ascending and distinct."""
    centres = draw(st.lists(numbers, min_size=1, max_size=3))
    flips = st.lists(st.integers(0, 63), max_size=14)
    near = draw(st.lists(st.tuples(st.sampled_from(centres), flips), max_size=25))
    found = set(centres)
    for centre, bits in near:
        found.add(centre ^ sum({1 << bit for bit in bits}))
    return sorted(found)


def within(fingerprints, k, bounds, room=2000, connect=False):
    return join.pairs_within(u64(fingerprints), k, i64(bounds), len(bounds) - 1 - k, room, connect, 0)[:3]


@given(crowds(), st.integers(0, 12), st.booleans())
def test_pairs_within_is_exact(fingerprints, k, weighed):
    bounds = plan(len(fingerprints), k, weights_of(u64(fingerprints), 64)) if weighed else plan(len(fingerprints), k)
    a, b, found = within(fingerprints, k, bounds)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert set(pairs) == naive.pairs_within(fingerprints, k)
    assert len(pairs) == found == len(set(pairs))


@pytest.mark.parametrize("k", [16, 24, 33, 48, 60, 63])
@given(data=st.data())
def test_pairs_within_at_any_distance(k, data):
    fingerprints = data.draw(crowds())
    a, b, _ = within(fingerprints, k, plan(max(len(fingerprints), 2), k))
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == naive.pairs_within(fingerprints, k)


@given(crowds(), st.integers(0, 6), st.integers(1, 4))
def test_pairs_within_for_any_cut_into_blocks(fingerprints, k, depth):
    bounds = np.round(np.linspace(0, 64, k + depth + 1)).astype(int)
    if max(np.diff(bounds)) > 21:
        return  # a block's table of counters has two to the width entries
    a, b, _ = within(fingerprints, k, bounds)
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == naive.pairs_within(fingerprints, k)


@given(crowds(), st.integers(0, 12))
def test_edges_keep_the_components(fingerprints, k):
    a, b, found = within(fingerprints, k, plan(len(fingerprints), k), connect=True)
    edges = list(zip(a.tolist(), b.tolist(), strict=True))
    exact = naive.pairs_within(fingerprints, k)
    assert set(edges) <= exact
    n = len(fingerprints)
    assert naive.components(n, edges) == naive.components(n, exact)
    assert found == len(edges) == n - len(set(naive.components(n, exact)))  # a forest


@given(crowds(), st.integers(0, 8), st.integers(0, 3))
def test_pairs_within_stops_where_no_more_fit(fingerprints, k, room):
    a, b, found = within(fingerprints, k, plan(len(fingerprints), k), room=room)
    exact = naive.pairs_within(fingerprints, k)
    assert found == len(exact) or room < found <= len(exact)
    assert len(a) == len(b) == min(room, found)
    assert set(zip(a.tolist(), b.tolist(), strict=True)) <= exact


@given(crowds(), st.lists(st.integers(0, 63), max_size=12, unique=True))
def test_squeezed_keeps_the_distances(fingerprints, places):
    varying = sum(1 << place for place in places)
    some = u64([f & varying for f in fingerprints])
    found = join.squeezed(some, np.uint64(varying))
    assert not (found >> np.uint64(len(places))).any()
    assert np.bitwise_count(found ^ found[0]).tolist() == np.bitwise_count(some ^ some[0]).tolist()


@st.composite
def cubes(draw):
    """Distinct fingerprints that differ in a few bits only."""
    places = draw(st.lists(st.integers(0, 63), max_size=9, unique=True))
    base = draw(numbers)
    some = draw(st.lists(st.lists(st.sampled_from(places), max_size=9) if places else st.just([]), max_size=60))
    return sorted({base, *(base ^ sum({1 << place for place in flips}) for flips in some)})


crowded = st.one_of(crowds(), cubes(), st.tuples(crowds(), cubes(), cubes()).map(lambda sets: sorted({*chain(*sets)})))


@given(crowded, st.integers(0, 12))
def test_near_pairs(fingerprints, k):
    a, b = near.near_pairs(u64(fingerprints), k)
    exact = naive.pairs_within(fingerprints, k)
    n = len(fingerprints)
    assert set(zip(a.tolist(), b.tolist(), strict=True)) <= exact
    assert len(a) == len(exact) <= near.FEW_PAIRS
    assert naive.components(n, zip(a.tolist(), b.tolist(), strict=True)) == naive.components(n, exact)


@given(crowded, st.integers(0, 8), st.sampled_from([1, 3, 9]))
def test_edges_of_the_crowded(fingerprints, k, large):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near, "PAIRS_PER_ROW", 0)
        patch.setattr(near, "FEW_PAIRS", 0)
        patch.setattr(near, "LARGE", large)
        a, b = near.near_pairs(u64(fingerprints), k)
    edges = list(zip(a.tolist(), b.tolist(), strict=True))
    exact = naive.pairs_within(fingerprints, k)
    n = len(fingerprints)
    assert set(edges) <= exact
    assert naive.components(n, edges) == naive.components(n, exact)


def test_pairs_within_sorts_large_buckets_too():
    rng = np.random.default_rng(5)
    n = 90 if NO_JIT else 600  # over 64 rows a bucket is sorted by counting
    centres = rng.integers(0, 2**64, 5, np.uint64)
    flips = np.uint64(1) << rng.integers(0, 64, (n, 5)).astype(np.uint64)
    prints = np.unique(centres[rng.integers(0, 5, n)] ^ np.bitwise_xor.reduce(flips, axis=1))
    for k in (3, 8):
        a, b, _ = within(prints.tolist(), k, plan(len(prints), k), room=200_000)
        assert set(zip(a.tolist(), b.tolist(), strict=True)) == naive.pairs_within(prints.tolist(), k)


groups = st.lists(st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=14), max_size=4)


@given(groups, st.integers(1, 8), st.integers(1, 4))
def test_pairs_of_groups(made, near, anchors):
    starts = np.cumsum([0, *map(len, made)])
    members = i64([row for group in made for row in group])
    a, b, found = join.pairs_of_groups(i64(starts), members, near, anchors, 1000)
    twin = naive.pairs_of_groups(made, near, anchors)
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == twin
    assert found == len(twin)
    a, _, found = join.pairs_of_groups(i64(starts), members, near, anchors, 3)
    assert (len(a), found) == (min(3, len(twin)), len(twin))


@given(st.integers(2, 200), st.integers(1, 20), st.integers(1, 4))
def test_pairs_of_groups_is_near_linear_and_connects(size, near, anchors):
    a, b, _ = join.pairs_of_groups(i64([0, size]), np.arange(size), near, anchors, 25_000)
    assert len(a) <= size * max(near, 2 * anchors)
    assert set(naive.components(size, zip(a.tolist(), b.tolist(), strict=True))) == {0}


sketches = st.lists(st.lists(st.integers(0, 3), min_size=128, max_size=128), min_size=1, max_size=3)


@given(sketches, st.data())
def test_sketch_similarity(made, data):
    at = st.integers(0, len(made) - 1)
    a, b = zip(*data.draw(st.lists(st.tuples(at, at), min_size=1, max_size=5)), strict=True)
    found = join.sketch_similarity(np.array(made, np.uint16), i64(a), i64(b))
    twin = [naive.sketch_similarity(made[x], made[y]) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, twin, rtol=1e-6)


def test_empty_sketches_are_not_alike():
    assert join.sketch_similarity(np.zeros((2, 128), np.uint16), i64([0]), i64([1])).tolist() == [0.0]


@given(st.integers(1, 25), st.data())
def test_components(rows, data):
    at = st.integers(0, rows - 1)
    edges = data.draw(st.lists(st.tuples(at, at), max_size=30))
    a, b = i64([x for x, _ in edges]), i64([y for _, y in edges])
    found = join.components(rows, a, b).tolist()
    assert found == naive.components(rows, edges)
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(rows))
    assert naive.partition(found) == {frozenset(part) for part in nx.connected_components(graph)}


@given(st.lists(numbers, min_size=1, max_size=12), st.data())
def test_distances(prints, data):
    at = st.integers(0, len(prints) - 1)
    pairs = data.draw(st.lists(st.tuples(at, at), max_size=8))
    a, b = i64([x for x, _ in pairs]), i64([y for _, y in pairs])
    found = join.distances(u64(prints), a, b).tolist()
    assert found == [naive.distance(prints[x], prints[y]) for x, y in pairs]
    first = data.draw(at)
    last = data.draw(st.integers(first, len(prints)))
    assert join.all_distances(u64(prints), first, last).tolist() == naive.all_distances(prints, first, last)


@given(numbers)
def test_popcount(number):
    assert popcount(np.uint64(number)) == bin(number).count("1")
