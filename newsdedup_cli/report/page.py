"""report.html: one self-contained page.

The charts are drawn in the browser by Apache ECharts, inlined in a reduced build (vendor/README.md). Compared
were: SVG made here by matplotlib or by vl-convert, which cost a heavy dependency, about a second of every run and
charts of one fixed width, whose letters are 5 pixels high on a phone; plotly's bundle, 4.5 MB a report; Vega-Lite's,
0.9 MB, which only a 30 MB package hands out. ECharts costs no dependency and .55 MB, lays its labels out for the
width at hand, follows light and dark, and makes SVG, so that letters stay letters. Under each chart a table has
its figures, for readers without scripts.

Charts get a few dozen numbers (figures.py), and examples are limited, so that the page of a million rows is
hardly larger than that of a thousand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from newsdedup_cli.report import examples
from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.charts import Chart, charts, has_figures
from newsdedup_cli.report.figures import numbers
from newsdedup_cli.report.labels import LANGS, words
from newsdedup_cli.report.shown import chosen

MOST_LINES = 100  # of a table
MOST_RAW = 200  # characters of a rejected line
SECTIONS = ("charts", "doubtful", "largest", "candidates", "boilerplate", "rejects", "how")
Words = Mapping[str, str]


class Page:
    """report.html."""

    name = "report.html"

    def write(self, findings: Findings, folder: Path) -> None:
        """Write the page."""
        (folder / self.name).write_text(page(findings), "utf-8", errors="replace")


def page(findings: Findings) -> str:
    """The whole page, in the language of the findings."""
    lang = "zh" if findings.lang.lower().startswith("zh") else LANGS[0]
    say = words(lang)
    drawn = charts(numbers(findings), findings.run, say)
    choice = chosen(findings)
    parts = {
        "charts": _charts(drawn, say),
        "doubtful": _note(say["doubtful_note"])
        + examples.legend(say)
        + examples.clusters(choice.doubtful, findings, say),
        "largest": examples.clusters(choice.largest, findings, say),
        "candidates": examples.candidates(findings, say),
        "boilerplate": _boilerplate(findings, say),
        "rejects": _rejects(findings, say),
        "how": _how(findings.run, say),
    }
    body = "\n".join(
        f'<section id="{name}">\n<h2>{escape(say[name])}</h2>\n{parts[name]}\n</section>' for name in SECTIONS
    )
    return Template(_file("page.html")).substitute(
        lang={"en": "en", "zh": "zh-CN"}[lang],
        title=escape(say["title"]),
        style=_file("page.css"),
        inputs=escape(" · ".join(i["file"] for i in findings.run.get("inputs", []))[:500]),
        lead=_lead(findings.run["counts"], say),
        tiles=_tiles(findings.run["counts"], say),
        nav=" ".join(f'<a href="#{name}">{escape(say[name])}</a>' for name in SECTIONS),
        body=body,
        figures=_json([chart for chart in drawn if has_figures(chart)]),
        library=_file("vendor/echarts.js"),
        script=_file("page.js"),
    )


def _file(name: str) -> str:
    return files("newsdedup_cli.report").joinpath(name).read_text("utf-8")


def _json(value: Any) -> str:
    """JSON that no text in it can end: inside a script element only `<` could."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>\n'


def _lead(counts: Mapping[str, Any], say: Words) -> str:
    share = f"{counts['removed'] / max(counts['read'], 1):.1%}"
    figures = {name: f"{counts[name]:,}" for name in ("read", "removed", "kept", "candidates")}
    return escape(say["lead"].format(**figures, share=share))


def _tiles(counts: Mapping[str, Any], say: Words) -> str:
    shown = {
        "read": "read",
        "kept_rows": "kept",
        "removed_rows": "removed",
        "clusters_n": "clusters",
        "largest_n": "largest_cluster",
        "candidates_n": "candidates",
        "rejected_n": "rejected",
    }
    tiles = [f"<li><b>{counts.get(key, 0):,}</b><span>{escape(say[word])}</span></li>" for word, key in shown.items()]
    return f'<ul class="tiles">{"".join(tiles)}</ul>'


def _charts(drawn: Sequence[Chart], say: Words) -> str:
    places = iter(range(len(drawn)))
    made = [_figure(chart, next(places) if has_figures(chart) else None, say) for chart in drawn]
    return f'<div class="charts">\n{"".join(made)}</div>'


def _figure(chart: Chart, place: int | None, say: Words) -> str:
    head = f"<figcaption><h3>{escape(chart['title'])}</h3>"
    if chart["note"] and place is not None:
        head += f"<p>{escape(chart['note'])}</p>"
    if place is None:
        return f"<figure>{head}</figcaption>{_note(chart.get('empty', say['nothing']))}</figure>\n"
    wide = {"heat": ' class="wide heat"'}.get(chart["kind"], ' class="wide"' if chart.get("wide") else "")
    return (
        f"<figure{wide}>{head}{_keys(chart)}</figcaption>"
        f'<div class="chart" data-chart="{place}"{_height(chart)}>{escape(say["chart_missing"])}</div>'
        f"<details><summary>{escape(say['figures'])}</summary>"
        f'<div class="scroll">{_figures(chart)}</div></details></figure>\n'
    )


def _height(chart: Chart) -> str:
    """As high as the lines of a heat map need, with its lower labels."""
    return f' style="height:{150 + 24 * max(len(chart["lines"]), 3)}px"' if chart["kind"] == "heat" else ""


def _keys(chart: Chart) -> str:
    """Which colour is what, where there is more than one series."""
    if len(chart["series"]) < 2:
        return ""
    keys = [f'<span style="color:var(--{s["colour"]})">■</span> {escape(s["name"])}' for s in chart["series"]]
    return f"<p>{' &nbsp; '.join(keys)}</p>"


def _figures(chart: Chart) -> str:
    if chart["kind"] == "heat":
        cells = sorted(chart["cells"], key=lambda cell: -cell[2])
        lines = [[f"{chart['names'][x]} ← {chart['lines'][y]}", n] for x, y, n in cells]
        return _table(["", chart["unit"]], lines)
    columns = [series["values"] for series in chart["series"]]
    lines = [list(line) for line in zip(chart["names"], *columns, strict=True) if any(line[1:])]
    return _table(["", *(series["name"] for series in chart["series"])], lines)


def _table(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    numeric = [bool(lines) and all(isinstance(line[i], int | float) for line in lines) for i in range(len(header))]
    mark = [' class="n"' if n else "" for n in numeric]
    head = "".join(f"<th{m}>{escape(name)}</th>" for m, name in zip(mark, header, strict=True))
    rows = [
        "<tr>" + "".join(f"<td{m}>{escape(_text(cell))}</td>" for m, cell in zip(mark, line, strict=True)) + "</tr>"
        for line in lines
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:,.3f}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else "" if cell is None else str(cell)


def _listed(header: Sequence[str], lines: Sequence[Sequence[Any]], total: int, say: Words) -> str:
    if not lines:
        return _note(say["nothing"])
    more = _note(say["first_lines"].format(f"{len(lines):,}", f"{total:,}")) if total > len(lines) else ""
    return f'<div class="plain">{_table(header, lines)}</div>{more}'


def _boilerplate(findings: Findings, say: Words) -> str:
    lines = [(sentence[:MOST_RAW], rows) for sentence, rows in findings.boilerplate[:MOST_LINES]]
    head = [say["sentence_head"], say["in_rows"]]
    return _note(say["boilerplate_note"]) + _listed(head, lines, len(findings.boilerplate), say)


def _rejects(findings: Findings, say: Words) -> str:
    lines = [(r.file, str(r.line), r.reason, r.raw[:MOST_RAW]) for r in findings.rejects[:MOST_LINES]]
    head = [say["file"], say["line"], say["reason"], say["raw"]]
    return _note(say["rejects_note"]) + _listed(head, lines, len(findings.rejects), say)


def _how(run: Mapping[str, Any], say: Words) -> str:
    made = dict(run.get("made_by", {}))
    signature = made.pop("signature", "")
    inputs = [(i["file"], i.get("bytes"), i.get("sha256")) for i in run.get("inputs", [])[:MOST_LINES]]
    stages = [
        (s["name"], round(float(s["seconds"]), 3), round(s["peak_bytes"] / 2**20, 1)) for s in run.get("stages", [])
    ]
    settings = [
        (f"{section}.{name}", _setting(value))
        for section, values in run.get("settings", {}).items()
        for name, value in values.items()
    ]
    columns = [(role, ", ".join(names)) for role, names in run.get("columns", {}).items()]
    notes = [*run.get("notes", []), *run.get("warnings", [])][:MOST_LINES]
    blocks = [
        (say["inputs"], _table([say["file"], say["bytes"], "SHA-256"], inputs)),
        (say["columns"], _table(["", ""], columns)),
        (say["notes"], "".join(f"<p>{escape(note)}</p>" for note in notes) if notes else ""),
        (say["settings"], _table(["", ""], settings)),
        (say["versions"], _table(["", ""], list(made.items()))),
        (say["stages"], _table(["", say["seconds"], say["memory"]], stages)),
    ]
    told = "".join(
        f"<details><summary>{escape(title)}</summary><div class='plain'>{block}</div></details>\n"
        for title, block in blocks
        if block
    )
    return f"<p>{escape(say['signature'])}: <code>{escape(signature)}</code></p>{told}"


def _setting(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
