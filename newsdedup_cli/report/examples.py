"""Clusters and candidates as cards of report.html, with the differences of their texts marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import urlsplit

from newsdedup_cli.report.base import Findings
from newsdedup_cli.report.marked import as_html, difference, shortened
from newsdedup_cli.report.shown import Example, candidate_reasons, choose_candidates
from newsdedup_cli.tables import UNKNOWN

Words = Mapping[str, str]
MOST_TITLE = 200  # characters


def legend(say: Words) -> str:
    """What the marks mean."""
    marks = f"<del>{escape(say['only_first'])}</del>", f"<ins>{escape(say['only_second'])}</ins>"
    return f'<p class="note">{escape(say["legend"]).format(*marks)}</p>\n'


def clusters(shown: Sequence[Example], findings: Findings, say: Words) -> str:
    """A card per cluster: the kept row, removed rows with their figures, the least alike pair's differences."""
    if not shown:
        return f'<p class="note">{escape(say["nothing"])}</p>'
    return f'<div class="cards">{"".join(_cluster(example, findings, say) for example in shown)}</div>'


def _cluster(example: Example, findings: Findings, say: Words) -> str:
    kept = example.kept
    lines = [f'<li><span class="tag k">{escape(say["kept_tag"])}</span>{_row(kept, findings, say)}</li>']
    lines += [_removed(row, kept, findings, say) for row in example.removed]
    more = example.size - 1 - len(example.removed)
    if more:
        lines.append(f'<li class="meta">{escape(say["more_rows"].format(f"{more:,}"))}</li>')
    text = marked(kept, example.removed[0], findings, say)
    size = escape(say["size"].format(f"{example.size:,}"))
    return (
        f'<article><h4>{_title(kept, findings, say)} <span class="tag">{size}</span></h4>'
        f'<ul class="members">{"".join(lines)}</ul>{text}</article>\n'
    )


def _removed(row: int, kept: int, findings: Findings, say: Words) -> str:
    line = findings.rows.slice(row, 1).to_pylist()[0]
    title = _title(row, findings, say)
    shown = f"{title}<br>" if title != _title(kept, findings, say) else ""
    tag = f'<span class="tag">{escape(line["reason"] or "")}</span>'
    return f"<li>{tag}{shown}{_row(row, findings, say)}{_figures(line, say)}</li>"


def candidates(findings: Findings, say: Words) -> str:
    """A card per pair, by reason: both titles, the figures, the differences."""
    places = choose_candidates(candidate_reasons(findings))
    if not len(places):
        return f'<p class="note">{escape(say["nothing"])}</p>'
    note = say["candidates_note"].format(f"{len(places):,}", f"{len(findings.candidates):,}")
    lines = findings.candidates.take(places).to_pylist()
    cards = [_candidate(line, findings, say) for line in sorted(lines, key=lambda line: line["reason"])]
    return f'<p class="note">{escape(note)}</p>\n{legend(say)}<div class="cards">{"".join(cards)}</div>'


def _candidate(line: dict[str, Any], findings: Findings, say: Words) -> str:
    a, b = line["row_a"] - 1, line["row_b"] - 1
    reason = say.get(line["reason"], line["reason"])
    both = "".join(f"<li>{_title(row, findings, say)}<br>{_row(row, findings, say)}</li>" for row in (a, b))
    return (
        f'<article><p><span class="tag">{escape(reason)}</span>{_figures(line, say)}</p>'
        f'<ul class="members">{both}</ul>{marked(a, b, findings, say)}</article>\n'
    )


def marked(first: int, second: int, findings: Findings, say: Words) -> str:
    """The differences of two rows' texts, where they are at hand."""
    texts = findings.texts.get(first + 1), findings.texts.get(second + 1)
    if texts[0] is None or texts[1] is None:
        return ""
    if texts[0] == texts[1]:
        return f'<p class="note">{escape(say["equal"])}</p>'
    return f'<div class="text">{as_html(shortened(difference(texts[0], texts[1])), say["cut"])}</div>'


def _title(row: int, findings: Findings, say: Words) -> str:
    title = (findings.about.title[row].as_py() or "").strip()
    cut = title if len(title) <= MOST_TITLE else title[:MOST_TITLE] + "…"
    return escape(cut) if cut else f"<i>{escape(say['untitled'])}</i>"


def _row(row: int, findings: Findings, say: Words) -> str:
    """Where a row comes from, in a line."""
    known = [findings.about.source[row].as_py(), moment(int(findings.about.date[row]))]
    name = findings.about.id[row].as_py()
    parts = [escape(str(part)[:MOST_TITLE]) for part in known if part]
    parts.append(f"{escape(say['id'])} {_linked(str(name)[:MOST_TITLE], findings.urls.get(row + 1))}")
    parts.append(f"{escape(say['row'])} {row + 1:,}")
    return f'<span class="meta">{" · ".join(parts)}</span>'


def _linked(name: str, url: str | None) -> str:
    if url is None or not is_web(url):
        return escape(name)
    return f'<a href="{escape(url)}" rel="noreferrer noopener">{escape(name)}</a>'


def is_web(url: str) -> bool:
    """Whether a text can be made a link: http or https with a host, nothing that runs.

    >>> is_web("https://example.com/1"), is_web("javascript:alert(1)"), is_web("http://[broken")
    (True, False, False)
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _figures(line: Mapping[str, Any], say: Words) -> str:
    shown = [
        ("score", "score"),
        ("distance", "distance"),
        ("shared", "shared_sentences"),
        ("containment", "containment"),
    ]
    parts = []
    for word, name in shown:
        value = line.get(name)
        if value is not None:
            figure = f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
            parts.append(f"{escape(say[word])} {figure}")
    return f' <span class="meta">· {" · ".join(parts)}</span>'


def moment(micros: int) -> str:
    """A date as people read it, empty where none is known.

    >>> moment(1_764_460_800_000_000)
    '2025-11-30'
    """
    if micros == UNKNOWN:
        return ""
    try:
        date = datetime.fromtimestamp(micros / 1e6, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return date.strftime("%Y-%m-%d" if date.time().isoformat() == "00:00:00" else "%Y-%m-%d %H:%M")
