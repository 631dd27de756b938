"""The report folder: one module a kind of file, one line in WRITERS."""

from __future__ import annotations

from pathlib import Path

from newsdedup_cli.report.base import Findings, Writer
from newsdedup_cli.report.data import Candidates, Rejects, RowsTable, RunJson
from newsdedup_cli.report.page import Page
from newsdedup_cli.report.sheets import Workbook

__all__ = ["PAGES", "WRITERS", "Findings", "write_report"]

WRITERS: dict[str, Writer] = {
    writer.name: writer for writer in (RowsTable(), Candidates(), Rejects(), Workbook(), Page(), RunJson())
}
PAGES = frozenset((Workbook.name, Page.name))  # for people; nearly all of the time a report takes


def write_report(findings: Findings, folder: Path, leave_out: frozenset[str] = frozenset()) -> None:
    """Write every file of the report but those left out."""
    for name, writer in WRITERS.items():
        if name not in leave_out:
            writer.write(findings, folder)
