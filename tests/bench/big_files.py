"""Big files: a large workbook beside other readers, and the memory of runs over large text files (files.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Asked, say
from bench.report import NO_MARK, Mark, Table, figure

MEASURER = Path(__file__).with_name("files.py")
SHEET_ROWS, GIGABYTES = 200_000, 3.0  # what the marks are meant for
OURS = "newsdedup"
MIB = 2**20 / 1e6  # megabytes


def tables(asked: Asked) -> Iterator[Table]:
    """Two tables."""
    yield _workbook(asked, 2_000 if asked.quick else SHEET_ROWS)
    yield _memory(asked, 0.01 if asked.quick else GIGABYTES)


def told(asked: Asked, python: str, *options: object) -> list[dict[str, Any]]:
    """What files.py prints."""
    say(f"files: {' '.join(map(str, options))}")
    command = [python, MEASURER, *options, "--folder", asked.folder]
    done = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _made(asked: Asked, rows: int) -> None:
    """Make the workbook in a process of its own: a child counts as its own the memory of the one it is forked from."""
    path = asked.folder / f"news-{rows}.xlsx"
    if not path.exists():
        asked.folder.mkdir(parents=True, exist_ok=True)
        code = f"import files, pathlib; files.make_workbook(pathlib.Path({str(path)!r}), {rows})"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=MEASURER.parent)


def _workbook(asked: Asked, rows: int) -> Table:
    _made(asked, rows)
    lines = told(asked, asked.others, "xlsx", "--rows", rows)
    ours = next(line for line in lines if line["reader"] == OURS)
    table = Table(
        "workbook",
        f"Reading a workbook of {rows:,} rows",
        ["reader", "wall, s", "CPU, s", "memory, MB", "CPU, in ours", "mark (memory)", ""],
    )
    for line in lines:
        if "missing" in line:
            continue
        memory = line["peak_mb"] * MIB
        mark = Mark(1500, "MB", False).cells(memory, rows == SHEET_ROWS) if line is ours else NO_MARK
        share = figure(line["cpu_seconds"] / max(ours["cpu_seconds"], 0.01), "x")
        table.rows.append(
            [line["reader"], figure(line["seconds"]), figure(line["cpu_seconds"]), figure(memory), share, *mark]
        )
    missing = [line["reader"] for line in lines if "missing" in line]
    table.notes = [
        "Each once, in a process of its own, with shared strings as Excel writes them; newsdedup reads in batches, as "
        "a run does, the others into one table."
    ]
    if missing:
        table.notes.append(f"Not installed here: {'; '.join(missing)}.")
    return table


def _memory(asked: Asked, gigabytes: float) -> Table:
    table = Table(
        "memory",
        f"Runs over text files of {gigabytes:g} GB",
        ["format", "rows", "wall, s", "MB/s", "memory, MB", "mark (memory)", ""],
    )
    for kind in ("csv", "jsonl"):
        options = ("--format", kind, "--gigabytes", gigabytes, "--no-pages", "--quiet")
        (line,) = told(asked, sys.executable, "memory", *options)
        memory = line["peak_mb"] * MIB
        speed = figure(line["bytes"] / 1e6 / line["seconds"])
        mark = Mark(1000, "MB", False).cells(memory, gigabytes == GIGABYTES)
        table.rows.append([kind, f"{line['rows']:,}", figure(line["seconds"]), speed, figure(memory), *mark])
    table.notes = ["`newsdedup run --no-pages`, once each; the articles of `tests/bench/corpus.py`."]
    return table
