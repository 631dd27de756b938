"""The files of a report that programs read: rows.parquet, candidates.parquet, rejects.jsonl, run.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.shown import likely_first
from newsdedup_cli.tables import ALONE, CANDIDATES_SCHEMA, I64, REASONS, ROWS_SCHEMA, VERDICTS, Outcome, Rows


class RowsTable:
    """rows.parquet."""

    name = "rows.parquet"

    def write(self, findings: Findings, folder: Path) -> None:
        """One line per input row."""
        pq.write_table(findings.rows, folder / self.name, compression="zstd")


class Candidates:
    """candidates.parquet."""

    name = "candidates.parquet"

    def write(self, findings: Findings, folder: Path) -> None:
        """The pairs left for a person."""
        pq.write_table(findings.candidates, folder / self.name, compression="zstd")


class Rejects:
    """rejects.jsonl."""

    name = "rejects.jsonl"

    def write(self, findings: Findings, folder: Path) -> None:
        """One line per piece of input that could not be read as a row."""
        with (folder / self.name).open("w", encoding="utf-8", errors="backslashreplace") as file:
            for reject in findings.rejects:
                fields = asdict(reject)
                ordered = {key: fields[key] for key in ("file", "line", "row", "reason", "raw")}
                file.write(json.dumps(ordered, ensure_ascii=False) + "\n")


class RunJson:
    """run.json."""

    name = "run.json"

    def write(self, findings: Findings, folder: Path) -> None:
        """Counts, parameters, versions, checksums, seconds and memory."""
        (folder / self.name).write_text(json.dumps(findings.run, ensure_ascii=False, indent=1) + "\n", "utf-8")


def rows_table(rows: Rows, files: Sequence[str], outcome: Outcome) -> pa.Table:
    """ROWS_SCHEMA from what was decided."""
    n = len(rows)
    clusters, link = outcome.clusters, outcome.clusters.link
    kept = clusters.kept_row == np.arange(n)
    sizes = np.bincount(clusters.similar_id, minlength=1) if n else np.zeros(0, np.int64)
    reason = np.array(ALONE, object)[outcome.alone]
    reason[link.a] = np.array(REASONS, object)[outcome.reason]
    missing = pa.array(kept)
    names = pa.array(list(files) or [""], pa.string())
    columns = [
        pa.array(np.arange(1, n + 1)),
        names.take(pa.array(rows.file)),
        rows.id.cast(pa.string()),
        pa.array(clusters.similar_id),
        pa.array(sizes[clusters.similar_id]),
        missing,
        _where(missing, clusters.kept_row + 1),
        rows.id.take(pa.array(clusters.kept_row, mask=kept)).cast(pa.string()),
        pa.array(reason, pa.string()),
        _spread(n, link.a, link.distance),
        _spread(n, link.a, link.shared_sentences),
        _spread(n, link.a, link.score),
    ]
    return pa.table(columns, schema=ROWS_SCHEMA)


def _where(missing: pa.BooleanArray, values: I64) -> pa.Array:
    return pa.array(values, mask=missing.to_numpy(zero_copy_only=False))


def _spread(n: int, at: I64, values: np.ndarray) -> pa.Array:
    """Values at some of n places, null elsewhere."""
    out = np.zeros(n, values.dtype)
    out[at] = values
    mask = np.ones(n, bool)
    mask[at] = False
    return pa.array(out, mask=mask)


def candidates_table(rows: Rows, outcome: Outcome) -> pa.Table:
    """CANDIDATES_SCHEMA from what was decided, the most likely copies first."""
    pairs = outcome.candidates
    pairs = pairs.where(likely_first(pairs.a, pairs.b, pairs.score))
    columns = [
        pa.array(pairs.a + 1),
        rows.id.take(pa.array(pairs.a)).cast(pa.string()),
        pa.array(pairs.b + 1),
        rows.id.take(pa.array(pairs.b)).cast(pa.string()),
        pa.array(np.array(VERDICTS, object)[pairs.verdict], pa.string()),
        pa.array(pairs.distance),
        pa.array(pairs.shared_sentences),
        pa.array(pairs.score),
        pa.array(pairs.containment),
        pa.nulls(len(pairs), pa.string()),
    ]
    return pa.table(columns, schema=CANDIDATES_SCHEMA)
