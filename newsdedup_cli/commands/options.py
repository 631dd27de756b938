"""The options that commands share, by group."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from newsdedup_cli import settings

F = Callable[..., Any]


class Size(click.ParamType[int]):
    """A number of bytes, with K, M, G or T after it in steps of 1,024, as `sort -S` takes it."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """
        >>> Size().convert("1.5g", None, None)
        1610612736
        """
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", str(value).strip().upper())
        if not found:
            self.fail(f"{value!r} is no size; wanted: 512M, 4G", param, ctx)
        return int(float(found[1]) * 1024 ** " KMGT".index(found[2] or " "))


COLUMNS = [
    click.option("--id", "id", metavar="COL", help="Column that names a row. COL: a name, or #N from 1."),
    click.option("--title", metavar="COL", help="Column of the headline."),
    click.option("--text", multiple=True, metavar="COL", help="Column that is compared; may repeat."),
    click.option("--date", metavar="COL", help="Column of the time of publication."),
    click.option("--source", metavar="COL", help="Column of the outlet."),
    click.option("--url", metavar="COL", help="Column of the address; rows of one address are versions."),
]
READING = [
    click.option("--format", "format_", metavar="F", help="csv, tsv, jsonl, parquet or xlsx; for - and odd names."),
    click.option("--encoding", metavar="E", help="Encoding of text files, where the guess is wrong."),
    click.option("--delimiter", metavar="C", help="Field delimiter of CSV files."),
    click.option("--quote", metavar="C", help="Quote character of CSV files."),
    click.option("--no-header", is_flag=True, help="The first line is a row; name columns by #N."),
    click.option("--header-row", type=click.IntRange(1), metavar="N", help="Line of the header."),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook."),
]
MATCHING = [
    click.option("--preset", type=click.Choice(settings.PRESETS), help="A set of these options; default: default."),
    click.option(
        "--max-distance",
        type=click.IntRange(0, 64),
        metavar="BITS",
        help="Simhash distance that proposes a pair. [8]",
    ),
    click.option(
        "--min-score",
        type=click.FloatRange(0, 1),
        metavar="S",
        help="Score from which a pair is a copy. [0.62]",
    ),
    click.option(
        "--versions",
        type=click.Choice(["all", "keep-latest"]),
        help="Rows of one url: keep all that differ, or the latest.",
    ),
    click.option(
        "--sentences",
        type=click.IntRange(1, 32),
        metavar="N",
        help="Longest sentences that propose a pair. [5]",
    ),
    click.option("--weights", type=click.Choice(["capped", "tf"]), help="Words counted at most 3 times, or all."),
    click.option("--scope", type=click.Choice(settings.SCOPES), help="Compare the text, title and lead, or the title."),
    click.option(
        "--numbers",
        type=click.Choice(["guard", "ignore"]),
        help="Whether differing figures keep a pair apart.",
    ),
    click.option(
        "--boilerplate",
        "boilerplate_file",
        type=click.Path(),
        metavar="FILE",
        help="Lines to leave out, one a line.",
    ),
    click.option("--no-boilerplate", is_flag=True, help="Learn no boilerplate from the corpus."),
    click.option("--fold-script", is_flag=True, default=None, help="Compare traditional characters as simplified."),
    click.option("--verify", type=click.Choice(settings.VERIFIERS), help="How a proposed pair is judged."),
    click.option("--userdict", type=click.Path(), metavar="FILE", help="A jieba user dictionary."),
    click.option(
        "--window", metavar="SPAN", help="Rows further apart in time are no copies: 7d, 12h, 2w. Needs --date."
    ),
    click.option("--year", metavar="YYYY", help="Year of dates written without one."),
    click.option("--sentence-ends", type=click.Choice(["code", "described"]), help="How classic-nshash splits."),
]
KEEPING = [
    click.option("--keep", type=click.Choice(settings.KEEPS), help="Which row of a cluster stays. [auto]"),
    click.option("--prefer-source", metavar="A,B,C", help="For --keep source: most preferred first."),
    click.option("--mark", is_flag=True, default=None, help="Write all rows with our columns appended, none removed."),
]
RUNNING = [
    click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. [all cores]"),
    click.option(
        "--tmpdir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Where cleaned texts, and what memory has no room for, lie meanwhile. [OUT's folder]",
    ),
    click.option(
        "--memory",
        type=Size(),
        metavar="SIZE",
        help="What the run should stay under: 512M, 4G. What is kept of rows beyond goes to --tmpdir. [1G]",
    ),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N rows."),
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Settings from a TOML file; options win.",
    ),
    click.option("--print-config", is_flag=True, help="Print the settings as TOML and stop."),
    click.option("--strict", is_flag=True, help="Exit 1 where anything was rejected, mended or warned of."),
    click.option(
        "--max-rejects",
        type=click.IntRange(0),
        metavar="N",
        help="Stop (exit 2) when more than N lines are no rows.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
    click.option("-v", "--verbose", is_flag=True, help="Seconds and memory per stage; tracebacks."),
    click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON on stdout."),
]
REVIEWED = click.option(
    "--decisions",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Reviewed pairs: same merges, different keeps apart; may repeat.",
)
HISTORY = [
    click.option(
        "--against",
        multiple=True,
        metavar="OLD",
        help="Rows of before: a file, a pattern or an index; only rows of INPUT are written or removed. May repeat.",
    ),
    click.option(
        "--index",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Like --against DIR, and DIR takes the rows of this run; it is made where it is not there.",
    ),
]
WRITING = [
    click.option("-o", "--output", "out", metavar="OUT", help="Where the kept rows go; - for stdout."),
    click.option("--report", type=click.Path(path_type=Path), metavar="DIR", help="Report folder. [OUT's stem.report]"),
    click.option("--no-report", is_flag=True, help="Write no report."),
    click.option("--no-pages", is_flag=True, help="A report without report.html and report.xlsx: sooner done."),
    click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of report.html. [the terminal's]"),
    click.option("--bom", is_flag=True, help="CSV that Excel opens right: with a byte order mark."),
    click.option("--overwrite", is_flag=True, help="Replace an existing OUT and report."),
    click.option("--dry-run", is_flag=True, help="Write nothing; say what would go."),
]


def with_options(*groups: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    """Add groups of options to a command, in order."""

    def add(function: F) -> F:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return add


def gathered(values: dict[str, Any]) -> settings.Settings:
    """The settings from the configuration file and the options given."""
    given = settings.read_config(values["config"]) if values.get("config") else {}
    sections: dict[str, Any] = {
        "columns": settings.Columns,
        "matching": settings.Matching,
        "keeping": settings.Keeping,
    }
    values = _spelled(values)
    for section, kind in sections.items():
        names = kind.__dataclass_fields__
        chosen = {name: values[name] for name in names if values.get(name) not in (None, ())}
        if chosen:
            given.setdefault(section, {}).update(chosen)
    return settings.settings_from(given)


def _spelled(values: dict[str, Any]) -> dict[str, Any]:
    """The option values under the names and in the types of the settings."""
    values = dict(values)
    if values.pop("no_boilerplate", False):
        values["boilerplate"] = False
    if values.get("prefer_source"):
        values["prefer_source"] = tuple(name.strip() for name in values["prefer_source"].split(","))
    return values
