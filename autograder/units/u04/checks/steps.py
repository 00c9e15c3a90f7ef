"""Visible checks of unit 4 for one step: may_overwrite.

An answer of may_overwrite is tried out: the kernel runs once with memory of its own for the result,
and once with result and operand in the same bytes. Next room: order.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.programs import BINARY, UNARY, graphs
from autograder.check.properties import random_inputs
from autograder.check.shown import returned
from autograder.units.u04.checks.kernels import ILLEGAL, LEGAL, one_store
from autograder.units.u04.checks.shared import compiled
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.lower.lower import lower
from course_lib.passes.prepare.decompose import decompose

SLOT = "schedule.in_place.may_overwrite"
ANSWER = ("May the result of a kernel have the very bytes", "The function must find these cases",
          "True only if no element is read after it was written", "In doubt",
          "It must refuse an operand of another type",
          "an element that is read too late")  # fmt: skip
background(SLOT, "kernel   textbook loops ... no other parameter shares its bytes",
           because="what is given")  # fmt: skip


FOUND = [(text, operand, spec) for spec, text, operands in LEGAL for operand in operands]
REFUSED = [
    *((why, text, "x0", spec) for why, spec, text in ILLEGAL),
    ("It is read again for other columns.", LEGAL[2][1], "x0", "a matrix product"),
    ("It is read again for other rows.", LEGAL[2][1], "x1", "a matrix product"),
    ("It is smaller than the result.", LEGAL[1][1], "x1", "a broadcast"),
]


@for_each(SLOT, FOUND, "{} operands that may be overwritten", spec=ANSWER)
def overwriting_is_found(may_overwrite, text, operand, spec):
    """Elementwise, residuals and rows: the result may have the operand's bytes."""
    if not _answer(may_overwrite, parse_kernel(text), operand, spec):
        problem = f"The result may overwrite {operand}: each element of it is read before the same "
        problem += "element of the result is written, and never after."
        raise Wrong(problem, program=text, got="False", expected="True", spec=spec)


@for_each(SLOT, REFUSED, "{} that may not be", spec=ANSWER)
def overwriting_is_refused(may_overwrite, why, text, operand, spec):
    """What is read too late is refused."""
    if _answer(may_overwrite, parse_kernel(text), operand, spec):
        problem = f"The result may not overwrite {operand}. {why}"
        raise Wrong(problem, program=text, got="True", expected="False", spec=spec)


@checks(SLOT, spec=ANSWER)
def overwriting_works_in_the_compiler(may_overwrite):
    """Compiled with this answer: rows, residuals, views, other types, empty tensors."""
    return compiled(SLOT, may_overwrite, "programs compiled with your answer")


@checks(SLOT, given=graphs(size=5), examples=25, spec=ANSWER)
def overwriting_changes_no_number(may_overwrite, graph):
    """Where the answer is True, the kernel computes the same in the operand's bytes."""
    for kernel, operand in operands_of(graph):
        fits = kernel.buffers[operand].type.nbytes == kernel.out.type.nbytes
        if fits and _answer(may_overwrite, kernel, operand):
            _same_in_place(kernel, operand)


@checks(SLOT, given=one_store(), examples=60, what="random kernels", spec=ANSWER)
def reads_of_other_elements_are_refused(may_overwrite, example):
    """A kernel may overwrite where it reads, unless it reads another element too late."""
    text, is_elementwise = example
    kernel = parse_kernel(text)
    if _answer(may_overwrite, kernel, "x0"):
        _same_in_place(kernel, "x0")
    elif is_elementwise:
        raise Wrong("The result may overwrite x0.", program=text, got="False", expected="True",
                    spec="elementwise")  # fmt: skip


BY_ELEMENT = graphs(size=5, ops=(*UNARY, *BINARY), constants=False)


@checks(SLOT, given=BY_ELEMENT, examples=15, spec="elementwise")
def every_elementwise_kernel_may_overwrite(may_overwrite, graph):
    """An elementwise kernel may overwrite each operand that has the result's type."""
    for kernel, operand in operands_of(graph):
        fits = kernel.buffers[operand].type == kernel.out.type
        if fits and not _answer(may_overwrite, kernel, operand):
            raise Wrong(f"The result may overwrite {operand}.", program=print_kernel(kernel),
                        got="False", expected="True")  # fmt: skip


def operands_of(graph: Graph) -> list[tuple[Kernel, str]]:
    """Each kernel of a program with each of its operands."""
    kernels = [step.kernel for step in lower(decompose(graph)).steps if step.kernel is not None]
    return [(kernel, operand.name) for kernel in kernels for operand in kernel.params[:-1]]


def _answer(may_overwrite: Any, kernel: Kernel, operand: str, spec: str = "") -> bool:
    got = may_overwrite(kernel, operand)
    if not isinstance(got, (bool, np.bool_)):
        raise Wrong("The answer must be True or False.", program=print_kernel(kernel),
                    got=returned(got), spec=spec)  # fmt: skip
    return bool(got)


def _same_in_place(kernel: Kernel, operand: str) -> None:
    """Run a kernel with its result in memory of its own, and in the operand's."""
    nodes = [inp(param.name, str(param.type)) for param in kernel.params]
    arrays = random_inputs(Graph.of(nodes, nodes), seed=1)
    apart = {node.name: np.array(a) for node, a in zip(nodes, arrays, strict=True)}
    if kernel.buffers[operand].type == kernel.out.type:
        apart[kernel.out.name] = apart[operand].copy()  # elements that no store writes are the same
        shared = {name: array.copy() for name, array in apart.items()}
        run_kernel(kernel, apart)
        shared[kernel.out.name] = shared[operand]
        run_kernel(kernel, shared)
        if np.array_equal(shared[kernel.out.name], apart[kernel.out.name], equal_nan=True):
            return
    problem = f"Written over {operand}, the result must be the same as in memory of its own, but it"
    raise Wrong(f"{problem} is not.", program=print_kernel(kernel), got="True", expected="False",
                spec=ANSWER[2])  # fmt: skip
