"""Records and fields of delimited text (RFC 4180), found in its bytes."""

from __future__ import annotations

from newsdedup_cli.kernels.jit import kernel

FULL = 0
MORE = 1
PROBLEM = 2


@kernel
def scan_records(data, pos, end, final, delimiter, quote, newline, line, starts, ends, kinds, lines, where):
    """Find the fields of records as long as these are well formed.

    data u1[B] is UTF-8, read from `pos` to `end`; `final` where nothing follows; `delimiter`, `quote` (-1:
    none) and `newline` are bytes. Filled per record: starts, ends i8[R, F] and kinds u1[R, F] of its fields
    (0 plain, 1 quoted, 2 quoted with doubled quotes), lines and where i8[R], its line number and position.

    Returns (records, pos, line, status, blanks): where the next record starts, FULL when R records are found,
    MORE when the last one is not complete (or all is read), PROBLEM when it is no record of F fields; and
    how many blank lines were skipped. One empty field too many at the end of a record is accepted.
    """
    capacity, fields = starts.shape
    found = 0
    blanks = 0
    while found < capacity:
        if pos >= end:
            return found, pos, line, MORE, blanks
        p = pos
        next_line = line
        k = 0
        more = False
        problem = False
        while True:
            kind = 0
            if p < end and data[p] == quote:
                kind = 1
                first = p + 1
                q = first
                while True:
                    while q < end and data[q] != quote:
                        if data[q] == newline:
                            next_line += 1
                        q += 1
                    if q + 1 >= end or data[q + 1] != quote:
                        break
                    kind = 2
                    q += 2
                if q >= end or (q + 1 >= end and not final):
                    more = not final
                    problem = final
                    break
                last = q
                q += 1
                if q < end and newline == 10 and data[q] == 13:
                    if q + 1 < end and data[q + 1] == 10:
                        q += 1
                    elif q + 1 >= end and not final:
                        more = True
                        break
            else:
                first = p
                q = p
                while q < end and data[q] != delimiter and data[q] != newline:
                    q += 1
                if q >= end and not final:
                    more = True
                    break
                last = q
                if newline == 10 and last > first and data[last - 1] == 13 and (q >= end or data[q] == 10):
                    last -= 1
            if q < end and data[q] != delimiter and data[q] != newline:
                problem = True
                break
            if k < fields:
                starts[found, k] = first
                ends[found, k] = last
                kinds[found, k] = kind
            k += 1
            if q >= end:
                p = end
                break
            p = q + 1
            if data[q] == newline:
                next_line += 1
                break
        if more:
            return found, pos, line, MORE, blanks
        if problem:
            return found, pos, line, PROBLEM, blanks
        empty = kind == 0 and first == last
        if k == 1 and empty:
            blanks += 1
        elif k == fields or (k == fields + 1 and empty):
            lines[found] = line
            where[found] = pos
            found += 1
        else:
            return found, pos, line, PROBLEM, blanks
        pos = p
        line = next_line
    return found, pos, line, FULL, blanks


@kernel
def copy_fields(data, starts, ends, kinds, column, quote, out, offsets, valid):
    """Copy one column's fields into `out` u1[>= their size], doubled quotes made single.

    Fills offsets i8[R+1] and valid b1[R], false for empty fields. Returns the number of empty fields.
    """
    size = 0
    empties = 0
    offsets[0] = 0
    for i in range(starts.shape[0]):
        first = starts[i, column]
        last = ends[i, column]
        if kinds[i, column] == 2:
            q = first
            while q < last:
                out[size] = data[q]
                size += 1
                q += 2 if data[q] == quote else 1
        else:
            length = last - first
            for k in range(length):
                out[size + k] = data[first + k]
            size += length
        valid[i] = last > first
        if last <= first:
            empties += 1
        offsets[i + 1] = size
    return empties
