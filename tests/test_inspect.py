"""`newsdedup inspect`: what it counts, what it finds suspicious, and how it tells it."""

from __future__ import annotations

import gzip
import json
import shlex
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli import survey, survey_counts, survey_signs, survey_text
from newsdedup_cli.cli import group
from newsdedup_cli.errors import UserError
from newsdedup_cli.terminal import Screen, text_width

SAMPLE = Path(__file__).parent.parent / "sample_data"
BODY = (
    "省水利厅昨日公布汛期值守安排，全省一百二十座水库全部落实责任人，"
    "夜间巡查每两小时一次，发现险情立即上报并转移下游群众，确保安全度汛。"
)


def called(*args: object) -> str:
    """What the command says on stdout."""
    done = CliRunner().invoke(group, ["inspect", "-q", *map(str, args)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def asked(*args: object) -> dict:
    return json.loads(called(*args, "--json"))


def refused(*args: object) -> str:
    done = CliRunner().invoke(group, ["inspect", "-q", *map(str, args)])
    assert isinstance(done.exception, UserError)
    return str(done.exception)


def csv_of(folder: Path, text: str, name: str = "news.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def lines_of(folder: Path, rows: list[dict], name: str = "news.jsonl") -> Path:
    return csv_of(folder, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), name)


def signs(answer: dict) -> dict[str, int]:
    return {sign["kind"]: sign["count"] for sign in answer["signs"]}


def test_the_whole_answer_for_a_person(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"007,汛期值守,{BODY},2024-03-05 08:15,http://a.example/1",
        f"007,<b>汛期</b>值守,<p>{BODY}</p>,昨天,http://a.example/1",
        ",,快讯,,",
        "9,只有标题",
        "10,,,2024年3月9日,http://a.example/2",
    ]
    csv_of(tmp_path, "编号,标题,正文,发布时间,链接\n" + "\n".join(rows) + "\n")
    assert called("news.csv") == (
        "news.csv\n"
        "--------\n"
        "format    csv, encoding utf-8, delimiter ',', 615 bytes\n"
        "rows      4, 1 rejected\n"
        "rejected  line 5: expected 5 fields, found 2: '9,只有标题'\n"
        "\n"
        "#  column    type  empty  role   samples\n"
        "1  编号      text  25%    id     007 | 10\n"
        "2  标题      text  50%    title  汛期值守 | <b>汛期</b>值守\n"
        "3  正文      text  25%    text   省水利厅昨日公布… | <p>省水利厅昨日公… | 快讯\n"
        "4  发布时间  text  25%    date   2024-03-05 08:15 | 昨天 | 2024年3月9日\n"
        "5  链接      text  25%    url    http://a.example/1 | http://a.example/2\n"
        "\n"
        "All rows\n"
        "--------\n"
        "text      正文: 1 empty, 1 too short to compare (under 6 letters and digits), 0\n"
        "          short (under 60), 0 over 32,767 characters; characters: least 2, 5% 2,\n"
        "          25% 2, median 66, 75% 73, 95% 73, most 73\n"
        "title     标题\n"
        "id        编号: 1 missing (row 3), 1 stands in several rows (2 rows): '007' in 2\n"
        "          (rows 1, 2)\n"
        "date      发布时间: 1 missing, 1 that cannot be read ('昨天' in row 2), from\n"
        "          2024-03-05 to 2024-03-09\n"
        "url       链接: 1 missing (row 3), 1 stands in several rows (2 rows):\n"
        "          'http://a.example/1' in 2 (rows 1, 2)\n"
        "source    no column\n"
        "\n"
        "Suspicious\n"
        "----------\n"
        "        1 row has HTML tags or entities\n"
        "          row 2, 正文: <p>省水利厅昨日公布汛期值守安排，全省一百二十座水库全部…\n"
        "          -> nothing: it is left out where texts are compared, and stays in the\n"
        "          output\n"
        "\n"
        "Next\n"
        "----\n"
        "newsdedup run news.csv -o unique.csv --id '编号' --title '标题' --text '正文' \\\n"
        "    --date '发布时间' --url '链接'\n"
    )


def test_the_whole_answer_for_a_header_without_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv_of(tmp_path, "id,content\n")
    assert called("news.csv") == (
        "news.csv\n"
        "--------\n"
        "format    csv, encoding utf-8, delimiter ',', 11 bytes\n"
        "rows      0, 0 rejected\n"
        "\n"
        "#  column   type  empty  role  samples\n"
        "1  id       text  -      id\n"
        "2  content  text  -      text\n"
        "\n"
        "All rows\n"
        "--------\n"
        "text      content: 0 empty, 0 too short to compare (under 6 letters and digits),\n"
        "          0 short (under 60), 0 over 32,767 characters\n"
        "title     no column\n"
        "id        id: 0 missing, none in several rows\n"
        "date      no column\n"
        "url       no column\n"
        "source    no column\n"
        "\n"
        "Suspicious\n"
        "----------\n"
        "nothing\n"
        "\n"
        "Next\n"
        "----\n"
        "newsdedup run news.csv -o unique.csv --id id --text content\n"
    )


def test_empty_files(tmp_path):
    assert refused(csv_of(tmp_path, "")) == (
        "news.csv is empty: it has no header line\n  wanted: a line of column names"
    )
    answer = asked(csv_of(tmp_path, "", "news.jsonl"))
    assert (answer["rows"], answer["files"][0]["columns"], answer["texts"]) == (0, [], None)
    assert "columns   none\n" in called(tmp_path / "news.jsonl")


def test_what_is_not_there_is_an_error(tmp_path):
    assert refused(csv_of(tmp_path, "id,content\n1,x\n"), "--text", "body") == (
        "--text 'body': no such column in news.csv\n  wanted: one of 'id', 'content'"
    )
    assert refused(tmp_path / "*.parquet") == f"no file matches '{tmp_path}/*.parquet'" or len(str(tmp_path)) > 40


@pytest.fixture(scope="module")
def sample() -> dict:
    with np.errstate(over="ignore"):  # as in conftest, which looks after tests only
        return asked(SAMPLE / "news.csv")


def test_the_sample_in_json(sample):
    assert sample["rows"] == 310
    assert not sample["limited"]
    file = sample["files"][0]
    assert {name: file[name] for name in ("file", "format", "rows", "rejected", "first_rejects", "warnings")} == {
        "file": "news.csv", "format": "csv", "rows": 310, "rejected": 0, "first_rejects": [], "warnings": [],
    }  # fmt: skip
    assert file["details"] == {"encoding": "utf-8", "why": "", "delimiter": "','"}
    assert file["columns"][0] == {
        "position": 1, "name": "id", "type": "text", "role": "id", "empty": 0, "first_filled": 1,
        "samples": ["085304", "078927", "090502"], "empty_share": 0.0,
    }  # fmt: skip
    assert [column["role"] for column in file["columns"]] == ["id", "title", "text", "source", "url", "date"]
    assert sample["roles"]["text"] == ["content"]
    assert sample["dates"] == {
        "missing": 0, "unreadable": 0, "examples": [], "unlikely": 0, "unlikely_examples": [],
        "span": ["2026-01-05", "2026-06-30"]
    }  # fmt: skip
    assert sample["ids"]["repeated"] == 0
    assert signs(sample) == {"html": 13}
    line = f"newsdedup run {SAMPLE}/news.csv -o unique.csv --id id --title title --text content"
    assert sample["command"] == f"{line} --date pub_time --source source --url url"


def test_empty_and_short_texts_are_those_of_a_run(sample):
    readme = (SAMPLE.parent / "README.md").read_text("utf-8")
    empty, too_short = sample["texts"]["empty"], sample["texts"]["too_short"]
    assert f"(no_text {empty}, too_short {too_short})" in readme
    assert list(sample["texts"]["characters"]) == ["0", "0.05", "0.25", "0.5", "0.75", "0.95", "1"]


@pytest.mark.skipif(NO_JIT, reason="slow without compiled kernels, and these are the same for all formats")
@pytest.mark.parametrize(
    ("name", "details"),
    [
        ("news_gb18030.csv", {"encoding": "gb18030", "delimiter": "','"}),
        ("news.xlsx", {"sheet": "news", "sheets": "news"}),
        ("news.jsonl", {"encoding": "utf-8", "why": ""}),
        ("news.parquet", {"rows": "310"}),
    ],
)
def test_the_same_rows_in_other_formats(sample, name, details):
    answer = asked(SAMPLE / name)
    file = answer["files"][0]
    assert details.items() <= file["details"].items()
    for part in ("rows", "texts", "ids", "urls", "dates"):
        assert answer[part] == sample[part]
    assert signs(answer) == signs(sample)


def test_an_encoding_is_told_with_its_reason():
    told = called(SAMPLE / "news_gb18030.csv")
    reason = "format    csv, encoding gb18030 (it is not UTF-8, and read so 99% of its\n"
    assert reason + "          characters are common Chinese ones), delimiter ',', 208 KB\n" in told
    assert "--text '正文'" in told


def test_no_line_is_wider_than_the_screen():
    for name in ("news.csv", "news_gb18030.csv", "news.jsonl"):
        assert max(map(text_width, called(SAMPLE / name).splitlines())) <= 80


def test_several_files_are_one_corpus(tmp_path):
    lines_of(tmp_path, [{"id": "1", "content": BODY}, {"id": "2", "content": BODY}], "a.jsonl")
    csv_of(tmp_path, f"编号,正文\n2,{BODY}\n,{BODY}\n", "b.csv")
    answer = asked(tmp_path / "[ab].*")
    assert [(file["file"], file["rows"]) for file in answer["files"]] == [("a.jsonl", 2), ("b.csv", 2)]
    assert answer["ids"]["examples"] == [{"value": "2", "count": 2, "rows": [2, 3]}]
    place = {"row": 4, "file": "b.csv", "row_in_file": 2, "column": "id|编号", "value": ""}
    assert answer["ids"]["first_missing"] == [place]
    # `run` guesses the columns in each file.
    assert answer["command"] == f"newsdedup run '{tmp_path}/[ab].*' -o unique.jsonl"
    told = called(tmp_path / "[ab].*")
    assert "id        id and 编号: 1 missing (b.csv:2), 1 stands in several rows (2 rows):\n" in told


def test_ids_that_a_workbook_spoilt(tmp_path):
    sheet = (book := openpyxl.Workbook()).active
    for row in (["id", "content"], [7627663684241002030, BODY], ["7627663684241002031", BODY]):
        sheet.append(row)
    book.save(tmp_path / "news.xlsx")
    answer = asked(tmp_path / "news.xlsx")
    assert signs(answer) == {"long_ids": 1}
    text = "7627663684241000000,7.62766E+18,12.0,1E5,1234567890123450"
    answer = asked(csv_of(tmp_path, "id,content\n" + "".join(f"{name},{BODY}\n" for name in text.split(","))))
    assert signs(answer) == {"rounded_ids": 2, "scientific_ids": 1, "float_ids": 1}
    assert answer["signs"][0]["example"]["value"] == "7627663684241000000"


def test_some_long_ids_end_in_zeros_by_chance():
    rounded = survey_signs.Rounded()
    rounded.add(pl.Series([f"{1234567890123456 + i}" for i in range(200)]))
    assert rounded.count == 0


GARBLED = "新闻标题：长江大桥今日通车，市民热议。"
SUSPICIOUS = {
    "utf8_as_gbk": GARBLED.encode().decode("gbk", "replace").replace("\ufffd", "?"),
    "utf8_as_latin1": GARBLED.encode().decode("latin-1"),
    "gbk_as_latin1": GARBLED.encode("gbk").decode("latin-1"),
    "replaced": "市民热\ufffd议",
    "html": "市民&nbsp;热议<br/>",
    "list": "['第一段', '第二段']",
    "escapes": r"第一段\n第二段",
    "controls": "市民\x01热议",
    "nothing": " NaN ",
    "cut": "市" * 32_767,
}
HARMLESS = [
    GARBLED,
    "Il a dit : « été », déjà vu à Genève – où l’hôtel coûte 50 €…",
    "Größe über 10 °C, naïve Füße, señor",
    "价格 < 5 且 > 3，AT&T 与 R&D",
    "某县××局······某某",
    "[图] 市民热议 [完]",
    "nano 材料",
    "C:\\temp\\new",
    "第一段\r\n\t第二段",
]


@pytest.mark.parametrize("kind", SUSPICIOUS)
def test_each_sign_is_found_and_shown(kind):
    column = pl.Series([GARBLED, None, SUSPICIOUS[kind]])
    found = [rule for rule in survey_signs.searched("text") if rule.found(column).any()]
    assert [rule.kind for rule in found] == [kind]
    assert found[0].found(column).to_list() == [False, False, True]
    assert found[0].example(SUSPICIOUS[kind])[-3:] in SUSPICIOUS[kind]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_not_suspicious(text):
    assert not [rule.kind for rule in survey_signs.searched("text") if rule.found(pl.Series([text])).any()]


def test_a_row_counts_once_for_text_and_title(tmp_path):
    answer = asked(csv_of(tmp_path, f"title,content\n<b>a</b>,<p>{BODY}</p>\n<b>b</b>,{BODY}\n"))
    assert signs(answer) == {"html": 2}


def test_keys_that_appear_late(tmp_path):
    rows = [{"id": i, "content": BODY} for i in range(100)] + [{"id": "x", "content": BODY, "meta": {"a": 1}}]
    answer = asked(lines_of(tmp_path, rows))
    assert signs(answer) == {"late_keys": 1}
    example = {"row": 101, "file": "news.jsonl", "row_in_file": 101, "column": "meta", "value": '{"a":1}'}
    assert answer["signs"][0]["example"] == example
    kinds = {column["name"]: column["type"] for column in answer["files"][0]["columns"]}
    assert kinds == {"id": "number/string", "content": "string", "meta": "object"}
    assert "        1 key has no value before row 101\n" in called(tmp_path / "news.jsonl")


def test_one_url_in_many_rows(tmp_path):
    rows = [{"id": str(i), "content": BODY, "url": f"http://a.example/{max(i, 4)}"} for i in range(6)]
    answer = asked(lines_of(tmp_path, rows))
    assert signs(answer) == {"same_url": 5}
    assert answer["urls"]["examples"] == [{"value": "http://a.example/4", "count": 5, "rows": [1, 2, 3]}]
    assert answer["signs"][0]["example"]["file"] == "news.jsonl"


def test_the_text_is_the_longest_column_where_no_name_tells(tmp_path):
    path = csv_of(tmp_path, f"nr,a,b\n1,短,{BODY}\n2,短,{BODY}\n")
    assert asked(path)["roles"] == {"text": ["b"]}
    assert "text      b (the longest column: no name tells): 0 empty" in called(path)
    path = csv_of(tmp_path, "nr,a\n1,短\n")
    assert asked(path)["texts"] is None
    assert asked(path)["command"].endswith("unique.csv --text COL")
    assert "text      no column looks like it: --text COL\n" in called(path)


def test_the_command_names_what_is_hard_to_type_by_number(tmp_path):
    path = csv_of(tmp_path, f"id ,content,content,the date\n1,{BODY},x,2024-01-01\n")
    words = shlex.split(asked(path, "--date", "the date", "--limit", "5", "--encoding", "utf-8")["command"])
    given_here = ["--date", "the date", "--encoding", "utf-8"]
    assert words == ["newsdedup", "run", str(path), "-o", "unique.csv", *given_here, "--id", "#1", "--text", "#2"]


def test_run_takes_the_command(sample):
    done = CliRunner().invoke(group, [*shlex.split(sample["command"])[1:], "--print-config"])
    chosen = tomllib.loads(done.stdout)["columns"]
    assert chosen == {
        "id": "id", "title": "title", "text": ["content"], "date": "pub_time", "source": "source", "url": "url"
    }  # fmt: skip


def test_odd_files(tmp_path):
    assert asked(lines_of(tmp_path, [{}, {}]))["rows"] == 2
    answer = asked(lines_of(tmp_path, [{"a\nb": "x", "\x1b[2J": 1}, {"content": BODY}]))
    assert answer["rows"] == 2
    told = called(tmp_path / "news.jsonl")
    assert "1  a b      string  50%          x\n" in told
    assert "\x1b" not in told
    wide = csv_of(tmp_path, ",".join(f"c{i}" for i in range(300)) + "\n" + ",".join("1" * 300) + "\n")
    assert len(asked(wide)["files"][0]["columns"]) == 300


def test_a_file_cut_off(tmp_path):
    path = tmp_path / "news.csv.gz"
    path.write_bytes(gzip.compress(f"id,content\n1,{BODY}\n".encode() * 50_000)[:-2000])
    assert "news.csv.gz" in refused(path)


def test_the_command_compares_titles_where_no_text_is(tmp_path):
    path = csv_of(tmp_path, "id,title,content\n1,水库值守安排公布,\n2,水库值守安排公布,\n")
    assert asked(path)["command"].endswith("--scope title")


def test_the_command_writes_long_texts_elsewhere_than_to_a_workbook(tmp_path, monkeypatch):
    found = survey.Survey(
        [], 1, False, {}, {}, False, survey_counts.TextInfo(0, 0, 6, 0, 60, 1, 9, {}), *[None] * 3, []
    )
    from newsdedup_cli.commands import inspect

    monkeypatch.setattr(survey, "survey", lambda *_: found)
    monkeypatch.setattr(survey_text, "draw", lambda *args: args[-1])
    path = tmp_path / "news.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["id", "content"])
    book.save(path)
    assert called(path) == f"newsdedup run {path} -o unique.parquet\n"
    assert inspect.command.name == "inspect"


def test_structs_and_other_types_of_parquet(tmp_path):
    table = pa.table(
        {
            "id": pa.array([1, 2]),
            "content": pa.array([{"html": "<p>", "text": BODY}, {"html": "", "text": None}]),
            "tags": pa.array([["a", "b"], []], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, tmp_path / "news.parquet")
    answer = asked(tmp_path / "news.parquet")
    assert answer["specs"]["text"] == ["content.text"]
    assert answer["files"][0]["columns"][0]["type"] == "int64"
    assert answer["texts"]["empty"] == 1
    assert "2  content  struct  0%     text  {" in called(tmp_path / "news.parquet")


def test_standard_input(monkeypatch):
    done = CliRunner().invoke(group, ["inspect", "-", "--format", "jsonl", "-q"], input=json.dumps({"content": BODY}))
    assert done.stdout.startswith("-\n-\nformat    jsonl, encoding utf-8")
    assert done.stdout.endswith("newsdedup run - -o unique.jsonl --format jsonl --text content\n")


def test_the_first_rows_only(tmp_path):
    path = tmp_path / "news.csv.gz"
    path.write_bytes(gzip.compress(("id,content\n" + f"1,{BODY}\n" * 5).encode()))
    answer = asked(path, "--limit", 3)
    assert (answer["rows"], answer["limited"], answer["files"][0]["rejected"]) == (3, True, None)
    assert answer["ids"]["examples"] == [{"value": "1", "count": 3, "rows": [1, 2, 3]}]
    assert "The first 3 rows (--limit)\n" in called(path, "--limit", 3)


def test_bad_bytes_and_an_overlong_text(tmp_path):
    path = tmp_path / "news.csv"
    path.write_bytes(f"id,content\n1,{BODY}\n2,{'市' * 40_000}\n3,坏".encode() + b"\xff\n")
    answer = asked(path)
    assert answer["texts"]["over_long"] == 1
    assert answer["files"][0]["warnings"] == ["news.csv: 1 bytes could not be decoded and became U+FFFD"]
    assert signs(answer) == {"replaced": 1}


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", " ", ""]), max_size=6), max_size=4))
def test_repeated_values_are_those_of_a_counter(batches):
    counts, first = survey_counts.KeyCounts(), 1
    for batch in batches:
        values = pl.Series(batch, dtype=pl.String)
        counts.add(values, survey_counts.is_blank(values), survey_counts.Where("f", first, first), "id")
        first += len(batch)
    every = [value for batch in batches for value in batch]
    several = {value: n for value, n in Counter(every).items() if n > 1 and value.strip()}
    distinct, rows, groups = counts.repeated()
    assert (distinct, rows) == (len(several), sum(several.values()))
    assert counts.missing == sum(not value.strip() for value in every)
    assert [place.row for place in counts.first_missing] == [i + 1 for i, v in enumerate(every) if not v.strip()][:3]
    most = sorted(several, key=lambda value: (-several[value], every.index(value)))[:3]
    assert [np.asarray(group).tolist() for group in groups] == [
        [i for i, value in enumerate(every) if value == name] for name in most
    ]


def test_dates_are_read_as_in_a_run():
    dates = survey_counts.DateCounts()
    values = pl.Series(["2024-03-05", None, "昨天", "2024年3月9日", " ", "昨天"])
    dates.add(values, survey_counts.is_blank(values), survey_counts.Where("f", 1, 1), "date")
    odd = pl.Series(["3732-07-13", "2100-01-01"])
    dates.add(odd, survey_counts.is_blank(odd), survey_counts.Where("f", 7, 7), "date")
    info = dates.info()
    assert [(place.row, place.value) for place in info.unlikely_examples] == [(7, "3732-07-13")]
    assert (info.missing, info.unreadable, info.span) == (2, 2, ("2024-03-05", "3732-07-13"))
    assert [place.row for place in info.examples] == [3, 6]


@given(st.lists(st.text(max_size=40), max_size=3), st.integers(20, 60))
def test_samples_fit_their_room(samples, room):
    assert text_width(survey_text._samples(samples, room)) <= max(room, 4 * len(samples) + 3 * (len(samples) - 1))


def test_a_long_command_is_broken_as_a_shell_takes_it():
    command = f"newsdedup run {'x' * 50}.csv -o unique.csv --text '正 文' --title title --id id"
    lines = survey_text._next(command, Screen())[1:]
    assert len(lines) > 1
    assert shlex.split(" ".join(line.removesuffix("\\") for line in lines)) == shlex.split(command)
