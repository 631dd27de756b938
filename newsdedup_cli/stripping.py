"""Boilerplate out of the texts of a run, and those fingerprinted anew."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from newsdedup_cli import boilerplate, candidates
from newsdedup_cli.fingerprint import BOILERPLATE_ONLY, fingerprint
from newsdedup_cli.kernels import text
from newsdedup_cli.scan import BATCH_BYTES, BATCH_ROWS, Scanned, cleaned_by, in_order, user_dictionary
from newsdedup_cli.segment import load_lexicon
from newsdedup_cli.settings import Matching
from newsdedup_cli.spill import release
from newsdedup_cli.tables import I64, U64, Bools, Fingerprints
from newsdedup_cli.texts import TextStore, buffers, offsets_of, runs, strings
from newsdedup_cli.verify import guards

STILL_SAID = 0.85  # share of what a text says of its title that taking out boilerplate must leave
LISTED = 2000  # pieces of boilerplate that the report lists


@dataclass
class LeftOut:
    """What recurs: what proposes nothing, what is left out of texts, and what is learnt of it from these rows."""

    common: U64  # hashes of the pieces that propose nothing, ascending
    hashes: U64  # and of those that are left out, ascending
    learnt: list[tuple[int, str, int]]  # hash, text and rows of each piece that is left out by what these rows say
    learnt_common: U64
    touched: I64  # positions of the rows that have any of what is left out

    @property
    def listed(self) -> list[tuple[str, int]]:
        """What the report lists: text and rows."""
        pieces = [(spelled, rows) for _, spelled, rows in self.learnt]
        return sorted(pieces, key=lambda piece: (-piece[1], piece[0]))[:LISTED]


def learn(scanned: Scanned, texts: TextStore, matching: Matching, rank: I64) -> LeftOut:
    """What recurs in these rows, and what the file of boilerplate says; rank i8[N] of the rows for ties."""
    batch, prints = scanned.batch, scanned.batch.fingerprints
    found = boilerplate.nothing()
    if matching.boilerplate:
        representative = candidates.representatives(prints.digest, rank, prints.alone > 0)
        counted = representative == np.arange(len(prints))
        found = boilerplate.learn(batch.pieces, batch.piece_rows, counted, prints.digest, matching.boilerplate_rows)
    spelled = boilerplate.spelling(found, texts.gather, matching.least_piece)
    by_hash = dict(zip(found.hashes.tolist(), spelled, strict=True))
    found = boilerplate.without_quotes(found, spelled, lambda some: titles(scanned, some, matching))
    hashes, common = found.hashes, found.common
    if matching.boilerplate_file:
        lines = boilerplate.read_lines(matching.boilerplate_file)
        given = boilerplate.hashes_of(cleaned_by(lines, matching), matching.least_piece)
        hashes, common = np.union1d(hashes, given), np.union1d(common, given)
    learnt = [(h, by_hash[h], n) for h, n in zip(found.hashes.tolist(), found.rows.tolist(), strict=True)]
    return LeftOut(common, hashes, learnt, found.common, np.zeros(0, np.int64))


def strip(scanned: Scanned, texts: TextStore, matching: Matching, left_out: LeftOut, threads: int) -> None:
    """Take what is left out from the texts, and fingerprint those that have it anew."""
    batch, prints = scanned.batch, scanned.batch.fingerprints
    lexicon = load_lexicon(user_dictionary(matching))
    left_out.touched = rows = boilerplate.rows_with(batch.pieces, batch.piece_rows, left_out.hashes)

    def anew(some: I64) -> tuple[I64, pa.LargeStringArray, Fingerprints]:
        stripped = boilerplate.strip(strings(*texts.gather(some)), left_out.hashes, matching.least_piece)
        stays = _speaks_of_title(scanned, some, stripped, matching)
        some, stripped = some[stays], stripped.filter(pa.array(stays))
        return some, stripped, fingerprint(stripped, lexicon, matching).fingerprints

    chunks = (rows[begin:end] for begin, end in runs(offsets_of(texts.sizes(rows)), BATCH_BYTES, BATCH_ROWS))
    for some, stripped, new in in_order(anew, chunks, threads):
        texts.replace_strings(some, stripped)
        emptied = some[(new.alone > 0) & (prints.alone[some] == 0)]
        for field in fields(Fingerprints):
            getattr(prints, field.name)[some] = getattr(new, field.name)
        prints.alone[emptied] = BOILERPLATE_ONLY
        release()


def titles(scanned: Scanned, some: I64, matching: Matching) -> pa.LargeStringArray:
    """The cleaned titles of some rows."""
    return cleaned_by(scanned.rows.title.take(pa.array(some)), matching)


def _speaks_of_title(scanned: Scanned, some: I64, stripped: pa.LargeStringArray, matching: Matching) -> Bools:
    """Whether what is left still says of the title what the whole did; else the news itself was taken out."""
    about = scanned.rows
    support, _ = text.title_evidence(*buffers(titles(scanned, some, matching)), *buffers(stripped))
    before = about.title_support[some]
    said: Bools = about.title_bits[some].any(axis=1) & (before >= guards.SUPPORT) & (support < STILL_SAID * before)
    return ~said
