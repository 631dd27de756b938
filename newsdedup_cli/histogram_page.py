"""A histogram's answer as a picture or a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from newsdedup_cli.errors import UserError
from newsdedup_cli.histogram import BINS, Histogram, Near, score_edges
from newsdedup_cli.histogram_text import log_heights, number, rows_in_words
from newsdedup_cli.tables import I64
from newsdedup_cli.valley import Valley

WIDTH, HEIGHT = 720, 200  # of one chart, in user units
LEFT, TOP, FOOT = 70, 30, 40
STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--bar:#3b6ea8;--held:#c7903b;--dip:#2e8b5733;--line:#8a939d}
@media(prefers-color-scheme:dark){:root{--ink:#e4e7ea;--paper:#15181c;--bar:#7fb0e6;--held:#e0b060;--dip:#2e8b5755}}
body{font:16px/1.5 system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif;margin:auto;max-width:60rem;
padding:1rem;color:var(--ink);background:var(--paper)}
svg{width:100%;height:auto}table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{padding:.15rem .7rem;text-align:right;font-variant-numeric:tabular-nums}
.pair td{text-align:left;vertical-align:top}tr.chosen{font-weight:bold;background:var(--dip)}
code{overflow-wrap:anywhere}
"""
DRAWN = """text{font:12px system-ui,sans-serif;fill:var(--ink,#1b1f24)}.bar{fill:var(--bar,#3b6ea8)}
.held{fill:var(--held,#c7903b)}.dip{fill:var(--dip,#2e8b5733)}line{stroke:var(--line,#8a939d)}
.ground{fill:var(--paper,#fff)}"""


def check(paths: Sequence[Path]) -> None:
    """Raise before the work starts where a file could not be written."""
    for path in paths:
        if not path.absolute().parent.is_dir():
            raise UserError(f"no folder {path.parent} for {path.name}", todo=f"mkdir -p {path.parent}")
    if any(path.suffix == ".png" for path in paths):
        _figure_class()


def write(found: Histogram, command: str, png: Path | None, svg: Path | None, html: Path | None) -> None:
    """Write the files that are asked for."""
    if svg:
        svg.write_text(as_svg(found), "utf-8")
    if html:
        html.write_text(as_html(found, command), "utf-8")
    if png:
        _draw_png(found, png)


def charts(found: Histogram) -> list[tuple[str, I64, I64 | None, Valley | None, list[tuple[float, str]]]]:
    """Title, counts, counts held back, valley as first and last column, and marks of the axis, of each chart."""
    dip = found.distance_valley
    bits = [(at + 0.5, str(at)) for at in range(0, 65, 8)]
    made: list[tuple[str, I64, I64 | None, Valley | None, list[tuple[float, str]]]] = [
        ("Pairs by distance of their fingerprints, in bits (log scale)", found.distances.counts, None, dip, bits)
    ]
    if found.by_score:
        turned = found.score_valley
        if turned.found:
            turned = Valley(BINS - 1 - turned.last, BINS - 1 - turned.first, BINS - 1 - turned.lowest, "")
        tenths = [(at * BINS / 10, f"{at / 10:g}") for at in range(0, 11, 2)]
        title = "Candidate pairs by score (log scale); behind: held back by a guard"
        made.append((title, found.scores, found.guarded, turned, tenths))
    return made


def as_svg(found: Histogram) -> str:
    """Both charts, one above the other."""
    drawn = charts(found)
    step = TOP + HEIGHT + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {step * len(drawn)}" role="img">'
        # A picture by itself may stand on a dark page.
        f'<style>{DRAWN}</style><rect class="ground" width="100%" height="100%"/>'
    ]
    for i, chart in enumerate(drawn):
        parts.append(f'<g transform="translate({LEFT},{TOP + i * step})">{_chart(*chart)}</g>')
    return "".join([*parts, "</svg>\n"])


def _chart(title: str, counts: I64, held: I64 | None, dip: Valley | None, marks: Sequence[tuple[float, str]]) -> str:
    top = int(max(counts.max(initial=1), 1 if held is None else held.max(initial=1)))
    wide = WIDTH / len(counts)
    parts = [f'<text x="0" y="-12">{escape(title)}</text>']
    if dip and dip.found:
        across = (dip.last - dip.first + 1) * wide
        parts.append(f'<rect class="dip" x="{dip.first * wide:.1f}" y="0" width="{across:.1f}" height="{HEIGHT}"/>')
    if held is not None:
        parts += _bars(held, top, wide, "held", 0.9)
    parts += _bars(counts, top, wide, "bar", 0.9 if held is None else 0.55)
    power = 1
    while power <= top:
        y = HEIGHT - log_heights(counts[:1] * 0 + power, top)[0] * HEIGHT
        parts.append(f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{power:,}</text>')
        power *= 10
    parts.append(f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}"/>')
    parts += [f'<text x="{at * wide:.1f}" y="{HEIGHT + 16}" text-anchor="middle">{name}</text>' for at, name in marks]
    return "".join(parts)


def _bars(counts: I64, top: int, wide: float, kind: str, share: float) -> list[str]:
    bars = []
    for i, (count, height) in enumerate(zip(counts.tolist(), log_heights(counts, top), strict=True)):
        if count:
            x, y, w = (i + (1 - share) / 2) * wide, HEIGHT * (1 - height), wide * share
            bars.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{HEIGHT - y:.1f}">'
                f"<title>{count:,}</title></rect>"
            )
    return bars


def as_html(found: Histogram, command: str) -> str:
    """One page that needs nothing else."""
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Distances</title><style>{STYLE}</style><h1>Distances and scores</h1>"
    )
    if found.comparable < 2:
        return f"{head}<p>Nothing to compare: {rows_in_words(found)}.</p>\n"
    d = found.distances
    how = "all" if d.exact else f"estimated from {d.measured_pairs:,} of"
    parts = [
        head,
        f"<p>{how} {d.total_pairs:,} pairs of {d.rows:,} rows; {d.equal_pairs:,} pairs of equal texts left out.</p>",
        as_svg(found),
        *_valleys(found),
        *_tables(found),
        *_pairs("Just good enough", found.over),
        *_pairs("Just not good enough", found.under),
        f"<h2>Suggested</h2><p>{escape(found.suggestion.reason)}</p><p><code>{escape(command)}</code></p>\n",
    ]
    return "\n".join(parts)


def _valleys(found: Histogram) -> list[str]:
    bits, scores = found.distance_valley, found.score_valley
    lines = [f"<p>Valley in distances: {_told(bits, (bits.first, bits.last))}</p>"]
    return [*lines, f"<p>Valley in scores: {_told(scores, score_edges(scores))}</p>"] if found.by_score else lines


def _told(dip: Valley, edges: tuple[float, float]) -> str:
    if not dip.found:
        return f"none: {escape(dip.reason)}."
    return f"{edges[0]:g}." if edges[0] == edges[1] else f"{edges[0]:g} to {edges[1]:g}."


def _tables(found: Histogram) -> list[str]:
    tables = []
    for title, name, setting, merges in (
        ("What each score would merge", "score from", "min_score", found.by_score),
        ("What each distance would merge", "bits up to", "max_distance", found.by_distance),
    ):
        held = setting == "min_score"
        rows = "".join(
            f"<tr{_chosen(found, setting, m.threshold)}><td>{number(m.threshold)}<td>{m.pairs:,}<td>{m.removed:,}"
            f"<td>{m.largest:,}" + (f"<td>{m.held_back:,}" if held else "")
            for m in merges
        )
        header = f"<tr><th>{name}<th>pairs<th>rows removed<th>largest cluster" + ("<th>held back" if held else "")
        if merges:
            tables.append(f"<h2>{title}</h2><table>{header}{rows}</table>")
    return tables


def _chosen(found: Histogram, setting: str, threshold: float) -> str:
    chosen = found.suggestion
    return ' class="chosen"' if (chosen.setting, chosen.value) == (setting, threshold) else ""


def _pairs(title: str, pairs: Sequence[Near]) -> list[str]:
    rows = "".join(
        f"<tr><td>{pair.score:.3f}<br>{pair.distance} bits"
        + "".join(
            f"<td><b>{escape(i)}</b> {escape(t)}<br>{escape(x)}"
            for i, t, x in zip(pair.ids, pair.titles, pair.texts, strict=True)
        )
        for pair in pairs
    )
    return [f'<h2>{title}</h2><table class="pair">{rows}</table>'] if pairs else []


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(
            "--png needs the package matplotlib, which is not installed",
            todo="pip install 'newsdedup[plot]', or --svg",
        ) from error
    return Figure


def _draw_png(found: Histogram, path: Path) -> None:
    drawn = charts(found)
    figure = _figure_class()(figsize=(9, 3.2 * len(drawn)), layout="constrained")
    for axes, (title, counts, held, dip, marks) in zip(
        figure.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True
    ):
        places = [i + 0.5 for i in range(len(counts))]
        if held is not None:
            axes.bar(places, held, 0.9, color="#c7903b", label="held back by a guard")
        axes.bar(places, counts, 0.9 if held is None else 0.55, color="#3b6ea8", label="pairs")
        if dip and dip.found:
            axes.axvspan(dip.first, dip.last + 1, color="#2e8b57", alpha=0.2, zorder=0, label="valley")
        axes.set(title=title, yscale="symlog", ylim=(0, None), xlim=(0, len(counts)))
        axes.set_xticks([at for at, _ in marks], [name for _, name in marks])
        axes.legend(loc="upper left")
    figure.savefig(path, dpi=150, format="png")
