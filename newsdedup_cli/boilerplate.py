"""Sentences and lines that recur in many otherwise different rows: learnt from the corpus, then left out.

A sentence in forty reprints of one story is no boilerplate; one under six different stories is. The two are told
apart by the rest of the rows that have it (kernels.recurring.otherwise_different). What recurs in different stories is
`common`: it proposes no pair. Only what also stands at the edges of its texts (a site's head and foot, blocks of
links) is `boilerplate` and is left out of them: an official statement quoted by twenty papers stands anywhere, and
a short notice may consist of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import recurring
from newsdedup_cli.errors import UserError
from newsdedup_cli.kernels import text
from newsdedup_cli.tables import I64, U64, Bools
from newsdedup_cli.texts import buffers, strings

_PIECE = re.compile(r"[^。！？；!?;\n]+[。！？；!?;\n]?")
HEAD, TAIL = 2, 4  # pieces at either end of a text that are its edges
LONG = 8  # pieces of a text that has a middle
MOSTLY = 0.8  # share of texts in which a common piece stands at an edge, from which it is boilerplate
EXAMPLES = 8  # rows remembered of each piece
GATHERED = 1024  # texts in memory at a time
OF_TITLE = 0.12  # share of the titles that a piece may have before it counts as news
SAMPLE = 24  # rows of a group that are compared: enough to find six different ones


@dataclass
class Boilerplate:
    """Hashes of boilerplate, ascending, in how many different texts each stands, and all that is common."""

    hashes: U64
    rows: I64
    example: I64  # [K,8] positions of rows that have it
    common: U64

    def __len__(self) -> int:
        return len(self.hashes)


def nothing() -> Boilerplate:
    """No boilerplate at all."""
    empty = np.zeros(0, np.uint64)
    return Boilerplate(empty, np.zeros(0, np.int64), np.zeros((0, EXAMPLES), np.int64), empty)


def learn(pieces: U64, piece_rows: I64, counted: Bools, digest: U64, least_rows: int) -> Boilerplate:
    """The pieces u8[M] (by row, offsets i8[N+1]) in `least_rows` or more otherwise different rows.

    Only rows that are `counted` do (one of each digest), so that exact copies make nothing frequent; the order of
    rows does not matter.
    """
    place = np.empty(len(counted), np.int64)
    place[np.lexsort((digest[:, 1], digest[:, 0]))] = np.arange(len(counted))
    found = recurring.groups(pieces, piece_rows, counted, place, least_rows, SAMPLE)
    if len(found) == 0:
        return nothing()
    different = recurring.otherwise_different(found, pieces, piece_rows, least_rows) >= least_rows
    common = found.pieces[different]
    at_edge = recurring.edge_shares(common, pieces, piece_rows, counted, HEAD, TAIL, LONG) >= MOSTLY
    chosen = np.flatnonzero(different)[at_edge]
    few = np.diff(found.starts)[chosen]
    steps = np.arange(EXAMPLES) * np.maximum(few // EXAMPLES, 1)[:, None]
    picked = found.starts[chosen][:, None] + np.minimum(steps, few[:, None] - 1)
    return Boilerplate(common[at_edge], found.sizes[chosen], found.members[picked], common)


def without_quotes(found: Boilerplate, spelled: list[str], titles: Callable[[I64], Any]) -> Boilerplate:
    """Only the pieces that have nothing to do with the titles above them.

    `spelled` are the pieces' texts, `titles` gives cleaned titles by position. A sentence of a statement that twenty
    short notices end with speaks of their titles; a site's foot does not.
    """
    if len(found) == 0:
        return found
    bodies = pa.array(spelled, pa.large_string()).take(pa.array(np.repeat(np.arange(len(found)), EXAMPLES)))
    support, bits = text.title_evidence(*buffers(titles(found.example.reshape(-1))), *buffers(bodies))
    support[~bits.any(axis=1)] = 0
    foreign = support.reshape(-1, EXAMPLES).mean(axis=1) < OF_TITLE
    return Boilerplate(found.hashes[foreign], found.rows[foreign], found.example[foreign], found.common)


def read_lines(path: str) -> pa.LargeStringArray:
    """The lines of a boilerplate file. Raises UserError where it cannot be read."""
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}", wanted="a UTF-8 text, one line each") from error
    return pa.array([line for line in lines if line.strip()], pa.large_string())


def hashes_of(lines: pa.LargeStringArray, least_piece: int) -> U64:
    """The hashes of cleaned boilerplate lines."""
    pieces = text.evidence(*buffers(lines), 1, 1, least_piece)[5]
    return np.unique(pieces)


def spelling(found: Boilerplate, gather: Callable[[I64], Any], least_piece: int) -> list[str]:
    """Each piece as it stands in one row that has it."""
    rows, inverse = np.unique(found.example[:, 0], return_inverse=True)
    spelled = [""] * len(found)
    for begin in range(0, len(rows), GATHERED):
        texts = strings(*gather(rows[begin : begin + GATHERED])).to_pylist()
        pieces = [pieces_of(whole, least_piece) for whole in texts]
        for at in np.flatnonzero((inverse >= begin) & (inverse < begin + GATHERED)):
            spelled[at] = pieces[inverse[at] - begin].get(int(found.hashes[at]), "")
    return spelled


def pieces_of(whole: str, least_piece: int) -> dict[int, str]:
    """The pieces of a text by hash."""
    parts = [part for part in _PIECE.findall(whole) if part.strip()]
    data, offsets = buffers(pa.array(parts, pa.large_string()))
    hashes, rows = text.evidence(data, offsets, 1, 1, least_piece)[5:]
    return {int(hashes[rows[i]]): part.strip() for i, part in enumerate(parts) if rows[i + 1] > rows[i]}


def rows_with(pieces: U64, piece_rows: I64, hashes: U64) -> I64:
    """Positions of the rows that have any of the pieces."""
    return np.unique(recurring.standing(hashes, pieces, piece_rows)[1])


def strip(texts: pa.LargeStringArray, hashes: U64, least_piece: int) -> pa.LargeStringArray:
    """The texts without boilerplate at their head and tail or filling a line."""
    data, offsets = buffers(texts)
    return strings(*text.strip_pieces(data, offsets, hashes, least_piece))
