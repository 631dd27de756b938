"""The program as a user runs it, in this process or in one of its own, and small corpora made from sample_data."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from conftest import NO_JIT

from newsdedup_cli import cli
from newsdedup_cli.files import format_of, open_sink
from newsdedup_cli.files.base import ReadOptions, WriteOptions
from newsdedup_cli.files.corpus import open_corpus

SAMPLE = Path(__file__).parent.parent / "sample_data"
COLUMNS = ("id", "title", "content", "source", "url", "pub_time")
REPORT = {
    "rows.parquet", "candidates.parquet", "rejects.jsonl", "report.xlsx", "report.html", "run.json",
}  # fmt: skip


@dataclass
class Ran:
    """What a run said and how it ended."""

    code: int
    out: bytes
    err: str


def call(monkeypatch, capsysbinary, *args) -> Ran:
    """The console script, in this process."""
    monkeypatch.setattr(sys, "argv", ["newsdedup", *map(str, args)])
    capsysbinary.readouterr()
    try:
        cli.main()
    except SystemExit as end:
        said = capsysbinary.readouterr()
        return Ran(int(end.code or 0), said.out, said.err.decode())
    raise AssertionError("main() always exits")


def spawn(*args, cwd=None, env=None, stdin=b"") -> Ran:
    """The program in a process of its own."""
    command = [sys.executable, "-c", "from newsdedup_cli.cli import main; main()", *map(str, args)]
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=os.environ | (env or {}), check=False)
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def sample_rows() -> list[dict[str, str]]:
    """All rows of sample_data as texts."""
    with (SAMPLE / "news.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def small_corpus(size: int = 12 if NO_JIT else 48) -> list[dict[str, str]]:
    """Some rows of sample_data with many copies among them, in their order."""
    with (SAMPLE / "truth.csv").open(encoding="utf-8", newline="") as file:
        cluster = {row["id"]: row["cluster"] for row in csv.DictReader(file)}
    rows = sample_rows()
    wanted = [name for name, n in Counter(cluster.values()).most_common() if n > 3]
    chosen = [row for name in wanted for row in rows if cluster[row["id"]] == name][: size * 3 // 4]
    ids = {row["id"] for row in chosen}
    ids |= {row["id"] for row in [r for r in rows if r["id"] not in ids][: size - len(ids)]}
    return [row for row in rows if row["id"] in ids]


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    """Rows as a file of the format that the name tells."""
    import pyarrow as pa

    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in COLUMNS})
    if format_of(path) == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    elif format_of(path) == "parquet":
        pq.write_table(table, path)
    else:
        from newsdedup_cli.files.base import Batch

        sink = open_sink(path, format_of(path), table.schema, WriteOptions())
        for batch in table.to_batches():
            sink.write(Batch(batch))
        sink.close()
    return path


def read(path: Path) -> list[dict[str, str | None]]:
    """The rows of a file, as texts (read as the program reads them)."""
    corpus = open_corpus([str(path)], ReadOptions(format=format_of(path)))
    columns = {column.label: [column] for column in corpus.columns}
    rows: list[dict[str, str | None]] = []
    for batch in corpus.texts(columns):
        values = {name: arrays[0].to_pylist() for name, arrays in batch.values.items()}
        rows += [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return rows


def table(report: Path, name: str = "rows.parquet") -> list[dict]:
    """A table of a report."""
    return pq.read_table(report / name).to_pylist()


def partition_of(report: Path) -> set[frozenset[str]]:
    """The clusters of a report as sets of ids."""
    groups: dict[int, set[str]] = {}
    for row in table(report):
        groups.setdefault(row["similar_id"], set()).add(row["id"])
    return set(map(frozenset, groups.values()))
