"""How far rows lie apart, where copies end and the rest begins, and what each threshold would merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from newsdedup_cli import candidates, pipeline, verify
from newsdedup_cli.cluster import cluster
from newsdedup_cli.distances import Distances, distance_valley, measure
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.kernels import join
from newsdedup_cli.names import row_names
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import Matching, Settings, settings_from
from newsdedup_cli.tables import I64, SAME, Clusters, Verified
from newsdedup_cli.texts import strings
from newsdedup_cli.valley import Valley, no_valley, valley
from newsdedup_cli.verify import guards

LOWEST = 0.2  # score under which no threshold is asked about
BINS = 50  # of scores, .02 wide
THRESHOLDS = (0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
WINDOW = (0.3, 0.86)  # scores among which the lowest point of a valley is looked for
FARTHEST = 12  # bits up to which the table of distances goes
SHOWN = 3  # pairs on either side of the threshold that are shown
SNIPPET = 120  # characters of a row's text that are shown with it


@dataclass(frozen=True)
class Merge:
    """What a threshold would merge."""

    threshold: float
    pairs: int  # of different texts
    held_back: int  # pairs past the threshold that a guard keeps apart
    removed: int  # rows, those of equal texts among them
    largest: int  # rows of the largest cluster


@dataclass(frozen=True)
class Near:
    """A pair to read, close to the threshold."""

    score: float
    distance: int
    rows: tuple[int, int]  # from 1
    ids: tuple[str, str]
    titles: tuple[str, str]
    texts: tuple[str, str]  # how the cleaned texts begin


@dataclass(frozen=True)
class Suggestion:
    """The threshold to run with: `setting` is min_score or max_distance."""

    setting: str
    value: float
    reason: str


@dataclass
class Histogram:
    """The answer; with fewer than two comparable rows only the row counts say something."""

    rows: int  # read
    comparable: int  # rows with a text that is compared
    distances: Distances
    distance_valley: Valley
    suggestion: Suggestion
    proposed: int = 0  # candidate pairs
    scores: I64 = field(default_factory=lambda: np.zeros(BINS, np.int64))  # pairs that no guard keeps apart
    guarded: I64 = field(default_factory=lambda: np.zeros(BINS, np.int64))  # the others
    score_valley: Valley = field(default_factory=lambda: no_valley("pairs are not scored with these settings"))
    by_score: list[Merge] = field(default_factory=list)
    by_distance: list[Merge] = field(default_factory=list)
    over: list[Near] = field(default_factory=list)  # pairs just good enough, the worst first
    under: list[Near] = field(default_factory=list)  # pairs just not good enough, the best first


def histogram(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 1,
    limit: int | None = None,
    tmpdir: Path | None = None,
    seed: int = 0,
) -> Histogram:
    """Measure the corpus. `seed` chooses the sample where there are too many pairs to measure them all."""
    if settings.matching.preset == "classic-nshash":
        raise UserError("--preset classic-nshash has no threshold: one shared sentence joins", todo="no --preset")
    with pipeline.opened(corpus, columns, settings, progress, threads=threads, limit=limit, tmpdir=tmpdir) as run:
        run.prepare()
        prints = run.prints
        worded = np.flatnonzero((prints.alone == 0) & (prints.features >= least_words(settings.matching)))
        with progress.stage("distances"):
            found = measure(prints.simhash[worded], prints.digest[worded], threads, seed)
        comparable = int((prints.alone == 0).sum())
        dip = distance_valley(found)
        if not scores_decide(settings.matching):
            return _by_distance_alone(run, settings.matching, worded, comparable, found, dip)
        return _by_scores(_Scored(run, settings.matching), worded, comparable, found, dip)


def least_words(matching: Matching) -> int:
    """Words that a fingerprint needs to say something; the published recipe does not ask."""
    return 0 if matching.preset.startswith("classic") else matching.least_words


def scores_decide(matching: Matching) -> bool:
    """Whether pairs are merged by their score; in the classic presets and without a verifier by distance."""
    return matching.verify != "none" and not matching.preset.startswith("classic")


def _by_scores(scored: _Scored, worded: I64, comparable: int, found: Distances, dip: Valley) -> Histogram:
    run, matching = scored.run, scored.matching
    free, held = scored.counts()
    score_dip = score_valley(free)
    suggestion = _suggestion("min_score", matching, score_dip, score_edges(score_dip))
    with run.progress.stage("thresholds"):
        thresholds = sorted({*THRESHOLDS, matching.min_score, suggestion.value})
        by_score = [scored.merge(threshold) for threshold in thresholds]
        by_distance = _distance_merges(run, worded, found)
    over, under = scored.near(suggestion.value)
    return Histogram(
        len(run.scanned.rows), comparable, found, dip, suggestion, len(run.proposed), free, held, score_dip,
        by_score, by_distance, _to_read(run, over), _to_read(run, under),
    )  # fmt: skip


def _by_distance_alone(
    run: pipeline.Run, matching: Matching, worded: I64, comparable: int, found: Distances, dip: Valley
) -> Histogram:
    suggestion = _suggestion("max_distance", matching, dip, (dip.first, dip.last))
    merges = _distance_merges(run, worded, found)
    over, under = _near_distance(run, worded, int(suggestion.value))
    return Histogram(
        len(run.scanned.rows), comparable, found, dip, suggestion, len(run.proposed), by_distance=merges,
        over=_to_read(run, over), under=_to_read(run, under),
    )  # fmt: skip


def score_valley(counts: I64) -> Valley:
    """The valley in scores: bins count from 1 down."""
    low, high = (round((1 - score) * BINS) for score in WINDOW)
    return valley(counts[::-1], high, low)


def _suggestion(setting: str, matching: Matching, dip: Valley, edges: tuple[float, float]) -> Suggestion:
    """The default, unless it lies on the far side of the valley: then the valley's edge towards the copies.

    A wrong removal is worse than a missed copy, so a shape alone never makes the threshold laxer.
    """
    chosen = {"preset": matching.preset, "scope": matching.scope}
    value = getattr(settings_from({"matching": chosen}).matching, setting)
    low, high = edges
    if not dip.found:
        return Suggestion(setting, value, "the default: without a valley nothing speaks for another")
    if low - 1e-9 <= value <= high + 1e-9:
        return Suggestion(setting, value, "the default: it lies in the valley")
    laxer = value < low if setting == "min_score" else value > high
    if laxer:
        return Suggestion(setting, low if setting == "min_score" else high, "the valley's edge towards the copies")
    return Suggestion(
        setting, value, "the default: it lies on the copies' side of the valley; read the pairs before going further"
    )


def score_edges(dip: Valley) -> tuple[float, float]:
    """The scores at which a valley of scores begins and ends."""
    return round(1 - (dip.last + 1) / BINS, 2), round(1 - dip.first / BINS, 2)


class _Scored:
    """The candidate pairs, measured once and judged with one threshold after the other."""

    def __init__(self, run: pipeline.Run, matching: Matching) -> None:
        self.run, self.matching = run, matching
        # Figures in the texts are compared from `near_score` on, so it goes down for measuring.
        run.matching = replace(matching, min_score=LOWEST, near_score=LOWEST)
        self._found = run.measured()
        low = verify.judged(run.chosen, self._found, run.prints, run.scanned.rows, run.matching)
        self._judged(matching.min_score)
        guards.hold_families(low, run.family)
        self.pairs = low

    def _judged(self, threshold: float) -> Verified:
        """The pairs as `run` would judge them with this min_score."""
        self.run.matching = replace(self.matching, min_score=threshold)
        return self.run.judged(self._found)

    def counts(self) -> tuple[I64, I64]:
        """Pairs by score, i8[BINS] each: those that no guard keeps apart, and those that one does."""
        at = np.minimum((self.pairs.score * BINS + 1e-4).astype(np.int64), BINS - 1)
        free = (self.pairs.verdict == SAME) | (self.pairs.verdict == 0)
        return np.bincount(at[free], minlength=BINS), np.bincount(at[~free], minlength=BINS)

    def merge(self, threshold: float) -> Merge:
        """What `run` would do with this min_score."""
        run = self.run
        edges = self._judged(threshold)
        clusters, _ = cluster(edges, run.representative, run.rank, run.prints.digest, run.score)
        past = edges.score >= threshold
        held = int((past & (edges.verdict != SAME)).sum())
        return _merged(threshold, int((edges.verdict == SAME).sum()), held, clusters)

    def near(self, threshold: float) -> tuple[Verified, Verified]:
        """The pairs just over and just under the threshold that no guard keeps apart."""
        pairs = self.pairs.where(self.pairs.verdict == SAME)
        order = np.lexsort((pairs.b, pairs.a, pairs.score))
        split = int(np.searchsorted(pairs.score[order], np.float32(threshold)))
        return pairs.where(order[split : split + SHOWN]), pairs.where(order[max(0, split - SHOWN) : split][::-1])


def _merged(threshold: float, pairs: int, held: int, clusters: Clusters) -> Merge:
    sizes = np.bincount(clusters.similar_id)
    return Merge(threshold, pairs, held, len(clusters.link), int(sizes.max(initial=0)))


def _near_pairs(run: pipeline.Run, worded: I64, most: int) -> tuple[I64, I64, I64]:
    """Pairs of rows within so many bits that join the same rows as all such pairs, and their distances."""
    order = np.lexsort((run.prints.digest[worded, 1], run.prints.digest[worded, 0]))
    a, b = candidates.near_fingerprints(run.prints.simhash, worded[order], most)
    return a, b, join.distances(run.prints.simhash, a, b).astype(np.int64)


def _distance_merges(run: pipeline.Run, worded: I64, found: Distances) -> list[Merge]:
    """What simhash alone would merge, transitively, with equal texts."""
    if found.rows < 2:
        return []
    most = FARTHEST if found.exact else run.matching.max_distance
    a, b, distance = _near_pairs(run, worded, most)
    rows = np.arange(len(run.prints))
    merges = []
    for threshold in range(most + 1):
        near = distance <= threshold
        label = join.components(
            len(rows), np.concatenate([a[near], rows]), np.concatenate([b[near], run.representative])
        )
        sizes = np.bincount(label)
        pairs = int(found.counts[: threshold + 1].sum())
        removed = int((label != rows).sum())
        merges.append(Merge(threshold, pairs, 0, removed, int(sizes.max(initial=0))))
    return merges


def _near_distance(run: pipeline.Run, worded: I64, threshold: int) -> tuple[Verified, Verified]:
    a, b, distance = _near_pairs(run, worded, threshold + 2)
    a, b = np.minimum(a, b), np.maximum(a, b)
    different = run.representative[a] != run.representative[b]
    a, b, distance = a[different], b[different], distance[different]
    order = np.lexsort((b, a, distance))
    split = int(np.searchsorted(distance[order], threshold, side="right"))

    def pairs(some: I64) -> Verified:
        bits = distance[some].astype(np.uint8)
        score = (1 - bits / 64).astype(np.float32)
        same = np.full(len(some), SAME, np.uint8)
        return Verified(a[some], b[some], bits, np.zeros(len(some), np.uint8), score, score, same)

    return pairs(order[max(0, split - SHOWN) : split][::-1]), pairs(order[split : split + SHOWN])


def _to_read(run: pipeline.Run, pairs: Verified) -> list[Near]:
    rows = run.scanned.rows
    names = row_names(rows.id, rows.file, run.scanned.files)
    texts = {
        int(row): strings(*run.texts.gather(np.array([row])))[0].as_py()[:SNIPPET]
        for row in np.unique(np.concatenate([pairs.a, pairs.b]))
    }
    read = []
    for i in range(len(pairs)):
        both = (int(pairs.a[i]), int(pairs.b[i]))
        a, b = both
        read.append(
            Near(
                score=round(float(pairs.score[i]), 4),
                distance=int(pairs.distance[i]),
                rows=(a + 1, b + 1),
                ids=(names[a].as_py(), names[b].as_py()),
                titles=(rows.title[a].as_py() or "", rows.title[b].as_py() or ""),
                texts=(texts[a], texts[b]),
            )
        )
    return read
