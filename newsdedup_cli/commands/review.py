"""`newsdedup review`: the doubtful pairs of a report to be filled in, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from newsdedup_cli.commands.options import REVIEWED, with_options

# What the columns and the reading of a corpus need; a report tells its own.
_UNSET: dict[str, Any] = {
    "id": None, "title": None, "text": (), "date": None, "source": None, "url": None, "format_": None,
    "encoding": None, "delimiter": None, "quote": None, "no_header": False, "header_row": None, "sheet": None,
    "limit": None,
}  # fmt: skip


@click.command(name="review")
@click.argument("report", type=click.Path(path_type=Path))
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), metavar="FILE", help="The review to fill in.")
@click.option("--merged", type=click.IntRange(0), default=200, metavar="N", help="Least alike merges listed. [200]")
@click.option("--apply", "apply_", is_flag=True, help="Obey --decisions in OUT and the report, without a full run.")
@with_options([REVIEWED])
@click.option("--overwrite", is_flag=True, help="Replace an existing review, or an OUT that has changed since.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. [all cores]")
@click.option("--tmpdir", type=click.Path(path_type=Path), metavar="DIR", help="Where texts lie meanwhile.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
@click.option("-v", "--verbose", is_flag=True, help="Tracebacks.")
def command(report: Path, inputs: tuple[str, ...], **values: Any) -> None:
    """List the doubtful pairs of REPORT side by side, to be decided about; or put decisions into effect.

    The review (XLSX, or CSV, JSONL, Parquet by extension) has a column `decision`: same, different, or nothing. A
    decision is kept by content, so `run --decisions FILE` obeys it in other files and on later days. With --apply,
    wrongly removed rows come back to OUT at their place, and pairs decided `same` lose one of their rows; the inputs
    are read once more, but nothing is compared that no decision touches. INPUT: where the inputs have moved.

    \b
    newsdedup review unique.report -o review.xlsx
    newsdedup run news.parquet -o unique.parquet --decisions review.xlsx
    newsdedup review --apply unique.report --decisions review.xlsx
    """
    from newsdedup_cli.commands.asking import opened_question, reported
    from newsdedup_cli.errors import UserError

    if values["apply_"] == (values["out"] is not None):
        raise UserError("what is to be done with the report?", wanted="-o review.xlsx, or --apply")
    if values["out"]:
        from newsdedup_cli import review_sheets

        review_sheets.check(values["out"], values["overwrite"])
    paths, options, settings = reported(report, inputs, {**_UNSET, **values})
    question = opened_question(paths, {**options, "quiet": True}, settings)
    if values["apply_"]:
        from newsdedup_cli import review_apply

        applied = review_apply.apply(report, values["decisions"], question, settings, values["overwrite"])
        if not values["quiet"]:
            click.echo(applied.summary(), err=True)
        return
    from newsdedup_cli import review as reviewing

    made = reviewing.review(
        reviewing.read_report(report),
        question["corpus"],
        question["columns"],
        settings.matching,
        values["merged"],
    )
    review_sheets.write(made, values["out"])
    if not values["quiet"]:
        click.echo(_summary(made, values["out"]), err=True)


def _summary(made: Any, out: Path) -> str:
    lines = []
    for name, told in (("candidates", "not merged"), ("merged", "merged, the least alike")):
        pairs = made.of(name)
        groups = len({line.group for line in pairs})
        left = made.left_out.get(name, 0)
        lines.append(
            f"{name:10}  {len(pairs):,} pairs in {groups:,} groups ({told})" + (f"; {left:,} more" if left else "")
        )
    return "\n".join([*lines, f"review      {out}: fill in `decision`, then run with --decisions {out}"])
