"""Visible checks of unit 5 on LLVM IR that a student writes: our interpreter runs it."""

from __future__ import annotations

import re

import numpy as np

from autograder.check.framework import Wrong, checks
from course_lib.llvm.inspect.fma import parse
from course_lib.llvm.inspect.listing import body_of, lines_of, types_of
from course_lib.llvm.inspect.llvm_interp import Execution, execute

LONGEST = 50_000  # characters
STEPS = 100_000  # instructions, for at most 400 elements
SIZES = (4, 8, 12, 64)
HEAD = "Return the text of one function with the head `define float @dot(ptr %x, ptr %y, i64 %n)`"
PRODUCT = "returns the dot product of n floats at `%x` and n floats at `%y`"
LENGTHS = "where n is a multiple of 4 and at least 4"
CHAIN = "The chain for n floats is at most n / 4 + 4 operations long; four sums achieve that"
ONCE = "Each element is read once, and nothing is stored"
VECTORS = "Use scalar instructions only, no vectors"
CALLS = "call nothing but `llvm.fma` and `llvm.fmuladd`"
WRITE = "Write LLVM IR for a dot product whose chain is short"
ALL = (HEAD, WRITE, PRODUCT, ONCE, VECTORS, CALLS)


def ran(text: str, size: int) -> Execution:
    """A call of the text on small whole numbers, which every order adds up to the same sum."""
    rng = np.random.default_rng(size)
    x, y = (rng.integers(-4, 5, size).astype(np.float32) for _ in range(2))
    given = x.copy(), y.copy()
    try:
        execution = execute(text, *given, size, steps=STEPS)
    except ValueError as error:
        raise Wrong(
            f"The function must run for n = {size}: {error}",
            program=numbered(text),
            spec=_broken(str(error)),
        ) from None
    if execution.value != x @ y:
        raise Wrong(
            f"For n = {size}, the function must return the dot product.",
            program=text, got=str(execution.value), expected=str(x @ y), spec=PRODUCT,
        )  # fmt: skip
    if execution.stores or any((a != b).any() for a, b in zip(given, (x, y), strict=True)):
        raise Wrong("Nothing may be stored.", program=text, spec=ONCE)
    return execution


def _broken(error: str) -> str:
    """The sentence that a text breaks which our interpreter refuses with these words, if one."""
    code = error.partition("`")[2].partition("`")[0]
    if ": byte " in error or "come to an end" in error:
        return PRODUCT
    if "from its line `define`" in error:
        return HEAD
    if re.search(r"<\s*(vscale x )?\d+ x ", code):
        return VECTORS
    if re.search(r"\bcall\b", code):
        return CALLS
    return ONCE if re.search(r"\b(alloca|store|atomicrmw|cmpxchg)\b", code) else ""


def numbered(text: str) -> str:
    """With the numbers that an error names."""
    return "\n".join(f"{n:3}  {line}" for n, line in enumerate(text.splitlines(), 1))


@checks("u05.four_sums", spec=ALL)
def is_a_function_that_llvm_takes(four_sums):
    """The text is one function with the head that was asked for, and LLVM accepts it."""
    text = checked(four_sums())
    ran(text, 4)
    try:
        parse(tame(text))
    except ValueError as error:
        raise Wrong(f"LLVM must accept the text: {error}", program=text, spec=WRITE) from None


def checked(text: object) -> str:
    """A text with the head that was asked for."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Wrong("The answer must be a text of LLVM IR.", got=type(text).__name__, spec=HEAD)
    pointer = r"ptr (noalias |readonly |nocapture |nonnull )*"
    head = rf"define (dso_local )?float @dot\({pointer}%x, {pointer}%y, i64 %n\).*"
    if not any(re.fullmatch(head, line) for _, line in lines_of(text)):
        raise Wrong("The function must have the head that the text gives.", program=text, spec=HEAD)
    return text


def tame(text: str) -> str:
    """The head that was asked for, the types and instructions that our reader knows, and what they
    call: nothing else of a text of unknown origin gets to LLVM."""
    lines = []
    for name, block in body_of(text)[1].items():
        lines += [f"{name}:" if name != "0" else "", *(line.text for line in block)]
    body = "\n".join(lines)
    called = sorted(set(re.findall(r"@(llvm\.(?:fma|fmuladd)\.f(32|64))\(", body)))
    kinds = {"32": "float", "64": "double"}
    declared = [f"declare {k} @{n}({k}, {k}, {k})" for n, k in ((n, kinds[w]) for n, w in called)]
    types = [f"{name} = type {kind}" for name, kind in types_of(text).items()]
    head = "define float @dot(ptr %x, ptr %y, i64 %n) {"
    return "\n".join([*types, head, body, "}", *declared])


@checks("u05.four_sums", spec=[LENGTHS, *ALL])
def computes_the_dot_product(four_sums):
    """The dot product, for several lengths."""
    text = checked(four_sums())
    for size in SIZES:
        ran(text, size)


@checks("u05.four_sums", spec=ALL)
def reads_each_element_once(four_sums):
    """As many loads as elements."""
    text = checked(four_sums())
    for size in SIZES:
        if (loads := ran(text, size).loads) != 2 * size:
            raise Wrong(
                f"For n = {size}, each of the {2 * size} elements must be read once.",
                program=text, got=f"{loads} loads", expected=f"{2 * size} loads", spec=ONCE,
            )  # fmt: skip


@checks("u05.four_sums", spec=[CHAIN, *ALL])
def the_chain_is_short(four_sums):
    """The longest sequence of float operations in which each needs the one before."""
    text = checked(four_sums())
    for size in SIZES:
        if (chain := ran(text, size).chain) > size // 4 + 4:
            raise Wrong(
                f"For n = {size} the chain may have at most {size // 4 + 4} operations.",
                program=text, got=f"{chain} operations", spec=CHAIN,
            )  # fmt: skip
    return f"{SIZES[-1]} products, a chain of {ran(text, SIZES[-1]).chain}"
