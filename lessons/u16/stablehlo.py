"""StableHLO, the language in which JAX hands a program to XLA and to IREE, as rows.

    parsed(text)      {"%arg0": {"op": "input", ...}, "%6": {"op": "exponential", ...}, ...}
    SMALL             the softmax of a square, as JAX 0.10.2 writes it

Every row has "op", "operands" (names) and "shape"; a `broadcast_in_dim` has "dims", and a `reduce`
has "dims" and "with", the operation that puts two numbers together. Next room: `dispatches.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

Program = dict[str, dict[str, Any]]

SMALL = """\
func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] \
: (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.subtract %arg0, %2 : tensor<8x8xf32>
  %4 = stablehlo.exponential %3 : tensor<8x8xf32>
  %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [1] \
: (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x8xf32>
  %8 = stablehlo.divide %4, %7 : tensor<8x8xf32>
  return %8 : tensor<8x8xf32>
}
"""
LINE = re.compile(r"\s*(%[\w$]+)(?::\d+)? = (?:stablehlo|chlo)\.(\w+)(.*)")


def parsed(text: str) -> Program:
    """The rows of the function `main`, in order; what it calls is not looked into."""
    main = text[text.index("@main") :]
    head, _, body = main.partition("{\n")
    program: Program = {
        name: {"op": "input", "operands": [], "shape": _shape(kind)}
        for name, kind in re.findall(r"(%arg\d+): tensor<([^>]*)>", head)
    }
    for line in body.splitlines():
        if line.startswith("}") or line.strip() == "}":
            break
        if found := LINE.match(line):
            name, op, rest = found.groups()
            program[name] = _row(op, rest)
    return program


def _row(op: str, rest: str) -> dict[str, Any]:
    before, _, types = rest.rpartition(" : ")
    shape = _shape(re.findall(r"tensor<([^>]*)>", types or rest)[-1])
    operands = re.findall(r"%[\w$]+", re.sub(r"init: %[\w$]+", "", before))
    row: dict[str, Any] = {"op": op, "operands": operands, "shape": shape}
    if dims := re.search(r"dim(?:ension)?s = \[([\d, ]*)\]", before):
        row["dims"] = [int(k) for k in dims[1].split(",") if k.strip()]
    if joins := re.search(r"applies stablehlo\.(\w+)", before):
        row["with"] = joins[1]
    return row


def _shape(kind: str) -> list[int]:
    return [int(size) for size in kind.split("x")[:-1]]


def shown(program: Program) -> str:
    """The rows as text, one in a line."""
    lines = []
    for name, row in program.items():
        more = {key: value for key, value in row.items() if key not in ("op", "operands")}
        words = "".join(f", {key} {value}" for key, value in more.items())
        lines.append(f"{name:<6} = {row['op']}({', '.join(row['operands'])}){words}")
    return "\n".join(lines)


def kinds(text: str) -> Counter[str]:
    """How often each operation stands in a text, functions that are called included."""
    found = (LINE.match(line) for line in text.splitlines())
    return Counter(line[2] for line in found if line)
