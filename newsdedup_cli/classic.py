"""The published recipes, bit for bit: `--preset classic-simhash` and `--preset classic-nshash`.

Both depend on the order of rows, as published. One difference, for safety: a row without any text is compared with
nothing, where the recipes take all of them for copies of one another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from newsdedup_cli import candidates
from newsdedup_cli.kernels import join
from newsdedup_cli.tables import I64, SAME, U8, U64, Bools, Clusters, Verified

BITS = 64
LONGEST = 5
LONG_SENTENCE = 30  # characters beyond which nshash prefers a sentence
_AS_CODED = re.compile("[:：；？。！】\n]")
_AS_DESCRIBED = re.compile("[。！？\n]")


def simhash_clusters(simhash: U64, alone: Bools, k: int) -> Clusters:
    """Each row against the kept rows before it; the first within k bits decides (simhash u8[N])."""
    rows = np.flatnonzero(~alone)
    kept = np.arange(len(simhash))
    distinct, first, inverse = np.unique(simhash[rows], return_index=True, return_inverse=True)
    at, other = candidates.near_fingerprints(distinct, np.arange(len(distinct)), k)
    order = np.argsort(first, kind="stable")  # fingerprints by the row they first stand in
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    kept_for = _first_hits(place[at], place[other], len(order))
    kept[rows] = rows[first[order[kept_for[place[inverse]]]]]
    return _as_clusters(kept, join.distances(simhash, np.arange(len(kept)), kept), None)


def _first_hits(a: I64, b: I64, n: int) -> I64:
    """For each of n fingerprints in order the first kept one it hits, itself if none: pairs a, b of positions."""
    later, earlier = np.maximum(a, b), np.minimum(a, b)
    order = np.lexsort((earlier, later))
    later, earlier = later[order], earlier[order]
    kept_for = np.arange(n)
    bounds = np.searchsorted(later, np.arange(n + 1))
    for i in np.unique(later):
        hits = earlier[bounds[i] : bounds[i + 1]]
        hits = hits[kept_for[hits] == hits]
        if len(hits):
            kept_for[i] = hits[0]
    return kept_for


def longest_sentences(text: str, ends: str = "code") -> list[str]:
    """The sentences that nshash takes from a text: split, long ones preferred, the longest five.

    >>> longest_sentences("短句。" + "长" * 31 + "。" + "更长" * 20 + "！")[0] == "更长" * 20
    True
    >>> longest_sentences("一。二二。")
    ['二二', '一', '']
    """
    sentences = (_AS_CODED if ends == "code" else _AS_DESCRIBED).split(text)
    long = [sentence for sentence in sentences if len(sentence) > LONG_SENTENCE]
    return sorted(long or sentences, key=len, reverse=True)[:LONGEST]


def nshash_clusters(texts: Sequence[str], alone: Bools, ends: str = "code") -> Clusters:
    """A row takes the smallest similar_id known for one of its sentences, else the next; all of them then get it."""
    known: dict[str, int] = {}
    ids = np.zeros(len(texts), np.int64)
    hashes: list[set[str]] = []
    following = 1
    for row, text in enumerate(texts):
        found = set() if alone[row] else {_md5(sentence) for sentence in longest_sentences(text, ends)}
        hashes.append(found)
        similar = min((known[h] for h in found if h in known), default=0)
        if not similar:
            similar, following = following, following + 1
        known.update(dict.fromkeys(found, similar))
        ids[row] = similar
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    kept = first[inverse]
    shared = np.array([len(hashes[row] & hashes[to]) for row, to in enumerate(kept)], np.uint8)
    return _as_clusters(kept, None, shared)


def _md5(sentence: str) -> str:
    return hashlib.md5(sentence.encode(), usedforsecurity=False).hexdigest()


def _as_clusters(kept: I64, distance: U8 | None, shared: U8 | None) -> Clusters:
    """Clusters with a link for each row that does not stay; the score is the share of equal bits or sentences."""
    _, first, inverse = np.unique(kept, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    removed = np.flatnonzero(kept != np.arange(len(kept)))
    none = np.zeros(len(removed), np.uint8)
    bits = none if distance is None else distance[removed]
    sentences = none if shared is None else shared[removed]
    score = (1 - bits / BITS if shared is None else sentences / LONGEST).astype(np.float32)
    same = np.full(len(removed), SAME, np.uint8)
    link = Verified(removed, kept[removed], bits, sentences, score, score, same)
    return Clusters(number[inverse], kept, link)
