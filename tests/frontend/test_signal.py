"""Sampling at positions that are data, and Fourier transforms, beside torch and onnxruntime."""

import itertools
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper

import course_lib
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.write import to_onnx
from course_lib.frontend.torch.export import from_torch
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply
from course_lib.ir.registry import flops
from course_lib.ir.types import type_of

RNG = np.random.default_rng(0)
PADDING = ("zeros", "border", "reflection")


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def positions(*shape: int) -> np.ndarray:
    """In the image, beside it, and far away."""
    grid = RNG.uniform(-2.5, 2.5, shape).astype(np.float32)
    grid.flat[:4] = 1e9, -1e9, -1, 1
    return grid


def both(graph: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    """The first result of the interpreter and of machine code."""
    return [run(graph, list(arrays))[0], np.asarray(course_lib.compile(graph)(*arrays))]


def session(nodes: list[onnx.NodeProto], weights: dict[str, np.ndarray], opset: int,
            **inputs: np.ndarray) -> tuple[onnx.ModelProto, np.ndarray]:  # fmt: skip
    """A model, and what onnxruntime makes of it."""
    infos = [helper.make_tensor_value_info(n, 1, v.shape) for n, v in inputs.items()]
    graph = helper.make_graph(
        nodes, "test", infos, [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(v, k) for k, v in weights.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", opset)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    running = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return proto, np.asarray(running.run(None, inputs)[0])


# ── grid_sample ──


class Sampler(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(self, x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        return F.grid_sample(x, grid, **self.options)


@pytest.mark.parametrize(("padding", "aligned"), [*itertools.product(PADDING, (False, True))])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "volume"])
def test_grid_sample_is_that_of_torch(mode: str, padding: str, aligned: bool) -> None:
    shape = (2, 3, 5, 6) if mode != "volume" else (2, 3, 5, 6, 4)
    x, grid = floats(*shape), positions(*shape[:1], *[4] * (len(shape) - 2), len(shape) - 2)
    module = Sampler(mode="bilinear" if mode == "volume" else mode, padding_mode=padding,
                     align_corners=aligned)  # fmt: skip
    inputs = [torch.as_tensor(x), torch.as_tensor(grid)]
    graph = from_torch(module.eval(), inputs)
    assert [n.op for n in graph.ops] == ["grid_sample"]
    for have in both(graph, x, grid):
        np.testing.assert_allclose(have, module(*inputs).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("padding", "aligned"), [*itertools.product(PADDING, (0, 1))])
@pytest.mark.parametrize(("opset", "mode"), [(16, "bilinear"), (16, "nearest"), (16, "bicubic"),
                                             (20, "linear"), (20, "cubic")])  # fmt: skip
def test_grid_sample_is_that_of_onnxruntime(
    opset: int, mode: str, padding: str, aligned: int
) -> None:
    x, grid = floats(2, 3, 5, 6), RNG.uniform(-1.9, 1.9, (2, 4, 4, 2)).astype(np.float32)
    attrs = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    node = helper.make_node("GridSample", ["x", "g"], ["y"], **attrs)
    proto, want = session([node], {}, opset, x=x, g=grid)
    graph = from_onnx(proto)
    for have in both(graph, x, grid):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
    back = from_onnx(to_onnx(graph, opset))
    np.testing.assert_array_equal(run(back, [x, grid])[0], run(graph, [x, grid])[0])


def test_grid_sample_counts_a_multiply_add_for_each_element_that_counts() -> None:
    make = lambda mode: trace(lambda x, g: apply("grid_sample", x, g, mode=mode),  # noqa: E731
                              "f32[1,3,8,8]", "f32[1,5,5,2]").ops[0]  # fmt: skip
    assert flops(make("linear")) == 2 * 4 * 3 * 25
    assert flops(make("cubic")) == 2 * 16 * 3 * 25
    assert flops(make("nearest")) == 0


@pytest.mark.parametrize(
    ("x", "grid", "words"),
    [
        ("f32[1,3,8,8]", "f32[1,5,5,3]", r"needs a grid\[n,out...,2\]"),
        ("f32[1,3,8,8]", "f32[2,5,5,2]", "and its batch size"),
        ("f32[1,3,8,8]", "i64[1,5,5,2]", "works on float tensors"),
        ("f32[1,3,0,8]", "f32[1,5,5,2]", "holds nothing to sample"),
    ],
)
def test_grid_that_does_not_fit_is_refused(x: str, grid: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        trace(lambda a, g: apply("grid_sample", a, g), x, grid)


def test_older_onnx_has_no_volumes() -> None:
    types = "f32[1,1,2,2,2]", "f32[1,2,2,2,3]"
    graph = trace(lambda x, g: apply("grid_sample", x, g), *types)
    with pytest.raises(ValueError, match="opset 19 has no op for this"):
        to_onnx(graph, 19)


# ── Fourier transforms ──


def complex_of(x: np.ndarray) -> np.ndarray:
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0].astype(np.complex64)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 67, 134, 400, 1000, 2048])
@pytest.mark.parametrize("parts", [1, 2])
def test_dft_is_the_fft_of_torch(n: int, parts: int) -> None:
    x = floats(2, n, parts)
    signal = torch.as_tensor(complex_of(x))
    wanted = {(False, False): torch.fft.fft(signal), (True, False): torch.fft.ifft(signal)}
    if parts == 1:
        wanted[False, True] = torch.fft.rfft(signal.real)
    if n > 1:
        wanted[True, True] = torch.fft.irfft(signal)
    for (inverse, onesided), want in wanted.items():
        attrs = {"axis": 1, "inverse": inverse, "onesided": onesided}
        graph = trace(lambda v, attrs=attrs: apply("dft", v, **attrs), type_of(x))
        have = complex_of(run(graph, [x])[0])
        largest = float(np.abs(want.numpy()).max())
        np.testing.assert_allclose(have, want.numpy(), rtol=0, atol=1e-6 * largest)


def test_long_dft_costs_far_less_than_the_matrix() -> None:
    node = trace(lambda x: apply("dft", x, axis=1), "f32[1,4096,2]").ops[0]
    assert flops(node) < 0.05 * 8 * 4096**2  # 8: a complex multiply-add


@pytest.mark.parametrize(
    ("text", "attrs", "words"),
    [
        ("f32[1,8191,1]", {"axis": 1}, "which no number from 2 to 64 divides"),
        ("f32[1,8,2]", {"axis": 1, "onesided": True}, "enough only for real numbers"),
        ("f32[1,8,3]", {"axis": 1}, r"holds 1 \(real\) or 2 parts"),
        ("f32[1,8,2]", {"axis": 2}, "holds the parts of a number"),
        ("f32[1,0,2]", {"axis": 1}, "holds nothing to transform"),
        ("i32[1,8,2]", {"axis": 1}, "works on float tensors"),
    ],
)
def test_dft_that_cannot_be_is_refused_in_words(text: str, attrs: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        trace(lambda x: apply("dft", x, **attrs), text)


@pytest.mark.parametrize(("inverse", "onesided", "parts"), [(0, 0, 1), (0, 0, 2), (1, 0, 2),
                                                            (0, 1, 1)])  # fmt: skip
@pytest.mark.parametrize("length", [None, 20, 9])
def test_dft_is_that_of_onnxruntime(inverse: int, onesided: int, parts: int, length: Any) -> None:
    x = floats(2, 12, 3, parts)
    weights = {} if length is None else {"n": np.array(length)}
    node = helper.make_node("DFT", ["x", *weights], ["y"], axis=1, inverse=inverse,
                            onesided=onesided)  # fmt: skip
    proto, want = session([node], weights, 17, x=x)
    for have in both(from_onnx(proto), x):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=2e-5)


def test_stft_is_that_of_onnxruntime_and_of_torch() -> None:
    x, window = floats(2, 200, 1), np.hanning(48).astype(np.float32)
    weights = {"step": np.array(16), "window": window, "size": np.array(48)}
    node = helper.make_node("STFT", ["x", *weights], ["y"])
    proto, want = session([node], weights, 17, x=x)
    theirs = torch.stft(torch.as_tensor(x[..., 0]), 48, 16, window=torch.as_tensor(window),
                        center=False, return_complex=True)  # fmt: skip
    for have in both(from_onnx(proto), x):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=2e-5)
        np.testing.assert_allclose(complex_of(have).swapaxes(1, 2), theirs.numpy(), atol=2e-5)


@pytest.mark.parametrize(
    ("step", "window", "size", "words"),
    [(16, 32, 48, r"the window f32\[32\] must be as long as a frame, 48"),
     (0, 48, 48, "frames of 48, 0 apart, do not fit"),
     (16, 300, 300, "frames of 300, 16 apart, do not fit")],
)  # fmt: skip
def test_frames_that_do_not_fit_are_refused(step: int, window: int, size: int, words: str) -> None:
    weights = {"step": np.array(step), "window": floats(window), "size": np.array(size)}
    node = helper.make_node("STFT", ["x", *weights], ["y"])
    infos = [helper.make_tensor_value_info("x", 1, [2, 200, 1])]
    out = [helper.make_empty_tensor_value_info("y")]
    given = [numpy_helper.from_array(v, k) for k, v in weights.items()]
    graph = helper.make_graph([node], "test", infos, out, given)
    with pytest.raises(ValueError, match=words):
        from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
