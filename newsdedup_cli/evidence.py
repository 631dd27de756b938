"""What is known of rows, as an Arrow record batch and back: how it lies in an index and in checkpoints.

Arrays of more than one number a row are fixed-size binaries (little-endian), so that reading them back costs no
copy; the hashes of a row's sentences are one binary of its own length. Nothing of the settings is in here: whoever
stores a batch stores the signature beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from newsdedup_cli.fingerprint import Batch
from newsdedup_cli.tables import I64, U64, UNKNOWN, Fingerprints, Rows

WIDE: dict[str, type[np.generic]] = {
    "sentences": np.uint64,
    "sketch": np.uint16,
    "keys": np.uint32,
    "title_bits": np.uint64,
}
PLAIN = {
    "simhash": pa.uint64(), "features": pa.int32(), "significant": pa.int32(), "alone": pa.uint8(),
    "url": pa.uint64(), "title_support": pa.float32(), "identity": pa.uint64(),
}  # fmt: skip
TEXTS = ("id", "title", "source")  # as they came in; null where the input has none
DATE = pa.timestamp("us", "UTC")


@dataclass
class Evidence:
    """Some rows with all that is known of them."""

    batch: Batch  # fingerprints, and the hashes of all sentences and lines
    rows: Rows
    files: list[str]  # what rows.file counts in
    identity: U64  # [N] hash of everything that was read of the row
    cleaned: pa.LargeStringArray | None  # [N] the texts as compared
    urls: pa.LargeStringArray | None = None  # [N] where they were kept
    content: U64 | None = None  # [N,2] and
    as_read: U64 | None = None  # [N]: by what a decision knows the row (see scan.Scanned)

    def __len__(self) -> int:
        return len(self.identity)


def to_arrow(rows: Evidence) -> pa.RecordBatch:
    """One line per row; `from_arrow` gives the same rows back."""
    prints, about = rows.batch.fingerprints, rows.rows
    columns: dict[str, pa.Array] = {name: getattr(about, name) for name in TEXTS}
    columns["file"] = pa.array(rows.files or [""], pa.string()).take(pa.array(about.file))
    columns["date"] = pa.array(about.date, pa.int64(), mask=about.date == UNKNOWN).cast(DATE)
    columns["digest"], columns["digest_2"] = _halves(prints.digest)
    for name, kind in PLAIN.items():
        columns[name] = pa.array(rows.identity if name == "identity" else _of(rows, name), kind)
    for name in WIDE:
        columns[name] = _wide(_of(rows, name))
    columns["pieces"] = _ragged(rows.batch.pieces, rows.batch.piece_rows)
    if rows.cleaned is not None:
        columns["text"] = rows.cleaned
    if rows.urls is not None:
        columns["url_text"] = rows.urls
    if rows.content is not None and rows.as_read is not None:
        columns["content"], columns["content_2"] = _halves(rows.content)
        columns["as_read"] = pa.array(rows.as_read)
    return pa.RecordBatch.from_pydict(columns)


def _of(rows: Evidence, name: str) -> npt.NDArray[np.generic]:
    owner = rows.rows if name in {field.name for field in fields(Rows)} else rows.batch.fingerprints
    found: npt.NDArray[np.generic] = getattr(owner, name)
    return found


def from_arrow(lines: pa.RecordBatch | pa.Table) -> Evidence:
    """The rows of `to_arrow`, of one batch or of a table of several; other columns are left alone."""
    names = set(lines.schema.names)
    files, file = _distinct(_whole(lines.column("file")))
    numbers = {name: _numbers(lines, name) for name in PLAIN}
    wide = {name: from_wide(_whole(lines.column(name)), kind) for name, kind in WIDE.items()}
    date = _whole(lines.column("date")).cast(pa.int64()).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    both = numbers | wide | {"date": date, "file": file, "digest": digests(lines)}
    both |= {name: _whole(lines.column(name)) for name in TEXTS}
    return Evidence(
        Batch(_made(Fingerprints, both), *from_ragged(_whole(lines.column("pieces")))),
        _made(Rows, both),
        files,
        numbers["identity"],
        _whole(lines.column("text")) if "text" in names else None,
        _whole(lines.column("url_text")) if "url_text" in names else None,
        digests(lines, "content") if "content" in names else None,
        _numbers(lines, "as_read") if "as_read" in names else None,
    )


def _made(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**{field.name: values[field.name] for field in fields(kind)})


def digests(lines: pa.RecordBatch | pa.Table, name: str = "digest") -> U64:
    """The digests u8[N,2] of lines that have the columns `digest` and `digest_2`, or others so named."""
    return np.stack([_numbers(lines, name), _numbers(lines, f"{name}_2")], axis=1)


def _halves(digest: U64) -> list[pa.Array]:
    return [pa.array(np.ascontiguousarray(half)) for half in digest.T]


def _numbers(lines: pa.RecordBatch | pa.Table, name: str) -> npt.NDArray[Any]:
    # A copy: what stages change in place must not be a file that is mapped.
    return np.array(_whole(lines.column(name)).to_numpy(zero_copy_only=False))


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One array; pyarrow gives an array or a chunked one, also of no chunk."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def _distinct(names: pa.Array) -> tuple[list[str], npt.NDArray[np.int32]]:
    found = names.dictionary_encode()
    return found.dictionary.to_pylist(), np.array(found.indices.to_numpy(zero_copy_only=False), np.int32)


def _wide(values: npt.NDArray[np.generic]) -> pa.FixedSizeBinaryArray:
    data = np.ascontiguousarray(values)
    width = data.dtype.itemsize * data.shape[1]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(data), [None, pa.py_buffer(data)])


def from_wide(column: pa.FixedSizeBinaryArray, kind: type[np.generic]) -> npt.NDArray[Any]:
    """The array [N,K] of numbers of this kind that a fixed-size binary has."""
    width = column.type.byte_width
    buffer = column.buffers()[1]
    data = np.frombuffer(buffer or b"", np.uint8)[column.offset * width : (column.offset + len(column)) * width]
    return np.array(data).view(kind).reshape(len(column), width // np.dtype(kind).itemsize)


def _ragged(values: U64, offsets: I64) -> pa.LargeBinaryArray:
    data = np.ascontiguousarray(values)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(np.ascontiguousarray(offsets * 8)), pa.py_buffer(data)]
    )


def from_ragged(column: pa.LargeBinaryArray) -> tuple[U64, I64]:
    """The numbers u8[M] of a binary column, by row, and their offsets i8[N+1]."""
    _, offset_buffer, data_buffer = column.buffers()
    if len(column) == 0 or offset_buffer is None:
        return np.zeros(0, np.uint64), np.zeros(len(column) + 1, np.int64)
    offsets = np.frombuffer(offset_buffer, np.int64)[column.offset : column.offset + len(column) + 1]
    values = np.array(np.frombuffer(data_buffer or b"", np.uint8)[offsets[0] : offsets[-1]]).view(np.uint64)
    return values, (offsets - offsets[0]) // 8


def select(rows: Evidence, some: Sequence[int] | I64) -> Evidence:
    """The rows at these positions, in this order."""
    return from_arrow(to_arrow(rows).take(pa.array(some, pa.int64())))
