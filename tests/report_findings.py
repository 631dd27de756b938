"""Findings made up for tests of the report, and the same figures counted in plain Python."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa

from newsdedup_cli.files.base import Reject
from newsdedup_cli.report.base import Findings
from newsdedup_cli.tables import CANDIDATES_SCHEMA, ROWS_SCHEMA, UNKNOWN, Rows

NASTY = [
    "=1+1",
    "</script><script>alert(1)</script>",
    "<r>x</r>",
    "_x0041_ \x01\x0b",
    "@SUM(A1)",
    "https://example.com/a",
    "中文　标题 👨‍👩‍👧",
    "長" * 3000,
]


def made_up(rows: int = 60, seed: int = 1, clusters: int = 20, candidates: int = 12) -> Findings:
    """Findings of random clusters; every second row has a date, titles and sources are nasty."""
    random = Random(seed)
    group = sorted(random.randrange(clusters) for _ in range(rows))
    first = {g: group.index(g) for g in group}
    dense = {g: i for i, g in enumerate(dict.fromkeys(group))}
    sizes = Counter(group)
    lines = []
    for i, g in enumerate(group):
        kept = first[g] == i
        reason = "" if kept else random.choice(["exact", "simhash", "sentence"])
        score = None if kept else 1.0 if reason == "exact" else random.randrange(620, 1000) / 1000
        lines.append(
            {
                "row": i + 1,
                "file": random.choice(["a.csv", "b.csv"]),
                "id": f"id{i}",
                "similar_id": dense[g],
                "size": sizes[g],
                "kept": kept,
                "kept_row": None if kept else first[g] + 1,
                "kept_id": None if kept else f"id{first[g]}",
                "reason": reason,
                "distance": None if kept else 0 if reason == "exact" else random.randrange(20),
                "shared_sentences": None if kept else random.randrange(6),
                "score": score,
            }
        )
    removed = [line for line in lines if not line["kept"]]
    counts = {
        "read": rows,
        "kept": rows - len(removed),
        "removed": len(removed),
        "rejected": 1,
        "removed_by": dict(Counter(line["reason"] for line in removed)),
        "kept_alone": {"no_text": 0},
        "clusters": sum(n > 1 for n in sizes.values()),
        "largest_cluster": max(sizes.values(), default=0),
        "candidates": candidates,
    }
    run = {
        "counts": counts,
        "made_by": {"newsdedup": "0", "signature": "abc"},
        "settings": {"matching": {"max_distance": 8, "min_score": 0.62}},
        "columns": {"title": ["title"]},
        "inputs": [{"file": "a.csv", "sha256": "00", "bytes": 1}],
        "notes": [],
        "warnings": ["<b>careful</b>"],
        "stages": [{"name": "clusters", "seconds": 0.1, "peak_bytes": 1 << 20}],
    }
    return Findings(
        pa.Table.from_pylist(lines, ROWS_SCHEMA),
        _candidates(rows, candidates, random),
        _about(rows, random),
        [Reject("a.csv", 3, "too few columns", "x\x00\r\n=cmd|' /C calc'!A0")],
        [("扫码<关注>我们", 7)],
        run,
        {i + 1: f"第一句话相同。第{i}句不同，{random.randrange(99)}人。" for i in range(rows)},
        {i + 1: f"https://example.com/{i}" if i % 2 else "javascript:alert(1)" for i in range(rows)},
    )


def _about(rows: int, random: Random) -> Rows:
    return Rows(
        pa.array([f"id{i}" for i in range(rows)], pa.large_string()),
        pa.array([random.choice([None, *NASTY]) for _ in range(rows)], pa.large_string()),
        pa.array([random.choice([None, "甲报", "乙网", *NASTY[:2]]) for _ in range(rows)], pa.large_string()),
        np.array(
            [UNKNOWN if i % 2 else 1_767_225_600_000_000 + random.randrange(10**13) for i in range(rows)],
            np.int64,
        ),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.uint64),
        np.ones(rows, np.float32),
        np.zeros((rows, 4), np.uint64),
    )


def _candidates(rows: int, candidates: int, random: Random) -> pa.Table:
    lines = []
    for score in sorted((random.random() for _ in range(candidates)), reverse=True):
        a, b = sorted(random.sample(range(rows), 2))
        lines.append(
            {
                "row_a": a + 1,
                "id_a": f"id{a}",
                "row_b": b + 1,
                "id_b": f"id{b}",
                "reason": random.choice(["near", "numbers_differ", "contained_in"]),
                "distance": random.randrange(40),
                "shared_sentences": 1,
                "score": score,
                "containment": score,
                "decision": None,
            }
        )
    return pa.Table.from_pylist(lines, CANDIDATES_SCHEMA)
