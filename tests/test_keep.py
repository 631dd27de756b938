"""Which row stays, and dates as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import i64, u64

from newsdedup_cli.dates import parse_date, parse_dates
from newsdedup_cli.keep import UNKNOWN, ranks
from newsdedup_cli.settings import KEEPS, Keeping

ROW = st.tuples(
    st.sampled_from([1, 2, 3, UNKNOWN]),  # date
    st.integers(1, 3),  # length
    st.integers(0, 2),  # source
    st.integers(0, 2),  # digest
    st.integers(0, 2),  # identity
)
# What a reader expects of each rule, as a key: less is better.
KEYS = {
    "auto": lambda date, length, source: (date, -length),
    "first": lambda date, length, source: (),
    "earliest": lambda date, length, source: (date, -length),
    "latest": lambda date, length, source: (date == UNKNOWN, -date, -length),
    "longest": lambda date, length, source: (-length, date),
    "source": lambda date, length, source: (source, date, -length),
}


def ranked(keep, rows):
    date, length, source, digest, identity = zip(*rows, strict=True)
    return ranks(
        Keeping(keep=keep),
        i64(date),
        np.array(length, np.int32),
        i64(source),
        u64([[d, 0] for d in digest]),
        u64(identity),
    )


@pytest.mark.parametrize("keep", KEEPS)
@given(rows=st.lists(ROW, min_size=1, max_size=9))
def test_ranks(keep, rows):
    found = ranked(keep, rows)
    content = [() if keep == "first" else row[3:] for row in rows]
    order = sorted(range(len(rows)), key=lambda i: (*KEYS[keep](*rows[i][:3]), *content[i], i))
    assert sorted(found.tolist()) == list(range(len(rows)))
    assert found[order].tolist() == list(range(len(rows)))


def _all_but_source(row):
    return (*row[:2], *row[3:])


@pytest.mark.parametrize("keep", [k for k in KEEPS if k != "first"])
@given(rows=st.lists(ROW, min_size=2, max_size=8, unique_by=_all_but_source), data=st.data())
def test_ranks_do_not_look_at_the_order_of_rows(keep, rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    assert ranked(keep, rows)[order].tolist() == ranked(keep, [rows[i] for i in order]).tolist()


DATES = {
    "2026-11-30": (2026, 11, 30),
    "2026/1/3": (2026, 1, 3),
    "2026年1月3日": (2026, 1, 3),
    "2026年11月30日 8:15": (2026, 11, 30, 8, 15),
    "2026年11月30日8时15分": (2026, 11, 30, 8, 15),
    "20261130": (2026, 11, 30),
    "2026-11-30 08:15:30": (2026, 11, 30, 8, 15, 30),
    "2026-11-30T08:15:30Z": (2026, 11, 30, 8, 15, 30),
    "2026-11-30T08:15:30+08:00": (2026, 11, 30, 0, 15, 30),
    "2026-11-30T08:15:30-0430": (2026, 11, 30, 12, 45, 30),
    "  2026-11-30  ": (2026, 11, 30),
    "1764460800": (2025, 11, 30),
    "1764460800000": (2025, 11, 30),
    "1764460800000000": (2025, 11, 30),
}


@pytest.mark.parametrize("text", DATES)
def test_dates(text):
    assert parse_date(text) == int(datetime(*DATES[text], tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    "text", [None, "", " ", "yesterday", "2026-13-01", "2026-02-30", "12", "11/30/2026", "2026", "99999999999"]
)
def test_no_dates(text):
    assert parse_date(text) == UNKNOWN


@given(st.one_of(st.text(max_size=25), st.text("0123456789-/: T年月日Z+.", max_size=25)))
def test_no_text_breaks_it(text):
    assert parse_dates(pa.array([text], pa.large_string()))[0] <= UNKNOWN


_NUMBER = st.integers(0, 99).map("{:02}".format)
_PLAIN = st.builds(
    "{}{}{}-{}{}{}{}".format,
    st.sampled_from(["19", "20", "18"]), _NUMBER, st.sampled_from(["-0", "-1", "-"]), st.integers(0, 9),
    st.sampled_from(["", "-"]), st.integers(1, 35), st.sampled_from(["", "Z", "\n"]),
)  # fmt: skip
_DATED = st.builds(
    "{}-{:02}-{:02}{}".format, st.integers(1850, 2150), st.integers(0, 13), st.integers(0, 32),
    st.sampled_from(["", " 08:15", "T23:59:59", " 24:00", " 8:15", " 08:60", "T08:15:00Z", " 08:15:00.5", " "]),
)  # fmt: skip


@given(st.lists(st.none() | _DATED | _PLAIN | st.datetimes().map(str), max_size=20))
def test_dates_at_once_are_dates_one_by_one(texts):
    found = parse_dates(pa.array(["ahead", *texts], pa.large_string()).slice(1), 2026)
    assert found.tolist() == [parse_date(text, 2026) for text in texts]


@given(st.datetimes(datetime(1970, 1, 1), datetime(2099, 12, 31)))
def test_iso(moment):
    micros = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution)
    assert abs(parse_date(moment.isoformat()) - micros) <= 1
    assert abs(parse_date(moment.isoformat(" ")) - micros) <= 1
