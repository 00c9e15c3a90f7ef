"""Visible checks of unit 10. Here: what is read in a dump, and a test that reads one.

Few answers are possible to the question about the dump, so only the grader knows the right one.
What needs xDSL is imported where it is used. Next room: products.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, ours
from autograder.units.u10.answers.program import LOOPS, TWICE, N, short


def said(got: Any) -> str:
    return "nothing (is a `return` missing?)" if got is None else repr(got)[:200]


# ── a dump ──

FORM = "the name of the pass, as the pages show it, and the elements of the result that are wrong"
PAIRS = "as pairs (i, j), counted from 0"
PASS = "The program computes a · b, element by element, before this pass but not after it"
ALL = "the elements of the result that are wrong after it"
NUMBERS = "The numbers in a and b are such that nothing comes out right by chance"
ORDER = "The order of the elements in your list does not matter"
NAMES = [short(name) for name in LOOPS.passes]


@checks(
    "u10.culprit",
    spec=[
        "One of the passes above is wrong. Which one, and what does it break?",
        FORM,
        PAIRS,
        PASS,
        ALL,
        NUMBERS,
        ORDER,
    ],
)
def the_pass_and_what_it_breaks(culprit):
    """The pass and the elements have the form that is asked for, and are the right ones."""
    got = culprit()
    if not isinstance(got, (tuple, list)) or len(got) != 2 or not isinstance(got[0], str):
        raise Wrong("The answer must be a name and a list of pairs.", got=said(got), spec=FORM)
    name, elements = got[0], _elements(got[1])
    if name not in NAMES:
        raise Wrong(f"No pass is called {name!r}.", got=name, expected=", ".join(NAMES), spec=FORM)
    right, broken = ours("u10.culprit")
    if name != right:
        early = NAMES.index(name) < NAMES.index(right)
        finds = (f"After `{name}`, the text still computes" if early else
                 f"The text before `{name}` no longer computes")  # fmt: skip
        raise Wrong(f"{finds} a · b.", got=name, spec=PASS)
    if differ := sorted(elements ^ {*broken}):
        does = "right" if differ[0] in elements else "wrong"
        raise Wrong(f"Element {differ[0]} of the result is {does} after this pass.", spec=ALL,
                    got=said(got[1]))  # fmt: skip


def _elements(got: Any) -> set[tuple[int, int]]:
    kinds = list, tuple, set, frozenset, np.ndarray
    pairs: list[Any] = [*got] if isinstance(got, kinds) else [None]
    for pair in pairs:
        whole = isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2
        if not whole or not all(isinstance(x, (int, np.integer)) and 0 <= x < N for x in pair):
            raise Wrong(f"The elements must be pairs of numbers from 0 to {N - 1}.",
                        got=said(got), spec=PAIRS)  # fmt: skip
    return {(int(i), int(j)) for i, j in pairs}


# ── a test ──

PASSES = "The test passes if @twice multiplies its first parameter by its second, in this order,"
RETURNS = "returns the product"
NOTHING = "does nothing else"
FAILS = "It fails if @twice does anything else"
FREE = "It depends neither on the names of values nor on other functions"
AROUND = "which may stand before or after @twice"
RUNS = "filechecked(text, directives) with directives of yours"
GIVEN = "a module that contains a public function @twice with two parameters of tensor<2x3xf64>"

M, T = "tensor<2x3xf64>", "tensor<3x2xf64>"
MUL = f"toy.mul {{}}, {{}} : ({M}, {M}) -> {M}"


def function(
    *lines: str, name: str = "twice", a: str = "%a", b: str = "%b", result: str = M
) -> str:
    """A function of two matrices."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"  toy.func @{name}({a}: {M}, {b}: {M}) -> {result} {{\n{body}  }}\n"


def module(*functions: str) -> str:
    return f"builtin.module {{\n{''.join(functions)}}}\n"


def right(name: str = "twice", a: str = "%a", b: str = "%b", p: str = "%0") -> str:
    lines = f"{p} = {MUL.format(a, b)}", f"toy.return {p} : {M}"
    return function(*lines, name=name, a=a, b=b)


def unary(op: str, of: str, given: str, result: str) -> str:
    return f"toy.{op} {of} : {given} to {result}"


OTHER = function(f"%0 = {unary('transpose', '%a', M, T)}", f"toy.return %0 : {T}", name="other",
                 result=T)  # fmt: skip
SUM = f"toy.add %a, %b : ({M}, {M}) -> {M}"
PRODUCT, RETURN = f"%0 = {MUL.format('%a', '%b')}", f"toy.return %0 : {M}"
GOOD = [
    (module(right()), PASSES, "is what @twice should be"),
    (module(right(a="%x", b="%y", p="%product")), FREE, "has other names for its values"),
    (module(right(a="%arg0", b="%arg1", p="%2")), FREE, "has other names for its values"),
    (module(right(a="%b", b="%a", p="%1")), FREE, "has other names for its values"),
    (module(right(a="%x_1", b="%B", p="%p_1")), FREE, "has names with `_` and capitals"),
    (module(right(a="%a.1", b="%x-y", p="%$p")), FREE, "has other names that MLIR allows"),
    (module(OTHER, right()), AROUND, "has another function before @twice"),
    (module(right(), OTHER), AROUND, "has another function after @twice"),
    (
        module(right("twice_more"), OTHER, right(p="%7"), right("last")),
        AROUND,
        "has more functions",
    ),
]
TWO = (f"%0 = {unary('transpose', '%a', M, T)}", f"%1 = {unary('transpose', '%b', M, T)}",
       f"%2 = toy.mul %0, %1 : ({T}, {T}) -> {T}", f"%3 = {unary('transpose', '%2', T, M)}",
       f"toy.return %3 : {M}")  # fmt: skip
BAD = [
    (module(function(*TWO)), FAILS, "leaves the transposes where they were"),
    (module(function(PRODUCT, f"%1 = {unary('transpose', '%0', M, T)}",
                     f"%2 = {unary('transpose', '%1', T, M)}", f"toy.return %2 : {M}")),
     FAILS, "leaves two transposes after the product"),
    (module(function(f"%0 = {SUM}", RETURN)), PASSES, "adds"),
    (module(function(f"%0 = {MUL.format('%a', '%a')}", RETURN)), PASSES,
     "multiplies the first parameter by itself"),
    (module(function(f"%0 = {MUL.format('%b', '%b')}", RETURN)), PASSES,
     "multiplies the second parameter by itself"),
    (module(function(f"%0 = {MUL.format('%b', '%a')}", RETURN)), PASSES,
     "multiplies in the other order"),
    (module(function(PRODUCT, f"toy.return %a : {M}")), RETURNS, "returns the first parameter"),
    (module(function(PRODUCT, f"%1 = {SUM}", f"toy.return %1 : {M}")), NOTHING,
     "returns a sum, after the product"),
    (module(function(PRODUCT, f"toy.print %0 : {M}", RETURN)), NOTHING, "prints the product"),
    (module(function(f"toy.print %a : {M}", PRODUCT, RETURN)), NOTHING, "prints a parameter"),
    (module(function(f"%1 = {unary('transpose', '%a', M, T)}", PRODUCT, RETURN)), NOTHING,
     "leaves a transpose that nobody needs"),
    (module(function(f"%p = {MUL.format('%p1', '%p2')}", f"toy.return %p1 : {M}", a="%p1",
                     b="%p2")),
     RETURNS, "returns a parameter, whose name begins with that of the product"),
    (module(function(f"%0 = {MUL.format('%ab', '%ab')}", RETURN, a="%ab", b="%a")), PASSES,
     "multiplies the first parameter by itself; its name begins with that of the second"),
    (module(right("other"), function(*TWO)), AROUND, "is right in @other and not in @twice"),
    (module(function(*TWO), right("other")), AROUND, "is right in @other and not in @twice"),
    (module(function(*TWO), right("twice_more")), AROUND, "is right only in @twice_more"),
    (module(right("twice_more"), function(*TWO)), AROUND, "is right only in @twice_more"),
]  # fmt: skip


@checks("u10.tested", spec=[PASSES, RETURNS, NOTHING, FAILS, FREE, AROUND, GIVEN,
                            "Test whether the passes turned `twice` into what they should",
                            RUNS])  # fmt: skip
def right_texts_pass_and_wrong_ones_fail(tested):
    """Harmless variants of the right text, and one text for each thing that can go wrong."""
    return judged(tested, GOOD, BAD)


def judged(tested: Any, good: Sequence[Any], bad: Sequence[Any]) -> str:
    """The answer is True for the good texts and False for the bad ones."""
    for wanted, texts in ((True, good), (False, bad)):
        for text, spec, words in texts:
            got = tested(text)
            if not isinstance(got, (bool, np.bool_)):
                raise Wrong("The function must return what `filechecked` returns.", program=text,
                            got=said(got), expected="True or False", spec=spec)  # fmt: skip
            if got != wanted:
                does = "fails but must pass" if wanted else "passes but must fail"
                raise Wrong(f"Your test {does}: this text {words}.", program=text, got=str(got),
                            expected=str(wanted), spec=spec)  # fmt: skip
    return f"{len(good)} right texts, {len(bad)} wrong ones"


assert TWICE.count("transpose") == 3
