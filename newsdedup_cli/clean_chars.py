"""What cleaning does to single characters, and the steps built on it: fold, punctuation, blanks.

The steps here are the plain definition (str -> str). `kernels/normalize.py` does the same over Arrow
buffers for the rows that need no composition; the tests hold both to each other on every code point.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

RADICALS = (
    "⺁厂⺂乛⺃乚⺄乙⺅亻⺆冂⺇𠘨⺈刀⺉刂⺊卜⺋㔾⺌小⺍小⺎兀⺏尣⺐尢⺑𡯂⺒巳⺓幺⺔彑⺕彐⺖忄⺗心⺘扌⺙攵⺛旡⺜日⺝月⺞歺⺟母⺠民⺡氵⺢氺⺣灬⺤爫⺥爫⺦丬⺧牛"
    "⺨犭⺩王⺪𤴔⺫目⺬示⺭礻⺮𥫗⺯糹⺰纟⺱罓⺲罒⺳㓁⺴冗⺵𦉫⺶羊⺷𦍌⺸𦍋⺹耂⺺肀⺻聿⺼肉⺽𦥑⺾艹⺿艹⻀艹⻁虎⻂衤⻃覀⻄西⻅见⻆角⻇𧢲⻈讠⻉贝⻊𧾷⻋车⻌辶⻍辶"
    "⻎辶⻏邑⻐钅⻑長⻒镸⻓长⻔门⻕𨸏⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻞𩙿⻟飠⻠饣⻡𩠐⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀⻳龟"
)
"""CJK radicals supplement, each followed by its ideograph (Unicode's EquivalentUnifiedIdeograph)."""

SAME = {
    ",": ",﹐︐",
    "，": "，",
    ":": ":﹕︓∶꞉",
    "：": "：",
    ".": ".．﹒",
    "？": "?？﹖︖",
    "！": "!！﹗︕",
    "；": ";；﹔︔",
    "。": "｡︒",
    "、": "､﹑︑",
    "（": "(（﹙⦅｟",
    "）": ")）﹚⦆｠",
    "[": "[［【〔〖〚︻︗",
    "]": "]］】〕〗〛︼︘",
    "《": "《〈︽︿«‹",
    "》": "》〉︾﹀»›",
    '"': '"＂“”„‟〝〞〟″「」『』﹁﹂﹃﹄｢｣❝❞',
    "'": "'＇‘’‚‛′`´｀❛❜",
    "-": "-－‐‑‒–−﹣⁃",
    "—": "—―─━⸺⸻﹘︱︲",
    "~": "~～〜∼˜",
    "·": "·•‧・･∙⋅●○◦▪■◆",
    "|": "|｜│┃︳¦",
    "…": "…⋯︙",
    "/": "/／∕⁄",
    "平方米": "㎡",
    "立方米": "㎥",
}
"""Forms of one mark, under the form that stands for all of them. Of , : and . `punctuation` decides."""

INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufffd\ufffc"
BLANKS = "\t\u2800\ue5e5"
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
COLLAPSE = "，。！？：；、…—~"
_KEEPS_DIGITS = ("<super>", "<sub>", "<fraction>")


@cache
def explicit() -> dict[str, str]:
    """The characters whose form is set by hand, and what each becomes."""
    table = {form: one for one, forms in SAME.items() for form in forms}
    table.update(zip(RADICALS[::2], RADICALS[1::2], strict=True))
    return table


def is_invisible(char: str) -> bool:
    """Controls, joiners, marks of direction, variation selectors, private use, replacement marks."""
    point = ord(char)
    return (
        char in INVISIBLE
        or 0xFE00 <= point <= 0xFE0F
        or 0x180B <= point <= 0x180F
        or 0xE0000 <= point <= 0xE0FFF
        or 0xFDD0 <= point <= 0xFDEF
        or point & 0xFFFE == 0xFFFE
        or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")
    )


def _decomposed(char: str) -> str:
    """NFKD, but superscripts, subscripts and fractions stay: 10² is not 102."""
    parts = unicodedata.decomposition(char).split()
    if not parts or parts[0] in _KEEPS_DIGITS:
        return char
    points = parts[1:] if parts[0].startswith("<") else parts
    return "".join(_decomposed(chr(int(point, 16))) for point in points)


def _compatible(char: str) -> str:
    text = _decomposed(char)
    alone = len(text) == 1
    if text[0] == " " and not alone:
        return unicodedata.normalize("NFC", char)  # a spacing accent: blank and combining mark
    if not alone and any(c in "0123456789" for c in text):
        return char  # (1), 1., 1 o'clock in one character: beside a number they would make another number
    if alone and text.isascii() and text.isdigit() and "<circle>" in unicodedata.decomposition(char):
        return char
    return unicodedata.normalize("NFC", text)


def fold_char(char: str) -> str:
    r"""What one character becomes: "", " ", "\n" or the folded text.

    >>> [fold_char(c) for c in "Ａ\u3000\u200b，²Ⅲ⻄"]
    ['a', ' ', '', '，', '²', 'iii', '西']
    """
    table = explicit()
    if char in table:
        return table[char]
    category = unicodedata.category(char)
    if category[0] not in "CZ" and not unicodedata.decomposition(char) and char.casefold() == char:
        return "" if is_invisible(char) else char
    if char in LINE_ENDS:
        return "\n"
    if char in BLANKS or unicodedata.category(char) == "Zs":
        return " "
    if is_invisible(char):
        return ""
    text = _compatible(char)
    for _ in range(3):
        text = "".join(_compatible(c) for c in text.casefold())
    return "".join(table.get(c, c) for c in text)


def is_wide(point: int) -> bool:
    """Whether a code point is of the CJK blocks, whose words stand without blanks."""
    return (
        0x2E80 <= point <= 0xA4CF
        or 0xF900 <= point <= 0xFAFF
        or 0xFF00 <= point <= 0xFFEF
        or 0x1AFF0 <= point <= 0x1B16F
        or 0x20000 <= point <= 0x3FFFF
    )


def is_word(char: str) -> bool:
    """Whether blanks between this character and another such one matter: letters and digits, not CJK.

    >>> [is_word(c) for c in "aé5한中カ，%"]
    [True, True, True, True, False, False, False, False]
    """
    return not is_wide(ord(char)) and unicodedata.category(char)[0] in "LNM"


def is_text(char: str) -> bool:
    """Whether a line that holds this character says something: a letter, digit or ideograph."""
    return is_word(char) or unicodedata.category(char)[0] in "LN"


@cache
def _fold_cached(char: str) -> str:
    return fold_char(char)


def fold_characters(text: str) -> str:
    """Width, compatibility forms, case, quotes, dashes, radicals to one form each; invisible characters go.

    Source: NFKC_Casefold of Unicode, without its superscripts, subscripts, fractions and enclosed digits.
    """
    return unicodedata.normalize("NFC", "".join(map(_fold_cached, text)))


_HEAD_MARKS = re.compile(r"^[ ？]*？", re.M)
_MANY_MARKS = re.compile("？{4,}")


def drop_question_runs(text: str) -> str:
    """Question marks that stand for lost characters: at the start of a line, or four and more in a row."""
    return _MANY_MARKS.sub("", _HEAD_MARKS.sub("", text))


_NUMBER_COMMA = re.compile("(?<=[0-9])，(?=[0-9])")
_NUMBER_COLON = re.compile("(?<=[0-9])：(?=[0-9])")
_OPEN_COMMA = re.compile(r"(?<![0-9]),|,(?![0-9])")
_OPEN_COLON = re.compile(r"(?<![0-9]):|:(?![0-9])")
_DOTS = re.compile(r"\.\.+")
_DASHES = re.compile("--+")
_OPEN_DOT = re.compile(r"(?<![!-~])\.|\.(?![0-9a-z])")
_RUN = re.compile(f"([{COLLAPSE}])\\1+")


def punctuation(text: str) -> str:
    """One form of each mark; inside numbers (3.5 1,000 19:30) and words (u.s. a.com) the ASCII one."""
    text = _OPEN_COMMA.sub("，", _NUMBER_COMMA.sub(",", text))
    text = _OPEN_COLON.sub("：", _NUMBER_COLON.sub(":", text))
    text = _DASHES.sub("—", text)
    text = _DOTS.sub("…", text)
    text = _OPEN_DOT.sub("。", text)
    return _RUN.sub(r"\1", text)


_LINE_END = re.compile(r" *\n[ \n]*")
_BLANK = re.compile(" +")
_OPEN_LINE = re.compile("([，、])\n")


def blanks(text: str) -> str:
    """No blank but between Latin words or numbers; no line of marks alone, none that a comma leaves open."""
    lines = (_blanks_in_line(line) for line in _LINE_END.sub("\n", text).split("\n"))
    kept = (line for line in lines if any(map(_is_text_cached, line)))
    return _OPEN_LINE.sub(r"\1", "\n".join(kept))


@cache
def _is_word_cached(char: str) -> bool:
    return is_word(char)


@cache
def _is_text_cached(char: str) -> bool:
    return is_text(char)


def _blanks_in_line(line: str) -> str:
    parts = [part for part in _BLANK.split(line) if part]
    if not parts:
        return ""
    out = [parts[0]]
    for before, after in pairwise(parts):
        joined = _is_word_cached(before[-1]) and _is_word_cached(after[0])
        out.append(f" {after}" if joined else after)
    return "".join(out)
