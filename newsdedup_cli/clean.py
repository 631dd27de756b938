"""Cleaning for comparison: what two copies of one article differ in, and what is no part of it, goes.

The output of the tool always carries the original; what is cleaned here is only fingerprinted and
verified. A list of named steps, each with an example: `clean_texts` runs them over Arrow buffers, `fired`
names those that changed a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from newsdedup_cli import clean_chars, clean_lines, clean_markup
from newsdedup_cli.clean_tables import CLEANER_VERSION as CLEANER_VERSION
from newsdedup_cli.clean_tables import cue_tables, hint_classes, step_flag, tables
from newsdedup_cli.errors import UserError
from newsdedup_cli.kernels.datelines import ASK, datelines
from newsdedup_cli.kernels.line_cues import put_rows, row_flags
from newsdedup_cli.kernels.line_hints import row_hints
from newsdedup_cli.kernels.normalize import PAD, clean_rows


@dataclass(frozen=True)
class CleanSettings:
    """What cleaning does beyond its basic steps."""

    fold_script: bool = False
    """Traditional characters become simplified ones (OpenCC); off: they stay different."""
    tails: bool = True
    """Headline tags, datelines, source lines, disclaimers and the like go; off: basic steps only."""


class Step(NamedTuple):
    """One step: its name, what it does in a line, an example, and the function."""

    name: str
    doc: str
    before: str
    after: str
    apply: Callable[[str], str]


@cache
def _converter() -> Callable[[str], str]:
    try:
        from opencc import OpenCC
    except ImportError:
        raise UserError(
            "--fold-script needs the package opencc, which is not installed",
            todo="pip install 'newsdedup[fold]'",
        ) from None
    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert


def fold_script(text: str) -> str:
    """Traditional characters become simplified ones."""
    return _converter()(text)


BASIC_STEPS = (
    Step(
        "list_literal",
        "a body that is the repr of a list becomes its paragraphs",
        "['甲队获胜。', '乙队落败。']",
        "甲队获胜。\n乙队落败。",
        clean_markup.unwrap_list,
    ),
    Step(
        "markup",
        "tags, comments, scripts and styles go; a `<` in prose stays",
        "<p>若a<b则<b>通过</b></p>",
        f"\n若a<b则{clean_markup.SEAM}通过{clean_markup.SEAM}\n",
        clean_markup.strip_markup,
    ),
    Step(
        "entities",
        "entities become characters, also when encoded twice or cut short",
        "低于&lt;5&amp;quot;&nbsp",
        '低于<5"\xa0',
        clean_markup.decode_entities,
    ),
    Step(
        "characters",
        "one form for widths, case, quotes, dashes and radicals; invisible characters go",
        "ＡＢ\u200b１２“⻄”",
        'ab12"西"',
        clean_chars.fold_characters,
    ),
    Step(
        "question_runs",
        "question marks that stand for lost characters go",
        "？？据悉，三人？？？？获救",
        "据悉，三人获救",
        clean_chars.drop_question_runs,
    ),
    Step(
        "punctuation",
        "one form for each mark, inside numbers the ASCII one; repeated marks become one",
        "涨3.5,共1,000.真的！！",
        "涨3.5，共1,000。真的！",
        clean_chars.punctuation,
    ),
    Step(
        "blanks",
        "blanks stay only between Latin words and numbers; empty lines go",
        " 在 88 号 \n\n new  york 站 ",
        "在88号\nnew york站",
        clean_chars.blanks,
    ),
)
FOLD_STEP = Step("fold_script", "traditional characters become simplified ones", "開業", "开业", fold_script)
LINE_STEPS = tuple(Step(*rule) for rule in clean_lines.STEPS)
LAST_STEPS = (Step("end_marks", "the mark that ends the text goes", "大桥通车！", "大桥通车", clean_lines.end_marks),)
STEPS = (*BASIC_STEPS, FOLD_STEP, *LINE_STEPS, *LAST_STEPS)


ROUNDS = 3
"""The line steps run again while they change something: a credit may stand behind a notice, or before it."""


def _run(text: str, settings: CleanSettings, note: Callable[[str], object]) -> str:
    """The text through all its steps; `note` is called with the name of each that changed it."""
    basic = (*BASIC_STEPS, FOLD_STEP) if settings.fold_script else BASIC_STEPS
    text = _pass(text, basic, note)
    return _run_lines(text, note) if settings.tails else text


def _run_lines(text: str, note: Callable[[str], object]) -> str:
    """The line steps, as `_line_steps` runs them over an array."""
    for _ in range(ROUNDS):
        due = int(_flags(pa.array([text], pa.large_string()))[0])
        changed = 0
        for at, step in enumerate(LINE_STEPS):
            before, text = text, step.apply(text) if due >> at & 1 else text
            if text != before:
                changed |= 1 << at
                note(step.name)
        if not changed & _AGAIN:
            break
    return _pass(text, LAST_STEPS, note)


_AGAIN = sum(1 << at for at, step in enumerate(LINE_STEPS) if step.name not in clean_lines.HEAD_ONLY)


def _pass(text: str, steps: Iterable[Step], note: Callable[[str], object]) -> str:
    for step in steps:
        after = step.apply(text)
        if after != text:
            note(step.name)
        text = after
    return text


def clean_text(text: str, settings: CleanSettings) -> str:
    """One text through all its steps, the plain way."""
    return _run(text, settings, _ignore)


def fired(text: str, settings: CleanSettings) -> list[str]:
    """Names of the steps that changed this text, in their order."""
    names: set[str] = set()
    _run(text, settings, names.add)
    return [step.name for step in STEPS if step.name in names]


def basic_texts(texts: pa.LargeStringArray, settings: CleanSettings) -> pa.LargeStringArray:
    """Only the steps for characters and markup. Nulls become ""; the buffers start at offset 0."""
    return clean_texts(texts, CleanSettings(fold_script=settings.fold_script, tails=False))


def clean_texts(texts: pa.LargeStringArray, settings: CleanSettings) -> pa.LargeStringArray:
    """The texts as they are compared. Nulls become ""; the buffers start at offset 0."""
    basic = _basic(texts)
    if settings.fold_script:
        basic = _map(fold_script, basic)
    return _line_steps(basic) if settings.tails else basic


def _flags(texts: pa.LargeStringArray) -> NDArray[np.int64]:
    """Bit i for each text that LINE_STEPS[i] may change."""
    data, offsets = _buffers(texts)
    scratch = np.empty(_longest(offsets) + 2, np.int64)
    flags = np.zeros(len(texts), np.int64)
    row_flags(data, offsets, *cue_tables(), scratch, flags)
    return flags


def _hints(data: NDArray[np.uint8], offsets: NDArray[np.int64], any_end: bool = False) -> NDArray[np.int64]:
    """Bit i for each text that LINE_STEPS[i] may change as it stands, the dateline aside."""
    scratch = np.empty(_longest(offsets) + 2, np.int64)
    hints = np.empty(len(offsets) - 1, np.int64)
    row_hints(data, offsets, *cue_tables()[:4], hint_classes(), any_end, scratch, hints)
    return hints


def _all_hints(texts: list[str]) -> NDArray[np.int64]:
    """Bit i for each text that LINE_STEPS[i] may change, whatever the flags it once had."""
    data, offsets = _buffers(pa.array(texts, pa.large_string()))
    first, _ = _datelines(data, offsets)
    return _hints(data, offsets, any_end=True) | np.where(first != -1, _DATELINE, 0)


def _datelines(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First byte and end of the dateline in each text; first -1 where there is none, ASK where unknown."""
    first, stop = np.empty(len(offsets) - 1, np.int64), np.empty(len(offsets) - 1, np.int64)
    datelines(data, offsets, first, stop)
    return first, stop


_DATELINE = step_flag("dateline")
_APART = 600
"""Bytes: with so many behind a dateline, the steps for the end of the text do not see the lines before it."""


def _line_steps(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The line steps: the kernels' cuts, and in Python the rows with a hint; then the marks at the end."""
    data, offsets = _buffers(texts)
    first, stop = _datelines(data, offsets)
    hints = _hints(data, offsets)
    close = first == ASK
    if (first > 0).any():
        close |= (first > 0) & (np.diff(offsets) - stop < _APART)
    hints[first != -1] |= _DATELINE
    return _put(texts, (first, stop), _changed(texts, np.flatnonzero((hints & ~_DATELINE != 0) | close), hints))


def _changed(texts: pa.LargeStringArray, rows: NDArray[np.int64], hints: NDArray[np.int64]) -> dict[int, str]:
    """The rows after the line steps, round by round, as far as they differ."""
    new: dict[int, str] = {}
    if not rows.size:
        return new
    now = texts if rows.size == len(texts) else texts.take(pa.array(rows))
    flags, hints, left = _flags(now), hints[rows], _decoded(now)
    for last in range(ROUNDS):
        fired = _round(left, flags, hints)
        new.update((row, text) for row, text, bits in zip(rows.tolist(), left, fired.tolist(), strict=True) if bits)
        again = np.flatnonzero(fired & _AGAIN)
        if not again.size or last == ROUNDS - 1:
            break
        rows, left = rows[again], [left[at] for at in again.tolist()]
        flags, hints = _flags(pa.array(left, pa.large_string())), _all_hints(left)
    return new


def _decoded(texts: pa.LargeStringArray) -> list[str]:
    """`to_pylist` of texts without nulls, several times as fast."""
    data, offsets = _buffers(texts)
    whole, ends = data.tobytes(), offsets.tolist()
    return [whole[start:end].decode() for start, end in pairwise(ends)]


def _round(texts: list[str], flags: NDArray[np.int64], hints: NDArray[np.int64]) -> NDArray[np.int64]:
    """Flags of the steps that changed each text, in place; one without a hint would leave it as it is."""
    fired = np.zeros(len(texts), np.int64)
    due = _any(flags & hints)
    for at, step in enumerate(LINE_STEPS):
        if not due >> at & 1:
            continue
        moved = []
        for row in np.flatnonzero(flags & hints & 1 << at).tolist():
            after = step.apply(texts[row])
            if after != texts[row]:
                texts[row] = after
                moved.append(row)
        if not moved:
            continue
        fired[moved] |= 1 << at
        moved = [row for row in moved if flags[row] >> at + 1]
        if moved:
            hints[moved] = _all_hints([texts[row] for row in moved])
            due = _any(flags & hints)
    return fired


def _any(bits: NDArray[np.int64]) -> int:
    """The bits that any of them has."""
    return int(np.bitwise_or.reduce(bits))


def _put(
    texts: pa.LargeStringArray, cuts: tuple[NDArray[np.int64], NDArray[np.int64]], new: dict[int, str]
) -> pa.LargeStringArray:
    """The texts without the cuts (first byte, -1 for none, and end), the new ones put in, end marks gone."""
    data, offsets = _buffers(texts)
    order = sorted(new)
    rows = np.array(order, np.int64)
    new_data, new_offsets = _buffers(pa.array([new[row] for row in order], pa.large_string()))
    out, ends = np.empty(data.size, np.uint8), np.empty(offsets.size, np.int64)
    put_rows(data, offsets, *cuts, rows, new_data, new_offsets, out, ends)
    return _strings(out[: ends[-1]], ends)


def _ignore(name: str) -> None:
    """Takes the names of the steps where nobody asks for them."""


def _map(function: Callable[[str], str], texts: pa.LargeStringArray) -> pa.LargeStringArray:
    return pa.array([function(text) if text else "" for text in texts.to_pylist()], type=pa.large_string())


def _basic(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The basic steps: the kernel's rows, and the plain steps for those it leaves."""
    data, offsets = _buffers(texts)
    longest = _longest(offsets)
    scratch, out = np.empty(3 * longest + PAD, np.uint8), np.empty(3 * data.size + PAD, np.uint8)
    ends, slow = np.empty(offsets.size, np.int64), np.empty(max(1, len(texts)), np.uint8)
    clean_rows(data, offsets, *tables(), scratch, out, ends, slow)
    left = np.flatnonzero(slow[: len(texts)])
    if left.size:
        out, ends = _with_plain(data, offsets, out, ends, left)
    return _strings(out[: ends[-1]], ends)


def _buffers(texts: pa.LargeStringArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Bytes and offsets of the texts, from 0, nulls empty."""
    if texts.null_count:
        texts = pc.fill_null(texts, "")
    _, offset_buffer, data_buffer = texts.buffers()
    if not len(texts):
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.zeros(0, np.uint8)
    first = offsets[0]
    return data[first : offsets[-1]], offsets - first if first else offsets


def _longest(offsets: NDArray[np.int64]) -> int:
    return int((offsets[1:] - offsets[:-1]).max(initial=0))


def _strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.LargeStringArray:
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _with_plain(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    out: NDArray[np.uint8],
    ends: NDArray[np.int64],
    left: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The kernel's rows `out` with the rows `left` put in, which it left empty."""
    sizes, parts, start = np.diff(ends), [], 0
    for row in left.tolist():
        text = data[offsets[row] : offsets[row + 1]].tobytes().decode("utf-8", "ignore")
        done = _pass(text, BASIC_STEPS, _ignore).encode()
        parts += [out[start : ends[row]], np.frombuffer(done, np.uint8)]
        start, sizes[row] = ends[row], len(done)
    parts.append(out[start : ends[-1]])
    return np.concatenate(parts), np.concatenate([[0], np.cumsum(sizes)])


_CLASSIC_TAG = re.compile("<.*?>")
_CLASSIC_DROP = re.compile(r"[【】《》『』「」#@\n\r\t]|\s+")


def classic_clean(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The published SimHash recipe's cleaning, exactly: `<.*?>`, some brackets and marks, white space."""
    cleaned = (_CLASSIC_DROP.sub("", _CLASSIC_TAG.sub("", text or "")) for text in texts.to_pylist())
    return pa.array(cleaned, type=pa.large_string())
