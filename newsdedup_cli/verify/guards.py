"""Guards: what keeps a pair that scores as a copy from being merged, and what is listed for a person."""

from __future__ import annotations

from functools import cache

import numpy as np

from newsdedup_cli.kernels import compare
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import SAME, URL, VERDICTS, I32, I64, U8, U32, U64, Figures, Fingerprints, Pairs

NUMERALS = "〇零一二三四五六七八九十百千万亿两"
NEGATIONS = "不没无非"
# Words that turn a statement into its opposite, of one or two characters: what a reader takes for the same clause
# but for its sense.
OPPOSITES = [
    "上调 下调", "上涨 下跌", "上升 下降", "增加 减少", "增长 下滑", "提高 降低", "扩大 缩小", "流入 流出",
    "盈利 亏损", "获胜 失利", "支持 反对", "同意 拒绝", "允许 禁止", "开放 关闭", "批准 否决", "通过 未过",
    "买入 卖出", "升值 贬值", "加强 减弱", "开始 结束", "成功 失败", "承认 否认", "高于 低于", "多于 少于",
    "未 已", "当选 落选", "恢复 暂停", "上市 退市", "收紧 放松", "晋级 淘汰", "领先 落后", "有罪 无罪", "合法 违法",
]  # fmt: skip
# Characters up to which an added negation counts. In longer texts with many small changes a 不 more is mostly one of
# them (measured: it kept apart 5 % of the pairs with changed characters).
FLASH = 200
LEAST_LETTERS = 2  # letters besides figures that a clause needs for its form to mean something
# A Chinese numeral is as often part of a word, so it counts only where little else was changed.
LITTLE_ELSE = 0.85
# Score from which a text within a longer one is the same although its ends are not the other's: neither, only the
# begin, only the end, both.
CUT_OUT = np.array([0.75, 0.0, 0.7, 0.0], np.float32)
CONTAINED_RATIO = 0.8  # lengths nearer than this are versions, not excerpts


@cache
def numerals() -> U32:
    """Code points of Chinese numerals, ascending."""
    return np.array(sorted(map(ord, NUMERALS)), np.uint32)


@cache
def negations() -> U32:
    """Code points of negations, ascending."""
    return np.array(sorted(map(ord, NEGATIONS)), np.uint32)


@cache
def opposites() -> tuple[U64, I64, I64]:
    """Opposite words as pairs of code points u8[K], ascending, with their class and side."""
    entries = [
        ((ord(word[0]) << 32) | (ord(word[1]) if len(word) > 1 else 0), pair, side)
        for pair, words in enumerate(OPPOSITES)
        for side, word in enumerate(words.split())
    ]
    entries.sort()
    words, classes, sides = zip(*entries, strict=True)
    return np.array(words, np.uint64), np.array(classes, np.int64), np.array(sides, np.int64)


def differing_clauses(codes: U32, offsets: I64, a: I64, b: I64, matching: Matching) -> I32:
    """In how many clauses, equal otherwise, a pair differs: i4[P,2], by digits or opposite words, and by Chinese
    numerals or negations alone."""
    nothing = np.zeros(0, np.uint32)
    words, classes, sides = opposites() if matching.opposites else (np.zeros(0, np.uint64), *2 * [np.zeros(0, np.int64)])
    if matching.numbers == "ignore" and not matching.opposites:
        return np.zeros((len(a), 2), np.int32)
    figures = numerals() if matching.numbers == "guard" else nothing
    denied = negations() if matching.opposites else nothing
    found: I32 = compare.substitutions(
        codes, offsets, a, b, figures, words, classes, sides, denied, FLASH, LEAST_LETTERS
    )
    return found


def verdicts(
    pairs: Pairs, fingerprints: Fingerprints, figures: Figures, differing: I32, matching: Matching
) -> U8:
    """The verdict u1[P] of each pair, an index into VERDICTS."""
    code = {name: VERDICTS.index(name) for name in VERDICTS}
    verdict: U8 = np.zeros(len(pairs), np.uint8)
    if matching.verify == "none":
        verdict[:] = SAME
        return verdict
    score, containment = figures.score, figures.containment
    shorter = np.minimum(fingerprints.significant[pairs.a], fingerprints.significant[pairs.b])
    longer = np.maximum(fingerprints.significant[pairs.a], fingerprints.significant[pairs.b])
    near = score >= matching.near_score
    same = score >= matching.min_score
    verdict[near] = code["near"]
    verdict[same] = SAME
    within = (containment >= matching.contained) & (shorter < CONTAINED_RATIO * longer)
    cut_out = within & (score < CUT_OUT[figures.ends])
    verdict[(within & ~same) | cut_out] = code["contained_in"]
    differs = (differing[:, 0] > 0) | ((differing[:, 1] > 0) & (score >= LITTLE_ELSE))
    verdict[same & ~cut_out & differs] = code["numbers_differ"]
    short = shorter < matching.short_text
    verdict[near & short] = code["short_text"]
    one_url = (pairs.origin & URL) != 0
    verdict[one_url & near] = SAME if matching.versions == "keep-latest" else code["same_url"]
    return verdict
