"""Dates as people write them, and --window: what lies further apart is never one story."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from conftest import NO_JIT
from hypothesis import given, settings
from hypothesis import strategies as st
from running import call, read, sample_rows, table, write
from test_against import OTHER, STORY, story

from newsdedup_cli import job
from newsdedup_cli.candidates import Order, near_fingerprints
from newsdedup_cli.dates import parse_date, parse_span
from newsdedup_cli.errors import UserError
from newsdedup_cli.settings import settings_from
from newsdedup_cli.tables import UNKNOWN
from newsdedup_cli.task import Job

DAY = 86_400_000_000


@pytest.fixture
def run(monkeypatch, capsysbinary):
    def go(*args, code=0):
        done = call(monkeypatch, capsysbinary, "run", *args)
        assert done.code == code, done.err
        return done

    return go


WRITTEN = {
    "2026年11月30日下午3点20分": (2026, 11, 30, 15, 20),
    "2026年11月30日 上午 8:05": (2026, 11, 30, 8, 5),
    "2026-11-30 08:15 星期一": (2026, 11, 30, 8, 15),
    "2026.11.30": (2026, 11, 30),
    "20261130081500": (2026, 11, 30, 8, 15),
    "Nov 30, 2026": (2026, 11, 30),
    "November 30th, 2026 3:05 PM": (2026, 11, 30, 15, 5),
    "Mon, 30 Nov 2026 08:15:00 +0800": (2026, 11, 30, 0, 15),
    "30 Nov 2026": (2026, 11, 30),
    "46356": (2026, 11, 30),
    "46356.34375": (2026, 11, 30, 8, 15),
    "1764460800.5": (2025, 11, 30, 0, 0, 0, 500_000),
    "2026-11-30 12:05 AM": (2026, 11, 30, 0, 5),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_dates_as_people_write_them(text):
    assert parse_date(text) == (datetime(*WRITTEN[text], tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


@pytest.mark.parametrize("text", ["11-30 08:15", "11月30日 08:15", "11/30 8:15", "11月30日上午8时15分"])
def test_dates_without_a_year(text):
    assert parse_date(text) == UNKNOWN
    assert parse_date(text, 2026) == parse_date("2026-11-30 08:15")


@pytest.mark.parametrize("text", ["13-40", "2026年11月", "0", "123456", "12345.6.7", "May", "3.5", "2026.11"])
def test_no_dates(text):
    assert parse_date(text, 2026) == UNKNOWN


def test_spans():
    assert [parse_span(text) // 3_600_000_000 for text in ("12h", "7d", "2w", "1.5d", "90m", "3 days")] == [
        12, 168, 336, 36, 1, 72,
    ]  # fmt: skip
    for text in ("", "7", "d", "0d", "-1d", "7y", "1e9d"):
        with pytest.raises(UserError, match="a span of"):
            parse_span(text)


# ---- what is proposed within a window -------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=12), st.integers(1, 5))
def test_near_fingerprints_within_a_window(rows, window):
    """Few rows of a kind: all near ones within the window are paired, and only those."""
    prints = np.array([[0, 1, 3, 255][kind] for kind, _ in rows], np.uint64)
    order = Order(np.array([moment for _, moment in rows], np.int64), 0, window, True)
    a, b = near_fingerprints(prints, np.arange(len(rows)), 2, order)
    found = {(int(x), int(y)) for x, y in zip(a, b, strict=True)}
    expected = {
        (i, j)
        for j in range(len(rows))
        for i in range(j)
        if abs(rows[i][1] - rows[j][1]) <= window and int(prints[i] ^ prints[j]).bit_count() <= 2
    }
    assert found == expected


# ---- runs ------------------------------------------------------------------------------------------------


def days_of(*days: int, text: str = STORY) -> list[dict[str, str]]:
    start = date(2026, 3, 1)
    return [story(f"{i}", text, pub_time=(start + timedelta(days=day)).isoformat()) for i, day in enumerate(days)]


@pytest.mark.parametrize("keep", ["auto", "first", "latest"])
def test_equal_texts_fall_apart(tmp_path, run, keep):
    write(tmp_path / "a.csv", days_of(0, 3, 9, 12, 30))
    run(tmp_path / "a.csv", "-o", tmp_path / "o.csv", "--window", "4d", "--keep", keep)
    rows = table(tmp_path / "o.report")
    kept = [row["id"] for row in rows if row["kept"]]
    assert kept == (["1", "3", "4"] if keep == "latest" else ["0", "2", "4"])
    assert {row["reason"] for row in rows if not row["kept"]} == {"exact"}
    run(tmp_path / "a.csv", "-o", tmp_path / "p.csv", "--keep", keep)
    assert len(read(tmp_path / "p.csv")) == 1


def test_a_chain_of_days_does_not_carry_a_row_too_far(tmp_path, run):
    write(tmp_path / "a.csv", days_of(0, 3, 6, 9, 12))
    run(tmp_path / "a.csv", "-o", tmp_path / "o.csv", "--window", "4d")
    rows = table(tmp_path / "o.report")
    for row in rows:
        if not row["kept"]:
            assert abs(3 * (row["kept_row"] - row["row"])) <= 4
    assert 2 <= sum(row["kept"] for row in rows) <= 3


def test_unreadable_dates_are_named_and_compared_anyway(tmp_path, run):
    rows = [*days_of(0, 30), story("2", STORY, pub_time="soon"), story("3", OTHER, pub_time="")]
    write(tmp_path / "a.csv", rows)
    done = run(tmp_path / "a.csv", "-o", tmp_path / "o.csv", "--window", "4d", "--keep", "first")
    said = "1 dates cannot be read (row 3 'soon') and 1 rows have none: these rows are compared without the window"
    assert said in done.err.splitlines()
    assert said in json.loads((tmp_path / "o.report" / "run.json").read_text())["notes"]
    assert [row["id"] for row in read(tmp_path / "o.csv")] == ["0", "1", "3"]


def test_a_year_for_dates_without_one(tmp_path, run):
    rows = [story("0", STORY, pub_time="03-01 08:15"), story("1", STORY, pub_time="03-20 08:15")]
    write(tmp_path / "a.csv", rows)
    run(tmp_path / "a.csv", "-o", tmp_path / "o.csv", "--window", "7d", "--year", "2026")
    assert len(read(tmp_path / "o.csv")) == 2
    assert "four digits" in run(tmp_path / "a.csv", "-o", tmp_path / "p.csv", "--year", "26", code=2).err


def test_a_window_needs_dates(tmp_path, run):
    (tmp_path / "a.csv").write_text("id,content\n1,x\n", "utf-8")
    done = run(tmp_path / "a.csv", "-o", tmp_path / "o.csv", "--window", "7d", code=2)
    assert done.err.splitlines()[1:] == [
        "error: --window 7d without dates",
        "  wanted: a column of dates",
        "  try:    --date COL",
    ]
    assert "a span of" in run(tmp_path / "a.csv", "-o", tmp_path / "o.csv", "--window", "7", code=2).err


def test_only_the_days_within_the_window_are_opened(tmp_path, run):
    write(tmp_path / "old.csv", days_of(*range(20)))
    run(tmp_path / "old.csv", "-o", tmp_path / "old_o.csv", "--index", tmp_path / "ix", "--window", "2d")
    for part in (tmp_path / "ix").glob("day=2026-03-0*/*.parquet"):
        data = part.read_bytes()
        part.write_bytes(bytes(200) + data[200:])  # of those days no row is read
    write(tmp_path / "new.csv", days_of(21))
    run(tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--against", tmp_path / "ix", "--window", "2d")
    assert read(tmp_path / "o.csv") == []
    counts = json.loads((tmp_path / "o.report" / "run.json").read_text())["counts"]
    assert counts["history_compared"] == 1


# ---- day after day ---------------------------------------------------------------------------------------


@pytest.mark.skipif(NO_JIT, reason="many runs")
@settings(max_examples=3)
@given(st.data())
def test_the_union_of_days_is_one_run(tmp_path_factory, data):
    """With --keep first and no learnt boilerplate, also within a window, also with rows out of order and undated."""
    stories = [row for row in sample_rows() if len(row["content"]) > 60][:: data.draw(st.integers(17, 60))][:6]
    folder = tmp_path_factory.mktemp("days")
    count, number = data.draw(st.integers(2, 4)), 0
    names = []
    for day in range(count):
        rows = []
        for _ in range(data.draw(st.integers(1, 7))):
            text = data.draw(st.sampled_from(stories))["content"]
            cut, change = data.draw(st.integers(0, len(text) // 2)), data.draw(st.integers(0, 5))
            some = text[cut:] if change == 1 else text[: len(text) - cut] if change == 2 else text
            some = some.replace("。", "，某某。" if change == 3 else "。").replace("1", "7" if change == 4 else "1")
            moment = data.draw(st.sampled_from([day, day, day, max(0, day - 1), None]))
            when = "" if moment is None else (date(2026, 3, 1) + timedelta(days=moment)).isoformat()
            rows.append(story(str(number), some, pub_time=when))
            number += 1
        names.append(str(write(folder / f"{day}.csv", rows)))
    window = data.draw(st.sampled_from([None, "1d", "2d"]))
    matching = {"boilerplate": False, **({"window": window} if window else {})}
    chosen = settings_from({"matching": matching, "keeping": {"keep": "first"}})

    def kept(inputs, name, **history):
        job.run(Job(tuple(inputs), str(folder / name), None, quiet=True, threads=1, **history), chosen)
        return [row["id"] for row in read(folder / name)]

    whole = kept(names, "all.csv")
    assert [i for n in names for i in kept([n], "o" + n[-5:], index=folder / "ix")] == whole
    last = kept(names[-1:], "last.csv", against=tuple(names[:-1]))
    assert last == [i for i in whole if i in {row["id"] for row in read(folder / names[-1])}]
