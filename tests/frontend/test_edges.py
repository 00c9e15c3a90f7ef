"""What PyTorch and ONNX say of empty, masked, infinite and NaN tensors, both importers keep.

The functions of PyTorch below are exported as one program, the ONNX nodes stand in one model. Both
run with numpy and as machine code, and give what PyTorch, or ONNX's reference evaluator, gives.
Where the two mean different things, each has a row: the sign of NaN, the largest of nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from torch import nn

from course_lib.compiler import compile
from course_lib.frontend import load
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.graph_interp import run
from course_lib.peers.onnxruntime import onnxruntime_session

INF, NAN = float("inf"), float("nan")
ODD = [NAN, INF, -INF, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 5.0, -5.0, 0.1, 1e-30]


def empty(*shape: int) -> torch.Tensor:
    assert 0 in shape
    return torch.zeros(shape)


def t(*values: Any) -> torch.Tensor:
    return torch.tensor(values)


odd = t(*ODD)
pairs = [odd[:, None], odd]
Q, K, V = (torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(s)) for s in range(3))
HIDDEN = t([False, False, False], [True, False, True], [False, True, False])  # row 0 sees nothing
FLOATING = torch.where(HIDDEN, 0.5, -INF)
STRANGE = K.clone()
STRANGE[0, 0, 1], STRANGE[0, 1, 0] = INF, NAN
sdpa = F.scaled_dot_product_attention

TORCH: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    "any of nothing": (lambda x: x.any(), [empty(0)]),
    "any along an empty axis": (lambda x: x.any(1), [empty(2, 0)]),
    "any of bytes": (lambda x: x.any(1), [empty(2, 0).to(torch.uint8)]),
    "any of NaN": (lambda x: x.any(), [t(NAN, 0.0)]),
    "all of nothing": (lambda x: x.all(), [empty(0)]),
    "all along an empty axis": (lambda x: x.all(1, keepdim=True), [empty(2, 0)]),
    "mean of nothing": (lambda x: x.mean(), [empty(0, 3)]),
    "mean along an empty axis": (lambda x: x.mean(1), [empty(2, 0)]),
    "mean of no rows": (lambda x: x.mean(1), [empty(0, 2)]),
    "adaptive pooling of no pixels": (lambda x: F.adaptive_avg_pool2d(x, 1), [empty(1, 2, 0, 3)]),
    "adaptive pooling of no batch": (lambda x: F.adaptive_avg_pool2d(x, 2), [empty(0, 2, 4, 4)]),
    "adaptive pooling to nothing": (
        lambda x: F.adaptive_avg_pool2d(x, (0, 2)), [torch.ones(1, 2, 4, 4)]),
    "an infinity stays in its cell": (
        lambda x: F.adaptive_avg_pool2d(x, (2, 2)), [t(1.0, INF, 0.0, 0.0).expand(1, 1, 4, 4)]),
    "a NaN stays in its cells, which overlap": (
        lambda x: F.adaptive_avg_pool2d(x, (2, 3)), [t(1, INF, 0, 0, NAN).expand(1, 1, 4, 5)]),
    "sum and product of nothing": (lambda x: (x.sum(1), x.prod(1)), [empty(2, 0)]),
    "softmax along an empty axis": (lambda x: x.softmax(1), [empty(2, 0)]),
    "softmax of a masked row": (lambda x: (x.softmax(1), x.log_softmax(1)), [t([-INF, -INF])]),
    "variance of nothing": (lambda x: (x.var(1), x.std(1)), [empty(2, 0)]),
    "variance of one": (lambda x: (x.var(1), x.var(1, correction=0)), [torch.ones(2, 1)]),
    "variance without degrees of freedom": (
        lambda x: (x.var(1, correction=2), x.var(1, correction=3)), [t([1.0, 2.0], [2.0, 2.0])]),
    "norm of nothing": (lambda x: (x.norm(), torch.linalg.vector_norm(x, 1, 1)), [empty(2, 0)]),
    "logsumexp of nothing": (lambda x: x.logsumexp(1), [empty(2, 0)]),
    "logsumexp of infinities": (lambda x: x.logsumexp(1), [t([-INF, -INF], [INF, 0], [INF, -INF])]),
    "cumsum along an empty axis": (lambda x: x.cumsum(1), [empty(2, 0)]),
    "sort along an empty axis": (lambda x: tuple(x.sort(1)), [empty(2, 0)]),
    "sort with NaN": (lambda x: tuple(x.sort()), [t(1.0, NAN, -INF, INF, 0.0)]),
    "sort downwards with NaN": (
        lambda x: tuple(x.sort(descending=True)), [t(1.0, NAN, -INF, INF, 0.0)]),
    "the largest of none": (lambda x: tuple(x.topk(0)), [empty(2, 0)]),
    "the two largest, one is NaN": (lambda x: tuple(x.topk(2)), [t(1.0, NAN, INF, 0.0)]),
    "the two smallest, one is NaN": (
        lambda x: tuple(x.topk(2, largest=False)), [t(1.0, NAN, -INF, 0.0)]),
    "concat with an empty part": (
        lambda x, y: torch.cat([x, y], 1), [empty(2, 0), torch.ones(2, 1)]),
    "a product of no columns and no rows": (lambda x, y: x @ y, [empty(2, 0), empty(0, 3)]),
    "a product of no batch": (lambda x, y: x @ y, [empty(0, 2, 3), empty(0, 3, 3)]),
    "a linear layer without inputs": (F.linear, [empty(2, 0), empty(3, 0), torch.ones(3)]),
    "a convolution of no batch": (F.conv2d, [empty(0, 2, 4, 4), torch.ones(3, 2, 2, 2)]),
    "a layer norm of nothing": (lambda x: F.layer_norm(x, (0,)), [empty(2, 0)]),
    "a group norm of no batch": (lambda x: F.group_norm(x, 2), [empty(0, 4, 3)]),
    "average pooling beyond the edge": (
        lambda x: F.avg_pool2d(x, 2, 2, 1, ceil_mode=True, count_include_pad=False),
        [torch.ones(1, 1, 3, 3)]),
    "the sign of NaN is 0": (torch.sign, [odd]),
    "log1p and expm1": (lambda x: (x.log1p(), x.expm1()), [odd]),
    "floor division": (lambda x, y: (x // y, torch.div(x, y, rounding_mode="floor")), pairs),
    "truncated division": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), pairs),
    "powers": (lambda x: (x**0.5, x**2, x**0), [odd]),
    "clamped between limits that cross": (lambda x: x.clamp(2.0, 1.0), [odd]),
    "nan_to_num": (torch.nan_to_num, [odd]),
    "attention to nothing": (lambda q, k, v, m: sdpa(q, k, v, m), [Q, K, V, HIDDEN]),
    "attention to nothing, with floats": (
        lambda q, k, v, m: sdpa(q, k, v, m), [Q, K, V, FLOATING]),
    "attention of one head to nothing": (
        lambda q, k, v, m: sdpa(q, k, v, m), [Q[0], K[0], V[0], HIDDEN]),
    "attention to a hidden NaN": (lambda q, k, v, m: sdpa(q, k, v, m), [Q, STRANGE, V, HIDDEN]),
    "attention to no keys": (
        lambda q, k, v, m: sdpa(q, k, v, m), [Q, K[:, :, :0], V[:, :, :0], HIDDEN[:, :0]]),
    "causal attention": (lambda q, k, v: sdpa(q, k, v, is_causal=True), [Q, K, V]),
    "grouped attention to nothing": (
        lambda q, k, v, m: sdpa(q, k, v, m, enable_gqa=True), [Q, K[:, :1], V[:, :1], HIDDEN]),
}  # fmt: skip


class All(nn.Module):
    """Every function above on its own inputs."""

    def forward(self, *tensors: torch.Tensor) -> list[Any]:
        left, results = list(tensors), []
        for function, inputs in TORCH.values():
            own, left = left[: len(inputs)], left[len(inputs) :]
            found = function(*own)
            results += found if isinstance(found, tuple) else [found]
        return results


@pytest.fixture(scope="module")
def torch_results() -> Mapping[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """PyTorch's results, numpy's, and the machine code's."""
    tensors = [x for _, inputs in TORCH.values() for x in inputs]
    graph = load(All().eval(), tensors)
    arrays = [x.numpy() for x in tensors]
    ours = [run(graph, arrays), compile(graph, threads=1).run(arrays)]
    triples, found = iter(zip([x.numpy() for x in All()(*tensors)], *ours, strict=True)), {}
    for name, (function, inputs) in TORCH.items():
        wanted = function(*inputs)
        found[name] = [next(triples) for _ in (wanted if isinstance(wanted, tuple) else [wanted])]
    return found


@pytest.mark.parametrize("name", TORCH)
def test_a_function_gives_what_pytorch_gives(torch_results: Any, name: str) -> None:
    for want, *ours in torch_results[name]:
        for level, got in zip(("numpy", "machine code"), ours, strict=True):
            _same(got, want, f"{name}, {level}")


def _same(got: np.ndarray, want: np.ndarray, where: str) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape), where
    np.testing.assert_allclose(got, want, 1e-5, 1e-6, equal_nan=True, err_msg=where)


class Fn(nn.Module):
    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: torch.Tensor) -> Any:
        return self.fn(*args)


@pytest.mark.parametrize(
    "function", [torch.max, torch.min, lambda x: x.amax(1), lambda x: x.argmax(1)]
)
def test_an_extreme_of_nothing_is_refused_as_by_pytorch(function: Callable[..., Any]) -> None:
    x = empty(2, 0)
    with pytest.raises((RuntimeError, IndexError)):
        function(x)
    with pytest.raises(ValueError, match=r"largest|zero-size|non-zero"):
        load(Fn(function).eval(), [x])


def test_adaptive_pooling_of_no_pixels_to_several_cells_is_refused_as_by_pytorch() -> None:
    with pytest.raises(ValueError, match="nothing to average along axis 2"):
        load(Fn(lambda x: F.adaptive_avg_pool2d(x, 2)).eval(), [empty(1, 2, 0, 3)])


@pytest.mark.xfail(
    strict=True,
    reason="images.mix resizes by a product with a matrix that is mostly 0, and 0 * inf is NaN: an "
    "infinity spoils its whole row. Reading only the elements that have a weight mends it.",
)
def test_an_infinity_stays_where_it_is_in_a_larger_image() -> None:
    x = t(1.0, INF, 3.0, 4.0, 5.0, 6.0).reshape(1, 1, 1, 6)
    larger = Fn(lambda x: F.interpolate(x, scale_factor=(1, 2), mode="bilinear")).eval()
    (got,) = run(load(larger, [x]), [x.numpy()])
    _same(got[..., 5:], larger(x).numpy()[..., 5:], "beyond what the infinity reaches")


def test_a_sequence_that_is_all_padding_is_zeros_in_an_encoder() -> None:
    """As PyTorch's exported program; eager PyTorch has a fast path that gives NaN."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    padding = t([True, True, True], [False, False, True])
    module = Fn(lambda x, p: layer(x, src_key_padding_mask=p))
    module.layer = layer  # type: ignore[assignment]
    with torch.no_grad():
        want = torch.export.export(module.eval(), (x, padding)).module()(x, padding).numpy()
    assert np.isfinite(want).all()
    _same(compile(module, [x, padding]).run([x.numpy(), padding.numpy()])[0], want, "padding")


# ── ONNX ──

NOTHING = np.zeros((2, 0), np.float32)
ROWS = np.array([[INF, 1], [-INF, -INF], [NAN, 1], [-INF, 2]], np.float32)
LINE = np.array(ODD, np.float32)
PIXELS = np.zeros((1, 2, 0, 3), np.float32)
QKV = [x.numpy() for x in (Q, K, V)]
ALONG = np.array([1])
ONNX: dict[str, tuple[str, list[np.ndarray], dict[str, Any]]] = {
    **{f"{op} of nothing": (op, [NOTHING, ALONG], {}) for op in (
        "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")},
    **{f"{op} of {t}": (op, [NOTHING.astype(t), ALONG], {}) for op in ("ReduceMax", "ReduceMin")
       for t in ("int32", "bool")},
    **{f"{op} of infinities": (op, [ROWS, ALONG], {}) for op in ("ReduceMean", "ReduceMax")},
    "GlobalAveragePool of no pixels": ("GlobalAveragePool", [PIXELS], {}),
    "Softmax of nothing": ("Softmax", [NOTHING], {}),
    "Softmax of a masked row": ("Softmax", [ROWS], {}),
    "Hardmax of nothing": ("Hardmax", [NOTHING], {}),
    "Hardmax of infinities": ("Hardmax", [ROWS], {}),
    "ArgMax of infinities": ("ArgMax", [ROWS], {"axis": 1}),
    "the sign of NaN is NaN": ("Sign", [LINE], {}),
    "Elu": ("Elu", [LINE], {}),
    "Softplus": ("Softplus", [LINE], {}),
    "AveragePool in the padding": (
        "AveragePool", [np.ones((1, 1, 2, 2), np.float32)],
        {"kernel_shape": [2, 2], "pads": [2, 2, 2, 2], "count_include_pad": 0}),
    "CumSum of nothing": ("CumSum", [NOTHING, np.array(1)], {}),
    "TopK with NaN": ("TopK", [LINE, np.array([3])], {}),
    "Concat with an empty part": (
        "Concat", [NOTHING, np.ones((2, 1), np.float32)], {"axis": 1}),
    "Gemm without columns": ("Gemm", [NOTHING, NOTHING.T, np.ones(2, np.float32)], {}),
    "Attention to nothing": ("Attention", [*QKV, HIDDEN.numpy()], {}),
    "Attention to nothing, with floats": ("Attention", [*QKV, FLOATING.numpy()], {}),
    "causal Attention": ("Attention", QKV, {"is_causal": 1}),
}  # fmt: skip


@pytest.fixture(scope="module")
def onnx_results() -> Mapping[str, tuple[np.ndarray, ...]]:
    """The reference's first result of each node, numpy's, and the machine code's."""
    nodes, inputs, constants, outputs, feeds = [], [], [], [], {}
    for number, (op, arrays, attrs) in enumerate(ONNX.values()):
        names = [f"x{number}_{k}" for k in range(len(arrays))]
        results = [f"y{number}", f"z{number}"][: 2 if op == "TopK" else 1]
        nodes.append(helper.make_node(op, names, results, **attrs))
        outputs.append(helper.make_empty_tensor_value_info(results[0]))
        for name, array in zip(names, arrays, strict=True):
            if array.dtype == np.int64:
                constants.append(numpy_helper.from_array(array, name))
                continue
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
            feeds[name] = array
    graph = helper.make_graph(nodes, "edges", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        wanted = ReferenceEvaluator(model).run(None, feeds)
    ours = load(model, list(feeds.values()))
    results = [run(ours, list(feeds.values())), compile(ours, threads=1).run(list(feeds.values()))]
    return dict(zip(ONNX, zip(wanted, *results, strict=True), strict=True))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ONNX)
def test_a_node_gives_what_the_reference_gives(onnx_results: Any, name: str) -> None:
    want, *ours = onnx_results[name]
    for level, got in zip(("numpy", "machine code"), ours, strict=True):
        _same(got, np.asarray(want), f"{name}, {level}")


def one_node(op: str, *arrays: np.ndarray, **attrs: Any) -> bytes:
    names = [f"x{k}" for k in range(len(arrays))]
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names, arrays, strict=True)
    ]
    node = helper.make_node(op, names, ["y"], **attrs)
    graph = helper.make_graph([node], "one", inputs, [helper.make_empty_tensor_value_info("y")])
    opset = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def test_the_mean_of_nothing_is_where_onnxruntime_leaves_the_reference() -> None:
    """It gives 0. Of integers, the reference gives what NaN becomes; we say that there is none."""
    model = one_node("ReduceMean", np.zeros((0,), np.float32))
    (theirs,) = onnxruntime_session(model)([np.zeros((0,), np.float32)])
    assert theirs == 0 and np.isnan(compile(model).run([np.zeros((0,), np.float32)])[0])
    with pytest.raises(ValueError, match="does not say what the mean of no integers is"):
        load(one_node("ReduceMean", np.zeros((0,), np.int32)))


def test_global_max_pooling_of_no_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="no largest"):
        load(one_node("GlobalMaxPool", PIXELS))


@pytest.mark.parametrize("opset", [17, 21])
def test_any_and_all_of_truths_survive_our_export(opset: int) -> None:
    """Also of nothing, for which onnxruntime has no largest truth."""
    tensors = [t([True, False], [False, False]), torch.zeros((2, 0), dtype=torch.bool)]
    both = Fn(lambda x, y: [x.any(1), x.all(1), x.any(), y.any(1), y.all(1), y.all()]).eval()
    file = to_onnx(load(both, tensors), opset=opset).SerializeToString()
    got = onnxruntime_session(file)([x.numpy() for x in tensors])
    for mine, want in zip(got, both(*tensors), strict=True):
        _same(np.asarray(mine), want.numpy(), f"opset {opset}")
