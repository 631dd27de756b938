"""Mutated files of each format end in rows or in a message, the same in both passes."""

import random

import pyarrow as pa
import pytest

from newsdedup_cli.errors import UserError
from newsdedup_cli.files import FORMATS, open_sink
from newsdedup_cli.files.base import Batch, ReadOptions
from newsdedup_cli.files.corpus import open_corpus

PIECES = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\t",
    b"\0",
    b"\xff",
    b"{",
    b"}",
    b"[",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"NaN",
]
TIMES = 60


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 2, 8])):
        place = rng.randrange(len(data)) if data else 0
        match rng.randrange(5):
            case 0:
                data[place : place + 1] = bytes([rng.randrange(256)])
            case 1:
                data[place:place] = rng.choice(PIECES)
            case 2:
                del data[place : place + rng.randrange(1, 20)]
            case 3:
                del data[place:]
            case _:
                data[place:place] = data[: rng.randrange(1, 200)]
    return bytes(data)


def check_both_passes(corpus):
    texts = sum(part.num_rows for part in corpus.texts({"a": corpus.columns[:1]}))
    rejects = corpus.findings.rejects
    assert sum(part.num_rows for part in corpus.full()) == texts
    assert corpus.findings.rejects == rejects


@pytest.mark.parametrize("format", FORMATS)
def test_mutated_files(tmp_path, format):
    batch = pa.record_batch({"id": ["1", "002", None], "content": ["新闻,正文\n二段", 'a "b"', "😀 x"]})
    path = tmp_path / f"x{FORMATS[format].extensions[0]}"
    sink = open_sink(path, format, batch.schema)
    sink.write(Batch(batch))
    sink.close()
    whole, rng = path.read_bytes(), random.Random(7)
    for _ in range(TIMES):
        path.write_bytes(mutated(whole, rng))
        told = None
        try:
            check_both_passes(open_corpus([str(path)], ReadOptions(), tmp_path))
        except UserError as error:
            told = str(error)
        assert told is None or path.name in told
