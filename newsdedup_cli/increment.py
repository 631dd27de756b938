"""New rows beside a history: while a run decides, the stored rows that matter come first, as they were added, then the
new ones, so that the same stages serve both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from newsdedup_cli.boilerplate import rows_with, strip
from newsdedup_cli.candidates import Order
from newsdedup_cli.dates import day_of
from newsdedup_cli.evidence import Evidence, select, to_arrow
from newsdedup_cli.fingerprint import join_batches
from newsdedup_cli.follow import Before, Families
from newsdedup_cli.index.lookup import History, Past
from newsdedup_cli.index.seek import New
from newsdedup_cli.index.store import BOILERPLATE, DECISION, GROUP_ROWS, LINKS, Index, Staged
from newsdedup_cli.kernels import store
from newsdedup_cli.names import row_names
from newsdedup_cli.scan import Scanned, join_rows
from newsdedup_cli.settings import Matching
from newsdedup_cli.spill import release
from newsdedup_cli.stripping import LeftOut
from newsdedup_cli.tables import I64, REASONS, SAME, U8, U64, UNKNOWN, Fingerprints, Outcome, Rows, Verified
from newsdedup_cli.texts import TextStore, buffers, strings

NEW_PIECES = 20  # pieces of new boilerplate that are named
OWN = 255  # Fingerprints.alone of new rows that are in the index themselves, while the others are decided


class JoinedTexts:
    """The texts of stored rows, then of new ones, by position; stored ones are read when they are asked for."""

    def __init__(
        self,
        past: Past,
        new: TextStore,
        old: TextStore,
        leave_out: Callable[[pa.LargeStringArray], pa.LargeStringArray],
    ) -> None:
        self._past, self._new, self._old, self._leave_out = past, new, old, leave_out
        self._place = np.full(len(past), -1)
        self._known = 0
        self._guard = threading.Lock()

    def gather(self, rows: I64) -> tuple[U8, I64]:
        """The texts of the rows: data u1[B], offsets i8[R+1]."""
        old = rows < len(self._past)
        if not old.any():
            return self._new.gather(rows - len(self._past))
        with self._guard:
            self._load(rows[old])
            stored = strings(*self._old.gather(self._place[rows[old]]))
        new = strings(*self._new.gather(rows[~old] - len(self._past)))
        place = np.empty(len(rows), np.int64)
        place[np.concatenate([np.flatnonzero(old), np.flatnonzero(~old)])] = np.arange(len(rows))
        return buffers(pa.concat_arrays([stored, new]).take(pa.array(place)))

    def load(self, rows: I64) -> None:
        """Read the texts of those of the rows that are stored, all at once: that is cheaper than bit by bit."""
        with self._guard:
            self._load(rows[rows < len(self._past)])

    def _load(self, rows: I64) -> None:
        missing = np.unique(rows[self._place[rows] < 0])
        for begin in range(0, len(missing), 8192):
            some = missing[begin : begin + 8192]
            self._old.append(*buffers(self._leave_out(self._past.texts(some))))
            self._place[some] = np.arange(self._known, self._known + len(some))
            self._known += len(some)


def with_known(left_out: LeftOut, known: pa.Table) -> LeftOut:
    """What recurs in these rows, and what was learnt before."""
    hashes = known["hash"].combine_chunks().to_numpy()
    stays = known["left_out"].combine_chunks().to_numpy(zero_copy_only=False)
    return replace(
        left_out, common=np.union1d(left_out.common, hashes), hashes=np.union1d(left_out.hashes, hashes[stays])
    )


def new_rows(scanned: Scanned) -> New:
    """The rows of a run, as an index takes them."""
    named = row_names(scanned.rows.id, scanned.rows.file, scanned.files)
    rows = replace(scanned.rows, id=named)
    hashes: U64 = store.hash_rows(*buffers(named), np.zeros(len(rows), np.uint64))
    evidence = Evidence(
        scanned.batch, rows, scanned.files, scanned.identity, None, None, scanned.content, scanned.as_read
    )
    return New(evidence, hashes, row_in_file(scanned.rows))


def row_in_file(rows: Rows) -> I64:
    """Each row's number in its file, from 1."""
    place = np.arange(len(rows))
    first = np.zeros(int(rows.file.max()) + 1 if len(rows) else 1, np.int64)
    first[rows.file[::-1]] = place[::-1]
    found: I64 = place - first[rows.file] + 1
    return found


def joined(past: Past, scanned: Scanned) -> Scanned:
    """The stored rows, then the new ones. Those that are stored themselves are compared with nothing any more."""
    stored = past.rows
    batch = join_batches([stored.batch, scanned.batch])
    batch.fingerprints.alone[len(past) + past.own.position] = OWN
    rows = join_rows([replace(stored.rows, file=stored.rows.file + len(scanned.files)), scanned.rows])
    nothing = np.zeros((len(past), 2), np.uint64)
    content = stored.content if stored.content is not None else nothing
    as_read = stored.as_read if stored.as_read is not None else nothing[:, 0]
    return replace(
        scanned,
        batch=batch,
        rows=rows,
        identity=np.concatenate([stored.identity, scanned.identity]),
        files=[*scanned.files, *stored.files],
        content=np.concatenate([content, scanned.content]),
        as_read=np.concatenate([as_read, scanned.as_read]),
    )


def before(past: Past | None, history: History | None, rows: int) -> Before:
    """What is known of the rows before the new ones; nothing without a history."""
    if past is None or history is None:
        none = np.zeros(0, np.int64)
        return Before(none, np.arange(rows), Families.of(rows, none, none, np.zeros(0, np.uint8)))
    fresh = np.arange(history.numbers, history.numbers + rows - len(past))
    families = Families.of(history.numbers + len(fresh), *history.links())
    return Before(past.keeper, np.concatenate([past.number, fresh]), families)


class Decisive(Protocol):
    """What of a run is put together with stored rows, and goes into an index (see pipeline.Run)."""

    scanned: Scanned
    prints: Fingerprints
    texts: TextStore | JoinedTexts
    new: Scanned
    new_texts: TextStore
    stored_texts: Callable[[], TextStore]
    matching: Matching
    past: Past | None
    history: History | None
    rank: I64
    order: Order
    representative: I64
    boilerplate: U64
    left_out: LeftOut
    alike: Verified


def join(run: Decisive, history: History) -> None:
    """Put the stored rows that matter in front of the new ones, in all that the run has of them."""

    def without_boilerplate(texts: pa.LargeStringArray) -> pa.LargeStringArray:
        return strip(texts, run.left_out.hashes, run.matching.least_piece)

    past = history.look_up(new_rows(run.new), run.boilerplate, run.matching, run.order.window)
    run.past, run.scanned = past, joined(past, run.new)
    run.prints = run.scanned.batch.fingerprints
    run.texts = JoinedTexts(past, run.new_texts, run.stored_texts(), without_boilerplate)
    run.rank = np.concatenate([np.arange(len(past)), len(past) + run.rank])
    run.order = replace(run.order, date=run.scanned.rows.date, past=len(past))


def staged(run: Decisive, outcome: Outcome, index: Index) -> Staged:
    """Write the new rows beside the index, without adding them yet; those that are in it already are left out."""
    today = day_of(time.time_ns() // 1000)
    past = run.past
    n = 0 if past is None else len(past)
    own = np.zeros(0, np.int64) if past is None else past.own.position
    fresh = np.setdiff1d(np.arange(len(run.new.rows)), own)
    number = _numbers(run, index, fresh, n)
    lines = _decision(outcome, number, run.representative, n, fresh)
    made = Staged(index, next_number=index.manifest.next_number + len(fresh))
    rows = new_rows(run.new)
    date = run.new.rows.date[fresh]
    days = np.array([today if moment == UNKNOWN else day_of(int(moment)) for moment in date.tolist()], object)
    for day in sorted(set(days)):
        some = np.flatnonzero(days == day)
        made.write_part("rows", _tables(rows, run.new_texts, fresh, some, lines), day)
    _stage_links(made, run.alike, number)
    _stage_boilerplate(made, run.left_out, today)
    made.news = _new_boilerplate(run)
    return made


def _numbers(run: Decisive, index: Index, fresh: I64, n: int) -> I64:
    """The number in `index` of each stored and new row, -1 for those that are not in it."""
    number = np.full(n + len(run.new.rows), -1)
    if run.past is not None and run.history is not None:
        own = run.past.own
        where = [i for i, one in enumerate(run.history.indexes) if one is index]
        if where:
            low, high = run.history.offsets[where[0]], run.history.offsets[where[0] + 1]
            for rows, numbers in ((np.arange(n), run.past.number), (n + own.position, own.number)):
                number[rows] = np.where((numbers >= low) & (numbers < high), numbers - low, -1)
    number[n + fresh] = index.manifest.next_number + np.arange(len(fresh))
    return number


def _decision(outcome: Outcome, number: I64, representative: I64, n: int, fresh: I64) -> pa.Table:
    """DECISION for the new rows, but for what does not come from it."""
    row = n + fresh
    size = len(number)
    link = outcome.clusters.link
    figures = {"reason": np.full(size, "", object)}
    figures["reason"][link.a] = np.array(REASONS, object)[outcome.reason]
    for name in ("distance", "shared_sentences", "score"):
        values = getattr(link, name)
        figures[name] = np.zeros(size, values.dtype)
        figures[name][link.a] = values
    return pa.table(
        {
            "number": number[row],
            # What is removed for a row of another index stands for itself in this one.
            "representative": _or_own(number, representative[row], row),
            "kept_row": _or_own(number, outcome.clusters.kept_row[row], row),
            **{name: values[row] for name, values in figures.items()},
        }
    )


def _or_own(number: I64, wanted: I64, row: I64) -> I64:
    return np.where(number[wanted] >= 0, number[wanted], number[row])


def _tables(rows: New, texts: TextStore, fresh: I64, some: I64, lines: pa.Table) -> Iterator[pa.Table]:
    for begin in range(0, len(some), GROUP_ROWS):
        at = some[begin : begin + GROUP_ROWS]
        part = select(rows.evidence, fresh[at])
        part.cleaned = strings(*texts.gather(fresh[at]))
        table = pa.Table.from_batches([to_arrow(part)])
        decided = lines.take(pa.array(at)).append_column("id_hash", pa.array(rows.id_hash[fresh[at]]))
        decided = decided.append_column("file_row", pa.array(rows.file_row[fresh[at]]))
        for field in DECISION:
            table = table.append_column(field, decided[field.name].cast(field.type))
        yield table
        release()


def unknown_pieces(run: Decisive) -> list[tuple[int, str, int]]:
    """What was learnt from these rows that the history did not know: hash, text and rows of each piece."""
    known = set([] if run.history is None else run.history.boilerplate()["hash"].to_pylist())
    return [piece for piece in run.left_out.learnt if piece[0] not in known]


def _new_boilerplate(run: Decisive) -> list[dict[str, Any]]:
    """The pieces learnt from these rows that the history did not know: text, rows, and the source with most of them."""
    batch, found = run.new.batch, []
    for value, text, rows in sorted(unknown_pieces(run), key=lambda piece: (-piece[2], piece[1]))[:NEW_PIECES]:
        at = rows_with(batch.pieces, batch.piece_rows, np.array([value], np.uint64))
        names = run.new.rows.source.take(pa.array(at)).drop_null().value_counts().to_pylist()
        source = max(names, key=lambda one: (one["counts"], one["values"]), default={"values": ""})["values"]
        found.append({"text": text[:200], "rows": rows, "source": source})
    return found


def _stage_links(made: Staged, alike: Verified, number: I64) -> None:
    a, b = number[alike.a], number[alike.b]
    known = (a >= 0) & (b >= 0)
    same = (alike.verdict == SAME).astype(np.uint8)
    made.write_part("links", [pa.table([a[known], b[known], same[known]], schema=LINKS)])


def _stage_boilerplate(made: Staged, left_out: LeftOut, today: str) -> None:
    learnt = left_out.learnt
    hashes = np.array([piece[0] for piece in learnt], np.uint64)
    common = np.setdiff1d(left_out.learnt_common, hashes)
    columns = [
        np.concatenate([hashes, common]),
        np.arange(len(hashes) + len(common)) < len(hashes),
        [piece[2] for piece in learnt] + [0] * len(common),
        [piece[1] for piece in learnt] + [""] * len(common),
        [today] * (len(hashes) + len(common)),
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, BOILERPLATE, strict=True)]
    made.write_part("boilerplate", [pa.table(arrays, schema=BOILERPLATE)])
