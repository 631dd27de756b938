"""What a small file costs: the program's start."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from bench.corpus import SAMPLE
from bench.measure import Asked, in_turn, median, run, say
from bench.report import NO_MARK, Mark, Table, figure
from bench.whole import cells


def tables(asked: Asked) -> Iterator[Table]:
    """One table."""
    table = Table("startup", "Start-up", ["", "wall, s", "CPU, s", "memory, MB", "mark (wall)", ""])
    (asked.folder / "out").mkdir(parents=True, exist_ok=True)
    sample = [*asked.newsdedup, "run", SAMPLE, "-o", asked.folder / "out" / "sample.parquet", "--overwrite", "--quiet"]
    commands = {
        "`newsdedup run` on sample_data, report with pages": (sample, Mark(1.5, "s", False)),
        "`newsdedup run --no-pages` on it": ([*sample, "--no-pages"], None),
        "`newsdedup --help`": ([*asked.newsdedup, "--help"], Mark(0.25, "s", False)),
    }
    say("startup")
    costs = in_turn({name: command for name, (command, _) in commands.items()}, asked.rounds)
    for name, (_, mark) in commands.items():
        cost = median(costs[name])
        table.rows.append([name, *cells(cost), *(mark.cells(cost.wall) if mark else NO_MARK)])
    table.notes = [
        f"Medians of {asked.rounds}, in turn, everything compiled before. The marks are for an idle machine."
    ]
    if not asked.quick:
        say("startup: the first ever run")
        with tempfile.TemporaryDirectory() as cache:
            cost = run(sample, {"XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": f"{cache}/numba"})
        table.rows.append(["the first ever run: compiles, once", *cells(cost), *NO_MARK])
        table.notes[0] += f" The first ever run compiles for {figure(cost.wall)} s."
    yield table
