"""A rewrite rule of our own for tinygrad: whole numbers that fit are stored in 8 bits.

    stage(x : i32), index  ->  cast(index(stage(cast(x) : i8))) : i32       if -128 <= x <= 127

A quantized model makes int8 numbers: clip(round(...), -128, 127), cast to int8, and cast to int32
where they are multiplied. tinygrad stores them just before the product broadcasts them, after the
second cast, so what is stored between two kernels is int32: four times the bytes, and the next
kernel does not show that the numbers fit a chip of int8. The rule puts casts where they pay: at the
memory.

tinygrad is imported where the rule is asked for, so that this file can be read without it. Next
room: `tinygrad`, whose `rules.py` puts the rule into a pass.
"""

from __future__ import annotations

from course_lib.exercises import exercise


def as_it_is(program: str) -> str:
    """No rule: what tinygrad does by itself."""
    from tinygrad.uop.ops import PatternMatcher

    from course_lib.plugins.rewriting import rewritten

    return rewritten(program, PatternMatcher([]))


@exercise("plugins.narrowed", unit=17, points=4, kind="implement", baseline=as_it_is)
def narrowed(program: str) -> str:
    """Store whole numbers in 8 bits between kernels if they are sure to fit.

    program  lines of UOps, as above
    returns  rewritten(program, rules), where rules is your PatternMatcher

    Where a kernel leaves numbers for another one, an `index` reads a `stage`. If these numbers are
    of type int16, int32 or int64 and tinygrad's bounds say that all of them lie in -128 to 127,
    store int8. The readers get the type that they got before. Everything else stays as it is:
    numbers that may not fit, other types, and a `local` stage, which stays within its kernel. The
    program computes the same result.
    """
    from tinygrad.dtype import AddrSpace, dtypes
    from tinygrad.uop import Ops
    from tinygrad.uop.ops import PatternMatcher, UOp, UPat

    from course_lib.plugins.rewriting import rewritten

    def store_narrow(stage: UOp, index: UOp) -> UOp | None:
        x = stage.src[0]
        if x.dtype not in (dtypes.int16, dtypes.int32, dtypes.int64):
            return None
        if x.vmin < -128 or x.vmax > 127 or stage.arg.addrspace is not AddrSpace.GLOBAL:
            return None
        narrow = stage.replace(dtype=None, src=(x.cast(dtypes.int8), *stage.src[1:]))
        return index.replace(dtype=None, src=(narrow, *index.src[1:])).cast(x.dtype)

    read = UPat(Ops.STAGE, name="stage").f(Ops.INDEX, allow_any_len=True, name="index")
    return rewritten(program, PatternMatcher([(read, store_narrow)]))
