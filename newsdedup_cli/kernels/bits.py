"""The one instruction that numba does not know: how many bits are set. Inlined wherever it is called."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


@intrinsic
def _ctpop(typing_context, x):  # pragma: no cover - compiled
    def build(context, builder, signature, args):
        return builder.zext(builder.ctpop(args[0]), ir.IntType(64))

    return types.int64(types.uint64), build


def popcount(x):
    """How many bits of a uint64 are set."""
    return int(x).bit_count()


@overload(popcount)
def _popcount_compiled(x):
    return lambda x: _ctpop(x)
