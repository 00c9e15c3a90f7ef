"""Visible checks of unit 5 on the counter of arithmetic in LLVM IR.

A module is put together from pieces that do not touch each other. Each piece says what it is worth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks

NAME = "llvm.fma.arithmetic"
EACH = (
    "For each function with a body, return a list of dicts from kind to count, one for each block"
)
LEFT = "Leave out kinds that do not occur"
CALLS = "calls of `llvm.fma.*` and `llvm.fmuladd.*`"
PAIR = "an fadd or fsub that is fused with an fmul; together they count once"
REST = "every other fadd or fsub, and every other fmul"
OWN = "An fadd or fsub is fused with an fmul that is one of its own operands"
FLAG = "if both instructions allow it (flag `contract` or `fast`)"
BLOCK = "both are in the same block"
USER = "the product is used as an operand only this once"
TWO = "If both operands qualify, one product is fused and the other counts under mul"
LANES = "An instruction on `<8 x float>` counts as 8, and one on `float` as 1"

background(NAME, "Count the floating-point arithmetic ... by kind.", because="the sentences below")
background(NAME, "The kinds:", because="the table below")
background(NAME, "Our version also counts", because="about what is not asked")


class Piece(NamedTuple):
    """A few lines with @T for the type and @ for a number of their own; what they are worth."""

    spec: str
    lines: str
    worth: dict[str, int]


PIECES = [
    Piece(PAIR, "%p@ = fmul contract @T %a, %b\n%s@ = fadd contract @T %p@, %c", {"pair": 1}),
    Piece(PAIR, "%p@ = fmul fast @T %a, %b\n%s@ = fsub contract @T %c, %p@", {"pair": 1}),
    Piece(FLAG, "%p@ = fmul nnan ninf arcp contract @T %a, %b\n"
          "%s@ = fadd reassoc nsz contract afn @T %c, %p@", {"pair": 1}),
    Piece(FLAG, "%p@ = fmul @T %a, %b\n%s@ = fadd contract @T %p@, %c", {"mul": 1, "add": 1}),
    Piece(FLAG, "%p@ = fmul contract @T %a, %b\n%s@ = fadd @T %p@, %c", {"mul": 1, "add": 1}),
    Piece(FLAG, "%contract@ = fmul reassoc @T %a, %b\n%fast@ = fadd nsz @T %contract@, %c",
          {"mul": 1, "add": 1}),
    Piece(USER, "%p@ = fmul contract @T %a, %b\n%s@ = fadd contract @T %p@, %c\n"
          "%t@ = fsub contract @T %p@, %a", {"mul": 1, "add": 2}),
    Piece(USER, "%p@ = fmul contract @T %a, %b\n%s@ = fadd contract @T %p@, %c\n"
          "%t@ = fdiv @T %p@, %a", {"mul": 1, "add": 1}),
    Piece(USER, "%p@ = fmul contract @T %a, %b\n%s@ = fadd contract @T %p@, %p@",
          {"mul": 1, "add": 1}),
    Piece(TWO, "%p@ = fmul contract @T %a, %b\n%q@ = fmul contract @T %b, %c\n"
          "%s@ = fadd contract @T %p@, %q@", {"pair": 1, "mul": 1}),
    Piece(OWN, "%p@ = fmul @T %a, %b\n%q@ = fmul contract @T %b, %c\n"
          "%s@ = fadd contract @T %p@, %q@", {"pair": 1, "mul": 1}),
    Piece(OWN, "%p@ = fmul contract @T %a, %b\n%q@ = fmul @T %b, %c\n"
          "%s@ = fadd contract @T %p@, %q@", {"pair": 1, "mul": 1}),
    Piece(OWN, "%p@ = fmul contract @T %a, %b\n%n@ = fneg contract @T %p@\n"
          "%s@ = fadd contract @T %n@, %c", {"mul": 1, "add": 1}),
    Piece(OWN, "%p@ = fmul contract @T %a, %b\n%q@ = fmul contract @T %p@, %c", {"mul": 2}),
    Piece(CALLS, "%f@ = call @T @llvm.fma.@V(@T %a, @T %b, @T %c)", {"fma": 1}),
    Piece(CALLS, "%f@ = call contract @T @llvm.fmuladd.@V(@T %a, @T %b, @T %c)", {"fmuladd": 1}),
    Piece(REST, "%s@ = fadd contract @T %a, %b\n%t@ = fsub @T %s@, %c", {"add": 2}),
    Piece(LEFT, "%d@ = fdiv contract @T %a, %b\n%i@ = mul i64 %n, %n\n%j@ = add i64 %i@, 1", {}),
    Piece(CALLS, "%r@ = call contract @T @llvm.sqrt.@V(@T %a)", {}),
    Piece(CALLS, "%r@ = call @T @my.llvm.fma.@V(@T %a, @T %b, @T %c)", {}),
]  # fmt: skip
TYPES = {"float": ("f32", 1), "<4 x float>": ("v4f32", 4), "<8 x float>": ("v8f32", 8),
         "<10 x float>": ("v10f32", 10), "<16 x float>": ("v16f32", 16),
         "<32 x float>": ("v32f32", 32), "double": ("f64", 1),
         "<2 x double>": ("v2f64", 2)}  # fmt: skip
EVERY_KIND = [
    next(k for k, piece in enumerate(PIECES) if piece.worth == worth)
    for worth in ({"pair": 1}, {"mul": 2}, {"fma": 1}, {"fmuladd": 1}, {"add": 2})
]

Blocks = list[list[int]]  # for each block the pieces in it
Functions = list[tuple[str, Blocks]]  # for each function the type that it computes with


@st.composite
def modules(draw: DrawFn, functions: int = 2, blocks: int = 2, pieces: int = 3) -> Functions:
    """Functions of random pieces."""
    piece = st.integers(0, len(PIECES) - 1)
    block = st.lists(piece, max_size=pieces)
    body = st.lists(block, min_size=1, max_size=blocks)
    one = st.tuples(st.sampled_from(list(TYPES)), body)
    return draw(st.lists(one, min_size=1, max_size=functions))


def rendered(functions: Functions) -> str:
    """LLVM IR, with declarations of what it calls between the functions."""
    parts = []
    for number, (kind, blocks) in enumerate(functions):
        short = TYPES[kind][0]
        lines = [f"define void @f{number}({kind} %a, {kind} %b, {kind} %c, i64 %n) {{"]
        for place, block in enumerate(blocks):
            lines.append(f"b{place}:")
            for k, piece in enumerate(block):
                text = PIECES[piece].lines.replace("@T", kind).replace("@V", short)
                # a name of its own for each value, but not in the name of an intrinsic
                lines += [f"  {line}" for line in _numbered(text, 100 * place + k).splitlines()]
            following = f"br label %b{place + 1}" if place + 1 < len(blocks) else "ret void"
            lines.append(f"  {following}")
        parts.append("\n".join([*lines, "}"]))
    used = sorted({TYPES[kind] + (kind,) for kind, _ in functions})
    for short, _, kind in used:
        parts.append(f"declare {kind} @llvm.fma.{short}({kind}, {kind}, {kind})")
        parts.append(f"declare {kind} @llvm.fmuladd.{short}({kind}, {kind}, {kind})")
        parts.append(f"declare {kind} @llvm.sqrt.{short}({kind})")
        parts.append(f"declare {kind} @my.llvm.fma.{short}({kind}, {kind}, {kind})")
    return "\n\n".join(parts)


def _numbered(text: str, number: int) -> str:
    return re.sub(r"@(?!(my\.)?llvm)", str(number), text)


def worth(functions: Functions) -> dict[str, list[dict[str, int]]]:
    """What the pieces of each block are worth, together."""
    found = {}
    for number, (kind, blocks) in enumerate(functions):
        lanes = TYPES[kind][1]
        sums = []
        for block in blocks:
            total: Counter[str] = Counter()
            for piece in block:
                total.update({k: lanes * n for k, n in PIECES[piece].worth.items()})
            sums.append(dict(total))
        found[f"f{number}"] = sums
    return found


@checks(NAME, spec=[EACH, *(piece.spec for piece in PIECES)])
def one_piece_at_a_time(arithmetic):
    """Each case of the text by itself, on `float`."""
    for k, piece in enumerate(PIECES):
        compared(arithmetic, [("float", [[k]])], piece.spec)
    return f"{len(PIECES)} cases"


@checks(NAME, spec=[LANES, EACH, LEFT])
def lanes(arithmetic):
    """Vectors count their lanes."""
    for kind in TYPES:
        compared(arithmetic, [(kind, [EVERY_KIND])], LANES)


@checks(NAME, spec=[BLOCK, EACH, LEFT])
def a_sum_in_another_block(arithmetic):
    """A product and a sum in two blocks are not fused."""
    compared_text(arithmetic, APART, {"f": [{"mul": 1}, {"add": 1}]}, BLOCK)


APART = """
define float @f(float %a, float %b, float %c) {
first:
  %p = fmul contract float %a, %b
  br label %second

second:
  %s = fadd contract float %p, %c
  ret float %s
}
""".strip()


@checks(NAME, spec=[USER, EACH, LEFT])
def a_product_that_another_block_needs_too(arithmetic):
    """Its sum stands beside it, and another block uses it as well."""
    compared_text(arithmetic, SHARED, {"f": [{"mul": 1, "add": 1}, {}]}, USER)


SHARED = """
define float @f(float %a, float %b, float %c) {
first:
  %p = fmul contract float %a, %b
  %s = fadd contract float %p, %c
  br label %second

second:
  %d = fdiv float %s, %p
  ret float %d
}
""".strip()


@checks(NAME, given=modules(), examples=40, what="random modules", spec=[EACH, LEFT])
def whole_modules(arithmetic, functions):
    """Functions of several blocks, and declarations, which have no body."""
    compared(arithmetic, functions, EACH)


def compared(arithmetic: Any, functions: Functions, spec: str) -> None:
    compared_text(arithmetic, rendered(functions), worth(functions), spec)


def compared_text(arithmetic: Any, text: str, expected: Mapping, spec: str) -> None:
    """The counts of a module are these."""
    got = plain(arithmetic(text), text)
    if set(got) != set(expected):
        raise Wrong("There must be an entry for each function with a body, and no other.",
                    program=text, got=repr(got), expected=repr(expected), spec=EACH)  # fmt: skip
    for name, blocks in expected.items():
        if len(got[name]) != len(blocks):
            raise Wrong(f"@{name} must have a dict for each of its {len(blocks)} blocks.",
                        program=text, got=repr(got), spec=EACH)  # fmt: skip
        for number, (mine, right) in enumerate(zip(got[name], blocks, strict=True)):
            if mine != right:
                zero = {k: n for k, n in mine.items() if n} == right
                problem = (
                    "A kind that does not occur must be left out." if zero else
                    f"Block {number} of @{name} must count {right}; here it is {mine}."
                )  # fmt: skip
                raise Wrong(problem, program=text, got=repr(got), expected=repr(expected),
                            spec=LEFT if zero else spec)  # fmt: skip


def plain(answer: object, text: str) -> dict[str, list[dict[str, int]]]:
    """dict -> list -> dict, of whole numbers."""
    try:
        assert isinstance(answer, Mapping)
        found = {}
        for name, blocks in answer.items():
            assert isinstance(blocks, Sequence) and not isinstance(blocks, str)
            found[name] = [dict(block) for block in blocks]
            assert all(int(n) == n for block in found[name] for n in block.values())
    except (AssertionError, TypeError, ValueError):
        raise Wrong("The result must be a dict of lists of dicts of whole numbers.", program=text,
                    got=repr(answer), spec=EACH) from None  # fmt: skip
    return found
