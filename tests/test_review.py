"""`newsdedup review`: what a person sees, and what comes of it in OUT without a full run."""

from __future__ import annotations

import csv
import json

import openpyxl
import pytest
from running import call, read, sample_rows, small_corpus, table, write

from newsdedup_cli.report.marked import Part
from newsdedup_cli.review_sheets import COLUMNS

HEADER = [column.name for column in COLUMNS]


def doubtful_rows() -> list[dict[str, str]]:
    """Copies, and bulletins of one form that differ in their numbers."""
    some = {row["id"]: row for row in small_corpus()}
    some |= {row["id"]: row for row in sample_rows() if "天气预报" in row["title"] or "渡轮" in row["title"]}
    return [row for row in sample_rows() if row["id"] in some]


@pytest.fixture
def reviewed(tmp_path, monkeypatch, capsysbinary):
    """A run over some rows in a format, and its review as a workbook."""

    def made(extension="csv", *options):
        source = write(tmp_path / f"in.{extension}", doubtful_rows())
        out = tmp_path / f"u.{extension}"
        done = call(monkeypatch, capsysbinary, "run", source, "-o", out, "-q", "--no-boilerplate", *options)
        assert done.code == 0, done.err
        done = call(monkeypatch, capsysbinary, "review", tmp_path / "u.report", "-o", tmp_path / "r.xlsx")
        assert done.code == 0, done.err
        return source, out, tmp_path / "u.report", tmp_path / "r.xlsx"

    return made


def lines_of(sheet) -> list[dict]:
    return [dict(zip(HEADER, line, strict=True)) for line in sheet.iter_rows(min_row=2, values_only=True)]


def fill(path, sheet, decide) -> list[dict]:
    """Fill in the decisions of a sheet; gives the lines decided."""
    book = openpyxl.load_workbook(path)
    at = HEADER.index("decision") + 1
    chosen = []
    for number, line in enumerate(lines_of(book[sheet])):
        told = decide(number, line)
        if told:
            book[sheet].cell(number + 2, at).value = told
            chosen.append(line)
    book.save(path)
    return chosen


def test_the_workbook(reviewed):
    _, _, report, path = reviewed()
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["candidates", "merged", "how"]
    pairs = table(report, "candidates.parquet")
    sheet = book["candidates"]
    assert [cell.value for cell in sheet[1]] == HEADER
    assert sheet.freeze_panes == "E2"
    hidden = {
        HEADER[openpyxl.utils.column_index_from_string(k) - 1] for k, d in sheet.column_dimensions.items() if d.hidden
    }
    assert hidden <= {"key_a", "key_b"}
    assert hidden
    (rule,) = sheet.data_validations.dataValidation
    assert rule.formula1 == '"same,different"'
    lines = lines_of(sheet)
    assert {(line["row_a"], line["row_b"]) for line in lines} == {(p["row_a"], p["row_b"]) for p in pairs}
    for line in lines:
        key = next(
            (p["key_a"], p["key_b"]) for p in pairs if (p["row_a"], p["row_b"]) == (line["row_a"], line["row_b"])
        )
        assert (line["key_a"], line["key_b"]) == key
    best = {}
    for line in lines:  # groups in the order of their most likely pair, and their lines numbered
        best.setdefault(line["group"], []).append(line)
    assert [group[0]["score"] for group in best.values()] == sorted(
        (g[0]["score"] for g in best.values()), reverse=True
    )
    for group in best.values():
        assert [line["line"] for line in group] == list(range(1, len(group) + 1))
        assert {line["settles"] for line in group} == {len(group)}
    merged = [line["score"] for line in lines_of(book["merged"])]
    least = sorted(r["score"] for r in table(report) if r["reason"] in ("simhash", "sentence"))
    assert min(merged) == pytest.approx(least[0], abs=1e-4)


def test_differences_are_marked(reviewed, tmp_path, monkeypatch, capsysbinary):
    _, _, report, path = reviewed()
    book = openpyxl.load_workbook(path, rich_text=True)
    at = HEADER.index("text_a") + 1
    texts = [book["candidates"].cell(row, at).value for row in range(2, book["candidates"].max_row + 1)]
    marked = [part for text in texts if not isinstance(text, str) for part in text if not isinstance(part, str)]
    assert any(part.font.strike for part in marked)
    assert call(monkeypatch, capsysbinary, "review", report, "-o", tmp_path / "r.csv").code == 0
    with (tmp_path / "r.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [*lines[0]] == ["sheet", *HEADER]
    assert any("[-" in line["text_a"] for line in lines)
    assert not any("{+" in line["text_a"] for line in lines)


def test_an_existing_review_is_not_lost(reviewed, monkeypatch, capsysbinary):
    _, _, report, path = reviewed()
    done = call(monkeypatch, capsysbinary, "review", report, "-o", path)
    assert done.code == 2
    assert done.err == f"error: {path} is there already: it may hold decisions\n  try:    --overwrite, or another -o\n"


def test_what_is_decided_already_is_not_asked_again(reviewed, tmp_path, monkeypatch, capsysbinary):
    source, _, _, path = reviewed()
    fill(path, "candidates", lambda i, _: "different" if i == 0 else None)
    kept = fill(path, "merged", lambda i, _: "same" if i == 0 else None)
    options = ("-q", "--no-boilerplate", "--decisions", path)
    assert call(monkeypatch, capsysbinary, "run", source, "-o", tmp_path / "v.csv", *options).code == 0
    assert call(monkeypatch, capsysbinary, "review", tmp_path / "v.report", "-o", tmp_path / "s.xlsx").code == 0
    book = openpyxl.load_workbook(tmp_path / "s.xlsx")
    told = [line["decision"] for line in lines_of(book["candidates"])]
    assert told[-1] == "different"
    assert told == sorted(told, key=lambda d: d is not None)
    keys = {(line["key_a"], line["key_b"]) for line in lines_of(book["merged"])}
    assert not keys & {(line["key_a"], line["key_b"]) for line in kept}


@pytest.mark.parametrize("extension", ["csv", "jsonl", "xlsx"])
def test_apply_gives_what_a_run_with_the_decisions_gives(reviewed, tmp_path, monkeypatch, capsysbinary, extension):
    source, out, report, path = reviewed(extension)
    before = out.read_bytes()
    wrong = fill(path, "merged", lambda i, line: "不同" if i < 3 and line["line"] == 1 else None)
    missed = fill(path, "candidates", lambda i, line: "same" if i == 0 else None)
    done = call(monkeypatch, capsysbinary, "review", "--apply", report, "--decisions", path)
    assert done.code == 0, done.err
    assert "restored" in done.err
    run = tmp_path / f"again.{extension}"
    options = ("-q", "--no-boilerplate", "--decisions", path, "--report", tmp_path / "again.report")
    assert call(monkeypatch, capsysbinary, "run", source, "-o", run, *options).code == 0
    if extension == "xlsx":  # a workbook has the moment in it when it was made
        assert read(out) == read(run)
    else:
        assert out.read_bytes() == run.read_bytes()
        assert out.read_bytes() != before
    mine, theirs = ({r["row"]: r["kept_row"] for r in table(folder)} for folder in (report, tmp_path / "again.report"))
    assert mine == theirs
    clusters = {r["row"]: r["similar_id"] for r in table(report)}
    assert all(clusters[line["row_a"]] != clusters[line["row_b"]] for line in wrong)
    assert all(clusters[line["row_a"]] == clusters[line["row_b"]] for line in missed)
    counts = json.loads((report / "run.json").read_text("utf-8"))["counts"]
    assert counts["kept"] == len(read(out))
    assert counts["removed"] == len(read(report / f"removed.{extension}"))
    assert (counts["kept"], counts["removed"], counts["removed_by"]) == tuple(
        json.loads((tmp_path / "again.report" / "run.json").read_text("utf-8"))["counts"][k]
        for k in ("kept", "removed", "removed_by")
    )
    summary = openpyxl.load_workbook(report / "report.xlsx", read_only=True)["summary"]
    assert ("kept", counts["kept"]) in [tuple(line[:2]) for line in summary.iter_rows(values_only=True)]
    if extension == "csv":
        again = call(monkeypatch, capsysbinary, "review", "--apply", report, "--decisions", path)
        assert "restored   0 rows" in again.err


def test_apply_with_marks(reviewed, monkeypatch, capsysbinary):
    _, out, report, path = reviewed("csv", "--mark")
    (wrong,) = fill(path, "merged", lambda i, _: "different" if i == 0 else None)
    assert call(monkeypatch, capsysbinary, "review", "--apply", report, "--decisions", path, "-q").code == 0
    lines = read(out)
    assert len(lines) == len(doubtful_rows())
    assert lines[wrong["row_a"] - 1]["similar_id"] != lines[wrong["row_b"] - 1]["similar_id"]


def test_apply_refuses_what_it_cannot_be_sure_of(reviewed, monkeypatch, capsysbinary):
    source, out, report, path = reviewed()
    fill(path, "merged", lambda i, _: "different" if i == 0 else None)
    written = out.read_bytes()
    out.write_bytes(written + b"mine\n")
    done = call(monkeypatch, capsysbinary, "review", "--apply", report, "--decisions", path)
    assert done.code == 2
    assert done.err.startswith(f"error: {out} has changed since the run of {report}: what was changed would be lost\n")
    out.write_bytes(written)
    source.write_bytes(source.read_bytes() + b"x,y,z,,,\n")
    done = call(monkeypatch, capsysbinary, "review", "--apply", report, "--decisions", path)
    assert done.code == 2
    assert done.err.startswith(f"error: {source} has changed since the run in {report}\n")
    assert out.read_bytes() == written


def test_what_is_to_be_done_has_to_be_said(tmp_path, monkeypatch, capsysbinary):
    done = call(monkeypatch, capsysbinary, "review", tmp_path)
    assert done.code == 2
    assert done.err == "error: what is to be done with the report?\n  wanted: -o review.xlsx, or --apply\n"
    done = call(monkeypatch, capsysbinary, "review", tmp_path, "-o", tmp_path / "r.xlsx")
    assert done.err.startswith(f"error: {tmp_path} is no report of newsdedup\n")


def test_texts_that_would_break_a_workbook(tmp_path):
    from newsdedup_cli.review import Line, Review
    from newsdedup_cli.review_sheets import write as write_review

    odd = [Part("same", "=1+1"), Part("first", "\x00\ud800<r>x</r>"), Part("cut", "12"), Part("second", "\ufffe")]
    values = {name: None for name in HEADER if name not in Line.__dataclass_fields__} | {
        "url_a": "http://x/" + "y" * 3000,
        "url_b": "",
        "key_a": "k",
        "key_b": "k",
    }
    lines = [Line("candidates", "1", 1, 1, "", "near", 0.5, parts, [], dict(values)) for parts in (odd, odd[:1], [])]
    write_review(Review(lines, {"candidates": 7}), tmp_path / "r.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "r.xlsx")["candidates"]
    assert sheet["I3"].value == "=1+1"
    assert "12" in sheet["I2"].value
    assert sheet["A5"].value == "the first 3 of 10 lines; all of them are in the report"
