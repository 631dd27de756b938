"""What a pair of texts is taken for: the measures against their twins, the verdicts by example."""

from __future__ import annotations

import difflib
import json

import naive
import numpy as np
import pyarrow as pa
import pytest
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st
from running import call, table
from strategies import arrow, i64, rows_of

from newsdedup_cli.kernels.text import significant_codes
from newsdedup_cli.settings import VERIFIERS as NAMES
from newsdedup_cli.verify import VERIFIERS, guards
from newsdedup_cli.verify.shingles import edit_ratio, shingle_shares

some_texts = st.lists(st.text("甲乙丙丁戊。3", max_size=40), min_size=2, max_size=2)


def codes_of(one, other):
    return (*significant_codes(*arrow([one, other])), i64([0]), i64([1]))


def test_every_verifier_can_be_asked_for():
    assert set(VERIFIERS) == set(NAMES)


@pytest.mark.parametrize("name", VERIFIERS)
@given(texts=some_texts)
def test_any_verifier(name, texts):
    verifier = VERIFIERS[name]
    score, containment, ends, left = verifier.figures(*codes_of(*texts))
    other = verifier.figures(*codes_of(*texts[::-1]))
    assert 0 <= score[0] <= 1
    assert 0 <= containment[0] <= 1
    assert ends[0] in range(4)
    assert 0 <= left[0] <= 1
    assert (score[0], containment[0], ends[0], left[0]) == tuple(column[0] for column in other)
    same = verifier.figures(*codes_of(texts[0], texts[0]))
    if len(naive.significant(texts[0])) >= naive.SHINGLE:
        assert same.score[0] == 1


@given(some_texts)
def test_measures(texts):
    codes, offsets, a, b = codes_of(*texts)
    x, y = (naive.letters(row) for row in rows_of(codes, offsets))
    left, right, common = naive.shingle_overlap(x, y)
    jaccard, containment, _ = shingle_shares(codes, offsets, a, b)
    assert jaccard[0] == pytest.approx(common / max(left + right - common, 1))
    assert containment[0] == pytest.approx(common / max(min(left, right), 1))
    ratio = edit_ratio(codes, offsets, a, b)[0]
    assert ratio == pytest.approx(2 * naive.common_subsequence(x, y) / max(len(x) + len(y), 1))
    # difflib looks for common runs greedily and never finds more.
    assert ratio >= difflib.SequenceMatcher(None, x, y, autojunk=False).ratio() - 1e-6 or not x + y


def test_no_pairs():
    none = i64([])
    for verifier in VERIFIERS.values():
        assert len(verifier.figures(np.zeros(0, np.uint32), i64([0]), none, none).score) == 0


STORY = (
    "昨天上午，河东新区的跨江步行桥正式开放，头一天就有四万多人走过。桥长一千二百米，宽九米，中间设了三处看江的平台。"
    "施工队说，最难的是主墩，江底有一层流沙，打桩时换了两种办法。附近的居民等这座桥等了十一年，以前过江要绕行七公里。"
    "管理方提醒，桥上禁止骑行，刮大风时会临时关闭，夜里十一点以后只留一侧照明。下个月，两岸的公交线路也将跟着调整。"
)
OTHER = (
    "省气象台说，未来三天北部山区有大到暴雨，沿河村庄要做好转移的准备。上周的降雨已经让六座水库超过汛限水位，"
    "其中两座正在泄洪。防汛部门派出了十二个工作组，住在堤上。村干部挨家挨户登记了老人和孩子，学校的体育馆铺好了床。"
)
CASES = {
    "the same words": (STORY, STORY, True, None),
    "punctuation and blanks": (STORY, STORY.replace("，", ", ").replace("。", "。\n"), True, None),
    "a few characters": (STORY, STORY.replace("正式开放", "开始通行").replace("附近的居民", "周围住户"), True, None),
    "a source line": (STORY, f"{STORY}（来源：江城晚报）", True, None),
    "another story": (STORY, OTHER, False, None),
    "another figure": (
        STORY.replace("四万多人", "45000人"),
        STORY.replace("四万多人", "61000人"),
        False,
        "numbers_differ",
    ),
    "an excerpt": (STORY + OTHER, STORY[: len(STORY) // 2], False, "contained_in"),
    "short flashes": (
        "河东步行桥今天上午开放，市民可以走过江去了。",
        "河东步行桥今天下午开放，市民可以走过江去了。",
        False,
        "short_text",
    ),
}


@pytest.mark.skipif(NO_JIT, reason="run by the same code, only slower")
@pytest.mark.parametrize("name", CASES)
def test_verdicts(monkeypatch, capsysbinary, tmp_path, name):
    one, other, merged, reason = CASES[name]
    monkeypatch.chdir(tmp_path)
    lines = (json.dumps({"id": i, "content": t}, ensure_ascii=False) for i, t in (("a", one), ("b", other)))
    (tmp_path / "t.jsonl").write_text("\n".join(lines), "utf-8")
    assert call(monkeypatch, capsysbinary, "run", "t.jsonl", "-o", "u.jsonl").code == 0
    assert len({row["similar_id"] for row in table(tmp_path / "u.report")}) == (1 if merged else 2)
    listed = table(tmp_path / "u.report", "candidates.parquet")
    assert [pair["reason"] for pair in listed] == ([reason] if reason else [])


def test_a_title_too_short_to_tell_keeps_nothing_apart():
    """第16版 and 第17版 stand in no text and say nothing of it; two headlines that differ do."""
    from newsdedup_cli.kernels import text
    from newsdedup_cli.texts import buffers

    titles = pa.array(["第16版", "第17版", "省城地铁三号线今日开通", "本周末全市降温有雨"], pa.large_string())
    empty = pa.array([""] * 4, pa.large_string())
    _, bits = text.title_evidence(*buffers(titles), *buffers(empty))
    similar = guards.title_similarity(bits, np.array([0, 2]), np.array([1, 3]))
    assert similar[0] == 1
    assert similar[1] < guards.SAME_TITLE
