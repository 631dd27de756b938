"""Column names where a name can stand only once."""

from __future__ import annotations

from collections.abc import Sequence

from newsdedup_cli.errors import visible


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names with `_2`, `_3` after repeated ones, and what to say about it.

    >>> unique_names(["id", "content", "content"])
    (['id', 'content', 'content_2'], ["column 3: the name 'content' is taken, written as 'content_2'"])
    """
    taken = set(names)
    used: set[str] = set()
    found, warnings = [], []
    for position, name in enumerate(names, 1):
        fresh, number = name, 2
        while fresh in used or (fresh != name and fresh in taken):
            fresh, number = f"{name}_{number}", number + 1
        if fresh != name:
            text = f"column {position}: the name {visible(name)} is taken, written as {visible(fresh)}"
            warnings.append(text)
        used.add(fresh)
        found.append(fresh)
    return found, warnings
