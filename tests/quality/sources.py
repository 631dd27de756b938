"""What each source of candidates gives and costs, what the presets do, and how well the sketch estimates.

    python tests/quality/sources.py CORPUS TRUTH

CORPUS is any input of `newsdedup run`, TRUTH a table of id and cluster. Printed are, for each source alone and for
all without it, how many pairs it proposes, what share of the true pairs is among them (whole clusters count: two rows
that proposed pairs connect are found), and seconds of CPU; then precision and recall of whole runs by preset; then
bias and root mean square error of the sketch's Jaccard against the exact one, by tenths.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from newsdedup_cli import candidates
from newsdedup_cli.evaluate import measure
from newsdedup_cli.evaluate_tables import Labels, Report, read_truth
from newsdedup_cli.files.corpus import open_corpus
from newsdedup_cli.job import Job, resolve_columns, run
from newsdedup_cli.kernels import join, text
from newsdedup_cli.pipeline import Run, opened
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import settings_from
from newsdedup_cli.tables import BAND, F32, I64, MINHASH, SENTENCE, Pairs
from newsdedup_cli.verify.shingles import shingle_shares

SOURCES = {"simhash": BAND, "sentences": SENTENCE, "min-hash": MINHASH}
PRESETS = ("fast", "default", "thorough")
CALIBRATED = 20_000  # pairs whose exact Jaccard is computed


@dataclass(frozen=True)
class Share:
    """Of one choice of sources."""

    name: str
    pairs: int
    recall: float  # share of the true pairs that the proposed ones connect


@dataclass(frozen=True)
class Bin:
    """How far the estimate is off among pairs of one tenth of exact Jaccard."""

    low: float
    pairs: int
    bias: float
    rmse: float


def connected(cluster: I64, a: I64, b: I64, representative: I64) -> float:
    """The share of the true pairs whose rows are connected by true pairs a, b or by equal texts.

    >>> two = np.array([0, 0, 0, 1])
    >>> connected(two, np.array([0]), np.array([1]), np.arange(4))
    0.3333333333333333
    """
    same = cluster[a] == cluster[b]
    rows = np.arange(len(cluster))
    equal = cluster == cluster[representative]
    left = np.concatenate([a[same], rows[equal]])
    right = np.concatenate([b[same], representative[equal]])
    label = join.components(len(cluster), left, right)
    return _pairs(np.unique(np.stack([cluster, label]), axis=1, return_counts=True)[1]) / _pairs(
        np.unique(cluster, return_counts=True)[1]
    )


def _pairs(sizes: I64) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def shares(proposed: Pairs, cluster: I64, representative: I64) -> Iterator[Share]:
    """Of all sources, of each alone, and of all without it."""
    every = np.uint8(sum(SOURCES.values()))
    choices = {"all": every, **{f"only {name}": np.uint8(bit) for name, bit in SOURCES.items()}}
    choices |= {f"without {name}": every & ~np.uint8(bit) for name, bit in SOURCES.items()}
    for name, bits in choices.items():
        some = (proposed.origin & bits) != 0
        yield Share(name, int(some.sum()), connected(cluster, proposed.a[some], proposed.b[some], representative))


def seconds_of(asked: Run) -> dict[str, float]:
    """Seconds of CPU that each source takes."""
    prints, batch = asked.prints, asked.scanned.batch
    rows = np.flatnonzero((asked.representative == np.arange(len(prints))) & (prints.alone == 0))
    rows = rows[np.lexsort((prints.digest[rows, 1], prints.digest[rows, 0]))]
    work = {
        "simhash": lambda: candidates.near_fingerprints(prints.simhash, rows, asked.matching.max_distance),
        "sentences": lambda: candidates.shared_sentences(
            prints.sentences[rows], rows, asked.boilerplate, batch.pieces, batch.piece_rows
        ),
        "min-hash": lambda: [candidates.shared_keys(prints.keys[rows, k : k + 1], rows) for k in range(16)],
    }
    found = {}
    for name, one in work.items():
        begin = time.process_time()
        one()
        found[name] = time.process_time() - begin
    return found


def calibration(asked: Run, proposed: Pairs) -> list[Bin]:
    """The sketch's Jaccard against the exact one of proposed pairs of texts with 64 shingles or more, by tenths."""
    size = asked.prints.significant
    large = np.flatnonzero(np.minimum(size[proposed.a], size[proposed.b]) >= 68)
    at = large[:: max(1, len(large) // CALIBRATED)]
    exact: list[F32] = []
    for begin in range(0, len(at), 4096):
        some = at[begin : begin + 4096]
        rows, place = np.unique(np.concatenate([proposed.a[some], proposed.b[some]]), return_inverse=True)
        codes, offsets = text.significant_codes(*asked.texts.gather(rows))
        exact.append(shingle_shares(codes, offsets, place[: len(some)], place[len(some) :])[0])
    true = np.concatenate(exact or [np.zeros(0, np.float32)])
    return bins(join.sketch_similarity(asked.prints.sketch, proposed.a[at], proposed.b[at]), true)


def bins(estimate: F32, exact: F32) -> list[Bin]:
    """Bias and root mean square error of the estimates by tenths of the exact values; the last of all together.

    >>> bins(np.array([0.5, 0.7]), np.array([0.6, 0.6]))[-1].rmse
    0.1
    """
    off = estimate.astype(np.float64) - exact
    tenth = np.minimum((exact * 10).astype(int), 9)
    groups = [(k / 10, tenth == k) for k in range(10)] + [(-1.0, np.ones(len(off), bool))]
    return [
        Bin(low, int(some.sum()), round(float(off[some].mean()), 4), round(float(np.sqrt((off[some] ** 2).mean())), 4))
        for low, some in groups
        if some.any()
    ]


def preset(corpus: str, truth: Path, name: str, folder: Path) -> tuple[float | None, float | None, float]:
    """Precision and recall of the pairs, and seconds of CPU, of a run with the preset."""
    out = folder / f"{name}.parquet"
    begin = time.process_time()
    job = Job((corpus,), str(out), out.with_suffix(".report"), overwrite=True, quiet=True, threads=2)
    run(job, settings_from({"matching": {"preset": name}}))
    seconds = time.process_time() - begin
    tables = Report(out.with_suffix(".report"))
    made = measure(tables.found, read_truth(truth, tables.ids, Labels()), tables)
    return made.pairs.precision, made.pairs.recall, seconds


def main() -> int:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("truth", type=Path)
    options = parser.parse_args()
    settings = settings_from({})
    job = Job((options.corpus,), None, None, dry_run=True, quiet=True, threads=2)
    progress = Progress(True)
    corpus = open_corpus(job.inputs, job.read, None)
    with opened(corpus, resolve_columns(corpus, settings, progress), settings, progress, threads=2) as asked:
        asked.prepare()
        ids = {name: row for row, name in enumerate(asked.scanned.rows.id.to_pylist())}
        cluster = np.arange(len(ids)) + len(ids)
        cluster[[ids[str(name)] for name in _column(options.truth, "id")]] = _numbered(
            _column(options.truth, "cluster")
        )
        print(f"{'source':20}{'pairs':>10}{'a row':>8}{'recall':>9}")
        for one in shares(asked.proposed, cluster, asked.representative):
            print(f"{one.name:20}{one.pairs:10,}{one.pairs / len(cluster):8.2f}{one.recall:9.4f}")
        read = replace(asked.proposed, **{f.name: getattr(asked.chosen, f.name) for f in fields(Pairs)})
        share = connected(cluster, read.a, read.b, asked.representative)
        print(f"{'read':20}{len(read):10,}{len(read) / len(cluster):8.2f}{share:9.4f}")
        print("\nseconds of CPU: " + ", ".join(f"{name} {spent:.2f}" for name, spent in seconds_of(asked).items()))
        print(f"\n{'Jaccard':>10}{'pairs':>9}{'bias':>9}{'RMSE':>9}")
        for bin_ in calibration(asked, asked.proposed):
            low = "all" if bin_.low < 0 else f"{bin_.low:.1f}-{bin_.low + 0.1:.1f}"
            print(f"{low:>10}{bin_.pairs:9,}{bin_.bias:9.4f}{bin_.rmse:9.4f}")
    print(f"\n{'preset':10}{'precision':>10}{'recall':>9}{'CPU s':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in PRESETS:
            precision, recall, seconds = preset(options.corpus, options.truth, name, Path(folder))
            print(f"{name:10}{precision or 0:10.4f}{recall or 0:9.4f}{seconds:8.1f}")
    return 0


def _column(path: Path, name: str) -> list[object]:
    import polars as pl

    table = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    return table[name].to_list()


def _numbered(values: list[object]) -> I64:
    number = {value: at for at, value in enumerate(dict.fromkeys(values))}
    return np.array([number[value] for value in values], np.int64)


if __name__ == "__main__":
    sys.exit(main())
