"""What recurs under different articles is boilerplate; what recurs in reprints is not."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from strategies import arrow, u64

from newsdedup_cli import boilerplate
from newsdedup_cli.errors import UserError
from newsdedup_cli.kernels import store, text
from newsdedup_cli.texts import buffers

FOOT = "更多内容请关注晨报客户端"
LEAST = 4


def articles(number: int, seed: int = 1, sentences: int = 6) -> list[str]:
    """Made-up articles that share no sentence."""
    rng = random.Random(seed)
    return [
        "。".join("".join(chr(rng.randrange(0x4E00, 0x9F00)) for _ in range(14)) for _ in range(sentences)) + "。"
        for _ in range(number)
    ]


def learn(texts: list[str], least_rows: int = 6) -> boilerplate.Boilerplate:
    digest, _, _, _, _, pieces, piece_rows = text.evidence(*arrow(texts), 5, 10, LEAST)
    _, first = np.unique(digest, axis=0, return_index=True)
    counted = np.isin(np.arange(len(texts)), first)
    return boilerplate.learn(pieces, piece_rows, counted, digest, least_rows)


def listed(texts: list[str]) -> dict[str, int]:
    found = learn(texts)

    def gather(rows):
        data, offsets = arrow(texts)
        return store.gather(data, offsets[:-1], np.diff(offsets), rows)

    return dict(zip(boilerplate.spelling(found, gather, LEAST), found.rows.tolist(), strict=True))


def test_a_foot_under_different_articles():
    texts = [f"{body}\n{FOOT}。" for body in articles(8)]
    assert listed(texts) == {f"{FOOT}。": 8}


def test_five_are_not_enough():
    assert listed([f"{body}\n{FOOT}。" for body in articles(5)]) == {}


def test_reprints_of_one_article_make_nothing_boilerplate():
    body = articles(1, sentences=10)[0]
    assert listed([f"{body}这是第{i}版。" for i in range(30)]) == {}
    assert listed([body] * 50) == {}


def test_reprints_of_a_short_article_with_a_line_of_their_own_make_nothing_boilerplate():
    body = articles(1, sentences=6)[0]
    assert listed([f"{body}这是第{i}版。" for i in range(30)]) == {}


def test_the_order_of_rows_does_not_matter():
    texts = [f"{body}\n{FOOT}。" for body in articles(9)] + articles(20, seed=3)
    one = learn(texts)
    random.Random(5).shuffle(texts)
    other = learn(texts)
    assert one.hashes.tolist() == other.hashes.tolist()
    assert one.rows.tolist() == other.rows.tolist()


def test_nothing_from_nothing():
    assert len(learn([])) == 0
    assert len(learn(["", ""])) == 0
    assert listed(articles(3)) == {}


def test_strip_takes_it_out_where_it_stands_alone():
    hashes = boilerplate.hashes_of(pa.array([FOOT], pa.large_string()), LEAST)
    body = articles(1)[0]
    texts = [f"{body}\n{FOOT}。", f"{FOOT}！{body}", f"{body}\n{FOOT}\n{body}", body, FOOT, ""]
    stripped = boilerplate.strip(pa.array(texts, pa.large_string()), hashes, LEAST).to_pylist()
    assert [s.strip() for s in stripped] == [body, body, f"{body}\n{body}", body, "", ""]


def test_rows_with():
    texts = [f"{FOOT}。", "别的一句话。", "", f"头一句话在这里。{FOOT}"]
    _, _, _, _, _, pieces, piece_rows = text.evidence(*arrow(texts), 5, 10, LEAST)
    hashes = boilerplate.hashes_of(pa.array([FOOT], pa.large_string()), LEAST)
    assert boilerplate.rows_with(pieces, piece_rows, hashes).tolist() == [0, 3]
    assert boilerplate.rows_with(pieces, piece_rows, u64([])).tolist() == []


def test_a_file_of_lines(tmp_path):
    (tmp_path / "b.txt").write_bytes(f"\ufeff{FOOT}\r\n\r\n  \n第二行\n".encode())
    assert boilerplate.read_lines(str(tmp_path / "b.txt")).to_pylist() == [FOOT, "第二行"]
    with pytest.raises(UserError, match="cannot read"):
        boilerplate.read_lines(str(tmp_path / "nix.txt"))
    (tmp_path / "c.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="wanted: a UTF-8 text"):
        boilerplate.read_lines(str(tmp_path / "c.txt"))


def test_buffers_of_a_slice_are_stripped_as_they_are():
    hashes = boilerplate.hashes_of(pa.array([FOOT], pa.large_string()), LEAST)
    array = pa.array(["前一行", f"{FOOT}\n正文的一句话。", "后一行"], pa.large_string()).slice(1, 1)
    assert len(buffers(array)[1]) == 2
    assert boilerplate.strip(array, hashes, LEAST).to_pylist() == ["正文的一句话。"]
