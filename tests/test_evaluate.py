"""evaluate: every figure against a plain count over all pairs, the forms of truth, mistakes, the sweep."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli.commands.evaluate import command
from newsdedup_cli.errors import UserError
from newsdedup_cli.evaluate import measure
from newsdedup_cli.evaluate_mistakes import differing
from newsdedup_cli.evaluate_tables import Found, Labels, Report, RowTruth, read_truth
from newsdedup_cli.job import Job, run
from newsdedup_cli.settings import Settings


def naive(true, found, kept, kinds):
    """All figures, pair by pair and story by story."""
    pairs = list(itertools.combinations(range(len(true)), 2))
    same = {pair for pair in pairs if true[pair[0]] == true[pair[1]]}
    merged = {pair for pair in pairs if found[pair[0]] == found[pair[1]]}
    stories, clusters = defaultdict(set), defaultdict(set)
    for row, (story, cluster) in enumerate(zip(true, found, strict=True)):
        stories[story].add(row)
        clusters[cluster].add(row)
    whole = {frozenset(rows) for rows in stories.values() if len(rows) > 1}
    made = {frozenset(rows) for rows in clusters.values() if len(rows) > 1}
    lost = [rows for rows in stories.values() if not any(kept[row] for row in rows)]
    left = sum(max(sum(kept[row] for row in rows) - 1, 0) for rows in stories.values())
    recall = {}
    for kind in set(kinds):
        of = [row for row in range(len(true)) if kinds[row] == kind]
        should = [(a, b) for a in of for b in range(len(true)) if a != b and true[a] == true[b]]
        recall[kind] = sum(found[a] == found[b] for a, b in should) / len(should) if should else None
    return {
        "pairs": (len(same & merged), len(merged), len(same)),
        "clusters": (len(whole & made), len(made), len(whole)),
        "rand": rand_index(len(pairs), same, merged),
        "stories": (len(stories), len(lost), sum(kept), left),
        "recall": recall,
    }


def rand_index(total, same, merged):
    """Hubert and Arabie's formula, as it is written in the textbooks."""
    if not total:
        return 1.0
    chance = len(same) * len(merged) / total
    most = (len(same) + len(merged)) / 2
    return 1.0 if most == chance else (len(same & merged) - chance) / (most - chance)


@st.composite
def decisions(draw):
    size = draw(st.integers(1, 14))
    labels = st.lists(st.integers(0, 5), min_size=size, max_size=size)
    true, found = draw(labels), draw(labels)
    kept = [row == min(r for r in range(size) if found[r] == found[row]) for row in range(size)]
    kinds = draw(st.lists(st.sampled_from(["trim", "exact", "drop"]), min_size=size, max_size=size))
    return true, found, kept, kinds


@given(decisions())
def test_figures_are_those_of_a_plain_count(case):
    true, found, kept, kinds = case
    dense = np.unique(true, return_inverse=True)[1].astype(np.int64)
    truth = RowTruth(np.arange(len(true)), dense, kinds, 0, 0)
    made = measure(Found(np.array(found), np.array(kept)), truth)
    plain = naive(true, found, kept, kinds)
    assert (made.pairs.right, made.pairs.found, made.pairs.true) == plain["pairs"]
    assert (made.clusters.right, made.clusters.found, made.clusters.true) == plain["clusters"]
    assert made.ari == pytest.approx(plain["rand"])
    stories = made.stories
    assert (stories.true, stories.lost, stories.kept_rows, stories.left_over) == plain["stories"]
    assert {name: kind.recall for name, kind in made.kinds.items()} == pytest.approx(plain["recall"])
    assert sum(kind.left_over for kind in made.kinds.values()) == stories.left_over


TEXTS = {
    "a": "昨夜的一场大雨让旧水塔旁的小路积了半米深的水，附近的居民一早起来舀水清淤，"
    "直到中午道路才恢复通行。管理处说水塔的排水管年久失修。",
    "b": "剧团的老戏箱在阁楼里放了三十年，翻出来时绣线依然发亮。"
    "年轻演员围着看，老团长一件件讲它们的来历，讲到傍晚也没有讲完一半。",
    "c": "渡轮今天最后一次靠岸，船长鸣笛三声，岸上的人挥着手。新桥通车以后，坐船的人越来越少，航线终于在入冬之前停了。",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A small run: a has a copy, b and c have none."""
    folder = tmp_path_factory.mktemp("evaluate")
    rows = [
        ("1", "水塔", TEXTS["a"]),
        ("2", "戏箱", TEXTS["b"]),
        ("3", "又是水塔", TEXTS["a"]),
        ("4", "渡轮", TEXTS["c"]),
    ]
    lines = [json.dumps(dict(zip(("id", "title", "content"), row, strict=True)), ensure_ascii=False) for row in rows]
    (folder / "news.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = folder / "out.jsonl"
    run(Job((str(folder / "news.jsonl"),), str(out), folder / "out.report", quiet=True), Settings())
    return folder / "out.report"


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def evaluated(*arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_clusters_by_id(report, tmp_path):
    truth = written(tmp_path / "t.csv", "id,cluster,kind\n1,x,base\n3,x,headline\n2,y,base\n4,z,base\n9,z,base\n2x,,\n")
    made = json.loads(evaluated(report, "--truth", truth, "--json"))
    assert (made["compared"], made["undecided"], made["not_in_report"]) == (4, 1, 1)
    assert made["pairs"]["f1"] == made["clusters"]["f1"] == made["ari"] == 1.0
    assert made["stories"] == {"true": 3, "lost": 0, "kept_rows": 3, "left_over": 0}
    assert made["kinds"]["headline"]["recall"] == 1.0
    assert made["mistakes"] == []


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_clusters_by_row_number(report, tmp_path, suffix):
    truth = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"row": [1, 2, 3, 4], "label": [7, 8, 7, 9]}), truth)
    else:
        written(
            truth, "".join(f'{{"row": {row}, "label": {label}}}\n' for row, label in [(1, 7), (2, 8), (3, 7), (4, 9)])
        )
    assert json.loads(evaluated(report, "--truth", truth, "--json"))["pairs"]["right"] == 1


def test_labelled_pairs_have_a_line_per_label(report, tmp_path):
    truth = written(tmp_path / "t.csv", "id_a,id_b,label\n1,3,dup\n1,2,different\n2,4,dup\n3,4,grey\n")
    made = json.loads(evaluated(report, "--truth", truth, "--json"))
    assert made["clusters"] is None
    assert (made["pairs"]["right"], made["pairs"]["found"], made["pairs"]["true"]) == (1, 1, 2)
    assert made["undecided"] == 1
    assert made["kinds"]["dup"] == {"same": 2, "recall": 0.5, "different": 0, "wrongly_merged": 0, "listed": 0}


def test_mistakes_come_with_their_texts(report, tmp_path):
    truth = written(tmp_path / "t.csv", "id,cluster\n1,x\n3,y\n2,z\n4,z\n")
    made = json.loads(evaluated(report, "--truth", truth, "--json"))
    merged, missed = made["mistakes"]
    assert (merged["what"], merged["lost"], merged["reason"]) == ("merged", True, "exact")
    titles = {"1": "水塔", "3": "又是水塔"}
    assert dict(zip(merged["ids"], merged["titles"], strict=True)) == titles
    assert (missed["what"], sorted(missed["ids"])) == ("missed", ["2", "4"])
    text = evaluated(report, "--truth", truth)
    assert "stories lost       1 of 3" in text
    assert "昨夜的一场大雨" in text
    assert "渡轮今天最后一次靠岸" in text


def test_changed_inputs_leave_texts_of_removed_rows_only(report, tmp_path):
    source = report.parent / "news.jsonl"
    before = source.read_bytes()
    truth = written(tmp_path / "t.csv", "id,cluster\n1,x\n3,y\n")
    try:
        source.write_bytes(before + b"\n")
        (mistake,) = json.loads(evaluated(report, "--truth", truth, "--json"))["mistakes"]
        assert sorted(mistake["ids"]) == ["1", "3"]
        assert mistake["texts"] == ["", ""]  # the kept row is not among the removed ones
        with pytest.raises(UserError, match="gone or were changed"):
            evaluated(report, "--truth", truth, "--sweep")
    finally:
        source.write_bytes(before)


def test_sweep_has_both_curves_and_the_point_used(report, tmp_path):
    truth = written(tmp_path / "t.csv", "id,cluster\n1,x\n3,x\n2,y\n4,z\n")
    points = json.loads(evaluated(report, "--truth", truth, "--sweep", "-q", "--json"))["sweep"]
    (used,) = (point for point in points if point["used"])
    assert used["max_distance"] == Settings().matching.max_distance
    assert {point["pairs"]["recall"] for point in points} == {1.0}  # the copy is exact
    assert "█" in evaluated(report, "--truth", truth, "--sweep", "-q")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "has the columns a, b"),
        ("id,cluster\n", "has no labels"),
        ("id,cluster\n1,x\n1,x\n", "repeats a value of id"),
    ],
)
def test_unusable_truth(report, tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        read_truth(written(tmp_path / "t.csv", text), Report(report).ids, Labels())


def test_repeated_ids_of_the_report_need_row_numbers(tmp_path):
    truth = written(tmp_path / "t.csv", "id,cluster\nx,1\n")
    with pytest.raises(UserError, match="several rows of the report have the id 'x'"):
        read_truth(truth, pa.array(["x", "y", "x"]), Labels())


def test_no_report(tmp_path):
    with pytest.raises(UserError, match=r"no rows\.parquet"):
        Report(tmp_path)


def test_differing_pieces():
    assert differing("同一段话", "同一段话") == ("同一段话", "同一段话")
    left, right = differing("甲" * 40 + "乙", "甲" * 40 + "丙")
    assert (left, right) == ("…" + "甲" * 16 + "乙", "…" + "甲" * 16 + "丙")
