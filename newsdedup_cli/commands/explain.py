"""`newsdedup explain`: why two rows were, or were not, taken for copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from newsdedup_cli.commands.asking import QUESTION, opened_question, reported
from newsdedup_cli.commands.options import COLUMNS, KEEPING, MATCHING, READING, gathered, with_options


@click.command(name="explain")
@click.argument("id1")
@click.argument("id2")
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@with_options(COLUMNS, READING, MATCHING, KEEPING, QUESTION)
@click.option("--report", type=click.Path(path_type=Path), metavar="DIR", help="Inputs and settings of that run.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write it as one page too.")
def command(id1: str, id2: str, inputs: tuple[str, ...], **values: Any) -> None:
    """Say why two rows were, or were not, taken for copies: the verdict of `run`, each rule, both texts.

    ID1 and ID2 are ids as text (000123 is not 123), or # and a row number: '#17'. The corpus is decided as `run`
    decides it, since what is boilerplate depends on all of it. Works as well for rows that were not merged.

    \b
    newsdedup explain 000123 123 news.csv
    newsdedup explain '#1' '#2' --report unique.report --html pair.html
    """
    from newsdedup_cli import decisions, explain, explain_page, explain_text
    from newsdedup_cli.terminal import screen

    decided = decisions.stored(values["report"]) if values["report"] else None
    if values["report"]:
        inputs, values, settings = reported(values["report"], inputs, values)
    else:
        settings = gathered(values)
    explain_page.check(values["html"])
    question = opened_question(inputs, values, settings)
    names = explain.read_names(question["corpus"], question["columns"], question["limit"])
    a, b = names.find(id1), names.find(id2)
    explain.refuse_equal(a, b, names)
    with explain.asked(**question, decided=decided) as asked:
        found = asked.explain(a, b)
    if values["as_json"]:
        click.echo(explain_text.as_json(found))
    else:
        click.echo(explain_text.draw(found, screen()))
    if values["html"]:
        values["html"].write_text(explain_page.as_html(found), "utf-8")
