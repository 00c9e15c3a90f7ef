"""Mutants and alternatives of unit 17: rows in few kernels. Next room: stored.py."""

from __future__ import annotations

from autograder.check.framework import alternative, mutant


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


@alternative("u17.normalized")
def sums_written_out_as_additions(rows, cols):
    """One kernel: each row and its squares are halved and added, so nothing is reduced."""
    size = 1 << (cols - 1).bit_length()
    lines = ["xx = mul x x", f"x3 = reshape x {rows},{cols},1", f"q3 = reshape xx {rows},{cols},1",
             f"xp = pad x3 0:0,0:{size - cols},0:1", f"qp = pad q3 0:0,0:{size - cols},1:0",
             "t = add xp qp"]  # fmt: skip
    last, k = "t", 0
    while size > 1:
        half, k = size // 2, k + 1
        lines += [f"a{k} = shrink {last} 0:{rows},0:{half},0:2",
                  f"b{k} = shrink {last} 0:{rows},{half}:{size},0:2",
                  f"t{k} = add a{k} b{k}"]  # fmt: skip
        last, size = f"t{k}", half
    return "\n".join([*lines, f"both = mul {last} {1 / cols}",
                      f"m1 = shrink both 0:{rows},0:1,0:1", f"m = reshape m1 {rows},1",
                      f"q1 = shrink both 0:{rows},0:1,1:2", f"q = reshape q1 {rows},1",
                      "mm = mul m m", "v = sub q mm", "e = add v 0.00001", "sd = sqrt e",
                      "r = reciprocal sd", "d = sub x m", "y = mul d r"])  # fmt: skip


@alternative("u17.normalized")
def added_one_by_one(rows, cols):
    """One kernel of some hundred lines."""
    lines, sums = ["z0 = mul x x"], {"x": "", "z0": ""}
    for j in range(cols):
        for of in sums:
            lines.append(f"{of}_{j} = shrink {of} 0:{rows},{j}:{j + 1}")
            lines += [f"{of}s{j} = add {sums[of]} {of}_{j}"] if j else []
            sums[of] = f"{of}s{j}" if j else f"{of}_{j}"
    one = f"{1 / cols:.12f}"
    return "\n".join([*lines, f"m = mul {sums['x']} {one}", f"q = mul {sums['z0']} {one}",
                      "mm = mul m m", "v = sub q mm", "e = add v 0.00001", "sd = sqrt e",
                      "r = reciprocal sd", "d = sub x m", "y = mul d r"])  # fmt: skip


@mutant("u17.normalized")
def the_small_number_added_late(rows, cols):
    return _squares(rows, cols).replace("add v 0.00001", "add v 0").replace(
        "r = reciprocal sd", "se = add sd 0.00001\n    r = reciprocal se")  # fmt: skip


@alternative("u17.normalized")
def with_all_digits(rows, cols):
    """1 / cols as Python prints it, and 1e-05."""
    text = _squares(rows, cols).replace("0.00001", "1e-05")
    return text.replace(f"{1 / cols:.12f}", f"{1 / cols}")
