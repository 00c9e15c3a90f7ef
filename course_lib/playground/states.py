"""All that can be shown of one program, as plain data: each form once, its counts and its kernel.

    states(graph, FIVE)["forms"][3]   ->   {"nodes": 6, "kernels": 2, "bytes": 12416, ...}

A text stands there as its number in a `Table`, which all programs share. Next room: `table.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from course_lib.draw.graphs.graph import graph as drawn
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.registry import flops, traffic
from course_lib.lower.executed import executed
from course_lib.lower.lower import lower
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import Pass
from course_lib.passes.prepare.decompose import decompose
from course_lib.playground.explore import explore
from course_lib.playground.kernels import Main, heaviest, main_kernel
from course_lib.playground.table import Table
from course_lib.schedule.schedule import fixed_operands

STYLE = re.compile(r"<style>.*?</style>", re.S)  # every drawing has the same: the page has it once


def states(graph: Graph, passes: Sequence[Pass], table: Table, about: str = "") -> dict[str, Any]:
    """What the widget shows of a program.

    ends     the form that each order ends in, in the order of `explore.orders`
    forms    what is shown of each form, see `_form`; {"wrong": words} where a pass failed
    kernels  the main kernels, see `_kernel`; a form names one by its number
    """
    explored, kernels = explore(graph, passes), _Kernels(table)
    forms = [_shown(form, table, kernels) for form in explored.forms]
    return {
        "name": graph.name,
        "about": about,
        "ends": explored.ends,
        "forms": forms,
        "kernels": kernels.shown,
    }


class _Kernels:
    """The main kernels of the forms, each once."""

    def __init__(self, table: Table) -> None:
        self.table, self.shown, self.numbers = table, [], {}

    def number(self, main: Main) -> int:
        if main not in self.numbers:
            self.numbers[main] = len(self.shown)
            self.shown.append(self._kernel(main))
        return self.numbers[main]

    def _kernel(self, main: Main) -> dict[str, Any]:
        add = self.table.add
        steps = [
            {
                "step": s.step,
                "loops": add(s.loops),
                "llvm": add(s.llvm_ir),
                "assembly": add(s.assembly),
                "fmas": s.fmas,
                "clocks": s.clocks,
            }
            for s in main.steps
        ]
        return {"name": main.name, "ptx": add(main.ptx), "steps": steps}


def _shown(form: Graph | str, table: Table, kernels: _Kernels) -> dict[str, Any]:
    """A form as `_form` has it, or {"wrong": words}: a pass of a learner's may return a graph that
    is well formed and that nothing after it can compile."""
    if isinstance(form, str):
        return {"wrong": form}
    try:
        return _form(form, table, kernels)
    except Exception as error:  # of whatever the compiler met
        words = f"{type(error).__name__}: {error}"
        return {"wrong": f"The passes ran, and what they made cannot be compiled. {words}"}


def _form(form: Graph, table: Table, kernels: _Kernels) -> dict[str, Any]:
    """A graph as drawing and text, what it costs, and its main kernel: None if none has loops.

    nodes     with inputs and constants
    bytes     that its kernels read and write, constants too
    flops     by the op table, each value once
    executed  the same, counted in the loops: a kernel may compute a value several times
    """
    program = lower(everywhere(form, decompose))
    having = [step for step in program.steps if step.kernel is not None]
    main = None
    if having:
        found = [step.kernel for step in having if step.kernel is not None]
        at = heaviest(found)
        main = kernels.number(main_kernel(found[at], fixed_operands(program, having[at])))
    return {
        "drawing": table.add(STYLE.sub("", drawn(form).svg)),
        "text": table.add(print_graph(form).rstrip()),
        "nodes": len(form.nodes),
        "kernels": len(program.steps),
        "bytes": sum(traffic(node) for node in form.ops if node.op != "reshape"),
        "flops": sum(flops(node) for node in form.ops),
        "executed": executed(form),
        "main": main,
    }
