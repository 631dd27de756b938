"""What a report is made from, and what each of its files provides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from newsdedup_cli.files.base import Reject
from newsdedup_cli.tables import I64, Rows


@dataclass
class Findings:
    """All that a report tells. Row numbers count from 1.

    Of a run against a history the rows of it that are mentioned stand behind those of the input, in all tables and
    under numbers that go on; files that programs read name them otherwise (see data.told_rows).
    """

    rows: pa.Table  # ROWS_SCHEMA, one line per row
    candidates: pa.Table  # CANDIDATES_SCHEMA
    about: Rows  # id, title, source, date of each row, in order of rows
    rejects: list[Reject]
    boilerplate: list[tuple[str, int]]  # sentence, in how many different rows
    run: dict[str, Any]  # run.json
    texts: Mapping[int, str] = field(default_factory=dict)  # row -> text as compared, for `shown.rows_shown`
    urls: Mapping[int, str] = field(default_factory=dict)  # row -> url, for `shown.rows_listed`
    lang: str = "en"  # of report.html: en or zh
    past: I64 | None = None  # of a run against a history: each mentioned row's number in its own file


class Writer(Protocol):
    """One file of the report folder."""

    name: str

    def write(self, findings: Findings, folder: Path) -> None:
        """Write the file into the folder."""
        ...
