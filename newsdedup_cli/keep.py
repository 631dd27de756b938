"""Which row of a cluster stays: a rank over all rows, the same for any order of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.settings import Keeping
from newsdedup_cli.tables import I32, I64, U64, UNKNOWN, Rows


def row_ranks(keeping: Keeping, rows: Rows, significant: I32, digest: U64, identity: U64) -> I64:
    """`ranks` of rows as they were read."""
    places = {name: place for place, name in enumerate(keeping.prefer_source)}
    names = rows.source.to_pylist() if places else []
    sources = np.fromiter((places.get(name, len(places)) for name in names), np.int64, len(names))
    if not places:
        sources = np.zeros(len(rows), np.int64)
    return ranks(keeping, rows.date, significant, sources, digest, identity, id_places(rows.id, digest))


def ranks(
    keeping: Keeping,
    dates: I64,
    significant: I32,
    sources: npt.NDArray[np.int64],
    digest: U64,
    identity: U64,
    id_place: I64 | None = None,
) -> I64:
    """The rank i8[N] of each row; of a cluster the row of least rank stays.

    Parameters: dates i8[N] (microseconds, UNKNOWN where there is none), significant i4[N] (characters), sources
    i8[N] (place in the list of preferred sources, its length where absent), digest u8[N,2] of the text, and
    `identity` u8[N], a hash of the row's other values. Ties go to the known date, the longer text, then the
    text's digest, the lesser id (id_place i8[N], see `id_places`) and the row's identity; only rows that are equal in
    all of that fall back on their order.
    """
    rows = np.arange(len(dates))
    id_place = np.zeros(len(rows), np.int64) if id_place is None else id_place
    length = -significant.astype(np.int64)
    known_latest = np.where(dates == UNKNOWN, UNKNOWN, -dates)
    leading: dict[str, list[npt.NDArray[np.int64]]] = {
        "auto": [dates, length],
        "first": [rows],
        "earliest": [dates, length],
        "latest": [known_latest, length],
        "longest": [length, dates],
        "source": [sources, dates, length],
    }
    keys: list[npt.NDArray[np.generic]] = [*leading[keeping.keep], digest[:, 0], digest[:, 1], id_place, identity, rows]
    order = np.lexsort(keys[::-1])
    rank = np.empty(len(rows), np.int64)
    rank[order] = rows
    return rank


def id_places(ids: pa.LargeStringArray, digest: U64) -> I64:
    """The place i8[N] of each row's id among those of rows whose text another row has too; 0 for the others.

    Short ids come before long ones, so that 9 comes before 10; a missing id comes first.
    """
    _, group, count = np.unique(digest[:, 0], return_inverse=True, return_counts=True)
    twice = np.flatnonzero(count[group] > 1)
    place = np.zeros(len(digest), np.int64)
    some = ids.take(pa.array(twice)).fill_null("")
    table = pa.table({"length": pc.binary_length(some), "id": some})
    order = pc.sort_indices(table, sort_keys=[("length", "ascending"), ("id", "ascending")])
    ordered = some.take(order)
    new = np.ones(len(ordered), bool)
    new[1:] = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
    place[twice[order.to_numpy()]] = np.cumsum(new)
    return place
