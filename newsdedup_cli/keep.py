"""Which row of a cluster stays: a rank over all rows, the same for any order of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from newsdedup_cli.settings import Keeping
from newsdedup_cli.tables import I32, I64, U64, UNKNOWN


def ranks(
    keeping: Keeping,
    dates: I64,
    significant: I32,
    sources: npt.NDArray[np.int64],
    digest: U64,
    identity: U64,
) -> I64:
    """The rank i8[N] of each row; of a cluster the row of least rank stays.

    Parameters: dates i8[N] (microseconds, UNKNOWN where there is none), significant i4[N] (characters), sources
    i8[N] (place in the list of preferred sources, its length where absent), digest u8[N,2] of the text, and
    `identity` u8[N], a hash of the row's other values. Ties go to the known date, the longer text, then the
    text's digest and the row's identity; only rows that are equal in all of that fall back on their order.
    """
    rows = np.arange(len(dates))
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
    keys: list[npt.NDArray[np.generic]] = [*leading[keeping.keep], digest[:, 0], digest[:, 1], identity, rows]
    order = np.lexsort(keys[::-1])
    rank = np.empty(len(rows), np.int64)
    rank[order] = rows
    return rank


_DATE = re.compile(
    r"(\d{4})\D{1,2}?(\d{1,2})\D{1,2}?(\d{1,2})日?(?:[T\s]*(\d{1,2})[:时](\d{1,2})?(?:[:分](\d{1,2})(\.\d+)?)?)?"
    r"\D*?([+-]\d{2}:?\d{2}|Z)?$"
)


def parse_date(text: str | None) -> int:
    """Microseconds since 1970 of a date as people write it, UNKNOWN where there is none.

    ISO with or without time and zone, 2026年11月30日 8:15, 2026/11/30, 20261130, epoch seconds and milliseconds.

    >>> parse_date("2026-11-30T08:15:00+08:00") == parse_date("2026年11月30日 00:15")
    True
    >>> parse_date("1764460800") == parse_date("2025-11-30")
    True
    >>> parse_date("yesterday") == UNKNOWN
    True
    """
    text = (text or "").strip()
    if text.isascii() and text.isdigit():
        return _number_date(text)
    match = _DATE.match(text)
    if not match:
        return UNKNOWN
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        return UNKNOWN
    micros = int(moment.timestamp()) * 1_000_000 + int(float(fraction or 0) * 1_000_000)
    return micros - _zone_seconds(zone) * 1_000_000


def _number_date(text: str) -> int:
    if len(text) == 8 and text[:2] in ("19", "20"):
        return parse_date(f"{text[:4]}-{text[4:6]}-{text[6:]}")
    scale = {10: 1_000_000, 13: 1_000, 16: 1}.get(len(text))
    return UNKNOWN if scale is None else int(text) * scale


def _zone_seconds(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def parse_dates(texts: Sequence[str | None]) -> I64:
    """`parse_date` of each."""
    return np.fromiter(map(parse_date, texts), np.int64, len(texts))
