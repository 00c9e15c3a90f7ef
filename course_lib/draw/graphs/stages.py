"""Stages: every form that a program had on its way, as text and as a picture.

run.stage("fold").text         the graph after constant folding
run.stage("loops").text        loop nests in textbook order
run.stage("import").picture()  drawn
slider(run.stages, "mlp")      a page that walks through all of them with the arrow keys

Next room: `course_lib/compiler.py`, the front door.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.arguments import takes
from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.graphs.compare import Changes, changes
from course_lib.draw.graphs.graph import graph as draw_graph
from course_lib.draw.graphs.lines import changed_lines
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.loops.program import Program, print_program


@dataclass(frozen=True, eq=False)
class Stage:
    """`form` is a Graph, a Program, or text (LLVM IR; assembly as a function that makes it)."""

    name: str
    form: Any

    @property
    def level(self) -> str:
        """Which of the four forms it is."""
        if isinstance(self.form, Graph):
            return "graph"
        return "loops" if isinstance(self.form, Program) else "code"

    @property
    def what(self) -> str:
        """The form in words."""
        words = {"graph": "graph of tensor ops", "loops": "loop nests over buffers"}
        return words.get(self.level, "machine code" if callable(self.form) else "LLVM IR")

    @property
    def text(self) -> str:
        if isinstance(self.form, Graph):
            return print_graph(self.form)
        if isinstance(self.form, Program):
            return print_program(self.form)
        return str(self.form() if callable(self.form) else self.form)

    def picture(self) -> Picture:
        """Graphs are drawn, the other forms are shown as text."""
        if isinstance(self.form, Graph):
            return draw_graph(self.form, title=self.name)
        return listing(self.name, self.text)

    def __repr__(self) -> str:
        return f"Stage({self.name!r}, {self.level})"


@takes
def slider(stages: Sequence[Stage], title: str, longest: int = 400) -> Picture:
    """All stages in one picture; of a graph, the nodes that its pass removed and added are marked.

    longest   lines of a stage that are shown; the rest is only counted
    """
    states: list[tuple[str, str | Picture]] = []
    for before, stage in zip([stages[0], *stages], stages, strict=False):
        if isinstance(stage.form, Graph):
            found = changes(before.form, stage.form)
            marked = changed_lines(before.form, stage.form, stage.name, longest, found)
            states.append((f"{stage.name} {_counts(found)}".strip(), marked))
        else:
            states.append((stage.name, listing(stage.what, _first_lines(stage.text, longest))))
    return stepper(states, f"{title}: from the model to machine code")


def _counts(found: Changes) -> str:
    """How many nodes went and came, and how many kernels were formed: `−12 +3`."""
    gone, new, formed = len(found.gone), len(found.new), len(found.formed)
    counts = [f"−{gone}"] * bool(gone) + [f"+{new}"] * bool(new)
    counts += [f"{formed} group{'' if formed == 1 else 's'}"] * bool(formed)
    return " ".join(counts)


def _first_lines(text: str, longest: int) -> str:
    lines = text.splitlines()
    more = len(lines) - longest
    return "\n".join([*lines[:longest], f"... and {more:,} more lines"] if more > 0 else lines)
