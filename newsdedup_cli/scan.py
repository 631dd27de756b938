"""The first pass: batches of rows -> cleaned texts on disk, fingerprints, and what the report says of each row."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.checkpoint import Checkpoint, Made, key_of, rules_version
from newsdedup_cli.clean import CleanSettings, classic_clean, clean_texts
from newsdedup_cli.dates import parse_dates
from newsdedup_cli.files.corpus import Column, Corpus, TextBatch
from newsdedup_cli.fingerprint import Batch, fingerprint
from newsdedup_cli.kernels import store, text
from newsdedup_cli.segment import Lexicon, lexicon_signature, load_lexicon
from newsdedup_cli.settings import Matching, Settings
from newsdedup_cli.spill import SHARE, Grown, GrownTexts, settle
from newsdedup_cli.tables import U64, Fingerprints, Rows
from newsdedup_cli.texts import TextStore, buffers, offsets_of, runs

BATCH_ROWS, BATCH_BYTES = 2048, 3 << 20  # rows, and bytes of text, that a thread works on at a time
SETTLED = 16  # batches after which memory is given back
LEAD = 200  # characters of the body that --scope lead compares, as the posts advise
T = TypeVar("T")
R = TypeVar("R")
ROLES = ("id", "title", "text", "date", "source", "url")


@dataclass
class Scanned:
    """All rows of the corpus, fingerprinted."""

    batch: Batch
    rows: Rows
    identity: U64  # [N] hash of everything that was read of the row: for ties
    files: list[str]
    raw: list[str]  # the texts as they came in, only for classic-nshash
    urls: TextStore | None  # where a column of urls is known, as long as the run lasts
    content: U64  # [N,2] digest of the cleaned text before boilerplate was taken out: with `as_read`, the key
    as_read: U64  # [N] hash of title and text as they came in; of the two a decision is known by


def scan(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    settings: Settings,
    kept: Checkpoint,
    threads: int,
    limit: int | None,
    advance: Callable[[int], None],
) -> Scanned:
    """Read the columns of the corpus once; `kept` takes the cleaned texts and the urls, and gives what it has."""
    lexicon = load_lexicon(user_dictionary(settings.matching))
    batches = (part for batch in _limited(corpus.texts(columns, BATCH_ROWS), limit) for part in _parts(batch))
    found = _Found(kept.memory, kept.tmpdir)
    made = in_order(lambda batch: _make(batch, settings.matching, lexicon, kept.find), batches, threads)
    for number, one in enumerate(made):
        kept.take(one.known)
        found.add(one)
        advance(len(one.as_read))
        if number % SETTLED == 0:
            settle()
    kept.save()
    if not found.files:
        found.add(_make(_no_rows(), settings.matching, lexicon))
    return found.whole(kept.urls)


def _no_rows() -> TextBatch:
    return TextBatch(1, "", {role: [pa.array([], pa.large_string())] for role in ROLES})


class _Found:
    """What the batches say, put together as they come.

    Once a part of `memory` (bytes; see spill.SHARE) is full, what is large of it goes to files in `tmpdir`.
    """

    LARGE = ("sentences", "sketch", "keys", "title_bits", "pieces")
    TEXTS = ("id", "title", "source")

    def __init__(self, memory: int, tmpdir: Path | None) -> None:
        self.files: dict[str, int] = {}
        self.raw: list[str] = []
        names = [*(f.name for f in fields(Fingerprints)), *(f.name for f in fields(Rows) if f.name not in self.TEXTS)]
        self._numbers = {name: Grown() for name in [*names, "pieces", "piece_rows", "identity", "as_read"]}
        self._texts = {name: GrownTexts() for name in self.TEXTS}
        self._large: list[Grown | GrownTexts] = [*(self._numbers[name] for name in self.LARGE), *self._texts.values()]
        self._left, self._tmpdir = memory // SHARE, tmpdir

    def add(self, one: _Made) -> None:
        """The next batch."""
        known = one.known
        known.rows.file[:] = self.files.setdefault(one.file, len(self.files))
        self.raw += one.raw
        batch = known.batch
        columns = vars(batch.fingerprints) | vars(known.rows) | {"pieces": batch.pieces, "as_read": one.as_read}
        columns |= {"piece_rows": np.diff(batch.piece_rows), "identity": known.identity}
        before = self._left
        for name, column in columns.items():
            self._left -= (self._texts[name] if name in self._texts else self._numbers[name]).append(column)
        if before >= 0 > self._left:
            for column in self._large:
                column.spill(self._tmpdir)

    def whole(self, urls: TextStore | None) -> Scanned:
        """All rows, in order."""
        numbers = {name: column.whole() for name, column in self._numbers.items()}
        texts = {name: column.whole() for name, column in self._texts.items()}
        prints = Fingerprints(**{f.name: numbers[f.name] for f in fields(Fingerprints)})
        rows = Rows(**{f.name: (numbers | texts)[f.name] for f in fields(Rows)})
        batch = Batch(prints, numbers["pieces"], offsets_of(numbers["piece_rows"]))
        files = [name for name in self.files if name]
        content = prints.digest.copy()
        return Scanned(batch, rows, numbers["identity"], files, self.raw, urls, content, numbers["as_read"])


@dataclass
class _Made:
    """One batch's share of the result."""

    file: str
    known: Made
    raw: list[str]
    as_read: U64


def _limited(batches: Iterator[TextBatch], limit: int | None) -> Iterator[TextBatch]:
    for batch in batches:
        if limit is not None and batch.first_row + batch.num_rows - 1 > limit:
            size = limit - batch.first_row + 1
            if size > 0:
                cut = {key: [a.slice(0, size) for a in arrays] for key, arrays in batch.values.items()}
                yield TextBatch(batch.first_row, batch.file, cut)
            return
        yield batch


def _parts(batch: TextBatch) -> Iterator[TextBatch]:
    """The batch in parts with BATCH_BYTES of text each, or of one row."""
    texts = batch.values.get("text") or [pa.nulls(batch.num_rows, pa.large_string())]
    sizes = sum(pc.fill_null(pc.binary_length(part), 0).to_numpy(zero_copy_only=False) for part in texts)
    for begin, end in runs(offsets_of(sizes), BATCH_BYTES):
        cut = {key: [a.slice(begin, end - begin) for a in arrays] for key, arrays in batch.values.items()}
        yield TextBatch(batch.first_row + begin, batch.file, cut)


def in_order(work: Callable[[T], R], batches: Iterable[T], threads: int) -> Iterator[R]:
    """The work on each batch, in order, with a bounded number of batches under way."""
    if threads == 1:
        yield from map(work, batches)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[Future[R]] = deque()
        for batch in batches:
            under_way.append(pool.submit(work, batch))
            if len(under_way) > threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _make(
    batch: TextBatch, matching: Matching, lexicon: Lexicon, find: Callable[[str], Made | None] = lambda _: None
) -> _Made:
    size = batch.num_rows
    nothing = pa.nulls(size, pa.large_string())
    one = {role: pc.coalesce(*(batch.values.get(role) or [nothing])) for role in ROLES}
    body = joined(batch.values.get("text") or [nothing])
    identity = np.zeros(size, np.uint64)
    for role in ROLES:
        identity = store.hash_rows(*buffers((body if role == "text" else one[role]).fill_null("")), identity)
    key = key_of(identity, [body if role == "text" else one[role] for role in ROLES])
    known = find(key) or _fingerprinted(key, one, body, identity, matching, lexicon)
    raw = body.fill_null("").to_pylist() if matching.preset == "classic-nshash" else []
    return _Made(batch.file, known, raw, read_hashes(one["title"], body))


def _fingerprinted(
    key: str,
    one: Mapping[str, pa.LargeStringArray],
    body: pa.LargeStringArray,
    identity: U64,
    matching: Matching,
    lexicon: Lexicon,
) -> Made:
    size = len(body)
    cleaned = comparable(body, one["title"], matching)
    urls = one["url"].fill_null("")
    url: U64 = store.hash_rows(*buffers(urls), np.zeros(size, np.uint64))
    url[pc.equal(pc.binary_length(urls), 0).to_numpy(zero_copy_only=False)] = 0
    heads = cleaned_by(one["title"], matching)
    support, bits = text.title_evidence(*buffers(heads), *buffers(cleaned))
    rows = Rows(
        one["id"],
        one["title"],
        one["source"],
        parse_dates(one["date"], int(matching.year) if matching.year else None),
        np.zeros(size, np.int32),
        url,
        support,
        bits,
    )
    return Made(key, fingerprint(cleaned, lexicon, matching), rows, identity, cleaned, urls)


def read_hashes(title: pa.LargeStringArray, body: pa.LargeStringArray) -> U64:
    """A hash u8[N] of title and text as they came in."""
    seed: U64 = store.hash_rows(*buffers(title.fill_null("")), np.zeros(len(title), np.uint64))
    found: U64 = store.hash_rows(*buffers(body.fill_null("")), seed)
    return found


def joined(arrays: Sequence[pa.LargeStringArray]) -> pa.LargeStringArray:
    """Several text columns as one, joined by a line end; what is null is left out."""
    if len(arrays) == 1:
        return arrays[0]
    import polars as pl  # here, for it takes a third of a second

    # pyarrow 26's binary_join_element_wise drops the rows that are null in every column.
    columns = [pl.Series(str(i), array) for i, array in enumerate(arrays)]
    return pl.select(pl.concat_str(columns, separator="\n", ignore_nulls=True)).to_series().to_arrow()


def comparable(body: pa.LargeStringArray, title: pa.LargeStringArray, matching: Matching) -> pa.LargeStringArray:
    """The cleaned text that is compared, by the scope: the text, title and lead, or the title."""
    if matching.scope == "full":
        return cleaned_by(body, matching)
    head = cleaned_by(title, matching)
    if matching.scope == "title":
        return head
    lead = pc.utf8_slice_codeunits(cleaned_by(body, matching), 0, LEAD)
    return joined([head, lead])


def cleaned_by(texts: pa.LargeStringArray, matching: Matching) -> pa.LargeStringArray:
    """Cleaned by our steps, or as the published recipe does."""
    if matching.preset.startswith("classic"):
        return classic_clean(texts)
    return clean_texts(texts, CleanSettings(fold_script=matching.fold_script))


def join_rows(parts: list[Rows]) -> Rows:
    """One table of all rows, in order."""
    columns: dict[str, Any] = {}
    for name in (f.name for f in fields(Rows)):
        arrays = [getattr(part, name) for part in parts]
        columns[name] = pa.concat_arrays(arrays) if name in _Found.TEXTS else np.concatenate(arrays)
    return Rows(**columns)


def signature_of(columns: Mapping[str, Sequence[Column]], matching: Matching) -> str:
    """What the fingerprints of rows depend on besides the rows: settings, columns, dictionary, and these rules."""
    said = {
        "rules": rules_version(),
        "matching": asdict(matching),
        "columns": {role: [column.label for column in found] for role, found in columns.items()},
        "dictionary": lexicon_signature(user_dictionary(matching)),
        "batch": [BATCH_ROWS, BATCH_BYTES],
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def user_dictionary(matching: Matching) -> Path | None:
    """Where jieba's user dictionary lies, if there is one."""
    return Path(matching.userdict) if matching.userdict else None
