"""What is in the inputs, before a run: how each file is read, its columns, and what looks wrong.

One pass over all columns, and a second over ids and urls up to the examples of what recurs. The memory grows
by some 24 bytes a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from newsdedup_cli.errors import visible
from newsdedup_cli.files.base import Source
from newsdedup_cli.files.corpus import Column, Corpus, TextBatch
from newsdedup_cli.files.json_values import read_object
from newsdedup_cli.progress import Progress
from newsdedup_cli.scan import ROLES, joined
from newsdedup_cli.settings import Columns, Matching
from newsdedup_cli.survey_counts import (
    EXAMPLES,
    DateCounts,
    DateInfo,
    KeyCounts,
    KeyInfo,
    Place,
    Repeated,
    Sign,
    SignCounts,
    TextCounts,
    TextInfo,
    Where,
    is_blank,
)

LATE_ROW = 100  # tools that infer the columns look about so far
MANY_ROWS = 5  # rows of one url from which on it is suspicious
_KIND_LINES = 1000
_TEXT_CHARACTERS = 20  # on average, from which a column may be the text where no name tells
_SAMPLE_CHARACTERS = 80
_JSON_KINDS = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean"}


@dataclass
class ColumnInfo:
    """A column of one file; `first_filled` is the first row of the file that has a value, 0 for none."""

    position: int  # from 1
    name: str
    type: str
    role: str = ""
    empty: int = 0
    first_filled: int = 0
    samples: list[str] = field(default_factory=list)

    def add(self, values: pl.Series, blank: pl.Series, first_row: int) -> None:
        """Count a batch."""
        filled = values.filter(~blank)
        self.empty += len(values) - len(filled)
        if not len(filled):
            return
        if not self.first_filled:
            self.first_filled = first_row + int((~blank).to_numpy().argmax())
        if len(self.samples) < EXAMPLES:
            short = filled.head(64).str.slice(0, _SAMPLE_CHARACTERS).to_list()
            self.samples = list(dict.fromkeys([*self.samples, *short]))[:EXAMPLES]


@dataclass(frozen=True)
class Rejected:
    """Input that is no row, its raw text shortened."""

    line: int
    reason: str
    raw: str


@dataclass
class FileInfo:
    """One input; `rejected` is None where only its first rows were read."""

    file: str
    format: str
    bytes: int
    details: dict[str, str]
    rows: int
    rejected: int | None
    first_rejects: list[Rejected]
    warnings: list[str]
    columns: list[ColumnInfo]


@dataclass
class Survey:
    """What is known of the inputs; the parts of columns that are not known are None.

    `specs` has per role what to type for its column; roles whose columns differ by file are left to `run`'s guess.
    """

    files: list[FileInfo]
    rows: int
    limited: bool
    roles: dict[str, list[str]]
    specs: dict[str, list[str]]
    text_by_length: bool
    texts: TextInfo | None
    ids: KeyInfo | None
    dates: DateInfo | None
    urls: KeyInfo | None
    signs: list[Sign]


def survey(
    corpus: Corpus, columns: Columns, matching: Matching, progress: Progress, limit: int | None = None
) -> Survey:
    """Look at all rows, or the first `limit`. Raises `UserError` for a column that is not there or a broken file."""
    corpus.complete()
    roles, by_length = chosen_roles(corpus, columns)
    seen = _Seen(roles, TextCounts(matching.too_short, matching.short_text))
    with progress.stage("reading") as advance:
        files = [_file(source, seen, limit, advance) for source in corpus.sources]
    ids, urls = _keys(corpus, seen)
    return Survey(
        files,
        seen.rows,
        any(file.rejected is None for file in files),
        {role: [column.label for column in found] for role, found in roles.items()},
        {role: [_spec(corpus, found[0])] for role, found in roles.items() if len(found) == 1},
        by_length,
        seen.texts.info() if "text" in roles else None,
        ids if "id" in roles else None,
        seen.dates.info() if "date" in roles else None,
        urls if "url" in roles else None,
        [*seen.signs.signs(), *_long_numbers(files), *_late_keys(files), *_many(files, urls, seen.labels)],
    )


def chosen_roles(corpus: Corpus, columns: Columns) -> tuple[dict[str, list[Column]], bool]:
    """The columns of each role, given or guessed; whether the text is only the longest column of the first rows."""
    guessed = corpus.guess_roles()
    chosen: dict[str, list[Column]] = {}
    for role in ROLES:
        given = getattr(columns, role)
        names = given if role == "text" else (given,) if given else ()
        found = [corpus.resolve(name, f"--{role}") for name in names]
        found = found or [_text_inside(corpus, column) for column in guessed.get(role, [])]
        if found:
            chosen[role] = found
    longest = None if "text" in chosen else _longest(corpus, [c for found in chosen.values() for c in found])
    if longest:
        chosen["text"] = [longest]
    return chosen, longest is not None


def _text_inside(corpus: Corpus, column: Column) -> Column:
    """The column, or the field of a struct in it that holds the text."""
    for source in corpus.sources:
        place = source.schema.get_field_index(column.name)
        kind = source.schema.field(place).type if place >= 0 else None
        if kind is not None and pa.types.is_struct(kind):
            inside = [kind.field(i).name for i in range(kind.num_fields)]
            named = [name for name in ("text", "content") if name in inside] + inside
            return corpus.resolve(f"{column.label}.{named[0]}") if named else column
    return column


def _spec(corpus: Corpus, column: Column) -> str:
    """How the column is typed: by its name, or by its number where that is hard or stands for several."""
    same = [other for other in corpus.columns if other.name == column.name]
    plain = column.name.isprintable() and column.name == column.name.strip() and not column.name.startswith(("#", "-"))
    easy = column.name and plain and len(same) == 1
    return column.label if easy or column.path else f"#{column.position + 1}"


def _longest(corpus: Corpus, taken: Sequence[Column]) -> Column | None:
    free = [column for column in corpus.columns if column not in taken]
    if not free:
        return None
    batch = next(corpus.texts({str(i): [column] for i, column in enumerate(free)}, 1000), None)
    if batch is None:
        return None
    means = [pl.Series(values[0]).str.len_chars().fill_null(0).mean() or 0 for values in batch.values.values()]
    best = max(range(len(free)), key=lambda i: float(str(means[i])))
    return free[best] if float(str(means[best])) >= _TEXT_CHARACTERS else None


class _Seen:
    """What is counted over all files."""

    def __init__(self, roles: dict[str, list[Column]], texts: TextCounts) -> None:
        self.roles, self.texts = roles, texts
        self.labels = {role: "|".join(column.label for column in found) for role, found in roles.items()}
        self.ids, self.urls = KeyCounts(), KeyCounts()
        self.dates, self.signs = DateCounts(), SignCounts()
        self.rows = 0

    def add(self, batch: TextBatch, where: Where) -> None:
        """Count the columns that have a role."""
        values = {role: _one(role, batch.values[role]) for role in self.roles}
        blanks = {role: is_blank(column) for role, column in values.items()}
        if "text" in values:
            self.texts.add(values["text"], blanks["text"])
        for role, counts in (("id", self.ids), ("url", self.urls), ("date", self.dates)):
            if role in values:
                counts.add(values[role], blanks[role], where, self.labels[role])
        looked_at = [role for role in ("text", "title", "id") if role in values]
        self.signs.add({role: (self.labels[role], values[role]) for role in looked_at}, where)
        self.rows += batch.num_rows


def _one(role: str, arrays: Sequence[pa.LargeStringArray]) -> pl.Series:
    """The columns of a role as one: texts joined, of the others the first that has a value."""
    if role == "text":
        return pl.Series(joined(arrays), dtype=pl.String)
    return pl.select(pl.coalesce([pl.Series(str(i), array) for i, array in enumerate(arrays)])).to_series()


def _file(source: Source, seen: _Seen, limit: int | None, advance: Callable[[int], None]) -> FileInfo:
    part = Corpus([source])
    kinds = _json_kinds(source) if source.format == "jsonl" else {}
    named = {(c.name, c.occurrence): role for role, found in reversed(seen.roles.items()) for c in found}
    own = [
        ColumnInfo(
            column.position + 1,
            column.name,
            kinds.get(column.name, "") if kinds else _type(source, column),
            named.get((column.name, column.occurrence), ""),
        )
        for column in part.columns
    ]
    groups = {f"#{column.position}": [column] for column in part.columns} | seen.roles
    rows, whole = 0, True
    for batch in part.texts(groups or {"": [Column("")]}):
        room = batch.num_rows if limit is None else limit - seen.rows
        if room <= 0:
            whole = False
            break
        if room < batch.num_rows:
            batch, whole = _cut(batch, room), False
        for info, column in zip(own, part.columns, strict=True):
            values = pl.Series(batch.values[f"#{column.position}"][0], dtype=pl.String)
            info.add(values, is_blank(values), rows + 1)
        seen.add(batch, Where(source.name, seen.rows + 1, rows + 1))
        rows += batch.num_rows
        advance(batch.num_rows)
        if not whole:
            break
    return _told(source, rows, whole, own)


def _cut(batch: TextBatch, size: int) -> TextBatch:
    values = {key: [array.slice(0, size) for array in arrays] for key, arrays in batch.values.items()}
    return TextBatch(batch.first_row, batch.file, values)


def _told(source: Source, rows: int, whole: bool, columns: list[ColumnInfo]) -> FileInfo:
    rejects = source.findings.rejects
    first = [Rejected(r.line, r.reason, r.raw[:_SAMPLE_CHARACTERS]) for r in rejects[:EXAMPLES]]
    return FileInfo(
        source.name,
        source.format,
        source.path.stat().st_size,
        source.details,
        rows,
        len(rejects) if whole else None,
        first if whole else [],
        source.findings.warnings,
        columns,
    )


def _type(source: Source, column: Column) -> str:
    kind = source.schema.field(column.position).type
    return str(kind) if source.format == "parquet" else "text"


def _json_kinds(source: Source) -> dict[str, str]:
    """Which kinds of values each key has in the first lines, most frequent first."""
    counts: dict[str, dict[str, int]] = {}
    batch = next(source.batches(_KIND_LINES, lines=True), None)
    for line in batch.raw.to_pylist() if batch is not None and batch.raw is not None else ():
        for key, raw in read_object(line, Counter()).items():
            first = bytes(raw)[:1].decode()
            if first != "n":
                kind = _JSON_KINDS.get(first, "number")
                kinds = counts.setdefault(key, {})
                kinds[kind] = kinds.get(kind, 0) + 1
    return {key: "/".join(sorted(kinds, key=lambda k: -kinds[k])) for key, kinds in counts.items()}


def _keys(corpus: Corpus, seen: _Seen) -> tuple[KeyInfo, KeyInfo]:
    """Ids and urls, with the values of those that recur most: read again for these."""
    counts = {"id": seen.ids, "url": seen.urls}
    found = {role: counted.repeated() for role, counted in counts.items()}
    wanted = {role: [int(rows[0]) for rows in found[role][2]] for role in counts}
    values = _values_at(corpus, seen.roles, {role: rows for role, rows in wanted.items() if rows})
    infos = []
    for role, counted in counts.items():
        distinct, in_rows, groups = found[role]
        examples = [
            Repeated(values[role, int(rows[0])], len(rows), [int(row) + 1 for row in rows[:EXAMPLES]])
            for rows in groups
        ]
        infos.append(KeyInfo(counted.missing, counted.first_missing, distinct, in_rows, examples))
    return infos[0], infos[1]


def _values_at(
    corpus: Corpus, roles: Mapping[str, Sequence[Column]], wanted: Mapping[str, Sequence[int]]
) -> dict[tuple[str, int], str]:
    """The values of the roles in the rows asked for (from 0), by reading as far as the last of them."""
    left = {(role, row) for role, rows in wanted.items() for row in rows}
    found: dict[tuple[str, int], str] = {}
    if not left:
        return found
    for batch in corpus.texts({role: roles[role] for role in wanted}):
        begin = batch.first_row - 1
        here = {(role, row) for role, row in left if begin <= row < begin + batch.num_rows}
        found |= {(role, row): str(_one(role, batch.values[role])[row - begin]) for role, row in here}
        left -= here
        if not left:
            break
    return found


_LONG = re.compile(r"column (?P<column>'.*'): (?P<count>\d+) numbers have more than 15 digits")  # files/xlsx.py says it


def _long_numbers(files: Sequence[FileInfo]) -> list[Sign]:
    """Ids of workbooks that are number cells of more digits than Excel keeps."""
    found = [
        (int(match["count"]), column)
        for file in files
        for match in filter(None, map(_LONG.search, file.warnings))
        for column in file.columns
        if column.role == "id" and match["column"] == visible(column.name)
    ]
    if not found:
        return []
    words = "an id of more than 15 digits in a number cell: Excel keeps 15"
    return [Sign("long_ids", sum(count for count, _ in found), words, "export it again with the ids as text", None)]


def _late_keys(files: Sequence[FileInfo]) -> list[Sign]:
    """The keys of JSON that no row has before row 100 of its file."""
    late = [(f, c) for f in files if f.format == "jsonl" for c in f.columns if c.first_filled > LATE_ROW]
    if not late:
        return []
    file, column = late[0]
    before = sum(f.rows for f in files[: files.index(file)])
    place = Place(before + column.first_filled, file.file, column.first_filled, column.name, column.samples[0])
    todo = "nothing here; tools that infer columns from the first rows lose them"
    return [Sign("late_keys", len(late), f"no value before row {LATE_ROW + 1}", todo, place)]


def _many(files: Sequence[FileInfo], urls: KeyInfo, labels: Mapping[str, str]) -> list[Sign]:
    """The urls that too many rows have."""
    many = [example for example in urls.examples if example.count >= MANY_ROWS]
    if not many:
        return []
    first = many[0]
    place = Place(first.rows[0], *_in_file(files, first.rows[0]), labels["url"], first.value)
    return [Sign("same_url", first.count, "the same url", "another --url, if it is that of a site or a section", place)]


def _in_file(files: Sequence[FileInfo], row: int) -> tuple[str, int]:
    """The file of a row, and which of its rows that is; both counted from 1."""
    for file in files:
        if row <= file.rows:
            break
        row -= file.rows
    return file.file, row
