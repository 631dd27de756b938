"""The distribution of Hamming distances over all pairs of fingerprints: exact, or from a sample with its error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from newsdedup_cli.kernels import join
from newsdedup_cli.tables import I64, U64
from newsdedup_cli.valley import Valley, no_valley, valley

EXACT_ROWS = 100_000  # rows up to which every pair is measured
SAMPLED_PAIRS = 5_000_000_000  # pairs that are measured beyond: a few seconds a core
GROUPS = 20  # parts of the sample whose spread gives the sampling error
CHUNK = 512  # rows whose pairs are measured in one call
BULK = 24  # bits from which nothing is a copy: the valley's lowest point lies before


@dataclass
class Distances:
    """Pairs of different texts at each distance; pairs of equal texts are told apart, they need no threshold."""

    rows: int
    counts: I64  # [65]
    errors: npt.NDArray[np.float64]  # [65] standard errors, 0 where every pair was measured
    equal_pairs: int
    measured_pairs: int

    @property
    def total_pairs(self) -> int:
        """All pairs of the rows."""
        return self.rows * (self.rows - 1) // 2

    @property
    def exact(self) -> bool:
        """Whether every pair was measured."""
        return self.measured_pairs == self.total_pairs


def measure(simhash: U64, digest: U64, threads: int = 1, seed: int = 0) -> Distances:
    """The distances of fingerprints simhash u8[N] of texts digest u8[N,2]."""
    n = len(simhash)
    errors = np.zeros(65)
    if n <= EXACT_ROWS:
        counts, measured = every_pair(simhash, threads), n * (n - 1) // 2
    else:
        counts, errors, measured = sample(simhash, SAMPLED_PAIRS // n, threads, seed)
    equal = equal_texts(digest, simhash)
    return Distances(n, np.maximum(counts - equal, 0), errors, int(equal.sum()), measured)


def distance_valley(found: Distances) -> Valley:
    """The valley in distances; its lowest point lies before the crest of the bulk and before BULK."""
    if found.rows < 2:
        return no_valley("nothing to compare")
    return valley(found.counts, 1, max(2, min(BULK, int(found.counts.argmax()))))


def some_of(simhash: U64, digest: U64, most: int) -> Distances:
    """The distances among at most `most` of the rows, chosen by content, so that their order does not matter."""
    order = np.lexsort((digest[:, 1], digest[:, 0]))[:most]
    return measure(simhash[order], digest[order])


def every_pair(simhash: U64, threads: int = 1) -> I64:
    """i8[65] over all pairs of simhash u8[N]."""
    starts = range(0, len(simhash), CHUNK)
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda i: join.all_distances(simhash, i, min(i + CHUNK, len(simhash))), starts)
        return sum(parts, np.zeros(65, np.int64))


def sample(simhash: U64, rows: int, threads: int = 1, seed: int = 0) -> tuple[I64, npt.NDArray[np.float64], int]:
    """Estimates of `every_pair` from some rows against all others, their standard errors, and the pairs measured.

    The error is the spread of GROUPS parts of the sample (Cochran, Sampling Techniques, 1977, ch. 9), which
    counts in that pairs of one row are not independent.
    """
    n = len(simhash)
    rows = min(n, max(rows, 2 * GROUPS))
    chosen = np.random.default_rng(seed).choice(n, rows, replace=False)
    groups = np.array_split(chosen, GROUPS)

    def against_all(group: I64) -> npt.NDArray[np.float64]:
        some = simhash[group]
        counts = join.all_distances(np.concatenate([some, simhash]), 0, len(group))
        counts = counts - join.all_distances(some, 0, len(group))
        counts[0] -= len(group)  # each row against itself
        estimate: npt.NDArray[np.float64] = counts * (n / 2 / len(group))
        return estimate

    with ThreadPoolExecutor(threads) as pool:
        estimates = np.array(list(pool.map(against_all, groups)))
    errors = estimates.std(axis=0, ddof=1) / np.sqrt(GROUPS) * np.sqrt(1 - rows / n)
    return np.rint(estimates.mean(axis=0)).astype(np.int64), errors, rows * (n - 1)


def equal_texts(digest: U64, simhash: U64) -> I64:
    """i8[65] over the pairs of equal digests u8[N,2]: words may be cut otherwise where the punctuation differs."""
    counts = np.zeros(65, np.int64)
    if len(digest) == 0:
        return counts
    order = np.lexsort((simhash, digest[:, 1], digest[:, 0]))
    digest, simhash = digest[order], simhash[order]
    new_text = np.append(True, (digest[1:] != digest[:-1]).any(axis=1))
    new_print = new_text | np.append(True, simhash[1:] != simhash[:-1])
    starts = np.flatnonzero(new_print)
    sizes = np.diff(np.append(starts, len(digest)))
    counts[0] = int((sizes * (sizes - 1) // 2).sum())
    text = np.cumsum(new_text)[starts]
    for i in np.flatnonzero(text[1:] == text[:-1]) + 1:
        j = i - 1
        while j >= 0 and text[j] == text[i]:
            counts[int(simhash[starts[i]] ^ simhash[starts[j]]).bit_count()] += sizes[i] * sizes[j]
            j -= 1
    return counts
