"""report.html: one self-contained page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.sheets import CLUSTER_COLUMNS, cluster_lines, summary

SHOWN = 500  # rows of a table: the page is to be read, the Parquet files are complete
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; } rect { fill: #3b7dd8; } text { fill: currentColor; font-size: 11px; }
"""


class Page:
    """report.html."""

    name = "report.html"

    def write(self, findings: Findings, folder: Path) -> None:
        """Write the page."""
        candidates = [list(row.values()) for row in findings.candidates.slice(0, SHOWN).to_pylist()]
        clusters = []
        for line in cluster_lines(findings):
            clusters.append(line)
            if len(clusters) == SHOWN:
                break
        rejects = [[r.file, r.line, r.reason, r.raw[:200]] for r in findings.rejects[:SHOWN]]
        parts = [
            ("Summary", _table(["what", "value"], summary(findings))),
            ("Rows by outcome", _bars(findings.run["counts"])),
            ("Clusters", _table(CLUSTER_COLUMNS, clusters)),
            ("Candidates", _table(findings.candidates.column_names, candidates)),
            ("Boilerplate", _table(["sentence", "rows"], [list(b) for b in findings.boilerplate[:SHOWN]])),
            ("Rejected input", _table(["file", "line", "reason", "raw"], rejects)),
            ("How it was made", _table(["what", "value"], [[k, v] for k, v in findings.run["made_by"].items()])),
        ]
        body = "\n".join(f"<h2>{escape(title)}</h2>\n{part}" for title, part in parts)
        page = (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>newsdedup report</title><style>{STYLE}</style></head>\n"
            f"<body><h1>newsdedup report</h1>\n{body}\n</body></html>\n"
        )
        (folder / self.name).write_text(page, "utf-8", errors="replace")


def _table(header: list[str], lines: list[list[Any]]) -> str:
    if not lines:
        return "<p>none</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{'' if cell is None else escape(_text(cell))}</td>" for cell in line) + "</tr>"
        for line in lines
    )
    more = f"<p>the first {SHOWN} lines</p>" if len(lines) == SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>{more}"


def _text(cell: Any) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def _bars(counts: dict[str, Any]) -> str:
    """Kept rows and removed rows by reason as bars."""
    values = {"kept": counts["kept"]} | counts["removed_by"]
    most = max([*values.values(), 1])
    lines = []
    for at, (name, value) in enumerate(values.items()):
        width = 560 * value / most
        lines.append(f'<text x="110" y="{at * 22 + 16}" text-anchor="end">{escape(name)}</text>')
        lines.append(f'<rect x="120" y="{at * 22 + 4}" width="{width:.1f}" height="16"/>')
        lines.append(f'<text x="{126 + width:.1f}" y="{at * 22 + 16}">{value:,}</text>')
    return f'<svg viewBox="0 0 760 {22 * len(values) + 6}" role="img">{"".join(lines)}</svg>'
