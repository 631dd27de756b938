"""What a run found, in numbers and for the report."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from newsdedup_cli import __version__
from newsdedup_cli.distances import distance_valley, some_of
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.names import row_names
from newsdedup_cli.pipeline import Decided
from newsdedup_cli.progress import Progress
from newsdedup_cli.report import Findings
from newsdedup_cli.report.data import candidates_table, rows_table
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import ALONE, REASONS
from newsdedup_cli.task import Job

SAMPLED_ROWS = 4000  # rows whose distances the report tells: eight million pairs, a few hundredths of a second


def name_missing_ids(decided: Decided) -> None:
    """A row without an id is called by its number."""
    rows = decided.scanned.rows
    rows.id = row_names(rows.id, rows.file, decided.scanned.files)


def count(decided: Decided, rejected: int) -> dict[str, Any]:
    """The counts of run.json."""
    outcome = decided.outcome
    read, removed = len(decided.scanned.rows), len(outcome.clusters.link)
    by_reason = np.bincount(outcome.reason, minlength=len(REASONS))
    alone = np.bincount(outcome.alone, minlength=len(ALONE))
    sizes = np.bincount(outcome.clusters.similar_id) if read else np.zeros(1, np.int64)
    return {
        "read": read,
        "kept": read - removed,
        "removed": removed,
        "rejected": rejected,
        "removed_by": {name: int(by_reason[i]) for i, name in enumerate(REASONS) if i},
        "kept_alone": {name: int(alone[i]) for i, name in enumerate(ALONE) if i},
        "clusters": int((sizes > 1).sum()),
        "largest_cluster": int(sizes.max()),
        "candidates": len(outcome.candidates),
        "boilerplate": len(outcome.boilerplate),
        "pairs_proposed": outcome.proposed,
        "pairs_compared": outcome.compared,
        "pairs_per_row": round(outcome.proposed / read, 3) if read else 0.0,
    }


def gather(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    decided: Decided,
    settings: Settings,
    counts: dict[str, Any],
    progress: Progress,
    begin: float,
    job: Job,
) -> Findings:
    """All that the report tells."""
    outcome, scanned = decided.outcome, decided.scanned
    run_json = {
        "counts": counts,
        "made_by": _made_by(settings),
        "settings": asdict(settings),
        "columns": {role: [column.label for column in found] for role, found in columns.items()},
        "distances": _distances(decided),
        "read": {
            "format_": job.read.format,
            "encoding": job.read.encoding,
            "delimiter": job.read.delimiter,
            "quote": job.read.quote,
            "no_header": not job.read.header,
            "header_row": job.read.header_row,
            "sheet": job.read.sheet,
        },
        "limit": job.limit,
        "inputs": [
            {"file": name, "path": str(source.path), "sha256": sha, "bytes": size}
            for (name, sha, size), source in zip(corpus.checksums(), corpus.sources, strict=True)
        ],
        "notes": corpus.findings.notes,
        "warnings": corpus.findings.warnings,
        "seconds": round(time.perf_counter() - begin, 3),
        "stages": [asdict(stage) for stage in progress.stages],
    }
    rows = rows_table(scanned.rows, scanned.files, outcome)
    candidates = candidates_table(scanned.rows, outcome)
    return Findings(
        rows,
        candidates,
        scanned.rows,
        corpus.rejects,
        outcome.boilerplate,
        run_json,
        decided.texts,
        decided.urls,
        job.lang,
    )


def largest_clusters(decided: Decided, most: int) -> list[tuple[int, str]]:
    """Size and title of the largest clusters of two or more, of equal ones those that come first."""
    clusters, rows = decided.outcome.clusters, decided.scanned.rows
    sizes = np.bincount(clusters.similar_id, minlength=1)
    found = []
    for number in np.argsort(-sizes, kind="stable")[:most]:
        if sizes[number] > 1:
            kept = int(clusters.kept_row[np.argmax(clusters.similar_id == number)])
            found.append((int(sizes[number]), rows.title[kept].as_py() or rows.id[kept].as_py()))
    return found


def _distances(decided: Decided) -> dict[str, Any]:
    """The distances among some rows that are compared, and the valley in them, for the report."""
    prints = decided.fingerprints
    at = np.flatnonzero(prints.alone == 0)
    found = some_of(prints.simhash[at], prints.digest[at], SAMPLED_ROWS)
    dip = distance_valley(found)
    return {
        "rows": found.rows,
        "counts": found.counts.tolist(),
        "valley": [dip.first, dip.last] if dip.found else None,
        "reason": dip.reason,
    }


def _made_by(settings: Settings) -> dict[str, str]:
    from importlib.metadata import version

    names = ("click", "jieba", "polars", "pyarrow", "numpy", "numba")
    return {
        "newsdedup": __version__,
        "signature": settings.signature(),
        "python": sys.version.split()[0],
        **{name: version(name) for name in names},
    }
