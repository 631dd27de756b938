"""What is told of a run against a history: the new rows as in the input, and behind them the stored rows mentioned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
import pyarrow as pa

from newsdedup_cli.cluster import dense
from newsdedup_cli.index.lookup import Own, Past
from newsdedup_cli.scan import Scanned
from newsdedup_cli.tables import I64, REASONS, SAME, U8, Clusters, Outcome, Rows, Verified
from newsdedup_cli.texts import strings


@dataclass
class Mentioned:
    """Stored rows that are told of: in all tables they stand behind the new rows."""

    rows: int  # new rows
    file_row: I64  # [R] number in its file of each stored row that is mentioned
    compared: int  # stored rows that were looked at
    stored: int  # stored rows that there are
    own: I64  # positions of new rows that were in the index themselves
    shared_ids: I64  # positions of new rows whose id another stored row has
    clashes: I64  # and of those that are not removed for that row
    order: I64  # [N+R] for each row told of its position while it was decided
    new_pieces: int  # pieces of boilerplate that the history did not know


def tell(
    outcome: Outcome, past: Past, scanned: Scanned, stored: int, new_pieces: int = 0
) -> tuple[Outcome, Scanned, Mentioned]:
    """The outcome of stored and new rows as one of the new rows; `stored` rows there are in all."""
    n, size = len(past), len(scanned.rows) - len(past)
    kept, link, reason = _with_own(outcome, past, n)
    # A stored row that is one of the new ones is told as that.
    place = np.concatenate([np.full(n, -1), np.arange(size)])
    same_row = past.position(past.own.number)
    place[same_row[same_row >= 0]] = past.own.position[same_row >= 0]
    some = np.concatenate([kept[n:], outcome.candidates.a, outcome.candidates.b])
    some = np.unique(some[some < n])
    some = some[place[some] < 0]
    place[some] = size + np.arange(len(some))
    order = np.concatenate([np.arange(n, n + size), some])
    kept_row = np.concatenate([place[kept[n:]], size + np.arange(len(some))])
    alone = outcome.alone[order]
    alone[past.own.position] = past.own.alone
    pairs = outcome.candidates
    a, b = place[pairs.a], place[pairs.b]
    told = replace(
        outcome,
        clusters=Clusters(dense(kept_row), kept_row, replace(link, a=place[link.a], b=place[link.b])),
        alone=alone,
        reason=reason,
        candidates=replace(pairs, a=np.minimum(a, b), b=np.maximum(a, b)),
    )
    rows = _rows_at(scanned.rows, order)
    clashes = _clashes(rows.id, kept_row, past.id_elsewhere)
    mentioned = Mentioned(
        size,
        past.file_row[some],
        past.compared,
        stored,
        past.own.position,
        past.id_elsewhere,
        clashes,
        order,
        new_pieces,
    )
    again = replace(scanned, rows=rows, identity=scanned.identity[order])
    return told, replace(again, content=scanned.content[order], as_read=scanned.as_read[order]), mentioned


def named(gather: Callable[[I64], tuple[U8, I64]], rows: I64, at: I64) -> dict[int, str]:
    """The texts of rows that lie `at` those positions for `gather`, by row number, without the empty ones."""
    found = strings(*gather(at[rows])).to_pylist()
    return {row + 1: text for row, text in zip(rows.tolist(), found, strict=True) if text}


def _with_own(outcome: Outcome, past: Past, n: int) -> tuple[I64, Verified, U8]:
    """Kept rows, links and reasons, with what was decided before of the new rows that are stored themselves."""
    own = past.own
    kept, row = outcome.clusters.kept_row.copy(), n + own.position
    keeper = past.position(own.keeper)
    removed = (own.keeper != own.number) & (keeper >= 0)
    kept[row[removed]] = keeper[removed]
    links = [outcome.clusters.link, _own_links(own, row, keeper).where(removed)]
    link = Verified(*(np.concatenate([getattr(part, f.name) for part in links]) for f in fields(Verified)))
    codes = np.array([REASONS.index(name) if name in REASONS else 0 for name in own.reason], np.uint8)
    reason = np.concatenate([outcome.reason, codes[removed]])
    order = np.argsort(link.a, kind="stable")
    return kept, link.where(order), reason[order]


def _own_links(own: Own, row: I64, keeper: I64) -> Verified:
    verdict = np.full(len(row), SAME, np.uint8)
    return Verified(row, keeper, own.distance, own.shared_sentences, own.score, own.score, verdict)


def _rows_at(rows: Rows, order: I64) -> Rows:
    def at(name: str) -> object:
        values = getattr(rows, name)
        return values[order] if isinstance(values, np.ndarray) else values.take(pa.array(order))

    return Rows(**{field.name: at(field.name) for field in fields(Rows)})  # type: ignore[arg-type]


def _clashes(ids: pa.LargeStringArray, kept_row: I64, shared: I64) -> I64:
    """Of the new rows that share an id with a stored row, those that are another story."""
    same = [ids[row].equals(ids[int(kept_row[row])]) and kept_row[row] != row for row in shared.tolist()]
    other: I64 = shared[~np.array(same, bool)]
    return other
