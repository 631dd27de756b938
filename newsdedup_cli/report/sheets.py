"""report.xlsx: summary, clusters, candidates, rejects and boilerplate, for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xlsxwriter

from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.cells import BANDS, INPUT, Column, Sheet, Styles
from newsdedup_cli.report.data import own_numbers
from newsdedup_cli.report.examples import is_web, moment
from newsdedup_cli.report.shown import MOST_LISTED, MOST_PAIRS, column, in_clusters
from newsdedup_cli.tables import I64

DECISIONS = ("same", "different")
CLUSTERS = (
    Column("similar_id", 10),
    Column("size", 6),
    Column("kept", 8, "General"),
    Column("row", 9),
    Column("id", 21),
    Column("title", 52),
    Column("source", 18),
    Column("date", 16),
    Column("url", 34),
    Column("kept_row", 9),
    Column("kept_id", 21),
    Column("reason", 16),
    Column("distance", 9),
    Column("shared_sentences", 16),
    Column("score", 7, "0.000"),
    Column("file", 18),
)
CANDIDATES = (
    Column("row_a", 9),
    Column("id_a", 21),
    Column("title_a", 44),
    Column("source_a", 16),
    Column("row_b", 9),
    Column("id_b", 21),
    Column("title_b", 44),
    Column("source_b", 16),
    Column("reason", 16),
    Column("distance", 9),
    Column("shared_sentences", 16),
    Column("score", 7, "0.000"),
    Column("containment", 12, "0.000"),
    Column("decision", 12),
    Column("key_a", 8, hidden=True),
    Column("key_b", 8, hidden=True),
)
REJECTS = (Column("file", 24), Column("line", 9), Column("row", 9), Column("reason", 44), Column("raw", 80))
BOILERPLATE = (Column("sentence", 90), Column("rows", 9, "#,##0"))
SUMMARY = (Column("what", 34), Column("value", 18, "#,##0.###"))


class Workbook:
    """report.xlsx."""

    name = "report.xlsx"

    def write(self, findings: Findings, folder: Path) -> None:
        """Write the workbook; strings are never taken for formulas or links."""
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        with xlsxwriter.Workbook(str(folder / self.name), options) as book:
            styles = Styles(book)
            first = Sheet(book, styles, "summary", SUMMARY)
            told = {
                "clusters": _clusters(Sheet(book, styles, "clusters", CLUSTERS), findings),
                "candidates": _candidates(Sheet(book, styles, "candidates", CANDIDATES), findings),
                "rejects": _rejects(Sheet(book, styles, "rejects", REJECTS), findings),
                "boilerplate": _boilerplate(Sheet(book, styles, "boilerplate", BOILERPLATE), findings),
            }
            _summary(first, findings, told)


def summary(findings: Findings) -> list[tuple[str, Any]]:
    """The counts of run.json, one a line, and how they came about."""
    counts, run = findings.run["counts"], findings.run
    lines: list[tuple[str, Any]] = [(key, value) for key, value in counts.items() if not isinstance(value, dict)]
    lines += [(f"removed: {key}", value) for key, value in counts["removed_by"].items()]
    lines += [(f"kept: {key}", value) for key, value in counts.get("kept_alone", {}).items()]
    lines += [(f"column: {role}", ", ".join(names)) for role, names in run.get("columns", {}).items()]
    lines += [("input", f"{i['file']}  sha256 {i['sha256']}") for i in run.get("inputs", [])]
    lines += [(f"made by: {key}", value) for key, value in run.get("made_by", {}).items()]
    lines += [(kind[:-1], text) for kind in ("notes", "warnings") for text in run.get(kind, [])]
    return lines


def _summary(sheet: Sheet, findings: Findings, told: Mapping[str, list[str]]) -> None:
    for name, notes in told.items():
        for note in notes:
            sheet.write([f"sheet {name}", note], ground=INPUT, bold=True)
    for line in summary(findings):
        sheet.write(line)
    sheet.close(sheet.line, "run.json")


def _clusters(sheet: Sheet, findings: Findings) -> list[str]:
    """The rows of clusters of two or more, cluster by cluster, the kept row first."""
    places = in_clusters(column(findings, "similar_id"), column(findings, "kept").astype(bool))
    some = places[:MOST_LISTED]
    table = findings.rows.take(some)
    values = {name: table[name].to_pylist() for name in table.column_names} | _told(findings, some)
    for name in ("row", "kept_row"):
        values[name] = own_numbers(findings, table[name].combine_chunks()).to_pylist()
    values["reason"] = [reason or None for reason in values["reason"]]
    lines = zip(*(values[c.name] for c in CLUSTERS), strict=True)
    row_at, url_at = (next(at for at, c in enumerate(CLUSTERS) if c.name == name) for name in ("kept_row", "url"))
    kept_line, band, cluster = 0, 1, None
    for line, kept, here in zip(lines, values["kept"], values["similar_id"], strict=True):
        if here != cluster:
            kept_line, band, cluster = sheet.line + 2, 1 - band, here
        links = {} if kept else {row_at: f"internal:clusters!A{kept_line}"}
        if line[url_at] and is_web(line[url_at]):
            links[url_at] = line[url_at].strip()
        sheet.write(line, BANDS[band], bold=kept, links=links)
    return sheet.close(len(places), "rows.parquet")


def _told(findings: Findings, places: I64) -> dict[str, list[Any]]:
    """What is known of the rows beside the decision."""
    at = pa.array(places)
    return {
        "title": findings.about.title.take(at).to_pylist(),
        "source": findings.about.source.take(at).to_pylist(),
        "date": [moment(int(date)) or None for date in np.asarray(findings.about.date)[places]],
        "url": [findings.urls.get(place + 1) for place in places.tolist()],
    }


def _candidates(sheet: Sheet, findings: Findings) -> list[str]:
    """The pairs left for a person, with a drop-down in `decision`; an id leads to its url."""
    table = findings.candidates.slice(0, MOST_PAIRS)
    values = {name: table[name].to_pylist() for name in table.column_names}
    linked = []
    for side, at in (("a", 1), ("b", 5)):
        told = _told(findings, table[f"row_{side}"].to_numpy() - 1)
        values |= {f"title_{side}": told["title"], f"source_{side}": told["source"]}
        linked.append([{at: url.strip()} if url and is_web(url) else {} for url in told["url"]])
    for name in ("row_a", "row_b"):
        values[name] = own_numbers(findings, table[name].combine_chunks()).to_pylist()
    lines = zip(*(values[c.name] for c in CANDIDATES), strict=True)
    for number, (line, first, second) in enumerate(zip(lines, *linked, strict=True)):
        sheet.write(line, BANDS[number % 2], links=first | second)
    if sheet.line:
        drop_down(sheet)
    return sheet.close(len(findings.candidates), "candidates.parquet")


def drop_down(sheet: Sheet) -> None:
    """The column `decision` takes `same`, `different` or nothing."""
    at = next(at for at, column in enumerate(sheet.columns) if column.name == "decision")
    told = {
        "validate": "list",
        "source": list(DECISIONS),
        "input_title": "decision",
        "input_message": "same: one article; different: keep both",
        "error_message": "same, different, or nothing",
    }
    sheet.sheet.data_validation(1, at, sheet.line, at, told)
    fill = sheet.styles.get(bg_color=INPUT)
    sheet.sheet.conditional_format(1, at, sheet.line, at, {"type": "blanks", "format": fill})


def _rejects(sheet: Sheet, findings: Findings) -> list[str]:
    for r in findings.rejects[:MOST_LISTED]:
        sheet.write([r.file, r.line, r.row, r.reason, r.raw])
    return sheet.close(len(findings.rejects), "rejects.jsonl")


def _boilerplate(sheet: Sheet, findings: Findings) -> list[str]:
    for line in findings.boilerplate[:MOST_LISTED]:
        sheet.write(line)
    return sheet.close(len(findings.boilerplate), "no other file")
