"""Two texts as one, with what only one of them has marked; long equal stretches are left out.

Sentences are aligned first, characters only within sentences that differ: difflib over whole articles takes
seconds a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape
from typing import NamedTuple

MOST_TEXT = 4_000  # characters of each text that are looked at
MOST_SHOWN = 1_200  # characters of the result
CONTEXT = 40  # equal characters left beside a difference
LEAST_EQUAL = 2  # a shorter equal stretch between two differences is no relief to the eye
MOST_CELLS = 400_000  # of the characters' table of one changed block
_SENTENCE = re.compile(r"[^。！？!?；;\n]*[。！？!?；;\n]+|[^。！？!?；;\n]+")
_WORD = re.compile(r"[A-Za-z]+|[0-9]+(?:[.,:][0-9]+)*%?|\s+|.", re.S)


class Part(NamedTuple):
    """A stretch: `same` in both, only in the `first`, only in the `second`, or `cut` (text: how many characters)."""

    kind: str
    text: str


def difference(first: str, second: str) -> list[Part]:
    """The two texts merged.

    >>> difference("三百人参加。", "四百人参加。")
    [Part(kind='first', text='三'), Part(kind='second', text='四'), Part(kind='same', text='百人参加。')]
    """
    cut = max(len(first), len(second)) - MOST_TEXT
    parts = _calmed(list(_aligned(_SENTENCE.findall(first[:MOST_TEXT]), _SENTENCE.findall(second[:MOST_TEXT]))))
    if cut > 0:
        parts.append(Part("cut", str(cut)))
    return parts


def _aligned(first: list[str], second: list[str]) -> Iterator[Part]:
    changed = 0
    for tag, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        old, new = "".join(first[a:b]), "".join(second[c:d])
        if tag == "equal":
            yield Part("same", old)
        elif changed < MOST_SHOWN:
            yield from _within(old, new)
        else:  # `shortened` will not come to it
            yield from (Part("first", old), Part("second", new))
        changed += (tag != "equal") * (len(old) + len(new))


def _within(old: str, new: str) -> Iterator[Part]:
    """Differences by words of letters and digits and by single characters."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    if len(a) * len(b) > MOST_CELLS:
        yield from (Part("first", old), Part("second", new))
        return
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.quick_ratio() < 0.3:  # two different sentences: their common letters say nothing
        yield from (Part("first", old), Part("second", new))
        return
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            yield Part("same", "".join(a[i:j]))
        else:
            yield from (Part("first", "".join(a[i:j])), Part("second", "".join(b[k:m])))


def _calmed(parts: list[Part]) -> list[Part]:
    """Neighbours of one kind joined, specks of equal characters between differences taken into both."""
    runs: list[tuple[str, str, str]] = []  # equal, first, second
    for kind, text in parts:
        if not text:
            continue
        speck = kind == "same" and len(text) < LEAST_EQUAL and runs and not runs[-1][0]
        if kind == "same" and not speck:
            runs.append((runs.pop()[0] + text if runs and runs[-1][0] else text, "", ""))
            continue
        if not runs or runs[-1][0]:
            runs.append(("", "", ""))
        _, old, new = runs[-1]
        runs[-1] = ("", old + text * (kind != "second"), new + text * (kind != "first"))
    made = [(Part("same", same), Part("first", old), Part("second", new)) for same, old, new in runs]
    return [part for three in made for part in three if part.text]


def shortened(parts: list[Part]) -> list[Part]:
    """Equal stretches reduced to what stands beside a difference, the whole to MOST_SHOWN characters."""
    made: list[Part] = []
    left = MOST_SHOWN
    for at, part in enumerate(parts):
        if left <= 0:
            made.append(Part("cut", str(sum(len(p.text) for p in parts[at:] if p.kind != "cut"))))
            break
        pieces = _middle_out(part, at == 0, at == len(parts) - 1) if part.kind == "same" else _head(part, left)
        made += pieces
        left -= sum(len(p.text) for p in pieces if p.kind != "cut")
    return made


def _middle_out(part: Part, first: bool, last: bool) -> list[Part]:
    text = part.text
    before, after = (0 if first else CONTEXT), (0 if last else CONTEXT)
    if first and last:  # no difference at all
        before = 3 * CONTEXT
    cut = len(text) - before - after
    if cut <= CONTEXT:
        return [part]
    pieces = [Part("same", text[:before]), Part("cut", str(cut)), Part("same", text[len(text) - after :])]
    return [p for p in pieces if p.text]


def _head(part: Part, left: int) -> list[Part]:
    if len(part.text) <= left:
        return [part]
    return [Part(part.kind, part.text[:left]), Part("cut", str(len(part.text) - left))]


def as_html(parts: list[Part], cut: str) -> str:
    """Marked up: <del> only in the first, <ins> only in the second; `cut` words a gap, with {} for its length."""
    tags = {"first": "del", "second": "ins"}
    made = []
    for kind, text in parts:
        if kind == "cut":
            made.append(f'<span class="gap">{escape(cut.format(f"{int(text):,}"))}</span>')
        elif kind == "same":
            made.append(escape(text))
        else:
            made.append(f"<{tags[kind]}>{escape(text)}</{tags[kind]}>")
    return "".join(made)
