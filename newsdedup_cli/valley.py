"""Where a distribution has a valley between copies and the rest, or why it has none.

Counts are smoothed (weights 1 2 3 2 1 over neighbouring bins). A valley is the least smoothed count between a
crest on the copies' side and one on the side of the rest, both above it by more than chance: three standard
errors, counts taken as Poisson. All bins around it whose own counts chance cannot tell from it (two standard
errors) belong to it, so a valley is an interval, and any threshold inside it is as good as another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from newsdedup_cli.tables import I64

WEIGHTS = np.array([1, 2, 3, 2, 1], float)
CREST, FLAT = 3.0, 2.0  # standard errors

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Valley:
    """Bins first..last of a valley, both of it, or the reason why there is none."""

    first: int
    last: int
    lowest: int
    reason: str

    @property
    def found(self) -> bool:
        """Whether there is one."""
        return self.last >= 0


def no_valley(reason: str) -> Valley:
    """The answer where there is none."""
    return Valley(-1, -1, -1, reason)


def smoothed(counts: I64) -> tuple[Floats, Floats]:
    """Smoothed counts f8[B] and their variances f8[B]; at the ends only the bins that there are.

    >>> smoothed(np.array([0, 0, 0, 9, 0, 0, 0]))[0].tolist()
    [0.0, 1.125, 2.0, 3.0, 2.0, 1.125, 0.0]
    """
    norm = np.convolve(np.ones(len(counts)), WEIGHTS, "same")
    value = np.convolve(counts, WEIGHTS, "same") / norm
    return value, np.convolve(counts, WEIGHTS**2, "same") / norm**2


def valley(counts: I64, begin: int, end: int) -> Valley:
    """The valley of counts i8[B], copies in the first bins and the rest in the last, with its lowest bin in
    begin..end-1."""
    value, variance = smoothed(counts)
    lowest = begin + int(np.argmin(value[begin:end]))
    # Standard errors above the lowest; + 1 so that empty bins are no certainty.
    above = (value - value[lowest]) / np.sqrt(variance + variance[lowest] + 0.3)
    if lowest == 0 or above[:lowest].max() < CREST:
        return no_valley(_without_copies(counts, lowest))
    if above[lowest:].max() < CREST:
        return no_valley("no rest: the pairs that are no copies are too few to show where they end")
    # The slopes reach into smoothed bins beside them, so the flat part is told by the counts themselves.
    flat = (counts - value[lowest]) / np.sqrt(counts + variance[lowest] + 0.3) <= FLAT
    first, last = lowest, lowest
    while first > 0 and flat[first - 1]:
        first -= 1
    while last < len(counts) - 1 and flat[last + 1]:
        last += 1
    return Valley(first, last, lowest, "")


def _without_copies(counts: I64, lowest: int) -> str:
    near = int(counts[: max(lowest, 1)].sum())
    if near == 0:
        return "no pair lies on the copies' side"
    return "no crest of copies: from the nearest pairs on the counts rise or stay level, with no dip beyond chance"
