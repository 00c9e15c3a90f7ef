"""Winograd's convolution computes the same, as exactly; what it cannot do is left alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import course_lib
from course_lib.cost.layout import winograd_pays
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const
from course_lib.ir.graph.verify import verify
from course_lib.ir.ops.winograd import FILTERS, PIXELS, RESULTS
from course_lib.ir.registry import flops
from course_lib.passes.clean.dce import dce
from course_lib.passes.layout.winograd import by_winograd, can, winograd
from course_lib.passes.pipeline import DEFAULT, WINOGRAD
from course_lib.passes.prepare.decompose import decompose
from course_lib.peers.onnxruntime import onnxruntime_session

RNG = np.random.default_rng(5)


def some(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def conv_of(channels=64, size=(14, 14), results=64, kernel=3, n=1, **attrs):
    filters = const(some(results, channels // attrs.get("groups", 1), kernel, kernel))
    shape = f"f32[{n},{channels},{size[0]},{size[1]}]"
    return trace(lambda x: apply("conv", x, filters, **attrs), shape)


def every_one(graph, tile=2):
    """All convolutions that can be, whether it pays or not."""
    change = lambda node, inputs: by_winograd(node, inputs, tile) if can(node) else None  # noqa: E731
    return dce(verify(decompose(graph).rebuild(change)))


def squares(size, n=1):
    return st.tuples(st.integers(3, size), st.integers(3, size))


@given(
    tile=st.sampled_from([2, 4]),
    n=st.integers(1, 2),
    channels=st.integers(1, 4),
    results=st.integers(1, 4),
    size=squares(9),
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
)
def test_it_is_the_convolution_for_every_size_and_padding(tile, n, channels, results, size, pads):
    graph = conv_of(channels, size, results, n=n, pads=pads)
    ours = every_one(graph, tile)
    assert "conv" not in [node.op for node in ours.nodes]
    x = some(n, channels, *size)
    (wanted,), (got,) = run(graph, [x]), run(ours, [x])
    np.testing.assert_allclose(got, wanted, atol=2e-4 if tile == 4 else 2e-5)


@pytest.mark.parametrize("tile", [2, 4])
def test_the_matrices_multiply_polynomials(tile):
    """At ((G g) * (Bt d)) is the correlation of d with g, for all unit vectors d and g."""
    for k in range(3):
        for j in range(tile + 2):
            g, d = np.eye(3)[k], np.eye(tile + 2)[j]
            found = np.array(RESULTS[tile]) @ ((FILTERS[tile] @ g) * (PIXELS[tile] @ d))
            wanted = [float(j == i + k) for i in range(tile)]
            np.testing.assert_allclose(found, wanted, atol=1e-15)


def test_two_by_two_is_as_exact_as_the_direct_sum_and_four_by_four_is_not():
    graph = decompose(conv_of(64, (10, 10), 64))
    x = some(1, 64, 10, 10)
    (weights,) = [node.attrs["value"] for node in graph.nodes if node.op == "constant"]
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (2, 3))
    exact = np.tensordot(weights.astype(np.float64), windows[0], ([1, 2, 3], [0, 3, 4]))
    forms = {0: graph, 2: every_one(graph), 4: every_one(graph, 4)}
    results = {name: course_lib.compile(form, [x])(x) for name, form in forms.items()}
    error = {name: np.abs(result - exact).max() for name, result in results.items()}
    assert error[2] < 1.5 * error[0] and error[4] > 2 * error[2]


@pytest.mark.parametrize(
    ("why", "graph"),
    {
        "stride": conv_of(strides=(2, 2)),
        "dilation": conv_of(dilations=(1, 2)),
        "groups": conv_of(groups=64),
        "window": conv_of(kernel=1),
        "f64": trace(
            lambda x: apply("conv", x, const(some(64, 64, 3, 3).astype(np.float64))),
            "f64[1,64,14,14]",
        ),
        "filters that are no constant": trace(
            lambda x, w: apply("conv", x, w), "f32[1,64,14,14]", "f32[64,64,3,3]"
        ),
        "one dimension": trace(lambda x: apply("conv", x, const(some(64, 64, 3))), "f32[1,64,14]"),
    }.items(),
)
def test_what_it_cannot_compute_is_left_alone(why, graph):
    assert [n.op for n in winograd(decompose(graph)).ops] == [n.op for n in decompose(graph).ops]


def test_where_it_pays_and_where_it_does_not():
    def pays(channels, size, results=None):
        (node,) = conv_of(channels, (size + 2, size + 2), results or channels).outputs
        return winograd_pays(node)

    assert pays(64, 56) and pays(128, 28) and pays(256, 14)
    assert not pays(32, 56), "moving the factors takes longer than was saved"
    assert not pays(512, 7), "it waits for 16 filters where there were nine"
    assert not pays(3, 224, 64) and not pays(60, 56), "channels that do not fill vectors"


def test_its_nodes_keep_name_and_origin_and_padding_stays_one_node():
    graph = decompose(conv_of(64, (15, 15), 64, pads=(1, 1, 1, 1), origin=("layer1",)))
    made = dce(winograd(graph))
    assert all(n.origin == graph.outputs[0].origin for n in made.ops if n.op != "pad")
    assert [n.op for n in made.ops].count("pad") == 1
    assert [n.type.dims for n in made.ops if n.op == "slice"] == [(1, 15, 15, 64)]


def test_the_whole_model_gives_the_same_classes(imported):
    resnet = imported("resnet18")
    x = some(*resnet.inputs[0].type.dims)
    plain, ours = (course_lib.compile(resnet, [x], passes=p) for p in (DEFAULT, WINOGRAD))
    assert sum(n.op == "winograd_tiles" for n in ours.graph.nodes) == 10
    wanted, got = plain(x), ours(x)
    assert np.abs(got - wanted).max() < 1e-5 * np.abs(wanted).max()
    assert sum(map(flops, ours.graph.ops)) < 0.75 * sum(map(flops, plain.graph.ops))


@pytest.mark.parametrize("tile", [2, 4])
def test_it_is_written_to_onnx_in_simple_ops(tile):
    graph = every_one(conv_of(3, (9, 6), 5, n=2), tile)
    x = some(2, 3, 9, 6)
    (got,) = onnxruntime_session(to_onnx(graph).SerializeToString(), threads=1)([x])
    np.testing.assert_allclose(got, run(graph, [x])[0], atol=2e-4 if tile == 4 else 2e-5)
