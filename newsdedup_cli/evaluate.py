"""A report against labels: how many copies were found, how many stories were lost, and the worst mistakes.

The measures are those of the record-linkage literature: of pairs (two rows in one cluster), of clusters that
are right to the row, and the adjusted Rand index (Hubert and Arabie, 1985). Beside them stands what a user of
the kept rows meets: true clusters none of whose rows was kept, and copies left among the kept rows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from newsdedup_cli import evaluate_mistakes
from newsdedup_cli.evaluate_tables import Found, Labels, PairTruth, Report, RowTruth, read_truth
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.tables import I64, Bools


@dataclass(frozen=True)
class Score:
    """Found against true: precision, recall and F1, None where there is nothing to divide by."""

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float | None:
        """Share of what was found that is true."""
        return ratio(self.right, self.found)

    @property
    def recall(self) -> float | None:
        """Share of what is true that was found."""
        return ratio(self.right, self.true)

    @property
    def f1(self) -> float | None:
        """Their harmonic mean."""
        return ratio(2 * self.right, self.found + self.true)

    def as_dict(self) -> dict[str, Any]:
        """Shares and counts."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **asdict(self)}


@dataclass(frozen=True)
class Stories:
    """What became of the true clusters among the kept rows."""

    true: int
    lost: int  # none of their rows was kept
    kept_rows: int
    left_over: int  # kept rows beyond one of each story


@dataclass(frozen=True)
class RowKind:
    """Rows of one kind of change."""

    rows: int
    recall: float | None  # of the pairs such rows should be in, the share found
    merged: int  # rows in a cluster with rows of another story
    lost: int  # rows of lost stories
    left_over: int  # rows kept beside a kept row of their story


@dataclass(frozen=True)
class PairKind:
    """Labelled pairs of one kind."""

    same: int
    recall: float | None
    different: int
    wrongly_merged: int
    listed: int  # not merged, but among the candidates for a person


@dataclass
class Evaluation:
    """All figures of one report."""

    compared: int
    undecided: int
    not_in_report: int
    pairs: Score
    clusters: Score | None  # None for labelled pairs, as the next two
    ari: float | None
    stories: Stories | None
    kinds: dict[str, RowKind] | dict[str, PairKind] | None
    mistakes: list[evaluate_mistakes.Mistake] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {
            "compared": self.compared,
            "undecided": self.undecided,
            "not_in_report": self.not_in_report,
            "pairs": self.pairs.as_dict(),
            "clusters": self.clusters and self.clusters.as_dict(),
            "ari": self.ari,
            "stories": self.stories and asdict(self.stories),
            "kinds": self.kinds and {name: asdict(kind) for name, kind in self.kinds.items()},
            "mistakes": [asdict(mistake) for mistake in self.mistakes],
        }


def evaluate(folder: Path, truth_file: Path, labels: Labels, read: ReadOptions, mistakes: int = 10) -> Evaluation:
    """The figures of a report folder, with the worst mistakes of each sort, up to so many; `read` is
    how the run's inputs are read for their texts.

    Raises UserError where the folder is no report, or the file has no labels.
    """
    report = Report(folder)
    truth = read_truth(truth_file, report.ids, labels)
    made = measure(report.found, truth, report)
    made.mistakes = evaluate_mistakes.worst(report, truth, mistakes, read)
    return made


def measure(found: Found, truth: RowTruth | PairTruth, report: Report | None = None) -> Evaluation:
    """The figures alone; the report is asked for the pairs that it lists for a person."""
    if isinstance(truth, RowTruth):
        return _measure_rows(found, truth)
    return _measure_pairs(found, truth, report)


def ratio(part: int, whole: int) -> float | None:
    """part / whole, None for nothing of nothing."""
    return part / whole if whole else None


# ---------------------------------------------------------------- truth by rows


@dataclass(frozen=True)
class _Cross:
    """How true clusters and found ones overlap: counts by row and by cell."""

    cell: I64  # [M] which overlap a row is in
    cell_size: I64
    cell_true: I64  # true cluster of each overlap
    cell_found: I64
    true_size: I64
    found_size: I64


def _cross(true: I64, found: I64) -> _Cross:
    found = np.unique(found, return_inverse=True)[1]
    true_size, found_size = np.bincount(true), np.bincount(found)
    keys, cell, size = np.unique(true * len(found_size) + found, return_inverse=True, return_counts=True)
    return _Cross(cell, size, keys // len(found_size), keys % len(found_size), true_size, found_size)


def _measure_rows(found: Found, truth: RowTruth) -> Evaluation:
    if not len(truth.rows):
        return _nothing(truth, Score(0, 0, 0))
    cross = _cross(truth.cluster, found.similar_id[truth.rows])
    kept = found.kept[truth.rows]
    lost = np.bincount(truth.cluster, kept) == 0
    stories = len(cross.true_size)
    kept_rows, all_lost = int(kept.sum()), int(lost.sum())
    pairs = Score(_pairs_in(cross.cell_size), _pairs_in(cross.found_size), _pairs_in(cross.true_size))
    return Evaluation(
        len(truth.rows),
        truth.undecided,
        truth.unknown,
        pairs,
        _clusters(cross),
        _rand_index(pairs, len(truth.rows)),
        Stories(stories, all_lost, kept_rows, kept_rows - (stories - all_lost)),
        _row_kinds(cross, truth, kept, lost) if truth.kinds is not None else None,
    )


def _clusters(cross: _Cross) -> Score:
    """Clusters of two rows or more that are right to the row."""
    whole = cross.cell_size == cross.true_size[cross.cell_true]
    alone = cross.cell_size == cross.found_size[cross.cell_found]
    right = int((whole & alone & (cross.cell_size > 1)).sum())
    return Score(right, int((cross.found_size > 1).sum()), int((cross.true_size > 1).sum()))


def _pairs_in(sizes: I64) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _rand_index(pairs: Score, rows: int) -> float:
    """Adjusted for chance; whole numbers up to the last division."""
    total = rows * (rows - 1) // 2
    chance = pairs.found * pairs.true
    divisor = total * (pairs.found + pairs.true) - 2 * chance
    return 2 * (total * pairs.right - chance) / divisor if divisor else 1.0


def _row_kinds(cross: _Cross, truth: RowTruth, kept: Bools, lost: Bools) -> dict[str, RowKind]:
    size = cross.cell_size[cross.cell]
    mates, mates_found = cross.true_size[truth.cluster] - 1, size - 1
    mixed = size < cross.found_size[cross.cell_found[cross.cell]]
    # Of a story's kept rows the one in its largest part is its copy of record, the others are left over.
    order = np.lexsort((truth.rows, -size, ~kept, truth.cluster))
    first = np.ones(len(order), bool)
    first[order[1:]] = truth.cluster[order[1:]] != truth.cluster[order[:-1]]
    kinds = np.array(truth.kinds, object)
    return {
        str(kind): RowKind(
            int(of.sum()),
            ratio(int(mates_found[of].sum()), int(mates[of].sum())),
            int(mixed[of].sum()),
            int(lost[truth.cluster[of]].sum()),
            int((kept & ~first)[of].sum()),
        )
        for kind in sorted(set(kinds))
        for of in [kinds == kind]
    }


def _nothing(truth: RowTruth | PairTruth, none: Score) -> Evaluation:
    return Evaluation(0, truth.undecided, truth.unknown, none, None, None, None, None)


# ---------------------------------------------------------------- truth by pairs


def _measure_pairs(found: Found, truth: PairTruth, report: Report | None) -> Evaluation:
    merged = found.similar_id[truth.a] == found.similar_id[truth.b]
    score = Score(int((truth.same & merged).sum()), int(merged.sum()), int(truth.same.sum()))
    made = _nothing(truth, score)
    made.compared = len(truth.a)
    if truth.kinds is not None:
        listed = ~merged & _listed(truth, report)
        kinds = np.array(truth.kinds, object)
        made.kinds = {
            str(kind): _pair_kind(truth.same[of], merged[of], listed[of])
            for kind in sorted(set(kinds))
            for of in [kinds == kind]
        }
    return made


def _pair_kind(same: Bools, merged: Bools, listed: Bools) -> PairKind:
    true, wrong = int(same.sum()), int((merged & ~same).sum())
    recall = ratio(int((same & merged).sum()), true)
    return PairKind(true, recall, len(same) - true, wrong, int(listed.sum()))


def _listed(truth: PairTruth, report: Report | None) -> Bools:
    if report is None:
        return np.zeros(len(truth.a), bool)
    pairs = report.candidates()
    n = len(report.rows)
    a, b = pairs["row_a"].to_numpy() - 1, pairs["row_b"].to_numpy() - 1
    known = np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b).astype(np.int64)
    return np.isin(np.minimum(truth.a, truth.b) * n + np.maximum(truth.a, truth.b), known)
