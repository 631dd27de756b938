"""The lines of a JSONL file, or the elements of a file that is one array."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

_SPACE = b" \t\r\n"
_DECODER = json.JSONDecoder(strict=False)
_LARGEST = 64 << 20


class Line(NamedTuple):
    """A line without its end, or an array's element, and the number of the line it starts on."""

    text: bytes
    number: int


def is_array(start: bytes) -> bool:
    """Whether a file begins with an array of objects (or an empty one)."""
    text = start.lstrip(_SPACE)
    return text.startswith(b"[") and text[1:].lstrip(_SPACE)[:1] in (b"{", b"]", b"")


def lines_of(start: bytes, chunks: Iterator[bytes], counts: dict[str, int]) -> Iterator[Line]:
    """Lines, blank ones left out and counted."""
    number = 0
    parts: list[bytes] = []
    chunk: bytes | None = start
    while chunk is not None:
        head, *middle = chunk.split(b"\n")
        parts.append(head)
        if middle:
            middle.insert(0, b"".join(parts))
            parts = [middle.pop()]
            for text in middle:
                number += 1
                if stripped := text.strip(_SPACE):
                    yield Line(stripped, number)
                else:
                    counts["blank"] += 1
        chunk = next(chunks, None)
    if last := b"".join(parts).strip(_SPACE):
        yield Line(last, number + 1)


def elements(start: bytes, chunks: Iterator[bytes], counts: dict[str, int]) -> Iterator[Line]:
    """The elements of one array (or of several after each other), line breaks between values made spaces.

    After what is no JSON the next line that starts with an object goes on.
    """
    text = start.decode("utf-8")
    line, pos, final = 1, 0, False
    while True:
        after = _skip(text, pos)
        line += text.count("\n", pos, after)
        pos = after
        end = _element_end(text, pos)
        if end < 0 or end >= len(text):
            more = None if final or len(text) - pos > _LARGEST else next(chunks, None)
            if more is not None:
                text, pos = text[pos:] + more.decode("utf-8"), 0
                continue
            final = True
            if pos >= len(text):
                return
        end = end if end >= 0 else _next_object(text, pos)
        yield Line(_one_line(text[pos:end]), line)
        line += text.count("\n", pos, end)
        text, pos = (text[end:], 0) if end > 1 << 20 else (text, end)


def _skip(text: str, pos: int) -> int:
    while pos < len(text) and text[pos] in " \t\r\n,[]":
        pos += 1
    return pos


def _element_end(text: str, pos: int) -> int:
    try:
        return _DECODER.raw_decode(text, pos)[1]
    except (ValueError, RecursionError):
        return -1


def _next_object(text: str, pos: int) -> int:
    while (pos := text.find("\n", pos)) >= 0:
        pos += 1
        if text[pos : pos + 64].lstrip().startswith("{"):
            return pos
    return len(text)


def _one_line(text: str) -> bytes:
    return text.replace("\r", " ").replace("\n", " ").strip().encode("utf-8", "replace")
