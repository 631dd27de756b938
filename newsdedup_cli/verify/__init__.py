"""Pairs -> scores and verdicts. A verifier is one module and one line in VERIFIERS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from newsdedup_cli.kernels import join, text
from newsdedup_cli.settings import Matching
from newsdedup_cli.spill import over_pairs
from newsdedup_cli.tables import I32, I64, U32, Bools, Figures, Fingerprints, Pairs, Rows, Verified
from newsdedup_cli.texts import offsets_of, runs
from newsdedup_cli.verify import guards, none, ratio, shingles

CHUNK, CHARACTERS = 1024, 2 << 20  # pairs, and characters, whose texts are in memory at the same time, per thread
# A pair whose sketch shows less than both is dropped unread: three standard errors under any score that counts.
LEAST_JACCARD = 0.12
LEAST_CONTAINMENT = 0.4

T = TypeVar("T")
R = TypeVar("R")
Texts = Callable[[I64], tuple[npt.NDArray[np.uint8], I64]]


class Verifier(Protocol):
    """Scores pairs of texts from their significant codes (see kernels.text.significant_codes)."""

    def figures(self, codes: U32, offsets: I64, a: I64, b: I64) -> Figures:
        """Figures of the pairs a i8[P], b i8[P]."""
        ...


VERIFIERS: dict[str, Verifier] = {
    "shingles": shingles.Shingles(),
    "ratio": ratio.Ratio(),
    "none": none.Nothing(),
}


def plausible(pairs: Pairs, fingerprints: Fingerprints) -> Bools:
    """Which pairs are worth reading: by the sketch's Jaccard and containment, or both too short for a sketch."""
    jaccard = over_pairs(join.sketch_similarity, fingerprints.sketch, pairs.a, pairs.b)
    size_a = np.maximum(fingerprints.significant[pairs.a].astype(np.float32) - 4, 1)
    size_b = np.maximum(fingerprints.significant[pairs.b].astype(np.float32) - 4, 1)
    common = jaccard / (1 + jaccard) * (size_a + size_b)
    containment = common / np.minimum(size_a, size_b)
    small = np.minimum(size_a, size_b) < 64
    worth: Bools = (jaccard >= LEAST_JACCARD) | (containment >= LEAST_CONTAINMENT) | small
    return worth


def verify(
    pairs: Pairs,
    fingerprints: Fingerprints,
    rows: Rows,
    texts: Texts,
    matching: Matching,
    threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
    titles: Texts | None = None,
) -> Verified:
    """The figures and the verdict of each pair, in the order of the pairs."""
    found = measured(pairs, texts, matching, threads, progress, titles)
    return judged(pairs, found, fingerprints, rows, matching)


class Measured(NamedTuple):
    """What the texts of pairs say, whatever the thresholds are (but for `near_score`)."""

    figures: Figures
    differing: I32  # [P,3] of guards.differing_clauses; 0 under near_score
    other_titles: Bools  # [P] each title is about its own text more than about the other


def measured(
    pairs: Pairs,
    texts: Texts,
    matching: Matching,
    threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
    titles: Texts | None = None,
    sizes: I32 | None = None,
) -> Measured:
    """The figures of each pair, in the order of the pairs.

    `texts` gives the texts of positions, `titles` their titles, both cleaned; they are read in chunks, so memory
    does not grow with the pairs, nor with long texts where sizes i4[N] says how many characters each has.
    """
    verifier = VERIFIERS[matching.verify]
    size = np.zeros(len(pairs), np.int64) if sizes is None else sizes[pairs.a].astype(np.int64) + sizes[pairs.b]
    chunks = ((pairs.a[i:j], pairs.b[i:j]) for i, j in runs(offsets_of(size), CHARACTERS, CHUNK))
    results: list[Measured] = []
    for result in _in_threads(lambda ab: _measure(verifier, texts, titles, *ab, matching), chunks, threads):
        results.append(result)
        progress(len(result.differing))
    none = np.zeros(0, np.float32)
    nothing = Figures(none, none, np.zeros(0, np.uint8), none)
    results = results or [Measured(nothing, np.zeros((0, 3), np.int32), np.zeros(0, bool))]
    figures = Figures(*map(np.concatenate, zip(*[r.figures for r in results], strict=True)))
    return Measured(
        figures,
        np.concatenate([r.differing for r in results]),
        np.concatenate([r.other_titles for r in results]),
    )


def judged(pairs: Pairs, found: Measured, fingerprints: Fingerprints, rows: Rows, matching: Matching) -> Verified:
    """The verdict of each measured pair."""
    figures = found.figures
    verdict = guards.verdicts(pairs, fingerprints, rows, figures, found.differing, matching)
    guards.hold_other_titles(verdict, figures.score, found.other_titles)
    return Verified(
        pairs.a, pairs.b, pairs.distance, pairs.shared_sentences, figures.score, figures.containment, verdict
    )


def _measure(verifier: Verifier, texts: Texts, titles: Texts | None, a: I64, b: I64, matching: Matching) -> Measured:
    rows, inverse = np.unique(np.concatenate([a, b]), return_inverse=True)
    codes, offsets = text.significant_codes(*texts(rows))
    local_a, local_b = inverse[: len(a)], inverse[len(a) :]
    figures = verifier.figures(codes, offsets, local_a, local_b)
    # Figures in the text matter only where the pair would be merged or listed.
    differing = np.zeros((len(a), 3), np.int32)
    likely = np.flatnonzero(figures.score >= matching.near_score)
    differing[likely] = guards.differing_clauses(codes, offsets, local_a[likely], local_b[likely], matching)
    other_titles = np.zeros(len(a), bool)
    doubt = np.flatnonzero((figures.score >= matching.near_score) & (figures.score < guards.FORM))
    if titles is not None and len(doubt):
        other_titles[doubt] = guards.of_other_titles(texts, titles, a[doubt], b[doubt])
    return Measured(figures, differing, other_titles)


def _in_threads(function: Callable[[T], R], items: Iterator[T], threads: int) -> Iterator[R]:
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(function, items)
