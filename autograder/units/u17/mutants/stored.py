"""Mutants and alternatives of unit 17: numbers that a rule stores in 8 bits."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants

equivalent("plugins.narrowed", "return None", "return index",
           because="an operation that is its own replacement stays")  # fmt: skip


TYPES, FITS = "(dtypes.int16, dtypes.int32, dtypes.int64)", "x.vmin < -128 or x.vmax > 127 or "

mutants(
    "plugins.narrowed",
    # Cuts off what does not fit.
    every_whole_number=(FITS, ""),
    # The result of the INDEX is not cast back.
    readers_get_int8=(".cast(x.dtype)", ""),
    # -127 to 127, so that -128 stays wide.
    symmetric=("-128", "-127"),
    up_to_128=("127", "128"),
    # uint8, for 0 to 255.
    as_unsigned=("-128", "0", "127", "255", "x.cast(dtypes.int8)", "x.cast(dtypes.uint8)"),
    only_int32=(TYPES, "(dtypes.int32,)"),
    local_ones_as_well=(" or stage.arg.addrspace is not AddrSpace.GLOBAL", ""),
    unsigned_ones_as_well=(TYPES, f"(dtypes.uint16, *{TYPES})"),
    long_unsigned_ones_as_well=(TYPES, f"(dtypes.uint32, dtypes.uint64, *{TYPES})"),
    # As many bytes as before, but of another type.
    bytes_as_well=(TYPES, f"(dtypes.uint8, *{TYPES})"),
    truth_values_as_well=(TYPES, f"(dtypes.bool, *{TYPES})"),
    floats_as_well=(TYPES, f"(dtypes.float32, *{TYPES})"),
    # Among what follows the value that is stored.
    the_old_value_as_a_range=("*stage.src[1:]", "*stage.src"),
    # Keeps one range of the stage and of the index.
    only_the_first_range=("stage.src[1:]", "stage.src[1:2]", "index.src[1:]", "index.src[1:2]"),
    # Matches the stage alone, so that the index reads a cast.
    cast_between_the_stage_and_its_reader=(
        *(
            "stage: UOp, index: UOp",
            "stage: UOp",
            ".f(Ops.INDEX, allow_any_len=True, name='index')",
            "",
        ),
        *("index.replace(dtype=None, src=(narrow, *index.src[1:]))", "narrow"),
    ),
    in_sixteen_bits=(
        *(TYPES, "(dtypes.int32, dtypes.int64)", "-128", "-32768", "127", "32767"),
        *("x.cast(dtypes.int8)", "x.cast(dtypes.int16)"),
    ),
    no_rule=("[(read, store_narrow)]", "[]"),
)
alternatives(
    "plugins.narrowed",
    with_the_limits_of_the_type=("-128", "dtypes.int8.min", "127", "dtypes.int8.max"),
)


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
