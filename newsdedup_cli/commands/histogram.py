"""`newsdedup histogram`: how far the rows lie apart, and which threshold to run with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from newsdedup_cli.commands.asking import QUESTION, opened_question, run_command
from newsdedup_cli.commands.options import COLUMNS, MATCHING, READING, gathered, with_options


@click.command(name="histogram")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@with_options(COLUMNS, READING, MATCHING, QUESTION)
@click.option("--png", type=click.Path(path_type=Path), metavar="FILE", help="Draw it as a picture (extra `plot`).")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw it as a vector picture.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write it as one page.")
@click.option("--seed", type=int, default=0, metavar="N", help="Of the sample of a corpus over 100,000 rows. [0]")
@click.pass_context
def command(ctx: click.Context, /, inputs: tuple[str, ...], **values: Any) -> None:
    """Show how far the rows lie apart, where copies end, and what each threshold would merge.

    Distances are counted over all pairs up to 100,000 rows, and sampled beyond, with the sampling error. Scores
    are those of the candidate pairs, verified as `run` does. Ends with the `run` command for the threshold that
    it suggests. Nothing is removed.

    \b
    newsdedup histogram news.csv
    newsdedup histogram 'crawl/*.jsonl' --html distances.html
    """
    settings = gathered(values)
    from newsdedup_cli import histogram, histogram_page, histogram_text
    from newsdedup_cli.terminal import screen

    question = opened_question(inputs, values, settings)
    histogram_page.check([values[kind] for kind in ("png", "svg", "html") if values[kind]])
    found = histogram.histogram(**question, seed=values["seed"])
    chosen = found.suggestion
    line = run_command(ctx, inputs, {chosen.setting: histogram_text.number(chosen.value)})
    if values["as_json"]:
        click.echo(histogram_text.as_json(found, line))
    else:
        click.echo(histogram_text.draw(found, screen(), line))
    histogram_page.write(found, line, values["png"], values["svg"], values["html"])
