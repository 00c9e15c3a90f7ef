"""Visible checks of unit 10. Here: what is read in a dump, and a test that reads one.

Few answers are possible to the question about the dump, so only the grader knows the right one.
What needs xDSL is imported where it is used. Next room: products.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks, ours
from autograder.check.shown import returned
from lessons.u10.program import PAGES, TWICE, N

# ── a dump ──

WHICH = "One of the passes above is wrong. Which one, and what does it break?"
FORM = "the name of the pass, as the pages show it, and the elements of the result that are wrong"
PAIRS = "as pairs (i, j), counted from 0"
PASS = "The program computes a · b, element by element, before this pass but not after it"
ALL = "the elements of the result that are wrong after it"
NUMBERS = "The numbers in a and b are such that nothing comes out right by chance"
ORDER = "in any order"


@checks("u10.culprit", spec=[WHICH, FORM, PAIRS, PASS, ALL, NUMBERS, ORDER])
def the_pass_and_what_it_breaks(culprit):
    """The pass and the elements have the form that is asked for, and are the right ones."""
    got = culprit()
    if not isinstance(got, (tuple, list)) or len(got) != 2 or not isinstance(got[0], str):
        raise Wrong("The answer must be a name and a list of pairs.", got=returned(got), spec=FORM)
    name, elements = got[0], _elements(got[1])
    if name not in PAGES:
        raise Wrong(f"The pages show no pass that is called {name!r}.", got=name,
                    expected="one of " + ", ".join(PAGES), spec=FORM)  # fmt: skip
    right, broken = ours("u10.culprit")
    if name != right:
        early = PAGES.index(name) < PAGES.index(right)
        finds = (f"After `{name}`, the text still computes" if early else
                 f"The text before `{name}` no longer computes")  # fmt: skip
        raise Wrong(f"{finds} a · b.", got=name, spec=PASS)
    if elements != {*broken}:
        finds = ("An element of your list is right after this pass." if elements - {*broken} else
                 "An element that is wrong after this pass is not in your list.")  # fmt: skip
        raise Wrong(finds, spec=ALL, got=returned(got[1]))


def _elements(got: Any) -> set[tuple[int, int]]:
    kinds = list, tuple, set, frozenset, np.ndarray
    pairs: list[Any] = [*got] if isinstance(got, kinds) else [None]
    for pair in pairs:
        whole = isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2
        if not whole or not all(isinstance(x, (int, np.integer)) and 0 <= x < N for x in pair):
            raise Wrong(f"The elements must be pairs of numbers from 0 to {N - 1}.",
                        got=returned(got), spec=PAIRS)  # fmt: skip
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
# Some are the beginning of others, and MLIR allows more than letters.
NAMES_OF_VALUES = ("%a %b %0 %1 %2 %10 %arg0 %arg1 %arg10 %p %p1 %p11 %ab %x_1 %x %B %bB %x-y %x.y "
                   "%product $p").replace(" $", " %$").split()  # fmt: skip
CHAIN = ["%p", "%p1", "%p11"]
OTHERS = ["other", "twice_more", "a_twice", "twice2", "Twice", "twice.1", "tw", "last"]
# Lines beside the product, where q is a new value, and the type of q.
BESIDE = {
    "prints its first parameter": (f"toy.print {{a}} : {M}", ""),
    "prints its second parameter": (f"toy.print {{b}} : {M}", ""),
    "adds": (f"{{q}} = toy.add {{a}}, {{b}} : ({M}, {M}) -> {M}", M),
    "multiplies twice": (f"{{q}} = toy.mul {{a}}, {{b}} : ({M}, {M}) -> {M}", M),
    "multiplies the other way round, too": (f"{{q}} = toy.mul {{b}}, {{a}} : ({M}, {M}) -> {M}", M),
    "transposes": (f"{{q}} = toy.transpose {{b}} : {M} to {T}", ""),
    "casts": (f"{{q}} = toy.cast {{a}} : {M} to {M}", M),
    "reshapes": (f"{{q}} = toy.reshape {{a}} : {M} to tensor<6xf64>", ""),
    "has a constant": (f"{{q}} = toy.constant dense<1.0> : {M}", M),
    "calls a function": (f"{{q}} = toy.generic_call @other({{a}}, {{b}}) : ({M}, {M}) -> {M}", M),
}
BEHIND = {
    "prints the product": (f"toy.print {{p}} : {M}", ""),
    "multiplies the product": (f"{{q}} = toy.mul {{p}}, {{b}} : ({M}, {M}) -> {M}", M),
    "transposes the product": (f"{{q}} = toy.transpose {{p}} : {M} to {T}", ""),
    "casts the product": (f"{{q}} = toy.cast {{p}} : {M} to {M}", M),
}
# Something wrong: what it is about, what @twice does, and how it differs from what is right.
FAULTS: list[tuple[str, str, dict[str, str]]] = [
    (PASSES, "adds", {"op": "add"}),
    (PASSES, "multiplies in the other order", {"of": "{b}, {a}"}),
    (PASSES, "multiplies its first parameter by itself", {"of": "{a}, {a}"}),
    (PASSES, "multiplies its second parameter by itself", {"of": "{b}, {b}"}),
    (RETURNS, "returns its first parameter", {"result": "{a}"}),
    (RETURNS, "returns its second parameter", {"result": "{b}"}),
    *((NOTHING, words, {"before": words}) for words in BESIDE),
    *((NOTHING, words, {"behind": words}) for words in [*BESIDE, *BEHIND]),
    *((RETURNS, f"{words}, and returns that", {"behind": words, "result": "{q}"})
      for words, (_, type) in [*BESIDE.items(), *BEHIND.items()] if type),
    (FAILS, "leaves the transposes where they were", {"transposed": "yes"}),
]  # fmt: skip


def texts(
    rng: np.random.Generator, right: int, pairs: int, alone: bool = True
) -> list[tuple[str, bool, str, str]]:
    """Modules, whether the test passes, the sentence, and what is special: one for each fault,
    and so many in which nothing is wrong, or two things are."""
    programs = [_around(rng, {}, others=k % 2) for k in range(right)]
    faults = FAULTS if alone else []
    programs += [_around(rng, one[2], one, others=k % 3) for k, one in enumerate(faults)]
    for one in faults:
        if "of" in one[2] or one[2].get("result") in ("{a}", "{b}"):  # taken for another value
            programs += [_around(rng, one[2], one, begin=names) for names in permutations(CHAIN)]
    for _ in range(pairs):
        one, two = (FAULTS[int(k)] for k in rng.choice(len(FAULTS), 2, replace=False))
        others = int(rng.integers(2))
        programs.append(_around(rng, {**two[2], **one[2]}, one, others))
    return programs


def _around(
    rng: np.random.Generator,
    differs: dict[str, str],
    fault: Any = None,
    others: int = 0,
    begin: Sequence[str] = (),
) -> tuple[str, bool, str, str]:
    """@twice with something wrong or nothing; other functions are wrong if it is right, and right
    if it is wrong."""
    names = [OTHERS[int(k)] for k in rng.permutation(len(OTHERS))[: 3 * bool(others)]]
    functions = [_function(rng, name, {} if fault else FAULTS[1][2]) for name in names]
    functions.insert(int(rng.integers(len(functions) + 1)), _function(rng, "twice", differs, begin))
    text = f"builtin.module {{\n{''.join(functions)}}}\n"
    if fault is None:
        what = (AROUND, "has other functions") if others else (FREE, "has its own names")
        return text, True, what[0], what[1]
    return text, False, fault[0], f"{fault[1]} in @twice"


def _function(
    rng: np.random.Generator, name: str, differs: dict[str, str], begin: Sequence[str] = ()
) -> str:
    """A function of two matrices, whose values have names by chance, the first perhaps these."""
    drawn = [NAMES_OF_VALUES[int(k)] for k in rng.permutation(len(NAMES_OF_VALUES))]
    a, b, p, q, r, s = [*begin, *(one for one in drawn if one not in begin)][:6]
    op, of = differs.get("op", "mul"), differs.get("of", "{a}, {b}")
    lines = [f"{{p}} = toy.{op} {of} : ({M}, {M}) -> {M}"]
    if "transposed" in differs:
        lines = [f"{{q}} = toy.transpose {{a}} : {M} to {T}",
                 f"{{r}} = toy.transpose {{b}} : {M} to {T}",
                 f"{{s}} = toy.mul {{q}}, {{r}} : ({T}, {T}) -> {T}",
                 f"{{p}} = toy.transpose {{s}} : {T} to {M}"]  # fmt: skip
    for where, at in (("before", 0), ("behind", len(lines))):
        if where in differs:
            line, _ = {**BESIDE, **BEHIND}[differs[where]]
            lines.insert(at, line.replace("{q}", "{r}" if where == "before" else "{q}"))
    result = differs.get("result", "{p}")
    lines.append(f"toy.return {result if any(result in line for line in lines) else '{p}'} : {M}")
    body = "".join(f"    {line.format(a=a, b=b, p=p, q=q, r=r, s=s)}\n" for line in lines)
    return f"  toy.func @{name}({a}: {M}, {b}: {M}) -> {M} {{\n{body}  }}\n"


@checks("u10.tested", spec=[PASSES, RETURNS, NOTHING, FAILS, FREE, AROUND, GIVEN,
                            "Test whether the passes turned `twice` into what they should",
                            RUNS])  # fmt: skip
def right_texts_pass_and_wrong_ones_fail(tested):
    """Harmless variants of the right text, and one text for each thing that can go wrong."""
    return judged(tested, texts(np.random.default_rng(0), 16, 8))


def judged(tested: Any, cases: Sequence[tuple[str, bool, str, str]]) -> str:
    """The answer is True for the right texts and False for the wrong ones."""
    for text, wanted, spec, words in cases:
        got = tested(text)
        if not isinstance(got, (bool, np.bool_)):
            raise Wrong("The function must return what `filechecked` returns.", program=text,
                        got=returned(got), expected="True or False", spec=RUNS)  # fmt: skip
        if got != wanted:
            does = "fails but must pass" if wanted else "passes but must fail"
            raise Wrong(f"Your test {does}: this text {words}.", program=text, got=str(got),
                        expected=str(wanted), spec=spec)  # fmt: skip
    good = sum(wanted for _, wanted, *_ in cases)
    return f"{good} right texts, {len(cases) - good} wrong ones"


assert TWICE.count("transpose") == 3
