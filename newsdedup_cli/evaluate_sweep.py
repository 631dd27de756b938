"""What other thresholds would give: pairs are measured once, then judged and clustered anew for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from newsdedup_cli.cluster import cluster
from newsdedup_cli.errors import UserError
from newsdedup_cli.evaluate import Evaluation, measure
from newsdedup_cli.evaluate_tables import Found, Labels, PairTruth, Report, RowTruth, read_truth
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus
from newsdedup_cli.pipeline import Run, opened
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import Settings, settings_from
from newsdedup_cli.tables import BAND, Clusters, Figures, Pairs
from newsdedup_cli.verify import Measured

DISTANCES = (0, 1, 2, 3, 4, 6, 8, 10, 12)
SCORES = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True)
class Point:
    """What one pair of thresholds gives."""

    max_distance: int  # bits; only whether simhash proposes a pair, unless a classic preset decides by it
    min_score: float
    used: bool  # the thresholds of the report
    figures: Evaluation

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        figures = self.figures.as_dict()
        chosen = {name: figures[name] for name in ("pairs", "clusters", "ari", "stories")}
        return {"max_distance": self.max_distance, "min_score": self.min_score, "used": self.used, **chosen}


def sweep(
    folder: Path, truth_file: Path, labels: Labels, read: ReadOptions, progress: Progress, threads: int = 1
) -> list[Point]:
    """The points of both curves: over the distance at the report's score, then over the score.

    Reads the inputs of the run once more. Raises UserError where they are gone or were changed.
    """
    report = Report(folder)
    truth = read_truth(truth_file, report.ids, labels)
    settings = _settings(report)
    if settings.matching.preset == "classic-nshash":
        raise UserError("classic-nshash has no threshold to sweep over")
    with _opened(report, settings, read, progress, threads) as run:
        if settings.matching.preset == "classic-simhash":
            return list(_classic_points(run, settings, truth))
        return list(_points(run, settings, truth))


def _settings(report: Report) -> Settings:
    """The settings of the run, from run.json."""
    given: dict[str, dict[str, Any]] = report.run.get("settings", {})
    return settings_from(
        {
            section: {name: value for name, value in values.items() if value is not None}
            for section, values in given.items()
        }
    )


@contextmanager
def _opened(report: Report, settings: Settings, read: ReadOptions, progress: Progress, threads: int) -> Iterator[Run]:
    """The report's run, its texts fingerprinted anew, simhash proposing up to the largest distance."""
    inputs = report.unchanged_inputs()
    if not inputs:
        raise UserError(
            f"the inputs of {report.folder} are gone or were changed", wanted="the files that run.json names"
        )
    corpus = open_corpus(inputs, read)
    columns = {
        role: [corpus.resolve(label) for label in names] for role, names in report.run["columns"].items() if names
    }
    widest = max(*DISTANCES, settings.matching.max_distance)
    wide = replace(settings, matching=replace(settings.matching, max_distance=widest))
    with opened(corpus, columns, wide, progress, threads=threads) as run:
        if len(run.prints) != len(report.rows):
            raise UserError(
                f"{len(run.prints):,} rows were read and {report.folder} has {len(report.rows):,}",
                wanted="a report of a whole run (no --limit), read with the same options",
            )
        yield run


def _points(run: Run, settings: Settings, truth: RowTruth | PairTruth) -> Iterator[Point]:
    run.prepare()
    widest, found = run.chosen, run.measured()
    used = settings.matching.max_distance, settings.matching.min_score
    grid = [(distance, used[1]) for distance in sorted({*DISTANCES, used[0]})]
    grid += [(used[0], score) for score in sorted({*SCORES, used[1]})]
    for distance, score in dict.fromkeys(grid):
        run.matching = replace(settings.matching, max_distance=distance, min_score=score)
        proposed = (widest.origin != BAND) | (widest.distance <= distance)
        run.chosen = Pairs(*(getattr(widest, f.name)[proposed] for f in fields(Pairs)))
        figures = Figures(*(column[proposed] for column in found.figures))
        edges = run.judged(Measured(figures, found.differing[proposed], found.other_titles[proposed]))
        clusters, _ = cluster(edges, run.representative, run.rank, run.prints.digest, run.score)
        yield Point(distance, score, (distance, score) == used, measure(_found(clusters), truth))


def _classic_points(run: Run, settings: Settings, truth: RowTruth | PairTruth) -> Iterator[Point]:
    used = settings.matching.max_distance
    for distance in sorted({*DISTANCES, used}):
        run.matching = replace(settings.matching, max_distance=distance)
        run.settings = replace(settings, matching=run.matching)
        figures = measure(_found(run.outcome().clusters), truth)
        yield Point(distance, settings.matching.min_score, distance == used, figures)


def _found(clusters: Clusters) -> Found:
    return Found(clusters.similar_id, clusters.kept_row == np.arange(len(clusters.kept_row)))
