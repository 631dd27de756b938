"""The ways in which a site reprints a story, one function each: (story, random numbers) -> changed copy.

Every function returns a new Article and names in `note` what it did. The facts of a story are never touched.
"""

from __future__ import annotations

import difflib
import html
import random
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

SENTENCE = re.compile(r"[^。！？]+[。！？]?[”’]?|[^。！？]+$")
WORDING = tomllib.loads((Path(__file__).parent / "wording.toml").read_text(encoding="utf-8"))
REWRITES = {entry["of"]: entry for entry in WORDING["rewrite"]}
# A light rewrite changes this share of the characters.
REWRITE_SHARE = (0.06, 0.10)


@dataclass(frozen=True)
class Article:
    """A text on its way into a row; `story` is its key in stories.toml."""

    story: str
    title: str
    body: str
    also: tuple[str, ...] = ()
    note: str = ""

    @property
    def english(self) -> bool:
        return self.title.isascii()

    @property
    def paragraphs(self) -> list[str]:
        return self.body.split("\n")

    def but(self, note: str, *, title: str | None = None, body: str | list[str] | None = None) -> Article:
        """A changed copy; `note` is added to what was done before."""
        text = self.body if body is None else body if isinstance(body, str) else "\n".join(body)
        done = f"{self.note}, {note}" if self.note else note
        return replace(self, title=self.title if title is None else title, body=text, note=done)


def words(article: Article, name: str) -> list[str]:
    """The list of wording.toml in the language of the article."""
    return list(WORDING[name + "_en" if article.english else name])


def phrase(article: Article, name: str, rng: random.Random) -> str:
    fill = {
        "s": rng.choice(words(article, "outlets")),
        "n": rng.choice(words(article, "editors")),
        "a": rng.choice(article.also) if article.also else article.title,
    }
    return rng.choice(words(article, name)).format(**fill)


def exact(article: Article, rng: random.Random) -> Article:
    return article.but("word for word")


def headline(article: Article, rng: random.Random) -> Article:
    return article.but("other headline", title=rng.choice(article.also))


def headline_tag(article: Article, rng: random.Random) -> Article:
    tag = rng.choice(words(article, "tags"))
    if rng.random() < 0.5:
        return article.but("tag before headline and text", title=tag + article.title, body=tag + article.body)
    return article.but("tag before headline", title=tag + article.title)


def source_tail(article: Article, rng: random.Random) -> Article:
    lead = "" if article.english else phrase(article, "leads", rng)
    tail = phrase(article, "tails", rng)
    return article.but("source line and editor tail", body=f"{lead}{article.body}\n{tail}")


def disclaimer(article: Article, rng: random.Random) -> Article:
    lines = dict.fromkeys(phrase(article, "disclaimers", rng) for _ in range(rng.choice([1, 1, 2])))
    return article.but("disclaimer", body=[*article.paragraphs, *lines])


def advert(article: Article, rng: random.Random) -> Article:
    lines = article.paragraphs
    lines.insert(rng.randrange(1, len(lines)), phrase(article, "adverts", rng))
    return article.but("advert line", body=lines)


def drop(article: Article, rng: random.Random) -> Article:
    """The shortest paragraph goes, never the first: what is left is plainly the same story."""
    lines = article.paragraphs
    lines.pop(min(range(1, len(lines)), key=lambda i: len(lines[i])))
    return article.but("paragraph dropped", body=lines)


def trim(article: Article, rng: random.Random) -> Article:
    end = int(len(article.body) * rng.uniform(0.77, 0.88))
    stop = max(article.body.rfind(mark, 0, end) for mark in ("。", ". ", "\n"))
    if rng.random() < 0.5 or stop < 0.72 * len(article.body):
        return article.but("end cut off", body=article.body[:end] + ("..." if article.english else "……"))
    return article.but("last sentences dropped", body=article.body[: stop + 1].rstrip())


def chars(article: Article, rng: random.Random) -> Article:
    """Up to three synonyms and three slips of the pen, each in one place."""
    body = article.body
    for name, most in (("synonyms", 3), ("typos", 3)):
        pairs = [] if article.english and name == "synonyms" else words(article, name)
        fitting = [pair for pair in pairs if pair[0] in body]
        for old, new in rng.sample(fitting, min(most, len(fitting))):
            body = body.replace(old, new, 1)
    return article.but("a few characters changed", body=body)


def share_changed(old: str, new: str) -> float:
    """Characters touched, as a share of the old text."""
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for op, i1, i2, j1, j2 in steps if op != "equal") / len(old)


def rewrite(article: Article, rng: random.Random) -> Article:
    """As many of the pairs written for the story as make a light rewrite, in a random choice."""
    entry, body, low_high = REWRITES[article.story], article.body, REWRITE_SHARE
    for old, new in rng.sample(entry["replace"], len(entry["replace"])):
        changed = body.replace(old, new)
        if share_changed(article.body, changed) <= low_high[1]:
            body = changed
        if share_changed(article.body, body) >= (low_high[0] + low_high[1]) / 2:
            break
    share = share_changed(article.body, body)
    if not low_high[0] <= share <= low_high[1]:
        raise ValueError(f"rewrite of {article.story} changes {share:.3f} of the characters")
    return article.but(f"light rewrite, {share:.1%} of the characters", title=entry["title"], body=body)


def swap(article: Article, rng: random.Random) -> Article:
    lines = article.paragraphs
    i, j = sorted(rng.sample(range(len(lines)), 2))
    lines[i], lines[j] = lines[j], lines[i]
    return article.but(f"paragraphs {i + 1} and {j + 1} swapped", body=lines)


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)


def markup(article: Article, rng: random.Random) -> Article:
    """HTML as crawlers leave it: tags, entities, and full-width letters and digits in Chinese text."""
    text = article.body if article.english else wide(article.body)
    text = html.escape(text).replace("“", "&ldquo;").replace("”", "&rdquo;").replace("。", "。&nbsp;", 2)
    opening = rng.choice(["<p>", '<p style="text-indent:2em">', "<p>　　", "<p>&emsp;&emsp;"])
    lines = [f"{opening}{line}</p>" for line in text.split("\n")]
    lines.insert(1, rng.choice(['<p><img src="/upload/pic01.jpg" alt="" /></p>', "<!-- 分页 -->", "<br/>"]))
    if rng.random() < 0.5:
        lines = ['<div class="article-content">', *lines, "</div>"]
    return article.but("html markup", body=lines)


def invisible(article: Article, rng: random.Random) -> Article:
    """Zero-width characters, no-break and ideographic spaces, empty lines."""
    text = list(article.body)
    for at in rng.sample(range(len(text)), len(text) // 25):
        text[at] += rng.choice("\u200b\u200b\u200c\u2060")
    lines = "".join(text).replace(" ", "\u00a0", 3).split("\n")
    indent, gap = rng.choice(["　　", "\u00a0\u00a0", "\t", ""]), rng.choice(["\n", "\n\n", " \n\n"])
    return article.but("zero-width characters and blanks", body="\ufeff" + gap.join(indent + s for s in lines))


def combo(article: Article, rng: random.Random) -> Article:
    """Two or three changes, in the order in which sites make them; at most one of them shortens."""
    steps = [chars, swap, rng.choice([drop, trim]), rng.choice([headline, headline_tag]), advert]
    steps += [rng.choice([source_tail, disclaimer]), rng.choice([markup, invisible])]
    for i in sorted(rng.sample(range(len(steps)), rng.choice([2, 3, 3]))):
        article = steps[i](article, rng)
    return article


# Kinds of copies and how many of each the corpus has.
KINDS: dict[str, tuple[int, Callable[[Article, random.Random], Article]]] = {
    "exact": (11, exact),
    "headline": (11, headline),
    "headline_tag": (11, headline_tag),
    "source_tail": (13, source_tail),
    "disclaimer": (9, disclaimer),
    "advert": (11, advert),
    "drop": (9, drop),
    "trim": (8, trim),
    "chars": (12, chars),
    "rewrite": (10, rewrite),
    "swap": (8, swap),
    "markup": (9, markup),
    "invisible": (8, invisible),
    "combo": (14, combo),
}
