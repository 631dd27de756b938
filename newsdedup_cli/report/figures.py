"""The numbers behind the charts: whole columns in, a few dozen numbers out, however many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.shown import (
    EXACT,
    candidate_reasons,
    column,
    removed_reasons,
)
from newsdedup_cli.tables import I64, UNKNOWN, VERDICTS, Bools

__all__ = ["Matrix", "Numbers", "numbers"]

MOST_SOURCES = 15
MOST_DAYS = 92  # bars of copies per day; a longer time is shown by week, month or year
SCORE_BINS = 50
SIZE_FROM = (2, 3, 4, 5, 6, 11, 21, 51, 101, 1001)
SECOND = 1_000_000  # in microseconds
DAY = 86_400 * SECOND
# Upper ends of the spans between the first and the last copy of a cluster.
SPANS = (1, 60 * SECOND, 3600 * SECOND, 6 * 3600 * SECOND, DAY, 3 * DAY, 7 * DAY, 30 * DAY)


@dataclass(frozen=True)
class Matrix:
    """Removed rows by source of the kept row (lines) and their own (columns)."""

    kept: list[str]
    removed: list[str]
    counts: I64  # [kept, removed]
    outside: int  # removed rows of other sources
    by_file: bool  # no source is known: the files stand for them


@dataclass(frozen=True)
class Numbers:
    """All that the charts show."""

    outcome: list[tuple[str, int]]
    distances: tuple[I64, I64]  # removed rows but the exact ones, candidates: [65] each
    scores: tuple[I64, I64]  # the same, [SCORE_BINS] from 0 to 1
    sizes: I64  # clusters by size, from SIZE_FROM on
    sources: Matrix | None  # None: one source, or no copies
    sources_known: bool
    spans: I64  # clusters by time from first to last row: up to each of SPANS, then longer
    days: tuple[str, list[str], list[int]]  # unit, begins, removed rows
    candidates: list[tuple[str, int]]  # by reason
    exact: int


def numbers(findings: Findings) -> Numbers:
    """Count everything."""
    kept, reasons = column(findings, "kept").astype(bool), removed_reasons(findings)
    near = (reasons != EXACT) & ~kept
    dates = np.asarray(findings.about.date)
    return Numbers(
        outcome=_outcome(findings),
        distances=(_distances(findings.rows, near), _distances(findings.candidates)),
        scores=(_scores(findings.rows, near), _scores(findings.candidates)),
        sizes=_sizes(column(findings, "size")[kept]),
        sources=_sources(findings, kept),
        sources_known=findings.about.source.null_count < len(findings.about.source),
        spans=_spans(column(findings, "similar_id"), column(findings, "size"), dates),
        days=_days(dates[~kept]),
        candidates=_candidates(findings),
        exact=int((reasons == EXACT).sum()),
    )


def _outcome(findings: Findings) -> list[tuple[str, int]]:
    counts = findings.run["counts"]
    alone = counts.get("kept_alone", {})
    kept = counts["kept"] - sum(alone.values())
    found = {"kept": kept, **alone, **counts["removed_by"], "rejected": counts["rejected"]}
    return [(name, n) for name, n in found.items() if n or name == "kept"]


def _candidates(findings: Findings) -> list[tuple[str, int]]:
    found = np.bincount(candidate_reasons(findings), minlength=len(VERDICTS))
    order = np.argsort(-found, kind="stable")
    return [(VERDICTS[i], int(found[i])) for i in order if found[i]]


def _values(table: pa.Table, name: str, mask: Bools | None) -> npt.NDArray[Any]:
    array = table[name].combine_chunks()
    if mask is not None:
        array = array.filter(pa.array(mask))
    found: npt.NDArray[Any] = array.drop_null().to_numpy(zero_copy_only=False)
    return found


def _distances(table: pa.Table, mask: Bools | None = None) -> I64:
    values = np.minimum(_values(table, "distance", mask).astype(np.int64), 64)
    return np.bincount(values, minlength=65)


def _scores(table: pa.Table, mask: Bools | None = None) -> I64:
    # A float32 .62 must fall into the bin that begins with .62.
    values = np.nan_to_num(_values(table, "score", mask).astype(np.float64)) * SCORE_BINS + 1e-4
    return np.bincount(np.clip(values.astype(np.int64), 0, SCORE_BINS - 1), minlength=SCORE_BINS)


def _sizes(sizes: I64) -> I64:
    sizes = sizes[sizes > 1]
    return np.bincount(np.searchsorted(SIZE_FROM, sizes, "right") - 1, minlength=len(SIZE_FROM))


def _sources(findings: Findings, kept: Bools) -> Matrix | None:
    names, by_file = findings.about.source, False
    if names.null_count == len(names):
        names, by_file = findings.rows["file"].combine_chunks(), True
    coded = pc.dictionary_encode(names.cast(pa.large_string()).fill_null(""))
    if len(coded.dictionary) < 2 or kept.all():
        return None
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    removed = np.flatnonzero(~kept)
    line, col = codes[column(findings, "kept_row")[removed].astype(np.int64) - 1], codes[removed]
    lines, columns = _most(line, coded.dictionary), _most(col, coded.dictionary)
    inside = np.isin(line, lines) & np.isin(col, columns)
    place = np.zeros((2, len(coded.dictionary)), np.int64)
    place[0, lines], place[1, columns] = np.arange(len(lines)), np.arange(len(columns))
    flat = place[0, line[inside]] * len(columns) + place[1, col[inside]]
    counts = np.bincount(flat, minlength=len(lines) * len(columns)).reshape(len(lines), len(columns))
    texts = [coded.dictionary.take(pa.array(some)).to_pylist() for some in (lines, columns)]
    return Matrix(texts[0], texts[1], counts, int((~inside).sum()), by_file)


def _most(codes: I64, names: pa.Array) -> I64:
    """The most frequent codes, ties in order of their names."""
    found = np.bincount(codes, minlength=len(names))
    some = np.argsort(-found, kind="stable")
    some = some[found[some] > 0][: 4 * MOST_SOURCES]
    texts = names.take(pa.array(some)).to_pylist()
    best = sorted(range(len(some)), key=lambda i: (-int(found[some[i]]), texts[i]))
    return some[best[:MOST_SOURCES]].astype(np.int64)


def _spans(cluster: I64, size: I64, dates: I64) -> I64:
    rows = np.flatnonzero((size > 1) & (dates != UNKNOWN))
    rows = rows[np.argsort(cluster[rows], kind="stable")]
    if not len(rows):
        return np.zeros(len(SPANS) + 1, np.int64)
    _, begin, n = np.unique(cluster[rows], return_index=True, return_counts=True)
    span = np.maximum.reduceat(dates[rows], begin) - np.minimum.reduceat(dates[rows], begin)
    return np.bincount(np.searchsorted(SPANS, span[n > 1], "right"), minlength=len(SPANS) + 1)


def _days(dates: I64) -> tuple[str, list[str], list[int]]:
    """Removed rows by the day they are dated, by week, month or year where there are many days."""
    days = (dates[dates != UNKNOWN] // DAY).astype("datetime64[D]")
    if not len(days):
        return "day", [], []
    span = int((days.max() - days.min()).astype(int)) + 1
    limits = {"day": 1, "week": 7, "month": 30}
    unit = next((name for name, length in limits.items() if span <= MOST_DAYS * length), "year")
    if unit == "week":  # from Monday on; 1970 began on a Thursday
        coded = (days.astype(np.int64) + 3) // 7
    else:
        coded = days.astype({"day": "datetime64[D]", "month": "datetime64[M]", "year": "datetime64[Y]"}[unit]).astype(
            np.int64
        )
    first, last = int(coded.min()), int(coded.max())
    if last - first > 1000:  # a wrong date or two among good ones: only what occurs
        places, counts = np.unique(coded, return_counts=True)
        some = np.sort(np.argsort(-counts, kind="stable")[:MOST_DAYS])
        places, counts = places[some], counts[some]
    else:
        places, counts = np.arange(first, last + 1), np.bincount(coded - first)
    return unit, _begins(places, unit), counts.tolist()


def _begins(places: I64, unit: str) -> list[str]:
    if unit == "week":
        return [str(d) for d in (places * 7 - 3).astype("datetime64[D]")]
    return [
        str(d) for d in places.astype({"day": "datetime64[D]", "month": "datetime64[M]", "year": "datetime64[Y]"}[unit])
    ]
