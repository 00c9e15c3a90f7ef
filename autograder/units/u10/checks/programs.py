"""Visible checks of unit 10 about programs in the Toy dialect: shapes, and transposes.

Next room: ../hidden.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.properties import raises
from autograder.units.u10.checks import said
from course_lib.mlir.toy.source import ToyError

Shape = tuple[int, ...]


def typed(shape: Shape | None) -> str:
    sizes = "*x" if shape is None else "".join(f"{size}x" for size in shape)
    return f"tensor<{sizes}f64>"


def program(parameters: Mapping[str, Shape | None], *lines: str, result: str = "") -> str:
    """A module with one function @main."""
    given = ", ".join(f"%{name}: {typed(shape)}" for name, shape in parameters.items())
    arrow = f" -> {result}" if result else ""
    body = "".join(f"    {line}\n" for line in lines)
    return f"builtin.module {{\n  toy.func @main({given}){arrow} {{\n{body}  }}\n}}\n"


def normal(text: str) -> str:
    """The text with values numbered in the order in which they appear."""
    names = {name: f"%{k}" for k, name in enumerate(dict.fromkeys(re.findall(r"%\w+", text)))}
    renamed = re.sub(r"%\w+", lambda found: names[found[0]], text)
    return "\n".join(line.strip() for line in renamed.splitlines() if line.strip())


def as_text(got: Any, given: str) -> str:
    if not isinstance(got, str):
        raise Wrong("The function must return the text of a module.", program=given, got=said(got),
                    spec="returns")  # fmt: skip
    return got


# ── an operation ──

TWO = "`toy.matmul` has two operands and one result, each a TENSOR"
EFFECT = "no effect: if nobody uses the result, the operation may be removed"
WRITTEN = "It is written like `toy.mul`"
FOLLOWS = "Its shape follows from those of its operands"
SHAPE = "an m×k matrix times a k×n matrix is an m×n matrix"
REFUSED = "Raise VerifyException if an operand is not a matrix or the two do not fit"
GIVE = "Give Toy an operation for the product of two matrices, and infer the shapes of a program"
MAY = "a program that may contain `toy.matmul`"
CLASS = "with_shapes(text, MatmulOp), where MatmulOp is a class of yours"


def times(name: str, a: str, b: str, *shapes: Shape | None) -> str:
    x, y, z = map(typed, shapes)
    return f"%{name} = toy.matmul %{a}, %{b} : ({x}, {y}) -> {z}"


def product(left: Shape, right: Shape, result: Shape | None = None, used: bool = True) -> str:
    lines = [times("p", "a", "b", left, right, result)]
    if used:
        lines.append(f"toy.print %p : {typed(result)}")
    return program({"a": left, "b": right}, *lines, "toy.return")


CHAIN = [
    ("p", "a", "b", (2, 3), (3, 4), (2, 4)),
    ("q", "p", "c", (2, 4), (4, 1), (2, 1)),
]
SHAPES = [
    (product((2, 3), (3, 4)), product((2, 3), (3, 4), (2, 4)), SHAPE),
    (product((2, 3), (3, 2)), product((2, 3), (3, 2), (2, 2)), SHAPE),
    (product((5, 1), (1, 1)), product((5, 1), (1, 1), (5, 1)), SHAPE),
    (product((2, 3), (3, 4), (2, 4)), product((2, 3), (3, 4), (2, 4)), FOLLOWS),
    (program({"a": (2, 3), "b": (3, 4), "c": (4, 1)},
             *(times(p, a, b, x if a != "p" else None, y, None) for p, a, b, x, y, _ in CHAIN),
             "toy.print %q : tensor<*xf64>", "toy.return"),
     program({"a": (2, 3), "b": (3, 4), "c": (4, 1)}, *(times(*one) for one in CHAIN),
             "toy.print %q : tensor<2x1xf64>", "toy.return"), FOLLOWS),
    (program({"a": (2, 3)}, "%t = toy.transpose %a : tensor<2x3xf64> to tensor<*xf64>",
             times("p", "t", "a", None, (2, 3), None), "toy.print %p : tensor<*xf64>",
             "toy.return"),
     program({"a": (2, 3)}, "%t = toy.transpose %a : tensor<2x3xf64> to tensor<3x2xf64>",
             times("p", "t", "a", (3, 2), (2, 3), (3, 3)), "toy.print %p : tensor<3x3xf64>",
             "toy.return"), FOLLOWS),
    (product((2, 3), (3, 4), used=False),
     program({"a": (2, 3), "b": (3, 4)}, "toy.return"), EFFECT),
    (program({"a": (2, 3)}, "toy.print %a : tensor<2x3xf64>", "toy.return"),
     program({"a": (2, 3)}, "toy.print %a : tensor<2x3xf64>", "toy.return"), MAY),
]  # fmt: skip
NO_TENSOR = program({"a": (2, 3)}, "%n = arith.constant 1.0 : f64",
                    "%p = toy.matmul %a, %n : (tensor<2x3xf64>, f64) -> tensor<2x3xf64>",
                    "toy.print %p : tensor<2x3xf64>", "toy.return")  # fmt: skip
WRONG_SHAPES = [
    (product((2, 3), (4, 2)), REFUSED, "The inner sizes, 3 and 4, differ"),
    (product((2, 3), (2, 3)), REFUSED, "The inner sizes, 3 and 2, differ"),
    (product((3,), (3, 2)), REFUSED, "The first operand is not a matrix"),
    (product((2, 3), (3,)), REFUSED, "The second operand is not a matrix"),
    (product((), (3, 2)), REFUSED, "The first operand is not a matrix"),
    (product((2, 3), (3, 2, 2)), REFUSED, "The second operand is not a matrix"),
    (product((2, 3), (3, 4), (4, 2)), SHAPE, "The stated shape of the result is wrong"),
    (NO_TENSOR, TWO, "The second operand is a number, not a TENSOR"),
]


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
        problem = "Nobody uses the product, so it must be removed."
    raise Wrong(problem, program=given, got=got, expected=wanted, spec=spec)


@checks("u10.matmul", spec=[REFUSED, SHAPE, TWO])
def what_does_not_fit_is_refused(matmul):
    """Operands that have no product, and a result with a wrong shape."""
    for given, spec, words in WRONG_SHAPES:
        error = ValueError if given is NO_TENSOR else ToyError  # the reader refuses it, or the op
        raises(error, lambda given=given: matmul(given),
               f"{words}, so the operation must be refused.", program=given, spec=spec,
               called="VerifyException")  # fmt: skip
    return f"{len(WRONG_SHAPES)} wrong programs"


# ── transposes ──

BOTH = "An addition or a multiplication whose operands are both transposes moves before them"
ORDER = "with its operands in the same order"
RESULT = "only its result is transposed"
SAVES = "By itself, this saves a transpose only if nobody else uses these two"
STAYS = "otherwise the operation stays as it is"
SAME = "The program computes the same"
KNOWN = "every shape that was known stays known"
MOVE = "Move transposes behind sums and products, where they can meet others and cancel"
IN_TOY = "a program in the Toy dialect"
SINK = "rewritten(text, Sink()), where Sink is a pattern of yours"

A, B = (2, 3), (3, 2)


def turned(name: str, of: str, given: Shape | None = A, result: Shape | None = B) -> str:
    return f"%{name} = toy.transpose %{of} : {typed(given)} to {typed(result)}"


def both(name: str, op: str, a: str, b: str, *shapes: Shape | None) -> str:
    x, y, z = map(typed, shapes or (B, B, B))
    return f"%{name} = toy.{op} %{a}, %{b} : ({x}, {y}) -> {z}"


def main(*lines: str, result: Shape | None = B, **others: Shape | None) -> str:
    parameters = {"a": A, "b": A, **others}
    return program(parameters, *lines, result=typed(result))


def ends(name: str, shape: Shape | None = B) -> str:
    return f"toy.return %{name} : {typed(shape)}"


def once(op: str) -> tuple[str, str]:
    """T(a) op T(b), and T(a op b)."""
    return (main(turned("t", "a"), turned("u", "b"), both("p", op, "t", "u"), ends("p")),
            main(both("p", op, "a", "b", A, A, A), turned("q", "p"), ends("q")))  # fmt: skip


STAY = [
    main(turned("t", "a"), turned("u", "b"), both("p", "mul", "t", "u"),
         f"toy.print %t : {typed(B)}", ends("p")),
    main(turned("t", "a"), turned("u", "b"), both("p", "mul", "t", "u"),
         f"toy.print %u : {typed(B)}", ends("p")),
    main(turned("t", "a"), turned("u", "b"), f"toy.print %u : {typed(B)}",
         both("p", "mul", "t", "u"), ends("p")),
    main(turned("t", "a"), turned("u", "b"), both("p", "mul", "t", "u"),
         both("q", "add", "p", "u"), ends("q")),
    main(turned("t", "a"), both("p", "mul", "t", "c"), ends("p"), c=B),
    main(turned("t", "a"), both("p", "mul", "c", "t"), ends("p"), c=B),
    main(both("p", "mul", "c", "c"), ends("p"), c=B),
    main(turned("t", "a"), both("p", "mul", "t", "t"), both("q", "add", "p", "t"), ends("q")),
]  # fmt: skip
MOVED = [
    (*once("mul"), BOTH),
    (*once("add"), BOTH),
    (main(turned("t", "b"), turned("u", "a"), both("p", "mul", "t", "u"), ends("p")),
     main(both("p", "mul", "b", "a", A, A, A), turned("q", "p"), ends("q")), RESULT),
    (main(turned("t", "a"), both("p", "mul", "t", "t"), ends("p")),
     main(both("p", "mul", "a", "a", A, A, A), turned("q", "p"), ends("q")), SAVES),
    (main(turned("t", "a"), turned("u", "b"), turned("v", "c"), both("p", "mul", "t", "u"),
          both("q", "add", "p", "v"), ends("q"), c=A),
     main(both("p", "mul", "a", "b", A, A, A), both("q", "add", "p", "c", A, A, A),
          turned("r", "q"), ends("r"), c=A), BOTH),
    (main(turned("t", "a"), turned("u", "b"), both("p", "mul", "t", "u"),
          both("q", "add", "p", "p"), ends("q")),
     main(both("p", "mul", "a", "b", A, A, A), both("q", "add", "p", "p", A, A, A),
          turned("r", "q"), ends("r")), SAVES),
]  # fmt: skip


@checks("u10.sunk", spec=[MOVE, IN_TOY, SINK, BOTH, ORDER, RESULT, SAVES, STAYS, KNOWN])
def small_programs(sunk):
    """Programs of a few operations: some are rewritten, and some stay as they are."""
    for given, wanted, spec in [*MOVED, *((text, text, STAYS) for text in STAY)]:
        got = as_text(sunk(given), given)
        if normal(got) != normal(wanted):
            problem, about = _complaint(given, got, wanted)
            raise Wrong(problem, program=given, got=got, expected=wanted, spec=about or spec)
    return f"{len(MOVED) + len(STAY)} programs"


def _complaint(given: str, got: str, wanted: str) -> tuple[str, str]:
    """What is wrong, in words, and the sentence that says so, if it is another one than usual."""
    if given == wanted:
        return "This program must stay as it is.", ""
    if "tensor<*" in got:
        return "A shape that was known before must stay known.", KNOWN
    if normal(got) == normal(given):
        return "The operation must come first, and its result be transposed.", ""
    if _sorted(got) == _sorted(wanted):
        return "The operands must stay in their order.", ORDER
    return "The result must be a different program.", ""


def _sorted(text: str) -> str:
    """The text with the operands of each operation in the order of their names."""
    return re.sub(r"(%\w+), (%\w+) :", lambda found: " ".join(sorted(found.groups())), normal(text))


@st.composite
def toys(draw: DrawFn, most: int = 7, unknown: bool = True) -> str:
    """A program full of transposes, of which some have several users."""
    known = not unknown or draw(st.booleans())
    values: list[tuple[str, Shape, bool]] = [("a", A, True), ("b", A, True), ("c", B, True)]
    lines: list[str] = []
    for k in range(draw(st.integers(2, most))):
        op = draw(st.sampled_from(["transpose", "transpose", "add", "mul", "print"]))
        name, shape, is_known = draw(st.sampled_from(values[-5:]))
        if op == "print":
            lines.append(f"toy.print %{name} : {typed(shape if is_known else None)}")
        elif op == "transpose":
            said_ = known or draw(st.booleans())
            lines.append(turned(f"v{k}", name, shape if is_known else None,
                                shape[::-1] if said_ else None))  # fmt: skip
            values.append((f"v{k}", shape[::-1], said_))
        else:
            other = draw(st.sampled_from([v for v in values if v[1] == shape]))
            said_ = known or draw(st.booleans())
            types = (shape if is_known else None, other[1] if other[2] else None,
                     shape if said_ else None)  # fmt: skip
            lines.append(both(f"v{k}", op, name, other[0], *types))
            values.append((f"v{k}", shape, said_))
    name, shape, is_known = values[-1]
    last = shape if is_known else None
    return program({"a": A, "b": A, "c": B}, *lines, ends(name, last), result=typed(last))


@checks("u10.sunk", given=toys(), examples=60, spec=[SAME, KNOWN, RESULT])
def random_programs_keep_their_meaning(sunk, text):
    """The result computes the same, with as many transposes or fewer, and no shape is forgotten."""
    kept_meaning(sunk, text)


def kept_meaning(sunk: Any, text: str) -> str:
    """What the answer made of the program, if it still computes the same."""
    got = as_text(sunk(text), text)
    wanted, unclear_before = _meaning(text)
    try:
        results, unclear = _meaning(got)
    except (ValueError, TypeError) as error:
        raise Wrong(
            f"The result cannot be run: {error}", program=text, got=got, spec=SAME
        ) from None
    if len(results) != len(wanted) or not all(map(_near, results, wanted)):
        raise Wrong("The result must compute the same as the program.", program=text, got=got,
                    spec=SAME)  # fmt: skip
    if unclear and not unclear_before:
        raise Wrong(f"This shape was known before: {unclear[0]}", program=text, got=got, spec=KNOWN)
    if got.count("toy.transpose") > text.count("toy.transpose"):
        raise Wrong("There are more transposes than before.", program=text, got=got, spec=SAVES)
    return got


@lru_cache(maxsize=512)
def _meaning(text: str) -> tuple[list[np.ndarray], list[str]]:
    """What a program computes, and its operations whose shape is unknown."""
    from autograder.units.u10.answers.meaning import toy_outputs, unknown

    rng = np.random.default_rng(1)
    return toy_outputs(text, [rng.standard_normal(shape) for shape in (A, A, B)]), unknown(text)


def _near(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.shape == wanted.shape and np.allclose(got, wanted)
