"""Visible checks of the loops, and of the whole compiler. Next room: pipeline.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Score, Wrong, checks
from autograder.check.shown import returned
from autograder.units.u10_lab_toy.checks import Chain, program_of, refused
from autograder.units.u10_lab_toy.checks.operation import meant

COMPILE = "Compile a program with sums, through loops of your own, and run it"
AFTER = ("the text of the module after `to_affine`, with your loops in it, and what the program "
         "prints")  # fmt: skip
PROGRAM = "a Toy program"
ANY = "The loops compute the sum of any operand along any axis"
NUMBER = "also where the result is a single number"
ONCE = "They load each element of the operand exactly once"
LOOPS = "the text has as many operations for a large operand as for a small one"
MEMORY = "They need no memory but that of the operand and that of the result"
GARBAGE = "The latter holds arbitrary numbers before it is written"
MAY = (
    "The program may have functions, which are called with arrays of several shapes or with structs"
)
FIELDS = "sums of the fields of a struct"
FIT = "A program in which the shapes of an operation do not fit is refused with ToyError"
UNUSED = "even if the result of that operation is not used"
THIRDS = "This earns two thirds of the points"
ALL = "All of them are for loops that load nothing but the operand and store each element"
VALUE = "the sum so far is then a value that one iteration hands to the next"

SINGLE = [((2, 3), 0), ((2, 3), 1), ((4,), 0), ((2, 3, 4), 0), ((2, 3, 4), 1), ((4, 3, 2), 2),
          ((1, 3), 1), ((2, 3, 1, 2), 3)]  # fmt: skip


@checks("u10_lab_toy.compiled", spec=[COMPILE, AFTER, PROGRAM, ANY, NUMBER, ONCE, LOOPS, MEMORY,
                                      GARBAGE, THIRDS, ALL, VALUE])  # fmt: skip
def loops_compute_the_sum(compiled):
    """The loops of a sum compute it, in memory that was full of NaN."""
    return scored(compiled, SINGLE)


def scored(compiled: Any, sums: list[tuple[tuple[int, ...], int]]) -> Score:
    """Two thirds of the points for right loops, or all of them for those without more accesses."""
    best, seen = 1.0, f"{len(sums)} sums"
    for shape, axis in sums:
        chain = Chain(shape, (axis,))
        operand, result = (value.size for value in chain.values)
        done = right_program(compiled, program_of(chain), ANY if result > 1 else NUMBER)
        times = sum(count for buffer, count in done.read.items()
                    if buffer.owner.name == "memref.get_global")  # fmt: skip
        if times != operand:
            raise Wrong(f"The operand has {operand} elements, and there are {times} loads.",
                        program=program_of(chain), spec=ONCE)  # fmt: skip
        if done.buffers != 1:
            raise Wrong(f"There are {done.buffers} buffers for one sum; its result needs one.",
                        program=program_of(chain), spec=MEMORY)  # fmt: skip
        if (done.loads, done.stores) != (operand, result):
            best = 2 / 3
            seen = (f"a sum of {operand} elements into {result} takes {done.loads} loads and "
                    f"{done.stores} stores; {operand} and {result} are enough")  # fmt: skip
    small, large = (right_program(compiled, program_of(Chain(shape, (1,))), LOOPS).operations
                    for shape in ((2, 3), (6, 7)))  # fmt: skip
    if small != large:
        raise Wrong(f"A sum of 2x3 numbers has {small} operations, one of 6x7 has {large}.",
                    program=program_of(Chain((6, 7), (1,))), spec=LOOPS)  # fmt: skip
    return Score(best, seen)


def right_program(compiled: Any, program: str, spec: str) -> Any:
    """What happened when the loops were run. They print what the program means, and so does the
    machine code."""
    from course_lib.mlir.toy.affine_interp import ran  # xDSL need not be installed

    got = compiled(program)
    if not isinstance(got, (tuple, list)) or [type(part) for part in got] != [str, str]:
        raise Wrong("The function must return two texts.", program=program, got=returned(got),
                    spec=AFTER)  # fmt: skip
    loops, said = got
    wanted = meant(program)
    try:
        done = ran(loops)
    except ValueError as error:
        raise Wrong(f"The loops cannot be run: {error}", program=program, got=loops,
                    spec=AFTER) from None  # fmt: skip
    if [array.tolist() for array in done.printed] != [array.tolist() for array in wanted]:
        garbage = any(np.isnan(array).any() for array in done.printed)
        have = [array.tolist() for array in done.printed]
        words = "what was in memory before" if garbage else f"{have}"
        raise Wrong(f"The loops must print {[array.tolist() for array in wanted]}, not {words}.",
                    program=program, got=loops, spec=GARBAGE if garbage else spec)  # fmt: skip
    lines = [line.split() for line in said.splitlines() if line.strip()]
    right = [line for array in wanted for line in _lines(array)]
    if lines != right:
        text = "".join(" ".join(line) + "\n" for line in right)
        raise Wrong("The machine code prints wrong numbers.", program=program, got=said,
                    expected=text, spec=AFTER)  # fmt: skip
    if done.buffers != done.freed:
        raise Wrong(f"There are {done.buffers} buffers, and {done.freed} of them are freed.",
                    program=program, got=loops, spec=MEMORY)  # fmt: skip
    return done


def _lines(array: np.ndarray) -> list[list[str]]:
    """The last axis of an array is a line."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    return [[f"{number:f}" for number in row] for row in rows]


# ── whole programs ──

STRUCTS = """\
struct Data { var values; var weights; }
struct Both { Data first; var rest; }
def weighted(Data d) { return sum(transpose(d.values * d.weights), 1); }
def main() {
  Both b = {{[[1, 2]], [[3, 4]]}, [5, 6, 7]};
  print(sum(weighted(b.first), 0) + sum(b.rest, 0));
}
"""
SHAPES = """\
def total(a) { return sum(sum(a, 0), 0); }
def main() {
  var y = sum([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], 1);
  print(total(y) * total(transpose([[7, 8]])));
}
"""
PROGRAMS = [
    (SHAPES, MAY),
    (STRUCTS, FIELDS),
    (program_of(Chain((2, 3, 4), ("*", "t", 0)), Chain((3, 1), ("t", "+", 1))), ANY),
    ("def main() { print([1, 2] + [3, 4]); }\n", PROGRAM),
    ("def main() { }\n", PROGRAM),
]
MISFITS = [
    ("def main() { var x = sum([[1, 2]], 0) + sum([[1, 2]], 1); print(1); }\n", UNUSED),
    ("def f(a) { return sum(a, 1); }\ndef main() { var x = f([1, 2]); print(1); }\n", UNUSED),
    ("struct S { var a; }\ndef main() { S s = {[1]}; var x = sum(s.a, 1); print(1); }\n", UNUSED),
    ("def main() { print(sum([[1, 2]], 0) * [1]); }\n", FIT),
]


@for_each("u10_lab_toy.compiled", PROGRAMS, "{} programs")
def machine_code_prints_what_the_program_means(compiled, program, spec):
    """What is printed is what the program means."""
    right_program(compiled, program, spec)


@for_each("u10_lab_toy.compiled", MISFITS, "{} programs whose shapes do not fit")
def shapes_that_do_not_fit_are_refused(compiled, program, spec):
    """A program is refused if the shapes of an operation do not fit."""
    refused(compiled, program, "", spec)
