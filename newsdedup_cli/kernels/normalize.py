"""The basic cleaning steps over Arrow buffers: markup, entities, characters, then marks and blanks.

Two passes a row: `_fold_row` takes off markup and maps code points by table; `_settle_row` brings marks and
blanks to one form. Both do what the steps of `clean_markup` and `clean_chars` do, byte for byte; rows that
need composition or hold a rare entity are flagged for those steps instead. A row grows to three times its
size at most: a lone ASCII mark becomes one of three bytes, all else keeps its size or shrinks.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from newsdedup_cli.kernels.jit import kernel

_PRIME = np.uint64(0x100000001B3)
_BASIS = np.uint64(0xCBF29CE484222325)
_SLOTS = 2047
_ENTITY_FLAG, _OPEN_FLAG, _POINT_MASK = 1 << 24, 1 << 25, (1 << 21) - 1
_BLOCK, _INLINE, _BARE = 1, 2, 4
_TAG_SALT, _ATTRIBUTE_SALT, _ENTITY_SALT = np.uint64(0), np.uint64(1), np.uint64(2)

_U1 = types.Array(types.uint8, 1, "C", readonly=True)
_U2 = types.Array(types.uint16, 1, "C", readonly=True)
_I4 = types.Array(types.int32, 1, "C", readonly=True)
_I8 = types.Array(types.int64, 1, "C", readonly=True)
_U8 = types.Array(types.uint64, 1, "C", readonly=True)
_OUT = types.Array(types.uint8, 1, "C")
_OUT8 = types.Array(types.int64, 1, "C")


def _constant(text):
    return np.frombuffer(text, np.uint8)


_COMMENT, _COMMENT_END = _constant(b"<!--"), _constant(b"-->")
_SCRIPT, _SCRIPT_END = _constant(b"<script"), _constant(b"</script")
_STYLE, _STYLE_END = _constant(b"<style"), _constant(b"</style")
_DOCTYPE, _XML, _CDATA = _constant(b"<!doctype"), _constant(b"<?xml"), _constant(b"<![cdata[")
_IF, _ENDIF = _constant(b"<![if"), _constant(b"<![endif")
_AMP = _constant(b"amp")
_WINDOWS = np.array(
    [ord(c) if (c := bytes((b,)).decode("cp1252", "ignore")) else 0 for b in range(0x80, 0xA0)], np.int64
)
"""Code points of Windows-1252 at 0x80..0x9F, 0 where there is none."""

# --- 64 bytes at a time -----------------------------------------------------------------------------
#
# Most bytes of a text stay what they are, whatever stands around them: `fold_run` and `settle_run` copy a
# block of 64 and say how many of its first bytes are such. The rest of the block is written over.

BLOCK, PAD = 64, 72
"""Bytes a run copies at once, and how many more than a row a buffer must hold for it."""

_PLAIN_MARKS = ((0xE3, 0x80, (0x81, 0x82, 0x8A, 0x8B)), (0xEF, 0xBC, (0x81, 0x88, 0x89, 0x8C, 0x9A, 0x9B)))
"""UTF-8 of 、。《》！（），：； by lead, second and third bytes: the marks that are their own form."""


class _Bytes:
    """Tests of 64 bytes at once: each gives one bit a byte."""

    def __init__(self, builder, block):
        self.builder, self.block = builder, block

    def _constant(self, byte):
        return ir.Constant(self.block.type, [byte] * BLOCK)

    def within(self, low, high):
        moved = self.builder.sub(self.block, self._constant(low))
        return self.builder.icmp_unsigned("<=", moved, self._constant(high - low))

    def among(self, *wanted):
        return self.any(*(self.builder.icmp_unsigned("==", self.block, self._constant(byte)) for byte in wanted))

    def any(self, *tests):
        found = tests[0]
        for test in tests[1:]:
            found = self.builder.or_(found, test)
        return found

    def all(self, *tests):
        found = tests[0]
        for test in tests[1:]:
            found = self.builder.and_(found, test)
        return found


def _blocks(context, builder, signature, args):
    """Pointers to data[at] and out[size], and a function that loads the block some bytes behind data[at]."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    out = context.make_array(signature.args[2])(context, builder, args[2]).data
    vector = ir.VectorType(ir.IntType(8), BLOCK)

    def load(shift):
        at = builder.add(args[1], ir.Constant(ir.IntType(64), shift))
        return _Bytes(builder, builder.load(builder.bitcast(builder.gep(data, [at]), vector.as_pointer()), align=1))

    return load, builder.bitcast(builder.gep(out, [args[3]]), vector.as_pointer())


def _leading(builder, inert):
    """How many of the first bits are set."""
    mask = builder.bitcast(builder.not_(inert), ir.IntType(64))
    return builder.cttz(mask, ir.Constant(ir.IntType(1), 0))


def _marks(now, after, third):
    tests = []
    for lead, second, ends in _PLAIN_MARKS:
        tests.append(now.all(now.among(lead), after.among(second), third.among(*ends)))
    return now.any(*tests)


@intrinsic
def _fold_run(typing_context, data, at, out, size):  # pragma: no cover - compiled
    def build(context, builder, signature, args):
        load, target = _blocks(context, builder, signature, args)
        now, after, third = load(0), load(1), load(2)
        upper = now.within(65, 90)
        lower = builder.or_(now.block, builder.select(upper, now._constant(32), now._constant(0)))
        builder.store(lower, target, align=1)
        ascii_ones = now.any(upper, now.within(97, 122), now.within(0x2B, 0x3A), now.among(10, 32, 34, 37, 39))
        wide = now.any(now.within(0x80, 0xBF), now.within(0xE4, 0xE9), _marks(now, after, third))
        return _leading(builder, now.any(ascii_ones, wide))

    return types.int64(data, types.int64, out, types.int64), build


@intrinsic
def _settle_run(typing_context, data, at, out, size):  # pragma: no cover - compiled
    def build(context, builder, signature, args):
        load, target = _blocks(context, builder, signature, args)
        before, now, after, third = load(-1), load(0), load(1), load(2)
        builder.store(now.block, target, align=1)
        digits = [block.within(48, 57) for block in (before, after)]
        words = [block.any(digit, block.within(97, 122)) for block, digit in zip((before, after), digits, strict=True)]
        plain = now.any(now.within(97, 122), now.within(48, 57), now.among(34, 37, 39, 43, 47, 91, 93))
        inside = now.any(
            now.all(now.among(32, 45, 46), *words),
            now.all(now.among(44, 58), *digits),
        )
        wide = now.any(now.within(0x80, 0xBF), now.within(0xE5, 0xE9))
        first = now.all(now.among(0xE4), builder.not_(after.among(0xB7)))
        other = builder.icmp_unsigned("!=", before.block, third.block)
        marks = now.all(_marks(now, after, third), other, builder.not_(digits[0]))
        return _leading(builder, now.any(plain, inside, wide, first, marks))

    return types.int64(data, types.int64, out, types.int64), build


def _is_digit(byte):
    return 48 <= byte <= 57


def _is_lower(byte):
    return 97 <= byte <= 122 or 48 <= byte <= 57


def _is_mark(data, at):
    return any(
        (data[at], data[at + 1]) == (lead, second) and data[at + 2] in ends for lead, second, ends in _PLAIN_MARKS
    )


def _folds_plainly(data, at):
    byte = int(data[at])
    if byte < 0x80:
        return _is_lower(byte | 32 if byte >= 65 else byte) or 0x2B <= byte <= 0x3A or byte in (10, 32, 34, 37, 39)
    return byte < 0xC0 or 0xE4 <= byte <= 0xE9 or _is_mark(data, at)


def _settles_plainly(data, at):
    before, byte, after = int(data[at - 1]), int(data[at]), int(data[at + 1])
    if byte in (32, 45, 46):
        return _is_lower(before) and _is_lower(after)
    if byte in (44, 58):
        return _is_digit(before) and _is_digit(after)
    if byte < 0x80:
        return _is_lower(byte) or byte in (34, 37, 39, 43, 47, 91, 93)
    if byte < 0xC0 or 0xE4 <= byte <= 0xE9:
        return byte != 0xE4 or after != 0xB7
    return _is_mark(data, at) and before != data[at + 2] and not _is_digit(before)


def fold_run(data, at, out, size):
    """Copy data[at:at + 64] to out[size:] in lower case; how many of its first bytes fold to just that.

    Reads 66 bytes. A byte inside a character counts with it.
    """
    for k in range(BLOCK):
        if not _folds_plainly(data, at + k):
            return k
        out[size + k] = data[at + k] | 32 if 65 <= data[at + k] <= 90 else data[at + k]
    return BLOCK


def settle_run(data, at, out, size):
    """Copy data[at:at + 64] to out[size:]; how many of its first bytes stay, in a line that has text before.

    Reads data[at - 1:at + 66].
    """
    for k in range(BLOCK):
        if not _settles_plainly(data, at + k):
            return k
        out[size + k] = data[at + k]
    return BLOCK


@overload(fold_run)
def _fold_run_compiled(data, at, out, size):
    return lambda data, at, out, size: _fold_run(data, at, out, size)


@overload(settle_run)
def _settle_run_compiled(data, at, out, size):
    return lambda data, at, out, size: _settle_run(data, at, out, size)


@kernel()
def _name_kind(data, start, stop, salt, names, kinds, lower):
    """Flags of the name data[start:stop] in the hash table `names`, `kinds`; 0 if it is not there."""
    value = _BASIS ^ salt
    for at in range(start, stop):
        byte = np.uint64(data[at])
        if lower and np.uint64(65) <= byte <= np.uint64(90):
            byte = byte + np.uint64(32)
        value = (value ^ byte) * _PRIME
    slot = np.int64(value & np.uint64(_SLOTS))
    while names[slot] != np.uint64(0):
        if names[slot] == value:
            return np.int64(kinds[slot])
        slot = (slot + 1) & _SLOTS
    return np.int64(0)


@kernel()
def _starts(data, at, end, word):
    """Whether data[at:end] begins with `word` (lower case), ASCII case aside."""
    if at + word.size > end:
        return False
    for k in range(word.size):
        byte = np.int64(data[at + k])
        if 65 <= byte <= 90:
            byte += 32
        if byte != word[k]:
            return False
    return True


@kernel()
def _find(data, at, end, word):
    """First position of `word` in data[at:end], -1 if none."""
    for k in range(at, end - word.size + 1):
        if data[k] == word[0] and _starts(data, k, end, word):
            return k
    return -1


@kernel()
def _rfind(data, at, end, word):
    """Last position of `word` in data[at:end], -1 if none."""
    for k in range(end - word.size, at - 1, -1):
        if data[k] == word[0] and _starts(data, k, end, word):
            return k
    return -1


@kernel()
def _is_space(byte):
    return byte == 32 or 9 <= byte <= 13


@kernel()
def _letter(byte):
    """1 for an ASCII letter, 2 for a digit, else 0."""
    if 97 <= byte <= 122 or 65 <= byte <= 90:
        return 1
    return 2 if 48 <= byte <= 57 else 0


@kernel()
def _to_close(data, at, end):
    """Position behind the next `>` if no `<` comes before it, else -1."""
    while at < end:
        if data[at] == 62:
            return at + 1
        if data[at] == 60:
            return -1
        at += 1
    return -1


@kernel()
def _name_end(data, at, end):
    """Where a tag's name that begins at `at` ends; `at` if there is none."""
    if at >= end or _letter(np.int64(data[at])) != 1:
        return at
    at += 1
    while at < end and _letter(np.int64(data[at])):
        at += 1
    if at < end and (data[at] == 58 or data[at] == 45):
        while at < end and (_letter(np.int64(data[at])) or data[at] == 58 or data[at] == 45):
            at += 1
    return at


@kernel()
def _value_end(data, at, end):
    """Where the attribute value that begins at `at` ends; -1 if there is none."""
    if at >= end:
        return -1
    quote = data[at]
    if quote == 34 or quote == 39:
        at += 1
        while at < end and data[at] != quote and data[at] != 60:
            at += 1
        return at + 1 if at < end and data[at] == quote else -1
    first = at
    while at < end:
        byte = np.int64(data[at])
        if _is_space(byte) or byte == 34 or byte == 39 or byte == 60 or byte == 61 or byte == 62 or byte == 96:
            break
        at += 1
    return at if at > first else -1


@kernel()
def _attribute_name_end(data, at, end):
    """Where the attribute name that begins at `at` ends; `at` if there is none."""
    first = at
    while at < end:
        byte = np.int64(data[at])
        letter = _letter(byte)
        if not (letter == 1 or byte == 95 or byte == 58 or byte == 64):
            if at == first or not (letter == 2 or byte == 46 or byte == 45):
                break
        at += 1
    return at


@kernel()
def _open_tag(data, at, end, name, name_end):
    """`end` if the known tag at `at`, its name at [name, name_end), is cut off by the text's end; else -1."""
    if name_end == end:
        return end if name_end - name > 1 or data[at + 1] == 47 else -1
    gap = name_end
    while gap < end and (_is_space(np.int64(data[gap])) or data[gap] == 47):
        gap += 1
    stop = gap
    while stop < end:
        byte = np.int64(data[stop])
        letter = _letter(byte)
        if not (letter == 1 or (stop > gap and (letter == 2 or byte == 95 or byte == 58 or byte == 46 or byte == 45))):
            break
        stop += 1
    if gap == name_end or stop == gap:
        return -1
    if stop == end:
        return end
    while stop < end and _is_space(np.int64(data[stop])):
        stop += 1
    if stop >= end or data[stop] != 61:
        return -1
    while stop < end and data[stop] != 60 and data[stop] != 62:
        stop += 1
    return end if stop == end else -1


@kernel()
def _tag(data, at, end, names, kinds):
    """Twice the end of the tag at `at`, plus 1 for a block tag; -1 if there is none."""
    closing = at + 1 < end and data[at + 1] == 47
    name = at + 2 if closing else at + 1
    stop = _name_end(data, name, end)
    if stop == name:
        return -1
    kind = _name_kind(data, name, stop, _TAG_SALT, names, kinds, True)
    name_end, valued, bare_ok = stop, False, True
    while True:
        gap = stop
        while gap < end and (_is_space(np.int64(data[gap])) or data[gap] == 47):
            gap += 1
        word = _attribute_name_end(data, gap, end)
        if word == gap or not (valued or gap > stop):
            break
        equals = word
        while equals < end and _is_space(np.int64(data[equals])):
            equals += 1
        value = -1
        if equals < end and data[equals] == 61:
            equals += 1
            while equals < end and _is_space(np.int64(data[equals])):
                equals += 1
            value = _value_end(data, equals, end)
        if value >= 0:
            valued = True
            stop = value
        else:
            bare_ok = bare_ok and _name_kind(data, gap, word, _ATTRIBUTE_SALT, names, kinds, True) != 0
            stop = word
    close = stop
    while close < end and (_is_space(np.int64(data[close])) or data[close] == 47):
        close += 1
    if close < end and data[close] == 62 and (bare_ok or valued) and (kind != 0 or closing or valued):
        return 2 * (close + 1) + (1 if kind == _BLOCK else 0)
    return 2 * _open_tag(data, at, end, name, name_end) if kind != 0 else -1


@kernel()
def _raw_end(data, at, row, end, opener, closer):
    """End of the script or style element that begins at `at`, content included; -1 if there is none."""
    if not _starts(data, at, end, opener):
        return -1
    after = at + opener.size
    if after >= end or not (data[after] == 62 or data[after] == 32 or data[after] in (9, 10, 13)):
        return -1
    found = _find(data, after, end, closer)
    if found < 0:
        return -1
    close = _to_close(data, found + closer.size, end)
    return close if close >= 0 else found + closer.size


@kernel()
def _declaration_end(data, at, end):
    """End of a doctype, XML head or conditional that begins at `at`; -1 if there is none."""
    for word in (_DOCTYPE, _XML, _CDATA, _IF, _ENDIF):
        if _starts(data, at, end, word):
            return _to_close(data, at + word.size, end)
    return -1


@kernel()
def _encode(out, at, point):
    """Write the UTF-8 of `point` at `at`; the position behind it."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
        out[at + 1] = 0x80 | (point & 63)
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        out[at + 1] = 0x80 | ((point >> 6) & 63)
        out[at + 2] = 0x80 | (point & 63)
        return at + 3
    out[at] = 0xF0 | (point >> 18)
    out[at + 1] = 0x80 | ((point >> 12) & 63)
    out[at + 2] = 0x80 | ((point >> 6) & 63)
    out[at + 3] = 0x80 | (point & 63)
    return at + 4


@kernel()
def _decode(data, at, end):
    """8 x code point + length of the UTF-8 character at `at`; -1 if it is cut or wrong."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return 8 * lead + 1
    if lead < 0xC2 or lead > 0xF4:
        return -1
    size = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
    if at + size > end:
        return -1
    point = lead & (0x1F if size == 2 else (0x0F if size == 3 else 0x07))
    for k in range(1, size):
        point = (point << 6) | (np.int64(data[at + k]) & 63)
    return 8 * point + size if point < 0x110000 else -1


@kernel()
def _semicolon(data, at, end):
    """Length of the `;` or `；` at `at`, 0 if there is none."""
    if at < end and data[at] == 59:
        return 1
    return 3 if at + 3 <= end and data[at] == 0xEF and data[at + 1] == 0xBC and data[at + 2] == 0x9B else 0


@kernel()
def _number_entity(data, body, end):
    """Code point and end of the numeric entity whose `#` is at `body`; -1 if none, 0 if no character."""
    at = body + 1
    base = 10
    if at < end and (data[at] == 120 or data[at] == 88):
        base = 16
        at += 1
    point, first = 0, at
    while at < end and at - first < 8:
        byte = np.int64(data[at])
        if 48 <= byte <= 57:
            digit = byte - 48
        elif base == 16 and (97 <= byte <= 102 or 65 <= byte <= 70):
            digit = (byte | 32) - 87
        else:
            break
        point = point * base + digit
        at += 1
    if at == first:
        return -1, body
    if 0x80 <= point < 0xA0:
        point = _WINDOWS[point - 0x80]
    if point > 0x10FFFF or 0xD800 <= point < 0xE000:
        point = 0
    return point, at + _semicolon(data, at, end)


@kernel()
def _entity(data, at, end, names, kinds):
    """Code point and end of the entity at `at`; -1 where it is the `&` alone, -2 where Python decides."""
    body = at + 1
    while _starts(data, body, end, _AMP) and data[body] == 97 and data[body + 1] == 109 and data[body + 2] == 112:
        closed = _semicolon(data, body + 3, end)
        if not closed:
            break
        body += 3 + closed
    if body < end and data[body] == 35:
        return _number_entity(data, body, end)
    stop = body
    while (
        stop < end
        and stop - body < 32
        and _letter(np.int64(data[stop]))
        and (stop > body or _letter(np.int64(data[stop])) == 1)
    ):
        stop += 1
    if stop - body < 2:
        return -1, body
    kind = _name_kind(data, body, stop, _ENTITY_SALT, names, kinds, False)
    closed = _semicolon(data, stop, end)
    if closed:
        return (kind & _POINT_MASK, stop + closed) if kind & _ENTITY_FLAG else (-2, stop)
    if kind & _OPEN_FLAG and not (stop < end and data[stop] == 61):
        return kind & _POINT_MASK, stop
    return -1, body


@kernel()
def _is_list(data, at, end):
    """Whether the row may be a list literal: blanks, `[`, a quote."""
    while at < end:
        byte = np.int64(data[at])
        if byte <= 32:
            at += 1
        elif byte == 0xC2:
            at += 2
        elif 0xE1 <= byte <= 0xE3:
            at += 3
        else:
            break
    return at + 1 < end and data[at] == 91 and (data[at + 1] == 39 or data[at + 1] == 34)


@kernel()
def _spells_tag(data, at, end):
    """Whether what follows an escaped `<` makes it a tag: `/`, a letter, `!`."""
    if at < end and data[at] == 47:
        at += 1
    return at < end and (_letter(np.int64(data[at])) == 1 or data[at] == 33)


@kernel()
def _fold_row(data, start, end, index, fold, sequences, sequence_at, names, kinds, out):
    """Row data[start:end], markup gone and characters folded, into `out`; its length, -1: not here."""
    if _is_list(data, start, end):
        return -1
    size, at, last_comment, last_script, last_style = 0, start, -2, -2, -2
    while at < end:
        lead = np.int64(data[at])
        if at + 66 <= data.size:
            run = min(fold_run(data, at, out, size), end - at)
            if run == 64:
                while run > 0 and 0x80 <= data[at + run] < 0xC0:
                    run -= 1
            if run > 0:
                at += run
                size += run
                continue
        if lead == 60:
            stop = -1
            if at + 1 < end and data[at + 1] == 33 and _starts(data, at, end, _COMMENT):
                if last_comment == -2:
                    last_comment = _rfind(data, start, end, _COMMENT_END)
                if last_comment >= at + 4:
                    stop = _find(data, at + 4, end, _COMMENT_END) + 3
            elif _starts(data, at, end, _SCRIPT):
                if last_script == -2:
                    last_script = _rfind(data, start, end, _SCRIPT_END)
                if last_script > at:
                    stop = _raw_end(data, at, start, end, _SCRIPT, _SCRIPT_END)
            elif _starts(data, at, end, _STYLE):
                if last_style == -2:
                    last_style = _rfind(data, start, end, _STYLE_END)
                if last_style > at:
                    stop = _raw_end(data, at, start, end, _STYLE, _STYLE_END)
            if stop < 0:
                stop = _declaration_end(data, at, end)
            block = stop >= 0
            if stop < 0:
                tag = _tag(data, at, end, names, kinds)
                if tag >= 0:
                    stop, block = tag >> 1, (tag & 1) == 1
            if stop >= 0:
                if block:
                    out[size] = 10
                    size += 1
                at = stop
                continue
        point = np.int64(0)
        length = np.int64(1)
        if lead == 38:
            point, stop = _entity(data, at, end, names, kinds)
            if point == -2 or (point == 60 and _spells_tag(data, stop, end)):
                return -1
            if point == -1:
                point = 38
            length = stop - at
            if point == 0:
                at = stop
                continue
        elif lead < 0x80:
            point = lead
        else:
            code = _decode(data, at, end)
            if code < 0:
                at += 1
                continue
            point, length = code >> 3, code & 7
        value = np.int64(fold[(np.int64(index[point >> 8]) << 8) | (point & 255)])
        at += length
        if value == 0:
            size = _encode(out, size, point)
        elif value > 0:
            size = _encode(out, size, value)
        elif value == -2:
            return -1
        elif value <= -3:
            for k in range(sequence_at[-3 - value], sequence_at[-2 - value]):
                out[size] = sequences[k]
                size += 1
    return size


@kernel()
def _skip_lost(data, at, end):
    """Position behind runs of four and more ？ that begin at `at`."""
    while True:
        stop = at
        while stop + 3 <= end and data[stop] == 0xEF and data[stop + 1] == 0xBC and data[stop + 2] == 0x9F:
            stop += 3
        if stop - at < 12:
            return at
        at = stop


@kernel()
def _run(data, at, end, byte):
    """How often `byte` stands at `at` in a row, lost marks between aside, and where the run ends."""
    count = 1
    stop = _skip_lost(data, at + 1, end)
    while stop < end and data[stop] == byte:
        count += 1
        stop = _skip_lost(data, stop + 1, end)
    return count, (stop if count > 1 else at + 1)


@kernel()
def _settle_row(data, end, index, kind_of, out, base):
    """Folded row data[:end], marks and blanks brought to one form, into `out` from `base`; its end."""
    size = line = base
    data[end] = data[end + 1] = 10
    fresh, gap, text, word, joined = True, False, False, False, False
    last = np.int64(0)
    at = np.int64(0)
    while at <= end:
        lead = np.int64(data[at]) if at < end else np.int64(10)
        if 0xE4 <= lead <= 0xE9 and not (lead == 0xE4 and data[at + 1] == 0xB7):
            kind, point, length, code = 2, np.int64(0x4E00), np.int64(3), np.int64(0x4E00 << 3)
        else:
            code = _decode(data, at, end) if at < end else np.int64(81)
            point, length = code >> 3, code & 7
            kind = np.int64(kind_of[(np.int64(index[point >> 8]) << 8) | (point & 255)])
        if kind == 4:
            if not fresh:
                if text:
                    joined = last == 0xFF0C or last == 0x3001
                else:
                    size = line
            line, last, at = size, np.int64(0), at + 1
            fresh, gap, text, word = True, False, False, False
            continue
        if kind == 3:
            gap = True
            at += 1
            continue
        before = np.int64(0) if gap else last
        stop = at + length
        if kind >= 5:
            if kind == 5:
                following = _skip_lost(data, stop, end)
                number = 48 <= before <= 57 and following < end and 48 <= data[following] <= 57
                comma = point == 44 or point == 0xFF0C
                if number:
                    point = np.int64(44) if comma else np.int64(58)
                else:
                    point, kind = (np.int64(0xFF0C) if comma else np.int64(0xFF1A)), 9
            elif kind == 6:
                count, stop = _run(data, at, end, 46)
                following = _skip_lost(data, stop, end)
                if count > 1:
                    point, kind = np.int64(0x2026), 9
                elif not (
                    33 <= before <= 126
                    and following < end
                    and (48 <= data[following] <= 57 or 97 <= data[following] <= 122)
                ):
                    point, kind = np.int64(0x3002), 9
            elif kind == 7:
                while stop + 3 <= end and data[stop] == 0xEF and data[stop + 1] == 0xBC and data[stop + 2] == 0x9F:
                    stop += 3
                if fresh or stop - at >= 12:
                    at = stop
                    continue
                kind = 9
            elif kind == 8:
                count, stop = _run(data, at, end, 45)
                if count > 1:
                    point, kind = np.int64(0x2014), 9
            if kind == 9 and point == before:
                at = stop
                continue
        if fresh:
            if size > base and not joined:
                out[size] = 10
                size += 1
            fresh = False
        elif gap and word and kind == 1:
            out[size] = 32
            size += 1
        if kind == 2 and lead >= 0xE4 and lead <= 0xE9:
            out[size], out[size + 1], out[size + 2] = data[at], data[at + 1], data[at + 2]
            size += 3
        else:
            size = _encode(out, size, point)
        word = kind == 1
        text = text or kind == 1 or kind == 2
        same = stop == at + length and point == code >> 3
        gap, last, at = False, point, stop
        if text and same:
            run = np.int64(64)
            first = size
            while run == 64:
                run = min(settle_run(data, at, out, size), end - at)
                size += run
                at += run
            if size > first:
                last = np.int64(out[size - 1])
                word = 97 <= last <= 122 or 48 <= last <= 57
                if last >= 0x80:
                    last = ((np.int64(out[size - 3]) & 15) << 12) | ((np.int64(out[size - 2]) & 63) << 6) | (last & 63)
    return size


@kernel(types.void(_U1, _I8, _U2, _I4, _U2, _U1, _U1, _I8, _U8, _I4, _OUT, _OUT, _OUT8, _OUT))
def clean_rows(
    data,
    offsets,
    index,
    fold,
    kind_index,
    kind_of,
    sequences,
    sequence_at,
    names,
    kinds,
    scratch,
    out,
    out_offsets,
    slow,
):
    """The basic steps on every row.

    data u1[B], offsets i8[N+1]: an Arrow large_string; the tables are `clean_tables.Tables`; scratch
    u1[3 x longest row + PAD], out u1[3 x B + PAD], out_offsets i8[N+1], slow u1[N]: 1 for a row left empty
    because the plain steps must do it.
    """
    size = np.int64(0)
    out_offsets[0] = 0
    for row in range(offsets.size - 1):
        length = _fold_row(
            data, offsets[row], offsets[row + 1], index, fold, sequences, sequence_at, names, kinds, scratch
        )
        slow[row] = 1 if length < 0 else 0
        if length >= 0:
            size = _settle_row(scratch, length, kind_index, kind_of, out, size)
        out_offsets[row + 1] = size
