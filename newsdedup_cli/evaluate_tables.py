"""What a report found, and labels from a file, matched with its rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus
from newsdedup_cli.files.streams import checksum
from newsdedup_cli.tables import I64, Bools

CLUSTER_NAMES = ("cluster", "label", "cluster_id")
SAME_LABELS = ("1", "true", "yes", "same", "dup", "duplicate")
SKIPPED_LABELS = ("ambiguous", "grey", "unsure")
WANTED = "columns id (or row) and cluster, or id_a, id_b and label"


@dataclass(frozen=True)
class Labels:
    """How the labels of a file are to be read."""

    same: Collection[str] = SAME_LABELS  # labels of pairs that are one article
    skipped: Collection[str] = SKIPPED_LABELS  # labels that decide nothing
    kind: str | None = None  # column of kinds; None: `kind`, else of pairs `label`


@dataclass(frozen=True)
class RowTruth:
    """The true cluster of each compared row. Rows are positions in the report, from 0."""

    rows: I64  # [M], distinct
    cluster: I64  # [M] dense from 0
    kinds: list[str] | None
    undecided: int  # lines whose label decides nothing
    unknown: int  # decided lines whose row is not in the report


@dataclass(frozen=True)
class PairTruth:
    """Whether each labelled pair is one article. Rows are positions in the report, from 0."""

    a: I64
    b: I64
    same: Bools
    kinds: list[str] | None
    undecided: int
    unknown: int


@dataclass(frozen=True)
class Found:
    """What a run decided, by position."""

    similar_id: I64  # [N]
    kept: Bools  # [N]


class Report:
    """The tables of a report folder. Raises UserError where it is none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "rows.parquet").is_file():
            raise UserError(f"no rows.parquet in {folder}", wanted="the report folder of a run")
        self.rows = pq.read_table(folder / "rows.parquet")
        self.ids: pa.StringArray = self.rows["id"].combine_chunks()
        run = folder / "run.json"
        self.run: dict[str, Any] = json.loads(run.read_text("utf-8")) if run.is_file() else {}
        self.found = Found(self._numbers("similar_id"), self.rows["kept"].to_numpy())

    def unchanged_inputs(self) -> list[str]:
        """The inputs of the run, if all are still what they were."""
        inputs = self.run.get("inputs", [])
        paths = [Path(item["path"]) for item in inputs]
        if not all(path.is_file() for path in paths):
            return []
        same = all(checksum(path)[0] == item["sha256"] for path, item in zip(paths, inputs, strict=True))
        return [str(path) for path in paths] if same else []

    def _numbers(self, name: str) -> I64:
        values: I64 = self.rows[name].to_numpy()
        return values

    def candidates(self) -> pa.Table:
        """The pairs left for a person; empty where the folder has none."""
        path = self.folder / "candidates.parquet"
        names = ["row_a", "row_b", "reason", "score"]
        if not path.is_file():
            return pa.table({name: [] for name in names})
        return pq.read_table(path, columns=names)


def read_truth(path: Path, ids: pa.StringArray, labels: Labels) -> RowTruth | PairTruth:
    """The labels of a CSV, JSONL, Parquet or XLSX file; `ids` has the id of each row of the report.

    Raises UserError where the file has neither of the two forms, or names rows ambiguously.
    """
    table = _read(path)
    if not table or not len(next(iter(table.values()))):
        raise UserError(f"{path} has no labels", wanted=WANTED)
    kind = labels.kind or ("kind" if "kind" in table else None)
    if labels.kind and labels.kind not in table:
        raise UserError(f"no column {visible(labels.kind)} in {path}", wanted=f"one of {', '.join(table)}")
    for key in ("id", "row"):
        if {f"{key}_a", f"{key}_b", "label"} <= table.keys():
            return _pairs(table, key, kind or "label", ids, labels)
    key = "row" if "row" in table and "id" not in table else "id"
    label = next((name for name in CLUSTER_NAMES if name in table), None)
    if key not in table or label is None:
        raise UserError(f"{path} has the columns {', '.join(table)}", wanted=WANTED)
    return _rows(table, key, label, kind, ids, labels, path)


def _read(path: Path) -> dict[str, pa.LargeStringArray]:
    """The columns as text, what is missing as empty text."""
    corpus = open_corpus([str(path)], ReadOptions())
    corpus.complete()
    columns = {column.name: [column] for column in corpus.columns}
    parts: dict[str, list[pa.LargeStringArray]] = {name: [] for name in columns}
    for batch in corpus.texts(columns):
        for name, arrays in batch.values.items():
            parts[name].append(arrays[0].fill_null(""))
    return {name: pa.concat_arrays(arrays) for name, arrays in parts.items() if arrays}


def _rows(
    table: Mapping[str, pa.LargeStringArray],
    key: str,
    label: str,
    kind: str | None,
    ids: pa.StringArray,
    labels: Labels,
    path: Path,
) -> RowTruth:
    decided = _decided(table[label], labels.skipped)
    places = _positions(table[key], key, ids, decided)
    chosen = np.flatnonzero(decided & (places >= 0))
    if len(np.unique(places[chosen])) < len(chosen):
        raise UserError(f"{path} repeats a value of {key}", wanted="one line a row")
    cluster = table[label].take(pa.array(chosen)).dictionary_encode().indices.to_numpy().astype(np.int64)
    return RowTruth(places[chosen], cluster, _kinds(table, kind, chosen), *_left_out(decided, chosen))


def _pairs(
    table: Mapping[str, pa.LargeStringArray], key: str, kind: str, ids: pa.StringArray, labels: Labels
) -> PairTruth:
    decided = _decided(table["label"], labels.skipped)
    a, b = (_positions(table[f"{key}_{end}"], key, ids, decided) for end in "ab")
    chosen = np.flatnonzero(decided & (a >= 0) & (b >= 0))
    same = _is_in(table["label"], labels.same)[chosen]
    kinds = _kinds(table, kind, chosen)
    return PairTruth(a[chosen], b[chosen], same, kinds, *_left_out(decided, chosen))


def _decided(label: pa.LargeStringArray, skipped: Collection[str]) -> Bools:
    return ~_is_in(label, [*skipped, ""])


def _is_in(label: pa.LargeStringArray, names: Collection[str]) -> Bools:
    """Which labels are among the names, whatever their case."""
    wanted = pa.array(sorted({name.lower() for name in names}), pa.large_string())
    found: Bools = pc.is_in(pc.utf8_lower(label), value_set=wanted).to_numpy(zero_copy_only=False)
    return found


def _positions(names: pa.LargeStringArray, key: str, ids: pa.StringArray, decided: Bools) -> I64:
    """The report's row, from 0, of each name; -1 where it has none."""
    known = ids.cast(pa.large_string()) if key == "id" else _numbers(len(ids))
    found: I64 = pc.index_in(names, value_set=known).fill_null(-1).to_numpy().astype(np.int64)
    if key == "id":
        first = pc.index_in(known, value_set=known).to_numpy(zero_copy_only=False)
        twice = np.intersect1d(found[decided], first[first != np.arange(len(first))])
        if len(twice):
            name = visible(known[int(twice[0])].as_py() or "")
            raise UserError(f"several rows of the report have the id {name}", wanted="labels by row number: row")
    return found


def _numbers(rows: int) -> pa.LargeStringArray:
    return pa.array(np.arange(1, rows + 1)).cast(pa.large_string())


def _kinds(table: Mapping[str, pa.LargeStringArray], kind: str | None, chosen: I64) -> list[str] | None:
    return None if kind is None else table[kind].take(pa.array(chosen)).to_pylist()


def _left_out(decided: Bools, chosen: I64) -> tuple[int, int]:
    count = int(decided.sum())
    return len(decided) - count, count - len(chosen)
