"""Mutants and alternatives of unit 17: rows in few kernels. Next room: stored.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, mutant, mutants

mutants(
    "u17.normalized",
    # Three kernels: the mean, the variance, the rest.
    as_the_text_has_it=(
        *("xx = mul x x", r"m1 = reshape m {rows},1\n    d = sub x m1\n    xx = mul d d"),
        *("v = sub q mm", "v = mul q 1"),
    ),
    # The squares need no mean, but each sum is stored for itself: three kernels.
    two_sums_in_two_buffers=(
        *("scaled = mul x scale", r"m1 = reshape m {rows},1\n    r1 = reshape r {rows},1"),
        *("y = sub scaled shift", r"d = sub x m1\n    y = mul d r1"),
    ),
    without_the_small_number=("add v 0.00001", "add v 0"),
    the_small_number_added_late=(
        *("add v 0.00001", "add v 0"),
        *("r = reciprocal sd", r"se = add sd 0.00001\n    r = reciprocal se"),
    ),
    # Forgets to subtract the square of the mean.
    the_mean_of_the_squares=("v = sub q mm", "v = mul q 1"),
    # The variance of a sample.
    divided_by_one_less=("s {1 / cols", "s {1 / (cols - 1)", "t {1 / cols", "t {1 / (cols - 1)"),
    columns=("sum x 1", "sum x 0", "sum xx 1", "sum xx 0"),
    for_one_shape=("-> str:", "-> str:\n    rows, cols = (4, 8)"),
)
alternatives(
    "u17.normalized",
    # Stores the mean and the scale, and subtracts first.
    with_the_mean_itself=(
        *("second = reshape mr", "second = reshape m", "scaled = mul x scale", "d = sub x shift"),
        *("y = sub scaled shift", "y = mul d scale"),
    ),
    # Packed along the first axis.
    the_two_numbers_above_each_other=(
        *("reshape r {rows},1", "reshape r 1,{rows}", "reshape mr {rows},1", "reshape mr 1,{rows}"),
        *("pad first 0:0,0:1", "pad first 0:1,0:0", "pad second 0:0,1:0", "pad second 1:0,0:0"),
        *("scale = shrink both 0:{rows},0:1", r"up = shrink both 0:1,0:{rows}\n    scale = up"),
        *("shift = shrink both 0:{rows},1:2", r"low = shrink both 1:2,0:{rows}\n    shift = low"),
        *(
            "scale = up",
            "scale = reshape up {rows},1",
            "shift = low",
            "shift = reshape low {rows},1",
        ),
    ),
    # 1 / cols as Python prints it, and 1e-05.
    with_all_digits=(
        *(" 0.00001", " 1e-05", "s {1 / cols:.12f}", "s {1 / cols}"),
        *("t {1 / cols:.12f}", "t {1 / cols}"),
    ),
)


@mutant("u17.normalized")
def one_kernel_with_much_work(rows, cols):
    """Every element sums its whole row."""
    return _program(
        f"x3 = reshape x {rows},1,{cols}; e = expand x3 {rows},{cols},{cols}; s = sum e 2",
        f"m = mul s {1 / cols:.12f}; ee = mul e e; t = sum ee 2; q = mul t {1 / cols:.12f}",
        REST,
    )


@alternative("u17.normalized")
def both_sums_in_one_reduction(rows, cols):
    """x and its squares side by side, in one sum."""
    return _program(
        f"xx = mul x x; x3 = reshape x {rows},1,{cols}; y3 = reshape xx {rows},1,{cols}",
        "a = pad x3 0:0,0:1,0:0; b = pad y3 0:0,1:0,0:0; ab = add a b; s = sum ab 2",
        f"m2 = mul s {1 / cols:.12f}; m = shrink m2 0:{rows},0:1; q = shrink m2 0:{rows},1:2",
        REST,
    )


REST = "mm = mul m m; v = sub q mm; e = add v 0.00001; sd = sqrt e; r = reciprocal sd; " \
       "d = sub x m; y = mul d r"  # fmt: skip


def _program(*lines):
    return "\n".join(lines).replace("; ", "\n")


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
    for name, at in (("m", "0:1"), ("q", "1:2")):
        lines += [f"{name}1 = shrink {last} 0:{rows},0:1,{at}; {name}2 = mul {name}1 {1 / cols}",
                  f"{name} = reshape {name}2 {rows},1"]  # fmt: skip
    return _program(*lines, REST)


@alternative("u17.normalized")
def added_one_by_one(rows, cols):
    """One kernel of some hundred lines."""
    lines, sums = ["z0 = mul x x"], {"x": "", "z0": ""}
    for j in range(cols):
        for of in sums:
            lines.append(f"{of}_{j} = shrink {of} 0:{rows},{j}:{j + 1}")
            lines += [f"{of}s{j} = add {sums[of]} {of}_{j}"] if j else []
            sums[of] = f"{of}s{j}" if j else f"{of}_{j}"
    of, square = sums.values()
    return _program(*lines, f"m = mul {of} {1 / cols}; q = mul {square} {1 / cols}", REST)
