"""An index in words and figures, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from newsdedup_cli.index.metrics import copy_rate
from newsdedup_cli.indexing import Added, Info
from newsdedup_cli.terminal import Screen, clipped, table

MOST_RUNS = 30  # runs that the table shows


def added(done: Added, folder: str) -> str:
    """What was added, in a few lines."""
    counts = done.counts
    by = ", ".join(f"{name} {n:,}" for name, n in counts["removed_by"].items() if n) or "none"
    lines = [
        ("rows", f"{counts['read']:,} read"),
        ("kept", f"{counts['kept']:,}"),
        ("removed", f"{counts['removed']:,}  ({by})"),
        ("index", f"{done.rows:,} rows in {folder}"),
        ("seconds", f"{done.seconds:.1f}"),
    ]
    if counts.get("in_history_themselves"):
        lines.insert(3, ("there before", f"{counts['in_history_themselves']:,} rows, not added again"))
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {value}" for name, value in lines)


def info(found: Info, history: bool, screen: Screen) -> str:
    """What there is to say of an index."""
    days = f"{found.days[0][0]} to {found.days[-1][0]}, {len(found.days):,} days" if found.days else "none"
    lines = [
        ("index", found.folder),
        ("rows", f"{found.rows:,}, {found.kept:,} of them kept"),
        ("days", days + (f"; {found.undated:,} rows without a date" if found.undated else "")),
        ("files", f"{found.files:,}, {found.bytes / 2**20:,.1f} MiB, {found.bytes_per_row:,.0f} bytes a row"),
        ("boilerplate", f"{found.boilerplate:,} pieces"),
        ("made by", f"newsdedup {found.settings.get('version', '?')}, preset {found.settings.get('preset', '?')}"),
        ("runs", f"{len(found.runs):,}" + (f", the last {found.runs[-1]['time']}" if found.runs else "")),
    ]
    text = [f"{name:11}  {value}" for name, value in lines]
    if history:
        text += ["", *_history(found.runs, screen)]
    if found.broken:
        text += [
            "",
            screen.heading("Out of habit in the last run"),
            *(f"  {clipped(b.text, 100)}" for b in found.broken),
        ]
    elif history and found.runs:
        text += ["", "nothing out of habit in the last run"]
    return "\n".join(text)


def _history(runs: Sequence[dict[str, Any]], screen: Screen) -> list[str]:
    if not runs:
        return ["no runs yet"]
    shown = runs[-MOST_RUNS:]
    header = ["run", "rows", "kept", "exact", "simhash", "sentence", "history", "candidates", "rejected", "copies"]
    rows = [
        [
            run["time"][:16].replace("T", " "),
            *(f"{n:,}" for n in (run["rows"], run["kept"])),
            *(f"{run['removed_by'].get(name, 0):,}" for name in ("exact", "simhash", "sentence")),
            *(f"{run.get(name, 0):,}" for name in ("removed_for_history", "candidates", "rejected")),
            f"{copy_rate(run):.1%}",
        ]
        for run in shown
    ]
    rates = [copy_rate(run) for run in runs[-(screen.columns - 20) :]]
    low, high = min(rates), max(rates)
    return [
        screen.heading("Runs"),
        *table(header, rows),
        "",
        f"  copies  {spark(rates, screen.blocks)}  {low:.1%} to {high:.1%}",
    ]


def spark(values: Sequence[float], blocks: str) -> str:
    """A line of blocks, as high as the values are between the least and the greatest.

    >>> spark([0, 1, 4], " .:#")
    '..#'
    """
    low, high = min(values), max(values)
    levels = len(blocks) - 1
    return "".join(
        blocks[1 + round((v - low) / (high - low) * (levels - 1))] if high > low else blocks[1] for v in values
    )
