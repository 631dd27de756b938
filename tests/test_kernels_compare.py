"""Shingles, subsequences, ends, substitutions and sentences of pairs against their plain twins."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, arrow, i64, rows_of, u64

from newsdedup_cli.kernels import clauses, keys, overlap
from newsdedup_cli.kernels.text import significant_codes

NUMERALS, UNITS, NEGATIONS = "〇零一二三五九十百千万亿两", "元万度", "不没未非"
OPPOSITES = {"上调": (0, 0), "下调": (0, 1), "已": (1, 0), "未": (1, 1)}


ANY = st.lists(any_text, min_size=1, max_size=4)


@st.composite
def pairs(draw, strings=ANY):
    """Texts as codes, and pairs of them in any order."""
    made = draw(strings)
    at = st.integers(0, len(made) - 1)
    chosen = draw(st.lists(st.tuples(at, at), max_size=5))
    codes, offsets = significant_codes(*arrow(made))
    return codes, offsets, i64([a for a, _ in chosen]), i64([b for _, b in chosen])


def twins(function, codes, offsets, a, b, *rest):
    rows = rows_of(codes, offsets)
    return [function(rows[x], rows[y], *rest) for x, y in zip(a, b, strict=True)]


@given(pairs())
def test_shingle_overlap(drawn):
    assert overlap.shingle_overlap(*drawn).tolist() == twins(naive.shingle_overlap, *drawn)


@given(pairs())
def test_common_subsequence(drawn):
    assert overlap.common_subsequence(*drawn).tolist() == twins(naive.common_subsequence, *drawn)


@given(pairs(st.lists(st.text("甲乙丙丁。", min_size=50, max_size=210), min_size=1, max_size=3)))
def test_common_subsequence_of_several_words_of_bits(drawn):
    assert overlap.common_subsequence(*drawn).tolist() == twins(naive.common_subsequence, *drawn)


@given(
    pairs(st.lists(st.text("甲乙丙。3", max_size=60), min_size=1, max_size=4)), st.integers(1, 30), st.integers(5, 40)
)
def test_shared_ends(drawn, edge, reach):
    assert overlap.shared_ends(*drawn, edge, reach).tolist() == twins(naive.shared_ends, *drawn, edge, reach)


@given(pairs(st.lists(st.text("甲乙丙。3", max_size=60), min_size=1, max_size=4)), st.integers(5, 12))
def test_covered(drawn, gap):
    assert overlap.covered(*drawn, gap).tolist() == twins(naive.covered, *drawn, gap)


clause = st.text(st.sampled_from("甲乙3500.:%三十百万不未已上下调"), min_size=1, max_size=7)
# Few clauses and few fillers, so that texts of one form with other figures come up.
sentence = st.sampled_from(
    [
        "今天气温3度",
        "今天气温5度",
        "今天气温三度",
        "明天下雨",
        "明天不下雨",
        "油价上调3元",
        "油价下调3元",
        "他已签字",
        "他未签字",
        "3",
        "共5项",
        "8.31案告破",
        "831案告破",
        "涨8.31元",
        "涨831元",
    ]
)
reports = st.lists(st.one_of(sentence, sentence, clause), max_size=6).map("，".join)


def substitutions(codes, offsets, a, b, flash=200, least=2):
    entries = sorted((ord(w[0]) << 32 | (ord(w[1]) if len(w) > 1 else 0), *v) for w, v in OPPOSITES.items())
    words, classes, sides = zip(*entries, strict=True)
    numerals, units, negations = (np.array(sorted(map(ord, s)), np.uint32) for s in (NUMERALS, UNITS, NEGATIONS))
    return clauses.substitutions(
        codes, offsets, a, b, numerals, units, u64(words), i64(classes), i64(sides), negations, flash, least
    )


@given(pairs(st.lists(reports, min_size=1, max_size=3)), st.integers(0, 40), st.integers(0, 4))
def test_substitutions(drawn, flash, least):
    codes, offsets, a, b = drawn
    made = [naive.clauses(row, NUMERALS, UNITS, OPPOSITES, NEGATIONS, flash, least) for row in rows_of(codes, offsets)]
    twin = [naive.substitutions(made[x], made[y]) for x, y in zip(a, b, strict=True)]
    assert substitutions(*drawn, flash, least).tolist() == twin


@given(pairs(st.lists(reports, min_size=2, max_size=4)))
def test_substitutions_are_found_from_either_side(drawn):
    codes, offsets, a, b = drawn
    one, other = substitutions(codes, offsets, a, b), substitutions(codes, offsets, b, a)
    # How many there are may differ; whether there are any, and of the strong kind, must not: rows have no order.
    assert (one[:, 0] > 0).tolist() == (other[:, 0] > 0).tolist()
    assert (one[:, :2].sum(axis=1) > 0).tolist() == (other[:, :2].sum(axis=1) > 0).tolist()
    assert one[:, 2].tolist() == other[:, 2].tolist()


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("今天气温3度，无雨", "今天气温5度，无雨", [1, 0, 1]),
        ("今天气温三度，无雨", "今天气温五度，无雨", [0, 1, 1]),
        ("今天气温三度，无雨", "今天气温3度，无雨", [0, 0, 0]),
        ("今天气温03度，无雨", "今天气温3度，无雨", [0, 0, 0]),
        ("投资数百万元，今天起", "投资数千万元，今天起", [0, 1, 1]),
        ("投资一亿三千万元，今天起", "投资130000000元，今天起", [0, 0, 0]),
        ("二〇二三年的事，无雨", "2023年的事，无雨", [0, 0, 0]),
        ("比例3.05倍，无雨", "比例3.5倍，无雨", [1, 0, 1]),
        ("油价上调3元，今天起", "油价下调3元，今天起", [1, 0, 1]),
        ("公司承认此事，他说", "公司不承认此事，他说", [0, 1, 1]),
        ("侦破8.31专案，无雨", "侦破831专案，无雨", [0, 0, 0]),
        ("侦破8·31专案，无雨", "侦破831专案，无雨", [0, 0, 0]),
        ("侦破8.31专案，无雨", "侦破8.30专案，无雨", [1, 0, 1]),
        ("每件8.31元，无雨", "每件831元，无雨", [1, 0, 1]),
        ("每件8.41元，无雨", "每件841元，无雨", [1, 0, 1]),
        ("今天气温3度，无雨", "无雨，今天气温3度", [0, 0, 0]),
        ("今天气温3度，无雨", "无雨", [0, 0, 0]),
        ("", "今天气温3度", [0, 0, 0]),
    ],
)
def test_substitutions_by_example(one, other, found):
    codes, offsets = significant_codes(*arrow([one, other]))
    assert substitutions(codes, offsets, i64([0]), i64([1])).tolist() == [found]


@given(st.lists(st.lists(st.integers(1, 9), unique=True, max_size=4), min_size=1, max_size=4), st.data())
def test_shared_sentences(rows, data):
    at = st.integers(0, len(rows) - 1)
    chosen = data.draw(st.lists(st.tuples(at, at), max_size=5))
    table = u64([row + [0] * (4 - len(row)) for row in rows])
    found = overlap.shared_sentences(table, i64([a for a, _ in chosen]), i64([b for _, b in chosen]))
    assert found.tolist() == [naive.shared_sentences(rows[a], rows[b]) for a, b in chosen]


@given(st.lists(st.integers(0, 20), max_size=30), st.lists(st.integers(0, 20), max_size=8))
def test_among(values, chosen):
    assert keys.among(u64(values), u64(chosen)).tolist() == [value != 0 and value in chosen for value in values]


NUMBERS = {
    "零": 0, "十": 10, "十三": 13, "二十五": 25, "一百零三": 103, "三万五千": 35_000, "二〇二六": 2026, "百万": 10**6,
    "千万": 10**7, "两亿": 2 * 10**8, "一亿三千万": 130_000_000, "三万亿": 3 * 10**12, "一千二百三十五": 1235,
}  # fmt: skip


@pytest.mark.parametrize("word", NUMBERS)
def test_numerals(word):
    codes = np.array([ord(c) for c in word], np.uint32)
    assert clauses._numeral_value(codes, 0, len(codes)) == NUMBERS[word] == naive.numeral_value(word)
