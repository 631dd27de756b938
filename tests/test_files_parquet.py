"""Parquet: types pass through, every kind of column can be a text, damage is named."""

import datetime as dt
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import open_sink, texts
from newsdedup_cli.files.base import Batch, FieldRef, ReadOptions
from newsdedup_cli.files.parquet import ParquetSource
from newsdedup_cli.files.texts import as_text


def source_of(tmp_path, table, **options):
    pq.write_table(table, tmp_path / "x.parquet", **options)
    return ParquetSource(tmp_path / "x.parquet", "x.parquet", "parquet", ReadOptions())


def bad_utf8():
    offsets, data = pa.array([0, 3], pa.int32()).buffers()[1], pa.py_buffer(b"a\xffb")
    return pa.StringArray.from_buffers(1, offsets, data)


UTC8 = dt.timezone(dt.timedelta(hours=8))
VALUES = {
    "string_view": (pa.array(["a", None], pa.string_view()), ["a", None]),
    "dictionary": (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
    "list": (pa.array([["a", None, "b"], None, []]), ["a\nb", None, ""]),
    "binary": (pa.array(["中".encode(), "国家新闻".encode("gbk"), None]), ["中", "国家新闻", None]),
    "null": (pa.nulls(2), [None, None]),
    "bool": (pa.array([True, None]), ["true", None]),
    "int": (pa.array([-1, 2**63 - 1]), ["-1", str(2**63 - 1)]),
    "uint64": (pa.array([2**64 - 1], pa.uint64()), [str(2**64 - 1)]),
    "float": (pa.array([1.0, 0.1, 1e20, None, float("nan")]), ["1", "0.1", f"1{'0' * 20}", None, None]),
    "float32": (pa.array([0.1], pa.float32()), ["0.1"]),
    "decimal": (pa.array([Decimal("1.50")]), ["1.50"]),
    "date": (pa.array([dt.date(2024, 1, 2)]), ["2024-01-02"]),
    "timestamp": (pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 600000)]), ["2024-01-02T03:04:05.6"]),
    "nanoseconds": (pa.array([1], pa.timestamp("ns")), ["1970-01-01T00:00:00.000000001"]),
    "zone": (
        pa.array([dt.datetime(2024, 1, 2, 8, tzinfo=UTC8)], pa.timestamp("s", "Asia/Shanghai")),
        ["2024-01-02T08:00:00+08:00"],
    ),
    "time": (pa.array([dt.time(8, 30)]), ["08:30:00"]),
    "struct": (pa.array([{"a": 1, "b": "中"}, None]), ['{"a":1,"b":"中"}', None]),
    "map": (pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())), ['{"k":1}', None]),
    "nested": (pa.array([[{"d": dt.date(2024, 1, 2)}, None]]), ['[{"d":"2024-01-02"},null]']),
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_values_as_text(case):
    array, wanted = VALUES[case]
    found = as_text(array, joined=True)
    assert found.to_pylist() == wanted
    doubled = pa.concat_arrays([array, array]).slice(len(array))
    assert as_text(doubled, joined=True).to_pylist() == wanted
    assert found.type == pa.large_string()
    assert found.offset == 0


def test_lists_are_json_and_nan_is_named_in_output():
    assert as_text(pa.array([["a", "b"]])).to_pylist() == ['["a","b"]']
    assert as_text(pa.array([float("nan")])).to_pylist() == ["NaN"]


def test_inexact_values_are_counted():
    counts = Counter()
    assert as_text(bad_utf8(), counts).to_pylist() == ["a\ufffdb"]
    as_text(pa.array([2.0**53, 1.0]), counts)
    as_text(pa.array(["国".encode("gbk")]), counts)
    assert counts == {texts.BAD_UTF8: 1, texts.BIG_FLOAT: 1, texts.NOT_UTF8_BINARY: 1}


def test_contiguous_after_a_slice():
    array = pa.array(["ab", None, "c", ""], pa.large_string())
    found = texts.contiguous(array.slice(1))
    assert (found.to_pylist(), found.offset) == ([None, "c", ""], 0)
    assert found.buffers()[2].to_pybytes() == b"c"


def table_of_everything():
    arrays = {case: array.slice(0, 1) for case, (array, _) in VALUES.items() if case != "string_view"}
    schema = pa.schema([pa.field(name, array.type) for name, array in arrays.items()], {b"made by": b"a crawler"})
    return pa.table(list(arrays.values()), schema=schema)


def test_everything_passes_through(tmp_path):
    source = source_of(tmp_path, table_of_everything())
    sink = open_sink(tmp_path / "out.parquet", "parquet", source.schema)
    for batch in source.batches():
        sink.write(batch)
    sink.close()
    before, after = pq.read_table(tmp_path / "x.parquet"), pq.read_table(tmp_path / "out.parquet")
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.equals(before)


def test_broken_utf8_passes_through_untouched(tmp_path):
    source = source_of(tmp_path, pa.table({"t": bad_utf8()}))
    sink = open_sink(tmp_path / "out.parquet", "parquet", source.schema)
    for batch in source.batches():
        sink.write(batch)
    sink.close()
    assert pq.read_table(tmp_path / "out.parquet")["t"].cast(pa.binary()).to_pylist() == [b"a\xffb"]
    assert next(source.texts([FieldRef(0)]))[0].to_pylist() == ["a\ufffdb"]
    assert len(list(source.texts([FieldRef(0)]))) == 1
    assert source.findings.warnings == [
        "x.parquet: column t: 1 values are not valid UTF-8; what cannot be decoded became U+FFFD"
    ]


def test_only_asked_columns_in_any_order_and_inside_structs(tmp_path):
    table = pa.table({"a": [1, 2], "s": [{"html": "h", "text": "t"}, None], "z.y": ["p", "q"], "b": ["x", "y"]})
    source = source_of(tmp_path, table, row_group_size=1)
    fields = [FieldRef(3), FieldRef(1, ("text",)), FieldRef(0), FieldRef(2)]
    found = [[array.to_pylist() for array in arrays] for arrays in source.texts(fields, rows=1)]
    assert found == [[["x"], ["t"], ["1"], ["p"]], [["y"], [None], ["2"], ["q"]]]


def test_damaged_files(tmp_path):
    source_of(tmp_path, pa.table({"a": ["x" * 1000]}))
    whole = (tmp_path / "x.parquet").read_bytes()
    for data, words in [
        (whole[:-20], "x.parquet is incomplete: the footer of the Parquet file is missing"),
        (b"id,title\n1,2\n", "x.parquet is no Parquet file (it lacks the mark at its start)"),
        (b"PK\3\4" + whole, "x.parquet is no Parquet file: it is a ZIP archive or Excel workbook (.xlsx)"),
        (whole[:4] + whole[-8:], "x.parquet is a damaged Parquet file"),
        (b"", "x.parquet is empty"),
    ]:
        (tmp_path / "x.parquet").write_bytes(data)
        with pytest.raises(UserError) as error:
            ParquetSource(tmp_path / "x.parquet", "x.parquet", "parquet", ReadOptions())
        assert str(error.value).startswith(words)


VIEWS = {
    "string view": pa.array(["a", None, "longer than twelve bytes"] * 3, pa.string_view()),
    "inside a struct": pa.array([{"x": "a"}] * 9, pa.struct([("x", pa.string_view())])),
    "list of them": pa.array([["a", None]] * 9, pa.list_(pa.string_view())),
    "binary view": pa.array([b"a"] * 9, pa.binary_view()),
    "run-end encoded": pa.RunEndEncodedArray.from_arrays(pa.array([4, 9], pa.int32()), pa.array(["a", "b"])),
}


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("kept", ["110000011", "000000000", "111111111", "010101010"])
def test_rows_are_chosen_in_columns_of_any_type(kind, kept):
    batch = Batch(pa.record_batch({"id": range(9), "x": VIEWS[kind]}))
    chosen = batch.filter(pa.array([c == "1" for c in kept])).columns
    assert chosen.schema == batch.columns.schema
    assert chosen.to_pylist() == [row for row, c in zip(batch.columns.to_pylist(), kept, strict=True) if c == "1"]
