"""`make bench`: each compiled stage beside a plain way to the same result, as ratios of one run.

The texts are those of sample_data, repeated. Machines are shared and noisy: read the columns against each other,
never against another day's.
"""

from __future__ import annotations

import jieba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import SAMPLE

from newsdedup_cli import candidates, segment
from newsdedup_cli.clean import CleanSettings, clean_text, clean_texts
from newsdedup_cli.kernels import text
from newsdedup_cli.texts import buffers

MANY = 20  # times the sample, so that a call is long enough to be timed


@pytest.fixture(scope="module")
def bodies():
    column = pq.read_table(SAMPLE / "news.parquet", columns=["content"])["content"].combine_chunks()
    return column.cast(pa.large_string()).fill_null("")


@pytest.fixture(scope="module")
def many(bodies):
    return pa.concat_arrays([clean_texts(bodies, CleanSettings())] * MANY)


@pytest.fixture(scope="module")
def lexicon():
    return segment.load_lexicon()


@pytest.mark.benchmark(group="words and simhash, 310 texts")
def test_simhash_kernel(benchmark, many, lexicon):
    some = many.slice(0, len(many) // MANY)
    segment.simhash(some, lexicon)
    benchmark(segment.simhash, some, lexicon)


@pytest.mark.benchmark(group="words and simhash, 310 texts")
def test_words_by_jieba_alone(benchmark, many):
    texts = many.slice(0, len(many) // MANY).to_pylist()
    jieba.initialize()
    benchmark.pedantic(lambda: [jieba.lcut(t, HMM=False) for t in texts], rounds=2)


@pytest.mark.benchmark(group="cleaning, 310 texts")
def test_clean(benchmark, bodies):
    clean_texts(bodies, CleanSettings())
    benchmark(clean_texts, bodies, CleanSettings())


@pytest.mark.benchmark(group="cleaning, 310 texts")
def test_clean_plainly(benchmark, bodies):
    texts = bodies.to_pylist()
    benchmark.pedantic(lambda: [clean_text(t, CleanSettings()) for t in texts], rounds=2)


@pytest.mark.benchmark(group="digest, sentences and sketch, 6,200 texts")
def test_evidence(benchmark, many):
    data, offsets = buffers(many)
    text.evidence(data, offsets, 5, 10, 4)
    benchmark(text.evidence, data, offsets, 5, 10, 4)


FINGERPRINTS = np.unique(np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64))


@pytest.mark.benchmark(group="all pairs within 3 bits, 20,000 fingerprints")
def test_join(benchmark):
    rows = np.arange(len(FINGERPRINTS))
    candidates.near_fingerprints(FINGERPRINTS, rows, 3)
    benchmark(candidates.near_fingerprints, FINGERPRINTS, rows, 3)


@pytest.mark.benchmark(group="all pairs within 3 bits, 20,000 fingerprints")
def test_join_by_numpy(benchmark):
    def brute():
        return sum(int((np.bitwise_count(f ^ FINGERPRINTS[i + 1 :]) <= 3).sum()) for i, f in enumerate(FINGERPRINTS))

    benchmark.pedantic(brute, rounds=1)
