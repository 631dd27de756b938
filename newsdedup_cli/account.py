"""What a run found, in numbers and for the report."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import __version__
from newsdedup_cli.distances import distance_valley, some_of
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.names import row_names
from newsdedup_cli.pipeline import Decided
from newsdedup_cli.progress import Progress
from newsdedup_cli.report import Findings
from newsdedup_cli.report.data import candidates_table, rows_table
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import ALONE, REASONS, Outcome
from newsdedup_cli.task import Job
from newsdedup_cli.told import Mentioned

SAMPLED_ROWS = 4000  # rows whose distances the report tells: eight million pairs, a few hundredths of a second


def name_missing_ids(decided: Decided) -> None:
    """A row without an id is called by its number."""
    rows, size = decided.scanned.rows, rows_read(decided)
    files = decided.scanned.files[: int(rows.file[:size].max()) + 1] if size else []
    named = row_names(rows.id.slice(0, size), rows.file[:size], files)
    rows.id = pa.concat_arrays([named, rows.id.slice(size)])


def count(decided: Decided, rejected: int) -> dict[str, Any]:
    """The counts of run.json."""
    outcome = decided.outcome
    read, removed = rows_read(decided), len(outcome.clusters.link)
    by_reason = np.bincount(outcome.reason, minlength=len(REASONS))
    alone = np.bincount(outcome.alone[:read], minlength=len(ALONE))
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
        **({"decisions": outcome.decisions} if outcome.decisions else {}),
        **({} if decided.mentioned is None else _history(decided.mentioned, outcome)),
    }


def rows_read(decided: Decided) -> int:
    """The rows of the inputs; with a history the rows of it that are mentioned stand behind them."""
    return len(decided.scanned.rows) if decided.mentioned is None else decided.mentioned.rows


def _history(mentioned: Mentioned, outcome: Outcome) -> dict[str, int]:
    """What a run against a history counts besides."""
    removed_for = outcome.clusters.link.b
    return {
        "history": mentioned.stored,
        "history_compared": mentioned.compared,
        "removed_for_history": int((removed_for >= mentioned.rows).sum()),
        "in_history_themselves": len(mentioned.own),
        "ids_in_both": len(mentioned.shared_ids),
        "ids_of_other_stories": len(mentioned.clashes),
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
        "out": None if job.out in (None, "-") else str(Path(str(job.out)).absolute()),
        "write": asdict(job.write),
        "lang": job.lang,
        "inputs": [
            {"file": name, "path": str(source.path), "sha256": sha, "bytes": size}
            for (name, sha, size), source in zip(corpus.checksums(), corpus.sources, strict=True)
        ],
        "notes": corpus.findings.notes,
        "warnings": corpus.findings.warnings + outcome.warnings,
        "seconds": round(time.perf_counter() - begin, 3),
        "stages": [asdict(stage) for stage in progress.stages],
    }
    rows = rows_table(scanned.rows, scanned.files, outcome)
    candidates = candidates_table(scanned.rows, outcome, scanned.content, scanned.as_read)
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
        None if decided.mentioned is None else decided.mentioned.file_row,
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
