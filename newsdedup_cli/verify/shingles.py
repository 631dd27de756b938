"""Jaccard similarity of five-character shingles; where it is in doubt, other measures beside it.

No Jaccard threshold alone tells a rewrite from an excerpt: at about .5 a rewrite still has nine tenths of the
characters in their order, an excerpt, an expansion or a template two thirds; shuffled sentences have the
reverse, and there Jaccard alone is plain. A reprint that lost paragraphs has nothing new, be the rest a little
changed and in another order: how much may be gone depends on where it is gone. Begin and end of an excerpt are
seldom those of the article.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels import overlap
from newsdedup_cli.tables import F32, I64, U32, Figures

SURE = 0.62  # Jaccard from which it decides alone
HOPELESS = 0.25  # and below which no other measure is worth computing
LONGEST = 30_000  # characters up to which the edit ratio is computed: its cost is a product of lengths
LONG = 400  # characters of a text in which a form for names and numbers leaves little of itself
IN_ORDER, IN_ORDER_LONG = 0.88, 0.85  # edit ratio of a rewrite, and of a long one
NOTHING_NEW = 0.9  # containment of a text with parts left out
CHANGED, LEAST = 0.75, 0.45  # its containment if some characters were changed besides, and its Jaccard,
COVERED, GAP = 0.93, 8  # and the share of it that is shared but for gaps of so many characters
# Share of the longer text that a shorter one must be to be the same and no excerpt: if neither their begins nor
# their ends are alike, only the begins, only the ends, both. And where nothing around the texts speaks for it.
LEAST_LEFT = np.array([0.58, 0.5, 0.55, 0.4], np.float32)
LEAST_ALONE = np.array([0.7, 0.6, 0.65, 0.4], np.float32)
NEWS, ALL_BUT = 200, 0.8  # characters of a brief that is one sentence of news, and the share of a longer one
BRIEF = 250  # characters of a text whose begin is looked at in any case: its news is there
EDGE, REACH = 24, 72  # characters of a text's ends, and how far into the other they are looked for


class Shingles:
    """The default verifier."""

    def figures(self, codes: U32, offsets: I64, a: I64, b: I64) -> Figures:
        """Figures of the pairs a i8[P], b i8[P] of texts codes u4[M], offsets i8[N+1]."""
        jaccard, containment, left = shingle_shares(codes, offsets, a, b)
        length = letters(codes, offsets)
        shorter, longer = np.minimum(length[a], length[b]), np.maximum(length[a], length[b])
        score = jaccard.copy()
        doubt = (jaccard >= HOPELESS) & (jaccard < SURE)
        # The ratio cannot be more than if all of the shorter text were there.
        least = np.where(shorter >= LONG, IN_ORDER_LONG, IN_ORDER)
        order = np.flatnonzero(doubt & (longer <= LONGEST) & (2 * shorter >= least * (shorter + longer)))
        ratio = edit_ratio(codes, offsets, a[order], b[order], length)
        rewritten = ratio >= least[order]
        score[order[rewritten]] = (jaccard[order] + ratio)[rewritten] / 2
        share = containment.copy()
        changed = np.flatnonzero(
            (jaccard >= LEAST)
            & (jaccard < SURE)
            & (containment >= CHANGED)
            & (containment < NOTHING_NEW)
            & (shorter >= BRIEF)
        )
        share[changed] = covered(codes, offsets, a[changed], b[changed], length)
        nothing_new = (containment >= NOTHING_NEW) | (share >= COVERED)
        ends = np.full(len(a), 3, np.uint8)
        looked = (nothing_new & (left < LEAST_ALONE.max())) | (shorter <= BRIEF)
        at = np.flatnonzero(looked & (jaccard >= HOPELESS) & (jaccard < 0.9))
        ends[at] = overlap.shared_ends(codes, offsets, a[at], b[at], EDGE, REACH)
        # A brief that begins otherwise, or says a fifth more, has other news.
        brief = shorter <= BRIEF
        other_brief = brief & (((ends & 1) == 0) | ((shorter <= NEWS) & (left < ALL_BUT)))
        shortened = nothing_new & (jaccard >= HOPELESS) & (jaccard < 0.9) & (left >= LEAST_LEFT[ends]) & ~other_brief
        score[shortened] = np.maximum(score, (jaccard + share) / 2)[shortened]
        return Figures(score, containment, ends, left)


def covered(codes: U32, offsets: I64, a: I64, b: I64, length: I64 | None = None) -> F32:
    """Share f4[P] of the shorter text of each pair that stands in the longer but for small changes."""
    length = letters(codes, offsets) if length is None else length
    found = overlap.covered(codes, offsets, a, b, GAP)
    there = np.where(length[a] <= length[b], found[:, 0], found[:, 1])
    share: F32 = (there / np.maximum(np.minimum(length[a], length[b]), 1)).astype(np.float32)
    return share


def shingle_shares(codes: U32, offsets: I64, a: I64, b: I64) -> tuple[F32, F32, F32]:
    """Of the distinct shingles exactly: Jaccard, containment (common over the smaller set), smaller over larger set."""
    left, right, common = (column.astype(np.float32) for column in overlap.shingle_overlap(codes, offsets, a, b).T)
    jaccard = common / np.maximum(left + right - common, 1)
    smaller = np.maximum(np.minimum(left, right), 1)
    return jaccard, common / smaller, smaller / np.maximum(np.maximum(left, right), 1)


def letters(codes: U32, offsets: I64) -> I64:
    """How many significant characters each text has: i8[N]."""
    counts: I64 = np.concatenate([[0], np.cumsum(codes != 0)])
    length: I64 = counts[offsets[1:]] - counts[offsets[:-1]]
    return length


def edit_ratio(codes: U32, offsets: I64, a: I64, b: I64, length: I64 | None = None) -> F32:
    """2 x longest common subsequence / sum of lengths, of the significant characters."""
    if len(a) == 0:
        return np.zeros(0, np.float32)
    common = overlap.common_subsequence(codes, offsets, a, b)
    length = letters(codes, offsets) if length is None else length
    ratio: F32 = (2 * common / np.maximum(length[a] + length[b], 1)).astype(np.float32)
    return ratio
