"""Visible checks of unit 5 on the counter of arithmetic in LLVM IR.

A module is put together from pieces that do not touch each other. Each piece says what it is worth.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks

NAME = "llvm.fma.arithmetic"
EACH = "the name of each function with a body to a list: for each of its blocks in order, a dict"
LEFT = "Leave out kinds that do not occur"
CALLS = "calls of `llvm.fma.*` and `llvm.fmuladd.*`"
PAIR = "an fadd or fsub fused with an fmul; together they count once"
REST = "every other fadd or fsub, and every other fmul"
OWN = "An fadd or fsub is fused with an fmul that is one of its own operands"
FLAG = "if both allow it (flag `contract` or `fast`)"
BLOCK = "both are in the same block"
USER = "the product is used as an operand only this once"
TWO = "If both operands qualify, one product is fused and the other counts under mul"
LANES = "An instruction on `<8 x float>` counts as 8, one on a scalar of any type as 1"

background(NAME, "Count the floating-point arithmetic ... by kind.", because="the sentences below")
background(NAME, "Vector reductions and vectors of unknown length", because="not asked for")


class Piece(NamedTuple):
    """A few lines of a block, some of the block behind it, and what both are worth.

    @  a number of its own     @T  the type        @K  a constant       @S  fadd or fsub
    @Y  flags that allow it    @N  flags that do not, if any            @B  the name of the block
    @U  one more use of %p@    <a, b>  in one order or the other
    """

    spec: str
    lines: str
    worth: dict[str, int]
    later: str = ""
    then: Mapping[str, int] = MappingProxyType({})


P, Q = "%p@ = fmul @Y @T <%a, %b>\n", "%q@ = fmul @Y @T <%b, %c>\n"
BARE = "%p@ = fmul @N @T <%a, %b>\n"  # no product that may be fused
PIECES = [
    Piece(PAIR, P + "%s@ = @S @Y @T %p@, %c", {"pair": 1}),
    Piece(PAIR, P + "%s@ = @S @Y @T %c, %p@", {"pair": 1}),
    Piece(FLAG, P + "%s@ = @S @Y @T <%p@, @K>", {"pair": 1}),
    Piece(FLAG, BARE + "%s@ = @S @Y @T <%p@, %c>", {"mul": 1, "add": 1}),
    Piece(FLAG, P + "%s@ = @S @N @T <%p@, %c>", {"mul": 1, "add": 1}),
    Piece(FLAG, BARE + "%s@ = @S @N @T <%p@, %c>", {"mul": 1, "add": 1}),
    Piece(FLAG, "%contract@ = fmul @N @T %a, @K\n%fast@ = @S @N @T <%contract@, %c>",
          {"mul": 1, "add": 1}),
    Piece(FLAG, "%fast@ = fmul @N @T %a, @K\n%contracted@ = fmul @N @T <%fast@, %b>\n"
          "%s@ = @S @N @T <%contracted@, %c>", {"mul": 2, "add": 1}),
    Piece(USER, P + "%s@ = @S @Y @T <%p@, %c>\n%t@ = @S @Y @T <%p@, %a>", {"mul": 1, "add": 2}),
    Piece(USER, P + "%s@ = @S @Y @T <%p@, %c>\n@U", {"mul": 1, "add": 1}),
    Piece(USER, P + "@U\n%s@ = @S @Y @T <%p@, %c>", {"mul": 1, "add": 1}),
    Piece(USER, P + "%s@ = @S @Y @T <%p@, %c>", {"mul": 1, "add": 1}, "@U"),
    Piece(USER, P + "%s@ = @S @Y @T <%p@, %c>", {"mul": 1, "add": 1},
          "%u@ = phi @T [ %p@, %@B ]"),
    Piece(USER, P + "%s@ = @S @Y @T <%p@, %c>\n%r@ = fmul @T %p@, %a", {"mul": 2, "add": 1}),
    Piece(USER, P + "%s@ = @S @Y @T %p@, %p@", {"mul": 1, "add": 1}),
    Piece(TWO, P + Q + "%s@ = @S @Y @T <%p@, %q@>", {"pair": 1, "mul": 1}),
    Piece(OWN, BARE + Q + "%s@ = @S @Y @T <%p@, %q@>", {"pair": 1, "mul": 1}),
    Piece(OWN, P + Q + "@U\n%s@ = @S @Y @T <%p@, %q@>", {"pair": 1, "mul": 1}),
    Piece(OWN, P + Q + "%s@ = @S @Y @T <%p@, %q@>\n%t@ = @S @Y @T <%s@, %c>",
          {"pair": 1, "mul": 1, "add": 1}),
    Piece(OWN, P + "%s@ = @S @Y @T <%p@, %c>\n" + Q + "%t@ = @S @Y @T <%q@, %s@>", {"pair": 2}),
    Piece(OWN, P + "%n@ = fneg @Y @T %p@\n%s@ = @S @Y @T <%n@, %c>", {"mul": 1, "add": 1}),
    Piece(OWN, P + "%n@ = select i1 %z, @T %p@, @T %c\n%s@ = @S @Y @T <%n@, %c>",
          {"mul": 1, "add": 1}),
    Piece(OWN, P + "%s@ = fdiv @Y @T <%p@, %c>", {"mul": 1}),
    Piece(OWN, P + "%q@ = fmul @Y @T <%p@, %c>", {"mul": 2}),
    Piece(BLOCK, P, {"mul": 1}, "%s@ = @S @Y @T <%p@, %c>", {"add": 1}),
    Piece(BLOCK, P, {"mul": 1}, Q + "%s@ = @S @Y @T <%p@, %q@>", {"pair": 1}),
    Piece(OWN, P, {"mul": 1}, "%u@ = phi @T [ %p@, %@B ]\n%s@ = @S @Y @T <%u@, %c>", {"add": 1}),
    Piece(CALLS, "%f@ = call @T @llvm.fma.@V(@T %a, @T %b, @T %c)", {"fma": 1}),
    Piece(CALLS, "%f@ = tail call @Y @T @llvm.fmuladd.@V(@T %a, @T %b, @T @K)", {"fmuladd": 1}),
    Piece(CALLS, P + "%f@ = call @Y @T @llvm.fma.@V(@T %a, @T %b, @T %p@)", {"fma": 1, "mul": 1}),
    Piece(REST, "%s@ = fadd @Y @T %a, %b\n%t@ = fsub @N @T %s@, @K", {"add": 2}),
    Piece(LEFT, "%d@ = fdiv @Y @T %a, %b\n%e@ = frem @T %d@, %c\n%i@ = mul i64 %n, %n\n"
          "%j@ = add i64 %i@, 1\n%k@ = sub i64 %j@, %n", {}),
    Piece(CALLS, "%r@ = call @Y @T @llvm.sqrt.@V(@T %a)", {}),
    Piece(CALLS, "%r@ = call @T @my.llvm.fma.@V(@T %a, @T %b, @T %c)", {}),
]  # fmt: skip
ALLOW = ("contract", "fast", "reassoc nsz contract", "nnan ninf arcp contract afn")
FORBID = ("", "reassoc", "nnan ninf nsz", "reassoc nnan ninf nsz arcp afn")
USES = ("store @T %p@, ptr %m", "%u@ = fcmp olt @T <%p@, %c>", "%u@ = fneg @T %p@",
        "%u@ = select i1 %z, <@T %p@, @T %c>", "%u@ = fdiv @T <%p@, %c>",
        "call void @keep.@V(@T %p@)", "%u@ = freeze @T %p@",
        "%u@ = insertvalue { @T, i64 } poison, @T %p@, 0")  # fmt: skip
TYPES = {"float": ("f32", 1), "<4 x float>": ("v4f32", 4), "<8 x float>": ("v8f32", 8),
         "<10 x float>": ("v10f32", 10), "<16 x float>": ("v16f32", 16), "half": ("f16", 1),
         "<64 x half>": ("v64f16", 64), "<3 x float>": ("v3f32", 3), "double": ("f64", 1),
         "<2 x double>": ("v2f64", 2), "<1 x float>": ("v1f32", 1), "bfloat": ("bf16", 1),
         "<128 x bfloat>": ("v128bf16", 128), "fp128": ("f128", 1)}  # fmt: skip

Part = tuple[int, str, int]  # a piece, its type, and what draws the rest
Functions = list[list[list[Part]]]  # for each function its blocks, for each block its parts


@st.composite
def modules(draw: DrawFn, functions: int = 2, blocks: int = 2, pieces: int = 3) -> Functions:
    """Functions of random pieces, of several types."""
    part = st.tuples(st.integers(0, len(PIECES) - 1), st.sampled_from(list(TYPES)),
                     st.integers(0, 999))  # fmt: skip
    body = st.lists(st.lists(part, max_size=pieces), min_size=1, max_size=blocks)
    return draw(st.lists(body, min_size=1, max_size=functions))


def rendered(functions: Functions) -> str:
    """LLVM IR, with declarations of what it calls. Behind the blocks of a function stands one more,
    for what its last one needs there; the first block may have no name."""
    parts = [_function(number, blocks) for number, blocks in enumerate(functions)]
    for kind in _types(functions):
        short, three = TYPES[kind][0], ", ".join([kind] * 3)
        parts += [f"declare {kind} @llvm.{f}.{short}({three})" for f in ("fma", "fmuladd")]
        parts += [f"declare {kind} @llvm.sqrt.{short}({kind})",
                  f"declare {kind} @my.llvm.fma.{short}({three})",
                  f"declare void @keep.{short}({kind})"]  # fmt: skip
    return "\n\n".join(parts)


def _types(functions: Functions) -> list[str]:
    kinds = {kind for blocks in functions for block in blocks for _, kind, _ in block}
    return [kind for kind in TYPES if kind in kinds]


def _name(number: int) -> str:
    return f"f.{number}" if number % 2 else f"f{number}"


def _function(number: int, blocks: list[list[Part]]) -> str:
    given = [f"{kind} %{x}.{TYPES[kind][0]}" for kind in _types([blocks]) for x in "abc"]
    lines = [f"define void @{_name(number)}({', '.join(['ptr %m, i1 %z, i64 %n', *given])}) {{"]
    unnamed = sum(len(block) for block in blocks) % 2
    names = ["0" if unnamed else "b0", *(f"b{place}" for place in range(1, len(blocks) + 1))]
    behind: list[str] = []
    for place, name in enumerate(names):
        here = blocks[place] if place < len(blocks) else []
        written = [_lines(part, 100 * place + k, name) for k, part in enumerate(here)]
        body = [*behind, *(line for now, _ in written for line in now)]
        behind = sorted((line for _, later in written for line in later), key=_is_no_phi)
        lines += [f"{name}:"] if place or not unnamed else []
        lines += [f"  {line}" for line in body]
        lines.append(f"  br label %b{place + 1}" if place < len(blocks) else "  ret void")
    return "\n".join([*lines, "}"])


def _is_no_phi(line: str) -> bool:
    return " = phi " not in line


def _lines(part: Part, number: int, block: str) -> tuple[list[str], list[str]]:
    """What a piece writes into its block, and into the next one."""
    piece, (_, kind, seed) = PIECES[part[0]], part
    rng = random.Random(seed)
    drawn = {"U": USES, "Y": ALLOW, "N": FORBID, "S": ("fadd", "fsub")}
    both = f"{piece.lines}\0{piece.later}"
    for letter, choices in drawn.items():
        both = re.sub(f"@{letter}", lambda _, choices=choices: rng.choice(choices), both)
    both = re.sub("<([^<>]*), ([^<>]*)>", lambda m: ", ".join(rng.sample(m.groups(), 2)), both)
    constant = "zeroinitializer" if kind.startswith("<") else "0.5" if kind != "fp128" else "%c"
    for mark, text in [("@T", kind), ("@V", TYPES[kind][0]), ("@K", constant), ("@B", block)]:
        both = both.replace(mark, text)
    # a number of its own for each value, but not in the name of a function
    both = re.sub(r"@(?!(my\.)?llvm|keep)", str(number), both)
    both = re.sub(r"%([abc])\b", rf"%\1.{TYPES[kind][0]}", both)
    now, later = re.sub("  +", " ", both).split("\0")
    return now.strip().splitlines(), later.splitlines()


def worth(functions: Functions) -> dict[str, list[dict[str, int]]]:
    """What the pieces of each block are worth, together."""
    worths = {}
    for number, blocks in enumerate(functions):
        sums: list[Counter[str]] = [Counter() for _ in range(len(blocks) + 1)]
        for place, block in enumerate(blocks):
            for piece, kind, _ in block:
                for k, counts in enumerate((PIECES[piece].worth, PIECES[piece].then)):
                    sums[place + k].update({key: TYPES[kind][1] * n for key, n in counts.items()})
        worths[_name(number)] = [dict(total) for total in sums]
    return worths


@checks(NAME, spec=[EACH, LANES, *(piece.spec for piece in PIECES)])
def one_piece_at_a_time(arithmetic):
    """Each case of the text by itself, on `float` and on another type."""
    others = [kind for kind in TYPES if kind != "float"]
    for k, piece in enumerate(PIECES):
        for seed in range(6 if "@U" in piece.lines else 3):
            compared(arithmetic, [[[(k, "float", seed)]]], piece.spec)
        compared(arithmetic, [[[(k, others[k % len(others)], 0)]]], LANES)
    return f"{len(PIECES)} cases"


@checks(NAME, spec=[LANES, EACH, LEFT])
def lanes(arithmetic):
    """Vectors count their lanes."""
    for kind in TYPES:
        compared(arithmetic, [[[(k, kind, 1) for k in EVERY_KIND]]], LANES)


EVERY_KIND = [
    next(k for k, piece in enumerate(PIECES) if piece.worth == worth and not piece.later)
    for worth in ({"pair": 1}, {"mul": 2}, {"fma": 1}, {"fmuladd": 1}, {"add": 2})
]


@checks(NAME, spec=[USER, EACH, LEFT])
def a_product_that_is_returned(arithmetic):
    """A product that a sum needs and the function returns, in the same block or a later one."""
    for more, blocks in [("", []), ("\n  br label %second\n\nsecond:", [{}])]:
        right = {"f": [{"mul": 1, "add": 1}, *blocks]}
        compared_text(arithmetic, RETURNED.replace("!", more), right, USER)


RETURNED = """
define float @f(float %a, float %b, float %c, ptr %m) {
first:
  %p = fmul contract float %a, %b
  %s = fadd contract float %p, %c
  store float %s, ptr %m!
  ret float %p
}
""".strip()


@checks(NAME, given=modules(), examples=25, what="random modules", spec=[EACH, LEFT])
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
        counts_of = {}
        for name, blocks in answer.items():
            assert isinstance(blocks, Sequence) and not isinstance(blocks, str)
            counts_of[name] = [dict(block) for block in blocks]
            assert all(int(n) == n for block in counts_of[name] for n in block.values())
    except (AssertionError, TypeError, ValueError):
        raise Wrong("The result must be a dict of lists of dicts of whole numbers.", program=text,
                    got=repr(answer), spec=EACH) from None  # fmt: skip
    return counts_of
