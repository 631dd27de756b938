"""Rows that follow what came before them: with `--keep first`, and new rows beside a history.

A row is removed for the best of the rows before it that stay and that it is the same as, unless a row that was
removed for that one is kept apart from it. Nothing here depends on later rows, so days one after the other give what
all of them give at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from newsdedup_cli.kernels import leaders
from newsdedup_cli.tables import APART, I64, NEAR, SAME, U8, Bools, Verified

Score = Callable[[I64, I64], Verified]


@dataclass
class Families:
    """Components of rows that are nearly alike, grown pair by pair: for each its rows, its pairs, and those alike."""

    parent: I64
    size: I64
    alike: I64
    every: I64

    @classmethod
    def of(cls, rows: int, a: I64, b: I64, same: U8) -> Families:
        """Those that the pairs a i8[P], b i8[P] among so many rows make."""
        made = cls(np.arange(rows), np.ones(rows, np.int64), np.zeros(rows, np.int64), np.zeros(rows, np.int64))
        made.add(a, b, same)
        return made

    def add(self, a: I64, b: I64, same: U8) -> None:
        """Count more pairs."""
        leaders.add_links(self.parent, self.size, self.alike, self.every, a, b, same)

    def copy(self) -> Families:
        """One that can grow by itself."""
        return Families(*(getattr(self, field.name).copy() for field in fields(self)))

    def among(self, rows: I64, family: int) -> Bools:
        """Which of the rows belong to a family: `family` rows or more, fewer pairs alike than not."""
        root = self.parent.copy()
        while (root[root] != root).any():
            root = root[root]
        root = root[rows]
        found: Bools = (self.size[root] >= family) & (2 * self.alike[root] < self.every[root])
        return found


@dataclass
class Before:
    """What is known of the rows before the ones to be decided."""

    keeper: I64  # [past] the row that each was removed for, itself where it stays, -1 where that is not at hand
    node: I64  # [N] of each row its place in `families`
    families: Families

    @property
    def rows(self) -> int:
        """How many they are."""
        return len(self.keeper)


def loose(edges: Verified) -> Bools:
    """Which pairs are alike or nearly so: by these a family is known."""
    found: Bools = np.isin(edges.verdict, [SAME, NEAR, APART])
    return found


def follow(
    edges: Verified, before: Before, score: Score, sure: Bools, family: int, form: float
) -> tuple[I64, Verified]:
    """The keeper i8[N] of each row, its own position where it stays, and all pairs that were verified.

    Parameters: edges (verified, without the guard on families), what is known of the rows before, `score`, which
    verifies further pairs; `sure`, the edges that a person decided: those win over any other; `family` and `form`: see
    verify.guards.
    """
    rows = len(before.node)
    extra = np.zeros(len(edges), bool)
    while True:
        order = np.lexsort((edges.a, edges.b))
        edges, extra, sure = edges.where(order), extra[order], sure[order]
        keeper = np.concatenate([before.keeper, np.arange(before.rows, rows)])
        held = np.zeros(len(edges), np.uint8)
        more_a, more_b = _decided(edges, extra, sure, before, keeper, held, family, form)
        if len(more_a) == 0:
            break
        more = score(more_a, more_b)
        edges = Verified(*(np.concatenate([getattr(edges, f.name), getattr(more, f.name)]) for f in fields(edges)))
        extra = np.append(extra, np.ones(len(more), bool))
        sure = np.append(sure, np.zeros(len(more), bool))
    edges.verdict = np.where(held > 0, np.uint8(NEAR), edges.verdict)
    return keeper, edges.where(np.lexsort((edges.b, edges.a)))


def settled(
    edges: Verified, before: Before, score: Score, sure: Bools, by_rows: bool, family: int, form: float
) -> tuple[I64 | None, Verified]:
    """The row that stays for each row that follows others (-1: is free; None: all are), and all pairs then verified."""
    if by_rows:
        return follow(edges, before, score, sure, family, form)
    return for_history(edges, before, score, sure) if before.rows else (None, edges)


def _decided(
    edges: Verified, extra: Bools, sure: Bools, before: Before, keeper: I64, held: U8, family: int, form: float
) -> tuple[I64, I64]:
    components = before.families.copy()
    found: tuple[I64, I64] = leaders.follow(
        before.rows,
        edges.a,
        edges.b,
        (edges.verdict == SAME).astype(np.uint8),
        (edges.verdict == APART).astype(np.uint8),
        loose(edges).astype(np.uint8) * ~extra,
        extra.astype(np.uint8),
        np.where(sure, np.float32(2), edges.score),
        before.node,
        components.parent,
        components.size,
        components.alike,
        components.every,
        family,
        np.float32(form),
        keeper,
        held,
    )
    return found


def for_history(edges: Verified, before: Before, score: Score, sure: Bools) -> tuple[I64, Verified]:
    """The stored row that each new row is removed for, -1 for none, whatever the new rows are among themselves.

    As `follow`, with the guard on families in the edges already. Where a row is the same as a stored row only that was
    itself removed, it is removed for that one.
    """
    old = edges.a < before.rows
    none = np.zeros(0, np.int64)
    free = Families.of(len(before.families.parent), none, none, none.astype(np.uint8))
    nothing = Before(before.keeper, before.node, free)
    keeper, known = follow(edges.where(old), nothing, score, sure[old], np.iinfo(np.int64).max, 0.0)
    own = np.arange(len(keeper))
    keeper[(keeper == own) & (own >= before.rows)] = -1
    keeper[: before.rows] = np.where(before.keeper >= 0, before.keeper, own[: before.rows])
    same = known.where((known.verdict == SAME) & (known.a < before.rows))
    same = same.where(np.lexsort((same.a, -same.score, same.b)))
    rows, first = np.unique(same.b, return_index=True)
    left = keeper[rows] < 0
    blocked = np.isin(rows, known.b[known.verdict == APART])
    chosen = left & ~blocked
    keeper[rows[chosen]] = same.a[first[chosen]]
    both = Verified(*(np.concatenate([getattr(known, f.name), getattr(edges, f.name)[~old]]) for f in fields(known)))
    return keeper, both.where(np.lexsort((both.b, both.a)))
