"""Random tables through each format: every cell comes back."""

import csv
import io
import sys

import pyarrow as pa
import pytest
from conftest import NO_JIT
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from newsdedup_cli.cli import main
from newsdedup_cli.files import FORMATS, open_sink
from newsdedup_cli.files.base import Batch, ReadOptions, WriteOptions
from newsdedup_cli.files.corpus import open_corpus

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ODD = st.sampled_from(
    ['"', '""', ",", "\n", "\r", "\r\n", "'", "=1", "\t", "\0", "\ufeff", "NaN", " ", "null", "长" * 5000]
)
CELL = st.one_of(st.none(), TEXT, ODD, st.lists(ODD, max_size=4).map("".join))
ROWS = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=10)


def table(rows):
    columns = [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)]
    return pa.record_batch(columns, names=["名", "b c"])


def through(path, format, batch, options=None, **reading):
    sink = open_sink(path, format, batch.schema, options)
    half = batch.num_rows // 2
    sink.write(Batch(batch.slice(0, half)))
    sink.write(Batch(batch.slice(half)))
    sink.close()
    corpus = open_corpus([str(path)], ReadOptions(**reading))
    rows = [tuple(row.values()) for part in corpus.full() for row in part.columns.to_pylist()]
    assert corpus.findings.rejects == []
    return rows


@given(ROWS)
@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_delimited(tmp_path_factory, format, rows):
    path = tmp_path_factory.mktemp("r") / f"x.{format}"
    assert through(path, format, table(rows)) == [(a or None, b or None) for a, b in rows]


@given(ROWS)
@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_exact_formats(tmp_path_factory, format, rows):
    assert through(tmp_path_factory.mktemp("r") / f"x.{format}", format, table(rows)) == rows


@given(ROWS)
def test_csv_is_what_pythons_csv_reads(rows):
    out = io.BytesIO()
    sink = open_sink(out, "csv", table(rows).schema)
    sink.write(Batch(table(rows)))
    sink.close()
    text = out.getvalue().decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["名", "b c"], *([a or "", b or ""] for a, b in rows),
    ]  # fmt: skip


@given(st.lists(CELL, min_size=1, max_size=6))
def test_one_column_keeps_its_empty_rows(tmp_path_factory, cells):
    text = "\n".join(["a", *(cell or '""' for cell in cells)])
    assume(4 * text.count("\x00") < len(text.encode()))  # where a quarter is NULs, it may be UTF-16
    batch = pa.record_batch([pa.array(cells, pa.large_string())], names=["a"])
    path = tmp_path_factory.mktemp("r") / "x.csv"
    assert through(path, "csv", batch) == [(cell or None,) for cell in cells]


@pytest.mark.parametrize("cells", [["\x00"], ["\x00"] * 9, ["", "\x00", "\x00\x00"]])
def test_a_column_of_nuls_is_not_taken_for_utf16(tmp_path, cells):
    batch = pa.record_batch([pa.array(cells, pa.large_string())], names=["a"])
    assert through(tmp_path / "x.csv", "csv", batch) == [(cell or None,) for cell in cells]


HUGE = st.sampled_from(["长" * 40_000, '"' * 9_999, "x\n" * 50_000])
WHOLE_ROWS = st.lists(st.tuples(CELL, st.one_of(CELL, HUGE)), min_size=1, max_size=5)
CONTROLS = [*map(chr, range(9)), "\x0b", "\x0c", *map(chr, range(14, 32)), "\ufffe", "\uffff"]
TOO_MUCH = str.maketrans(dict.fromkeys(CONTROLS, " "))


def held(cell: str | None, format: str) -> str | None:
    """What a format can hold of a cell: no empty texts in CSV and workbooks, no long ones and no controls there."""
    if format == "xlsx" and cell:
        cell = cell[:16_000].translate(TOO_MUCH)
    return cell or None if format in ("csv", "tsv", "xlsx") else cell


@pytest.mark.skipif(NO_JIT, reason="slow without JIT")
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(WHOLE_ROWS)
@pytest.mark.parametrize("format", FORMATS)
def test_the_whole_program_gives_every_cell_back(tmp_path_factory, monkeypatch, format, rows):
    """All rows with our columns appended (--mark), and the same rows kept or removed without it."""
    folder = tmp_path_factory.mktemp("r")
    rows = [(str(i), *(held(cell, format) for cell in row)) for i, row in enumerate(rows)]
    batch = pa.record_batch(
        [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)], ["id", "名", "content"]
    )
    path = folder / f"x.{format}"
    sink = open_sink(path, format, batch.schema)
    sink.write(Batch(batch))
    sink.close()
    for out, *options in (("m", "--mark", "--no-report"), ("u",)):
        args = ["run", path, "-o", folder / f"{out}.{format}", "-q", "--threads", "1", *options]
        monkeypatch.setattr(sys, "argv", ["newsdedup", *map(str, args)])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
    assert read_back(folder / f"m.{format}") == rows
    parts = read_back(folder / f"u.{format}") + read_back(folder / f"u.report/removed.{format}")
    assert sorted(parts, key=lambda row: int(row[0])) == rows


def read_back(path) -> list[tuple]:
    """The first three columns of a file."""
    corpus = open_corpus([str(path)], ReadOptions())
    return [tuple(row.values())[:3] for part in corpus.full() for row in part.columns.to_pylist()]


def test_options_of_csv(tmp_path):
    batch = pa.record_batch({"a": ["1", "x;y"], "b": [None, '"']})
    path = tmp_path / "x.csv"
    through(path, "csv", batch, WriteOptions(bom=True, delimiter=";"))
    assert path.read_bytes() == b'\xef\xbb\xbfa;b\n1;\n"x;y";""""\n'
    through(path, "csv", batch, WriteOptions(header=False), header=False)
    assert path.read_bytes() == b'1,\nx;y,""""\n'


def test_values_that_are_no_text(tmp_path):
    batch = pa.record_batch({"n": [1.0, None], "l": [["a"], None], "s": [{"x": 1}, None], "b": [b"\xd6\xd0", None]})
    sink = open_sink(tmp_path / "x.csv", "csv", batch.schema)
    sink.write(Batch(batch, marks=pa.record_batch({"kept": [True, False]})))
    sink.close()
    assert (tmp_path / "x.csv").read_text() == 'n,l,s,b\n1,"[""a""]","{""x"":1}",中,true\n,,,,false\n'
    sink = open_sink(tmp_path / "x.jsonl", "jsonl", batch.schema)
    sink.write(Batch(batch, marks=pa.record_batch({"kept": [True, False]})))
    sink.close()
    assert (tmp_path / "x.jsonl").read_text() == (
        '{"n":1.0,"l":["a"],"s":{"x":1},"b":"中","kept":true}\n{"n":null,"l":null,"s":null,"b":null,"kept":false}\n'
    )


def test_repeated_names_get_numbers_where_they_must(tmp_path):
    batch = pa.RecordBatch.from_arrays([pa.array(["1"]), pa.array(["2"])], names=["a", "a"])
    for format in ("jsonl", "parquet"):
        assert through(tmp_path / f"x.{format}", format, batch) == [("1", "2")]
    sink = open_sink(io.BytesIO(), "jsonl", batch.schema)
    assert sink.warnings == ["column 2: the name 'a' is taken, written as 'a_2'"]
