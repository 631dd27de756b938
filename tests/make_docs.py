"""Write docs/cli.md from the commands' own --help: `make docs`; tests/test_docs.py holds it up to date."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from newsdedup_cli.cli import COMMANDS, group

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"


def page() -> str:
    """The reference of all commands."""
    parts = ["# The commands\n", "Made by `make docs` from `--help`.\n"]
    for arguments in ([], *([name] for name in COMMANDS)):
        name = " ".join(["newsdedup", *arguments])
        shown = CliRunner().invoke(group, [*arguments, "--help"], prog_name="newsdedup", terminal_width=100)
        parts.append(f"## {name}\n\n```text\n{shown.output.rstrip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
