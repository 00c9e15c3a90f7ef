"""Visible checks of the operation, its shapes and its patterns. Next room: compiled.py."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Score, Wrong, checks
from autograder.check.modules import as_text
from autograder.units.u10_lab_toy.checks import Chain, main, program_of, refused, start, typed
from course_lib.mlir.toy.ast import LARGEST
from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.toy_interp import run
from course_lib.mlir.trouble import too_large, trouble

GIVE = "Give Toy the operation `toy.sum`, with its shapes and two patterns"
TEXT = "a Toy program, or a module of the Toy dialect, which begins with `builtin.module`"
AFTER = "the text of the module after `inline`, `open_structs`, `infer_shapes` and `canonicalize`"
FROM_ZERO = "`sum(x, 1)` adds up the array x along axis 1, where axes are counted from 0"
SAYS = "becomes an attribute of the operation: the module says"
SHAPE = "The result has the shape of the operand without this axis"
UNUSED = "A sum that is not used disappears"
TWO = "Raise ToyError at the place of the call if it does not have two arguments"
WHOLE = "at the place of the second argument if that is anything but a whole number"
NO_AXIS = "an axis that the operand does not have"
STATED = "a stated shape of the result that does not follow"
KIND = "an operand or a result that is not a TENSOR"
TURNED = "No sum reads a transpose: it reads the array that was transposed, along another axis"
SHARED = "even if the transpose has other users"
LESS = "Where the order of the remaining axes matters, the result is transposed instead"
NOTHING = "A result of one axis or none is not transposed"
ONE = "no sum is left along an axis of one element: a `toy.reshape` takes its place"
THIRDS = "This earns two thirds of the points, and two patterns earn the rest"

GENERIC = re.compile(r"toy\.sum (%\w+) along (-?\d+) : (\S+) to (\S+)")
LONGEST = 20_000  # characters of a module
M, N, L = typed((2, 3)), typed((3, 2)), typed((3,))
PLAIN = [((2, 3), (1,)), ((2, 3), (0,)), ((5,), (0,)), ((2, 3, 4), (1, 1, 0)),
         ((2, 3, 4), (2, "+", 0)), ((3, 4, 2, 2), (2, 0, "*")), ((2, 3), ("t", "+"))]  # fmt: skip
TRANSPOSED = [((2, 3), ("t", 1)), ((2, 3), ("t", 0)), ((2, 3, 4), ("t", 0)), ((2, 3, 4), ("t", 1)),
              ((2, 3, 3, 2), ("t", 2)), ((2, 3, 4), ("t", 1, "t", 0)), ((4,), ("t", 0)),
              ((2, 2, 2), ("t", 0)), ((2, 3), ("t", "t", "t", 0)), ((2, 1, 3), (1,)), ((1,), (0,)),
              ((3, 1), (0,)), ((1, 2, 1), ("t", 0, 1)), ((2, 1), ("+", 1, 0))]  # fmt: skip


def by_hand() -> list[str]:
    """Modules in which a transpose, or an operand, has several users, and one with a dead sum."""
    turned, two = f"%1 = toy.transpose %0 : {M} to {N}", typed((2,))
    bodies = [
        [turned, f"%2 = toy.sum %1 along 1 : {N} to {L}", f"toy.print %1 : {N}",
         f"toy.print %2 : {L}"],
        [turned, f"%2 = toy.sum %1 along 0 : {N} to {two}", f"%3 = toy.sum %1 along 1 : {N} to {L}",
         f"toy.print %2 : {two}", f"toy.print %3 : {L}"],
        [f"%1 = toy.sum %0 along 1 : {M} to {two}", f"toy.print %0 : {M}"],
    ]  # fmt: skip
    return [main(body, f"%0: {M}") for body in bodies]


STRUCT = """\
struct S { var a; }
def total(S s) { return sum(s.a, 1); }
def main() { S s = {[[1, 2, 3], [4, 5, 6]]}; S u = {[[7], [8]]}; print(total(s)); print(total(u)); }
"""
PROGRAMS = [program_of(Chain(*plain)) for plain in PLAIN] + [STRUCT] + [
    Chain(*plain).module(unknown) for plain in PLAIN for unknown in (False, True)]  # fmt: skip
PATTERNS = by_hand() + [Chain(*one).module(unknown) for one in TRANSPOSED for unknown in (0, 1)]


@checks("u10_lab_toy.operation", spec=[GIVE, TEXT, AFTER, FROM_ZERO, SAYS, SHAPE])
def programs_mean_the_same(operation):
    """The module prints what the program means, and every shape is known."""
    for text in PROGRAMS:
        right_module(operation, text, SHAPE)
    return f"{len(PROGRAMS)} programs"


REFUSED = [  # the argument of print, the column of the place in it, the sentence
    ("sum(x)", 1, TWO), ("sum()", 1, TWO), ("x + sum(x, 0, 1)", 5, TWO),
    ("sum(x, 1.5)", 8, WHOLE), ("sum(x, a)", 8, WHOLE),
    ("sum(x + x, [1])", 12, WHOLE), ("sum(x, 0 + 1)", 10, WHOLE),
    ("sum(x, 2)", 1, NO_AXIS), ("sum(x, 10)", 1, NO_AXIS),
    ("sum(sum(x, 0), 1)", 1, NO_AXIS), ("sum(a, 0)", 1, NO_AXIS),
    ("x); var unused = sum(x + x, 2", 18, NO_AXIS),
]  # fmt: skip


@for_each("u10_lab_toy.operation", REFUSED, "{} wrong programs")
def wrong_calls_are_refused(operation, expression, column, spec):
    """A wrong call is refused with ToyError, at the place where the program is wrong."""
    program = (f"def main() {{\n  var x = [[1, 2, 3], [4, 5, 6]];\n  var a = 1;\n"
               f"  print({expression});\n}}\n")  # fmt: skip
    refused(operation, program, f"4:{8 + column}", spec)


def misfit(given: str, axis: int, made: str) -> str:
    """A sum of these types."""
    return (f'builtin.module {{\n  %0 = "builtin.unrealized_conversion_cast"() : () -> {given}\n'
            f"  %1 = toy.sum %0 along {axis} : {given} to {made}\n}}\n")  # fmt: skip


ANY = typed(None)
BROKEN = [
    (misfit(M, 2, ANY), NO_AXIS),
    (misfit(M, 3, typed((2,))), NO_AXIS),
    (misfit(typed(()), 0, ANY), NO_AXIS),
    (misfit(M, -1, ANY), NO_AXIS),
    (misfit(M, 0, typed((2,))), STATED),
    (misfit(M, 1, L), STATED),
    (misfit(M, 1, typed((2, 1))), STATED),
    (misfit(typed((4,)), 0, typed((1,))), STATED),
    (misfit("f64", 0, "f64"), KIND),
    (misfit(M, 1, "f64"), KIND),
    (misfit("tensor<2x3xf32>", 1, typed((2,))), KIND),
    (misfit(M, 1, "tensor<2xf32>"), KIND),
]


@for_each("u10_lab_toy.operation", BROKEN, "{} broken modules")
def broken_modules_are_refused(operation, text, spec):
    """A module in which a sum breaks a rule is refused with ToyError."""
    refused(operation, text, "", spec)


@checks("u10_lab_toy.operation", spec=[THIRDS, TURNED, SHARED, LESS, NOTHING, ONE, UNUSED])
def patterns_apply(operation):
    """No sum is left that reads a transpose, or that adds up one element."""
    return scored(operation, PATTERNS)


def scored(operation: Any, texts: list[str]) -> Score:
    """All points if both patterns apply everywhere; else two thirds."""
    missed = [words for text in texts if (words := right_module(operation, text, TURNED))]
    if missed:
        return Score(2 / 3, f"in {len(missed)} of {len(texts)} modules, {missed[0]}")
    return Score(1, f"{len(texts)} modules")


def right_module(operation: Any, text: str, spec: str) -> str:
    """The module prints what the text means. What of the patterns is still to be done, in words."""
    got = as_text(operation(text), text, AFTER)
    if got.count("toy.sum") > len(GENERIC.findall(got)):
        raise Wrong("A sum is written in another form.", program=text, got=got, spec=SAYS)
    try:
        before, after = printed(text), printed(got)
    except ValueError as error:
        raise Wrong(f"The result must be a module that can be run: {error}", program=text, got=got,
                    spec=AFTER) from None  # fmt: skip
    if [array.tolist() for array in before] != [array.tolist() for array in after]:
        raise Wrong("The module prints wrong numbers.", program=text, got=got, spec=spec,
                    expected="".join(f"{array.tolist()}\n" for array in before))  # fmt: skip
    if "tensor<*" in got or "toy.generic_call" in got:
        raise Wrong("After these passes, @main calls nothing, and all shapes are known.",
                    program=text, got=got, spec=AFTER)  # fmt: skip
    return _to_be_done(text, got)


def _to_be_done(text: str, got: str) -> str:
    from course_lib.mlir.toy.dialect import TransposeOp  # xDSL need not be installed

    for op in (op for op in main_of(got).ops if "axis" in op.attributes):
        shape = op.operands[0].type.get_shape()
        if not op.results[0].uses:
            raise Wrong("A sum is left that is not used.", program=text, got=got, spec=UNUSED)
        if isinstance(op.operands[0].owner, TransposeOp):
            return f"a sum reads a transpose of shape {shape}"
        if shape[axis_of(op)] == 1:
            return f"a sum adds up one element of shape {shape}"
    if "tensor<*" not in text and short(got) > short(text):
        return "an array of one axis, or none, is transposed"
    return ""


def short(text: str) -> int:
    """How many arrays of one axis, or none, are transposed."""
    return len(re.findall(r"= toy\.transpose %\w+ : tensor<(?:\d+x)?f64>", text))


def module_of(text: str) -> Any:
    """The module; a sum is an operation without a definition, as MLIR's general form writes it."""
    from course_lib.mlir.reading import Reader  # xDSL need not be installed
    from course_lib.mlir.toy.module import context, verify

    refusal = too_large(text, LONGEST) or (trouble(text, LARGEST) or [None])[0]
    if refusal is not None:
        raise ValueError(refusal)
    dialects = context()
    dialects.allow_unregistered = True
    general = GENERIC.sub(r'"toy.sum"(\1) {axis = \2 : i64} : (\3) -> \4', text)
    try:
        module = Reader(dialects, general, "module").parse_module()
    except Exception as error:  # a text from outside
        raise ValueError(str(error).strip().splitlines()[-1]) from None
    verify(module)
    return module


def main_of(text: str) -> Any:
    """The block of the module's function @main."""
    from course_lib.mlir.toy.functions import FuncOp  # xDSL need not be installed

    for op in module_of(text).ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op.block
    raise ValueError("the module has no function @main")


def _sum(op: Any, given: list[np.ndarray]) -> np.ndarray:
    result = given[0].sum(axis_of(op))
    if "*" not in str(op.results[0].type) and op.results[0].type.get_shape() != result.shape:
        raise ValueError(f"the result of a sum has shape {result.shape}:\n  {op}")
    return result


def axis_of(op: Any) -> int:
    return op.attributes["axis"].value.data


def printed(text: str) -> list[np.ndarray]:
    """What a program prints, or @main of a module for a parameter that is chosen here."""
    from course_lib.mlir.toy.dialect import shape_of  # xDSL need not be installed
    from course_lib.mlir.toy.dialect_interp import outputs

    if not text.startswith("builtin.module"):
        return meant(text)
    block = main_of(text)
    more = {"builtin.unregistered": _sum, "toy.struct_constant": lambda op, given: np.array(())}
    return outputs(block, [start(shape_of(value) or ()) for value in block.args], more)


def meant(program: str) -> list[np.ndarray]:
    """What a program prints: its tree, run by numpy."""

    def summed(call: Any, value: Any) -> np.ndarray:
        return value(call.arguments[0]).sum(int(call.arguments[1].value))

    return run(parse(program), {"sum": summed})
