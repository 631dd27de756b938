"""Runs against a history: only new rows are written or removed, and what is told of the others."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from conftest import NO_JIT
from running import call, read, small_corpus, spawn, table, write

PARTS = 3


def days(rows: list[dict[str, str]], count: int = PARTS) -> list[list[dict[str, str]]]:
    """The rows in parts, as if crawled day after day."""
    size = -(-len(rows) // count)
    return [rows[i : i + size] for i in range(0, len(rows), size)]


@pytest.fixture(scope="module")
def corpus():
    return small_corpus()


@pytest.fixture
def run(monkeypatch, capsysbinary):
    def go(*args, code=0):
        done = call(monkeypatch, capsysbinary, "run", *args)
        assert done.code == code, done.err
        return done

    return go


def kept(path):
    return [row["id"] for row in read(path)]


def story(name: str, text: str, **more: str) -> dict[str, str]:
    return dict.fromkeys(("title", "source", "url", "pub_time"), "") | {"id": name, "content": text} | more


STORY = (
    "市水务局今天通报，东郊水厂三期工程已经完成主体施工，预计明年春天投入运行。工程建成后，城区每天的供水能力将增加二十万吨，"
    "沿线十二个街道的居民可以用上更稳定的自来水。施工单位介绍，项目采用了新的净水工艺，出水浊度明显低于国家标准。"
)
OTHER = (
    "省图书馆从下周起延长夜间开放时间，读者可以在阅览室待到晚上十点。馆方表示，延时服务先试行三个月，期间会统计入馆人数，"
    "再决定是否长期保留。考试季到来之前，自习区还将增加八十个座位，并且为视障读者准备了专用设备。"
)


def test_only_new_rows_are_written_and_removed(tmp_path, run, corpus):
    old, new = days(corpus, 2)
    write(tmp_path / "old.csv", old)
    write(tmp_path / "new.csv", [*new, {**old[0], "id": "again"}])
    before = (tmp_path / "old.csv").read_bytes()
    run(tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--against", tmp_path / "old.csv")
    report = tmp_path / "out.report"
    rows = table(report)
    assert [row["id"] for row in rows] == [row["id"] for row in new] + ["again"]
    assert {row["file"] for row in rows} == {"new.csv"}
    assert (tmp_path / "old.csv").read_bytes() == before
    assert kept(tmp_path / "out.csv") == [row["id"] for row in rows if row["kept"]]
    assert sorted(kept(tmp_path / "out.csv") + kept(report / "removed.csv")) == sorted(row["id"] for row in rows)
    again = rows[-1]
    assert not again["kept"]
    by_id = {row["id"]: i for i, row in enumerate(old, 1)}
    for row in rows:
        if row["kept_file"] == "old.csv":
            assert by_id[row["kept_id"]] == row["kept_row"]
        elif row["kept_file"] == "new.csv":
            assert rows[row["kept_row"] - 1]["kept"]
            assert rows[row["kept_row"] - 1]["id"] == row["kept_id"]
    counts = json.loads((report / "run.json").read_text())["counts"]
    assert counts["read"] == counts["kept"] + counts["removed"] == len(rows)
    assert counts["history"] == len(old)
    assert counts["removed_for_history"] == sum(row["kept_file"] == "old.csv" for row in rows) > 0


def test_a_history_of_another_format_with_other_columns(tmp_path, run):
    (tmp_path / "old.jsonl").write_text(json.dumps({"nr": "7", "正文": STORY}, ensure_ascii=False) + "\n", "utf-8")
    write(tmp_path / "new.csv", [story("a", STORY), story("b", OTHER)])
    done = run(
        tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--id", "id", "--text", "content",
        "--against", tmp_path / "old.jsonl",
    )  # fmt: skip
    assert kept(tmp_path / "out.csv") == ["b"]
    assert "history: columns guessed: text=正文" in done.err
    assert table(tmp_path / "out.report")[0]["kept_file"] == "old.jsonl"


def test_several_histories_of_which_one_has_copies_of_its_own(tmp_path, run):
    write(tmp_path / "a.csv", [story("a1", STORY), story("a2", STORY + "（记者甲）")])
    write(tmp_path / "b.csv", [story("b1", OTHER)])
    write(tmp_path / "new.csv", [story("n1", OTHER), story("n2", STORY), story("n3", STORY[:20] + OTHER[:30])])
    against = ["--against", tmp_path / "a.csv", "--against", str(tmp_path / "b.*")]
    run(tmp_path / "new.csv", "-o", tmp_path / "out.csv", *against)
    rows = table(tmp_path / "out.report")
    assert [row["kept"] for row in rows] == [False, False, True]
    assert [row["kept_file"] for row in rows[:2]] == ["b.csv", "a.csv"]


def test_an_id_that_both_have(tmp_path, run):
    write(tmp_path / "old.csv", [story("1", STORY), story("2", OTHER)])
    write(tmp_path / "new.csv", [story("1", OTHER), story("2", OTHER[::-1])])
    done = run(tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--against", tmp_path / "old.csv")
    assert "ids that the history has for other rows: 1, 2" in done.err
    first, second = table(tmp_path / "out.report")
    assert (first["kept_id"], first["kept_file"], first["kept_row"]) == ("2", "old.csv", 2)
    assert second["kept"]
    run_json = json.loads((tmp_path / "out.report" / "run.json").read_text())
    assert run_json["counts"]["ids_of_other_stories"] == 2
    assert any("ids that the history has" in note for note in run_json["notes"])


def test_an_input_is_not_its_own_history(tmp_path, run, corpus):
    first, second, third = days(corpus)
    for name, rows in (("1.csv", first), ("2.csv", second), ("3.csv", third)):
        write(tmp_path / name, rows)
    done = run(tmp_path / "3.csv", "-o", tmp_path / "out.csv", "--against", str(tmp_path / "?.csv"))
    assert "3.csv is an input" in done.err
    run(
        tmp_path / "3.csv",
        "-o",
        tmp_path / "same.csv",
        "--against",
        tmp_path / "1.csv",
        "--against",
        tmp_path / "2.csv",
    )
    assert kept(tmp_path / "out.csv") == kept(tmp_path / "same.csv")


@pytest.mark.parametrize("keep", ["auto", "first", "longest"])
def test_what_stays_in_the_history_stands_for_it(tmp_path, run, keep):
    """A copy of a stored row that was itself removed is removed for the row that stayed."""
    removed = STORY.replace("居民", "市民")
    write(tmp_path / "old.csv", [story("stays", STORY + "补充一句。"), story("went", removed)])
    write(tmp_path / "new.csv", [story("n", removed), story("m", removed + "又及")])
    run(tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--against", tmp_path / "old.csv", "--keep", keep)
    rows = table(tmp_path / "out.report")
    assert [(row["kept_id"], row["kept_row"], row["size"]) for row in rows] == [("stays", 1, 3)] * 2
    assert all(0.62 <= row["score"] < 1 for row in rows)


def test_marks_and_a_report_for_people(tmp_path, run):
    write(tmp_path / "old.csv", [story("h", STORY)])
    write(tmp_path / "new.csv", [story("n", STORY), story("m", OTHER)])
    run(tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--against", tmp_path / "old.csv", "--mark")
    marked = [(row["is_duplicate"], row["duplicate_of"]) for row in read(tmp_path / "out.csv")]
    assert marked == [("true", "h"), ("false", None)]
    assert (tmp_path / "out.report" / "report.html").stat().st_size > 1000


def test_what_cannot_be_a_history(tmp_path, run):
    write(tmp_path / "new.csv", [story("n", STORY)])
    out = ["-o", tmp_path / "out.csv"]
    done = run(tmp_path / "new.csv", *out, "--against", tmp_path, code=2)
    assert done.err.splitlines()[1:] == [
        f"error: {tmp_path} is no index",
        "  wanted: a folder with a manifest.json",
        f"  try:    newsdedup index build {tmp_path} INPUT...",
    ]
    assert "no file matches" in run(tmp_path / "new.csv", *out, "--against", str(tmp_path / "*.xyz"), code=2).err
    classic = ["--preset", "classic-simhash", "--against", tmp_path / "new.csv"]
    assert "the published recipes know no history" in run(tmp_path / "new.csv", *out, *classic, code=2).err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(NO_JIT, reason="many runs")
@pytest.mark.parametrize("window", [None, "2d"])
@pytest.mark.parametrize("how", ["index", "files"])
def test_day_after_day_keeps_what_one_run_keeps(tmp_path, run, corpus, window, how):
    """The full property, over random corpora, is tried with `first` in test_index."""
    start = date(2026, 3, 1)
    parts = days(corpus, 4)
    for day, rows in enumerate(parts):
        dated = [{**row, "pub_time": (start + timedelta(days=day)).isoformat()} for row in rows]
        write(tmp_path / f"{day}.csv", dated)
    same = ["--keep", "first", "--no-boilerplate", *(["--window", window] if window else [])]
    names = [tmp_path / f"{day}.csv" for day in range(len(parts))]
    run(*names, "-o", tmp_path / "all.csv", *same, "--no-report")
    union = []
    for day, name in enumerate(names):
        against = [word for earlier in names[:day] for word in ("--against", earlier)]
        history = ["--index", tmp_path / "index"] if how == "index" else against
        run(name, "-o", tmp_path / f"out{day}.csv", *same, *history, "--no-report")
        union += kept(tmp_path / f"out{day}.csv")
    assert union == kept(tmp_path / "all.csv")


def test_the_report_of_such_a_run_can_be_evaluated(tmp_path, run, monkeypatch, capsysbinary):
    write(tmp_path / "old.csv", [story("h", STORY)])
    write(tmp_path / "new.csv", [story("n", STORY), story("m", OTHER)])
    run(tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--against", tmp_path / "old.csv")
    (tmp_path / "truth.csv").write_text("id,cluster\nn,1\nm,2\n", "utf-8")
    done = call(monkeypatch, capsysbinary, "evaluate", tmp_path / "out.report", "--truth", tmp_path / "truth.csv")
    assert done.code == 0, done.err
    assert spawn("--help").code == 0
