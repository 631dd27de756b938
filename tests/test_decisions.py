"""Decisions: read as people leave them, kept by content, obeyed whatever else speaks against it."""

from __future__ import annotations

import json
import random

import networkx as nx
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import NO_JIT
from hypothesis import given, settings
from hypothesis import strategies as st
from running import call, sample_rows, small_corpus, table, write

from newsdedup_cli import decisions, obeyed
from newsdedup_cli.cluster import cluster
from newsdedup_cli.errors import UserError
from newsdedup_cli.tables import APART, SAME, Verified

KEY_OF_A_TEXT = "73c870d1b753c5d7315b1cb8f2ba3310-00106b67aae4783d"
KEYS = [f"{n:032x}-{n:016x}" for n in range(1, 6)]


def sheet(path, lines, header=("key_a", "key_b", "id_a", "id_b", "group", "line", "decision"), name="candidates"):
    book = openpyxl.Workbook()
    book.active.title = name
    book.active.append(list(header))
    for line in lines:
        book.active.append(list(line))
    book.save(path)
    return path


def decided(path) -> list[tuple[str, str, str]]:
    return [(d["key_a"], d["key_b"], d["decision"]) for d in decisions.load(path).to_pylist()]


def test_a_workbook_as_people_leave_it(tmp_path):
    path = sheet(
        tmp_path / "r.xlsx",
        [
            (KEYS[0], KEYS[1], "a", "b", 1, 1, " SAME "),
            (None,) * 7,
            (KEYS[1], KEYS[2], "b", "c", 1, 2, None),
            (KEYS[2], KEYS[3], "c", "d", 1, 3, "不同"),
            (KEYS[3], KEYS[4], "d", "e", 2, 1, "　"),
            (KEYS[0], KEYS[4], "a", "e", "family 3", 1, "same"),
            (KEYS[1], KEYS[4], "b", "e", "family 3", 2, ""),
            (None, None, None, None, "", None, ""),
        ],
    )
    assert decided(path) == [
        (KEYS[0], KEYS[1], "same"),
        (KEYS[1], KEYS[2], "same"),  # what stands on line 1 of its group
        (KEYS[2], KEYS[3], "different"),  # but its own word wins
        (KEYS[0], KEYS[4], "same"),  # of a family for that line alone
    ]


def test_different_on_the_first_line_holds_for_a_family(tmp_path):
    lines = [(KEYS[0], KEYS[1], "a", "b", "family 1", 2, ""), (KEYS[1], KEYS[2], "b", "c", "family 1", 1, "Different")]
    assert [line[2] for line in decided(sheet(tmp_path / "r.xlsx", lines))] == ["different", "different"]


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.parquet", "r.tsv.gz"])
def test_other_formats_and_ids_instead_of_keys(tmp_path, name):
    path = tmp_path / name
    from newsdedup_cli.files import format_of, open_sink
    from newsdedup_cli.files.base import Batch, WriteOptions

    batch = pa.RecordBatch.from_pydict({"id_a": ["007", "8"], "id_b": ["9", "10"], "Decision ": ["不同", None]})
    sink = open_sink(path, format_of(path), batch.schema, WriteOptions(compression="gz" if name[-2:] == "gz" else None))
    sink.write(Batch(batch))
    sink.close()
    found = decisions.load(path).to_pylist()
    assert found == [{"key_a": "", "id_a": "007", "key_b": "", "id_b": "9", "decision": "different"}]


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        (("key_a", "key_b"), (KEYS[0], KEYS[1]), "r.xlsx, sheet candidates has no column `decision`"),
        (
            ("id_a", "key_b", "decision"),
            ("a", KEYS[1], "same"),
            "r.xlsx, sheet candidates does not tell whose decisions these are: it lacks key_a and key_b, "
            "also id_a and id_b",
        ),
        (
            ("key_a", "key_b", "decision"),
            (KEYS[0], KEYS[1], "maybe"),
            "r.xlsx, sheet candidates, line 2: decision 'maybe'",
        ),
        (
            ("key_a", "key_b", "decision"),
            (KEYS[0], "", "same"),
            "r.xlsx, sheet candidates, line 2: `same`, but of which rows? The cells of its keys and of its ids are "
            "empty",
        ),
    ],
)
def test_what_cannot_be_a_decision_is_said(tmp_path, header, line, said):
    with pytest.raises(UserError) as error:
        decisions.load(sheet(tmp_path / "r.xlsx", [line], header))
    assert error.value.found == said


def test_later_decisions_win_and_different_wins_within_a_file():
    def made(*lines):
        return pa.Table.from_pylist(
            [{"key_a": a, "id_a": "", "key_b": b, "id_b": "", "decision": d} for a, b, d in lines], decisions.SCHEMA
        )

    old = made((KEYS[0], KEYS[1], "same"), (KEYS[1], KEYS[2], "same"))
    new = made((KEYS[1], KEYS[0], "different"))
    both = decisions.merge(old, new).to_pylist()
    assert [(d["key_a"], d["decision"]) for d in both] == [(KEYS[1], "same"), (KEYS[1], "different")]
    twice = decisions.without_contradictions(
        made((KEYS[0], KEYS[1], "different"), (KEYS[1], KEYS[0], "same"), (KEYS[2], KEYS[3], "same"))
    )
    assert twice["decision"].to_pylist() == ["different", "same"]


def obey(pairs, rows):
    told, first, second = zip(*pairs, strict=True) if pairs else ((), (), ())
    n = len(pairs)
    found = decisions.Sides(list(told), [[a] for a in first], [[b] for b in second], [False] * n, [False] * n, 0)
    return obeyed.obey(found, np.arange(rows), pa.array([f"id{i}" for i in range(rows)], pa.large_string()))


pairs_of_rows = st.tuples(st.sampled_from(["same", "different"]), st.integers(0, 7), st.integers(0, 7))
some_decisions = st.lists(pairs_of_rows.filter(lambda d: d[1] != d[2]), max_size=10)


@given(some_decisions)
def test_what_follows_from_decisions(given_pairs):
    found = obey(given_pairs, 8)
    verdict = {(a, b): v for a, b, v in zip(found.a.tolist(), found.b.tolist(), found.verdict.tolist(), strict=True)}
    different = {(min(p), max(p)) for d, *p in given_pairs if d == "different"}
    same = {(min(p), max(p)) for d, *p in given_pairs if d == "same"} - different
    graph = nx.Graph(same)
    for pair in different:
        assert verdict[pair] == APART
    contradicted = False
    for component in nx.connected_components(graph):
        inside = {(a, b) for a in component for b in component if a < b}
        broken = bool(inside & different)
        contradicted |= broken
        expected = (same & inside) if broken else inside
        assert {pair for pair in inside if verdict.get(pair) == SAME} == expected
    assert bool(found.told) == (
        contradicted or bool(different & {(min(p), max(p)) for d, *p in given_pairs if d == "same"})
    )


def test_a_contradiction_names_the_rows_between():
    found = obey([("same", 0, 1), ("same", 1, 2), ("different", 0, 2), ("same", 3, 4), ("different", 4, 3)], 5)
    assert found.told == [
        "id3 and id4 are decided both same and different: they stay apart",
        "decided: id0 = id1 = id2, yet id0 and id2 different: those two stay apart",
    ]
    assert found.counts["contradicting"] == 2


@settings(max_examples=60, deadline=None)
@given(some_decisions, st.randoms(use_true_random=False))
def test_clusters_obey_whatever_the_scores_are(given_pairs, chance):
    n = 8
    found = obey(given_pairs, n)
    a, b = np.triu_indices(n, 1)
    score = np.array([chance.random() for _ in a], np.float32)
    verdicts = np.array([chance.choice([SAME, SAME, 0, APART]) for _ in a], np.uint8)
    zero = np.zeros(len(a), np.uint8)
    edges = Verified(a, b, zero, zero, score, score, verdicts)
    found.hold(edges)

    def look_up(x, y):
        at = [int(np.flatnonzero((a == i) & (b == j))[0]) for i, j in zip(x, y, strict=True)]
        return edges.where(np.array(at, np.int64))

    rank = np.array(chance.sample(range(n), n))
    digest = np.arange(2 * n, dtype=np.uint64).reshape(n, 2)
    clusters, _ = cluster(edges, np.arange(n), rank, digest, look_up, found.together)
    for d, x, y in given_pairs:
        if d == "different":
            assert clusters.similar_id[x] != clusters.similar_id[y]
        elif not found.told:
            assert clusters.similar_id[x] == clusters.similar_id[y]


def candidates_with(report, decide) -> str:
    path = report / "candidates.parquet"
    lines = table(report, path.name)
    filled = pq.read_table(path)
    at = filled.schema.get_field_index("decision")
    values = pa.array([decide(i, line) for i, line in enumerate(lines)], pa.string())
    reviewed = report.parent / "reviewed.parquet"
    pq.write_table(filled.set_column(at, "decision", values), reviewed)
    return reviewed


def test_a_decision_holds_over_a_new_crawl(tmp_path, monkeypatch, capsysbinary):
    """Other ids, another order and format, other cleaning: the same texts are known again."""
    rows = [row for row in small_corpus() if row["content"]]
    old = write(tmp_path / "old.csv", rows)
    assert call(monkeypatch, capsysbinary, "run", old, "-o", tmp_path / "o.csv", "-q", "--no-boilerplate").code == 0
    report = tmp_path / "o.report"
    removed = next(line for line in table(report) if line["reason"] == "simhash")
    apart = [line["id"] for line in table(report) if line["kept"] and not line["reason"]][:2]
    keys = {line["id"]: i for i, line in enumerate(table(report))}
    lines = [(removed["id"], removed["kept_id"], "different"), (*apart, "same")]
    (tmp_path / "ids.csv").write_text("id_a,id_b,decision\n" + "".join(f"{a},{b},{d}\n" for a, b, d in lines), "utf-8")
    done = call(
        monkeypatch, capsysbinary, "run", old, "-o", tmp_path / "p.csv", "-q", "--no-boilerplate",
        "--decisions", tmp_path / "ids.csv", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    counts = json.loads(done.out)["decisions"]
    assert (counts["given"], counts["used"], counts["unused"], counts["contradicting"]) == (2, 2, 0, 0)
    listed = {(c["id_a"], c["id_b"]): c for c in table(tmp_path / "p.report", "candidates.parquet")}
    mine = next(c for pair, c in listed.items() if set(pair) == {removed["id"], removed["kept_id"]})
    assert mine["decision"] == "different"

    # By content from here on: the reviewed candidates carry keys, and `same` comes with the keys of a review.
    by_key = keyed(monkeypatch, capsysbinary, tmp_path, lines)
    text_of = {row["id"]: row["content"] for row in rows}
    assert len(keys) == len(text_of)
    chance = random.Random(5)
    fresh = [{**row, "id": f"n{i}"} for i, row in enumerate(rows)]
    chance.shuffle(fresh)
    new = write(tmp_path / "new.jsonl", fresh)
    for options in ((), ("--fold-script",), ("--scope", "lead")):
        done = call(
            monkeypatch, capsysbinary, "run", new, "-o", tmp_path / "n.jsonl", "-q", "--no-boilerplate",
            "--overwrite", "--decisions", by_key, *options, "--json",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert json.loads(done.out)["decisions"]["used"] == 2
        clusters = {}
        for row, line in zip(fresh, table(tmp_path / "n.report"), strict=True):
            clusters.setdefault(row["content"], set()).add(line["similar_id"])
        for a, b, told in lines:
            together = clusters[text_of[a]] & clusters[text_of[b]]
            assert bool(together) == (told == "same"), (options, a, b, told)


def keyed(monkeypatch, capsysbinary, tmp_path, lines):
    """The decisions of `lines` by the keys of their texts."""
    from newsdedup_cli.files.base import ReadOptions
    from newsdedup_cli.files.corpus import open_corpus
    from newsdedup_cli.review import read_texts
    from newsdedup_cli.settings import Matching

    corpus = open_corpus([str(tmp_path / "old.csv")], ReadOptions())
    columns = {role: [corpus.resolve(name)] for role, name in (("id", "id"), ("text", "content"), ("title", "title"))}
    rows = table(tmp_path / "o.report")
    texts = read_texts(corpus, columns, Matching(), np.arange(1, len(rows) + 1))
    key = {line["id"]: texts.of(line["row"])["key"] for line in rows}
    made = [{"key_a": key[a], "id_a": "x", "key_b": key[b], "id_b": "y", "decision": d} for a, b, d in lines]
    path = tmp_path / "decisions.parquet"
    decisions.save(pa.Table.from_pylist(made, decisions.SCHEMA), path)
    return path


def test_a_reviewed_candidates_file(tmp_path, monkeypatch, capsysbinary):
    source = write(tmp_path / "in.parquet", small_corpus() if NO_JIT else sample_rows())
    call(monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "u.parquet", "-q")
    pairs = table(tmp_path / "u.report", "candidates.parquet")
    if len(pairs) < 2:
        pytest.skip("too few rows without JIT")
    reviewed = candidates_with(tmp_path / "u.report", lambda i, _: ["same", "different", None][min(i, 2)])
    done = call(monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "v.parquet", "-q", "--decisions", reviewed)
    assert done.code == 0, done.err
    cluster_of = {line["row"]: line["similar_id"] for line in table(tmp_path / "v.report")}
    assert cluster_of[pairs[0]["row_a"]] == cluster_of[pairs[0]["row_b"]]
    after = {(c["row_a"], c["row_b"]): c["decision"] for c in table(tmp_path / "v.report", "candidates.parquet")}
    assert (pairs[0]["row_a"], pairs[0]["row_b"]) not in after
    assert after[pairs[1]["row_a"], pairs[1]["row_b"]] == "different"
    assert (tmp_path / "v.report" / "decisions.parquet").exists()
    # The same in the sheet for people.
    book = openpyxl.load_workbook(tmp_path / "u.report" / "report.xlsx")
    header = [cell.value for cell in book["candidates"][1]]
    book["candidates"].cell(2, header.index("decision") + 1).value = "不同"
    book.save(tmp_path / "report.xlsx")
    (line,) = decisions.load(tmp_path / "report.xlsx").to_pylist()
    assert (line["key_a"], line["key_b"], line["decision"]) == (pairs[0]["key_a"], pairs[0]["key_b"], "different")
    said = call(
        monkeypatch, capsysbinary, "explain", f"#{pairs[1]['row_a']}", f"#{pairs[1]['row_b']}",
        "--report", tmp_path / "v.report", "-q",
    )  # fmt: skip
    assert said.out.decode().startswith("Not merged: a person decided that they are different")


def test_decisions_about_other_texts_are_counted(tmp_path, monkeypatch, capsysbinary):
    source = write(tmp_path / "in.csv", small_corpus(12))
    made = [{"key_a": KEYS[0], "id_a": "x", "key_b": KEYS[1], "id_b": "y", "decision": "same"}]
    decisions.save(pa.Table.from_pylist(made, decisions.SCHEMA), tmp_path / "d.parquet")
    done = call(
        monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "u.csv", "-q", "--decisions", tmp_path / "d.parquet"
    )
    assert done.code == 0
    assert "warning: 1 of 1 decisions matched nothing: one of their texts is not here" in done.err
    done = call(
        monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "c.csv", "-q", "--preset", "classic-simhash",
        "--decisions", tmp_path / "d.parquet",
    )  # fmt: skip
    assert done.code == 2
    assert done.err.startswith("error: --decisions with --preset classic-simhash\n")


def test_rows_of_one_text_are_kept_apart_by_their_titles(tmp_path, monkeypatch, capsysbinary):
    rows = small_corpus(12)
    body = next(row["content"] for row in rows if len(row["content"]) > 100)
    twins = [
        {**rows[0], "id": f"t{i}", "title": title, "content": body} for i, title in enumerate(("甲报", "乙报", "丙报"))
    ]
    source = write(tmp_path / "in.csv", twins)
    (tmp_path / "d.csv").write_text("id_a,id_b,decision\nt0,t1,different\n", "utf-8")
    done = call(
        monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "u.csv", "-q", "--decisions", tmp_path / "d.csv"
    )
    assert done.code == 0, done.err
    first, second, third = (line["similar_id"] for line in table(tmp_path / "u.report"))
    assert first != second
    assert third in (first, second)


def test_an_index_remembers_decisions(tmp_path, monkeypatch, capsysbinary):
    rows = [row for row in small_corpus(16) if row["content"]]
    first = write(tmp_path / "1.csv", rows)
    index = ("--index", tmp_path / "index")
    assert call(monkeypatch, capsysbinary, "run", first, "-o", tmp_path / "o1.csv", "-q").code == 0
    link = next(line for line in table(tmp_path / "o1.report") if line["reason"] in ("simhash", "sentence"))
    (tmp_path / "d.csv").write_text(f"id_a,id_b,decision\n{link['id']},{link['kept_id']},different\n", "utf-8")
    # Kept by ids here; an index wants them by content.
    report = tmp_path / "o2.report"
    done = call(
        monkeypatch, capsysbinary, "run", first, "-o", tmp_path / "o2.csv", "-q", "--decisions", tmp_path / "d.csv"
    )
    assert done.code == 0, done.err
    reviewed = report / "candidates.parquet"
    done = call(
        monkeypatch, capsysbinary, "run", first, "-o", tmp_path / "o3.csv", "-q", *index, "--decisions", reviewed
    )
    assert done.code == 0, done.err
    assert decisions.load(tmp_path / "index")["decision"].to_pylist() == ["different"]
    again = write(tmp_path / "2.csv", [{**row, "id": f"x{row['id']}", "url": ""} for row in rows])
    done = call(monkeypatch, capsysbinary, "run", again, "-o", tmp_path / "o4.csv", "-q", *index, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["decisions"]["used"] == 1
    kept = {line["id"]: line["kept_id"] for line in table(tmp_path / "o4.report")}
    assert kept[f"x{link['id']}"] != kept[f"x{link['kept_id']}"]


def test_keys_stay_what_they_are():
    """People keep decisions: a change here makes them forget half of what a decision is known by. Do not, or say so."""
    from newsdedup_cli.kernels import text as kernel
    from newsdedup_cli.scan import cleaned_by, read_hashes
    from newsdedup_cli.settings import Matching
    from newsdedup_cli.texts import buffers

    title, body = (
        pa.array([t], pa.large_string()) for t in ("大桥通车", "长江大桥今日上午正式通车，首日车流3.5万辆。")
    )
    content = kernel.evidence(*buffers(cleaned_by(body, Matching())), 1, 1, 1)[0]
    assert decisions.keys_of(content, read_hashes(title, body)).to_pylist() == [KEY_OF_A_TEXT]
