"""Layouts: relayouts go in, sink and cancel; the cost model decides; pads vanish into kernels."""

from typing import Any

import numpy as np
import pytest

import course_lib
from autograder.check.levels import MACHINES, levels_agree
from course_lib.accelerator.workload import products
from course_lib.cost.layout import CONVOLUTIONS, conv_cost, cost
from course_lib.cost.machine import Machine
from course_lib.exercises import baselines
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.build import relayout, relu, reshape, sigmoid, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import flops
from course_lib.ir.types import type_of
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.fusion.absorb_pads import absorb_pads
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import candidates, in_layouts, layout, layouts_of
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from course_lib.peers.onnxruntime import onnxruntime_session

RNG = np.random.default_rng(11)
NHWC = ("nhwc", "ohwi", "nhwc")
LAYOUTS = candidates()


def some(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def conv(x: Node, channels: int, kernel: int = 3, **attrs) -> Node:
    filters = some(channels, x.type.dims[1] // attrs.get("groups", 1), kernel, kernel)
    return apply("conv", x, const(filters), pads=[kernel // 2] * 4, **attrs)


def moved(graph: Graph) -> list[str]:
    """The relayouts of images that are left; those of constants happen at compile time."""
    live = Graph.of(graph.inputs, graph.outputs).nodes
    found = [n for n in live if n.op == "relayout" and n.inputs[0].op != "constant"]
    return [f"{n.attrs['src']} -> {n.attrs['dst']}" for n in found]


def everywhere(graph: Graph, name: str) -> Graph:
    """All convolutions that can be in this layout are; and relayouts have sunk."""
    graph = decompose(graph)
    chosen = {n: of for n in graph.ops if (of := layouts_of(n, name))}
    return dce(fold(sink_relayouts(verify(in_layouts(graph, chosen)))))


def same(before: Graph, after: Graph, tolerance: float = 2e-5) -> None:
    verify(after)
    arrays = [some(*i.type.dims) for i in before.inputs]
    for a, b in zip(run(before, arrays), run(after, arrays), strict=True):
        assert a.shape == b.shape
        assert np.abs(a - b).max(initial=0) <= tolerance * max(np.abs(a).max(initial=0), 1)


# ── insert, sink, cancel ──


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_chain_of_20_convolutions_has_one_relayout_at_each_end(name: str) -> None:
    def chain(x: Node) -> Node:
        for _ in range(20):
            x = relu(conv(x, 32) * 0.1 + const(some(32, 1, 1)))
        return x

    graph = trace(chain, "f32[1,32,5,4]")
    after = everywhere(graph, name)
    assert moved(after) == [f"nchw -> {name}", f"{name} -> nchw"]
    chosen = {n: of for n in graph.ops if (of := layouts_of(n, name))}
    assert len(moved(in_layouts(graph, chosen))) == 40
    same(graph, after)


def network(x: Node, width: int = 16) -> tuple[Node, Node]:
    """A stem that reads three channels, a residual, depthwise and grouped convolutions, pooling,
    a squeeze-and-excite gate, a concatenation, a flatten and a mean."""
    x = relu(conv(x, width, strides=(2, 2)))
    x = apply("max_pool", x, kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    y = apply("clamp", conv(x, width) + const(some(width, 1, 1)), min=0.0, max=6.0)
    x = relu(conv(y, width, groups=width) + x)
    gate = apply("mean", x, axes=(2, 3), keepdims=True)
    gate = reshape(gate, (1, width)) @ const(some(width, width))
    x = x * sigmoid(reshape(gate, (1, width, 1, 1)))
    x = apply("concat", x, conv(x, 2 * width, 1), axis=1)
    x = apply("sum_pool", x, kernel=(2, 2)) * const(some(1, 1, 3, 3))
    x = conv(x, 24, 1) - 0.5
    return relu(reshape(x, (1, -1))), apply("mean", conv(x, 16), axes=(2, 3))


@pytest.mark.parametrize("name", [*LAYOUTS, "nchw8c"])
def test_a_network_of_all_kinds_means_the_same_in_every_layout(name: str) -> None:
    graph = trace(network, "f32[1,3,16,16]")
    after = everywhere(graph, name)
    same(graph, after)
    exact = print_graph(after, "exact")
    assert print_graph(parse_graph(exact), "exact") == exact


@pytest.mark.parametrize("name", ["nhwc", "nchw8c"])
def test_a_network_in_layouts_means_the_same_at_every_level(name: str) -> None:
    graph = everywhere(trace(lambda x: network(x, width=8), "f32[1,3,16,16]"), name)
    levels_agree(graph, [some(1, 3, 16, 16)], sums=True, machines=MACHINES[:1])


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_changes_no_count_of_work(name: str) -> None:
    graph = decompose(trace(network, "f32[1,3,16,16]"))
    after = everywhere(graph, name)
    assert sorted(map(str, products(after))) == sorted(map(str, products(graph)))
    works = [[flops(n) for n in g.ops if n.op in CONVOLUTIONS] for g in (graph, after)]
    assert works[0] == works[1]


def test_nhwc_stops_at_the_flatten_alone() -> None:
    after = everywhere(trace(network, "f32[1,3,16,16]"), "nhwc")
    assert moved(after) == ["nchw -> nhwc", "nhwc -> nchw"]  # of the gate (16 numbers); flatten
    gate = next(n for n in after.ops if n.op == "relayout" and n.inputs[0].op != "constant")
    assert gate.type.dims == (1, 1, 1, 16)


def test_a_graph_in_layouts_can_be_exported() -> None:
    graph = trace(network, "f32[1,3,16,16]")
    array = some(1, 3, 16, 16)
    proto = to_onnx(everywhere(graph, "nchw16c"))
    for ours, theirs in zip(
        run(graph, [array]), onnxruntime_session(proto.SerializeToString(), 1)([array]), strict=True
    ):
        assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(ours).max()


# ── sinking, one rule at a time ──


def sunk(fn, *types: str) -> tuple[list[str], list[str]]:
    """The ops of the live result in order, and its relayouts; the meaning is checked bit by bit."""
    graph = trace(fn, *types)
    after = dce(fold(sink_relayouts(graph)))
    same(graph, verify(after), tolerance=0)
    return [n.op for n in after.ops], moved(after)


def to_nchw(x: Node, src: str = "nhwc") -> Node:
    return relayout(x, src, "nchw")


def test_there_and_back_is_nothing() -> None:
    assert sunk(lambda x: relayout(to_nchw(x), "nchw", "nhwc") + 1.0, "f32[1,2,2,3]")[1] == []
    assert sunk(lambda x: relayout(x, "nchw", "nchw"), "f32[1,2,2,3]") == ([], [])


def test_two_different_relayouts_become_one() -> None:
    through = lambda x: relayout(to_nchw(x, "nchw8c"), "nchw", "nhwc")  # noqa: E731
    assert sunk(through, "f32[1,2,3,3,8]") == (["relayout"], ["nchw8c -> nhwc"])


def test_blocks_that_do_not_divide_each_other_go_through_nchw() -> None:
    through = lambda x: relayout(to_nchw(x, "nchw6c"), "nchw", "nchw4c")  # noqa: E731
    assert sunk(through, "f32[1,2,3,3,6]")[1] == ["nchw6c -> nchw", "nchw -> nchw4c"]


def test_relayouts_between_other_layouts_than_they_say_do_not_join() -> None:
    twice = lambda x: relayout(relayout(x, "nchw", "nhwc"), "nchw", "nhwc")  # noqa: E731
    assert sunk(twice, "f32[1,2,3,4]")[1] == ["nchw -> nhwc", "nchw -> nhwc"]


def test_a_sum_sinks_if_both_operands_are_relayouts() -> None:
    both = sunk(lambda x, y: to_nchw(x) + to_nchw(y), "f32[1,2,2,3]", "f32[1,2,2,3]")
    assert both == (["add", "relayout"], ["nhwc -> nchw"])


def test_a_sum_with_an_image_in_nchw_stays() -> None:
    one = sunk(lambda x, y: to_nchw(x) + y, "f32[1,2,2,3]", "f32[1,3,2,2]")
    assert one == (["relayout", "add"], ["nhwc -> nchw"])


@pytest.mark.parametrize("shape", [(3, 1, 1), (1, 3, 1, 1), (2, 2), (1,), (), (1, 3, 2, 2)])
def test_constants_of_any_shape_come_along(shape: tuple[int, ...]) -> None:
    _, left = sunk(lambda x: to_nchw(x) + const(some(*shape)), "f32[1,2,2,3]")
    assert left == ["nhwc -> nchw"]


@pytest.mark.parametrize("shape", [(8, 1, 1), (1, 1, 2, 2), (2, 1), (1, 8, 1, 2)])
def test_constants_that_broadcast_against_blocks(shape: tuple[int, ...]) -> None:
    ops, left = sunk(lambda x: to_nchw(x, "nchw4c") * const(some(*shape)), "f32[1,2,2,2,4]")
    assert (ops[-1], left) == ("relayout", ["nchw4c -> nchw"])


def test_the_smaller_operand_moves_instead_of_the_larger_one() -> None:
    ops, left = sunk(lambda x, s: to_nchw(x) * s, "f32[1,4,4,8]", "f32[1,8,1,1]")
    assert (ops, left) == (["relayout", "mul", "relayout"], ["nchw -> nhwc", "nhwc -> nchw"])


def test_the_image_that_broadcasts_grows_in_its_layout() -> None:
    """The constant is the larger one: the result has its shape, and still one relayout."""
    _, left = sunk(lambda x: to_nchw(x) + const(some(2, 3, 4, 4)), "f32[1,1,4,3]")
    assert left == ["nhwc -> nchw"]


def test_a_value_with_two_users_takes_each_its_own_way() -> None:
    def fork(x: Node) -> tuple[Node, Node]:
        y = to_nchw(x)
        return relayout(relu(y), "nchw", "nhwc"), reshape(y, (12,))

    ops, left = sunk(fork, "f32[1,2,2,3]")
    assert (sorted(ops), left) == (["relayout", "relu", "reshape"], ["nhwc -> nchw"])


@pytest.mark.parametrize("src, type", [("nhwc", "f32[1,4,5,8]"), ("nchw4c", "f32[1,2,4,5,4]")])
def test_windows_borders_and_channels(src: str, type: str) -> None:
    for fn in (
        lambda y: apply("pad", y, low=(0, 0, 1, 0), high=(0, 0, 2, 1), value=3.0),
        lambda y: apply("pad", y, low=(0, 0, 0, 0), high=(0, 0, 0, 0), interior=(0, 0, 1, 2)),
        lambda y: apply("max_pool", y, kernel=(2, 3), strides=(2, 1)),
        lambda y: apply("concat", y, y * 2.0, axis=1),
        lambda y: apply("concat", y, y, axis=-1),
        lambda y: apply("reduce_max", y, axes=(2, 3), keepdims=True),
    ):
        ops, left = sunk(lambda x, fn=fn: fn(to_nchw(x, src)), type)
        assert (ops[-1], left) == ("relayout", [f"{src} -> nchw"])


@pytest.mark.parametrize("src, type", [("nhwc", "f32[2,4,5,8]"), ("nchw4c", "f32[2,2,4,5,4]")])
def test_a_relayout_ends_behind_a_global_pooling(src: str, type: str) -> None:
    for keep in (True, False):
        gone = lambda x, keep=keep: reshape(  # noqa: E731
            relu(apply("reduce_max", to_nchw(x, src), axes=(-1, -2), keepdims=keep)), (2, 8)
        )
        assert sunk(gone, type)[1] == []


@pytest.mark.parametrize(
    "fn",
    [
        lambda y: reshape(y, (2, 4, -1)),
        lambda y: apply("reduce_max", y, axes=(1,)),
        lambda y: apply("reduce_max", y, axes=(2,), keepdims=True),
        lambda y: apply("softmax", y, axis=1),
        lambda y: apply("transpose", y, perm=(0, 2, 3, 1)),
        lambda y: apply("pad", y, low=(0, 1, 0, 0), high=(0, 0, 0, 0)),
        lambda y: apply("concat", y, const(some(1, 8, 4, 5)), axis=1),
    ],
)
def test_what_knows_its_axes_by_their_places_stops_a_relayout(fn) -> None:
    ops, left = sunk(lambda x: fn(to_nchw(x, "nchw4c")), "f32[1,2,4,5,4]")
    assert (ops[0], left) == ("relayout", ["nchw4c -> nchw"])


def test_a_pooling_that_has_its_layout_keeps_it() -> None:
    """It reads what the relayout made as rows of channels, whatever the relayout says it is."""
    fn = lambda x: apply(  # noqa: E731
        "max_pool_in_layout", to_nchw(x), kernel=(2, 2), layouts=("nhwc", "nhwc")
    )
    assert sunk(fn, "f32[1,4,5,6]") == (["relayout", "max_pool_in_layout"], ["nhwc -> nchw"])


def test_names_and_origins_survive() -> None:
    x = inp("x", "f32[1,2,2,3]")
    y = apply("relu", to_nchw(x), name="act", origin=("layer",))
    after = sink_relayouts(Graph.of([x], [y]))
    assert [(n.op, n.origin) for n in dce(after).ops] == [
        ("relu", ("layer",)),
        ("relayout", ("layer",)),
    ]
    assert after.outputs[0].name == "act"


# ── the cost model ──


def test_without_sinking_no_layout_pays() -> None:
    graph = trace(lambda x: relu(conv(relu(conv(x, 64, 1)), 64, 1)), "f32[1,64,56,56]")
    for _ in range(6):
        (x,) = graph.outputs
        graph = Graph.of(graph.inputs, [relu(conv(x, 64, 1))])
    with baselines("passes.sink_relayouts"):
        assert layout(graph) is graph
    assert moved(layout(graph))


def test_a_small_convolution_stays_as_it_is() -> None:
    graph = decompose(trace(lambda x: relu(conv(x, 8)), "f32[1,8,6,6]"))
    assert layout(graph) is graph


def test_costs_of_one_convolution() -> None:
    x = inp("x", "f32[1,64,58,58]")
    wide, thin = (apply("conv", x, const(some(n, 64, 3, 3))) for n in (64, 24))
    products = wide.type.numel * 64 * 9 / 16
    assert conv_cost(wide, NHWC) == products
    assert conv_cost(wide, ("nchw16c", "oihw16i16o", "nchw16c")) == products * (1 + 1 / 28)
    assert conv_cost(wide) == pytest.approx(1.45 * products + 20 * wide.type.numel / 16)
    assert conv_cost(thin, NHWC) > 2 * conv_cost(wide, NHWC) * 24 / 64, "half of the lanes idle"
    graph = in_layouts(Graph.of([x], [wide]), {wide: NHWC})
    assert conv_cost(next(n for n in graph.ops if n.op == "conv_in_layout")) == products
    images = 3 * (x.type.numel + wide.type.numel) + 2 * 8000
    assert cost(graph) == products + images, "the filters cost nothing"


def test_a_machine_with_half_the_lanes_pays_twice_for_the_products() -> None:
    small = Machine("small", vector_bytes=32, registers=16)
    x = inp("x", "f32[1,64,58,58]")
    wide = apply("conv", x, const(some(64, 64, 3, 3)))
    assert conv_cost(wide, NHWC, small) == 2 * conv_cost(wide, NHWC)
    assert candidates(small) == ("nhwc", "nchw8c", "nchw16c")
    assert candidates(Machine("no vectors", vector_bytes=4, registers=4)) == ("nhwc", "nchw2c")


@pytest.mark.parametrize("machine", MACHINES)
def test_whatever_the_machine_a_network_means_the_same(machine: Machine) -> None:
    graph = decompose(trace(network, "f32[1,3,16,16]"))
    same(graph, dce(fold(sink_relayouts(verify(layout(graph, machine))))))


def test_convolutions_that_no_layout_fits() -> None:
    x = inp("x", "f32[1,24,8,8]")
    assert layouts_of(conv(x, 24, groups=2), "nhwc") is None
    assert layouts_of(conv(x, 24), "nchw16c") is None
    assert layouts_of(conv(x, 32), "nchw16c") == ("nchw", "ohwi16o", "nchw16c")
    line = apply("conv", inp("x", "f32[1,8,9]"), const(some(8, 8, 3)))
    assert layouts_of(line, "nhwc") is None
    batch = inp("x", "f32[n,8,9,9]")
    assert layouts_of(apply("conv", batch, const(some(8, 8, 3, 3))), "nhwc") is None
    assert layout(Graph.of([batch], [apply("conv", batch, const(some(8, 8, 3, 3)))])).outputs


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_both_models_run_in_one_layout_from_end_to_end(name: str, imported) -> None:
    after = run_passes(imported(name), DEFAULT)
    assert moved(after) == []
    bodies = [n.attrs["body"].ops if n.op == "fused" else [n] for n in after.ops]
    windows = {n.op for ops in bodies for n in ops if n.op.startswith(("conv", "max_pool"))}
    assert windows <= {"conv_in_layout", "max_pool_in_layout"}


# ── words ──


@pytest.mark.parametrize(
    "type, src, dst, words",
    [
        (
            "f32[1,24,4,4]",
            "nchw",
            "nchw16c",
            "size 24, which does not divide into the blocks of 16",
        ),
        ("f32[1,24,4,4]", "nchw", "nhwcc", "is not a layout"),
        ("f32[1,24,4,4]", "nchw", "nchw1c", "is not a layout"),
        ("f32[1,24,4,4]", "nchw", "oihw", "do not have the same axes"),
        ("f32[1,24,4,4]", "nchw8c", "nchw", "has 5 axes, the last [8]"),
        ("f32[1,4,4,4,6]", "nchw6c", "nchw4c", "go through a layout without blocks"),
    ],
)
def test_errors_of_relayout(type: str, src: str, dst: str, words: str) -> None:
    with pytest.raises(ValueError) as error:
        relayout(inp("x", type), src, dst)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "filters, layouts, groups, words",
    [
        ((8, 3, 3, 8), ("nhwc", "ohwi"), 1, "of the operands and of the result, 3 in all"),
        (
            (8, 3, 3, 8),
            ("nhwc", "nhwc", "nhwc"),
            1,
            "conv: nhwc and oihw do not have the same axes",
        ),
        ((8, 3, 3, 4), NHWC, 2, "2 groups of several channels run in nchw only"),
        ((1, 3, 3, 8, 8), ("nhwc", "ohwi8o", "nchw4c"), 1, "blocks of 4 and 8"),
        ((8, 3, 3, 4), NHWC, 1, "8 channels, the weights"),
        ((8, 3, 3, 8), ("nhwc", "ohwi", "nhwc2h"), 1, "only channels can be in blocks"),
        ((2, 1, 3, 3, 4), ("nhwc", "oihw4o", "nhwc8c"), 8, "blocks of 4 and 8"),
    ],
)
def test_errors_of_a_convolution_in_other_layouts(
    filters, layouts, groups: int, words: str
) -> None:
    with pytest.raises(ValueError) as error:
        x = inp("x", "f32[1,6,6,8]")
        apply("conv_in_layout", x, const(some(*filters)), layouts=layouts, groups=groups)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "layouts, words",
    [
        (("nhwc",), "2 in all; got ['nhwc']"),
        (("nhwc", "nchw3c"), "does not divide into the blocks of 3"),
        (("nhwc2w", "nhwc"), "has 5 axes, the last [2]"),
        (("nhwc", "nhwc2h"), "only channels can be in blocks"),
        (("nhwc", "mhwc"), "do not have the same axes"),
    ],
)
def test_errors_of_a_pooling_in_other_layouts(layouts, words: str) -> None:
    with pytest.raises(ValueError) as error:
        apply("max_pool_in_layout", inp("x", "f32[1,5,4,8]"), kernel=(2, 2), layouts=layouts)
    assert words in str(error.value)


# ── pads inside kernels ──


def test_a_kernel_writes_into_the_padded_image() -> None:
    """relu's pad goes into its kernel; the second image is added again later, so it stays."""

    def block(x: Node) -> Node:
        y = relu(conv(x, 4) + 1.0)
        z = relu(conv(y, 4))
        return relu(conv(z, 4) + z)

    graph = trace(block, "f32[1,4,6,6]")
    before = fuse(dce(cse(fold(decompose(graph)))))
    after = dce(absorb_pads(before))
    kernels = [n.attrs["body"].name if n.op == "fused" else n.op for n in after.ops]
    assert kernels == ["pad", "conv_add_relu_pad", "conv_relu", "pad", "conv_add_relu"]
    same(before, after, tolerance=0)
    levels_agree(after, [some(1, 4, 6, 6)], sums=True)


@pytest.mark.parametrize("frame", [{"value": 2.0}, {"interior": (1, 2)}, {"value": -np.inf}])
def test_a_pad_behind_elementwise_ops_and_transposes(frame: dict[str, Any]) -> None:
    def padded(x: Node) -> Node:
        return apply("pad", apply("transpose", relu(x) * 2.0, perm=(1, 0)), low=(1, 0),
                     high=(0, 2), **frame)  # fmt: skip

    after = dce(absorb_pads(fuse(trace(padded, "f32[5,19]"))))
    assert [n.op for n in after.ops] == ["fused"]
    levels_agree(after, [some(5, 19)])


def test_pads_that_stay() -> None:
    frame: dict[str, Any] = {"low": (1, 1), "high": (1, 1)}
    twice = trace(lambda x: apply("pad", apply("pad", x, **frame), **frame), "f32[4,4]")
    output = trace(lambda x: (y := relu(x), apply("pad", y, **frame)), "f32[4,4]")
    rows = trace(lambda x: apply("pad", apply("softmax", x), **frame), "f32[4,4]")
    for graph in (twice, output, rows):
        before = fuse(decompose(graph))
        assert [n.op for n in absorb_pads(before).ops] == [n.op for n in before.ops]


def test_the_default_compiler_uses_it_all() -> None:
    graph = trace(network, "f32[1,3,16,16]")
    array = some(1, 3, 16, 16)
    compiled = course_lib.compile(graph)
    for ours, reference in zip(compiled(array), run(graph, [array]), strict=True):
        assert type_of(ours) == type_of(reference)
        assert np.abs(ours - reference).max() <= 1e-4 * np.abs(reference).max()
