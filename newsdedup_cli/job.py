"""One run from files to files."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from newsdedup_cli import kernels
from newsdedup_cli.account import count, gather, largest_clusters, name_missing_ids
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.corpus import Column, Corpus, check_writable, open_corpus
from newsdedup_cli.outputs import check_outputs, placed, refuse_input_as_output, write_rows
from newsdedup_cli.pipeline import decide
from newsdedup_cli.progress import Progress, peak_memory
from newsdedup_cli.report import write_report
from newsdedup_cli.settings import Settings
from newsdedup_cli.task import Job
from newsdedup_cli.terminal import clipped

LARGEST = 3  # clusters that the summary names


@dataclass
class Done:
    """What a run did."""

    counts: dict[str, Any]
    largest: list[tuple[int, str]]  # size and title of the largest clusters
    problems: int
    job: Job
    progress: Progress

    def as_json(self) -> str:
        """The counts, on one line."""
        return json.dumps(self.counts, ensure_ascii=False)

    def summary(self) -> str:
        """A few lines for a person."""
        counts = self.counts
        by = ", ".join(f"{name} {n:,}" for name, n in counts["removed_by"].items() if n) or "none"
        digits = len(f"{max(self.largest)[0]:,}") if self.largest else 0
        alone = ", ".join(f"{name} {n:,}" for name, n in counts["kept_alone"].items() if n)
        lines = [
            ("rows", f"{counts['read']:,} read"),
            ("kept", f"{counts['kept']:,}" + (f"  ({alone})" if alone else "")),
            ("removed", f"{counts['removed']:,}  ({by})"),
            *(
                ("largest" if i == 0 else "", f"{n:>{digits},}  {clipped(title, 56)}")
                for i, (n, title) in enumerate(self.largest)
            ),
            ("candidates", f"{counts['candidates']:,} pairs for a person"),
            ("rejected", f"{counts['rejected']:,}"),
            ("seconds", f"{counts['seconds']:.1f}, peak memory {counts['peak_bytes'] / 2**20:,.0f} MiB"),
        ]
        if self.job.verbose:
            lines += [
                (
                    f"  {s.name}",
                    f"{s.seconds:.2f} s, {s.cpu_seconds:.2f} s of CPU, {s.peak_bytes / 2**20:,.0f} MiB",
                )
                for s in self.progress.stages
            ]
        if self.job.dry_run:
            lines.append(("written", "nothing (--dry-run)"))
        else:
            lines.append(("out", str(self.job.out)))
            if self.job.report:
                lines.append(("report", f"{self.job.report}/"))
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:{width}}  {value}" for name, value in lines)


def run(job: Job, settings: Settings) -> Done:
    """Do the job."""
    begin = time.perf_counter()
    progress = Progress(job.quiet)
    refuse_input_as_output(job)
    out_format = check_outputs(job)
    corpus = open_corpus(job.inputs, job.read, job.tmpdir)
    columns = resolve_columns(corpus, settings, progress)
    if out_format == "xlsx" and not job.dry_run:
        check_writable(corpus, out_format)
    if not kernels.is_warm():
        progress.say("first run: compiling for this machine, once: a minute or two")
    decided = decide(
        corpus,
        columns,
        settings,
        progress,
        threads=job.threads,
        limit=job.limit,
        tmpdir=job.tmpdir or folder_of(job),
    )
    findings = corpus.findings
    _tell(findings.notes, findings.warnings, progress)
    if job.max_rejects is not None and len(findings.rejects) > job.max_rejects:
        first = findings.rejects[0]
        raise UserError(
            f"{len(findings.rejects):,} lines are no rows, the first {first.file} line {first.line}: {first.reason}",
            wanted=f"at most {job.max_rejects:,} (--max-rejects)",
        )
    counts = count(decided, len(findings.rejects))
    name_missing_ids(decided)
    if not job.dry_run:
        with placed(job) as (out, report):
            with progress.stage("writing") as advance:
                changed = write_rows(corpus, decided, job, settings, out, report, out_format, advance)
                _tell([], changed, progress)
            if report:
                with progress.stage("report"):
                    made = gather(corpus, columns, decided, settings, counts, progress, begin, job)
                    write_report(made, report)
    counts |= {"seconds": round(time.perf_counter() - begin, 3), "peak_bytes": peak_memory()}
    return Done(
        counts, largest_clusters(decided, LARGEST), len(findings.rejects) + len(findings.warnings), job, progress
    )


def resolve_columns(corpus: Corpus, settings: Settings, progress: Progress) -> dict[str, list[Column]]:
    """The column of each role: as given, else guessed from the header and said."""
    guessed = corpus.guess_roles()
    chosen: dict[str, list[Column]] = {}
    said = []
    for role in ("id", "title", "text", "date", "source", "url"):
        given = getattr(settings.columns, role)
        names = given if role == "text" else (given,) if given else ()
        if names:
            chosen[role] = [corpus.resolve(name, f"--{role}") for name in names]
        elif role in guessed:
            chosen[role] = [corpus.resolve(_spec(column), f"--{role}") for column in guessed[role]]
            said.append(f"{role}={'|'.join(column.label for column in guessed[role])}")
    if said:
        progress.say(f"columns guessed: {', '.join(said)}")
    needed = "title" if settings.matching.scope == "title" else "text"
    if needed not in chosen and corpus.columns:
        names = ", ".join(column.label for column in corpus.columns)
        raise UserError(
            f"no column looks like the {needed}",
            wanted=f"one of {names}",
            todo=f"--{needed} {corpus.columns[0].label}",
        )
    return chosen


def _spec(column: Column) -> str:
    return f"#{column.position + 1}" if not column.path else column.label


def _tell(notes: Sequence[str], warnings: Sequence[str], progress: Progress) -> None:
    for note in notes:
        progress.say(note)
    for warning in warnings:
        progress.warn(warning)


def folder_of(job: Job) -> Path | None:
    return Path(job.out).parent if job.out not in (None, "-") and not job.dry_run else None
