"""How time and memory grow with the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import corpus
from bench.measure import Asked, Cost, median, run, say
from bench.report import NO_MARK, Mark, Table, figure
from bench.whole import MEGABYTE, newsdedup, report_of

REFERENCE = 100_000  # rows whose time per row the others are compared with
MILLION = 1_000_000
AHEAD = 10 * MILLION  # rows that the last two sizes are drawn out to
GROWS = 1.1  # a stage whose time per row is more than so many times that of the size before is said to grow


@dataclass(frozen=True)
class Grown:
    """One size."""

    rows: int
    rounds: int
    cost: Cost
    stages: dict[str, float]  # CPU seconds of the last round

    @property
    def wall_per_row(self) -> float:
        """Microseconds."""
        return self.cost.wall / self.rows * 1e6

    def stage_per_row(self, name: str) -> float:
        """CPU microseconds."""
        return self.stages.get(name, 0.0) / self.rows * 1e6


def measured(asked: Asked, rows: int) -> Grown:
    """Runs over a corpus of this size; few of large ones."""
    rounds = max(1, min(asked.rounds, 5 * REFERENCE // rows))
    made = corpus.make(rows, asked.folder)
    command = newsdedup(asked, made.path)
    say(f"growth: {rows:,} rows, {rounds} rounds")
    cost = median([run(command) for _ in range(rounds)])
    return Grown(rows, rounds, cost, stages_of(report_of(command)))


def stages_of(report: Path) -> dict[str, float]:
    """CPU seconds of each stage, from a report's run.json."""
    told = json.loads((report / "run.json").read_text("utf-8"))
    return {stage["name"]: stage["cpu_seconds"] for stage in told["stages"]}


def tables(asked: Asked) -> Iterator[Table]:
    """The sizes, and the stages at each size."""
    run([*asked.newsdedup, "--version"])
    found = [measured(asked, rows) for rows in sorted(asked.growth)]
    reference = next((one for one in found if one.rows == REFERENCE), found[0])
    yield _sizes(found, reference)
    yield _stages(found)


def _sizes(found: list[Grown], reference: Grown) -> Table:
    table = Table(
        "growth",
        "Growth",
        ["rows", "runs", "wall, s", "CPU, s", "wall a row, µs", f"of {reference.rows:,} rows'", "mark", "",
         "memory, MB", "mark", ""],
    )  # fmt: skip
    for one in found:
        share = one.wall_per_row / reference.wall_per_row
        marks = one.rows == MILLION and reference.rows == REFERENCE
        memory = one.cost.memory / MEGABYTE
        table.rows.append(
            [
                *(f"{one.rows:,}", str(one.rounds), figure(one.cost.wall), figure(one.cost.cpu)),
                *(figure(one.wall_per_row), figure(share, "x")),
                *(Mark(1.2, "x", False).cells(share) if marks else NO_MARK),
                *(figure(memory), *(Mark(2000, "MB", False).cells(memory) if marks else NO_MARK)),
            ]
        )
    table.notes = [
        "Made-up articles of `tests/bench/corpus.py`; every run a process of its own, start-up included, which is most "
        "of what a row costs in a small file."
    ]
    if len(found) > 1 and found[-1].rows > REFERENCE:
        table.notes.append(ahead(*found[-2:]))
    return table


def ahead(smaller: Grown, larger: Grown) -> str:
    """What ten million rows would take by the last two sizes."""
    more = larger.rows - smaller.rows
    wall = (larger.cost.wall - smaller.cost.wall) / more
    memory = (larger.cost.memory - smaller.cost.memory) / more
    minutes = (larger.cost.wall + wall * (AHEAD - larger.rows)) / 60
    held = (larger.cost.memory + memory * (AHEAD - larger.rows)) / 1e9
    growing = [
        f"{name} ({figure(larger.stage_per_row(name) / smaller.stage_per_row(name), 'x')})"
        for name in larger.stages
        if smaller.stage_per_row(name) and larger.stage_per_row(name) / smaller.stage_per_row(name) > GROWS
    ]
    why = f"more a row with the size: {', '.join(growing)}" if growing else "no stage takes more a row with the size"
    return (
        f"{AHEAD // MILLION} million rows, drawn out from {smaller.rows:,} and {larger.rows:,}: {figure(minutes)} "
        f"minutes and {figure(held)} GB ({figure(memory)} bytes a row: what is kept of each row for comparing and for "
        f"the report); {why}."
    )


def _stages(found: list[Grown]) -> Table:
    names = list(dict.fromkeys(name for one in found for name in one.stages))
    table = Table("growth-stages", "Growth by stage: CPU µs a row", ["stage", *(f"{one.rows:,} rows" for one in found)])
    table.rows = [[name, *(figure(one.stage_per_row(name)) for one in found)] for name in names]
    return table
