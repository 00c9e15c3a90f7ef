"""An index that the data gives: negative ones count from the end, one outside the axis is an error.

At every level: numpy, loops and machine code, whatever the model came from. No index makes compiled
code read outside a buffer (`tests/llvm/test_kernels.py`).
"""

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper

from course_lib.compiler import compile
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.loop_interp import run_kernel
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
            for how in ("none", "add"):
                graph = Graph.of(nodes, [apply(op, *nodes, reduction=how)])
                with pytest.raises(IndexError, match=r"is outside -4 \.\. 3"):
                    run(graph, [X, i, updates])
                with pytest.raises(IndexError, match=r"out\[.*\] is outside its shape \[4, 3\]"):
                    run_program(lower(graph), [X, i, updates])
                with pytest.raises(IndexError, match=r"is outside -4 \.\. 3"):
                    compile(graph)(X, i, updates)


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


# ── compiled models ──


@pytest.mark.parametrize("op", ["gather", "gather_elements"])
@pytest.mark.parametrize("wild", OUTSIDE)
def test_machine_code_refuses_an_index_outside_the_axis_in_the_same_words(
    op: str, wild: list
) -> None:
    indices = np.array(wild) if op == "gather" else np.repeat(np.array(wild)[:, None], 3, 1)
    compiled = compile(picking(op, indices))
    with pytest.raises(IndexError) as error:
        compiled(X, indices)
    with pytest.raises(IndexError) as numpy_says:
        compile(picking(op, indices), target="interpreter")(X, indices)
    assert str(error.value) == str(numpy_says.value)
    inside = np.full_like(indices, -4)
    np.testing.assert_array_equal(compiled(X, inside), np.repeat(X[:1], len(wild), 0))


class Embedding(torch.nn.Module):
    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(rows, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.words(tokens) * 2


@pytest.mark.parametrize("threads", [1, 2])
def test_an_embedding_of_a_word_that_does_not_exist(threads: int) -> None:
    """Large enough for two threads; the index is wrong in the half of one or of the other."""
    model, tokens = Embedding(50, 2048).eval(), torch.zeros(3000, dtype=torch.int64)
    compiled = compile(model, [tokens], threads=threads)
    for place in (0, 2999):
        wrong = tokens.clone()
        wrong[place] = 50
        with pytest.raises(IndexError, match=r"# from words: index 50 is outside -50 \.\. 49"):
            compiled(wrong)
        with pytest.raises(IndexError):
            model(wrong)
    torch.testing.assert_close(compiled(tokens + 49), model(tokens + 49))


class Pick(torch.nn.Module):
    """x[i, j]"""

    def forward(self, x: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        return x[i, j]


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_torch_indices_of_two_axes(target: str) -> None:
    """They become one gather on both axes: an index must not reach into the next row instead."""
    x, i, j = torch.from_numpy(X), torch.tensor([0, -1, -4, 3]), torch.tensor([-3, 2, -1, 0])
    compiled = compile(Pick().eval(), [x, i, j], target=target)
    torch.testing.assert_close(compiled(x, i, j), x[i, j])
    for axis, wrong in ((0, 4), (0, -5), (1, 3), (1, -4)):
        at = [i.clone(), j.clone()]
        at[axis][1] = wrong
        with pytest.raises(IndexError):
            x[at[0], at[1]]
        with pytest.raises(IndexError, match="outside"):
            compiled(x, *at)


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_onnx_gather(target: str) -> None:
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 3]),
        helper.make_tensor_value_info("i", TensorProto.INT64, [2]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3]),
    ]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["x", "i"], ["y"], name="pick")], "g", values[:2], values[2:]
    )
    compiled = compile(helper.make_model(graph), target=target)
    np.testing.assert_array_equal(compiled(X, np.array([-4, -1])), X[[-4, -1]])
    with pytest.raises(IndexError, match=r"index -5 is outside -4 \.\. 3"):
        compiled(X, np.array([0, -5]))


def test_where_the_operand_is_written_over_the_error_does_not_guess() -> None:
    nodes = [inp("x", "i64[4]"), inp("i", "i64[4]")]
    graph = Graph.of(nodes, [apply("gather", nodes[0], apply("neg", apply("neg", nodes[1])))])
    compiled = compile(graph, passes=[])
    with pytest.raises(IndexError, match="an index is outside the axis that it picks from"):
        compiled(np.array([7, 8, 9, 10]), np.array([1, 2, 3, 4]))
