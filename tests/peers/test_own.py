"""The systems that the course stands on itself: what each of them shows of a model.

conv, bias, relu at each level of onnxruntime; gelu of a product in torch.compile
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.ir.graph.build import conv, relu, trace
from course_lib.ir.graph.node import const
from course_lib.peers.model import Model
from course_lib.peers.peer import PEERS, lacking, peer


@pytest.fixture(scope="module")
def layer() -> Model:
    """A convolution and a relu."""
    rng = np.random.default_rng(0)
    weights = const(rng.standard_normal((16, 16, 3, 3), dtype=np.float32))
    graph = trace(lambda x: relu(conv(x, weights)), "f32[1,16,12,12]")
    return Model("layer", graph, (rng.standard_normal((1, 16, 12, 12), dtype=np.float32),))


@pytest.mark.parametrize(
    ("level", "fused"), [("none", False), ("basic", False), ("extended", True)]
)
def test_onnxruntime_lists_the_kernels_that_run_at_each_level(layer, level, fused):
    found = peer(f"onnxruntime+{level}").prepare(layer).kernels()
    assert ("com.microsoft::FusedConv" in found) == fused, found
    assert fused or found == ["Conv", "Relu"]


def test_with_all_optimizations_images_are_in_blocks_where_that_is_faster(layer):
    ready = peer("onnxruntime").prepare(layer)
    assert len(ready.kernels()) >= 1 and list(ready.stages()) == ["onnx", "optimized"]
    assert ready.stages()["onnx"] != ready.stages()["optimized"]


@pytest.mark.parametrize("name", ["course", "numpy", "torch-eager", "onnxruntime"])
def test_each_gives_the_same_on_a_graph(layer, name, missing):
    if lacks := lacking(PEERS[name]):
        missing(lacks)
    ready = peer(name).prepare(layer)
    want = peer("numpy").prepare(layer).call()
    np.testing.assert_allclose(ready.call()[0], want[0], atol=1e-4)
    assert ready.compile_seconds > 0 and ready.kernels() and all(ready.stages().values())


def test_where_no_convolution_gains_by_winograd_that_is_said():
    with pytest.raises(ValueError, match="no convolution of this model gains"):
        peer("course+winograd").prepare("mlp")


def test_a_system_names_itself_and_what_it_stands_on():
    assert peer("onnxruntime").version.startswith("onnxruntime 1.")
    assert peer("course").version.startswith("course-lib 0.")
    assert "llvmlite" in peer("course").version


def test_torch_compile_shows_its_graphs_its_loops_and_what_it_calls(
    require_tool: Callable[[str], str],
) -> None:
    require_tool("g++")
    import torch  # torch is heavy

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            return torch.nn.functional.gelu(self.fc(x)).softmax(-1)

    x = np.ones((4, 8), np.float32)
    ready = peer("torch.compile+freezing").prepare(Layer().eval(), [x])
    np.testing.assert_allclose(ready.call()[0].sum(axis=-1), np.ones(4), rtol=1e-5)
    stages = ready.stages()
    assert list(stages) == ["fx graph", "aten graph", "ir", "ir, fused", "code"]
    assert "torch.nn.functional.gelu" in stages["fx graph"]
    assert "torch.ops.aten.erf" in stages["aten graph"]
    assert "SchedulerNode" in stages["ir"] and "Fused" in stages["ir, fused"]
    kernels = ready.kernels()
    assert any(name.startswith("cpp_fused_") for name in kernels)
    assert any("mkl" in name or "extern_kernels" in name for name in kernels), kernels
    assert all(name.split("(")[0] in stages["code"] for name in kernels)


def test_run_compares_with_any_of_them(capsys):
    assert main(["run", "mlp", "--compare", "numpy", "--repeat", "1", "--threads", "1"]) == 0
    assert "agrees with numpy: largest error" in capsys.readouterr().out
