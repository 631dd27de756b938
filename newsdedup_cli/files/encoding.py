"""Which encoding a text file has, and its bytes as UTF-8.

A byte order mark decides; then NUL bytes at every other place (UTF-16); then strict UTF-8, unless only a
small part of it is broken; then GB18030 or Big5, by the share of common characters; what is left goes to
charset-normalizer.
"""

from __future__ import annotations

import codecs
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.streams import ByteReader

SAMPLE = 16 << 20
STATISTICS = 1 << 20
CHUNK = 4 << 20
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PUNCTUATION = "，。、：；？！（）《》“”‘’…—·「」『』【】０１２３４５６７８９"
_GB_NAMES = {"gbk", "gb2312", "cp936", "hz", "gb18030"}
_LOOK = 60
_counter = threading.local()


@dataclass(frozen=True)
class Encoding:
    """A codec's name and why it was chosen; `why` is empty for plain UTF-8."""

    name: str
    why: str = ""


def _count_bad(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    _counter.bad = getattr(_counter, "bad", 0) + error.end - error.start
    return "\ufffd", error.end


def _count_bad_gb(error: UnicodeError) -> tuple[str, int]:
    """In GB18030 a bad byte shifts all pairs after it: skip one byte or two, by which reads better."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start = error.object, error.start
    skips = [1]
    if start + 1 < len(data) and data[start + 1] >= 0x80:
        skips.append(2)
    scores = [_likely(data[start + skip : start + skip + _LOOK]) for skip in skips]
    skip = skips[scores.index(max(scores))]
    _counter.bad = getattr(_counter, "bad", 0) + skip
    return "\ufffd", start + skip


def _likely(data: bytes) -> int:
    """How many of the two-byte characters up to the next ASCII one are common in GB2312."""
    stop = next((i for i, byte in enumerate(data) if byte < 0x80), len(data))
    pairs = zip(data[0:stop:2], data[1:stop:2], strict=False)
    return sum((0xB0 <= lead <= 0xD7 or lead in (0xA1, 0xA3)) and trail >= 0xA1 for lead, trail in pairs)


codecs.register_error("newsdedup-count", _count_bad)
codecs.register_error("newsdedup-count-gb", _count_bad_gb)


def _handler(encoding: str) -> str:
    return "newsdedup-count-gb" if encoding == "gb18030" else "newsdedup-count"


def bad_bytes(data: bytes, encoding: str) -> int:
    """How many bytes of a sample cannot be decoded; an incomplete end does not count."""
    _counter.bad = 0
    codecs.getincrementaldecoder(encoding)(_handler(encoding)).decode(data)
    return int(_counter.bad)


def checked_name(given: str) -> str:
    """The codec for --encoding; GB18030 for all its subsets."""
    try:
        codec = codecs.lookup(given)
        codec.incrementaldecoder("strict").decode(b"")
    except (LookupError, TypeError, AttributeError, ValueError):
        raise UserError(
            f"unknown encoding {visible(given)} for --encoding",
            wanted="utf-8, gb18030, big5, utf-16 or another name that Python knows",
        ) from None
    if codec.name in {"base64", "bz2", "hex", "quopri", "rot13", "uu", "zlib"}:
        raise UserError(f"{visible(given)} for --encoding is no text encoding", wanted="utf-8, gb18030, big5 or utf-16")
    return "gb18030" if codec.name in _GB_NAMES - {"hz"} else codec.name


def detect(reader: ByteReader) -> Encoding:
    """The encoding of a text, by its first 16 MB, and on to the first byte beyond ASCII."""
    sample = _sample(reader)
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return Encoding(name, "" if name == "utf-8" else "it has that byte order mark")
    return _utf16(sample) or _utf8(sample) or _chinese(sample) or _other(sample)


def _sample(reader: ByteReader) -> bytes:
    parts = [chunk] if (chunk := _read_full(reader, SAMPLE)) else []
    while chunk and chunk.isascii():
        parts = [chunk]
        chunk = _read_full(reader, SAMPLE)
        parts = [*parts, chunk] if chunk else parts
    return b"".join(parts)


def _read_full(reader: ByteReader, size: int) -> bytes:
    parts = []
    while size > 0 and (chunk := reader.read(min(size, 1 << 20))):
        parts.append(chunk)
        size -= len(chunk)
    return b"".join(parts)


def _utf16(sample: bytes) -> Encoding | None:
    """UTF-16 without a mark: there are NUL bytes, and in one byte order most characters are ordinary ones."""
    part = sample[: STATISTICS & ~1]
    if 0 not in part or len(part) < 4:
        return None
    if part.count(0) * 4 < len(part) and bad_bytes(sample, "utf-8") == 0:
        return None
    shares = {name: _ordinary(part, name) for name in ("utf-16-le", "utf-16-be")}
    name = max(shares, key=lambda name: shares[name])
    if shares[name] < 0.6 or shares[name] < 1.5 * min(shares.values()):
        return None
    return Encoding(name, "it has NUL bytes, and read so its characters are ordinary ones")


def _ordinary(sample: bytes, encoding: str) -> float:
    """The share of ordinary characters; line ends do not count, for rows of one NUL are UTF-16's line ends."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample).translate({10: None, 13: None})
    ordinary = _gb_common() | _big5_common() | frozenset(map(chr, [9, *range(32, 127)]))
    return sum(c in ordinary for c in text) / max(1, len(text))


def _utf8(sample: bytes) -> Encoding | None:
    """UTF-8, if at most a fifth of the bytes beyond ASCII is broken (GB18030 read so breaks nearly all)."""
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(sample)
    except UnicodeDecodeError:
        pass
    else:
        return Encoding("utf-8")
    beyond = len(sample.translate(None, bytes(range(128))))
    return Encoding("utf-8") if bad_bytes(sample, "utf-8") * 5 <= beyond else None


def _common(encoding: str, leads: range, trails: list[int]) -> frozenset[str]:
    pairs = (bytes((lead, trail)).decode(encoding, "ignore") for lead in leads for trail in trails)
    return frozenset("".join(pairs)) | frozenset(_PUNCTUATION)


@cache
def _gb_common() -> frozenset[str]:
    """The 3,755 characters of GB 2312's first level, and punctuation."""
    return _common("gb2312", range(0xB0, 0xD8), list(range(0xA1, 0xFF)))


@cache
def _big5_common() -> frozenset[str]:
    """The 5,401 characters of Big5's first level, and punctuation."""
    return _common("big5", range(0xA4, 0xC7), [*range(0x40, 0x7F), *range(0xA1, 0xFF)])


def _share(sample: bytes, encoding: str, common: frozenset[str]) -> float:
    text = sample.decode(encoding, "replace")
    beyond = [c for c in text if c > "\x7f"]
    return sum(c in common for c in beyond) / len(beyond) if beyond else 0.0


def _chinese(sample: bytes) -> Encoding | None:
    """GB18030 or Big5: the one in which more of the characters are of its first, common level."""
    part = _around_first_non_ascii(sample, STATISTICS)
    gb = _share(part, "gb18030", _gb_common())
    big5 = _share(part, "big5hkscs", _big5_common())
    name, share = ("gb18030", gb) if gb >= big5 else ("big5hkscs", big5)
    if share < 0.5:
        return None
    return Encoding(name, f"it is not UTF-8, and read so {share:.0%} of its characters are common Chinese ones")


def _other(sample: bytes) -> Encoding:
    import charset_normalizer

    matches = charset_normalizer.from_bytes(_around_first_non_ascii(sample, 1 << 17))
    best = matches.best()
    if best is not None:  # of equally good ones the code page of Western Windows
        best = next((m for m in matches if m.encoding == "cp1252" and m.chaos <= best.chaos), best)
    if best is None:
        return Encoding("utf-8")
    return Encoding(best.encoding.replace("_", "-"), "it is not UTF-8, and charset-normalizer finds it likeliest")


def _around_first_non_ascii(sample: bytes, size: int) -> bytes:
    array = np.frombuffer(sample, np.uint8)
    first = int(np.argmax(array >= 0x80)) if len(array) else 0
    start = max(0, first - size // 4)
    return sample[start : start + size]


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are valid UTF-8, by Arrow's validator (several times as fast as decoding)."""
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


class Utf8Reader:
    """The text of a file as UTF-8 in chunks; `bad` counts the bytes that had to become U+FFFD.

    Chunks end anywhere between two characters. A byte order mark at the start is left out.
    """

    def __init__(self, reader: ByteReader, encoding: str) -> None:
        self.bad = 0
        self._reader = reader
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(_handler(encoding))

    def __iter__(self) -> Iterator[bytes]:
        read = self._utf8 if self._encoding == "utf-8" else self._decoded
        chunks = (chunk for chunk in read() if chunk)
        first = next(chunks, b"")
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from chunks

    def _utf8(self) -> Iterator[bytes]:
        """Valid chunks pass as they are; only what is broken is decoded."""
        rest = b""
        while chunk := self._reader.read(CHUNK):
            data = rest + chunk
            cut = _last_boundary(data)
            rest = data[cut:]
            data = data[:cut]
            yield data if is_utf8(data) else self._decode(data)
        if rest:
            yield self._decode(rest)

    def _decode(self, data: bytes) -> bytes:
        _counter.bad = 0
        text = data.decode("utf-8", "newsdedup-count")
        self.bad += _counter.bad
        return text.encode("utf-8")

    def _decoded(self) -> Iterator[bytes]:
        final = False
        while not final:
            chunk = self._reader.read(CHUNK)
            final = not chunk
            _counter.bad = 0
            try:
                text = self._decoder.decode(chunk, final)
            except UnicodeError as error:
                raise UserError(
                    f"{self._reader.name} cannot be read as {self._encoding}: {error}",
                    todo="another --encoding",
                ) from None
            self.bad += _counter.bad
            yield text.encode("utf-8", "replace") if _has_surrogates(text) else text.encode("utf-8")


def _has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _last_boundary(data: bytes) -> int:
    """Where the last, perhaps incomplete character of the data starts, or its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < needed else len(data)
        if byte < 0x80:
            break
    return len(data)
