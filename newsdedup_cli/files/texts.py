"""Arrow values as text, by one set of rules for reading, for CSV and for messages.

Strings as they are; whole numbers without .0; dates and times in ISO form; booleans as true and false; binary
decoded as UTF-8, else GB18030; nested values as compact JSON; null stays null.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

TEXT = pa.large_string()
BAD_UTF8 = "bad_utf8"
NOT_UTF8_BINARY = "gb18030_binary"
BIG_FLOAT = "big_float"
_EXACT = float(2**53)


def as_text(array: pa.Array, counts: Counter[str] | None = None, *, joined: bool = False) -> pa.LargeStringArray:
    """The values as large_string, offset 0, contiguous.

    With `joined`, for texts that are compared: lists of strings are joined by newlines and NaN is null.
    `counts` is told of values that were not exact: BAD_UTF8, NOT_UTF8_BINARY, BIG_FLOAT.
    """
    counts = Counter() if counts is None else counts
    return contiguous(_convert(array, counts, joined))


def _convert(array: pa.Array, counts: Counter[str], joined: bool) -> pa.LargeStringArray:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _convert(array.storage, counts, joined)
    if pa.types.is_dictionary(kind):
        return _convert(array.dictionary_decode(), counts, joined)
    if pa.types.is_null(kind):
        return pa.nulls(len(array), TEXT)
    if is_string(kind):
        return _valid(array.cast(TEXT), counts)
    if is_binary(kind):
        return _decoded(array.cast(pa.large_binary()), counts)
    if joined and is_list(kind) and is_string(kind.value_type):
        return _joined(array, counts)
    if pa.types.is_nested(kind):
        texts = [None if v is None else to_json(v).decode() for v in plain(array, counts)]
        return pa.array(texts, TEXT)
    return _scalar(array, counts, joined)


def _scalar(array: pa.Array, counts: Counter[str], joined: bool) -> pa.LargeStringArray:
    kind = array.type
    if pa.types.is_floating(kind):
        return _float_text(array, counts, joined)
    if pa.types.is_timestamp(kind):
        return _timestamp_text(array)
    if pa.types.is_time(kind):
        return _short_fraction(array.cast(TEXT))
    if pa.types.is_duration(kind):
        return array.cast(pa.int64()).cast(TEXT)
    try:
        return array.cast(TEXT)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if v is None else str(v) for v in array.to_pylist()], TEXT)


def is_string(kind: pa.DataType) -> bool:
    """Whether values of the type are strings, in any of Arrow's layouts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_binary(kind: pa.DataType) -> bool:
    """Whether values of the type are bytes, in any of Arrow's layouts."""
    sized = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return bool(sized or pa.types.is_fixed_size_binary(kind))


def is_list(kind: pa.DataType) -> bool:
    """Whether values of the type are lists, in any of Arrow's layouts."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def contiguous(array: pa.LargeStringArray) -> pa.LargeStringArray:
    """The array with offset 0, its first byte at 0: what kernels take."""
    size = len(array)
    _, offset_buffer, data = array.buffers()
    if size == 0:
        return pa.LargeStringArray.from_buffers(0, pa.py_buffer(np.zeros(1, np.int64)), pa.py_buffer(b""))
    offsets = np.frombuffer(offset_buffer, np.int64)[array.offset : array.offset + size + 1]
    if array.offset == 0 and offsets[0] == 0 and data is not None:
        return array
    data = pa.py_buffer(b"") if data is None else data.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    return with_buffers(np.asarray(array.is_valid()), offsets - offsets[0], data)


def with_buffers(valid: np.ndarray, offsets: np.ndarray, data: pa.Buffer) -> pa.LargeStringArray:
    """An array of texts from its parts: valid b1[N], offsets i8[N+1], data u1[B]."""
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    size = len(valid)
    return pa.LargeStringArray.from_buffers(size, pa.py_buffer(offsets), data, bits, size - int(valid.sum()))


def _valid(array: pa.LargeStringArray, counts: Counter[str]) -> pa.LargeStringArray:
    """Strings whose bytes are not UTF-8 (some writers do that) with U+FFFD in their place."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return _mended(array.cast(pa.large_binary()), counts)
    return array


def _mended(array: pa.LargeBinaryArray, counts: Counter[str]) -> pa.LargeStringArray:
    texts = []
    for value in array.to_pylist():
        text = None if value is None else value.decode("utf-8", "replace")
        counts[BAD_UTF8] += text is not None and text.encode() != value
        texts.append(text)
    return pa.array(texts, TEXT)


def _decoded(array: pa.LargeBinaryArray, counts: Counter[str]) -> pa.LargeStringArray:
    """Bytes as text: UTF-8, else GB18030, each value by itself."""
    as_string = array.view(TEXT)
    try:
        as_string.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([None if v is None else _decode(v, counts) for v in array.to_pylist()], TEXT)
    return as_string


def _decode(value: bytes, counts: Counter[str]) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        counts[NOT_UTF8_BINARY] += 1
        text = value.decode("gb18030", "replace")
        counts[BAD_UTF8] += "\ufffd" in text
        return text


def _joined(array: pa.Array, counts: Counter[str]) -> pa.LargeStringArray:
    """Paragraphs as one text; null elements are left out."""
    texts = [None if v is None else "\n".join(x for x in v if x is not None) for v in plain(array, counts)]
    return pa.array(texts, TEXT)


def _float_text(array: pa.Array, counts: Counter[str], joined: bool) -> pa.LargeStringArray:
    """Floats in their shortest form, whole ones as integers.

    >>> as_text(pa.array([1.0, 0.5, 1e20, None])).to_pylist()
    ['1', '0.5', '100000000000000000000', None]
    """
    wide = array.cast(pa.float64())
    values = wide.fill_null(0.0).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(values) & (np.floor(values) == values)
    counts[BIG_FLOAT] += int((whole & (np.abs(values) >= _EXACT)).sum())
    if (whole & (np.abs(values) < 2**62)).all():
        texts = pa.array(values.astype(np.int64)).cast(TEXT)
    else:
        short = array.fill_null(0.0).cast(TEXT).to_pylist()
        pairs = zip(values.tolist(), whole.tolist(), short, strict=True)
        texts = pa.array([str(int(v)) if w else "NaN" if v != v else s for v, w, s in pairs], TEXT)
    missing = pc.is_null(array, nan_is_null=joined)
    return pc.if_else(missing, pa.scalar(None, TEXT), texts)


def _timestamp_text(array: pa.Array) -> pa.LargeStringArray:
    """ISO 8601 with the zone's offset where there is a zone.

    >>> as_text(pa.array([1704182400], pa.timestamp("s", "Asia/Shanghai"))).to_pylist()
    ['2024-01-02T16:00:00+08:00']
    """
    try:
        if array.type.tz is None:
            return _short_fraction(pc.strftime(array, "%Y-%m-%dT%H:%M:%S").cast(TEXT))
        texts = pc.strftime(array, "%Y-%m-%dT%H:%M:%S %z").cast(TEXT)
        parts = pc.extract_regex(texts, r"^(?P<time>.*) (?P<hours>[+-]\d\d)(?P<minutes>\d\d)$")
        time = _short_fraction(parts.field("time").cast(TEXT))
        zone = [parts.field(name).cast(TEXT) for name in ("hours", "minutes")]
        offset = pc.binary_join_element_wise(*zone, pa.scalar(":", TEXT))
        whole = pc.binary_join_element_wise(time, offset, pa.scalar("", TEXT))
        return pc.if_else(pc.is_valid(array), whole, pa.scalar(None, TEXT))
    except pa.ArrowInvalid:  # years that a calendar does not hold
        return array.cast(pa.int64()).cast(TEXT)


def _short_fraction(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    texts = pc.replace_substring_regex(texts, r"(\.\d*[1-9])0+$", r"\1")
    return pc.replace_substring_regex(texts, r"\.0+$", "")


def plain(array: pa.Array, counts: Counter[str] | None = None) -> list[Any]:
    """The values for JSON: numbers, booleans, strings, lists and dicts; dates, decimals and bytes as text."""
    counts = Counter() if counts is None else counts
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage, counts)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode(), counts)
    if pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        columns = [plain(child, counts) for child in array.flatten()]
        rows = zip(*columns, strict=True) if columns else ((),) * len(array)
        return _nulled(array, [dict(zip(names, row, strict=True)) for row in rows])
    if pa.types.is_map(kind):
        keys, items = as_text(array.keys, counts).to_pylist(), plain(array.items, counts)
        pairs = list(zip(keys, items, strict=True))
        return _nulled(array, [dict(part) for part in _parts(array, pairs)])
    if is_list(kind):
        return _nulled(array, _parts(array, plain(array.values, counts)))
    if pa.types.is_nested(kind):
        return [None if v is None else str(v) for v in array.to_pylist()]
    if pa.types.is_null(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return list(array.to_pylist())
    if pa.types.is_floating(kind):
        return list(array.cast(pa.float64()).to_pylist())
    return list(as_text(array, counts).to_pylist())


def _nulled(array: pa.Array, values: list[Any]) -> list[Any]:
    return [v if valid else None for v, valid in zip(values, array.is_valid().to_pylist(), strict=True)]


def _parts(array: pa.Array, values: list[Any]) -> list[list[Any]]:
    """The elements of each list, `values` being those of the whole child array."""
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        return [values[i * size : (i + 1) * size] for i in range(array.offset, array.offset + len(array))]
    offsets = array.offsets.to_pylist()
    return [values[first:last] for first, last in itertools.pairwise(offsets)]


def to_json(value: object) -> bytes:
    """Compact JSON as UTF-8.

    >>> to_json({"标题": [1, None]}).decode()
    '{"标题":[1,null]}'
    """
    return msgspec.json.encode(value)
