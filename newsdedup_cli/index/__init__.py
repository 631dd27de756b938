"""What is remembered of the rows of earlier days, on disk: evidence, decisions and learnt boilerplate.

    DIR/manifest.json                       what belongs to the index; replaced last, so it is whole or as before
    DIR/day=YYYY-MM-DD/part-*.parquet       the rows of a day: evidence.to_arrow and store.DECISION
    DIR/links/part-*.parquet                pairs that are alike, for the guard on families of texts
    DIR/boilerplate/part-*.parquet          learnt boilerplate
    DIR/metrics.jsonl                       one line per run
    DIR/lock, DIR/reading                   held by who writes, and by who reads

Files that the manifest does not name are ignored, and removed by the next writer.
"""

from __future__ import annotations

from newsdedup_cli.index.lookup import History, Past
from newsdedup_cli.index.store import Index, Staged

__all__ = ["History", "Index", "Past", "Staged"]
