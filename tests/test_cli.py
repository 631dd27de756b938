"""`newsdedup run` as a user runs it: files in, files out, messages and exit codes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import NO_JIT
from running import REPORT, SAMPLE, Ran, call, partition_of, read, sample_rows, small_corpus, spawn, table, write

from newsdedup_cli import __version__
from newsdedup_cli.cli import COMMANDS
from newsdedup_cli.settings import KEEPS

EXTENSIONS = (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl")
# Threads do not inherit the fixture's errstate: without JIT numpy warns of kernels' wrapping integers there.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
jit_only = pytest.mark.skipif(NO_JIT, reason="minutes without JIT")


@pytest.fixture(scope="module")
def rows():
    return small_corpus()


@pytest.fixture
def cli(monkeypatch, capsysbinary, tmp_path):
    """Run the program with tmp_path as the current folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *args: call(monkeypatch, capsysbinary, *args)


@pytest.fixture
def news(tmp_path, rows):
    return write(tmp_path / "news.csv", rows)


def accounted(folder: Path, out: str, rows: list[dict]) -> None:
    """Kept + removed + rejected = read, each row where the report says, its cells as they came in."""
    report = folder / (out.split(".")[0] + ".report")
    extension = out.split(".", 1)[1]
    kept, removed = read(folder / out), read(report / f"removed.{extension}")
    counts = json.loads((report / "run.json").read_text("utf-8"))["counts"]
    said = table(report)
    assert counts["read"] == len(rows) == len(said)
    assert (len(kept), len(removed)) == (counts["kept"], counts["removed"])
    assert [r["id"] for r in said] == [r["id"] for r in rows]
    assert kept == [row for row, s in zip(rows, said, strict=True) if s["kept"]]
    assert removed == [row for row, s in zip(rows, said, strict=True) if not s["kept"]]
    assert removed
    assert {path.name for path in report.iterdir()} == REPORT | {f"removed.{extension}"}
    for row, s in zip(rows, said, strict=True):
        assert s["row"] == rows.index(row) + 1
        if not s["kept"]:
            to = said[s["kept_row"] - 1]
            assert (to["kept"], to["id"], to["similar_id"]) == (True, s["kept_id"], s["similar_id"])
            assert s["reason"] in ("exact", "simhash", "sentence")
            assert 0 < s["score"] <= 1
        else:
            assert s["kept_row"] is s["kept_id"] is s["distance"] is s["score"] is None
        assert s["size"] == sum(other["similar_id"] == s["similar_id"] for other in said)


@pytest.mark.parametrize("came", EXTENSIONS)
@pytest.mark.parametrize("went", EXTENSIONS[:1] if NO_JIT else EXTENSIONS)
def test_every_format_in_and_out(cli, tmp_path, rows, came, went):
    write(tmp_path / f"news{came}", rows)
    ran = cli("run", f"news{came}", "-o", f"unique{went}")
    assert ran.code == 0, ran.err
    assert ran.out == b""
    accounted(tmp_path, f"unique{went}", rows)


def test_several_inputs_of_several_formats_are_one_corpus(cli, tmp_path, rows):
    third = len(rows) // 3
    write(tmp_path / "a.csv", rows[:third])
    write(tmp_path / "b.xlsx", rows[third : 2 * third])
    write(tmp_path / "c.jsonl", rows[2 * third :])
    assert cli("run", "a.csv", "b.xlsx", "c.jsonl", "-o", "mixed.parquet").code == 0
    accounted(tmp_path, "mixed.parquet", rows)
    files = [row["file"] for row in table(tmp_path / "mixed.report")]
    assert files == ["a.csv"] * third + ["b.xlsx"] * third + ["c.jsonl"] * (len(rows) - 2 * third)
    write(tmp_path / "whole.csv", rows)
    assert cli("run", "whole.csv", "-o", "one.csv").code == 0
    assert partition_of(tmp_path / "one.report") == partition_of(tmp_path / "mixed.report")


def test_a_glob_is_one_corpus_in_order_of_names(cli, tmp_path, rows):
    half = len(rows) // 2
    write(tmp_path / "part2.csv", rows[half:])
    write(tmp_path / "part1.csv", rows[:half])
    assert cli("run", "part*.csv", "-o", "unique.csv").code == 0
    accounted(tmp_path, "unique.csv", rows)


def test_compressed_in_and_out(cli, tmp_path, rows, news):
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(news.read_bytes()))
    assert cli("run", "packed.csv.gz", "-o", "unique.csv.gz").code == 0
    accounted(tmp_path, "unique.csv.gz", rows)


def test_summary_and_guess(cli, news, rows):
    err = cli("run", news, "-o", "u.csv").err
    assert "columns guessed: id=id, title=title, text=content, date=pub_time, source=source, url=url\n" in err
    lines = dict(line.split(None, 1) for line in err.splitlines()[1:] if not line.startswith(" "))
    assert int(lines["largest"].split()[0]) == max(row["size"] for row in table(news.parent / "u.report"))
    assert lines["rows"] == f"{len(rows)} read"
    assert lines["rejected"] == "0"
    assert lines["out"] == "u.csv"
    assert lines["report"] == "u.report/"
    assert lines["removed"].endswith(")")


def test_quiet_says_nothing(cli, news):
    assert cli("run", news, "-o", "u.csv", "-q") == Ran(0, b"", "")


def test_verbose_tells_the_stages(cli, news):
    err = cli("run", news, "-o", "u.csv", "-v").err
    for stage in ("fingerprints", "boilerplate", "candidates", "verification", "clusters", "writing", "report"):
        assert f"\n  {stage} " in err


def test_json_is_the_counts_and_nothing_else_on_stdout(cli, news, rows, tmp_path):
    ran = cli("run", news, "-o", "u.csv", "--json", "-q")
    counts = json.loads(ran.out)
    assert ran.out.count(b"\n") == 1
    assert counts["read"] == len(rows) == counts["kept"] + counts["removed"] + counts["rejected"]
    assert sum(counts["removed_by"].values()) == counts["removed"]
    stored = json.loads((tmp_path / "u.report/run.json").read_text("utf-8"))
    assert {k: counts[k] for k in stored["counts"] if k not in ("seconds", "peak_bytes")} == {
        k: v for k, v in stored["counts"].items() if k not in ("seconds", "peak_bytes")
    }
    assert stored["made_by"]["newsdedup"] == __version__
    assert stored["inputs"][0]["bytes"] == news.stat().st_size


def test_mark_writes_all_rows(cli, news, rows, tmp_path):
    assert cli("run", news, "-o", "m.csv", "--mark").code == 0
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [{k: row[k] for k in rows[0]} for row in written] == rows
    for row, said in zip(written, table(tmp_path / "m.report"), strict=True):
        assert list(row)[-5:] == ["similar_id", "is_duplicate", "duplicate_of", "reason", "score"]
        assert row["similar_id"] == str(said["similar_id"])
        assert row["is_duplicate"] == ("false" if said["kept"] else "true")
        assert row["duplicate_of"] == (said["kept_id"] or "")
        assert row["reason"] == (said["reason"] or "")
        assert float(row["score"] or -1) == pytest.approx(-1 if said["score"] is None else said["score"], rel=1e-5)
    assert any(row["is_duplicate"] == "true" for row in written)


def test_a_marked_file_can_be_marked_again(cli, news, tmp_path):
    assert cli("run", news, "-o", "m.csv", "--mark").code == 0
    assert cli("run", "m.csv", "-o", "n.csv", "--mark").code == 0
    header = (tmp_path / "n.csv").read_text("utf-8").splitlines()[0].split(",")
    assert header[-5:] == [f"newsdedup_{c}" for c in ("similar_id", "is_duplicate", "duplicate_of", "reason", "score")]


def test_dry_run_writes_nothing(cli, news, tmp_path):
    ran = cli("run", news, "--dry-run")
    assert ran.code == 0
    assert ran.err.splitlines()[-1] == "written     nothing (--dry-run)"
    assert cli("run", news, "-o", "u.csv", "--dry-run", "--json").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["news.csv"]


def test_limit(cli, news, rows, tmp_path):
    assert cli("run", news, "-o", "u.csv", "--limit", "5").code == 0
    assert [row["id"] for row in table(tmp_path / "u.report")] == [row["id"] for row in rows[:5]]
    assert json.loads(cli("run", news, "--dry-run", "--json", "--limit", "999").out)["read"] == len(rows)


def test_overwrite_replaces_out_and_report(cli, news, rows, tmp_path):
    (tmp_path / "u.csv").write_text("mine")
    assert cli("run", news, "-o", "u.csv", "--overwrite").code == 0
    before = (tmp_path / "u.csv").read_bytes()
    (tmp_path / "u.report" / "removed.csv").write_text("spoilt")
    assert cli("run", news, "-o", "u.csv", "--overwrite").code == 0
    assert (tmp_path / "u.csv").read_bytes() == before
    accounted(tmp_path, "u.csv", rows)


def test_report_elsewhere_or_nowhere(cli, news, tmp_path):
    assert cli("run", news, "-o", "u.csv", "--report", "deep/r").code == 0
    assert {path.name for path in (tmp_path / "deep/r").iterdir()} == REPORT | {"removed.csv"}
    ran = cli("run", news, "-o", "v.csv", "--no-report")
    assert ran.code == 0
    assert "report" not in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "news.csv", "u.csv", "v.csv"]
    assert (tmp_path / "u.csv").read_bytes() == (tmp_path / "v.csv").read_bytes()


def test_stdout_carries_the_kept_rows_only(cli, news, tmp_path):
    assert cli("run", news, "-o", "u.csv").code == 0
    ran = cli("run", news, "-o", "-", "--format", "csv")
    assert ran.out == (tmp_path / "u.csv").read_bytes()


@jit_only
def test_stdin_is_read_and_stdout_written(tmp_path, news):
    ran = spawn("run", "-", "-o", "-", "--format", "csv", "-q", cwd=tmp_path, stdin=news.read_bytes())
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == news.read_bytes().splitlines()[0]
    assert 1 < ran.out.count(b"https://") < news.read_bytes().count(b"https://")
    assert [path.name for path in tmp_path.iterdir()] == ["news.csv"]


def test_threads_do_not_matter(cli, news, tmp_path):
    for threads in (1, 2, 3):
        assert cli("run", news, "-o", f"t{threads}.csv", "--threads", threads).code == 0
    assert (tmp_path / "t1.csv").read_bytes() == (tmp_path / "t2.csv").read_bytes()
    assert (tmp_path / "t1.csv").read_bytes() == (tmp_path / "t3.csv").read_bytes()
    assert table(tmp_path / "t1.report") == table(tmp_path / "t2.report")


def test_bom(cli, news, tmp_path):
    assert cli("run", news, "-o", "u.csv", "--bom").code == 0
    assert (tmp_path / "u.csv").read_bytes().startswith(b"\xef\xbb\xbfid,")


def test_columns_by_number_and_repeated(cli, news, tmp_path):
    assert cli("run", news, "-o", "a.csv", "--text", "content", "--id", "id").code == 0
    assert cli("run", news, "-o", "b.csv", "--text", "#3", "--id", "#1").code == 0
    assert table(tmp_path / "a.report") == table(tmp_path / "b.report")
    assert cli("run", news, "-o", "c.csv", "--text", "title", "--text", "content").code == 0
    assert json.loads((tmp_path / "c.report/run.json").read_text("utf-8"))["columns"]["text"] == ["title", "content"]


@pytest.mark.parametrize("scope", ["lead", "title"])
def test_scopes_merge_by_what_they_compare(cli, tmp_path, scope):
    lead = "昨天上午，市图书馆新馆在河东开门迎客，首日接待读者六千余人次，借出图书一万两千册，馆长说比预计的多了一倍。"
    rest = [
        "此后全年无休，周末延长到晚上十点，少儿区另设绘本馆。" * 12,
        "记者走访了周边的书店和咖啡馆，店主们各有打算。" * 12,
    ]
    other = "省里公布今年冬小麦收购的底价，每斤比去年多出六分钱，农户从下月初起可以到就近的粮站交售，运费另有补贴。"
    rows = [
        ("1", "市图书馆新馆昨天上午开门迎客", lead * 4 + rest[0]),
        ("2", "市图书馆新馆昨天上午开门迎客", lead * 4 + rest[1]),
        ("3", "省里公布今年冬小麦收购底价", other * 4),
    ]
    with (tmp_path / "s.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "title", "content"), *rows])
    ran = cli("run", "s.csv", "-o", "u.csv", "--scope", scope)
    assert ran.code == 0, ran.err
    assert partition_of(tmp_path / "u.report") == {frozenset({"1", "2"}), frozenset({"3"})}


@pytest.mark.parametrize("keep", KEEPS)
def test_keep(cli, tmp_path, keep):
    body = (
        "昨天上午，市图书馆新馆在河东开门迎客，首日接待读者六千余人次，借出图书一万两千册。馆长说，比预计的多了一倍。"
    )
    body += "新馆设有少儿区、古籍修复室和一间能坐三百人的报告厅，建在旧船厂的船台上，屋顶保留了当年的龙门吊。"
    end = "读者凭身份证即可进馆。"
    rows = [
        ("late", body, "2026-03-05", "乙报"),
        ("early", body, "2026-03-01", "丙报"),
        ("long", body + end, "2026-03-03", "甲报"),
    ]
    with (tmp_path / "k.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "content", "date", "source"), *rows])
    prefer = ("--prefer-source", "甲报,乙报") if keep == "source" else ()
    assert cli("run", "k.csv", "-o", "u.csv", "--keep", keep, *prefer).code == 0
    stays = {
        "auto": "early",
        "first": "late",
        "earliest": "early",
        "latest": "late",
        "longest": "long",
        "source": "long",
    }
    assert [row["id"] for row in read(tmp_path / "u.csv")] == [stays[keep]]


# ---- settings --------------------------------------------------------------------------------------------


def test_print_config_can_be_read_back(cli, tmp_path):
    ran = cli("run", "--print-config", "--max-distance", "5", "--keep", "longest", "--text", "a", "--text", "b")
    assert (ran.code, ran.err) == (0, "")
    (tmp_path / "n.toml").write_bytes(ran.out)
    assert tomllib.loads(ran.out.decode())["matching"]["max_distance"] == 5
    assert cli("run", "--config", "n.toml", "--print-config").out == ran.out
    again = cli("run", "--config", "n.toml", "--print-config", "--max-distance", "6").out.decode()
    assert tomllib.loads(again)["matching"]["max_distance"] == 6
    assert tomllib.loads(again)["columns"]["text"] == ["a", "b"]


def test_a_config_does_what_the_options_do(cli, news, tmp_path):
    (tmp_path / "n.toml").write_text('[matching]\npreset = "fast"\n[keeping]\nkeep = "longest"\n')
    assert cli("run", news, "-o", "a.csv", "--config", "n.toml").code == 0
    assert cli("run", news, "-o", "b.csv", "--preset", "fast", "--keep", "longest").code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    one, other = (json.loads((tmp_path / f"{x}.report/run.json").read_text("utf-8")) for x in "ab")
    assert one["settings"] == other["settings"]
    assert one["made_by"]["signature"] == other["made_by"]["signature"]


# ---- errors: the whole text, exit 2, nothing written -----------------------------------------------------

KNOWN = ".csv, .txt, .tsv, .tab, .jsonl, .ndjson, .json, .parquet, .pq, .xlsx, .xlsm"
COLUMN_LIST = "'id', 'title', 'content', 'source', 'url', 'pub_time'"
ERRORS = {
    "wrong column": (
        "news.csv -o u.csv --text body",
        f"error: --text 'body': no such column in news.csv\n  wanted: one of {COLUMN_LIST}\n",
    ),
    "nearly a column": (
        "news.csv -o u.csv --text contents",
        f"error: --text 'contents': no such column in news.csv\n  wanted: one of {COLUMN_LIST}\n"
        "  try:    --text content\n",
    ),
    "column number": (
        "news.csv -o u.csv --title #9",
        f"error: --title '#9': there are 6 columns\n  wanted: {COLUMN_LIST}\n",
    ),
    "missing file": ("nix.csv -o u.csv", "error: no such file: nix.csv\n"),
    "glob without files": ("nix*.csv -o u.csv", "error: no file matches 'nix*.csv'\n"),
    "no input": ("-o u.csv", "error: no input files\n  wanted: files, or - for standard input\n"),
    "unknown extension of OUT": (
        "news.csv -o u.foo",
        f"error: cannot tell the format of u.foo by its extension\n  wanted: one of {KNOWN} (text formats also with "
        ".gz or .zst)\n  try:    --format csv or tsv or jsonl or parquet or xlsx\n",
    ),
    "unknown extension of INPUT": (
        "news.foo -o u.csv",
        f"error: cannot tell the format of news.foo by its extension\n  wanted: one of {KNOWN} (text formats also "
        "with .gz or .zst)\n  try:    --format csv or tsv or jsonl or parquet or xlsx\n",
    ),
    "unknown format": (
        "news.foo -o u.csv --format word",
        "error: unknown --format 'word'\n  wanted: one of csv, tsv, jsonl, parquet, xlsx\n",
    ),
    "old workbook": (
        "news.csv -o u.xls",
        "error: u.xls is a workbook of another kind (.xls)\n  wanted: an .xlsx workbook or a .csv file\n"
        "  try:    opening it in Excel, WPS or LibreOffice and saving it as .xlsx\n",
    ),
    "OUT is the input": (
        "news.csv -o news.csv",
        "error: news.csv is both input and output\n  wanted: another -o: inputs are never written to\n",
    ),
    "OUT is one of the inputs, --overwrite": (
        "*.csv -o ./other.csv --overwrite",
        "error: other.csv is both input and output\n  wanted: another -o: inputs are never written to\n",
    ),
    "existing OUT": (
        "news.csv -o there.csv",
        "error: there.csv is there already\n  try:    --overwrite, or another -o\n",
    ),
    "existing report": (
        "news.csv -o u.csv --report mine",
        "error: mine is there already\n  try:    --overwrite, or another -o\n",
    ),
    "a folder that is no report": (
        "news.csv -o u.csv --report mine --overwrite",
        "error: mine is no report of newsdedup\n  try:    another --report\n",
    ),
    "no OUT": (
        "news.csv",
        "error: no output\n  wanted: -o OUT, or --dry-run\n  try:    -o unique.parquet\n",
    ),
    "missing folder": (
        "news.csv -o no/where/u.csv",
        "error: no folder no/where for the output\n  try:    mkdir -p no/where\n",
    ),
    "stdout without a format": (
        "news.csv -o -",
        "error: the format of standard input and output has to be named\n  try:    --format csv\n",
    ),
    "folder as input": (
        "mine -o u.csv --format csv",
        "error: mine is a folder\n  wanted: files\n  try:    'mine/*.csv' (quoted)\n",
    ),
    "config: missing": (
        "news.csv -o u.csv --config no.toml",
        "error: cannot read no.toml: No such file or directory\n",
    ),
    "config: no TOML": (
        "news.csv -o u.csv --config news.csv",
        "error: news.csv is no TOML: Expected '=' after a key in a key/value pair (at line 1, column 3)\n"
        "  try:    newsdedup run --print-config > newsdedup.toml\n",
    ),
    "config: bad value": (
        "news.csv -o u.csv --config bad.toml",
        "error: max_distance = 'many'\n  wanted: a whole number from 0 to 64\n",
    ),
    "bad option value": (
        "news.csv -o u.csv --keep newest",
        "Usage: newsdedup run [OPTIONS] INPUT...\nTry 'newsdedup run --help' for help.\n\nError: Invalid value for "
        "'--keep': 'newest' is not one of 'auto', 'first', 'earliest', 'latest', 'longest', 'source'.\n",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_do_and_write_nothing(cli, tmp_path, news, name):
    for copy in ("news.foo", "other.csv", "there.csv"):
        (tmp_path / copy).write_bytes(news.read_bytes())
    (tmp_path / "bad.toml").write_text('[matching]\nmax_distance = "many"\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("not yours")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    arguments, message = ERRORS[name]
    ran = cli("run", *arguments.split())
    said = "".join(line for line in ran.err.splitlines(True) if not line.startswith("columns guessed: "))
    assert (said, ran.code, ran.out) == (message, 2, b"")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_unknown_option(cli, news, tmp_path):
    ran = cli("run", news, "-o", "u.csv", "--colour")
    # What click adds to it differs between its versions.
    assert ran.err.startswith(
        "Usage: newsdedup run [OPTIONS] INPUT...\nTry 'newsdedup run --help' for help.\n\nError: No such option"
    )
    assert ran.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["news.csv"]


def test_an_odd_name_with_its_format(cli, news, tmp_path):
    (tmp_path / "news.foo").write_bytes(news.read_bytes())
    assert cli("run", "news.foo", "-o", "u.foo", "--format", "csv").code == 0
    assert cli("run", news, "-o", "u.csv", "--overwrite").code == 0
    assert (tmp_path / "u.foo").read_bytes() == (tmp_path / "u.csv").read_bytes()


def test_no_text_column(cli, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    ran = cli("run", "t.csv", "-o", "u.csv")
    assert (ran.code, ran.err) == (
        2,
        "error: no column looks like the text\n  wanted: one of a, b\n  try:    --text a\n",
    )


def test_strict_and_max_rejects(cli, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"content": "一篇完整的报道在这里"}\n{broken\n', "utf-8")
    ran = cli("run", "t.jsonl", "-o", "u.jsonl", "--strict")
    assert ran.code == 1
    assert len((tmp_path / "u.report/rejects.jsonl").read_text("utf-8").splitlines()) == 1
    assert len(read(tmp_path / "u.jsonl")) == 1
    ran = cli("run", "t.jsonl", "-o", "v.jsonl", "--max-rejects", "0")
    assert ran.code == 2
    assert "\n  wanted: at most 0 (--max-rejects)\n" in ran.err
    assert not (tmp_path / "v.jsonl").exists()
    assert not (tmp_path / "v.report").exists()


@pytest.mark.parametrize("args", [("--help",), ("inspect", SAMPLE / "news.csv")])
def test_who_reads_may_have_had_enough(args):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from newsdedup_cli.cli import main; main()", *map(str, args)]
    quiet = os.environ | {"PYTHONWARNINGS": "ignore"}  # of kernels' wrapping integers, without JIT
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=quiet, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_file_that_is_not_there_is_said_before_its_format(cli):
    ran = cli("run", "news", "-o", "u.csv")
    assert (ran.code, ran.err) == (2, "error: no such file: news\n")


def test_our_own_faults_say_so(cli, news, monkeypatch, tmp_path):
    from newsdedup_cli import job

    monkeypatch.setattr(job, "decide", lambda *a, **k: 1 / 0)
    ran = cli("run", news, "-o", "u.csv", "-q")
    assert ran.code == 3
    assert ran.err == (
        "internal error: ZeroDivisionError: division by zero\n"
        "  this is a fault of newsdedup; -v shows where; please report it with that\n"
    )
    assert "Traceback" in cli("run", news, "-o", "u.csv", "-v").err
    assert [path.name for path in tmp_path.iterdir()] == ["news.csv"]


@pytest.mark.parametrize("header", ["id,title,content\n", ""])
def test_no_rows_at_all(cli, tmp_path, header):
    (tmp_path / "t.csv").write_text(header)
    ran = cli("run", "t.csv", "-o", "u.csv", "--json")
    assert ran.code == (0 if header else ran.code)
    if ran.code == 0:
        assert json.loads(ran.out)["read"] == 0
        assert read(tmp_path / "u.csv") == []


def test_rows_without_text_are_kept_alone(cli, tmp_path):
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "content"), ("1", ""), ("2", ""), ("3", "  。"), ("4", "短"), ("5", "短")])
    assert cli("run", "t.csv", "-o", "u.csv").code == 0
    assert [row["reason"] for row in table(tmp_path / "u.report")] == ["no_text"] * 3 + ["too_short"] * 2
    assert len(read(tmp_path / "u.csv")) == 5


# ---- help, version, start-up -----------------------------------------------------------------------------


def test_help_is_light_and_names_every_command():
    program = (
        "import sys\nfrom newsdedup_cli.cli import main\nsys.argv = ['newsdedup', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "import json; print(json.dumps([*{name.split('.')[0] for name in sys.modules}]))"
    )
    ran = spawn_code(program)
    *lines, modules = ran.out.decode().splitlines()
    heavy = {"polars", "pyarrow", "numba", "jieba", "numpy", "llvmlite", "openpyxl", "tqdm"}
    assert not heavy & set(json.loads(modules))
    commands = lines[lines.index("Commands:") + 1 :]
    for name in COMMANDS:
        assert sum(line.split()[:1] == [name] for line in commands) == 1


def spawn_code(program: str) -> Ran:
    import subprocess

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def test_help_and_version(cli):
    assert cli("--version").out.decode() == f"newsdedup, version {__version__}\n"
    text = cli("run", "--help").out.decode()
    for option in ("--text", "--keep", "--mark", "--dry-run", "--threads", "--overwrite", "--config", "--json"):
        assert option in text
    assert cli("run", "-h").out.decode() == text


def test_no_command_shows_help(cli):
    ran = cli()
    assert "run" in ran.out.decode() + ran.err
    assert ran.code in (0, 2)


@jit_only
@pytest.mark.parametrize("name", ["news.csv", "news_gb18030.csv", "news.xlsx", "news.parquet", "news.jsonl"])
def test_sample_data_without_options(cli, tmp_path, name):
    ran = cli("run", SAMPLE / name, "-o", f"u{Path(name).suffix}")
    assert ran.code == 0, ran.err
    said = table(tmp_path / "u.report")
    assert len(said) == len(sample_rows()) == 310
    assert [row["id"] for row in said] == [row["id"] for row in sample_rows()]
    kept = {row["id"] for row in said if row["kept"]}
    column = "编号" if "gb18030" in name else "id"
    assert {row[column] for row in read(tmp_path / f"u{Path(name).suffix}")} == kept


@jit_only
def test_parquet_keeps_its_schema(cli, tmp_path):
    import pyarrow.parquet as pq

    assert cli("run", SAMPLE / "news.parquet", "-o", "u.parquet").code == 0
    whole, kept = pq.read_table(SAMPLE / "news.parquet"), pq.read_table(tmp_path / "u.parquet")
    assert kept.schema == whole.schema
    stays = [row["kept"] for row in table(tmp_path / "u.report")]
    assert kept.equals(whole.filter(stays))


def test_csv_cells_stay_text(cli, tmp_path):
    text = "一座修了三年的石桥今天重新开放，行人可以走过。"
    rows = [
        ("id", "content", "n"),
        ("000123", text, "1E5"),
        ("9007199254740993", "另外一件事情发生在北方的一座小城。", "-0.50"),
    ]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    (tmp_path / "t.csv").write_text(buffer.getvalue(), "utf-8", newline="")
    assert cli("run", "t.csv", "-o", "u.csv").code == 0
    assert (tmp_path / "u.csv").read_text("utf-8") == buffer.getvalue()
    assert [row["id"] for row in table(tmp_path / "u.report")] == ["000123", "9007199254740993"]


def test_versions_of_one_url(cli, tmp_path):
    """Versions that differ in a figure are all kept, or merged for the latest."""
    text = "今天上午九时许，青柳区一处在建厂房发生局部坍塌，造成{}人死亡、{}人受伤。消防和医疗部门赶到现场救援，"
    text += "伤者已送往附近医院救治。现场拉起警戒线，周边道路实行临时交通管制，请过往车辆绕行。事故原因正在调查。"
    rows = [("a", text.format(3, 6), "09:40"), ("b", text.format(5, 4), "11:05")]
    lines = ["id,content,url,date", *(f"{i},{t},http://c.example/1,2026-03-05T{d}:00" for i, t, d in rows)]
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n", "utf-8")
    assert cli("run", "v.csv", "-o", "all.csv", "-q").code == 0
    assert cli("run", "v.csv", "-o", "one.csv", "-q", "--versions", "keep-latest").code == 0
    assert [row["id"] for row in read(tmp_path / "all.csv")] == ["a", "b"]
    assert [row["id"] for row in read(tmp_path / "one.csv")] == ["b"]


@pytest.mark.parametrize("size", ["much", "1X", "-1G", ""])
def test_a_size_that_is_none(cli, size):
    ran = cli("run", "news.csv", "-o", "u.csv", "--memory", size)
    assert ran.code == 2
    assert f"Invalid value for '--memory': {size!r} is no size; wanted: 512M, 4G" in ran.err
