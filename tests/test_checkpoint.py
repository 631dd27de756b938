"""What is saved of a first pass comes back whole, or not at all."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from running import COLUMNS, small_corpus
from strategies import back, i64

from newsdedup_cli import checkpoint, scan
from newsdedup_cli.checkpoint import Checkpoint, key_of
from newsdedup_cli.files.corpus import TextBatch
from newsdedup_cli.scan import signature_of
from newsdedup_cli.segment import load_lexicon
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import Fingerprints, Rows

SIZE = 4


def batches(rows):
    columns = dict(zip(("id", "title", "text", "source", "url", "date"), COLUMNS, strict=True))
    for first in range(0, len(rows), SIZE):
        some = rows[first : first + SIZE]
        values = {role: [pa.array([row[name] for row in some], pa.large_string())] for role, name in columns.items()}
        yield TextBatch(first + 1, "a.csv", values)


def first_pass(folder, rows, signature="s", error=None, say=None):
    """The texts, all that is known of the rows, how many an earlier run had made, and what was said."""
    said: list[str] = []
    with Checkpoint(folder) as kept:
        kept.open(lambda: signature, True, say or said.append)
        made = [scan._make(batch, Matching(), load_lexicon(), kept.find).known for batch in batches(rows)]
        for one in made:
            kept.take(one)
        texts = [back(*store.gather(i64(range(len(rows))))) for store in (kept.texts, kept.urls)]
        kept.save()
        if error:
            raise error
    return texts, made, kept.continued, said


@pytest.fixture(scope="module")
def rows():
    return small_corpus(12)


@pytest.fixture
def stopped(tmp_path, rows, monkeypatch):
    """A folder in which a run was stopped after two parts of three batches."""
    monkeypatch.setattr(checkpoint, "PART_BATCHES", 2)
    with pytest.raises(KeyboardInterrupt):
        first_pass(tmp_path / "k", rows, error=KeyboardInterrupt())
    return tmp_path / "k"


def same(one, other) -> None:
    assert one[0] == other[0]
    for a, b in zip(one[1], other[1], strict=True):
        for kind, x, y in ((Fingerprints, a.batch.fingerprints, b.batch.fingerprints), (Rows, a.rows, b.rows)):
            for field in fields(kind):
                u, v = getattr(x, field.name), getattr(y, field.name)
                assert u.equals(v) if isinstance(u, pa.Array) else np.array_equal(u, v) and u.dtype == v.dtype
        assert np.array_equal(a.batch.pieces, b.batch.pieces)
        assert np.array_equal(a.batch.piece_rows, b.batch.piece_rows)
        assert np.array_equal(a.identity, b.identity)


def test_what_was_saved_is_taken(tmp_path, rows, stopped):
    assert sorted(path.suffix for path in stopped.iterdir()) == ["", "", "", ".part", ".part"]
    found = first_pass(stopped, rows)
    same(found, first_pass(None, rows))
    assert found[2] == 12
    assert found[3] == ["continuing: 12 rows were fingerprinted by an earlier run"]
    assert not stopped.exists()


def test_stopping_says_where_it_is(tmp_path, rows):
    said = []
    with pytest.raises(OSError, match="full"):
        first_pass(tmp_path / "k", rows, error=OSError(errno.ENOSPC, "full"), say=said.append)
    assert said == [f"the same command continues from here: the fingerprints are in {tmp_path / 'k'}"]


@pytest.mark.parametrize("error", [ValueError("ours"), None])
def test_nothing_stays_after_success_or_what_the_next_run_meets_too(tmp_path, rows, error):
    if error:
        with pytest.raises(ValueError, match="ours"):
            first_pass(tmp_path / "k", rows, error=error)
    else:
        first_pass(tmp_path / "k", rows)
    assert list(tmp_path.iterdir()) == []


def test_other_settings_begin_anew(rows, stopped):
    texts, _, continued, said = first_pass(stopped, rows, signature="other")
    assert (continued, said) == (0, [])
    assert texts == first_pass(None, rows)[0]


def test_changed_rows_are_read_anew_and_the_others_taken(rows, stopped):
    changed = [row | {"title": "别的标题"} if i == 5 else row for i, row in enumerate(rows)]
    found = first_pass(stopped, [*changed, *rows[:2]])
    assert found[2] == 8
    same(found, first_pass(None, [*changed, *rows[:2]]))


@pytest.mark.parametrize("harm", ["cut", "flip", "texts cut", "texts changed", "unfinished", "not ours"])
def test_what_is_not_whole_is_left_alone(rows, stopped, harm):
    parts = sorted(stopped.glob("*.part"))
    match harm:
        case "cut":
            parts[0].write_bytes(parts[0].read_bytes()[:-100])
        case "flip":
            data = bytearray(parts[0].read_bytes())
            data[len(data) // 2] ^= 1
            parts[0].write_bytes(data)
        case "texts cut":
            (stopped / "texts").write_bytes((stopped / "texts").read_bytes()[:-1])
        case "texts changed":
            data = bytearray((stopped / "texts").read_bytes())
            data[3] ^= 1
            (stopped / "texts").write_bytes(data)
        case "unfinished":
            (stopped / "x.part-unfinished").write_bytes(b"half")
        case _:
            (stopped / f"{checkpoint._name_of(hashlib.sha256(b'x'))}").write_bytes(b"x")
    found = first_pass(stopped, rows)
    assert found[2] < 12 or harm in ("unfinished", "not ours")
    assert found[2] > 0
    same(found, first_pass(None, rows))
    assert not stopped.exists()


def test_two_runs_at_once(tmp_path, rows):
    with Checkpoint(tmp_path / "k") as first:
        first.open(lambda: "s", False, print)
        found = first_pass(tmp_path / "k", rows)
        assert (tmp_path / "k").exists()
    same(found, first_pass(None, rows))


def test_a_full_disk_costs_the_saving_only(tmp_path, rows, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "_sync_folder", full)
    monkeypatch.setattr(checkpoint, "PART_BATCHES", 1)
    found = first_pass(tmp_path / "k", rows)
    assert found[3] == ["nothing is saved to continue from: No space left on device"]
    same(found, first_pass(None, rows))


def test_missing_and_empty_are_two_contents():
    identity = np.zeros(1, np.uint64)
    missing, empty = (pa.array([value], pa.large_string()) for value in (None, ""))
    assert key_of(identity, [missing]) != key_of(identity, [empty])
    assert key_of(identity, [empty, missing]) != key_of(identity, [missing, empty])


def test_what_the_signature_is_of(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("云计算 5\n", "utf-8")
    found = [signature_of({}, Matching()), signature_of({}, Matching(min_score=0.7))]
    found.append(signature_of({}, Matching(userdict=str(words))))
    words.write_text("云计算 6\n", "utf-8")
    found.append(signature_of({}, Matching(userdict=str(words))))
    assert len(set(found)) == 4
    assert signature_of({}, Matching()) == found[0]
