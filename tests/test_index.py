"""The index: what is in it, what is refused, and that it is whole whatever happens."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import NO_JIT
from hypothesis import given, settings
from hypothesis import strategies as st
from running import call, read, small_corpus, table, write
from strategies import any_text

from newsdedup_cli import index_text, indexing, job
from newsdedup_cli.errors import UserError
from newsdedup_cli.evidence import Evidence, from_arrow, select, to_arrow
from newsdedup_cli.fingerprint import fingerprint
from newsdedup_cli.index import Index, lock, metrics
from newsdedup_cli.index.manifest import read as read_manifest
from newsdedup_cli.segment import load_lexicon
from newsdedup_cli.settings import Matching, settings_from
from newsdedup_cli.tables import UNKNOWN, Rows
from newsdedup_cli.task import Job


@pytest.fixture
def go(monkeypatch, capsysbinary):
    def run(*args, code=0):
        done = call(monkeypatch, capsysbinary, *args)
        assert done.code == code, done.err
        return done

    return run


@pytest.fixture(scope="module")
def corpus():
    return small_corpus()


@pytest.fixture(scope="module")
def whole(tmp_path_factory, corpus):
    """An index of some rows on several days, the file of these, and one of new rows."""
    folder = tmp_path_factory.mktemp("index")
    half = len(corpus) // 2
    dated = [{**row, "pub_time": f"2026-03-0{1 + i % 4}"} for i, row in enumerate(corpus)]
    write(folder / "old.csv", dated[:half])
    write(folder / "new.csv", dated[half:])
    made = indexing.build(folder / "ix", Job((str(folder / "old.csv"),), None, None, quiet=True), settings_from({}))
    assert made.rows == half
    return folder


def copied(whole: Path, tmp_path: Path) -> Path:
    import shutil

    shutil.copytree(whole / "ix", tmp_path / "ix")
    return tmp_path / "ix"


# ---- the evidence of rows as Arrow ----------------------------------------------------------------------


@settings(max_examples=8 if NO_JIT else 25)
@given(st.lists(any_text, min_size=1, max_size=6), st.data())
def test_evidence_comes_back(texts, data):
    cleaned = pa.array(texts, pa.large_string())
    n = len(texts)
    names = pa.array([None, *texts[1:]], pa.large_string())
    rows = Rows(
        names, cleaned, names, np.array([UNKNOWN, 5, -7] * n)[:n], np.arange(n, dtype=np.int32) % 2,
        np.arange(n).astype(np.uint64), np.linspace(0, 1, n).astype(np.float32), np.full((n, 4), 3, np.uint64),
    )  # fmt: skip
    batch = fingerprint(cleaned, load_lexicon(None), Matching())
    before = Evidence(batch, rows, ["x", "y"], np.arange(n).astype(np.uint64), cleaned)
    some = data.draw(st.lists(st.integers(0, n - 1), max_size=4))
    for found, at in ((from_arrow(to_arrow(before)), np.arange(n)), (select(before, some), np.array(some, int))):
        for part, old in ((found.batch.fingerprints, batch.fingerprints), (found.rows, rows)):
            for name, value in vars(old).items():
                new = getattr(part, name)
                if isinstance(value, np.ndarray) and name != "file":
                    assert new.dtype == value.dtype
                    assert (new == value[at]).all()
        assert [found.files[f] for f in found.rows.file] == [["x", "y"][i % 2] for i in at]
        assert found.rows.id.to_pylist() == [names[int(i)].as_py() for i in at]
        assert found.cleaned.to_pylist() == [texts[i] for i in at]
        pieces = [batch.pieces[batch.piece_rows[i] : batch.piece_rows[i + 1]].tolist() for i in at]
        ends = found.batch.piece_rows
        assert [found.batch.pieces[ends[k] : ends[k + 1]].tolist() for k in range(len(at))] == pieces


# ---- runs that add --------------------------------------------------------------------------------------


def test_build_run_and_run_again(whole, tmp_path, go):
    folder = copied(whole, tmp_path)
    out = tmp_path / "out.csv"
    go("run", whole / "new.csv", "-o", out, "--index", folder)
    first, kept = table(tmp_path / "out.report"), read(out)
    rows = read_manifest(folder).rows
    done = go("run", whole / "new.csv", "-o", out, "--index", folder, "--overwrite")
    assert "rows are in the index already" in done.err
    assert read(out) == kept
    assert table(tmp_path / "out.report") == first
    assert read_manifest(folder).rows == rows
    counts = json.loads((tmp_path / "out.report" / "run.json").read_text())["counts"]
    assert counts["in_history_themselves"] == len(first)


def test_the_same_rows_in_another_file_are_copies(whole, tmp_path, go):
    folder = copied(whole, tmp_path)
    write(tmp_path / "again.csv", read(whole / "old.csv"))
    go("run", tmp_path / "again.csv", "-o", tmp_path / "out.csv", "--index", folder)
    rows = table(tmp_path / "out.report")
    assert {row["reason"] for row in rows if not row["kept"]} <= {"exact", "simhash", "sentence"}
    assert all(row["kept_file"] == "old.csv" for row in rows if not row["kept"])
    assert [row["reason"] for row in rows if row["kept"]] == [r["reason"] for r in rows if r["reason"] == "too_short"]


def test_against_an_index_only_reads_it(whole, tmp_path, go):
    folder = copied(whole, tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*.parquet")} | {
        1: (folder / "manifest.json").read_bytes()
    }
    go("run", whole / "new.csv", "-o", tmp_path / "a.csv", "--against", folder)
    after = {path: path.read_bytes() for path in folder.rglob("*.parquet")} | {
        1: (folder / "manifest.json").read_bytes()
    }
    assert before == after
    go("run", whole / "new.csv", "-o", tmp_path / "b.csv", "--against", whole / "old.csv")
    assert read(tmp_path / "a.csv") == read(tmp_path / "b.csv")
    go("run", whole / "new.csv", "-o", tmp_path / "c.csv", "--index", folder, "--dry-run")
    assert read_manifest(folder).rows == read_manifest(whole / "ix").rows


def test_a_failed_run_adds_nothing(whole, tmp_path, go, monkeypatch):
    folder = copied(whole, tmp_path)
    manifest = (folder / "manifest.json").read_bytes()

    def fails(*_: object) -> None:
        raise UserError("no space left")

    monkeypatch.setattr(job, "write_report", fails)
    go("run", whole / "new.csv", "-o", tmp_path / "out.csv", "--index", folder, code=2)
    assert (folder / "manifest.json").read_bytes() == manifest
    assert not (tmp_path / "out.csv").exists()
    with Index(folder, None, write=True):
        pass  # cleans up
    known = {part.path for part in read_manifest(folder).parts}
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")} == known


def test_other_settings_are_refused(whole, tmp_path, go):
    done = go("run", whole / "new.csv", "-o", tmp_path / "o.csv", "--against", whole / "ix", "--sentences", "8", code=2)
    assert done.err.splitlines()[-3:] == [
        f"error: {whole / 'ix'} was made with other settings: sentences 5, now 8",
        "  wanted: the same options as when it was made",
        f"  try:    them, or newsdedup index build {whole / 'ix'}-new INPUT...",
    ]


def changed(folder: Path, **values: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_what_is_not_whole_is_refused(whole, tmp_path, go):
    args = ("run", whole / "new.csv", "-o", tmp_path / "out.csv", "--against", tmp_path / "ix")
    folder = copied(whole, tmp_path)
    part = folder / read_manifest(folder).parts[0].path
    data = part.read_bytes()
    group = pq.read_metadata(part).row_group(0)
    part.write_bytes(data[:-7])
    assert f"{len(data) - 7:,} bytes, not {len(data):,}: cut short" in go(*args, code=2).err
    column = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema == "simhash")
    inside = column.data_page_offset + column.total_compressed_size - 2
    for at, told in ((inside, "cannot be read"), (len(data) - 100, "its end was changed")):
        part.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])  # of the same length
        assert told in go(*args, code=2).err
    part.unlink()
    assert "is missing" in go(*args, code=2).err
    part.write_bytes(data)
    changed(folder, format=99)
    assert "has format 99" in go(*args, code=2).err
    (folder / "manifest.json").write_text("{")
    assert "manifest.json cannot be read" in go(*args, code=2).err
    assert not (tmp_path / "out.csv").exists()


def test_build_add_info_prune_compact(whole, tmp_path, go):
    folder = copied(whole, tmp_path)
    assert "is an index of" in go("index", "build", folder, whole / "new.csv", code=2).err
    go("index", "add", folder, whole / "new.csv")
    rows = len(read(whole / "old.csv")) + len(read(whole / "new.csv"))
    files = len(read_manifest(folder).parts)
    told = json.loads(go("index", "info", folder, "--json").out)
    assert (told["rows"], told["files"], len(told["days"])) == (rows, files, 4)
    before = read_state(folder)
    assert "files replaced" in go("index", "compact", folder).err
    assert len(read_manifest(folder).of("rows")) == 4
    assert read_state(folder) == before
    go("run", whole / "new.csv", "-o", tmp_path / "a.csv", "--index", folder)
    assert read_state(folder) == before
    done = go("index", "prune", folder, "--older-than", "3650d")
    assert done.err == f"0 rows of before {done.err.split()[4]} removed, {rows:,} stay\n"
    assert "a span of" in go("index", "prune", folder, "--older-than", "soon", code=2).err
    go("index", "add", tmp_path / "none", whole / "new.csv", code=2)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    assert "no index and not empty" in go("index", "build", tmp_path / "full", whole / "new.csv", code=2).err


def read_state(folder: Path) -> list[tuple]:
    """Number, id, kept row and text of all rows: what must not change."""
    with Index(folder, None) as index:
        names = ["number", "id", "kept_row", "representative", "text"]
        tables = [t for part in index.parts("rows") for t in index.groups(part, names)]
        return sorted(tuple(line.values()) for t in tables for line in t.to_pylist())


def test_prune_leaves_what_later_rows_were_removed_for(whole, tmp_path):
    folder = copied(whole, tmp_path)
    state = read_state(folder)
    with Index(folder, None, write=True) as index:
        day = {line["number"]: part.day for part in index.parts("rows") for t in index.groups(part, ["number"])
               for line in t.to_pylist()}  # fmt: skip
        gone = index.prune("2026-03-03")
    after = read_state(folder)
    needed = {row for number, _, *ends, _ in state if day[number] >= "2026-03-03" for row in ends}
    assert [row for row in state if day[row[0]] >= "2026-03-03" or row[0] in needed] == after
    assert gone == len(state) - len(after)


# ---- whole whatever happens -----------------------------------------------------------------------------

WORK = """
import sys, pathlib
from newsdedup_cli.index import Index
from newsdedup_cli import indexing
from newsdedup_cli.settings import settings_from
from newsdedup_cli.task import Job
folder, kinds = pathlib.Path(sys.argv[1]), sys.argv[3:]
print("ready", flush=True)
for what in kinds:
    if what == "add":
        indexing.add(folder, Job((sys.argv[2],), None, None, quiet=True, threads=1), settings_from({}))
    else:
        with Index(folder, None, write=True) as index:
            index.prune("2026-03-03") if what == "prune" else index.compact()
"""
KINDS = os.environ.get("NEWSDEDUP_KILLS", "add compact prune").split(",")  # more by hand: add,compact,prune,add,...


@pytest.mark.skipif(NO_JIT, reason="slow in a process of its own")
@pytest.mark.parametrize("kinds", KINDS)
def test_killed_at_any_moment(whole, tmp_path, kinds):
    folder = copied(whole, tmp_path)
    indexing.add(folder, Job((str(whole / "new.csv"),), None, None, quiet=True), settings_from({}))
    more = write(tmp_path / "more.csv", read(whole / "new.csv"))
    before = read_state(folder)
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, str(folder), str(more), *kinds.split()], stdout=subprocess.PIPE
    )
    process.stdout.readline()
    time.sleep(random.random() * (0.05 if "add" not in kinds else 1.2))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    after = read_state(folder)
    added = [row for row in after if row[0] >= len(before)]
    assert len(added) in ((0, len(read(more))) if kinds == "add" else range(len(read(more)) + 1))
    assert set(after) - set(added) <= set(before)
    if "prune" not in kinds:
        assert len(after) == len(before) + len(added)
    with Index(folder, None, write=True) as index:
        known = {part.path for part in index.manifest.parts}
        assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")} == known


def test_two_writers(whole, tmp_path):
    folder = copied(whole, tmp_path)
    with lock.writing(folder), pytest.raises(UserError) as error, Index(folder, None, write=True, wait=0.1):
        pass
    found, wanted, todo = str(error.value).splitlines()
    assert found.startswith(f"{folder} is being written by process {os.getpid()} on ")
    assert (wanted, todo) == ("  wanted: one writer at a time", "  try:    again when it is done")
    with Index(folder, None, write=True, wait=0.1), Index(folder, None) as reader:
        assert reader.manifest.rows == read_manifest(whole / "ix").rows


def test_a_reader_keeps_its_files(whole, tmp_path):
    folder = copied(whole, tmp_path)
    indexing.add(folder, Job((str(whole / "new.csv"),), None, None, quiet=True), settings_from({}))
    with Index(folder, None) as reader:
        with Index(folder, None, write=True) as writer:
            assert writer.compact() > 0
        tables = [t for part in reader.parts("rows") for t in reader.groups(part, ["number"])]
        assert sum(map(len, tables)) == reader.manifest.rows
    with Index(folder, None, write=True) as index:
        assert len(list(folder.rglob("part-*.parquet"))) == len(index.manifest.parts)


def test_a_folder_that_may_only_be_read(whole, tmp_path):
    folder = copied(whole, tmp_path)
    (folder / "reading").unlink(missing_ok=True)
    folder.chmod(0o555)
    try:
        with Index(folder, None) as index:
            assert index.manifest.rows
    finally:
        folder.chmod(0o755)


# ---- metrics --------------------------------------------------------------------------------------------


def line(rows: int = 100, removed: int = 20, exact: int = 10, **more: object) -> dict:
    return {
        "time": "2026-03-01T00:00:00+00:00", "rows": rows, "kept": rows - removed, "removed": removed,
        "removed_by": {"exact": exact, "simhash": removed - exact}, "sources": {}, "new_boilerplate": [], **more,
    }  # fmt: skip


def test_habits():
    usual = [line(sources={"甲报": [50, 5 + i % 3], "乙网": [50, 10]}) for i in range(8)]
    assert metrics.broken_habits([*usual, line(sources={"甲报": [50, 7], "乙网": [50, 12]})]) == []
    jumped = [*usual, line(exact=1, sources={"甲报": [50, 40], "乙网": [50, 11], "丙台": [9, 9]})]
    assert [broken.text for broken in metrics.broken_habits(jumped)] == [
        "甲报: 80% of its rows are copies, usually 12%"
    ]
    fell = metrics.broken_habits([line(exact=18) for _ in range(6)] + [line(exact=2)])
    assert [(b.kind, b.text) for b in fell] == [("exact_rate", "exact copies fell to 2% of the rows, usually 18%")]
    piece = {"text": "更多内容请下载客户端", "rows": 12, "source": "乙网"}
    assert metrics.broken_habits([line(), line(new_boilerplate=[piece])])[0].text == (
        "乙网: new boilerplate in 12 rows: 更多内容请下载客户端"
    )
    assert metrics.broken_habits([]) == metrics.broken_habits([line(new_boilerplate=[piece])]) == []


def test_metrics_are_appended_and_a_torn_line_is_left_out(tmp_path):
    metrics.append(tmp_path, line(rows=7))
    with (tmp_path / metrics.NAME).open("a") as file:
        file.write('{"rows": 8, "rem')
    metrics.append(tmp_path, line(rows=9))
    assert [one["rows"] for one in metrics.read(tmp_path)] == [7, 9]


def test_history_of_an_index(whole, tmp_path, go):
    folder = copied(whole, tmp_path)
    go("run", whole / "new.csv", "-o", tmp_path / "o.csv", "--index", folder)
    told = go("index", "info", folder, "--history").out.decode()
    runs = metrics.read(folder)
    assert [run["rows"] for run in runs] == [len(read(whole / "old.csv")), len(read(whole / "new.csv"))]
    assert sum(rows for rows, _ in runs[1]["sources"].values()) == runs[1]["rows"]
    assert "copies  " in told
    assert f"{runs[1]['kept']:,}" in told
    assert index_text.spark([1, 1], " .#") == ".."
