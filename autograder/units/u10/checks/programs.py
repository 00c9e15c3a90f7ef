"""Programs in the Toy dialect, and visible checks of unit 10 about a new operation in them.

    toy("t? = transpose a; p = mul t c; print p; return p", c=(3, 2))     the text of a module

A result has the shape that its operands give it. A `?` behind its name hides that, and `p:4x2`
says another one. Next room: transposes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.check.modules import as_text, normal
from autograder.check.properties import raises
from course_lib.mlir.toy.source import ToyError

Shape = tuple[int, ...]
A, B = (2, 3), (3, 2)
RESULTS: dict[str, Callable[..., Shape]] = {
    "transpose": lambda x: x[::-1],
    "cast": lambda x: x,
    "add": lambda x, y: x,
    "mul": lambda x, y: x,
    "matmul": lambda x, y: (*x[:1], *y[1:]),
}


def typed(shape: Shape | None) -> str:
    sizes = "*x" if shape is None else "".join(f"{size}x" for size in shape)
    return f"tensor<{sizes}f64>"


def toy(lines: str, given: Mapping[str, Shape] | None = None, **more: Shape) -> str:
    """A module with one function @main; its parameters are a and b, matrices of 2 × 3, and `more`
    of them, or those that are given."""
    shapes = {"a": A, "b": A, **more} if given is None else dict(given)
    types = {name: typed(shape) for name, shape in shapes.items()}
    parameters = ", ".join(f"%{name}: {type}" for name, type in types.items())
    body, arrow = "", ""
    for line in lines.split(";"):
        result, _, call = line.rpartition("=")
        op, *of = call.split()
        operand_types, operands = ", ".join(types[x] for x in of), ", ".join(f"%{x}" for x in of)
        if result:
            name, _, other = result.strip().rstrip("?").partition(":")
            shapes[name] = (tuple(map(int, other.split("x"))) if other else
                            RESULTS[op](*(shapes[x] for x in of)))  # fmt: skip
            types[name] = typed(None if "?" in result else shapes[name])
            operand_types = (
                f"({operand_types}) -> {types[name]}"
                if len(of) > 1
                else f"{operand_types} to {types[name]}"
            )
            operands, op = f"{operands} : {operand_types}", f"%{name} = toy.{op}"
        elif of:
            arrow = f" -> {operand_types}" if op == "return" else ""
            operands, op = f"{operands} : {operand_types}", f"toy.{op}"
        else:
            op = f"toy.{op}"
        body += f"    {op} {operands}".rstrip() + "\n"
    return f"builtin.module {{\n  toy.func @main({parameters}){arrow} {{\n{body}  }}\n}}\n"


# ── an operation ──

TWO = "`toy.matmul` has two operands and one result, each a TENSOR"
EFFECT = "no effect: it may be removed if its result is not used"
WRITTEN = "It is written like `toy.mul`"
FOLLOWS = "Its shape follows from those of its operands"
SHAPE = "an m×k matrix times a k×n matrix is an m×n matrix"
REFUSED = "Raise VerifyException if an operand is not a matrix or the two do not fit"
GIVE = "Give Toy an operation for the product of two matrices, and infer the shapes of a program"
MAY = "a program that may contain `toy.matmul`"
CLASS = "with_shapes(text, MatmulOp), where MatmulOp is a class of yours"


def product(left: Shape, right: Shape, result: str = "p?", used: bool = True) -> str:
    lines = f"{result} = matmul a b{'; print p' if used else ''}; return"
    return toy(lines, {"a": left, "b": right})


THREE = {"a": A, "b": (3, 4), "c": (4, 1)}
SHAPES = [
    *((product(left, right), product(left, right, "p"), SHAPE)
      for left, right in ((A, (3, 4)), (A, B), ((5, 1), (1, 1)))),
    (product(A, (3, 4), "p"), product(A, (3, 4), "p"), FOLLOWS),
    *((toy(lines, THREE), toy(lines.replace("?", ""), THREE), FOLLOWS) for lines in (
        "p? = matmul a b; q? = matmul p c; print q; return",
        "t? = transpose a; p? = matmul t a; print p; return")),
    (product(A, (3, 4), used=False), toy("return", {"a": A, "b": (3, 4)}), EFFECT),
    (toy("print a; return"), toy("print a; return"), MAY),
]  # fmt: skip


def misfit(left: str, right: str, result: str) -> str:
    """A product of values of these types; the reader refuses what is no TENSOR."""
    return ("builtin.module {\n  %a, %b = \"builtin.unrealized_conversion_cast\"() : () -> "
            f"({left}, {right})\n  %p = toy.matmul %a, %b : ({left}, {right}) -> {result}\n"
            "}\n")  # fmt: skip


NUMBERS = [
    (misfit("tensor<2x3xf64>", "f64", "tensor<2x3xf64>"), "The second operand is a number"),
    (misfit("f64", "tensor<2x3xf64>", "tensor<2x3xf64>"), "The first operand is a number"),
    (misfit("f64", "f64", "f64"), "Both operands are numbers"),
    (misfit("tensor<2x3xf64>", "tensor<3x4xf64>", "f64"), "The result is a number"),
    (misfit("tensor<2x3xf32>", "tensor<3x4xf32>", "tensor<2x4xf32>"), "These are tensors of f32"),
]
INNER, STATED = "The inner sizes differ", "The stated shape of the result is wrong"
FIRST, SECOND, NEITHER = (f"{who} a matrix" for who in (
    "The first operand is not", "The second operand is not", "Neither operand is"))  # fmt: skip
WRONG_SHAPES = [
    *((product(left, right), REFUSED, words) for left, right, words in (
        (A, (4, 2), INNER), (A, A, INNER),
        ((3,), B, FIRST), ((), B, FIRST), (A, (3,), SECOND), (A, (3, 2, 2), SECOND),
        ((2, 3, 4), (3, 2, 2), NEITHER), ((2, 3, 4), (4, 5, 6), NEITHER), ((3,), (3,), NEITHER),
        ((), (), NEITHER), ((2, 3, 4), (4,), NEITHER), ((2,), (2, 3, 4), NEITHER))),
    *((product(A, (3, 4), result), SHAPE, STATED) for result in ("p:4x2", "p:2x4x1")),
]  # fmt: skip


@checks("u10.matmul", spec=[GIVE, MAY, CLASS, TWO, EFFECT, WRITTEN, FOLLOWS, SHAPE])
def shapes_follow(matmul):
    """Every result has the shape that its operands give it."""
    for given, wanted, spec in SHAPES:
        shapes_match(matmul, given, wanted, spec)
    return f"{len(SHAPES)} programs"


def shapes_match(matmul: Any, given: str, wanted: str, spec: str) -> None:
    """The program after shape inference is this one."""
    got = as_text(matmul(given), given)
    if normal(got) == normal(wanted):
        return
    problem = "Shape inference must give other shapes."
    if "toy.matmul" in got and "toy.matmul" not in wanted:
        problem = "The product is not used, so it must be removed."
    raise Wrong(problem, program=given, got=got, expected=wanted, spec=spec)


@checks("u10.matmul", spec=[REFUSED, SHAPE, TWO])
def what_does_not_fit_is_refused(matmul):
    """Operands that have no product, and a result with a wrong shape."""
    for given, spec, words in WRONG_SHAPES:
        raises(ToyError, lambda given=given: matmul(given),
               f"{words}, so the operation must be refused.", program=given, spec=spec,
               called="VerifyException")  # fmt: skip
    for given, words in NUMBERS:
        raises(ValueError, lambda given=given: matmul(given),
               f"{words}, so there is no such operation.", program=given, spec=TWO,
               called="VerifyException")  # fmt: skip
    return f"{len(WRONG_SHAPES) + len(NUMBERS)} wrong programs"
