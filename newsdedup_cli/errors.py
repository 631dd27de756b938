"""Errors a user can mend: what was found, what was wanted, what to type."""

from __future__ import annotations

import errno


class UserError(Exception):
    """A problem that the user can mend; the command ends with exit code 2 and no traceback.

    Printed as one line that says what was found, then, where given, a line `wanted:` and a line `try:`.

    >>> print(UserError("no column 'body' in news.csv", wanted="one of id, content", todo="--text content"))
    no column 'body' in news.csv
      wanted: one of id, content
      try:    --text content
    """

    exit_code = 2

    def __init__(self, found: str, *, wanted: str | None = None, todo: str | None = None) -> None:
        super().__init__(found)
        self.found = found
        self.wanted = wanted
        self.todo = todo

    def __str__(self) -> str:
        lines = [self.found]
        if self.wanted:
            lines.append(f"  wanted: {self.wanted}")
        if self.todo:
            lines.append(f"  try:    {self.todo}")
        return "\n".join(lines)


def told(error: OSError) -> str:
    """An error of the system in words, with what helps where that is known.

    >>> print(told(OSError(errno.ENOSPC, "No space left on device", "out")))
    out: No space left on device
      try:    making room there, --tmpdir on another disk, or another -o
    """
    message = f"{error.filename or 'system'}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{message}\n  try:    making room there, --tmpdir on another disk, or another -o"
    return message


def visible(text: str, limit: int = 60) -> str:
    r"""The text in quotes, invisible characters escaped and shortened, for a message.

    >>> print(visible("\ufeffid"))
    '\ufeffid'
    >>> print(visible("标题"))
    '标题'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    if len(shown) > limit:
        shown = f"{shown[: limit - 1]}…"
    return f"'{shown}'"
