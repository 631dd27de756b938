"""Damaged files of each format through the whole program: `python tests/fuzz_files.py --format csv --n 20000`.

Each ends with exit 0, and then every row is in OUT or among the removed, or with exit 2 and a message; never with a
traceback, after ten seconds, or over a gigabyte. A seed names one file: `--seed 4711 --n 1` makes it again, and
`--keep DIR` leaves it there.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from fuzz_bases import FORMATS, bases, mutated, options

SECONDS = 10
FILES_EACH = 1000  # in one process, whose address space ten thousand runs would use up
COMPILING = 240  # seconds that kernels may take which a file of its kind is the first to need
HANGS = f"no end after {SECONDS} s"
ADDRESS_SPACE = 6 << 30
MEMORY = 1 << 30
NAMES = {"gz": ("x.csv.gz", "x.jsonl.gz"), "zst": ("x.csv.zst", "x.jsonl.zst")}
OUTS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "csv.gz", "jsonl.zst")


def attempt(folder: Path, format: str, seed: int, report: bool = False) -> str:
    """What is wrong with how the program takes the file of a seed; "" if nothing is."""
    rng = random.Random(f"{format} {seed}")
    for old in folder.iterdir():
        if old.is_file():
            old.unlink()
    path = damaged_file(folder, format, rng)
    out = folder / f"out.{rng.choice(OUTS)}"
    args = [*options(format, rng), *([] if report else ["--no-report"])]
    code, said, answer = _called("run", path, "-o", out, "--overwrite", "--json", "-q", "--threads", 1, *args)
    if code == 2:
        clear = said.startswith(("error: ", "warning: ", "Usage: ")) and "Errno" not in said
        return "" if clear and not out.exists() else f"exit 2 says: {said}"
    if code != 0:
        return f"exit {code}: {said}"
    return _rows_are_there(out, json.loads(answer), marked="--mark" in args, header="--no-header" not in args)


def damaged_file(folder: Path, format: str, rng: random.Random) -> Path:
    """A damaged file of the format in the folder."""
    path = folder / rng.choice(NAMES.get(format, (f"x.{format}",)))
    path.write_bytes(mutated(format, rng))
    return path


def _called(*args: object) -> tuple[int, str, str]:
    from newsdedup_cli import cli

    sys.argv = ["newsdedup", *map(str, args), *(["-v"] if "-v" in sys.argv else [])]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            return int(end.code or 0), err.getvalue(), out.getvalue()
    return -1, err.getvalue(), out.getvalue()


def _rows_are_there(out: Path, counts: dict, *, marked: bool, header: bool) -> str:
    from newsdedup_cli.files.base import ReadOptions
    from newsdedup_cli.files.corpus import open_corpus

    if counts["kept"] + counts["removed"] != counts["read"]:
        return f"counts do not add up: {counts}"
    wanted = counts["read"] if marked else counts["kept"]
    if not wanted or not header or out.suffix == ".xlsx":  # a row without any value is none in a workbook
        return ""
    plain = None if out.suffix == ".parquet" else "utf-8"  # what is mostly NULs would be taken for UTF-16
    found = sum(batch.num_rows for batch in open_corpus([str(out)], ReadOptions(encoding=plain), out.parent).full())
    return "" if found == wanted else f"{wanted} rows were kept, {out.name} has {found}"


def prepare(put: Callable[[object, str, object], None] = setattr) -> None:
    """Read the dictionary once, as one run does, not once per file."""
    from newsdedup_cli import scan, stripping

    kept = lru_cache(scan.load_lexicon)
    for module in (scan, stripping):
        put(module, "load_lexicon", kept)


def worker(connection, format: str, keep: str | None) -> None:
    """Take seeds and send findings, with little memory to have."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prepare()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(keep or made)
        _warm_up(folder)
        while (seed := connection.recv()) is not None:
            try:
                finding = attempt(folder, format, seed)
            except Exception as error:
                finding = f"checking: {type(error).__name__}: {error}"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            if peak > MEMORY:
                finding = f"{finding} (memory {peak >> 20} MB)".strip()
            connection.send((finding, peak))


def _warm_up(folder: Path) -> None:
    """Have every kernel compiled before the clock runs."""
    path = folder / "warm.csv"
    path.write_bytes(bases("csv")[0] * 3)
    _called("run", path, "-o", folder / "warm.parquet", "--overwrite", "--no-report", "-q")


class Worker:
    """A process that tries files; another one takes its place when it hangs or dies."""

    def __init__(self, format: str, keep: str | None) -> None:
        self.ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=worker, args=(theirs, format, keep), daemon=True)
        self._process.start()
        theirs.close()
        self._fresh = True

    def attempt(self, seed: int, seconds: int = SECONDS) -> tuple[str, bool]:
        """The finding, and whether the process is of use still."""
        self.ours.send(seed)
        if not self.ours.poll(seconds + (COMPILING if self._fresh else 0)):
            self.stop()
            return HANGS, False
        self._fresh = False
        try:
            finding, peak = self.ours.recv()
        except EOFError:
            self._process.join()
            return f"the process died ({self._process.exitcode})", False
        if peak > MEMORY:
            self.stop()
        return finding, peak <= MEMORY

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def fuzz(format: str, seeds: range, keep: str | None = None) -> list[tuple[int, str]]:
    """The findings of the seeds."""
    found = []
    at_work: Worker | None = None
    for seed in seeds:
        if at_work and seed % FILES_EACH == 0:
            at_work.stop()
            at_work = None
        at_work = at_work or Worker(format, keep)
        finding, alive = at_work.attempt(seed)
        if finding == HANGS:
            at_work = Worker(format, keep)
            finding, alive = at_work.attempt(seed, COMPILING)
            if alive:
                finding, alive = at_work.attempt(seed)
        if finding:
            found.append((seed, finding))
            print(f"{format} {seed}: {finding}", flush=True)
        at_work = at_work if alive else None
    if at_work:
        at_work.stop()
    return found


def main() -> int:
    """Try the files; exit 1 with findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=[*FORMATS, "all"], default="all")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--keep", metavar="DIR", help="leave the last file and what came of it there")
    parser.add_argument("-v", action="store_true", help="tracebacks")
    given = parser.parse_args()
    total = 0
    for format in FORMATS if given.format == "all" else [given.format]:
        found = fuzz(format, range(given.seed, given.seed + given.n), given.keep)
        print(f"{format}: {given.n} files, {len(found)} findings", flush=True)
        total += len(found)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
