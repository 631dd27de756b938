"""Where a run writes: nothing in the way before it starts, nothing half done after it."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.checkpoint import LEAST_BYTES
from newsdedup_cli.errors import UserError
from newsdedup_cli.files import format_of, open_sink
from newsdedup_cli.files.base import Batch
from newsdedup_cli.files.behind import Behind
from newsdedup_cli.files.corpus import Corpus, input_paths
from newsdedup_cli.pipeline import Decided
from newsdedup_cli.report.data import rows_table
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import Bools
from newsdedup_cli.task import Job

MARKS = ("similar_id", "is_duplicate", "duplicate_of", "reason", "score")


def check_outputs(job: Job) -> str:
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


def refuse_input_as_output(job: Job) -> None:
    if job.out in (None, "-") or job.dry_run:
        return
    out = Path(str(job.out))
    for path in input_paths(job.inputs):
        if out.exists() and path.exists() and out.samefile(path):
            raise UserError(f"{out} is both input and output", wanted="another -o: inputs are never written to")


@contextmanager
def placed(job: Job) -> Iterator[tuple[Any, Path | None]]:
    """OUT and the report under temporary names beside their places, renamed when both are whole."""
    places = [Path(str(job.out))] if job.out != "-" else []
    target: Any = _beside(places[0]) if places else sys.stdout.buffer
    report = None
    if job.report:
        job.report.parent.mkdir(parents=True, exist_ok=True)
        places.append(job.report)
        report = _beside(job.report)
    for place in places:
        _clear_leftovers(place)
    try:
        if report:
            report.mkdir()
        yield target, report
        if report and job.report:
            _replace_folder(report, job.report)
        if job.out != "-":
            target.replace(places[0])
    except BrokenPipeError:
        # What Python still holds has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise UserError("standard output was closed before all rows were written: there is no report") from None
    except OSError as error:
        error.filename = error.filename or (str(places[0].parent) if places else "standard output")
        raise
    finally:
        for place in places:
            _remove(_beside(place))


def _beside(place: Path) -> Path:
    """The temporary name of a process's output."""
    return place.parent / f".{place.name}.{os.getpid()}.part"


def resume_folder(job: Job, corpus: Corpus) -> Path | None:
    """Where a run saves what the next one continues from; None for one that is short or has no place.

    Under --tmpdir its name has a hash of OUT's place, so that equal names of two folders are not confused.
    """
    if job.out in (None, "-") or job.dry_run:
        return None
    if sum(source.path.stat().st_size for source in corpus.sources) < LEAST_BYTES:
        return None
    out = Path(str(job.out))
    if job.tmpdir is None:
        return out.parent / f".{out.name}.resume"
    place = hashlib.sha256(os.fsencode(out.resolve())).hexdigest()[:12]
    return job.tmpdir / f".{out.name}.{place}.resume"


def _clear_leftovers(place: Path) -> None:
    """Remove what killed runs left beside the place."""
    for path in place.parent.glob(f".{glob.escape(place.name)}.*.part"):
        owner = path.suffixes[-2][1:]
        if owner.isdigit() and not _is_running(int(owner)):
            _remove(path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _replace_folder(new: Path, place: Path) -> None:
    """Put the folder in its place; the old one is there until the new one is."""
    if not place.exists():
        new.replace(place)
        return
    old = _beside(place.with_name(f"{place.name}.old"))
    place.replace(old)
    new.replace(place)
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def write_rows(
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
    rows = len(decided.scanned.rows) if decided.mentioned is None else decided.mentioned.rows
    kept = decided.outcome.clusters.kept_row[:rows] == np.arange(rows)
    table = None
    if settings.keeping.mark:
        table = rows_table(decided.scanned.rows, decided.scanned.files, decided.outcome).slice(0, rows)
    return copy_rows(corpus, kept, table, job, out, report, out_format, advance)


def copy_rows(
    corpus: Corpus,
    kept: Bools,
    marked: pa.Table | None,
    job: Job,
    out: Any,
    report: Path | None,
    out_format: str,
    advance: Any,
) -> list[str]:
    """Rows that are `kept` to OUT, the others beside the report; or all to OUT with marks from a ROWS_SCHEMA table."""
    marks = _marks(marked, corpus) if marked is not None else None
    corpus.complete()
    schema = corpus.schema
    out_schema = pa.schema([*schema, *marks.schema], schema.metadata) if marks is not None else schema
    suffix = "".join(Path(str(job.out)).suffixes[-2:]) if job.write.compression else Path(str(job.out)).suffix
    sinks = [Behind(open_sink(out, out_format, out_schema, job.write))]
    if report:
        sinks.append(Behind(open_sink(report / f"removed{suffix}", out_format, schema, job.write)))
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


def _marks(table: pa.Table, corpus: Corpus) -> pa.RecordBatch:
    """The columns of --mark for all rows; a name that the input has already gets newsdedup_ before it."""
    columns = [
        table["similar_id"].combine_chunks(),
        pc.invert(table["kept"].combine_chunks()),
        table["kept_id"].combine_chunks(),
        table["reason"].combine_chunks(),
        table["score"].combine_chunks(),
    ]
    taken = {column.name for column in corpus.columns}
    names = [f"newsdedup_{name}" if name in taken else name for name in MARKS]
    return pa.RecordBatch.from_arrays(columns, names=names)
