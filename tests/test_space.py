"""What cannot fit is refused before the work; a disk that fills up meanwhile is told in words."""

from __future__ import annotations

import errno
import gzip
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from conftest import NO_JIT
from running import call, small_corpus, write

from newsdedup_cli import space
from newsdedup_cli.errors import told
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus

TEXT = b"id,content\n" + "".join(f"{i},新闻正文{i * i}\n" for i in range(4000)).encode()
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def cli(monkeypatch, capsysbinary, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *args: call(monkeypatch, capsysbinary, *args)


@pytest.fixture
def free(monkeypatch):
    """Disks with so many bytes free, by folder; each a disk of its own."""

    def put(**folders: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(0, 0, folders[Path(path).name or "here"]))
        monkeypatch.setattr(space, "_device", lambda path: Path(path).name or "here")

    return put


def bytes_of(tmp_path, name, data) -> int:
    path = tmp_path / name
    path.write_bytes(data)
    return space.text_bytes(open_corpus([str(path)], ReadOptions(), tmp_path).sources[0])


def test_how_much_text_a_file_has(tmp_path):
    size = len(TEXT)
    assert bytes_of(tmp_path, "a.csv", TEXT) == size
    assert bytes_of(tmp_path, "a.csv.gz", gzip.compress(TEXT)) == size
    assert bytes_of(tmp_path, "a.csv.zst", zstandard.compress(TEXT)) == size
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    stream = packer.compress(TEXT) + packer.flush()
    assert bytes_of(tmp_path, "b.csv.zst", stream) == 2 * len(stream)  # it does not say; at least that
    pq.write_table(pa.table({"content": [f"新闻正文{i * i}" for i in range(4000)]}), tmp_path / "a.parquet")
    assert size / 2 < bytes_of(tmp_path, "b.parquet", (tmp_path / "a.parquet").read_bytes()) < 2 * size


def test_a_damaged_size_is_not_believed(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    source = open_corpus([str(path)], ReadOptions(), tmp_path).sources[0]
    path.write_bytes(gzip.compress(TEXT)[:-4] + b"\xff" * 4)
    assert space.text_bytes(source) == 2 * path.stat().st_size


def test_no_room_is_said_before_the_work(cli, free, tmp_path):
    (tmp_path / "news.csv").write_bytes(TEXT)
    (tmp_path / "tmp").mkdir()
    free(here=100_000, tmp=1000)
    ran = cli("run", "news.csv", "-o", "u.csv", "-q")
    assert (ran.code, ran.err) == (
        2,
        f"error: {tmp_path} has 100 kB free, and the run needs at least 147 kB there\n"
        "  wanted: room: 98.3 kB for OUT and the removed rows and 49.1 kB for cleaned texts\n"
        "  try:    --tmpdir on another disk or another -o\n",
    )
    free(here=150_000, tmp=1000)
    ran = cli("run", "news.csv", "-o", "u.csv", "-q", "--tmpdir", "tmp")
    assert (ran.code, ran.err) == (
        2,
        f"error: {tmp_path}/tmp has 1 kB free, and the run needs at least 49.1 kB there\n"
        "  wanted: room: 49.1 kB for cleaned texts (--tmpdir tmp)\n"
        "  try:    another --tmpdir\n",
    )
    assert {path.name for path in tmp_path.iterdir()} == {"news.csv", "tmp"}


@pytest.mark.skipif(NO_JIT, reason="slow without JIT")
@pytest.mark.parametrize("enough", [["-o", "u.csv"], ["-o", "u.parquet", "--no-report"], ["--dry-run"]])
def test_room_enough_is_not_refused(cli, free, tmp_path, enough):
    news = write(tmp_path / "news.csv", small_corpus())
    size = news.stat().st_size
    free(here=int(1.6 * size) if enough == ["-o", "u.csv"] else int(0.7 * size) if "-o" in enough else 0)
    assert cli("run", "news.csv", *enough, "-q").code == 0


def test_a_full_disk_in_words():
    assert told(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/big")) == (
        "/big: No space left on device\n  try:    making room there, --tmpdir on another disk, or another -o"
    )
    assert told(PermissionError(errno.EACCES, "Permission denied", "x")) == "x: Permission denied"


@pytest.mark.skipif(NO_JIT, reason="slow without JIT")
def test_a_disk_that_fills_up(cli, tmp_path):
    """A limit on the size of files stands in for the disk: the system answers the same way."""
    write(tmp_path / "news.csv", small_corpus())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
        ran = cli("run", "news.csv", "-o", "u.csv", "-q")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert ran.code == 2
    assert ran.err.endswith(": File too large\n  try:    making room there, --tmpdir on another disk, or another -o\n")
    assert [path.name for path in tmp_path.iterdir()] == ["news.csv"]


@pytest.mark.skipif(NO_JIT or not Path("/dev/full").exists(), reason="slow without JIT")
def test_standard_output_that_is_full(tmp_path):
    news = write(tmp_path / "news.csv", small_corpus())
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", "from newsdedup_cli.cli import main; main()"]
        done = subprocess.run(
            [*command, "run", news, "-o", "-", "--format", "csv", "-q"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: standard output: No space left on device\n")


@pytest.mark.skipif(NO_JIT, reason="slow without JIT")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_is_closed(tmp_path, unbuffered):
    news = write(tmp_path / "news.csv", small_corpus())
    script = "import os; os.close(1); os.dup2(int(os.environ['PIPE']), 1); from newsdedup_cli.cli import main; main()"
    read, closed = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", script, "run", news, "-o", "-", "--format", "csv", "-q"],
        env=os.environ | {"PIPE": str(closed), "PYTHONUNBUFFERED": unbuffered},
        pass_fds=[closed],
        capture_output=True,
        check=False,
    )
    os.close(closed)
    assert (done.returncode, done.stderr.decode()) == (
        2,
        "error: standard output was closed before all rows were written: there is no report\n",
    )
