"""An explanation as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from newsdedup_cli.errors import UserError
from newsdedup_cli.explain import Explanation
from newsdedup_cli.explain_texts import Segment

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#f1f3f5;--del:#ffd7d5;--ins:#ccf0d4;--line:#c6ccd2}
@media(prefers-color-scheme:dark){:root{--ink:#e4e7ea;--paper:#15181c;--soft:#20252b;--del:#6b2b2a;--ins:#1f5130;
--line:#3a424b}}
body{font:16px/1.6 system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif;margin:auto;
max-width:72rem;padding:1rem;color:var(--ink);background:var(--paper)}
table{border-collapse:collapse;width:100%}td,th{padding:.25rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.texts{table-layout:fixed}.same td{color:color-mix(in srgb,var(--ink) 65%,transparent)}
del{background:var(--del);text-decoration:none}ins{background:var(--ins);text-decoration:none}
th,b{white-space:nowrap}.texts th,tr:first-child th{white-space:normal}pre{overflow-x:auto}
.verdict{font-size:1.2rem;background:var(--soft);padding:.8rem;border-radius:.4rem}
"""
TAGS = {"-": "del", "+": "ins"}


def check(path: Path | None) -> None:
    """Raise before the work starts where the page could not be written."""
    if path and not path.absolute().parent.is_dir():
        raise UserError(f"no folder {path.parent} for {path.name}", todo=f"mkdir -p {path.parent}")


def as_html(found: Explanation) -> str:
    """The page."""
    a, b = found.sides
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(a.id)} and {escape(b.id)}</title><style>{STYLE}</style>",
        f"<h1>{escape(a.id)} and {escape(b.id)}</h1>",
        f'<p class="verdict">{escape(found.judgement.sentence)}</p>',
        _sides(found),
        _rules(found),
        _details(found),
        _texts(found),
        f"<p>Settings {escape(found.signature)}</p>\n",
    ]
    return "\n".join(parts)


def _sides(found: Explanation) -> str:
    a, b = found.sides
    rows = [("row", f"{a.row}", f"{b.row}"), ("file", a.file, b.file)]
    rows += [(n, a.values.get(n, ""), b.values.get(n, "")) for n in ("title", "date", "source", "url")]
    rows.append(("here", "kept" if a.kept else "removed", "kept" if b.kept else "removed"))
    cells = "".join(f"<tr><th>{escape(n)}<td>{escape(x)}<td>{escape(y)}" for n, x, y in rows if x or y)
    return f"<table><tr><th><th>A: {escape(a.id)}<th>B: {escape(b.id)}{cells}</table>"


def _rules(found: Explanation) -> str:
    rows = "".join(
        f"<tr><td>{escape(r.name)}<td>{escape(r.figure)}<td>{escape(r.threshold)}<td><b>{escape(r.says)}</b>"
        for r in found.rules
    )
    return f"<h2>Rules</h2><table><tr><th>rule<th>found<th>asked for<th>says{rows}</table>"


def _details(found: Explanation) -> str:
    c = found.comparison
    marks = "".join("^" if bit in c.bits else " " for bit in range(63, -1, -1)).rstrip()
    bits = "\n".join(f"{name} {value:064b}" for name, value in zip("AB", c.fingerprints, strict=True))
    parts = [f"<h2>Fingerprints: {len(c.bits)} bits differ</h2><pre>{bits}\n  {marks}</pre>", "<h2>Words</h2><table>"]
    for name, words in (("both", c.common_words), ("only A", c.only_first), ("only B", c.only_second)):
        told = " ".join(escape(word) + (f"×{weight}" if weight > 1 else "") for word, weight in words)
        parts.append(f"<tr><th>{name}<td>{told or '-'}")
    parts.append("</table>")
    if c.shared_sentences:
        items = "".join(f"<li>{escape(sentence)}" for sentence in c.shared_sentences)
        parts.append(f"<h2>Shared among the longest sentences</h2><ul>{items}</ul>")
    if c.clauses:
        pairs = "".join(f"<tr><td>{escape(x)}<td>{escape(y)}" for x, y in c.clauses)
        parts.append(f"<h2>Clauses equal but for a number or its opposite</h2><table>{pairs}</table>")
    parts.append("<h2>Cleaning</h2><table>")
    for name, steps, gone in zip("AB", c.cleaned, c.boilerplate, strict=True):
        left = "".join(f"<br>left out: {escape(sentence)}" for sentence in gone)
        parts.append(f"<tr><th>{name}<td>{escape(', '.join(steps)) or 'none'}{left}")
    return "".join([*parts, "</table>"])


def _texts(found: Explanation) -> str:
    rows = "".join(
        f'<tr class="{line.kind}"><td>{_marked(line.first)}<td>{_marked(line.second)}'
        for line in found.comparison.lines
    )
    return f'<h2>The texts as compared</h2><table class="texts"><tr><th>A<th>B{rows}</table>'


def _marked(segments: Sequence[Segment]) -> str:
    return "".join(
        escape(text) if kind == "=" else f"<{TAGS[kind]}>{escape(text)}</{TAGS[kind]}>" for kind, text in segments
    )
