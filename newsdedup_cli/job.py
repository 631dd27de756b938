"""One run from files to files: what is read, what is written where, and that nothing is left half done."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import __version__, kernels
from newsdedup_cli.errors import UserError
from newsdedup_cli.files import format_of, open_sink
from newsdedup_cli.files.base import Batch, ReadOptions, WriteOptions
from newsdedup_cli.files.corpus import Column, Corpus, check_writable, input_paths, open_corpus
from newsdedup_cli.pipeline import Decided, decide
from newsdedup_cli.progress import Progress, peak_memory
from newsdedup_cli.report import Findings, write_report
from newsdedup_cli.report.data import candidates_table, rows_table
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import ALONE, REASONS, Outcome

MARKS = ("similar_id", "is_duplicate", "duplicate_of", "reason", "score")


@dataclass(frozen=True)
class Job:
    """Where a run reads and writes, and how it goes about it: nothing that changes its result."""

    inputs: tuple[str, ...]
    out: str | None
    report: Path | None
    read: ReadOptions = field(default_factory=ReadOptions)
    write: WriteOptions = field(default_factory=WriteOptions)
    overwrite: bool = False
    dry_run: bool = False
    threads: int = 1
    limit: int | None = None
    tmpdir: Path | None = None
    max_rejects: int | None = None
    quiet: bool = False
    verbose: bool = False

    @classmethod
    def from_options(cls, inputs: tuple[str, ...], values: Mapping[str, Any]) -> Job:
        """From the values of the command line. Raises UserError where they do not go together."""
        out = values["out"]
        if out is None and not values["dry_run"]:
            raise UserError("no output", wanted="-o OUT, or --dry-run", todo="-o unique.parquet")
        report = None if values["no_report"] or out is None else values["report"]
        if out not in (None, "-") and not values["no_report"] and report is None:
            report = report_folder(Path(out))
        wanted = [
            values["id"],
            values["title"],
            values["date"],
            values["source"],
            values["url"],
            *values["text"],
        ]
        read = ReadOptions(
            format=values["format_"],
            encoding=values["encoding"],
            delimiter=values["delimiter"],
            quote=values["quote"],
            header=not values["no_header"],
            header_row=values["header_row"],
            sheet=values["sheet"],
            wanted=tuple(name for name in wanted if name and not name.startswith("#")),
        )
        return cls(
            inputs=inputs,
            out=out,
            report=report,
            read=read,
            write=WriteOptions(bom=values["bom"], header=not values["no_header"], compression=_compression(out)),
            overwrite=values["overwrite"],
            dry_run=values["dry_run"],
            threads=values["threads"] or os.cpu_count() or 1,
            limit=values["limit"],
            tmpdir=values["tmpdir"],
            max_rejects=values["max_rejects"],
            quiet=values["quiet"],
            verbose=values["verbose"],
        )


def report_folder(out: Path) -> Path:
    """OUT's stem + .report, beside OUT: unique.csv.gz and unique.csv have unique.report."""
    stem = out.with_suffix("") if _compression(str(out)) else out
    return stem.with_suffix(".report")


def _compression(out: str | None) -> str | None:
    suffix = Path(out or "").suffix.lower()
    return suffix[1:] if suffix in (".gz", ".zst") else None


@dataclass
class Done:
    """What a run did."""

    counts: dict[str, Any]
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
        alone = ", ".join(f"{name} {n:,}" for name, n in counts["kept_alone"].items() if n)
        lines = [
            ("rows", f"{counts['read']:,} read"),
            ("kept", f"{counts['kept']:,}" + (f"  ({alone})" if alone else "")),
            ("removed", f"{counts['removed']:,}  ({by})"),
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
    _refuse_input_as_output(job)
    out_format = _check_outputs(job)
    corpus = open_corpus(job.inputs, job.read, job.tmpdir)
    columns = resolve_columns(corpus, settings, progress)
    if out_format == "xlsx" and not job.dry_run:
        check_writable(corpus, out_format)
    if not kernels.is_warm():
        progress.say("first run: compiling for this machine, once, about a minute")
    decided = decide(
        corpus,
        columns,
        settings,
        progress,
        threads=job.threads,
        limit=job.limit,
        tmpdir=job.tmpdir or _folder_of(job),
    )
    findings = corpus.findings
    _tell(findings.notes, findings.warnings, progress)
    if job.max_rejects is not None and len(findings.rejects) > job.max_rejects:
        first = findings.rejects[0]
        raise UserError(
            f"{len(findings.rejects):,} lines are no rows, the first {first.file} line {first.line}: {first.reason}",
            wanted=f"at most {job.max_rejects:,} (--max-rejects)",
        )
    counts = _counts(decided, len(findings.rejects))
    _name_missing_ids(decided)
    if not job.dry_run:
        with _placed(job) as (out, report):
            with progress.stage("writing") as advance:
                changed = _write_rows(corpus, decided, job, settings, out, report, out_format, advance)
                _tell([], changed, progress)
            if report:
                with progress.stage("report"):
                    made = _findings(corpus, columns, decided, settings, counts, progress, begin)
                    write_report(made, report)
    counts |= {"seconds": round(time.perf_counter() - begin, 3), "peak_bytes": peak_memory()}
    return Done(counts, len(findings.rejects) + len(findings.warnings), job, progress)


def _check_outputs(job: Job) -> str:
    """The format of OUT; raises where something is in the way before any work is done."""
    if job.out is None:
        return ""
    if job.out == "-":
        return format_of("-", job.read.format)
    out = Path(job.out)
    out_format = _format_of_out(out, job.read.format)
    if job.dry_run:
        return out_format
    if not out.parent.is_dir():
        raise UserError(f"no folder {out.parent} for the output", todo=f"mkdir -p {out.parent}")
    for path in (out, job.report):
        if path is not None and path.exists() and not job.overwrite:
            raise UserError(f"{path} is there already", todo="--overwrite, or another -o")
    if job.report and job.report.exists() and not (job.report / "run.json").exists() and any(job.report.iterdir()):
        raise UserError(f"{job.report} is no report of newsdedup", todo="another --report")
    if not os.access(out.parent, os.W_OK):
        raise UserError(f"cannot write into {out.parent}", wanted="a folder that you may write to")
    return out_format


def _format_of_out(out: Path, given: str | None) -> str:
    """By its extension, which --format does not overrule: that is for inputs, and for an OUT of an odd name."""
    try:
        return format_of(out)
    except UserError:
        if given is None:
            raise
        return format_of(out, given)


def _refuse_input_as_output(job: Job) -> None:
    if job.out in (None, "-") or job.dry_run:
        return
    out = Path(str(job.out))
    for path in input_paths(job.inputs):
        if out.exists() and path.exists() and out.samefile(path):
            raise UserError(f"{out} is both input and output", wanted="another -o: inputs are never written to")


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


def _folder_of(job: Job) -> Path | None:
    return Path(job.out).parent if job.out not in (None, "-") and not job.dry_run else None


def _name_missing_ids(decided: Decided) -> None:
    """A row without an id is called by its number, in an input of several files by file:row."""
    rows, files = decided.scanned.rows, decided.scanned.files
    if rows.id.null_count == 0:
        return
    first = {int(f): int(np.argmax(rows.file == f)) for f in np.unique(rows.file)}
    names = rows.id.to_pylist()
    several = len(files) > 1
    for i, name in enumerate(names):
        if name is None:
            file = int(rows.file[i])
            names[i] = f"{files[file]}:{i - first[file] + 1}" if several else str(i + 1)
    rows.id = pa.array(names, pa.large_string())


def _counts(decided: Decided, rejected: int) -> dict[str, Any]:
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


@contextmanager
def _placed(job: Job) -> Iterator[tuple[Any, Path | None]]:
    """OUT and the report under temporary names beside their places, renamed when both are whole."""
    out = None if job.out == "-" else Path(str(job.out))
    scratch: list[Path] = []
    try:
        report = None
        if job.report:
            job.report.parent.mkdir(parents=True, exist_ok=True)
            report = Path(tempfile.mkdtemp(prefix=f".{job.report.name}.", dir=job.report.parent))
            report.chmod(0o755)
            scratch.append(report)
        target: Any = sys.stdout.buffer
        if out is not None:
            target = out.parent / f".{out.name}.{os.getpid()}.part"
            scratch.append(target)
        yield target, report
        if report and job.report:
            if job.report.exists():
                shutil.rmtree(job.report)
            report.replace(job.report)
        if out is not None:
            target.replace(out)
    finally:
        for path in scratch:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _write_rows(
    corpus: Corpus,
    decided: Decided,
    job: Job,
    settings: Settings,
    out: Any,
    report: Path | None,
    out_format: str,
    advance: Any,
) -> list[str]:
    """The second pass: kept rows to OUT, removed ones beside the report, or all of them marked.

    Returns what the format made necessary to change, in words.
    """
    mark = settings.keeping.mark
    kept = decided.outcome.clusters.kept_row == np.arange(len(decided.scanned.rows))
    marks = _marks(decided, corpus) if mark else None
    corpus.complete()
    schema = corpus.schema
    out_schema = pa.schema([*schema, *marks.schema], schema.metadata) if marks is not None else schema
    suffix = "".join(Path(str(job.out)).suffixes[-2:]) if job.write.compression else Path(str(job.out)).suffix
    sinks = [open_sink(out, out_format, out_schema, job.write)]
    if report:
        sinks.append(open_sink(report / f"removed{suffix}", out_format, schema, job.write))
    lines = out_format == "jsonl" and all(source.format == "jsonl" for source in corpus.sources)
    try:
        row = 0
        for batch in corpus.full(lines=lines):
            size = min(batch.num_rows, len(kept) - row)
            if size <= 0:
                break
            here = _first(batch, size)
            stays = kept[row : row + size]
            if marks is not None:
                sinks[0].write(Batch(here.columns, here.raw, marks.slice(row, size)))
            else:
                sinks[0].write(here.filter(pa.array(stays)))
                if report:
                    sinks[1].write(here.filter(pa.array(~stays)))
            row += size
            advance(size)
        for sink in sinks:
            sink.close()
    except BaseException:
        for sink in sinks:
            sink.abort()
        raise
    if row != len(kept):
        raise UserError(f"the input changed while it was read: {len(kept):,} rows, then {row:,}", todo="run again")
    return list(dict.fromkeys(warning for sink in sinks for warning in sink.warnings))


def _first(batch: Batch, size: int) -> Batch:
    if size == batch.num_rows:
        return batch
    raw = None if batch.raw is None else batch.raw.slice(0, size)
    return Batch(batch.columns.slice(0, size), raw)


def _marks(decided: Decided, corpus: Corpus) -> pa.RecordBatch:
    """The columns of --mark for all rows; a name that the input has already gets newsdedup_ before it."""
    clusters, rows = decided.outcome.clusters, decided.scanned.rows
    table = rows_table(rows, decided.scanned.files, decided.outcome)
    duplicate = clusters.kept_row != np.arange(len(rows))
    columns = [
        table["similar_id"].combine_chunks(),
        pa.array(duplicate),
        table["kept_id"].combine_chunks(),
        table["reason"].combine_chunks(),
        table["score"].combine_chunks(),
    ]
    taken = {column.name for column in corpus.columns}
    names = [f"newsdedup_{name}" if name in taken else name for name in MARKS]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _findings(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    decided: Decided,
    settings: Settings,
    counts: dict[str, Any],
    progress: Progress,
    begin: float,
) -> Findings:
    outcome, scanned = decided.outcome, decided.scanned
    run_json = {
        "counts": counts,
        "made_by": _made_by(settings),
        "settings": asdict(settings),
        "columns": {role: [column.label for column in found] for role, found in columns.items()},
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
        _listed(outcome),
        run_json,
        decided.texts,
        decided.urls,
    )


def _listed(outcome: Outcome) -> list[tuple[str, int]]:
    return outcome.boilerplate


def _made_by(settings: Settings) -> dict[str, str]:
    from importlib.metadata import version

    names = ("click", "jieba", "polars", "pyarrow", "numpy", "numba")
    return {
        "newsdedup": __version__,
        "signature": settings.signature(),
        "python": sys.version.split()[0],
        **{name: version(name) for name in names},
    }
