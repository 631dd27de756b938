"""Datelines over Arrow buffers, as `clean_lines.dateline` finds them, and the writing of what all steps leave.

Each function stands for a piece of that pattern, its name said there; positions are bytes, counts characters.
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
_HEAD, _WINDOW = 3, 400
ASK = -2
"""A row that the kernel leaves to the plain step: too close to the window's end, or a rare form."""


def _pack(text):
    return np.uint64(int.from_bytes(text.encode(), "big"))


def _packed(words):
    return np.array([_pack(word) for word in words.split("|")], np.uint64)


_OPEN, _CLOSE, _STOP, _COMMA, _COLON = _pack("（"), _pack("）"), _pack("。"), _pack("，"), _pack("：")
_YEAR, _MONTH, _DAY, _NIGHT, _THIS, _DASH = (_pack(c) for c in "年月日晚本—")
_WIRE, _NOTE = _pack("电"), _pack("讯")
_NO_WIRE = _packed("|".join("量力价网商影视话台梯动池器子脑信报缆费表机厂站车源竞玩"))
_NO_NOTE = _packed("息|号|问")
_PARTS = _packed("上午|下午|凌晨|晚间|早间")
_NEWS, _FLASH, _REPORT, _TOPIC, _TOGETHER, _RUN_ON = (
    _pack(word) for word in ("消息", "快讯", "报道", "题：", "综合", "上接")
)
_WIRES = _packed("消息|专电|快讯")
_PAPERS = _packed("报|台|网|刊|站")
_OUTLETS = _packed("网|报|社|台|刊|经|线|端")
_OWN = _packed("消息|快讯|专稿|特稿")
_ROLES = _packed("记者|编辑|作者|主播|编译")
_FIELD = _packed("记者|实习|见习|特约|本报")
_ROLES_3, _FIELD_3 = _packed("通讯|实习"), _packed("通讯|全媒")
_THIRD_ROLE, _THIRD_FIELD = _packed("员|生"), _packed("员|体")
_NOT_1, _NOT_2 = _packed("据|称|因|被|将|于|在"), _packed("表示|宣布|发布|获悉|召开|举行")


@kernel()
def _one(data, at, end):
    """Three bytes as one number, 0 beyond the end."""
    if at + 3 > end:
        return np.uint64(0)
    return (np.uint64(data[at]) << np.uint64(16)) | (np.uint64(data[at + 1]) << np.uint64(8)) | np.uint64(data[at + 2])


@kernel()
def _two(data, at, end):
    """Six bytes as one number, 0 beyond the end."""
    if at + 6 > end:
        return np.uint64(0)
    return (_one(data, at, end) << np.uint64(24)) | _one(data, at + 3, end)


@kernel()
def _among(key, keys):
    for one in keys:
        if one == key:
            return True
    return False


@kernel()
def _three(data, at, end, pairs, thirds):
    """Whether one of the words of three characters, in two arrays, stands at `at`."""
    pair = _two(data, at, end)
    for k in range(pairs.size):
        if pair == pairs[k] and _one(data, at + 6, end) == thirds[k]:
            return True
    return False


@kernel()
def _size(lead):
    """Bytes of the character that begins with `lead`."""
    return 1 if lead < 0x80 else (2 if lead < 0xE0 else (3 if lead < 0xF0 else 4))


@kernel()
def _letter(data, at, end, marks):
    """Bytes of the letter at `at`: ideograph, a-z, 0-9; from `marks` 1 on ·, with 2 also . / - and blank; or 0."""
    if at >= end:
        return 0
    byte = data[at]
    if 97 <= byte <= 122 or 48 <= byte <= 57:
        return 1
    if 0xE3 <= byte <= 0xE9 and at + 3 <= end:
        return 3 if byte > 0xE3 or data[at + 1] >= 0x90 else 0
    if marks >= 1 and byte == 0xC2 and at + 2 <= end and data[at + 1] == 0xB7:
        return 2
    return 1 if marks == 2 and (45 <= byte <= 47 or byte == 32) else 0


@kernel()
def _digits(data, at, end):
    """How many digits stand at `at`, up to five."""
    count = 0
    while count < 5 and at + count < end and 48 <= data[at + count] <= 57:
        count += 1
    return count


@kernel()
def _mark_end(data, at, end):
    """[：，]?"""
    mark = _one(data, at, end)
    return at + 3 if mark in (_COLON, _COMMA) else at


@kernel()
def _paren(data, at, end, least, most, comma):
    """（[^（）。\\n]{least,most}）, with `comma` without ，; its end or -1."""
    if _one(data, at, end) != _OPEN:
        return -1
    at += 3
    count = 0
    while at < end:
        key = _one(data, at, end)
        if key == _CLOSE:
            return at + 3 if count >= least else -1
        if key in (_OPEN, _STOP) or data[at] == 10 or (comma and key == _COMMA) or count == most:
            return -1
        count += 1
        at += _size(data[at])
    return -1


@kernel()
def _reporter(data, at, end):
    """_REPORTER: a role after at most 20 characters in the brackets, at most 50 behind it; its end or -1."""
    close = _paren(data, at, end, 2, 73, False)
    if close < 0:
        return -1
    inside = close - 3
    total = 0
    at += 3
    k = at
    while k < inside:
        total += 1
        k += _size(data[k])
    for before in range(min(total, 21)):
        if _among(_two(data, at, inside), _ROLES) and total - before - 2 <= 50:
            return close
        if total - before - 3 <= 50 and _three(data, at, inside, _ROLES_3, _THIRD_ROLE):
            return close
        at += _size(data[at])
    return -1


@kernel()
def _dated(data, at, end):
    """Year, month, day, part of the day, 电 or the like, byline, mark: the end, or -1."""
    count = _digits(data, at, end)
    if 2 <= count <= 4 and _one(data, at + count, end) == _YEAR:
        at += count + 3
        count = _digits(data, at, end)
    if not 1 <= count <= 2 or _one(data, at + count, end) != _MONTH:
        return -1
    at += count + 3
    count = _digits(data, at, end)
    if not 1 <= count <= 2 or _one(data, at + count, end) != _DAY:
        return -1
    at += count + 3
    if _among(_two(data, at, end), _PARTS):
        at += 6
    elif _one(data, at, end) == _NIGHT:
        at += 3
    verb = _one(data, at, end)
    if verb in (_WIRE, _NOTE):
        at += 3
        if _among(_one(data, at, end), _NO_WIRE) if verb == _WIRE else _among(_one(data, at, end), _NO_NOTE):
            return -1
    elif _among(_two(data, at, end), _WIRES):
        at += 6
    else:
        return -1
    byline = _paren(data, at, end, 0, 50, False)
    if byline >= 0:
        at = byline
    return at + 6 if _two(data, at, end) == _TOPIC else _mark_end(data, at, end)


@kernel()
def _place_and_date(data, start, end):
    """The first form: 2-26 characters, as few as can be, a byline, a date; or the date alone."""
    at = start
    for count in range(27):
        if count >= 2:
            byline = _paren(data, at, end, 0, 50, False)
            if byline >= 0:
                found = _dated(data, byline, end)
                if found >= 0:
                    return found
            found = _dated(data, at, end)
            if found >= 0:
                return found
        size = _letter(data, at, end, 2)
        if size == 0:
            break
        at += size
    return _dated(data, start, end)


@kernel()
def _prefixes(data, at, end, marks, most, stops):
    """Where the first 1, 2, ... letters at `at` end, in stops[1:]; how many there are."""
    count = 0
    while count < most:
        size = _letter(data, at, end, marks)
        if size == 0:
            break
        at += size
        count += 1
        stops[count] = at
    return count


@kernel()
def _note_end(data, at, end):
    """讯|消息: its end, or -1."""
    if _one(data, at, end) == _NOTE:
        return at + 3
    return at + 6 if _two(data, at, end) == _NEWS else -1


@kernel()
def _reported(data, at, end, stops):
    """The second form: 快讯, 讯, 消息, 报道 or 电, and a byline that names a role."""
    for k in range(_prefixes(data, at, end, 1, 12, stops), 0, -1):
        word = _note_end(data, stops[k], end)
        if word < 0:
            pair = _two(data, stops[k], end)
            if pair in (_FLASH, _REPORT):
                word = stops[k] + 6
            elif _one(data, stops[k], end) == _WIRE:
                word = stops[k] + 3
            else:
                continue
        found = _reporter(data, word, end)
        if found >= 0:
            return _mark_end(data, found, end)
    return -1


@kernel()
def _programme(data, at, end, stops):
    """The third form: 讯 or 消息, a name in brackets, a colon."""
    for k in range(_prefixes(data, at, end, 0, 8, stops), 1, -1):
        word = _note_end(data, stops[k], end)
        if word >= 0:
            found = _paren(data, word, end, 2, 12, True)
            if found >= 0 and _one(data, found, end) == _COLON:
                return found + 3
    return -1


@kernel()
def _own(data, at, end):
    """The fourth form: 本报讯 and its like, a byline, a mark."""
    if _one(data, at, end) != _THIS or not _among(_one(data, at + 3, end), _PAPERS):
        return -1
    at += 6
    pair = _two(data, at, end)
    if _one(data, at, end) == _NOTE:
        at += 3
    elif _among(pair, _OWN):
        at += 6
    elif pair == _TOGETHER and (_two(data, at + 6, end) == _NEWS or _two(data, at + 6, end) == _REPORT):
        at += 12
    else:
        return -1
    byline = _paren(data, at, end, 0, 50, False)
    return _mark_end(data, byline if byline >= 0 else at, end)


@kernel()
def _outlet(data, at, end, stops):
    """The fifth form: an outlet's name, 讯 or 消息, a mark."""
    for k in range(_prefixes(data, at, end, 0, 8, stops), 0, -1):
        if _among(_one(data, stops[k], end), _OUTLETS):
            word = _note_end(data, stops[k] + 3, end)
            if word >= 0:
                found = _mark_end(data, word, end)
                if found > word:
                    return found
    return -1


@kernel()
def _signed(data, at, end, stops):
    """The sixth form: a name and （记者 ...）, a mark or the end of the line."""
    for k in range(_prefixes(data, at, end, 1, 14, stops), 1, -1):
        if _one(data, stops[k], end) != _OPEN:
            continue
        field = stops[k] + 3
        most = 52 if _among(_two(data, field, end), _FIELD) else 0
        if _three(data, field, end, _FIELD_3, _THIRD_FIELD):
            most = 53
        found = _paren(data, stops[k], end, 2, most, False) if most else -1
        if found >= 0:
            if found < end and data[found] == 10:
                return found
            marked = _mark_end(data, found, end)
            if marked > found:
                return marked
    return -1


@kernel()
def _agency(data, at, end):
    """The seventh form: a place in Latin letters, an agency in brackets, dashes."""
    count = 0
    while at < end and count < 31 and (97 <= data[at] <= 122 or data[at] == 32 or data[at] == 44 or data[at] == 46):
        at += 1
        count += 1
    if not 2 <= count <= 30 or _one(data, at, end) != _OPEN:
        return -1
    at += 3
    count = 0
    while at < end and count < 13 and 97 <= data[at] <= 122:
        at += 1
        count += 1
    if not 2 <= count <= 12 or _one(data, at, end) != _CLOSE:
        return -1
    at += 3
    first = at
    while at < end and (data[at] == 45 or _one(data, at, end) == _DASH):
        at += 1 if data[at] == 45 else 3
    return at if at > first else -1


@kernel()
def _match(data, at, end, stops):
    """Where the dateline at `at` ends; -1 if there is none, ASK for the form that is left to the plain step."""
    found = _place_and_date(data, at, end)
    if found < 0:
        found = _reported(data, at, end, stops)
    if found < 0:
        found = _programme(data, at, end, stops)
    if found < 0:
        found = _own(data, at, end)
    if found < 0:
        found = _outlet(data, at, end, stops)
    if found < 0:
        found = _signed(data, at, end, stops)
    if found < 0:
        found = _agency(data, at, end)
    if found < 0 and _one(data, at, end) == _OPEN and _two(data, at + 3, end) == _RUN_ON:
        return ASK
    return found


@kernel()
def _is_sentence(data, at, end):
    """_NOT_DATELINE in data[at:end], up to the first bracket."""
    while at < end:
        key = _one(data, at, end)
        if key == _OPEN:
            return False
        if data[at] >= 0xE4 and (_among(key, _NOT_1) or _among(_two(data, at, end), _NOT_2)):
            return True
        at += _size(data[at])
    return False


@kernel(types.void(_U1, _I8, _OUT8, _OUT8))
def datelines(data, offsets, first, stop):
    """The dateline of each row: bytes first[row]:stop[row] of it; -1 where there is none, ASK where unknown.

    data u1[B], offsets i8[N+1]; first i8[N], stop i8[N].
    """
    stops = np.empty(16, np.int64)
    for row in range(offsets.size - 1):
        start, end = offsets[row], offsets[row + 1]
        first[row], stop[row] = -1, -1
        at = start
        for _ in range(_HEAD):
            found = _match(data, at, end, stops)
            if found == ASK or (found >= 0 and found - start > _WINDOW - 16):
                first[row] = ASK
                break
            if found >= 0 and found < end and not _is_sentence(data, at, found):
                while found < end:
                    behind = _mark_end(data, found, end)
                    if behind == found:
                        if data[found] != 10 and data[found] != 32:
                            break
                        behind += 1
                    found = behind
                first[row], stop[row] = at - start, found - start
                if found - start > _WINDOW - 4:
                    first[row] = ASK
                break
            while at < end and data[at] != 10:
                at += 1
            at += 1
            if at >= end:
                break
