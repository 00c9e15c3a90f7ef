"""Mutants and alternatives of unit 17: numbers that a rule stores in 8 bits."""

from __future__ import annotations

from autograder.check.framework import alternatives, equivalent, mutants

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
        *("stage: UOp, index: UOp", "stage: UOp"),
        *(".f(Ops.INDEX, allow_any_len=True, name='index')", ""),
        *("index.replace(dtype=None, src=(narrow, *index.src[1:]))", "narrow"),
    ),
    in_sixteen_bits=(
        *(TYPES, "(dtypes.int32, dtypes.int64)", "-128", "-32768", "127", "32767"),
        *("x.cast(dtypes.int8)", "x.cast(dtypes.int16)"),
    ),
    no_rule=("[(read, store_narrow)]", "[]"),
)
STAGED = "UPat(Ops.STAGE, name='stage').f(Ops.INDEX, allow_any_len=True, name='index')"
OF_X = "UPat(Ops.STAGE, src=(UPat.var('x', dtype=kind),), allow_any_len=True, name='stage')"

alternatives(
    "plugins.narrowed",
    with_the_limits_of_the_type=("-128", "dtypes.int8.min", "127", "dtypes.int8.max"),
    # The types stand in the patterns, and the operations are made, not replaced.
    one_pattern_for_each_type=(
        *("stage: UOp, index: UOp", "x: UOp, stage: UOp, index: UOp", "x = stage.src[0]", ""),
        *(f"x.dtype not in {TYPES}", "index.op is not Ops.INDEX", "[(read, ", "[(one, "),
        *("store_narrow)]", f"store_narrow) for kind in {TYPES} for one in [{{READ}}]]"),
        *("{READ}", f"UPat(Ops.INDEX, src=({OF_X},), allow_any_len=True, name='index')"),
        *("stage.replace(dtype=None, src=", "UOp(Ops.STAGE, arg=stage.arg, src="),
        *("index.replace(dtype=None, src=", "UOp(Ops.INDEX, src="),
    ),
    # Matches every INDEX, and looks at what it reads.
    from_the_index=(
        *("stage: UOp, index: UOp", "index: UOp", "x = stage.src[0]", "stage = index.src[0]\n{X}"),
        *("{X}", "        x, ours = (stage.src[0], stage.op is Ops.STAGE)"),
        *(f"x.dtype not in {TYPES}", "not ours or not dtypes.is_int(x.dtype) or {NARROW}"),
        *("{NARROW}", "x.dtype.itemsize == 1 or dtypes.is_unsigned(x.dtype)"),
        *(
            "index.replace(dtype=None, src=(narrow, *index.src[1:]))",
            "narrow.index(*index.src[1:])",
        ),
        *(STAGED, "UPat(Ops.INDEX, name='index')"),
    ),
)
