"""What is said of files that cannot be read as they are: the whole text, as a person sees it."""

from __future__ import annotations

import gzip
import io

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import call

PLAIN = "id,title,content\n1,标题一,今天天气很好我们去公园玩\n".encode()


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def workbook() -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["id", "content"])
    book.active.append([1, "x"])
    book.create_sheet("二")
    book.save(out)
    return out.getvalue()


ROWS = parquet(pa.table({"id": [1, 2], "content": ["a", "b"], "s": [{"html": "h", "text": "t"}] * 2}))
BOOK = workbook()
OLD = b"\xd0\xcf\x11\xe0" + b"\0" * 100
PACKED = gzip.compress(b"id,content\n1,x\n" * 1000)
# File name, its bytes, options, what is said.
CASES = {
    "empty csv": ("x.csv", b"", "", "x.csv is empty: it has no header line\n  wanted: a line of column names"),
    "blank lines": (
        "x.csv", b"\n\n  \n", "", "x.csv is empty: it has no header line\n  wanted: a line of column names",
    ),
    "empty parquet": ("x.parquet", b"", "", "x.parquet is empty\n  wanted: a Parquet file"),
    "empty workbook": ("x.xlsx", b"", "", "x.xlsx is empty\n  wanted: an Excel workbook (.xlsx)"),
    "xls": (
        "x.xls", OLD, "",
        "x.xls is a workbook of another kind (.xls)\n  wanted: an .xlsx workbook or a .csv file\n"
        "  try:    opening it in Excel, WPS or LibreOffice and saving it as .xlsx",
    ),
    "password": (
        "x.xlsx", OLD, "",
        "x.xlsx is no Excel workbook (.xlsx): it is an old Excel workbook (.xls) or one with a password\n"
        "  try:    opening it in Excel, WPS or LibreOffice and saving it as .xlsx without a password",
    ),
    "text named xlsx": (
        "x.xlsx", PLAIN, "",
        "x.xlsx is no Excel workbook (.xlsx): it is text\n  try:    --format csv (or tsv, jsonl)",
    ),
    "workbook named csv": (
        "x.csv", BOOK, "", "x.csv is a ZIP archive or Excel workbook (.xlsx), not csv\n  try:    --format xlsx",
    ),
    "parquet named csv": ("x.csv", ROWS, "", "x.csv is a Parquet file, not csv\n  try:    --format parquet"),
    "pdf": ("x.csv", b"%PDF-1.4", "", "x.csv is a PDF file, not csv"),
    "json named csv": (
        "x.csv", '{"id":1,"content":"一"}\n'.encode(), "",
        "x.csv has JSON in it, not csv\n  try:    --format jsonl",
    ),
    "xml": (
        "x.csv", b"<doclist>\n<doc>\n<url>http://a.b/c</url>\n", "",
        "x.csv looks like XML or HTML, which is not read\n"
        "  wanted: one row a line with its fields (CSV, TSV), or one JSON object a line",
    ),
    "html": (
        "x.csv", b'\n<!DOCTYPE html>\n<html lang="zh">', "",
        "x.csv looks like XML or HTML, which is not read\n"
        "  wanted: one row a line with its fields (CSV, TSV), or one JSON object a line",
    ),
    "csv named jsonl": (
        "x.jsonl", PLAIN, "",
        "x.jsonl line 1: not valid JSON (Expecting value at character 1): 'id,title,content'\n"
        "  wanted: one JSON object a line\n  try:    --format csv, if it is no JSON",
    ),
    "parquet cut off": (
        "x.parquet", ROWS[:-10], "",
        "x.parquet is incomplete: the footer of the Parquet file is missing\n"
        "  wanted: the whole file; the program that wrote it was stopped, or the copy was",
    ),
    "parquet without its mark": (
        "x.parquet", b"xxxx" + ROWS[4:], "",
        "x.parquet is no Parquet file (it lacks the mark at its start)\n  try:    another --format",
    ),
    "workbook cut off": (
        "x.xlsx", BOOK[:-30], "",
        "x.xlsx is a damaged workbook: File is not a zip file\n  try:    opening it in Excel or WPS and saving it anew",
    ),
    "gz cut off": (
        "x.csv.gz", PACKED[:-8], "",
        "x.csv.gz is damaged or incomplete: Compressed file ended before the end-of-stream marker was reached\n"
        "  wanted: a whole .gz file\n  try:    copying or downloading it again",
    ),
    "sheet": ("x.xlsx", BOOK, "--sheet 三", "x.xlsx has no sheet '三'\n  wanted: one of 'Sheet', '二'"),
    "empty sheet": ("x.xlsx", BOOK, "--sheet 二", "x.xlsx: sheet '二' is empty\n  wanted: a row of column names"),
    "empty header row": (
        "x.xlsx", BOOK, "--header-row 9", "x.xlsx: row 9, where --header-row looks, is empty",
    ),
    "no such line": (
        "x.csv", PLAIN, "--header-row 9", "x.csv has no line 9, where --header-row looks for the header",
    ),
    "encoding": (
        "x.csv", PLAIN, "--encoding klingon",
        "unknown encoding 'klingon' for --encoding\n"
        "  wanted: utf-8, gb18030, big5, utf-16 or another name that Python knows",
    ),
    "no mark": (
        "x.csv", PLAIN, "--encoding utf-16",
        "x.csv cannot be read as utf-16: UTF-16 stream does not start with BOM\n  try:    another --encoding",
    ),
    "delimiter": (
        "x.csv", PLAIN, "--delimiter ab",
        "--delimiter 'ab' is not one ASCII character\n  wanted: one character, or tab\n  try:    --delimiter ','",
    ),
    "quote": (
        "x.csv", PLAIN, "--quote xx",
        "--quote 'xx' is not one ASCII character\n  wanted: one character, or none\n  try:    --quote none",
    ),
    "the wrong delimiter": (
        "x.csv", PLAIN, "--delimiter ;",
        "no column looks like the text\n  wanted: one of id,title,content\n  try:    --delimiter ','",
    ),
    "missing column": (
        "x.csv", PLAIN, "--text 正文",
        "--text '正文': no such column in x.csv\n  wanted: one of 'id', 'title', 'content'",
    ),
    "struct": (
        "x.parquet", ROWS, "--text s",
        "--text 's' is a struct in x.parquet, not a text: struct<html: string, text: string>\n"
        "  wanted: one of its fields: s.html, s.text\n  try:    --text s.text",
    ),
    "a name that is hard to type": (
        "x.csv", b"a b,c\n1,2\n", "", "no column looks like the text\n  wanted: one of a b, c\n  try:    --text '#1'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_whole_message(monkeypatch, capsysbinary, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    file, data, options, message = CASES[name]
    (tmp_path / file).write_bytes(data)
    ran = call(monkeypatch, capsysbinary, "run", file, "-o", "u.csv", "-q", *options.split())
    assert (ran.err, ran.code, ran.out) == (f"error: {message}\n", 2, b"")
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_a_cut_parquet_page_names_the_file(monkeypatch, capsysbinary, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.parquet").write_bytes(ROWS[:4] + b"\xff" * 40 + ROWS[44:])
    ran = call(monkeypatch, capsysbinary, "run", "x.parquet", "-o", "u.csv", "-q")
    assert ran.code == 2
    assert ran.err.startswith("error: x.parquet is a damaged Parquet file: ")


@pytest.mark.parametrize(
    ("file", "data"), [("x.csv", "id,标题,正文\n".encode()), ("x.jsonl", b""), ("x.tsv", b"id\tcontent\n")]
)
def test_a_header_alone_is_no_error(monkeypatch, capsysbinary, tmp_path, file, data):
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_bytes(data)
    ran = call(monkeypatch, capsysbinary, "run", file, "-o", f"u{file[1:]}", "-q")
    assert (ran.err, ran.code) == ("", 0)
    assert (tmp_path / f"u{file[1:]}").read_bytes() == data
