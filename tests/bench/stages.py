"""Each stage beside a plain way to the same result, in one process and one thread, as ratios of CPU time."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from statistics import median

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import corpus, joins
from bench.measure import Asked, Beside, beside, cpu, say
from bench.report import NO_MARK, Mark, Table, figure
from newsdedup_cli import segment
from newsdedup_cli.clean import CleanSettings, clean_text, clean_texts
from newsdedup_cli.job import run
from newsdedup_cli.kernels import text
from newsdedup_cli.kernels.words import word_ends
from newsdedup_cli.settings import Matching, Settings
from newsdedup_cli.tables import I64, Pairs
from newsdedup_cli.task import Job, report_folder
from newsdedup_cli.texts import buffers
from newsdedup_cli.verify import measured
from newsdedup_cli.verify.shingles import edit_ratio

MB = 1e6
FEATURE = re.compile("[a-zA-Z0-9\u4e00-\u9fd5]")
PART = 0.25  # of the first pass that cleaning may take


@dataclass
class Material:
    """Made-up articles; `few` of them for the slow side."""

    bodies: pa.LargeStringArray
    titles: pa.LargeStringArray
    clusters: np.ndarray
    few: int

    @cached_property
    def cleaned(self) -> pa.LargeStringArray:
        """The bodies as they are compared."""
        return clean_texts(self.bodies, CleanSettings())

    def some(self, few: int | None = None) -> list[str]:
        """The first cleaned texts as strings."""
        return self.cleaned.slice(0, few or self.few).to_pylist()

    @cached_property
    def pairs(self) -> tuple[I64, I64]:
        """Rows of one cluster, each with the next."""
        order = np.argsort(self.clusters, kind="stable")
        same = self.clusters[order[1:]] == self.clusters[order[:-1]]
        return order[:-1][same], order[1:][same]


def material(asked: Asked) -> Material:
    """The texts that the stages work on."""
    made = corpus.make(1_000 if asked.quick else 5_000, asked.folder)
    table = pq.read_table(made.path, columns=["content", "title"])
    content, title = (table[name].combine_chunks().cast(pa.large_string()) for name in ("content", "title"))
    cluster = pq.read_table(made.truth)["cluster"].to_numpy()
    return Material(content, title, cluster, 60 if asked.quick else 400)


def size(texts: pa.LargeStringArray | list[str]) -> float:
    """Megabytes of UTF-8."""
    if isinstance(texts, list):
        return sum(len(one.encode()) for one in texts) / MB
    offsets = buffers(texts)[1]
    return float(offsets[-1] - offsets[0]) / MB


class Stages:
    """The table in the making."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.table = Table(
            "stages",
            "Stages: one process, one thread",
            ["stage", "beside", "ours", "the other", "of", "ratio", "mark", ""],
        )

    def add(
        self,
        stage: str,
        name: str,
        unit: str,
        ours: tuple[Callable[[], object], float],
        other: tuple[Callable[[], object], float],
        mark: Mark | None = None,
    ) -> Beside:
        """A line: each side a call and how much it does of the unit."""
        say(f"stages: {stage} beside {name}")
        found = beside(ours[0], other[0], self.asked.rounds, ours[1], other[1])
        cells = [figure(1 / found.ours), figure(1 / found.other), unit, figure(found.ratio, "x")]
        self.table.rows.append([stage, name, *cells, *(mark.cells(found.ratio) if mark else NO_MARK)])
        return found


def plain_simhash(words: Callable[[str], list[str]], weigh: Callable[[Counter[str]], dict[str, int]], body: str) -> int:
    """The recipe as one writes it down: words, the md5 of each, 64 sums."""
    sums = [0] * 64
    for word, weight in weigh(Counter(words(body))).items():
        value = int.from_bytes(hashlib.md5(word.encode()).digest()[8:])
        for bit in range(64):
            sums[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


def _capped(counts: Counter[str]) -> dict[str, int]:
    return {word: min(n, 3) for word, n in counts.items() if len(word) > 1 and FEATURE.search(word)}


def _jieba():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel("ERROR")
    jieba.initialize()
    return jieba


def words(stages: Stages, made: Material) -> None:
    """Segmentation beside jieba and rjieba."""
    jieba, lexicon, texts = _jieba(), segment.load_lexicon(), made.some()
    data, offsets = buffers(made.cleaned)
    tables = lexicon.han, lexicon.trie, lexicon.logs, lexicon.hmm
    few, many = size(texts), size(made.cleaned)
    for hmm in (True, False):
        called = f"words, {'with' if hmm else 'without'} the HMM"
        ours = (lambda hmm=hmm: word_ends(data, offsets, hmm, *tables), many)
        plain = (lambda hmm=hmm: [jieba.lcut(one, HMM=hmm) for one in texts], few)
        stages.add(called, "jieba.lcut", "MB/s", ours, plain, Mark(80) if hmm else None)
        if importlib.util.find_spec("rjieba"):
            import rjieba

            rjieba.cut("词典")  # reads its dictionary
            rust = (lambda hmm=hmm: [rjieba.cut(one, hmm) for one in texts], few)
            stages.add(called, "rjieba.cut", "MB/s", ours, rust, Mark(5))
    strings = (lambda: [segment.words(one, lexicon) for one in texts], few)
    stages.add("words as Python strings", "jieba.lcut", "MB/s", strings, (lambda: [*map(jieba.lcut, texts)], few))


def simhash(stages: Stages, made: Material) -> None:
    """Fingerprints with their segmentation beside the plain recipes."""
    jieba, lexicon, texts = _jieba(), segment.load_lexicon(), made.some()
    few, many = size(texts), size(made.cleaned)

    def cut(body: str) -> list[str]:
        return jieba.lcut(body, HMM=False)

    plain = (lambda: [plain_simhash(jieba.lcut, dict, one) for one in texts], few)
    ours = (lambda: segment.simhash(made.cleaned, lexicon, "classic"), many)
    stages.add("classic simhash, words included", "jieba, md5 and 64 sums", "MB/s", ours, plain, Mark(150))
    plain = (lambda: [plain_simhash(cut, _capped, one) for one in texts], few)
    ours = (lambda: segment.simhash(made.cleaned, lexicon), many)
    stages.add("default simhash, words included", "the same in Python", "MB/s", ours, plain)


def cleaning(stages: Stages, made: Material) -> None:
    """Cleaning beside its own steps in Python, and its share of the first pass."""
    texts = made.bodies.slice(0, made.few).to_pylist()
    settings = CleanSettings()
    plain = (lambda: [clean_text(one, settings) for one in texts], size(texts))
    ours = (lambda: clean_texts(made.bodies, settings), size(made.bodies))
    stages.add("cleaning", "its steps in Python", "MB/s", ours, plain)
    stages.table.rows.append(_share(stages.asked, made))


def _share(asked: Asked, made: Material) -> list[str]:
    """What cleaning takes of the first pass of a run in one thread, which reads, cleans and fingerprints."""
    say("stages: cleaning in the first pass")
    settings, path = CleanSettings(), corpus.make(len(made.bodies), asked.folder).path
    seconds, shares = [], []
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        out = Path(folder) / "out.parquet"
        once = Job((str(path),), str(out), report_folder(out), overwrite=True, quiet=True, pages=False)
        run(once, Settings())
        for _ in range(asked.rounds):
            run(once, Settings())
            told = json.loads((report_folder(out) / "run.json").read_text("utf-8"))
            whole = next(stage["cpu_seconds"] for stage in told["stages"] if stage["name"] == "fingerprints")
            seconds.append(cpu(lambda: [clean_texts(texts, settings) for texts in (made.bodies, made.titles)]))
            shares.append(100 * seconds[-1] / whole)
    share = median(shares)
    cells = [figure(size(made.bodies) / median(seconds)), "-", "MB/s", figure(share, "%")]
    return ["cleaning", "the first pass of a run", *cells, *Mark(100 * PART, "%", False).cells(share)]


def evidence(stages: Stages, made: Material) -> None:
    """Digest, sentences and sketch beside their plain twin."""
    data, offsets = buffers(made.cleaned)
    texts = made.some(max(made.few // 20, 2))
    ours = (lambda: text.evidence(data, offsets, 5, 10, 4), size(made.cleaned))
    plain = (lambda: [naive.evidence(one, 5, 10, 4) for one in texts], size(texts))
    stages.add("digest, sentences, sketch", "the same in Python", "MB/s", ours, plain)


def verification(stages: Stages, made: Material) -> None:
    """Scores and guards of pairs beside difflib, and the edit ratio beside RapidFuzz."""
    a, b = made.pairs
    none = np.zeros(len(a), np.uint8)
    pairs, matching = Pairs(a, b, none, none, none), Matching()
    few = max(made.few // 20, 3)
    strings = made.cleaned.to_pylist()
    compared = [(strings[x], strings[y]) for x, y in zip(a.tolist(), b.tolist(), strict=True)]

    def texts(rows: I64) -> tuple[np.ndarray, I64]:
        return buffers(made.cleaned.take(pa.array(rows)))

    def plain() -> object:
        return [SequenceMatcher(None, x, y, autojunk=False).ratio() for x, y in compared[:few]]

    ours = (lambda: measured(pairs, texts, matching), len(a))
    stages.add("verification: score and guards", "difflib's ratio", "pairs/s", ours, (plain, few))
    if importlib.util.find_spec("rapidfuzz"):
        from rapidfuzz.distance import Indel

        codes, offsets = text.significant_codes(*buffers(made.cleaned))
        ours = (lambda: edit_ratio(codes, offsets, a, b), len(a))
        fuzz = (lambda: [Indel.normalized_similarity(x, y) for x, y in compared], len(a))
        stages.add("verification: edit ratio alone", "RapidFuzz Indel", "pairs/s", ours, fuzz)


def tables(asked: Asked) -> Iterator[Table]:
    """The table of stages, then those of the join."""
    made = material(asked)
    stages = Stages(asked)
    for part in (words, simhash, cleaning, evidence, verification):
        part(stages, made)
    stages.table.notes = [
        f"CPU time, a line's two sides in turn, {asked.rounds} times: speeds are medians, the ratio is the median of "
        f"the rounds' ratios. {len(made.bodies):,} made-up articles ({size(made.bodies):.1f} MB), the slow side on the "
        "first of them. Our words are offsets into the text, which is what the next kernel takes; as Python strings "
        "they are a line of their own. MB is a million bytes of UTF-8."
    ]
    yield stages.table
    yield from joins.tables(asked)
