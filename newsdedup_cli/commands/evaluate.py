"""`newsdedup evaluate`: hold a report against labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from newsdedup_cli.commands.options import READING, with_options

THREADS = click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads of --sweep. [all cores]")


@click.command(name="evaluate")
@click.argument("report", type=click.Path(path_type=Path), metavar="REPORT")
@click.option("--truth", type=click.Path(path_type=Path), metavar="FILE", required=True, help="Labels: see above.")
@click.option("--kind", metavar="COL", help="Column of the kinds of change in FILE. [kind; of pairs: label]")
@click.option("--same", metavar="A,B", help="Labels of pairs that are one article. [1,true,yes,same,dup,duplicate]")
@click.option("--skip", metavar="A,B", help="Labels that decide nothing. [ambiguous,grey,unsure]")
@click.option("--mistakes", type=click.IntRange(0), default=10, metavar="N", help="Mistakes to list of a sort. [10]")
@click.option("--sweep", is_flag=True, help="Also at other thresholds; reads the inputs of the run again.")
@with_options(READING)
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads of --sweep. [all cores]")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(report: Path, truth: Path, **values: Any) -> None:
    """How right the clusters of a REPORT folder are, by labels.

    FILE (CSV, TSV, JSONL, Parquet, XLSX) has rows: id, or row, the row number; and cluster, label or
    cluster_id, the true cluster. Or pairs: id_a, id_b (or row_a, row_b) and label. Either may have a
    column kind. What has no label is left out.

    Stories lost are true clusters none of whose rows was kept; copies left over are kept rows beyond one
    of each story. Does not stream: memory grows with the rows of the report, some 100 bytes each.

    \b
    newsdedup evaluate unique.report --truth labels.csv
    newsdedup evaluate unique.report --truth pairs.jsonl --same dup,likely_dup --skip grey
    newsdedup evaluate unique.report --truth labels.csv --sweep
    """
    import json
    import os

    from newsdedup_cli.evaluate import evaluate
    from newsdedup_cli.evaluate_sweep import sweep
    from newsdedup_cli.evaluate_tables import SAME_LABELS, SKIPPED_LABELS, Labels
    from newsdedup_cli.evaluate_text import as_text
    from newsdedup_cli.files.base import ReadOptions
    from newsdedup_cli.progress import Progress

    read = ReadOptions(
        format=values["format_"],
        encoding=values["encoding"],
        delimiter=values["delimiter"],
        quote=values["quote"],
        header=not values["no_header"],
        header_row=values["header_row"],
        sheet=values["sheet"],
    )
    labels = Labels(_names(values["same"], SAME_LABELS), _names(values["skip"], SKIPPED_LABELS), values["kind"])
    made = evaluate(report, truth, labels, read, values["mistakes"])
    threads = values["threads"] or os.cpu_count() or 1
    points = sweep(report, truth, labels, read, Progress(values["quiet"]), threads) if values["sweep"] else []
    if values["as_json"]:
        found = made.as_dict() | ({"sweep": [point.as_dict() for point in points]} if points else {})
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        click.echo(as_text(made, points))


def _names(given: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    return default if given is None else tuple(name.strip() for name in given.split(",") if name.strip())
