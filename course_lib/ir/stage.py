"""A stage: one form that a program had on its way, and its name.

    run.stage("fold").text      the graph after constant folding
    run.stage("loops").text     loop nests in textbook order

A program that is compiled in parts has stages of each: "mlp_cpu_0.loops". `draw/graphs/stages.py`
draws them. Next room: `loops/cpp.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.loops.program import Program, print_program


@dataclass(frozen=True, eq=False)
class Stage:
    """`form` is a Graph, a Program, or text (LLVM IR; assembly as a function that makes it)."""

    name: str
    form: Any

    @property
    def part(self) -> str:
        """Of which part of the program it is; empty: of the whole."""
        return self.name.rpartition(".")[0]

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

    def __repr__(self) -> str:
        return f"Stage({self.name!r}, {self.level})"
