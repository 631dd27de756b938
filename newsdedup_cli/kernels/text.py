"""One pass over cleaned texts: digest, pieces (sentences), a min-hash sketch of shingles; and codes for the verifier.

Only *significant* characters are hashed: letters, digits, Han and the like, and what belongs to a number
(3.5, -2, 35%, 8:15), so that punctuation, blanks and line ends never tell two copies apart while 3.5 and 35
stay different.

The sketch is one-permutation min-hashing (Li, Owen, Zhang 2012): the hash of each shingle of five characters
picks one of 128 bins and each bin keeps its least value, of which 16 bits are stored (Li, Koenig 2010). The
share of equal bins estimates the Jaccard similarity of two texts with a standard error of about .04.
The look-up keys join the minima of neighbouring sixteenths, so that two texts of Jaccard J share at least one
of 16 keys with probability 1 - (1 - J^2)^16.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

BINS = 128
KEYS = 16
SHINGLE = 5

_P1 = np.uint64(0x9E3779B97F4A7C15)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0xFF51AFD7ED558CCD)
_P4 = np.uint64(0xC4CEB9FE1A85EC53)
_BASE = np.uint64(0x5851F42D4C957F2D)
_U0 = np.uint64(0)
_U1 = np.uint64(1)
_U29 = np.uint64(29)
_U32 = np.uint64(32)
_U33 = np.uint64(33)
_U57 = np.uint64(57)
_LOW16 = np.uint64(0xFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel()
def _decode(data, i, end):
    """The code point at byte i and its width; a cut sequence at the end decodes to its lead byte."""
    c = np.int64(data[i])
    if c < 0x80:
        return c, 1
    if c >= 0xF0 and i + 3 < end:
        b, d, e = np.int64(data[i + 1]), np.int64(data[i + 2]), np.int64(data[i + 3])
        return ((c & 7) << 18) | ((b & 63) << 12) | ((d & 63) << 6) | (e & 63), 4
    if c >= 0xE0 and i + 2 < end:
        b, d = np.int64(data[i + 1]), np.int64(data[i + 2])
        return ((c & 15) << 12) | ((b & 63) << 6) | (d & 63), 3
    if c >= 0xC0 and i + 1 < end:
        return ((c & 31) << 6) | (np.int64(data[i + 1]) & 63), 2
    return c, 1


@kernel()
def _significant(c, previous_digit, after):
    """Whether the character counts: a letter, a digit, Han ..., or part of a number beside it."""
    if 0x4E00 <= c <= 0x9FFF:
        return True
    if c < 0x80:
        if 48 <= c <= 57 or 97 <= c <= 122 or 65 <= c <= 90:
            return True
        if 48 <= after <= 57:
            if previous_digit:
                return c == 46 or c == 58 or c == 47 or c == 45 or c == 126 or c == 37
            return c == 45 or c == 43
        return previous_digit and c == 37
    if c < 0x3400:
        if c < 0xC0:
            return c == 0xAA or c == 0xB2 or c == 0xB3 or c == 0xB5 or c == 0xB9 or c == 0xBA
        if c < 0x2000:
            return c != 0xD7 and c != 0xF7
        if c < 0x2C00:
            return 0x2070 <= c <= 0x209F or 0x2100 <= c <= 0x218F or 0x2460 <= c <= 0x24FF
        return c < 0x2E00 or c == 0x3005 or c == 0x3007 or c >= 0x3040
    if c < 0x10000:
        return c < 0xD800 or 0xF900 <= c <= 0xFAFF or 0xFF66 <= c <= 0xFFDC
    return not (0x1F000 <= c <= 0x1FAFF)


@kernel()
def _ends_sentence(c, previous_digit, after):
    """Whether a character that does not count ends a sentence: 。！？； in either width, a line, a full stop."""
    if c == 46:
        return not previous_digit and (after == 32 or after == 10 or after == 0)
    return c == 10 or c == 0x3002 or c == 0xFF01 or c == 0xFF1F or c == 0xFF1B or c == 33 or c == 63 or c == 59


@kernel()
def _mix(x):
    """Murmur3's finaliser."""
    x ^= x >> _U33
    x *= _P3
    x ^= x >> _U33
    x *= _P4
    return x ^ (x >> _U33)


@kernel()
def _sketch_keys(minima, sketch, keys, coarse):
    """The minima of the bins as 16-bit values, and one key for each two neighbouring sixteenths."""
    coarse[:] = _NONE
    for b in range(BINS):
        if minima[b] != _NONE:
            low = minima[b] & _LOW16
            sketch[b] = np.uint16(low if low != _U0 else _U1)
            k = b // (BINS // KEYS)
            coarse[k] = min(coarse[k], minima[b])
    for k in range(KEYS):
        x, y = coarse[k], coarse[(k + 1) % KEYS]
        if x != _NONE and y != _NONE:
            keys[k] = np.uint32((_mix(x ^ (y * _P1)) >> _U32) | _U1)


@kernel()
def _keep_longest(value, length, lengths, longest):
    """Put a sentence among the longest, after those of the same length; one that is there already stays once."""
    k = lengths.shape[0]
    while k > 0 and lengths[k - 1] < length:
        k -= 1
    for j in range(k):
        if longest[j] == value:
            return
    if k == lengths.shape[0]:
        return
    for j in range(lengths.shape[0] - 1, k, -1):
        lengths[j] = lengths[j - 1]
        longest[j] = longest[j - 1]
    lengths[k] = length
    longest[k] = value


@kernel()
def evidence(data, offsets, number_of_sentences, least_sentence, least_piece):
    """What can be told of each text without comparing it with another.

    Parameters: data u1[B], offsets i8[N+1] (UTF-8 of large_string), the number of longest sentences S, the
    least length in significant characters of a sentence that counts, and of a piece that is listed.

    Returns digest u8[N,2], significant i4[N] (characters), sentences u8[N,S] (hashes of the longest, longest
    first, the earlier on ties; 0 where there is none), sketch u2[N,128] (0: empty bin), keys u4[N,16]
    (0: no key), pieces u8[M] (hash of each sentence or line), piece_rows i8[N+1] (its offsets by row).
    """
    rows = offsets.shape[0] - 1
    digest = np.zeros((rows, 2), np.uint64)
    significant = np.zeros(rows, np.int32)
    sentences = np.zeros((rows, number_of_sentences), np.uint64)
    sketch = np.zeros((rows, BINS), np.uint16)
    keys = np.zeros((rows, KEYS), np.uint32)
    pieces = np.empty((offsets[rows] - offsets[0]) // least_piece + rows + 1, np.uint64)
    piece_rows = np.zeros(rows + 1, np.int64)
    lengths = np.zeros(number_of_sentences, np.int64)
    minima = np.empty(BINS, np.uint64)
    coarse = np.empty(KEYS, np.uint64)
    window = np.zeros(SHINGLE, np.uint64)
    top = _U1
    for _ in range(SHINGLE + 1):
        top *= _BASE
    found = 0
    for row in range(rows):
        end = offsets[row + 1]
        h1, h2, piece, rolling = _P1, _P2, _P4, _U0
        window[:] = _U0
        lengths[:] = 0
        minima[:] = _NONE
        count, piece_length, slot = 0, 0, 0
        previous_digit = False
        i = offsets[row]
        while i <= end:
            c, width = _decode(data, i, end) if i < end else (10, 1)
            after = np.int64(data[i + width]) if i + width < end else 0
            if _significant(c, previous_digit, after):
                u = np.uint64(c)
                h1 = (h1 ^ u) * _P3
                h1 ^= h1 >> _U29
                h2 = (h2 ^ u) * _P4
                h2 ^= h2 >> _U32
                piece = (piece ^ u) * _P1
                piece ^= piece >> _U32
                piece_length += 1
                # The polynomial of the last five characters.
                rolling = (rolling + u) * _BASE - window[slot] * top
                window[slot] = u
                slot = slot + 1 if slot + 1 < SHINGLE else 0
                count += 1
                if count >= SHINGLE:
                    x = _mix(rolling)
                    b = np.int64(x >> _U57)
                    minima[b] = min(minima[b], x & _LOW32)
            elif _ends_sentence(c, previous_digit, after):
                if piece_length >= least_piece:
                    value = piece | _U1
                    pieces[found] = value
                    found += 1
                    if piece_length >= least_sentence:
                        _keep_longest(value, piece_length, lengths, sentences[row])
                piece, piece_length = _P4, 0
            previous_digit = 48 <= c <= 57
            i += width
        digest[row, 0] = h1
        digest[row, 1] = h2
        significant[row] = count
        piece_rows[row + 1] = found
        _sketch_keys(minima, sketch[row], keys[row], coarse)
    return digest, significant, sentences, sketch, keys, pieces[:found], piece_rows


@kernel()
def _cut(data, begin, end, boilerplate, least_piece, ends, kinds, line_ends):
    """The pieces of one text: their ends, kind (0 content, 1 boilerplate, 2 too short to tell), whether a line ends."""
    n = 0
    piece, piece_length = _P4, 0
    previous_digit = False
    i = begin
    while i <= end:
        c, width = _decode(data, i, end) if i < end else (10, 1)
        after = np.int64(data[i + width]) if i + width < end else 0
        if _significant(c, previous_digit, after):
            piece = (piece ^ np.uint64(c)) * _P1
            piece ^= piece >> _U32
            piece_length += 1
        elif _ends_sentence(c, previous_digit, after):
            kinds[n] = 2
            if piece_length >= least_piece:
                value = piece | _U1
                k = np.searchsorted(boilerplate, value)
                kinds[n] = 1 if k < boilerplate.shape[0] and boilerplate[k] == value else 0
            ends[n] = min(i + width, end)
            line_ends[n] = c == 10
            n += 1
            piece, piece_length = _P4, 0
        previous_digit = 48 <= c <= 57
        i += width
    return n


@kernel()
def _run_lengths(kinds, n):
    """How many pieces at the head, and from which on at the tail, are boilerplate (or too short to tell)."""
    head = 0
    for k in range(n):
        if kinds[k] == 0:
            break
        if kinds[k] == 1:
            head = k + 1
    tail = n
    for k in range(n - 1, -1, -1):
        if kinds[k] == 0:
            break
        if kinds[k] == 1:
            tail = k
    return head, tail


@kernel()
def strip_pieces(data, offsets, boilerplate, least_piece):
    """Texts without their boilerplate: pieces whose hash is in `boilerplate` (u8[K], sorted), where they stand at
    the head or the tail of the text or fill a line.

    The other arguments are those of `evidence`, whose pieces these are. Returns data u1[B'], offsets i8[N+1].
    """
    rows = offsets.shape[0] - 1
    out = np.empty(max(offsets[rows] - offsets[0], 1), np.uint8)
    out_offsets = np.zeros(rows + 1, np.int64)
    longest = 0
    for row in range(rows):
        longest = max(longest, offsets[row + 1] - offsets[row])
    ends = np.empty(longest + 2, np.int64)
    kinds = np.empty(longest + 2, np.uint8)
    line_ends = np.empty(longest + 2, np.bool_)
    written = 0
    for row in range(rows):
        n = _cut(data, offsets[row], offsets[row + 1], boilerplate, least_piece, ends, kinds, line_ends)
        head, tail = _run_lengths(kinds, n)
        k = 0
        while k < n:
            stop = k
            whole, some = True, False
            more = True
            while more:
                whole &= kinds[stop] != 0
                some |= kinds[stop] == 1
                stop += 1
                more = stop < n and not line_ends[stop - 1]
            for j in range(k, stop):
                if not ((whole and some) or j < head or j >= tail):
                    for p in range(offsets[row] if j == 0 else ends[j - 1], ends[j]):
                        out[written] = data[p]
                        written += 1
            k = stop
        out_offsets[row + 1] = written
    return out[:written], out_offsets


@kernel()
def significant_codes(data, offsets):
    """The significant characters of each text as code points, with 0 wherever a clause ends.

    Returns codes u4[M] and offsets i8[N+1]. A clause ends at any other character but a blank, so that the
    verifier can compare clauses without decoding a text again.
    """
    rows = offsets.shape[0] - 1
    codes = np.empty(offsets[rows] - offsets[0] + rows + 1, np.uint32)
    out_offsets = np.zeros(rows + 1, np.int64)
    n = 0
    for row in range(rows):
        start = n
        previous_digit = False
        i, end = offsets[row], offsets[row + 1]
        while i < end:
            c, width = _decode(data, i, end)
            after = np.int64(data[i + width]) if i + width < end else 0
            if _significant(c, previous_digit, after):
                codes[n] = np.uint32(c)
                n += 1
            elif c == 32 or ((c == 44 or c == 0xB7) and previous_digit and 48 <= after <= 57):
                pass  # a blank, the separator of thousands, or the dot of a day that names an event (3·15 is 315)
            elif n > start and codes[n - 1] != 0:
                codes[n] = np.uint32(0)
                n += 1
            previous_digit = 48 <= c <= 57
            i += width
        if n > start and codes[n - 1] == 0:
            n -= 1
        out_offsets[row + 1] = n
    return codes[:n], out_offsets


@kernel()
def title_evidence(titles, title_offsets, data, offsets):
    """What a title says of its text: for titles u1[.], i8[N+1] beside texts u1[B], i8[N+1], both cleaned.

    Returns support f4[N], the share of the title's distinct two-character shingles that the text has (1 without a
    title), and bitmap u8[N,4], 256 bits of which each shingle of the title sets one.
    """
    rows = offsets.shape[0] - 1
    support = np.ones(rows, np.float32)
    bitmap = np.zeros((rows, 4), np.uint64)
    table = np.zeros(1024, np.uint32)
    for row in range(rows):
        grams = 0
        for side in range(2):
            source, i, end = (
                (titles, title_offsets[row], title_offsets[row + 1])
                if side == 0
                else (data, offsets[row], offsets[row + 1])
            )
            if side == 1 and grams == 0:
                break
            last = 0
            hits = 0
            previous_digit = False
            while i < end:
                c, width = _decode(source, i, end)
                after = np.int64(source[i + width]) if i + width < end else 0
                if _significant(c, previous_digit, after):
                    if last:
                        gram = np.uint32(np.uint64(last * 0x110000 + c) * _P1 >> _U32) | np.uint32(2)
                        gram &= np.uint32(0xFFFFFFFE)
                        slot = np.int64(gram >> np.uint32(22))
                        while table[slot] != 0 and table[slot] & np.uint32(0xFFFFFFFE) != gram:
                            slot = (slot + 1) & 1023
                        if side == 0 and table[slot] == 0 and grams < 256:
                            table[slot] = gram
                            grams += 1
                            bit = np.int64(gram >> np.uint32(4)) & 255
                            bitmap[row, bit >> 6] |= _U1 << np.uint64(bit & 63)
                        elif side == 1 and table[slot] == gram:
                            table[slot] |= np.uint32(1)  # found in the text
                            hits += 1
                    last = c
                previous_digit = 48 <= c <= 57
                i += width
            if side == 1:
                support[row] = hits / grams
        if grams:
            table[:] = 0
    return support, bitmap
