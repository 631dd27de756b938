"""Which line steps may change a row: a look at the first and last lines for the words they need.

A flag is a necessary condition only; the step itself decides. Most rows have none, and are done.
"""

from __future__ import annotations

import numpy as np
from numba import types

from newsdedup_cli.kernels.jit import kernel

_U1 = types.Array(types.uint8, 1, "C", readonly=True)
_I8 = types.Array(types.int64, 1, "C", readonly=True)
_U8 = types.Array(types.uint64, 1, "C", readonly=True)
_OUT1 = types.Array(types.uint8, 1, "C")
_OUT8 = types.Array(types.int64, 1, "C")
_SLOTS = 4095
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel()
def look_up(key, keys, flags):
    """Flags of a cue key in the hash table `keys`, `flags` of 4096 slots; 0 if it is not there."""
    slot = np.int64((key * _MULTIPLIER) >> np.uint64(52))
    while keys[slot] != np.uint64(0):
        if keys[slot] == key:
            return flags[slot]
        slot = (slot + 1) & _SLOTS
    return 0


@kernel()
def _wide_key(data, at, end, count):
    """The bytes of `count` characters of three bytes at `at` as one number; 0 if there are fewer."""
    if at + 3 * count > end:
        return np.uint64(0)
    key = np.uint64(0)
    for k in range(3 * count):
        if k % 3 == 0 and not 0xE0 <= data[at + k] < 0xF0:
            return np.uint64(0)
        key = (key << np.uint64(8)) | np.uint64(data[at + k])
    return key


@kernel()
def _word_key(data, at, end):
    """The first eight letters, or fewer, of the Latin word at `at`."""
    key = np.uint64(0)
    for k in range(at, min(at + 8, end)):
        if not 97 <= data[k] <= 122:
            break
        key = (key << np.uint64(8)) | np.uint64(data[k])
    return key


@kernel()
def _first_letter(data, at, end, date_flags, page_flags):
    """8192 x position of the first letter of a line, marks skipped, with flags for digits before it."""
    flags = 0
    while at < end:
        byte = data[at]
        if 48 <= byte <= 57:
            flags |= (date_flags if end - at <= 180 else 0) | (page_flags if end - at <= 120 else 0)
            at += 1
        elif byte == 0xE2 or byte == 0xEF or (byte == 0xE3 and at + 1 < end and data[at + 1] == 0x80):
            at += 3
        elif byte == 0xC2:
            at += 2
        elif byte < 0x80 and not 97 <= byte <= 122:
            at += 1
        else:
            break
    return min(at, end) * 8192 + flags


@kernel()
def _start_flags(data, at, end, keys, flags, date_flags, page_flags):
    """Flags of what a line begins with."""
    packed = _first_letter(data, at, end, date_flags, page_flags)
    first, found = packed // 8192, packed % 8192
    if first >= end:
        return found
    if data[first] < 0x80:
        return found | look_up(_word_key(data, first, end), keys, flags)
    if end - at <= 120:
        found |= look_up(_wide_key(data, first, end, 1), keys, flags)
    return found | look_up(_wide_key(data, first, end, 2), keys, flags)


@kernel()
def _any_flags(data, at, end, keys, flags, firsts):
    """Flags of all that a line holds."""
    found, inside = 0, False
    while at < end:
        byte = data[at]
        if byte >= 0xE0:
            if byte < 0xF0 and at + 6 <= end:
                point = ((np.int64(byte) & 15) << 12) | ((np.int64(data[at + 1]) & 63) << 6)
                if firsts[point | (np.int64(data[at + 2]) & 63)]:
                    key = _wide_key(data, at, end, 2)
                    if key != np.uint64(0):
                        found |= look_up(key, keys, flags)
            inside = False
            at += 3 if byte < 0xF0 else 4
        elif 97 <= byte <= 122:
            if not inside:
                found |= look_up(_word_key(data, at, end), keys, flags)
            inside = True
            at += 1
        else:
            inside = False
            if byte == 47 and at + 4 <= end:
                found |= look_up((np.uint64(47) << np.uint64(24)) | _wide_key(data, at + 1, end, 1), keys, flags)
            if byte == 45 and at >= 3:
                found |= look_up((np.uint64(45) << np.uint64(24)) | _wide_key(data, at - 3, at, 1), keys, flags)
            at += 1
    return found


@kernel()
def _boundary(data, at):
    """The first position from `at` on where a character begins."""
    while 0x80 <= data[at] < 0xC0:
        at += 1
    return at


@kernel()
def _mark_before(data, start, end, back):
    """Code point of the three-byte character (or the byte) that ends `back` bytes before `end`; 0 if none."""
    at = end - back
    if at - 1 < start:
        return 0
    if data[at - 1] < 0x80:
        return np.int64(data[at - 1])
    if at - 3 < start:
        return 0
    return ((np.int64(data[at - 3]) & 15) << 12) | ((np.int64(data[at - 2]) & 63) << 6) | (np.int64(data[at - 1]) & 63)


@kernel()
def _open_ended(data, start, end):
    """Whether the text ends in something else than a sentence's mark: only then something is glued to it."""
    mark = _mark_before(data, start, end, 0)
    if mark == 0x3002 or mark == 42:
        before = _mark_before(data, start, end, 3 if mark == 0x3002 else 1)
        return before == 0xFF09 or before == 0x3002 or before == 42 or before == 93
    return not (mark == 0xFF01 or mark == 0xFF1F or mark == 34 or mark == 0x2026)


@kernel()
def _may_be_code(data, start, end):
    """Whether a line has no ideograph, and marks of programs or few letters."""
    brace = False
    for at in range(start, end):
        byte = data[at]
        if 0xE4 <= byte <= 0xE9:
            return False
        if byte == 123 or byte == 125 or byte == 61:
            brace = True
    return brace or end - start <= 40 or data[start] == 34 or data[end - 1] == 0x9B


@kernel(types.void(_U1, _I8, _U8, _I8, _U8, _I8, _U8, _I8, _U1, _I8, _OUT8, _OUT8))
def row_flags(
    data,
    offsets,
    start_keys,
    start_flags,
    any_keys,
    any_flags,
    date_keys,
    date_flags,
    firsts,
    limits,
    lines,
    out,
):
    """Flags of the steps that may change each row.

    data u1[B], offsets i8[N+1]; three cue tables (keys u8[4096], flags i8[4096]);
    firsts u1[65536]: 1 for a code point that begins a cue of the last two; limits i8[7]: HEAD, TAIL
    (lines), flag of the code step, of the steps for tags at the head, of inline tails, of bare numbers (twice
    packed: credits + 4096 x navigation), of disclaimers; lines i8[longest row + 2] is scratch; out i8[N].
    """
    head, tail, code, tags, inline, numbers = limits[0], limits[1], limits[2], limits[3], limits[4], limits[5]
    long = limits[6]
    for row in range(offsets.size - 1):
        start, end, found, count = offsets[row], offsets[row + 1], 0, 0
        if start == end:
            out[row] = 0
            continue
        lines[0] = start
        for at in range(np.uint64(start), np.uint64(end)):  # unsigned: no test for negative positions
            if data[at] == 10:
                count += 1
                lines[count] = np.int64(at) + 1
        count += 1
        lines[count] = end + 1
        for line in range(count):
            if not found & code and _may_be_code(data, lines[line], lines[line + 1] - 1):
                found |= code
        for line in range(count):
            if line >= head and line < count - 2 * tail:
                continue
            low, high = lines[line], lines[line + 1] - 1
            if high - low <= 300 or line == 0:
                seen = _start_flags(data, low, high, start_keys, start_flags, numbers % 4096, numbers // 4096)
                found |= seen if line == 0 else seen & ~tags
            if line < head or line >= count - tail:
                if high - low <= 330:
                    found |= _any_flags(data, low, high, any_keys, any_flags, firsts)
                else:
                    found |= long & _any_flags(data, low, low + 60, any_keys, any_flags, firsts)
                    found |= long & _any_flags(data, _boundary(data, high - 600), high, any_keys, any_flags, firsts)
            if line < head:
                found |= _any_flags(data, low, min(high, low + 330), date_keys, date_flags, firsts)
        last = _mark_before(data, start, end, 0)
        if count == 1 and (last == 0xFF09 or last == 93):
            found |= tags
        if _open_ended(data, start, end):
            found |= inline
        out[row] = found


@kernel()
def _is_end_mark(point):
    """。！，；：、…—: what a text may end in without saying anything by it."""
    return (
        point == 0x3002
        or point == 0xFF01
        or point == 0xFF0C
        or point == 0xFF1B
        or point == 0xFF1A
        or point == 0x3001
        or point == 0x2026
        or point == 0x2014
    )


@kernel(types.void(_U1, _I8, _I8, _I8, _I8, _U1, _I8, _OUT1, _OUT8))
def put_rows(data, offsets, first, stop, rows, new_data, new_offsets, out, ends):
    """Copy the texts to `out` without end marks, some without a piece, those numbered in `rows` new.

    data u1[B], offsets i8[N+1]; first, stop i8[N]: the bytes of a row to leave out, first -1 for none;
    rows i8[K] ascending; new_data u1[C], new_offsets i8[K+1], no text longer than the old; out u1[B]; ends
    i8[N+1].
    """
    size, k = np.int64(0), 0
    ends[0] = 0
    for row in range(offsets.size - 1):
        begin, start, end = size, offsets[row], offsets[row + 1]
        if k < rows.size and rows[k] == row:
            length = new_offsets[k + 1] - new_offsets[k]
            out[size : size + length] = new_data[new_offsets[k] : new_offsets[k + 1]]
            size += length
            start = end
            k += 1
        elif first[row] >= 0:
            out[size : size + first[row]] = data[start : start + first[row]]
            size += first[row]
            start += stop[row]
        out[size : size + end - start] = data[start:end]
        size += end - start
        while size - begin >= 3 and _is_end_mark(_mark_before(out, begin, size, 0)):
            size -= 3
        ends[row + 1] = size
