"""`--preset classic-simhash` and `classic-nshash` against plain transcriptions of the published recipes."""

from __future__ import annotations

import json
import random

import naive
import numpy as np
import pyarrow as pa
import pytest
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st
from running import call, sample_rows, table
from strategies import any_text, u64

from newsdedup_cli import classic
from newsdedup_cli.clean import classic_clean

# Threads do not inherit the fixture's errstate: without JIT numpy warns of kernels' wrapping integers there.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
SMALL = 25 if NO_JIT else None


def made_corpus() -> list[str]:
    """Variants of a few articles, with the marks that either recipe looks at."""
    rng = random.Random(4)
    parts = [
        "市图书馆新馆昨天开门迎客，首日接待读者六千余人次，借出图书一万两千册",
        "馆长说：比预计的多了一倍",
        "<p>新馆建在旧船厂的船台上</p>",
        "【快讯】屋顶保留了当年的龙门吊；读者凭身份证即可进馆",
        "报告厅能坐三百人吗？能！",
        "Library opens at 9:30 am.",
        "记者 王五\n",
        "a<b and c>d",
        "　　全年无休，周末延长到晚上十点，少儿区另设绘本馆和手工坊",
    ]
    texts = []
    for _ in range(60):
        chosen = rng.sample(parts, rng.randint(3, len(parts))) if rng.random() < 0.5 else parts
        texts.append("。".join(chosen) + rng.choice(["", "。", "！", "\n"]))
    return [*texts, "短。", "短。", "短", "一句话新闻"]


CORPORA = {"sample_data": lambda: [row["content"] for row in sample_rows()], "made": made_corpus}


@pytest.fixture(params=CORPORA, scope="module")
def texts(request):
    return CORPORA[request.param]()[:SMALL]


@pytest.fixture
def run(monkeypatch, capsysbinary, tmp_path, texts):
    """The report's rows of a run with these options."""
    monkeypatch.chdir(tmp_path)
    lines = (json.dumps({"content": text}, ensure_ascii=False) + "\n" for text in texts)
    (tmp_path / "t.jsonl").write_text("".join(lines), "utf-8")

    def report(*options):
        ran = call(monkeypatch, capsysbinary, "run", "t.jsonl", "-o", "u.jsonl", "--overwrite", *options)
        assert ran.code == 0, ran.err
        return table(tmp_path / "u.report")

    return report


@pytest.mark.parametrize("k", [4, 0, 3, 9])
def test_simhash(run, texts, k):
    options = () if k == 4 else ("--max-distance", k)
    rows = run("--preset", "classic-simhash", *options)
    # Rows without text first drop out of the recipe too: all of them have the fingerprint of no words.
    alone = [i for i, text in enumerate(texts) if not naive.significant(naive.classic_text(text))]
    rest = [i for i in range(len(texts)) if i not in alone]
    twin = dict(zip(rest, (rest[j] for j in naive.classic_simhash([texts[i] for i in rest], k)), strict=True))
    twin |= {i: i for i in alone}
    assert [row["kept_row"] - 1 if row["kept_row"] else i for i, row in enumerate(rows)] == [
        twin[i] for i in range(len(texts))
    ]
    assert naive.partition(row["similar_id"] for row in rows) == naive.partition(twin[i] for i in range(len(texts)))
    assert {row["reason"] for row in rows if not row["kept"]} <= {"simhash"}
    assert all(row["distance"] <= k for row in rows if not row["kept"])


@pytest.mark.parametrize(("ends", "delimiters"), [("code", ":：；？。！】\n"), ("described", "。！？\n")])
def test_nshash(run, texts, ends, delimiters):
    rows = run("--preset", "classic-nshash", "--sentence-ends", ends)
    alone = {i for i, text in enumerate(texts) if not naive.significant(naive.classic_text(text))}
    rest = [i for i in range(len(texts)) if i not in alone]
    twin = dict(zip(rest, naive.nshash([texts[i] for i in rest], delimiters), strict=True))
    labels = [twin.get(i, -i - 1) for i in range(len(texts))]
    assert naive.partition(row["similar_id"] for row in rows) == naive.partition(labels)
    firsts = {}
    for i, label in enumerate(labels):
        firsts.setdefault(label, i)
    assert [row["kept"] for row in rows] == [firsts[label] == i for i, label in enumerate(labels)]
    assert {row["reason"] for row in rows if not row["kept"]} <= {"sentence"}


@given(
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.sets(st.integers(0, 63), max_size=6)), max_size=20),
    st.integers(0, 6),
)
def test_first_hit_decides(centres, flips, k):
    prints = centres + [centres[i % len(centres)] ^ sum(1 << bit for bit in bits) for i, bits in flips]
    kept, twin = [], []
    for row, fingerprint in enumerate(prints):
        hit = next((other for other in kept if naive.distance(prints[other], fingerprint) <= k), row)
        if hit == row:
            kept.append(row)
        twin.append(hit)
    found = classic.simhash_clusters(u64(prints), np.zeros(len(prints), bool), k)
    assert found.kept_row.tolist() == twin


@given(st.lists(st.text(st.sampled_from("甲乙。：\n"), max_size=12), max_size=12))
def test_similar_ids(texts):
    found = classic.nshash_clusters(texts, np.zeros(len(texts), bool))
    assert naive.partition(found.similar_id) == naive.partition(naive.nshash(texts))


@given(st.lists(any_text, max_size=3))
def test_cleaning(texts):
    assert classic_clean(pa.array(texts, pa.large_string())).to_pylist() == [naive.classic_text(t) for t in texts]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<p>新 闻</p>", "新闻"),
        ("【快讯】《书》『x』「y」#a@b", "快讯书xyab"),
        ("a<b\nc>d", "a<bc>d"),
        ("Ａ　B C", "ＡBC"),
        ("a<b x c>d", "ad"),
    ],
)
def test_cleaning_by_example(text, cleaned):
    assert classic_clean(pa.array([text], pa.large_string())).to_pylist() == [cleaned] == [naive.classic_text(text)]
