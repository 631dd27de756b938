"""The same clusters for any order of rows, number of threads, batch size and hash seed."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import NO_JIT
from running import SAMPLE, call, partition_of, spawn, table

from newsdedup_cli import candidates, recurring, scan, spill

pytestmark = pytest.mark.skipif(NO_JIT, reason="minutes without JIT")


@pytest.fixture
def run(monkeypatch, capsysbinary, tmp_path):
    monkeypatch.chdir(tmp_path)

    def report(path, *options):
        ran = call(monkeypatch, capsysbinary, "run", path, "-o", "u.parquet", "--overwrite", "-q", *options)
        assert ran.code == 0, ran.err
        return tmp_path / "u.report"

    return report


@pytest.fixture(scope="module")
def normal(tmp_path_factory):
    """A run in the order of the file: its clusters, kept rows and table."""
    folder = tmp_path_factory.mktemp("normal")
    ran = spawn(
        "run", SAMPLE / "news.parquet", "-o", folder / "n.parquet", "-q", "--threads", 1, env={"PYTHONHASHSEED": "1"}
    )
    assert ran.code == 0, ran.err
    report = folder / "n.report"
    return partition_of(report), kept_of(report), table(report), table(report, "candidates.parquet")


def kept_of(report):
    return {row["id"]: row["kept_id"] for row in table(report)}


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_rows(run, tmp_path, normal, seed):
    rows = pq.read_table(SAMPLE / "news.parquet")
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    if seed == 0:
        order = sorted(order, reverse=True)
    pq.write_table(rows.take(pa.array(order)), tmp_path / "shuffled.parquet")
    report = run(tmp_path / "shuffled.parquet")
    partition, kept, said, doubtful = normal
    assert partition_of(report) == partition
    # Also the rows that stay, and why the others go.
    assert kept_of(report) == kept
    figures = ("reason", "distance", "shared_sentences", "score")
    assert {row["id"]: [row[f] for f in figures] for row in table(report)} == {
        row["id"]: [row[f] for f in figures] for row in said
    }
    pairs = {(frozenset((c["id_a"], c["id_b"])), c["reason"]) for c in table(report, "candidates.parquet")}
    assert pairs == {(frozenset((c["id_a"], c["id_b"])), c["reason"]) for c in doubtful}


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("batch", [7, 5000])
def test_threads_and_batches(run, monkeypatch, normal, threads, batch):
    monkeypatch.setattr(scan, "BATCH_ROWS", batch)
    report = run(SAMPLE / "news.parquet", "--threads", threads)
    without_file = [{k: v for k, v in row.items() if k != "file"} for row in table(report)]
    assert without_file == [{k: v for k, v in row.items() if k != "file"} for row in normal[2]]
    assert table(report, "candidates.parquet") == normal[3]


@pytest.mark.parametrize("size", [1, 500, 1 << 30])
def test_batches_of_few_bytes(run, monkeypatch, normal, size):
    monkeypatch.setattr(scan, "BATCH_BYTES", size)
    report = run(SAMPLE / "news.parquet")
    assert partition_of(report) == normal[0]
    assert table(report, "candidates.parquet") == normal[3]


@pytest.mark.parametrize("options", [(), ("--keep", "first"), ("--date", "pub_time", "--window", "30d")])
@pytest.mark.parametrize("memory", ["1", "200k"])
def test_what_memory_has_no_room_for_is_the_same(run, monkeypatch, options, memory):
    monkeypatch.setattr(scan, "BATCH_ROWS", 50)
    in_memory = [table(run(SAMPLE / "news.parquet", *options), name) for name in ("rows.parquet", "candidates.parquet")]
    for module, name, value in (
        (spill, "BLOCK", 4096), (spill, "PAIRS", 7), (candidates, "PAIRS", 7),
        (recurring, "AT_ONCE", 100), (recurring, "GROUPS_AT_ONCE", 3), (candidates, "AT_ONCE", 40),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    spilled = []
    monkeypatch.setattr(
        spill.Grown, "spill", lambda self, folder, real=spill.Grown.spill: spilled.append(real(self, folder))
    )
    report = run(SAMPLE / "news.parquet", "--memory", memory, *options)
    assert [table(report, name) for name in ("rows.parquet", "candidates.parquet")] == in_memory
    assert spilled


def test_hash_seed(tmp_path, normal):
    ran = spawn("run", SAMPLE / "news.parquet", "-o", tmp_path / "h.parquet", "-q", env={"PYTHONHASHSEED": "4711"})
    assert ran.code == 0, ran.err
    assert table(tmp_path / "h.report") == normal[2]
    assert table(tmp_path / "h.report", "candidates.parquet") == normal[3]


def test_any_format_gives_the_same_clusters(run, normal):
    for name in ("news.csv", "news.jsonl", "news.xlsx", "news_gb18030.csv"):
        report = run(SAMPLE / name)
        assert (partition_of(report), kept_of(report)) == normal[:2], name


def test_marking_changes_no_cluster(run, normal):
    assert partition_of(run(SAMPLE / "news.parquet", "--mark")) == normal[0]
