#!/usr/bin/env python3
"""Write the sample corpus: the same rows in five formats, the truth beside them, the counts in README.md.

    python sample_data/make_sample.py [OUT_FOLDER]      (default: this folder)

Stories and traps are texts in *.toml, the ways of reprinting functions in reprints.py.
Same input, same bytes. Needs pyarrow and openpyxl.
"""

from __future__ import annotations

import argparse
import random
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import reprints
import traps
import writers
from reprints import WORDING, Article

HERE = Path(__file__).resolve().parent
SEED = 20260630
# Stories that nobody reprinted, and those which many sites took.
SINGLES = {"s07", "s27", "s31", "s40"}
HOT = ("s02", "s13", "s25", "s29", "s33")
# Copies of rows that are traps themselves: they are one article with that row and with no other.
TRAP_COPIES = {"update": 2, "denial": 2, "expanded": 1, "template": 2, "flash": 2}
# Ids as spreadsheet programs like to spoil them.
AWKWARD_IDS = ("1E5", "0012.50", "2026-3-1", "000000")
SITES = WORDING["outlets"] | WORDING["outlets_en"] | WORDING["outlets_traps"]


@dataclass(frozen=True)
class Draft:
    """A row before it has its id; `cluster` is a key, `of` the keys of the stories it derives from."""

    cluster: str
    kind: str
    article: Article
    source: str
    time: datetime
    of: tuple[str, ...] = ()
    url: str = ""


def load_stories() -> dict[str, dict[str, Any]]:
    table = tomllib.loads((HERE / "stories.toml").read_text(encoding="utf-8"))
    return {story["id"]: story for story in table["story"]}


def address(source: str, time: datetime, rng: random.Random) -> str:
    return f"https://www.{SITES[source]}.example/{time:%Y%m/%d}/{rng.randrange(10**7):07d}.html"


def originals(stories: dict[str, dict[str, Any]], rng: random.Random) -> dict[str, Draft]:
    drafts = {}
    for key, s in stories.items():
        article = Article(key, s["title"], s["text"].strip(), tuple(s["also"]))
        drafts[key] = Draft(key, "original", article, s["source"], s["time"], (), address(s["source"], s["time"], rng))
    return drafts


def reprint(draft: Draft, kind: str, rng: random.Random) -> Draft:
    """A copy at another outlet, some minutes to three days later; a third carries another headline too."""
    article = reprints.KINDS[kind][1](draft.article, rng)
    if kind not in ("exact", "combo") and article.also and article.title == draft.article.title and rng.random() < 0.3:
        article = reprints.headline(article, rng)
    others = [name for name in reprints.words(article, "outlets") if name != draft.source]
    source, time = rng.choice(others), draft.time + timedelta(minutes=rng.randrange(7, 3 * 24 * 60))
    return Draft(draft.cluster, kind, article, source, time, draft.of, address(source, time, rng))


def copies(base: dict[str, Draft], rng: random.Random) -> list[Draft]:
    """Each kind as often as reprints.KINDS says, no kind twice for one story."""
    made = []
    for kind, (count, _) in reprints.KINDS.items():
        pool = [key for key in base if key not in SINGLES and (kind != "rewrite" or key in reprints.REWRITES)]
        pool += [key for key in HOT if key in pool] * 3
        rng.shuffle(pool)
        made += [reprint(base[key], kind, rng) for key in list(dict.fromkeys(pool))[:count]]
    return made


def apart(base: dict[str, Draft], stories: dict[str, dict[str, Any]], rng: random.Random) -> list[Draft]:
    """The traps, each with a cluster of its own."""
    made = []
    for n, trap in enumerate(traps.all_traps(stories)):
        url = base[trap.of[0]].url if trap.same_url else address(trap.source, trap.time, rng)
        article = Article("", trap.title, trap.body, (), trap.note)
        made.append(Draft(f"trap{n:03d}", trap.kind, article, trap.source, trap.time, trap.of, url))
    return made


def trap_copies(drafts: list[Draft], rng: random.Random) -> list[Draft]:
    made = []
    for kind, count in TRAP_COPIES.items():
        for draft in rng.sample([d for d in drafts if d.kind == kind], count):
            how = "exact" if kind == "flash" else rng.choice(["exact", "source_tail"])
            copy = reprint(replace(draft, article=replace(draft.article, note="")), how, rng)
            article = replace(copy.article, note=f"{copy.article.note}, of a row of kind {kind}")
            made.append(replace(copy, article=article))
    return made


def make_ids(count: int, rng: random.Random) -> list[str]:
    """Strings of several makes, all different: 000123, 19 digits, a date with a number."""
    ids = list(AWKWARD_IDS)
    for n in rng.sample(range(1, 99_999), count - len(ids)):
        long = f"7{rng.randrange(10**12):012d}{n:06d}"
        ids.append(rng.choice([f"{n:06d}", f"{n:06d}", long, f"n2026{n % 12 + 1:02d}-{n:05d}"]))
    rng.shuffle(ids)
    return ids


def corpus() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows in their order and, line by line, the truth about them."""
    rng = random.Random(SEED)
    stories = load_stories()
    base = originals(stories, rng)
    alone = apart(base, stories, rng)
    drafts = [*base.values(), *copies(base, rng), *alone, *trap_copies(alone, rng)]
    rng.shuffle(drafts)
    ids = make_ids(len(drafts), rng)
    home = {d.cluster: i for d, i in zip(drafts, ids, strict=True) if d.kind == "original"}
    numbers: dict[str, int] = {}
    rows, truth = [], []
    for d, i in zip(drafts, ids, strict=True):
        article = d.article
        values = (i, article.title, article.body, d.source, d.url, d.time)
        rows.append(dict(zip(writers.COLUMNS, values, strict=True)))
        cluster = numbers.setdefault(d.cluster, len(numbers))
        known = (i, cluster, d.kind, " ".join(home[key] for key in d.of), article.note)
        truth.append(dict(zip(writers.TRUTH, known, strict=True)))
    return rows, truth


def with_counts(readme: str, truth: list[dict[str, Any]]) -> str:
    """README.md with the figures between its `counts` marks written anew."""
    counts = Counter(row["kind"] for row in truth)
    sizes = Counter(Counter(row["cluster"] for row in truth).values())
    lines = [f"{len(truth)} rows, {sum(sizes.values())} different articles, "]
    lines[0] += f"{sum(n for size, n in sizes.items() if size > 1)} of them with copies (up to {max(sizes)} rows)."
    groups = {"original": ["original"], "copy": list(reprints.KINDS)}
    groups["trap"] = sorted(set(counts) - {"original"} - set(reprints.KINDS))
    lines += ["", "| | kind | rows |", "|---|---|---:|"]
    lines += [f"| {group} | `{kind}` | {counts[kind]} |" for group, kinds in groups.items() for kind in kinds]
    before, _, rest = readme.partition("<!-- counts -->\n")
    return (
        f"{before}<!-- counts -->\n" + "\n".join(lines) + "\n<!-- /counts -->" + rest.partition("<!-- /counts -->")[2]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=HERE, help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rows, truth = corpus()
    for name, write in writers.FORMATS.items():
        write(out / name, rows)
    writers.write_truth(out / "truth.csv", truth)
    readme = with_counts((HERE / "README.md").read_text(encoding="utf-8"), truth)
    (out / "README.md").write_bytes(readme.encode())
    print(f"{len(rows)} rows, {len({row['cluster'] for row in truth})} articles -> {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
