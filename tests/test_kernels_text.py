"""Digest, sentences, sketch, pieces and codes against their plain twins."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, arrow, back, numeric_texts, rows_of, sliced, texts, u64

from newsdedup_cli.kernels import text as kernels

lists = st.lists(any_text, max_size=4)


@given(lists, st.integers(1, 6), st.integers(1, 12), st.integers(1, 5))
def test_evidence(strings, sentences, least_sentence, least_piece):
    found = kernels.evidence(*arrow(strings), sentences, least_sentence, least_piece)
    digest, significant, longest, sketch, keys, pieces, piece_rows = found
    listed = rows_of(pieces, piece_rows)
    for row, text in enumerate(strings):
        twin = naive.evidence(text, sentences, least_sentence, least_piece)
        assert digest[row].tolist() == twin["digest"]
        assert significant[row] == twin["significant"]
        assert listed[row] == twin["pieces"]
        assert longest[row].tolist() == twin["sentences"]
        assert sketch[row].tolist() == twin["sketch"]
        assert keys[row].tolist() == twin["keys"]


@given(lists)
def test_a_slice_is_worth_its_copy(strings):
    for one, other in zip(
        kernels.evidence(*arrow(strings), 5, 4, 2), kernels.evidence(*sliced(strings), 5, 4, 2), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(
        kernels.significant_codes(*arrow(strings)), kernels.significant_codes(*sliced(strings)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@given(lists)
def test_significant_codes(strings):
    codes, offsets = kernels.significant_codes(*arrow(strings))
    assert rows_of(codes, offsets) == [naive.significant_codes(text) for text in strings]


@given(st.lists(numeric_texts, min_size=1, max_size=6))
def test_figures(strings):
    codes, offsets = kernels.significant_codes(*arrow(strings))
    assert rows_of(codes, offsets) == [naive.significant_codes(text) for text in strings]
    significant = kernels.evidence(*arrow(strings), 1, 1, 1)[1].tolist()
    assert significant == [len(naive.significant(text)) for text in strings]


@given(lists, st.integers(1, 5), st.data())
def test_strip_pieces(strings, least_piece, data):
    listed = [p for text in strings for p in naive.evidence(text, 1, 1, least_piece)["pieces"]]
    chosen = set(data.draw(st.lists(st.sampled_from(listed or [1]))))
    got = back(*kernels.strip_pieces(*sliced(strings), u64(sorted(chosen)), least_piece))
    assert got == [naive.strip_pieces(text, chosen, least_piece) for text in strings]


@given(lists)
def test_nothing_is_stripped_without_boilerplate(strings):
    assert back(*kernels.strip_pieces(*arrow(strings), u64([]), 2)) == strings


@given(texts)
def test_blanks_and_punctuation_tell_no_copies_apart(text):
    blank = "，".join(f" {c}" for c in text if c not in "0123456789")
    bare = "".join(c for c in text if c not in "0123456789")
    one, other = kernels.evidence(*arrow([blank, bare]), 1, 1, 1)[0]
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [("3.5", "35"), ("-2度", "2度"), ("35%", "35"), ("8:15", "815"), ("1/2", "12"), ("涨5%3月", "涨53月"), ("+3", "3")],
)
def test_what_belongs_to_a_number_counts(one, other):
    digest = kernels.evidence(*arrow([one, other]), 1, 1, 1)[0]
    assert digest[0].tolist() != digest[1].tolist()


def test_thousands_are_written_either_way():
    digest = kernels.evidence(*arrow(["投资1,200万元", "投资1200万元"]), 1, 1, 1)[0]
    assert digest[0].tolist() == digest[1].tolist()


def test_the_sketch_estimates_jaccard():
    rng = np.random.default_rng(7)
    base = rng.integers(0x4E00, 0x9FA5, 1500)
    changed = base.copy()
    changed[500:700] = rng.integers(0x4E00, 0x9FA5, 200)
    strings = ["".join(map(chr, codes)) for codes in (base, changed)]
    sketch = kernels.evidence(*arrow(strings), 1, 1, 1)[3]
    left, right, common = naive.shingle_overlap(base.tolist(), changed.tolist())
    jaccard = common / (left + right - common)
    assert abs(naive.sketch_similarity(*sketch.tolist()) - jaccard) < 0.16  # four standard errors


def test_empty_texts_have_nothing():
    digest, significant, longest, sketch, keys, pieces, rows = kernels.evidence(*arrow(["", "。", "😀"]), 2, 1, 1)
    assert significant.tolist() == [0, 0, 0]
    assert not longest.any()
    assert not sketch.any()
    assert not keys.any()
    assert len(pieces) == 0
    assert rows.tolist() == [0, 0, 0, 0]
    assert len({tuple(d) for d in digest.tolist()}) == 1


@given(lists, lists)
def test_title_evidence(titles, strings):
    n = min(len(titles), len(strings))
    support, bitmap = kernels.title_evidence(*arrow(titles[:n]), *sliced(strings[:n]))
    twin = [naive.title_support(a, b) for a, b in zip(titles, strings, strict=False)]
    np.testing.assert_allclose(support, np.array(twin, np.float32), rtol=1e-6)
    assert [row.any() for row in bitmap] == [len(naive.significant(title)) > 1 for title in titles[:n]]


@given(st.text("甲乙丙丁戊己", min_size=2, max_size=9))
def test_a_titles_bits_are_those_of_its_shingles(title):
    grams = [title[i : i + 2] for i in range(len(title) - 1)]
    _, whole = kernels.title_evidence(*arrow([title]), *arrow([""]))
    _, parts = kernels.title_evidence(*arrow(grams), *arrow([""] * len(grams)))
    assert whole[0].tolist() == np.bitwise_or.reduce(parts).tolist()
    assert all(int(a).bit_count() <= 1 for row in parts for a in row)
