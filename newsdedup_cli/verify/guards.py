"""Guards: what keeps a pair that scores as a copy from being merged, and what is listed for a person."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from newsdedup_cli.kernels import clauses, join, text
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import (
    F32,
    I32,
    I64,
    SAME,
    U8,
    U32,
    U64,
    UNKNOWN,
    URL,
    VERDICTS,
    Bools,
    Figures,
    Fingerprints,
    Pairs,
    Rows,
    Verified,
)
from newsdedup_cli.verify.shingles import LEAST_ALONE, LEAST_LEFT

NUMERALS = "〇零一二三四五六七八九十百千万亿两"
NEGATIONS = "不没无非"
# What may follow a number that is measured or counted: 8.31元 is no day, 8.31案 is one.
UNITS = "元角分万亿千百十度级米公里克吨斤升倍个人次名位件起辆台套只座家户张例年月日天周时点秒岁折成股"
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
CODE = {name: VERDICTS.index(name) for name in VERDICTS}
RECURRING = 30 * 86_400 * 1_000_000  # microseconds after which news of one form is new news
ANEW = 0.95  # score from which it is a copy nevertheless: who welcomes the same guest again changes a day and a name
FORM = 0.85  # score from which rows of one form are copies
FAMILY = 4  # rows that make a family
BRIEF = 200  # characters of a brief: its news is one sentence, the rest may be background
BRIEF_SCORE, BRIEF_ALIKE = 0.8, 0.72  # score from which it is a copy, beginning otherwise and beginning alike
SUPPORT, SAME_TITLE = (
    0.2,
    0.3,
)  # share of a title that its text should have, and similarity of one title's versions
LEAST_TITLE = 6  # different two-character shingles that a title needs to tell anything
OWN_TITLE = 0.15  # how much more of its title a text has than the other text, for the title to be its own
LEAST_LETTERS = 2  # letters besides figures that a clause needs for its form to mean something
# A Chinese numeral is as often part of a word, so it counts only where little else was changed: from a score on, and
# if of so many changed clauses one is such.
LITTLE_ELSE, ONE_OF = 0.85, 4
# A text with parts left out need not have so much left where all around it speaks for one story: nearly one title,
# and one soon after the other.
ONE_TITLE, SOON = 0.7, 3 * 86_400 * 1_000_000  # microseconds
CONTAINED_RATIO = 0.8  # lengths nearer than this are versions, not excerpts


Texts = Callable[[I64], tuple[npt.NDArray[np.uint8], I64]]


@cache
def numerals() -> U32:
    """Code points of Chinese numerals, ascending."""
    return np.array(sorted(map(ord, NUMERALS)), np.uint32)


@cache
def units() -> U32:
    """Code points of units, ascending."""
    return np.array(sorted(map(ord, UNITS)), np.uint32)


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
    """In how many clauses, equal otherwise, a pair differs: i4[P,3], by digits or opposite words, and by Chinese
    numerals or negations alone; and how many clauses were changed in any way."""
    nothing = np.zeros(0, np.uint32)
    words, classes, sides = (
        opposites() if matching.opposites else (np.zeros(0, np.uint64), *2 * [np.zeros(0, np.int64)])
    )
    if matching.numbers == "ignore" and not matching.opposites:
        return np.zeros((len(a), 3), np.int32)
    figures = numerals() if matching.numbers == "guard" else nothing
    denied = negations() if matching.opposites else nothing
    found: I32 = clauses.substitutions(
        codes, offsets, a, b, figures, units(), words, classes, sides, denied, FLASH, LEAST_LETTERS
    )
    return found


def verdicts(
    pairs: Pairs, fingerprints: Fingerprints, rows: Rows, figures: Figures, differing: I32, matching: Matching
) -> U8:
    """The verdict u1[P] of each pair, an index into VERDICTS."""
    verdict: U8 = np.zeros(len(pairs), np.uint8)
    if matching.verify == "none":
        verdict[:] = SAME
        return verdict
    score, containment = figures.score, figures.containment
    shorter = np.minimum(fingerprints.significant[pairs.a], fingerprints.significant[pairs.b])
    longer = np.maximum(fingerprints.significant[pairs.a], fingerprints.significant[pairs.b])
    near = score >= matching.near_score
    same = score >= matching.min_score
    verdict[near] = CODE["near"]
    verdict[same & ~_other_news(pairs, rows, figures, shorter)] = SAME
    within = (containment >= matching.contained) & (shorter < CONTAINED_RATIO * longer)
    least = np.where(_of_one_story(pairs, rows), LEAST_LEFT[figures.ends], LEAST_ALONE[figures.ends])
    cut_out = within & (figures.left < least)
    verdict[(within & ~same) | cut_out] = CODE["contained_in"]
    one_url = (pairs.origin & URL) != 0
    verdict[one_url & near] = CODE["same_url"]
    verdict[same & ~cut_out & in_figures(differing, score)] = CODE["numbers_differ"]
    verdict[near & (shorter < matching.short_text)] = CODE["short_text"]
    if matching.versions == "keep-latest":
        verdict[one_url & near] = SAME  # whatever differs between versions of one page
    return verdict


def _of_one_story(pairs: Pairs, rows: Rows) -> Bools:
    """Which pairs have nearly one title and were published one soon after the other, by what is known of both."""
    date_a, date_b = rows.date[pairs.a], rows.date[pairs.b]
    known = (date_a != UNKNOWN) & (date_b != UNKNOWN) & _tells(rows.title_bits[pairs.a])
    soon = np.abs(np.where(known, date_a, 0) - np.where(known, date_b, 0)) <= SOON
    found: Bools = known & soon & _tells(rows.title_bits[pairs.b])
    found[found] = title_similarity(rows.title_bits, pairs.a[found], pairs.b[found]) >= ONE_TITLE
    return found


def in_figures(differing: I32, score: F32) -> Bools:
    """Which pairs, of the clauses i4[P,3] of `differing_clauses`, are two reports and not one with slips."""
    strong, weak, changed = differing.T
    found: Bools = (strong > 0) | ((weak > 0) & (score >= LITTLE_ELSE) & (ONE_OF * weak >= changed))
    return found


def _other_news(pairs: Pairs, rows: Rows, figures: Figures, shorter: I32) -> Bools:
    """Which pairs are most likely two pieces of news in one form, by what stands around their texts."""
    date_a, date_b = rows.date[pairs.a], rows.date[pairs.b]
    known = (date_a != UNKNOWN) & (date_b != UNKNOWN)
    # What comes back after a month is written anew after the old form, unless little was changed.
    apart = np.where(known, np.abs(np.where(known, date_a, 0) - np.where(known, date_b, 0)), 0)
    recurring = (apart > RECURRING) & (figures.score < ANEW)
    # A brief that begins otherwise has other news over the same background.
    other_begin = (figures.ends & 1) == 0
    brief = (shorter < BRIEF) & (figures.score < np.where(other_begin, BRIEF_SCORE, BRIEF_ALIKE))
    # Texts that say nothing of either title, under two titles, are no articles.
    unsupported = (rows.title_support[pairs.a] < SUPPORT) & (rows.title_support[pairs.b] < SUPPORT)
    titles = unsupported & (title_similarity(rows.title_bits, pairs.a, pairs.b) < SAME_TITLE)
    found: Bools = recurring | brief | titles
    return found


def of_other_titles(texts: Texts, titles: Texts, a: I64, b: I64) -> Bools:
    """Whether of each pair both titles say clearly more of their own text than of the other's.

    Reprints under other headlines speak of one story; visits of two prime ministers in one form do not.
    """
    title_a, title_b, text_a, text_b = titles(a), titles(b), texts(a), texts(b)
    own_a, bits_a = text.title_evidence(*title_a, *text_a)
    own_b, bits_b = text.title_evidence(*title_b, *text_b)
    of_b = own_a - text.title_evidence(*title_a, *text_b)[0]
    of_a = own_b - text.title_evidence(*title_b, *text_a)[0]
    found: Bools = (of_a >= OWN_TITLE) & (of_b >= OWN_TITLE) & _tells(bits_a) & _tells(bits_b)
    return found


def hold_other_titles(verdict: U8, score: F32, other_titles: Bools) -> None:
    """Pairs under titles of their own are copies only from a high score on."""
    verdict[(verdict == SAME) & other_titles & (score < FORM)] = CODE["near"]


def _tells(bits: U64) -> Bools:
    """Whether titles with these bitmaps u8[P,4] are long enough to say anything: 第16版 or 快讯 is not."""
    enough: Bools = np.bitwise_count(bits).sum(axis=1) >= LEAST_TITLE
    return enough


def title_similarity(bits: U64, a: I64, b: I64) -> F32:
    """Jaccard similarity of the titles' bitmaps u8[N,4], 1 where either has no title, or one too short to tell."""
    common = np.bitwise_count(bits[a] & bits[b]).sum(axis=1)
    either = np.bitwise_count(bits[a] | bits[b]).sum(axis=1)
    missing = ~(_tells(bits[a]) & _tells(bits[b]))
    return np.where(missing, 1, common / np.maximum(either, 1)).astype(np.float32)


def foreign_bodies(fingerprints: Fingerprints, rows: Rows) -> I64:
    """Rows whose text stands under other titles too and says nothing of any of them: a page's foot, not an article."""
    of_text = (fingerprints.alone == 0) & rows.title_bits.any(axis=1)
    at = np.flatnonzero(of_text)
    order = at[np.lexsort((fingerprints.digest[at, 1], fingerprints.digest[at, 0]))]
    if len(order) == 0:
        return order
    ordered = fingerprints.digest[order]
    new = np.ones(len(order), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    support = np.maximum.reduceat(rows.title_support[order], starts)
    unlike = title_similarity(rows.title_bits, order, order[starts[group]]) < SAME_TITLE
    several = np.logical_or.reduceat(unlike, starts)
    found: I64 = order[((support < SUPPORT) & several)[group]]
    return found


def families(edges: Verified, rows: int) -> Bools:
    """Which of the rows belong to a family: many alike but for names and numbers, as state visits or obituaries are.

    Reprints of one story lie close together; in a family more pairs are nearly alike than alike.
    """
    loose = np.isin(edges.verdict, [SAME, CODE["near"], CODE["numbers_differ"]])
    some = edges.where(loose)
    label = join.components(rows, some.a, some.b)
    sizes = np.bincount(label, minlength=rows)
    alike = np.bincount(label[some.a], some.verdict == SAME, rows)
    every = np.bincount(label[some.a], minlength=rows)
    found: Bools = ((sizes >= FAMILY) & (2 * alike < every))[label]
    return found


def hold_families(pairs: Verified, family: Bools) -> None:
    """Within a family a pair is a copy only from a high score on."""
    held = (pairs.verdict == SAME) & family[pairs.a] & family[pairs.b] & (pairs.score < FORM)
    pairs.verdict[held] = CODE["near"]
