"""Several files as one corpus: columns, names, messages, both passes."""

import gzip
import hashlib
import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import FORMATS, format_of, open_sink, roles
from newsdedup_cli.files.base import ReadOptions, WriteOptions
from newsdedup_cli.files.corpus import Column, check_writable, input_paths, open_corpus
from newsdedup_cli.files.naming import unique_names


def corpus_of(tmp_path, *files, **options):
    paths = []
    for name, content in files:
        path = tmp_path / name
        if isinstance(content, pa.Table):
            pq.write_table(content, path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append(str(path))
    return open_corpus(paths, ReadOptions(**options), tmp_path)


def values(corpus, *specs):
    columns = {spec: [corpus.resolve(spec)] for spec in specs}
    found = {spec: [] for spec in specs}
    for batch in corpus.texts(columns):
        for spec in specs:
            found[spec] += batch.values[spec][0].to_pylist()
    return found


def message(function, *args):
    with pytest.raises(UserError) as error:
        function(*args)
    return str(error.value)


def test_union_of_columns_and_types(tmp_path):
    corpus = corpus_of(
        tmp_path,
        ("a.parquet", pa.table({"id": [1, 2], "content": ["x", "y"]})),
        ("b.csv", "content,id,source\nz,01,s\n"),
        ("c.jsonl", '{"id":3}\n{"id":4,"late":[1]}\n'),
    )
    assert values(corpus, "id", "content", "late") == {
        "id": ["1", "2", "01", "3", "4"],
        "content": ["x", "y", "z", None, None],
        "late": [None, None, None, None, "[1]"],
    }
    rows = [row for batch in corpus.full() for row in batch.columns.to_pylist()]
    assert corpus.schema.names == ["id", "content", "source", "late"]
    assert rows[0] == {"id": "1", "content": "x", "source": None, "late": None}
    assert rows[2] == {"id": "01", "content": "z", "source": "s", "late": None}
    assert [batch.first_row for batch in corpus.texts({"id": [corpus.resolve("id")]})] == [1, 3, 4]


def test_one_parquet_keeps_its_schema(tmp_path):
    table = pa.table({"id": [1], "t": pa.array([["a"]], pa.list_(pa.field("element", pa.string())))})
    table = table.replace_schema_metadata({"k": "v"})
    corpus = corpus_of(tmp_path, ("a.parquet", table))
    assert corpus.schema.equals(table.schema, check_metadata=True)


def test_same_types_in_several_files_are_kept(tmp_path):
    tables = [(f"{i}.parquet", pa.table({"id": [i]})) for i in range(2)]
    assert corpus_of(tmp_path, *tables).schema == pa.schema({"id": pa.int64()})


def test_repeated_and_blank_names(tmp_path):
    corpus = corpus_of(tmp_path, ("d.csv", "id,content,content,\n1,a,b,c\n"))
    assert message(corpus.resolve, "content", "--text") == (
        "--text 'content' stands for 2 columns: #2 and #3\n  wanted: one of them, by its number\n  try:    --text '#2'"
    )
    assert values(corpus, "#2", "#3", "#4") == {"#2": ["a"], "#3": ["b"], "#4": ["c"]}
    assert [column.label for column in corpus.columns] == ["id", "content", "content", "#4"]


def test_unknown_columns(tmp_path):
    corpus = corpus_of(tmp_path, ("n.csv", "id,contents,\ufeffx\n1,a,b\n"))
    assert message(corpus.resolve, "content", "--text") == (
        "--text 'content': no such column in n.csv\n"
        "  wanted: one of 'id', 'contents', '\\ufeffx'\n"
        "  try:    --text contents"
    )
    assert message(corpus.resolve, "x", "--id").endswith("try:    --id '#3'")
    assert message(corpus.resolve, "#9") == ("--text '#9': there are 3 columns\n  wanted: 'id', 'contents', '\\ufeffx'")


def test_struct_columns(tmp_path):
    table = pa.table({"id": [1], "content": [{"html": "h", "text": "t"}], "a.b": ["dotted"]})
    corpus = corpus_of(tmp_path, ("s.parquet", table))
    assert message(corpus.resolve, "content", "--text") == (
        "--text 'content' is a struct in s.parquet, not a text: struct<html: string, text: string>\n"
        "  wanted: one of its fields: content.html, content.text\n"
        "  try:    --text content.text"
    )
    assert values(corpus, "content.text", "a.b") == {"content.text": ["t"], "a.b": ["dotted"]}
    nested = corpus_of(tmp_path, ("s.jsonl", '{"content":{"text":"t"}}\n{"content":"x"}'))
    assert values(nested, "content.text") == {"content.text": ["t", None]}


def test_nothing_to_read(tmp_path):
    corpus = corpus_of(tmp_path, ("e.jsonl", ""))
    assert corpus.resolve("content") == Column("content")
    assert values(corpus, "content") == {"content": []}
    assert list(corpus.full()) == []


def test_objects_without_keys_are_rows(tmp_path):
    corpus = corpus_of(tmp_path, ("e.jsonl", "{}\n{}\n"), ("f.csv", "id\n7\n"))
    assert values(corpus, "id") == {"id": [None, None, "7"]}


@pytest.mark.parametrize("pack", [("gz", gzip.compress), ("zst", zstandard.compress)], ids=["gz", "zst"])
def test_compressed(tmp_path, pack):
    extension, compress = pack
    corpus = corpus_of(tmp_path, (f"a.csv.{extension}", compress("id,标题\n1,甲\n".encode())))
    assert values(corpus, "标题") == {"标题": ["甲"]}
    out = tmp_path / f"out.jsonl.{extension}"
    sink = open_sink(out, "jsonl", corpus.schema, WriteOptions(compression=extension))
    for batch in corpus.full():
        sink.write(batch)
    sink.close()
    assert values(open_corpus([str(out)], ReadOptions()), "标题") == {"标题": ["甲"]}


def test_standard_input(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,t\n1,x\n")))
    corpus = open_corpus(["-"], ReadOptions(format="csv"), tmp_path)
    assert (corpus.sources[0].name, values(corpus, "t"), values(corpus, "id")) == (
        "-",
        {"t": ["x"]},
        {"id": ["1"]},
    )


def test_patterns_and_missing_files(tmp_path):
    for name in ("b.csv", "a.csv", "[x].csv"):
        (tmp_path / name).write_text("id\n1\n")
    assert [path.name for path in input_paths([f"{tmp_path}/*.csv"])] == ["[x].csv", "a.csv", "b.csv"]
    assert [path.name for path in input_paths([f"{tmp_path}/[x].csv"])] == ["[x].csv"]
    assert message(input_paths, ["no/*.csv"]) == "no file matches 'no/*.csv'"
    options = ReadOptions()
    assert message(open_corpus, ["nosuch.csv"], options) == "no such file: nosuch.csv"
    assert message(open_corpus, [str(tmp_path)], ReadOptions(format="csv")).startswith(f"{tmp_path.name} is a folder")
    assert message(open_corpus, ["-"], options) == (
        "the format of standard input and output has to be named\n  try:    --format csv"
    )


def test_formats_by_name():
    assert {format_of(f"x{extension}") for format in FORMATS.values() for extension in format.extensions} == set(
        FORMATS
    )
    assert format_of("x.TSV.zst") == "tsv"
    assert format_of("x.dat", "CSV") == "csv"
    assert message(format_of, "x.dat") == (
        "cannot tell the format of x.dat by its extension\n"
        "  wanted: one of .csv, .txt, .tsv, .tab, .jsonl, .ndjson, .json, .parquet, .pq, .xlsx, .xlsm "
        "(text formats also with .gz or .zst)\n"
        "  try:    --format csv or tsv or jsonl or parquet or xlsx"
    )
    assert "saving it as .xlsx" in message(format_of, "x.xls")
    assert message(format_of, "x", "yaml") == (
        "unknown --format 'yaml'\n  wanted: one of csv, tsv, jsonl, parquet, xlsx"
    )


def test_a_workbook_named_csv_says_so(tmp_path):
    with pytest.raises(UserError, match=r"b\.csv is a ZIP archive or Excel workbook"):
        corpus_of(tmp_path, ("b.csv", b"PK\3\4\0\0\0\0"))


def test_roles():
    assert roles.guess(["ID", "Headline", "Body", "Published At", "Site", "Link"]) == {
        "id": 0, "title": 1, "text": 2, "date": 3, "source": 4, "url": 5,
    }  # fmt: skip
    assert roles.guess(["编号", "标题", "内容", "发布时间", "来源", "链接"]) == {
        "id": 0, "title": 1, "text": 2, "date": 3, "source": 4, "url": 5,
    }  # fmt: skip
    assert roles.guess(["foo", "bar"]) == {}
    assert roles.guess(["text", "content"])["text"] == 1


def test_unique_names():
    assert unique_names(["a", "a_2", "a"])[0] == ["a", "a_2", "a_3"]


def test_only_workbooks_have_limits(tmp_path):
    corpus = corpus_of(tmp_path, ("a.csv", f"id\n{'x' * 40_000}\n"))
    check_writable(corpus, "csv")
    with pytest.raises(UserError, match="40,000 characters"):
        check_writable(corpus, "xlsx")


def test_checksums(tmp_path):
    corpus = corpus_of(tmp_path, ("a.csv", "id\n1\n"))
    [(name, digest, size)] = corpus.checksums()
    assert (name, digest, size) == ("a.csv", hashlib.sha256(b"id\n1\n").hexdigest(), 5)


def test_rejects_stand_before_a_row(tmp_path):
    corpus = corpus_of(
        tmp_path,
        ("a.csv", 'id,t\n1,x\n2\n3,a "b" c\n4,"e "e" e",y,z\n5,y\n'),
        ("b.jsonl", '{"id":1}\n{bad\n[]\n{"id":2}\n'),
        ("c.csv", "id,t\n1\n"),
    )
    for _ in range(2):
        assert values(corpus, "id") == {"id": ["1", "3", "5", "1", "2"]}
        assert [(r.file, r.line, r.row) for r in corpus.rejects] == [
            ("a.csv", 3, 2), ("a.csv", 5, 3), ("b.jsonl", 2, 5), ("b.jsonl", 3, 5), ("c.csv", 2, 6),
        ]  # fmt: skip
