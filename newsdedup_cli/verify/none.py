"""No verification: every proposed pair is a copy, as in the published recipes."""

from __future__ import annotations

import numpy as np

from newsdedup_cli.tables import I64, U32, Figures


class Nothing:
    """Score 1 for every pair."""

    def figures(self, codes: U32, offsets: I64, a: I64, b: I64) -> Figures:
        """Ones."""
        ones = np.ones(len(a), np.float32)
        return Figures(ones, ones.copy(), np.full(len(a), 3, np.uint8), ones.copy())
