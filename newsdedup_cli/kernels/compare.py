"""Two texts compared exactly: shingles, longest common subsequence, clauses that differ only in figures.

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
_DIGIT = np.uint64(35)


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
def _is_figure(c):
    """Whether the character belongs to a figure: a digit or what stands inside numbers."""
    return 48 <= c <= 57 or c == 46 or c == 58 or c == 47 or c == 45 or c == 126 or c == 43 or c == 37


@kernel()
def _member(c, members):
    """Whether the character is among the sorted code points."""
    k = np.searchsorted(members, c)
    return k < members.shape[0] and members[k] == c


@kernel()
def _opposite(codes, i, end, opposites):
    """The index of the opposite word of one or two characters at i, or -1; `opposites` u8[K] is sorted."""
    following = np.uint64(codes[i + 1]) if i + 1 < end else _U0
    pair = (np.uint64(codes[i]) << _U32) | following
    k = np.searchsorted(opposites, pair)
    if k < opposites.shape[0] and opposites[k] == pair:
        return k
    pair = np.uint64(codes[i]) << _U32
    k = np.searchsorted(opposites, pair)
    return k if k < opposites.shape[0] and opposites[k] == pair else -1


@kernel()
def _numeral_value(codes, begin, end):
    """The number that Chinese numerals spell, or -1 where it is too large: 二十五, 一百零三, 百万."""
    total, section, number = 0, 0, 0
    units = False
    for i in range(begin, end):
        c = np.int64(codes[i])
        digit = -1
        if c == 0x3007 or c == 0x96F6:  # 〇零
            digit = 0
        elif c == 0x4E00:
            digit = 1
        elif c == 0x4E8C or c == 0x4E24:  # 二两
            digit = 2
        elif c == 0x4E09:
            digit = 3
        elif c == 0x56DB:
            digit = 4
        elif c == 0x4E94:
            digit = 5
        elif c == 0x516D:
            digit = 6
        elif c == 0x4E03:
            digit = 7
        elif c == 0x516B:
            digit = 8
        elif c == 0x4E5D:
            digit = 9
        if digit >= 0:
            number = digit if units else number * 10 + digit
            if number > 10**15:
                return -1
            continue
        units = True
        if c == 0x5341:  # 十
            section += max(number, 1) * 10
        elif c == 0x767E:
            section += max(number, 1) * 100
        elif c == 0x5343:
            section += max(number, 1) * 1000
        elif c == 0x4E07:
            total += max(section + number, 1) * 10**4
            section = 0
        elif c == 0x4EBF:
            total = max(total + section + number, 1) * 10**8
            section = 0
        else:
            return -1
        number = 0
        if total > 10**15:
            return -1
    return total + section + number


@kernel()
def _figure(codes, begin, end, numerals, value):
    """Mix the figure codes[begin:end] into a hash, the same for 七 and 7, 05 and 5."""
    chinese = 0
    for i in range(begin, end):
        chinese += _member(np.int64(codes[i]), numerals)
    number = _numeral_value(codes, begin, end) if chinese == end - begin else -1
    if number >= 0:
        power = 1
        while power * 10 <= number:
            power *= 10
        while power > 0:
            value = _mix((value ^ np.uint64(48 + number // power % 10)) * _P3)
            power //= 10
        return value
    fresh = True
    for i in range(begin, end):
        c = np.int64(codes[i])
        digit = 48 <= c <= 57
        # A leading zero says nothing, but for the one before a decimal point or alone.
        zero = fresh and c == 48 and i + 1 < end and 48 <= np.int64(codes[i + 1]) <= 57
        if not zero:
            value = _mix((value ^ np.uint64(c)) * _P3)
            fresh = not digit and c != 46
    return value


@kernel()
def _clauses(codes, begin, end, numerals, opposites, classes, sides, negations, flash, least, out):
    """The clauses of a text into out u8[., 3]: hash of the form (figures masked), hash of the figures, opposite words
    and negations, and whether any of them is a Chinese numeral or a negation; how many clauses. The form of a clause
    with fewer than `least` letters is 0."""
    n = 0
    negations = negations if end - begin <= flash else negations[:0]
    i = begin
    while i < end:
        form, value, weak = _P1, _P4, _U0
        letters = 0
        while i < end and codes[i] != 0:
            c = np.int64(codes[i])
            k = _opposite(codes, i, end, opposites)
            if k >= 0:
                form = _mix((form ^ np.uint64(1_000_000 + classes[k])) * _P3)
                value = _mix((value ^ np.uint64(2_000_000 + sides[k])) * _P1)
                wide = opposites[k] & np.uint64(0xFFFFFFFF) != _U0
                letters += 1 + wide
                i += 1 + wide
            elif _is_figure(c) or _member(c, numerals):
                stop = i
                while (
                    stop < end
                    and codes[stop] != 0
                    and (_is_figure(np.int64(codes[stop])) or _member(np.int64(codes[stop]), numerals))
                ):
                    if not _is_figure(np.int64(codes[stop])):
                        weak = _U1
                    elif stop > i and not _is_figure(np.int64(codes[stop - 1])):
                        break  # 一1988年: two figures, the first of them the number of a list
                    stop += 1
                form = _mix((form ^ _DIGIT) * _P3)
                value = _figure(codes, i, stop, numerals, _mix((value ^ _DIGIT) * _P1))
                i = stop
            elif _member(c, negations):
                # A negation is left out of the form, so that a clause and its denial have one form.
                value = _mix((value ^ np.uint64(3_000_000)) * _P1)
                weak = _U1
                i += 1
            else:
                form = _mix((form ^ np.uint64(c)) * _P3)
                letters += 1
                i += 1
        out[n, 0] = form if letters >= least else _U0
        out[n, 1] = value
        out[n, 2] = weak
        n += 1
        i += 1
    return n


@kernel()
def _beside(clauses, n, at, step):
    """The form of the clause before or after; at the text's end a mark."""
    return clauses[at + step, 0] if 0 <= at + step < n else _P3


@kernel()
def _substituted(left, n, right, m):
    """In how many clauses of one form, beside a clause of one form, the two texts differ in digits or opposite
    words, and in how many where a Chinese numeral or a negation is involved."""
    order_l = np.argsort(left[:n, 0])
    order_r = np.argsort(right[:m, 0])
    strong, weak = 0, 0
    i, j = 0, 0
    while i < n and j < m:
        form, other = left[order_l[i], 0], right[order_r[j], 0]
        if form < other or form == _U0:
            i += 1
        elif form > other:
            j += 1
        else:
            stop_i, stop_j = i, j
            while stop_i < n and left[order_l[stop_i], 0] == form:
                stop_i += 1
            while stop_j < m and right[order_r[stop_j], 0] == form:
                stop_j += 1
            # Clauses whose figures the other text has in a clause of this form are accounted for.
            for x in order_l[i:stop_i]:
                if not _accounted(left[x], right, order_r[j:stop_j]):
                    # Of several clauses that it may stand for any strong one counts: the order of rows must not matter.
                    is_strong, is_weak = False, False
                    for y in order_r[j:stop_j]:
                        if _accounted(right[y], left, order_l[i:stop_i]):
                            continue
                        before = _beside(left, n, x, -1)
                        after = _beside(left, n, x, 1)
                        if (before != _U0 and before == _beside(right, m, y, -1)) or (
                            after != _U0 and after == _beside(right, m, y, 1)
                        ):
                            involved = left[x, 2] | right[y, 2] != _U0
                            is_weak |= involved
                            is_strong |= not involved
                    strong += is_strong
                    weak += is_weak and not is_strong
            i, j = stop_i, stop_j
    return strong, weak


@kernel()
def _accounted(clause, others, among):
    """Whether one of the other clauses has the same figures."""
    for k in among:
        if others[k, 1] == clause[1]:
            return True
    return False


@kernel()
def substitutions(codes, offsets, a, b, numerals, opposites, classes, sides, negations, flash, least):
    """In how many clauses that are otherwise equal the two texts differ in a figure or an opposite word: i4[P,2],
    by digits or opposite words, and where a Chinese numeral or a negation is involved. 七 and 7 do not differ.

    Parameters: numerals and negations u4[K] (sorted code points), opposites u8[K] (sorted; two code points
    each, the second 0 for one) with classes i8[K] (which pair of opposites) and sides i8[K] (which of the
    two), `flash`, the longest text whose negations are looked at, and the `least` letters besides figures
    for a clause to count. A clause that only one text has does not count.
    """
    longest = 1
    for p in range(a.shape[0]):
        longest = max(longest, offsets[a[p] + 1] - offsets[a[p]], offsets[b[p] + 1] - offsets[b[p]])
    left = np.empty((longest + 1, 3), np.uint64)
    right = np.empty((longest + 1, 3), np.uint64)
    out = np.zeros((a.shape[0], 2), np.int32)
    before, n = -1, 0
    for p in range(a.shape[0]):
        if a[p] != before:
            before = a[p]
            begin, end = offsets[before], offsets[before + 1]
            n = _clauses(codes, begin, end, numerals, opposites, classes, sides, negations, flash, least, left)
        begin, end = offsets[b[p]], offsets[b[p] + 1]
        m = _clauses(codes, begin, end, numerals, opposites, classes, sides, negations, flash, least, right)
        out[p] = _substituted(left, n, right, m)
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
