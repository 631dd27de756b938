"""The charts of report.html, described as data: page.js draws them, a table under each gives the same figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from newsdedup_cli.report.figures import SCORE_BINS, SIZE_FROM, SPANS, Numbers

Chart = dict[str, Any]
Words = Mapping[str, str]
MOST_NAME = 40  # characters of a name in a chart


def charts(found: Numbers, run: Mapping[str, Any], words: Words) -> list[Chart]:
    """All charts, in the order of the page.

    `kind` is `across` (bars from left to right), `upright` (bars from the ground up) or `heat`. `marks` are
    lines before the category they name.
    """
    matching = run.get("settings", {}).get("matching", {})
    return [
        _outcome(found, words),
        _reasons(found, words),
        _distances(found, matching.get("max_distance"), run.get("distances", {}), words),
        _scores(found, matching.get("min_score"), words),
        _sizes(found, words),
        _spans(found, words),
        _days(found, words),
        _sources(found, words),
    ]


def _chart(name: str, kind: str, title: str, note: str = "", **more: Any) -> Chart:
    return {"id": name, "kind": kind, "title": title, "note": note} | more


def _series(name: str, colour: str, values: Sequence[int] | np.ndarray) -> dict[str, Any]:
    return {"name": name, "colour": colour, "values": [int(value) for value in values]}


def _outcome(found: Numbers, words: Words) -> Chart:
    names = [words[name] for name, _ in found.outcome]
    colours = {"kept": "kept", "rejected": "doubt"}
    removed = ("exact", "simhash", "sentence", "semantic")
    each = [colours.get(name, "removed" if name in removed else "kept") for name, _ in found.outcome]
    series = [_series(words["rows"], "kept", [n for _, n in found.outcome]) | {"each": each}]
    return _chart("outcome", "across", words["outcome"], names=names, series=series)


def _reasons(found: Numbers, words: Words) -> Chart:
    names = [words[name] for name, _ in found.candidates]
    series = [_series(words["pairs"], "doubt", [n for _, n in found.candidates])]
    return _chart("reasons", "across", words["by_reason"], names=names, series=series, empty=words["nothing"])


def _distances(found: Numbers, most: int | None, every: Mapping[str, Any], words: Words) -> Chart:
    removed, candidates = found.distances
    top = int(np.flatnonzero(removed + candidates).max(initial=0))
    end = min(64, max(top, most or 0, 8) + 1)
    note = words["distances_note"].format("–" if most is None else most, f"{found.exact:,}")
    marks: list[dict[str, Any]] = [] if most is None else [{"before": most + 1, "label": f"≤ {most}"}]
    if dip := every.get("valley"):
        note += " " + words["valley_note"].format(f"{every['rows']:,}", *dip)
        marks += [{"before": edge, "label": ""} for edge in (dip[0], dip[1] + 1) if edge <= end]
    elif every:
        note += " " + words["no_valley_note"].format(f"{every['rows']:,}")
    return _chart(
        "distances",
        "upright",
        words["distances"],
        note,
        names=[str(i) for i in range(end + 1)],
        series=[
            _series(words["removed_series"], "removed", removed[: end + 1]),
            _series(words["candidates_series"], "doubt", candidates[: end + 1]),
        ],
        marks=marks,
        empty=words["nothing"],
    )


def _scores(found: Numbers, least: float | None, words: Words) -> Chart:
    removed, candidates = found.scores
    low = int(np.flatnonzero(removed + candidates).min(initial=SCORE_BINS - 10))
    low = max(0, min(low, int((least or 1) * SCORE_BINS)) - 1)
    note = words["scores_note"].format("–" if least is None else f"{least:g}", f"{found.exact:,}")
    marks = [] if least is None else [{"before": least * SCORE_BINS - low, "label": f"≥ {least:g}"}]
    return _chart(
        "scores",
        "upright",
        words["scores"],
        note,
        names=[f"{i / SCORE_BINS:.2f}" for i in range(low, SCORE_BINS)],
        series=[
            _series(words["removed_series"], "removed", removed[low:]),
            _series(words["candidates_series"], "doubt", candidates[low:]),
        ],
        marks=marks,
        empty=words["nothing"],
    )


def _sizes(found: Numbers, words: Words) -> Chart:
    ends = [*(begin - 1 for begin in SIZE_FROM[1:]), None]
    names = [
        f"{begin}+" if end is None else str(begin) if begin == end else f"{begin}–{end}"
        for begin, end in zip(SIZE_FROM, ends, strict=True)
    ]
    used = int(np.flatnonzero(found.sizes).max(initial=0)) + 1
    used = max(used, 4)
    series = [_series(words["clusters_unit"], "removed", found.sizes[:used])]
    return _chart(
        "sizes", "upright", words["sizes"], words["sizes_note"], names=names[:used], series=series, labels=True
    ) | {"empty": words["nothing"]}


def _spans(found: Numbers, words: Words) -> Chart:
    names = [words[f"span_{i}"] for i in range(len(SPANS) + 1)]
    series = [_series(words["clusters_unit"], "removed", found.spans)]
    return _chart("spans", "across", words["spans"], words["spans_note"], names=names, series=series) | {
        "empty": words["no_dates"]
    }


def _days(found: Numbers, words: Words) -> Chart:
    unit, begins, counts = found.days
    series = [_series(words["removed_series"], "removed", counts)]
    return _chart(
        "days", "upright", words[f"days_{unit}"], words["days_note"], names=begins, series=series, wide=True
    ) | {"empty": words["no_dates"]}


def _sources(numbers: Numbers, words: Words) -> Chart:
    found = numbers.sources
    if found is None:
        empty = "one_source" if numbers.sources_known else "no_source"
        return _chart("sources", "heat", words["sources"], names=[], series=[], empty=words[empty])
    kept, removed = ([_short(name) or words["none_source"] for name in some] for some in (found.kept, found.removed))
    note = words["files_note" if found.by_file else "sources_note"].format(f"{found.outside:,}")
    cells = [[int(x), int(y), int(found.counts[y, x])] for y, x in np.argwhere(found.counts > 0)]
    return _chart("sources", "heat", words["sources"], note, names=removed, lines=kept, cells=cells, series=[]) | {
        "unit": words["rows"]
    }


def _short(name: str) -> str:
    return name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "…"


def has_figures(chart: Chart) -> bool:
    """Whether there is anything to draw."""
    return bool(chart.get("cells")) or any(any(series["values"]) for series in chart["series"])
