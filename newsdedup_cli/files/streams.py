"""Bytes in and out: compression, standard input, checksums, and what a file's first bytes say it is."""

from __future__ import annotations

import atexit
import contextlib
import gzip
import hashlib
import io
import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import zstandard

from newsdedup_cli.errors import UserError

CHUNK = 1 << 20
COMPRESSIONS = {".gz": "gz", ".zst": "zst"}
_MAGIC = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
_KINDS = {
    b"PK\x03\x04": "a ZIP archive or Excel workbook (.xlsx)",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls) or one with a password",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"\x28\xb5\x2f\xfd": "zstd-compressed",
    b"\x1f\x8b": "gzip-compressed",
    b"SQLite format 3\x00": "an SQLite database",
    b"ARROW1": "an Arrow file",
}


def compression_of(path: Path) -> str | None:
    """The compression that the file's extension stands for.

    >>> compression_of(Path("news.csv.gz"))
    'gz'
    """
    return COMPRESSIONS.get(path.suffix.lower())


def first_bytes(path: Path, name: str, size: int = 16) -> bytes:
    """The first bytes of a file, or what can be done when there are none to be had."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except IsADirectoryError:
        raise UserError(f"{name} is a folder", wanted="files", todo=f"'{name}/*.csv' (quoted)") from None
    except FileNotFoundError:
        raise UserError(f"no such file: {name}") from None
    except OSError as error:
        raise UserError(f"cannot read {name}: {error.strerror or error}") from None


def kind_of(head: bytes) -> str | None:
    """What the first bytes say a file is, in words; None for text and what is not known."""
    return next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), None)


class ByteReader:
    """The bytes of a file, decompressed if its first bytes say so; broken archives become a `UserError`."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.kind = next((k for magic, k in _MAGIC.items() if first_bytes(path, name, 4).startswith(magic)), None)
        self._file = path.open("rb")
        self._stream: BinaryIO = self._file
        if self.kind == "gz":
            self._stream = cast(BinaryIO, gzip.GzipFile(fileobj=self._file))
        elif self.kind == "zst":
            # zstandard's own stream_reader takes a file that was cut off for a whole one.
            self._stream = cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(self._file, mode="r"), "zstd"))

    def read(self, size: int = CHUNK) -> bytes:
        """At most `size` bytes; none at the end."""
        try:
            return self._stream.read(size)
        except (EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno:
                raise UserError(f"cannot read {self.name}: {error.strerror or error}") from None
            raise _damaged(self.name, self.kind, error) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> ByteReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _damaged(name: str, kind: str | None, error: BaseException) -> UserError:
    if "too much memory" in str(error):
        return UserError(f"{name} was packed with a window of over 128 MB", todo=f"zstd -d --long=31 {name}")
    return UserError(
        f"{name} is damaged or incomplete: {error}",
        wanted=f"a whole .{kind} file",
        todo="copying or downloading it again",
    )


def spool(stream: BinaryIO, tmpdir: Path) -> Path:
    """Standard input as a file in `tmpdir`, since it is read more than once."""
    handle, name = tempfile.mkstemp(prefix="stdin-", dir=tmpdir)
    atexit.register(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(stream, file, CHUNK)
    return Path(name)


def spool_stdin(tmpdir: Path) -> Path:
    """The process's own standard input as a file."""
    return spool(sys.stdin.buffer, tmpdir)


def checksum(path: Path) -> tuple[str, int]:
    """SHA-256 (hex) and size in bytes of a file, streamed."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(4 * CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


class ByteWriter:
    """A file to be written, compressed or not; `close` flushes it to the disk.

    `target` may be an open stream (standard output), which is flushed but neither synced nor closed.
    """

    def __init__(self, target: Path | BinaryIO, compression: str | None = None) -> None:
        self._owned = isinstance(target, Path)
        self.file: BinaryIO = target.open("wb") if isinstance(target, Path) else target
        if isinstance(self.file, io.RawIOBase):  # as under PYTHONUNBUFFERED: its write() may write a part only
            self.file = cast(BinaryIO, io.BufferedWriter(io.FileIO(self.file.fileno(), "wb", closefd=False)))
        self.stream: BinaryIO = self.file
        if compression == "gz":
            self.stream = cast(BinaryIO, gzip.GzipFile(filename="", fileobj=self.file, mode="wb", mtime=0))
        elif compression == "zst":
            self.stream = cast(
                BinaryIO, zstandard.ZstdCompressor(write_checksum=True).stream_writer(self.file, closefd=False)
            )

    def write(self, data: bytes | memoryview) -> None:
        """Append the bytes."""
        self.stream.write(data)

    def close(self) -> None:
        """Finish the archive, flush and sync."""
        if self.stream is not self.file:
            self.stream.close()
        self.file.flush()
        if self._owned:
            os.fsync(self.file.fileno())
            self.file.close()

    def abort(self) -> None:
        """Close without finishing; errors (a full disk, a broken pipe) are not told again."""
        with contextlib.suppress(OSError, ValueError):
            if self.stream is not self.file:
                self.stream.close()
        with contextlib.suppress(OSError, ValueError):
            if self._owned:
                self.file.close()
