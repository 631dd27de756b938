"""Two texts side by side: bits, words, sentences and characters in which they differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from newsdedup_cli import boilerplate, clean, pipeline
from newsdedup_cli.files.corpus import Column
from newsdedup_cli.kernels import clauses, text
from newsdedup_cli.scan import user_dictionary
from newsdedup_cli.segment import Recipe, features, load_lexicon
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import I64, U32, U64
from newsdedup_cli.texts import strings
from newsdedup_cli.verify import guards

WORDS = 12  # of each kind that are named
LONGEST = 3000  # characters of two sentences up to which they are compared character by character
ALIKE = 0.5  # share of characters that two sentences need in common to be shown as one that changed
_SENTENCE = re.compile(r"[^。！？；!?;\n]*[。！？；!?;]+[\"”’』」]*|[^。！？；!?;\n]+|\n")

Segment = tuple[str, str]  # "=" in both, "-" only in the first, "+" only in the second; and the text


@dataclass(frozen=True)
class Line:
    """A sentence: `same`, `changed`, `moved`, or only in one text (`first`, `second`)."""

    kind: str
    first: tuple[Segment, ...]
    second: tuple[Segment, ...]


@dataclass(frozen=True)
class Comparison:
    """What two texts have in common and what they have not."""

    fingerprints: tuple[int, int]
    bits: tuple[int, ...]  # that differ, 0 the least
    shared_sentences: tuple[str, ...]  # among the longest of both
    clauses: tuple[tuple[str, str], ...]  # equal but for a number or an opposite, without blanks
    common_words: tuple[tuple[str, int], ...]  # and the lesser of their two weights, the heaviest first
    only_first: tuple[tuple[str, int], ...]
    only_second: tuple[tuple[str, int], ...]
    cleaned: tuple[tuple[str, ...], tuple[str, ...]]  # cleaning steps that fired on each
    boilerplate: tuple[tuple[str, ...], tuple[str, ...]]  # sentences left out of each
    lines: tuple[Line, ...]


def compared(
    run: pipeline.Run, a: int, b: int, raw: tuple[str, str], columns: Mapping[str, Sequence[Column]]
) -> Comparison:
    """Compare the rows a and b (positions), whose texts came in as `raw`."""
    matching, prints = run.matching, run.prints
    first, second = (t or "" for t in strings(*run.texts.gather(np.array([a, b]))).to_pylist())
    prints_ab = int(prints.simhash[a]), int(prints.simhash[b])
    apart = prints_ab[0] ^ prints_ab[1]
    common, only_first, only_second = _words(first, second, matching)
    return Comparison(
        fingerprints=prints_ab,
        bits=tuple(bit for bit in range(64) if apart >> bit & 1),
        shared_sentences=_shared(first, prints.sentences[a], prints.sentences[b], matching.least_piece),
        clauses=tuple(differing_clauses(first, second, matching)),
        common_words=common,
        only_first=only_first,
        only_second=only_second,
        cleaned=(_fired(raw[0], matching), _fired(raw[1], matching)),
        boilerplate=(_left_out(raw[0], first, matching), _left_out(raw[1], second, matching)),
        lines=tuple(aligned(first, second)),
    )


def _fired(raw: str, matching: Matching) -> tuple[str, ...]:
    if matching.preset.startswith("classic"):
        return ("classic",)
    return tuple(clean.fired(raw, clean.CleanSettings(fold_script=matching.fold_script)))


def _left_out(raw: str, compared_text: str, matching: Matching) -> tuple[str, ...]:
    """Sentences of the cleaned text that boilerplate took out."""
    if matching.preset.startswith("classic") or matching.scope != "full":
        return ()
    whole = clean.clean_text(raw, clean.CleanSettings(fold_script=matching.fold_script))
    left = [sentence.strip() for sentence in sentences(compared_text)]
    gone = []
    for sentence in map(str.strip, sentences(whole)):
        if sentence in left:
            left.remove(sentence)
        elif sentence:
            gone.append(sentence)
    return tuple(gone)


def _words(first: str, second: str, matching: Matching) -> tuple[tuple[tuple[str, int], ...], ...]:
    lexicon = load_lexicon(user_dictionary(matching))
    recipe: Recipe = "classic" if matching.weights == "tf" else "default"
    left, right = ({w: n for w, n, _ in features(t, lexicon, recipe)} for t in (first, second))
    common = {w: min(n, right[w]) for w, n in left.items() if w in right}
    only_left = {w: n for w, n in left.items() if w not in right}
    only_right = {w: n for w, n in right.items() if w not in left}
    return tuple(
        tuple(sorted(words.items(), key=lambda item: (-item[1], -len(item[0])))[:WORDS])
        for words in (common, only_left, only_right)
    )


def _shared(first: str, a: U64, b: U64, least_piece: int) -> tuple[str, ...]:
    pieces = boilerplate.pieces_of(first, least_piece)
    return tuple(pieces.get(int(value), "…") for value in a if value and value in b)


def differing_clauses(first: str, second: str, matching: Matching) -> list[tuple[str, str]]:
    """The clauses that kernels.clauses.substitutions counts, as significant characters."""
    import pyarrow as pa

    from newsdedup_cli.texts import buffers

    codes, offsets = text.significant_codes(*buffers(pa.array([first, second], pa.large_string())))
    sides = [_clauses(codes, offsets, row, matching) for row in (0, 1)]
    (spelled_a, left), (spelled_b, right) = sides
    places: dict[int, list[int]] = {}
    for y, (form, _) in enumerate(right):
        places.setdefault(form, []).append(y)
    ours: dict[int, set[int]] = {}
    for form, value in left:
        ours.setdefault(form, set()).add(value)
    found = []
    for x, (form, value) in enumerate(left):
        others = places.get(form, []) if form else []
        if any(right[y][1] == value for y in others):
            continue
        for y in others:
            if right[y][1] not in ours[form] and _same_company(left, x, right, y):
                found.append((spelled_a[x], spelled_b[y]))
                break
    return found


def _clauses(codes: U32, offsets: I64, row: int, matching: Matching) -> tuple[list[str], list[tuple[int, int]]]:
    """The clauses of a text as strings, and the form and value of each."""
    begin, end = int(offsets[row]), int(offsets[row + 1])
    words, classes, sides = guards.opposites()
    if not matching.opposites:
        words, classes, sides = words[:0], classes[:0], sides[:0]
    numerals = guards.numerals() if matching.numbers == "guard" else np.zeros(0, np.uint32)
    negations = guards.negations() if matching.opposites else np.zeros(0, np.uint32)
    out = np.empty((end - begin + 1, 3), np.uint64)
    n = clauses._clauses(
        codes,
        begin,
        end,
        clauses.kinds_of(numerals, words, negations),
        numerals,
        guards.units(),
        words,
        classes,
        sides,
        negations,
        guards.FLASH,
        guards.LEAST_LETTERS,
        out,
    )
    spelled = "".join(chr(c) if c else "\n" for c in codes[begin:end].tolist()).split("\n")
    return spelled, [(int(form), int(value)) for form, value in out[:n, :2]]


def _same_company(left: list[tuple[int, int]], x: int, right: list[tuple[int, int]], y: int) -> bool:
    """Whether the clauses before or behind are of one form too, or both missing."""
    edge = -1

    def form(clauses: list[tuple[int, int]], at: int) -> int:
        return clauses[at][0] if 0 <= at < len(clauses) else edge

    return any(form(left, x + step) != 0 and form(left, x + step) == form(right, y + step) for step in (-1, 1))


def sentences(whole: str) -> list[str]:
    """The text cut behind each end of a sentence or line.

    >>> sentences("甲。乙！\\n丙")
    ['甲。', '乙！', '\\n', '丙']
    """
    return _SENTENCE.findall(whole)


def aligned(first: str, second: str) -> list[Line]:
    """Both texts sentence by sentence in one order, changed sentences character by character."""
    left = [s.strip() for s in sentences(first) if s.strip()]
    right = [s.strip() for s in sentences(second) if s.strip()]
    lines: list[Line] = []
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [Line("same", (("=", s),), (("=", s),)) for s in left[i:j]]
        else:
            lines += _unequal(left[i:j], right[k:m], set(left), set(right))
    return lines


def _unequal(left: list[str], right: list[str], every_left: set[str], every_right: set[str]) -> list[Line]:
    """Sentences that stand between equal ones: those that changed beside each other, in order."""
    lines, at = [], 0
    for sentence in left:
        match = next((k for k in range(at, len(right)) if _alike(sentence, right[k])), None)
        if match is None:
            lines.append(Line("moved" if sentence in every_right else "first", (("-", sentence),), ()))
            continue
        lines += [_only_second(other, every_left) for other in right[at:match]]
        lines.append(_changed(sentence, right[match]))
        at = match + 1
    return [*lines, *(_only_second(other, every_left) for other in right[at:])]


def _only_second(sentence: str, every_left: set[str]) -> Line:
    return Line("moved" if sentence in every_left else "second", (), (("+", sentence),))


def _alike(first: str, second: str) -> bool:
    if len(first) + len(second) > 2 * LONGEST:
        return False
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _changed(first: str, second: str) -> Line:
    left: list[Segment] = []
    right: list[Segment] = []
    for tag, i, j, k, m in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if i < j:
            left.append(("=" if tag == "equal" else "-", first[i:j]))
        if k < m:
            right.append(("=" if tag == "equal" else "+", second[k:m]))
    return Line("changed", tuple(left), tuple(right))
