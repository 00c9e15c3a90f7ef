"""Loops as rows: of a text that TVM prints, and of a kernel of ours.

    rows_of_tvm(script)       [("i", 32, "parallel"), ("j", 16, "for"), ...]
    product(12, 8, 6)         a kernel with loops i, j and k
    rows_of(kernel)           the same rows, each with its stride: ("i", 32, "parallel", 4)

Next room: `dispatches.py`.
"""

from __future__ import annotations

import re

from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel

Row = tuple[str, int, str]
KINDS = {"for": "for", "parallel": "parallel", "unroll": "unroll", "vector": "vectorized"}


def product(i: int, j: int, k: int) -> Kernel:
    """The product of two matrices, [i, k] and [k, j]."""
    return parse_kernel(f"""
    kernel @product(a: f32[{i},{k}], b: f32[{k},{j}], out: f32[{i},{j}]) {{
      for i in 0..{i} {{ for j in 0..{j} {{ for k in 0..{k} {{
        out[i, j] += a[i, k] * b[k, j]
      }} }} }}
    }}""")


def rows_of_tvm(script: str) -> list[Row]:
    """The loops around the last block of a TIR function, from the outermost."""
    rows: list[tuple[int, Row]] = []
    for line in script.splitlines():
        if found := re.match(r"( +)for (\w)\w* in (?:T\.)?(\w+)\((\d+)\)", line):
            depth, axis, kind, extent = len(found[1]), found[2], found[3], int(found[4])
            rows = [row for row in rows if row[0] < depth]
            rows.append((depth, (axis, extent, "for" if kind == "range" else kind)))
    return [row for _, row in rows]


def rows_of(kernel: Kernel) -> list[tuple[str, int, str, int]]:
    """The loops of a scheduled product: axis, extent, kind, and how far an iteration steps."""
    text = str(kernel)
    out, a = (re.search(rf"\b{name}\[([^,]*), ([^\]]*)\]", text.partition("{")[2])
              for name in ("out", "a"))  # fmt: skip
    if out is None or a is None:
        raise ValueError("this is no product")
    strides = {}
    for axis, index in (("i", out[1]), ("j", out[2]), ("k", a[2])):
        for term in index.split(" + "):
            factor, _, var = term.rpartition("*")
            strides[var] = axis, int(factor or 1)
    rows = []
    for kind, var, extent in re.findall(r"(\w+) (\w+) in 0\.\.(\d+) \{", text):
        axis, stride = strides[var]
        rows.append((axis, int(extent), KINDS[kind], stride))
    return rows
