"""Columns in memory and columns in files are the same columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import any_text, i64

from newsdedup_cli import spill
from newsdedup_cli.spill import Grown, GrownTexts

parts_of = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9), min_size=1, max_size=5)
in_small_blocks = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(spill, "BLOCK", 64)
    monkeypatch.setattr(spill, "PAIRS", 3)


def grown(parts: list[np.ndarray], at: int | None) -> np.ndarray:
    """The column, spilled after so many parts."""
    column = Grown()
    for number, part in enumerate(parts):
        if number == at:
            column.spill(None)
        column.append(part)
    return column.whole()


@given(parts_of, st.integers(0, 5), st.sampled_from([(), (2,), (1, 3)]))
def test_a_column_is_what_was_added(parts, at, shape):
    arrays = [np.resize(np.array(part, np.uint64), (len(part), *shape)) for part in parts]
    expected = np.concatenate(arrays)
    for column in (grown(arrays, at), grown(arrays, None)):
        assert column.dtype == np.uint64
        assert column.shape == expected.shape
        assert np.array_equal(column, expected)


def test_a_spilled_column_can_be_changed_and_stays_so():
    column = grown([np.zeros(100_000, np.uint64)], 0)
    column[70_000] = 7
    spill.release()
    spill.settle()
    assert column.sum() == column[70_000] == 7


@given(st.lists(st.lists(st.none() | any_text, max_size=5), min_size=1, max_size=4), st.integers(0, 4))
def test_strings(parts, at):
    column = GrownTexts()
    for number, part in enumerate(parts):
        if number == at:
            column.spill(None)
        array = pa.array(["ahead", *part], pa.large_string()).slice(1)
        column.append(array)
    found = column.whole()
    found.validate(full=True)
    assert found.to_pylist() == [text for part in parts for text in part]


def test_what_is_added_is_counted_until_it_is_spilled():
    column = Grown()
    assert column.append(np.zeros(10, np.uint64)) == 80
    column.spill(None)
    assert column.append(np.zeros(10, np.uint64)) == 0


def test_blocks_cover_all_rows_once(small_blocks):
    offsets = i64([0, 3, 3, 20, 21, 22, 30, 30])
    ranges = list(spill.blocks(offsets))
    assert [row for begin, end in ranges for row in range(begin, end)] == list(range(7))
    assert all(end == begin + 1 or offsets[end] - offsets[begin] <= 8 for begin, end in ranges)
    assert list(spill.blocks(i64([0]))) == []


@in_small_blocks
@given(data=st.data(), size=st.integers(1, 60), at=st.sampled_from([0, None]))
def test_single_rows(small_blocks, data, size, at):
    array = grown([np.arange(3 * size, dtype=np.uint16).reshape(size, 3)], at)
    rows = i64(data.draw(st.lists(st.integers(0, size - 1), max_size=20)))
    assert np.array_equal(spill.rows_of(array, rows), array[rows])
    other = rows[::-1].copy()
    found = spill.over_pairs(lambda some, a, b: some[a, 0].astype(np.int64) * 1000 + some[b, 0], array, rows, other)
    assert np.array_equal(found, array[rows, 0].astype(np.int64) * 1000 + array[other, 0])


@in_small_blocks
@given(data=st.data(), sizes=st.lists(st.integers(0, 12), min_size=1, max_size=20), at=st.sampled_from([0, None]))
def test_rows_of_different_lengths(small_blocks, data, sizes, at):
    offsets = i64(np.cumsum([0, *sizes]))
    values = grown([np.arange(offsets[-1], dtype=np.uint64)], at)
    rows = sorted(data.draw(st.sets(st.integers(0, len(sizes) - 1))))
    found, bounds = spill.ragged_rows(values, offsets, i64(rows))
    got = [found[begin:end].tolist() for begin, end in pairwise(bounds.tolist())]
    assert got == [list(range(offsets[row], offsets[row + 1])) for row in rows]


def test_a_full_disk_is_named(monkeypatch, tmp_path):
    column = Grown()
    column.spill(tmp_path)
    with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123
        monkeypatch.setattr(column, "_file", full)
        with pytest.raises(OSError, match="No space") as caught:
            column.append(np.zeros(10, np.uint64))
    assert caught.value.filename == str(tmp_path)
