"""The front door: from a model to something that runs. The table of contents of the course.

    run = course_lib.compile(model, [x])
    run(x)

Four forms of one program. Each can be printed, graphs can be drawn, and all but LLVM IR can be run:

    graph of tensor ops  ->  loop nests over buffers      ->  LLVM IR  ->  machine code
    frontend/, passes/       lower/, memory/, schedule/       llvm/        runtime/

Next room: `ir/types.py`, where the language of the compiler begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from course_lib.draw.graphs.stages import Stage
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import type_of
from course_lib.lower.lower import lower
from course_lib.memory.plan import plan
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import Pass, run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from course_lib.passes.prepare.specialize import specialize
from course_lib.passes.prepare.widen import widen
from course_lib.runtime.executable import CompiledModel, Executable, InterpretedModel, as_array
from course_lib.schedule.schedule import schedule

TARGETS = ("cpu", "interpreter")
Watch = Callable[[str, Any], object]


def compile(
    model: Any,
    example_inputs: Any = None,
    target: str = "cpu",
    passes: Sequence[Pass] | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
    cpu: str = "host",
) -> Executable:
    """Compile a model into an `Executable`: call it with arrays or tensors.

    model           a torch.nn.Module, an ONNX file (path, bytes, ModelProto) or a Graph
    example_inputs  arrays or tensors, or one of them. A torch module needs them to be traced; they
                    also give a number to every symbolic size (a batch of `n`)
    target          "cpu": machine code; "interpreter": numpy, node by node
    passes          graph passes in order; None: `passes.pipeline.DEFAULT`
    watch           `watch(name, form)` sees every intermediate form: a Graph after each pass, then
                    a Program of loop nests, then LLVM IR as text
    threads         how many may work on one kernel; None: as many as there are processors
    cpu             whose instructions: "host", all that this processor has, or a level of x86-64
                    such as "x86-64-v3", which also older ones have

    Raises ValueError in words for a model that cannot be read, an op that is not supported (all of
    them at once, with where they stand in the model) and a pass that breaks the graph.
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    stages: list[Stage] = []
    seconds: dict[str, float] = {}

    def see(name: str, form: Any) -> None:
        stages.append(Stage(name, form))
        if watch is not None:
            watch(name, form)

    with timed(seconds, "import"):
        graph = read(model, example_inputs)
    see("import", graph)
    with timed(seconds, "passes"):
        graph = run_passes(graph, DEFAULT if passes is None else passes, see)
    if target == "interpreter":
        return InterpretedModel(graph, stages, seconds)
    return generate(graph, see, stages, seconds, threads, cpu)


def read(model: Any, example_inputs: Any) -> Graph:
    """The model as a verified graph with numbers for sizes, which computes in f32 at least."""
    from course_lib.frontend import load

    if example_inputs is not None and not isinstance(example_inputs, (list, tuple)):
        example_inputs = [example_inputs]
    graph = verify(load(model, example_inputs))
    if example_inputs is not None:
        graph = specialize(graph, [type_of(as_array(x)) for x in example_inputs])
    return widen(graph)


def generate(
    graph: Graph,
    see: Watch,
    stages: list[Stage],
    seconds: dict[str, float],
    threads: int | None,
    cpu: str = "host",
) -> CompiledModel:
    """Graph -> loops -> memory plan -> LLVM IR -> machine code."""
    from course_lib.llvm.helpers import helpers, new_kernels
    from course_lib.llvm.host import host_machine
    from course_lib.llvm.jit import compile_program

    machine = host_machine(threads, cpu)
    with timed(seconds, "lower"):
        program = lower(everywhere(graph, decompose))
    with timed(seconds, "memory"):
        program, memory = plan(program)
    see("loops", program)
    with helpers(new_kernels(program, machine), machine, machine.threads - 1, cpu):
        with timed(seconds, "schedule"):
            program = schedule(program, machine)
        see("scheduled", program)
        with timed(seconds, "codegen"):
            code = compile_program(program, cpu, machine.threads)
    see("llvm", code.llvm_ir)
    see("optimized", code.optimized)
    see("assembly", code.assembly)  # a function: made when somebody looks
    return CompiledModel(graph, program, memory, code, stages, seconds)


@contextmanager
def timed(seconds: dict[str, float], step: str):
    """Add how long the block took to `seconds[step]`."""
    start = time.perf_counter()
    yield
    seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - start
