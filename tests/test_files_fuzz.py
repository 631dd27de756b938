"""Damaged files of each format end in rows or in a message; `python tests/fuzz_files.py` tries many more."""

import sys

import pytest
from conftest import NO_JIT
from fuzz_bases import FORMATS
from fuzz_files import attempt, prepare

from newsdedup_cli.errors import UserError
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus

WHOLE, READ = (2, 20) if NO_JIT else (40, 150)  # files of each format
FIRST = 1_000_000  # seeds that no longer run has


def check_both_passes(corpus):
    texts = sum(part.num_rows for part in corpus.texts({"a": corpus.columns[:1]}))
    rejects = corpus.findings.rejects
    assert sum(part.num_rows for part in corpus.full()) == texts
    assert corpus.findings.rejects == rejects
    assert all(1 <= reject.row <= texts + 1 for reject in rejects)


@pytest.mark.parametrize("format", FORMATS)
def test_the_whole_program_on_damaged_files(tmp_path, monkeypatch, format):
    prepare(monkeypatch.setattr)
    monkeypatch.setattr(sys, "argv", [])
    assert [(seed, attempt(tmp_path, format, seed)) for seed in range(FIRST, FIRST + WHOLE)] == [
        (seed, "") for seed in range(FIRST, FIRST + WHOLE)
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_both_passes_agree_on_damaged_files(tmp_path, format):
    from random import Random

    from fuzz_files import damaged_file

    for seed in range(FIRST, FIRST + READ):
        path = damaged_file(tmp_path, format, Random(f"{format} {seed}"))
        told = None
        try:
            check_both_passes(open_corpus([str(path)], ReadOptions(), tmp_path))
        except UserError as error:
            told = str(error)
        assert told is None or path.name in told
        path.unlink()
