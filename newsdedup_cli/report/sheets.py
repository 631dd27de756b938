"""report.xlsx: summary, clusters, candidates, rejects and boilerplate, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import xlsxwriter

from newsdedup_cli.report.base import Findings

MOST_ROWS = 100_000  # lines of a sheet: more than a person reads, far below what Excel holds
MOST_CHARACTERS = 2_000  # of a cell


class Workbook:
    """report.xlsx."""

    name = "report.xlsx"

    def write(self, findings: Findings, folder: Path) -> None:
        """Write the workbook; strings are never taken for formulas or links."""
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        with xlsxwriter.Workbook(str(folder / self.name), options) as book:
            _sheet(book, "summary", ["what", "value"], summary(findings))
            _sheet(book, "clusters", CLUSTER_COLUMNS, cluster_lines(findings))
            names = findings.candidates.column_names
            _sheet(book, "candidates", names, (list(row.values()) for row in _rows(findings.candidates)))
            lines = ([r.file, r.line, r.row, r.reason, r.raw] for r in findings.rejects)
            _sheet(book, "rejects", ["file", "line", "row", "reason", "raw"], lines)
            _sheet(book, "boilerplate", ["sentence", "rows"], map(list, findings.boilerplate))


def summary(findings: Findings) -> list[list[Any]]:
    """The counts of run.json, one a line."""
    return [[key, value] for key, value in findings.run["counts"].items() if not isinstance(value, dict)] + [
        [f"removed: {key}", value] for key, value in findings.run["counts"]["removed_by"].items()
    ]


CLUSTER_COLUMNS = ["similar_id", "size", "row", "id", "kept", "kept_id", "reason", "score", "title", "source"]


def cluster_lines(findings: Findings) -> Iterable[list[Any]]:
    """The rows of clusters of two or more, cluster by cluster, the kept row first."""
    import pyarrow.compute as pc

    table = findings.rows
    table = table.append_column("title", findings.about.title).append_column("source", findings.about.source)
    table = table.filter(pc.greater(table["size"], 1))
    table = table.sort_by([("similar_id", "ascending"), ("kept", "descending"), ("row", "ascending")])
    return (list(row.values()) for row in _rows(table.select(CLUSTER_COLUMNS)))


def _rows(table: Any) -> Iterable[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _sheet(book: Any, name: str, header: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    sheet.write_row(0, 0, list(header), book.add_format({"bold": True}))
    for number, line in enumerate(lines, 1):
        if number > MOST_ROWS:
            sheet.write_string(number, 0, f"more than {MOST_ROWS:,} lines: the rest is in the Parquet files")
            break
        for column, value in enumerate(line):
            _cell(sheet, number, column, value)


def _cell(sheet: Any, row: int, column: int, value: Any) -> None:
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float) and abs(value) < 2**53:
        sheet.write_number(row, column, value)
    elif value is not None:
        text = str(value)
        cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}… ({len(text):,} characters)"
        sheet.write_string(row, column, "".join(c if c.isprintable() or c in "\n\t" else "�" for c in cut))
