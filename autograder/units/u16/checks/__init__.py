"""Visible checks of unit 16. Here: softmaxes in StableHLO.

`Writer` writes a program and knows where its softmaxes are, so no check looks for one.
texts.py: what is handed in as text. Next room: texts.py.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from lessons.u16.stablehlo import SMALL, Program, parsed, shown

FIND = "Find every softmax of a StableHLO program"
FORM = "the name of the result of each softmax, and its axis"
DIVIDE = "A softmax is a `divide` of e by s"
EXPONENTIAL = "The operand e is an `exponential` of any value"
SAME = "The operand s is the sum of this same value e along one axis"
REPEATED = "repeated along that axis again by one `broadcast_in_dim` or several"
DIMS = "axis k of the operand becomes axis dims[k] of the result"
SHAPE = "The shape does not tell along which axis a sum is repeated"
ONE = "A sum along several axes does not make a softmax"
ALL = [FIND, FORM, DIVIDE, EXPONENTIAL, SAME, REPEATED, DIMS, SHAPE, ONE]

background("u16.softmaxes", "the row of each value, by name, as above",
           because="what the argument is")  # fmt: skip
background("u16.softmaxes", "All axes of the inputs have two elements or more",
           because="what the programs are like")  # fmt: skip


class Writer:
    """A program in the making, and the softmaxes that were put into it."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.program: Program = {}
        self.due: dict[str, int] = {}
        self.near: dict[str, str] = {}  # what is none, and the words that say so
        self.names = self.rng.sample([f"%{k}" for k in range(10, 400)], 200)

    def add(self, op: str, *operands: str, shape: list[int] | None = None, **more: Any) -> str:
        name = self.names.pop()
        sizes = list(self.shape(operands[0]) if shape is None else shape)
        self.program[name] = {"op": op, "operands": list(operands), "shape": sizes, **more}
        return name

    def shape(self, name: str) -> list[int]:
        return self.program[name]["shape"]

    def reduced(self, x: str, dims: list[int], join: str = "add") -> str:
        shape = [size for k, size in enumerate(self.shape(x)) if k not in dims]
        return self.add("reduce", x, shape=shape, dims=dims, **{"with": join})

    def repeated(self, value: str, shape: list[int], axes: list[int]) -> str:
        """The value as a larger one, whose axes `axes` are those of the value: in one step, or
        through values of the same rank, in any order of axes, with axes of length one."""
        if self.rng.random() < 0.7:
            order = list(range(len(shape)))
            if self.rng.random() < 0.4:
                self.rng.shuffle(order)
            thin = [shape[k] if k in axes else 1 for k in order]
            places = [order.index(k) for k in axes]
            value = self.add("broadcast_in_dim", value, shape=thin, dims=places)
            if self.rng.random() < 0.4:  # larger already, and once more only in another order
                wide = [shape[k] for k in order]
                value = self.add("broadcast_in_dim", value, shape=wide, dims=[*range(len(order))])
            axes = order
        return self.add("broadcast_in_dim", value, shape=shape, dims=axes)

    def around(self, x: str) -> str:
        """Something that is computed of x and is no softmax."""
        match self.rng.randrange(5):
            case 0:
                return self.add("tanh", x)
            case 1:
                return self.add("multiply", x, x)
            case 2:
                return self.add("divide", x, self.add("exponential", x))
            case 3:
                return self.add("exponential", x)
        return self.add("add", x, self.add("negate", x))

    def exponential(self, x: str, axis: int) -> str:
        """Of x, of x less its maximum, or of x less something else."""
        match self.rng.randrange(3):
            case 0:
                return self.add("exponential", x)
            case 1:
                top = self.reduced(x, [axis], "maximum")
                rest = [k for k in range(len(self.shape(x))) if k != axis]
                spread = self.repeated(top, self.shape(x), rest)
                return self.add("exponential", self.add("subtract", x, spread))
        return self.add("exponential", self.add("subtract", x, self.around(x)))

    def softmax(self, x: str, axis: int) -> str:
        e, rest = self.exponential(x, axis), self.rest(x, axis)
        total = self.repeated(self.reduced(e, [axis]), self.shape(x), rest)
        if self.rng.random() < 0.3:
            self.around(e)  # another reader
        name = self.add("divide", e, total)
        self.due[name] = axis
        if self.rng.random() < 0.15:
            again = self.add("divide", e, total)
            self.due[again] = axis
        return name

    def rest(self, x: str, *axes: int) -> list[int]:
        return [k for k in range(len(self.shape(x))) if k not in axes]

    def near_miss(self, x: str, axis: int) -> str:
        """Like a softmax, but for one thing."""
        e, rest, shape = self.exponential(x, axis), self.rest(x, axis), self.shape(x)
        kind = self.rng.choice(list(MISSES))
        alike = [k for k in rest if shape[k] == shape[axis]]
        if kind == "swapped" and (len(rest) < 2 or shape[rest[0]] != shape[rest[1]]):
            kind = "elsewhere"
        if kind == "elsewhere" and not alike:
            kind = "maximum"
        name = MISSES[kind][0](self, x, e, axis, rest, shape)
        self.near[name] = MISSES[kind][1]
        return name


def _elsewhere(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    """The sum is repeated along another axis of the same length."""
    taken = w.rng.choice([k for k in rest if shape[k] == shape[axis]])
    axes = [axis if k == taken else k for k in rest]
    return w.add("divide", e, w.repeated(w.reduced(e, [axis]), shape, axes))


def _swapped(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    """Two of the axes that stay change places."""
    axes = [rest[1], rest[0], *rest[2:]]
    return w.add("divide", e, w.repeated(w.reduced(e, [axis]), shape, axes))


def _max(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    join = w.rng.choice(("maximum", "minimum", "multiply"))
    return w.add("divide", e, w.repeated(w.reduced(e, [axis], join), shape, rest))


def _other(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    """The sum of another exponential, of what e is the exponential of, or of e's own one."""
    others = [w.add("exponential", w.add("tanh", x)), x, w.add("exponential", e),
              w.add("multiply", e, e)]  # fmt: skip
    return w.add("divide", e, w.repeated(w.reduced(w.rng.choice(others), [axis]), shape, rest))


def _no_exponential(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    e = w.add(w.rng.choice(("logistic", "abs", "exponential_minus_one")), x)
    return w.add("divide", e, w.repeated(w.reduced(e, [axis]), shape, rest))


def _two(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    second = w.rng.choice(rest)
    both = sorted((axis, second))
    return w.add("divide", e, w.repeated(w.reduced(e, both), shape, w.rest(x, *both)))


def _reversed(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    return w.add("divide", w.repeated(w.reduced(e, [axis]), shape, rest), e)


def _product(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    op = w.rng.choice(("multiply", "subtract", "add"))
    return w.add(op, e, w.repeated(w.reduced(e, [axis]), shape, rest))


def _shifted(w: Writer, x: str, e: str, axis: int, rest: list[int], shape: list[int]) -> str:
    """Something happens to the sum on its way."""
    total = w.reduced(e, [axis])
    if w.rng.random() < 0.5:
        op = w.rng.choice(("add", "sqrt", "negate"))
        total = w.add(op, *[total] * (2 if op == "add" else 1))
        return w.add("divide", e, w.repeated(total, shape, rest))
    wide = w.repeated(total, shape, rest)
    return w.add("divide", e, w.add("add", wide, wide))


MISSES: dict[str, tuple[Callable[..., str], str]] = {
    "elsewhere": (_elsewhere, SHAPE),
    "swapped": (_swapped, DIMS),
    "maximum": (_max, SAME),
    "other": (_other, SAME),
    "no exponential": (_no_exponential, EXPONENTIAL),
    "two axes": (_two, ONE),
    "reversed": (_reversed, DIVIDE),
    "product": (_product, DIVIDE),
    "shifted": (_shifted, SAME),
}


def written(seed: int, parts: int) -> Writer:
    """A program of that many parts: softmaxes, what only looks like one, and other things."""
    w = Writer(seed)
    rank = w.rng.choice((2, 2, 3, 3, 4))
    shape = [w.rng.choice((2, 3, 3, 4))] * rank
    if w.rng.random() < 0.4:
        shape = [w.rng.choice((2, 3, 4)) for _ in range(rank)]
    w.program["%arg0"] = {"op": "input", "operands": [], "shape": shape}
    values = ["%arg0"]
    for _ in range(parts):
        x, axis = w.rng.choice(values), w.rng.randrange(rank)
        part = w.rng.choice((w.softmax, w.near_miss, w.near_miss))
        values.append(part(x, axis) if w.rng.random() < 0.8 else w.around(x))
    return w


def needed(program: Program, name: str) -> Program:
    """The rows that a value depends on, or all if there is no such value."""
    names = {name} if name in program else set(program)
    for other, row in reversed(program.items()):
        if other in names:
            names.update(row["operands"])
    return {other: row for other, row in program.items() if other in names}


def as_it_must(softmaxes: Any, program: Program, due: dict[str, int],
               near: dict[str, str] | None = None) -> None:  # fmt: skip
    """The answer for a program is this."""
    got = softmaxes(copy.deepcopy(program))

    def wrong(problem: str, about: str = "", **more: Any) -> Wrong:
        """Shows of the program what that value depends on, or all of it."""
        return Wrong(problem, program=shown(needed(program, about)), **more)

    if not isinstance(got, dict) or not all(isinstance(name, str) for name in got):
        raise wrong("The answer must be a dict with names.", got=returned(got), spec=FORM)
    for name, axis in got.items():
        if name not in due:
            why = (near or {}).get(name, FIND)
            problem = f"{name} is no softmax." if name in program else f"No value is called {name}."
            raise wrong(problem, name, got=returned(got), expected=repr(due), spec=why)
        if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
            raise wrong("An axis must be a whole number.", name, got=returned(axis), spec=FORM)
        if axis != due[name]:
            raise wrong(f"This is not the axis of {name}.", name, got=str(axis),
                        expected=str(due[name]), spec=FORM)  # fmt: skip
    for name in due:
        if name not in got:
            raise wrong(f"{name} is a softmax and must be found.", name, got=returned(got),
                        expected=repr(due), spec=FIND)  # fmt: skip


@checks("u16.softmaxes", spec=ALL)
def the_small_one(softmaxes):
    """The softmax of a square that JAX wrote."""
    as_it_must(softmaxes, parsed(SMALL), {"%8": 1})


@checks("u16.softmaxes", given=st.integers(0, 999), examples=120, what="random programs", spec=ALL)
def random_programs(softmaxes, seed):
    """Programs with softmaxes, and with divisions that are none."""
    w = written(seed, 1 + seed % 4)
    as_it_must(softmaxes, w.program, w.due, w.near)
