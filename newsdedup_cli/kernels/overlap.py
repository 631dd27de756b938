"""Two texts compared exactly: shared shingles, longest common subsequence, whether they begin and end alike.

Texts come as the codes of `text.significant_codes`: code points u4[M] with 0 where a clause ends, offsets
i8[N+1]. Nothing is kept between pairs but tables that are cleared by a stamp.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

SHINGLE = 5

_P1 = np.uint64(0x9E3779B97F4A7C15)
_P3 = np.uint64(0xFF51AFD7ED558CCD)
_P4 = np.uint64(0xC4CEB9FE1A85EC53)
_BASE = np.uint64(0x5851F42D4C957F2D)
_U0 = np.uint64(0)
_U1 = np.uint64(1)
_U32 = np.uint64(32)
_U33 = np.uint64(33)


@kernel()
def _mix(x):
    """Murmur3's finaliser."""
    x ^= x >> _U33
    x *= _P3
    x ^= x >> _U33
    x *= _P4
    return x ^ (x >> _U33)


@kernel()
def shingle_hashes(codes, begin, end, out):
    """Hashes u4 of the shingles of codes[begin:end] (clause ends left out) into `out`; how many there are."""
    top = _U1
    for _ in range(SHINGLE + 1):
        top *= _BASE
    window = np.zeros(SHINGLE, np.uint64)
    rolling = _U0
    count, slot, n = 0, 0, 0
    for i in range(begin, end):
        if codes[i] == 0:
            continue
        u = np.uint64(codes[i])
        rolling = (rolling + u) * _BASE - window[slot] * top
        window[slot] = u
        slot = slot + 1 if slot + 1 < SHINGLE else 0
        count += 1
        if count >= SHINGLE:
            out[n] = np.uint32(_mix(rolling) >> _U32)
            n += 1
    return n


@kernel()
def _insert(table, stamp, value):
    """Put a 32-bit value into a table u8[2^p] of (stamp, value) entries; whether it is new."""
    mask = np.uint64(table.shape[0] - 1)
    entry = (stamp << _U32) | np.uint64(value)
    slot = (np.uint64(value) * _P1 >> _U32) & mask
    while table[slot] >> _U32 == stamp:
        if table[slot] == entry:
            return False
        slot = (slot + _U1) & mask
    table[slot] = entry
    return True


@kernel()
def _holds(table, stamp, value):
    """Whether the table holds the value under this stamp."""
    mask = np.uint64(table.shape[0] - 1)
    entry = (stamp << _U32) | np.uint64(value)
    slot = (np.uint64(value) * _P1 >> _U32) & mask
    while table[slot] >> _U32 == stamp:
        if table[slot] == entry:
            return True
        slot = (slot + _U1) & mask
    return False


@kernel()
def _table_size(codes_offsets, rows):
    """The least power of two that holds the shingles of the longest of the rows at half load."""
    longest = 8
    for i in range(rows.shape[0]):
        longest = max(longest, codes_offsets[rows[i] + 1] - codes_offsets[rows[i]])
    size = 16
    while size < 2 * longest:
        size *= 2
    return size, longest


@kernel()
def shingle_overlap(codes, offsets, a, b):
    """Distinct shingles of each side and in common: i4[P,3] for the pairs a i8[P], b i8[P].

    Jaccard is common / (left + right - common), containment common / min(left, right).
    """
    size_a, longest_a = _table_size(offsets, a)
    size_b, longest_b = _table_size(offsets, b)
    left = np.zeros(size_a, np.uint64)
    right = np.zeros(size_b, np.uint64)
    hashes = np.empty(max(longest_a, longest_b), np.uint32)
    out = np.zeros((a.shape[0], 3), np.int32)
    stamp_left, stamp_right = _U0, _U0
    before = -1
    for p in range(a.shape[0]):
        if a[p] != before:
            # Pairs come sorted by their first row: its table serves all of them.
            before = a[p]
            stamp_left += _U1
            distinct = 0
            for i in range(shingle_hashes(codes, offsets[before], offsets[before + 1], hashes)):
                distinct += _insert(left, stamp_left, hashes[i])
        stamp_right += _U1
        out[p, 0] = distinct
        for i in range(shingle_hashes(codes, offsets[b[p]], offsets[b[p] + 1], hashes)):
            if _insert(right, stamp_right, hashes[i]):
                out[p, 1] += 1
                out[p, 2] += _holds(left, stamp_left, hashes[i])
    return out


@kernel()
def _covered_length(hashes, n, table, stamp, gap):
    """Of n + SHINGLE - 1 characters with the shingles hashes[:n] how many stand in shingles that the table holds.

    What lies between two such shingles, at most `gap` characters, counts too.
    """
    total, last = 0, -1
    for i in range(n):
        if _holds(table, stamp, hashes[i]):
            total += i + SHINGLE - last if last >= 0 and i - last <= gap else SHINGLE
            last = i + SHINGLE
    return total


@kernel()
def covered(codes, offsets, a, b, gap):
    """How many significant characters of each text stand in the other too, in any order: i4[P,2], of a and of b.

    Shared are the characters of shared shingles and those between two of them, at most `gap`: a few changed
    characters leave a sentence shared, another sentence does not count.
    """
    size_a, longest_a = _table_size(offsets, a)
    size_b, longest_b = _table_size(offsets, b)
    left, right = np.zeros(size_a, np.uint64), np.zeros(size_b, np.uint64)
    hashes_a, hashes_b = np.empty(longest_a, np.uint32), np.empty(longest_b, np.uint32)
    out = np.zeros((a.shape[0], 2), np.int32)
    stamp = _U0
    for p in range(a.shape[0]):
        stamp += _U1
        n = shingle_hashes(codes, offsets[a[p]], offsets[a[p] + 1], hashes_a)
        m = shingle_hashes(codes, offsets[b[p]], offsets[b[p] + 1], hashes_b)
        for i in range(n):
            _insert(left, stamp, hashes_a[i])
        for i in range(m):
            _insert(right, stamp, hashes_b[i])
        out[p, 0] = _covered_length(hashes_a, n, right, stamp, gap)
        out[p, 1] = _covered_length(hashes_b, m, left, stamp, gap)
    return out


@kernel()
def common_subsequence(codes, offsets, a, b):
    """Length of the longest common subsequence of significant characters: i4[P].

    Bit-parallel (Hyyroe 2004): 64 characters of one side at a time. 2 x LCS / (lengths) is the measure of an
    edit script without replacements, as difflib's ratio estimates it.
    """
    out = np.zeros(a.shape[0], np.int32)
    size, longest = _table_size(offsets, a)
    table = np.zeros(size, np.uint64)  # (code + 1) << 32 | index of its row of masks, stamped by clearing
    used = np.empty(longest, np.int64)
    words = longest // 64 + 1
    masks = np.zeros((longest, words), np.uint64)
    state = np.empty(words, np.uint64)
    mask = np.uint64(size - 1)
    for p in range(a.shape[0]):
        distinct, length = 0, 0
        for i in range(offsets[a[p]], offsets[a[p] + 1]):
            if codes[i] == 0:
                continue
            key = np.uint64(codes[i])
            slot = (key * _P1 >> _U32) & mask
            while table[slot] != _U0 and table[slot] >> _U32 != key:
                slot = (slot + _U1) & mask
            if table[slot] == _U0:
                table[slot] = (key << _U32) | np.uint64(distinct)
                used[distinct] = np.int64(slot)
                distinct += 1
            row = np.int64(table[slot] & np.uint64(0xFFFFFFFF))
            masks[row, length >> 6] |= _U1 << np.uint64(length & 63)
            length += 1
        n = (length + 63) >> 6
        for w in range(n):
            state[w] = ~_U0
        for i in range(offsets[b[p]], offsets[b[p] + 1]):
            if codes[i] == 0:
                continue
            key = np.uint64(codes[i])
            slot = (key * _P1 >> _U32) & mask
            while table[slot] != _U0 and table[slot] >> _U32 != key:
                slot = (slot + _U1) & mask
            if table[slot] == _U0:
                continue
            row = np.int64(table[slot] & np.uint64(0xFFFFFFFF))
            carry = _U0
            for w in range(n):
                v = state[w]
                u = v & masks[row, w]
                total = v + u
                over = _U1 if total < v else _U0
                total += carry
                if total < carry:
                    over = _U1
                carry = over
                state[w] = total | (v - u)
        common = 0
        for i in range(length):
            common += (state[i >> 6] >> np.uint64(i & 63)) & _U1 == _U0
        out[p] = common
        for d in range(distinct):
            table[used[d]] = _U0
            for w in range(n):
                masks[d, w] = _U0
    return out


@kernel()
def _compact(codes, begin, end, step, most, out):
    """At most `most` significant codes from begin on (step 1), or from the end back (step -1); how many."""
    n = 0
    i = begin if step > 0 else end - 1
    while begin <= i < end and n < most:
        if codes[i] != 0:
            out[n] = codes[i]
            n += 1
        i += step
    return n


@kernel()
def _share_found(short, n, long, m):
    """Of the shingles of short[:n], the share that long[:m] has."""
    found, total = 0, 0
    for i in range(n - SHINGLE + 1):
        total += 1
        for j in range(m - SHINGLE + 1):
            k = 0
            while k < SHINGLE and short[i + k] == long[j + k]:
                k += 1
            if k == SHINGLE:
                found += 1
                break
    return found / total if total else 0.0


@kernel()
def shared_ends(codes, offsets, a, b, edge, reach):
    """Whether two texts begin alike (1) and end alike (2), as bits: u1[P].

    Of the shingles of the first `edge` characters of either text, the other has half in its first `reach`.
    """
    out = np.zeros(a.shape[0], np.uint8)
    near_a, near_b = np.empty(reach, codes.dtype), np.empty(reach, codes.dtype)
    for p in range(a.shape[0]):
        for side in range(2):
            step = 1 - 2 * side
            n = _compact(codes, offsets[a[p]], offsets[a[p] + 1], step, reach, near_a)
            m = _compact(codes, offsets[b[p]], offsets[b[p] + 1], step, reach, near_b)
            share = max(_share_found(near_a, min(n, edge), near_b, m), _share_found(near_b, min(m, edge), near_a, n))
            if share >= 0.5:
                out[p] |= np.uint8(1 << side)
    return out


@kernel()
def shared_sentences(sentences, a, b):
    """How many of the longest sentences u8[N,S] two rows share: u1[P]. 0 stands for no sentence."""
    out = np.zeros(a.shape[0], np.uint8)
    for p in range(a.shape[0]):
        for i in range(sentences.shape[1]):
            value = sentences[a[p], i]
            if value != _U0:
                for j in range(sentences.shape[1]):
                    if sentences[b[p], j] == value:
                        out[p] += 1
                        break
    return out
