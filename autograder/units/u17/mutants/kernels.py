"""Mutants and alternatives of unit 17: rows in few kernels, and numbers in 8 bits."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant

# ── rows ──


def _tail(rows, cols, mean, var):
    """From the mean m and the variance v, of shape (rows,), to the result."""
    return f"""
    {mean}
    {var}
    ve = add v 0.00001
    sd = sqrt ve
    r = reciprocal sd
    mr = mul m r
    first = reshape r {rows},1
    second = reshape mr {rows},1
    left = pad first 0:0,0:1
    right = pad second 0:0,1:0
    both = add left right
    scale = shrink both 0:{rows},0:1
    shift = shrink both 0:{rows},1:2
    scaled = mul x scale
    y = sub scaled shift
    """


def _squares(rows, cols, q="q = mul t {}", v="v = sub q mm", inverse=None):
    one = f"{1 / cols if inverse is None else inverse:.12f}"
    return _tail(rows, cols, f"s = sum x 1\nm = mul s {one}",
                 f"xx = mul x x\nt = sum xx 1\n{q.format(one)}\nmm = mul m m\n{v}")  # fmt: skip


@mutant("u17.normalized")
def as_the_text_has_it(rows, cols):
    """Three kernels: the mean, the variance, the rest."""
    one = f"{1 / cols:.12f}"
    return f"""
    s = sum x 1
    s1 = reshape s {rows},1
    m = mul s1 {one}
    d = sub x m
    dd = mul d d
    t = sum dd 1
    t1 = reshape t {rows},1
    v = mul t1 {one}
    ve = add v 0.00001
    sd = sqrt ve
    i = reciprocal sd
    y = mul d i
    """


@mutant("u17.normalized")
def two_sums_in_two_buffers(rows, cols):
    """The squares need no mean, but each sum is stored for itself: three kernels."""
    one = f"{1 / cols:.12f}"
    return f"""
    s = sum x 1
    m = mul s {one}
    xx = mul x x
    t = sum xx 1
    q = mul t {one}
    mm = mul m m
    v = sub q mm
    ve = add v 0.00001
    sd = sqrt ve
    r = reciprocal sd
    m1 = reshape m {rows},1
    r1 = reshape r {rows},1
    d = sub x m1
    y = mul d r1
    """


@mutant("u17.normalized")
def one_kernel_with_much_work(rows, cols):
    """Every element sums its whole row."""
    one = f"{1 / cols:.12f}"
    return f"""
    x3 = reshape x {rows},1,{cols}
    e = expand x3 {rows},{cols},{cols}
    s = sum e 2
    m = mul s {one}
    ee = mul e e
    t = sum ee 2
    q = mul t {one}
    mm = mul m m
    v = sub q mm
    ve = add v 0.00001
    sd = sqrt ve
    r = reciprocal sd
    d = sub x m
    y = mul d r
    """


@mutant("u17.normalized")
def without_the_small_number(rows, cols):
    return _squares(rows, cols).replace("add v 0.00001", "add v 0")


@mutant("u17.normalized")
def the_mean_of_the_squares(rows, cols):
    """Forgets to subtract the square of the mean."""
    return _squares(rows, cols, v="v = mul q 1")


@mutant("u17.normalized")
def divided_by_one_less(rows, cols):
    """The variance of a sample."""
    return _squares(rows, cols, inverse=1 / (cols - 1))


@mutant("u17.normalized")
def columns(rows, cols):
    return _squares(cols, rows).replace(" 1\n", " 0\n")


@mutant("u17.normalized")
def for_one_shape(rows, cols):
    return _squares(4, 8)


@alternative("u17.normalized")
def both_sums_in_one_reduction(rows, cols):
    """x and its squares side by side, in one sum."""
    one = f"{1 / cols:.12f}"
    return f"""
    xx = mul x x
    x3 = reshape x {rows},1,{cols}
    y3 = reshape xx {rows},1,{cols}
    a = pad x3 0:0,0:1,0:0
    b = pad y3 0:0,1:0,0:0
    ab = add a b
    s = sum ab 2
    m2 = mul s {one}
    m = shrink m2 0:{rows},0:1
    q = shrink m2 0:{rows},1:2
    mm = mul m m
    v = sub q mm
    ve = add v 0.00001
    sd = sqrt ve
    d = sub x m
    i = reciprocal sd
    y = mul d i
    """


@alternative("u17.normalized")
def with_the_mean_itself(rows, cols):
    """Stores the mean and the scale, and subtracts first."""
    text = _squares(rows, cols).replace("second = reshape mr", "second = reshape m")
    return text.replace("scaled = mul x scale", "d = sub x shift").replace(
        "y = sub scaled shift", "y = mul d scale")  # fmt: skip


@alternative("u17.normalized")
def the_two_numbers_above_each_other(rows, cols):
    """Packed along the first axis."""
    text = _squares(rows, cols)
    for old, new in ((f"reshape r {rows},1", f"reshape r 1,{rows}"),
                     (f"reshape mr {rows},1", f"reshape mr 1,{rows}"),
                     ("pad first 0:0,0:1", "pad first 0:1,0:0"),
                     ("pad second 0:0,1:0", "pad second 1:0,0:0"),
                     (f"scale = shrink both 0:{rows},0:1",
                      f"sc = shrink both 0:1,0:{rows}\nscale = reshape sc {rows},1"),
                     (f"shift = shrink both 0:{rows},1:2",
                      f"sh = shrink both 1:2,0:{rows}\nshift = reshape sh {rows},1")):  # fmt: skip
        text = text.replace(old, new)
    return text


# ── a rule ──

equivalent("plugins.narrowed", "return None", "return index",
           because="an operation that is its own replacement stays")  # fmt: skip


def _rule(program, wide=("int16", "int32", "int64"), low=-128, high=127, spaces=("GLOBAL",),
          to="int8", back=True, cut=False):  # fmt: skip
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
        narrow = stage.replace(dtype=None, src=(x.cast(to_dtype(to)), *stage.src[1:]))
        read = index.replace(dtype=None, src=(narrow, *index.src[1:]))
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
    return _rule(program, spaces=("GLOBAL", "LOCAL"), wide=("int16", "int32", "int64", "float32"))


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
