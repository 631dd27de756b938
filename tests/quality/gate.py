"""The quality gate: runs over labelled sets, prints the tables, exits 1 where a figure is under its mark.

    python tests/quality/gate.py [--only own|beside] [--keep FOLDER]

Own sets: sample_data, and the made-up articles of make_hard.py. Where ../shared has measuring material beside
the project, it is run over too: make_corpus.py 10000 plain and --hard, and the real crawls.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BESIDE = ROOT.parent / "shared"
sys.path.insert(0, str(HERE))

import make_hard  # noqa: E402

from newsdedup_cli.evaluate import Evaluation, PairKind, RowKind, measure  # noqa: E402
from newsdedup_cli.evaluate_tables import Labels, Report, read_truth  # noqa: E402
from newsdedup_cli.evaluate_text import as_text  # noqa: E402
from newsdedup_cli.job import Job, run  # noqa: E402
from newsdedup_cli.settings import settings_from  # noqa: E402

NO_COPIES = (
    "hard",
    "template",
    "family",
    "update",
    "opposite",
    "denial",
    "digest",
    "footer",
    "one_title",
    "boilerplate",
)


@dataclass(frozen=True)
class Marks:
    """What a set must reach; shares from 0 to 1."""

    precision: float | None = None
    recall: float | None = None
    kinds: dict[str, float] = field(default_factory=dict)  # least recall; "*" for kinds not named
    merged: dict[str, float] = field(default_factory=dict)  # largest share of the rows, or pairs, of a kind merged
    shown: dict[str, float] = field(default_factory=dict)  # least share of a kind of pairs merged or listed
    lost: float | None = None  # largest share of the stories
    removed: int | None = None  # most rows removed


@dataclass(frozen=True)
class Set:
    """A corpus with its labels."""

    name: str
    inputs: tuple[Path, ...]
    truth: Path | None
    marks: Marks
    labels: Labels = field(default_factory=Labels)
    matching: dict[str, object] = field(default_factory=dict)
    more: tuple[tuple[Path, Labels, Marks], ...] = ()  # further labels of the same run


def own_sets(folder: Path) -> Iterator[Set]:
    """The sets that come with the project."""
    make_hard.write(make_hard.hard_rows(), folder / "corpus.jsonl", folder / "truth.csv")
    none = dict.fromkeys(NO_COPIES, 0.0)
    marks = Marks(0.995, 0.97, {"*": 0.93}, none | {"excerpt": 0.05, "expand": 0.05}, lost=0.0)
    yield Set("made-up articles", (folder / "corpus.jsonl",), folder / "truth.csv", marks)
    sample = ROOT / "sample_data"
    marks = Marks(0.995, 0.97, {"*": 0.9}, none | {"excerpt": 0.05, "expanded": 0.05}, lost=0.0)
    yield Set("sample_data", (sample / "news.csv",), sample / "truth.csv", marks)
    try:
        rows = make_hard.script_rows()
    except ImportError:
        return
    make_hard.write(rows, folder / "script.jsonl", folder / "script.csv")
    marks = Marks(1.0, 0.97, lost=0.0)
    yield Set("scripts", (folder / "script.jsonl",), folder / "script.csv", marks, matching={"fold_script": True})


def sets_beside(folder: Path) -> Iterator[Set]:
    """The sets of ../shared, if it is there."""
    maker, data = BESIDE / "bench" / "make_corpus.py", BESIDE / "data"
    if maker.is_file():
        for name, options in (("plain", []), ("hard", ["--hard"])):
            out = folder / name
            subprocess.run([sys.executable, maker, "10000", out, *options], check=True, stderr=subprocess.DEVNULL)
            yield _planted(name, out)
    if data.is_dir():
        zh = Marks(kinds={"dup": 0.99}, merged={"related_different": 0.0, "boilerplate_only": 0.02, "grey": 0.005},
                   shown={"excerpt_contained": 0.9})  # fmt: skip
        yield Set("zhnews", (data / "zhnews.parquet",), data / "zhnews_pairs.parquet", zh, Labels(skipped=()))
        yield Set("xwlb", (data / "xwlb.parquet",), None, Marks(removed=28))
        same = Labels(same=("same_article",), skipped=())
        both = (data / "xwlb.parquet", data / "xwlb_caijing.parquet")
        yield Set("xwlb, two crawls", both, data / "xwlb_crosscrawl_pairs.parquet", Marks(recall=0.98), same)
        yield Set("bbc_en", (data / "bbc_en.parquet",), None, Marks())


def _planted(name: str, out: Path) -> Set:
    corpus, truth = (out / "corpus.parquet",), out / "truth.parquet"
    if name == "plain":
        return Set("make_corpus 10000", corpus, truth, Marks(0.9999, 0.997, {"*": 0.99}, {"hard": 0.0}, lost=0.0))
    heavy = {"rewrite": 0.93, "shuffle": 0.93, "trim": 0.93}
    marks = Marks(0.995, 0.97, heavy, {"hard": 0.0, "template": 0.02}, lost=0.003)
    # Excerpts and expansions together, with the article they come from.
    contained = Marks(merged={"excerpt_contained": 0.05}, shown={"excerpt_contained": 0.95})
    listed = (out / "pairs.parquet", Labels(skipped=()), contained)
    return Set("make_corpus 10000 --hard", corpus, truth, marks, more=(listed,))


def failures(made: Evaluation, marks: Marks) -> Iterator[str]:
    """The figures under their marks."""
    for name, value, mark in (
        ("precision", made.pairs.precision, marks.precision),
        ("recall", made.pairs.recall, marks.recall),
    ):
        if mark is not None and (value is None or value < mark):
            yield f"{name} {value}, mark {mark}"
    for name, kind in (made.kinds or {}).items():
        yield from _of_kind(name, kind, marks)
    stories = made.stories
    if marks.lost is not None and stories and stories.lost > marks.lost * stories.true:
        yield f"{stories.lost} of {stories.true} stories lost, mark {marks.lost:.2%}"


def _of_kind(name: str, kind: RowKind | PairKind, marks: Marks) -> Iterator[str]:
    least = marks.kinds.get(name, marks.kinds.get("*"))
    if least is not None and kind.recall is not None and kind.recall < least:
        yield f"{name}: recall {kind.recall:.4f}, mark {least}"
    if isinstance(kind, RowKind):
        merged, whole, shown = kind.merged, kind.rows, 0
    else:
        merged, whole, shown = kind.wrongly_merged, kind.different, kind.wrongly_merged + kind.listed
    if name in marks.merged and merged > marks.merged[name] * whole:
        yield f"{name}: {merged} of {whole} merged, mark {marks.merged[name]:.1%}"
    if name in marks.shown and shown < marks.shown[name] * whole:
        yield f"{name}: {shown} of {whole} merged or listed, mark {marks.shown[name]:.1%}"


def gate(one: Set, folder: Path) -> list[str]:
    """Run over the set, print its tables, and give back what falls short."""
    out = folder / f"{one.name.replace(' ', '_').replace(',', '')}.parquet"
    settings = settings_from({"matching": dict(one.matching)})
    report = out.with_suffix(".report")
    begin = time.process_time()
    done = run(Job(tuple(map(str, one.inputs)), str(out), report, overwrite=True, quiet=True, threads=2), settings)
    seconds = time.process_time() - begin
    counts = done.counts
    print(
        f"\n== {one.name}: {counts['read']:,} rows, {counts['removed']:,} removed, {counts['candidates']:,} candidates,"
        f" {counts['pairs_per_row']} pairs a row, {seconds:.1f} s of CPU\n"
    )
    found: list[str] = []
    if one.marks.removed is not None and counts["removed"] > one.marks.removed:
        found.append(f"{counts['removed']} rows removed, mark {one.marks.removed}")
    truths = [(one.truth, one.labels, one.marks)] if one.truth else []
    for truth, labels, marks in [*truths, *one.more]:
        tables = Report(report)
        made = measure(tables.found, read_truth(truth, tables.ids, labels), tables)
        print(as_text(made) + "\n")
        found += failures(made, marks)
    return [f"{one.name}: {failure}" for failure in found]


def main() -> int:
    """0 where all marks are reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("own", "beside"), help="only the project's own sets, or those beside it")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where corpora and reports stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found: list[str] = []
        for name, sets in (("own", own_sets), ("beside", sets_beside)):
            if options.only in (None, name):
                for one in sets(folder):
                    found += gate(one, folder)
    print("\n".join(["under their marks:", *found] if found else ["all marks reached"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
