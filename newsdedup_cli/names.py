"""What a row is called: by its id, and where it has none by its number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from newsdedup_cli.tables import I32


def row_names(ids: pa.LargeStringArray, file: I32, files: Sequence[str]) -> pa.LargeStringArray:
    """The ids, and instead of a missing one the row's number from 1; with several files FILE:NUMBER within it.

    >>> row_names(pa.array(["007", None], pa.large_string()), np.zeros(2, np.int32), ["a.csv"]).to_pylist()
    ['007', '2']
    """
    missing = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
    if len(missing) == 0:
        return ids
    first = {int(f): int(np.argmax(file == f)) for f in np.unique(file)}
    names = ids.to_pylist()
    for i in missing.tolist():
        of = int(file[i])
        names[i] = f"{files[of]}:{i - first[of] + 1}" if len(files) > 1 else str(i + 1)
    return pa.array(names, pa.large_string())
