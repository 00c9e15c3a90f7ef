"""Visible checks of the lab. Here: programs with sums, and what they mean.

    Chain((2, 3), ("t", 1)).source("a")    ->  "sum(transpose(a), 1)"; .values has its arrays

Checks need xDSL where they are run, so it is imported there. Next room: operation.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.check.properties import raises
from course_lib.mlir.toy.source import ToyError

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Chain:
    """Operations on one array, one after another: "t" transposes, "+" and "*" have the value twice
    as operands, a number sums along that axis."""

    shape: Shape
    steps: tuple[Any, ...]

    @property
    def values(self) -> list[np.ndarray]:
        """The array, and what each operation makes of it."""
        values = [start(self.shape)]
        for step in self.steps:
            last = values[-1]
            values.append(last.sum(step) if isinstance(step, int) else
                          {"t": last.T, "+": last + last, "*": last * last}[step])  # fmt: skip
        return values

    def source(self, name: str) -> str:
        """The expression that computes the last value from a variable."""
        for step in self.steps:
            calls = {"t": f"transpose({name})", "+": f"twice0({name})", "*": f"twice1({name})"}
            name = calls.get(step, f"sum({name}, {step})")
        return name

    def module(self, unknown: int = False) -> str:
        """A module whose @main prints the last value of its parameter. The shapes of all results
        are stated, or none is."""
        types = [typed(None if unknown and k else value.shape)
                 for k, value in enumerate(self.values)]  # fmt: skip
        lines = []
        for k, (step, given, made) in enumerate(zip(self.steps, types, types[1:], strict=False)):
            texts = {"t": f"toy.transpose %{k}", "+": f"toy.add %{k}, %{k}",
                     "*": f"toy.mul %{k}, %{k}"}  # fmt: skip
            words = f"{texts.get(step, f'toy.sum %{k} along {step}')} :"
            kinds = f"({given}, {given}) -> {made}" if step in ("+", "*") else f"{given} to {made}"
            lines.append(f"%{k + 1} = {words} {kinds}")
        return main([*lines, f"toy.print %{len(self.steps)} : {types[-1]}"], f"%0: {types[0]}")


def start(shape: Shape) -> np.ndarray:
    """Numbers that are all different: 1, 3, 5 and so on."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) * 2.0 + 1


def typed(shape: Shape | None) -> str:
    return f"tensor<{'*x' if shape is None else ''.join(f'{n}x' for n in shape or ())}f64>"


def main(lines: list[str], parameters: str = "") -> str:
    """A module of one function."""
    body = "".join(f"    {line}\n" for line in [*lines, "toy.return"])
    return f"builtin.module {{\n  toy.func @main({parameters}) {{\n{body}  }}\n}}\n"


def drawn(rng: np.random.Generator, longest: int = 5, rank: int = 4) -> Chain:
    """A chain with at least one sum, of an array of rank 1 to 4 with sizes from 1 to 4."""
    while True:
        left = int(rng.integers(1, rank + 1))
        shape = tuple(int(n) for n in rng.integers(1, 5, left))
        steps: list[Any] = []
        for _ in range(int(rng.integers(1, longest + 1))):
            kind = rng.integers(5)
            if kind < 2 and left:
                steps.append(int(rng.integers(left)))
                left -= 1
            else:
                steps.append("tt+*"[int(rng.integers(4))] if "*" not in steps else "t")
        if any(isinstance(step, int) for step in steps):
            return Chain(shape, tuple(steps))


def program_of(*chains: Chain) -> str:
    """A program that prints the last values of chains, each of which is a function."""
    functions = "".join(
        f"def f{k}(a) {{ return {chain.source('a')}; }}\n" for k, chain in enumerate(chains)
    )
    calls = ""
    for k, chain in enumerate(chains):
        shape, numbers = ", ".join(map(str, chain.shape)), start(chain.shape).ravel()
        calls += f"  var a{k}<{shape}> = {[*map(int, numbers)]};\n  print(f{k}(a{k}));\n"
    return f"{TWICE}{functions}def main() {{\n{calls}}}\n"


TWICE = "def twice0(a) { return a + a; }\ndef twice1(a) { return a * a; }\n"


def refused(answer: Any, program: str, place: str, spec: str) -> None:
    """The call raises ToyError, which names this place, if one is given."""
    problem = "The program is wrong, so ToyError must be raised" + ", at this place." * bool(place)
    raises(ToyError, lambda: answer(program), problem.rstrip(".") + ".", program=program, spec=spec,
           says=f"at line:{place}" if place else "")  # fmt: skip
