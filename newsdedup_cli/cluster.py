"""Verified pairs -> clusters in which every removed row resembles the very row that is kept for it.

Connected components alone chain: A like B like C, A and C strangers. So a component is one cluster only if all
its rows verify against the row that stays and no guard keeps two of them apart. One that does not is taken
apart: pairs are joined from the best score down, two groups only if all their rows verify against one row
among them; the one of least rank that does so stays. No step looks at the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from newsdedup_cli.kernels import join
from newsdedup_cli.tables import APART, I64, SAME, U64, Bools, Clusters, Verified

SMALL = 80  # rows of a component up to which all its pairs are scored

Score = Callable[[I64, I64], Verified]


class Links:
    """Verified pairs that can be looked up; what is missing is scored and remembered."""

    def __init__(self, known: Verified, rows: int, score: Score) -> None:
        self._rows = rows
        self._score = score
        self.known = known
        self._keys = known.a * np.int64(rows) + known.b

    def look_up(self, a: I64, b: I64) -> Verified:
        """The pairs (a, b), in either order of the two, in the order asked for."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        keys = low * np.int64(self._rows) + high
        missing = np.setdiff1d(keys, self._keys)
        if len(missing):
            self._remember(self._score(missing // self._rows, missing % self._rows))
        return self.known.where(np.searchsorted(self._keys, keys))

    def _remember(self, more: Verified) -> None:
        names = Verified.__dataclass_fields__
        both = Verified(*(np.concatenate([getattr(self.known, n), getattr(more, n)]) for n in names))
        keys = both.a * np.int64(self._rows) + both.b
        order = np.argsort(keys, kind="stable")
        self.known, self._keys = both.where(order), keys[order]


def cluster(
    edges: Verified,
    representative: I64,
    rank: I64,
    digest: U64,
    score: Score,
    together: I64 | None = None,
    settled: I64 | None = None,
    past: int = 0,
) -> tuple[Clusters, Links]:
    """Group the rows.

    Parameters: edges (the verified pairs of representatives, sorted by a, b), representative i8[N], rank i8[N]
    (all different; of a cluster the row of least rank stays), digest u8[N,2] for ties, and `score`, which
    verifies further pairs. `together` i8[N] numbers the rows that a person joined (-1: none): those pairs go first
    and are never torn. `settled` i8[N] is the row that stays for each row decided already, -1 for the others; of the
    first `past` rows nothing is told. Also returns all pairs that were verified.
    """
    rows = len(representative)
    links = Links(edges, rows, score)
    keeper = np.arange(rows)
    if together is None:
        together = np.full(rows, -1)
    same = edges.verdict == SAME
    if settled is not None:
        keeper = np.where(settled >= 0, settled, keeper)
        same &= (settled[edges.a] < 0) & (settled[edges.b] < 0)
    pending = _components(edges.where(same), np.arange(rows), rows)
    while pending:
        broken = _settle_stars(pending, links, rank, keeper)
        small = [members for members in broken if len(members) <= SMALL]
        _agglomerate_all(small, links, rank, digest, together, keeper)
        large = [members for members in broken if len(members) > SMALL]
        pending = [rest for members in large for rest in _peel(members, links, rank, together, keeper)]
    kept = keeper[representative]
    kept[:past] = np.arange(past)
    return Clusters(dense(kept), kept, _row_links(kept, representative, links)), links


def _components(same: Verified, among: I64, rows: int) -> list[I64]:
    """The components of two rows or more, each with its rows ascending."""
    labels = join.components(rows, same.a, same.b)[among]
    order = np.argsort(labels, kind="stable")
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return [part for part in np.split(among[order], bounds) if len(part) > 1]


def _settle_stars(components: list[I64], links: Links, rank: I64, keeper: I64) -> list[I64]:
    """Settle each component whose rows all verify against its row of least rank; the others are given back."""
    heads = [members[np.argmin(rank[members])] for members in components]
    sizes = np.array([len(members) for members in components])
    rows, to = np.concatenate(components), np.repeat(heads, sizes)
    of = np.repeat(np.arange(len(components)), sizes)
    others = rows != to
    found = links.look_up(rows[others], to[others])
    broken = np.zeros(len(components), bool)
    np.logical_or.at(broken, of[others], found.verdict != SAME)
    label = np.full(len(rank), -1)
    label[rows] = of
    apart = links.known.where(links.known.verdict == APART)
    inside = (label[apart.a] == label[apart.b]) & (label[apart.a] >= 0)
    broken[label[apart.a[inside]]] = True
    settled = ~broken[of]
    keeper[rows[settled]] = to[settled]
    return [components[i] for i in np.flatnonzero(broken)]


def _agglomerate_all(components: list[I64], links: Links, rank: I64, digest: U64, together: I64, keeper: I64) -> None:
    if not components:
        return
    every = [np.triu_indices(len(members), 1) for members in components]
    a = np.concatenate([m[i] for m, (i, _) in zip(components, every, strict=True)])
    b = np.concatenate([m[j] for m, (_, j) in zip(components, every, strict=True)])
    found = links.look_up(a, b)
    at = 0
    for members, (i, j) in zip(components, every, strict=True):
        pairs = found.where(np.arange(at, at + len(i)))
        at += len(i)
        for group, head in _agglomerate(members, i, j, pairs, rank, digest, together):
            keeper[group] = head


def _agglomerate(
    members: I64, i: I64, j: I64, pairs: Verified, rank: I64, digest: U64, together: I64
) -> Iterator[tuple[I64, np.int64]]:
    """Groups of the members, joined from the best pair (positions i, j in members) down, and the row each keeps."""
    n = len(members)
    same: npt.NDArray[np.bool_] = np.eye(n, dtype=bool)
    apart = np.zeros((n, n), bool)
    same[i, j] = same[j, i] = pairs.verdict == SAME
    apart[i, j] = apart[j, i] = pairs.verdict == APART
    place = np.empty(n, np.int64)  # an order of content, for ties
    place[np.lexsort((rank[members], digest[members, 1], digest[members, 0]))] = np.arange(n)
    low, high = np.minimum(place[i], place[j]), np.maximum(place[i], place[j])
    group_of = list(range(n))
    groups = {k: np.array([k]) for k in range(n)}
    decided = (together[members[i]] >= 0) & (together[members[i]] == together[members[j]])
    for pair in np.lexsort((high, low, -pairs.score, ~decided)):
        x, y = group_of[i[pair]], group_of[j[pair]]
        if x == y or pairs.verdict[pair] != SAME:
            continue
        both = np.concatenate([groups[x], groups[y]])
        if same[np.ix_(both, both)].all(axis=0).any() and not apart[np.ix_(groups[x], groups[y])].any():
            groups[x] = both
            for k in groups.pop(y):
                group_of[k] = x
    for group in groups.values():
        covering = group[same[np.ix_(group, group)].all(axis=0)]
        yield members[group], members[covering[np.argmin(rank[members[covering]])]]


def _peel(members: I64, links: Links, rank: I64, together: I64, keeper: I64) -> list[I64]:
    """Settle the rows that verify against the row of least rank, without those kept apart; the rest's components."""
    head = members[np.argmin(rank[members])]
    others = members[members != head]
    found = links.look_up(others, np.full(len(others), head))
    joined = others[found.verdict == SAME]
    score = np.zeros(len(rank), np.float32)
    score[others] = found.score
    score[others[(together[others] >= 0) & (together[others] == together[head])]] = np.inf
    apart = links.known.where(links.known.verdict == APART)
    dropped = _worse_ends(apart, joined, score, rank)
    joined = joined[~np.isin(joined, dropped)]
    left = np.setdiff1d(members, np.append(joined, head))
    torn = np.setdiff1d(together[left], [-1, together[head]])
    joined = joined[~np.isin(together[joined], torn)]
    keeper[joined] = head
    rest = np.setdiff1d(members, np.append(joined, head))
    inside = np.zeros(len(rank), bool)
    inside[rest] = True
    same = links.known.where(links.known.verdict == SAME)
    return _components(same.where(inside[same.a] & inside[same.b]), rest, len(rank))


def _worse_ends(apart: Verified, joined: I64, score: npt.NDArray[np.float32], rank: I64) -> I64:
    """Of each pair kept apart inside `joined`, the row that scores less (then: of higher rank)."""
    inside: Bools = np.isin(apart.a, joined) & np.isin(apart.b, joined)
    a, b = apart.a[inside], apart.b[inside]
    worse_a = (score[a] < score[b]) | ((score[a] == score[b]) & (rank[a] > rank[b]))
    return np.unique(np.where(worse_a, a, b))


def dense(kept: I64) -> I64:
    """Cluster numbers from 0 in order of first rows."""
    _, first, inverse = np.unique(kept, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]


def _row_links(kept: I64, representative: I64, links: Links) -> Verified:
    """For each row that does not stay the pair (row, kept row); equal texts score 1."""
    rows = np.flatnonzero(kept != np.arange(len(kept)))
    near = np.flatnonzero(representative[rows] != kept[rows])
    found = links.look_up(representative[rows[near]], kept[rows[near]])
    n = len(rows)
    link = Verified(
        rows,
        kept[rows],
        np.zeros(n, np.uint8),
        np.zeros(n, np.uint8),
        np.ones(n, np.float32),
        np.ones(n, np.float32),
        np.full(n, SAME, np.uint8),
    )
    for name in ("distance", "shared_sentences", "score", "containment"):
        getattr(link, name)[near] = getattr(found, name)
    return link
