"""A labelled set of made-up articles, hard cases included. Same seed, same rows.

    python tests/quality/make_hard.py OUT_FOLDER      writes corpus.jsonl and truth.csv, script.jsonl and script.csv

Articles are put together from the clauses in words.toml; a third of the rows are changed copies, the others
look like copies and are none. script.* are traditional copies of simplified articles (needs opencc).
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
SENTENCE = re.compile(r"[^。！？\n]+[。！？]?")
COPIES = ["exact", "headline", "tag", "tail", "advert", "drop", "trim", "rewrite", "shuffle", "swap", "tokens"]
COPIES += ["markup", "slips", "combo"]
APART = ["excerpt", "expand", "template", "update", "denial", "same_url"]


@dataclass(frozen=True)
class Row:
    """One row and what is true of it."""

    title: str
    text: str
    cluster: int
    kind: str
    url: str = ""


class Maker:
    """Makes rows from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.rows: list[Row] = []
        self.clusters = 0

    def headline_of(self, text: str) -> str:
        """A headline with names that the text has."""
        return self.fill(self.rng.choice(WORDS["title"]), text)

    def fill(self, form: str, text: str = "") -> str:
        """The form, its slots filled, also those that fillings bring with them; from the text's words if there."""
        while slot := re.search(r"\{(\w+)\}", form):
            name = slot[1]
            numbers = {"n": (3, 480), "month": (1, 12), "hour": (4, 11)}
            words = [word for word in WORDS.get(name, ()) if word in text] or WORDS.get(name, ())
            word = str(self.rng.randint(*numbers[name])) if name in numbers else self.rng.choice(words)
            form = form[: slot.start()] + word + form[slot.end() :]
        return form

    def sentence(self) -> str:
        """Three or four clauses."""
        middles = self.rng.sample(WORDS["middle"], self.rng.choice([1, 1, 2]))
        clauses = [self.rng.choice(WORDS["first"]), *middles, self.rng.choice(WORDS["last"])]
        return "，".join(map(self.fill, clauses)) + "。"

    def text(self, sentences: int) -> str:
        """Paragraphs of two or three sentences."""
        paragraphs = []
        while sentences > 0:
            size = min(sentences, self.rng.randint(2, 3))
            paragraphs.append("".join(self.sentence() for _ in range(size)))
            sentences -= size
        return "\n".join(paragraphs)

    def article(self, kind: str = "base", low: int = 7, high: int = 15) -> Row:
        """A new article, a cluster of its own."""
        text = self.text(self.rng.randint(low, high))
        return self.add(Row(self.headline_of(text), text, self.new_cluster(), kind))

    def new_cluster(self) -> int:
        """The next number."""
        self.clusters += 1
        return self.clusters

    def add(self, row: Row) -> Row:
        """Put a row into the set."""
        row = replace(row, url=row.url or f"https://news.example/{len(self.rows):05d}.html")
        self.rows.append(row)
        return row

    # ------------------------------------------------------------ copies

    def exact(self, row: Row) -> Row:
        """Word for word."""
        return row

    def headline(self, row: Row) -> Row:
        """Another headline."""
        return replace(row, title=self.headline_of(row.text))

    def tag(self, row: Row) -> Row:
        """A tag before headline and text."""
        tag = self.rng.choice(WORDS["tags"])
        return replace(row, title=tag + row.title, text=tag + row.text)

    def tail(self, row: Row) -> Row:
        """One or two lines of a site behind."""
        lines = self.rng.sample(WORDS["tails"], self.rng.choice([1, 2]))
        return replace(row, text="\n".join([row.text, *map(self.fill, lines)]))

    def advert(self, row: Row) -> Row:
        """A line of a site between."""
        lines = row.text.split("\n")
        lines.insert(self.rng.randint(1, len(lines)), self.fill(self.rng.choice(WORDS["adverts"])))
        return replace(row, text="\n".join(lines))

    def drop(self, row: Row) -> Row:
        """A paragraph missing, never the first."""
        lines = row.text.split("\n")
        if len(lines) > 3:
            lines.pop(self.rng.randrange(1, len(lines)))
        return replace(row, text="\n".join(lines))

    def trim(self, row: Row) -> Row:
        """The last sixth to fifth missing."""
        parts = SENTENCE.findall(row.text)
        return replace(row, text="".join(parts[: max(1, round(len(parts) * self.rng.uniform(0.8, 0.85)))]))

    def rewrite(self, row: Row) -> Row:
        """6-9 % of the characters exchanged."""
        return replace(row, text=self._changed(row.text, self.rng.uniform(0.06, 0.09)))

    def slips(self, row: Row) -> Row:
        """1-2 % of the characters exchanged."""
        return replace(row, text=self._changed(row.text, self.rng.uniform(0.01, 0.02)))

    def _changed(self, text: str, share: float) -> str:
        chars = list(text)
        for i in self.rng.sample(range(len(chars)), int(len(chars) * share)):
            if "一" <= chars[i] <= "\u9fff":
                chars[i] = self.rng.choice(WORDS["common"])
        return "".join(chars)

    def shuffle(self, row: Row) -> Row:
        """Sentences in another order."""
        parts = SENTENCE.findall(row.text)
        self.rng.shuffle(parts)
        return replace(row, text="".join(parts))

    def swap(self, row: Row) -> Row:
        """Two paragraphs exchanged."""
        lines = row.text.split("\n")
        i, j = self.rng.sample(range(len(lines)), 2)
        lines[i], lines[j] = lines[j], lines[i]
        return replace(row, text="\n".join(lines))

    def tokens(self, row: Row) -> Row:
        """Blanks between words, other forms of punctuation and digits: nothing a reader would notice."""
        text = "".join(c + (" " if self.rng.random() < 0.08 and c not in "0123456789" else "") for c in row.text)
        text = text.translate(str.maketrans({"，": ",", "：": ":"} if self.rng.random() < 0.5 else {"。": "．"}))
        wide = {ord("0") + d: ord("０") + d for d in range(10)}
        return replace(row, text=text.translate(wide) if self.rng.random() < 0.5 else text)

    def markup(self, row: Row) -> Row:
        """Tags and entities."""
        body = row.text.replace("\n", "</p>\r\n<p>\u3000\u3000").replace("。", "。&nbsp;", 3)
        return replace(row, text=f"<div><p>\u3000\u3000{body}</p></div>")

    def combo(self, row: Row) -> Row:
        """Two of them."""
        for kind in self.rng.sample(["tag", "tail", "slips", "advert", "swap", "tokens"], 2):
            row = getattr(self, kind)(row)
        return row

    # ------------------------------------------------------------ no copies

    def excerpt(self, row: Row) -> Row:
        """Half of an article."""
        parts = SENTENCE.findall(row.text)
        size = max(2, len(parts) // 2)
        begin = self.rng.randrange(len(parts) - size + 1)
        return replace(row, text="".join(parts[begin : begin + size]))

    def expand(self, row: Row) -> Row:
        """An article within one twice as long."""
        more: list[str] = []
        while sum(map(len, more)) < len(row.text):
            more.append(self.text(3))
        more.insert(self.rng.randrange(len(more) + 1), row.text)
        text = "\n".join(more)
        return replace(row, title=self.headline_of(text), text=text)

    def template(self, row: Row) -> Row:
        """All figures changed and a third of the sentences new."""
        parts = SENTENCE.findall(row.text)
        for i in self.rng.sample(range(len(parts)), max(1, len(parts) // 3)):
            parts[i] = self.sentence()
        return replace(row, text=self._other_figures("".join(parts)))

    def update(self, row: Row) -> Row:
        """The same words with other figures."""
        return replace(row, text=self._other_figures(row.text))

    def _other_figures(self, text: str) -> str:
        return re.sub(r"\d+", lambda m: str(int(m[0]) + self.rng.randint(1, 9)), text)

    def denial(self, row: Row) -> Row:
        """What the article says is denied: its first third, then the denial and why."""
        parts = SENTENCE.findall(row.text)
        text = "".join(parts[: len(parts) // 3]) + "\n" + WORDS["denial"] + self.text(4)
        return replace(row, title=f"{row.title}？回应：不属实", text=text)

    def same_url(self, row: Row) -> Row:
        """A later version under the same address, half of it new."""
        parts = SENTENCE.findall(row.text)
        half = len(parts) // 2
        return replace(row, text="".join(parts[:half]) + "\n" + self.text(len(parts) - half))

    # ------------------------------------------------------------ families

    def families(self) -> None:
        """Rows that have a form, a foot or a headline in common, and nothing else."""
        for day in range(1, 13):
            place, low = self.rng.choice(WORDS["place"]), self.rng.randint(-3, 9)
            text = (
                f"{place}气象台5月{day}日6时发布：今天白天多云，东风{self.rng.randint(2, 5)}级，最高气温"
                f"{low + self.rng.randint(5, 12)}℃，夜间最低气温{low}℃，相对湿度{self.rng.randint(20, 90)}%。"
                "早晚温差较大，请适时增减衣物，出行请留意交通安全，高空作业人员应当做好防护。"
            )
            self.add(Row(f"{place}5月{day}日天气", text, self.new_cluster(), "family"))
        for _ in range(12):
            story = self.article("footer", 2, 3)
            self.rows[-1] = replace(story, text="\n".join([story.text, *WORDS["footer"]]))
        for _ in range(8):
            story = self.article("one_title", 5, 8)
            self.rows[-1] = replace(story, title="砚边日报今日要闻")
        for _ in range(6):
            title = self.fill(self.rng.choice(WORDS["title"]))
            self.add(Row(title, "\n".join(WORDS["footer"]), self.new_cluster(), "boilerplate"))
        for pair in WORDS["opposites"]:
            for text in pair:
                self.add(Row(text[:16], text, self.new_cluster(), "opposite"))

    def digests(self, stories: list[Row]) -> None:
        """The first two sentences of several stories each."""
        for _ in range(6):
            some = self.rng.sample(stories, 5)
            text = "\n".join("".join(SENTENCE.findall(story.text)[:2]) for story in some)
            self.add(Row("一周要闻回顾", text, self.new_cluster(), "digest"))


def hard_rows(seed: int = 20260705) -> list[Row]:
    """The set, in a mixed order."""
    maker = Maker(seed)
    stories = [maker.article() for _ in range(130)]
    copied, others = stories[:70], stories[70:]
    for i, story in enumerate(copied):
        for k in range(1 + (i % 3 == 0) * 3):
            kind = COPIES[(i + 5 * k) % len(COPIES)]
            maker.add(replace(getattr(maker, kind)(story), kind=kind, url=""))
    for i, story in enumerate(others):
        kind = APART[i % len(APART)]
        url = story.url if kind == "same_url" else ""
        maker.add(replace(getattr(maker, kind)(story), kind=kind, cluster=maker.new_cluster(), url=url))
    maker.families()
    maker.digests(stories)
    maker.rng.shuffle(maker.rows)
    return maker.rows


def script_rows(seed: int = 20260706) -> list[Row]:
    """Simplified articles, a traditional copy of every other one, and slips in some of these."""
    from opencc import OpenCC

    maker, convert = Maker(seed), OpenCC("s2t").convert
    for i, story in enumerate([maker.article() for _ in range(30)]):
        if i % 2:
            copy = maker.slips(story) if i % 4 == 1 else story
            copy = replace(copy, title=convert(copy.title), text=convert(copy.text), kind="traditional", url="")
            maker.add(copy)
    return maker.rows


def write(rows: list[Row], corpus: Path, truth: Path) -> None:
    """The corpus as JSONL and its truth as CSV."""
    with corpus.open("w", encoding="utf-8") as file:
        for i, row in enumerate(rows):
            fields = {"id": f"q{i:04d}", "title": row.title, "content": row.text, "url": row.url}
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")
    with truth.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "cluster", "kind"])
        lines.writerows([f"q{i:04d}", row.cluster, row.kind] for i, row in enumerate(rows))


def main() -> None:
    """Write both sets into the folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(hard_rows(), folder / "corpus.jsonl", folder / "truth.csv")
    write(script_rows(), folder / "script.jsonl", folder / "script.csv")


if __name__ == "__main__":
    main()
