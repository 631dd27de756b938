"""`newsdedup run`: remove the copies."""

from __future__ import annotations

from typing import Any

import click

from newsdedup_cli.commands.options import (
    COLUMNS,
    HISTORY,
    KEEPING,
    MATCHING,
    READING,
    REVIEWED,
    RUNNING,
    WRITING,
    gathered,
    with_options,
)
from newsdedup_cli.settings import as_toml


@click.command(name="run")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@with_options(WRITING, COLUMNS, READING, MATCHING, KEEPING, HISTORY, [REVIEWED], RUNNING)
def command(inputs: tuple[str, ...], **values: Any) -> None:
    """Keep one row of each article: OUT gets the kept rows as they came in, the report folder the rest.

    INPUT is one or more files (CSV, TSV, XLSX, Parquet, JSONL), quoted globs, or - for stdin; all are one corpus.
    The input is streamed twice; memory grows with fingerprints and sentence hashes, not with texts.

    \b
    newsdedup run news.parquet -o unique.parquet
    newsdedup run 'crawl/*.jsonl' -o unique.csv --bom --keep earliest
    newsdedup run old.csv new.xlsx -o all.parquet --mark
    newsdedup run today.jsonl -o unique.jsonl --date pub_time --index history --window 7d
    """
    settings = gathered(values)
    if values["print_config"]:
        click.echo(as_toml(settings), nl=False)
        return
    from newsdedup_cli import job, task

    done = job.run(task.Job.from_options(inputs, values), settings)
    if values["as_json"]:
        click.echo(done.as_json())
    if not values["quiet"]:
        click.echo(done.summary(), err=True)
    if values["strict"] and done.problems:
        raise SystemExit(1)
