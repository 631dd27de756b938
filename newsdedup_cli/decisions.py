"""What people decided about pairs: `same` merges, `different` never merges again.

A decision is kept by content, so that it holds for other files and later days: each side by a key of two parts, the
digest of the cleaned text and a hash of title and text as they were read. Either part is enough to know a side again,
so a decision outlives new ids, another row order, another file format, and new cleaning rules. What it does not
outlive is a change to both: a text that was rewritten under cleaning rules that changed too.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files import format_of
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import Corpus, open_corpus
from newsdedup_cli.tables import DECISIONS, U64

SCHEMA = pa.schema([(name, pa.string()) for name in ("key_a", "id_a", "key_b", "id_b", "decision")])
SAME, DIFFERENT = DECISIONS[1:]
SHEETS = ("candidates", "merged")  # of a workbook that `review` wrote
FAMILY = "family"  # how the number of a group begins in which `same` holds for one line only
NAME = "decisions.parquet"  # in a report and in an index
WORDS = {
    **dict.fromkeys(("same", "s", "相同", "同", "一样", "重复", "同一篇", "合并"), SAME),
    **dict.fromkeys(("different", "d", "不同", "不一样", "不重复", "异", "保留"), DIFFERENT),
}
_KNOWN = ("decision", "key_a", "key_b", "id_a", "id_b", "group", "line")


def nothing() -> pa.Table:
    """No decisions: an empty table of SCHEMA."""
    return SCHEMA.empty_table()


def key_of(content: U64, as_read: int) -> str:
    """The key of a text: its digest u8[2] and the hash of title and text as they were read.

    >>> key_of(np.array([1, 2], np.uint64), 3)
    '00000000000000010000000000000002-0000000000000003'
    """
    return f"{int(content[0]):016x}{int(content[1]):016x}-{int(as_read):016x}"


def keys_of(content: U64, as_read: U64) -> pa.StringArray:
    """`key_of` of each of the rows content u8[N,2], as_read u8[N]; null where both are 0: not known."""
    known = content.any(axis=1) | (as_read != 0)
    keys = zip(content, as_read.tolist(), known.tolist(), strict=True)
    return pa.array([key_of(c, r) if there else None for c, r, there in keys], pa.string())


def parse_key(key: str) -> tuple[int, int, int] | None:
    """The three numbers of a key, None for what is no key.

    >>> parse_key("00000000000000010000000000000002-0000000000000003")
    (1, 2, 3)
    >>> parse_key("000123") is None
    True
    """
    digest, dash, read = key.strip().partition("-")
    if not dash or len(digest) != 32 or len(read) != 16:
        return None
    try:
        return int(digest[:16], 16), int(digest[16:], 16), int(read, 16)
    except ValueError:
        return None


def word(value: str) -> str | None:
    """`same`, `different`, "" for a blank; None for anything else.

    >>> [word(v) for v in (" SAME ", "不同", "　", "perhaps")]
    ['same', 'different', '', None]
    """
    plain = unicodedata.normalize("NFKC", value).strip().casefold()
    return WORDS.get(plain) if plain else ""


def load(path: Path) -> pa.Table:
    """The decisions of a file, a table of SCHEMA without blank lines; "" where a key or an id is not known.

    Reads what `review` wrote once it is filled in (workbook, CSV, JSONL, Parquet), a reviewed candidates.parquet or
    report.xlsx, and a report or index folder. Raises UserError where no decision can be read from it.
    """
    if path.is_dir():
        path = next((path / name for name in (NAME, "candidates.parquet") if (path / name).is_file()), path / NAME)
    if not path.is_file():
        raise UserError(f"no decisions at {path}", wanted="a file that `newsdedup review` wrote, filled in")
    lines = [line for sheet in _sheets(path) for line in _lines(path, sheet)]
    made = [(line["key_a"], line["id_a"], line["key_b"], line["id_b"], line["decision"]) for line in lines]
    columns = list(zip(*made, strict=True)) if made else [()] * len(SCHEMA)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)


def load_all(paths: Sequence[Path]) -> pa.Table:
    """The decisions of several files, the later ones winning."""
    found = nothing()
    for path in paths:
        found = merge(found, load(path))
    return found


def merge(old: pa.Table, new: pa.Table) -> pa.Table:
    """Both tables; where both decide one pair the new one holds. A pair twice within `new` stays twice."""
    decided = {_pair(line) for line in new.to_pylist()}
    stays = [_pair(line) not in decided for line in old.to_pylist()]
    return pa.concat_tables([old.filter(pa.array(stays, pa.bool_())), new])


def without_contradictions(table: pa.Table) -> pa.Table:
    """Each pair once; of `same` and `different` for one pair the latter, which is the safe one."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for line in table.to_pylist():
        pair = _pair(line)
        if pair not in found or line["decision"] == DIFFERENT:
            found[pair] = line
    return pa.Table.from_pylist(list(found.values()), SCHEMA)


def save(table: pa.Table, path: Path) -> None:
    """Write the decisions as Parquet, whole or not at all; `load` reads them back."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        pq.write_table(table, beside, compression="zstd")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def stored(folder: Path) -> pa.Table | None:
    """The decisions of an index, None where it has none."""
    return load(folder / NAME) if (folder / NAME).is_file() else None


def remember(folder: Path, paths: Sequence[Path]) -> None:
    """Add the decisions of files to those of an index, which they win over."""
    old = stored(folder)
    save(merge(nothing() if old is None else old, load_all(paths)), folder / NAME)


def _pair(line: dict[str, str]) -> tuple[str, str]:
    """The two texts of a decision in one order: their keys, or their ids where a key is not known."""
    a, b = (line[f"key_{side}"] or f"id:{line[f'id_{side}']}" for side in "ab")
    return (a, b) if a <= b else (b, a)


def _sheets(path: Path) -> list[str | None]:
    """The sheets to be read: those that `review` wrote, else the first; None for other formats."""
    if format_of(path) != "xlsx":
        return [None]
    from contextlib import closing

    from newsdedup_cli.files.workbook import ERRORS, Workbook, check_kind, damaged

    check_kind(path, path.name)
    try:
        with closing(Workbook(path)) as book:
            names = [sheet.name for sheet in book.sheets]
    except ERRORS as error:
        raise damaged(path.name, error) from None
    ours: list[str | None] = [name for name in SHEETS if name in names]
    return ours or [None]


def _lines(path: Path, sheet: str | None) -> list[dict[str, str]]:
    """The decided lines of a table, what is decided for a whole group spread over its lines."""
    corpus = open_corpus([str(path)], ReadOptions(sheet=sheet, wanted=("decision",) if sheet else ()))
    corpus.complete()
    place = path.name if sheet is None else f"{path.name}, sheet {sheet}"
    lines = list(_read(corpus, place))
    first = {line["group"]: line["decision"] for line in lines if line["group"] and line["line"] == "1"}
    for line in lines:
        given = first.get(line["group"], "")
        if not line["decision"] and not (given == SAME and line["group"].startswith(FAMILY)):
            line["decision"] = given
    return [line for line in lines if line["decision"]]


def _read(corpus: Corpus, place: str) -> Iterator[dict[str, str]]:
    """Each line with its decision as a word of ours; those that decide about nothing are left out."""
    columns = {_plain(column.name): column for column in corpus.columns}
    if "decision" not in columns:
        if not corpus.columns:
            return
        raise UserError(f"{place} has no column `decision`", wanted="the columns that `newsdedup review` wrote")
    if not ({"key_a", "key_b"} <= columns.keys() or {"id_a", "id_b"} <= columns.keys()):
        raise UserError(
            f"{place} does not tell whose decisions these are: it lacks key_a and key_b, also id_a and id_b",
            wanted="the columns that `newsdedup review` wrote; the last two are hidden",
        )
    known = {name: [columns[name]] for name in _KNOWN if name in columns}
    for batch in corpus.texts(known):
        values = {name: arrays[0].fill_null("").to_pylist() for name, arrays in batch.values.items()}
        for at in range(batch.num_rows):
            line = {name: (values[name][at] if name in values else "").strip() for name in _KNOWN}
            told = word(line["decision"])
            if told is None:
                raise UserError(
                    f"{place}, line {batch.first_row + at + 1}: decision {visible(line['decision'])}",
                    wanted="same (相同), different (不同), or nothing",
                )
            has_keys = parse_key(line["key_a"]) and parse_key(line["key_b"])
            if not has_keys:
                line["key_a"] = line["key_b"] = ""
            if has_keys or (line["id_a"] and line["id_b"]):
                yield line | {"decision": told, "line": line["line"].removesuffix(".0")}
            elif told:
                raise UserError(
                    f"{place}, line {batch.first_row + at + 1}: `{told}`, but of which rows? The cells of its keys "
                    "and of its ids are empty",
                    wanted="the line as `newsdedup review` wrote it",
                )


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


@dataclass(frozen=True)
class Sides:
    """The rows of a corpus that each decision is about, as positions."""

    decision: list[str]
    first: list[list[int]]
    second: list[list[int]]
    one_text: list[bool]  # both sides have one cleaned text: only what was read tells them apart
    by_id: list[bool]  # found by ids, so that even rows alike in everything are told apart
    by_read_only: int  # decisions of which a side is known only by its text as read


def sides(table: pa.Table, content: U64, as_read: U64, ids: pa.LargeStringArray, usable: pa.BooleanArray) -> Sides:
    """Find the rows of each decision among rows content u8[N,2], as_read u8[N] that are `usable`.

    Decisions without keys are found by ids, where an id names one row.
    """
    lines = table.to_pylist()
    keys = [(parse_key(line["key_a"]), parse_key(line["key_b"])) for line in lines]
    flat = [key for pair in keys for key in pair if key]
    wanted = np.array([key[0] for key in flat], np.uint64), np.array([key[2] for key in flat], np.uint64)
    near = np.isin(content[:, 0], wanted[0][wanted[0] != 0]) | np.isin(as_read, wanted[1][wanted[1] != 0])
    by_text: dict[tuple[int, int], list[int]] = {}
    by_read: dict[int, list[int]] = {}
    for row in np.flatnonzero(near & usable.to_numpy(zero_copy_only=False)).tolist():
        if content[row].any():
            by_text.setdefault((int(content[row, 0]), int(content[row, 1])), []).append(row)
        if as_read[row]:
            by_read.setdefault(int(as_read[row]), []).append(row)
    named = _by_id([line[side] for line, pair in zip(lines, keys, strict=True) if not pair[0] for side in _IDS], ids)
    found = Sides([line["decision"] for line in lines], [], [], [], [], 0)
    by_read_only = 0
    for line, (a, b) in zip(lines, keys, strict=True):
        if a is None or b is None:
            rows = [named.get(line[side], []) for side in _IDS]
            one_text = bool(rows[0] and rows[1] and (content[rows[0][0]] == content[rows[1][0]]).all())
        else:
            one_text = a[:2] == b[:2]
            rows = [[] if one_text else by_text.get(key[:2], []) for key in (a, b)]
            read = [by_read.get(key[2], []) for key in (a, b)]
            by_read_only += any(r and not t for t, r in zip(rows, read, strict=True)) and not one_text
            rows = [sorted({*t, *r}) for t, r in zip(rows, read, strict=True)]
        found.first.append(rows[0])
        found.second.append(rows[1])
        found.one_text.append(one_text)
        found.by_id.append(a is None)
    return Sides(found.decision, found.first, found.second, found.one_text, found.by_id, by_read_only)


_IDS = ("id_a", "id_b")


def _by_id(wanted: Sequence[str], ids: pa.LargeStringArray) -> dict[str, list[int]]:
    """The row of each id that names exactly one."""
    if not wanted:
        return {}
    rows: dict[str, list[int]] = {}
    hits = pc.indices_nonzero(pc.is_in(ids, value_set=pa.array(sorted(set(wanted)), pa.large_string())))
    for row in hits.to_pylist():
        rows.setdefault(ids[row].as_py(), []).append(row)
    return {name: found for name, found in rows.items() if len(found) == 1}
