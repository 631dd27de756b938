"""The cleaned texts, on disk between the passes.

They are written once, as they are made, and read back only for the rows of doubtful pairs. Measured against a
second pass that decodes and cleans the input again, this costs a third (a sequential write, no second
cleaning), works for standard input, and keeps the memory for fingerprints.
"""

from __future__ import annotations

import mmap
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from newsdedup_cli.tables import I64


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


class TextStore:
    """Texts by position, appended in order; a context manager that leaves no file behind."""

    def __init__(self, folder: Path | None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".newsdedup-")  # noqa: SIM115 - closed in close()
        self._size = 0
        self._starts: list[I64] = []
        self._lengths: list[I64] = []

    def append(self, data: npt.NDArray[np.uint8], offsets: I64) -> None:
        """Add the texts data u1[B], offsets i8[N+1] as the next rows."""
        self._starts.append(self._write(data, offsets))
        self._lengths.append(np.diff(offsets))

    def replace_strings(self, rows: I64, texts: pa.LargeStringArray) -> None:
        """Give the rows other texts."""
        data, offsets = buffers(texts)
        starts, lengths = self._positions()
        starts[rows] = self._write(data, offsets)
        lengths[rows] = np.diff(offsets)

    def gather(self, rows: I64) -> tuple[npt.NDArray[np.uint8], I64]:
        """The texts of the rows: data u1[B], offsets i8[R+1]."""
        from newsdedup_cli.kernels import store

        starts, lengths = self._positions()
        if self._size == 0:
            return np.zeros(0, np.uint8), np.zeros(len(rows) + 1, np.int64)
        self._file.flush()
        # Never closed by hand: another thread may still read. Mapped pages that are not given back would count as ours.
        view = mmap.mmap(self._file.fileno(), self._size, access=mmap.ACCESS_READ)
        found: tuple[npt.NDArray[np.uint8], I64] = store.gather(np.frombuffer(view, np.uint8), starts, lengths, rows)
        return found

    def named(self, rows: I64) -> dict[int, str]:
        """The texts of the rows by row number, counted from 1, without the empty ones."""
        found = strings(*self.gather(rows)).to_pylist()
        return {row + 1: text for row, text in zip(rows.tolist(), found, strict=True) if text}

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()

    def _write(self, data: npt.NDArray[np.uint8], offsets: I64) -> I64:
        self._file.write(data[offsets[0] : offsets[-1]].tobytes())
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
