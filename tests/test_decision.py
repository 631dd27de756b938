"""A family of many rows is listed with a few of its pairs."""

from __future__ import annotations

import numpy as np

from newsdedup_cli.decision import FAMILY_PAIRS, FAMILY_ROWS, folded
from newsdedup_cli.tables import VERDICTS, Verified


def doubtful(a, b, verdict: str, score) -> Verified:
    n = len(a)
    zeros = np.zeros(n, np.uint8)
    scores = np.broadcast_to(np.asarray(score, np.float32), n).copy()
    return Verified(a, b, zeros, zeros, scores, scores, np.full(n, VERDICTS.index(verdict), np.uint8))


def digests(rows: int):
    return np.stack([np.arange(rows, dtype=np.uint64)[::-1], np.arange(rows, dtype=np.uint64)], axis=1)


def test_a_large_family_is_listed_with_its_most_alike_pairs():
    rows = 4 * FAMILY_ROWS
    a, b = np.triu_indices(rows, 1)
    score = np.linspace(0.62, 0.9, len(a))
    shown, family = folded(doubtful(a, b, "numbers_differ", score), np.zeros(len(a), np.uint8), digests(rows))
    assert np.flatnonzero(shown).tolist() == list(range(len(a) - FAMILY_PAIRS, len(a)))
    assert set(family.tolist()) == {rows}


def test_what_a_person_decided_and_small_families_stay():
    rows = 4 * FAMILY_ROWS
    a, b = np.triu_indices(rows, 1)
    decision = np.zeros(len(a), np.uint8)
    decision[:7] = 1
    shown, _ = folded(doubtful(a, b, "near", 0.5), decision, digests(rows))
    assert shown[:7].all()
    assert shown.sum() <= 7 + FAMILY_PAIRS
    a, b = np.triu_indices(FAMILY_ROWS - 1, 1)
    shown, family = folded(doubtful(a, b, "near", 0.5), np.zeros(len(a), np.uint8), digests(FAMILY_ROWS - 1))
    assert shown.all()
    assert not family.any()


def test_excerpts_make_no_family():
    rows = 4 * FAMILY_ROWS
    a, b = np.triu_indices(rows, 1)
    shown, family = folded(doubtful(a, b, "contained_in", 0.5), np.zeros(len(a), np.uint8), digests(rows))
    assert shown.all()
    assert not family.any()


def test_the_order_of_rows_does_not_matter():
    rows = 2 * FAMILY_ROWS
    a, b = np.triu_indices(rows, 1)
    order = np.random.default_rng(0).permutation(rows)
    digest = digests(rows)
    turned = np.sort(np.stack([order[a], order[b]]), axis=0)
    place = np.lexsort((turned[1], turned[0]))
    other = digest[np.argsort(order)]

    def chosen(x, y, of):
        shown, _ = folded(doubtful(x, y, "near", 0.5), np.zeros(len(x), np.uint8), of)
        return {tuple(sorted(map(tuple, of[[i, j]].tolist()))) for i, j in zip(x[shown], y[shown], strict=True)}

    assert chosen(a, b, digest) == chosen(turned[0][place], turned[1][place], other)
