"""The reference says what --help says, and README names every command."""

from pathlib import Path

from make_docs import PAGE, page

from newsdedup_cli.cli import COMMANDS

README = Path(__file__).parent.parent / "README.md"


def test_the_reference_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(), "run `make docs`"


def test_readme_opens_with_the_two_commands_and_names_every_other():
    text = README.read_text("utf-8")
    assert text.splitlines()[3].startswith("make demo")
    assert text.splitlines()[4].startswith("make test")
    assert all(f"newsdedup {name}" in text for name in COMMANDS)
