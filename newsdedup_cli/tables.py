"""The tables that pass between the stages: read this first.

Inside the program a row is its position, counted from 0 over all inputs; in the report it is `row`, counted
from 1. All arrays of one table have the same length.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
U16 = npt.NDArray[np.uint16]
U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Why a row is compared with nothing (Fingerprints.alone); the index is the code.
ALONE = ("", "no_text", "too_short", "boilerplate_only")
# Where a pair comes from (Pairs.origin), as bits.
EXACT, SENTENCE, BAND, MINHASH, URL = 1, 2, 4, 8, 16
# What became of a pair (Pairs.verdict); the index is the code. `same` merges, the others but "" are candidates.
VERDICTS = ("", "same", "numbers_differ", "contained_in", "short_text", "same_url", "near")
SAME = VERDICTS.index("same")
APART = VERDICTS.index("numbers_differ")  # keeps two rows out of one cluster whatever stands between them
NEAR = VERDICTS.index("near")
DECISIONS = ("", "same", "different")  # what a person may say of a pair; the index is the code
UNKNOWN = np.iinfo(np.int64).max  # a date that is not known; sorts after every other


@dataclass
class Fingerprints:
    """What is known of each row without its text: about 400 bytes a row."""

    digest: U64  # [N,2] of the cleaned text's significant characters
    simhash: U64  # [N]
    features: I32  # [N] how many words went into the simhash
    sentences: U64  # [N,S] hashes of the longest sentences, 0 for none
    sketch: U16  # [N,128] min-hash sketch of the shingles, 0 for an empty bin
    keys: U32  # [N,16] look-up keys of the sketch, 0 for none
    significant: I32  # [N] characters
    alone: U8  # [N] index into ALONE

    def __len__(self) -> int:
        return len(self.significant)


@dataclass
class Pairs:
    """Two rows each, a < b, sorted and distinct."""

    a: I64
    b: I64
    origin: U8
    distance: U8
    shared_sentences: U8

    def __len__(self) -> int:
        return len(self.a)


class Figures(NamedTuple):
    """What a verifier says of each pair."""

    score: F32  # 0..1, 1 = same
    containment: F32  # share of the smaller side's shingles that the other has
    ends: U8  # 1: both begin alike, 2: both end alike; 3 where it was not looked at
    left: F32  # share of the larger side's size that the smaller has, in distinct shingles


@dataclass
class Verified:
    """Pairs with their figures."""

    a: I64
    b: I64
    distance: U8
    shared_sentences: U8
    score: F32  # 0..1, 1 = same
    containment: F32  # share of the smaller side's shingles that the other has
    verdict: U8  # index into VERDICTS

    def __len__(self) -> int:
        return len(self.a)

    def where(self, mask: Bools | I64) -> Verified:
        """The pairs that the mask or the positions choose."""
        return Verified(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))


@dataclass
class Clusters:
    """Which rows are one article, and which of them stays."""

    similar_id: I64  # [N] dense from 0 in order of first rows
    kept_row: I64  # [N] position of the row that stays
    link: Verified  # for each row that does not stay, in order of rows: the pair (row, kept row)


ROWS_SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("file", pa.string()),
        ("id", pa.string()),
        ("similar_id", pa.int64()),
        ("size", pa.int64()),
        ("kept", pa.bool_()),
        ("kept_row", pa.int64()),
        ("kept_id", pa.string()),
        ("reason", pa.string()),
        ("distance", pa.uint8()),
        ("shared_sentences", pa.uint8()),
        ("score", pa.float32()),
    ]
)
CANDIDATES_SCHEMA = pa.schema(
    [
        ("row_a", pa.int64()),
        ("id_a", pa.string()),
        ("row_b", pa.int64()),
        ("id_b", pa.string()),
        ("reason", pa.string()),
        ("distance", pa.uint8()),
        ("shared_sentences", pa.uint8()),
        ("score", pa.float32()),
        ("containment", pa.float32()),
        ("decision", pa.string()),
        ("key_a", pa.string()),
        ("key_b", pa.string()),
        ("family", pa.int64()),  # rows of one form that the pair stands for; null: only for itself
    ]
)
REASONS = ("", "exact", "simhash", "sentence", "semantic")  # why a row is removed


@dataclass
class Rows:
    """What the report says of each row besides its fingerprint."""

    id: pa.LargeStringArray  # as text; made where the input has none
    title: pa.LargeStringArray
    source: pa.LargeStringArray
    date: I64  # microseconds since 1970, UNKNOWN where there is none
    file: I32  # index into the names of the inputs
    url: U64  # hash, 0 where there is none
    title_support: F32  # share of the title's two-character shingles that the text has, 1 without a title
    title_bits: U64  # [N,4] a bitmap of those shingles, all 0 without a title

    def __len__(self) -> int:
        return len(self.date)


@dataclass
class Outcome:
    """What a run decided, whatever way it was decided."""

    clusters: Clusters
    alone: U8  # [N] index into ALONE
    reason: U8  # for each link, index into REASONS
    candidates: Verified  # pairs for a person
    boilerplate: list[tuple[str, int]]  # sentence, in how many different rows
    proposed: int  # pairs that any source of candidates gave
    compared: int  # pairs whose texts were read
    decision: U8 | None = None  # for each candidate, index into DECISIONS
    family: I64 | None = None  # for each candidate, rows of the family that it stands for, 0 for none
    decisions: dict[str, int] = field(default_factory=dict)  # how many were given, used, unused ...
    warnings: list[str] = field(default_factory=list)  # what is to be said of them
