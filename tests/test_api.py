"""From Python: the same answers as the command line, for frames and for texts one by one."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from conftest import NO_JIT
from hypothesis import given, settings
from hypothesis import strategies as st
from running import call, sample_rows, small_corpus, table, write
from strategies import HAN, any_text, u64

import newsdedup_cli
from newsdedup_cli import Deduplicator, dedup
from newsdedup_cli.errors import UserError
from newsdedup_cli.kernels import online

ROWS = small_corpus() if NO_JIT else sample_rows()


def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS)


def batch(rows: pl.DataFrame) -> pl.DataFrame:
    return dedup(rows, "content", id="id", title="title", date="pub_time", url="url", keep="first", boilerplate=False)


def one_by_one(rows: pl.DataFrame) -> list[tuple[int, bool, str | None]]:
    """similar_id, whether it is kept, and the id it was removed for, of each row fed one by one."""
    found = []
    with Deduplicator() as seen:
        for row in rows.iter_rows(named=True):
            about = (row["title"], row["pub_time"], row["url"])
            match = seen.find(row["content"], *about)
            assert seen.is_duplicate(row["content"], *about) == (match is not None)
            number = seen.add(row["content"], row["id"], *about)
            assert match is None or match.similar_id == number
            found.append((number, match is None, match and match.id))
    return found


def test_dedup_is_what_run_writes(tmp_path, monkeypatch, capsysbinary):
    source = write(tmp_path / "in.parquet", ROWS)
    assert call(monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "u.parquet", "-q").code == 0
    expected = table(tmp_path / "u.report")
    for line in expected:
        line["file"] = "frame"
    assert dedup(frame()).to_dicts() == expected


def test_frames_of_every_kind():
    rows = frame()
    expected = dedup(rows)
    assert isinstance(expected, pl.DataFrame)
    assert dedup(rows.lazy()).equals(expected)
    for given_frame in (rows.to_arrow(), rows.to_arrow().combine_chunks().to_batches()[0]):
        found = dedup(given_frame)
        assert isinstance(found, pa.Table)
        assert pl.from_arrow(found).equals(expected)
    with pytest.raises(UserError, match=r"a frame of type builtins\.list"):
        dedup([1])


def test_pandas():
    pandas = pytest.importorskip("pandas")
    found = dedup(pandas.DataFrame(ROWS))
    assert isinstance(found, pandas.DataFrame)
    assert found["kept"].tolist() == dedup(frame())["kept"].to_list()


def test_options_have_the_names_of_the_settings():
    with pytest.raises(UserError, match="unknown setting 'minscore'"):
        dedup(frame(), minscore=0.5)
    with pytest.raises(UserError, match="no such column"):
        dedup(frame(), text="body")
    strict = dedup(frame(), min_score=1.0, max_distance=0)
    assert strict["kept"].sum() > dedup(frame())["kept"].sum()
    assert dedup(frame().head(0)).height == 0


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_one_by_one_gives_what_the_batch_gives(seed):
    rows = frame() if seed is None else frame().sample(fraction=1, shuffle=True, seed=seed)
    expected = batch(rows)
    found = one_by_one(rows)
    assert [(n, k) for n, k, _ in found] == expected.select("similar_id", "kept").rows()
    assert [name for _, _, name in found] == expected["kept_id"].to_list()


@st.composite
def changed_texts(draw):
    """A few texts and many changed copies of them, as pairs of title and text."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    stories = ["".join(chance.choice(HAN + "。，35") for _ in range(chance.randrange(20, 400))) for _ in range(3)]
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        text = list(chance.choice(stories))
        for _ in range(chance.randrange(0, 1 + len(text) // 8)):
            at = chance.randrange(len(text))
            text[at : at + chance.choice([0, 1, 1, 9])] = chance.choice(["", "甲", "5", "。", "不"])
        rows.append((chance.choice(["", "桥梁通车", stories[0][:8]]), "".join(text)))
    return rows + [("", text) for text in draw(st.lists(any_text, max_size=3))]


@pytest.mark.skipif(NO_JIT, reason="minutes without JIT")
@settings(max_examples=25, deadline=None)
@given(changed_texts())
def test_any_texts_one_by_one(texts):
    rows = pl.DataFrame(
        {
            "id": [str(i) for i in range(len(texts))],
            "title": [title for title, _ in texts],
            "content": [text for _, text in texts],
            "pub_time": [None] * len(texts),
            "url": [None] * len(texts),
        },
        schema={name: pl.String for name in ("id", "title", "content", "pub_time", "url")},
    )
    expected = batch(rows)
    assert [(n, k) for n, k, _ in one_by_one(rows)] == expected.select("similar_id", "kept").rows()


def test_asking_adds_nothing():
    text = next(row["content"] for row in ROWS if len(row["content"]) > 200)
    with Deduplicator() as seen:
        assert not seen.is_duplicate(text)
        assert not seen.is_duplicate(text)
        assert (seen.similar_id(text), len(seen)) == (None, 0)
        assert (seen.add(text, "a"), seen.add(text, "b"), len(seen)) == (0, 0, 1)
        match = seen.find("【快讯】" + text)
        assert (match.id, match.reason, match.score, match.similar_id) == ("a", "exact", 1.0, 0)
        assert (seen.add(None), seen.add(""), seen.is_duplicate("")) == (1, 2, False)


@pytest.mark.parametrize(
    "options", [{"preset": "classic-simhash"}, {"window": "7d"}, {"boilerplate": True}, {"keep": "longest"}]
)
def test_what_cannot_be_told_one_by_one_is_refused(options):
    with pytest.raises(UserError):
        Deduplicator(**options)


def test_the_package_imports_nothing_heavy():
    code = "import sys, newsdedup_cli; print(sorted({'numba', 'polars', 'pyarrow', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert newsdedup_cli.Match.__name__ == "Match"
    with pytest.raises(AttributeError):
        newsdedup_cli.nothing  # noqa: B018


def naive_find(groups: list[list[int]], asked: list[int], near: int, anchors: int) -> set[int]:
    """The rows that a new row with these keys is paired with; groups[k] are the rows of key k, in order."""
    found = set()
    for i, key in enumerate(asked):
        if key == 0:
            continue
        before = [*groups[key], *(-1 for other in asked[:i] if other == key)]
        some = before if len(before) < near else [*before[:anchors], *before[-anchors:]]
        found |= {row for row in some if row >= 0}
    return found


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=20), st.lists(st.integers(0, 4), max_size=5))
def test_chains_twin(rows, asked):
    near, anchors = 6, 2
    heads, keys = np.full(2, -1, np.int32), np.zeros(128, np.uint64)
    entries, before = np.zeros(128, np.int32), np.zeros(128, np.int32)
    count = 0
    groups = [[row for row, own in enumerate(rows) for key in own if key == k] for k in range(5)]
    for row, own in enumerate(rows):
        count = online.insert(heads, keys, entries, before, count, u64(own), np.full(len(own), row, np.int32))
    for tables in (heads, np.full(64, -1, np.int32)):
        if tables is not heads:
            online.hang(tables, keys, before, count)
        found, by, total = online.find(tables, keys, entries, before, u64(asked), near, anchors, 256)
        assert total == len(found)
        assert set(found.tolist()) == naive_find(groups, asked, near, anchors)
        assert all(row in groups[asked[i]] for row, i in zip(found.tolist(), by.tolist(), strict=True))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**64 - 1), st.lists(st.lists(st.integers(0, 63), max_size=12), max_size=30), st.integers(0, 12))
def test_near_values_twin(value, flips, k):
    values = [value]
    for bits in flips:
        values.append(values[-1])
        for bit in bits:
            values[-1] ^= 1 << bit
    half = len(values) // 2
    changes = u64([x for x in range(8192) if x.bit_count() <= k // 5])
    tables = online.buckets(u64(values[:half]))
    places, found = online.near_values(*tables, u64(values[half:]), np.uint64(value), k, changes, 64)
    assert found == len(places)
    assert sorted(places.tolist()) == [i for i, v in enumerate(values) if (v ^ value).bit_count() <= k]


def test_an_index_comes_first(tmp_path, monkeypatch, capsysbinary):
    rows = frame()
    half = len(rows) // 2
    source = write(tmp_path / "old.parquet", ROWS[:half])
    options = ("--no-boilerplate", "--keep", "first", "-q")
    done = call(monkeypatch, capsysbinary, "index", "build", tmp_path / "index", source, *options)
    assert done.code == 0, done.err
    expected = batch(rows).slice(half)
    with Deduplicator(tmp_path / "index") as seen:
        for row, line in zip(rows.slice(half).iter_rows(named=True), expected.iter_rows(named=True), strict=True):
            about = (row["title"], row["pub_time"], row["url"])
            match = seen.find(row["content"], *about)
            assert (match is None, match and match.id) == (line["kept"], line["kept_id"])
            seen.add(row["content"], row["id"], *about)
    with pytest.raises(UserError, match="settings beside an index"):
        Deduplicator(tmp_path / "index", min_score=0.5)
