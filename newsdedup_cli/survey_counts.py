"""What a survey counts over all rows, in arrays that grow by a few bytes a row: lengths, ids, dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.clean import CleanSettings, clean_texts
from newsdedup_cli.dates import parse_date
from newsdedup_cli.kernels import store, text
from newsdedup_cli.survey_signs import EXCEL_CHARACTERS, ROUNDED_IDS, Rounded, Rule, searched
from newsdedup_cli.tables import I64, U64, UNKNOWN
from newsdedup_cli.texts import buffers

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
EXAMPLES = 3
_LIKELY = [int(np.datetime64(day, "us").astype(np.int64)) for day in ("1900-01-01", "2100-01-01")]
# Texts of so many bytes that begin with letters are not cleaned to see whether little is left of them.
_LONG_BYTES, _BEGIN, _LETTERS = 1800, 200, 100


def is_blank(column: pl.Series) -> pl.Series:
    """Which cells are missing, empty or blanks only."""
    return (column.str.strip_chars().str.len_bytes() == 0).fill_null(True)


@dataclass(frozen=True)
class Place:
    """A cell that is shown: `row` counts from 1 over all inputs, `row_in_file` within its file."""

    row: int
    file: str
    row_in_file: int
    column: str
    value: str


@dataclass
class Sign:
    """Something suspicious: in how many rows, and the first of them."""

    kind: str
    count: int
    words: str
    todo: str
    example: Place | None


@dataclass(frozen=True)
class Repeated:
    """A value that stands in several rows; the first few of these, from 1 over all inputs."""

    value: str
    count: int
    rows: list[int]


@dataclass
class TextInfo:
    """Lengths of the texts. Empty, too short and short as for a run: significant characters of the cleaned text."""

    empty: int
    too_short: int
    too_short_under: int
    short: int
    short_under: int
    over_long: int
    over_long_over: int
    characters: dict[str, int]  # quantiles, of the texts as they came in


@dataclass
class KeyInfo:
    """How far the values of a column name rows: missing ones, and those in several rows."""

    missing: int
    first_missing: list[Place]
    repeated: int
    repeated_rows: int
    examples: list[Repeated]


@dataclass
class DateInfo:
    """What the dates are worth."""

    missing: int
    unreadable: int
    examples: list[Place]
    unlikely: int  # before 1900 or after 2100
    unlikely_examples: list[Place]
    span: tuple[str, str] | None


@dataclass
class Where:
    """Where a batch's rows stand."""

    file: str
    first_row: int
    first_in_file: int

    def place(self, at: int, column: str, value: str) -> Place:
        """The place of the batch's row `at`, from 0."""
        return Place(self.first_row + at, self.file, self.first_in_file + at, column, value)


@dataclass
class TextCounts:
    """How long the texts are: significant characters decide what is short, characters as they came in the rest."""

    too_short_at: int
    short_at: int
    empty: int = 0
    too_short: int = 0
    short: int = 0
    over_long: int = 0
    _lengths: list[I64] = field(default_factory=list)

    def add(self, texts: pl.Series, blank: pl.Series) -> None:
        """Count a batch."""
        lengths = texts.str.len_chars().fill_null(0)
        self.over_long += int((lengths > EXCEL_CHARACTERS).sum())
        self._lengths.append(lengths.filter(~blank).to_numpy().astype(np.int32))
        left = _significant(texts.filter(blank | ~_surely_long(texts)).fill_null("").to_arrow())
        self.empty += int((left == 0).sum())
        self.too_short += int(((left > 0) & (left < self.too_short_at)).sum())
        self.short += int(((left >= self.too_short_at) & (left < self.short_at)).sum())

    def info(self) -> TextInfo:
        """What was counted."""
        return TextInfo(
            self.empty,
            self.too_short,
            self.too_short_at,
            self.short,
            self.short_at,
            self.over_long,
            EXCEL_CHARACTERS,
            self._quantiles(),
        )

    def _quantiles(self) -> dict[str, int]:
        """Characters of the texts that are not blank: the least, some quantiles, the most."""
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int32)
        if not len(lengths):
            return {}
        values = np.quantile(lengths, QUANTILES, method="nearest")
        return {f"{q:g}": int(value) for q, value in zip(QUANTILES, values, strict=True)}


def _surely_long(texts: pl.Series) -> pl.Series:
    """Which texts are long without markup, so that cleaning leaves enough of them."""
    letters = texts.str.slice(0, _BEGIN).str.count_matches(r"[\pL\pN]") >= _LETTERS
    markup = texts.str.contains("<", literal=True)
    return ((texts.str.len_bytes() >= _LONG_BYTES) & letters & ~markup).fill_null(False)


def _significant(texts: pa.LargeStringArray) -> I64:
    """The significant characters of each text, cleaned as for a run: i8[N]."""
    if not len(texts):
        return np.zeros(0, np.int64)
    cleaned = clean_texts(texts.cast(pa.large_string()), CleanSettings())
    codes, offsets = text.significant_codes(*buffers(cleaned))
    sums = np.concatenate([[0], np.cumsum(codes[: offsets[-1]] != 0)])
    counts: I64 = sums[offsets[1:]] - sums[offsets[:-1]]
    return counts


class KeyCounts:
    """Which values of a column recur: told by 64-bit hashes, eight bytes a row."""

    def __init__(self) -> None:
        self.missing = 0
        self.first_missing: list[Place] = []
        self._hashes: list[U64] = []

    def add(self, values: pl.Series, blank: pl.Series, where: Where, column: str) -> None:
        """Count a batch; blank values are missing, hash 0."""
        data = values.fill_null("").to_arrow().cast(pa.large_string())
        hashes: U64 = store.hash_rows(*buffers(data), np.zeros(len(data), np.uint64))
        hashes[hashes == 0] = 1
        gone = blank.to_numpy()
        hashes[gone] = 0
        self._hashes.append(hashes)
        self.missing += int(gone.sum())
        for at in np.flatnonzero(gone)[: EXAMPLES - len(self.first_missing)].tolist():
            self.first_missing.append(where.place(at, column, values[at] or ""))

    def repeated(self) -> tuple[int, int, list[I64]]:
        """How many values recur, in how many rows, and the rows (from 0) of the few that do so most often."""
        hashes = np.concatenate(self._hashes) if self._hashes else np.zeros(0, np.uint64)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(hashes) else order
        sizes = np.diff(np.append(starts, len(hashes)))
        several = (sizes > 1) & (ordered[starts] != 0)
        starts, sizes = starts[several], sizes[several]
        most = np.lexsort([order[starts], -sizes])[:EXAMPLES]
        return len(sizes), int(sizes.sum()), [order[starts[i] : starts[i] + sizes[i]] for i in most]


class DateCounts:
    """Which dates can be read, by the rules of a run, and from when to when they are."""

    def __init__(self) -> None:
        self.missing = 0
        self.unreadable = self.unlikely = 0
        self.examples: list[Place] = []
        self.unlikely_examples: list[Place] = []
        self._least, self._most = UNKNOWN, -UNKNOWN

    def add(self, values: pl.Series, blank: pl.Series, where: Where, column: str) -> None:
        """Count a batch; each different spelling is read once."""
        self.missing += int(blank.sum())
        coded = pc.dictionary_encode(values.to_arrow().cast(pa.large_string()), null_encoding="encode")
        known = [UNKNOWN if t is None else parse_date(t) for t in coded.dictionary.to_pylist()]
        moments = np.array(known, np.int64)[coded.indices.to_numpy()] if known else np.zeros(0, np.int64)
        bad = (moments == UNKNOWN) & ~blank.to_numpy()
        odd = ((moments < _LIKELY[0]) | (moments > _LIKELY[1])) & (moments != UNKNOWN)
        self.unreadable += int(bad.sum())
        self.unlikely += int(odd.sum())
        for mask, examples in ((bad, self.examples), (odd, self.unlikely_examples)):
            for at in np.flatnonzero(mask)[: EXAMPLES - len(examples)].tolist():
                examples.append(where.place(at, column, values[at]))
        read = moments[moments != UNKNOWN]
        if len(read):
            self._least, self._most = min(self._least, int(read.min())), max(self._most, int(read.max()))

    def info(self) -> DateInfo:
        """What was counted; the span as far as a calendar has the dates."""
        span = None
        if self._least <= self._most:
            first, last = (
                str(np.datetime64(moment, "us").astype("datetime64[D]")) for moment in (self._least, self._most)
            )
            span = (first, last)
        return DateInfo(self.missing, self.unreadable, self.examples, self.unlikely, self.unlikely_examples, span)


class SignCounts:
    """In how many rows each rule finds what it looks for, and where first."""

    def __init__(self) -> None:
        self._found: dict[str, Sign] = {}
        self._rounded = Rounded()

    def add(self, columns: dict[str, tuple[str, pl.Series]], where: Where) -> None:
        """Count a batch: per role the column's name and its values."""
        for kind, hits in _hits(columns):
            rows = pl.Series([False])
            for rule, name, values, mask in hits:
                rows = rows | mask
                self._remember(rule, name, values, mask, where)
            if kind in self._found:
                self._found[kind].count += int(rows.sum())
        if "id" in columns:
            name, ids = columns["id"]
            self._remember(ROUNDED_IDS, name, ids, self._rounded.add(ids), where)

    def _remember(self, rule: Rule, name: str, values: pl.Series, mask: pl.Series, where: Where) -> None:
        if rule.kind not in self._found and mask.any():
            at = int(np.argmax(mask.to_numpy()))
            place = where.place(at, name, rule.example(values[at]))
            self._found[rule.kind] = Sign(rule.kind, 0, rule.words, rule.todo, place)

    def signs(self) -> list[Sign]:
        """What was found, most frequent first."""
        if ROUNDED_IDS.kind in self._found:
            self._found[ROUNDED_IDS.kind].count = self._rounded.count
        return sorted((sign for sign in self._found.values() if sign.count), key=lambda sign: -sign.count)


def _hits(
    columns: dict[str, tuple[str, pl.Series]],
) -> Iterator[tuple[str, list[tuple[Rule, str, pl.Series, pl.Series]]]]:
    """Per kind of sign: the rule, the column, its values, and in which of them the sign was found."""
    found: dict[str, list[tuple[Rule, str, pl.Series, pl.Series]]] = {}
    for role, (name, values) in columns.items():
        for rule in searched(role):
            found.setdefault(rule.kind, []).append((rule, name, values, rule.found(values)))
    yield from found.items()
