"""`newsdedup explain`: its verdict is that of `run`, and what it shows is right."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli import explain, explain_page, explain_text, explain_texts, terminal
from newsdedup_cli.cli import group
from newsdedup_cli.columns import resolve_columns
from newsdedup_cli.errors import UserError
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus
from newsdedup_cli.job import Job, run
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import settings_from
from newsdedup_cli.texts import strings

SAMPLE = str(Path(__file__).parent.parent / "sample_data" / "news.csv")
RANDOM_PAIRS = 400


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    if NO_JIT:
        pytest.skip("the whole sample takes minutes without JIT")
    out = tmp_path_factory.mktemp("explain") / "unique.csv"
    folder = out.with_suffix(".report")
    run(Job((SAMPLE,), str(out), folder, quiet=True), settings_from({}))
    return folder


@pytest.fixture(scope="module")
def asked():
    if NO_JIT:
        pytest.skip("the whole sample takes minutes without JIT")
    settings = settings_from({})
    corpus = open_corpus([SAMPLE], ReadOptions())
    progress = Progress(quiet=True)
    columns = resolve_columns(corpus, settings, progress)
    with explain.asked(corpus, columns, settings, progress) as question:
        yield question


def rows_of(report: Path) -> list[dict]:
    return pq.read_table(report / "rows.parquet").to_pylist()


def test_removed_rows_are_explained_as_run_removed_them(asked, report):
    removed = [row for row in rows_of(report) if not row["kept"]]
    assert len(removed) > 100
    for row in removed:
        judged = asked.judge(row["row"] - 1, row["kept_row"] - 1)
        assert judged.merged
        assert judged.code == row["reason"]
        (step,) = judged.path
        assert (step.row, step.kept_row) == (row["row"], row["kept_row"])
        assert step.score == pytest.approx(row["score"], abs=1e-4)
        assert (step.distance, step.shared_sentences) == (row["distance"], row["shared_sentences"])
        if row["reason"] != "exact":
            assert judged.pair.score[0] == pytest.approx(row["score"])


def test_candidates_are_explained_as_run_listed_them(asked, report):
    candidates = pq.read_table(report / "candidates.parquet").to_pylist()
    assert len(candidates) > 50
    for pair in candidates:
        judged = asked.judge(pair["row_a"] - 1, pair["row_b"] - 1)
        assert not judged.merged
        assert judged.code == pair["reason"]
        assert judged.pair.score[0] == pytest.approx(pair["score"])
        assert judged.pair.containment[0] == pytest.approx(pair["containment"])


def test_random_pairs_are_merged_just_where_run_merged_them(asked, report):
    rows = rows_of(report)
    for a, b in np.random.default_rng(7).integers(0, len(rows), (RANDOM_PAIRS, 2)).tolist():
        if a != b:
            judged = asked.judge(a, b)
            assert judged.merged == (rows[a]["similar_id"] == rows[b]["similar_id"])
            assert judged.sentence.startswith("Merged" if judged.merged else "Not merged: ")


def test_rows_of_one_cluster_are_joined_by_a_path_through_the_kept_row(asked, report):
    clusters = defaultdict(list)
    for row in rows_of(report):
        clusters[row["similar_id"]].append(row)
    triples = [[row for row in rows if not row["kept"]] for rows in clusters.values() if len(rows) > 2]
    assert triples
    for first, second, *_ in triples:
        judged = asked.judge(first["row"] - 1, second["row"] - 1)
        assert [step.kept_row for step in judged.path] == [first["kept_row"]] * 2
        assert "through a third row" in judged.sentence


def test_the_order_of_the_two_does_not_matter(asked, report):
    for row in rows_of(report)[:60:3]:
        for other in (4, 90):
            if row["row"] - 1 != other:
                there, back = asked.judge(row["row"] - 1, other), asked.judge(other, row["row"] - 1)
                assert (there.merged, there.code) == (back.merged, back.code)


def test_the_clauses_shown_are_those_that_count(asked, report):
    candidates = pq.read_table(report / "candidates.parquet").to_pylist()
    counted = 0
    for pair in candidates:
        a, b = pair["row_a"] - 1, pair["row_b"] - 1
        first, second = strings(*asked.run.texts.gather(np.array([a, b]))).to_pylist()
        shown = explain_texts.differing_clauses(first, second, asked.run.matching)
        measured = asked._measures(a, b).found
        if measured.figures.score[0] >= asked.run.matching.near_score:
            assert len(shown) == measured.differing[0, :2].sum()
            counted += len(shown)
    assert counted > 20


def test_the_whole_answer(asked, report):
    row = next(row for row in rows_of(report) if row["reason"] == "simhash")
    found = asked.explain(row["row"] - 1, row["kept_row"] - 1)
    assert found.sides[0].id == row["id"]
    assert len(found.comparison.bits) == row["distance"]
    assert len(found.comparison.shared_sentences) == row["shared_sentences"]
    names = [rule.name for rule in found.rules]
    assert {"cleaned texts", "distance", "containment", "lengths", "titles", "url", "score"} <= set(names)
    for columns in (60, 80, 120):
        drawn = explain_text.draw(found, terminal.Screen(columns))
        assert drawn.startswith("Merged: ")
        assert "\x1b" not in drawn
        assert max(map(terminal.text_width, drawn.splitlines())) <= max(columns, 80)
    page = explain_page.as_html(found)
    assert "<script" not in page
    assert found.judgement.sentence.split(":")[0] in page
    assert json.loads(explain_text.as_json(found))["reason"] == "simhash"


TEXTS = st.text("甲乙丙。！\n ab<&", max_size=60)


@given(TEXTS, TEXTS)
def test_alignment_loses_nothing(first, second):
    lines = explain_texts.aligned(first, second)

    def side(name: str) -> str:
        return "".join(text for line in lines for _, text in getattr(line, name))

    assert "".join(side("first").split()) == "".join(first.split())
    assert "".join(side("second").split()) == "".join(second.split())
    for line in lines:
        same = ["".join(t for kind, t in getattr(line, name) if kind == "=") for name in ("first", "second")]
        assert same[0] == same[1]


@given(TEXTS, st.integers(12, 40))
def test_cells_fit_their_width(text, width):
    segments = [("-", text[:20]), ("=", text[20:])] if text else []
    for line, used in explain_text._cells(segments, width, terminal.Screen()):
        assert terminal.text_width(line) == used <= width


def test_equal_sentences_fold_up_and_moved_ones_are_told():
    lines = explain_texts.aligned("一一。二二。三三。四四。五五。", "一一。二二。三三。四四。五五。")
    shown = list(explain_text._collapsed(lines))
    assert [x if isinstance(x, int) else x.kind for x in shown] == ["same", 3, "same"]
    kinds = [line.kind for line in explain_texts.aligned("甲甲甲。乙乙乙。", "乙乙乙。甲甲甲。")]
    assert kinds.count("moved") == 2


def ask(*arguments: str):
    return CliRunner().invoke(group, ["explain", *arguments])


def test_report_gives_inputs_and_settings(report):
    row = next(row for row in rows_of(report) if not row["kept"])
    result = ask(f"#{row['row']}", f"#{row['kept_row']}", "--report", str(report), "-q", "--json")
    assert result.exit_code == 0
    values = json.loads(result.output)
    assert values["merged"]
    assert values["reason"] == row["reason"]
    assert values["settings"] == json.loads((report / "run.json").read_text())["made_by"]["signature"]


def test_ids_are_text(tmp_path):
    path = tmp_path / "ids.csv"
    body = "今天上午市政府召开会议研究部署防汛工作要求各部门落实责任到岗到人确保群众生命财产安全"
    path.write_text(f"id,content\n000123,{body}一\n123,{body}二\n7,{body}三\n7,{body}四\n", "utf-8")
    result = ask("000123", "123", str(path), "-q", "--json", "--threads", "1")
    assert [side["row"] for side in json.loads(result.output)["rows"]] == [1, 2]


@pytest.mark.parametrize(
    ("first", "found", "todo"),
    [
        ("0123", "no row has the id '0123'", "'000123' (ids.csv, row 1); '123' (ids.csv, row 2)"),
        ("7", "2 rows have the id '7': '7' (ids.csv, row 3), '7' (ids.csv, row 4)", "'#3'"),
        ("#9", "no row #9: there are 4", None),
        ("abx", "no row has the id 'abx'", "'abc' (ids.csv, row 4)"),
    ],
)
def test_unknown_and_ambiguous_ids_name_the_nearest(first, found, todo):
    import pyarrow as pa

    last = "abc" if first == "abx" else "7"
    names = explain.Names(pa.array(["000123", "123", "7", last], pa.large_string()), np.zeros(4, np.int32), ["ids.csv"])
    with pytest.raises(UserError) as caught:
        names.find(first)
    assert (caught.value.found, caught.value.todo) == (found, todo)


def test_one_row_is_no_pair(report):
    with pytest.raises(UserError, match="both ids name"):
        CliRunner().invoke(group, ["explain", "#1", "#1", SAMPLE, "-q"], catch_exceptions=False)


def test_a_changed_input_is_refused(report, tmp_path):
    other = tmp_path / "news.csv"
    other.write_text("id,content\n1,a\n", "utf-8")
    with pytest.raises(UserError, match="has changed since the run"):
        CliRunner().invoke(
            group, ["explain", "#1", "#2", str(other), "--report", str(report), "-q"], catch_exceptions=False
        )
