"""The interpreter as a target: nothing is left to do, numpy runs the graph node by node.

    course_lib.compile(model, [x], target="interpreter")(x)      the definition of what is right

Next room: `systolic.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.ir.graph.graph import Graph
from course_lib.passes.infra.manager import Pass
from course_lib.runtime.executable import InterpretedModel
from course_lib.targets.target import Log, Options, Target


class Interpreter(Target):
    """The graph after all passes, as it is."""

    name = "interpreter"

    def passes(self, options: Options) -> Sequence[Pass]:
        return options.passes

    def executable(self, graph: Graph, options: Options, log: Log) -> InterpretedModel:
        return InterpretedModel(graph, log.stages, log.seconds)


TARGET = Interpreter()
