"""The reference says what --help says, the pages what the commands print, and README names every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import NO_JIT
from make_docs import CHART, DOCS, PHOTOS, REFERENCE, TYPED, chart, reference, refreshed

from newsdedup_cli.cli import COMMANDS

README = Path(__file__).parent.parent / "README.md"
TEXTS = [README, *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
jit_only = pytest.mark.skipif(NO_JIT, reason="minutes without JIT")


def test_the_reference_is_up_to_date():
    assert REFERENCE.read_text("utf-8") == reference(), "run `make docs`"


@jit_only
@pytest.mark.parametrize("name", COMMANDS)
def test_page_shows_what_the_command_prints(name):
    page = (DOCS / f"{name}.md").read_text("utf-8")
    assert any(line.startswith(f"newsdedup {name} ") for line in TYPED.findall(page))
    assert page == refreshed(page), "run `make docs`"


@jit_only
def test_the_chart_is_up_to_date():
    assert CHART.read_text("utf-8") == chart(), "run `make docs`"


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_links_and_pictures_are_there(text):
    missing = [link for link in LINK.findall(text.read_text("utf-8")) if not (text.parent / link).exists()]
    assert missing == []


def test_readme_shows_the_pictures_and_links_the_pages():
    links = LINK.findall(README.read_text("utf-8"))
    wanted = [CHART.name, *PHOTOS, *(f"{name}.md" for name in COMMANDS)]
    assert [name for name in wanted if f"docs/{name}" not in links] == []


def test_readme_opens_with_the_two_commands_and_names_every_other():
    text = README.read_text("utf-8")
    assert text.splitlines()[3].startswith("make demo")
    assert text.splitlines()[4].startswith("make test")
    assert all(f"newsdedup {name}" in text for name in COMMANDS)
