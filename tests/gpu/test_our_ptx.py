"""The textbook kernels that we emit for a GPU run on the machine, with the values of machine code.

Every kernel of the four models, at small sizes: each is loaded, launched with 256 threads a block
on the values that those before it have computed, and what comes out in the end is compared.
"""

import math

import numpy as np
import pytest

import course_lib
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import Empty, launch
from course_lib.llvm.parts import bodies_of
from course_lib.llvm.processors import assembly, threads_of
from course_lib.lower.lower import lower
from course_lib.models.traced import traced
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose

SIZES = {
    "mlp": (1, 784),
    "block": (1, 16, 256),
    "resnet18": (1, 3, 32, 32),
    "mobilenet_v2": (1, 3, 32, 32),
}
PLAIN = [step for step in DEFAULT if step not in (layout, sink_relayouts)]
BLOCK = 256


@pytest.mark.parametrize("name", SIZES)
def test_every_kernel_of_a_model_runs_with_the_values_of_machine_code(name):
    graph = traced(name, [SIZES[name]])
    x = np.random.default_rng(0).standard_normal(SIZES[name]).astype(np.float32)
    program = lower(everywhere(run_passes(graph, PLAIN), decompose))
    values = {**program.constants, **dict(zip(program.inputs, [x], strict=True))}
    for step in program.steps:
        assert step.kernel is not None
        launched(step, program, values)
    (output,) = program.outputs
    got = values[program.owner(output)].view(np.float32)
    want = np.asarray(course_lib.compile(graph, [x])(x)).reshape(-1)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5 * np.abs(want).max())


def launched(step, program, values):
    """Launch each of the bodies of a kernel, and keep what it wrote."""
    module = read(assembly(step.kernel, "nvptx"))
    target = program.owner(step.writes)
    size = program.types[target].nbytes
    for n, body in enumerate(bodies_of(step.kernel)):
        threads = math.prod(loop.extent or 1 for loop in threads_of(body)[0])
        symbol = step.kernel.name if n == 0 else f"{step.kernel.name}_{n}"
        given = [values[program.owner(name)] for name in step.reads]
        out = values[target] if n else Empty(size)
        run = launch(module.entry(symbol), (-(-threads // BLOCK),), (BLOCK,), [*given, out])
        values[target] = run.arrays[-1]
