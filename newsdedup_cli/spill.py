"""Columns that may be larger than memory: up to a budget they are plain arrays, beyond it they lie in mapped files.

A mapped array is an array like any other, but what is touched of it counts as memory of the process, and the system
maps sixteen pages where one is touched. So whoever goes through a large one does it block by block and releases each,
and who needs single rows of it gathers them (`rows_of`, `ragged_rows`, `over_pairs`). All of that costs a plain array
nothing.
"""

from __future__ import annotations

import ctypes
import mmap
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from newsdedup_cli.tables import I64
from newsdedup_cli.texts import buffers, offsets_of, runs

BLOCK = 8 << 20  # bytes of a mapped array that are looked at before they are released
PAIRS = 1 << 16  # pairs whose rows are gathered at a time
MEMORY = 1 << 30  # bytes that a run may take if nothing is said
SHARE = 4  # of the memory a run may take, one in so many is for what is kept of its rows

Array = npt.NDArray[Any]
_MAPPED: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class Grown:
    """A column that grows batch by batch, in memory until `spill` is called."""

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self._like: Array | None = None
        self._file: Any = None
        self._folder: Path | None = None

    def append(self, part: Array) -> int:
        """Add rows; returns the bytes that memory holds more for it."""
        self._like = part[:0]
        if self._file is not None:
            self._write(part)
            return 0
        self._parts.append(part)
        return part.nbytes

    def spill(self, folder: Path | None) -> None:
        """Put what there is, and what comes, into a file without a name in the folder."""
        self._folder = folder
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".newsdedup-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        parts, self._parts = self._parts[::-1], []
        while parts:
            self._write(parts.pop())

    def _write(self, part: Array) -> None:
        try:
            self._file.write(np.ascontiguousarray(part).data)
        except OSError as error:
            error.filename = error.filename or str(self._folder or tempfile.gettempdir())
            raise

    def whole(self) -> Array:
        """All rows, as one array; nothing can be added any more. At least one part must have been."""
        if self._like is None:
            raise ValueError("a column without a part")
        if self._file is None:
            parts, self._parts = self._parts, []
            return np.concatenate(parts) if len(parts) > 1 else parts[0]
        with self._file as file:
            if file.tell() == 0:
                return self._like.copy()
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0)
        _MAPPED.add(mapped)
        return np.frombuffer(mapped, self._like.dtype).reshape(-1, *self._like.shape[1:])


class GrownTexts:
    """A column of strings that grows batch by batch, as `Grown` does."""

    def __init__(self) -> None:
        self._data, self._lengths, self._valid = Grown(), Grown(), Grown()

    def append(self, texts: pa.LargeStringArray) -> int:
        """Add rows; returns the bytes that memory holds more for them."""
        data, offsets = buffers(texts.fill_null(""))
        valid = texts.is_valid().to_numpy(zero_copy_only=False)
        here = self._data.append(data[offsets[0] : offsets[-1]].copy())
        return here + self._lengths.append(np.diff(offsets).astype(np.int32)) + self._valid.append(valid)

    def spill(self, folder: Path | None) -> None:
        """See `Grown.spill`; only the characters go."""
        self._data.spill(folder)

    def whole(self) -> pa.LargeStringArray:
        """All rows, as one array."""
        lengths, valid = self._lengths.whole(), self._valid.whole()
        offsets = offsets_of(lengths)
        bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.LargeStringArray.from_buffers(
            len(lengths), pa.py_buffer(offsets), pa.py_buffer(self._data.whole()), bits
        )


def _mapping(array: Array) -> mmap.mmap | None:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, mmap.mmap) else None


def release() -> None:
    """Give back the memory of what was touched of all mapped columns; what is in them stays."""
    for mapped in list(_MAPPED):
        mapped.madvise(mmap.MADV_DONTNEED)


def settle() -> None:
    """Give back all memory that is held and not used, mapped or kept by the allocator for later."""
    release()
    with suppress(AttributeError, OSError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def blocks(offsets: I64, width: int = 8) -> Iterator[tuple[int, int]]:
    """Ranges of rows with offsets i8[N+1] that have at most a BLOCK of bytes each, or are one row."""
    return runs(offsets, max(1, BLOCK // width))


def rows_of(array: Array, rows: I64) -> Array:
    """array[rows]"""
    if _mapping(array) is None or len(rows) == 0:
        return array[rows]
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    out = np.empty((len(rows), *array.shape[1:]), array.dtype)
    step = max(1, BLOCK // max(array[:1].nbytes, 1))
    for begin, end in pairwise(np.searchsorted(ordered, np.arange(0, len(array) + step, step)).tolist()):
        if end > begin:
            out[order[begin:end]] = array[ordered[begin:end]]
            release()
    return out


def ragged_rows(values: Array, offsets: I64, rows: I64) -> tuple[Array, I64]:
    """The values of rows i8[R] of values [M], offsets i8[N+1]: values [M'], offsets i8[R+1].

    Of a mapped array the rows must be ascending.
    """
    starts, sizes = offsets[rows], offsets[rows + 1] - offsets[rows]
    bounds = offsets_of(sizes)
    out = np.empty(bounds[-1], values.dtype)
    ends = [0, len(rows)]
    if _mapping(values) is not None:
        step = BLOCK // values.itemsize
        ends = np.searchsorted(starts, np.arange(0, offsets[-1] + step, step)).tolist()
    for begin, end in pairwise(ends):
        if end > begin:
            place = np.repeat(starts[begin:end] - bounds[begin:end], sizes[begin:end])
            place += np.arange(bounds[begin], bounds[end])
            out[bounds[begin] : bounds[end]] = values[place]
            release()
    return out, bounds


def over_pairs(function: Callable[[Array, I64, I64], Array], array: Array, a: I64, b: I64) -> Array:
    """function(array, a, b), an array [P] of pairs of rows; of a mapped array only those rows are read."""
    if _mapping(array) is None or len(a) == 0:
        return function(array, a, b)
    found = []
    for begin in range(0, len(a), PAIRS):
        x, y = a[begin : begin + PAIRS], b[begin : begin + PAIRS]
        rows, place = np.unique(np.concatenate([x, y]), return_inverse=True)
        found.append(function(rows_of(array, rows), place[: len(x)], place[len(x) :]))
    return np.concatenate(found)
