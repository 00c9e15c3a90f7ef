"""Mutants and alternatives of unit 17: numbers that a rule stores in 8 bits."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant

equivalent("plugins.narrowed", "return None", "return index",
           because="an operation that is its own replacement stays")  # fmt: skip


def _rule(program, wide=("int16", "int32", "int64"), low=-128, high=127, spaces=("GLOBAL",),
          to="int8", back=True, cut=False, first=1, ranges=None):  # fmt: skip
    from tinygrad.dtype import to_dtype
    from tinygrad.uop import Ops
    from tinygrad.uop.ops import PatternMatcher, UPat

    from course_lib.plugins.rewriting import rewritten

    def store(stage, index):
        x = stage.src[0]
        if x.dtype not in [to_dtype(kind) for kind in wide]:
            return None
        if (not cut and (x.vmin < low or x.vmax > high)) or stage.arg.addrspace.name not in spaces:
            return None
        narrow = stage.replace(dtype=None, src=(x.cast(to_dtype(to)), *stage.src[first:ranges]))
        read = index.replace(dtype=None, src=(narrow, *index.src[1:ranges]))
        return read.cast(x.dtype) if back else read

    read = UPat(Ops.STAGE, name="stage").f(Ops.INDEX, allow_any_len=True, name="index")
    return rewritten(program, PatternMatcher([(read, store)]))


@mutant("plugins.narrowed")
def every_whole_number(program):
    """Cuts off what does not fit."""
    return _rule(program, cut=True)


@mutant("plugins.narrowed")
def readers_get_int8(program):
    """The result of the INDEX is not cast back."""
    return _rule(program, back=False)


@mutant("plugins.narrowed")
def symmetric(program):
    """-127 to 127, so that -128 stays wide."""
    return _rule(program, low=-127)


@mutant("plugins.narrowed")
def up_to_128(program):
    return _rule(program, high=128)


@mutant("plugins.narrowed")
def as_unsigned(program):
    """uint8, for 0 to 255."""
    return _rule(program, low=0, high=255, to="uint8")


@mutant("plugins.narrowed")
def only_int32(program):
    return _rule(program, wide=("int32",))


@mutant("plugins.narrowed")
def local_ones_as_well(program):
    return _rule(program, spaces=("GLOBAL", "LOCAL"))


@mutant("plugins.narrowed")
def unsigned_ones_as_well(program):
    return _rule(program, wide=("int16", "int32", "int64", "uint16"))


@mutant("plugins.narrowed")
def long_unsigned_ones_as_well(program):
    return _rule(program, wide=("int16", "int32", "int64", "uint32", "uint64"))


@mutant("plugins.narrowed")
def bytes_as_well(program):
    """As many bytes as before, but of another type."""
    return _rule(program, wide=("int16", "int32", "int64", "uint8"))


@mutant("plugins.narrowed")
def truth_values_as_well(program):
    return _rule(program, wide=("int16", "int32", "int64", "bool"))


@mutant("plugins.narrowed")
def the_old_value_as_a_range(program):
    """Among what follows the value that is stored."""
    return _rule(program, first=0)


@mutant("plugins.narrowed")
def only_the_first_range(program):
    """Keeps one range of the stage and of the index."""
    return _rule(program, ranges=2)


@mutant("plugins.narrowed")
def cast_between_the_stage_and_its_reader(program):
    """Matches the stage alone, so that the index reads a cast."""
    from tinygrad.dtype import AddrSpace, dtypes
    from tinygrad.uop import Ops
    from tinygrad.uop.ops import PatternMatcher, UPat

    from course_lib.plugins.rewriting import rewritten

    def store(stage):
        x = stage.src[0]
        if x.dtype not in (dtypes.int16, dtypes.int32, dtypes.int64):
            return None
        if x.vmin < -128 or x.vmax > 127 or stage.arg.addrspace is not AddrSpace.GLOBAL:
            return None
        narrow = stage.replace(dtype=None, src=(x.cast(dtypes.int8), *stage.src[1:]))
        return narrow.cast(x.dtype)

    return rewritten(program, PatternMatcher([(UPat(Ops.STAGE, name="stage"), store)]))


@mutant("plugins.narrowed")
def floats_as_well(program):
    return _rule(program, wide=("int16", "int32", "int64", "float32"))


@mutant("plugins.narrowed")
def in_sixteen_bits(program):
    return _rule(program, wide=("int32", "int64"), low=-32768, high=32767, to="int16")


@mutant("plugins.narrowed")
def no_rule(program):
    from tinygrad.uop.ops import PatternMatcher

    from course_lib.plugins.rewriting import rewritten

    return rewritten(program, PatternMatcher([]))


@alternative("plugins.narrowed")
def with_the_limits_of_the_type(program):
    from tinygrad.dtype import dtypes

    return _rule(program, low=dtypes.int8.min, high=dtypes.int8.max)


@alternative("plugins.narrowed")
def one_pattern_for_each_type(program):
    """The types stand in the pattern, and the rule is an expression."""
    from tinygrad.dtype import AddrSpace, dtypes
    from tinygrad.uop import Ops
    from tinygrad.uop.ops import PatternMatcher, UOp, UPat

    from course_lib.plugins.rewriting import rewritten

    def store(x, stage, index):
        if stage.arg.addrspace is AddrSpace.GLOBAL and -128 <= x.vmin <= x.vmax <= 127:
            narrow = UOp(Ops.STAGE, src=(x.cast(dtypes.int8), *stage.src[1:]), arg=stage.arg)
            return UOp(Ops.INDEX, src=(narrow, *index.src[1:])).cast(index.dtype)
        return None

    rules = []
    for kind in (dtypes.int16, dtypes.int32, dtypes.int64):
        stage = UPat(Ops.STAGE, src=(UPat.var("x", dtype=kind),), allow_any_len=True, name="stage")
        rules.append((UPat(Ops.INDEX, src=(stage,), allow_any_len=True, name="index"), store))
    return rewritten(program, PatternMatcher(rules))


@alternative("plugins.narrowed")
def from_the_index(program):
    """Matches every INDEX, and looks at what it reads."""
    from tinygrad.dtype import AddrSpace, dtypes
    from tinygrad.uop import Ops
    from tinygrad.uop.ops import PatternMatcher, UPat

    from course_lib.plugins.rewriting import rewritten

    def store(index):
        stage = index.src[0]
        if stage.op is not Ops.STAGE or stage.arg.addrspace is not AddrSpace.GLOBAL:
            return None
        x = stage.src[0]
        if not dtypes.is_int(x.dtype) or x.dtype.itemsize == 1 or dtypes.is_unsigned(x.dtype):
            return None
        if not (x.vmin >= -128 and x.vmax <= 127):
            return None
        stored = stage.replace(dtype=None, src=(x.cast(dtypes.int8), *stage.src[1:]))
        return stored.index(*index.src[1:]).cast(x.dtype)

    return rewritten(program, PatternMatcher([(UPat(Ops.INDEX, name="index"), store)]))
