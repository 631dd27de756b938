"""Texts one by one, each against all before it, with the answers of a run with `--keep first`.

What a run finds by sorting lies here in tables that grow: digests, sentences and min-hash keys in chains,
fingerprints in buckets. A text's candidates are verified on the stored texts by the same code, and it is removed for
the row that `follow` would choose. About 1.2 KB of memory a row; the cleaned texts lie in a temporary file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from newsdedup_cli import boilerplate, candidates, follow, verify
from newsdedup_cli.fingerprint import BOILERPLATE_ONLY, NO_TEXT, TOO_SHORT
from newsdedup_cli.growing import ROOM, Chains, Nearby, grown
from newsdedup_cli.kernels import store, text
from newsdedup_cli.scan import cleaned_by, comparable, user_dictionary
from newsdedup_cli.segment import Lexicon, Recipe, load_lexicon, simhash
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import (
    APART,
    I64,
    SAME,
    U8,
    U16,
    U32,
    U64,
    Bools,
    Fingerprints,
    Rows,
    Verified,
)
from newsdedup_cli.texts import buffers, strings
from newsdedup_cli.verify import guards

PIECE, KEY, PAGE = (np.uint64(k) for k in (0x5A17C9, 0x3B9ACA, 0x71E2D5))  # tell the kinds of keys apart
STILL_SAID = 0.85  # as in stripping


@dataclass
class Prepared:
    """One text with all that is known of it alone."""

    text: bytes  # as it is compared
    title: bytes  # cleaned
    digest: U64  # [2]
    significant: int
    alone: int
    sentences: U64  # [S]
    sketch: U16  # [128]
    keys: U32  # [16]
    pieces: U64  # [M]
    support: float
    bits: U64  # [4]
    date: int
    url: int
    words: tuple[int, int] | None = None  # simhash and how many words voted, once they are asked for
    entries: tuple[U64, U64] | None = None  # see Seen._entries


@dataclass(frozen=True)
class Found:
    """What a text is removed for: a row that stays (-1: nothing), why, and how alike they are."""

    row: int
    reason: str = ""
    score: float = 0.0
    distance: int = 0
    exact: bool = False
    loose: Verified | None = None  # pairs with the rows before that count for families


class Seen:
    """All texts so far, in their order."""

    def __init__(self, matching: Matching, tmpdir: Path | None = None, left_out: tuple[U64, U64] | None = None) -> None:
        self.matching = matching
        self.common, self.hashes = left_out or (np.zeros(0, np.uint64), np.zeros(0, np.uint64))
        self.lexicon: Lexicon = load_lexicon(user_dictionary(matching))
        self.rows = 0  # that can be compared, one of each digest
        self.loaded = 0  # of them: from an index
        self.clusters = 0
        self.exact: dict[bytes, int] = {}
        self.chains, self.nearby = Chains(), Nearby(matching.max_distance)
        self._file = tempfile.TemporaryFile(dir=tmpdir, prefix=".newsdedup-", buffering=0)  # noqa: SIM115 - closed in close()
        self._size = 0
        self._new: Prepared
        kinds: dict[str, tuple[Any, int]] = {
            "simhash": (np.uint64, 0), "sentences": (np.uint64, matching.sentences), "sketch": (np.uint16, text.BINS),
            "significant": (np.int32, 0), "date": (np.int64, 0), "url": (np.uint64, 0), "support": (np.float32, 0),
            "bits": (np.uint64, 4), "keeper": (np.int64, 0), "similar_id": (np.int64, 0), "place": (np.int64, 4),
            "parent": (np.int64, 0), "size": (np.int64, 0), "alike": (np.int64, 0), "every": (np.int64, 0),
        }  # fmt: skip
        self.of: dict[str, npt.NDArray[Any]] = {
            name: np.zeros((ROOM, wide) if wide else ROOM, kind) for name, (kind, wide) in kinds.items()
        }

    def prepare(self, body: str, title: str | None, date: int, url: str | None) -> Prepared:
        """All that can be told of a text alone; its words are counted when they are asked for."""
        both = pa.array([body, title], pa.large_string())
        if self.matching.scope == "full":
            made = cleaned_by(both, self.matching)
            cleaned, head = made.slice(0, 1), made.slice(1, 1)
        else:
            cleaned = comparable(both.slice(0, 1), both.slice(1, 1), self.matching)
            head = cleaned_by(both.slice(1, 1), self.matching)
        found = self._evidence(cleaned, head, date, _hashed(url))
        if len(self.hashes) and np.isin(found.pieces, self.hashes).any():
            return self._stripped(cleaned, head, found)
        return found

    def _evidence(self, cleaned: pa.LargeStringArray, head: pa.LargeStringArray, date: int, url: int) -> Prepared:
        matching = self.matching
        data, offsets = buffers(cleaned)
        titles = buffers(head)
        digest, significant, sentences, sketch, keys, pieces, _ = text.evidence(
            data, offsets, matching.sentences, matching.least_sentence, matching.least_piece
        )
        support, bits = text.title_evidence(*titles, data, offsets)
        size = int(significant[0])
        alone = NO_TEXT if size == 0 else TOO_SHORT if size < matching.too_short else 0
        return Prepared(
            _bytes(data, offsets), _bytes(*titles), digest[0], size, alone, sentences[0], sketch[0], keys[0], pieces,
            float(support[0]), bits[0], date, url,
        )  # fmt: skip

    def _stripped(self, cleaned: pa.LargeStringArray, head: pa.LargeStringArray, before: Prepared) -> Prepared:
        """The text without the boilerplate that an index knows, as stripping.strip takes it out."""
        found = self._evidence(
            boilerplate.strip(cleaned, self.hashes, self.matching.least_piece), head, before.date, before.url
        )
        speaks = before.bits.any() and before.support >= guards.SUPPORT
        if speaks and found.support < STILL_SAID * before.support:
            return before
        if found.alone:
            found.alone = BOILERPLATE_ONLY
        # Sentences are shared by what the whole text says: so it is in a run.
        found.pieces, found.support, found.bits = before.pieces, before.support, before.bits
        return found

    def _words(self, new: Prepared) -> tuple[int, int]:
        if new.words is None:
            recipe: Recipe = "classic" if self.matching.weights == "tf" else "default"
            value, words = simhash(_one(new.text), self.lexicon, recipe)
            new.words = int(value[0]), int(words[0])
        return new.words

    def find(self, new: Prepared) -> Found:
        """What a run would remove the text for, were it the next row."""
        if new.alone:
            return Found(-1)
        same = self.exact.get(new.digest.tobytes())
        if same is not None:
            return Found(int(self.of["keeper"][same]), "exact", 1.0, exact=True)
        rows = self._proposed(new)
        if len(rows) == 0:
            return Found(-1)
        self._put(new)
        edges = self._judged(rows, plausible=True)
        if len(edges) == 0:
            return Found(-1)
        loose = edges.where(follow.loose(edges))
        return self._followed(edges, loose)

    def _proposed(self, new: Prepared) -> I64:
        pieces, entries = self._entries(new)
        rows, by = self.chains.find(entries)
        if len(rows) and len(pieces):
            shared = np.flatnonzero(by < len(pieces))
            piece = pieces[by[shared], None]
            longest = (new.sentences == piece) | (self.of["sentences"][rows[shared]] == piece)
            rows = np.delete(rows, shared[~longest.any(axis=1)])
        value, words = self._words(new)
        if words >= self.matching.least_words:
            rows = np.concatenate([rows, self.nearby.find(value)])
        found: I64 = np.unique(rows).astype(np.int64) if len(rows) else np.zeros(0, np.int64)
        return found

    def _entries(self, new: Prepared) -> tuple[U64, U64]:
        """The sentences that may propose a pair, and the keys by which the text is found: these first, then others."""
        if new.entries is None:
            pieces = new.pieces[~np.isin(new.pieces, self.common)] if len(self.common) else new.pieces
            keys = [pieces ^ PIECE]
            if self.matching.minhash:
                keys.append(columns_of(new.keys))
            if new.url:
                keys.append(np.array([new.url], np.uint64) ^ PAGE)
            new.entries = pieces, np.concatenate(keys)
        return new.entries

    def _put(self, new: Prepared) -> None:
        """The text as the next row, where the verifier looks for it; it counts only once it is added."""
        n = self.rows
        if n >= len(self.of["simhash"]):
            self.of = {name: grown(array, n + 1) for name, array in self.of.items()}
        for name in ("sentences", "sketch", "significant", "date", "url", "support", "bits"):
            self.of[name][n] = getattr(new, name)
        self.of["simhash"][n] = self._words(new)[0]
        self._new = new

    def _judged(self, rows: I64, plausible: bool = False) -> Verified:
        """The pairs of some rows with the next one, verified."""
        n = self.rows
        view = {name: array[: n + 1] for name, array in self.of.items()}
        prints = Fingerprints(
            _NONE, view["simhash"], _NONE, view["sentences"], view["sketch"], _NONE, view["significant"], _NONE
        )
        about = Rows(_NULLS, _NULLS, _NULLS, view["date"], _NONE, view["url"], view["support"], view["bits"])
        pairs = candidates.with_figures(rows, np.full(len(rows), n), view["url"], prints)
        if plausible:
            worth = verify.plausible(pairs, prints)
            pairs = type(pairs)(*(getattr(pairs, f.name)[worth] for f in fields(pairs)))
        measured = verify.measured(pairs, self._gather, self.matching, titles=self._titles)
        return verify.judged(pairs, measured, prints, about, self.matching)

    def _gather(self, rows: I64) -> tuple[U8, I64]:
        """The texts of rows: data u1[B], offsets i8[R+1]."""
        return _joined([self._new.text if self._is_new(row) else self._read(row)[0] for row in rows.tolist()])

    def _titles(self, rows: I64) -> tuple[U8, I64]:
        """Their cleaned titles; those of an index lie there as they came in."""
        found = [self._new.title if self._is_new(row) else self._read(row)[1] for row in rows.tolist()]
        for at in np.flatnonzero(rows < self.loaded).tolist():
            found[at] = _bytes(*buffers(cleaned_by(_one(found[at]), self.matching)))
        return _joined(found)

    def _is_new(self, row: int) -> bool:
        return row == self.rows

    def _read(self, row: int) -> tuple[bytes, bytes]:
        start, size, title_size, title = self.of["place"][row].tolist()
        handle = self._file.fileno()
        return os.pread(handle, size, start), os.pread(handle, title_size, title)

    def write(self, raw: bytes) -> int:
        """Put bytes into the file of texts; returns where they begin."""
        start = self._size
        view = memoryview(raw)
        while len(view):
            done = os.write(self._file.fileno(), view)
            view = view[done:]
            self._size += done
        return start

    def _followed(self, edges: Verified, loose: Verified) -> Found:
        """kernels.leaders.follow for one row."""
        family = self._makes_family(loose)
        proposed = len(edges)
        while True:
            same = (edges.verdict == SAME) & ~(family & (edges.score < guards.FORM))
            best, missing = self._best(edges, same, proposed)
            if len(missing) == 0:
                break
            more = self._judged(missing)
            edges = Verified(*(np.concatenate([getattr(edges, f.name), getattr(more, f.name)]) for f in fields(edges)))
        if best < 0:
            return Found(-1, loose=loose)
        distance = int(edges.distance[best])
        reason = "simhash" if distance <= self.matching.max_distance else "sentence"
        return Found(int(edges.a[best]), reason, float(edges.score[best]), distance, loose=loose)

    def _best(self, edges: Verified, same: Bools, proposed: int) -> tuple[int, I64]:
        """The place of the best pair with a row that stays, -1 for none; the rows that are to be compared first."""
        keeper = self.of["keeper"][edges.a]
        place = {row: i for i, row in enumerate(edges.a.tolist())}
        blocked = set(keeper[:proposed][edges.verdict[:proposed] == APART].tolist())
        best, missing = -1, []
        for leader in dict.fromkeys(keeper[:proposed][same[:proposed]].tolist()):
            link = place.get(leader)
            if link is None:
                missing.append(leader)
            elif same[link] and leader not in blocked:
                ahead = best < 0 or (-edges.score[link], leader) < (-edges.score[best], int(edges.a[best]))
                best = link if ahead else best
        return best, np.array(missing, np.int64)

    def _roots(self, rows: Sequence[int]) -> list[int]:
        parent = self.of["parent"]
        found = []
        for row in rows:
            while parent[row] != row:
                parent[row] = parent[parent[row]]
                row = int(parent[row])
            found.append(row)
        return found

    def _makes_family(self, loose: Verified) -> bool:
        """Whether the next row is one of a family, with the pairs it brings."""
        if len(loose) == 0:
            return False
        roots = list(dict.fromkeys(self._roots(loose.a.tolist())))
        size, alike, every = (int(self.of[name][roots].sum()) for name in ("size", "alike", "every"))
        alike, every = alike + int((loose.verdict == SAME).sum()), every + len(loose)
        return size + 1 >= guards.FAMILY and 2 * alike < every

    def add(self, new: Prepared, found: Found) -> int:
        """The text as the next row; returns the number of its cluster."""
        if new.alone:
            return self._next_cluster()
        if found.exact:
            return int(self.of["similar_id"][found.row])
        self._put(new)
        n, of = self.rows, self.of
        of["keeper"][n] = n if found.row < 0 else found.row
        number = self._next_cluster() if found.row < 0 else int(of["similar_id"][found.row])
        of["similar_id"][n] = number
        start = self.write(new.text + new.title)
        of["place"][n] = start, len(new.text), len(new.title), start + len(new.text)
        self._join(n, found.loose)
        self._index(new, n)
        self.exact[new.digest.tobytes()] = n
        self.rows = n + 1
        return number

    def _next_cluster(self) -> int:
        self.clusters += 1
        return self.clusters - 1

    def _join(self, n: int, loose: Verified | None) -> None:
        of = self.of
        of["parent"][n], of["size"][n], of["alike"][n], of["every"][n] = n, 1, 0, 0
        if loose is None or len(loose) == 0:
            return
        roots = list(dict.fromkeys(self._roots(loose.a.tolist())))
        top = max(roots, key=lambda root: int(of["size"][root]))
        for root in [*roots, n]:
            if root != top:
                of["parent"][root] = top
                for name in ("size", "alike", "every"):
                    of[name][top] += of[name][root]
        of["every"][top] += len(loose)
        of["alike"][top] += int((loose.verdict == SAME).sum())

    def _index(self, new: Prepared, n: int) -> None:
        entries = self._entries(new)[1]
        self.chains.insert(entries, np.full(len(entries), n, np.int32))
        value, words = self._words(new)
        if words >= self.matching.least_words:
            self.nearby.add(value, n)

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()


_NONE: Any = np.zeros(0, np.uint64)  # of what the verifier does not look at
_NULLS = pa.nulls(0, pa.large_string())
_COLUMN = np.arange(1, text.KEYS + 1, dtype=np.uint64) << np.uint64(32)


def columns_of(keys: U32) -> U64:
    """Min-hash keys of different columns are different keys; 0 stays none."""
    found: U64 = np.where(keys != 0, (keys + _COLUMN) ^ KEY, np.uint64(0))
    return found


def _joined(parts: list[bytes]) -> tuple[U8, I64]:
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return np.frombuffer(b"".join(parts), np.uint8), offsets


def _hashed(url: str | None) -> int:
    if not url:
        return 0
    return int(store.hash_rows(*buffers(pa.array([url], pa.large_string())), np.zeros(1, np.uint64))[0])


def _bytes(data: U8, offsets: I64) -> bytes:
    return data[offsets[0] : offsets[-1]].tobytes()


def _one(raw: bytes) -> pa.LargeStringArray:
    return strings(np.frombuffer(raw, np.uint8), np.array([0, len(raw)], np.int64))
