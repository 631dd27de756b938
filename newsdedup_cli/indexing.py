"""What `newsdedup index` does: build, add, info, prune, compact."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from newsdedup_cli import decisions, kernels
from newsdedup_cli.account import count, rows_read
from newsdedup_cli.columns import resolve_columns
from newsdedup_cli.dates import parse_span
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.corpus import open_corpus
from newsdedup_cli.index import History, Index, metrics
from newsdedup_cli.index.manifest import NAME, signed_settings
from newsdedup_cli.index.store import create
from newsdedup_cli.pipeline import Decided, decide
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import Settings
from newsdedup_cli.spans import check_window
from newsdedup_cli.task import Job

MOST_SOURCES = 200  # sources that a line of metrics tells apart


@dataclass(frozen=True)
class Added:
    """What was added to an index."""

    counts: dict[str, Any]
    rows: int  # rows in the index now
    seconds: float


def build(folder: Path, job: Job, settings: Settings) -> Added:
    """A new index of the inputs. Raises UserError where there is one with rows already."""
    _check_preset(settings)
    if (folder / NAME).exists():
        with Index(folder, None) as index:
            if index.manifest.rows:
                raise UserError(
                    f"{folder} is an index of {index.manifest.rows:,} rows already",
                    wanted="a new folder",
                    todo=f"newsdedup index add {folder} ...",
                )
    else:
        create(folder, signed_settings(settings.matching))
    return add(folder, job, settings)


def add(folder: Path, job: Job, settings: Settings) -> Added:
    """Compare the inputs with the index and among themselves, and add them."""
    _check_preset(settings)
    begin = time.perf_counter()
    progress = Progress(job.quiet)
    corpus = open_corpus(job.inputs, job.read, job.tmpdir)
    columns = resolve_columns(corpus, settings, progress)
    check_window(settings.matching, columns)
    if not kernels.is_warm():
        progress.say("first run: compiling for this machine, once: a minute or two")
    with Index(folder, signed_settings(settings.matching), write=True) as index:
        decided = decide(
            corpus, columns, settings, progress, threads=job.threads, limit=job.limit, tmpdir=job.tmpdir,
            history=History([index]), into=index, decided=decisions.stored(folder),
        )  # fmt: skip
        for said in corpus.findings.notes:
            progress.say(said)
        for said in corpus.findings.warnings:
            progress.warn(said)
        counts = count(decided, len(corpus.rejects))
        commit(decided, counts, progress)
        return Added(counts, index.manifest.rows, time.perf_counter() - begin)


def commit(decided: Decided, counts: dict[str, Any], progress: Progress) -> None:
    """Make what a run staged part of the index, and add its line of metrics."""
    if decided.staged is None:
        return
    with progress.stage("index"):
        before = decided.staged.index.manifest.rows
        decided.staged.commit()
        added = decided.staged.index.manifest.rows - before
        metrics.append(decided.staged.index.folder, _line(decided, counts, added))


def _line(decided: Decided, counts: dict[str, Any], added: int) -> dict[str, Any]:
    names = ("removed_for_history", "candidates", "rejected", "pairs_proposed", "pairs_compared")
    return {
        "time": datetime.now(UTC).isoformat("T", "seconds"),
        "rows": counts["read"],
        "added": added,
        "kept": counts["kept"],
        "removed": counts["removed"],
        "removed_by": counts["removed_by"],
        **{name: counts[name] for name in names if name in counts},
        "new_boilerplate": decided.staged.news if decided.staged else [],
        "sources": _sources(decided),
    }


def _sources(decided: Decided) -> dict[str, list[int]]:
    """Rows and removed rows of the sources with most rows."""
    size = rows_read(decided)
    coded = decided.scanned.rows.source.slice(0, size).fill_null("").dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    names = coded.dictionary.to_pylist()
    rows = np.bincount(codes, minlength=len(names))
    removed = np.bincount(codes[decided.outcome.clusters.link.a], minlength=len(names))
    most = np.argsort(-rows, kind="stable")[:MOST_SOURCES]
    return {names[i]: [int(rows[i]), int(removed[i])] for i in most.tolist() if names[i]}


@dataclass(frozen=True)
class Info:
    """What there is to say of an index."""

    folder: str
    rows: int
    kept: int
    days: list[tuple[str, int]]  # day, rows
    undated: int
    files: int
    bytes: int
    boilerplate: int
    links: int
    settings: dict[str, Any]
    runs: list[dict[str, Any]]
    broken: list[metrics.Broken]

    @property
    def bytes_per_row(self) -> float:
        """Bytes on disk for a row."""
        return self.bytes / self.rows if self.rows else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self) | {"bytes_per_row": round(self.bytes_per_row, 1)}


def info(folder: Path) -> Info:
    """What there is to say of an index; its files are checked."""
    with Index(folder, None) as index:
        parts = index.manifest.parts
        by_day: dict[str, int] = {}
        kept = 0
        for part in index.parts("rows"):
            by_day[part.day] = by_day.get(part.day, 0) + part.rows
            for table in index.groups(part, ["number", "kept_row"]):
                kept += int(pc.sum(pc.equal(table["number"], table["kept_row"])).as_py() or 0)
        runs = metrics.read(folder)
        return Info(
            str(folder),
            index.manifest.rows,
            kept,
            sorted(by_day.items()),
            sum(part.undated for part in parts),
            len(parts),
            sum(part.bytes for part in parts),
            sum(part.rows for part in parts if part.kind == "boilerplate"),
            sum(part.rows for part in parts if part.kind == "links"),
            index.manifest.settings,
            runs,
            metrics.broken_habits(runs),
        )


def prune(folder: Path, older_than: str) -> tuple[int, int, str]:
    """Remove the rows of days longer ago than a span such as 30d: how many went, how many stay, and the first day."""
    span = timedelta(microseconds=parse_span(older_than))
    try:
        before = (datetime.now(UTC) - span).date().isoformat()
    except OverflowError:
        before = "0001-01-01"
    with Index(folder, None, write=True) as index:
        return index.prune(before), index.manifest.rows, before


def compact(folder: Path) -> tuple[int, int]:
    """Few large files instead of many small ones: how many were replaced, and how many there are."""
    with Index(folder, None, write=True) as index:
        return index.compact(), len(index.manifest.parts)


def _check_preset(settings: Settings) -> None:
    if settings.matching.preset.startswith("classic"):
        raise UserError(
            f"an index with --preset {settings.matching.preset}",
            wanted="another preset: the published recipes know no history",
        )


def reading_job(inputs: Sequence[str], values: dict[str, Any]) -> Job:
    """A job without output."""
    nothing = {
        "out": None, "dry_run": True, "report": None, "no_report": True, "bom": False, "overwrite": False,
        "max_rejects": None,
    }  # fmt: skip
    return replace(Job.from_options(tuple(inputs), {**values, **nothing}), dry_run=False)
