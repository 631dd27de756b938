"""`newsdedup histogram`: the distribution, the valley, what thresholds would merge, and how it is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli import distances, histogram, histogram_page, histogram_text, terminal, valley
from newsdedup_cli.cli import group
from newsdedup_cli.columns import resolve_columns
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus
from newsdedup_cli.pipeline import decide
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import Settings, settings_from

SAMPLE = str(Path(__file__).parent.parent / "sample_data" / "news.csv")


def opened(path: str = SAMPLE, given_settings: Settings | None = None) -> dict:
    if NO_JIT:
        pytest.skip("the whole sample takes minutes without JIT")
    settings = given_settings or settings_from({})
    corpus = open_corpus([path], ReadOptions())
    progress = Progress(quiet=True)
    columns = resolve_columns(corpus, settings, progress)
    return {"corpus": corpus, "columns": columns, "settings": settings, "progress": progress}


@pytest.fixture(scope="module")
def found() -> histogram.Histogram:
    return histogram.histogram(**opened())


def naive_counts(values: list[int]) -> list[int]:
    counts = [0] * 65
    for i, x in enumerate(values):
        for y in values[i + 1 :]:
            counts[(x ^ y).bit_count()] += 1
    return counts


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30))
def test_every_pair_is_counted(values):
    counts = distances.every_pair(np.array(values, np.uint64))
    assert counts.tolist() == naive_counts(values)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=24))
def test_pairs_of_equal_texts_are_left_out(rows):
    digest = np.array([[d, d] for d, _ in rows], np.uint64).reshape(-1, 2)
    simhash = np.array([s for _, s in rows], np.uint64)
    expected = [0] * 65
    for i, (d, s) in enumerate(rows):
        for e, t in rows[i + 1 :]:
            if d != e:
                expected[(s ^ t).bit_count()] += 1
    measured = distances.measure(simhash, digest)
    assert measured.counts.tolist() == expected
    assert measured.exact
    assert measured.counts.sum() + measured.equal_pairs == measured.total_pairs


def test_a_sample_of_all_rows_is_exact_and_one_of_some_is_near():
    rng = np.random.default_rng(5)
    simhash = rng.integers(0, 2**64, 3000, np.uint64)
    simhash[1500:] = simhash[:1500] ^ np.uint64(1)
    exact = distances.every_pair(simhash)
    every, errors, _ = distances.sample(simhash, 3000)
    assert np.array_equal(every, exact)
    assert not errors.any()
    some, errors, measured = distances.sample(simhash, 900, threads=2, seed=1)
    assert measured == 900 * 2999
    large = exact > 1000
    assert (np.abs(some - exact)[large] <= 4 * errors[large] + 1).mean() > 0.95
    assert abs(some[1] - exact[1]) <= 5 * errors[1] + 1


def test_a_sample_is_the_same_for_any_number_of_threads():
    simhash = np.random.default_rng(2).integers(0, 2**64, 500, np.uint64)
    one, two = (distances.sample(simhash, 100, threads, seed=3) for threads in (1, 2))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])


def test_a_valley_between_two_crests():
    counts = np.array([50, 90, 60, 20, 4, 2, 3, 5, 40, 300, 900, 400])
    dip = valley.valley(counts, 1, 10)
    assert dip.found
    assert dip.first <= 5 <= dip.last
    assert dip.first >= 3
    assert dip.last <= 8


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([1, 2, 10, 14, 34, 102, 139, 235, 437, 611], "no crest of copies"),  # templates: they only rise
        ([20, 22, 25, 21, 24, 23, 30, 90, 300, 900], "no crest of copies"),  # a shelf within chance
        ([0, 0, 0, 0, 5, 80, 300, 900, 900, 900], "no pair lies on the copies' side"),
        ([900, 500, 100, 10, 1, 0, 0, 0, 0, 0], "no rest"),
    ],
)
def test_no_valley_is_an_answer_with_its_reason(counts, reason):
    dip = valley.valley(np.array(counts), 1, 9)
    assert not dip.found
    assert reason in dip.reason


@given(st.lists(st.integers(0, 10**6), min_size=12, max_size=65))
def test_a_valley_lies_within_and_is_lower_than_its_crests(counts):
    dip = valley.valley(np.array(counts), 1, len(counts) - 1)
    if dip.found:
        value = valley.smoothed(np.array(counts))[0]
        assert 0 <= dip.first <= dip.lowest <= dip.last < len(counts)
        assert value[: dip.lowest].max() > value[dip.lowest] < value[dip.lowest :].max()
    else:
        assert dip.reason


def test_the_threshold_in_force_merges_what_run_merges(found):
    decided = decide(**opened())
    links = decided.outcome.clusters.link
    merge = next(m for m in found.by_score if m.threshold == settings_from({}).matching.min_score)
    assert merge.removed == len(links)
    assert merge.largest == np.bincount(decided.outcome.clusters.similar_id).max()


@pytest.mark.parametrize("score", [0.5, 0.8])
def test_another_threshold_merges_what_run_would_merge(found, score):
    decided = decide(**opened(given_settings=settings_from({"matching": {"min_score": score}})))
    merge = next(m for m in found.by_score if m.threshold == score)
    assert merge.removed == len(decided.outcome.clusters.link)


def test_counts_add_up(found):
    assert found.distances.exact
    assert found.distances.counts.sum() + found.distances.equal_pairs == found.distances.total_pairs
    removed = [merge.removed for merge in found.by_distance]
    assert removed == sorted(removed)
    assert all(near.score >= found.suggestion.value for near in found.over)
    assert all(near.score < found.suggestion.value for near in found.under)


def test_a_shape_alone_never_makes_the_threshold_laxer(found):
    assert found.suggestion.value >= settings_from({}).matching.min_score


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_drawing_fits_its_screen(found, columns):
    drawn = histogram_text.draw(found, terminal.Screen(columns), "newsdedup run")
    wide = [line for line in drawn.splitlines() if terminal.text_width(line) > max(columns, 80)]
    assert wide == []
    assert "\x1b" not in drawn
    assert drawn.endswith("newsdedup run")
    ascii_only = terminal.Screen(columns, blocks=terminal.ASCII_BLOCKS)
    assert "█" not in histogram_text.draw(found, ascii_only, "")


def test_pictures_and_page(found, tmp_path):
    svg, html = tmp_path / "h.svg", tmp_path / "h.html"
    histogram_page.write(found, "newsdedup run a.csv", None, svg, html)
    import xml.etree.ElementTree as Xml

    Xml.fromstring(svg.read_text("utf-8"))
    page = html.read_text("utf-8")
    assert "newsdedup run a.csv" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in page


def test_png(found, tmp_path):
    pytest.importorskip("matplotlib")
    histogram_page.write(found, "", tmp_path / "h.png", None, None)
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


def test_a_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match="matplotlib") as caught:
        histogram_page.check([Path("h.png")])
    assert caught.value.todo == "pip install 'newsdedup[plot]', or --svg"


@pytest.mark.skipif(NO_JIT, reason="the whole sample takes minutes without JIT")
def test_the_command_ends_with_a_run_that_has_its_options(tmp_path):
    result = CliRunner().invoke(group, ["histogram", SAMPLE, "-q", "--text", "content", "--numbers", "ignore"])
    assert result.exit_code == 0
    last = result.output.strip().splitlines()[-1].strip()
    assert last == f"newsdedup run {SAMPLE} -o unique.csv --text content --numbers ignore --min-score 0.62"


def test_json(found):
    result = CliRunner().invoke(group, ["histogram", SAMPLE, "-q", "--json"])
    values = json.loads(result.output)
    assert values["rows"] == 310
    assert values["distances"]["counts"] == found.distances.counts.tolist()
    assert values["suggestion"]["setting"] == "min_score"


@pytest.mark.parametrize("rows", [[], ["桥今天通车，市民上桥参观，场面热闹非凡。"]])
def test_fewer_than_two_rows_are_nothing_to_compare(tmp_path, rows):
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["content", *rows]) + "\n", "utf-8")
    result = CliRunner().invoke(group, ["histogram", str(path), "-q", "--threads", "1"])
    assert result.exit_code == 0
    assert result.output.startswith("nothing to compare")


def test_where_distance_decides_the_distance_is_suggested():
    found = histogram.histogram(**opened(given_settings=settings_from({"matching": {"preset": "classic-simhash"}})))
    assert found.suggestion.setting == "max_distance"
    assert found.by_score == []
    assert "--max-distance" in histogram_text.draw(found, terminal.Screen(), "")
