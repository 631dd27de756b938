"""The window in time: whether there are dates for it, and which of them cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from newsdedup_cli.dates import parse_span
from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import I64, UNKNOWN

NAMED = 3  # unreadable dates that are named


def check_window(matching: Matching, columns: Mapping[str, Sequence[Column]]) -> None:
    """Raise UserError where --window or --year cannot be obeyed."""
    if matching.year is not None and not (
        matching.year.isascii() and matching.year.isdigit() and len(matching.year) == 4
    ):
        raise UserError(f"--year {visible(matching.year)}", wanted="four digits, such as 2026")
    if matching.window is None:
        return
    parse_span(matching.window)
    if "date" not in columns:
        raise UserError(f"--window {matching.window} without dates", wanted="a column of dates", todo="--date COL")
    if matching.preset.startswith("classic"):
        raise UserError(
            f"--window with --preset {matching.preset}", wanted="another preset: the published recipes know no dates"
        )


@dataclass(frozen=True)
class Undated:
    """Rows that are compared without the window."""

    blank: int
    unreadable: int
    examples: list[tuple[int, str]]  # row, from 1, and what stands there

    def said(self) -> str:
        """For a person; empty where all dates are known."""
        if not self.blank and not self.unreadable:
            return ""
        named = "; ".join(f"row {row} {visible(value, 30)}" for row, value in self.examples)
        parts = [f"{self.unreadable:,} dates cannot be read ({named})"] if self.unreadable else []
        parts += [f"{self.blank:,} rows have none"] if self.blank else []
        return f"{' and '.join(parts)}: these rows are compared without the window"


def undated(corpus: Corpus, columns: Mapping[str, Sequence[Column]], date: I64) -> Undated:
    """What stands where date i8[N] is not known: the column is read once more, where there is any such row."""
    unknown = np.flatnonzero(date == UNKNOWN)
    blank, unreadable = 0, 0
    examples: list[tuple[int, str]] = []
    if len(unknown):
        for batch in corpus.texts({"date": columns["date"]}):
            first = batch.first_row - 1
            here = unknown[(unknown >= first) & (unknown < first + batch.num_rows)]
            columns_here = [array.to_pylist() for array in batch.values["date"]] if len(here) else []
            for row in here.tolist():
                value = next((values[row - first] for values in columns_here if values[row - first] is not None), "")
                if not value.strip():
                    blank += 1
                    continue
                unreadable += 1
                if len(examples) < NAMED:
                    examples.append((row + 1, value.strip()))
    return Undated(blank, unreadable, examples)
