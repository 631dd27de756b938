"""Jaccard similarity of five-character shingles; where it is in doubt, a second measure beside it.

No Jaccard threshold alone tells a rewrite from an excerpt: at about .5 a rewrite still has nine tenths of the
characters in their order, an excerpt, an expansion or a template two thirds; shuffled sentences have the
reverse, and there Jaccard alone is plain. A reprint that lost paragraphs in the middle contains nothing new and
begins and ends as the original does; an excerpt does not.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels import compare
from newsdedup_cli.tables import F32, I64, U32, Figures

SURE = 0.62  # Jaccard from which it decides alone
HOPELESS = 0.25  # and below which the second measure is not worth computing
LONGEST = 30_000  # characters up to which the edit ratio is computed: its cost is a product of lengths
IN_ORDER = 0.88  # edit ratio of a rewrite
NOTHING_NEW = 0.9  # containment of a text with parts left out
MIDDLE_LEFT = 0.4  # Jaccard from which a text with parts of its middle left out is still the same
END_LEFT = 0.57  # and one that breaks off before the end
BRIEF = 250  # characters of a text whose begin is looked at in any case: its news is there
EDGE, REACH = 24, 72  # characters of a text's ends, and how far into the other they are looked for


class Shingles:
    """The default verifier."""

    def figures(self, codes: U32, offsets: I64, a: I64, b: I64) -> Figures:
        """Figures of the pairs a i8[P], b i8[P] of texts codes u4[M], offsets i8[N+1]."""
        jaccard, containment = jaccard_containment(codes, offsets, a, b)
        score = jaccard.copy()
        length = np.diff(offsets)
        longest = np.maximum(length[a], length[b])
        doubt = np.flatnonzero((jaccard >= HOPELESS) & (jaccard < SURE) & (longest <= LONGEST))
        ratio = edit_ratio(codes, offsets, a[doubt], b[doubt])
        score[doubt] = np.where(ratio >= IN_ORDER, (jaccard[doubt] + ratio) / 2, jaccard[doubt])
        ends = np.full(len(a), 3, np.uint8)
        nothing_new = containment >= NOTHING_NEW
        brief = np.minimum(length[a], length[b]) <= BRIEF
        parts = np.flatnonzero((nothing_new | brief) & (jaccard >= HOPELESS) & (jaccard < 0.9))
        ends[parts] = compare.shared_ends(codes, offsets, a[parts], b[parts], EDGE, REACH)
        least = np.array([np.inf, END_LEFT, np.inf, MIDDLE_LEFT], np.float32)[ends]
        shortened = nothing_new & (jaccard < 0.9) & (jaccard >= least)
        score[shortened] = (jaccard[shortened] + containment[shortened]) / 2
        return Figures(score, containment, ends)


def jaccard_containment(codes: U32, offsets: I64, a: I64, b: I64) -> tuple[F32, F32]:
    """Exact Jaccard and containment (common over the smaller set) of the distinct shingles."""
    left, right, common = (column.astype(np.float32) for column in compare.shingle_overlap(codes, offsets, a, b).T)
    jaccard = common / np.maximum(left + right - common, 1)
    containment = common / np.maximum(np.minimum(left, right), 1)
    return jaccard, containment


def edit_ratio(codes: U32, offsets: I64, a: I64, b: I64) -> F32:
    """2 x longest common subsequence / sum of lengths, of the significant characters."""
    if len(a) == 0:
        return np.zeros(0, np.float32)
    common = compare.common_subsequence(codes, offsets, a, b)
    counts = np.concatenate([[0], np.cumsum(codes != 0)])
    length = counts[offsets[1:]] - counts[offsets[:-1]]
    total = np.maximum(length[a] + length[b], 1)
    ratio: F32 = (2 * common / total).astype(np.float32)
    return ratio
