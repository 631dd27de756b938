"""Arrow buffers there and back, and the store of cleaned texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, back, i64

from newsdedup_cli.texts import TextStore, buffers, strings

batches = st.lists(st.lists(any_text, max_size=4), max_size=4)


@given(st.lists(any_text, max_size=5), st.integers(0, 3), st.integers(0, 5))
def test_buffers_there_and_back(texts, begin, size):
    array = pa.array(texts, pa.large_string()).slice(begin, size)
    assert back(*buffers(array)) == texts[begin : begin + size]
    assert strings(*buffers(array)).to_pylist() == texts[begin : begin + size]


def test_buffers_of_other_strings():
    assert back(*buffers(pa.array(["一", "", "b"], pa.string()))) == ["一", "", "b"]
    assert back(*buffers(pa.array([], pa.large_string()))) == []
    assert back(*buffers(pa.array(["", ""], pa.large_string()))) == ["", ""]


@given(batches, st.data())
def test_what_is_stored_comes_back(made, data):
    texts = [text for batch in made for text in batch]
    at = st.integers(0, max(len(texts) - 1, 0))
    with TextStore(None) as store:
        for batch in made:
            store.append(*buffers(pa.array(["x", *batch], pa.large_string()).slice(1)))
        for _ in range(2 if texts else 0):
            rows = data.draw(st.lists(at, unique=True, max_size=3))
            new = data.draw(st.lists(any_text, min_size=len(rows), max_size=len(rows)))
            store.replace_strings(i64(rows), pa.array(new, pa.large_string()))
            for row, text in zip(rows, new, strict=True):
                texts[row] = text
        chosen = data.draw(st.lists(at, max_size=6)) if texts else []
        assert back(*store.gather(i64(chosen))) == [texts[row] for row in chosen]


def test_no_file_is_left(tmp_path):
    with TextStore(tmp_path) as store:
        store.append(*buffers(pa.array(["一"], pa.large_string())))
        assert back(*store.gather(i64([0, 0]))) == ["一", "一"]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="closed"):
        store.gather(np.zeros(1, np.int64))
