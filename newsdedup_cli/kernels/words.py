"""Words exactly as jieba 0.42 cuts them, straight over Arrow's UTF-8 buffers.

A *block* is a run of U+4E00..9FD5 and `[a-zA-Z0-9+#&._%-]`; its characters have ids: ASCII the byte, Han
128 to 21077 in order of frequency (`han` u2[20950], from U+4E00 on). Outside a block each character is a
word, and CR LF is one. Words cover the text without gaps, so their ends suffice. A word's *slot* is its place
in the trie (single block characters: slot = id), or len(trie) + code for another BMP character,
len(trie) + 0x10000 for CR LF, -1 for a word of no slot.

The trie is a double array, u8[S], one number a node: base << 39 | id << 24 | force << 23 | frequency index.
A child by character c lies at base + c and carries c; bases are unique, so that no parent need be stored.
Base 0: no children. Frequency index 0: no word. `force`: HMM words that a user dictionary wants split.
logs f8[]: log(frequency) - log(total) by frequency index; logs[0] is -inf, the last is that of frequency 1.
hmm f8[128 + 20950, 4]: emission logs (B, M, E, S) by id; row 0 holds the start, rows 1-4 (B, M, E, S) the
transitions, as ASCII never comes to the HMM.

Ties are Python's max() of (value, position) and (value, state name): `>=` in ascending order.
"""

from __future__ import annotations

import numpy as np
from numba import types

from newsdedup_cli.kernels.jit import kernel

__all__ = ["HAN", "LETTERS", "word_ends"]

U = np.uint64
BASE_SHIFT = U(39)
ID_SHIFT = U(24)
ID_MASK = 0x7FFF
FORCE = U(1 << 23)
FREQ_MASK = U((1 << 23) - 1)
OTHER = 1  # the id of all characters outside blocks; no node of the trie carries it
NO_WORD = -np.inf
HAN = 128  # the first id of a Han character
LETTERS = HAN + 0x9FD5 - 0x4E00 + 1  # number of ids; slots below are single characters

# Inlined by LLVM: to pass ten arrays costs more than most of these functions do.
_inner = kernel(no_cpython_wrapper=True, forceinline=True)

# ASCII by kind: 0 outside blocks, 1 of a block, 2 letter, 3 digit.
_KIND = np.zeros(256, np.uint8)
_KIND[[ord(c) for c in "+#&._%-"]] = 1
_KIND[[*range(65, 91), *range(97, 123)]] = 2
_KIND[48:58] = 3


@_inner
def _decode(data, first, last, trie, han, ids, ends, slot):
    """Bytes first..last -> the ids of the characters, and their number.

    OTHER outside blocks, with the slot in `slot`; CR LF is one character; an OTHER closes the row.
    `ends` gets the byte after each character.
    """
    n = 0
    i = first
    while i < last:
        lead = np.int64(data[i])
        c = OTHER
        if lead >= 0xE0 and lead < 0xF0 and i + 3 <= last:
            code = (lead & 15) << 12 | (np.int64(data[i + 1]) & 63) << 6 | (np.int64(data[i + 2]) & 63)
            i += 3
            if code >= 0x4E00 and code <= 0x9FD5:
                c = np.int64(han[code - 0x4E00])
            else:
                slot[n] = len(trie) + code
        elif lead < 128:
            i += 1
            if _KIND[lead] != 0:
                c = lead
            else:
                slot[n] = len(trie) + lead
                if lead == 13 and i < last and data[i] == 10:
                    slot[n] = len(trie) + 0x10000
                    i += 1
        elif lead < 0xE0 and i + 2 <= last:
            slot[n] = len(trie) + ((lead & 31) << 6 | (np.int64(data[i + 1]) & 63))
            i += 2
        else:
            slot[n] = -1
            i = min(i + 4, last)
        ids[n] = c
        ends[n] = i
        n += 1
    ids[n] = OTHER
    return n


@_inner
def _route(ids, n, trie, logs, score, step, slot):
    """jieba's calc() in all blocks: the best word from each character on, its end in `step`, and its slot."""
    after = 0.0
    for i in range(n - 1, -1, -1):
        c = np.int64(ids[i])
        score[i + 1] = after
        if c == OTHER:
            after = 0.0
            step[i] = i + 1
            continue
        at = c
        node = trie[at]
        best = logs[np.int64(node & FREQ_MASK)] + after
        end = i + 1
        j = end
        base = np.int64(node >> BASE_SHIFT)
        found = at
        while True:
            c = np.int64(ids[j])
            node = trie[base + c]
            if (np.int64(node >> ID_SHIFT) & ID_MASK != c) | (base == 0):
                break
            j += 1
            value = logs[np.int64(node & FREQ_MASK)] + score[j]
            if value >= best:
                best = value
                end = j
                found = base + c
            base = np.int64(node >> BASE_SHIFT)
        if best == NO_WORD:
            # No word begins here: the character alone, with frequency 1.
            best = logs[len(logs) - 1] + after
            end = i + 1
            found = at
        after = best
        step[i] = end
        slot[i] = found


@_inner
def _find(ids, first, last, trie):
    """The slot of the characters first..last, -1 if the trie has no such node."""
    at = np.int64(ids[first])
    for j in range(first + 1, last):
        base = np.int64(trie[at] >> BASE_SHIFT)
        c = np.int64(ids[j])
        at = base + c
        if base == 0 or np.int64(trie[at] >> ID_SHIFT) & ID_MASK != c:
            return -1
    return at


@_inner
def _viterbi(ids, first, last, hmm, path):
    """finalseg's viterbi(): states B 0, M 1, E 2, S 3 of the Han characters first..last into path."""
    bm, be = hmm[1, 1], hmm[1, 2]
    mm, me = hmm[2, 1], hmm[2, 2]
    eb, es = hmm[3, 0], hmm[3, 3]
    sb, ss = hmm[4, 0], hmm[4, 3]
    c = np.int64(ids[first])
    b = hmm[0, 0] + hmm[c, 0]
    m = hmm[0, 1] + hmm[c, 1]
    e = hmm[0, 2] + hmm[c, 2]
    s = hmm[0, 3] + hmm[c, 3]
    for t in range(first + 1, last):
        c = np.int64(ids[t])
        b0, b1 = e + eb + hmm[c, 0], s + sb + hmm[c, 0]
        m0, m1 = b + bm + hmm[c, 1], m + mm + hmm[c, 1]
        e0, e1 = b + be + hmm[c, 2], m + me + hmm[c, 2]
        s0, s1 = e + es + hmm[c, 3], s + ss + hmm[c, 3]
        path[t] = np.int64(b1 >= b0) | np.int64(m1 >= m0) << 1 | np.int64(e1 >= e0) << 2 | np.int64(s1 >= s0) << 3
        b = b1 if b1 >= b0 else b0
        m = m1 if m1 >= m0 else m0
        e = e1 if e1 >= e0 else e0
        s = s1 if s1 >= s0 else s0
    state = 3 if s >= e else 2
    for t in range(last - 1, first, -1):
        second = np.int64(path[t]) >> state & 1
        path[t] = state
        # B and S come from E or S, M and E from B or M.
        state = 2 + second if state == 0 or state == 3 else second
    path[first] = state


@_inner
def _emit(ids, ends, first, last, trie, out_end, out_slot, count):
    """Characters first..last as one word."""
    out_end[count] = ends[last - 1]
    out_slot[count] = _find(ids, first, last, trie)
    return count + 1


@_inner
def _singles(ids, ends, first, last, out_end, out_slot, count):
    """Characters first..last, each a word."""
    for t in range(first, last):
        out_end[count] = ends[t]
        out_slot[count] = ids[t]
        count += 1
    return count


@_inner
def _cut_han(ids, ends, first, last, trie, hmm, path, out_end, out_slot, count):
    """finalseg's __cut() and its forced splits."""
    _viterbi(ids, first, last, hmm, path)
    begin = first
    done = first
    for t in range(first, last):
        state = path[t]
        if state == 0:
            begin = t
        elif state >= 2:
            if state == 3:
                begin = t
            at = _find(ids, begin, t + 1, trie)
            if at >= 0 and trie[at] & FORCE != U(0):
                count = _singles(ids, ends, begin, t + 1, out_end, out_slot, count)
            else:
                out_end[count] = ends[t]
                out_slot[count] = at
                count += 1
            done = t + 1
    if done < last:
        count = _emit(ids, ends, done, last, trie, out_end, out_slot, count)
    return count


@_inner
def _cut_ascii(ids, ends, first, last, trie, out_end, out_slot, count):
    r"""finalseg's re_skip: `[a-zA-Z0-9]+(?:\.\d+)?%?` and what lies between."""
    p = first
    while p < last:
        q = p
        if _KIND[ids[p]] >= 2:
            while q < last and _KIND[ids[q]] >= 2:
                q += 1
            if q + 1 < last and ids[q] == 46 and _KIND[ids[q + 1]] == 3:
                q += 2
                while q < last and _KIND[ids[q]] == 3:
                    q += 1
            if q < last and ids[q] == 37:
                q += 1
        else:
            while q < last and _KIND[ids[q]] < 2:
                q += 1
        count = _emit(ids, ends, p, q, trie, out_end, out_slot, count)
        p = q
    return count


@_inner
def _flush(ids, ends, first, last, trie, hmm, path, out_end, out_slot, count):
    """A run of single characters: as it is if it is a word of the dictionary, else through the HMM."""
    if last - first == 1:
        return _singles(ids, ends, first, last, out_end, out_slot, count)
    at = _find(ids, first, last, trie)
    if at >= 0 and trie[at] & FREQ_MASK != U(0):
        return _singles(ids, ends, first, last, out_end, out_slot, count)
    p = first
    while p < last:
        q = p
        if ids[p] >= HAN:
            while q < last and ids[q] >= HAN:
                q += 1
            count = _cut_han(ids, ends, p, q, trie, hmm, path, out_end, out_slot, count)
        else:
            while q < last and ids[q] < HAN:
                q += 1
            count = _cut_ascii(ids, ends, p, q, trie, out_end, out_slot, count)
        p = q
    return count


@_inner
def _walk_hmm(ids, ends, n, step, slot, trie, hmm, path, out_end, out_slot, count):
    """jieba's __cut_DAG() after calc()."""
    x = 0
    pending = 0
    while x < n:
        y = np.int64(step[x])
        if y - x > 1 or ids[x] == OTHER:
            if pending + 1 == x:
                out_end[count] = ends[pending]
                out_slot[count] = ids[pending]
                count += 1
            elif pending < x:
                count = _flush(ids, ends, pending, x, trie, hmm, path, out_end, out_slot, count)
            out_end[count] = ends[y - 1]
            out_slot[count] = slot[x]
            count += 1
            pending = y
        x = y
    if pending < n:
        count = _flush(ids, ends, pending, n, trie, hmm, path, out_end, out_slot, count)
    return count


@_inner
def _walk_plain(ids, ends, n, step, slot, trie, out_end, out_slot, count):
    """jieba's __cut_DAG_NO_HMM() after calc(): runs of single letters and digits are one word."""
    x = 0
    pending = 0
    while x < n:
        y = np.int64(step[x])
        if y - x > 1 or ids[x] >= HAN or _KIND[ids[x]] < 2:
            if pending < x:
                count = _emit(ids, ends, pending, x, trie, out_end, out_slot, count)
            out_end[count] = ends[y - 1]
            out_slot[count] = slot[x]
            count += 1
            pending = y
        x = y
    if pending < n:
        count = _emit(ids, ends, pending, n, trie, out_end, out_slot, count)
    return count


@_inner
def _longest(offsets):
    most = 0
    for row in range(len(offsets) - 1):
        most = max(most, offsets[row + 1] - offsets[row])
    return most


_BYTES = types.Array(types.uint8, 1, "C", readonly=True)
_INTS = types.Array(types.int64, 1, "C", readonly=True)
_IDS = types.Array(types.uint16, 1, "C", readonly=True)
_WORDS = types.Array(types.uint64, 1, "C", readonly=True)
_FLOATS = types.Array(types.float64, 1, "C", readonly=True)
_TABLE = types.Array(types.float64, 2, "C", readonly=True)


_RESULT = types.Tuple((types.int64[::1], types.int32[::1], types.int64[::1]))


@kernel(_RESULT(_BYTES, _INTS, types.boolean, _IDS, _WORDS, _FLOATS, _TABLE))
def word_ends(data, offsets, use_hmm, han, trie, logs, hmm):
    """The words of every row.

    data u1[B], offsets i8[N+1]: a large_string's buffers. use_hmm: as jieba's HMM. The others: see above.
    Returns the byte in `data` after each word, i8[W], its slot, i4[W], and where each row's words begin,
    i8[N+1].
    """
    rows = len(offsets) - 1
    size = _longest(offsets) + 1
    ids = np.empty(size, np.int32)
    ends = np.empty(size, np.int64)
    score = np.empty(size, np.float64)
    step = np.empty(size, np.int32)
    slot = np.empty(size, np.int32)
    path = np.empty(size, np.uint8)
    out_end = np.empty(offsets[rows] - offsets[0], np.int64)
    out_slot = np.empty(offsets[rows] - offsets[0], np.int32)
    starts = np.zeros(rows + 1, np.int64)
    count = 0
    for row in range(rows):
        n = _decode(data, offsets[row], offsets[row + 1], trie, han, ids, ends, slot)
        _route(ids, n, trie, logs, score, step, slot)
        if use_hmm:
            count = _walk_hmm(ids, ends, n, step, slot, trie, hmm, path, out_end, out_slot, count)
        else:
            count = _walk_plain(ids, ends, n, step, slot, trie, out_end, out_slot, count)
        starts[row + 1] = count
    return out_end[:count], out_slot[:count], starts
