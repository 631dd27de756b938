"""newsdedup: find the copies in offline corpora of news and keep one of each.

From Python: `dedup` for a frame, `Deduplicator` for texts that come one by one; both are in `newsdedup_cli.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newsdedup_cli.api import Deduplicator, Match, dedup

__version__ = "0.1.0"
__all__ = ["Deduplicator", "Match", "__version__", "dedup"]


def __getattr__(name: str) -> Any:
    """What stands in `api`, imported when it is asked for: `newsdedup --help` needs none of it."""
    if name in ("Deduplicator", "Match", "dedup"):
        from newsdedup_cli import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
