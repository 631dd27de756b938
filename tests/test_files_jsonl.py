"""JSON lines: spelling kept, odd lines read, bad ones put aside, lines unchanged."""

import json

import pyarrow as pa
import pytest

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import open_sink
from newsdedup_cli.files.base import Batch, FieldRef, ReadOptions
from newsdedup_cli.files.jsonl import JsonlSource


def source_of(tmp_path, text, **options):
    path = tmp_path / "x.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return JsonlSource(path, "x.jsonl", "jsonl", ReadOptions(**options))


def rows(source):
    return [row for batch in source.batches() for row in batch.columns.to_pylist()]


def written(tmp_path, source, marks=None):
    target = tmp_path / "out.jsonl"
    sink = open_sink(target, "jsonl", source.schema)
    for batch in source.batches(lines=True):
        sink.write(Batch(batch.columns, batch.raw, marks))
    sink.close()
    return target.read_text()


def test_spelling_of_values(tmp_path):
    line = '{"a": 18446744073709551617, "b": -0, "c": 1.0, "d": 1e5, "e": true, "f": null, '
    line += '"g": {"x": [1.50, "\\u4e2d"]}}'
    [row] = rows(source_of(tmp_path, line))
    assert row == {
        "a": "18446744073709551617", "b": "-0", "c": "1.0", "d": "1e5", "e": "true", "f": None,
        "g": '{"x":[1.50,"中"]}',
    }  # fmt: skip


def test_late_keys_duplicate_keys_and_bom(tmp_path):
    source = source_of(tmp_path, '\ufeff{"id":1}\n{"id":2,"late":"x"}\n\n{"id":3,"id":4}\n')
    assert rows(source) == [{"id": "1", "late": None}, {"id": "2", "late": "x"}, {"id": "4", "late": None}]
    assert source.findings.warnings == ["x.jsonl: 1 blank lines skipped"]


def test_what_only_lenient_readers_take(tmp_path):
    text = '{"a":NaN,"t":"x\\ud83d"}\n{"a":-Infinity,"t":"tab\tin"}\n{"a":1,"t":"\\ud83d\\ude00\\u0000"}\n'
    source = source_of(tmp_path, text)
    assert rows(source) == [
        {"a": "NaN", "t": "x\ufffd"},
        {"a": "-Infinity", "t": "tab\tin"},
        {"a": "1", "t": "😀\0"},
    ]
    assert source.findings.warnings == ["x.jsonl: 1 lone surrogates (halves of a character) became U+FFFD"]
    assert written(tmp_path, source) == text


def test_bad_lines_are_put_aside_once(tmp_path):
    source = source_of(tmp_path, '{"id":1}\n{"id":2,"x\n[1]\n3\n{"id":4}')
    for _ in range(2):
        assert [row["id"] for row in rows(source)] == ["1", "4"]
        found = [(reject.line, reject.reason, reject.raw) for reject in source.findings.rejects]
        assert found == [
            (2, "not valid JSON (Unterminated string starting at at character 9)", '{"id":2,"x'),
            (3, "not a JSON object but an array", "[1]"),
            (4, "not a JSON object but a number", "3"),
        ]


def test_lines_go_out_unchanged_and_null_is_not_missing(tmp_path):
    text = '{"id": 1, "a": null}\n{"id": 1.0}\n{ }\n{"b":"\\u4e2d"}\n'
    source = source_of(tmp_path, text)
    assert written(tmp_path, source) == text
    assert len(next(source.texts([FieldRef(0)]))[0]) == 4


def test_marks_are_spliced_in(tmp_path):
    source = source_of(tmp_path, '{"id": 1 } \n{}\n')
    marks = pa.record_batch({"similar_id": pa.array([0, 1]), "reason": pa.array(["", None])})
    assert written(tmp_path, source, marks) == (
        '{"id": 1,"similar_id":0,"reason":""}\n{"similar_id":1,"reason":null}\n'
    )


@pytest.mark.parametrize(
    "text",
    ['[{"a":1},\n {"a":"x\\ny"}\n]', '[\n  {\n    "a": 1\n  },\n{"a":"x\\ny"}]', '[{"a":1},{"a":"x\\ny"}]'],
)
def test_array_of_objects(tmp_path, text):
    source = source_of(tmp_path, text)
    assert rows(source) == [{"a": "1"}, {"a": "x\ny"}]
    assert [json.loads(line) for line in written(tmp_path, source).splitlines()] == [{"a": 1}, {"a": "x\ny"}]


def test_array_with_a_bad_element(tmp_path):
    source = source_of(tmp_path, '[{"a":1},\n{"a":oops},\n{"a":3}]')
    assert rows(source) == [{"a": "1"}, {"a": "3"}]
    assert [reject.line for reject in source.findings.rejects] == [2]


def test_texts_join_lists_and_follow_paths(tmp_path):
    source = source_of(tmp_path, '{"p":["a","b",null],"s":{"t":"x","u":{"v":1}}}\n{"p":[1],"s":"no"}\n')
    found = next(source.texts([FieldRef(0), FieldRef(1, ("t",)), FieldRef(1, ("u", "v"))]))
    assert [array.to_pylist() for array in found] == [["a\nb", "[1]"], ["x", None], ["1", None]]


def test_empty_file_has_no_rows(tmp_path):
    assert rows(source_of(tmp_path, "")) == []


def test_no_json_at_all(tmp_path):
    with pytest.raises(UserError) as error:
        source_of(tmp_path, "id,title\n1,x\n")
    assert str(error.value) == (
        "x.jsonl line 1: not valid JSON (Expecting value at character 1): 'id,title'\n"
        "  wanted: one JSON object a line\n"
        "  try:    --format csv, if it is no JSON"
    )


def test_gbk_lines(tmp_path):
    text = '{"标题":"县城关镇昨日举行春耕农机检修活动，机手把拖拉机开到广场。"}\n' * 3
    source = source_of(tmp_path, text.encode("gbk"))
    assert rows(source)[0]["标题"].startswith("县城关镇")
    assert written(tmp_path, source) == text


def test_nan_inside_other_values(tmp_path):
    source = source_of(tmp_path, '{"a": {"n": [1, NaN, -Infinity], "s": "x"}}\n{"a": [NaN]}\n')
    assert rows(source) == [{"a": '{"n":[1,NaN,-Infinity],"s":"x"}'}, {"a": "[NaN]"}]
