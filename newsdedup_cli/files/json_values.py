"""JSON objects as raw values by key, and raw values as text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import msgspec
import pyarrow as pa

from newsdedup_cli.files.texts import TEXT

RawJson = bytes | msgspec.Raw

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STRING = msgspec.json.Decoder(str)
_STRINGS = msgspec.json.Decoder(list[str | None])
_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS = {b"[": "an array", b'"': "a string", b"n": "null", b"t": "true", b"f": "false"}


class BadLine(Exception):
    """Why a line is not a JSON object."""


class _Number(str):
    """A number as it is spelled."""

    __slots__ = ()


def read_object(line: bytes, counts: dict[str, int]) -> Mapping[str, RawJson]:
    """The values of an object by key, each as raw JSON; of repeated keys the last one counts.

    What only Python's reader takes (NaN, lone surrogates, raw control characters) is cleaned: `counts` is
    told how many surrogates became U+FFFD. Raises `BadLine`.
    """
    try:
        return _OBJECT.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return _read_odd(line, counts)


def _read_odd(line: bytes, counts: dict[str, int]) -> dict[str, bytes]:
    try:
        value = json.loads(line, strict=False, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except json.JSONDecodeError as error:
        raise BadLine(f"not valid JSON ({error.msg} at character {error.pos + 1})") from None
    except (RecursionError, UnicodeDecodeError):
        raise BadLine("not valid JSON (nested too deeply)") from None
    if not isinstance(value, dict):
        raise BadLine(f"not a JSON object but {_KINDS.get(line[:1], 'a number')}")
    return {_clean(key, counts): _dump(value[key], counts).encode() for key in value}


def _clean(text: str, counts: dict[str, int]) -> str:
    clean, found = _SURROGATE.subn("\ufffd", text)
    counts["surrogates"] += found
    return clean


def _dump(value: object, counts: dict[str, int]) -> str:
    """Compact JSON with numbers as they were spelled."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, str):
        return json.dumps(_clean(value, counts), ensure_ascii=False)
    if isinstance(value, dict):
        pairs = (f"{json.dumps(_clean(k, counts), ensure_ascii=False)}:{_dump(v, counts)}" for k, v in value.items())
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(_dump(item, counts) for item in value)}]"
    return json.dumps(value)


class Cells:
    """Raw JSON values as text; `joined` joins lists of strings by newlines."""

    def __init__(self, *, joined: bool) -> None:
        self._joined = joined

    def array(self, raws: Sequence[RawJson | None], path: tuple[str, ...] = ()) -> pa.LargeStringArray:
        """Values (raw JSON or None), or what is at a path inside them; null where there is nothing."""
        if path:
            raws = [_inside(raw, path) for raw in raws]
        cells = [None if raw is None else self.text(bytes(raw)) for raw in raws]
        return pa.array(cells, pa.large_binary()).view(TEXT)

    def text(self, value: bytes) -> bytes | None:
        """One value: strings and numbers as they are, null as None, nested ones as compact JSON."""
        first = value[:1]
        if first == b'"':
            return value[1:-1] if b"\\" not in value else _unescaped(value)
        if first == b"n":
            return None
        return self._nested(value) if first in b"[{" else value

    def _nested(self, value: bytes) -> bytes:
        if self._joined and value[:1] == b"[":
            try:
                return "\n".join(x for x in _STRINGS.decode(value) if x is not None).encode()
            except (msgspec.DecodeError, msgspec.ValidationError):
                pass
        if b"\\" not in value:
            try:
                return msgspec.json.format(value, indent=-1)
            except (msgspec.DecodeError, RecursionError):  # NaN, and what else only Python's reader takes
                pass
        parsed = json.loads(value, strict=False, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
        return _dump(parsed, {"surrogates": 0}).encode()


def _unescaped(value: bytes) -> bytes:
    try:
        return _STRING.decode(value).encode()
    except (msgspec.DecodeError, UnicodeEncodeError):
        return _SURROGATE.sub("\ufffd", json.loads(value, strict=False)).encode()


def _inside(raw: RawJson | None, path: Sequence[str]) -> RawJson | None:
    for name in path:
        if raw is None or bytes(raw)[:1] != b"{":
            return None
        raw = read_object(bytes(raw), {"surrogates": 0}).get(name)
    return raw
