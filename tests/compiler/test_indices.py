"""An index that the data gives: negative ones count from the end, one outside the axis is an error.

At every level: numpy, loops and machine code, whatever the model came from.
"""

import numpy as np
import pytest

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.interp import run_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.program import run_program
from course_lib.llvm.jit import compile_kernels
from course_lib.lower.lower import lower

X = np.arange(12, dtype=np.float32).reshape(4, 3)
OUTSIDE = [[4], [-5], [-8], [2**40], [-(2**62)], [0, 4, 1]]


def picking(op: str, indices: np.ndarray) -> Graph:
    """x[i] along the first axis, of X."""
    nodes = [inp("x", "f32[4,3]"), inp("i", f"i64[{','.join(map(str, indices.shape))}]")]
    return Graph.of(nodes, [apply(op, *nodes, axis=0)])


@pytest.mark.parametrize("op", ["gather", "gather_elements"])
@pytest.mark.parametrize("wild", OUTSIDE)
def test_numpy_and_loops_refuse_an_index_outside_the_axis(op: str, wild: list) -> None:
    indices = np.array(wild) if op == "gather" else np.repeat(np.array(wild)[:, None], 3, 1)
    graph = picking(op, indices)
    far = next(i for i in wild if not -4 <= i < 4)
    with pytest.raises(IndexError, match=rf"while computing .*: index {far} is outside -4 \.\. 3"):
        run(graph, [X, indices])
    with pytest.raises(IndexError, match=r"x0\[.*\] is outside its shape \[4, 3\]"):
        run_program(lower(graph), [X, indices])


def test_scatter_refuses_an_index_outside_the_axis() -> None:
    for wild in OUTSIDE:
        indices = np.array(wild)
        updates = np.zeros((len(wild), 3), np.float32)
        where = np.repeat(indices[:, None], 3, 1)
        for op, i in (("scatter_elements", where), ("scatter_nd", indices[:, None])):
            nodes = [inp(name, f"{t}") for name, t in
                     (("x", "f32[4,3]"), ("i", f"i64{list(i.shape)}"),
                      ("u", f"f32{list(updates.shape)}"))]  # fmt: skip
            with pytest.raises(IndexError, match=r"is outside -4 \.\. 3"):
                run(Graph.of(nodes, [apply(op, *nodes)]), [X, i, updates])


def test_a_select_does_not_hide_an_index_outside_the_axis() -> None:
    """Both sides of a choice are computed: in a graph, in loops and in machine code."""
    kernel = parse_kernel(
        "kernel @k(c: bool[2], x: f32[4], p: i64[2], out: f32[2]) "
        "{ for i in 0..2 { out[i] = select(c[i], 1.0, x[p[i]]) } }"
    )
    arrays = {"c": np.ones(2, bool), "x": X[:, 0].copy(), "p": np.array([0, 4])}
    arrays["out"] = np.zeros(2, np.float32)
    with pytest.raises(IndexError, match=r"x\[4\] is outside its shape \[4\]"):
        run_kernel(kernel, arrays)
    code = compile_kernels([kernel])
    ((function, iterations),) = code.functions["k"]
    assert function(*(a.ctypes.data for a in arrays.values()), 0, iterations) == 1
