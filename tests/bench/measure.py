"""How things are measured: two ways in turn in one process, and whole programs in processes of their own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

METER = Path(__file__).with_name("meter.py")
LEAST = 0.05  # seconds of CPU that a call is repeated for, so that the clock's steps do not matter
ENOUGH = 60.0  # seconds of CPU after which no further round begins


@dataclass(frozen=True)
class Asked:
    """What the command was asked for."""

    folder: Path  # for corpora and outputs
    quick: bool = False
    rows: int = 100_000
    growth: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    rounds: int = 5
    others: str = sys.executable  # the Python that has the other tools
    shared: Path | None = None  # the folder with bench/make_corpus.py
    peers: tuple[str, ...] | None = None  # tools to compare with; None: all

    @property
    def newsdedup(self) -> list[str]:
        """The command that is measured: the one beside the Python that runs this."""
        return [str(Path(sys.executable).with_name("newsdedup"))]


def cpu(call: Callable[[], object]) -> float:
    """CPU seconds of a call, the mean of as many as take LEAST together."""
    begin, times = time.process_time(), 0
    while True:
        call()
        times += 1
        used = time.process_time() - begin
        if used >= LEAST:
            return used / times


def median_cpu(call: Callable[[], object], rounds: int) -> float:
    """The median of `rounds` such times."""
    return statistics.median(cpu(call) for _ in range(rounds))


@dataclass(frozen=True)
class Beside:
    """Two ways to one result: CPU seconds of each (medians), and the median of the ratios of the rounds."""

    ours: float
    other: float
    ratio: float


def beside(
    ours: Callable[[], object], other: Callable[[], object], rounds: int, ours_share: float = 1, other_share: float = 1
) -> Beside:
    """Both in turn, `rounds` times, after one call of ours that compiles and warms.

    A side that does only a part of the work says which share; its seconds are divided by that.
    """
    ours()
    begin = time.process_time()
    pairs: list[tuple[float, float]] = []
    while len(pairs) < rounds and time.process_time() - begin < ENOUGH:
        pairs.append((cpu(ours) / ours_share, cpu(other) / other_share))
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Beside(mine, theirs, statistics.median(b / a for a, b in pairs))


@dataclass(frozen=True)
class Cost:
    """What a process cost."""

    wall: float  # seconds
    cpu: float  # seconds, of all its threads and children
    memory: int  # bytes, the most that it, or one of its children, held


def run(command: list[str | Path], env: dict[str, str] | None = None) -> Cost:
    """Run a command to its end. Raises RuntimeError, with what it said last, if it fails."""
    metered = [sys.executable, "-I", "-S", str(METER), *map(str, command)]
    around = os.environ | (env or {})
    around.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    done = subprocess.run(metered, capture_output=True, text=True, check=False, env=around)
    if done.returncode or not done.stdout.strip():
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-500:]}")
    said = json.loads(done.stdout.strip().splitlines()[-1])
    if said.pop("code"):
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-500:]}")
    return Cost(**said)


def median(costs: list[Cost]) -> Cost:
    """Each figure's median; of memory the most."""
    walls, cpus = [c.wall for c in costs], [c.cpu for c in costs]
    return Cost(statistics.median(walls), statistics.median(cpus), max(c.memory for c in costs))


def in_turn(commands: dict[str, list[str | Path]], rounds: int) -> dict[str, list[Cost]]:
    """The commands one after the other, `rounds` times, after one run of each that counts for nothing."""
    for command in commands.values():
        run(command)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(run(command))
    return costs


def say(text: str) -> None:
    """Progress, for whoever waits."""
    print(text, file=sys.stderr, flush=True)
