"""Other tools on a corpus, in a report folder that `newsdedup evaluate` reads.

    python tests/quality/peers.py TOOL CORPUS.parquet OUT_FOLDER [--threshold T]

Run it in an environment of its own that has the tool and pyarrow. Texts are the column content without white
space, in character 5-grams where the tool leaves that open; 128 permutations, 32 bands where bands are given;
edges at the threshold are joined to components. near-dupes and text-dedup take the file as it is, in their own
grams (three characters; five "words", which in Chinese are clauses). Prints the seconds of CPU.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Edges = Iterable[tuple[int, int]]
GRAM, PERMUTATIONS, BANDS = 5, 128, 32


def grams(text: str) -> list[str]:
    """The distinct character 5-grams."""
    return list({text[i : i + GRAM] for i in range(max(1, len(text) - GRAM + 1))})


def datasketch(texts: list[str], threshold: float, corpus: Path) -> Iterator[tuple[int, int]]:
    """MinHashLSH; what it finds is taken as it is."""
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    for row, text in enumerate(texts):
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([gram.encode() for gram in grams(text)])
        yield from ((row, other) for other in lsh.query(sketch))
        lsh.insert(row, sketch)


def rensa(texts: list[str], threshold: float, corpus: Path) -> Iterator[tuple[int, int]]:
    """RMinHashLSH, its pairs checked by the estimate of their sketches."""
    from rensa import RMinHash, RMinHashLSH

    lsh, sketches = RMinHashLSH(threshold, PERMUTATIONS, BANDS), []
    for row, text in enumerate(texts):
        sketch = RMinHash(PERMUTATIONS, 42)
        sketch.update(grams(text))
        sketches.append(sketch)
        yield from ((row, o) for o in lsh.query(sketch) if sketches[o].jaccard(sketch) >= threshold)
        lsh.insert(row, sketch)


def gaoya(texts: list[str], threshold: float, corpus: Path) -> Iterator[tuple[int, int]]:
    """MinHashStringIndex, 42 bands of 3, its own character 5-grams."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, threshold, 42, 3, None, "char", False, (GRAM, GRAM))
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    for row, found in enumerate(index.par_bulk_query(texts)):
        yield from ((row, other) for other in found)


def fastsketch(texts: list[str], threshold: float, corpus: Path) -> Iterator[tuple[int, int]]:
    """FastSimilaritySketch and LSH, its pairs checked by the estimate of their sketches."""
    import FastSketchLSH
    import numpy as np

    sketcher = FastSketchLSH.FastSimilaritySketch(PERMUTATIONS, 42)
    sketches = np.asarray(sketcher.batch([[g.encode() for g in grams(text)] for text in texts]), np.uint64)
    lsh = FastSketchLSH.LSH(PERMUTATIONS, BANDS)
    lsh.insert(sketches)
    for row in range(len(texts)):
        for other in lsh.query(sketches[row]):
            if (sketches[row] == sketches[other]).mean() >= threshold:
                yield row, int(other)


def near_dupes(texts: list[str], threshold: float, corpus: Path) -> Iterator[tuple[int, int]]:
    """The command line, as its README shows it."""
    tool = Path(sys.executable).parent / "near-dupes"
    options = ["--key", "content", "--threshold", str(threshold), "--json"]
    found = subprocess.run([tool, corpus, *options], check=True, capture_output=True).stdout
    for group in json.loads(found)["groups"]:
        yield from ((group[0], other) for other in group[1:])


def text_dedup(texts: list[str], threshold: float, corpus: Path) -> Iterator[tuple[int, int]]:
    """The command line for minhash, its union-find read back."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "text_dedup.minhash", "--path", "parquet", "--data_files", str(corpus)]
        command += ["--split", "train", "--cache_dir", f"{folder}/cache", "--output", f"{folder}/out", "--debug"]
        command += ["--column", "content", "--num_proc", "1", "--threshold", str(threshold)]
        subprocess.run([*command, "--use_auth_token", "false"], check=True, capture_output=True)
        parents = pickle.loads((Path(folder) / "out" / "uf.pkl").read_bytes())
    yield from getattr(parents, "parent", parents).items()


TOOLS: dict[str, Callable[[list[str], float, Path], Edges]] = {
    "datasketch": datasketch,
    "rensa": rensa,
    "gaoya": gaoya,
    "FastSketchLSH": fastsketch,
    "near-dupes": near_dupes,
    "text-dedup": text_dedup,
}


def components(rows: int, edges: Edges) -> list[int]:
    """For each row the least row that it is connected with."""
    parent = list(range(rows))

    def find(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for a, b in edges:
        low, high = sorted((find(int(a)), find(int(b))))
        parent[high] = low
    return [find(row) for row in range(rows)]


def main() -> None:
    """Run one tool and write rows.parquet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threshold", type=float, default=0.5)
    options = parser.parse_args()
    table = pq.read_table(options.corpus, columns=["id", "content"])
    texts = ["".join((text or "").split()) for text in table["content"].to_pylist()]
    root = components(len(texts), TOOLS[options.tool](texts, options.threshold, options.corpus))
    options.out.mkdir(parents=True, exist_ok=True)
    kept = [row == first for row, first in enumerate(root)]
    columns = {"id": table["id"].cast(pa.string()), "similar_id": root, "kept": kept}
    pq.write_table(pa.table(columns), options.out / "rows.parquet")
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{sum(u.ru_utime + u.ru_stime for u in used):.1f} s of CPU")


if __name__ == "__main__":
    main()
