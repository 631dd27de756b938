"""The doubtful pairs of a report side by side, for a person to decide about: what the sheets of a review hold.

Two lists: `candidates`, pairs that were not merged, the most likely copies first, and `merged`, removed rows beside
the row that was kept for them, the least alike first. Pairs that one decision may settle make a group: those between
the same two clusters, those of one kept row, and families of texts that differ in their numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from newsdedup_cli import decisions
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.kernels import join, text
from newsdedup_cli.report.marked import Part, difference, shortened
from newsdedup_cli.scan import comparable, joined, read_hashes
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import I64
from newsdedup_cli.texts import buffers

MOST_PAIRS = 10_000  # lines of a list: more than a person reads
MERGED = 200  # merges that are listed, unless more are asked for
FAMILY = 4  # clusters that differ in their numbers only, from which they are a family
SHOWN = ("title", "source", "date", "url")
FIGURES = ("distance", "shared_sentences", "containment")


@dataclass
class Line:
    """A pair as a person sees it."""

    sheet: str  # candidates or merged
    group: str
    line: int  # from 1 within the group
    settles: int  # how many lines the group has
    decision: str
    reason: str
    score: float
    text_a: list[Part]  # with what the other has not marked as `first`
    text_b: list[Part]  # ... as `second`
    values: dict[str, Any] = field(default_factory=dict)  # all other columns


@dataclass
class Review:
    """All that is to be looked at, and how many pairs were left out of each list."""

    lines: list[Line]
    left_out: dict[str, int]

    def of(self, name: str) -> list[Line]:
        """The lines of one list."""
        return [line for line in self.lines if line.sheet == name]


@dataclass(frozen=True)
class Report:
    """The tables of a report."""

    rows: pa.Table
    candidates: pa.Table
    decided: pa.Table  # what the run obeyed


def read_report(folder: Path) -> Report:
    """The tables of the report in a folder. Raises UserError where it is none."""
    try:
        rows, pairs = (pq.read_table(folder / name) for name in ("rows.parquet", "candidates.parquet"))
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"{folder} is no whole report of newsdedup: {error}", wanted="the folder of a run") from None
    stored = folder / decisions.NAME
    return Report(rows, pairs, decisions.load(stored) if stored.is_file() else decisions.nothing())


def review(
    report: Report, corpus: Corpus, columns: Mapping[str, Sequence[Column]], matching: Matching, merged: int = MERGED
) -> Review:
    """The pairs of a report with their texts, which are read again from the corpus."""
    inputs = {source.name for source in corpus.sources}
    pairs = _candidates(report) + _merged(report, merged)
    ends = [(pair, side) for pair in pairs for side in "ab"]
    wanted = np.unique([pair[f"row_{side}"] for pair, side in ends if _is_in(pair, side, inputs)]).astype(np.int64)
    texts = read_texts(corpus, columns, matching, wanted)
    known = {decisions._pair(line) for line in report.decided.to_pylist()}
    lines: list[Line] = []
    left_out = {name: len(_of(pairs, name)) - MOST_PAIRS for name in decisions.SHEETS}
    number = 0
    for name in decisions.SHEETS:
        some = [pair | texts.keys(pair, inputs) for pair in _of(pairs, name)[:MOST_PAIRS]]
        if name == "merged":
            some = [pair for pair in some if decisions._pair(pair) not in known]
        for group in _groups(some, report, inputs):
            number += 1
            lines += _lines(group, number, texts, inputs)
    return Review(lines, {name: n for name, n in left_out.items() if n > 0})


def _is_in(pair: Mapping[str, Any], side: str, inputs: set[str]) -> bool:
    """Whether a side is a row of the inputs; else it is one of the history, whose text is not at hand."""
    return pair.get(f"file_{side}") is None or pair[f"file_{side}"] in inputs


def _of(pairs: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [pair for pair in pairs if pair["sheet"] == name]


def _candidates(report: Report) -> list[dict[str, Any]]:
    """The pairs that were not merged: as the report has them, what is decided already at the end."""
    pairs = [{**pair, "sheet": "candidates"} for pair in report.candidates.to_pylist()]
    return sorted(pairs, key=lambda pair: pair["decision"] is not None)


def _merged(report: Report, most: int) -> list[dict[str, Any]]:
    """The removed rows of lowest score beside the rows that stayed; equal texts are no matter of doubt."""
    rows = report.rows
    reason = rows["reason"].to_numpy(zero_copy_only=False)
    near = np.flatnonzero(np.isin(reason, ["simhash", "sentence", "semantic"]))
    score = rows["score"].fill_null(1).to_numpy(zero_copy_only=False)[near]
    some = near[np.lexsort((near, score))][:most]
    return [
        {
            "sheet": "merged", "row_a": line["row"], "id_a": line["id"], "row_b": line["kept_row"],
            "id_b": line["kept_id"], "decision": None, "containment": None, "file_b": line.get("kept_file"),
            **{name: line[name] for name in ("reason", "score", "distance", "shared_sentences")},
        }
        for line in rows.take(pa.array(some)).to_pylist()
    ]  # fmt: skip


def _groups(pairs: list[dict[str, Any]], report: Report, inputs: set[str]) -> list[list[dict[str, Any]]]:
    """The pairs by group, in the order of each group's first."""
    if not pairs:
        return []
    cluster = report.rows["similar_id"].to_numpy()
    elsewhere: dict[tuple[str, int], int] = {}

    def cluster_of(pair: Mapping[str, Any], side: str) -> int:
        row = int(pair[f"row_{side}"])
        if _is_in(pair, side, inputs):
            return int(cluster[row - 1])
        return elsewhere.setdefault((pair[f"file_{side}"], row), -1 - len(elsewhere))

    ends = np.array([[cluster_of(pair, side) for side in "ab"] for pair in pairs])
    family = _families(ends, np.array([pair["reason"] == "numbers_differ" for pair in pairs]))
    groups: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for pair, (a, b), of in zip(pairs, ends.tolist(), family.tolist(), strict=True):
        key = ("family", of, 0) if of >= 0 else (pair["sheet"], min(a, b), max(a, b))
        pair["family"] = of >= 0
        groups.setdefault(key, []).append(pair)
    return list(groups.values())


def _families(ends: I64, numbers: npt.NDArray[np.bool_]) -> I64:
    """For each pair of clusters ends i8[P,2] that differs in numbers the family that it is in, -1 for none."""
    found = np.full(len(ends), -1)
    names, places = np.unique(ends, return_inverse=True)
    places = places.reshape(ends.shape)
    some = places[numbers]
    label = join.components(len(names), some[:, 0].copy(), some[:, 1].copy())
    sizes = np.bincount(label, minlength=len(names))
    large = numbers & (sizes[label[places[:, 0]]] >= FAMILY)
    found[large] = label[places[large, 0]]
    return found


def _lines(group: list[dict[str, Any]], number: int, texts: Texts, inputs: set[str]) -> list[Line]:
    name = f"{decisions.FAMILY} {number}" if group[0]["family"] else str(number)
    made = []
    for at, pair in enumerate(group, 1):
        a, b = (
            texts.of(pair[f"row_{side}"]) if _is_in(pair, side, inputs) else _elsewhere(pair, side) for side in "ab"
        )
        parts = shortened(difference(a["compared"], b["compared"]))
        values = {f"{role}_{side}": one[role] for role in SHOWN for side, one in (("a", a), ("b", b))}
        values |= {key: pair[key] for key in (*FIGURES, "row_a", "id_a", "row_b", "id_b", "key_a", "key_b")}
        first, second = ([part for part in parts if part.kind != other] for other in ("second", "first"))
        score = round(float(pair["score"]), 4)
        decision = pair["decision"] or ""
        made.append(Line(pair["sheet"], name, at, len(group), decision, pair["reason"], score, first, second, values))
    return made


def _elsewhere(pair: Mapping[str, Any], side: str) -> dict[str, str]:
    """What there is to show of a row of the history."""
    place = f"(history: {pair[f'file_{side}']}, row {pair[f'row_{side}']})"
    return {**dict.fromkeys(SHOWN, ""), "title": place, "compared": ""}


@dataclass(frozen=True)
class Texts:
    """Some rows of a corpus as they came in, with the text that is compared and the key of each."""

    place: dict[int, int]  # row, from 1 -> place in the lists
    values: dict[str, list[str]]

    def of(self, row: int) -> dict[str, str]:
        """The values of a row."""
        at = self.place[row]
        return {name: values[at] for name, values in self.values.items()}

    def keys(self, pair: Mapping[str, Any], inputs: set[str]) -> dict[str, str]:
        """The keys of both rows of a pair; without one of them the pair is known by its ids."""
        found = {
            f"key_{side}": self.values["key"][self.place[pair[f"row_{side}"]]]
            if _is_in(pair, side, inputs)
            else pair.get(f"key_{side}") or ""
            for side in "ab"
        }
        return found if all(found.values()) else dict.fromkeys(found, "")


def read_texts(corpus: Corpus, columns: Mapping[str, Sequence[Column]], matching: Matching, rows: I64) -> Texts:
    """The values of some rows (numbers from 1, ascending): one pass over the input, up to the last of them."""
    table = read_rows(corpus, columns, rows)
    compared = comparable(table["text"], table["title"], matching)
    content = text.evidence(*buffers(compared), 1, 1, 1)[0]
    keys = decisions.keys_of(content, read_hashes(table["title"], table["text"]))
    values = {name: array.fill_null("").to_pylist() for name, array in table.items()}
    values |= {"compared": compared.to_pylist(), "key": keys.to_pylist()}
    return Texts({row: at for at, row in enumerate(rows.tolist())}, values)


def read_rows(corpus: Corpus, columns: Mapping[str, Sequence[Column]], rows: I64) -> dict[str, pa.LargeStringArray]:
    """The columns of each role for some rows (numbers from 1, ascending), null where there is none."""
    roles = ("id", "text", *SHOWN)
    parts: dict[str, list[pa.LargeStringArray]] = {role: [] for role in roles}
    for batch in corpus.texts(columns):
        begin, end = np.searchsorted(rows, [batch.first_row, batch.first_row + batch.num_rows])
        at = pa.array(rows[begin:end] - batch.first_row)
        for role in roles:
            arrays = batch.values.get(role) or [pa.nulls(batch.num_rows, pa.large_string())]
            parts[role].append(_one([array.take(at) for array in arrays], role))
        if end == len(rows):
            break
    nothing = pa.array([], pa.large_string())
    return {role: pa.concat_arrays(arrays) if arrays else nothing for role, arrays in parts.items()}


def _one(arrays: Sequence[pa.LargeStringArray], role: str) -> pa.LargeStringArray:
    import pyarrow.compute as pc

    return joined(arrays) if role == "text" else pc.coalesce(*arrays)
