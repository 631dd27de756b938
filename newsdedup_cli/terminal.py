"""What is drawn in a terminal: text measured in columns, tables, columns of a chart, colour where it is wanted."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

PLAIN_WIDTH = 80  # columns where the output is no terminal
LEAST_WIDTH, MOST_WIDTH = 60, 120
BLOCKS, ASCII_BLOCKS = " ▁▂▃▄▅▆▇█", " ...::##"


def char_width(char: str) -> int:
    """Columns of one character: 2 for wide and full-width ones, 0 for combining and invisible ones.

    >>> [char_width(c) for c in "a新\u0301\u200b！"]
    [1, 2, 0, 0, 2]
    """
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def text_width(text: str) -> int:
    """Columns of a text without control characters.

    >>> text_width("新闻 news")
    9
    """
    return len(text) if text.isascii() else sum(map(char_width, text))


def one_line(text: str) -> str:
    r"""The text on one line: blanks and line ends as one blank, control characters escaped.

    >>> one_line("a\n b\x1b[2J")
    'a b\\x1b[2J'
    """
    text = " ".join(text.split())
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text)


def clipped(text: str, columns: int) -> str:
    """At most so many columns of a text on one line, with `…` where it was cut.

    >>> clipped("长江大桥通车", 7)
    '长江大…'
    """
    text = one_line(text)
    if text_width(text) <= columns:
        return text
    room, kept = columns - 1, []
    for char in text:
        room -= char_width(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + "…"


def shortened(text: str, columns: int) -> str:
    """Like `clipped`, but what is cut lies before the end: ids differ there.

    >>> shortened("em-杭州保姆-0165", 12)
    'em-…姆-0165'
    """
    text = one_line(text)
    if text_width(text) <= columns:
        return text
    tail = text[-1:]
    while text_width(tail) < columns // 2:
        tail = text[-len(tail) - 1 :]
    return clipped(text, columns - text_width(tail)) + tail


def padded(text: str, columns: int, right: bool = False) -> str:
    """The text filled with blanks to so many columns.

    >>> padded("新闻", 6) + "|", padded("9", 3, right=True)
    ('新闻  |', '  9')
    """
    blanks = " " * max(0, columns - text_width(text))
    return blanks + text if right else text + blanks


def wrapped(text: str, columns: int, indent: str = "") -> list[str]:
    """The text in lines of at most so many columns: broken at blanks, and between any wide characters."""
    lines, line, room = [], indent, columns - len(indent)
    for piece in _breakable(text):
        size = text_width(piece)
        if size > room and line.strip():
            lines.append(line.rstrip())
            line, room = indent, columns - len(indent)
            piece = piece.lstrip()
            size = text_width(piece)
        line += piece
        room -= size
    return [*lines, line.rstrip()] if line.strip() else lines


NOT_FIRST = "，。、；：？！）》」』”’…,.;:?!)]}%"  # marks that do not begin a line


def _breakable(text: str) -> Iterator[str]:
    """Words with the blank before them, and wide characters one by one with the mark behind them."""
    piece = ""
    for char in text:
        wide = char_width(char) == 2
        if piece and char not in NOT_FIRST and (char == " " or wide or char_width(piece[-1]) == 2):
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


@dataclass(frozen=True)
class Screen:
    """What the output can show."""

    columns: int = PLAIN_WIDTH
    colour: bool = False
    blocks: str = BLOCKS

    def style(self, text: str, **styles: bool | str) -> str:
        """The text in click's styles (fg, bold, dim, underline ...), unchanged without colour."""
        return click.style(text, **styles) if self.colour and text else text  # type: ignore[arg-type]

    def heading(self, text: str) -> str:
        """A heading, underlined by dashes where there is no colour."""
        return self.style(text, bold=True) if self.colour else f"{text}\n{'-' * text_width(text)}"


def screen() -> Screen:
    """The screen that stdout is: colour only on a terminal without NO_COLOR, blocks where it can encode them."""
    terminal = sys.stdout.isatty()
    wide = shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if terminal else PLAIN_WIDTH
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
        blocks = BLOCKS
    except (UnicodeEncodeError, LookupError):
        blocks = ASCII_BLOCKS
    return Screen(max(LEAST_WIDTH, min(wide, MOST_WIDTH)), colour, blocks)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, indent: str = "  ") -> list[str]:
    """Lines of a table: the first `left` columns to the left, the others, numbers, to the right.

    >>> print("\\n".join(table(["score", "pairs"], [["0.5", "12"], ["0.75", "9"]])))
      score  pairs
      0.5       12
      0.75       9
    """
    every = [header, *rows]
    widths = [max(text_width(row[i]) for row in every) for i in range(len(header))]
    return [
        (indent + "  ".join(padded(cell, widths[i], right=i >= left) for i, cell in enumerate(row))).rstrip()
        for row in every
    ]


def column_chart(heights: Sequence[float], lines: int, blocks: str = BLOCKS) -> list[str]:
    """Columns one character wide, `lines` high, from heights of 0..1; the least height that is not 0 shows.

    >>> column_chart([0, 0.25, 0.5, 1], 2)
    ['   █', ' ▄██']
    """
    steps = len(blocks) - 1
    levels = [max(round(h * lines * steps), 1 if h > 0 else 0) for h in heights]
    return [
        "".join(blocks[max(0, min(steps, level - line * steps))] for level in levels).rstrip()
        for line in range(lines - 1, -1, -1)
    ]
