"""A survey for a person, in the columns of a terminal, and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict

from newsdedup_cli.errors import visible
from newsdedup_cli.survey import ColumnInfo, FileInfo, Survey
from newsdedup_cli.survey_counts import DateInfo, KeyInfo, Place, Repeated, Sign, TextInfo
from newsdedup_cli.terminal import Screen, clipped, one_line, padded, shortened, table, text_width, wrapped

NAME_WIDTH, TYPE_WIDTH, VALUE_WIDTH = 20, 14, 40
_LABEL = 10  # columns of the words at the left
_SUBJECT = {"late_keys": ("key has", "keys have")}


def draw(found: Survey, screen: Screen, command: str) -> str:
    """The whole answer; `command` is the one to type next, put at its end."""
    parts = [_file(file, screen) for file in found.files]
    parts += [_rows(found, screen), _signs(found, screen), _next(command, screen)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def as_json(found: Survey, command: str) -> str:
    """Every figure, on one line."""
    values = asdict(found)
    for file in values["files"]:
        for column in file["columns"]:
            column["empty_share"] = round(column["empty"] / file["rows"], 4) if file["rows"] else 0.0
    return json.dumps(values | {"command": command}, ensure_ascii=False)


def _labelled(label: str, text: str, screen: Screen) -> list[str]:
    """A word at the left and the text beside it, on as many lines as it takes."""
    lines = wrapped(one_line(text), screen.columns, " " * _LABEL)
    return [padded(label, _LABEL) + lines[0][_LABEL:], *lines[1:]] if lines else []


def _file(file: FileInfo, screen: Screen) -> list[str]:
    lines = [screen.heading(clipped(file.file, screen.columns)), *_labelled("format", _format(file), screen)]
    rejected = "" if file.rejected is None else f", {file.rejected:,} rejected"
    lines += _labelled("rows", f"{file.rows:,}{rejected}", screen)
    for reject in file.first_rejects:
        raw = visible(clipped(reject.raw, VALUE_WIDTH))
        lines += _labelled("rejected", f"line {reject.line}: {reject.reason}: {raw}", screen)
    for warning in file.warnings:
        lines += _labelled("warning", warning.removeprefix(f"{file.file}: "), screen)
    return [*lines, "", *_columns(file, screen)] if file.columns else [*lines, *_labelled("columns", "none", screen)]


def _format(file: FileInfo) -> str:
    details = file.details
    words = [file.format]
    if "encoding" in details:
        why = f" ({details['why']})" if details["why"] else ""
        words.append(f"encoding {details['encoding']}{why}")
    if "delimiter" in details:
        words.append(f"delimiter {details['delimiter']}")
    if "sheet" in details:
        several = details["sheets"] != details["sheet"]
        words.append(f"sheet {visible(details['sheet'])}" + (f" of {details['sheets']}" if several else ""))
    if "writer" in details:
        words.append(f"written by {details['writer']}")
    return ", ".join([*words, _size(file.bytes)])


def _size(size: int) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        size /= 1000  # type: ignore[assignment]
    return f"{size:,.1f} GB"


def _columns(file: FileInfo, screen: Screen) -> list[str]:
    """The columns of a file as a table; what is left of a line goes to the samples."""
    rows = [_column(column, file.rows) for column in file.columns]
    lines = table(("#", "column", "type", "empty", "role"), rows, left=5, indent="")
    room = screen.columns - max(map(text_width, lines)) - 2
    width = max(map(text_width, lines))
    samples = ["samples", *(_samples(column.samples, room) for column in file.columns)]
    return [f"{padded(line, width)}  {sample}".rstrip() for line, sample in zip(lines, samples, strict=True)]


def _column(column: ColumnInfo, rows: int) -> tuple[str, ...]:
    name = shortened(column.name, NAME_WIDTH) if column.name else "(no name)"
    kind = clipped(column.type.partition("<")[0], TYPE_WIDTH)
    return str(column.position), name, kind, _share(column.empty, rows) if rows else "-", column.role


def _share(part: int, whole: int) -> str:
    """A share in percent that is 0% or 100% only where it is exactly that.

    >>> _share(0, 9), _share(1, 9000), _share(8999, 9000), _share(9, 9)
    ('0%', '<1%', '>99%', '100%')
    """
    if part in (0, whole):
        return "100%" if part else "0%"
    percent = 100 * part / whole
    return "<1%" if percent < 1 else ">99%" if percent > 99 else f"{percent:.0f}%"


def _samples(samples: Sequence[str], room: int) -> str:
    """The samples between bars; short ones leave their room to the others."""
    left, bars = len(samples), 3 * (len(samples) - 1)
    widths = sorted(text_width(clipped(sample, room)) for sample in samples)
    free, share = room - bars, room
    for width in widths:
        share = free // left
        if width > share:
            break
        free, left = free - width, left - 1
    return " | ".join(clipped(sample, max(share, 4)) for sample in samples)


def _rows(found: Survey, screen: Screen) -> list[str]:
    title = "All rows" if not found.limited else f"The first {found.rows:,} rows (--limit)"
    lines = [screen.heading(title)]
    for role in ("text", "title", "id", "date", "url", "source"):
        lines += _labelled(role, _role(role, found), screen)
    return lines


def _role(role: str, found: Survey) -> str:
    names = found.roles.get(role)
    if names is None:
        missing = {"text": "no column looks like it: --text COL", "id": "no column: rows are named by their number"}
        return missing.get(role, "no column")
    several = len(found.files) > 1
    name = " and ".join(names)
    if role == "text" and found.texts:
        guess = " (the longest column: no name tells)" if found.text_by_length else ""
        return f"{name}{guess}: {_texts(found.texts)}"
    if role == "date" and found.dates:
        return f"{name}: {_dates(found.dates, several)}"
    keys = {"id": found.ids, "url": found.urls}.get(role)
    return f"{name}: {_keys(keys, several)}" if keys else name


def _texts(texts: TextInfo) -> str:
    counts = (
        f"{texts.empty:,} empty, {texts.too_short:,} too short to compare (under {texts.too_short_under} letters "
        f"and digits), {texts.short:,} short (under {texts.short_under}), {texts.over_long:,} over "
        f"{texts.over_long_over:,} characters"
    )
    if not texts.characters:
        return counts
    if texts.characters["0"] == texts.characters["1"]:
        return f"{counts}; {texts.characters['0']:,} characters each"
    names = {"0": "least", "0.5": "median", "1": "most"}
    told = [f"{names.get(q) or f'{float(q):.0%}'} {size:,}" for q, size in texts.characters.items()]
    return f"{counts}; characters: {', '.join(told)}"


def _keys(keys: KeyInfo, several: bool) -> str:
    words = [f"{keys.missing:,} missing{_rows_of(keys.first_missing, several)}"]
    if not keys.repeated:
        return ", ".join([*words, "none in several rows"])
    told = [f"{visible(shortened(e.value, VALUE_WIDTH))} in {e.count:,} ({_listed(e)})" for e in keys.examples]
    one = keys.repeated == 1
    words.append(f"{keys.repeated:,} {'stands' if one else 'stand'} in several rows ({keys.repeated_rows:,} rows)")
    return f"{', '.join(words)}: {', '.join(told)}{'' if len(told) == keys.repeated else ' ...'}"


def _rows_of(places: Sequence[Place], several: bool) -> str:
    return f" ({', '.join(_named(place, several) for place in places)})" if places else ""


def _listed(example: Repeated) -> str:
    more = " ..." if example.count > len(example.rows) else ""
    return f"rows {', '.join(map(str, example.rows))}{more}"


def _named(place: Place, several: bool) -> str:
    return f"{place.file}:{place.row_in_file}" if several else f"row {place.row}"


def _dates(dates: DateInfo, several: bool) -> str:
    bad = f"{dates.unreadable:,} that cannot be read{_cells(dates.examples, several)}"
    words = [f"{dates.missing:,} missing", bad]
    if dates.unlikely:
        words.append(f"{dates.unlikely:,} before 1900 or after 2100{_cells(dates.unlikely_examples, several)}")
    if dates.span:
        words.append(f"from {dates.span[0]} to {dates.span[1]}")
    return ", ".join(words)


def _cells(places: Sequence[Place], several: bool) -> str:
    told = [f"{visible(clipped(p.value, VALUE_WIDTH))} in {_named(p, several)}" for p in places]
    return f" ({', '.join(told)})" if told else ""


def _signs(found: Survey, screen: Screen) -> list[str]:
    lines = [screen.heading("Suspicious")]
    if not found.signs:
        return [*lines, "nothing"]
    for sign in found.signs:
        lines += _sign(sign, screen, len(found.files) > 1)
    return lines


def _sign(sign: Sign, screen: Screen, several: bool) -> list[str]:
    one, more = _SUBJECT.get(sign.kind, ("row has", "rows have"))
    count = padded(f"{sign.count:,}", _LABEL - 1, right=True)
    lines = wrapped(f"{one if sign.count == 1 else more} {sign.words}", screen.columns, " " * _LABEL)
    lines[0] = f"{count} {lines[0][_LABEL:]}"
    if sign.example:
        shown = f"{_named(sign.example, several)}, {sign.example.column}: {sign.example.value}"
        lines.append(" " * _LABEL + clipped(shown, screen.columns - _LABEL))
    return lines + (wrapped(f"-> {sign.todo}", screen.columns, " " * _LABEL) if sign.todo else [])


def _next(command: str, screen: Screen) -> list[str]:
    """The command, on several lines where it is longer than one, as a shell takes it."""
    lines, line = [], ""
    for word in _words(command):
        if line and text_width(line) + text_width(word) + 3 > screen.columns:
            lines.append(line + " \\")
            line = f"    {word}"
        else:
            line = f"{line} {word}" if line else word
    return [screen.heading("Next"), *(screen.style(text, bold=True) for text in [*lines, line])]


def _words(command: str) -> list[str]:
    """The words as they are typed, an option and its value as one."""
    words = [shlex.quote(word) for word in shlex.split(command)]
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].startswith("-") and " " not in joined[-1] and not word.startswith("-"):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined
