"""Writing one batch while the next is read."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from newsdedup_cli.files.base import Batch, Sink


class Behind:
    """A sink that is written in a thread of its own, one batch behind; an error comes with the next call."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._pool = ThreadPoolExecutor(1, "writing")
        self._writing: Future[None] | None = None

    @property
    def warnings(self) -> list[str]:
        """What had to be changed."""
        return self._sink.warnings

    def write(self, batch: Batch) -> None:
        """Append the rows, as soon as those before them are written."""
        self._wait()
        self._writing = self._pool.submit(self._sink.write, batch)

    def close(self) -> None:
        """Finish the file and flush it to the disk."""
        self._wait()
        self._pool.shutdown()
        self._sink.close()

    def abort(self) -> None:
        """Let go of an unfinished file."""
        with suppress(Exception):  # the first error is told
            self._wait()
        self._pool.shutdown()
        self._sink.abort()

    def _wait(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()
