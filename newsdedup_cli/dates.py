"""Dates as people write them, and spans of time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.tables import I64, UNKNOWN

SECOND = 1_000_000
UNITS = {"m": 60 * SECOND, "h": 3600 * SECOND, "d": 86_400 * SECOND, "w": 7 * 86_400 * SECOND}
EXCEL = (18_264, 73_415)  # serial numbers of 1950 and 2101: days since 1899-12-30

_HALF = "(上午|下午|早上|晚上|中午|凌晨)?"
_TIME = rf"(?:[T\s,，]*{_HALF}\s*(\d{{1,2}})\s*[:：时点]\s*(\d{{1,2}})?(?:\s*[:：分]\s*(\d{{1,2}})(\.\d+)?)?)?"
_END = r"\s*[分秒]?\s*([AaPp]\.?[Mm]\.?)?[^\d+\-]*?([+-]\d{2}:?\d{2}|Z)?$"
_DATE = re.compile(rf"(\d{{4}})\D{{1,2}}?(\d{{1,2}})\D{{1,2}}?(\d{{1,2}})[日号]?{_TIME}{_END}")
_SHORT = re.compile(rf"(\d{{1,2}})\s*[-/.月]\s*(\d{{1,2}})[日号]?{_TIME}{_END}")
_COMPACT = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})[T\s]?(\d{2})(\d{2})(\d{2})?$")
_ENGLISH = re.compile(r"(?:[A-Za-z]{3,9},?\s+)?([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b(.*)$")
# Only days that there are in every year, for Arrow takes none that there is not.
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_PLAIN = rf"^(?:19|20)\d\d-{_DAY}(?:[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$"
_LETTERS = re.compile(r"[A-Za-z]{3}")


def parse_date(text: str | None, year: int | None = None) -> int:
    """Microseconds since 1970 of a date as people write it, UNKNOWN where there is none.

    ISO with or without time and zone, 2026年11月30日 8:15, 2026年11月30日下午3点20分, 2026/11/30, 20261130,
    20261130081500, Nov 30, 2026, Mon, 30 Nov 2026 08:15:00 +0800, epoch seconds and milliseconds, Excel's numbers of
    days; with a year given also 11-30 08:15 and 11月30日. Without a zone UTC is taken.

    >>> parse_date("2026-11-30T08:15:00+08:00") == parse_date("2026年11月30日 00:15")
    True
    >>> parse_date("1764460800") == parse_date("2025-11-30")
    True
    >>> parse_date("11-30 08:15", 2026) == parse_date("2026-11-30 08:15") == parse_date("46356.34375")
    True
    >>> parse_date("yesterday") == UNKNOWN
    True
    """
    text = (text or "").strip()
    if text[:1].isascii() and text.replace(".", "", 1).isdigit():
        return _number_date(text)
    match = _DATE.match(text)
    if match:
        return _moment(*match.groups())
    match = _SHORT.match(text) if year else None
    if match:
        return _moment(str(year), *match.groups())
    return _english_date(text) if _LETTERS.search(text) else UNKNOWN


def _moment(
    year: str, month: str, day: str, half: str | None, hour: str | None, minute: str | None, second: str | None,
    fraction: str | None, english_half: str | None, zone: str | None,
) -> int:  # fmt: skip
    late = half in ("下午", "晚上") or (english_half or "").lower().startswith("p") or (half == "中午" and hour == "1")
    hours = int(hour or 0)
    if late and hours < 12:
        hours += 12
    elif hours == 12 and ((english_half or "").lower().startswith("a") or half == "凌晨"):
        hours = 0
    try:
        moment = datetime(int(year), int(month), int(day), hours, int(minute or 0), int(second or 0), tzinfo=UTC)
    except ValueError:
        return UNKNOWN
    micros = int(moment.timestamp()) * SECOND + int(float(fraction or 0) * SECOND)
    return micros - _zone_seconds(zone) * SECOND


def _number_date(text: str) -> int:
    whole, _, rest = text.partition(".")
    if len(whole) == 8 and whole[:2] in ("19", "20") and not rest:
        return parse_date(f"{whole[:4]}-{whole[4:6]}-{whole[6:]}")
    match = _COMPACT.match(text)
    if match:
        parsed = parse_date("{}-{}-{} {}:{}:{}".format(*match.groups("00")))
        if parsed != UNKNOWN:
            return parsed
    if len(whole) == 5 and EXCEL[0] <= int(whole) < EXCEL[1]:
        days = float(text) - 25_569
        return round(days * 86_400) * SECOND
    if len(whole) == 4 and rest:
        return UNKNOWN  # 2026.11 says no day
    scale = {10: SECOND, 13: 1_000, 16: 1}.get(len(whole))
    return UNKNOWN if scale is None else int(whole) * scale + int(float(f"0.{rest or 0}") * scale)


def _english_date(text: str) -> int:
    match = _ENGLISH.match(text)
    if match:
        month, day, year, rest = match.groups()
        text = f"{day} {month[:3]} {year} {rest.strip(' ,') or '00:00'}"
        text = re.sub(r"(\d)\s*([AaPp])\.?[Mm]\.?.*$", r"\1 \2M", text)
    half = re.search(r"\s([AP])M$", text.upper())
    text = text[: half.start()] if half else text
    parsed = parsedate_tz(text) or parsedate_tz(f"{text} 00:00")
    if parsed is None:
        return UNKNOWN
    hour = parsed[3] % 12 + 12 * (half.group(1) == "P") if half else parsed[3]
    try:
        moment = datetime(*parsed[:3], hour, *parsed[4:6], tzinfo=UTC)
    except ValueError:
        return UNKNOWN
    return (int(moment.timestamp()) - (parsed[9] or 0)) * SECOND


def _zone_seconds(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def parse_dates(texts: pa.LargeStringArray, year: int | None = None) -> I64:
    """`parse_date` of each; those as databases write them, which are most, all at once."""
    out = np.full(len(texts), UNKNOWN)
    plain = pc.match_substring_regex(texts, _PLAIN).fill_null(False)
    moments = pc.cast(pc.cast(texts.filter(plain), pa.timestamp("us")), pa.int64())
    is_plain = plain.to_numpy(zero_copy_only=False)
    out[is_plain] = moments.to_numpy(zero_copy_only=False)
    others = np.flatnonzero(~is_plain & texts.is_valid().to_numpy(zero_copy_only=False))
    parse = lru_cache(maxsize=8192)(parse_date)
    out[others] = [parse(text, year) for text in texts.take(pa.array(others)).to_pylist()]
    return out


def parse_span(text: str) -> int:
    """Microseconds of a span such as 7d, 12h, 2w or 30m. Raises UserError for any other text.

    >>> parse_span("7d") == parse_span("1w") == 14 * parse_span("12h")
    True
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([mhdw])(?:ays?|ours?|eeks?|in|inutes?|our|ay|eek)?\s*", text.lower())
    span = float(match.group(1)) * UNITS[match.group(2)] if match else 0
    if not 0 < span < UNKNOWN / 4:
        raise UserError(f"a span of {visible(text)}", wanted="a number and m, h, d or w, such as 7d, 12h or 2w")
    return int(span)


def day_of(moment: int) -> str:
    """The day of a moment in microseconds since 1970, in UTC.

    >>> day_of(0)
    '1970-01-01'
    """
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)).date().isoformat()
    except OverflowError:
        return "9999-12-31" if moment > 0 else "0001-01-01"
