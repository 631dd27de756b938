"""What the commands that ask about a corpus share: opening it as `run` does, and the command to type next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from newsdedup_cli.settings import Settings

QUESTION = [
    click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. [all cores]"),
    click.option("--tmpdir", type=click.Path(path_type=Path), metavar="DIR", help="Where cleaned texts lie meanwhile."),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N rows."),
    click.option(
        "--config", type=click.Path(path_type=Path), metavar="FILE", help="Settings from a TOML file; options win."
    ),
    click.option("-q", "--quiet", is_flag=True, help="No progress."),
    click.option("-v", "--verbose", is_flag=True, help="Tracebacks."),
    click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON."),
]
# What `run` needs besides and a question does not have.
_NO_OUTPUT = {
    "out": None, "dry_run": True, "report": None, "no_report": True, "bom": False, "overwrite": False,
    "max_rejects": None,
}  # fmt: skip
# Options of a question that `run` does not share.
_OWN = {"inputs", "png", "svg", "html", "seed", "as_json", "quiet", "verbose", "threads"}


def opened_question(inputs: tuple[str, ...], values: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The arguments of a question: the corpus opened and its columns resolved as `run` does, and how to go about."""
    from newsdedup_cli import kernels
    from newsdedup_cli.columns import resolve_columns
    from newsdedup_cli.files.corpus import open_corpus
    from newsdedup_cli.progress import Progress
    from newsdedup_cli.task import Job

    task = Job.from_options(inputs, {**values, **_NO_OUTPUT})
    progress = Progress(task.quiet)
    corpus = open_corpus(inputs, task.read, task.tmpdir)
    columns = resolve_columns(corpus, settings, progress)
    if not kernels.is_warm():
        progress.say("first run: compiling for this machine, once: a minute or two")
    return {
        "corpus": corpus,
        "columns": columns,
        "settings": settings,
        "progress": progress,
        "threads": task.threads,
        "limit": task.limit,
        "tmpdir": task.tmpdir,
    }


def run_command(ctx: click.Context, inputs: tuple[str, ...], changed: Mapping[str, str]) -> str:
    """The `run` command with the options that were given here and those that are changed."""
    words = ["newsdedup", "run", *inputs, "-o", f"unique{_extension(inputs)}"]
    for parameter in ctx.command.params:
        name = parameter.name or ""
        given = ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE
        if given and name not in _OWN and name not in changed and isinstance(parameter, click.Option):
            words += _typed(parameter, ctx.params[name])
    for name, value in changed.items():
        words += [f"--{name.replace('_', '-')}", value]
    return shlex.join(words)


def _typed(option: click.Option, value: Any) -> list[str]:
    flag = option.opts[-1]
    if option.is_flag:
        return [flag]
    return [word for item in (value if option.multiple else [value]) for word in (flag, str(item))]


def _extension(inputs: tuple[str, ...]) -> str:
    """Of the first input, without compression; CSV where it has none."""
    suffixes = [s for s in Path(inputs[0]).suffixes[-2:] if s not in (".gz", ".zst")] if inputs else []
    return suffixes[-1] if suffixes else ".csv"


def reported(
    folder: Path, inputs: tuple[str, ...], values: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any], Settings]:
    """Inputs, option values and settings of the run that made a report. Raises UserError where it made none.

    An input that moved may be given again; one that changed is refused, for the answer would be another's.
    """
    import json

    from newsdedup_cli.errors import UserError
    from newsdedup_cli.files.streams import checksum
    from newsdedup_cli.settings import settings_from

    try:
        run = json.loads((folder / "run.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} is no report of newsdedup", wanted="a folder with a run.json") from error
    paths = tuple(inputs) or tuple(entry["path"] for entry in run["inputs"])
    for path, entry in zip(paths, run["inputs"], strict=False):
        if not Path(path).is_file():
            raise UserError(f"{path} is no longer there", todo="naming the input of that run after the ids")
        if checksum(Path(path))[0] != entry["sha256"]:
            raise UserError(
                f"{path} has changed since the run in {folder}", todo="running it again, or without --report"
            )
    values = {**values, **{name: value for name, value in run.get("read", {}).items() if name in values}}
    if run.get("limit"):
        values["limit"] = run["limit"]
    settings = {
        section: {name: value for name, value in part.items() if value is not None}
        for section, part in run["settings"].items()
    }
    return paths, values, settings_from(settings)
