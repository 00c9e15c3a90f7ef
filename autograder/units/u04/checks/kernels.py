"""Kernels for the checks of unit 4 on may_overwrite: what may be overwritten, and what may not.

A table writes a kernel as the types of its parameters, of which the last one is `out`, and its
body: `j { ... }` is a loop over 0..4, `j in 0..2 { ... }` one over what it says, and `acc := 0.0`
is a local number.

    short("double", "f32[4] f32[4]", "i { out[i] = x0[i] + x0[i] }")      # the kernel as text

Next room: steps.py, the checks.
"""

from __future__ import annotations

import re

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from course_lib.ir.loops.nest import print_kernel
from course_lib.ir.loops.parse import parse_kernel


def short(name: str, types: str, body: str, *, extent: int = 4) -> str:
    """A kernel of the tables as it is printed; a loop that does not say it has this `extent`."""
    *operands, out = types.split()
    params = ", ".join([*(f"x{k}: {type}" for k, type in enumerate(operands)), f"out: {out}"])
    body = re.sub(r"(\w+) := ", r"local \1: f32[] \1[] = ", body)
    usual = f" in 0..{extent}"
    body = re.sub(r"\b(\w+)( in \d+\.\.\d+)? {", lambda m: f"for {m[1]}{m[2] or usual} {{", body)
    return print_kernel(parse_kernel(f"kernel @{name}({params}) {{ {body} }}")).rstrip()


SQUARE, SQUARES, ROW = "f32[4,4] f32[4,4]", "f32[4,4] f32[4,4] f32[4,4]", "f32[4] f32[4]"
IMAGES = "i64[2,3,2,2] i64[2,3,2,2] i64[2,3,2,2]"
EACH, ROWS = "elementwise", "rows, such as a softmax"
RESIDUAL = "the residual of an epilogue, read where the result is stored"
READ_FIRST = "True only if no element is read after it was written"
SAME_TYPE = "It must refuse an operand of another type"

# (words of the specification, kernel, operands that the result may overwrite)
LEGAL: list[tuple[str, str, tuple[str, ...]]] = [
    (spec, short(*kernel), tuple(operands.split()))
    for spec, operands, *kernel in [
        (EACH, "x0 x1", "add_relu", SQUARES, "i { j { out[i, j] = relu(x0[i, j] + x1[i, j]) } }"),
        (EACH, "x0", "add_bias", "f32[4,4] f32[4] f32[4,4]",
         "i { j { out[i, j] = x0[i, j] + x1[j] } }"),
        (RESIDUAL, "x2", "matmul_add", f"f32[4,4] {SQUARES}",
         "m { n { acc := 0.0 k { acc[] += x0[m, k] * x1[k, n] } out[m, n] = acc[] + x2[m, n] } }"),
        (ROWS, "x0", "divide_by_sum", SQUARE,
         "i { acc := 0.0 j { acc[] += x0[i, j] } k { out[i, k] = x0[i, k] / acc[] } }"),
        (ROWS, "x0", "softmax", ROW,
         "top := -inf i { top[] max= x0[i] } sum := 0.0 j { sum[] += exp(x0[j] - top[]) } "
         "k { out[k] = exp(x0[k] - top[]) / sum[] }"),
        (EACH, "x0", "double", "i32[] i32[]", "out[] = x0[] + x0[]"),
        (EACH, "x0", "square", "f64[4] f64[4]", "i { out[i] = x0[i] * x0[i] }"),
        (EACH, "x0 x1", "of_images", IMAGES, "n in 0..2 { c in 0..3 { h in 0..2 { w in 0..2 "
         "{ out[n, c, h, w] = max(x0[n, c, h, w], x1[n, c, h, w]) } } } }"),
        (RESIDUAL, "x2", "conv", "f32[1,2,4,4] f32[2,2,3,3] f32[1,2,2,2] f32[1,2,2,2]",
         "n in 0..1 { o in 0..2 { h in 0..2 { w in 0..2 { acc := 0.0 c in 0..2 { i in 0..3 { "
         "j in 0..3 { acc[] += x0[n, c, h + i, w + j] * x1[o, c, i, j] } } } "
         "out[n, o, h, w] = relu(acc[] + x2[n, o, h, w]) } } } }"),
        (ROWS, "x0", "normalize", "f32[2,2,4] f32[4] f32[2,2,4]",
         "a in 0..2 { b in 0..2 { mean := 0.0 i { mean[] += x0[a, b, i] * 0.25 } square := 0.0 "
         "j { square[] += (x0[a, b, j] - mean[]) * (x0[a, b, j] - mean[]) } "
         "k { out[a, b, k] = (x0[a, b, k] - mean[]) / (square[] + 1.0) * x1[k] } } }"),
    ]
]  # fmt: skip

# Kernels of which x0 may not be overwritten: (why, words of the specification, kernel).
ILLEGAL: list[tuple[str, str, str]] = [
    (why, spec, short(*kernel))
    for spec, why, *kernel in [
        ("a transpose",
         "Element [0, 3] is read for the last row of the result, after it was written in the "
         "first.", "transpose", SQUARE, "i { j { out[i, j] = x0[j, i] } }"),
        ("a broadcast", "The first column is read by the whole row.",
         "minus_first", SQUARE, "i { j { out[i, j] = x0[i, j] - x0[i, 0] } }"),
        ("a window", "The neighbour on the left was just written.",
         "running", SQUARE, "i { j in 1..4 { out[i, j] = max(x0[i, j], x0[i, j - 1]) } }"),
        ("a matrix product", "A whole row is read for each element of it.",
         "row_sums", SQUARE, "i { j { acc := 0.0 k { acc[] += x0[i, k] } out[i, j] = acc[] } }"),
        ("a matrix product", "The loop over k reads and writes the row again for every k.",
         "again_and_again", "f32[4,4] f32[4] f32[4,4]",
         "i { k { j { out[i, j] = x0[i, j] * x1[k] } } }"),
        ("an index that is data", "Which row is read depends on data.",
         "gather", "f32[4,4] i64[4] f32[4,4]", "i { j { out[i, j] = x0[x1[i], j] } }"),
        (READ_FIRST, "The second loop reads what the first one has overwritten.",
         "twice", SQUARE,
         "i { j { out[i, j] = x0[i, j] * 2.0 } k { out[i, k] = x0[i, k] + 1.0 } }"),
        (READ_FIRST,
         "Its last elements are read after the first iterations have written them. (The loop "
         "carries dependences through two buffers: acc is one, and out is the other.)",
         "cum", ROW, "acc := 0.0 j { acc[] += x0[j] out[3 - j] = acc[] }"),
        (READ_FIRST, "Element [i, 0] is read by the second line, after the first line wrote it.",
         "swap", "f32[4,2] f32[4,2]", "i { out[i, 0] = x0[i, 1] out[i, 1] = x0[i, 0] }"),
        (READ_FIRST, "The one element is read by the second line, after the first line wrote it.",
         "again", "f32[1] f32[1]", "out[0] = x0[0] * 2.0 out[0] = x0[0] + 1.0"),
        (READ_FIRST, "It is read once more after it was written, with something else in between.",
         "later", f"f32[4] {ROW}",
         "i { out[i] = x0[i] * 2.0 half := x1[i] * 0.5 out[i] = x0[i] + half[] }"),
        (READ_FIRST, "The inner loop has written the row before its first element is read again.",
         "row_then_first", "f32[4,4] f32[4] f32[4,4]",
         "i { j { out[i, j] = x0[i, j] * x1[j] } out[i, 0] = x0[i, 0] + 1.0 }"),
        (ROWS, "The last loop reads each element again after it was written.",
         "sum_then_twice", SQUARES, "i { acc := 0.0 j { acc[] += x1[i, j] } "
         "k { out[i, k] = x0[i, k] * acc[] out[i, k] = x0[i, k] + 1.0 } }"),
        (SAME_TYPE, "The bytes of an i32 are not those of an f32.",
         "cast", "f32[4,4] i32[4,4]", "i { j { out[i, j] = cast(x0[i, j], i32) } }"),
        (SAME_TYPE, "`x0` is an f32[4] and `out` an f32[4,1]: as many bytes, but another type.",
         "as_column", "f32[4] f32[4,1]", "i { j in 0..1 { out[i, j] = relu(x0[i]) } }"),
        (SAME_TYPE,
         "There is no room for eight numbers in four, though each is read where it is stored.",
         "concat", "f32[4] f32[4] f32[8]", "i { out[i] = x0[i] } j { out[j + 4] = x1[j] }"),
    ]
]  # fmt: skip


@st.composite
def one_store(draw: DrawFn) -> tuple[str, bool]:
    """A kernel that stores once an element of `x0`, with another that may stand elsewhere, and
    whether all stand where the result is stored."""
    rank = draw(st.integers(1, 4))
    extent = draw(st.integers(2, (30, 8, 4, 3)[rank - 1]))
    here = list("ijmn"[:rank])
    at, loops = list(here), [f"{var} in 0..{extent}" for var in here]
    axis, how = draw(st.integers(0, rank - 1)), draw(st.integers(0, 4))
    if how == 1:  # a window that looks back
        back = draw(st.integers(1, extent // 2))
        at[axis], loops[axis] = f"{here[axis]} - {back}", f"{here[axis]} in {back}..{extent}"
    elif how == 2:  # a broadcast
        at[axis] = str(draw(st.integers(0, extent - 2)))
    elif how == 3:  # a transpose
        at = draw(st.permutations(here))
    elif how == 4:
        at[axis] = f"{extent - 1} - {here[axis]}"
    kind = draw(st.sampled_from(["f32", "f64", "i64"]))
    type = f"{kind}[{','.join([str(extent)] * rank)}]"
    place = f"[{', '.join(here)}]"
    read = f"x0[{', '.join(at)}]"
    value = draw(st.sampled_from([read, f"x0{place} + {read}", f"max({read}, x1{place})"]))
    body = f"out{place} = {value}"
    for loop in reversed(loops):
        body = f"{loop} {{ {body} }}"
    return short("drawn", " ".join([type] * 3), body), at == here
