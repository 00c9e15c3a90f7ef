"""The text of a stage as rows, whichever of four compilers wrote it, in that compiler's own words.

    rows(text)[2]      {"line": 15, "op": "reduce arith.addf", "reads": [1]}

A row computes something. What only moves numbers is left out: who reads a broadcast reads what was
broadcast. TVM's loops are read here, all others by `course_lib/peers/align`. Next room: pages.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from course_lib.peers.align.other_forms import read
from course_lib.peers.align.statement import Statement

STAGES = {"StableHLO": "XLA", "HLO, optimized": "XLA", "linalg": "IREE", "Flow": "IREE",
          "Relax": "TVM", "TIR": "TVM", "TTIR": "Triton", "TTGIR": "Triton"}  # fmt: skip
MLIR = {"exp": "math.exp", "sum": "reduce arith.addf", "divide": "arith.divf",
        "multiply": "arith.mulf", "softmax": ""}  # fmt: skip
WORDS: Mapping[str, Mapping[str, str]] = {
    "StableHLO": {"exp": "stablehlo.exponential", "sum": "reduce stablehlo.add",
                  "divide": "stablehlo.divide", "multiply": "stablehlo.multiply", "softmax": ""},
    "HLO, optimized": {"exp": "exponential", "sum": "reduce add", "divide": "divide",
                       "multiply": "multiply", "softmax": ""},
    "linalg": MLIR, "Flow": {**MLIR, "softmax": "linalg.softmax"},
    "Relax": {"exp": "R.exp", "sum": "R.sum", "divide": "R.divide", "multiply": "R.multiply",
              "softmax": "R.nn.softmax"},
    "TIR": {"exp": "T.exp", "sum": "reduce +", "divide": "/", "multiply": "*", "softmax": ""},
    "TTIR": MLIR, "TTGIR": MLIR,
}  # fmt: skip
Row = dict[str, Any]
MOVES = {"tt.splat", "tt.broadcast", "tt.expand_dims", "ttg.convert_layout"}
WHOLE = {"linalg.generic", "linalg.fill"}  # with nothing computed inside
MEMORY = {"tt.load", "tt.store"}
CONSTANT = re.compile(r"constant(?:\(|\s+(?:dense<)?)([-+\w.]+)")
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def rows(text: str) -> list[Row]:
    """The rows of a stage, each after those that it reads.

    line    of the text, from 1; a text that is called in two places has two rows for a line
    op      the compiler's word; "reduce WORD" where numbers along an axis are joined by that word
    reads   for each operand the position of its row in the list, or None for what the program is
            given; what a reduction begins with is left out
    value   of a constant
    """
    if "@R.function" in text:
        return _of_loops(text) if "@T.prim_func" in text else _of_relax(text)
    return _of_values(text)


# ── a value a line ──


def _of_values(text: str) -> list[Row]:
    lines, place = text.splitlines(), {}
    found: list[Row] = []
    for one in read(text):
        line = lines[one.first - 1]
        value = CONSTANT.search(line)
        if _source(one) is one and one.word != "parameter" and (value or one.kinds != {"constant"}):
            place[one] = len(found)
            reads = [place.get(_source(x)) if isinstance(x, Statement) else None
                     for x in _operands(one)]  # fmt: skip
            row: Row = {"line": one.first, "op": _word(one, text, line), "reads": reads}
            if value and one.kinds == {"constant"}:
                row = {**row, "op": "constant", "reads": [], "value": _number(value[1])}
            found.append(row)
    return found


def _source(one: Statement) -> Statement:
    """What computed the numbers that a statement moves; itself, if it computes."""
    while one.reads and one.word not in MEMORY:
        if not (one.kinds == {"movement"} or one.word in MOVES or one.word in WHOLE):
            break
        one = one.reads[0]
    return one


def _is_reduction(one: Statement) -> bool:
    nest = one.outer
    summed = one.kinds & {"reduce_sum", "reduce_max"} and nest is not None
    return one.word.endswith("reduce") or bool(nest and nest.word == "tt.reduce") or bool(summed)


def _operands(one: Statement) -> list[Statement | str]:
    if not _is_reduction(one):
        return list(one.operands)
    computed = [x for x in one.reads if _source(x).kinds != {"constant"}]
    return list(computed[:1]) or [""]


def _word(one: Statement, text: str, line: str) -> str:
    if not _is_reduction(one):
        return one.word
    joins = re.search(r"applies (\S+)", line)
    if region := re.search(r"to_apply=%?([\w.]+)", line):
        body = text[text.index(f"%{region[1]} (") :]
        joins = re.search(r"ROOT \S+ = \S+ (\w+)\(", body)
    return f"reduce {joins[1] if joins else one.word}"


def _number(word: str) -> float:
    """A constant; the bits of an f32 where no decimal number says it."""
    bits = word.startswith("0x")
    return float(np.uint32(int(word, 16)).view(np.float32) if bits else word)


# ── TVM, whose texts are Python to look at ──


def _of_relax(text: str) -> list[Row]:
    """The operations of a function of Relax."""
    found = _Kernel([], {})
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None:
            target = one.target if isinstance(one, ast.AnnAssign) else one.targets[0]
            found.known[ast.unparse(target)] = found.of(one.value)
    return found.found


def _of_loops(text: str) -> list[Row]:
    """The statements of each kernel, in the order in which `main` calls them."""
    (module,) = (one for one in ast.parse(text).body if isinstance(one, ast.ClassDef))
    kernels = {one.name: one for one in module.body if isinstance(one, ast.FunctionDef)}
    found, values = [], {}
    for one in ast.walk(kernels["main"]):
        call = getattr(one, "value", None)
        if isinstance(one, ast.Assign) and ast.unparse(call or one).startswith("R.call_tir"):
            assert isinstance(call, ast.Call) and isinstance(call.args[0], ast.Attribute)
            kernel = kernels[call.args[0].attr]
            given = [values.get(ast.unparse(x)) for x in getattr(call.args[1], "elts", [])]
            names = [x.arg for x in kernel.args.args]
            known = dict(zip(names, given, strict=False))
            _Kernel(found, known).read(kernel)
            values[ast.unparse(one.targets[0])] = known.get(names[-1])
    return found


class _Kernel:
    """Reads the stores of a kernel. `known`: the row that wrote each buffer last."""

    def __init__(self, found: list[Row], known: dict[str, int | None]) -> None:
        self.found, self.known = found, known

    def read(self, kernel: ast.FunctionDef) -> None:
        for one in _stores(kernel.body):
            target = one.targets[0]
            assert isinstance(target, ast.Subscript)
            name = ast.unparse(target.value)
            made = self._reduced(ast.unparse(target), one.value)
            self.known[name] = self.of(one.value) if made is None else made

    def _reduced(self, target: str, value: ast.expr) -> int | None:
        """The row of a store that joins a number to what is stored already."""
        word, operands = _split(value)
        others = [x for x in operands if ast.unparse(x) != target]
        if not word or len(others) == len(operands):
            return None
        return self._add(value, f"reduce {word}", [self.of(x) for x in others])

    def of(self, value: ast.expr) -> int | None:
        """The row that computes an expression."""
        if isinstance(value, ast.Subscript | ast.Name):
            name = value.value if isinstance(value, ast.Subscript) else value
            return self.known.get(ast.unparse(name))
        word, operands = _split(value)
        if word.startswith(("T.float", "R.const")) or isinstance(value, ast.Constant):
            number = operands[0] if operands else value
            made = self._add(value, "constant", [])
            self.found[made]["value"] = float(ast.literal_eval(ast.unparse(number)))
            return made
        return self._add(value, word, [self.of(x) for x in operands]) if word else None

    def _add(self, value: ast.expr, word: str, reads: list[int | None]) -> int:
        self.found.append({"line": value.lineno, "op": word, "reads": reads})
        return len(self.found) - 1


def _stores(body: list[ast.stmt]) -> Iterator[ast.Assign]:
    """The stores of a body, without those that a reduction begins with."""
    for one in body:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript):
            yield one
        elif isinstance(one, ast.With) and ast.unparse(one.items[0]).startswith("T.init"):
            continue
        yield from _stores(getattr(one, "body", []))


def _split(value: ast.expr) -> tuple[str, list[ast.expr]]:
    """What an expression does, and with what."""
    if isinstance(value, ast.BinOp):
        return SIGNS.get(type(value.op), "?"), [value.left, value.right]
    if isinstance(value, ast.Call):
        return ast.unparse(value.func), value.args
    return "", []
