"""Models as people bring them: each one here was once refused, crashed a pass or came out wrong."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional as F

import course_lib
from course_lib.__main__ import main

TARGETS = ("cpu", "interpreter")


def agrees(model: Any, *inputs: torch.Tensor, tolerance: float = 1e-5) -> None:
    """Both targets give what PyTorch gives, relative to the largest value."""
    with torch.no_grad():
        wanted = model(*inputs)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for target in TARGETS:
        outputs = course_lib.compile(model, inputs, target=target).run([x.numpy() for x in inputs])
        for have, want in zip(outputs, wanted, strict=True):
            scale = want.abs().max().item()
            np.testing.assert_allclose(have, want.numpy(), rtol=0, atol=tolerance * scale)


def command(capsys, *arguments: object) -> tuple[int, dict[str, Any]]:
    """The exit status and the JSON of a command."""
    status = main([*map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out.splitlines()[-1])


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def test_reductions_of_different_ranks_stand_in_one_model() -> None:
    """Global pooling, then softmax: the axes of the one do not exist in the other."""
    model = Function(lambda x: x.mean((2, 3)).softmax(-1)).eval()
    agrees(model, torch.randn(2, 13, 7, 5))
    agrees(model.half(), torch.randn(2, 13, 7, 5).half(), tolerance=2e-3)


@pytest.mark.parametrize(("beta", "threshold"), [(1.0, 20.0), (2.0, 3.0), (0.5, 0.1)])
def test_softplus_is_the_identity_above_its_threshold(beta: float, threshold: float) -> None:
    agrees(Function(lambda x: F.softplus(x, beta, threshold)).eval(), 3 * torch.randn(3, 9, 7))


# ── what a forward takes and returns ──


def test_a_dropout_that_ignores_eval_mode_is_refused() -> None:
    """It would draw random numbers in PyTorch; leaving it out would be another model."""
    with pytest.raises(ValueError, match=r"training=self\.training"):
        course_lib.compile(Function(F.dropout).eval(), [torch.ones(3)])
    agrees(Function(lambda x: F.dropout(x, 0.5, training=False) + 1).eval(), torch.ones(3))


def test_a_result_that_is_none_is_no_result() -> None:
    attention = nn.MultiheadAttention(8, 2).eval()
    x = torch.randn(5, 1, 8)
    model = Function(lambda x: attention(x, x, x, need_weights=False)).eval()
    result = course_lib.compile(model, [x])(x)
    torch.testing.assert_close(result, model(x)[0].detach(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="returns 7, which is not a tensor"):
        course_lib.compile(Function(lambda x: (x, 7)).eval(), [x])


@pytest.mark.parametrize("together", [{"a": torch.ones(2)}, [torch.ones(2)], (torch.ones(2),)])
def test_tensors_inside_an_input_are_refused_in_words(together: Any) -> None:
    with pytest.raises(ValueError, match="each tensor as an input of its own"):
        course_lib.compile(Function(lambda x, y: x).eval(), [torch.ones(2), together])
    with pytest.raises(ValueError, match="must be an array, a tensor or a number, got 'x'"):
        course_lib.compile(Function(lambda x: x).eval(), ["x"])


def test_a_branch_on_the_value_of_a_tensor_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="depends on the value of a tensor"):
        course_lib.compile(Function(lambda x: x if x.sum() > 0 else -x).eval(), [torch.ones(3)])


# ── writing by index ──


def put(where: Any, accumulate: bool = False) -> nn.Module:
    def function(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        indices: Any = where(x) if callable(where) else where
        return torch.ops.aten.index_put(x, indices, values, accumulate)

    return Function(function).eval()


ONE, TWO = torch.tensor([1, -1, 0]), torch.tensor([[1], [2]])


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    ("where", "values"),
    [
        ((ONE,), (3, 5, 6)), ((ONE,), (6,)), ((ONE, TWO), (2, 3, 6)), ((None, ONE), (4, 3, 6)),
        ((None, None, ONE), ()), ((None, ONE, TWO), (4, 2, 3)), ((lambda x: (x > 0,)), ()),
        ((lambda x: (None, x[0] > 0)), ()), ((lambda x: (x[:, :, 0] > 0,)), (1,)),
    ],
)  # fmt: skip
def test_elements_are_written_by_index(where: Any, values: tuple, accumulate: bool) -> None:
    torch.manual_seed(0)
    agrees(put(where, accumulate), torch.randn(4, 5, 6), torch.randn(values))


def test_an_assignment_in_forward_and_index_add() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        cache = torch.zeros(6, 4)
        cache[torch.tensor([0, 5])] = x[:2]
        cache[cache < 0] = 9.0
        return cache.index_add(0, torch.tensor([1, 1, 3]), x)

    agrees(Function(function).eval(), torch.randn(3, 4))


# ── ONNX files with an open batch ──


class Pooled(nn.Module):
    """Rounding up, splitting and resizing are translated for numbers, not for symbols."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left, right = F.max_pool2d(x, 3, 2, ceil_mode=True).split([2, 4], dim=1)
        return F.interpolate(right, size=(9, 11), mode="bilinear") + left.mean()


@pytest.fixture
def open_batch(tmp_path: Path) -> Path:
    path = tmp_path / "open.onnx"
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(
            Pooled().eval(), (torch.randn(3, 6, 13, 14),), path, dynamo=False, opset_version=17,
            input_names=["in:0/é"], dynamic_axes={"in:0/é": {0: "batch"}},
        )  # fmt: skip
    return path


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("target", TARGETS)
def test_the_inputs_give_an_open_batch_its_size(
    open_batch: Path, target: str, tmp_path: Path, capsys
) -> None:
    stored = tmp_path / "in.npz"
    np.savez(stored, np.random.default_rng(0).standard_normal((5, 6, 13, 14)).astype(np.float32))
    for inputs, batch in (((), 1), (("--inputs", stored), 5)):
        status, data = command(
            capsys, "run", open_batch, "--compare", "onnxruntime", "--target", target,
            "--repeat", 1, *inputs,
        )  # fmt: skip
        assert status == 0 and data["compare"]["max_rel_error"] < 1e-5
        assert data["outputs"] == [f"float32[{batch}, 4, 9, 11]"]
    assert command(capsys, "show", open_batch, "--stage", "loops")[0] == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_size_that_the_file_fixes_is_not_replaced(open_batch: Path) -> None:
    with pytest.raises(ValueError, match=r"'in:0/é' must be f32\[batch,6,13,14\], got f32\[5,"):
        course_lib.compile(open_batch, [np.zeros((5, 6, 13, 15), np.float32)])


def test_an_input_without_a_shape_takes_that_of_its_example(tmp_path: Path, capsys) -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "shapeless",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )  # fmt: skip
    path, stored = tmp_path / "shapeless.onnx", tmp_path / "in.npz"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    np.savez(stored, x=np.ones((2, 7), np.float32))
    assert command(capsys, "run", path, "--inputs", stored)[1]["outputs"] == ["float32[2, 7]"]
    status, data = command(capsys, "run", path)
    assert status == 1 and "'x' has no shape: give --inputs FILE.npz" in data["error"]


def test_a_peer_that_cannot_run_the_model_is_quoted(tmp_path: Path, capsys) -> None:
    """onnxruntime has no erf for doubles; we have."""
    path = tmp_path / "double.onnx"
    graph = helper.make_graph(
        [helper.make_node("Erf", ["x"], ["y"])], "double",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [3])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [3])],
    )  # fmt: skip
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path
    )
    assert command(capsys, "run", path, "--repeat", 1)[0] == 0
    status, data = command(capsys, "run", path, "--compare", "onnxruntime")
    assert status == 1 and data["error"].startswith("onnxruntime cannot run this model: ")


@pytest.mark.parametrize(("shape", "ran"), [([], []), (["2*batch", 3], [1, 3])])
def test_inputs_of_rank_0_and_sizes_without_a_plain_name(
    shape: list[Any], ran: list[int], tmp_path: Path, capsys
) -> None:
    path = tmp_path / "neg.onnx"
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])], "neg",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    for target in TARGETS:
        status, data = command(capsys, "run", path, "--compare", "onnxruntime", "--target", target)
        assert status == 0 and data["outputs"] == [f"float32{ran}"]
