"""Plain twins of kernels.words and kernels.simhash: jieba itself, and votes counted one by one."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections import Counter
from contextlib import contextmanager
from functools import cache

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba
    from jieba import finalseg


@cache
def tokenizer(userdict: str = "") -> tuple[jieba.Tokenizer, frozenset[str]]:
    """A private tokenizer with the words of a user dictionary, and the words that it splits by force."""
    made = jieba.Tokenizer()
    made.FREQ, made.total = made.gen_pfdict(jieba.get_module_res("dict.txt"))
    made.initialized = True
    with _forced(set()):
        made.load_userdict(io.BytesIO(userdict.encode()))
        return made, frozenset(finalseg.Force_Split_Words)


@contextmanager
def _forced(words: set[str]):
    before, finalseg.Force_Split_Words = finalseg.Force_Split_Words, words
    try:
        yield
    finally:
        finalseg.Force_Split_Words = before


def words(text: str, hmm: bool = True, userdict: str = "") -> list[str]:
    made, forced = tokenizer(userdict)
    with _forced(set(forced)):
        return made.lcut(text, HMM=hmm)


def word_hash(word: str) -> int:
    return int(hashlib.md5(word.encode()).hexdigest(), 16) & (2**64 - 1)


def vote(weights: dict[str, int]) -> int:
    """Bit i is set iff the weights of the words that have it exceed those of the words that have not."""
    fingerprint = 0
    for bit in range(64):
        balance = sum(n if word_hash(word) >> bit & 1 else -n for word, n in weights.items())
        if balance > 0:
            fingerprint |= 1 << bit
    return fingerprint


def classic(text: str, userdict: str = "") -> tuple[int, int]:
    """The published recipe: every word of lcut, each time it occurs; fingerprint and number of words."""
    found = words(text, True, userdict)
    return vote(Counter(found)), len(found)


def default(text: str, userdict: str = "") -> tuple[int, int]:
    """Longer words without HMM, each at most three times; fingerprint and number of different words."""
    found = [w for w in words(text, False, userdict) if len(w) > 1 and re.search("[a-zA-Z0-9一-\u9fd5]", w)]
    return vote({w: min(n, 3) for w, n in Counter(found).items()}), len(set(found))
