"""A whole run beside reading and writing the same file: wall and CPU seconds, memory, of processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import corpus
from bench.measure import Asked, Cost, in_turn, median, say
from bench.report import Mark, Table, figure

COPY = "import sys, pyarrow.parquet as pq; pq.write_table(pq.read_table(sys.argv[1]), sys.argv[2], compression='zstd')"
SIZE = 100_000  # rows that the marks are meant for
MEGABYTE = 1e6


def corpus_of(asked: Asked) -> tuple[Path, str]:
    """The corpus of `asked.rows` rows, and how it was made."""
    if asked.shared is None:
        made = corpus.make(asked.rows, asked.folder)
        return made.path, f"`{made.made_by}`, {asked.rows:,} made-up articles"
    folder = asked.folder / f"make_corpus-{asked.rows}"
    if not (folder / "truth.parquet").exists():
        say(f"make_corpus.py {asked.rows}")
        tool = asked.shared / "bench" / "make_corpus.py"
        subprocess.run([sys.executable, tool, str(asked.rows), folder], check=True, capture_output=True)
        (folder / "corpus.jsonl").unlink()
    return folder / "corpus.parquet", f"`make_corpus.py {asked.rows}`, articles of real crawls and their changed copies"


def newsdedup(asked: Asked, path: Path) -> list[str | Path]:
    """The command that is measured: kept and removed rows, rows.parquet and the like, without the pages for people."""
    out = asked.folder / "out" / f"{path.stem}.parquet"
    out.parent.mkdir(parents=True, exist_ok=True)
    return [*asked.newsdedup, "run", path, "-o", out, "--no-pages", "--overwrite", "--quiet"]


def report_of(command: list[str | Path]) -> Path:
    """The report folder of such a command."""
    return Path(command[command.index("-o") + 1]).with_suffix(".report")


def cells(cost: Cost) -> list[str]:
    """Wall, CPU and memory of a line."""
    return [figure(cost.wall), figure(cost.cpu), figure(cost.memory / MEGABYTE)]


def tables(asked: Asked) -> Iterator[Table]:
    """One table: newsdedup and the copy, with the marks below."""
    path, made_by = corpus_of(asked)
    say(f"whole: {asked.rows:,} rows, {asked.rounds} rounds")
    copied = asked.folder / "out" / "copy.parquet"
    commands = {"newsdedup run": newsdedup(asked, path), "pyarrow copy": [sys.executable, "-c", COPY, path, copied]}
    costs = {name: median(found) for name, found in in_turn(commands, asked.rounds).items()}
    ours, copy = costs["newsdedup run"], costs["pyarrow copy"]
    table = Table("whole", "A whole run", ["", "wall, s", "CPU, s", "memory, MB", "in copies", "mark", ""])
    at_size = asked.rows == SIZE
    wall, used, memory = ours.wall / copy.wall, ours.cpu / copy.cpu, ours.memory / MEGABYTE
    table.rows = [
        ["pyarrow: read and write (zstd)", *cells(copy), *[""] * 3],
        ["`newsdedup run --no-pages`", *cells(ours), *[""] * 3],
        ["wall", figure(ours.wall), "", "", figure(wall, "x"), *_mark(2.5, "x", wall, at_size)],
        ["CPU", "", figure(ours.cpu), "", figure(used, "x"), *_mark(12, "s", ours.cpu, at_size)],
        ["memory", "", "", figure(memory), figure(ours.memory / copy.memory, "x"), *_mark(1000, "MB", memory, at_size)],
    ]
    table.notes = [
        f"Both as processes of their own, from start to exit, in turn; medians of {asked.rounds}, memory the most of "
        f"them. {path.stat().st_size / MEGABYTE:.0f} MB of Parquet: {made_by}."
    ]
    yield table


def _mark(bound: float, unit: str, value: float, applies: bool) -> list[str]:
    return Mark(bound, unit, False).cells(value, applies)
