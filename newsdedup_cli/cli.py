"""The click group, and how errors end the program. Heavy imports happen inside the commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from newsdedup_cli import __version__
from newsdedup_cli.errors import UserError, told

# Each command's module and its line in --help, so that naming them imports none of them.
COMMANDS = {
    "run": "Remove the copies: one of each article to OUT, and a report of what went and why.",
    "inspect": "What is in the inputs, what looks wrong with it, and the command to use next.",
    "histogram": "How far rows lie apart, and what each threshold would merge.",
    "explain": "Why two rows were, or were not, taken for copies.",
    "review": "Doubtful pairs side by side, to be decided about; and decisions put into effect.",
    "index": "Keep the rows of earlier days, and compare new ones with them.",
    "evaluate": "How right the clusters of a report are, by labels; what other thresholds would give.",
}
INTERNAL_ERROR = 3
INTERRUPTED = 130


class Closed(Exception):
    """Who reads standard output has had enough: `newsdedup inspect ... | head`."""


@contextmanager
def _until_closed() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # which click takes for a failure
        raise Closed from None


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def make_context(self, *args: Any, **given: Any) -> click.Context:
        """As click does it; --help prints here."""
        with _until_closed():
            return super().make_context(*args, **given)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does it."""
        with _until_closed():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"newsdedup_cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="newsdedup")
def group() -> None:
    """Find the copies in corpora of news, keep one of each, and explain why.

    \b
    newsdedup run news.parquet -o unique.parquet
    """


def main() -> None:
    """The console script: 0 done, 1 problems under --strict, 2 what a user can mend, 3 our fault, 130 Ctrl-C."""
    # Arrow's own allocator keeps what was freed.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    verbose = any(argument in ("-v", "--verbose") for argument in sys.argv[1:])
    try:
        code = group(prog_name="newsdedup", standalone_mode=False)
    except click.exceptions.Abort:
        code = _say("interrupted: nothing was written", INTERRUPTED)
    except KeyboardInterrupt:
        code = _say("interrupted: nothing was written", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except UserError as error:
        code = _say(f"error: {error}", error.exit_code, traceback=verbose)
    except Closed:
        # What Python still holds has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        code = _say(f"error: {told(error)}", UserError.exit_code, verbose)
    except Exception as error:
        code = _say(
            f"internal error: {type(error).__name__}: {error}\n"
            "  this is a fault of newsdedup; -v shows where; please report it with that",
            INTERNAL_ERROR,
            traceback=verbose,
        )
    sys.exit(code if isinstance(code, int) else 0)


def _say(message: str, code: int, traceback: bool = False) -> int:
    if traceback:
        import traceback as module

        module.print_exc()
    click.echo(message, err=True)
    return code
