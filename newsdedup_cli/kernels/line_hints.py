"""Which line steps may change a row as it stands: closer tests than those of `line_cues`, and faster.

A row without a hint is what every step leaves alone, so it never reaches Python. Each test is a necessary
condition of the step's pattern in `clean_lines`: the words it begins with, its length, marks it cannot hold.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from newsdedup_cli.kernels.jit import kernel

_U1 = types.Array(types.uint8, 1, "C", readonly=True)
_I8 = types.Array(types.int64, 1, "C", readonly=True)
_U8 = types.Array(types.uint64, 1, "C", readonly=True)
_OUT8 = types.Array(types.int64, 1, "C")
_SLOTS = 4095
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HEAD, _TAIL = 3, 10
(
    _TAGS,
    _TITLE,
    _SCRIPT,
    _LINKS,
    _NOTICES,
    _NAVIGATION,
    _FOLLOW,
    _CAPTIONS,
    _CREDITS,
    _DATELINE,
    _INLINE,
) = (1 << at for at in range(11))
"""The order of `clean_lines.STEPS`; the tests hold it."""
CUE, LINK, CALL, NOTICE = 1, 2, 4, 8
"""Classes of a code point: begins a cue, may stand in a line of links, begins a line that asks to
follow, begins a notice."""


def _pack(text):
    return np.uint64(int.from_bytes(text.encode(), "big"))


def _packed(words):
    return np.array([_pack(word) for word in words.split("|")], np.uint64)


_STOP, _COLON, _OPEN, _CLOSE, _BANG = _pack("。"), _pack("："), _pack("（"), _pack("）"), _pack("！")
_ASK, _ELLIPSIS, _YEAR, _ORIGINAL, _COUNT, _ORDER = (_pack(c) for c in "？…年原共第")
_OFF = _packed("，|！|？|；")
_SKIPPED = _packed("（|、")
_NAMES_TITLE = _packed("标|题|文")
_LINK_HEADS = _packed("上一|下一|返回|点击")
_LABELS, _LABEL_ENDS = _packed("免责|版权|转载|特别|郑重|重要|法律|原创|网站"), _packed("声明|说明|条款")
_GLUED = _packed("点击|查看|阅读|展开|返回|上一|下一|本报|文/")
_IS, _NOT = _pack("系"), _pack("未")
_LITERALS = _packed("true|false|null|undefine")
_REPORTER, _NEXT, _PRESS, _TURN = _pack("记者"), _pack("下一"), _pack("点击"), _pack("下转")


@intrinsic
def _line_run(typing_context, data, at):  # pragma: no cover - compiled
    def build(context, builder, signature, args):
        pointer = context.make_array(signature.args[0])(context, builder, args[0]).data
        vector = ir.VectorType(ir.IntType(8), 64)
        block = builder.load(builder.bitcast(builder.gep(pointer, [args[1]]), vector.as_pointer()), align=1)
        found = builder.icmp_unsigned("==", block, ir.Constant(vector, [10] * 64))
        return builder.cttz(builder.bitcast(found, ir.IntType(64)), ir.Constant(ir.IntType(1), 0))

    return types.int64(data, types.int64), build


def line_run(data, at):
    """How many of the 64 bytes at data[at] stand before the first line end."""
    for k in range(64):
        if data[at + k] == 10:
            return k
    return 64


@overload(line_run)
def _line_run_compiled(data, at):
    return lambda data, at: _line_run(data, at)


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
def _look_up(key, keys, flags):
    """Flags of a cue key in the hash table `keys`, `flags` of 4096 slots; 0 if it is not there."""
    slot = np.int64((key * _MULTIPLIER) >> np.uint64(52))
    while keys[slot] != np.uint64(0):
        if keys[slot] == key:
            return flags[slot]
        slot = (slot + 1) & _SLOTS
    return 0


@kernel()
def _word(data, at, end):
    """The first eight letters, or fewer, of the Latin word at `at`."""
    key = np.uint64(0)
    for k in range(at, min(at + 8, end)):
        if not 97 <= data[k] <= 122:
            break
        key = (key << np.uint64(8)) | np.uint64(data[k])
    return key


@kernel()
def _point(data, at, end):
    """The code point of three bytes at `at`; 0 if there is another."""
    if at + 3 > end or data[at] < 0xE0 or data[at] >= 0xF0:
        return 0
    return ((np.int64(data[at]) & 15) << 12) | ((np.int64(data[at + 1]) & 63) << 6) | (np.int64(data[at + 2]) & 63)


@kernel()
def _first(data, at, end):
    """Where the first letter of a line stands, marks and digits skipped."""
    while at < end:
        byte = data[at]
        if byte == 0xE2 or byte == 0xEF or (byte == 0xE3 and at + 1 < end and data[at + 1] == 0x80):
            at += 3
        elif byte == 0xC2:
            at += 2
        elif byte < 0x80 and not 97 <= byte <= 122:
            at += 1
        else:
            break
    return min(at, end)


@kernel()
def _begins(data, at, end, keys, flags):
    """Flags of the word at `at`."""
    if at >= end:
        return 0
    if data[at] < 0x80:
        return _look_up(_word(data, at, end), keys, flags)
    return _look_up(_one(data, at, end), keys, flags) | _look_up(_two(data, at, end), keys, flags)


@kernel()
def _holds(data, at, end, keys, flags, classes):
    """Flags of the cues that stand anywhere in data[at:end]."""
    found, inside = 0, False
    while at < end:
        byte = data[at]
        if byte >= 0xE0:
            if byte < 0xF0 and at + 6 <= end and classes[_point(data, at, end)] & CUE:
                found |= _look_up(_two(data, at, end), keys, flags)
            inside = False
            at += 3 if byte < 0xF0 else 4
        elif 97 <= byte <= 122:
            if not inside:
                found |= _look_up(_word(data, at, end), keys, flags)
            inside = True
            at += 1
        else:
            inside = False
            if byte == 47 and at + 4 <= end:
                found |= _look_up((np.uint64(47) << np.uint64(24)) | _one(data, at + 1, end), keys, flags)
            if byte == 45 and at >= 3:
                found |= _look_up((np.uint64(45) << np.uint64(24)) | _one(data, at - 3, at), keys, flags)
            at += 1
    return found


@kernel()
def _has(data, at, end, pair):
    """Whether two wide characters stand in data[at:end]."""
    lead = np.uint8(pair >> np.uint64(40))
    for k in range(at, end - 5):
        if data[k] == lead and _two(data, k, end) == pair:
            return True
    return False


@kernel()
def _count(data, at, end):
    """Characters of data[at:end]."""
    count = 0
    for k in range(np.uint64(at), np.uint64(end)):  # unsigned: no test for negative positions
        count += data[k] & 0xC0 != 0x80
    return count


@kernel()
def _back(data, start, at, count):
    """Where the last `count` characters of data[start:at] begin."""
    while at > start and count > 0:
        at -= 1
        if data[at] & 0xC0 != 0x80:
            count -= 1
    return at


@kernel()
def _code(data, at, end):
    """Whether a line may be program text: no ideograph, and marks or words of programs."""
    brace = False
    for k in range(at, end):
        byte = data[k]
        if 0xE4 <= byte <= 0xE9:
            return False
        if byte == 123 or byte == 125 or byte == 61:
            brace = True
    if at == end:
        return False
    if brace or data[end - 1] == 0x9B:
        return True
    if data[at] == 34:
        quote = at + 1
        while quote < end and data[quote] != 34:
            quote += 1
        if _one(data, quote + 1, end) == _COLON:
            return True
    return _among(_word(data, _first(data, at, end), end), _LITERALS)


@kernel()
def _tagged(data, at, end):
    """Whether a text may begin with a headline tag: a short word in brackets, or before ：！|."""
    if at < end and (data[at] == 91 or _one(data, at, end) == _OPEN):
        for _ in range(6):
            at += 1 if data[at] < 0x80 else 3
            if at >= end:
                return False
            if data[at] == 93 or _one(data, at, end) == _CLOSE:
                return True
        return False
    for skip in range(6, 13, 6):
        mark = _one(data, at + skip, end)
        if mark in (_COLON, _BANG) or (at + skip < end and data[at + skip] == 124):
            return True
    return False


@kernel()
def _pictured(data, start, end):
    """Whether a text ends in a short word in brackets."""
    at = end - 1
    if data[at] != 93 and _one(data, max(start, end - 3), end) != _CLOSE:
        return False
    while at > start and end - at < 24:
        at -= 1
        if data[at] == 91 or _one(data, at, end) == _OPEN:
            return True
    return False


@kernel()
def _dated(data, at, end):
    """Whether a line begins with digits and a mark of a date or a time."""
    while at < end and (
        data[at] == 91
        or data[at] == 124
        or data[at] == 47
        or data[at] == 32
        or data[at] == 0xC2
        or data[at] == 0xB7
        or _among(_one(data, at, end), _SKIPPED)
    ):
        at += 3 if data[at] >= 0xE0 else 1
    digits = 0
    while at < end and 48 <= data[at] <= 57:
        at += 1
        digits += 1
    if at >= end or not 1 <= digits <= 4:
        return False
    return data[at] == 45 or data[at] == 46 or data[at] == 47 or data[at] == 58 or _one(data, at, end) == _YEAR


@kernel()
def _labelled(data, at, end):
    """Whether one of ：/| follows within six characters."""
    for _ in range(7):
        if at >= end:
            return False
        if data[at] == 47 or data[at] == 124 or _one(data, at, end) == _COLON:
            return True
        at += 1 if data[at] < 0x80 else (2 if data[at] < 0xE0 else (3 if data[at] < 0xF0 else 4))
    return False


@kernel()
def _numbered(data, at, end):
    """Flag of navigation for a line that begins as its own forms do: 上一篇, 返回, 点击, 共3页."""
    key = _one(data, at, end)
    if key in (_COUNT, _ORDER):
        return _NAVIGATION if at + 3 < end and 48 <= data[at + 3] <= 57 else 0
    return _NAVIGATION if _among(_two(data, at, end), _LINK_HEADS) else 0


@kernel()
def _short_line(data, at, end, start_keys, start_flags, any_keys, any_flags, classes):
    """Flags of the steps that may take a line whole."""
    chars = _count(data, at, end)
    if chars > 100:
        return 0
    found = 0
    first = at + (3 if _one(data, at, end) == _OPEN else (1 if data[at] == 91 else 0))
    if _one(data, first, end) == _ORIGINAL and _among(_one(data, first + 3, end), _NAMES_TITLE):
        found |= _TITLE
    if chars > 80:
        return found
    first = _first(data, at, end)
    latin = first < end and data[first] < 0x80
    begins = _begins(data, first, end, start_keys, start_flags)
    calls = latin or (first < end and classes[_point(data, first, end)] & CALL)
    dated = chars <= 60 and _dated(data, at, end)
    sized = first + 3 <= end and data[first] == 0xE5 and data[first + 1] == 0xAD and data[first + 2] == 0x97
    if not (begins or calls or dated or sized or chars <= 36):
        return found | _numbered(data, at, end)
    holds = _holds(data, at, end, any_keys, any_flags, classes)
    stop, off, links, slash = False, False, True, False
    k = at
    while k < end:
        byte = data[k]
        if byte < 0xE0:
            slash = slash or byte == 47 or byte == 119
            k += 1 if byte < 0xC0 else 2
            continue
        if byte == 0xE3 and k + 3 < end and _one(data, k, end) == _STOP:
            stop = True
        elif byte == 0xEF and _among(_one(data, k, end), _OFF):
            off = True
        elif 0xE4 <= byte <= 0xE9 and links and not classes[_point(data, k, end)] & LINK:
            links = False
        k += 3 if byte < 0xF0 else 4
    if chars <= 66:
        found |= _numbered(data, at, end)
        if chars <= 41 and links and begins & _NAVIGATION:
            found |= _NAVIGATION
    if holds & _FOLLOW and calls:
        found |= _FOLLOW
    if chars <= 70 and ((begins & _CAPTIONS and (latin or chars <= 32)) or (holds & _CAPTIONS and chars <= 13)):
        found |= _CAPTIONS
    if chars <= 60 and not stop and (not off or slash or latin):
        named = begins & _CREDITS and (latin or chars <= 8 or _labelled(data, first, end))
        if named or dated or sized or (holds & _CREDITS and chars <= 36 and not off):
            found |= _CREDITS
    return found


@kernel()
def _ends_sentence(mark):
    return mark in (_STOP, _BANG, _ASK) or mark == _OFF[3]


@kernel()
def _notice(data, start, end, any_keys, any_flags, classes):
    """Whether a line may be a label of a notice, or its last sentence one."""
    first = start + (3 if _one(data, start, end) == _OPEN else (1 if start < end and data[start] == 91 else 0))
    if _among(_two(data, first, end), _LABELS) and _among(_two(data, first + 6, end), _LABEL_ENDS):
        return True
    at = end
    while at > start:
        if data[at - 1] == 34 or data[at - 1] == 93:
            at -= 1
        elif at - 3 >= start and _one(data, at - 3, at) == _CLOSE:
            at -= 3
        else:
            break
    while at - 3 >= start and _ends_sentence(_one(data, at - 3, at)):
        at -= 3
    low = max(start, at - 640)
    while at > low:
        if at - 3 >= start and data[at - 3] >= 0xE0:
            if (data[at - 3] == 0xE3 or data[at - 3] == 0xEF) and _ends_sentence(_one(data, at - 3, at)):
                break
            at -= 3
        else:
            at -= 1
    if at <= low and low > start:
        return False
    first = _first(data, at, end)
    for k in range(at, first):
        if data[k] == 0xC2 and data[k + 1] == 0xA9:
            return True
    if first < end and data[first] >= 0x80 and not classes[_point(data, first, end)] & NOTICE:
        named = False
        for k in range(first, min(end, first + 31), 3):
            key = _one(data, k, end)
            named = named or key in (_IS, _NOT)
        if not named:
            return False
    return _holds(data, at, end, any_keys, any_flags, classes) & _NOTICES != 0


@kernel()
def _open_ended(data, start, end):
    """Whether the text ends in something else than a sentence's mark: only then something is glued to it."""
    if data[end - 1] == 34:
        return False
    mark = _one(data, max(start, end - 3), end)
    if mark in (_BANG, _ASK, _ELLIPSIS):
        return False
    if mark == _STOP or data[end - 1] == 42:
        behind = end - (3 if mark == _STOP else 1)
        if behind <= start:
            return False
        before = _one(data, max(start, behind - 3), behind)
        return before in (_CLOSE, _STOP) or data[behind - 1] == 42 or data[behind - 1] == 93
    return True


@kernel()
def _glued(data, start, end, start_keys, start_flags):
    """Whether something that is no sentence may stand behind the last one."""
    at = _back(data, start, end, 40)
    if _has(data, at, end, _TURN) or _has(data, at, end, _PRESS):
        return True
    closed = data[end - 1] == 93 or data[end - 1] == 42
    last = _one(data, max(start, end - 3), end)
    closed = closed or last in (_CLOSE, _STOP)
    at = _back(data, start, end, 131)
    while at < end:
        byte = data[at]
        mark = _one(data, at, end) if byte >= 0xE0 else np.uint64(0)
        if byte == 34 or byte == 93 or mark in (_CLOSE, _ELLIPSIS) or (mark != 0 and _ends_sentence(mark)):
            at += 1 if byte < 0x80 else 3
            bracket = at < end and (data[at] == 91 or _one(data, at, end) == _OPEN)
            if bracket and closed:
                return True
            after = at + ((1 if data[at] == 91 else 3) if bracket else 0)
            if _begins(data, after, end, start_keys, start_flags) & _CREDITS and _labelled(data, after, end):
                return True
            if _among(_two(data, after, end), _GLUED) or _has(data, at, min(end, at + 42), _REPORTER):
                return True
            if at < end and (48 <= data[at] <= 57 or data[at] == 32 or data[at] == 124 or data[at] == 91):
                if _has(data, at, end, _NEXT):
                    return True
        else:
            at += 1
    return False


@kernel(types.void(_U1, _I8, _U8, _I8, _U8, _I8, _U1, types.boolean, _OUT8, _OUT8))
def row_hints(data, offsets, start_keys, start_flags, any_keys, any_flags, classes, any_end, lines, out):
    """Flags of the steps that may change each row, the dateline aside.

    data u1[B], offsets i8[N+1]; two cue tables (keys u8[4096], flags i8[4096]); classes u1[65536]; any_end: also
    texts that end in a sentence's mark may have something glued to them; lines i8[longest row + 2] is
    scratch; out i8[N].
    """
    for row in range(offsets.size - 1):
        start, end, found, count = offsets[row], offsets[row + 1], 0, 1
        out[row] = 0
        if start == end:
            continue
        at = start
        lines[0] = start
        while at < end:
            run = line_run(data, at) if at + 64 <= data.size else np.int64(data[at] != 10)
            at += run
            if at < end and (run == 0 or (run < 64 and data[at] == 10)):
                at += 1
                lines[count] = at
                count += 1
        lines[count] = end + 1
        for line in range(count):
            low, high = lines[line], lines[line + 1] - 1
            if not found & _SCRIPT and _code(data, low, high):
                found |= _SCRIPT
            if _HEAD <= line < count - _TAIL or low == high:
                continue
            if high - low <= 400:
                found |= _short_line(data, low, high, start_keys, start_flags, any_keys, any_flags, classes)
            if not found & _NOTICES and _notice(data, low, high, any_keys, any_flags, classes):
                found |= _NOTICES
        if _one(data, start, end) == _OPEN and _one(data, start + 3, end) == _ORIGINAL:
            found |= _TITLE
        if _tagged(data, start, end) or (count == 1 and _pictured(data, start, end)):
            found |= _TAGS
        for line in range(count - 1, max(0, count - 2 * _TAIL - 1), -1):
            low, high = lines[line], lines[line + 1] - 1
            if high - low > 240 or _count(data, low, high) > 60:
                break
            stop = False
            for k in range(low, high - 2):
                stop = stop or (data[k] == 0xE3 and _one(data, k, high) == _STOP)
            if stop:
                break
            if _begins(data, _first(data, low, high), high, start_keys, start_flags) & _LINKS:
                found |= _LINKS
                break
        if (any_end or _open_ended(data, start, end)) and _glued(data, start, end, start_keys, start_flags):
            found |= _INLINE
        out[row] = found
