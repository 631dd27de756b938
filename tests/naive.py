"""Plain twins of the kernels in kernels.text, join, overlap, clauses and store, and of the published recipes.

Written from the docstrings, in Python's own strings, integers and sets; nothing here is fast or clever.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import naive_words

M64 = 2**64 - 1
P1, P2, P3, P4 = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
BASE = 0x5851F42D4C957F2D
BINS, KEYS, SHINGLE = 128, 16, 5

# ---- kernels.text: which characters count ----------------------------------------------------------------

_LETTER = re.compile(
    "[0-9A-Za-zªµº²³¹À-ÖØ-öø-\u1fff\u2070-\u209f\u2100-\u218f\u2460-\u24ff\u2c00-\u2dff\u3005\u3007\u3040-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U00010000-\U0001efff\U0001fb00-\U0010ffff]"
)
# 3.5, 8:15, 2026/11, 3-5, 3~5; a sign before a figure; 35%.
_IN_NUMBER = re.compile(r"(?<=[0-9])[.:/~-](?=[0-9])|(?<![0-9])[-+](?=[0-9])|(?<=[0-9])%")
_END = re.compile(r"[\n。！？；!?;]|(?<![0-9])\.(?=[ \n]|\Z)")


def counts(text: str) -> list[bool]:
    """Whether each character is significant."""
    inside = {match.start() for match in _IN_NUMBER.finditer(text)}
    return [bool(_LETTER.match(c)) or i in inside for i, c in enumerate(text)]


def significant(text: str) -> str:
    return "".join(c for c, yes in zip(text, counts(text), strict=True) if yes)


def mix(x: int) -> int:
    """The finaliser of Murmur3, 64 bits."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & M64
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & M64
    return x ^ x >> 33


def fold(characters: str, seed: int, prime: int, shift: int) -> int:
    """xor, multiply, shift: the hash of the significant characters of a text or piece."""
    h = seed
    for c in characters:
        h = (h ^ ord(c)) * prime & M64
        h ^= h >> shift
    return h


def piece_hash(characters: str) -> int:
    return fold(characters, P4, P1, 32) | 1


def pieces(text: str) -> list[tuple[str, str]]:
    """The text cut after each sentence and line: what was cut, and its significant characters."""
    yes = counts(text)
    ends = [m.end() for m in _END.finditer(text) if not yes[m.start()]]
    bounds = [0, *ends, len(text)]
    return [(text[i:j], "".join(c for c, y in zip(text[i:j], yes[i:j], strict=True) if y)) for i, j in pairwise(bounds)]


def evidence(text: str, sentences: int, least_sentence: int, least_piece: int) -> dict:
    """What `text.evidence` says of one text."""
    whole = significant(text)
    listed = [core for _, core in pieces(text) if len(core) >= least_piece]
    long = list(dict.fromkeys(core for core in listed if len(core) >= least_sentence))
    longest = sorted(long, key=len, reverse=True)[:sentences]
    sketch, keys = sketch_of(whole)
    return {
        "digest": [fold(whole, P1, P3, 29), fold(whole, P2, P4, 32)],
        "significant": len(whole),
        "sentences": [piece_hash(s) for s in longest] + [0] * (sentences - len(longest)),
        "sketch": sketch,
        "keys": keys,
        "pieces": [piece_hash(core) for core in listed],
    }


def shingles(characters: Sequence) -> list[tuple]:
    return [tuple(characters[i : i + SHINGLE]) for i in range(len(characters) - SHINGLE + 1)]


def sketch_of(whole: str) -> tuple[list[int], list[int]]:
    """One-permutation min-hash: each shingle's polynomial picks a bin by its top bits, bins keep the least."""
    bins: dict[int, list[int]] = defaultdict(list)
    for shingle in set(shingles(whole)):
        x = mix(sum(ord(c) * BASE ** (SHINGLE - i) for i, c in enumerate(shingle)) & M64)
        bins[x >> 57].append(x & 0xFFFFFFFF)
    least = {b: min(values) for b, values in bins.items()}
    sketch = [(least[b] & 0xFFFF or 1) if b in least else 0 for b in range(BINS)]
    width = BINS // KEYS
    coarse = [
        min((least[b] for b in range(k * width, k * width + width) if b in least), default=None) for k in range(KEYS)
    ]
    keys = []
    for k in range(KEYS):
        x, y = coarse[k], coarse[(k + 1) % KEYS]
        keys.append(0 if x is None or y is None else mix(x ^ (y * P1 & M64)) >> 32 | 1)
    return sketch, keys


def strip_pieces(text: str, boilerplate: set[int], least_piece: int) -> str:
    """Without recurring pieces (and too short ones among them) at head and tail, and lines of nothing else."""
    parts = pieces(text)
    kinds = "".join(
        "?" if len(core) < least_piece else "b" if piece_hash(core) in boilerplate else "c" for _, core in parts
    )
    head = len(re.match(r"(?:[b?]*b)?", kinds)[0])
    tail = len(kinds) - len(re.match(r"(?:[b?]*b)?", kinds[::-1])[0])
    gone = set(range(head)) | set(range(tail, len(parts)))
    line: list[int] = []
    for k, (cut, _) in enumerate(parts):
        line.append(k)
        if cut.endswith("\n") or k == len(parts) - 1:
            if re.fullmatch(r"[b?]*b[b?]*", "".join(kinds[i] for i in line)):
                gone |= set(line)
            line = []
    return "".join(cut for k, (cut, _) in enumerate(parts) if k not in gone)


def significant_codes(text: str) -> list[int]:
    """The significant characters, 0 where a clause ends; blanks, separators of thousands and 3·15 end none."""
    between = {m.start() for m in re.finditer(r"(?<=[0-9])[,·](?=[0-9])", text)}
    marked = [
        c if yes else "" if c == " " or i in between else "\0"
        for i, (c, yes) in enumerate(zip(text, counts(text), strict=True))
    ]
    return [ord(c) for c in re.sub("\0+", "\0", "".join(marked)).strip("\0")]


def title_support(title: str, text: str) -> float:
    """The share of the title's two-character shingles that the text has; 1 without any."""
    grams, there = ({s[i : i + 2] for i in range(len(s) - 1)} for s in (significant(title), significant(text)))
    return len(grams & there) / len(grams) if grams else 1.0


# ---- kernels.join ----------------------------------------------------------------------------------------


def distance(x: int, y: int) -> int:
    return bin(x ^ y).count("1")


def all_distances(fingerprints: Sequence[int], first: int, last: int) -> list[int]:
    found = Counter(
        distance(fingerprints[i], fingerprints[j]) for i in range(first, last) for j in range(i + 1, len(fingerprints))
    )
    return [found[d] for d in range(65)]


def pairs_within(fingerprints: Sequence[int], k: int) -> set[tuple[int, int]]:
    n = len(fingerprints)
    return {(i, j) for i in range(n) for j in range(i + 1, n) if distance(fingerprints[i], fingerprints[j]) <= k}


def pairs_of_groups(groups: Iterable[Sequence[int]], near: int, anchors: int) -> list[tuple[int, int]]:
    """All pairs of a small group; in larger ones those with the rows just before and those at the head."""
    found = []
    for group in groups:
        for i in range(len(group)):
            before = set(range(i))
            if len(group) > near:
                before = set(range(i)[:anchors]) | set(range(i)[max(i - anchors, 0) :])
            found += [(min(group[i], group[j]), max(group[i], group[j])) for j in before]
    return sorted(found)


def sketch_similarity(x: Sequence[int], y: Sequence[int]) -> float:
    used = [(i, j) for i, j in zip(x, y, strict=True) if i or j]
    return sum(i == j for i, j in used) / len(used) if used else 0.0


def components(rows: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The smallest row that can be reached from each."""
    beside = defaultdict(set)
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    label = [-1] * rows
    for row in range(rows):
        todo = deque([row])
        while todo:
            at = todo.popleft()
            if label[at] < 0:
                label[at] = row
                todo.extend(beside[at])
    return label


# ---- kernels.overlap and clauses: texts are lists of codes, 0 where a clause ends ------------------------------------


def letters(codes: Iterable[int]) -> list[int]:
    return [c for c in codes if c]


def shingle_overlap(x: list[int], y: list[int]) -> list[int]:
    a, b = set(shingles(letters(x))), set(shingles(letters(y)))
    return [len(a), len(b), len(a & b)]


def common_subsequence(x: list[int], y: list[int]) -> int:
    """The textbook's table."""
    y = letters(y)
    above = [0] * (len(y) + 1)
    for c in letters(x):
        row = [0]
        for j, d in enumerate(y):
            row.append(above[j] + 1 if c == d else max(above[j + 1], row[j]))
        above = row
    return above[-1]


def covered(x: list[int], y: list[int], gap: int) -> list[int]:
    """How many letters of each stand in five-letter passages of the other, with those between two of them."""
    return [_covered(letters(one), letters(other), gap) for one, other in ((x, y), (y, x))]


def _covered(one: list[int], other: list[int], gap: int) -> int:
    there = {tuple(other[i : i + 5]) for i in range(len(other) - 4)}
    hit = [tuple(one[i : i + 5]) in there for i in range(len(one) - 4)]
    marked = [any(hit[max(0, i - 4) : i + 1]) for i in range(len(one))]
    places = [i for i, yes in enumerate(marked) if yes]
    for left, right in pairwise(places):
        if right - left - 1 <= gap:
            marked[left:right] = [True] * (right - left)
    return sum(marked)


def shared_ends(x: list[int], y: list[int], edge: int, reach: int) -> int:
    """1: half the shingles of the first `edge` of either are in the other's first `reach`; 2: so at the end."""
    return _begin_alike(letters(x), letters(y), edge, reach) + 2 * _begin_alike(
        letters(x)[::-1], letters(y)[::-1], edge, reach
    )


def _begin_alike(x: list[int], y: list[int], edge: int, reach: int) -> bool:
    def share(short: list[int], long: list[int]) -> float:
        wanted, there = shingles(short[: min(edge, reach)]), set(shingles(long[:reach]))
        return sum(s in there for s in wanted) / len(wanted) if wanted else 0.0

    return share(x, y) >= 0.5 or share(y, x) >= 0.5


CHINESE = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
FIGURES = "0123456789.:/-~+%"


def numeral_value(word: str) -> int | None:
    """The number that Chinese numerals spell: read from the largest unit down."""
    if not word:
        return 0
    for unit, size in (("亿", 10**8), ("万", 10**4)):
        if unit in word:
            above, below = word.rsplit(unit, 1)
            return max(numeral_value(above), 1) * size + numeral_value(below)
    total = 0
    for digits, unit in re.findall("([〇零一二两三四五六七八九]*)([十百千]?)", word):
        if not unit:
            # After a unit the last digit counts (一百零三); alone they are read one by one (二〇二六).
            return total + (
                CHINESE[digits[-1]] if total and digits else int("".join(str(CHINESE[d]) for d in digits) or 0)
            )
        value = CHINESE[digits[-1]] if total and digits else int("".join(str(CHINESE[d]) for d in digits) or 0)
        total += max(value, 1) * {"十": 10, "百": 100, "千": 1000}[unit]
    return total


def figure(written: str, numerals: str, after: str = "", units: str = "") -> str:
    """What a figure says: 七 is 7, and 05 is 5 (but 3.05 is not 3.5), and 8.31 is 831 where it names a day."""
    month, _, day = written.partition(".")
    if after > "\u33ff" and after not in units and re.fullmatch("[0-9]{1,2}[.][0-9]{2}", written):
        written = month + day if 1 <= int(month) <= 12 and 1 <= int(day) <= 31 else written
    if all(c in numerals for c in written):
        return str(numeral_value(written))
    return re.sub("(?<![0-9.])0+(?=[0-9])", "", written)


def clauses(
    codes: list[int],
    numerals: str,
    units: str,
    opposites: dict[str, tuple[int, int]],
    negations: str,
    flash: int,
    least: int,
) -> list[tuple]:
    """Of each clause its form (figures masked; None with too few letters), its figures, opposite words and
    negations, and whether a Chinese numeral or a negation is among them."""
    if len(codes) > flash:
        negations = ""
    found = []
    for clause in "".join(map(chr, codes)).split("\0") if codes else []:
        form, value, weak, count = [], [], False, 0
        tokens = _tokens(clause, numerals, opposites, negations)
        for at, (kind, token) in enumerate(tokens):
            if kind == "opposite":
                pair, side = opposites[token]
                form.append(pair)
                value.append(side)
                count += len(token)
            elif kind == "figure":
                form.append("figure")
                value.append("figure")
                after = tokens[at + 1][1][0] if at + 1 < len(tokens) else ""
                value += figure(token, numerals, after, units)
                weak |= any(c in numerals for c in token)
            elif kind == "negation":
                value.append("not")
                weak = True
            else:
                form.append(token)
                count += 1
        found.append((tuple(form) if count >= least else None, tuple(value), weak))
    return found


def _tokens(clause: str, numerals: str, opposites: dict, negations: str) -> list[tuple[str, str]]:
    """Opposite words first (two characters before one), then figures, negations, letters. A figure ends where
    digits follow a Chinese numeral: 一1988年 has two."""
    tokens, i = [], 0
    while i < len(clause):
        word = next((clause[i : i + n] for n in (2, 1) if clause[i : i + n] in opposites), None)
        number = re.match(f"[{re.escape(FIGURES)}]*[{numerals}]*", clause[i:])[0]
        if word:
            tokens.append(("opposite", word))
        elif number:
            tokens.append(("figure", number))
        else:
            tokens.append(("negation" if clause[i] in negations else "letter", clause[i]))
        i += len(tokens[-1][1])
    return tokens


def substitutions(left: list[tuple], right: list[tuple]) -> list[int]:
    """Clauses of the left that the right has in the same form beside a clause of the same form, with other figures
    or opposite words, and those where only a numeral or negation is involved. Those whose figures the other
    side has in a clause of this form are accounted for. Last how many clauses one side has and the other has not."""
    there, here = ({clause[:2] for clause in side} for side in (right, left))
    strong = weak = 0
    for x, (form, value, involved) in enumerate(left):
        if form is None or (form, value) in there:
            continue
        differing = [
            involved or other[2]
            for y, other in enumerate(right)
            if other[0] == form
            and other[:2] not in here
            and any(_beside(left, x, d) is not None and _beside(left, x, d) == _beside(right, y, d) for d in (-1, 1))
        ]
        strong += not all(differing)
        weak += bool(differing) and all(differing)
    only = [
        sum(form is not None and (form, value) not in other for form, value, _ in side)
        for side, other in ((left, there), (right, here))
    ]
    return [strong, weak, min(only)]


def _beside(clauses: list[tuple], at: int, step: int) -> object:
    return clauses[at + step][0] if 0 <= at + step < len(clauses) else "end"


def shared_sentences(x: Iterable[int], y: Iterable[int]) -> int:
    return len((set(x) & set(y)) - {0})


# ---- kernels.store and kernels.recurring --------------------------------------------------------------


def recurring(rows: list[list[int]], counted: list[bool], least: int) -> list[list[bool]]:
    """Which pieces stand in `least` rows that count, or more."""
    found = Counter(piece for row, yes in zip(rows, counted, strict=True) if yes for piece in set(row))
    return [[yes and found[piece] >= least for piece in row] for row, yes in zip(rows, counted, strict=True)]


def otherwise_different(
    rows: list[list[int]], frequency: dict[int, int], group: list[int], wanted: int, sample: int
) -> int:
    """How many rows of the group are unlike all before them that were, of at most `sample` looked at."""
    leaders: list[int] = []
    for row in group[:: max(1, len(group) // sample)][:sample]:
        if len(leaders) < wanted and not any(_alike(rows[row], rows[x], frequency, len(group)) for x in leaders):
            leaders.append(row)
    return len(leaders)


def _alike(x: list[int], y: list[int], frequency: dict[int, int], size: int) -> bool:
    """Half of the rarer pieces are shared, or there are too few of them (under a quarter) to tell."""
    rare_x, rare_y = (Counter(p for p in row if frequency[p] <= size // 2) for row in (x, y))
    n, m = rare_x.total(), rare_y.total()
    if not n or not m or 4 * n < len(x) or 4 * m < len(y):
        return True
    return 2 * (rare_x & rare_y).total() >= min(n, m)


def edges(rows: list[list[bool]], head: int, tail: int) -> list[list[bool]]:
    """The first `head` and last `tail` pieces of a row, and the run of frequent ones from either end."""
    found = []
    for row in rows:
        n = len(row)
        begins = next((i for i in range(n) if i >= head and not row[i]), n)
        ends = next((i for i in range(n) if i >= tail and not row[n - 1 - i]), n)
        found.append([i < begins or i >= n - ends for i in range(n)])
    return found


def edge_counts(rows: list[list[int]], chosen: set[int], head: int, tail: int, long: int, piece: int) -> list[int]:
    """In how many rows the piece stands, in how many at an edge, and the same of rows of `long` pieces or more."""
    counts = [0, 0, 0, 0]
    for row in rows:
        if piece in row:
            at = edges([[p in chosen for p in row]], head, tail)[0]
            edge = any(e for p, e in zip(row, at, strict=True) if p == piece)
            is_long = len(row) >= long
            more = (1, edge, is_long, edge and is_long)
            counts = [n + yes for n, yes in zip(counts, more, strict=True)]
    return counts


def mixed_slot(key: int, bits: int) -> int:
    """The place of a key in a table of 2**bits."""
    return (key * 0x9E3779B97F4A7C15 % 2**64) >> (64 - bits)


def hash_row(data: bytes, seed: int) -> int:
    """kernels.store.hash_rows of one row."""

    def stirred(h: int, x: int) -> int:
        h = (h ^ x) * 0xFF51AFD7ED558CCD % 2**64
        return h ^ h >> 32

    h, whole = seed ^ 0x9E3779B97F4A7C15, len(data) // 8 * 8
    for i in range(0, whole, 8):
        h = stirred(h, int.from_bytes(data[i : i + 8], "little"))
    return stirred(stirred(h, int.from_bytes(data[whole:], "big")), len(data))


# ---- kernels.leaders and kernels.lookup -----------------------------------------------------------------


def pairs_in_order(
    groups: list[list[int]], date: list[int | None], window: int, past: int, near: int, anchors: int
) -> set[tuple[int, int]]:
    """(earlier, later) in each group: up to `near` all; then the first and the last `anchors` before. Within a window
    the last `near` before that lie in it."""
    found = set()
    for group in groups:
        for i, row in enumerate(group):
            before = group[:i]
            if window:
                close = [x for x in before if None in (date[x], date[row]) or abs(date[x] - date[row]) <= window]
                before = close[-near:]
            elif i >= near:
                before = before[:anchors] + before[-anchors:]
            found |= {(x, row) for x in before if row >= past}
    return found


def has_longest(sentences: list[list[int]], pieces: list[list[int]], a: int, b: int) -> bool:
    return any(s and s in pieces[y] for x, y in ((a, b), (b, a)) for s in sentences[x])


def follow(
    rows: int,
    keeper: list[int],
    edges: dict[tuple[int, int], tuple[str, float]],
    score: Callable[[int, int], tuple[str, float]],
    family: int,
    form: float,
) -> list[int]:
    """The keeper of each row: rows come one by one; `edges` are (verdict, score) by (earlier, later)."""
    keeper = list(keeper)
    loose: list[tuple[int, int, bool]] = []
    for row in range(len(keeper), rows):
        mine = {a: found for (a, b), found in edges.items() if b == row}
        loose += [(a, row, verdict == "same") for a, (verdict, _) in mine.items() if verdict]
        around = components(rows, [(a, b) for a, b, _ in loose])
        inside = [same for a, _, same in loose if around[a] == around[row]]
        is_family = around.count(around[row]) >= family and 2 * sum(inside) < len(inside)

        def merges(verdict: str, value: float, held: bool = is_family) -> bool:
            return verdict == "same" and not (held and value < form)

        wanted = {keeper[a] for a, found in mine.items() if merges(*found) and keeper[a] >= 0}
        kept_apart = {keeper[a] for a, (verdict, _) in mine.items() if verdict == "apart"}
        found = {a: mine[a] if a in mine else score(a, row) for a in wanted}
        able = [(-value, a) for a, (verdict, value) in found.items() if merges(verdict, value) and a not in kept_apart]
        keeper.append(min(able)[1] if able else row)
    return keeper


def rows_with_any(rows: list[list[int]], values: set[int]) -> list[bool]:
    return [any(value and value in values for value in row) for row in rows]


def rows_near_any(stored: list[int], fingerprints: list[int], k: int) -> list[bool]:
    return [any(distance(x, y) <= k for y in fingerprints) for x in stored]


# ---- the published recipes -------------------------------------------------------------------------------


def classic_text(text: str) -> str:
    text = re.sub("<.*?>", "", text)
    text = re.sub("[【】《》『』「」#@\n\r\t]", "", text)
    return re.sub(r"\s+", "", text)


def classic_simhash(texts: Sequence[str], k: int = 4) -> list[int]:
    """For each row the kept row that it is a copy of, itself if it is kept: the first hit among those before."""
    prints = [naive_words.classic(classic_text(text))[0] for text in texts]
    kept: list[int] = []
    result = []
    for row, fingerprint in enumerate(prints):
        hit = next((other for other in kept if distance(prints[other], fingerprint) <= k), row)
        if hit == row:
            kept.append(row)
        result.append(hit)
    return result


def nshash(texts: Sequence[str], ends: str = ":：；？。！】\n") -> list[int]:
    """The similar_id of each row, as version 0.7 gives it."""
    store: dict[str, int] = {}
    following = 1
    result = []
    for text in texts:
        sentences = re.split(f"[{ends}]", text)
        long = [s for s in sentences if len(s) > 30] or sentences
        hashes = [hashlib.md5(s.encode()).hexdigest() for s in sorted(long, key=lambda s: -len(s))[:5]]
        known = [store[h] for h in hashes if h in store]
        similar = min(known) if known else following
        following += not known
        for h in hashes:
            store[h] = similar
        result.append(similar)
    return result


def partition(labels: Iterable) -> set[frozenset[int]]:
    """The groups of positions that have one label."""
    groups = defaultdict(set)
    for i, label in enumerate(labels):
        groups[label].add(i)
    return {frozenset(group) for group in groups.values()}
