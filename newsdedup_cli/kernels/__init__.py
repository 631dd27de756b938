"""Every compiled kernel: arrays in, arrays out; no strings, tables or settings.

One self-contained file a subject: numba's cache does not see an edit in another file, so no kernel calls
one of another file. Each has a plain twin in tests/naive.py and a property test.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["cache_folder", "is_warm"]


def cache_folder() -> Path:
    """The folder for compiled code and dictionaries: XDG's cache, or a temporary one where that is read-only."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "newsdedup"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = Path(tempfile.gettempdir()) / f"newsdedup-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def is_warm() -> bool:
    """Whether compiled kernels lie in the cache already."""
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    return folder.is_dir() and any(folder.glob("*/*.nbi"))


# numba reads this when it is imported: the package's own __pycache__ may be read-only.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "numba"))
