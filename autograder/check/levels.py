"""One graph at every level of the compiler: the same answer?

    levels_agree(graph, inputs)     # numpy = loops = scheduled loops = machine code

The graph as it stands, run by the numpy interpreter, says what is right. The loop interpreter runs
it as textbook loops and as scheduled loops for several made-up machines, and this machine runs it
compiled, with and without fusion; there no kernel may leave its buffers. Next room: programs.py,
the random graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course_lib.compiler import compile
from course_lib.cost.machine import Machine
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.loops.program import run_program
from course_lib.lower.lower import lower
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose
from course_lib.runtime.bounds import out_of_bounds
from course_lib.runtime.executable import CompiledModel
from course_lib.schedule.schedule import schedule

MACHINES = (
    Machine("no vectors", vector_bytes=4, registers=8),
    Machine("small", vector_bytes=16, registers=16),
    Machine("large", vector_bytes=64, registers=32),
)
# How far apart two right answers may be: relative, and absolute where a result is next to nothing.
TOLERANCE = {"f16": (2e-3, 1e-7), "f32": (2e-6, 1e-37), "f64": (1e-13, 1e-300)}


def levels(
    graph: Graph, inputs: Sequence[np.ndarray], machines: Sequence[Machine] = MACHINES
) -> Iterator[tuple[str, list[np.ndarray]]]:
    """(level, results) of every way to run the graph but the numpy interpreter's."""
    plain = everywhere(graph, decompose)
    yield "decomposed, numpy", run(plain, inputs)
    yield "loops", run_program(lower(plain), inputs)
    yield "machine code", machine_code(graph, inputs)
    fused = everywhere(plain, fuse)
    if kernels(fused) < kernels(plain):
        yield "loops, fused", run_program(lower(fused), inputs)
        yield "machine code, fused", machine_code(fused, inputs)
    for machine in machines:
        yield f"loops for {machine}", run_program(schedule(lower(fused), machine), inputs)


def kernels(graph: Graph) -> int:
    """How many ops there are, also in the bodies of loops; of a fused group one."""
    return sum(1 + (kernels(n.attrs["body"]) if n.op == "scan" else 0) for n in graph.ops)


def machine_code(graph: Graph, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of the compiled graph, none of whose kernels may leave its buffers."""
    model = compile(graph, passes=[], threads=1)
    assert isinstance(model, CompiledModel)
    faults = out_of_bounds(model, inputs)
    assert not faults, f"{graph!r}\n" + "\n".join(faults)
    return model.run(list(inputs))


def levels_agree(
    graph: Graph,
    inputs: Sequence[np.ndarray],
    *,
    sums: bool = True,
    machines: Sequence[Machine] = MACHINES,
) -> None:
    """Raise AssertionError naming the level whose result differs from the interpreter's.

    With `sums` a result may differ by rounding relative to the largest one, because sums may run in
    any order; without, every element must be right relative to itself.
    """
    expected = run(graph, inputs)
    for level, results in levels(graph, inputs, machines):
        for node, want, got in zip(graph.outputs, expected, results, strict=True):
            where = f"{level}: {node!r}"
            assert (want.dtype, want.shape) == (node.type.dtype.numpy, node.type.dims), where
            assert (got.dtype, got.shape) == (want.dtype, want.shape), where
            same_numbers(got, want, where, sums)


def same_numbers(got: np.ndarray, want: np.ndarray, where: str, sums: bool = False) -> None:
    """Equal; floats nearly so. NaN and infinities must stand in the same places."""
    name = {"float16": "f16", "float32": "f32", "float64": "f64"}.get(want.dtype.name)
    if name is None:
        np.testing.assert_array_equal(got, want, where)
        return
    rtol, atol = TOLERANCE[name]
    if sums:
        finite = np.abs(want[np.isfinite(want)], dtype=np.float64)
        rtol, atol = 8 * rtol, atol + 8 * rtol * float(finite.max(initial=0))
    np.testing.assert_allclose(got, want, rtol, atol, equal_nan=True, err_msg=where)
