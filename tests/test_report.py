"""report.html and report.xlsx: the figures are right, nothing of the data runs, nothing is cut in silence."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook
from report_findings import NASTY, made_up

from newsdedup_cli.report import sheets, write_report
from newsdedup_cli.report.cells import MOST_CHARACTERS, safe_text
from newsdedup_cli.report.figures import SCORE_BINS, SIZE_FROM, SPANS, numbers
from newsdedup_cli.report.labels import _WORDS, words
from newsdedup_cli.report.marked import MOST_SHOWN, as_html, difference, shortened
from newsdedup_cli.report.page import page
from newsdedup_cli.report.shown import MOST_CANDIDATES, choose, choose_candidates, chosen, in_clusters
from newsdedup_cli.tables import UNKNOWN


class _Reader(HTMLParser):
    """The elements with their attributes, and the text outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.elements, self.open, self.text, self.raw = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.raw if self.open and self.open[-1] in ("script", "style") else self.text).append(data)


def _read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_page_is_whole_and_alone(lang):
    findings = made_up()
    findings.lang = lang
    read = _read(page(findings))
    assert [attrs["lang"] for tag, attrs in read.elements if tag == "html"] == [{"en": "en", "zh": "zh-CN"}[lang]]
    loaded = {"src", "srcset", "data", "action", "poster"}
    assert not [attrs for _, attrs in read.elements if loaded & attrs.keys()]
    assert not [tag for tag, _ in read.elements if tag in ("link", "img", "iframe", "object", "base")]
    for word in ("charts", "largest", "doubtful", "candidates", "boilerplate", "rejects", "how", "sources", "spans"):
        assert words(lang)[word] in "".join(read.text)
    # Style sheets may not fetch anything either.
    assert not re.search(r"url\(|@import", next(raw for raw in read.raw if "--ground" in raw))


def test_nothing_of_the_data_runs():
    read = _read(page(made_up(200)))
    assert len([tag for tag, _ in read.elements if tag == "script"]) == 3
    assert not [attrs for _, attrs in read.elements if any(name.startswith("on") for name in attrs)]
    targets = [attrs["href"] for tag, attrs in read.elements if tag == "a"]
    assert all(target.startswith(("#", "https://example.com/")) for target in targets)
    assert any(target.startswith("https") for target in targets)
    assert "</script><script>alert(1)</script>" in "".join(read.text)
    assert not [tag for tag, _ in read.elements if tag == "b" and "careful" in tag]


def test_charts_carry_the_figures():
    findings = made_up(200)
    read = _read(page(findings))
    charts = {chart["id"]: chart for chart in json.loads(next(raw for raw in read.raw if raw.startswith("[")))}
    expected = Counter(line["size"] for line in findings.rows.to_pylist() if line["kept"] and line["size"] > 1)
    shown = dict(zip(charts["sizes"]["names"], charts["sizes"]["series"][0]["values"], strict=True))
    assert {int(k): v for k, v in shown.items() if k.isdigit() and v} == {k: v for k, v in expected.items() if k < 6}
    assert sum(shown.values()) == sum(expected.values())
    assert set(charts) == {"outcome", "reasons", "distances", "scores", "sizes", "spans", "days", "sources"}
    places = [attrs["data-chart"] for _, attrs in read.elements if "data-chart" in attrs]
    assert places == [str(i) for i in range(len(charts))]


@given(st.integers(0, 10_000), st.integers(2, 120), st.integers(1, 60))
def test_numbers_against_plain_counting(seed, rows, clusters):
    findings = made_up(rows, seed, clusters)
    found, lines = numbers(findings), findings.rows.to_pylist()
    removed = [line for line in lines if not line["kept"]]
    near = [line for line in removed if line["reason"] != "exact"]
    pairs = findings.candidates.to_pylist()
    for got, these in zip(found.distances, (near, pairs), strict=True):
        assert {i: n for i, n in enumerate(got.tolist()) if n} == Counter(line["distance"] for line in these)
    for got, these in zip(found.scores, (near, pairs), strict=True):
        bins = Counter(min(int(line["score"] * SCORE_BINS + 1e-4), SCORE_BINS - 1) for line in these)
        assert {i: n for i, n in enumerate(got.tolist()) if n} == bins
    assert found.exact == len(removed) - len(near)
    sizes = Counter(
        max(b for b in SIZE_FROM if b <= line["size"]) for line in lines if line["kept"] and line["size"] > 1
    )
    assert dict(zip(SIZE_FROM, found.sizes.tolist(), strict=True)) == {b: sizes.get(b, 0) for b in SIZE_FROM}
    assert found.spans.tolist() == _plain_spans(lines, findings.about.date)
    dated = [line for line in removed if findings.about.date[line["row"] - 1] != UNKNOWN]
    assert sum(found.days[2]) == len(dated)
    if found.sources:
        files = [line["file"] for line in lines]  # they stand for the sources where none is known
        source = files if found.sources.by_file else findings.about.source.fill_null("").to_pylist()
        expected = Counter((source[line["kept_row"] - 1], source[line["row"] - 1]) for line in removed)
        got = {
            (k, r): int(found.sources.counts[i, j])
            for i, k in enumerate(found.sources.kept)
            for j, r in enumerate(found.sources.removed)
            if found.sources.counts[i, j]
        }
        assert got == expected
        assert found.sources.outside == 0


def _plain_spans(lines, dates):
    found = [0] * (len(SPANS) + 1)
    for cluster in {line["similar_id"] for line in lines}:
        known = [
            int(dates[line["row"] - 1])
            for line in lines
            if line["similar_id"] == cluster and dates[line["row"] - 1] != UNKNOWN
        ]
        if len(known) > 1:
            span = max(known) - min(known)
            found[sum(span >= end for end in SPANS)] += 1
    return found


def test_days_by_length_of_time():
    day = 86_400 * 1_000_000
    findings = made_up(40, clusters=3)
    kept = np.array(findings.rows["kept"].to_pylist())
    removed = np.flatnonzero(~kept)
    for length, unit in ((30, "day"), (400, "week"), (2000, "month"), (40_000, "year")):
        findings.about.date = np.full(40, UNKNOWN, np.int64)
        findings.about.date[removed[:3]] = np.array([0, length // 2, length - 1]) * day
        got, begins, counts = numbers(findings).days
        assert (got, sum(counts)) == (unit, 3)
        assert begins == sorted(begins)
        assert len(begins) == len(counts)
    # 1970-01-01 was a Thursday: its week begins on the Monday before.
    findings.about.date[removed[:3]] = np.array([0, 3, 399]) * day
    assert numbers(findings).days[1][:2] == ["1969-12-29", "1970-01-05"]
    assert numbers(findings).days[2][0] == 2


def test_sources_that_say_nothing():
    findings = made_up(40)
    findings.about.source = pa.array(["甲报"] * 40, pa.large_string())
    assert words("en")["one_source"] in page(findings)
    findings.about.source = pa.nulls(40, pa.large_string())
    assert numbers(findings).sources.by_file  # two files stand for the sources
    findings.rows = findings.rows.set_column(1, "file", pa.array(["a.csv"] * 40))
    assert words("en")["no_source"] in page(findings)


def test_chosen_clusters():
    similar = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    row, kept = np.array([1, 2, 4, 7]), np.array([0, 0, 3, 6])
    score = np.array([0.9, 0.7, 0.65, 1.0], np.float32)
    found = choose(similar, row, kept, score, score == 1)
    assert [e.similar_id for e in found.largest] == [0, 1, 3]
    assert [e.similar_id for e in found.doubtful] == [1, 0]
    assert found.largest[0].removed == (2, 1)
    assert (found.largest[0].kept, found.largest[0].size) == (0, 3)
    assert found.largest[0].least_score == pytest.approx(0.7)


def test_each_reason_gets_its_share_of_the_shown_candidates():
    reason = np.array([6] * 100 + [2] * 3)
    places = choose_candidates(reason)
    assert len(places) == MOST_CANDIDATES
    assert set(range(100, 103)) < set(places.tolist())
    assert choose_candidates(np.zeros(0, np.int64)).tolist() == []


texts = st.text("一二三四五六七八九十。！\nab12.<&", max_size=60)


@given(texts, texts)
def test_difference_loses_nothing(first, second):
    parts = difference(first, second)
    assert "".join(text for kind, text in parts if kind in ("same", "first")) == first
    assert "".join(text for kind, text in parts if kind in ("same", "second")) == second
    assert all(text for _, text in parts)


def test_difference_marks_words_and_figures():
    parts = difference("全省下雨 12.5 毫米，请注意防范。", "全省下雨 12.8 毫米，请注意防范。")
    assert [tuple(part) for part in parts[1:3]] == [("first", "12.5"), ("second", "12.8")]
    assert as_html(parts[1:2], "{}") == "<del>12.5</del>"


def test_long_differences_are_shortened():
    same = "。".join(f"第{i}句话在两边是一样的" for i in range(300))
    parts = shortened(difference(f"开头甲。{same}", f"开头乙。{same}"))
    assert sum(len(text) for kind, text in parts if kind != "cut") < 200
    apart = shortened(difference("甲" * 3000, "乙" * 3000))
    assert sum(len(text) for kind, text in apart if kind != "cut") <= MOST_SHOWN
    assert any(kind == "cut" for kind, _ in apart)


def test_words_are_there_in_both_languages():
    for key, (english, chinese) in _WORDS.items():
        assert english, key
        assert chinese, key
        assert sorted(re.findall(r"\{\w*\}", english)) == sorted(re.findall(r"\{\w*\}", chinese)), key


def test_page_of_many_rows_stays_small():
    findings = made_up(6_000, clusters=2_000, candidates=1_000)
    assert len(page(findings).encode()) < 1_500_000


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_found(tmp_path, lang):
    findings = made_up(2, clusters=1, candidates=0)
    findings.rows, findings.boilerplate, findings.rejects = findings.rows.slice(0, 0), [], []
    for name in ("id", "title", "source", "date"):
        setattr(findings.about, name, getattr(findings.about, name)[:0])
    findings.lang = lang
    write_report(findings, tmp_path)
    assert words(lang)["nothing"] in (tmp_path / "report.html").read_text("utf-8")


@pytest.fixture
def book(tmp_path):
    findings = made_up(200)
    write_report(findings, tmp_path)
    return findings, openpyxl.load_workbook(tmp_path / "report.xlsx"), tmp_path / "report.xlsx"


def test_workbook_looks_as_an_analyst_wants_it(book):
    _, opened, _ = book
    assert opened.sheetnames == ["summary", "clusters", "candidates", "rejects", "boilerplate"]
    for sheet in opened:
        assert sheet.freeze_panes == "A2"
        assert sheet.auto_filter.ref
        assert all(sheet.column_dimensions[cell.column_letter].width > 5 for cell in sheet[1])
    grounds = {}
    for line in opened["clusters"].iter_rows(min_row=2):
        grounds.setdefault(line[0].value, set()).add(line[5].fill.fgColor.rgb)
    assert all(len(colours) == 1 for colours in grounds.values())
    colours = [next(iter(colours)) for colours in grounds.values()]
    assert all(a != b for a, b in pairwise(colours))


def test_removed_rows_lead_to_their_kept_row_and_url(book):
    _, opened, _ = book
    sheet = opened["clusters"]
    at = {cell.value: cell.column - 1 for cell in sheet[1]}
    removed = 0
    for line in sheet.iter_rows(min_row=2):
        kept_row, url = line[at["kept_row"]], line[at["url"]]
        if kept_row.value is not None:
            removed += 1
            target = sheet[kept_row.hyperlink.location.split("!")[1]].row
            assert sheet.cell(target, at["row"] + 1).value == kept_row.value
            assert sheet.cell(target, at["kept"] + 1).value is True
        assert (url.hyperlink.target == url.value) if url.value.startswith("https") else url.hyperlink is None
    assert removed == sum(not kept for kept in book[0].rows["kept"].to_pylist())


def test_no_text_is_a_formula_and_all_read_back(book):
    findings, opened, path = book
    assert not [c for sheet in opened for line in sheet.iter_rows() for c in line if c.data_type == "f"]
    at = [cell.value for cell in opened["clusters"][1]].index("title")
    again = CalamineWorkbook.from_path(str(path)).get_sheet_by_name("clusters").to_python()[1:]
    similar = np.array(findings.rows["similar_id"].to_pylist())
    places = in_clusters(similar, np.array(findings.rows["kept"].to_pylist()))
    wanted = [findings.about.title[int(place)].as_py() or "" for place in places]
    assert [line[at] for line in again] == [safe_text(title) for title in wanted]
    assert {safe_text(title) for title in NASTY} <= {line[at] for line in again}


def test_candidates_can_be_filled_in(book):
    _, opened, _ = book
    sheet = opened["candidates"]
    (choice,) = sheet.data_validations.dataValidation
    column = [cell.value for cell in sheet[1]].index("decision") + 1
    letter = openpyxl.utils.get_column_letter(column)
    assert choice.formula1 == '"same,different"'
    assert str(choice.sqref) == f"{letter}2:{letter}{sheet.max_row}"


def test_what_does_not_fit_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "MOST_LISTED", 10)
    monkeypatch.setattr(sheets, "MOST_PAIRS", 5)
    findings = made_up(200, candidates=30)
    sheets.Workbook().write(findings, tmp_path)
    opened = openpyxl.load_workbook(tmp_path / "report.xlsx")
    total = sum(size > 1 for size in findings.rows["size"].to_pylist())
    last = opened["clusters"].cell(12, 1).value
    assert last == f"the first 10 of {total:,} lines; all of them are in rows.parquet"
    assert opened["summary"]["A2"].value == "sheet clusters"
    assert opened["summary"]["B2"].value == last
    assert opened["candidates"].cell(7, 1).value == "the first 5 of 30 lines; all of them are in candidates.parquet"
    assert "cut to 2,000 characters" in opened["summary"]["B3"].value
    assert MOST_CHARACTERS == 2000


def _links(sheet):
    return [cell.hyperlink for line in sheet.iter_rows() for cell in line if cell.hyperlink]


def test_links_stop_where_excel_does(tmp_path, monkeypatch):
    monkeypatch.setattr("newsdedup_cli.report.cells.MOST_LINKS", 4)
    sheets.Workbook().write(made_up(100), tmp_path)
    opened = openpyxl.load_workbook(tmp_path / "report.xlsx")
    assert len(_links(opened["clusters"])) == 4
    notes = [line[1].value for line in opened["summary"].iter_rows(max_row=5)]
    assert any("without their link" in str(note) for note in notes)


def test_report_of_a_run_has_texts_and_urls_at_hand(tmp_path):
    """What the run fetches is what the page shows."""
    from newsdedup_cli.job import Job, run
    from newsdedup_cli.settings import Settings

    story = "市政府今天上午召开新闻发布会，介绍全市防汛工作的最新进展情况，有关负责人回答了记者的提问。"
    source = tmp_path / "in.csv"
    copies = [story * 2 + f"据悉，{word}部门将继续加强巡查，确保安全度汛。" * 2 for word in ("水务", "应急", "水务")]
    lines = [f"{i},标题{i},{text},https://example.com/{i}" for i, text in enumerate(copies)]
    source.write_text("id,title,content,url\n" + "\n".join(lines) + "\n", "utf-8")
    run(Job((str(source),), str(tmp_path / "out.csv"), tmp_path / "out.report", quiet=True), Settings())
    text = (tmp_path / "out.report" / "report.html").read_text("utf-8")
    assert 'class="text"' in text or words("en")["equal"] in text
    assert 'href="https://example.com/' in text
    sheet = openpyxl.load_workbook(tmp_path / "out.report" / "report.xlsx")["clusters"]
    assert "https://example.com/0" in [link.target for link in _links(sheet)]


def test_choice_from_the_table_is_that_of_the_arrays():
    findings = made_up(150)
    lines = [line for line in findings.rows.to_pylist() if not line["kept"]]
    similar = np.array(findings.rows["similar_id"].to_pylist())
    expected = choose(
        similar,
        np.array([line["row"] - 1 for line in lines]),
        np.array([line["kept_row"] - 1 for line in lines]),
        np.array([line["score"] for line in lines], np.float32),
        np.array([line["reason"] == "exact" for line in lines]),
    )
    assert chosen(findings) == expected
