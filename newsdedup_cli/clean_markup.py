"""Steps that take off what a web page or a dump left around the text: list literals, tags, entities.

A tag is `<`, an ASCII name, attributes in their own grammar, `>`; a `<` in prose stays. What is not
certainly markup stays. The scanner is linear: no tag reaches over another `<`.
"""

from __future__ import annotations

import ast
import re
from html.entities import html5, name2codepoint

SEAM = "\u200b"
"""Stands where an inline tag was, so that its two sides cannot join to an entity; folding drops it."""


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


BLOCK_TAGS = _words(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend "
    "li main menu nav noscript object ol optgroup option p pre section select summary table tbody td "
    "template textarea tfoot th thead title tr ul video audio canvas svg"
)
INLINE_TAGS = _words(
    "a abbr acronym applet area b base basefont bdi bdo big button cite code col colgroup data "
    "datalist del dfn em embed font g i img input ins kbd label link map mark marquee meta meter nobr "
    "o path param picture progress q rp rt ruby s samp script small source span strike strong style "
    "sub sup time track tt u use var wbr"
)
RAW_TAGS = ("script", "style")
BARE_ATTRIBUTES = _words(
    "allowfullscreen async autofocus autoplay checked compact controls default defer disabled "
    "download hidden ismap itemscope loop multiple muted nohref noresize noshade novalidate nowrap "
    "open playsinline readonly required reversed selected"
)

_NAME = re.compile(r"</?([a-z][a-z0-9]*+(?:[:-][a-z0-9:-]*+)?)", re.I | re.A)
_ATTRIBUTE = re.compile(
    r"[\s/]*+([a-z_:@][a-z0-9_:.@-]*+)(\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'|[^\s\"'<>=`]++))?+", re.I | re.A
)
_GAP = re.compile(r"[\s/]*+", re.A)
_OPEN_END = re.compile(r"[\s/]++[a-z][a-z0-9_:.-]*+(?:\s*+=[^<>]*+)?+\Z", re.I | re.A)
_DECLARATION = re.compile(r"<(?:!doctype|\?xml|!\[endif|!\[if|!\[cdata\[)[^<>]*+>", re.I | re.A)


def _tag_at(text: str, at: int) -> tuple[int, str] | None:
    """End and replacement of the tag that begins at `at`; None where there is none."""
    name = _NAME.match(text, at)
    if not name:
        return None
    word = name[1].lower()
    known = word in BLOCK_TAGS or word in INLINE_TAGS
    closing = text[at + 1] == "/"
    end, valued, bare_ok = name.end(), False, True
    while True:
        attribute = _ATTRIBUTE.match(text, end)
        separate = valued or text[end : end + 1].isspace() or text[end : end + 1] == "/"
        if not attribute or not separate:
            break
        end = attribute.end()
        valued = valued or attribute[2] is not None
        bare_ok = bare_ok and (attribute[2] is not None or attribute[1].lower() in BARE_ATTRIBUTES)
    close = _GAP.match(text, end).end()  # type: ignore[union-attr]
    if text[close : close + 1] != ">" or not (bare_ok or valued) or not (known or closing or valued):
        return None
    return close + 1, "\n" if word in BLOCK_TAGS else SEAM


_LOWER = {point: point + 32 for point in range(ord("A"), ord("Z") + 1)}
_CLOSE = re.compile("[^<>]*+>")


def _last_closers(lower: str) -> dict[str, int]:
    """Where the last closer of each raw element stands: looked up once, so that open ones stay linear."""
    return {name: lower.rfind(f"</{name}") for name in RAW_TAGS} | {"!--": lower.rfind("-->")}


def _raw_at(lower: str, at: int, closers: dict[str, int]) -> int | None:
    """End of a comment or of a script or style element, content included, that begins at `at`."""
    if lower.startswith("<!--", at):
        return lower.find("-->", at + 4) + 3 if closers["!--"] >= at + 4 else None
    for name in RAW_TAGS:
        after = at + 1 + len(name)
        if closers[name] > at and lower.startswith(f"<{name}", at) and lower[after : after + 1] in tuple("> \n\t\r"):
            end = lower.find(f"</{name}", after) + 2 + len(name)
            close = _CLOSE.match(lower, end)
            return close.end() if close else end
    return None


def _markup_at(text: str, lower: str, at: int, closers: dict[str, int]) -> tuple[int, str] | None:
    raw = _raw_at(lower, at, closers)
    if raw is not None:
        return raw, "\n"
    declaration = _DECLARATION.match(text, at)
    if declaration:
        return declaration.end(), "\n"
    return _tag_at(text, at) or _open_tag_at(text, at)


def _open_tag_at(text: str, at: int) -> tuple[int, str] | None:
    """The rest of the text, where it is a tag that the end of the text cuts off."""
    name = _NAME.match(text, at)
    if not name or not (name[1].lower() in BLOCK_TAGS or name[1].lower() in INLINE_TAGS):
        return None
    whole = name.end() == len(text) and (len(name[1]) > 1 or text[at + 1] == "/")
    return (len(text), "") if whole or _OPEN_END.match(text, name.end()) else None


def strip_markup(text: str) -> str:
    """Tags go, block tags leave a line end; comments, scripts and styles go with their content."""
    if "<" not in text:
        return text
    lower = text.translate(_LOWER)
    closers = _last_closers(lower)
    out, start, at = [], 0, text.find("<")
    while at >= 0:
        found = _markup_at(text, lower, at, closers)
        if found:
            out += [text[start:at], found[1]]
            start = found[0]
        at = text.find("<", found[0] if found else at + 1)
    out.append(text[start:])
    return "".join(out)


_ENTITY = re.compile(
    r"&((?:amp[;；])*+)(?:#(?:[xX]([0-9A-Fa-f]{1,8}+)|([0-9]{1,8}+))[;；]?|([A-Za-z][A-Za-z0-9]{1,31}+)([;；])?)?+"
)
_ESCAPED_TAG = re.compile(r"&(?:amp[;；])*+(?:lt|#60|#x3c)[;；]/?[a-z!]", re.I | re.A)
OPEN_NAMES = frozenset(
    ("nbsp", "lt", "gt", "amp", "quot", "ldquo", "rdquo", "lsquo", "rsquo", "mdash", "hellip", "middot")
)


def _character(point: int) -> str:
    """The character of a numeric entity; those of Windows-1252 (128..159) as browsers read them."""
    if 0x80 <= point <= 0x9F:
        return bytes((point,)).decode("cp1252", "ignore")
    if point == 0 or 0xD800 <= point < 0xE000 or point > 0x10FFFF:
        return ""
    return chr(point)


def _decode(match: re.Match[str]) -> str:
    again, hexadecimal, decimal, name, closed = match.groups()
    if hexadecimal or decimal:
        return _character(int(hexadecimal, 16) if hexadecimal else int(decimal))
    if closed and f"{name};" in html5:
        return html5[f"{name};"]
    after = match.string[match.end() : match.end() + 1]
    if not closed and name in OPEN_NAMES and after != "=":
        return chr(name2codepoint[name])
    return f"&{match[0][1 + len(again) :]}"


def decode_entities(text: str) -> str:
    """Entities become characters, also when encoded twice or without `;`; markup they spelt goes."""
    if "&" not in text:
        return text
    decoded = _ENTITY.sub(_decode, text)
    return strip_markup(decoded) if _ESCAPED_TAG.search(text) else decoded


def unwrap_list(text: str) -> str:
    """A body that is the repr of a list of strings becomes its paragraphs."""
    bare = text.strip()
    if not (bare[:2] in ("['", '["') and bare[-2:] in ("']", '"]')):
        return text
    try:
        parts = ast.literal_eval(bare)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    whole = isinstance(parts, list) and all(isinstance(part, str) for part in parts)
    return "\n".join(parts) if whole else text
