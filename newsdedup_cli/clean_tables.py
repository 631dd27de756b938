"""The character steps as arrays for `kernels/normalize.py`: what each code point becomes, and its kind."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import unicodedata
import zipfile
from functools import cache
from html.entities import html5, name2codepoint
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newsdedup_cli import clean_chars, clean_lines, clean_markup, clean_words
from newsdedup_cli.kernels import cache_folder, line_hints

CLEANER_VERSION = "1"
"""Changes whenever a cleaned text may change: stored fingerprints of another version do not compare."""

KEEP, DELETE, SLOW, SEQUENCE = 0, -1, -2, -3
"""In `fold`: stays; goes; the row needs composition; sequence SEQUENCE - value. Above 0: the new point."""

OTHER, WORD, TEXT, BLANK, LINE, COMMA, DOT, QUESTION, HYPHEN, COLLAPSE = range(10)
"""Kinds of folded characters."""


class Tables(NamedTuple):
    """Arrays of the kernel; `fold` and `kind` have one page of 256 code points per page index."""

    page: NDArray[np.uint16]
    fold: NDArray[np.int32]
    kind_page: NDArray[np.uint16]
    kind: NDArray[np.uint8]
    sequences: NDArray[np.uint8]
    sequence_at: NDArray[np.int64]
    names: NDArray[np.uint64]
    name_kind: NDArray[np.int32]


BLOCK_NAME, INLINE_NAME, BARE_NAME, ENTITY_NAME, OPEN_ENTITY_NAME = 1, 2, 4, 1 << 24, 1 << 25
"""Flags of a name in `name_kind`; an entity's code point stands in the low 21 bits."""

_SALTS = {"tag": 0, "attribute": 1, "entity": 2}


def name_hash(name: str, use: str) -> int:
    """FNV-1a, 64 bits, of the ASCII name; `use` (tag, attribute, entity) salts it."""
    value = 0xCBF29CE484222325 ^ _SALTS[use]
    for byte in name.encode("ascii"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


@cache
def _composing() -> frozenset[int]:
    """Code points that may join with one before them under NFC."""
    second = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for point in (*range(0xC0, 0x3400), *range(0x11000, 0x12000)):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second.add(int(parts[1], 16))
    return frozenset(second)


def _ranges() -> list[range]:
    """Where folding is not plain: all but ideographs, Hangul syllables, surrogates and private use."""
    return [
        range(0x3400),
        range(0x4DC0, 0x4E00),
        range(0xA000, 0xAC00),
        range(0xD7A4, 0xD800),
        range(0xE5E5, 0xE5E6),
        range(0xF900, 0x12550),
        range(0x13430, 0x13460),
        range(0x16000, 0x18D10),
        range(0x1AFF0, 0x1FC00),
        range(0x2F800, 0x2FA20),
    ]


def _plain(char: str) -> bool:
    """A quick test that most characters pass: folding leaves them as they are."""
    return (
        unicodedata.category(char)[0] in "LNS"
        and not unicodedata.decomposition(char)
        and char.casefold() == char
        and not clean_chars.is_invisible(char)
        and char not in clean_chars.BLANKS
        and char not in clean_chars.explicit()
        and ord(char) not in _composing()
    )


def _value(point: int, sequences: list[bytes]) -> int:
    char = chr(point)
    if unicodedata.category(char) == "Cn":
        return DELETE if clean_chars.is_invisible(char) else KEEP
    if _plain(char):
        return KEEP
    text = clean_chars.fold_char(char)
    if text == char and not unicodedata.combining(char) and point not in _composing():
        return KEEP
    if any(unicodedata.combining(c) or ord(c) in _composing() for c in text):
        return SLOW
    if len(text) <= 1:
        return ord(text) if text else DELETE
    widest = sum(3 if c in ",.:" else len(c.encode()) for c in text)
    if widest > 3 * len(char.encode()):
        return SLOW
    sequences.append(text.encode())
    return SEQUENCE - (len(sequences) - 1)


def _fold_table() -> tuple[NDArray[np.int32], list[bytes]]:
    fold = np.zeros(0x110000, np.int32)
    sequences: list[bytes] = []
    fold[0xE000:0xF900] = DELETE
    fold[0xE0000:0xE1000] = DELETE
    fold[0xF0000:] = DELETE
    fold[0x1FFFE::0x10000] = DELETE
    fold[0x1FFFF::0x10000] = DELETE
    for part in _ranges():
        fold[part.start : part.stop] = [_value(point, sequences) for point in part]
    return fold, sequences


def _kind_table() -> NDArray[np.uint8]:
    kind = np.zeros(0x110000, np.uint8)
    for part in (*_ranges(), range(0x12550, 0x16000), range(0x18D10, 0x1AFF0), range(0x20000, 0x32400)):
        first = "".join(unicodedata.category(chr(point))[0] for point in part)
        letters = np.frombuffer(first.encode(), np.uint8)
        kind[part.start : part.stop] = np.isin(letters, [76, 78]) * TEXT
        wide = np.array([clean_chars.is_wide(point) for point in part])
        kind[part.start : part.stop][np.isin(letters, [76, 77, 78]) & ~wide] = WORD
    for low, high, value in ((0x3400, 0x4DC0, TEXT), (0x4E00, 0xA000, TEXT), (0xAC00, 0xD7A4, WORD)):
        kind[low:high] = value
    marks = ((clean_chars.COLLAPSE, COLLAPSE), (",:，：", COMMA), (".", DOT), ("？", QUESTION), ("-", HYPHEN))
    for chars, value in marks:
        kind[[ord(char) for char in chars]] = value
    kind[0x20], kind[0x0A] = BLANK, LINE
    return kind


def _paged(flat: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[Any]]:
    pages: dict[bytes, int] = {}
    index = [pages.setdefault(page.tobytes(), len(pages)) for page in flat.reshape(-1, 256)]
    return np.array(index, np.uint16), np.frombuffer(b"".join(pages), flat.dtype)


def _name_values() -> dict[int, int]:
    values: dict[int, int] = {}
    for name in clean_markup.BLOCK_TAGS:
        values[name_hash(name, "tag")] = BLOCK_NAME
    for name in clean_markup.INLINE_TAGS:
        values[name_hash(name, "tag")] = INLINE_NAME
    for name in clean_markup.BARE_ATTRIBUTES:
        values[name_hash(name, "attribute")] = BARE_NAME
    for name in name2codepoint:
        opened = OPEN_ENTITY_NAME if name in clean_markup.OPEN_NAMES else 0
        values[name_hash(name, "entity")] = ord(html5[f"{name};"]) | ENTITY_NAME | opened
    return values


def _name_table() -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Open addressing in 2048 slots, 0 is free."""
    names, kinds = np.zeros(2048, np.uint64), np.zeros(2048, np.int32)
    for value, kind in _name_values().items():
        slot = value & 2047
        while names[slot]:
            slot = (slot + 1) & 2047
        names[slot], kinds[slot] = value, kind
    return names, kinds


def _made_tables() -> Tables:
    flat, sequences = _fold_table()
    index, fold = _paged(flat)
    kind_index, kind = _paged(_kind_table())
    ends = np.cumsum([0, *map(len, sequences)], dtype=np.int64)
    joined = np.frombuffer(b"".join(sequences), np.uint8)
    return Tables(index, fold, kind_index, kind, joined, ends, *_name_table())


def _stored_at() -> Path:
    """Where the arrays lie: the name holds all that they come from, so that no old ones are read."""
    made_from = hashlib.sha256(f"{CLEANER_VERSION} {unicodedata.unidata_version} {np.__version__}".encode())
    for module in (clean_chars, clean_markup):
        made_from.update(Path(str(module.__file__)).read_bytes())
    made_from.update(Path(__file__).read_bytes())
    return cache_folder() / f"characters-{made_from.hexdigest()[:20]}.npz"


def _store(made: Tables, path: Path) -> None:
    """Write beside and rename: another process never reads half a file."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, suffix=".tmp", delete=False) as file:
        try:
            np.savez(file, **made._asdict())
            file.close()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _load(path: Path) -> Tables:
    with np.load(path, allow_pickle=False) as stored:
        return Tables(**{name: stored[name] for name in Tables._fields})


@cache
def tables() -> Tables:
    """All arrays: from the cache folder; made (.3 s) where they do not lie there yet."""
    try:
        return _load(_stored_at())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        made = _made_tables()
    with contextlib.suppress(OSError):  # without a folder to write to they are made anew in each process
        _store(made, _stored_at())
    return made


class CueTables(NamedTuple):
    """Arguments of `row_flags` between the texts and the scratch: three hash tables and the limits."""

    start_keys: NDArray[np.uint64]
    start_flags: NDArray[np.int64]
    any_keys: NDArray[np.uint64]
    any_flags: NDArray[np.int64]
    date_keys: NDArray[np.uint64]
    date_flags: NDArray[np.int64]
    firsts: NDArray[np.uint8]
    limits: NDArray[np.int64]


def _cue_key(cue: str) -> int:
    """A cue as the kernel packs it: two wide characters, / or - beside a wide one, eight Latin letters."""
    first, second = cue[0], cue[1:2]
    if first == "/":
        return 47 << 24 | int.from_bytes(second.encode(), "big")
    if second == "-":
        return 45 << 24 | int.from_bytes(first.encode(), "big")
    if first.isascii():
        letters = cue.split(" ")[0][:8]
        return int.from_bytes(letters.encode(), "big")
    return int.from_bytes((first + second).encode(), "big")


def _cue_table(cues: dict[str, str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    keys, flags = np.zeros(4096, np.uint64), np.zeros(4096, np.int64)
    for step, words in cues.items():
        for cue in words.split("|"):
            key = _cue_key(cue)
            slot = (key * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 52
            while keys[slot] not in (0, key):
                slot = (slot + 1) & 4095
            keys[slot] = key
            flags[slot] |= step_flag(step)
    return keys, flags


def _firsts() -> NDArray[np.uint8]:
    """1 for each code point of three bytes that begins a cue that may stand anywhere in a line."""
    firsts = np.zeros(65536, np.uint8)
    for words in (*clean_words.ANY_CUES.values(), clean_words.DATELINE_CUES):
        firsts[[ord(cue[0]) for cue in words.split("|")]] = 1
    return firsts


def _letters(words: str) -> set[int]:
    """Code points of the ideographs in a pattern of words."""
    return {ord(char) for char in words if ord(char) >= 0x3400}


@cache
def hint_classes() -> NDArray[np.uint8]:
    """Classes of the code points of three bytes, as `line_hints` asks for them."""
    classes = _firsts() * np.uint8(line_hints.CUE)
    calls = f"{clean_words.CALL}|{clean_words.CHANNEL}|分享|用微信|扫一扫|长按"
    classes[list(_letters(clean_words.NAV_WORD))] |= line_hints.LINK
    classes[list(_letters("".join(word[:1] for word in calls.split("|"))))] |= line_hints.CALL
    classes[list(_letters(clean_words.NOTICE_FIRSTS))] |= line_hints.NOTICE
    return classes


def step_flag(name: str) -> int:
    """The bit of a line step in the flags of a row."""
    return 1 << [step[0] for step in clean_lines.STEPS].index(name)


@cache
def cue_tables() -> CueTables:
    """The cues of `clean_lines` as arrays."""
    numbers = step_flag("credits") + 4096 * step_flag("navigation")
    tags, inline = step_flag("headline_tags"), step_flag("inline_tails")
    if_head = [
        clean_lines.HEAD,
        clean_lines.TAIL,
        step_flag("script_lines"),
        tags,
        inline,
        numbers,
        step_flag("disclaimers"),
    ]
    return CueTables(
        *_cue_table(clean_words.START_CUES),
        *_cue_table(clean_words.ANY_CUES),
        *_cue_table({"dateline": clean_words.DATELINE_CUES}),
        _firsts(),
        np.array(if_head, np.int64),
    )
