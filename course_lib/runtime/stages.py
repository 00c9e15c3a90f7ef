"""Stages: every form that a program had on its way, as text and as a picture.

run.stage("fold").text         the graph after constant folding
run.stage("loops").text        loop nests in textbook order
run.stage("import").picture()  drawn

Next room: `report.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.ir.graph import Graph
from course_lib.ir.text import print_graph
from course_lib.schedule.program import Program, print_program


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
    def text(self) -> str:
        if isinstance(self.form, Graph):
            return print_graph(self.form)
        if isinstance(self.form, Program):
            return print_program(self.form)
        return str(self.form() if callable(self.form) else self.form)

    def picture(self) -> Any:
        """A `Picture`: graphs are drawn, the other forms are shown as text."""
        from course_lib.draw.graph import graph
        from course_lib.draw.listing import listing

        if isinstance(self.form, Graph):
            return graph(self.form, title=self.name)
        return listing(self.name, self.text)

    def __repr__(self) -> str:
        return f"Stage({self.name!r}, {self.level})"
