"""The edit ratio alone, for people who know difflib's measure: 2 x common characters in order / sum of lengths."""

from __future__ import annotations

import numpy as np

from newsdedup_cli.tables import I64, U32, Figures
from newsdedup_cli.verify.shingles import edit_ratio, shingle_shares


class Ratio:
    """Score is the edit ratio; difflib's own figure is never above it, for it finds common runs greedily."""

    def figures(self, codes: U32, offsets: I64, a: I64, b: I64) -> Figures:
        """Figures of the pairs."""
        _, containment, left = shingle_shares(codes, offsets, a, b)
        return Figures(edit_ratio(codes, offsets, a, b), containment, np.full(len(a), 3, np.uint8), left)
