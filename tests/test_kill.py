"""A run that is killed leaves OUT absent or whole, and the next run does as if nothing had been."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import NO_JIT
from running import REPORT, SAMPLE, call, partition_of, sample_rows, small_corpus, spawn, table, write

from newsdedup_cli import scan

pytestmark = pytest.mark.skipif(NO_JIT, reason="minutes without JIT")

# Where a run may be hit: a statement that makes the program kill itself there, by the name of the moment.
MOMENTS = {
    "in the first pass": "hit(scan, '_make')",
    "with OUT half written": "hit(outputs, '_first')",
    "with the report half written": "hit(RowsTable, 'write', after=True)",
    "between the renames": "hit(Path, 'replace', after=True)",
    "when all is in place": "hit(Path, 'replace', after=True, times=2)",
}
PROGRAM = """
import os, signal, sys
from pathlib import Path
from newsdedup_cli import checkpoint, job, outputs, pipeline, scan, verify
from newsdedup_cli.cli import main
from newsdedup_cli.report.data import RowsTable, RunJson

def hit(place, name, after=False, times=1):
    real, left = getattr(place, name), [times]
    def hurt(*args, **values):
        left[0] -= 1
        if not left[0] and not after:
            os.kill(os.getpid(), signal.{signal})
        result = real(*args, **values)
        if not left[0] and after:
            os.kill(os.getpid(), signal.{signal})
        return result
    setattr(place, name, hurt)

{moment}
main()
"""


# Batches and parts so small that a small corpus has many; and a run of any size saves them.
SMALL_PARTS = "outputs.LEAST_BYTES, scan.BATCH_ROWS, checkpoint.PART_BATCHES = 0, 100, 2\n"
WARM = """
import json, os, signal, sys, time
from newsdedup_cli import checkpoint, cli, job, outputs, scan
from newsdedup_cli.commands import run
from newsdedup_cli.files import delimited, delimited_sink, xlsx_sink
from newsdedup_cli.report import cells, data, examples, figures, page, sheets
import polars, xlsxwriter.workbook
outputs.LEAST_BYTES, scan.BATCH_ROWS, checkpoint.PART_BATCHES = 0, 8, 2
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.argv = ["newsdedup", *asked["args"]]
        cli.main()
    if asked["seconds"] is not None:
        time.sleep(asked["seconds"])
        os.kill(child, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def killed(moment, *args, name="SIGKILL"):
    command = [sys.executable, "-c", PROGRAM.format(moment=moment, signal=name), *map(str, args)]
    return subprocess.run(command, capture_output=True, check=False)


@pytest.fixture(scope="module")
def normal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("normal")
    assert spawn("run", SAMPLE / "news.csv", "-o", folder / "u.csv", "-q").code == 0
    return folder


@pytest.fixture
def again(monkeypatch, capsysbinary):
    """The next run, in this process, for it is quicker there."""
    return lambda *args: call(monkeypatch, capsysbinary, *args)


def whole(folder, normal) -> None:
    """OUT and the report are those of an undisturbed run."""
    assert (folder / "u.csv").read_bytes() == (normal / "u.csv").read_bytes()
    assert {path.name for path in (folder / "u.report").iterdir()} == REPORT | {"removed.csv"}
    assert table(folder / "u.report") == table(normal / "u.report")
    assert (folder / "u.report/removed.csv").read_bytes() == (normal / "u.report/removed.csv").read_bytes()


def unharmed(folder, normal) -> None:
    """What is there under its own name is whole."""
    if (folder / "u.csv").exists():
        assert (folder / "u.csv").read_bytes() == (normal / "u.csv").read_bytes()
    if (folder / "u.report").exists():
        assert {path.name for path in (folder / "u.report").iterdir()} == REPORT | {"removed.csv"}


def visible(folder) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_a_chosen_moment(tmp_path, normal, again, moment):
    run = ("run", SAMPLE / "news.csv", "-o", tmp_path / "u.csv", "-q", "--threads", 2)
    assert killed(MOMENTS[moment], *run).returncode == -signal.SIGKILL
    assert visible(tmp_path) <= {"u.csv", "u.report"}
    unharmed(tmp_path, normal)
    finished = moment == "when all is in place"
    assert (tmp_path / "u.csv").exists() == finished
    # What lies about disturbs neither the next run nor a glob over the folder.
    ran = again(*run, *(("--overwrite",) if visible(tmp_path) else ()))
    assert ran.code == 0, ran.err
    whole(tmp_path, normal)


class Runs:
    """Runs in processes that start warm: copies of one that has imported everything."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen([sys.executable, "-c", WARM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, said, *args, seconds=None) -> int:
        """The exit code, negative where the run was killed after so many seconds; stderr goes to `said`."""
        asked = {"args": list(map(str, args)), "said": str(said), "seconds": seconds}
        self._parent.stdin.write(json.dumps(asked).encode() + b"\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def close(self) -> None:
        self._parent.stdin.close()
        self._parent.stdout.close()
        self._parent.wait()


@pytest.fixture(scope="module")
def runs():
    made = Runs()
    yield made
    made.close()


def test_killed_at_twenty_random_moments(tmp_path, runs):
    news, rng = write(tmp_path / "news.csv", small_corpus(160)), random.Random(7)
    (tmp_path / "normal").mkdir()
    said = tmp_path / "said"
    assert runs.run(said, "run", news, "-o", tmp_path / "normal/u.csv", "-q") == 0
    begin = time.perf_counter()
    assert runs.run(said, "run", news, "-o", tmp_path / "normal/u.csv", "-q", "--overwrite") == 0
    usual = time.perf_counter() - begin
    killed_runs = continued = 0
    for moment in range(20):
        folder = tmp_path / str(moment // 4)
        folder.mkdir(exist_ok=True)
        run = ("run", news, "-o", folder / "u.csv", "--threads", 2, "--overwrite")
        killed_runs += runs.run(said, *run, seconds=rng.uniform(0.05, 1) * usual) == -signal.SIGKILL
        continued += "continuing: " in said.read_text("utf-8")
        assert visible(folder) <= {"u.csv", "u.report"}
        unharmed(folder, tmp_path / "normal")
        if moment % 4 == 3:  # four runs killed one after the other; this one is left alone
            assert runs.run(said, *run) == 0, said.read_text("utf-8")
            continued += "continuing: " in said.read_text("utf-8")
            whole(folder, tmp_path / "normal")
            assert {path.name for path in folder.iterdir()} == {"u.csv", "u.report"}
    assert killed_runs > 10
    assert continued > 0


def test_the_rerun_continues(tmp_path, normal, again, monkeypatch):
    """Killed when the first part was saved: the next run says so, and does not clean those rows again."""
    run = ("run", SAMPLE / "news.csv", "-o", tmp_path / "u.csv", "--threads", 1)
    assert killed(SMALL_PARTS + "hit(checkpoint, '_sync_folder', after=True)", *run).returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == [".u.csv.resume"]
    for module, name, value in (("outputs", "LEAST_BYTES", 0), ("scan", "BATCH_ROWS", 100)):
        monkeypatch.setattr(f"newsdedup_cli.{module}.{name}", value)
    made = []
    real = scan._fingerprinted
    monkeypatch.setattr(scan, "_fingerprinted", lambda key, *a: made.append(key) or real(key, *a))
    ran = again(*run)
    assert "\ncontinuing: 200 rows were fingerprinted by an earlier run\n" in ran.err
    assert len(made) == -(-len(sample_rows()) // 100) - 2
    whole(tmp_path, normal)
    assert visible(tmp_path) == {path.name for path in tmp_path.iterdir()} == {"u.csv", "u.report"}


def test_ctrl_c_says_that_the_next_run_continues(tmp_path, normal):
    run = ("run", SAMPLE / "news.csv", "-o", tmp_path / "u.csv", "--threads", 1)
    done = killed(SMALL_PARTS + "hit(outputs, '_first')", *run, name="SIGINT")
    assert done.returncode == 130
    assert done.stderr.decode().splitlines()[-3:] == [
        f"the same command continues from here: the fingerprints are in {tmp_path}/.u.csv.resume",
        "",
        "interrupted: nothing was written",
    ]
    assert [path.name for path in tmp_path.iterdir()] == [".u.csv.resume"]


@pytest.mark.parametrize("moment", ["with the report half written"])
def test_the_old_out_is_untouched(tmp_path, normal, again, moment):
    shutil.copytree(normal / "u.report", tmp_path / "u.report")
    (tmp_path / "u.csv").write_bytes(b"id,content\nold,old\n")
    before = {path.name: path.read_bytes() for path in (tmp_path / "u.report").iterdir()}
    run = ("run", SAMPLE / "news.csv", "-o", tmp_path / "u.csv", "-q", "--overwrite")
    assert killed(MOMENTS[moment], *run).returncode == -signal.SIGKILL
    assert (tmp_path / "u.csv").read_bytes() == b"id,content\nold,old\n"
    assert {path.name: path.read_bytes() for path in (tmp_path / "u.report").iterdir()} == before
    assert again(*run).code == 0
    whole(tmp_path, normal)


@pytest.mark.parametrize("moment", ["in the first pass", "with OUT half written"])
def test_ctrl_c(tmp_path, moment):
    run = ("run", SAMPLE / "news.csv", "-o", tmp_path / "u.csv", "--threads", 2)
    done = killed(MOMENTS[moment], *run, name="SIGINT")
    assert done.returncode == 130
    assert done.stderr.decode().splitlines()[-1] == "interrupted: nothing was written"
    assert "Traceback" not in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_from_outside(tmp_path, normal):
    command = [sys.executable, "-c", "from newsdedup_cli.cli import main; main()", "run", str(SAMPLE / "news.csv")]
    run = subprocess.Popen([*command, "-o", str(tmp_path / "u.csv")], stderr=subprocess.PIPE)
    run.stderr.readline()  # the columns are guessed: it is under way
    time.sleep(random.Random(9).uniform(0, 0.3))
    os.kill(run.pid, signal.SIGINT)
    said = run.communicate()[1].decode()
    if run.returncode == 0:
        whole(tmp_path, normal)  # it was quicker
    else:
        assert run.returncode == 130
        assert said.splitlines()[-1] == "interrupted: nothing was written"
        assert list(tmp_path.iterdir()) == []


def test_leftovers_are_no_input(tmp_path, normal, again, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".u.csv.4242.part").write_bytes(b"id,content\nhalf")
    (tmp_path / ".u.report.abc").mkdir()
    shutil.copy(SAMPLE / "news.csv", tmp_path)
    ran = again("run", "*.csv", "-o", "out/u.csv", "-q")
    assert ran.code == 2  # the folder is missing, and nothing else was wrong
    (tmp_path / "out").mkdir()
    assert again("run", "*.csv", "-o", "out/u.csv", "-q").code == 0
    assert partition_of(tmp_path / "out/u.report") == partition_of(normal / "u.report")
