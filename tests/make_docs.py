"""Write docs/: the reference from --help, the output of the commands in the pages, and the pictures: `make docs`.

A page of docs/ is written by hand but for its blocks ```console: the lines in them that begin with `$ ` are typed,
in a folder that holds sample_data, and what stands below each becomes what it says. tests/test_docs.py holds all of
it but the photographs of the report up to date.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from newsdedup_cli.cli import COMMANDS, INTERNAL_ERROR, group, main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = DOCS / "cli.md"
CHART = DOCS / "histogram.svg"
PHOTOS = {"report.png": "body", "report_clusters.png": "#doubtful"}  # what of the page is at the top
PHOTO_SIZE = {"width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": False}
SURROUNDINGS = {"COLUMNS": "80", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LANGUAGE": "", "NO_COLOR": "1"}
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^\$ (.+)$", re.MULTILINE)
THREADED = ("run", "histogram", "explain")  # the answer is the same with any number
# Seconds and memory differ from run to run; kernels are compiled once per machine.
# Sizes of files depend on the libraries that write them, and a run is told by its time.
VOLATILE = re.compile(
    r'(^seconds +|, peak memory |"seconds": |"peak_bytes": |^runs .*the last |^files +\d+, |MiB, )[\d.,T:+-]*\d',
    re.MULTILINE,
)
FIRST_RUN = re.compile(r"^first run: .*\n", re.MULTILINE)


def reference() -> str:
    """The options of all commands."""
    parts = ["# The commands\n", "Made by `make docs` from `--help`.\n"]
    for arguments in ([], *([name] for name in COMMANDS)):
        name = " ".join(["newsdedup", *arguments])
        shown = CliRunner().invoke(group, [*arguments, "--help"], prog_name="newsdedup", terminal_width=100)
        parts.append(f"## {name}\n\n```text\n{shown.output.rstrip()}\n```\n")
    return "\n".join(parts)


@contextmanager
def workplace() -> Iterator[Path]:
    """Work in a new folder that holds sample_data, as on a terminal of 80 columns."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as here:
        for name, value in SURROUNDINGS.items():
            here.setenv(name, value)
        here.chdir(folder)
        # A slow machine would say now and then that it is alive.
        here.setattr("newsdedup_cli.progress.LINE_EVERY", inf)
        shutil.copytree(ROOT / "sample_data", "sample_data", ignore=shutil.ignore_patterns("__pycache__"))
        yield Path(folder)


def said(line: str) -> str:
    """What a command line puts on the terminal, stdout and stderr, with `…` for what no two runs share."""
    _, *words = shlex.split(line)
    if words[0] in THREADED:
        words += ["--threads", "1"]
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True)
    with redirect_stdout(out), redirect_stderr(out), pytest.MonkeyPatch.context() as typed:
        typed.setattr(sys, "argv", ["newsdedup", *words])
        try:
            main()
        except SystemExit as end:
            if end.code == INTERNAL_ERROR:
                raise RuntimeError(out.buffer.getvalue().decode()) from end
    text = FIRST_RUN.sub("", out.buffer.getvalue().decode())
    return "".join(f"{shown.rstrip()}\n" for shown in VOLATILE.sub(r"\1…", text).splitlines())


def refreshed(page: str) -> str:
    """A page with what its commands say now; they are run in their order, in one folder."""

    def block(found: re.Match[str]) -> str:
        return "".join(f"$ {line}\n{said(line)}" for line in TYPED.findall(found[0]))

    with workplace():
        return BLOCK.sub(block, page)


def chart() -> str:
    """The histogram of sample_data as SVG."""
    with workplace():
        said("newsdedup histogram sample_data/news.parquet --svg chart.svg")
        return Path("chart.svg").read_text("utf-8")


def photograph() -> str:
    """Take the pictures of a report of sample_data; where there is no Chromium, say why the old ones stay."""
    try:
        from selenium import webdriver
    except ImportError:
        return "selenium is not installed: the pictures of the report stay as they are"
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if not browser or not driver:
        return "no chromium or no chromedriver: the pictures of the report stay as they are"
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    with workplace() as folder, webdriver.Chrome(options, webdriver.ChromeService(driver)) as window:
        said("newsdedup run sample_data/news.parquet -o unique.parquet")
        light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
        window.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHOTO_SIZE)
        window.get((folder / "unique.report" / "report.html").as_uri())
        for name, place in PHOTOS.items():
            window.execute_script("document.querySelector(arguments[0]).scrollIntoView()", place)
            window.save_screenshot(str(DOCS / name))
    return f"new pictures: {', '.join(PHOTOS)}"


def write_all() -> None:
    """Write all of docs/."""
    DOCS.mkdir(exist_ok=True)
    REFERENCE.write_text(reference(), "utf-8")
    for name in COMMANDS:
        page = DOCS / f"{name}.md"
        page.write_text(refreshed(page.read_text("utf-8")), "utf-8")
    CHART.write_text(chart(), "utf-8")
    print(photograph())


if __name__ == "__main__":
    write_all()
