"""The front door: from a model to something that runs. The table of contents of the course.

    run = course_lib.compile(model, [x])
    run(x)

    read       frontend/   a model becomes a graph of tensor ops
    passes     passes/     the graph becomes a better one
    a target   targets/    the graph becomes what runs: on this processor, on the chip, with numpy

Each form that the program has on its way can be printed, and run or drawn (`watch`, `run.stages`).
Next room: `ir/types.py`, where the language of the compiler begins.

Reading path, 1 of 12; next: `ir/graph/node.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.arguments import takes
from course_lib.frontend import load
from course_lib.ir.arrays import as_array
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import type_of
from course_lib.packages import need
from course_lib.passes.infra.manager import Pass, run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.specialize import specialize
from course_lib.passes.prepare.widen import widen
from course_lib.targets.target import Log, Options, Watch
from course_lib.targets.target import target as target_of

if TYPE_CHECKING:  # each comes with the target that needs it
    from course_lib.accelerator.chip import Chip
    from course_lib.runtime.executable import Executable
    from course_lib.schedule.search.tuned import Tuned


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
                    a Program of loop nests, then LLVM IR as text; assembly, and instructions of
                    the chip, as a function that makes the text
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
    to, log = target_of(target), Log(watch)
    with log.timed("import"):
        graph = read(model, example_inputs)
    log.see("import", graph)
    asked = DEFAULT if passes is None else passes
    options = Options(asked, inputs_of(example_inputs), threads, cpu, chip)
    if search is not None:
        options = with_search(options, search)
    with log.timed("passes"):
        graph = run_passes(graph, to.passes(options), log.see)
    return to.executable(graph, options, log)


def read(model: Any, example_inputs: Any) -> Graph:
    """The model as a verified graph with numbers for sizes, which computes in f32 at least."""
    given = None if example_inputs is None else listed(example_inputs)
    graph = verify(load(model, given))
    if given is not None:
        graph = specialize(graph, [type_of(as_array(x)) for x in given])
    return widen(graph)


def inputs_of(example_inputs: Any) -> list[np.ndarray] | None:
    """The example inputs as arrays, if there are any."""
    return None if example_inputs is None else [as_array(x) for x in listed(example_inputs)]


def listed(inputs: Any) -> Sequence[Any]:
    """Several inputs, or the one that was given."""
    return inputs if isinstance(inputs, (list, tuple)) else [inputs]


def with_search(options: Options, search: Tuned | str | Path) -> Options:
    """The options with what was found beforehand for this machine, which the passes know, too."""
    need("llvmlite")
    from course_lib.targets.tuned import passes_with, searched  # llvmlite is heavy

    tuned = searched(search, options.threads, options.cpu)
    return replace(options, tuned=tuned, passes=passes_with(options.passes, tuned))
