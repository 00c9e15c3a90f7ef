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
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.offload import offload
from course_lib.accelerator.compile.report import chip_report
from course_lib.accelerator.isa.text import disassemble
from course_lib.arguments import takes
from course_lib.draw.graphs.stages import Stage
from course_lib.frontend import load
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import type_of
from course_lib.limits import check_room
from course_lib.lower.lower import lower
from course_lib.memory.plan import plan
from course_lib.packages import need
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import fuse_as
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import Pass, run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.winograd import winograd_as
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from course_lib.passes.prepare.specialize import specialize
from course_lib.passes.prepare.widen import widen
from course_lib.passes.quantize.to_int8 import whole
from course_lib.runtime.buffers import check_memory
from course_lib.runtime.executable import CompiledModel, Executable, InterpretedModel, as_array
from course_lib.runtime.systolic import SystolicModel
from course_lib.schedule.schedule import looking_up, schedule
from course_lib.schedule.search.tuned import Schedules, Tuned, schedules

TARGETS = ("cpu", "interpreter", "systolic")
Watch = Callable[[str, Any], object]


@takes
def compile(
    model: Any,
    example_inputs: Any = None,
    target: str = "cpu",
    passes: Sequence[Pass] | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
    cpu: str = "host",
    chip: str | Chip = "npu",
    search: Tuned | str | Path | None = None,
) -> Executable:
    """Compile a model into an `Executable`: call it with arrays or tensors.

    model           a torch.nn.Module, an ONNX file (path, bytes, ModelProto) or a Graph
    example_inputs  arrays or tensors, or one of them. A torch module needs them to be traced; they
                    also give a number to every symbolic size (a batch of `n`)
    target          "cpu": machine code; "interpreter": numpy, node by node; "systolic": 8-bit
                    integers on a simulated chip, with ranges as large as those of the example
                    inputs (of random ones without them), and machine code for what it cannot do
    passes          graph passes in order; None: `passes.pipeline.DEFAULT`
    watch           `watch(name, form)` sees every intermediate form: a Graph after each pass, then
                    a Program of loop nests, then LLVM IR as text
    threads         how many may work on one kernel; None: as many as there are processors
    cpu             whose instructions: "host", all that this processor has, or a level of x86-64
                    such as "x86-64-v3", which also older ones have
    chip            for "systolic": the name of a preset, or a `Chip` (`accelerator/chip.py`)
    search          schedules, groups and convolutions that were searched beforehand
                    (`tune/tune.py`): a `Tuned`, the file of one, or "kept", all that were ever
                    found on this machine. For another machine they are not used, with a warning

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
    tuned = searched(search, threads, cpu)
    rest = as_tuned(DEFAULT if passes is None else passes, tuned)
    if target == "systolic":
        samples = None if example_inputs is None else _listed(example_inputs)

        def on_cpu(part: Graph) -> Any:
            made = run_passes(part, rest)
            return generate(made, lambda name, form: None, [], {}, threads, cpu, tuned).run

        return on_chip(graph, samples, chip, on_cpu, see, stages, seconds)
    with timed(seconds, "passes"):
        graph = run_passes(graph, rest, see)
    if target == "interpreter":
        return InterpretedModel(graph, stages, seconds)
    return generate(graph, see, stages, seconds, threads, cpu, tuned)


def read(model: Any, example_inputs: Any) -> Graph:
    """The model as a verified graph with numbers for sizes, which computes in f32 at least."""
    if example_inputs is not None:
        example_inputs = _listed(example_inputs)
    graph = verify(load(model, example_inputs))
    if example_inputs is not None:
        graph = specialize(graph, [type_of(as_array(x)) for x in example_inputs])
    return widen(graph)


def searched(search: Tuned | str | Path | None, threads: int | None, cpu: str) -> Schedules | None:
    """What was found beforehand, if anything is asked for, and if it is for this machine."""
    if search is None:
        return None
    need("llvmlite")
    from course_lib.llvm.host import host_machine

    return schedules(search, host_machine(threads, cpu))


def as_tuned(passes: Sequence[Pass], tuned: Schedules | None) -> Sequence[Pass]:
    """The passes, which ask what was found for their graph: `winograd` before `layout`, `fuse`."""
    if tuned is None:
        return passes
    asking = {
        layout: [winograd_as(tuned.convolutions_of), layout],
        fuse: [fuse_as(tuned.groups_of)],
    }
    return [made for one in passes for made in asking.get(one, [one])]


def generate(
    graph: Graph,
    see: Watch,
    stages: list[Stage],
    seconds: dict[str, float],
    threads: int | None,
    cpu: str = "host",
    tuned: Schedules | None = None,
) -> CompiledModel:
    """Graph -> loops -> memory plan -> LLVM IR -> machine code."""
    need("llvmlite")
    from course_lib.llvm.helpers import helpers, new_kernels
    from course_lib.llvm.host import host_machine
    from course_lib.llvm.jit import compile_program

    machine = host_machine(threads, cpu)
    with timed(seconds, "lower"):
        program = lower(everywhere(graph, decompose))
    with timed(seconds, "memory"):
        program, memory = plan(program)
        check_memory(program, memory)
    see("loops", program)
    with helpers(new_kernels(program, machine, tuned), machine.threads - 1, cpu) as helped:
        with timed(seconds, "schedule"):
            program = schedule(program, machine, helped.choosing(looking_up(tuned)))
        see("scheduled", program)
        with timed(seconds, "codegen"):
            code = compile_program(program, cpu, machine.threads, helped.generate)
    see("llvm", code.llvm_ir)
    see("optimized", code.optimized)
    see("assembly", code.assembly)  # a function: made when somebody looks
    return CompiledModel(graph, program, memory, code, stages, seconds)


def on_chip(
    graph: Graph,
    inputs: Sequence[Any] | None,
    chip: str | Chip,
    on_cpu: Callable[[Graph], Any],
    see: Watch,
    stages: list[Stage],
    seconds: dict[str, float],
) -> SystolicModel:
    """Graph of floats -> of 8-bit integers -> parts -> programs of the chip; `on_cpu` compiles the
    other parts."""
    if isinstance(chip, str) and chip not in PRESETS:
        raise ValueError(f"chip is one of {', '.join(PRESETS)}, got {chip!r}")
    machine = PRESETS[chip] if isinstance(chip, str) else chip
    said = "random numbers" if inputs is None else "the example inputs"
    sample = random_inputs(graph) if inputs is None else [as_array(x) for x in inputs]
    with timed(seconds, "quantize"):
        integers = verify(whole(graph, [sample]))
    see("quantize", integers)
    with timed(seconds, "chip"):
        made = offload(integers, machine, on_cpu)
    see("chip", lambda: "".join(disassemble(p.program) for p in made.programs))
    return SystolicModel(integers, made, chip_report, said, stages, seconds)


def random_inputs(graph: Graph) -> list[np.ndarray]:
    """Standard normal floats, zeros for other inputs."""
    rng = np.random.default_rng(0)
    check_room(sum(8 * n.type.numel for n in graph.inputs), "random inputs for the ranges of int8")
    return [
        rng.standard_normal(n.type.dims).astype(n.type.dtype.numpy)
        if n.type.dtype.is_float else np.zeros(n.type.dims, n.type.dtype.numpy)
        for n in graph.inputs
    ]  # fmt: skip


def _listed(inputs: Any) -> Sequence[Any]:
    return inputs if isinstance(inputs, (list, tuple)) else [inputs]


@contextmanager
def timed(seconds: dict[str, float], step: str):
    """Add how long the block took to `seconds[step]`."""
    start = time.perf_counter()
    yield
    seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - start
