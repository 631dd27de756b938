"""Keeps two writers apart, and readers from files that are being removed.

Advisory locks of the system (flock), which end with the process that holds them, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from newsdedup_cli.errors import UserError

WAIT = 10.0  # seconds that a second writer waits
_STEP = 0.05


@contextmanager
def writing(folder: Path, wait: float = WAIT) -> Iterator[None]:
    """Be the only writer of the index. Raises UserError where another one does not end within `wait` seconds."""
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UserError(
            f"cannot write into {folder}: {error.strerror}", wanted="a folder that you may write to"
        ) from error
    try:
        if not _taken(handle, fcntl.LOCK_EX, wait):
            raise UserError(
                f"{folder} is being written by {_holder(handle)}",
                wanted="one writer at a time",
                todo="again when it is done",
            )
        _say_who(handle)
        yield
    finally:
        os.close(handle)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Keep the files of the index in place meanwhile; where nothing can be locked, nothing is."""
    try:
        handle = os.open(folder / "reading", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        try:
            handle = os.open(folder / "reading", os.O_RDONLY)
        except OSError:
            yield  # a folder that we may only read, and that was never read from here
            return
    try:
        _taken(handle, fcntl.LOCK_SH, WAIT)
        yield
    finally:
        os.close(handle)


@contextmanager
def nobody_reading(folder: Path) -> Iterator[bool]:
    """Whether nobody reads the index; as long as the block lasts nobody begins to."""
    handle = os.open(folder / "reading", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield _taken(handle, fcntl.LOCK_EX, 0)
    finally:
        os.close(handle)


def _taken(handle: int, kind: int, wait: float) -> bool:
    end = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_STEP)
        else:
            return True


def _say_who(handle: int) -> None:
    who = {"process": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat("T", "seconds")}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(who).encode(), 0)


def _holder(handle: int) -> str:
    try:
        who = json.loads(os.pread(handle, 1000, 0))
        return f"process {who['process']} on {who['host']} since {who['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
