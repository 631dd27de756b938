"""Decisions on the rows of one corpus: which pairs are copies or strangers by a person's word, whatever their score.

`different` wins over `same`. What several `same` join is one article, so every two of its rows are the same; unless a
`different` stands inside: then only the very pairs decided hold, and the contradiction is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import pyarrow as pa

from newsdedup_cli.decisions import DIFFERENT, SAME, Sides, sides
from newsdedup_cli.scan import Scanned
from newsdedup_cli.tables import APART, DECISIONS, I64, NEAR, U8, U64, Bools, Verified
from newsdedup_cli.tables import SAME as IS_SAME

LISTED = 5  # contradictions that are named one by one
_P = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class Obeyed:
    """Decided pairs of representatives, a < b, sorted; `together` i8[N] numbers what `same` joined, -1 for none."""

    rows: int
    a: I64
    b: I64
    verdict: U8  # of tables.VERDICTS: same, or the one that keeps apart
    together: I64
    told: list[str] = field(default_factory=list)  # contradictions, in words
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._keys = self.a * np.int64(self.rows) + self.b
        self._before = np.zeros(len(self.a), np.uint8)

    def _places(self, pairs: Verified) -> tuple[I64, I64]:
        """Which of the pairs are decided, and which decision that is."""
        if len(self._keys) == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        keys = np.minimum(pairs.a, pairs.b) * np.int64(self.rows) + np.maximum(pairs.a, pairs.b)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        at = np.flatnonzero(self._keys[place] == keys)
        return at, place[at]

    def hold(self, pairs: Verified) -> None:
        """Give decided pairs the verdict of the decision; what it was before is remembered."""
        at, place = self._places(pairs)
        self._before[place] = pairs.verdict[at]
        pairs.verdict[at] = self.verdict[place]

    def decided_same(self, pairs: Verified) -> Bools:
        """Which of the pairs are `same` by a decision."""
        found = np.zeros(len(pairs), bool)
        at, place = self._places(pairs)
        found[at] = self.verdict[place] == IS_SAME
        return found

    def on(self, a: int, b: int) -> str:
        """The decision on two representatives, "" for none."""
        at = np.flatnonzero((self.a == min(a, b)) & (self.b == max(a, b)))
        if not len(at):
            return ""
        return DIFFERENT if self.verdict[at[0]] == APART else SAME

    def as_before(self, pairs: Verified) -> tuple[Verified, U8]:
        """The pairs with the verdicts that they had without decisions, and each one's decision (of DECISIONS).

        A pair that would have been merged and is kept apart by a person has `near`: there is no better word for it.
        """
        at, place = self._places(pairs)
        verdict, decision = pairs.verdict.copy(), np.zeros(len(pairs), np.uint8)
        before = self._before[place]
        apart = self.verdict[place] == APART
        verdict[at] = np.where(apart & (before == IS_SAME), np.uint8(NEAR), before)
        decision[at] = np.where(apart, DECISIONS.index(DIFFERENT), DECISIONS.index(SAME))
        return (
            Verified(pairs.a, pairs.b, pairs.distance, pairs.shared_sentences, pairs.score, pairs.containment, verdict),
            decision,
        )

    def with_same(self, a: I64, b: I64) -> Obeyed:
        """These decisions, and the pairs a, b as copies where nothing is decided of them."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        keys, first = np.unique(low * np.int64(self.rows) + high, return_index=True)
        new = first[~np.isin(keys, self._keys)]
        ends = np.concatenate([self.a, low[new]]), np.concatenate([self.b, high[new]])
        verdict = np.concatenate([self.verdict, np.full(len(new), IS_SAME, np.uint8)])
        order = np.lexsort(ends[::-1])
        return Obeyed(self.rows, ends[0][order], ends[1][order], verdict[order], self.together, self.told, self.counts)

    def missing_from(self, a: I64, b: I64) -> tuple[I64, I64]:
        """The decided pairs that are not among a, b (sorted)."""
        new = ~np.isin(self._keys, a * np.int64(self.rows) + b)
        return self.a[new], self.b[new]


def told_apart(sides: Sides, digest: U64, as_read: U64) -> U64:
    """The digests u8[N,2] by which rows are one text, with rows apart that have one text but are decided `different`.

    Those are known by what was read (as_read u8[N]): their titles, mostly.
    """
    apart = digest
    every = zip(sides.decision, sides.first, sides.second, sides.one_text, sides.by_id, strict=True)
    for told, first, second, one_text, by_id in every:
        if one_text and told == DIFFERENT and set(first).isdisjoint(second):
            at = np.array([*first, *second])
            apart = digest.copy() if apart is digest else apart
            told_by = at.astype(np.uint64) if by_id else as_read[at]
            apart[at, 1] = digest[at, 1] ^ (told_by * _P | np.uint64(1))
    return apart


def sides_of(table: pa.Table | None, scanned: Scanned, alone: Bools) -> Sides:
    """The rows that decisions are about; those that are compared with nothing stay out of it."""
    if table is None or not len(table):
        return Sides([], [], [], [], [], 0)
    return sides(table, scanned.content, scanned.as_read, scanned.rows.id, pa.array(~alone))


def obey(sides: Sides, representative: I64, ids: pa.LargeStringArray) -> Obeyed:
    """The verdicts that follow for the representatives i8[N] of the rows."""

    def name(row: int) -> str:
        return ids[row].as_py() or f"row {row + 1}"

    count = dict.fromkeys(("given", "used", "unused", "contradicting", "indistinguishable"), 0)
    count |= {"given": len(sides.decision), "by_text_as_read_only": sides.by_read_only}
    pairs: dict[str, set[tuple[int, int]]] = {SAME: set(), DIFFERENT: set()}
    for told, first, second in zip(sides.decision, sides.first, sides.second, strict=True):
        count["used" if first and second else "unused"] += 1
        made = set(_pairs(representative[first].tolist(), representative[second].tolist()))
        pairs[told] |= made
        count["indistinguishable"] += bool(first and second and not made and told == DIFFERENT)
    twice = pairs[SAME] & pairs[DIFFERENT]
    said = [f"{name(a)} and {name(b)} are decided both same and different: they stay apart" for a, b in sorted(twice)]
    joined = _Joined(pairs[SAME] - twice)
    broken = {joined.of[a]: (a, b) for a, b in sorted(pairs[DIFFERENT]) if joined.together(a, b)}
    for a, b in broken.values():
        path = " = ".join(map(name, joined.path(a, b)))
        said.append(f"decided: {path}, yet {name(a)} and {name(b)} different: those two stay apart")
    same = {pair for label, members in joined.groups() if label not in broken for pair in combinations(members, 2)}
    same |= joined.pairs - pairs[DIFFERENT]
    count["contradicting"] = len(said)
    if len(said) > LISTED:
        said = [*said[:LISTED], f"{len(said) - LISTED:,} more decisions contradict each other"]
    return _made(same, pairs[DIFFERENT], joined, len(representative), said, count)


def _pairs(first: Sequence[int], second: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every two of them, in order, unless they share a row: then nothing tells the two sides apart."""
    if set(first).isdisjoint(second):
        yield from ((min(pair), max(pair)) for pair in product(set(first), set(second)))


def _made(
    same: set[tuple[int, int]], apart: set[tuple[int, int]], joined: _Joined, rows: int, said: list[str],
    count: dict[str, int],
) -> Obeyed:  # fmt: skip
    verdicts = dict.fromkeys(same, IS_SAME) | dict.fromkeys(apart, APART)
    order = sorted(verdicts)
    ends = np.array(order, np.int64).reshape(-1, 2)
    together = np.full(rows, -1)
    for row, label in joined.of.items():
        together[row] = label
    verdict = np.array([verdicts[pair] for pair in order], np.uint8)
    return Obeyed(rows, ends[:, 0].copy(), ends[:, 1].copy(), verdict, together, said, count)


class _Joined:
    """Rows joined by pairs: each row's label is the least row of its component."""

    def __init__(self, pairs: set[tuple[int, int]]) -> None:
        self.pairs = pairs
        self.beside: dict[int, list[int]] = {}
        for a, b in sorted(pairs):
            self.beside.setdefault(a, []).append(b)
            self.beside.setdefault(b, []).append(a)
        self.of: dict[int, int] = {}
        for row in sorted(self.beside):
            if row not in self.of:
                self.of |= dict.fromkeys(self._reach(row), row)

    def _reach(self, start: int) -> dict[int, int]:
        """The rows that can be reached, and the one before each."""
        before, queue = {start: start}, deque([start])
        while queue:
            row = queue.popleft()
            for other in self.beside[row]:
                if other not in before:
                    before[other] = row
                    queue.append(other)
        return before

    def together(self, a: int, b: int) -> bool:
        """Whether both are in one component."""
        return a in self.of and self.of[a] == self.of.get(b)

    def path(self, a: int, b: int) -> list[int]:
        """The rows from a to b, each joined with the next."""
        before, path = self._reach(a), [b]
        while path[-1] != a:
            path.append(before[path[-1]])
        return path[::-1]

    def groups(self) -> Iterator[tuple[int, list[int]]]:
        """Each component's label and rows."""
        members: dict[int, list[int]] = {}
        for row, label in sorted(self.of.items()):
            members.setdefault(label, []).append(row)
        yield from members.items()


def summary(obeyed: Obeyed) -> list[str]:
    """What there is to say of decisions that were given, in words, but for those that matched nothing."""
    counts = obeyed.counts
    said = list(obeyed.told)
    if counts["indistinguishable"]:
        said.append(
            f"{counts['indistinguishable']:,} decisions `different` are about rows of one text and one title: "
            "nothing in them tells the rows apart, so they are not obeyed"
        )
    return said


def unmatched(counts: Mapping[str, int]) -> list[str]:
    """What there is to say of decisions that are about texts that are not here; {} where none were given."""
    if not counts.get("unused"):
        return []
    return [f"{counts['unused']:,} of {counts['given']:,} decisions matched nothing: one of their texts is not here"]
