"""Which clusters and candidates report.html shows with their texts, and which rows report.xlsx lists.

Chosen from the decision alone, so that the run can fetch the few texts and urls before it lets go of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from newsdedup_cli.report.base import Findings
from newsdedup_cli.tables import F32, I64, REASONS, VERDICTS, Bools, Outcome

MOST_CLUSTERS = 15  # the largest, and as many of the most doubtful
MOST_CANDIDATES = 60
MOST_MEMBERS = 8  # removed rows listed per cluster
# Lines of a sheet, more than a person reads: xlsxwriter writes 3,000 to 4,000 a second.
MOST_LISTED = 20_000
MOST_PAIRS = 10_000
EXACT = REASONS.index("exact")


@dataclass(frozen=True)
class Example:
    """A cluster to be shown; rows are positions from 0."""

    similar_id: int
    size: int
    kept: int
    removed: tuple[int, ...]  # the least alike first, at most MOST_MEMBERS
    least_score: float


@dataclass(frozen=True)
class Choice:
    """What the page shows."""

    largest: list[Example]
    doubtful: list[Example]


def choose(similar_id: I64, row: I64, kept_row: I64, score: F32, exact: Bools) -> Choice:
    """The largest clusters, and those with the lowest score of a removed row.

    `similar_id` i8[N] of all rows; of the removed rows their positions i8[R], those of their kept rows, their
    scores and whether their texts are equal. Ties go to the smaller similar_id.
    """
    sizes = np.bincount(similar_id, minlength=1)
    order = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS]
    largest = order[sizes[order] > 1]
    near = np.flatnonzero(~exact)
    near = near[np.lexsort((row[near], score[near]))]
    clusters, first = np.unique(similar_id[row[near]], return_index=True)
    doubtful = clusters[np.argsort(first, kind="stable")][:MOST_CLUSTERS]
    made = _examples(np.union1d(largest, doubtful), sizes, similar_id[row], row, kept_row, score)
    return Choice([made[int(c)] for c in largest], [made[int(c)] for c in doubtful])


def _examples(clusters: I64, sizes: I64, cluster: I64, row: I64, kept_row: I64, score: F32) -> dict[int, Example]:
    here = np.flatnonzero(np.isin(cluster, clusters))
    here = here[np.lexsort((row[here], score[here], cluster[here]))]
    bounds = np.searchsorted(cluster[here], clusters)
    made = {}
    for name, begin in zip(clusters.tolist(), bounds.tolist(), strict=True):
        size = int(sizes[name])
        some = here[begin : begin + min(size - 1, MOST_MEMBERS)]
        made[name] = Example(name, size, int(kept_row[some[0]]), tuple(row[some].tolist()), float(score[some[0]]))
    return made


def chosen(findings: Findings) -> Choice:
    """`choose` from the finished table."""
    kept = column(findings, "kept").astype(bool)
    row = np.flatnonzero(~kept)
    kept_row = column(findings, "kept_row")[row].astype(np.int64) - 1
    score = column(findings, "score")[row].astype(np.float32)
    exact = removed_reasons(findings)[row] == EXACT
    return choose(column(findings, "similar_id"), row, kept_row, score, exact)


def column(findings: Findings, name: str) -> npt.NDArray[np.int64]:
    """A column of rows.parquet as numbers, 0 for null."""
    array = findings.rows[name].combine_chunks()
    found: npt.NDArray[np.int64] = array.fill_null(False if name == "kept" else 0).to_numpy(zero_copy_only=False)
    return found


def removed_reasons(findings: Findings) -> npt.NDArray[np.int64]:
    """Per row the index into REASONS, 0 for kept rows."""
    return _codes(findings.rows["reason"].combine_chunks(), REASONS)


def candidate_reasons(findings: Findings) -> npt.NDArray[np.int64]:
    """Per candidate the index into VERDICTS."""
    return _codes(findings.candidates["reason"].combine_chunks(), VERDICTS)


def _codes(names: object, known: tuple[str, ...]) -> npt.NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    found: npt.NDArray[np.int64] = (
        pc.index_in(names, value_set=pa.array(known, pa.string())).fill_null(0).to_numpy(zero_copy_only=False)
    )
    return found.astype(np.int64)


def choose_candidates(reason: npt.NDArray[np.integer]) -> I64:
    """Places of the candidates to be shown, in their order: each reason gets its share of the first ones."""
    rank = np.zeros(len(reason), np.int64)
    for code in np.unique(reason):
        here = np.flatnonzero(reason == code)
        rank[here] = np.arange(len(here))
    first = np.lexsort((np.arange(len(reason)), rank))[:MOST_CANDIDATES]
    return np.sort(first)


def rows_shown(outcome: Outcome) -> I64:
    """Positions of the rows whose texts the page marks the differences of: sorted, distinct, a few hundred."""
    link, pairs = outcome.clusters.link, outcome.candidates
    choice = choose(outcome.clusters.similar_id, link.a, link.b, link.score, outcome.reason == EXACT)
    pairs = pairs.where(likely_first(pairs.a, pairs.b, pairs.score))
    places = choose_candidates(pairs.verdict)
    shown = [row for e in choice.largest + choice.doubtful for row in (e.kept, *e.removed[:1])]
    return np.unique(np.concatenate([np.array(shown, np.int64), pairs.a[places], pairs.b[places]]))


def likely_first(a: I64, b: I64, score: F32) -> I64:
    """The order of the candidates: the most likely copies first."""
    order: I64 = np.lexsort((b, a, -score))
    return order


def rows_listed(outcome: Outcome) -> I64:
    """Positions of the rows that report.xlsx lists, of which it links the urls: sorted, distinct."""
    clusters = outcome.clusters
    listed = in_clusters(clusters.similar_id, clusters.kept_row == np.arange(len(clusters.similar_id)))
    pairs = outcome.candidates
    first = likely_first(pairs.a, pairs.b, pairs.score)[:MOST_PAIRS]
    return np.unique(np.concatenate([listed[:MOST_LISTED], pairs.a[first], pairs.b[first]]))


def in_clusters(similar_id: I64, kept: Bools) -> I64:
    """Positions of the rows of clusters of two or more: cluster by cluster, the kept row first."""
    sizes = np.bincount(similar_id, minlength=1)
    rows = np.flatnonzero(sizes[similar_id] > 1)
    order: I64 = rows[np.lexsort((rows, ~kept[rows], similar_id[rows]))]
    return order
