"""The cleaned texts, on disk between the passes.

They are written once, as they are made, and read back only for the rows of doubtful pairs. Measured against a
second pass that decodes and cleans the input again, this costs a third (a sequential write, no second
cleaning), works for standard input, and keeps the memory for fingerprints.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from newsdedup_cli.tables import I64

GAP = 2048  # bytes between two texts that are cheaper read than skipped


def buffers(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], I64]:
    """Data u1[B] and offsets i8[N+1] of an array without nulls, the offsets counted from the data's begin."""
    if not isinstance(texts, pa.LargeStringArray):
        texts = texts.cast(pa.large_string())
    _, offset_buffer, data_buffer = texts.buffers()
    if offset_buffer is None or len(texts) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return data, offsets


def strings(data: npt.NDArray[np.uint8], offsets: I64) -> pa.LargeStringArray:
    """The array whose buffers these are."""
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def runs(offsets: I64, most: int, rows: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of items with offsets i8[N+1] that have at most `most` together, or are one, and at most `rows` items.

    >>> list(runs(np.array([0, 2, 4, 13, 14, 15, 16]), 4, 2))
    [(0, 2), (2, 3), (3, 5), (5, 6)]
    """
    begin, size = 0, len(offsets) - 1
    while begin < size:
        end = int(np.searchsorted(offsets, offsets[begin] + most, side="right")) - 1
        end = min(max(end, begin + 1), begin + (rows or size), size)
        yield begin, end
        begin = end


def offsets_of(sizes: npt.NDArray[Any]) -> I64:
    """Where each of items with these sizes [N] begins, and where the last ends: i8[N+1]."""
    offsets: I64 = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


class TextStore:
    """Texts by position, appended in order; a context manager that leaves no file behind.

    With `path` they lie in a file of that name, which stays: its first `size` bytes are those of an earlier run,
    whose texts are taken over by `adopt`.
    """

    def __init__(self, folder: Path | None, path: Path | None = None, size: int = 0) -> None:
        if path is None:
            self._file: Any = tempfile.TemporaryFile(dir=folder, prefix=".newsdedup-")  # noqa: SIM115
        else:
            path.touch()
            os.truncate(path, size)
            self._file = path.open("r+b")
            self._file.seek(size)
        self._size = size
        self._folder = path.parent if path else folder or Path(tempfile.gettempdir())
        self._starts: list[I64] = []
        self._lengths: list[I64] = []

    def append(self, data: npt.NDArray[np.uint8], offsets: I64) -> None:
        """Add the texts data u1[B], offsets i8[N+1] as the next rows."""
        self._starts.append(self._write(data, offsets))
        self._lengths.append(np.diff(offsets))

    def adopt(self, start: int, lengths: I64) -> None:
        """Take the texts of an earlier run, from `start` in the file on, as the next rows."""
        self._starts.append(start + np.cumsum(lengths) - lengths)
        self._lengths.append(lengths)

    @property
    def size(self) -> int:
        """Bytes that the file has."""
        return self._size

    def sizes(self, rows: I64) -> I64:
        """The bytes i8[R] of the texts of the rows."""
        return self._positions()[1][rows]

    def checksum(self, start: int, size: int) -> int:
        """The CRC-32 of a part of the file."""
        return zlib.crc32(os.pread(self._file.fileno(), size, start))

    def flush(self) -> None:
        """Hand to the system what is held."""
        self._file.flush()

    def sync(self) -> None:
        """Wait until what is flushed is on the disk."""
        os.fsync(self._file.fileno())

    def replace_strings(self, rows: I64, texts: pa.LargeStringArray) -> None:
        """Give the rows other texts."""
        data, offsets = buffers(texts)
        starts, lengths = self._positions()
        starts[rows] = self._write(data, offsets)
        lengths[rows] = np.diff(offsets)

    def gather(self, rows: I64) -> tuple[npt.NDArray[np.uint8], I64]:
        """The texts of the rows: data u1[B], offsets i8[R+1]."""
        from newsdedup_cli.kernels import store

        starts, lengths = (column[rows] for column in self._positions())
        if not lengths.any():
            return np.zeros(0, np.uint8), np.zeros(len(rows) + 1, np.int64)
        self._file.flush()
        data, places = self._read(starts, lengths)
        found: tuple[npt.NDArray[np.uint8], I64] = store.gather(data, places, lengths, np.arange(len(rows)))
        return found

    def _read(self, starts: I64, lengths: I64) -> tuple[npt.NDArray[np.uint8], I64]:
        """The bytes of the texts, what lies close together in one go, and where in them each text begins.

        Not mapped: with a page the system maps sixteen around it, and all count as this program's memory.
        """
        order = np.argsort(starts, kind="stable")
        begins, ends = starts[order], np.maximum.accumulate((starts + lengths)[order])
        heads = np.append(0, np.flatnonzero(begins[1:] > ends[:-1] + GAP) + 1)
        tails = np.append(heads[1:], len(order)) - 1
        sizes = ends[tails] - begins[heads]
        file = self._file.fileno()
        parts = [os.pread(file, size, at) for at, size in zip(begins[heads].tolist(), sizes.tolist(), strict=True)]
        shift = np.repeat(np.cumsum(sizes) - sizes - begins[heads], tails - heads + 1)
        places = np.empty(len(order), np.int64)
        places[order] = begins + shift
        return np.frombuffer(b"".join(parts), np.uint8), places

    def named(self, rows: I64) -> dict[int, str]:
        """The texts of the rows by row number, counted from 1, without the empty ones."""
        found = strings(*self.gather(rows)).to_pylist()
        return {row + 1: text for row, text in zip(rows.tolist(), found, strict=True) if text}

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()

    def _write(self, data: npt.NDArray[np.uint8], offsets: I64) -> I64:
        try:
            self._file.write(data[offsets[0] : offsets[-1]].tobytes())
        except OSError as error:
            error.filename = error.filename or str(self._folder)
            raise
        starts: I64 = offsets[:-1] - offsets[0] + self._size
        self._size += int(offsets[-1] - offsets[0])
        return starts

    def _positions(self) -> tuple[I64, I64]:
        if len(self._starts) != 1:
            empty: list[Any] = [np.zeros(0, np.int64)]
            self._starts = [np.concatenate(self._starts or empty)]
            self._lengths = [np.concatenate(self._lengths or empty)]
        return self._starts[0], self._lengths[0]

    def __enter__(self) -> TextStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
