"""Rows that look like copies and are none, from traps.toml, each with its kind and what it derives from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

Story = dict[str, Any]
TRAPS = tomllib.loads((Path(__file__).parent / "traps.toml").read_text(encoding="utf-8"))
FIRST_SENTENCE = re.compile(r".*?(?:[。？！]|[.?!] |$)", re.S)


@dataclass(frozen=True)
class Trap:
    """One row that is alone in its cluster; `of` are keys of stories, `same_url` an update in place."""

    kind: str
    title: str
    body: str
    source: str
    time: datetime
    note: str = ""
    of: tuple[str, ...] = ()
    same_url: bool = False


def families() -> Iterator[Trap]:
    """One template, other figures or names."""
    for family in TRAPS["family"]:
        for row in family["rows"]:
            title, body = family["title"].format(**row), family["text"].strip().format(**row)
            kind = family.get("kind", "template")
            yield Trap(kind, title, body, family["source"], row["time"], f"family {family['id']}")


def footers() -> Iterator[Trap]:
    footer = TRAPS["footer"]
    for row in footer["row"]:
        body = f"{row['text']}\n{footer['text'].strip()}"
        yield Trap("footer", row["title"], body, footer["source"], row["time"], "short story over a long footer")


def written() -> Iterator[Trap]:
    """Denials, and other articles about the same event."""
    for t in TRAPS["written"]:
        note = "denies it" if t["kind"] == "denial" else "another article about the event"
        yield Trap(t["kind"], t["title"], t["text"].strip(), t["source"], t["time"], note, (t["of"],))


def changed(stories: dict[str, Story]) -> Iterator[Trap]:
    """The words of a story with other facts."""
    for t in TRAPS["changed"]:
        story = stories[t["of"]]
        both = f"{story['title']}\0{story['text'].strip()}"
        for old, new in t["replace"]:
            if old not in both:
                raise ValueError(f"{t['kind']} of {t['of']}: {old!r} is not in the story")
            both = both.replace(old, new)
        title, body = both.split("\0")
        same_url = t.get("same_url", False)
        yield Trap(t["kind"], title, body, story["source"], t["time"], t["note"], (t["of"],), same_url)


def expanded(stories: dict[str, Story]) -> Iterator[Trap]:
    for t in TRAPS["expanded"]:
        parts = (t["before"], stories[t["of"]]["text"], t["after"])
        body = "\n".join(part.strip() for part in parts)
        note = "the story inside a longer report"
        yield Trap("expanded", t["title"], body, t["source"], t["time"], note, (t["of"],))


def digests(stories: dict[str, Story]) -> Iterator[Trap]:
    """A headline and the first paragraph of each of several stories."""
    for t in TRAPS["digest"]:
        items = [f"{stories[key]['also'][0]}\n{stories[key]['text'].strip().splitlines()[0]}" for key in t["of"]]
        body = "\n".join([t["opening"], *items, t["closing"]])
        yield Trap("digest", t["title"], body, t["source"], t["time"], "first paragraphs", tuple(t["of"]))


def teasers(stories: dict[str, Story]) -> Iterator[Trap]:
    for t in TRAPS["teaser"]:
        story = stories[t["of"]]
        first = FIRST_SENTENCE.match(story["text"].strip())
        body = f"{first.group().strip() if first else ''}{t['more']}"
        time = story["time"] + timedelta(minutes=5)
        note = "first sentence and a link"
        yield Trap("teaser", story["title"], body, story["source"], time, note, (t["of"],))


def excerpts(stories: dict[str, Story]) -> Iterator[Trap]:
    """One or two paragraphs from the middle, at most 55 % of the story."""
    for n, key in enumerate(TRAPS["excerpt"]["of"]):
        story = stories[key]
        lines = story["text"].strip().split("\n")
        part = "\n".join(lines[1:3])
        if len(part) > 0.55 * len(story["text"]):
            part = lines[1]
        title = f"{'Excerpt: ' if key.startswith('e') else '节选｜'}{story['also'][-1]}"
        time = story["time"] + timedelta(days=2, hours=n, minutes=17)
        share = len(part) / len(story["text"].strip())
        yield Trap("excerpt", title, part, story["source"], time, f"{share:.0%} of the story", (key,))


def shorts() -> Iterator[Trap]:
    """Flashes, equal titles over different texts, and bodies with nothing to compare."""
    for group in TRAPS["short"]:
        for row in group["rows"]:
            yield Trap(group["kind"], row["title"], row["text"], group["source"], row["time"])


def all_traps(stories: dict[str, Story]) -> list[Trap]:
    found = [*families(), *footers(), *shorts(), *written()]
    for make in (changed, expanded, digests, teasers, excerpts):
        found.extend(make(stories))
    return found
