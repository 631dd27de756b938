"""What a survey calls suspicious: a list of named rules over whole columns, each with the words and what to do.

A pattern is read both by polars, which searches whole columns, and by `re`, which cuts out the example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import polars as pl

EXCEL_CHARACTERS = 32_767  # what a cell holds
EXCEL_DIGITS = 15  # what a number keeps
_AROUND = 12  # characters of an example before what was found
_SHOWN = 60


@dataclass(frozen=True)
class Rule:
    """A sign in the cells of some roles; `words` follow `12 rows have`."""

    kind: str
    roles: tuple[str, ...]
    pattern: str
    words: str
    todo: str = ""

    def found(self, column: pl.Series) -> pl.Series:
        """Which cells have it."""
        return column.str.contains(self.pattern).fill_null(False)

    def example(self, cell: str) -> str:
        """The cell around the first place that has it."""
        match = re.search(self.pattern, cell)
        start = max(0, match.start() - _AROUND) if match else 0
        return cell[start : start + _SHOWN]


@dataclass(frozen=True)
class CutRule(Rule):
    """Texts of exactly as many characters as a cell of Excel holds."""

    def found(self, column: pl.Series) -> pl.Series:
        """Which cells are that long."""
        return (column.str.len_chars() == EXCEL_CHARACTERS).fill_null(False)

    def example(self, cell: str) -> str:
        """Where the cell ends."""
        return cell[-_SHOWN:]


_WESTERN_TRAIL = "[\u0080-\u00bfŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]"
_UTF8_AS_LATIN1 = f"(?:[ãäåæçèéï]{_WESTERN_TRAIL}{{2}}){{2}}|â€{_WESTERN_TRAIL}"
_GBK_AS_LATIN1 = "(?:[À-ÖØ-öø-ÿ][¡-ÖØ-öø-þ]){3,}"
_TAGS = (
    "p|br|div|span|a|img|table|tbody|tr|td|th|ul|ol|li|h[1-6]|strong|b|i|em|u|font|center|section|article|figure|"
    "script|style|iframe|video|blockquote|html|body|head|meta|link|input|button|form"
)
_ENTITIES = "nbsp|amp|lt|gt|quot|apos|ldquo|rdquo|lsquo|rsquo|mdash|ndash|hellip|middot|bull|emsp|ensp|copy"
_NOTHING = r"nan|none|null|nil|undefined|n/a|#n/a|<na>|\\N|无|暂无|暂无内容"


@cache
def _utf8_as_gbk() -> str:
    """Two Chinese characters in UTF-8 are three in GBK, of which two lie in small sets; here six are asked for."""
    leads, trails = (*range(0xE3, 0xEA), 0xEF), range(0x80, 0xC0)
    first = "".join(_gbk(lead, trail) for lead in leads for trail in trails)
    second = "".join(_gbk(trail, lead) for trail in trails for lead in leads)
    return f"(?:[{first}][{second}][^\\x00-\\x7f]){{3}}"


def _gbk(lead: int, trail: int) -> str:
    return bytes([lead, trail]).decode("gbk", "ignore") if lead > 0x80 else ""


@cache
def rules() -> tuple[Rule, ...]:
    """All rules for texts, titles and ids, in the order in which they are told."""
    both = ("text", "title")
    again = "decode the source again: newsdedup cannot mend it"
    return (
        Rule("utf8_as_gbk", both, _utf8_as_gbk(), "UTF-8 that was read as GBK", again),
        Rule("utf8_as_latin1", both, _UTF8_AS_LATIN1, "UTF-8 that was read as Latin-1 (Windows-1252)", again),
        Rule("gbk_as_latin1", both, _GBK_AS_LATIN1, "GBK that was read as Latin-1", again),
        Rule("replaced", both, "\ufffd|锟斤拷", "characters that could not be decoded (U+FFFD, 锟斤拷)"),
        Rule(
            "html",
            both,
            rf"(?i)</?(?:{_TAGS})(?:\s[^<>]*)?/?>|&(?:{_ENTITIES}|#\d{{2,6}}|#x[0-9a-f]{{2,5}});",
            "HTML tags or entities",
            "nothing: it is left out where texts are compared, and stays in the output",
        ),
        Rule("list", both, r"(?s)^\s*\[\s*u?['\"].*['\"]\s*\]\s*$", "a Python or JSON list written as text"),
        Rule("escapes", both, r"\\[nrt](?:[^a-z]|$)|\\u[0-9a-fA-F]{4}", r"escapes left as text (\n, \u4e2d)"),
        Rule("controls", both, r"[\x00-\x08\x0b\x0c\x0e-\x1f]|_x000[0-9A-Fa-f]_", "control characters"),
        Rule("nothing", ("text",), rf"(?i)^\s*(?:{_NOTHING})\s*$", "a word for nothing as their text"),
        CutRule("cut", ("text",), "", f"exactly {EXCEL_CHARACTERS:,} characters: Excel cuts what is longer"),
        Rule(
            "scientific_ids",
            ("id",),
            r"^\d(?:\.\d+)?E\+\d\d$",
            "an id in scientific notation, as Excel writes long numbers: digits are lost",
            "export it again with the ids as text",
        ),
        Rule(
            "float_ids",
            ("id",),
            r"^\s*\d+\.0$",
            "an id that ends in .0: it was a number with missing values on the way",
        ),
    )


ROUNDED_IDS = Rule(
    "rounded_ids",
    ("id",),
    rf"^[1-9]\d{{{EXCEL_DIGITS - 1}}}0+$",
    f"an id whose digits after the {EXCEL_DIGITS}th are all 0, as Excel leaves them: different rows become one",
    "export it again with the ids as text",
)


class Rounded:
    """Ids of over 15 digits, of which some end in zeros by chance: a tenth of those with 16 digits."""

    def __init__(self) -> None:
        self._long: dict[int, int] = {}
        self._zeros: dict[int, int] = {}

    def add(self, ids: pl.Series) -> pl.Series:
        """Count the ids of a batch; returns which of them end in zeros."""
        zeros = ROUNDED_IDS.found(ids)
        long = ids.str.contains(rf"^[1-9]\d{{{EXCEL_DIGITS},}}$").fill_null(False)
        for counts, mask in ((self._long, long), (self._zeros, zeros)):
            for digits, count in ids.filter(mask).str.len_bytes().value_counts().iter_rows():
                counts[digits] = counts.get(digits, 0) + count
        return zeros

    @property
    def count(self) -> int:
        """How many end in zeros, of the lengths where five times more do than by chance."""
        return sum(
            count
            for digits, count in self._zeros.items()
            if count > 5 * self._long[digits] * 10.0 ** (EXCEL_DIGITS - digits)
        )


def searched(role: str) -> Iterator[Rule]:
    """The rules that look at a role."""
    return (rule for rule in rules() if role in rule.roles)
