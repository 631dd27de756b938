"""Made-up news of any size with planted copies, and the truth beside it: the same arguments give the same rows.

Articles are put together from phrases of two to four words cut from sample_data's made-up texts, so that words
and their frequencies are those of news while sentences hardly ever recur: an average of 2.7 KB, log-normal. 30 % of
the rows are changed copies of one of the last 20,000 rows, 2 % are excerpts, which are no copies. A group of rows
is made at a time, with no Python object per row or phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from newsdedup_cli import segment

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "news.parquet"
VERSION = 1  # of the recipe: files of another one are not taken for these
SEED = 20240607
GROUP = 10_000  # rows made, and written as a row group, at a time
MEAN_CHARACTERS, SIGMA = 900, 0.45
COPIES, EXCERPTS = 0.30, 0.02
SENTENCE = (4, 10)  # phrases in a sentence: from, and below
COMMA, PARAGRAPH = 0.35, 0.3  # how often a phrase ends with a comma, a sentence with its paragraph
CHANGED = 0.02  # share of the phrases of a copy that are others
STORIES = ((1, 2, 3, 4, 5, 8, 15), (0.58, 0.20, 0.09, 0.05, 0.04, 0.03, 0.01))  # copies of one article, how often
START, DAYS = 1_704_067_200, 60  # seconds; the time that articles are spread over

MARKS = ("", "，", "。", "。\n")  # what a phrase may end with; a token is phrase x marks
NOTHING, COMMA_MARK, STOP, LAST = range(len(MARKS))
SITES = ("甲通讯社", "乙日报网", "丙新闻网", "丁视网", "戊财经", "己晚报", "庚都市报", "辛青年报", "壬时报", "癸经济报")
TAGS = ("【快讯】", "【最新】", "【独家】", "快讯：", "【转载】", "突发！")
TAILS = (
    "\n本文来源：{}，版权归原作者所有。",
    "\n声明：本文转载自{}，如有侵权请联系删除。",
    "\n扫描二维码关注{}官方微信，获取更多资讯",
    "\n（责任编辑：{}夜班）",
)
ADVERTS = (
    "\n更多精彩内容请关注{}公众号。\n",
    "\n打开{}客户端，查看更多高清大图\n",
    "\n【广告】{}会员限时优惠，点击了解详情>>\n",
)
FOOTERS = ("\n{}版权所有，未经书面授权不得转载或建立镜像。", "\n{}读者热线：请在工作日致电编辑部，欢迎提供新闻线索。")
KINDS = {"exact": 6, "tag": 15, "tail": 20, "drop": 16, "words": 15, "advert": 12, "markup": 6, "combo": 10}

Ints = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.int32]


@dataclass
class Texts:
    """Some texts as tokens i4[T] with the number of the sentence each stands in i4[T], offsets i8[N+1]; and titles."""

    tokens: Tokens
    sentence: Tokens
    offsets: Ints
    title: Tokens  # [N,3]
    cluster: Ints  # [N]
    second: Ints  # [N] seconds since 1970

    def __len__(self) -> int:
        return len(self.cluster)

    def take(self, rows: Ints) -> Texts:
        """The texts at these positions."""
        size = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(size)])
        at = np.repeat(self.offsets[rows] - offsets[:-1], size) + np.arange(offsets[-1])
        one = self.title[rows], self.cluster[rows], self.second[rows]
        return Texts(self.tokens[at], self.sentence[at], offsets, *one)

    def rows(self) -> Ints:
        """The text that each token stands in."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def where(self, keep: npt.NDArray[np.bool_]) -> Texts:
        """Without the tokens that are not to be kept."""
        offsets = np.concatenate([[0], np.cumsum(keep)])[self.offsets]
        return replace(self, tokens=self.tokens[keep], sentence=self.sentence[keep], offsets=offsets)

    def insert(self, rows: Ints, at: Ints, tokens: Tokens) -> Texts:
        """With one more token in each of these texts (ascending), before the position `at`."""
        more = np.zeros(len(self) + 1, np.int64)
        more[rows + 1] = 1
        return replace(
            self,
            tokens=np.insert(self.tokens, at, tokens),
            sentence=np.insert(self.sentence, at, 0),
            offsets=self.offsets + np.cumsum(more),
        )


def joined(parts: list[Texts]) -> Texts:
    """The texts of several, in order."""
    ends = np.cumsum([0, *(len(part.tokens) for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends, strict=False)]
    return Texts(
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.sentence for part in parts]),
        np.concatenate([*offsets, ends[-1:]]),
        np.concatenate([part.title for part in parts]),
        np.concatenate([part.cluster for part in parts]),
        np.concatenate([part.second for part in parts]),
    )


@cache
def phrases() -> list[str]:
    """Two to four words in a row, within a clause, of sample_data's texts; sorted."""
    lexicon = segment.load_lexicon()
    found: set[str] = set()
    for text in pq.read_table(SAMPLE, columns=["content"])["content"].to_pylist():
        for clause in re.split(r"[^\w.%]+", text or ""):
            words = segment.words(clause, lexicon)
            for n in (2, 3, 4):
                found.update("".join(words[i : i + n]) for i in range(len(words) - n + 1))
    return sorted(phrase for phrase in found if 3 <= len(phrase) <= 8)


@dataclass(frozen=True)
class Vocabulary:
    """All that a text can be made of: phrases x MARKS, then the lines of sites and the tags."""

    strings: pa.Array
    phrases: int
    width: float  # characters of a token on the average
    tags: Ints
    tails: Ints
    adverts: Ints
    footers: Ints  # [sites, 2]
    markup: Ints  # [2], before and after

    def phrase(self, numbers: Ints, marks: Ints) -> Tokens:
        """The tokens of phrases with their marks."""
        return (numbers * len(MARKS) + marks).astype(np.int32)


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary; its tokens are numbers into `strings`."""
    strings = [phrase + mark for phrase in phrases() for mark in MARKS]
    width = sum(map(len, phrases())) / len(phrases()) + COMMA

    def add(lines: list[str]) -> Ints:
        strings.extend(lines)
        return np.arange(len(strings) - len(lines), len(strings))

    return Vocabulary(
        tags=add(list(TAGS)),
        tails=add([line.format(site) for site in SITES for line in TAILS]),
        adverts=add([line.format(site) for site in SITES for line in ADVERTS]),
        footers=add([line.format(site) for site in SITES for line in FOOTERS]).reshape(len(SITES), len(FOOTERS)),
        markup=add(["<p>\u3000\u3000", "</p>"]),
        strings=pa.array(strings, pa.string()),
        phrases=len(phrases()),
        width=width,
    )


def articles(rng: np.random.Generator, number: int, first: int) -> Texts:
    """New articles, their clusters counted from `first`."""
    known = vocabulary()
    length = rng.lognormal(np.log(MEAN_CHARACTERS) - SIGMA**2 / 2, SIGMA, number)
    sentences = np.maximum(2, np.rint(length / (known.width * (sum(SENTENCE) - 1) / 2))).astype(np.int64)
    size = rng.integers(*SENTENCE, int(sentences.sum()))
    ends = np.cumsum(size)
    mark = np.where(rng.random(int(ends[-1])) < COMMA, COMMA_MARK, NOTHING)
    mark[ends - 1] = np.where(rng.random(len(ends)) < PARAGRAPH, LAST, STOP)
    last = np.cumsum(sentences) - 1
    mark[ends[last] - 1] = STOP
    nth = np.arange(len(size)) - np.repeat(last + 1 - sentences, sentences)
    second = START + rng.integers(0, DAYS * 86_400, number)
    return Texts(
        known.phrase(rng.integers(0, known.phrases, len(mark)), mark),
        np.repeat(nth, size).astype(np.int32),
        np.concatenate([[0], ends[last]]),
        known.phrase(rng.integers(0, known.phrases, (number, 3)), np.zeros((number, 3), np.int64)),
        first + np.arange(number),
        second,
    )


def copies(rng: np.random.Generator, pool: Texts, number: int) -> tuple[Texts, list[str]]:
    """Changed copies of articles of the pool, and what was changed in each."""
    sizes = rng.choice(STORIES[0], number, p=STORIES[1])
    stories = np.resize(rng.permutation(len(pool)), number)
    made = pool.take(np.repeat(stories, sizes)[:number])
    kinds = rng.choice(list(KINDS), number, p=np.array([*KINDS.values()]) / sum(KINDS.values()))
    made = replace(made, second=made.second + rng.integers(60, 3 * 86_400, number))
    return _changed(rng, made, kinds), kinds.tolist()


def _changed(rng: np.random.Generator, texts: Texts, kinds: npt.NDArray[np.str_]) -> Texts:
    known = vocabulary()

    def of(*names: str) -> Ints:
        return np.flatnonzero(np.isin(kinds, [*names, "combo"]))

    row = texts.rows()
    hit = np.isin(row, of("words")) & (rng.random(len(row)) < CHANGED)
    tokens = texts.tokens.copy()
    tokens[hit] = known.phrase(rng.integers(0, known.phrases, int(hit.sum())), tokens[hit] % len(MARKS))
    number = texts.sentence[texts.offsets[1:] - 1] + 1  # sentences of each text
    gone = np.full(len(texts), -1)
    gone[of("drop")] = rng.integers(0, number[of("drop")])
    texts = replace(texts, tokens=tokens).where(texts.sentence != gone[row])
    texts = _with_adverts(rng, texts, np.flatnonzero(kinds == "advert"))
    for rows, before, after in (
        (of("tag"), known.tags, None),
        (of("tail"), None, known.tails),
        (np.flatnonzero(kinds == "markup"), known.markup[:1], known.markup[1:]),
    ):
        if before is not None:
            texts = texts.insert(rows, texts.offsets[rows], rng.choice(before, len(rows)))
        if after is not None:
            texts = texts.insert(rows, texts.offsets[rows + 1], rng.choice(after, len(rows)))
    return texts


def _with_adverts(rng: np.random.Generator, texts: Texts, rows: Ints) -> Texts:
    """A line after some sentence, not the last."""
    last = np.flatnonzero(np.isin(texts.tokens % len(MARKS), (STOP, LAST)))  # every token is a phrase yet
    first, behind = (np.searchsorted(last, texts.offsets[rows + side]) for side in (0, 1))
    at = last[first + rng.integers(0, np.maximum(behind - first - 1, 1))] + 1
    return texts.insert(rows, at, rng.choice(vocabulary().adverts, len(rows)))


def excerpts(rng: np.random.Generator, pool: Texts, number: int, first: int) -> Texts:
    """Less than half of an article, as articles of their own."""
    made = pool.take(rng.integers(0, len(pool), number))
    sentences = made.sentence[made.offsets[1:] - 1] + 1
    size = np.maximum(1, (sentences * rng.uniform(0.35, 0.5, number)).astype(np.int64))
    begin = rng.integers(0, sentences - size + 1)
    row = made.rows()
    part = (made.sentence >= begin[row]) & (made.sentence < (begin + size)[row])
    return replace(made.where(part), cluster=first + np.arange(number))


def groups(rows: int, seed: int = SEED) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Rows and their truth, a group at a time."""
    pool: list[Texts] = []
    clusters = 0
    for first in range(0, rows, GROUP):
        rng = np.random.default_rng([seed, first])
        number = min(GROUP, rows - first)
        copied, cut = int(number * COPIES), int(number * EXCERPTS)
        base = articles(rng, number - copied - cut, clusters)
        pool = [*pool[-1:], base]
        clusters += len(base)
        made, kinds = copies(rng, joined(pool), copied)
        part = excerpts(rng, joined(pool), cut, clusters)
        clusters += cut
        order = rng.permutation(number)
        kind = np.array(["base"] * len(base) + kinds + ["excerpt"] * cut)[order]
        yield _as_tables(rng, joined([base, made, part]).take(order), kind, first)


def _as_tables(
    rng: np.random.Generator, texts: Texts, kind: npt.NDArray[np.str_], first: int
) -> tuple[pa.Table, pa.Table]:
    known = vocabulary()
    site = rng.integers(0, len(SITES), len(texts))
    footed = np.flatnonzero(rng.random(len(texts)) < 0.6)
    footer = known.footers[site[footed], rng.integers(0, len(FOOTERS), len(footed))]
    texts = texts.insert(footed, texts.offsets[footed + 1], footer)
    number = pc.utf8_lpad(pa.array(np.arange(first, first + len(texts))).cast(pa.string()), 9, "0")
    ids = pc.binary_join_element_wise("n", number, "")
    titles = np.arange(0, 3 * len(texts) + 1, 3)
    table = {
        "id": ids,
        "title": _strings(titles, texts.title.reshape(-1)),
        "content": _strings(texts.offsets, texts.tokens),
        "source": pa.array(SITES).take(pa.array(site)),
        "url": pc.binary_join_element_wise("https://news.example/", number, ".html", ""),
        "pub_time": pa.array(texts.second, pa.timestamp("s")),
    }
    return pa.table(table), pa.table({"id": ids, "cluster": texts.cluster, "kind": pa.array(kind, pa.string())})


def _strings(offsets: Ints, tokens: Tokens) -> pa.Array:
    pieces = vocabulary().strings.take(pa.array(tokens))
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pieces), "")


@dataclass(frozen=True)
class Corpus:
    """A corpus, its truth (columns id, cluster, kind), and how it was made."""

    path: Path
    truth: Path
    made_by: str


def make(rows: int, folder: Path, seed: int = SEED) -> Corpus:
    """The corpus of this size in the folder, made where it is not there yet."""
    name = f"made-up-{rows}-{seed}-{VERSION}"
    found = Corpus(folder / f"{name}.parquet", folder / f"{name}.truth.parquet", "tests/bench/corpus.py")
    if found.path.exists() and found.truth.exists():
        return found
    folder.mkdir(parents=True, exist_ok=True)
    parts = [path.with_suffix(".part") for path in (found.path, found.truth)]
    writers: list[pq.ParquetWriter] = []
    for tables in groups(rows, seed):
        if not writers:
            some = zip(parts, tables, strict=True)
            writers = [pq.ParquetWriter(part, table.schema, compression="zstd") for part, table in some]
        for writer, table in zip(writers, tables, strict=True):
            writer.write_table(table)
    for writer, part, path in zip(writers, parts, (found.path, found.truth), strict=True):
        writer.close()
        part.replace(path)
    return found
