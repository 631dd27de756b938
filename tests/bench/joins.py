"""The join of fingerprints beside brute force, and degenerate input beside ordinary."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from bench.measure import Asked, beside, median_cpu, say
from bench.report import NO_MARK, Mark, Table, figure
from newsdedup_cli import candidates
from newsdedup_cli.kernels import join

U64 = npt.NDArray[np.uint64]
DISTANCES = (3, 6, 8)
SECONDS = {3: 0.6, 8: 3.0}  # the marks of a million rows
MOST_TIMES = 3.0  # that degenerate input may cost of ordinary
SUBSAMPLE = 20_000  # fingerprints that brute force compares
PLANTED = 0.1  # share of the fingerprints that are near another


def ordinary(rows: int, seed: int = 1) -> U64:
    """Random fingerprints; a tenth of them copies of others with up to eight bits changed."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 2**64, rows, dtype=np.uint64)
    some = rng.choice(rows, int(rows * PLANTED), replace=False)
    changed = made[rng.integers(0, rows, len(some))]
    for bits in range(8):
        flip = np.uint64(1) << rng.integers(0, 64, len(some), dtype=np.uint64)
        changed = np.where(rng.random(len(some)) < 1 - bits / 9, changed ^ flip, changed)
    made[some] = changed
    return made


def degenerate(rows: int) -> dict[str, U64]:
    """What breaks a join that compares all of a bucket."""
    rng = np.random.default_rng(2)
    half = ordinary(rows)
    half[rng.random(rows) < 0.5] = 0
    base = rng.integers(0, 2**64, dtype=np.uint64)
    cube = base ^ rng.integers(0, 2**20, rows, dtype=np.uint64)
    return {"all equal": np.full(rows, base), "within a 20-bit cube": cube, "half of them empty": half}


def joiner(fingerprints: U64, k: int) -> Callable[[], object]:
    """Our join, ready to be called."""
    rows = np.arange(len(fingerprints))
    return lambda: candidates.near_fingerprints(fingerprints, rows, k)


def by_faiss(fingerprints: U64, k: int) -> Callable[[], object] | None:
    """faiss's flat index of bits, one thread; None where it is not installed."""
    if importlib.util.find_spec("faiss") is None:
        return None
    import faiss

    faiss.omp_set_num_threads(1)
    codes = fingerprints.view(np.uint8).reshape(-1, 8)

    def search() -> object:
        index = faiss.IndexBinaryFlat(64)
        index.add(codes)
        return index.range_search(codes, k + 1)

    return search


def tables(asked: Asked) -> Iterator[Table]:
    """Two tables: against brute force, and degenerate input."""
    rows = 50_000 if asked.quick else 1_000_000
    yield _against_brute_force(asked, rows)
    yield _degenerate(asked, rows)


def _against_brute_force(asked: Asked, rows: int) -> Table:
    table = Table(
        "join",
        f"Join: all pairs within k bits of {rows:,} fingerprints",
        ["k", "ours, CPU s", "brute force, CPU s", "ratio", "faiss, CPU s", "ratio", "mark", ""],
    )
    every = ordinary(rows)
    some = every[: min(SUBSAMPLE, rows)]
    share = (len(some) / rows) ** 2
    join.all_distances(some[:2], 0, 2)
    for k in DISTANCES:
        say(f"join: k = {k}")
        plain = beside(joiner(every, k), lambda: join.all_distances(some, 0, len(some)), asked.rounds, 1, share)
        search = by_faiss(some, k)
        faiss = median_cpu(search, asked.rounds) / share if search else None
        mark = Mark(SECONDS[k], "s", False).cells(plain.ours, rows == 1_000_000) if k in SECONDS else NO_MARK
        cells = [str(k), figure(plain.ours), figure(plain.other), figure(plain.ratio, "x"), figure(faiss)]
        table.rows.append([*cells, figure(faiss and faiss / plain.ours, "x"), *mark])
    table.notes = [
        f"A tenth of the fingerprints lie within eight bits of another. Brute force is a compiled loop over all pairs "
        f"of {len(some):,} of them, faiss IndexBinaryFlat.range_search over the same; both are quadratic, so their "
        "seconds are those of the part times the square of the sizes' ratio."
    ]
    return table


def _degenerate(asked: Asked, rows: int) -> Table:
    table = Table(
        "degenerate",
        f"Join: {rows:,} fingerprints that are no ordinary ones",
        ["fingerprints", "k", "CPU s", "of the ordinary", "mark", ""],
    )
    for k in (3, 8):
        for name, made in degenerate(rows).items():
            say(f"join: {name}, k = {k}")
            found = beside(joiner(ordinary(rows), k), joiner(made, k), asked.rounds)
            mark = Mark(MOST_TIMES, "x", False).cells(found.ratio)
            table.rows.append([name, str(k), figure(found.other), figure(found.ratio, "x"), *mark])
    return table
