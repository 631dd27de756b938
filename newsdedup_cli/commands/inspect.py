"""`newsdedup inspect`: what is in the inputs, and the command to use next."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from newsdedup_cli.commands.asking import run_command
from newsdedup_cli.commands.options import COLUMNS, READING, gathered, with_options

if TYPE_CHECKING:
    from newsdedup_cli.survey import Survey

_EXTENSIONS = {".csv", ".tsv", ".txt", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".xlsx", ".xlsm"}
LOOKING = [
    click.option("--tmpdir", type=click.Path(path_type=Path), metavar="DIR", help="Where stdin and workbooks lie."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N rows."),
    click.option("-q", "--quiet", is_flag=True, help="No progress."),
    click.option("-v", "--verbose", is_flag=True, help="Tracebacks."),
    click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON."),
]


@click.command(name="inspect")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@with_options(COLUMNS, READING, LOOKING)
@click.pass_context
def command(ctx: click.Context, /, inputs: tuple[str, ...], **values: Any) -> None:
    """Show what is in the inputs: format and encoding, columns with samples, and what looks wrong.

    Counts empty, short and over-long texts, missing and repeated ids and urls, dates that cannot be read, and
    looks for ids that Excel rounded, wrongly decoded characters, markup and lists left in texts. Ends with the
    `run` command to use next. Streams the input once, and again up to the examples of repeated ids.

    \b
    newsdedup inspect news.csv
    newsdedup inspect 'crawl/*.jsonl' --json
    """
    settings = gathered(values)
    from newsdedup_cli import kernels, survey, survey_text
    from newsdedup_cli.files.base import ReadOptions
    from newsdedup_cli.files.corpus import open_corpus
    from newsdedup_cli.progress import Progress
    from newsdedup_cli.terminal import screen

    progress = Progress(values["quiet"])
    named = [values[role] for role in ("id", "title", "date", "source", "url")] + list(values["text"])
    read = ReadOptions(
        format=values["format_"],
        encoding=values["encoding"],
        delimiter=values["delimiter"],
        quote=values["quote"],
        header=not values["no_header"],
        header_row=values["header_row"],
        sheet=values["sheet"],
        wanted=tuple(name for name in named if name and not name.startswith("#")),
    )
    corpus = open_corpus(inputs, read, values["tmpdir"])
    if not kernels.is_warm():
        progress.say("first run: compiling for this machine, once: a minute or two")
    found = survey.survey(corpus, settings.columns, settings.matching, progress, values["limit"])
    line = _next_command(ctx, inputs, found)
    click.echo(survey_text.as_json(found, line) if values["as_json"] else survey_text.draw(found, screen(), line))


def _next_command(ctx: click.Context, inputs: tuple[str, ...], found: Survey) -> str:
    """The `run` command with all columns spelled out, and an output that can hold the texts."""
    # --limit is for looking only.
    ctx.set_parameter_source("limit", click.core.ParameterSource.DEFAULT)
    line = shlex.split(run_command(ctx, inputs, {}))
    for role, specs in found.specs.items():
        if not ctx.params[role]:
            line += [word for spec in specs for word in (f"--{role}", spec)]
    out = line.index("-o") + 1
    line[out] = _output(line[out], inputs, found)
    if "title" in found.roles and (found.texts is None or 0 < found.rows == found.texts.empty):
        line += ["--scope", "title"]
    elif found.texts is None:
        line += ["--text", "COL"]
    return shlex.join(line)


def _output(named: str, inputs: tuple[str, ...], found: Survey) -> str:
    """An output of the first input's format, unless that cannot hold the texts."""
    if found.files and (inputs[0] == "-" or Path(named).suffix.lower() not in _EXTENSIONS):
        named = f"unique.{found.files[0].format}"
    over_long = found.texts is not None and found.texts.over_long > 0
    return "unique.parquet" if named.lower().endswith((".xlsx", ".xlsm")) and over_long else named
