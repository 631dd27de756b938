"""Cleaning: every step's example, the cases, and kernels equal to the plain steps."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

import naive_clean
import numpy as np
import pyarrow as pa
import pytest
from conftest import NO_JIT
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli import clean, clean_chars, clean_lines, clean_markup, clean_tables
from newsdedup_cli.clean import CleanSettings, basic_texts, classic_clean, clean_texts, fired
from newsdedup_cli.errors import UserError
from newsdedup_cli.kernels.datelines import ASK

CASES = Path(__file__).parent / "cases" / "clean"
DEFAULT = CleanSettings()


def cases(name: str) -> list[pytest.param]:
    rows = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return [pytest.param(row["text"], row.get("cleaned", row["text"]), id=row["name"]) for row in rows]


def large(texts: list[str | None]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def one(text: str, settings: CleanSettings = DEFAULT) -> str:
    return clean_texts(large([text]), settings)[0].as_py()


def basic(text: str) -> str:
    return basic_texts(large([text]), DEFAULT)[0].as_py()


@pytest.mark.parametrize("step", [s for s in clean.STEPS if s.name != "fold_script"], ids=lambda s: s.name)
def test_every_step_does_what_its_example_says(step: clean.Step):
    assert step.apply(step.before) == step.after


def test_step_names_are_unique():
    names = [step.name for step in clean.STEPS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("text", "cleaned"), cases("positives"))
def test_positives(text: str, cleaned: str):
    assert one(text) == cleaned


@pytest.mark.parametrize(("text", "cleaned"), cases("negatives"))
def test_negatives(text: str, cleaned: str):
    assert one(text) == clean_lines.end_marks(basic(text))
    assert set(fired(text, DEFAULT)) <= {"characters", "punctuation", "blanks", "end_marks"}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [pytest.param(*p.values, id=p.id, marks=pytest.mark.xfail) for p in cases("known_failures")],
)
def test_known_failures(text: str, cleaned: str):
    assert one(text) == cleaned


@pytest.mark.parametrize(("text", "cleaned"), [*cases("positives"), *cases("negatives")])
def test_plain_steps_give_what_the_kernels_give(text: str, cleaned: str):
    assert clean.clean_text(text, DEFAULT) == one(text)
    assert bool(fired(text, DEFAULT)) == (one(text) != text)


def test_nulls_slices_and_empty_arrays():
    texts = large(["落选的一行", None, "", "<p>在内</p>", "e\u0301"])[1:]
    cleaned = clean_texts(texts, DEFAULT)
    assert cleaned.to_pylist() == ["", "", "在内", "é"]
    assert cleaned.offset == 0
    assert np.frombuffer(cleaned.buffers()[1], np.int64)[0] == 0
    assert clean_texts(large([]), DEFAULT).to_pylist() == []
    assert clean_texts(large([None]), DEFAULT).to_pylist() == [""]
    assert classic_clean(texts).to_pylist() == ["", "", "在内", "e\u0301"]


def test_tails_off_is_basic():
    text = "来源：某报\n【快讯】大桥通车。"
    assert one(text, CleanSettings(tails=False)) == basic(text) == "来源：某报\n[快讯]大桥通车。"


def test_fold_script():
    pytest.importorskip("opencc")
    assert one("飲品店開業", CleanSettings(fold_script=True)) == "饮品店开业"
    assert "fold_script" in fired("開業", CleanSettings(fold_script=True))


def test_fold_script_without_opencc(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opencc", None)
    clean._converter.cache_clear()
    with pytest.raises(UserError) as error:
        one("開業", CleanSettings(fold_script=True))
    clean._converter.cache_clear()
    assert str(error.value) == (
        "--fold-script needs the package opencc, which is not installed\n  try:    pip install 'newsdedup[fold]'"
    )


def test_classic_recipe():
    texts = ["<a\nb>【快讯】A @#\u3000<b>x</b>《书》", "a<b 且 c>d", "\x1c\x85\u200b\xa0x"]
    assert classic_clean(large(texts)).to_pylist() == [naive_clean.classic(t) for t in texts]
    assert classic_clean(large(texts)).to_pylist() == ["<ab>快讯Ax书", "ad", "\u200bx"]


@given(st.text(alphabet="<>ab/!- \n\r\t\x0b\x1c\x85\xa0\u3000【】《》『』「」#@中文", max_size=40))
def test_classic_twin(text: str):
    assert classic_clean(large([text]))[0].as_py() == naive_clean.classic(text)


PLAIN = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0x20000, 0x110000))
"""Where no row needs the plain steps: many code points to a row."""


def _framed(frame: str) -> list[str]:
    """Every code point in one frame, a sample in the others and without JIT."""
    step = 211 if NO_JIT else 1 if frame == "中{}2" else 17
    points = (*range(0, 0x3400, 9 if NO_JIT else 1), *range(0x3400, 0x20000, step))
    alone = [p for p in points if not (0xD800 <= p < 0xE000 or any(p in part for part in PLAIN))]
    rows = [frame.format(chr(point)) for point in alone]
    for part in PLAIN:
        chars = [chr(point) for point in part[::step]]
        rows += ["".join(map(frame.format, chars[at : at + 256])) for at in range(0, len(chars), 256)]
    return rows


@pytest.mark.parametrize("frame", ["{}", "中{}2", "a {} b"])
def test_kernel_equals_plain_steps_on_every_code_point(frame: str):
    texts = _framed(frame)
    got = basic_texts(large(texts), DEFAULT).to_pylist()
    wrong = [f"{t!r} {g!r}" for t, g in zip(texts, got, strict=True) if g != naive_clean.basic(t)]
    assert wrong[:5] == []


def test_folding_is_unicode_casefolding_but_for_marks_and_numbers():
    """What is no mark, no number, not invisible and not set by hand folds as NFKC_Casefold says."""
    for point in (*range(0x20, 0x2000, 3), *range(0x2E80, 0x33FF, 5), *range(0xF900, 0xFFF0, 3)):
        char = chr(point)
        text = clean_chars.fold_char(char)
        plain = naive_clean.nfkc_casefold(char)
        by_hand = char in clean_chars.explicit() or any(c in clean_chars.explicit() for c in plain)
        numbers = any(c.isdigit() for c in plain) or unicodedata.decomposition(char)[:4] in ("<sup", "<sub")
        spacing = plain[:1] == " " or not text
        if unicodedata.category(char)[0] == "L" and not (by_hand or numbers or spacing):
            assert unicodedata.normalize("NFC", text) == plain, hex(point)


PIECES = [
    "<",
    ">",
    "</",
    "p",
    "div",
    "b",
    "script",
    "style",
    " class=",
    '"x"',
    "'",
    "=",
    "/>",
    "<!--",
    "-->",
    "<p>",
    "</p>",
    "<br/>",
    "<script>",
    "</script>",
    "<!doctype html>",
    "<b and c>",
    "<a href=x>",
    "<input disabled>",
    "<o:p>",
    "&",
    "amp;",
    "&nbsp;",
    "&nbsp",
    "&lt;",
    "&gt;",
    "&#8220;",
    "&#x3c;",
    "&#0;",
    "&#150;",
    "&ldquo",
    "&AMP;",
    "；",
    ";",
    "&lang;",
    "&notit;",
    "&#99999999;",
    "？",
    "?",
    "????",
    "，",
    ",",
    "。",
    ".",
    "..",
    "：",
    ":",
    "-",
    "--",
    "—",
    "…",
    "！",
    "、",
    "~",
    " ",
    "\u3000",
    "\n",
    "\r\n",
    "\u2028",
    "1",
    "23",
    "４",
    "a",
    "Ｂ",
    "é",
    "e\u0301",
    "中",
    "文",
    "䷀",
    "ｶﾞ",
    "한",
    "ᄒ",
    "²",
    "①",
    "ß",
    "\u200b",
    "\ufffd",
    "[",
    "'甲",
    "']",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_kernel_equals_plain_steps_on_pieces(text: str):
    assert basic(text) == naive_clean.basic(text)


@given(st.text(max_size=30))
def test_kernel_equals_plain_steps_on_any_text(text: str):
    assert basic(text) == naive_clean.basic(text)
    assert one(text) == clean.clean_text(text, DEFAULT)


LINES = [
    *[step.before for step in (*clean.LINE_STEPS, *clean.LAST_STEPS)],
    *[row.values[0] for name in ("positives", "negatives") for row in cases(name)],
    "记者：请问桥何时通车？",
    "大",
    "2024-03-05",
    "true",
    "（完）",
    "。",
    "12 下一页",
    "更多",
    "by john smith",
]


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8).map("\n".join))
def test_flags_name_every_step_that_changes_a_text(text: str):
    """A flag that is missing where a step would fire is the one way in which the kernel may fail."""
    text = basic(text)
    flags = int(clean._flags(large([text]))[0])
    missed = [s.name for at, s in enumerate(clean.LINE_STEPS) if not flags >> at & 1 and s.apply(text) != text]
    assert missed == []


@given(st.lists(st.lists(st.sampled_from(LINES), max_size=6).map("\n".join), max_size=6))
def test_rows_do_not_depend_on_their_neighbours(texts: list[str]):
    assert clean_texts(large(texts), DEFAULT).to_pylist() == [clean.clean_text(t, DEFAULT) for t in texts]


@given(st.lists(st.sampled_from(["甲，", "乙。。", "", "丙…—", "a"]), max_size=6), st.data())
def test_put_rows_twin(texts: list[str], data: st.DataObject):
    rows = data.draw(st.sets(st.integers(0, len(texts) - 1))) if texts else set()
    new = {row: texts[row][:1] for row in rows}
    sizes = np.array([data.draw(st.integers(0, len(text))) for text in texts], np.int64) * 3
    sizes[[bool(text) and text.isascii() for text in texts]] = 0
    first = np.array([data.draw(st.sampled_from([-1, 0])) for _ in texts], np.int64)
    cut = [text if at < 0 else text[size // 3 :] for text, at, size in zip(texts, first, sizes, strict=True)]
    assert clean._put(large(texts), (first, sizes), new).to_pylist() == naive_clean.put(cut, new)


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8).map("\n".join), st.booleans())
def test_hints_name_every_step_that_changes_a_text(text: str, settled: bool):
    """Without a hint a step is not even tried: it must leave the text as it is."""
    text = basic(text) if settled else clean_lines.end_marks(basic(text))
    hints = int(clean._all_hints([text])[0])
    missed = [s.name for at, s in enumerate(clean.LINE_STEPS) if not hints >> at & 1 and s.apply(text) != text]
    assert missed == []


DATES = [
    *"本报网某社台刊端甲乙江",
    "讯",
    "消息",
    "快讯",
    "报道",
    "电",
    "综合",
    "3",
    "12",
    "2024",
    "年",
    "月",
    "日",
    "晚间",
    "上午",
]
DATES += [
    "（",
    "）",
    "记者",
    "通讯员",
    "实习生",
    "编译",
    "，",
    "：",
    "题：",
    "。",
    "\n",
    " ",
    "a",
    "·",
    "-",
    "—",
    "据",
    "上接",
    "3月5日电",
]


@given(st.lists(st.sampled_from(DATES), min_size=1, max_size=14).map("".join))
def test_datelines_twin(text: str):
    (first,), (stop,) = clean._datelines(*clean._buffers(large([text])))
    coded = text.encode()
    if first != ASK:
        cut = text if first < 0 else (coded[:first] + coded[stop:]).decode()
        assert cut == clean_lines.dateline(text)


def test_datelines_near_the_window_are_left_to_the_plain_step():
    for size in (60, 110, 125, 128, 130, 134, 390, 399, 410):
        text = f"{'甲' * size}\n本报讯大桥通车"
        (first,), _ = clean._datelines(*clean._buffers(large([text])))
        assert first in (ASK, 3 * size + 1)
        assert one(text) == clean.clean_text(text, DEFAULT)


def test_tables_are_stored_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clean_tables, "cache_folder", lambda: tmp_path)
    made, read = clean_tables.tables.__wrapped__(), clean_tables.tables.__wrapped__()
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]
    for one, other in zip(made, read, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    next(tmp_path.iterdir()).write_bytes(b"PK cut")
    assert np.array_equal(clean_tables.tables.__wrapped__().fold, made.fold)
    monkeypatch.setattr(clean_tables, "cache_folder", lambda: tmp_path / "missing")
    assert np.array_equal(clean_tables.tables.__wrapped__().fold, made.fold)


RUNS = [*PIECES, "，，", "。。", "1.5", "3-4", "a b", "2,000", "《书》", "中文中文中文中文", "ABC", "！"]


@given(st.lists(st.sampled_from(RUNS), min_size=30, max_size=90).map("".join))
def test_runs_of_64_bytes_equal_plain_steps(text: str):
    assert basic(text) == naive_clean.basic(text)


@pytest.mark.parametrize(
    "text",
    [
        "<" * 50_000,
        "<a b=" * 20_000,
        "<!--" * 20_000,
        "<script>" * 20_000,
        "&amp;" * 30_000,
        "&" + "amp;" * 40_000,
        "？" * 60_000,
    ],
)
def test_hostile_text_stays_linear(text: str):
    size = 2_000 if NO_JIT else len(text)
    assert basic(text[:size]) == naive_clean.basic(text[:size])


def test_markup_leaves_prose():
    for text in ("a<b且c>d", "<2%为优", "x <y> z", "i <3 you", "<a b c>"):
        assert clean_markup.strip_markup(text) == text
