"""The first pass: batches of rows -> cleaned texts on disk, fingerprints, and what the report says of each row."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.checkpoint import Checkpoint, Made, key_of, rules_version
from newsdedup_cli.clean import CleanSettings, classic_clean, clean_texts
from newsdedup_cli.dates import parse_dates
from newsdedup_cli.files.corpus import Column, Corpus, TextBatch
from newsdedup_cli.fingerprint import Batch, fingerprint, join_batches
from newsdedup_cli.kernels import store, text
from newsdedup_cli.segment import Lexicon, lexicon_signature, load_lexicon
from newsdedup_cli.settings import Matching, Settings
from newsdedup_cli.tables import U64, Rows
from newsdedup_cli.texts import TextStore, buffers

BATCH_ROWS = 2048  # rows a thread works on at a time
LEAD = 200  # characters of the body that --scope lead compares, as the posts advise
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
    batches = _limited(corpus.texts(columns, BATCH_ROWS), limit)
    made: list[_Made] = []
    for one in _ordered(lambda batch: _make(batch, settings.matching, lexicon, kept.find), batches, threads):
        kept.take(one.known)
        made.append(one)
        advance(len(one.as_read))
    kept.save()
    files = list(dict.fromkeys(one.file for one in made))
    for one in made:
        one.known.rows.file[:] = files.index(one.file)
    whole = join_batches([one.known.batch for one in made], settings.matching)
    identity = np.concatenate([one.known.identity for one in made] or [np.zeros(0, np.uint64)])
    raw = [text for one in made for text in one.raw]
    content = whole.fingerprints.digest.copy()
    as_read = np.concatenate([one.as_read for one in made] or [np.zeros(0, np.uint64)])
    return Scanned(
        whole, join_rows([one.known.rows for one in made]), identity, files, raw, kept.urls, content, as_read
    )


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


def _ordered(work: Callable[[TextBatch], _Made], batches: Iterator[TextBatch], threads: int) -> Iterator[_Made]:
    """The work on each batch, in order, with a bounded number of batches under way."""
    if threads == 1:
        yield from map(work, batches)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[Future[_Made]] = deque()
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
        parse_dates(one["date"].to_pylist(), int(matching.year) if matching.year else None),
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

    def strings(name: str) -> pa.LargeStringArray:
        arrays = [getattr(part, name) for part in parts]
        return pa.concat_arrays(arrays) if arrays else pa.array([], pa.large_string())

    empty: dict[str, npt.NDArray[np.generic]] = {
        "date": np.zeros(0, np.int64),
        "file": np.zeros(0, np.int32),
        "url": np.zeros(0, np.uint64),
        "title_support": np.zeros(0, np.float32),
        "title_bits": np.zeros((0, 4), np.uint64),
    }

    def numbers(name: str) -> npt.NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts] or [empty[name]])

    names = [f.name for f in fields(Rows)]
    columns: dict[str, Any] = {name: numbers(name) if name in empty else strings(name) for name in names}
    return Rows(**columns)


def signature_of(columns: Mapping[str, Sequence[Column]], matching: Matching) -> str:
    """What the fingerprints of rows depend on besides the rows: settings, columns, dictionary, and these rules."""
    said = {
        "rules": rules_version(),
        "matching": asdict(matching),
        "columns": {role: [column.label for column in found] for role, found in columns.items()},
        "dictionary": lexicon_signature(user_dictionary(matching)),
        "batch": BATCH_ROWS,
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def user_dictionary(matching: Matching) -> Path | None:
    """Where jieba's user dictionary lies, if there is one."""
    return Path(matching.userdict) if matching.userdict else None
