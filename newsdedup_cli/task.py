"""A run as it is asked for: where it reads and writes, and how it goes about it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from newsdedup_cli.errors import UserError
from newsdedup_cli.files.base import ReadOptions, WriteOptions
from newsdedup_cli.spill import MEMORY


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
    memory: int = MEMORY  # bytes
    max_rejects: int | None = None
    quiet: bool = False
    verbose: bool = False
    lang: str = "en"  # of report.html
    pages: bool = True  # report.html and report.xlsx too
    decisions: tuple[Path, ...] = ()  # files of reviewed pairs
    against: tuple[str, ...] = ()  # files, patterns and indexes with rows of before
    index: Path | None = None  # is compared with, and takes the rows of the run

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
            write=WriteOptions(bom=values["bom"], header=not values["no_header"], compression=compression_of(out)),
            overwrite=values["overwrite"],
            dry_run=values["dry_run"],
            threads=values["threads"] or os.cpu_count() or 1,
            limit=values["limit"],
            tmpdir=values["tmpdir"],
            memory=values.get("memory") or MEMORY,
            max_rejects=values["max_rejects"],
            quiet=values["quiet"],
            verbose=values["verbose"],
            lang=values.get("lang") or terminal_language(),
            pages=not values.get("no_pages"),
            decisions=tuple(values.get("decisions") or ()),
            against=tuple(values.get("against") or ()),
            index=values.get("index"),
        )


def report_folder(out: Path) -> Path:
    """OUT's stem + .report, beside OUT: unique.csv.gz and unique.csv have unique.report."""
    stem = out.with_suffix("") if compression_of(str(out)) else out
    return stem.with_suffix(".report")


def compression_of(out: str | None) -> str | None:
    suffix = Path(out or "").suffix.lower()
    return suffix[1:] if suffix in (".gz", ".zst") else None


def terminal_language() -> str:
    """zh where the terminal speaks Chinese, else en."""
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if locale.lower().startswith("zh") else "en"
