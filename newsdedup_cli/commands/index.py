"""`newsdedup index`: the rows of earlier days, kept to be compared with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from newsdedup_cli.commands.options import COLUMNS, KEEPING, MATCHING, READING, gathered, with_options

FOLDER = click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
ADDING = [
    click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. [all cores]"),
    click.option("--tmpdir", type=click.Path(path_type=Path), metavar="DIR", help="Where cleaned texts lie meanwhile."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N rows."),
    click.option(
        "--config", type=click.Path(path_type=Path), metavar="FILE", help="Settings from a TOML file; options win."
    ),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
    click.option("-v", "--verbose", is_flag=True, help="Tracebacks."),
    JSON,
]


@click.group(name="index")
def command() -> None:
    """Keep the rows of earlier days, and compare new ones with them.

    An index is a folder of Parquet files, one or more for each day. `newsdedup run NEW --index DIR` compares NEW with
    it and adds NEW; `--against DIR` only compares. What is killed leaves it as it was.

    \b
    newsdedup index build history 'crawl/2026-*.jsonl'
    newsdedup run today.jsonl -o unique.jsonl --index history
    newsdedup index info history --history
    newsdedup index prune history --older-than 90d
    """


@command.command(name="build")
@FOLDER
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@with_options(COLUMNS, READING, MATCHING, KEEPING[:2], ADDING)
def build(folder: Path, inputs: tuple[str, ...], **values: Any) -> None:
    """Make the index DIR of the rows of INPUT.

    Its runs must have the options with which it was made (--window and --keep may differ).

    \b
    newsdedup index build history 'crawl/*.jsonl' --date pub_time
    """
    _add(folder, inputs, values, new=True)


@command.command(name="add")
@FOLDER
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@with_options(COLUMNS, READING, MATCHING, KEEPING[:2], ADDING)
def add(folder: Path, inputs: tuple[str, ...], **values: Any) -> None:
    """Add the rows of INPUT to the index DIR; rows that it has already are not added again.

    \b
    newsdedup index add history yesterday.jsonl
    """
    _add(folder, inputs, values, new=False)


def _add(folder: Path, inputs: tuple[str, ...], values: dict[str, Any], new: bool) -> None:
    settings = gathered({"mark": None, **values})
    from newsdedup_cli import index_text, indexing

    job = indexing.reading_job(inputs, values)
    done = (indexing.build if new else indexing.add)(folder, job, settings)
    if values["as_json"]:
        click.echo(json.dumps({**done.counts, "index_rows": done.rows, "seconds": round(done.seconds, 3)}))
    if not values["quiet"]:
        click.echo(index_text.added(done, str(folder)), err=True)


@command.command(name="info")
@FOLDER
@click.option("--history", is_flag=True, help="A table of the runs, and what the last one did out of habit.")
@JSON
def info(folder: Path, history: bool, as_json: bool) -> None:
    """Say what is in the index DIR: rows, days, sizes, runs, and what broke the habit of the runs before.

    \b
    newsdedup index info history --history
    """
    from newsdedup_cli import index_text, indexing
    from newsdedup_cli.terminal import screen

    found = indexing.info(folder)
    if as_json:
        click.echo(json.dumps(found.as_dict(), ensure_ascii=False))
    else:
        click.echo(index_text.info(found, history, screen()))


@command.command(name="prune")
@FOLDER
@click.option("--older-than", required=True, metavar="SPAN", help="Such as 30d or 12w, counted from today.")
def prune(folder: Path, older_than: str) -> None:
    """Remove the rows of days longer ago than SPAN from the index DIR.

    Rows for which younger ones were removed stay: those ones are known by them.

    \b
    newsdedup index prune history --older-than 30d
    """
    from newsdedup_cli import indexing

    gone, stay, before = indexing.prune(folder, older_than)
    click.echo(f"{gone:,} rows of before {before} removed, {stay:,} stay", err=True)


@command.command(name="compact")
@FOLDER
def compact(folder: Path) -> None:
    """Write one file a day instead of many into the index DIR.

    \b
    newsdedup index compact history
    """
    from newsdedup_cli import indexing

    replaced, files = indexing.compact(folder)
    click.echo(f"{replaced:,} files replaced, {files:,} files now", err=True)
