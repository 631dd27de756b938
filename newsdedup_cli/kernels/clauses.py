"""Clauses of two texts that differ only in their figures, or in opposite words.

Texts come as the codes of `text.significant_codes`: code points u4[M] with 0 where a clause ends, offsets
i8[N+1].
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

_P1 = np.uint64(0x9E3779B97F4A7C15)
_P3 = np.uint64(0xFF51AFD7ED558CCD)
_P4 = np.uint64(0xC4CEB9FE1A85EC53)
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
def _names_a_day(codes, begin, end, after, units):
    """Whether the figure codes[begin:end] is a day as in 8.31案 (month, full stop, day of two digits) and no measure:
    what follows is a letter and no unit."""
    dot = end - 3
    if not (begin < dot <= begin + 2 and codes[dot] == 46) or after < 0x3400 or _member(after, units):
        return False
    month, day = 0, 0
    for i in range(begin, end):
        c = np.int64(codes[i])
        if i != dot and not 48 <= c <= 57:
            return False
        if i < dot:
            month = 10 * month + c - 48
        elif i > dot:
            day = 10 * day + c - 48
    return 1 <= month <= 12 and 1 <= day <= 31


@kernel()
def _figure(codes, begin, end, numerals, value, is_day):
    """Mix the figure codes[begin:end] into a hash, the same for 七 and 7, 05 and 5, and as a day for 8.31 and 831."""
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
        if not zero and not (is_day and c == 46):
            value = _mix((value ^ np.uint64(c)) * _P3)
            fresh = not digit and c != 46
    return value


@kernel()
def kinds_of(numerals, opposites, negations):
    """Whether each code point may begin what is no plain letter (a clause's end, a figure, an opposite word, a numeral
    or a negation): bool[65536], the last one for all beyond."""
    kinds = np.zeros(65536, np.bool_)
    kinds[0] = True
    for c in range(128):
        kinds[c] |= _is_figure(c)
    for c in numerals:
        kinds[min(np.int64(c), 65535)] = True
    for c in negations:
        kinds[min(np.int64(c), 65535)] = True
    for pair in opposites:
        kinds[min(np.int64(pair >> _U32), 65535)] = True
    return kinds


@kernel()
def _clauses(codes, begin, end, kinds, numerals, units, opposites, classes, sides, negations, flash, least, out):
    """The clauses of a text into out u8[., 3]: hash of the form (figures masked), hash of the figures, opposite words
    and negations, and whether any of them is a Chinese numeral or a negation; how many clauses. The form of a clause
    with fewer than `least` letters is 0. `kinds` is of `kinds_of`."""
    n = 0
    negations = negations if end - begin <= flash else negations[:0]
    i = begin
    while i < end:
        form, value, weak = _P1, _P4, _U0
        letters = 0
        while i < end and codes[i] != 0:
            c = np.int64(codes[i])
            if not kinds[min(c, 65535)]:
                form = _mix((form ^ np.uint64(c)) * _P3)
                letters += 1
                i += 1
                continue
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
                after = np.int64(codes[stop]) if stop < end else 0
                is_day = _names_a_day(codes, i, stop, after, units)
                value = _figure(codes, i, stop, numerals, _mix((value ^ _DIGIT) * _P1), is_day)
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
def _beside(forms, at, first, last):
    """The form at a place of a text's clauses first..last-1; outside of them a mark."""
    return forms[at] if first <= at < last else _P3


@kernel()
def _accounted(value, values, order, begin, end):
    """Whether one of the clauses order[begin:end] has the same figures."""
    for k in range(begin, end):
        if values[order[k]] == value:
            return True
    return False


@kernel()
def _substituted(forms, values, weak, order, i, last_i, j, last_j):
    """In how many clauses of one form, beside a clause of one form, the texts i..last_i-1 and j..last_j-1 differ in
    digits or opposite words, and in how many where a Chinese numeral or a negation is involved; and how many clauses
    were changed at all: those that only the left or only the right has, whichever are fewer."""
    first_i, first_j = i, j
    strong, involved = 0, 0
    only_left, only_right = 0, 0
    while i < last_i or j < last_j:
        if j == last_j or (i < last_i and forms[order[i]] < forms[order[j]]):
            only_left += forms[order[i]] != _U0
            i += 1
            continue
        form = forms[order[j]]
        if i == last_i or forms[order[i]] > form or form == _U0:
            only_right += form != _U0
            j += 1
            continue
        stop_i, stop_j = i + 1, j + 1
        while stop_i < last_i and forms[order[stop_i]] == form:
            stop_i += 1
        while stop_j < last_j and forms[order[stop_j]] == form:
            stop_j += 1
        for k in range(j, stop_j):
            only_right += not _accounted(values[order[k]], values, order, i, stop_i)
        # Clauses whose figures the other text has in a clause of this form are accounted for.
        for k in range(i, stop_i):
            x = order[k]
            if _accounted(values[x], values, order, j, stop_j):
                continue
            only_left += 1
            before = _beside(forms, x - 1, first_i, last_i)
            after = _beside(forms, x + 1, first_i, last_i)
            # Of several clauses that it may stand for any strong one counts: the order of rows must not matter.
            is_strong, is_weak = False, False
            for m in range(j, stop_j):
                y = order[m]
                if _accounted(values[y], values, order, i, stop_i):
                    continue
                if (before != _U0 and before == _beside(forms, y - 1, first_j, last_j)) or (
                    after != _U0 and after == _beside(forms, y + 1, first_j, last_j)
                ):
                    is_weak |= weak[x] | weak[y] != _U0
                    is_strong |= weak[x] | weak[y] == _U0
            strong += is_strong
            involved += is_weak and not is_strong
        i, j = stop_i, stop_j
    return strong, involved, min(only_left, only_right)


@kernel()
def substitutions(codes, offsets, a, b, numerals, units, opposites, classes, sides, negations, flash, least):
    """In how many clauses that are otherwise equal the two texts differ in a figure or an opposite word: i4[P,3],
    by digits or opposite words, and where a Chinese numeral or a negation is involved; and how many clauses were
    changed in any way. 七 and 7 do not differ.

    Parameters: numerals, units and negations u4[K] (sorted code points; a figure before a unit is no day),
    opposites u8[K] (sorted; two code points each, the second 0 for one) with classes i8[K] (which pair of
    opposites) and sides i8[K] (which of the two), `flash`, the longest text whose negations are looked at, and
    the `least` letters besides figures for a clause to count. A clause that only one text has does not count.
    """
    rows = offsets.shape[0] - 1
    asked = np.zeros(rows, np.bool_)
    for p in range(a.shape[0]):
        asked[a[p]] = True
        asked[b[p]] = True
    room, longest = 1, 1
    for row in range(rows):
        if asked[row]:
            clauses = 1
            for i in range(offsets[row], offsets[row + 1]):
                clauses += codes[i] == 0
            room += clauses + 1
            longest = max(longest, clauses + 1)
    forms, values, weak = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint64)
    order = np.empty(room, np.int64)
    starts = np.zeros(rows + 1, np.int64)
    one = np.empty((longest, 3), np.uint64)
    kinds = kinds_of(numerals, opposites, negations)
    n = 0
    for row in range(rows):
        starts[row] = n
        if asked[row]:
            begin, end = offsets[row], offsets[row + 1]
            m = _clauses(
                codes, begin, end, kinds, numerals, units, opposites, classes, sides, negations, flash, least, one
            )
            order[n : n + m] = np.argsort(one[:m, 0]) + n
            for k in range(m):
                forms[n + k], values[n + k], weak[n + k] = one[k, 0], one[k, 1], one[k, 2]
            n += m
    starts[rows] = n
    out = np.zeros((a.shape[0], 3), np.int32)
    for p in range(a.shape[0]):
        x, y = a[p], b[p]
        out[p] = _substituted(forms, values, weak, order, starts[x], starts[x + 1], starts[y], starts[y + 1])
    return out
