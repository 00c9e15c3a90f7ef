"""Visible checks of unit 17 about a rewrite rule of tinygrad. Next room: ../hidden.py."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib.plugins.staged import Staged, kinds_of, read_staged, run_staged

STORE = "Store whole numbers in 8 bits between kernels if they are sure to fit"
RETURNS = "rewritten(program, rules), where rules is your PatternMatcher"
LINES = "lines of UOps, as above"
READ = "Where a kernel leaves numbers for another one, an `index` reads a `stage`"
FITS = "If these numbers are of type int16, int32 or int64 and tinygrad's bounds say that all of"
READERS = "The readers get the type that they got before"
REST = "Everything else stays as it is: numbers that may not fit, other types, and a `local` stage"
SAME = "The program computes the same result"

WRITES = (
    "x = param {given} 12\ni = range 12\na = index x i\nb = cast a {kind}\nc = mul b {factor}\n"
    "d = add c {more}\ns = {stage} d i\nj = range 12\nt = index s j\n"
)
READS = "u = mul t 3\nv = sum u j"


def small(given="int8", kind="int32", factor="1", more="0", stage="stage", reads=READS) -> str:
    text = WRITES.format(given=given, kind=kind, factor=factor, more=more, stage=stage)
    return f"{text}{reads}\n"


def of_lt(kind: str) -> str:
    """0 and 1, as numbers of this type, which two kernels share."""
    cast = f"c = cast b {kind}\n" if kind != "bool" else ""
    return ("x = param int8 12\ni = range 12\na = index x i\nb = lt a 5\n"
            f"{cast}s = stage {'c' if cast else 'b'} i\nj = range 12\nt = index s j\n"
            "u = cast t int32\nv = sum u j\n")  # fmt: skip


# A program, the types that its stages hold afterwards, and the sentence that says so.
CASES: list[tuple[str, str, str, str]] = [
    ("numbers of int8, cast to int32", small(), "int8", FITS),
    ("numbers of int8, cast to int16", small(kind="int16"), "int8", FITS),
    ("numbers of int8, cast to int64", small(kind="int64"), "int8", FITS),
    ("numbers from 0 to 255", small(given="uint8"), "int32", REST),
    ("numbers from -128 to 127, of a uint8", small(given="uint8", more="-128"), "int8", FITS),
    ("numbers from -127 to 128", small(more="1"), "int32", REST),
    ("numbers from -129 to 126", small(more="-1"), "int32", REST),
    ("numbers from -256 to 254", small(factor="2"), "int32", REST),
    ("numbers that stay within the kernel", small(stage="local"), "", REST),
    ("numbers of int8", small(kind="int8"), "int8", REST),
    ("numbers of uint8", small(given="uint8", kind="uint8"), "uint8", REST),
    *((f"0 and 1 as {kind}", of_lt(kind), kind, REST)
      for kind in ("uint8", "uint16", "uint32", "uint64", "bool", "float32")),
    *((f"0 and 1 as {kind}", of_lt(kind), "int8", FITS) for kind in ("int16", "int32", "int64")),
    ("numbers that fit, within the kernel", small(kind="int16", stage="local"), "", REST),
    ("numbers with two ranges", "x = param int8 4\ni = range 4\na = index x i\nk = range 3\n"
     "b = index x k\nc = cast a int32\nd = cast b int32\ne = max c d\ns = stage e i k\n"
     "j = range 4\nl = range 3\nt = index s j l\nu = mul t 3\nv = sum u j l\n", "int8", FITS),
    ("floats", small(kind="float32"), "float32", REST),
    ("floats that are whole numbers", "x = param int8 12\ni = range 12\na = index x i\n"
     "b = cast a float32\ns = stage b i\nj = range 12\nt = index s j\nu = mul t 0.5\n",
     "float32", REST),
    ("two readers", small(reads="k = range 12\nw = index s k\nu = sum t j\nv = sum w k\n"
                          "y = add u v"), "int8", READERS),
    ("a reader that multiplies by 100", small(reads="u = mul t 100\nv = add u 1"), "int8",
     READERS),
    ("two stages, of which one fits", small(reads="u = mul t 3\nr = stage u j\nk = range 12\n"
                                            "w = index r k\ny = sum w k"), "int32, int8", FITS),
]  # fmt: skip


@checks("plugins.narrowed", spec=[STORE, LINES, RETURNS, READ, FITS, READERS, REST, SAME])
def one_program_for_each_type(narrowed):
    """The values are the same, and each stage has the type that the text asks for."""
    for what, text, wanted, spec in CASES:
        after = kept_values(narrowed, text)
        if (got := stored_types(after)) != wanted:
            raise Wrong(f"For {what}, a stage must hold {wanted or 'nothing'}, not "
                        f"{got or 'nothing'}.", program=text, got=as_text(after),
                        spec=spec)  # fmt: skip
        kept_local(text, after)
    return f"{len(CASES)} programs"


def stored_types(lines: Sequence[Staged], op: str = "stage") -> str:
    """The types of what one kernel writes for another, or keeps."""
    kinds = kinds_of(lines)
    return ", ".join(sorted(kinds[line.name] for line in lines if line.op == op))


def kept_local(text: str, after: list[Staged]) -> None:
    """What stays within a kernel has the type that it had, and an `index` reads what is stored."""
    both, wrong = (read_staged(text), after), partial(Wrong, program=text, got=as_text(after))
    old, new = (stored_types(lines, "local") for lines in both)
    if old != new:
        raise wrong(f"A `local` stage held {old} and holds {new or 'nothing'} now.", spec=REST)
    many, now = map(_numbers, both)
    if many != now:
        raise wrong(f"The stages stored {many} numbers and store {now} now: a stage has its value, "
                    "and then its ranges.", spec=REST)  # fmt: skip
    ops = {line.name: line.op for line in after}
    for line in after:
        if line.op == "index" and ops[str(line.operands[0])] not in ("param", "stage", "local"):
            raise wrong(f"`{line}` does not read a stage; cast what the `index` has read, not the "
                        "stage.", spec=READ)  # fmt: skip


def _numbers(lines: Sequence[Staged]) -> list[int]:
    """How many numbers each stage stores: none if what follows its value is no range."""
    sizes = {line.name: line.size if line.op == "range" else 0 for line in lines}
    return sorted(prod(sizes.get(str(x), 0) for x in line.operands[1:]) for line in lines
                  if line.op == "stage")  # fmt: skip


def as_text(lines: list[Staged]) -> str:
    return "".join(f"{line}\n" for line in lines)


def kept_values(narrowed: Any, text: str, seed: int = 0) -> list[Staged]:
    """The lines after the rules, which compute what the program computed, of the same type."""
    got = narrowed(text)
    if not isinstance(got, str):
        raise Wrong("The function must return the text of a program.", program=text,
                    got=returned(got), spec=RETURNS)  # fmt: skip
    wrong = partial(Wrong, program=text, got=got[:2000], spec=SAME)
    try:
        after = read_staged(got)
    except ValueError as error:
        raise wrong(f"The returned text is not a program: {error}.", spec=RETURNS) from None
    old, new = (kinds_of(lines)[lines[-1].name] for lines in (read_staged(text), after))
    if old != new:
        raise wrong(f"The last line was of type {old} and is {new or 'unknown'} now.", spec=READERS)
    for given, wanted in meaning(text, seed):
        if len(params(after)) != len(given):
            raise wrong("The program must read the same arguments.")
        try:
            result = np.squeeze(run_staged(after, dict(zip(params(after), given, strict=True))))
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise wrong(f"The returned program cannot be run: {error}.") from None
        if not np.array_equal(wanted, result):
            raise wrong(f"With x = {given[0].tolist()}, the result is {result.tolist()} but must "
                        f"be {wanted.tolist()}.")  # fmt: skip
    return after


@cache
def meaning(text: str, seed: int) -> list[tuple[list[np.ndarray], np.ndarray]]:
    """What the program computes from the extremes of its arguments, and from random ones."""
    before, results = read_staged(text), []
    for extreme in (True, False):
        given = arrays(before, extreme, seed)
        values = dict(zip(params(before), given, strict=True))
        results.append((given, np.squeeze(run_staged(before, values))))
    return results


def params(lines: list[Staged]) -> list[str]:
    return [line.name for line in lines if line.op == "param"]


def arrays(lines: list[Staged], extreme: bool, seed: int) -> list[np.ndarray]:
    """Arguments of a program: the extremes of their types, or random numbers."""
    rng, given = np.random.default_rng(seed), []
    for line in [line for line in lines if line.op == "param"]:
        limits = np.iinfo(line.kind)
        ends = np.resize([limits.min, limits.max], line.size)
        numbers = ends if extreme else rng.integers(limits.min, limits.max + 1, line.size)
        given.append(numbers.astype(line.kind))
    return given


# What a number of each type may be cast to without being wrapped around.
WIDER = {
    "int8": ("int8", "int16", "int32", "int64", "float32"),
    "uint8": ("uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32"),
    "bool": ("bool", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
}


@st.composite
def staged(draw: DrawFn, kernels: int = 2) -> str:
    """Kernels one after the other, with one range or two, each of which casts, clips, shifts or
    scales what it reads, or compares it. Nothing wraps around: of that, tinygrad's bounds are
    false."""
    given, wide = draw(st.sampled_from(["int8", "int8", "uint8"])), draw(st.booleans())
    lines, kind = [f"x = param {given} 6"], given
    for k in range(draw(st.integers(1, kernels))):
        at = f"i{k} h{k}" if wide else f"i{k}"
        lines += [f"i{k} = range 6", *([f"h{k} = range 2"] if wide else [])]
        lines.append(f"r{k} = index " + (f"s{k - 1} {at}" if k else f"x i{k}"))
        value = f"r{k}"
        if draw(st.integers(0, 4)) == 4 and kind != "bool":
            lines.append(f"b{k} = lt {value} {draw(st.integers(0, 9))}")
            value, kind = f"b{k}", "bool"
        if kind in WIDER:
            kind = draw(st.sampled_from(WIDER[kind]))
            lines.append(f"c{k} = cast {value} {kind}")
            value = f"c{k}"
        if wide and not k:  # or what is stored depends on one range alone
            lines += ["p = index x h0", "q = lt p 3", f"z = cast q {kind}", f"m = max {value} z"]
            value = "m"
        for step in range(draw(st.integers(0, 2)) if kind in ("int32", "int64", "float32") else 0):
            op = draw(st.sampled_from(["mul", "add", "max"]))
            number = draw(st.integers(-3, 3)) if op == "mul" else draw(st.integers(-140, 140))
            lines.append(f"v{k}_{step} = {op} {value} {number}{'.0' * (kind == 'float32')}")
            value = f"v{k}_{step}"
        stage = draw(st.sampled_from(["stage", "stage", "stage", "local"]))
        lines.append(f"s{k} = {stage} {value} {at}")
    ends = ["j = range 6", *(["l = range 2"] if wide else []), f"t = index s{k} j{' l' * wide}",
            "n = cast t int64", "u = mul n 2", *(["v = sum u j l"] if wide else [])]  # fmt: skip
    return "\n".join([*lines, *ends]) + "\n"


@checks("plugins.narrowed", given=staged(), examples=30, spec=[SAME, FITS, READERS, REST, READ])
def random_programs_keep_their_meaning(narrowed, text):
    """The values are the same, and what may not change its type has it still."""
    after = kept_values(narrowed, text)
    old, new = (stored_types(lines).split(", ") for lines in (read_staged(text), after))
    for kind in sorted({*old, *new} - {"int8", "int16", "int32", "int64"}):
        if old.count(kind) != new.count(kind):
            raise Wrong(f"There were {old.count(kind)} stages of {kind}, and now there are "
                        f"{new.count(kind)}.", program=text, got=as_text(after),
                        spec=REST)  # fmt: skip
    kept_local(text, after)
