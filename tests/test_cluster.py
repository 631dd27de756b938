"""Clusters of random weighted graphs: what must hold of any of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import i64

from newsdedup_cli import cluster as module
from newsdedup_cli.cluster import APART, Links, cluster
from newsdedup_cli.tables import SAME, VERDICTS, Clusters, Verified

NEAR = VERDICTS.index("near")


@dataclass
class Graph:
    """A verdict and a score for every two rows, which of them were proposed, and ranks."""

    verdict: np.ndarray  # [N,N]
    score: np.ndarray
    proposed: np.ndarray
    rank: np.ndarray
    twin_of: np.ndarray  # [N] the row whose text it has, itself mostly
    content: np.ndarray  # [N,2] digest

    def pairs(self, a, b) -> Verified:
        none = np.zeros(len(a), np.uint8)
        score = self.score[a, b].astype(np.float32)
        return Verified(a, b, none, none, score, score, self.verdict[a, b].astype(np.uint8))

    def representative(self) -> np.ndarray:
        same = self.twin_of[:, None] == self.twin_of[None, :]
        return np.array([rows[np.argmin(self.rank[rows])] for rows in map(np.flatnonzero, same)])

    def run(self) -> tuple[Clusters, Links]:
        representative = self.representative()
        alive = representative == np.arange(len(self.rank))
        a, b = np.nonzero(np.triu(self.proposed, 1) & alive[:, None] & alive[None, :])
        return cluster(self.pairs(a, b), representative, self.rank, self.content, self.pairs)

    def permuted(self, order) -> Graph:
        """The same rows in another order; contents keep their names, so that ties fall as before."""
        both = np.ix_(order, order)
        return Graph(
            self.verdict[both],
            self.score[both],
            self.proposed[both],
            self.rank[order],
            self.twin_of[order],
            self.content[order],
        )


def digests(texts) -> np.ndarray:
    """Two hashes of each text, in an order that is not that of the rows."""
    return np.array([[naive.mix(int(t) + 1), int(t)] for t in texts], np.uint64)


@st.composite
def graphs(draw, most=11):
    n = draw(st.integers(1, most))
    kinds = st.sampled_from([SAME, SAME, SAME, APART, NEAR, 0])
    verdict, score = np.zeros((n, n), int), np.zeros((n, n))
    proposed = np.zeros((n, n), bool)
    for i, j in combinations(range(n), 2):
        verdict[i, j] = verdict[j, i] = draw(kinds)
        score[i, j] = score[j, i] = draw(st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0]))
        proposed[i, j] = proposed[j, i] = draw(st.booleans())
    rank = np.array(draw(st.permutations(range(n))))
    twin_of = np.arange(n)
    for row in draw(st.lists(st.integers(0, n - 1), max_size=3, unique=True)):
        # Rows of one text have the verdicts of that text.
        other = draw(st.integers(0, n - 1))
        if twin_of[other] == other and row not in twin_of[np.arange(n) != row]:
            twin_of[row] = other
    both = np.ix_(twin_of, twin_of)
    return Graph(verdict[both], score[both], proposed[both], rank, twin_of, digests(twin_of))


@pytest.fixture(params=[80, 2], ids=["agglomerated", "peeled"], autouse=True, scope="module")
def small(request):
    """Run every test with both ways to take a component apart."""
    before, module.SMALL = module.SMALL, request.param
    yield
    module.SMALL = before


@given(graphs())
def test_every_removed_row_is_a_copy_of_the_row_kept_for_it(graph):
    found, _ = graph.run()
    rows = np.arange(len(graph.rank))
    removed = rows[found.kept_row != rows]
    assert found.link.a.tolist() == removed.tolist()
    assert found.link.b.tolist() == found.kept_row[removed].tolist()
    assert (found.link.verdict == SAME).all()
    for a, b, score in zip(found.link.a, found.link.b, found.link.score, strict=True):
        if graph.twin_of[a] == graph.twin_of[b]:
            assert score == 1
        else:
            assert graph.verdict[a, b] == SAME
            assert score == np.float32(graph.score[a, b])


@given(graphs())
def test_kept_rows_stay_in_their_own_cluster(graph):
    found, _ = graph.run()
    kept = found.kept_row
    assert (kept[kept] == kept).all()
    assert naive.partition(kept) == naive.partition(found.similar_id)
    firsts = [int(np.flatnonzero(found.similar_id == i)[0]) for i in range(found.similar_id.max() + 1)]
    assert firsts == sorted(firsts)


@given(graphs())
def test_no_cluster_holds_rows_that_a_guard_keeps_apart(graph):
    found, links = graph.run()
    apart = links.known.where(links.known.verdict == APART)
    assert (found.similar_id[apart.a] != found.similar_id[apart.b]).all()


@given(graphs())
def test_rows_of_one_text_are_one_cluster(graph):
    found, _ = graph.run()
    for group in naive.partition(graph.twin_of):
        assert len({found.similar_id[row] for row in group}) == 1


@given(graphs())
def test_a_cluster_is_within_a_component_of_copies(graph):
    found, links = graph.run()
    known = links.known.where(links.known.verdict == SAME)
    edges = [*zip(known.a.tolist(), known.b.tolist(), strict=True), *enumerate(graph.twin_of.tolist())]
    label = naive.components(len(graph.rank), edges)
    assert all(label[row] == label[kept] for row, kept in enumerate(found.kept_row))


@given(graphs(), st.data())
def test_the_order_of_rows_does_not_matter(graph, data):
    order = np.array(data.draw(st.permutations(range(len(graph.rank)))))
    found, other = graph.run()[0], graph.permuted(order).run()[0]
    names = {frozenset(order[list(group)].tolist()) for group in naive.partition(other.similar_id)}
    assert names == naive.partition(found.similar_id)
    assert {(int(order[row]), int(order[kept])) for row, kept in enumerate(other.kept_row)} == {
        (row, int(kept)) for row, kept in enumerate(found.kept_row)
    }


@given(graphs())
def test_the_links_that_are_kept_are_the_verifiers_own(graph):
    _, links = graph.run()
    keys = links.known.a * len(graph.rank) + links.known.b
    assert (np.diff(keys) > 0).all()
    assert (links.known.verdict == graph.verdict[links.known.a, links.known.b]).all()


def made(n, edges, rank=None, proposed=None) -> Graph:
    """A graph from {(a, b): (verdict, score)}; other pairs are no copies."""
    verdict, score = np.zeros((n, n), int), np.zeros((n, n))
    for (a, b), (kind, value) in edges.items():
        verdict[a, b] = verdict[b, a] = kind
        score[a, b] = score[b, a] = value
    asked = verdict != 0 if proposed is None else proposed
    return Graph(verdict, score, asked, np.arange(n) if rank is None else i64(rank), np.arange(n), digests(range(n)))


def clusters_of(graph: Graph) -> set[frozenset[int]]:
    return naive.partition(graph.run()[0].similar_id)


def test_a_chain_is_split():
    n = 6
    chain = made(n, {(i, i + 1): (SAME, 0.9 - i / 100) for i in range(n - 1)})
    found, _ = chain.run()
    assert max(map(len, naive.partition(found.similar_id))) <= 3
    assert sum(found.kept_row != np.arange(n)) >= 3


@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_a_star_is_one_cluster(n):
    star = made(n, {(0, i): (SAME, 0.8) for i in range(1, n)})
    assert clusters_of(star) == {frozenset(range(n))}


@pytest.mark.parametrize("n", [3, 9, 90])
def test_a_clique_is_one_cluster_however_few_pairs_were_proposed(n):
    edges = {pair: (SAME, 0.9) for pair in combinations(range(n), 2)}
    proposed = np.zeros((n, n), bool)
    proposed[np.arange(n - 1), np.arange(1, n)] = True
    graph = made(n, edges, rank=np.random.default_rng(n).permutation(n), proposed=proposed | proposed.T)
    assert clusters_of(graph) == {frozenset(range(n))}


def test_a_guard_splits_a_triangle():
    graph = made(3, {(0, 1): (SAME, 0.95), (0, 2): (SAME, 0.9), (1, 2): (APART, 0.99)})
    assert clusters_of(graph) == {frozenset({0, 1}), frozenset({2})}


def test_two_stories_with_one_bridge_stay_two():
    edges = {pair: (SAME, 0.95) for group in ((0, 1, 2), (3, 4, 5)) for pair in combinations(group, 2)}
    assert clusters_of(made(6, edges | {(2, 3): (SAME, 0.7)})) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_no_rows_and_no_edges():
    assert clusters_of(made(3, {})) == {frozenset({0}), frozenset({1}), frozenset({2})}
    found, _ = made(1, {}).run()
    assert len(found.link) == 0
