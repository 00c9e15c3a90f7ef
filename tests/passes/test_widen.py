"""f16 is computed in f32 and rounded once: as exact as onnxruntime, on whole models too."""

from __future__ import annotations

import copy
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import course_lib
from course_lib.frontend import load
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.build import as_type, inp, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import f16, f32
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.prepare.widen import widen
from course_lib.peers.onnxruntime import onnxruntime_session


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def deep(width: int, layers: int) -> nn.Module:
    return nn.Sequential(*(m for _ in range(layers) for m in (nn.Linear(width, width), nn.Tanh())))


def residual(x: torch.Tensor) -> torch.Tensor:
    for _ in range(8):
        x = x + 0.1 * torch.sigmoid(x) * x
    return x


MODELS = {
    "matmul": (Function(torch.matmul), (9, 300), (300, 5)),
    "linear": (nn.Linear(200, 33), (7, 200)),
    "conv": (nn.Conv2d(19, 8, 3, padding=1), (2, 19, 9, 7)),
    "conv_transpose": (nn.ConvTranspose2d(6, 5, 4, 2, 1), (2, 6, 5, 7)),
    "batch_norm": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()), (1, 3, 9, 9)),
    "softmax": (nn.Softmax(-1), (5, 700)),
    "log_softmax": (nn.LogSoftmax(-1), (5, 70)),
    "layer_norm": (nn.LayerNorm(130), (4, 130)),
    "group_norm": (nn.GroupNorm(2, 6), (2, 6, 11)),
    "gelu": (nn.GELU(), (9, 90)),
    "silu": (nn.SiLU(), (9, 90)),
    "mean": (Function(lambda x: x.mean(1)), (3, 2000)),
    "cumsum": (Function(lambda x: x.cumsum(1)), (3, 300)),
    "attention": (Function(F.scaled_dot_product_attention), *[(2, 2, 9, 16)] * 3),
    "deep": (deep(64, 12), (3, 64)),
    "residual": (Function(residual), (3, 64)),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", MODELS)
def test_the_error_is_no_larger_than_that_of_onnxruntime(name: str, seed: int) -> None:
    torch.manual_seed(seed)
    model, *shapes = MODELS[name]
    half = copy.deepcopy(model).eval().half()
    inputs = [torch.randn(shape).half() for shape in shapes]
    with torch.inference_mode():
        exact = copy.deepcopy(half).double()(*(x.double() for x in inputs)).numpy()
    arrays = [x.numpy() for x in inputs]
    proto = to_onnx(load(half, inputs)).SerializeToString()
    (theirs,) = onnxruntime_session(proto, 1)(arrays)
    assert theirs.dtype == np.float16
    for target in ("cpu", "interpreter"):
        (ours,) = course_lib.compile(half, inputs, target=target).run(arrays)
        assert ours.dtype == np.float16
        # where both round the same sum, an order of additions in f32 makes a thousandth of it
        assert error(ours, exact) <= 1.002 * error(theirs, exact), target
        assert error(ours, exact) < 0.51 * np.finfo(np.float16).eps, "the rounding of the result"


def error(have: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(have - exact).max() / np.abs(exact).max())


def test_a_graph_without_f16_is_left_alone() -> None:
    graph = trace(lambda x: relu(x + 1.0), "f32[4]")
    assert widen(graph) is graph


def kinds(graph: Graph) -> Counter[str]:
    return Counter(f"{n.op} {n.type.dtype}" for n in graph.ops)


def test_what_only_moves_numbers_stays_narrow() -> None:
    def pick(table: Node, i: Node) -> Node:
        return apply("transpose", apply("gather", table, i), perm=(1, 0))

    graph = trace(pick, "f16[1000,8]", "i64[3]")
    assert kinds(widen(graph)) == kinds(graph)
    weights = const(np.ones((4, 8), np.float16))
    product = trace(lambda x: x @ apply("transpose", weights, perm=(1, 0)), "f16[2,8]")
    assert kinds(widen(product)) == {
        "transpose f32": 1, "cast f32": 1, "matmul f32": 1, "cast f16": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("reduction", "where"), [("none", "f16"), ("add", "f32")])
def test_a_scatter_that_adds_computes(reduction: str, where: str) -> None:
    attrs = {"axis": 0, "reduction": reduction}
    graph = trace(lambda x, i, u: apply("scatter_elements", x, i, u, **attrs),
                  "f16[4]", "i64[3]", "f16[3]")  # fmt: skip
    assert kinds(widen(graph))[f"scatter_elements {where}"] == 1


def test_a_cast_of_the_model_rounds() -> None:
    graph = trace(lambda x: as_type(as_type(x * 3.0, f16), f32) - x * 3.0, "f32[1]")
    x = np.array([1.0003], np.float32)
    wide = widen(graph)
    assert run(graph, [x])[0] != 0
    np.testing.assert_array_equal(run(wide, [x]), run(graph, [x]))
    np.testing.assert_array_equal(course_lib.compile(graph)(x), run(graph, [x])[0])


def test_the_state_of_a_scan_is_wide() -> None:
    """1 + 1/4096 + 1/4096 + ...: in f16, no step would change anything."""
    h, x = inp("h", "f16[1]"), inp("x", "f16[1]")
    body = Graph.of([h, x], [h + x], "step")
    graph = trace(lambda h, xs: apply("scan", h, xs, body=body), "f16[1]", "f16[4096,1]")
    arrays = [np.ones(1, np.float16), np.full((4096, 1), 2**-12, np.float16)]
    assert run(graph, arrays)[0][-1] == 1
    assert run(verify(widen(graph)), arrays)[0][-1] == 2
    assert course_lib.compile(graph)(*arrays)[-1] == 2


def test_a_group_that_is_fused_already_is_wide_inside() -> None:
    graph = fuse(trace(lambda x: relu(x * 0.5 + 1.0), "f16[64]"))
    wide = verify(widen(graph))
    (group,) = (n for n in wide.ops if n.op == "fused")
    assert all(n.type.dtype == f32 for n in group.attrs["body"].nodes if n.op != "constant")
    x = np.linspace(-4, 4, 64, dtype=np.float16)
    np.testing.assert_allclose(run(wide, [x])[0], run(graph, [x])[0], rtol=2e-3)
