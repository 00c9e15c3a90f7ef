"""A schedule is a value: a list of steps that can be printed, read back, kept and applied again.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> double = parse_kernel('''
... kernel @double(x: f32[8], out: f32[8]) { for n in 0..8 { out[n] = x[n] + x[n] } }''')
>>> from course_lib.schedule.steps import Split, Vectorize
>>> halves = parse_schedule('''
... split(n, 4)          // a step in a line
... vectorize(ni)
... ''')
>>> halves == Schedule((Split("n", 4), Vectorize("ni")))
True
>>> print(halves, end="")
split(n, 4)
vectorize(ni)
>>> halves.apply(double)
kernel @double(x: f32[8], out: f32[8]) {
  for no in 0..2 {
    vector ni in 0..4 {
      out[ni + 4*no] = x[ni + 4*no] + x[ni + 4*no]
    }
  }
}
<BLANKLINE>

A step that does not fit says which one it is and why:

>>> Schedule((Split("n", 4), Vectorize("n"))).apply(double)
Traceback (most recent call last):
ValueError: step 2 of 2, vectorize(n): kernel @double has no loop 'n'; it has: no, ni

Next room: `reduction.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from course_lib.arguments import check_fields, takes
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.reader import Reader
from course_lib.schedule.steps import Step, step_of


@dataclass(frozen=True)
class Schedule:
    """Steps in order. As text one in a line, which `parse_schedule` reads back."""

    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    @takes
    def apply(self, kernel: Kernel) -> Kernel:
        """The kernel after all steps; ValueError that names the first one that does not fit."""
        for number, step in enumerate(self.steps, start=1):
            try:
                kernel = step.apply(kernel)
            except ValueError as error:
                where = f"step {number} of {len(self.steps)}, {step}"
                raise ValueError(f"{where}: {error}") from error
        return kernel

    def __str__(self) -> str:
        return "".join(f"{step}\n" for step in self.steps)


@dataclass
class Script:
    """A schedule in the making: the kernel as it is by now, and the steps that made it so."""

    kernel: Kernel
    steps: list[Step] = field(default_factory=list)

    def do(self, *steps: Step) -> None:
        """Apply some steps and write them down."""
        for step in steps:
            self.kernel = step.apply(self.kernel)
            self.steps.append(step)

    @property
    def schedule(self) -> Schedule:
        return Schedule(tuple(self.steps))


class _Reader(Reader):
    tokens_of = re.compile(
        r"\s+|//[^\n]*|(?P<number>-?\d+)|(?P<name>[A-Za-z_$][\w$.]*)|(?P<mark>[(),])"
    )

    def step(self) -> Step:
        position = self.tokens[self.at][2]
        name = self.take("name")
        self.take("(")
        values = self.separated(self.value, ")")
        try:
            return step_of(name, values)
        except ValueError as error:
            raise self.error(str(error), position) from error

    def value(self) -> str | int:
        kind = self.kind()
        text = self.take("name", "number")
        return int(text) if kind == "number" else text


@takes
def parse_schedule(text: str) -> Schedule:
    """The inverse of `str(schedule)`; // begins a comment. ValueError with the line."""
    reader = _Reader(text)
    steps = []
    while reader.kind() != "end":
        steps.append(reader.step())
    return Schedule(tuple(steps))
