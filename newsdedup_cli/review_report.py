"""The report of a run after its decisions were put into effect: tables, counts, and the files for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import decisions, review
from newsdedup_cli.dates import parse_dates
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.report import Findings, shown, write_report
from newsdedup_cli.settings import Matching, Settings
from newsdedup_cli.tables import CANDIDATES_SCHEMA, I64, REASONS, Rows


def candidates_after(report: review.Report, rows: pa.Table, sides: decisions.Sides) -> pa.Table:
    """The pairs left for a person: without those merged, with the decisions, and with the pairs now kept apart."""
    told = _told(sides)
    cluster = rows["similar_id"].to_numpy()
    lines = []
    for line in report.candidates.to_pylist():
        a, b = line["row_a"] - 1, line["row_b"] - 1
        if cluster[a] != cluster[b]:
            lines.append(line | {"decision": told.get((min(a, b), max(a, b)), line["decision"])})
    lines += [line for line in _parted(report.rows, cluster, told)]
    lines.sort(key=lambda line: (-line["score"], line["row_a"], line["row_b"]))
    return pa.Table.from_pylist(lines, CANDIDATES_SCHEMA)


def _told(sides: decisions.Sides) -> dict[tuple[int, int], str]:
    """The decision on each pair of rows (positions, in order); `different` wins."""
    found: dict[tuple[int, int], str] = {}
    for told, first, second in zip(sides.decision, sides.first, sides.second, strict=True):
        for a in first:
            for b in second:
                pair = (min(a, b), max(a, b))
                found[pair] = decisions.DIFFERENT if found.get(pair) == decisions.DIFFERENT else told
    return found


def _parted(rows: pa.Table, cluster: I64, told: Mapping[tuple[int, int], str]) -> list[dict[str, Any]]:
    """Removed rows that a decision gave back, beside the rows that they were removed for."""
    found = []
    before = rows.select(["row", "id", "kept_row", "kept_id", "distance", "shared_sentences", "score"])
    for line in before.filter(pa.array(rows["kept_row"].is_valid())).to_pylist():
        a, b = sorted([(line["row"], line["id"]), (line["kept_row"], line["kept_id"])])
        if told.get((a[0] - 1, b[0] - 1)) == decisions.DIFFERENT and cluster[a[0] - 1] != cluster[b[0] - 1]:
            figures = {name: line[name] for name in ("distance", "shared_sentences", "score")}
            found.append(
                {"row_a": a[0], "id_a": a[1], "row_b": b[0], "id_b": b[1], "reason": "near"}
                | figures
                | {"decision": decisions.DIFFERENT}
            )
    return found


def write(
    folder: Path,
    beside: Path,
    rows: pa.Table,
    pairs: pa.Table,
    run: dict[str, Any],
    counts: Mapping[str, int],
    question: Mapping[str, Any],
    settings: Settings,
) -> None:
    """All files of the report into the folder `beside`; rejects are those of the run."""
    run["counts"] = _counts(run["counts"], rows, pairs) | {"decisions": dict(counts)}
    corpus, columns = question["corpus"], question["columns"]
    about = _about(corpus, columns, rows, settings.matching)
    findings = Findings(rows, pairs, about, corpus.rejects, _boilerplate(folder), run, {}, {}, run.get("lang", "en"))
    findings.texts, findings.urls = _texts(findings, corpus, columns, settings.matching)
    write_report(findings, beside, frozenset({"rejects.jsonl"}))


def _counts(before: Mapping[str, Any], rows: pa.Table, pairs: pa.Table) -> dict[str, Any]:
    reason = rows["reason"].to_numpy(zero_copy_only=False)
    sizes = np.bincount(rows["similar_id"].to_numpy(), minlength=1)
    kept = int(np.count_nonzero(rows["kept"].to_numpy(zero_copy_only=False)))
    return {
        **before,
        "kept": kept,
        "removed": rows.num_rows - kept,
        "removed_by": {name: int(np.count_nonzero(reason == name)) for name in REASONS[1:]},
        "clusters": int((sizes > 1).sum()),
        "largest_cluster": int(sizes.max()),
        "candidates": pairs.num_rows,
    }


def _about(corpus: Corpus, columns: Mapping[str, Sequence[Column]], rows: pa.Table, matching: Matching) -> Rows:
    """Title, source and date of every row: one more pass, over these columns alone."""
    n = rows.num_rows
    some = {role: columns[role] for role in ("title", "source", "date") if role in columns}
    values = review.read_rows(corpus, some or {"text": columns["text"]}, np.arange(1, n + 1))
    nothing = np.zeros(n, np.uint64)
    return Rows(
        rows["id"].combine_chunks().cast(pa.large_string()),
        values["title"],
        values["source"],
        parse_dates(values["date"], int(matching.year) if matching.year else None),
        np.zeros(n, np.int32),
        nothing,
        np.ones(n, np.float32),
        np.zeros((n, 4), np.uint64),
    )


def _boilerplate(folder: Path) -> list[tuple[str, int]]:
    """What report.xlsx lists of it: nothing else holds it."""
    import openpyxl

    try:
        book = openpyxl.load_workbook(folder / "report.xlsx", read_only=True)
        lines = [tuple(line[:2]) for line in book["boilerplate"].iter_rows(min_row=2, values_only=True)]
        book.close()
    except (OSError, KeyError, ValueError):
        return []
    return [(str(text), int(n)) for text, n in lines if text and isinstance(n, int | float)]


def _texts(
    findings: Findings, corpus: Corpus, columns: Mapping[str, Sequence[Column]], matching: Matching
) -> tuple[dict[int, str], dict[int, str]]:
    """Texts and urls of the rows that the report shows, by row number."""
    choice = shown.chosen(findings)
    places = shown.choose_candidates(shown.candidate_reasons(findings))
    pairs = findings.candidates.select(["row_a", "row_b"])
    first = pairs.take(pa.array(places))
    wanted = {row + 1 for e in choice.largest + choice.doubtful for row in (e.kept, *e.removed[:1])}
    wanted |= {row for name in pairs.column_names for row in first[name].to_pylist()}
    rows = np.array(sorted(wanted), np.int64)
    texts = review.read_texts(corpus, columns, matching, rows)
    compared = {row: texts.of(row)["compared"] for row in rows.tolist()}
    return compared, _urls(findings, corpus, columns)


def _urls(findings: Findings, corpus: Corpus, columns: Mapping[str, Sequence[Column]]) -> dict[int, str]:
    if "url" not in columns:
        return {}
    kept = shown.column(findings, "kept").astype(bool)
    listed = shown.in_clusters(shown.column(findings, "similar_id"), kept)[: shown.MOST_LISTED]
    pairs = findings.candidates.slice(0, shown.MOST_PAIRS)
    rows = np.unique(np.concatenate([listed + 1, pairs["row_a"].to_numpy(), pairs["row_b"].to_numpy()]))
    values = review.read_rows(corpus, {"url": columns["url"]}, rows)["url"].to_pylist()
    return {row: url for row, url in zip(rows.tolist(), values, strict=True) if url}
