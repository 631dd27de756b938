"""One run from files to files."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from newsdedup_cli import decisions, kernels
from newsdedup_cli.account import count, gather, largest_clusters, name_missing_ids, rows_read
from newsdedup_cli.checkpoint import Checkpoint
from newsdedup_cli.columns import resolve_columns
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.corpus import Column, Corpus, check_writable, open_corpus
from newsdedup_cli.files.streams import checksum
from newsdedup_cli.histories import Held, held
from newsdedup_cli.indexing import commit
from newsdedup_cli.obeyed import unmatched
from newsdedup_cli.outputs import check_outputs, placed, refuse_input_as_output, resume_folder, write_rows
from newsdedup_cli.pipeline import Decided, decide
from newsdedup_cli.progress import Progress, peak_memory
from newsdedup_cli.report import PAGES, write_report
from newsdedup_cli.settings import Settings
from newsdedup_cli.space import check_space
from newsdedup_cli.spans import check_window, undated
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
    check_space(job, corpus)
    if out_format == "xlsx" and not job.dry_run:
        check_writable(corpus, out_format)
    if not kernels.is_warm():
        progress.say("first run: compiling for this machine, once: a minute or two")
    check_window(settings.matching, columns)
    people_say = decisions_of(job, settings)
    folder = job.tmpdir or folder_of(job)
    with (
        held(job, settings, corpus, progress, folder) as past,
        Checkpoint(resume_folder(job, corpus), folder, job.memory) as kept,
    ):
        return _carried_out(job, settings, progress, corpus, columns, out_format, people_say, kept, past, begin)


def _carried_out(
    job: Job,
    settings: Settings,
    progress: Progress,
    corpus: Corpus,
    columns: dict[str, list[Column]],
    out_format: str,
    people_say: pa.Table | None,
    kept: Checkpoint,
    past: Held,
    begin: float,
) -> Done:
    decided = decide(
        corpus,
        columns,
        settings,
        progress,
        threads=job.threads,
        limit=job.limit,
        decided=people_say,
        kept=kept,
        history=past.history,
        into=past.into,
    )
    if job.decisions:  # those of an index are about other days' texts too
        decided.outcome.warnings += unmatched(decided.outcome.decisions)
    findings = corpus.findings
    findings.warnings += decided.outcome.warnings
    told_of_history = said_of_history(decided, corpus, columns, settings)
    _tell([*findings.notes, *told_of_history], findings.warnings, progress)
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
                    if isinstance(out, Path):
                        made.run["out_sha256"] = checksum(out)[0]
                    made.run["notes"] = [*made.run["notes"], *told_of_history]
                    if past.history is not None:
                        made.run["history"] = past.as_dict()
                    write_report(made, report, frozenset() if job.pages else PAGES)
                    if people_say is not None:
                        decisions.save(people_say, report / decisions.NAME)
    commit(decided, counts, progress)
    if past.into is not None and job.decisions:
        decisions.remember(past.into.folder, job.decisions)
    counts |= {"seconds": round(time.perf_counter() - begin, 3), "peak_bytes": peak_memory()}
    return Done(
        counts, largest_clusters(decided, LARGEST), len(findings.rejects) + len(findings.warnings), job, progress
    )


def said_of_history(
    decided: Decided, corpus: Corpus, columns: Mapping[str, Sequence[Column]], settings: Settings
) -> list[str]:
    """What a person should know of the window and of the history beside the counts."""
    said = []
    size = rows_read(decided)
    if settings.matching.window:
        said.append(undated(corpus, columns, decided.scanned.rows.date[:size]).said())
    mentioned = decided.mentioned
    if mentioned is not None and len(mentioned.clashes):
        names = [decided.scanned.rows.id[row].as_py() or f"row {row + 1}" for row in mentioned.clashes[:3].tolist()]
        more = f" and {len(mentioned.clashes) - 3:,} more" if len(mentioned.clashes) > 3 else ""
        said.append(f"ids that the history has for other rows: {', '.join(names)}{more}; told apart by `kept_file`")
    if mentioned is not None and len(mentioned.own):
        said.append(f"{len(mentioned.own):,} rows are in the index already: decided as before, not added again")
    if mentioned is not None and mentioned.stored and mentioned.new_pieces:
        said.append(f"{mentioned.new_pieces:,} pieces of boilerplate are new to the history; compared without them")
    return [text for text in said if text]


def decisions_of(job: Job, settings: Settings) -> pa.Table | None:
    """The decisions that the run obeys, those given winning over those of indexes; None where there are none."""
    folders = [*map(Path, job.against), *([job.index] if job.index else [])]
    stored = [folder / decisions.NAME for folder in folders if (folder / decisions.NAME).is_file()]
    if not job.decisions:
        return decisions.load_all(stored) if stored else None
    if settings.matching.preset.startswith("classic"):
        raise UserError(
            f"--decisions with --preset {settings.matching.preset}",
            wanted="another preset: the published recipes know no decisions",
        )
    return decisions.load_all([*stored, *job.decisions])


def _tell(notes: Sequence[str], warnings: Sequence[str], progress: Progress) -> None:
    for note in notes:
        progress.say(note)
    for warning in warnings:
        progress.warn(warning)


def folder_of(job: Job) -> Path | None:
    return Path(job.out).parent if job.out not in (None, "-") and not job.dry_run else None
