"""Words: jieba's own dictionary and HMM as arrays, and what is made of them. The only door to jieba.

The default features were chosen on labelled pairs of crawled news: 272 copies against 7,044 pairs of stories
about one event. They are one of eighteen tried (nine sets of features, with and without the HMM) on these very
pairs, so their own figures flatter them; weights 1, 2, 3 for a word's 1, 2-3, more occurrences do as well.
Corpora with planted copies agree (7,458 and, changed heavily, 7,093 pairs): .890 and .772 within 8 bits,
against .852 and .709 for distinct words without the HMM; of a million other pairs each, 0 and 1.
Share of copies within 4 / 8 / 10 bits; related pairs within 8 / 10 bits; mean distance of related pairs:

    classic: every token, its frequency, HMM          .790 .967 .978   2,039 3,089   11.8
    distinct words of 2+ characters, HMM              .511 .838 .930       0     1   25.6
    the same without the HMM                          .585 .860 .941       0     0   25.4
    the same with weights 1..7 from the dictionary    .574 .890 .949       0     1   25.8
    2+ characters, no HMM, at most three times each   .581 .912 .960       0     8   24.0   <- the default
    2+ characters, no HMM, frequency                  .629 .915 .963      25    79   22.4
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import re
import tempfile
import warnings
from dataclasses import dataclass
from itertools import chain, pairwise
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.kernels import cache_folder

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 4  # of the compiled dictionary; a new number leaves older files alone
HAN, LETTERS = 128, 128 + 20950  # as in kernels.words
MOST_SLOTS, MOST_FREQUENCIES = 1 << 25, 1 << 23  # what a trie node has bits for
CHUNK = 1 << 20  # bytes of text a kernel takes at once: its word lists stay in the processor's cache
MOST = 3  # times that a word counts in one text by the default recipe
CACHE = 1 << 13  # unknown words whose hashes are remembered, a power of two

_BLOCK = re.compile(r"[\u4E00-\u9FD5a-zA-Z0-9+#&._%-]+")
_LETTER = re.compile(r"[\u4E00-\u9FD5a-zA-Z0-9]")
_TABLES = tuple(f"finalseg/prob_{name}.py" for name in ("start", "trans", "emit"))
_SOURCES = ("__init__.py", "finalseg/__init__.py", *_TABLES, "dict.txt")

Recipe = Literal["default", "classic"]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """jieba's dictionary and HMM in the form the kernels take (kernels.words says what the numbers mean).

    han u2[20950], the ids of U+4E00..9FD5; trie u8[S]; logs f8[F]; hmm f8[128 + 20950, 4];
    hashes u8[S + 0x10001], the low half of each word's md5; votes u8[S], the same of the words that count by the
    default recipe, 0 for the others.
    """

    han: NDArray[np.uint16]
    trie: NDArray[np.uint64]
    logs: NDArray[np.float64]
    hmm: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    votes: NDArray[np.uint64]


def load_lexicon(userdict: Path | None = None) -> Lexicon:
    """jieba's dictionary, with the words of `userdict` as jieba.load_userdict reads them.

    Compiled once (some seconds) and kept in the cache folder under the hash of all it was made from; where no
    folder can be written, in memory only. Raises UserError if the user dictionary cannot be read.
    """
    home = _jieba_home()
    words = _read_userdict(userdict)
    stored = _stored_at(_signature(home, words))
    found = _read(stored) if stored else None
    if found is None:
        found = _compile(*_dictionary(home, words, userdict), home)
        if stored:
            _write(stored, found)
    return found


def lexicon_signature(userdict: Path | None = None) -> str:
    """Changes with jieba's dictionary, with its HMM and with the user dictionary."""
    return _signature(_jieba_home(), _read_userdict(userdict))


def _jieba_home() -> Path:
    """jieba's folder, found without importing it: that is slow and sets up logging."""
    spec = importlib.util.find_spec("jieba")
    if spec is None or spec.origin is None:
        raise UserError("jieba is not installed", todo="pip install jieba")
    return Path(spec.origin).parent


def _read_userdict(path: Path | None) -> bytes:
    try:
        return path.read_bytes() if path else b""
    except OSError as error:
        raise UserError(
            f"cannot read the user dictionary {visible(str(path))}: {error.strerror}",
            wanted="a UTF-8 text file, a line a word: word, frequency, tag (the last two may be left out)",
        ) from error


def _signature(home: Path, userdict: bytes) -> str:
    digest = hashlib.blake2b(f"{FORMAT} {len(userdict)}".encode(), digest_size=16)
    for part in _SOURCES:
        digest.update((home / part).read_bytes())
    digest.update(userdict)
    return digest.hexdigest()


def _stored_at(signature: str) -> Path | None:
    try:
        return cache_folder() / f"lexicon-{signature}.npy"
    except OSError:
        return None


def _read(path: Path) -> Lexicon | None:
    """The stored arrays, memory-mapped; None if there are none or they are not whole."""
    try:
        flat = np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, ValueError, EOFError):
        return None
    parts = len(Lexicon.__dataclass_fields__)
    if flat.ndim != 1 or flat.dtype != np.uint64 or len(flat) < parts:
        return None
    sizes = [int(n) for n in flat[:parts]]
    if len(flat) != parts + sum(sizes):
        return None
    han, trie, logs, hmm, hashes, votes = np.split(flat[parts:], np.cumsum(sizes)[:-1])
    han = han.view(np.uint16)[: LETTERS - HAN]
    return Lexicon(han, trie, logs.view(np.float64), hmm.view(np.float64).reshape(-1, 4), hashes, votes)


def _write(path: Path, lexicon: Lexicon) -> None:
    """Beside its place, then renamed: several processes may do so at once. If it fails, nothing is lost."""
    han = np.resize(lexicon.han, (len(lexicon.han) + 3) // 4 * 4)
    arrays = (han, lexicon.trie, lexicon.logs, lexicon.hmm, lexicon.hashes, lexicon.votes)
    parts = [a.reshape(-1).view(np.uint64) for a in arrays]
    flat = np.concatenate([np.array([len(p) for p in parts], np.uint64), *parts])
    beside = ""
    try:
        number, beside = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(number, "wb") as file:
            np.save(file, flat)
        Path(beside).replace(path)
    except OSError:
        if beside:
            Path(beside).unlink(missing_ok=True)


def _dictionary(home: Path, userdict: bytes, path: Path | None) -> tuple[dict[str, int], int, set[str]]:
    """jieba's FREQ (prefixes with frequency 0) and total, and the words to be split by force."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
        from jieba import finalseg
    tokenizer = jieba.Tokenizer()
    # Not initialize(): that takes jieba.cache from the shared temporary folder, whoever wrote it.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict((home / "dict.txt").open("rb"))
    tokenizer.initialized = True
    others, finalseg.Force_Split_Words = finalseg.Force_Split_Words, set()
    try:
        tokenizer.load_userdict(io.BytesIO(userdict))
        return tokenizer.FREQ, tokenizer.total, finalseg.Force_Split_Words
    except ValueError as error:
        raise UserError(
            f"the user dictionary {visible(str(path))} is not UTF-8",
            wanted="UTF-8",
            todo="iconv -f GB18030 -t UTF-8",
        ) from error
    finally:
        finalseg.Force_Split_Words = others


def _hmm(home: Path, ids: dict[str, int]) -> NDArray[np.float64]:
    """finalseg's probabilities, f8[128 + 20950, 4]: see kernels.words."""
    start, trans, emit = (_probabilities(home / name) for name in _TABLES)
    least = -3.14e100  # finalseg.MIN_FLOAT
    table = np.full((LETTERS, 4), least)
    for column, state in enumerate("BMES"):
        table[0, column] = start[state]
        for to, target in enumerate("BMES"):
            table[1 + column, to] = trans[state].get(target, least)
        for character, value in emit[state].items():
            if ids.get(character, 0) >= HAN:
                table[ids[character], column] = value
    return table


def _probabilities(path: Path) -> dict[str, Any]:
    """One of finalseg's tables, which are Python files."""
    found: dict[str, Any] = {}
    exec(compile(path.read_bytes(), path.name, "exec"), found)
    table: dict[str, Any] = found["P"]
    return table


def _compile(freq: dict[str, int], total: int, forced: set[str], home: Path) -> Lexicon:
    """The arrays from jieba's tables; only words of block characters can ever be looked up."""
    words = [word for word in freq if _BLOCK.fullmatch(word)]
    heat = _heat(words, freq)
    ids = _ids(words, freq)
    children: dict[str, list[str]] = {}
    for word in sorted((w for w in words if len(w) > 1), key=lambda w: (-heat[w], w)):
        children.setdefault(word[:-1], []).append(word)
    bases, slots, size = _place(children, ids)
    frequencies = sorted({n for n in freq.values() if n})
    if size > MOST_SLOTS or len(frequencies) >= MOST_FREQUENCIES:
        raise UserError("the user dictionary is too large", wanted="fewer than some ten million words")
    number = {n: i for i, n in enumerate(frequencies, 1)} | {0: 0}
    nodes = [0] * size
    hashes = [0] * size
    votes = [0] * size
    for word in chain((w for w in words if len(w) > 1), ids):
        slot = slots[word] if len(word) > 1 else ids[word]
        nodes[slot] = (
            bases.get(word, 0) << 39 | ids[word[-1]] << 24 | (word in forced) << 23 | number[freq.get(word, 0)]
        )
        hashes[slot] = word_hash(word)
        votes[slot] = hashes[slot] if _counts(word) else 0
    hashes += [word_hash(chr(code)) for code in range(0x10000)] + [word_hash("\r\n")]
    logs = [-inf, *(log(n) - log(total) for n in (*frequencies, 1))]
    han = np.array([ids[chr(code)] for code in range(0x4E00, 0x9FD6)], np.uint16)
    trie, *tables = (np.array(numbers, np.uint64) for numbers in (nodes, hashes, votes))
    return Lexicon(han, trie, np.array(logs), _hmm(home, ids), *tables)


def _heat(words: list[str], freq: dict[str, int]) -> dict[str, int]:
    """How often each word's node is met: its own frequency and that of the longer words through it."""
    heat = dict.fromkeys(words, 0)
    for word in words:
        n = freq[word]
        for end in range(1, len(word) + 1) if n else ():
            heat[word[:end]] += n
    return heat


def _ids(words: list[str], freq: dict[str, int]) -> dict[str, int]:
    """ASCII: its code. Han: by frequency, so that what is often read together lies together."""
    counts = {chr(code): 0 for code in range(0x4E00, 0x9FD6)}
    for word in words:
        for character in word:
            if character in counts:
                counts[character] += freq[word]
    han = sorted(counts, key=lambda c: (-counts[c], c))
    return {c: ord(c) for c in map(chr, range(128)) if _BLOCK.match(c)} | {c: HAN + i for i, c in enumerate(han)}


def _place(children: dict[str, list[str]], ids: dict[str, int]) -> tuple[dict[str, int], dict[str, int], int]:
    """A base for every word with children, a slot for every longer word, and the number of slots.

    First fit, the families in the order given; the many only children fill the holes.
    """
    free = np.ones(8 * LETTERS + 4 * sum(map(len, children.values())), bool)
    free[:LETTERS] = False
    unused = np.ones(len(free), bool)
    bases: dict[str, int] = {}
    lows: dict[int, int] = {}
    for parent, family in children.items():
        if len(family) > 1:
            members = [ids[word[-1]] for word in family]
            low = lows.get(min(len(family), 64), 1)
            base = bases[parent] = _first_fit(free, unused, members, low)
            if base > low + 2000:
                lows[min(len(family), 64)] = low + (base - low) // 2
            unused[base] = False
            free[[base + c for c in members]] = False
    _place_only_children({p: ids[f[0][-1]] for p, f in children.items() if len(f) == 1}, free, unused, bases)
    slots = {word: bases[parent] + ids[word[-1]] for parent, family in children.items() for word in family}
    return bases, slots, max(bases.values(), default=0) + LETTERS


def _place_only_children(
    children: dict[str, int], free: NDArray[np.bool_], unused: NDArray[np.bool_], bases: dict[str, int]
) -> None:
    """Each into the first free slot whose base no other family has."""
    is_used = bytearray(~unused)
    holes = np.flatnonzero(free).tolist()
    begin = 0
    for parent, c in children.items():
        while holes[begin] < 0:
            begin += 1
        at = begin
        while holes[at] < 0 or is_used[holes[at] - c]:
            at += 1
        bases[parent] = holes[at] - c
        is_used[bases[parent]] = 1
        holes[at] = -1


def _first_fit(free: NDArray[np.bool_], unused: NDArray[np.bool_], ids: list[int], low: int) -> int:
    """The first unused base from `low` on with all of base + ids free; a window of bases at a time."""
    window = 512
    while True:
        fits = unused[low : low + window].copy()
        for c in ids:
            fits &= free[low + c : low + c + window]
        at = int(fits.argmax())
        if fits[at]:
            return low + at
        low += window
        window = min(2 * window, 1 << 14)


def word_hash(word: str) -> int:
    """The low 64 bits of the word's md5 as one big-endian number.

    >>> hex(word_hash("新闻"))
    '0x8e816b504182e5be'
    """
    return int.from_bytes(hashlib.md5(word.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[8:])


def _counts(word: str) -> bool:
    """Whether a word counts by the default recipe."""
    return len(word) > 1 and _LETTER.search(word) is not None


def words(text: str, lexicon: Lexicon, hmm: bool = True) -> list[str]:
    """The words of one text, equal to jieba.lcut(text, HMM=hmm)."""
    from newsdedup_cli.kernels.words import word_ends

    raw = text.encode("utf-8", "surrogatepass")
    offsets = np.array([0, len(raw)], np.int64)
    tables = (lexicon.han, lexicon.trie, lexicon.logs, lexicon.hmm)
    ends = word_ends(np.frombuffer(raw, np.uint8), offsets, hmm, *tables)[0].tolist()
    return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise([0, *ends])]


def simhash(
    texts: pa.LargeStringArray, lexicon: Lexicon, recipe: Recipe = "default"
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Fingerprint and number of features of every text; null counts as empty, and empty texts have 0 and 0.

    `classic`: every word of jieba.lcut(text), each time it occurs; the number is that of all words.
    `default`: words of two and more characters with a letter, a digit or Han among them, cut without the HMM,
    each counted at most MOST times; the number is that of the different ones.
    Calls may run in threads: the kernels hold no lock. u8[N], i4[N].
    """
    from newsdedup_cli.kernels.simhash import simhash_all, simhash_capped
    from newsdedup_cli.kernels.words import word_ends
    from newsdedup_cli.texts import runs

    data, offsets = _buffers(texts)
    out, sizes = np.zeros(len(texts), np.uint64), np.zeros(len(texts), np.int32)
    places = min(CACHE, 64 << (int(offsets[-1] - offsets[0]) >> 10).bit_length())  # few for a single text
    cache = (np.zeros(places, np.uint64), np.zeros(places, np.uint64), np.zeros((places, 2), np.int64))
    classic = recipe == "classic"
    tables = (lexicon.han, lexicon.trie, lexicon.logs, lexicon.hmm)
    for first, last in runs(offsets, CHUNK):
        part = offsets[first : last + 1]
        found = word_ends(data, part, classic, *tables)
        rest = (*cache, out[first:last], sizes[first:last])
        if classic:
            simhash_all(data, part[0], *found, lexicon.hashes, *rest)
        else:
            simhash_capped(data, part[0], *found, lexicon.votes, MOST, *rest)
    return out, sizes


def _buffers(texts: pa.LargeStringArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Arrow's bytes u1[B] and offsets i8[N+1], without a copy where there are no nulls."""
    if texts.null_count:
        texts = texts.fill_null("")
    _, offsets, data = texts.buffers()
    if len(texts) == 0 or data is None:
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    ends = np.frombuffer(offsets, np.int64, len(texts) + 1, texts.offset * 8)
    return np.frombuffer(data, np.uint8), np.require(ends, requirements="A")


def features(text: str, lexicon: Lexicon, recipe: Recipe = "default") -> list[tuple[str, int, int]]:
    """The words that vote for the text's fingerprint, in order of first occurrence: word, weight, hash."""
    classic = recipe == "classic"
    counts: dict[str, int] = {}
    for word in words(text, lexicon, hmm=classic):
        if classic or _counts(word):
            counts[word] = counts.get(word, 0) + 1
    return [(word, n if classic else min(n, MOST), word_hash(word)) for word, n in counts.items()]
