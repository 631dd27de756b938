"""Other tools on the same rows, as tests/quality/peers.py calls them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Asked, in_turn, median, run, say
from bench.report import NO_MARK, Mark, Table, figure
from bench.whole import SIZE, cells, corpus_of, newsdedup

CALLER = Path(__file__).resolve().parents[1] / "quality" / "peers.py"
TOOLS = {
    "FastSketchLSH": "FastSketchLSH",
    "gaoya": "gaoya",
    "rensa": "rensa",
    "near-dupes": "near_dupes",
    "datasketch": "datasketch",
}  # and the module that shows that it is installed
MARKS = {"near-dupes": Mark(8), "gaoya": Mark(2)}


def installed(python: str, module: str) -> bool:
    """Whether another Python has a module."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def tables(asked: Asked) -> Iterator[Table]:
    """One table, newsdedup first."""
    path, made_by = corpus_of(asked)
    say(f"peers: newsdedup, {asked.rounds} rounds")
    ours = median(in_turn({"": newsdedup(asked, path)}, asked.rounds)[""])
    table = Table(
        "peers",
        "Other tools on the same rows",
        ["tool", "wall, s", "CPU, s", "memory, MB", "wall, in ours", "CPU, in ours", "mark (CPU)", ""],
        [["newsdedup", *cells(ours), "1x", "1x", *NO_MARK]],
    )
    missing = []
    for tool, module in TOOLS.items():
        if asked.peers is not None and tool not in asked.peers:
            continue
        if not installed(asked.others, module):
            missing.append(tool)
            continue
        say(f"peers: {tool}")
        cost = run([asked.others, CALLER, tool, path, asked.folder / "out" / f"{tool}.report"])
        wall, used = cost.wall / ours.wall, cost.cpu / ours.cpu
        mark = MARKS[tool].cells(used, asked.rows == SIZE) if tool in MARKS else NO_MARK
        table.rows.append([tool, *cells(cost), figure(wall, "x"), figure(used, "x"), *mark])
    table.notes = [
        f"newsdedup: medians of {asked.rounds}; the others once, each as its own documentation shows it "
        "(`tests/quality/peers.py`: character 5-grams made in Python where the tool takes tokens). They read the file, "
        f"find the pairs and join them; they clean nothing, verify no text and write only the clusters. {made_by}. "
        "How right each is stands in [QUALITY.md](QUALITY.md)."
    ]
    if missing:
        table.notes.append(f"Not installed here: {', '.join(missing)}.")
    yield table
