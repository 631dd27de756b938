"""Decisions put into effect in OUT and its report, without a full run.

Only clusters that a decision touches are decided anew, from their own rows: what verified before still does, what a
person says holds, and the row that was kept stays kept where it can. No boilerplate is learnt from so few rows, and
other clusters are left as they are; a full run with --decisions may regroup more. The rows themselves come from the
inputs, which must be as they were, so that what is put back is byte for byte what would have been kept.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import decisions, pipeline, review, review_report
from newsdedup_cli.cluster import dense
from newsdedup_cli.errors import UserError
from newsdedup_cli.files import format_of
from newsdedup_cli.files.base import ReadOptions, WriteOptions
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.files.memory import MemorySource
from newsdedup_cli.files.streams import checksum
from newsdedup_cli.kernels import text
from newsdedup_cli.obeyed import unmatched
from newsdedup_cli.outputs import copy_rows, placed
from newsdedup_cli.scan import ROLES, comparable, joined, read_hashes
from newsdedup_cli.settings import Matching, Settings
from newsdedup_cli.tables import ALONE, I64, REASONS, ROWS_SCHEMA, U64, Bools, Outcome
from newsdedup_cli.task import Job
from newsdedup_cli.texts import buffers


@dataclass
class Applied:
    """What was put into effect."""

    restored: list[str]  # ids of rows that are in OUT again
    removed: list[str]  # ids of rows that are no longer in OUT
    counts: dict[str, int]
    told: list[str]
    out: Path
    report: Path

    def summary(self) -> str:
        """A few lines for a person."""
        some = ", ".join(self.restored[:5]) + (" …" if len(self.restored) > 5 else "")
        lines = [
            f"decisions  {self.counts['used']:,} used of {self.counts['given']:,}",
            f"restored   {len(self.restored):,} rows" + (f": {some}" if some else ""),
            f"removed    {len(self.removed):,} rows",
            f"out        {_shown(self.out)}",
            f"report     {self.report}/",
        ]
        return "\n".join([*(f"warning: {line}" for line in self.told), *lines])


def _shown(path: Path) -> Path:
    """A path as one would type it here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@dataclass
class State:
    """The decision of a run, row by row: positions from 0, arrays of length N."""

    kept_row: I64
    columns: dict[str, list[Any]]  # reason, distance, shared_sentences, score
    similar_id: I64
    names: pa.Array
    files: pa.Array
    changed: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, rows: pa.Table) -> State:
        """From rows.parquet."""
        here = np.arange(rows.num_rows)
        kept = rows["kept_row"].fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) - 1
        columns = {name: rows[name].to_pylist() for name in ("reason", "distance", "shared_sentences", "score")}
        whole = (rows[name].combine_chunks() for name in ("id", "file"))
        return cls(np.where(kept < 0, here, kept), columns, rows["similar_id"].to_numpy().copy(), *whole)

    def kept(self) -> Bools:
        """Which rows stay."""
        found: Bools = self.kept_row == np.arange(len(self.kept_row))
        return found

    def splice(self, some: I64, outcome: Outcome) -> None:
        """Take over what was decided anew of the rows `some`; where the kept row is the same nothing changes."""
        clusters = outcome.clusters
        new = some[clusters.kept_row]
        for at in np.flatnonzero(new != self.kept_row[some]).tolist():
            row = int(some[at])
            self.kept_row[row] = new[at]
            self.changed.append(row)
            for values in self.columns.values():
                values[row] = None
            self.columns["reason"][row] = ""
        link = clusters.link
        changed = set(self.changed)
        for i, at in enumerate(link.a.tolist()):
            row = int(some[at])
            if row in changed:
                self.columns["reason"][row] = REASONS[outcome.reason[i]]
                for name in ("distance", "shared_sentences", "score"):
                    self.columns[name][row] = getattr(link, name)[i].item()
        self.similar_id = dense(self.kept_row)

    def table(self) -> pa.Table:
        """rows.parquet."""
        kept = self.kept()
        size = np.bincount(self.similar_id, minlength=1)[self.similar_id]
        made = {
            "row": np.arange(1, len(kept) + 1), "file": self.files, "id": self.names,
            "similar_id": self.similar_id, "size": size, "kept": kept,
            "kept_row": pa.array(self.kept_row + 1, mask=kept),
            "kept_id": self.names.take(pa.array(self.kept_row, mask=kept)),
            **{name: pa.array(values, ROWS_SCHEMA.field(name).type) for name, values in self.columns.items()},
        }  # fmt: skip
        return pa.table([made[name] for name in ROWS_SCHEMA.names], schema=ROWS_SCHEMA)


def apply(
    folder: Path, files: Sequence[Path], question: Mapping[str, Any], settings: Settings, overwrite: bool = False
) -> Applied:
    """Obey the decisions of the files, else those filled in in REPORT/candidates.parquet, in OUT and the report.

    `question` has the corpus of that run, its columns, threads, limit and tmpdir. Raises UserError where OUT is not
    as the run left it.
    """
    run = json.loads((folder / "run.json").read_text("utf-8"))
    if run.get("history"):
        raise UserError(f"the run of {folder} was compared with a history", todo="newsdedup run ... --decisions FILE")
    out = _check_out(run, folder, overwrite)
    decided = decisions.load_all(files) if files else decisions.load(folder / "candidates.parquet")
    report = review.read_report(folder)
    corpus, columns = question["corpus"], question["columns"]
    sides = _find(decided, report, corpus, columns, settings.matching)
    state = State.of(report.rows)
    before = state.kept()
    some = _touched(sides, state.similar_id)
    told: list[str] = []
    counts = {"given": len(sides.decision), "used": 0, "unused": len(sides.decision)}
    if len(some):
        outcome = _decide(some, state, decided, question, settings)
        state.splice(some, outcome)
        told = outcome.warnings
    counts["used"] = sum(bool(a and b) for a, b in zip(sides.first, sides.second, strict=True))
    counts["unused"] = counts["given"] - counts["used"]
    told = [*told, *unmatched(counts)]
    after = state.kept()
    names = state.names
    applied = Applied(
        names.filter(pa.array(after & ~before)).to_pylist(),
        names.filter(pa.array(before & ~after)).to_pylist(),
        counts, told, out, folder,
    )  # fmt: skip
    _write(folder, report, state, sides, decided, run, applied, question, settings)
    return applied


def _check_out(run: Mapping[str, Any], folder: Path, overwrite: bool) -> Path:
    if not run.get("out"):
        raise UserError(f"the run of {folder} wrote to no file", todo="newsdedup run ... --decisions FILE")
    out = Path(run["out"])
    if not out.parent.is_dir():
        raise UserError(f"{out.parent}, the folder of OUT, is no longer there", todo="running it again")
    if out.exists() and not overwrite and checksum(out)[0] != run.get("out_sha256"):
        raise UserError(
            f"{out} has changed since the run of {folder}: what was changed would be lost",
            todo="--overwrite, or running it again with --decisions",
        )
    return out


def _find(
    decided: pa.Table,
    report: review.Report,
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    matching: Matching,
) -> decisions.Sides:
    """The rows of the decisions; texts are cleaned only where what was read does not tell."""
    usable = pa.array(~np.isin(report.rows["reason"].to_numpy(zero_copy_only=False), ALONE[1:]))
    ids = report.rows["id"].combine_chunks().cast(pa.large_string())
    for cleaning in (False, True):
        content, as_read = _keys(corpus, columns, matching, len(ids), cleaning)
        sides = decisions.sides(decided, content, as_read, ids, usable)
        if all(a and b for a, b in zip(sides.first, sides.second, strict=True)):
            break
    return sides


def _keys(
    corpus: Corpus, columns: Mapping[str, Sequence[Column]], matching: Matching, rows: int, cleaning: bool
) -> tuple[U64, U64]:
    """content u8[N,2] (zeros without cleaning) and as_read u8[N] of all rows: one pass over the input."""
    content, as_read = np.zeros((rows, 2), np.uint64), np.zeros(rows, np.uint64)
    wanted = {role: columns[role] for role in ("title", "text") if role in columns}
    for batch in corpus.texts(wanted):
        first = batch.first_row - 1
        size = min(batch.num_rows, rows - first)
        if size <= 0:
            break
        nothing = [pa.nulls(batch.num_rows, pa.large_string())]
        title, body = (joined(batch.values.get(role) or nothing).slice(0, size) for role in ("title", "text"))
        as_read[first : first + size] = read_hashes(title, body)
        if cleaning:
            compared = comparable(body, title, matching)
            content[first : first + size] = text.evidence(*buffers(compared), 1, 1, 1)[0]
    return content, as_read


def _touched(sides: decisions.Sides, similar_id: I64) -> I64:
    """The rows of all clusters in which a decision changes something."""
    clusters: set[int] = set()
    for told, first, second in zip(sides.decision, sides.first, sides.second, strict=True):
        a, b = set(similar_id[first].tolist()), set(similar_id[second].tolist())
        clusters |= (a & b) if told == decisions.DIFFERENT else (a | b if a and b and len(a | b) > 1 else set())
    return np.flatnonzero(np.isin(similar_id, sorted(clusters)))


class _Part(pipeline.Run):
    """Some clusters decided anew: what was merged still verifies, and the kept rows come first."""

    links: tuple[I64, I64]
    was_kept: Bools

    def _ranks(self) -> I64:
        by_rule = super()._ranks()
        rank = np.empty(len(by_rule), np.int64)
        rank[np.lexsort((by_rule, ~self.was_kept))] = np.arange(len(by_rule))
        return rank

    def prepare(self) -> list[tuple[str, int]]:
        """As for any run, and the links of the run before are pairs that verified."""
        listed = super().prepare()
        a, b = (self.representative[ends] for ends in self.links)
        self.obeyed = self.obeyed.with_same(a[a != b], b[a != b])
        self.add_decided()
        return listed


def _decide(some: I64, state: State, decided: pa.Table, question: Mapping[str, Any], settings: Settings) -> Outcome:
    """The rows `some` (positions) decided anew."""
    values = _rows(question["corpus"], question["columns"], some)
    table = pa.table({**values, "id": state.names.take(pa.array(some))})
    corpus = Corpus([MemorySource(table)])
    columns = {role: [corpus.resolve(role)] for role in table.column_names}
    matching = replace(settings.matching, boilerplate=False, boilerplate_file=None)
    settings = replace(settings, matching=matching)
    kept = np.searchsorted(some, state.kept_row[some])
    removed = np.flatnonzero(kept != np.arange(len(some)))
    progress, threads = question["progress"], question["threads"]
    with pipeline.opened(corpus, columns, settings, progress, threads=threads, tmpdir=question["tmpdir"]) as run:
        part = _Part(run.scanned, run.new_texts, settings, progress, threads)
        part.decided, part.links, part.was_kept = decided, (removed, kept[removed]), state.kept()[some]
        return part.outcome()


def _rows(corpus: Corpus, columns: Mapping[str, Sequence[Column]], some: I64) -> dict[str, pa.LargeStringArray]:
    values = review.read_rows(corpus, columns, some + 1)
    return {role: array for role, array in values.items() if role in ROLES and (role in columns or role == "text")}


def _write(
    folder: Path,
    report: review.Report,
    state: State,
    sides: decisions.Sides,
    decided: pa.Table,
    run: dict[str, Any],
    applied: Applied,
    question: Mapping[str, Any],
    settings: Settings,
) -> None:
    """OUT and the report, each whole or as it was."""
    read = run.get("read", {})
    job = Job(
        tuple(entry["path"] for entry in run["inputs"]), str(applied.out), folder,
        ReadOptions(format=read.get("format_")), WriteOptions(**run["write"]), overwrite=True, limit=run.get("limit"),
        lang=run.get("lang", "en"),
    )  # fmt: skip
    corpus, table = question["corpus"], state.table()
    try:
        kind = format_of(applied.out)
    except UserError:
        kind = format_of(applied.out, read.get("format_"))
    marked = table if settings.keeping.mark else None
    with placed(job) as (out, beside):
        assert beside is not None
        copy_rows(corpus, state.kept(), marked, job, out, beside, kind, lambda _: None)
        run["out_sha256"] = checksum(out)[0]
        pairs = review_report.candidates_after(report, table, sides)
        review_report.write(folder, beside, table, pairs, run, applied.counts, question, settings)
        everything = decisions.merge(report.decided, decided)
        decisions.save(everything, beside / decisions.NAME)
        for path in folder.iterdir():
            if not (beside / path.name).exists() and path.is_file():
                shutil.copy2(path, beside / path.name)
