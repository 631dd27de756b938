"""A run that is killed leaves OUT absent or whole, and the next run does as if nothing had been."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import NO_JIT
from running import REPORT, SAMPLE, call, partition_of, spawn, table

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
from newsdedup_cli import job, outputs, pipeline, scan, verify
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


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_a_random_moment(tmp_path, normal, again, seed):
    command = [sys.executable, "-c", "from newsdedup_cli.cli import main; main()", "run", str(SAMPLE / "news.csv")]
    run = subprocess.Popen([*command, "-o", str(tmp_path / "u.csv"), "-q"])
    try:
        run.wait(random.Random(seed).uniform(0.3, 5))
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
    assert visible(tmp_path) <= {"u.csv", "u.report"}
    unharmed(tmp_path, normal)
    assert again("run", SAMPLE / "news.csv", "-o", tmp_path / "u.csv", "-q", "--overwrite").code == 0
    whole(tmp_path, normal)


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
