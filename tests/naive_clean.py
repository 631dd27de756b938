"""Plain twins of the cleaning kernels, and the rules that hold for every cleaned text."""

from __future__ import annotations

import re
import unicodedata

from newsdedup_cli import clean, clean_lines

CLASSIC_MARKS = "【】《》『』「」#@\n\r\t"


def classic(text: str) -> str:
    """The published recipe, one replacement after the other."""
    text = re.sub("<.*?>", "", text)
    for mark in CLASSIC_MARKS:
        text = text.replace(mark, "")
    return re.sub(r"\s+", "", text)


def basic(text: str) -> str:
    """The basic steps, one after the other."""
    for step in clean.BASIC_STEPS:
        text = step.apply(text)
    return text


def nfkc_casefold(char: str) -> str:
    """Unicode's own folding of a character, to compare those with that are no mark and hold no digit."""
    for _ in range(3):
        char = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    return char


def put(texts: list[str], new: dict[int, str]) -> list[str]:
    """`put_rows`: the texts, some new, without end marks."""
    return [clean_lines.end_marks(new.get(row, text)) for row, text in enumerate(texts)]
