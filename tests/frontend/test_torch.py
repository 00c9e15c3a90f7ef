"""torch.export programs become graphs that mean what PyTorch computes.

Each op test traces a small function, runs the graph on the interpreter and compares with PyTorch:
same shape, same element type, values up to rounding.
"""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._pytree import tree_leaves

from course_lib.frontend import UnsupportedOps, coverage, load
from course_lib.frontend.torch.export import from_torch
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.parse import parse_graph


class Fn(nn.Module):
    """A function as a module."""

    def __init__(self, fn) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args):
        return self.fn(*args)


def floats(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def whole(*shape: int, below: int = 4) -> torch.Tensor:
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(1))


def check(module: nn.Module, *inputs: torch.Tensor, tolerance: float = 1e-5) -> Graph:
    """The graph of the module, after comparing what it computes with PyTorch."""
    module = module.eval()
    graph = from_torch(module, inputs)
    got = run(graph, [x.numpy() for x in inputs])
    with torch.no_grad():
        want = module(*inputs)
    want = tree_leaves(want)
    assert len(got) == len(want)
    for have, tensor in zip(got, want, strict=True):
        assert have.shape == tuple(tensor.shape) and have.dtype == tensor.numpy().dtype
        np.testing.assert_allclose(have, tensor.numpy(), rtol=tolerance, atol=tolerance)
    assert print_graph(parse_graph(print_graph(graph, "exact")), "exact") == print_graph(
        graph, "exact"
    )
    return graph


X = floats(2, 6, 8)
IMAGE = floats(2, 4, 9, 11)
POSITIVE = floats(3, 5).abs() + 0.1

FUNCTIONS = {
    # numbers and element types
    "add_number_to_int": (lambda x: x + 2.5, whole(3)),
    "add_alpha": (lambda x: torch.add(x, x * 2, alpha=3), X),
    "sub_from_number": (lambda x: 1 - x, X),
    "divide_ints": (lambda x: x / 3, whole(4)),
    "floor_divide": (lambda x: (x - 2) // 3, whole(8)),
    "divide_truncating": (lambda x: torch.div(x, 0.3, rounding_mode="trunc"), X),
    "remainder": (lambda x: x % 0.7, X),
    "power": (lambda x: x**2 + x**3 + x.abs() ** 0.5, X),
    "number_to_a_power": (lambda x: 2**x, X),
    "mixed_types": (lambda x, i: x[..., :3] * i, X, whole(3)),
    "scalar_tensor_keeps_type": (lambda x: x * torch.tensor(2.0, dtype=torch.float64), X),
    "casts": (lambda x: (x.to(torch.int32), x.double(), x > 0, x.bool().float()), X),
    # elementwise
    "unary": (lambda x: x.sin() + x.cos().exp() - x.tanh() + x.sigmoid() + x.erf() - x.neg(), X),
    "logs": (lambda x: x.log() + x.log2() + x.log1p() + x.log10() + x.rsqrt(), POSITIVE),
    "near_zero": (lambda x: (x.log1p() / x, x.expm1() / x, x.exp2()), POSITIVE * 1e-6),
    "expm1": (lambda x: x.expm1(), X * 20),
    "rounding": (lambda x: (x.floor(), x.ceil(), x.round(), x.trunc()), X * 3),
    "activations": (lambda x: F.silu(x) + F.hardswish(x) + F.hardsigmoid(x) + F.mish(x), X),
    "more_activations": (lambda x: F.elu(x) + F.leaky_relu(x) + F.softplus(x) + F.selu(x), X),
    "gelus": (lambda x: F.gelu(x) + F.gelu(x, approximate="tanh"), X),
    "relu6": (lambda x: F.relu6(x * 5) + F.hardtanh(x), X),
    "clamps": (lambda x: x.clamp(-1, 1) + x.clamp(min=0.2) + x.clamp(max=0.3), X),
    "clamp_ints": (lambda x: x.clamp(1, 2), whole(9)),
    "where": (lambda x: torch.where(x > 0, x, -1.0), X),
    "masked_fill": (lambda x: x.masked_fill(x < 0, -math.inf), X),
    "logic": (lambda x: (x > 0) & (x < 1) | ~(x > -1) ^ torch.logical_not(x > 2), X),
    "comparisons": (lambda x: ((x == 1), (x != 1), (x <= 1), (x >= 1)), whole(9)),
    # reductions
    "sums": (lambda x: (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True)), X),
    "sum_of_bools": (lambda x: (x > 0).sum(-1), X),
    "means": (lambda x: (x.mean(), x.mean(-1, keepdim=True), x.mean((0, 1))), X),
    "extremes": (lambda x: (x.amax(1), x.amin((0, 2)), x.max(), x.min()), X),
    "extremes_with_places": (lambda x: (*x.max(1), *x.min(-1, keepdim=True)), X),
    "argmax": (lambda x: (x.argmax(), x.argmax(1), x.argmin(-1, keepdim=True)), X),
    "variance": (lambda x: (x.var(-1), x.std(1), x.var(1, correction=0)), X),
    "any_all": (lambda x: ((x > 0).any(1), (x > -9).all(), (x > 1).all(-1)), X),
    "logsumexp": (lambda x: torch.logsumexp(x, -1), X),
    "norm": (lambda x: torch.linalg.vector_norm(x, dim=-1), X),
    "cumsum": (lambda x: x.cumsum(1), X),
    "prod": (lambda x: x.prod(-1), X),
    "softmaxes": (lambda x: F.softmax(x, 1) + F.log_softmax(x, -1), X),
    # shapes
    "reshapes": (lambda x: x.view(2, -1).reshape(6, 16).flatten().unflatten(0, (4, 24)), X),
    "axes": (lambda x: x.unsqueeze(1).transpose(0, 1).squeeze(0).permute(2, 0, 1), X),
    "expand": (lambda x: x[:, :1].expand(-1, 5, -1), X),
    "repeat": (lambda x: x.repeat(2, 1, 3), X),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, dim=1), X),
    "slices": (lambda x: x[:, 1:-1, ::3] + x[0, 2:6, :3], X),
    "select": (lambda x: x[1, :, -1], X),
    "split": (lambda x: x.split(4, dim=1), X),
    "split_sizes": (lambda x: x.split([1, 2, 3], dim=1), X),
    "chunk": (lambda x: x.chunk(3, dim=-1), X),
    "unbind": (lambda x: x.unbind(0), X),
    "cat_stack": (lambda x: torch.stack([torch.cat([x, x * 2], 1), torch.cat([x, x], 1)], 1), X),
    "flip_roll": (lambda x: x.flip(1, 2) + x.roll((1, -2), (0, 2)), X),
    "roll_everything": (lambda x: x.roll(5), X),
    "pads": (lambda x: F.pad(x, (1, 2, 0, 3), value=7.0), X),
    "pad_reflect": (lambda x: F.pad(x, (2, 1, 1, 2), mode="reflect"), IMAGE),
    "pad_replicate": (lambda x: F.pad(x, (2, 1, 1, 2), mode="replicate"), IMAGE),
    "pad_circular": (lambda x: F.pad(x, (2, 1, 1, 2), mode="circular"), IMAGE),
    "pad_negative": (lambda x: F.pad(x, (-1, 2, 1, -2)), X),
    "tril_triu": (lambda x: x.tril() + x.triu(1) + x.tril(-2), X),
    # picking and making
    "index_select": (lambda x, i: x.index_select(1, i), X, whole(5)),
    "advanced_index": (lambda x, i: x[:, i, i + 1], X, whole(5)),
    "gather": (lambda x, i: x.gather(1, i), X, whole(2, 3, 8)),
    "scatter": (lambda x, i: x.scatter(1, i, 9.0), X, whole(2, 1, 8)),
    "scatter_add": (lambda x, i: x.scatter_add(1, i, x), X, whole(2, 6, 8)),
    "one_hot": (lambda i: F.one_hot(i, 4), whole(3, 2)),
    "topk": (lambda x: torch.topk(x, 3, dim=1), X),
    "sort": (lambda x: torch.sort(x, dim=1, descending=True), X),
    "arange": (lambda x: x + torch.arange(8) * torch.arange(1, 17, 2), X),
    "fills": (lambda x: x + torch.zeros(8) + torch.ones_like(x) + torch.full((6, 1), 3.0), X),
    "meshgrid": (
        lambda x: x + torch.meshgrid(torch.arange(6), torch.arange(8), indexing="ij")[1],
        X,
    ),
    "slice_assignment": (lambda x: _assigned(x), X),
    # products
    "matmul_broadcast": (lambda x: x @ x.transpose(1, 2) @ x[0], X),
    "matmul_vectors": (lambda x: (x @ x[0, 0], x[0, :, 0] @ x[0], x[0, 0] @ x[1, 0]), X),
    "einsum": (lambda x: torch.einsum("bij,bkj->bik", x, x), X),
    "baddbmm": (lambda x: torch.baddbmm(x[:, :, :6], x, x.mT, beta=2, alpha=0.5), X),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x), X),
    "attention_causal": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), X),
    "attention_mask": (
        lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=x[:, :, :6] > -0.5, scale=0.3),
        X,
    ),
    "attention_grouped": (
        lambda x: F.scaled_dot_product_attention(x, x[:, ::2], x[:, ::2], enable_gqa=True),
        IMAGE,
    ),
    # images
    "max_pool": (lambda x: F.max_pool2d(x, 3, stride=2, padding=1), IMAGE),
    "max_pool_ceil": (lambda x: F.max_pool2d(x, 3, stride=2, ceil_mode=True, dilation=2), IMAGE),
    "avg_pool": (lambda x: F.avg_pool2d(x, 3, stride=2, padding=1), IMAGE),
    "avg_pool_ceil": (lambda x: F.avg_pool2d(x, 3, 2, padding=1, ceil_mode=True), IMAGE),
    "avg_pool_exclude": (lambda x: F.avg_pool2d(x, 2, padding=1, count_include_pad=False), IMAGE),
    "pool_1d": (lambda x: F.max_pool1d(x, 2) + F.avg_pool1d(x, 2), X),
    "adaptive_pool": (lambda x: F.adaptive_avg_pool2d(x, (4, 3)), IMAGE),
    "adaptive_pool_1": (lambda x: F.adaptive_avg_pool2d(x, 1), IMAGE),
    "upsample_nearest": (lambda x: F.interpolate(x, scale_factor=2), IMAGE),
    "upsample_to_size": (lambda x: F.interpolate(x, size=(13, 5)), IMAGE),
    "upsample_bilinear": (
        lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=False),
        IMAGE,
    ),
    "upsample_corners": (
        lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=True),
        IMAGE,
    ),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), IMAGE),
    "rms_norm": (lambda x: F.rms_norm(x, (8,)), X),
}


def _assigned(x: torch.Tensor) -> torch.Tensor:
    """Writes into a tensor: torch.export makes that a pure function."""
    y = x.clone()
    y[:, 1:3] = 0
    y[:, :, ::2] += 1
    y[0] = y[1]
    return y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_means_what_pytorch_computes(name: str) -> None:
    fn, *inputs = FUNCTIONS[name]
    check(Fn(fn), *inputs)


LAYERS = {
    "linear": (lambda: nn.Linear(8, 3), X),
    "linear_without_bias": (lambda: nn.Linear(8, 3, bias=False), X),
    "conv": (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1), IMAGE),
    "conv_dilated": (lambda: nn.Conv2d(4, 6, 3, padding=2, dilation=2, groups=2), IMAGE),
    "conv_same": (lambda: nn.Conv2d(4, 6, (5, 3), padding="same"), IMAGE),
    "conv_depthwise": (lambda: nn.Conv2d(4, 8, 3, groups=4), IMAGE),
    "conv_circular": (lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), IMAGE),
    "conv_1d": (lambda: nn.Conv1d(6, 5, 3, padding=1), X),
    "conv_3d": (lambda: nn.Conv3d(2, 3, 2), floats(1, 2, 4, 5, 6)),
    "conv_transpose": (
        lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1),
        IMAGE,
    ),
    "conv_transpose_groups": (lambda: nn.ConvTranspose2d(4, 6, 2, stride=3, groups=2), IMAGE),
    "batch_norm": (lambda: nn.BatchNorm2d(4), IMAGE),
    "batch_norm_plain": (lambda: nn.BatchNorm2d(4, affine=False), IMAGE),
    "layer_norm": (lambda: nn.LayerNorm(8), X),
    "layer_norm_two_axes": (lambda: nn.LayerNorm([6, 8]), X),
    "layer_norm_plain": (lambda: nn.LayerNorm(8, elementwise_affine=False), X),
    "layer_norm_no_bias": (lambda: nn.LayerNorm(8, bias=False), X),
    "rms_norm": (lambda: nn.RMSNorm(8), X),
    "group_norm": (lambda: nn.GroupNorm(2, 4), IMAGE),
    "instance_norm": (lambda: nn.InstanceNorm2d(4, affine=True), IMAGE),
    "relu_in_place": (lambda: nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True)), X),
    "dropout": (lambda: nn.Sequential(nn.Dropout(0.5), nn.Linear(8, 2)), X),
    "embedding": (lambda: nn.Embedding(4, 5), whole(2, 3)),
    "prelu": (lambda: nn.PReLU(4), IMAGE),
    "glu": (lambda: nn.GLU(), X),
    "lstm": (lambda: nn.LSTM(8, 5, batch_first=True, bidirectional=True), X),
    "lstm_cell": (lambda: nn.LSTMCell(8, 5), X[0]),
    "gru": (lambda: nn.GRU(8, 5), X),
    "attention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), X, X, X),
    "encoder_layer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), X),
    "upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE),
    "hardswish": (lambda: nn.Hardswish(), X),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer_means_what_pytorch_computes(name: str) -> None:
    build, *inputs = LAYERS[name]
    torch.manual_seed(0)
    check(build(), *inputs)


def test_number_beyond_f32_is_infinite_and_one_beyond_f16_is_refused() -> None:
    """As in PyTorch, which computes with a number beyond f16 in f32; ours cannot say that."""
    x = torch.tensor([1.0, -2.0, 3.0])
    check(Fn(lambda x: x + 1e300), x)
    check(Fn(lambda x: x * -1e39), x)
    check(Fn(lambda x: x < 1e300), x)
    with pytest.raises(ValueError, match=r"aten.mul.Tensor .*f16 has no number 100000"):
        check(Fn(lambda x: x * 1e5), x.half())


def test_float64_model_stays_float64() -> None:
    graph = check(nn.Linear(3, 2).double(), floats(4, 3).double(), tolerance=1e-12)
    assert {str(n.type.dtype) for n in graph.nodes} == {"f64"}


def test_model_in_training_mode_is_refused_by_name() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout()).eval()
    model[1].train()
    with pytest.raises(ValueError, match=r"but 1 is in training mode.*model\.eval\(\)"):
        from_torch(model, [floats(2)])


def test_unsupported_ops_are_listed_all_at_once() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Fn(lambda x: torch.special.bessel_j0(x) + torch.digamma(x))

        def forward(self, x):
            return torch.digamma(self.inner(x).relu())

    with pytest.raises(UnsupportedOps) as caught:
        from_torch(Odd().eval(), [floats(3)])
    message = str(caught.value)
    assert "aten.digamma.default (2 times): inner, Odd" in message
    assert "special_bessel_j0.default (1 time): inner" in message and "relu" not in message
    assert isinstance(caught.value, ValueError)
    assert len(caught.value.ops) == 3


def test_shape_that_depends_on_data_is_refused() -> None:
    with pytest.raises(ValueError, match="not known at compile time"):
        from_torch(Fn(lambda x: x[x > 0]).eval(), [floats(4)])


def test_model_without_example_inputs_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="give example inputs"):
        load(nn.Linear(2, 2).eval())


def test_error_inside_the_model_is_reported_as_such() -> None:
    with pytest.raises(ValueError, match="cannot trace Linear"):
        from_torch(nn.Linear(3, 2).eval(), [floats(4, 5)])


def test_a_wrong_shape_is_said_once_and_torch_logs_nothing_of_its_own(capfd):
    with pytest.raises(ValueError, match=r"cannot trace Linear: .* \[2, 5\] X \[4, 3\]"):
        load(nn.Linear(4, 3).eval(), [np.ones((2, 5), np.float32)])
    assert capfd.readouterr().err == ""


def test_model_that_changes_its_state_is_refused() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += 1
            return x + self.count

    with pytest.raises(ValueError, match=r"changes its own state \(count\)"):
        from_torch(Counter().eval(), [floats(1)])


def test_bfloat16_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"bfloat16 is not supported.*model\.float\(\)"):
        from_torch(nn.Linear(2, 2).to(torch.bfloat16).eval(), [floats(2).to(torch.bfloat16)])


def test_result_that_we_do_not_compute_is_named_if_it_is_used() -> None:
    def places(x: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(x, 2, return_indices=True)[1] + 1

    with pytest.raises(ValueError, match=r"add\.Tensor.*reads getitem_1.*only in part"):
        from_torch(Fn(places).eval(), [IMAGE])


def test_weights_are_constants_named_as_in_the_model() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).eval()
    graph = from_torch(model, [floats(2, 4)])
    names = {node.name for node in graph.constants}
    assert {"0.weight", "0.bias", "1.weight", "1.running_mean", "1.running_var"} <= names
    assert [n.origin for n in graph.ops if n.op in ("matmul", "batch_norm")] == [("0",), ("1",)]


def test_graph_does_not_share_memory_with_the_model() -> None:
    model = nn.Linear(2, 2).eval()
    graph = from_torch(model, [floats(2)])
    before = run(graph, [np.ones(2, np.float32)])[0]
    with torch.no_grad():
        model.weight.zero_()
    np.testing.assert_array_equal(run(graph, [np.ones(2, np.float32)])[0], before)


def test_every_rule_is_for_an_op_that_pytorch_has() -> None:
    names = [name for name in coverage()["aten"] if name != "getitem"]
    for name in names:
        packet, _, overload = name.partition(".")
        op = getattr(torch.ops.aten, packet)  # AttributeError if there is none
        assert not overload or overload in op.overloads(), name
    assert len(names) > 200


def test_dead_code_is_imported_only_if_asked_for():
    def noisy(x):
        x.exp().sum()  # nobody reads it; torch.export records it all the same
        return x.relu()

    program = torch.export.export(Fn(noisy).eval(), (floats(4),))
    assert [n.op for n in from_torch(program).ops] == ["relu"]
    kept = from_torch(program, keep_dead=True)
    assert sorted(n.op for n in kept.ops) == ["exp", "reduce_sum", "relu"]
    assert len(kept.outputs) == 1


def test_modules_that_six_threads_bring_at_the_same_time_are_all_read() -> None:
    def read(width: int) -> list[np.ndarray]:
        layers = nn.Linear(width, 8), nn.ReLU(), nn.LayerNorm(8), nn.Hardswish()
        model, x = nn.Sequential(*layers).eval(), torch.ones(2, width)
        with torch.no_grad():
            return [model(x).numpy(), *run(from_torch(model, [x]), [x.numpy()])]

    with ThreadPoolExecutor(6) as threads:
        for wanted, got in threads.map(read, range(3, 9)):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
