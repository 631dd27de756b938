"""Workbooks: values as people see them, nothing lost in silence, and text that stays text."""

import io
import warnings
import zipfile
from contextlib import closing
from random import Random

import openpyxl
import pyarrow as pa
import pytest
from fuzz_bases import bases, mutated
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import open_sink
from newsdedup_cli.files.base import Batch, ReadOptions
from newsdedup_cli.files.corpus import check_writable, open_corpus
from newsdedup_cli.files.sheet_text import Unusual
from newsdedup_cli.files.workbook import ERRORS, Tally, Workbook, date_text, number_text, unescaped
from newsdedup_cli.files.xlsx import XlsxSource

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm:ss"/>'
    '<numFmt numFmtId="165" formatCode="0.00&quot;day&quot;"/></numFmts><cellXfs><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)


def workbook(path, *sheets, strings="", space=MAIN):
    """A workbook of sheets given as (name, state, XML after sheetData's start)."""
    names, relations, parts = "", "", {}
    for number, (name, state, rows) in enumerate(sheets, 1):
        names += f'<sheet name="{name}" sheetId="{number}" state="{state}" r:id="r{number}"/>'
        relations += f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="/xl/s{number}.xml"/>'
        parts[f"xl/s{number}.xml"] = f'<worksheet xmlns="{space}"><dimension ref="A1"/><sheetData>{rows}</worksheet>'
    relations += f'<Relationship Id="s" Type="{OFFICE}/sharedStrings" Target="sst.xml"/>'
    relations += f'<Relationship Id="t" Type="{OFFICE}/styles" Target="styles.xml"/>'
    parts["xl/workbook.xml"] = f'<workbook xmlns="{space}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = f"<Relationships>{relations}</Relationships>"
    parts["xl/sst.xml"] = f'<sst xmlns="{space}">{strings}</sst>'
    parts["xl/styles.xml"] = STYLES
    with zipfile.ZipFile(path, "w") as archive:
        for part, text in parts.items():
            archive.writestr(part, text)
    return path


def row(number, *cells):
    return f'<row r="{number}">{"".join(cells)}</row>'


def text(ref, value):
    return f'<c r="{ref}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'


HEADER = row(1, text("A1", "id"), text("B1", "content"))


def read(path, **options):
    source = XlsxSource(path, path.name, "xlsx", ReadOptions(**options))
    return source, [tuple(r.values()) for batch in source.batches() for r in batch.columns.to_pylist()]


def test_kinds_of_cells(tmp_path):
    strings = "<si><t>共享</t></si><si><r><t>富</t></r><r><rPr/><t>文本</t></r><rPh><t>fu</t></rPh></si>"
    rows = HEADER + row(2, '<c r="A2" t="s"><v>0</v></c>', '<c r="B2" t="s"><v>1</v></c>')
    rows += row(3, '<c r="A3"><v>7.0</v></c>', text("B3", "a_x000D_\nb _x005F_x000D_"))
    rows += row(4, '<c r="A4" t="b"><v>1</v></c>', '<c r="B4" t="str"><f>A1</f><v>算好</v></c>')
    rows += row(5, '<c r="A5" s="1"><v>45293</v></c>', '<c r="B5" s="2"><v>45293.35416666666</v></c>')
    rows += row(6, '<c r="A6" s="3"><v>0.5</v></c>', '<c r="B6" s="4"><v>1.5</v></c>')
    rows += row(7, '<c r="A7" t="e"><v>#N/A</v></c>', '<c r="B7" t="d"><v>2024-01-02T00:00:00</v></c>')
    path = workbook(tmp_path / "x.xlsx", ("S", "visible", rows + "</sheetData>"), strings=strings)
    assert read(path)[1] == [
        ("共享", "富文本"),
        ("7", "a\r\nb _x000D_"),
        ("true", "算好"),
        ("2024-01-02", "2024-01-02T08:30:00"),
        ("12:00:00", "1.5"),
        ("#N/A", "2024-01-02T00:00:00"),
    ]


def test_strict_namespace_and_cells_without_references(tmp_path):
    rows = "<row><c t='inlineStr'><is><t>id</t></is></c><c t='inlineStr'><is><t>content</t></is></c></row>"
    rows += "<row><c><v>1</v></c><c><v>2</v></c></row></sheetData>"
    path = workbook(tmp_path / "x.xlsx", ("S", "visible", rows), space="http://purl.oclc.org/ooxml/spreadsheetml/main")
    assert read(path)[1] == [("1", "2")]


def test_sheets(tmp_path):
    sheets = [
        (name, state, row(1, text("A1", "id")) + row(2, text("A2", name)) + "</sheetData>")
        for name, state in [("隐", "hidden"), ("一月", "visible"), ("二月", "visible")]
    ]
    path = workbook(tmp_path / "x.xlsx", *sheets)
    source, rows = read(path)
    assert rows == [("一月",)]
    assert source.findings.notes == [
        "x.xlsx: sheet '一月' is read; there are also '隐' (hidden), '二月' (--sheet NAME)"
    ]
    assert read(path, sheet="二月")[1] == [("二月",)]
    assert read(path, sheet="1")[1] == [("隐",)]
    with pytest.raises(UserError) as error:
        read(path, sheet="三月")
    assert str(error.value) == "x.xlsx has no sheet '三月'\n  wanted: one of '隐', '一月', '二月'"


def test_header_below_a_title_merged_cells_and_formulas(tmp_path):
    rows = row(1, text("A1", "收录表")) + row(3, text("A3", "来源"), text("B3", "正文"))
    rows += row(4, text("A4", "晨报"), text("B4", "甲")) + row(5, text("B5", "乙")) + row(6)
    rows += row(7, text("B7", "丙"), '<c r="C7"><f>1+1</f></c>', '<c r="D7"><v>1</v></c>')
    rows += '</sheetData><mergeCells><mergeCell ref="A1:D1"/><mergeCell ref="A4:A5"/></mergeCells>'
    path = workbook(tmp_path / "x.xlsx", ("S", "visible", rows))
    source, found = read(path)
    assert source.schema.names == ["来源", "正文", ""]
    assert [tuple(x[:2]) for x in found] == [("晨报", "甲"), ("晨报", "乙"), (None, "丙")]
    assert source.findings.notes == [
        "x.xlsx: the header is row 3; rows above it that are left out: 1",
        "x.xlsx: 1 empty rows skipped",
        "x.xlsx: column '来源': 1 cells filled from the merged cell above them",
    ]
    assert source.findings.warnings == ["x.xlsx: 1 formulas have no stored value and are read as missing"]


def test_header_by_the_columns_asked_for(tmp_path):
    rows = row(1, text("A1", "甲"), text("B1", "正文")) + row(2, text("A2", "k"), text("B2", "w"))
    path = workbook(tmp_path / "x.xlsx", ("S", "visible", f"{rows}{row(3, text('A3', '1'))}</sheetData>"))
    assert read(path)[0].schema.names == ["甲", "正文"]
    assert read(path, wanted=("w", "#1"))[0].schema.names == ["k", "w"]
    assert read(path, header_row=2)[0].schema.names == ["k", "w"]
    assert read(path, header=False)[0].schema.names == ["column_1", "column_2"]


def test_wrong_used_range_and_far_cells(tmp_path):
    rows = HEADER + row(2, text("A2", "1"), text("B2", "x")) + row(1_048_576, text("XFD1048576", "z"))
    path = workbook(tmp_path / "x.xlsx", ("S", "visible", rows + "</sheetData>"))
    source, _ = read(path)
    assert source.schema.names == ["id", "content", ""]
    assert sum(batch.num_rows for batch in source.batches()) == 2


def test_long_numbers_warn_and_name_the_column(tmp_path):
    rows = HEADER + row(2, '<c r="A2"><v>1.234567890123457E+16</v></c>', text("B2", "x")) + "</sheetData>"
    source, found = read(workbook(tmp_path / "x.xlsx", ("S", "visible", rows)))
    assert found == [("12345678901234570", "x")]
    assert source.findings.warnings == [
        "x.xlsx: column 'id': 1 numbers have more than 15 digits; Excel keeps 15, so "
        "their last digits may be lost (ids should be text cells)"
    ]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("45300", "45300"), ("1E+3", "1000"), ("0.1", "0.1"), ("1E-7", "0.0000001"), ("x", "x")],
)
def test_numbers(value, wanted):
    assert number_text(value, 0, Tally()) == wanted


def test_dates_of_both_epochs():
    assert date_text("59", "date", False) == "1900-02-28"
    assert date_text("61", "date", False) == "1900-03-01"
    assert date_text("0", "date", True) == "1904-01-01"
    assert date_text("-1", "date", False) is None
    assert unescaped("_xD83D_") == "\ufffd"


def test_what_is_no_workbook(tmp_path):
    path = tmp_path / "x.xlsx"
    for data, words in [
        (
            b"id,content\n1,x\n",
            "x.xlsx is no Excel workbook (.xlsx): it is text\n  try:    --format csv (or tsv, jsonl)",
        ),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1",
            "x.xlsx is no Excel workbook (.xlsx): it is an old Excel workbook (.xls) or one ",
        ),
        (b"", "x.xlsx is empty"),
        (b"PK\3\4garbage", "x.xlsx is a damaged workbook: File is not a zip file"),
    ]:
        path.write_bytes(data)
        with pytest.raises(UserError) as error:
            read(path)
        assert str(error.value).startswith(words)


def write(path, batch):
    sink = open_sink(path, "xlsx", batch.schema)
    sink.write(Batch(batch))
    sink.close()
    return sink


def test_text_stays_text(tmp_path):
    values = [
        "=1+1",
        "@x",
        "-5",
        "+86",
        "http://a.b/c",
        "0007",
        "12345678901234567",
        "a\r\nb\tc",
        " x ",
        "<&>",
        "_x000D_",
    ]
    write(tmp_path / "x.xlsx", pa.record_batch({"content": values}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    found = [(cell.data_type, cell.value) for [cell] in sheet.iter_rows(min_row=2)]
    assert found[:-1] == [("s", value) for value in values[:-1]]
    assert [value for [value] in read(tmp_path / "x.xlsx")[1]] == values


def test_numbers_stay_numbers_while_exact(tmp_path):
    write(tmp_path / "x.xlsx", pa.record_batch({"a": [1, 10**17], "b": [0.5, None]}))
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)] == [
        [1, 0.5],
        [str(10**17), None],
    ]


def test_control_characters_are_counted(tmp_path):
    sink = write(tmp_path / "x.xlsx", pa.record_batch({"a": ["x\0\1y", "z\x0b", "ok\n"]}))
    assert sink.warnings == ["3 control characters in 2 cells became U+FFFD (XLSX holds none)"]
    assert [value for [value] in read(tmp_path / "x.xlsx")[1]] == ["x\ufffd\ufffdy", "z\ufffd", "ok\n"]


def test_too_long_is_refused_before_and_while_writing(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(f"id,content\n1,{'短' * 32_767}\n2,{'长' * 32_767}😀\n")
    corpus = open_corpus([str(path)], ReadOptions())
    with pytest.raises(UserError) as error:
        check_writable(corpus, "xlsx")
    assert str(error.value) == (
        "row 2, column 'content': a text of 32,769 characters is too long for an XLSX cell\n"
        "  wanted: at most 32,767 characters in a cell\n"
        "  try:    -o out.parquet, or .csv"
    )
    sink = open_sink(io.BytesIO(), "xlsx", corpus.schema)
    with pytest.raises(UserError, match="row 2, column B: a text of 32,769 characters"):
        sink.write(next(corpus.full()))


CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\r\t"), max_size=20)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8))
def test_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("x") / "x.xlsx"
    rows = [(f"k{i}", a.replace("\ufffe", "").replace("\uffff", ""), b) for i, (a, b) in enumerate(rows)]
    rows = [(k, a, b.replace("\ufffe", "").replace("\uffff", "")) for k, a, b in rows]
    write(path, pa.record_batch([pa.array(c) for c in zip(*rows, strict=True)], ["id", "a", "content"]))
    assert read(path)[1] == [tuple(value or None for value in row) for row in rows]


def found_in(path, by):
    """All strings and rows of a workbook and what was counted in them, read one way or the other."""
    with closing(Workbook(path)) as book:
        tally, way = Tally(), f"_rows_by_{by}"
        part = book._target(book._relations_part, "sharedStrings", book._folder)
        strings = list(getattr(book, f"_strings_by_{by}")(part)) if part and part.lower() in book._parts else []
        return strings, list(getattr(book, way)(book.sheets[0], tally)), tally


@pytest.mark.parametrize("damaged", [False, True])
def test_reading_by_text_gives_what_reading_by_element_does(tmp_path, damaged):
    path, compared = tmp_path / "x.xlsx", 0
    for seed in range(120 if damaged else 2):
        path.write_bytes(mutated("xlsx", Random(seed)) if damaged else bases("xlsx")[seed])
        try:
            wanted = found_in(path, "element")
            found = found_in(path, "text")
        except (*ERRORS, Unusual):
            continue  # what is no workbook, or is read by element
        assert found == wanted
        compared += 1
    assert compared > (30 if damaged else 1)


SHEET = '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>{}</sheetData>'
UNUSUAL = {
    "comment": SHEET.format('<!-- <row r="2"/> --><row r="2"><c r="A2"><v>1</v></c></row>'),
    "cdata": SHEET.format('<row r="2"><c r="A2" t="str"><v><![CDATA[<b>]]></v></c></row>'),
    "attributes in another order": SHEET.format('<row r="2"><c t="str" r="A2"><v>x</v></c></row>'),
    "spaces in tags": SHEET.format('<row r="2" ><c r="A2" ><v >5</v ></c ></row >'),
    "a formula without its value": SHEET.format('<row r="2"><c r="A2"><f>1+1</f><v></v></c></row>'),
    "an array formula": SHEET.format('<row r="2"><c r="A2"><f t="array" ref="A2">1+1</f><v>2</v></c></row>'),
    "references": SHEET.format('<row r="2"><c r="A2" t="str"><v>&#x4e00;&lt;&#13;&#10;</v></c></row>'),
    "no references of cells": SHEET.format("<row><c><v>7</v></c></row>"),
    "names that begin like a row": SHEET.format('<row r="2"><c r="A2"><v>1</v></c></row>') + '<rowBreaks count="0"/>',
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_sheets_are_read_all_the_same(tmp_path, kind):
    path = workbook(tmp_path / "x.xlsx", ("a", "visible", UNUSUAL[kind]))
    with closing(Workbook(path)) as book:
        tally, other = Tally(), Tally()
        assert list(book.rows(book.sheets[0], tally)) == list(book._rows_by_element(book.sheets[0], other))
        assert tally == other
