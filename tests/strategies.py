"""Texts that break things: what hypothesis draws from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from newsdedup_cli.texts import buffers

HAN = "的一是在中国新闻报道今天天气上海经济增长公司市场"
NASTY = HAN + "0123456789.,:%-+/~ \n。！？；，、!?;三五百万不没未已aZéßμ×÷²①々"
NASTY += "〇が한\u3000\u00a0【】\U00020000𠮷😀\U0001f1e8\u200b\uffe5ｶ\uf900"

characters = st.sampled_from(NASTY)
texts = st.text(characters, max_size=60)
# Few characters, so that repeats and near repeats are the rule.
dull_texts = st.text(st.sampled_from("甲乙丙。\n3.5 "), max_size=40)
numeric_texts = st.text(st.sampled_from("35.,:%-+/~ 元\n三"), max_size=24)
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
any_text = st.one_of(texts, dull_texts, numeric_texts, anything)
numbers = st.integers(0, 2**64 - 1)


def arrow(strings: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The buffers of a large_string array of these texts."""
    return buffers(pa.array(strings, pa.large_string()))


def sliced(strings: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The same texts in the middle of a larger array, as batches have them."""
    array = pa.array(["前面的行", *strings, "后面的行"], pa.large_string())
    return buffers(array.slice(1, len(strings)))


def back(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    """The texts of buffers."""
    raw = data.tobytes()
    return [raw[i:j].decode() for i, j in pairwise(offsets)]


def u64(values) -> np.ndarray:
    return np.array(values, np.uint64)


def i64(values) -> np.ndarray:
    return np.array(values, np.int64)


def rows_of(values: np.ndarray, offsets: np.ndarray) -> list[list]:
    """Values by row."""
    return [values[i:j].tolist() for i, j in pairwise(offsets)]
