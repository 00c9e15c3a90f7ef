"""The chip's compiler: legal tiles, right values on every chip, no races, near the roofline."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.build import ChipProgram, build
from course_lib.accelerator.compile.emit import Places, emit
from course_lib.accelerator.compile.estimate import bound
from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import partition
from course_lib.accelerator.compile.product import Product, matrix, pack
from course_lib.accelerator.compile.search import (
    _candidates,
    choose_dataflow,
    choose_tile,
    clocks,
)
from course_lib.accelerator.compile.slots import may_run_ahead, one_slot, placed
from course_lib.accelerator.compile.tiles import Tile, footprint, smallest
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.compile.walk import walk
from course_lib.accelerator.core.simulate import simulate
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.load import Lda
from course_lib.accelerator.isa.store import St
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const

NPU, TEACHING = PRESETS["npu"], PRESETS["teaching"]
RNG = np.random.default_rng(3)


def some(*shape: int) -> np.ndarray:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def rescaled(x: Node, channels: int, axis: int = 1, **limits: Any) -> Node:
    scale = RNG.uniform(0.001, 0.01, channels).astype(np.float32)
    return apply("requantize", x, const(scale), axis=axis, **limits)


def conv(x: Node, out: int, kernel: tuple[int, int] = (3, 3), groups: int = 1, **window) -> Node:
    w = const(some(out, x.type.dims[1] // groups, *kernel))
    y = apply("conv", x, w, groups=groups, sums="i32", **window)
    y = y + const(RNG.integers(-999, 999, (1, out, 1, 1)).astype(np.int32))
    return rescaled(y, out, low=0, high=100)


def matmul(x: Node, n: int) -> Node:
    y = apply("matmul", x, const(some(x.type.dims[-1], n)), sums="i32")
    return rescaled(y, n, axis=y.type.rank - 1)


def agrees(graph: Graph, chip: Chip, choose=choose_tile) -> ChipProgram:
    """As the interpreter says, in the order of the text and in that of the engines; no race."""
    made = build(graph, chip, choose)
    inputs = [some(*n.type.dims) for n in graph.inputs]
    wanted = run(graph, inputs)
    simulated, timed = made.checked(inputs)
    for results in (made.run(inputs), simulated):
        for have, want in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(have, want)
    assert timed.total == made.timing.total == sum(made.layer_clocks())
    return made


# ── values ──


def everything(x: Node) -> list[Node]:
    """Every pattern of the chip, and a value that is an output and goes on."""
    y = conv(x, 20, pads=[1, 1, 1, 1], strides=[2, 1])
    y = apply("max_pool", y, kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    z = conv(y, 20, groups=20, pads=[1, 1, 1, 1])
    y = b.relu(apply("add_quantized", y, z, const(0.5), const(-0.7)))
    y = apply("requantize", b.cast(y, "i32"), const(0.7))
    y = conv(conv(y, 33, (1, 1)), 9, dilations=[2, 2], pads=[2, 1, 2, 2])
    total = b.reduce_sum(b.cast(y, "i32"), (2, 3), True)
    mean = b.reshape(rescaled(total, 9), (y.type.dims[0], 9))
    return [matmul(mean, 10), z]


@pytest.mark.parametrize("name", PRESETS)
def test_every_pattern_on_every_chip(name):
    graph = trace(everything, "i8[2,5,13,11]")
    chosen, plain = agrees(graph, PRESETS[name]), agrees(graph, PRESETS[name], smallest)
    assert {layer.pattern for layer in chosen.layers} == {
        "conv", "max_pool", "add", "relu", "rescale", "mean", "matmul",
    }  # fmt: skip
    assert chosen.timing.total < plain.timing.total


@given(st.data())
def test_any_convolution_in_any_tile(data):
    """Windows, borders, strides and channels at random, in a tile that was not chosen but drawn."""

    def pair(low: int, high: int) -> list[int]:
        return [data.draw(st.integers(low, high)) for _ in range(2)]

    kernel, dilations = pair(1, 3), pair(1, 2)
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = [data.draw(st.integers(0, s - 1)) for s in (*spans, *spans)]
    h, w = (s + data.draw(st.integers(0, 6)) for s in spans)
    channels, out = pair(1, 9)
    depthwise = data.draw(st.booleans())
    graph = trace(
        lambda x: conv(
            x, channels if depthwise else out, (kernel[0], kernel[1]),
            channels if depthwise else 1, pads=pads, strides=pair(1, 2), dilations=dilations,
        ),
        f"i8[{data.draw(st.integers(1, 2))},{channels},{h},{w}]",
    )  # fmt: skip

    def drawn(product: Product, chip: Chip) -> Tile:
        return data.draw(st.sampled_from([*_candidates(product, chip), smallest(product, chip)]))

    agrees(graph, data.draw(st.sampled_from((TEACHING, PRESETS["scalesim"]))), drawn)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.data())
def test_any_matrix_product_in_any_tile(m, k, n, data):
    graph = trace(lambda x: matmul(x, n), f"i8[{m},{k}]")
    agrees(graph, TEACHING, lambda p, c: data.draw(st.sampled_from(list(_candidates(p, c)))))


def test_a_depthwise_layer_of_many_blocks_of_channels():
    agrees(trace(lambda x: conv(x, 150, groups=150, pads=[1, 1, 1, 1]), "i8[1,150,9,9]"), NPU)


# ── tiles ──


def test_tiles_that_do_not_fit_are_named_by_their_memory():
    layer = matrix(4000, 5000, 4000)
    for tile, memory in (
        (Tile(1, 64, 5000), "acts"), (Tile(1, 64, 64, 60), "weights"),
        (Tile(1, 300, 32, 5), "accs"), (Tile(1, 32, 4, 40), "params"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{memory}: "):
            footprint(layer, tile, NPU)


def test_a_step_reuses_what_is_there_and_never_takes_what_the_last_one_used():
    found = placed("abacab", 2)
    assert found == [(0, True), (1, True), (0, False), (1, True), (0, False), (1, True)]
    assert may_run_ahead(found) and not may_run_ahead(one_slot([0, 1, 0], 2))


def test_steps_cover_every_sum_once():
    layer, tile = Product(2, (9, 7), 10, (9, 7), 13, (3, 3), low=(1, 1), high=(1, 1)), Tile(2, 7, 4)
    count = np.zeros((2, 9, 7, 13, 10), int)
    for s in walk(layer, tile, TEACHING):
        rows, cols = (
            slice(s.block.y, s.block.y + s.block.h),
            slice(s.block.x, s.block.x + s.block.w),
        )
        count[s.block.image, rows, cols, slice(*s.outputs), slice(*s.inputs)] += 1
    assert (count == 1).all()


def test_depthwise_weights_are_diagonals():
    layer = Product(1, (3, 3), 2, (3, 3), 2, (1, 2), high=(0, 1), depthwise=True)
    packed = pack(layer, np.array([[[[1, 2]]], [[[3, 4]]]], np.int8), slice(0, 2), slice(0, 2))
    assert packed.tolist() == [[1, 0], [0, 3], [2, 0], [0, 4]]


# ── tokens ──


def test_a_program_without_tokens_is_a_race_and_with_them_none():
    layer, tile = matrix(30, 9, 11), Tile(1, 8, 4)

    class Anywhere(dict):
        def __missing__(self, key):
            return 400

    places = Places(x=0, weights=Anywhere(), params=600, y=1000)
    program = emit(layer, tile, TEACHING, places)
    dram = np.zeros(1400, np.int8)
    with pytest.raises(Fault, match=r"^hazard"):
        simulate([*program, Halt()], dram, TEACHING)
    ready = synchronize(program, TEACHING, 1400)
    assert simulate([*ready, Halt()], dram, TEACHING).times.left == {}
    again = synchronize(ready, TEACHING, 1400)
    assert again == ready


def test_tokens_are_few():
    """Two loads for one product: one token. What the first one promised needs no second."""
    flat = dict(h=1, w=1, bytes=4, step=4, line=4)
    loads = [Lda(dram=at, acts=at, **flat) for at in (0, 64)]
    stores = [St(acts=at, dram=128 + at, **flat) for at in (0, 64)]
    ready = synchronize([*loads, *stores], TEACHING, 256)
    assert [i.signal for i in ready] == [("store",), ("store",), (), ()]
    ready = synchronize([*loads, *stores[::-1]], TEACHING, 256)
    assert [i.signal for i in ready] == [(), ("store",), (), ()]


# ── clocks ──


@pytest.mark.parametrize(("m", "k", "n"), [(512, 512, 512), (513, 700, 1000), (512, 2048, 640)])
def test_large_products_are_near_the_roofline(m, k, n):
    layer = matrix(m, k, n)
    tile = choose_tile(layer, NPU)
    count = clocks(layer, tile, NPU)
    assert bound(layer, NPU) <= count <= 1.15 * bound(layer, NPU), tile


def test_double_buffering_and_a_good_tile_both_pay():
    graph = trace(lambda x: conv(x, 64, pads=[1, 1, 1, 1]), "i8[1,64,28,28]")
    counts = [
        build(graph, NPU, choose).timing.total
        for choose in (
            choose_tile,
            lambda p, c: Tile(4, 28, 64, 1, double=False),
            lambda p, c: replace(smallest(p, c), double=False),
        )
    ]
    assert counts[0] < counts[1] < counts[2]


def test_the_dataflow_follows_the_chip():
    """A deep sum: without shadow weights the fills cost more than the sums that leave."""
    layer = matrix(32, 4096, 64)
    assert choose_dataflow(layer, NPU) == "ws"
    assert choose_dataflow(layer, PRESETS["scalesim"]) == "os"
    flows = {t.dataflow: clocks(layer, t, PRESETS["scalesim"]) for t in (
        Tile(1, 32, 512), Tile(1, 32, 512, dataflow="os"),
    )}  # fmt: skip
    assert flows["os"] < flows["ws"]


# ── what is refused ──


@pytest.mark.parametrize("scale", [0.37, -1e3, 1e-30])
def test_a_rescaling_does_not_cut_a_part_in_two(scale):
    def model(x):
        y = apply("max_pool", conv(x, 8), kernel=[2, 2])
        factor = const(np.float32(scale))
        return conv(apply("requantize", b.cast(y, "i32"), factor, low=-100, high=90), 8)

    graph = trace(model, "i8[1,4,12,12]")
    assert [part.device for part in partition(graph).parts] == ["chip"]
    agrees(graph, NPU)


def test_a_rescaling_by_channels_or_by_nan_is_refused():
    def of(scale):
        return lambda x: apply("requantize", b.cast(x, "i32"), const(scale), axis=0)

    for scale, why in ((np.ones(4, np.float32), "one scale for all"), (np.float32("nan"), "nan")):
        (refusal,) = partition(trace(of(scale), "i8[4,4]")).refusals[-1:]
        assert why in refusal.reason


def test_what_does_not_fit_stays_on_the_processor():
    small = Chip("tiny", 4, 4, weights=64, acts=128, accs=4, params=2, banks=(1, 1, 1))
    graph = trace(lambda x: conv(x, 4, (5, 5), pads=[2, 2, 2, 2]), "i8[1,16,9,9]")
    made = partition(graph, lambda match: refused(match, small))
    assert "does not fit the chip: acts" in str(made) and made.chip_share == 0
    with pytest.raises(ValueError, match="the chip cannot compute"):
        build(trace(lambda x: b.transpose(x, (1, 0)), "i8[2,3]"), NPU)
