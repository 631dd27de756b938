"""What a run over sample_data decides, row by row, as it stood when somebody last looked at it.

A difference here is no mistake as such. Look at it, and if it is for the better, write the file anew:

    python tests/test_golden.py
"""

from __future__ import annotations

import csv
import io
import re
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import NO_JIT
from running import SAMPLE, spawn, table

GOLDEN = Path(__file__).parent / "golden" / "sample_rows.csv"
COLUMNS = ("id", "similar_id", "kept", "kept_id", "reason")


def rows_now(folder: Path) -> str:
    """The table of a run over sample_data as CSV."""
    ran = spawn("run", SAMPLE / "news.parquet", "-o", folder / "g.parquet", "-q")
    assert ran.code == 0, ran.err
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([row[name] for name in COLUMNS] for row in table(folder / "g.report"))
    return buffer.getvalue()


@pytest.mark.skipif(NO_JIT, reason="minutes without JIT")
def test_sample_data_is_decided_as_before(tmp_path):
    now, before = rows_now(tmp_path).splitlines(), GOLDEN.read_text("utf-8").splitlines()
    assert len(now) == len(before)
    changed = [f"- {a}\n+ {b}" for a, b in zip(before, now, strict=True) if _without_number(a) != _without_number(b)]
    # Numbers of clusters follow from the rest, so they are compared last and not listed.
    assert not changed, "\n".join([*changed, "if that is for the better: python tests/test_golden.py"])
    assert now == before


def _without_number(line: str) -> str:
    return re.sub("^([^,]*),[0-9]+,", r"\1,", line)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        GOLDEN.write_text(rows_now(Path(folder)), "utf-8")
    sys.exit(0)
