"""Copying texts and hashes of rows against their plain twins."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, arrow, back, i64, numbers, sliced, u64

from newsdedup_cli.kernels import store

strings_lists = st.lists(any_text, min_size=1, max_size=5)


@given(strings_lists, st.data())
def test_gather(strings, data):
    chosen = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=8))
    whole, offsets = sliced(strings)
    found = store.gather(whole, offsets[:-1], np.diff(offsets), i64(chosen))
    assert back(*found) == [strings[i] for i in chosen]


@given(strings_lists, numbers)
def test_hash_rows(strings, seed):
    for data, offsets in (arrow(strings), sliced(strings)):
        found = store.hash_rows(data, offsets, u64([seed] * len(strings))).tolist()
        assert found == [naive.hash_row(text.encode(), seed) for text in strings]


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("", "a"), ("ab", "ba"), ("中", "国")])
def test_hash_rows_tells_rows_apart(one, other):
    found = store.hash_rows(*arrow([one, other]), u64([0, 0]))
    assert found[0] != found[1]
