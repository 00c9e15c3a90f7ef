"""A rewrite rule of our own, inside tinygrad: whole numbers that fit into 8 bits are stored in 8.

    index(stage(x : i32), i)  ->  cast(index(stage(cast(x) : i8), i)) : i32    if -128 <= x <= 127

A quantized model makes int8 numbers: clip(round(...), -128, 127), cast to int8, and cast to int32
where they are multiplied. tinygrad knows that the clipped numbers fit, so the narrow cast does
nothing and falls, and what is stored between two kernels is int32: four times the bytes, and nobody
can see any more that it fits a chip of int8. The rule puts the cast back where it pays: at the
memory.

tinygrad's rules are values, patterns with functions, and its passes look them up by name when they
run. So a rule is added by putting a longer list in the place of the list of one pass: here of the
last one that sees values that will be stored (`STAGE`) before they become kernels. Next room:
`door.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tinygrad.dtype import AddrSpace, dtypes
from tinygrad.helpers import Context
from tinygrad.schedule import rangeify
from tinygrad.uop import Ops
from tinygrad.uop.ops import PatternMatcher, UOp, UPat


def store_narrow(stage: UOp, index: UOp) -> UOp | None:
    """The rule; None where it does not apply."""
    x = stage.src[0]
    if x.dtype not in (dtypes.int16, dtypes.int32, dtypes.int64) or not _fits(x):
        return None
    if stage.arg.addrspace is not AddrSpace.GLOBAL:
        return None
    narrow = stage.replace(dtype=None, src=(x.cast(dtypes.int8), *stage.src[1:]))
    return index.replace(dtype=None, src=(narrow, *index.src[1:])).cast(x.dtype)


def _fits(x: UOp) -> bool:
    return bool(x.vmin >= -128 and x.vmax <= 127)


NARROW = PatternMatcher([
    (UPat(Ops.STAGE, name="stage").f(Ops.INDEX, allow_any_len=True, name="index"), store_narrow),
])  # fmt: skip


@contextmanager
def added(rules: PatternMatcher) -> Iterator[None]:
    """tinygrad with these rules in the pass that limits buffers, and with empty caches of what it
    made without them."""
    before = rangeify.pm_limit_bufs
    rangeify.pm_limit_bufs = before + rules
    try:
        with Context(SCACHE=0):
            yield
    finally:
        rangeify.pm_limit_bufs = before
