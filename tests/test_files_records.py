"""Delimited text: the kernel against Python's csv, and what becomes of records that are not well formed."""

import csv
import io
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.delimited import DelimitedSource
from newsdedup_cli.kernels.records import FULL, MORE, PROBLEM, copy_fields, scan_records

CELL = st.text(st.sampled_from('a中,;"\n\r \t\0'), max_size=8)
HEAD = "id,title,content\n"
OPEN = 'a quote " is not closed, or not doubled inside its field'


def read(tmp_path, text, name="x.csv", format="csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    source = DelimitedSource(path, name, format, ReadOptions(**options))
    rows = [tuple(row) for batch in source.batches() for row in zip(*batch.columns.to_pydict().values(), strict=True)]
    return source, rows


def rejects(source):
    return [(reject.line, reject.reason, reject.raw) for reject in source.findings.rejects]


def scan(text, fields, rows=64, newline=10):
    """The kernel's result as values, and its status."""
    data = np.frombuffer(text.encode(), np.uint8)
    starts, ends = np.empty((rows, fields), np.int64), np.empty((rows, fields), np.int64)
    kinds = np.empty((rows, fields), np.uint8)
    lines, where = np.empty(rows, np.int64), np.empty(rows, np.int64)
    found, _, _, status, blanks = scan_records(
        data, 0, len(data), True, 44, 34, newline, 1, starts, ends, kinds, lines, where
    )
    columns = []
    for column in range(fields):
        part = (starts[:found], ends[:found], kinds[:found])
        out = np.empty(len(data), np.uint8)
        offsets, valid = np.empty(found + 1, np.int64), np.empty(found, np.bool_)
        copy_fields(data, *part, column, 34, out, offsets, valid)
        columns.append([bytes(out[a:b]).decode() for a, b in itertools.pairwise(offsets)])
    return list(zip(*columns, strict=True)), status, blanks


@given(st.lists(st.tuples(CELL, CELL, CELL), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_kernel_reads_what_csv_writes(rows, line_end):
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(rows)
    assert scan(text.getvalue(), 3) == (rows, MORE, 0)


@given(st.lists(st.tuples(CELL, CELL), max_size=12))
def test_kernel_agrees_with_csv_on_minimal_quoting(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    twin = [tuple(row) for row in csv.reader(io.StringIO(text.getvalue(), newline=""), strict=True)]
    assert scan(text.getvalue(), 2) == (twin, MORE, 0)


@pytest.mark.parametrize("text", ['1,"a"b\n', '1,"a\n', "1\n", "1,2,3\n"])
def test_kernel_stops_at_problems(text):
    assert scan(f"0,0\n{text}", 2) == ([("0", "0")], PROBLEM, 0)


def test_kernel_counts_blank_lines_and_stops_when_full():
    assert scan("1,2\n\r\n\n3,4,\n5,6", 2) == ([("1", "2"), ("3", "4"), ("5", "6")], MORE, 2)
    assert scan("1,2\n3,4\n", 2, rows=1)[1] == FULL


MENDED = {
    "quotes in unquoted field": ('1,a "b" c,x\n', [("1", 'a "b" c', "x")], []),
    "field starts with quoted word": ('1,"重磅"新政,x\n', [("1", '"重磅"新政', "x")], []),
    "quotes not doubled, newline inside": (
        '1,t,"他说"你好"。\n第二段，"再见"了。"\n',
        [("1", "t", '他说"你好"。\n第二段，"再见"了。')],
        [],
    ),
    "open quote": ('1,"open,x\n', [], [(2, OPEN, '1,"open,x')]),
    "open quote before a record of two lines": (
        '1,"open,x\n2,"a\nb",c\n',
        [("2", "a\nb", "c")],
        [(2, OPEN, '1,"open,x')],
    ),
    "too few": ("1,只有标题\n", [], [(2, "expected 3 fields, found 2", "1,只有标题")]),
    "too many": ("1,a,b,c,d\n", [], [(2, "expected 3 fields, found 5", "1,a,b,c,d")]),
    "too many, with a body of lines": (
        '1,t,u,"p1\np2\np3"\n',
        [],
        [(2, "expected 3 fields, found 4", '1,t,u,"p1\np2\np3"')],
    ),
    "one empty field too many": ("1,a,b,\n", [("1", "a", "b")], []),
    "empty quoted field": ('1,"",""""\n', [("1", None, '"')], []),
}


@pytest.mark.parametrize("case", MENDED)
def test_odd_records(tmp_path, case):
    text, rows, rejected = MENDED[case]
    source, found = read(tmp_path, f"{HEAD}{text}8,y,z\n")
    assert found == [*rows, ("8", "y", "z")]
    assert rejects(source) == rejected


def test_cut_file_is_one_reject(tmp_path):
    source, rows = read(tmp_path, f'{HEAD}1,a,b\n2,t,"para1\npara2 cut')
    assert rows == [("1", "a", "b")]
    assert rejects(source) == [(3, OPEN, '2,t,"para1\npara2 cut')]


def test_tsv_takes_an_open_quote_as_written(tmp_path):
    source, rows = read(tmp_path, 'id\ttitle\n1\t"open\n2\t"q" r\n', "x.tsv", "tsv")
    assert rows == [("1", '"open'), ("2", '"q" r')]
    assert source.findings.warnings == ["x.tsv: stray quotes on lines 2, 3, kept as characters"]


def test_cr_only_file(tmp_path):
    source, rows = read(tmp_path, 'id,title\r1,"a\nb"\r2,c\r')
    assert rows == [("1", "a\nb"), ("2", "c")]
    assert source.findings.notes == ["x.csv: lines end in CR only"]


def test_cr_is_a_character_where_lines_end_in_lf(tmp_path):
    _, rows = read(tmp_path, 'id,title\r\n1,a\rb\r\n2,"c\r\nd"\r\n')
    assert rows == [("1", "a\rb"), ("2", "c\r\nd")]


def test_repeated_headers_are_skipped_and_told(tmp_path):
    source, rows = read(tmp_path, 'id,t\n1,a\n\ufeffid,t\n\ufeff"id",t\n2,b\n')
    assert rows == [("1", "a"), ("2", "b")]
    assert source.findings.warnings == ["x.csv: the header is repeated on lines 3, 4, skipped"]


def test_nothing_is_inferred_and_controls_stay(tmp_path):
    cells = ["001", "1e5", "NaN", "True", "2024-01-02", "a\0b", "\x1a"]
    _, rows = read(tmp_path, "id,t\n" + "".join(f"{cell},{cell}\n" for cell in cells))
    assert rows == [(cell, cell) for cell in cells]


def test_huge_field_and_quoted_crlf_across_chunks(tmp_path):
    body = "长江航道\r\n" * 700_000
    _, rows = read(tmp_path, f'id,content\n1,"{body}"\n2,x\n')
    assert rows == [("1", body), ("2", "x")]


def test_open_quote_in_a_long_file_rejects_one_line(tmp_path):
    lines = [f"{i},{'内容' * 200}\n" for i in range(20_000)]
    lines[5] = f'5,"{lines[5][2:]}'
    source, rows = read(tmp_path, "id,t\n" + "".join(lines))
    assert (len(rows), [reject.line for reject in source.findings.rejects]) == (19_999, [7])


LAYOUTS = {
    "semicolons": ("a;b;c\n1,5;2;3\n", {}, ["a", "b", "c"], [("1,5", "2", "3")]),
    "sep line": ("sep=|\na|b\n1|2\n", {}, ["a", "b"], [("1", "2")]),
    "no header": ("1,2\n3,4\n", {"header": False}, ["column_1", "column_2"], [("1", "2"), ("3", "4")]),
    "header row": ("junk\nid,t\n3,4\n", {"header_row": 2}, ["id", "t"], [("3", "4")]),
    "single quotes": ("id,t\n1,'a,b'\n", {"quote": "'"}, ["id", "t"], [("1", "a,b")]),
    "no quotes": ('id,t\n1,"a\n', {"quote": "none"}, ["id", "t"], [("1", '"a')]),
    "named delimiter": ("id;t\n1;a,b\n", {"delimiter": ","}, ["id;t"], []),
    "one column": ('text\nfoo\n"x, y"\n', {}, ["text"], [("foo",), ("x, y",)]),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_layouts(tmp_path, case):
    text, options, header, rows = LAYOUTS[case]
    source, found = read(tmp_path, text, **options)
    assert (source.header, found) == (header, rows)


def test_batches_of_any_size_give_the_same_rows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,t\n" + "".join(f'{i},"a\n{i}"\n' if i % 3 else "bad\n" for i in range(50)))
    source = DelimitedSource(path, "x.csv", "csv", ReadOptions())
    for rows in (1, 7, 8192):
        found = [value for batch in source.batches(rows) for value in batch.columns.column(0).to_pylist()]
        assert found == [str(i) for i in range(50) if i % 3]
        assert len(source.findings.rejects) == 17
