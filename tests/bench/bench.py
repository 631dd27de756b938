"""What newsdedup costs, as ratios of one run; prints the tables and writes them to BENCHMARKS.md.

    python tests/bench/bench.py [--quick] [--only startup|stages|whole|peers|growth|files] [--rows N] [--dry-run]

Makes its own articles. With --shared, the whole runs are over a corpus of that folder's bench/make_corpus.py.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
sys.path.insert(0, str(TESTS))

from bench.measure import Asked  # noqa: E402
from bench.report import Table, markdown, write  # noqa: E402

PARTS = ("startup", "stages", "whole", "peers", "growth", "files")
MODULES = {"files": "big_files"}  # where a part's module has another name
ELSEWHERE = ("stages",)  # parts that other libraries are called in, with the Python that has them
PAGE = ROOT / "BENCHMARKS.md"
INTRODUCTION = """\
What `newsdedup` costs, beside other ways to the same result. `make bench` measures all of it anew and writes the
tables of this page; `.venv/bin/python tests/bench/bench.py --only PART` writes one part's, `--quick` tries everything
in small.

Read the ratios. Both sides of a ratio were measured in one run, in turn, on one machine; seconds are of that machine
at that hour and comparable with nothing else. CPU seconds count all threads and children of a process; memory is the
most that it held (resident). A mark is what the figure must reach; whether it does stands beside it, and nothing is
rounded in its favour."""


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may repeat")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round; writes no page unless --write")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of the whole runs [100000]")
    parser.add_argument("--growth", metavar="N,N,...", help="sizes that growth is measured at [10000,100000,1000000]")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds that medians are taken of [5]")
    parser.add_argument("--peers", metavar="A,B,...", help="only these of the other tools")
    parser.add_argument(
        "--others", default=sys.executable, metavar="PYTHON", help="the Python that has the extra bench"
    )
    parser.add_argument("--shared", type=Path, metavar="DIR", help="measuring material with bench/make_corpus.py")
    parser.add_argument("--own", action="store_true", help="own articles, also where ../shared is there")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="for corpora and outputs, kept; 20 GB [a temporary one]"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", default=PAGE, help="where the tables are kept [BENCHMARKS.md]"
    )
    parser.add_argument("--write", action="store_true", help="write the page also with --quick")
    parser.add_argument("--dry-run", action="store_true", help="print only")
    parser.add_argument("--json", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args()


def asked_for(said: argparse.Namespace, folder: Path) -> Asked:
    """What the options ask for."""
    shared = said.shared or ROOT.parent / "shared"
    found = not said.own and (shared / "bench" / "make_corpus.py").exists()
    if said.shared and not found:
        raise SystemExit(f"no bench/make_corpus.py in {said.shared}")
    sizes = said.growth or ("1000,2000,4000" if said.quick else "10000,100000,1000000")
    return Asked(
        folder=folder,
        quick=said.quick,
        rows=said.rows or (2_000 if said.quick else 100_000),
        growth=tuple(int(size) for size in sizes.split(",")),
        rounds=said.rounds or (1 if said.quick else 5),
        others=os.path.abspath(said.others),  # noqa: PTH100 - of a virtual environment, so not resolved
        shared=shared if found else None,
        peers=tuple(said.peers.split(",")) if said.peers else None,
    )


def machine() -> str:
    """Processor, cores, load and versions."""
    names = [line.split(":")[1].strip() for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")]
    load = f", load {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores{load}, Python {platform.python_version()}"
    )


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def tables_of(part: str, asked: Asked) -> Iterator[Table]:
    """The tables of a part."""
    if part in ELSEWHERE and asked.others != sys.executable:
        yield from _elsewhere(part, asked)
        return
    yield from importlib.import_module(f"bench.{MODULES.get(part, part)}").tables(asked)


def _elsewhere(part: str, asked: Asked) -> Iterator[Table]:
    """The tables of a part, made by the Python that has the other libraries."""
    told = asked.folder / f"{part}.json"
    command = [asked.others, __file__, "--only", part, "--folder", asked.folder, "--rounds", str(asked.rounds)]
    subprocess.run([*command, *(["--quick"] if asked.quick else []), "--json", told], check=True)
    yield from (Table(**one) for one in json.loads(told.read_text("utf-8")))


def measured(said: argparse.Namespace, folder: Path) -> Iterator[Table]:
    """All the tables asked for, each with how it came about."""
    asked = asked_for(said, folder)
    for part in said.only or PARTS:
        where = machine()
        for table in tables_of(part, asked):
            if not said.json:
                command = f"bench.py --only {part}{' --quick' if said.quick else ''}"
                table.notes.append(f"`{command}`, {date.today():%Y-%m-%d}, {where}.")
                print(markdown(table), end="\n\n", flush=True)
            yield table


def main() -> None:
    """Measure, print, write. The page is written after every table: a run that is broken off loses nothing."""
    said = options()
    with tempfile.TemporaryDirectory(prefix="newsdedup-bench-") as temporary:
        made: list[Table] = []
        for table in measured(said, said.folder or Path(temporary)):
            made.append(table)
            if not (said.json or said.dry_run or (said.quick and not said.write)):
                write(said.page, [table], INTRODUCTION)
    if said.json:
        said.json.write_text(json.dumps([table.as_json() for table in made]), "utf-8")


if __name__ == "__main__":
    main()
