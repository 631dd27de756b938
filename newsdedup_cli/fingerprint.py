"""Cleaned texts -> fingerprints: digest, simhash, longest sentences, and a sketch from which a pair can be judged."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from newsdedup_cli.kernels import text as kernels
from newsdedup_cli.segment import Lexicon, simhash
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import ALONE, I64, U64, Fingerprints
from newsdedup_cli.texts import buffers

NO_TEXT, TOO_SHORT, BOILERPLATE_ONLY = map(ALONE.index, ("no_text", "too_short", "boilerplate_only"))


@dataclass
class Batch:
    """The fingerprints of some consecutive rows and the hashes of all their sentences and lines."""

    fingerprints: Fingerprints
    pieces: U64  # [M], by row
    piece_rows: I64  # [N+1] offsets into pieces


def fingerprint(texts: pa.LargeStringArray, lexicon: Lexicon, matching: Matching) -> Batch:
    """Fingerprints of cleaned texts (no nulls)."""
    data, offsets = buffers(texts)
    digest, significant, sentences, sketch, keys, pieces, piece_rows = kernels.evidence(
        data, offsets, matching.sentences, matching.least_sentence, matching.least_piece
    )
    words, features = simhash(texts, lexicon, "classic" if matching.weights == "tf" else "default")
    alone = np.zeros(len(texts), np.uint8)
    alone[significant < matching.too_short] = TOO_SHORT
    alone[significant == 0] = NO_TEXT
    # The kernel cuts `pieces` from an array with room for the most there could be, which a view would keep alive.
    prints = Fingerprints(digest, words, features, sentences, sketch, keys, significant, alone)
    return Batch(prints, pieces.copy(), piece_rows)


def join_batches(batches: list[Batch]) -> Batch:
    """One batch of all rows, in order."""
    columns = {f.name: np.concatenate([getattr(b.fingerprints, f.name) for b in batches]) for f in fields(Fingerprints)}
    sizes = np.concatenate([np.diff(b.piece_rows) for b in batches])
    piece_rows = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Batch(Fingerprints(**columns), np.concatenate([b.pieces for b in batches]), piece_rows)
