"""The four models of the course against outside witnesses: PyTorch and onnxruntime.

The reference is PyTorch in float64. A float32 result may differ from it by at most 1e-4 of the
largest output; what is left is rounding (PyTorch's own float32 result lies at about 5e-7).
"""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import course_lib
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.write import NEWEST_OPSET, to_onnx
from course_lib.ir.graph.graph_interp import run
from course_lib.models import MODELS, example_inputs
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT

TOLERANCE = 1e-4
TARGETS = ("interpreter", "cpu")
EXPORTS = ("default", "unfolded", "traced")


@cache
def reference(name: str) -> np.ndarray:
    """The model's output in float64."""
    model = MODELS[name].build().double()
    with torch.no_grad():
        return model(*(torch.from_numpy(x).double() for x in example_inputs(name))).numpy()


def error(got: np.ndarray, name: str) -> float:
    want = reference(name)
    assert got.dtype == np.float32 and got.shape == want.shape
    return float(np.abs(got - want).max() / np.abs(want).max())


@pytest.fixture(scope="module")
def unfolded(once: Callable[..., Path]) -> Callable[[str], Path]:
    """The model as PyTorch's old exporter writes it, batch norms and all: 69 nodes for ResNet-18.
    The new one folds them (default) or keeps chains of Shape and Expand (traced)."""

    def export(name: str, folder: Path) -> None:
        inputs = tuple(torch.from_numpy(x) for x in example_inputs(name))
        preserve = torch.onnx.TrainingMode.PRESERVE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's own deprecations
            torch.onnx.export(MODELS[name].build(), inputs, folder / "unfolded.onnx", dynamo=False,
                              training=preserve, do_constant_folding=False)  # fmt: skip

    return lambda name: once(f"unfolded-{name}", lambda f: export(name, f)) / "unfolded.onnx"


def on_onnxruntime(model: onnx.ModelProto, name: str) -> np.ndarray:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]
    return np.asarray(session.run(None, dict(zip(names, example_inputs(name), strict=True)))[0])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", MODELS)
def test_torch_model_compiles_to_what_pytorch_computes(name: str, target: str, imported) -> None:
    inputs = example_inputs(name)
    compiled = course_lib.compile(imported(name), inputs, target=target)
    assert error(np.asarray(compiled(*inputs)), name) <= TOLERANCE


@pytest.mark.parametrize("name", MODELS)
def test_import_alone_means_what_pytorch_computes(name: str, imported) -> None:
    (got,) = run(imported(name), list(example_inputs(name)))
    assert error(got, name) <= TOLERANCE


@pytest.mark.parametrize("how", EXPORTS)
@pytest.mark.parametrize("name", MODELS)
def test_onnx_file_from_pytorch_means_the_same(name: str, how: str, exported, unfolded) -> None:
    path = unfolded(name) if how == "unfolded" else exported(name) / f"{how}.onnx"
    (got,) = run(from_onnx(path), list(example_inputs(name)))
    assert error(got, name) <= TOLERANCE
    assert error(on_onnxruntime(onnx.load(path), name), name) <= TOLERANCE


@pytest.mark.parametrize("name", MODELS)
def test_unfolded_onnx_file_compiles_to_machine_code(name: str, unfolded) -> None:
    compiled = course_lib.compile(unfolded(name))
    assert error(np.asarray(compiled(*example_inputs(name))), name) <= TOLERANCE


@pytest.mark.parametrize("opset", [13, 17, 20, 22])
@pytest.mark.parametrize("name", MODELS)
def test_our_onnx_export_runs_in_onnxruntime(name: str, opset: int, imported) -> None:
    assert error(on_onnxruntime(to_onnx(imported(name), opset), name), name) <= TOLERANCE


@pytest.mark.parametrize("name", MODELS)
def test_what_our_passes_made_of_a_model_runs_in_onnxruntime(name: str, imported) -> None:
    optimized = run_passes(imported(name), DEFAULT)
    assert any(node.op == "fused" for node in optimized.ops)
    assert error(on_onnxruntime(to_onnx(optimized), name), name) <= TOLERANCE


@pytest.mark.parametrize("opset", [13, 20, NEWEST_OPSET])
@pytest.mark.parametrize("name", MODELS)
def test_torch_to_graph_to_onnx_to_graph_keeps_every_bit(name: str, opset: int, imported) -> None:
    inputs = list(example_inputs(name))
    (there,) = run(imported(name), inputs)
    (back,) = run(from_onnx(to_onnx(imported(name), opset)), inputs)
    np.testing.assert_array_equal(there, back)


def test_resnet18_export_that_keeps_batch_norms_has_69_nodes(unfolded) -> None:
    path = unfolded("resnet18")
    ops = [node.op_type for node in onnx.load(path).graph.node]
    assert len(ops) == 69 and ops.count("BatchNormalization") == 20
    graph = from_onnx(path)
    assert sum(node.op == "batch_norm" for node in graph.ops) == 20
    assert all(node.origin for node in graph.ops)


def test_resnet18_from_torch_keeps_batch_norms_and_module_paths(imported) -> None:
    graph = imported("resnet18")
    norms = [node for node in graph.ops if node.op == "batch_norm"]
    assert len(norms) == 20
    assert {"bn1", "layer1.0.bn1", "layer4.0.downsample.1"} <= {n.origin[0] for n in norms}
    assert all(node.origin for node in graph.ops)
    weights = {node.name for node in graph.constants}
    assert {name for name, _ in MODELS["resnet18"].build().named_parameters()} <= weights
