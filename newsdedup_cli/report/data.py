"""The files of a report that programs read: rows.parquet, candidates.parquet, rejects.jsonl, run.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from newsdedup_cli.decisions import keys_of
from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.shown import likely_first
from newsdedup_cli.tables import (
    ALONE,
    CANDIDATES_SCHEMA,
    DECISIONS,
    I64,
    REASONS,
    ROWS_SCHEMA,
    U64,
    VERDICTS,
    Outcome,
    Rows,
)


class RowsTable:
    """rows.parquet."""

    name = "rows.parquet"

    def write(self, findings: Findings, folder: Path) -> None:
        """One line per input row."""
        pq.write_table(told_rows(findings), folder / self.name, compression="zstd")


class Candidates:
    """candidates.parquet."""

    name = "candidates.parquet"

    def write(self, findings: Findings, folder: Path) -> None:
        """The pairs left for a person."""
        pq.write_table(told_candidates(findings), folder / self.name, compression="zstd")


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


def told_rows(findings: Findings) -> pa.Table:
    """The lines of the input rows. With a history `kept_file` says in which file the kept row is, and where that is not
    one of the inputs `kept_row` is its number in that file."""
    if findings.past is None:
        return findings.rows
    at = findings.rows["kept_row"].combine_chunks()
    lines = findings.rows.append_column("kept_file", findings.rows["file"].combine_chunks().take(pc.subtract(at, 1)))
    place = lines.schema.get_field_index("kept_row")
    return lines.set_column(place, "kept_row", own_numbers(findings, at)).slice(0, len(lines) - len(findings.past))


def told_candidates(findings: Findings) -> pa.Table:
    """The pairs; with a history `file_a` and `file_b` say where the rows are, and numbers are those in that file where
    it is none of the inputs."""
    lines = findings.candidates
    if findings.past is None:
        return lines
    files = findings.rows["file"].combine_chunks()
    for side in "ab":
        at = lines[f"row_{side}"].combine_chunks()
        lines = lines.append_column(f"file_{side}", files.take(pc.subtract(at, 1)))
        lines = lines.set_column(lines.schema.get_field_index(f"row_{side}"), f"row_{side}", own_numbers(findings, at))
    return lines


def own_numbers(findings: Findings, at: pa.Array) -> pa.Array:
    """Row numbers, those of stored rows as they are in their own files."""
    past = np.zeros(0, np.int64) if findings.past is None else findings.past
    own = np.concatenate([np.arange(1, len(findings.rows) - len(past) + 1), past])
    return pa.array(own).take(pc.subtract(at, 1))


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


def candidates_table(rows: Rows, outcome: Outcome, content: U64, as_read: U64) -> pa.Table:
    """CANDIDATES_SCHEMA from what was decided, the most likely copies first; content, as_read: see scan.Scanned."""
    pairs = outcome.candidates
    order = likely_first(pairs.a, pairs.b, pairs.score)
    pairs = pairs.where(order)
    decision = np.zeros(len(pairs), np.uint8) if outcome.decision is None else outcome.decision[order]
    family = np.zeros(len(pairs), np.int64) if outcome.family is None else outcome.family[order]
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
        pa.array(np.array([None, *DECISIONS[1:]], object)[decision], pa.string()),
        keys_of(content[pairs.a], as_read[pairs.a]),
        keys_of(content[pairs.b], as_read[pairs.b]),
        pa.array(family, mask=family == 0),
    ]
    return pa.table(columns, schema=CANDIDATES_SCHEMA)
