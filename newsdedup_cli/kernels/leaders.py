"""What depends on the rows before only: pairs proposed in order, and rows that follow the first of their kind.

With `--keep first` and with a window, a row is decided by what came before it, so that the days of a month one
after the other give what the month gives at once.
"""

from __future__ import annotations

import numpy as np

from newsdedup_cli.kernels.jit import kernel

_U0 = np.uint64(0)
_UNKNOWN = np.iinfo(np.int64).max


@kernel()
def pairs_in_order(starts, members, date, window, fresh, near, anchors, room):
    """Pairs of rows that share a key, each decided by the rows before it in its group.

    Parameters: starts i8[G+1], where each group begins in members i8[M], rows in an order; date i8[N] of the rows
    (the largest number: not known); window (0: none); fresh u1[N]: only pairs with a row that is `fresh` as the
    later one are given. Without a window the first `near` rows of a group are all paired; a later one is paired
    with the first `anchors` of the group and the `anchors` before it. With one, a row is paired with the last
    `near` before it that lie within the window of it.

    Returns earlier i8[P], later i8[P] and the number of pairs there are; call again with more room if larger.
    """
    out_a = np.empty(room, np.int64)
    out_b = np.empty(room, np.int64)
    found = 0
    for g in range(starts.shape[0] - 1):
        begin, end = starts[g], starts[g + 1]
        for i in range(begin + 1, end):
            row = members[i]
            if not fresh[row]:
                continue
            given = 0
            for back in range(i - begin):
                j = i - 1 - back
                other = members[j]
                if window > 0:
                    if given == near:
                        break
                    if date[row] != _UNKNOWN and date[other] != _UNKNOWN and abs(date[row] - date[other]) > window:
                        continue
                elif i - begin >= near and anchors <= back < i - begin - anchors:
                    continue
                given += 1
                if found < room:
                    out_a[found] = other
                    out_b[found] = row
                found += 1
    stored = min(found, room)
    return out_a[:stored], out_b[:stored], found


@kernel()
def has_longest(sentences, pieces, piece_rows, a, b):
    """Whether one of the rows a i8[P], b i8[P] has a longest sentence of the other anywhere in its text: u1[P].

    sentences u8[N,S] (0: none); pieces u8[M] all sentences by row, offsets piece_rows i8[N+1].
    """
    out = np.zeros(a.shape[0], np.uint8)
    for p in range(a.shape[0]):
        for side in range(2):
            x, y = (a[p], b[p]) if side == 0 else (b[p], a[p])
            for i in range(sentences.shape[1]):
                value = sentences[x, i]
                if value == _U0 or out[p]:
                    continue
                for j in range(piece_rows[y], piece_rows[y + 1]):
                    if pieces[j] == value:
                        out[p] = 1
                        break
    return out


@kernel()
def _root(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel()
def add_links(parent, size, alike, every, a, b, same):
    """Join the components of each pair a i8[P], b i8[P] and count it there, as alike where same u1[P].

    parent, size, alike, every i8[N] are changed: at the root of a component its rows and its pairs.
    """
    for p in range(a.shape[0]):
        x, y = _root(parent, a[p]), _root(parent, b[p])
        if x != y:
            if size[x] < size[y]:
                x, y = y, x
            parent[y] = x
            size[x] += size[y]
            alike[x] += alike[y]
            every[x] += every[y]
        every[x] += 1
        alike[x] += same[p]


@kernel()
def follow(first, a, b, same, apart, loose, extra, score, node, parent, size, alike, every, family, form, keeper, held):
    """Which earlier row each row is removed for: the best of the kept rows that it is the same as.

    Parameters: first, the row from which on rows are decided; the verified pairs a i8[P], b i8[P] (a < b), sorted
    by b, then a, with same, apart, loose and extra u1[P] (loose: counts for families; extra: none of the sources
    proposed it) and score f4[P]; node i8[N] of each row in the arrays of `add_links`, which are changed; `family`,
    the rows that make one, and `form`, the score under which pairs of a family do not count as same; keeper i8[N], of
    the rows before `first` the row that each was removed for (itself where it stays, -1 where that is not at hand).
    Changes keeper of the others, and sets held u1[P] where a pair was held back.

    A row is removed for no row of which a member is kept apart from it. Where a row is the same as one that was
    itself removed, it is compared with what that one was removed for: returns the pairs earlier i8[Q], later
    i8[Q] that are not among the given ones. Then the call is to be made again with these.
    """
    missing_a = np.empty(a.shape[0], np.int64)
    missing_b = np.empty(a.shape[0], np.int64)
    missing = 0
    end = 0
    for row in range(first, keeper.shape[0]):
        keeper[row] = row
        asked = missing
        begin = end
        while begin < b.shape[0] and b[begin] < row:
            begin += 1
        end = begin
        while end < b.shape[0] and b[end] == row:
            end += 1
        for p in range(begin, end):
            if loose[p]:
                x, y = _root(parent, node[a[p]]), _root(parent, node[row])
                if x != y:
                    if size[x] < size[y]:
                        x, y = y, x
                    parent[y] = x
                    size[x] += size[y]
                    alike[x] += alike[y]
                    every[x] += every[y]
                every[x] += 1
                alike[x] += same[p]
        root = _root(parent, node[row])
        is_family = size[root] >= family and 2 * alike[root] < every[root]
        best, best_score = -1, np.float32(-1)
        for p in range(begin, end):
            held[p] = same[p] and is_family and score[p] < form
        for p in range(begin, end):
            if extra[p] or not same[p] or held[p] or keeper[a[p]] < 0:
                continue
            leader, link = keeper[a[p]], p
            if leader != a[p]:
                link = -1
                for q in range(begin, end):
                    if a[q] == leader:
                        link = q
                if link < 0:
                    new = True
                    for q in range(asked, missing):
                        new &= missing_a[q] != leader
                    if new:
                        missing_a[missing] = leader
                        missing_b[missing] = row
                        missing += 1
                    continue
            blocked = not same[link] or held[link]
            for q in range(begin, end):
                blocked |= apart[q] and not extra[q] and keeper[a[q]] == leader
            better = score[link] > best_score or (score[link] == best_score and leader < best)
            if not blocked and better:
                best, best_score = leader, score[link]
        if best >= 0:
            keeper[row] = best
    return missing_a[:missing], missing_b[:missing]
