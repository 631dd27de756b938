"""The benchmark's own parts: its made-up corpus, its tables, and the page they are kept in."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from bench import corpus, growth, measure
from bench.report import Mark, Table, figure, markdown, updated

ROWS = 600


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small corpus and its truth."""
    found = corpus.make(ROWS, tmp_path_factory.mktemp("corpus"))
    return pq.read_table(found.path), pq.read_table(found.truth)


def test_the_same_arguments_give_the_same_rows(made, tmp_path):
    again = corpus.make(ROWS, tmp_path)
    assert pq.read_table(again.path).equals(made[0])
    assert not pq.read_table(corpus.make(ROWS, tmp_path, seed=7).path).equals(made[0])


def test_articles_are_as_long_as_news(made):
    size = pc.binary_length(made[0]["content"]).to_numpy()
    assert 2300 < size.mean() < 3100
    assert np.median(size) < size.mean()  # log-normal
    assert made[0]["id"].to_pylist() == made[1]["id"].to_pylist()
    assert len(set(made[0]["id"].to_pylist())) == ROWS


def test_sentences_do_not_recur_but_in_copies(made):
    rows, truth = made
    cluster = dict(zip(truth["id"].to_pylist(), truth["cluster"].to_pylist(), strict=True))
    lines = {line.format(site) for site in corpus.SITES for line in (*corpus.FOOTERS, *corpus.TAILS, *corpus.ADVERTS)}
    known = {sentence for line in lines for sentence in line.strip().split("。")}
    owner: dict[str, set[int]] = {}
    for id_, kind, text in zip(
        rows["id"].to_pylist(), truth["kind"].to_pylist(), rows["content"].to_pylist(), strict=True
    ):
        if kind in ("base", "exact"):
            for sentence in text.replace("\n", "").split("。"):
                if len(sentence) > 12 and sentence not in known:
                    owner.setdefault(sentence, set()).add(cluster[id_])
    assert max(map(len, owner.values())) == 1


@pytest.fixture(scope="module")
def texts(made):
    """Of each kind the texts of a copy and of its article, without white space."""
    by_cluster: dict[int, list[tuple[str, str]]] = {}
    for text, cluster, kind in zip(*(c.to_pylist() for c in (made[0]["content"], *made[1].columns[1:])), strict=True):
        by_cluster.setdefault(cluster, []).append((kind, text))
    pairs: dict[str, list[tuple[str, str]]] = {}
    for members in by_cluster.values():
        article = next((text for kind, text in members if kind in ("base", "excerpt")), None)
        for kind, text in members:
            pairs.setdefault(kind, []).append((text, article))
    return pairs


def test_a_third_are_planted(texts):
    number = {kind: len(some) for kind, some in texts.items()}
    assert number["base"] == ROWS - int(ROWS * corpus.COPIES) - int(ROWS * corpus.EXCERPTS)
    assert sum(number.get(kind, 0) for kind in corpus.KINDS) == int(ROWS * corpus.COPIES)
    assert all(number.get(kind) for kind in corpus.KINDS)


def _core(text: str) -> str:
    """Without the line that a site ends its texts with."""
    return next(
        (text.removesuffix(f.format(s)) for s in corpus.SITES for f in corpus.FOOTERS if text.endswith(f.format(s))),
        text,
    )


def test_each_kind_is_changed_as_it_says(texts):
    for copy, article in texts["exact"]:
        assert _core(copy) == _core(article)
    for copy, article in texts["tag"]:
        assert any(_core(copy) == tag + _core(article) for tag in corpus.TAGS)
    for copy, article in texts["tail"]:
        assert _core(copy).startswith(_core(article))
        assert len(_core(copy)) > len(_core(article))
    for copy, article in texts["markup"]:
        assert _core(copy) == f"<p>\u3000\u3000{_core(article)}</p>"
    for copy, article in texts["drop"]:
        assert _core(copy) != _core(article)
        gone = set(_core(article).split("。")) - set(_core(copy).split("。"))
        assert len(gone) <= 2
    for copy, article in texts["advert"]:
        advert = next(line for s in corpus.SITES for line in (a.format(s) for a in corpus.ADVERTS) if line in copy)
        assert _core(copy).replace(advert, "") == _core(article)
    for copy, article in texts["words"]:
        alike = set(_core(article).split("。")) & set(_core(copy).split("。"))
        assert len(alike) > len(_core(article).split("。")) / 2 or len(article) < 400


def test_large_corpora_are_made_group_by_group(monkeypatch, tmp_path):
    monkeypatch.setattr(corpus, "GROUP", 100)
    found = corpus.make(250, tmp_path)
    assert pq.ParquetFile(found.path).metadata.num_row_groups == 3
    truth = pq.read_table(found.truth)
    clusters = truth.filter(pc.equal(truth["kind"], "base"))["cluster"].to_pylist()
    assert len(set(clusters)) == len(clusters)
    assert set(truth["cluster"].to_pylist()) - set(clusters)  # the excerpts
    copied = truth.filter(pc.is_in(truth["kind"], pa.array([*corpus.KINDS])))["cluster"].to_pylist()
    assert set(copied) <= set(clusters)


def test_tables_take_the_place_of_those_before():
    table = Table(
        "speed", "Speed", ["what", "ratio", "mark", ""], [["words", "95.2x", *Mark(80).cells(95.2)]], ["Once."]
    )
    assert markdown(table).splitlines()[2:] == [
        "| what | ratio | mark |  |",
        "|---|---:|---|---|",
        "| words | 95.2x | ≥ 80x | met |",
        "",
        "Once.",
    ]
    page = updated("", [table, Table("size", "Size", ["a"], [["1"]])], "Read the ratios.")
    page = page.replace("# Benchmarks\n", "# Benchmarks\n\nBy hand.\n")
    table.rows = [["words", "70.1x", *Mark(80).cells(70.1)]]
    again = updated(page, [table], "Read the ratios.")
    assert "95.2x" not in again
    assert "| words | 70.1x | ≥ 80x | **not met** |" in again
    assert "By hand." in again
    assert again.count("<!-- bench:speed -->") == again.count("<!-- bench:size -->") == 1
    assert updated(again, [table], "Read the ratios.") == again


def test_a_mark_is_for_its_size_only():
    assert Mark(2.5, least=False).cells(2.49) == ["≤ 2.5x", "met"]
    assert Mark(12, "s", False).cells(12.01) == ["≤ 12 s", "**not met**"]
    assert Mark(12, "s", False).cells(1.0, applies=False) == ["≤ 12 s", "not at this size"]
    assert Mark(8).cells(None)[1] == "not measured"
    assert figure(None) == "-"


def test_ten_million_rows_are_drawn_out_from_the_last_two_sizes():
    small = growth.Grown(100_000, 5, measure.Cost(10, 20, 500_000_000), {"candidates": 1.0, "clusters": 0.1})
    large = growth.Grown(1_000_000, 1, measure.Cost(100, 200, 1_400_000_000), {"candidates": 13.0, "clusters": 1.0})
    said = growth.ahead(small, large)
    assert "16.7 minutes and 10.4 GB (1,000 bytes a row" in said
    assert said.endswith("more a row with the size: candidates (1.30x).")


@pytest.mark.skipif(sys.platform == "win32", reason="needs wait4")
def test_a_process_is_metered_for_itself():
    held = bytearray(300_000_000)  # must not count as the child's
    cost = measure.run([sys.executable, "-c", "sum(range(10**6)); x = bytearray(50_000_000)"])
    assert cost.cpu > 0
    assert cost.wall > 0
    assert 50e6 < cost.memory < 200e6
    assert held
    with pytest.raises(RuntimeError, match="no such thing"):
        measure.run([sys.executable, "-c", "raise SystemExit('no such thing')"])
