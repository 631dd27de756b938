"""The one decorator of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(*args: Any, **given: Any) -> Callable[..., Any]:
    """`numba.njit`, cached on disk and without the GIL, so that threads over batches use the cores."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", **given}
    decorator: Callable[..., Any] = njit(*args, **options)
    return decorator
