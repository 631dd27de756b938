"""Progress and messages, all on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from newsdedup_cli.spill import settle

LINE_EVERY = 10.0  # seconds between plain lines of one stage


def peak_memory() -> int:
    """The most memory this process has held so far, in bytes (0 where the system does not tell)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@dataclass
class Stage:
    """Seconds and peak memory at the end of one stage."""

    name: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass
class Progress:
    """Tells how far a run is and remembers how long each stage took."""

    quiet: bool = False
    stages: list[Stage] = field(default_factory=list)

    def say(self, message: str) -> None:
        """A line on stderr, unless quiet."""
        if not self.quiet:
            click.echo(message, err=True)

    def warn(self, message: str) -> None:
        """A warning on stderr, also when quiet."""
        click.echo(f"warning: {message}", err=True)

    @contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "rows") -> Iterator[Callable[[int], None]]:
        """Time a stage; call what it gives with how many units are done."""
        begin, cpu = time.perf_counter(), time.process_time()
        advance = _no_advance if self.quiet else self._bar(name, total, unit)
        try:
            yield advance
        finally:
            close = getattr(advance, "close", None)
            if close:
                close()
            settle()
            self.stages.append(Stage(name, time.perf_counter() - begin, time.process_time() - cpu, peak_memory()))

    def _bar(self, name: str, total: int | None, unit: str) -> Callable[[int], None]:
        if sys.stderr.isatty():
            return _Bar(name, total, unit)
        return _Lines(name, unit, self.say)


def _no_advance(_: int) -> None:
    return


class _Bar:
    def __init__(self, name: str, total: int | None, unit: str) -> None:
        from tqdm import tqdm

        self._bar = tqdm(desc=name, total=total, unit=f" {unit}", leave=False, file=sys.stderr, dynamic_ncols=True)

    def __call__(self, done: int) -> None:
        self._bar.update(done)

    def close(self) -> None:
        self._bar.close()


class _Lines:
    """A line now and then, so that a log shows that the run is alive."""

    def __init__(self, name: str, unit: str, say: Callable[[str], None]) -> None:
        self._name, self._unit, self._say = name, unit, say
        self._done, self._next = 0, time.monotonic() + LINE_EVERY

    def __call__(self, done: int) -> None:
        self._done += done
        if time.monotonic() >= self._next:
            self._say(f"{self._name}: {self._done:,} {self._unit}")
            self._next = time.monotonic() + LINE_EVERY
