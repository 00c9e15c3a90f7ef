"""Which part of a model the chip gets: the patterns, the reasons, and parts that never wait for
each other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.compile.partition import CHIP, CPU, Partition, partition
from course_lib.accelerator.compile.support import PATTERNS, Match, match, table
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.verify import verify
from course_lib.passes.quantize.to_int8 import to_int8

RNG = np.random.default_rng(5)


def some(*shape: int) -> np.ndarray:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def conv(x: Node, out: int = 4, groups: int = 1, bias: bool = True) -> Node:
    """A convolution as `to_int8` writes it."""
    w = const(some(out, x.type.dims[1] // groups, 3, 3))
    y = apply("conv", x, w, groups=groups, pads=[1, 1, 1, 1], sums="i32")
    y = y + const(np.arange(out, dtype=np.int32).reshape(1, out, 1, 1)) if bias else y
    return apply("requantize", y, const(np.full(out, 0.01, np.float32)), low=0)


def float_step(x: Node) -> Node:
    """Something for the processor."""
    return apply("quantize", apply("tanh", apply("dequantize", x, const(0.1))), const(0.01))


def legal(made: Partition) -> None:
    """Every part reads only what the caller or an earlier part gives, and holds one device's ops;
    together they are the whole graph."""
    known = {*made.whole.inputs, *made.whole.constants}
    for k, part in enumerate(made.parts):
        verify(part.graph)
        assert set(part.reads) <= known, f"part {k} reads what comes later"
        known |= set(part.writes)
        assert [n.type for n in part.graph.inputs] == [n.type for n in part.reads]
    assert known >= set(made.whole.outputs)
    assert sum(len(p.graph.ops) for p in made.parts) == len(made.whole.ops)
    devices = [part.device for part in made.parts]
    assert all(one != other for one, other in pairwise(devices))


def agrees(graph: Graph, *inputs: np.ndarray) -> Partition:
    made = partition(graph)
    legal(made)
    for have, want in zip(made.run(inputs), run(graph, inputs), strict=True):
        np.testing.assert_array_equal(have, want)
    return made


def test_a_chain_for_the_chip_is_one_part():
    made = agrees(trace(lambda x: conv(conv(x)), "i8[1,4,6,6]"), some(1, 4, 6, 6))
    assert [p.device for p in made.parts] == [CHIP] and not made.refusals
    assert made.chip_share == 1


def test_a_float_op_in_the_middle_makes_three_parts():
    made = agrees(trace(lambda x: conv(float_step(conv(x))), "i8[1,4,6,6]"), some(1, 4, 6, 6))
    assert [p.device for p in made.parts] == [CHIP, CPU, CHIP]
    assert [r.node.op for r in made.refusals] == ["dequantize", "tanh", "quantize"]


def test_no_cycle_where_a_path_leaves_the_chip_and_comes_back():
    """Chip -> processor -> chip, and a path beside it: one part for the chip would wait for the
    processor, which waits for it."""

    def diamond(x: Node) -> Node:
        y = conv(x)
        return apply("add_quantized", conv(y), float_step(y), const(0.5), const(0.5))

    made = agrees(trace(diamond, "i8[1,4,6,6]"), some(1, 4, 6, 6))
    assert [p.device for p in made.parts] == [CHIP, CPU, CHIP]
    assert len(made.parts[0].writes) == 2  # what the processor needs, and what comes later


@given(st.data())
def test_parts_of_any_graph_run_one_after_another(data):
    """Random graphs of ops for the chip and for the processor, with several outputs."""
    values = [inp("x", "i8[2,8]"), inp("y", "i8[2,8]")]
    inputs = tuple(values)
    for _ in range(data.draw(st.integers(1, 12), "ops")):
        kind = data.draw(st.sampled_from(("add", "relu", "float", "matmul", "sums")))
        one, two = (data.draw(st.sampled_from(values)) for _ in range(2))
        if kind == "add":
            values.append(apply("add_quantized", one, two, const(0.5), const(0.3)))
        elif kind == "relu":
            values.append(b.relu(one))
        elif kind == "float":
            values.append(float_step(one))
        else:
            total = apply("matmul", one, const(some(8, 8)), sums="i32")
            values.append(apply("requantize", total, const(0.01)))
            if kind == "sums":  # the sums are read outside, too: the chip cannot keep them
                values.append(b.cast(total, "i8"))
    outputs = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    agrees(Graph.of(inputs, outputs, "any"), some(2, 8), some(2, 8))


def test_image_models_are_on_the_chip_but_for_their_ends(imported):
    from course_lib.models import example_inputs

    for name in ("resnet18", "mobilenet_v2"):
        whole = to_int8(imported(name), [list(example_inputs(name))])
        made = partition(whole)
        legal(made)
        assert [p.device for p in made.parts] == [CPU, CHIP, CPU]
        assert [r.node.op for r in made.refusals] == ["quantize", "dequantize"]
        assert made.chip_share == 1


def test_the_transformer_block_keeps_its_products_of_activations(imported):
    from course_lib.models import example_inputs

    inputs = list(example_inputs("block"))
    made = agrees(to_int8(imported("block"), [inputs]), *inputs)
    # 4 * 256 * 256 + 2 * 256 * 1024 multiply-accumulates a token, and 2 * 128 * 256 in attention
    assert made.chip_share == pytest.approx(786432 / (786432 + 65536))
    assert "its weights must be a constant, but transpose computes it" in str(made)


def reason(make, *types: str) -> str:
    found = match(trace(make, *types).outputs[0])
    return found if isinstance(found, str) else f"chip: {found.pattern.name}"


@pytest.mark.parametrize(
    ("make", "type", "said"),
    [
        (lambda x: conv(x, groups=4), "i8[1,4,6,6]", "chip: conv"),
        (lambda x: conv(x, bias=False), "i8[1,4,6,6]", "chip: conv"),
        (lambda x: conv(x, groups=2), "i8[1,4,6,6]", "conv: 2 groups"),
        (lambda x: conv(x, out=8, groups=4), "i8[1,4,6,6]", "conv: 4 groups"),
        (b.relu, "i8[3]", "chip: relu"),
        (b.relu, "f32[3]", "its result is f32"),
        (lambda x: apply("max_pool", x, kernel=[2, 2]), "i8[1,4,6,6]", "chip: max_pool"),
        (lambda x: apply("max_pool", x, kernel=[2]), "i8[1,4,6]", "max_pool: images of two axes"),
        (lambda x: b.reshape(x, (1, 4)), "i8[1,4,1,1]", "chip: reshape"),
        (lambda x: b.reshape(x, (1, 8)), "i8[1,4,2,1]", "would have to be rearranged"),
        (lambda x: b.transpose(x, (1, 0)), "i8[2,3]", "no pattern of the chip fits transpose"),
    ],
)
def test_each_refusal_has_its_reason(make, type, said):
    assert said in reason(make, type)


def test_a_bias_for_each_pixel_and_scales_along_another_axis_are_refused():
    def summed(x: Node) -> Node:
        return apply("conv", x, const(some(4, 4, 1, 1)), sums="i32")

    bias = const(np.ones((1, 4, 4, 4), np.int32))
    assert "bias" in reason(
        lambda x: apply("requantize", summed(x) + bias, const(0.1)), "i8[1,4,4,4]"
    )
    scale = const(np.ones(4, np.float32))
    said = reason(lambda x: apply("requantize", summed(x), scale, axis=3), "i8[1,4,4,4]")
    assert "axis 3" in said


def test_sums_that_something_else_reads_stay_on_the_processor():
    def forked(x: Node) -> list[Node]:
        total = apply("matmul", x, const(some(8, 8)), sums="i32")
        return [apply("requantize", total, const(0.01)), total]

    made = agrees(trace(forked, "i8[2,8]"), some(2, 8))
    assert "something else reads its matmul" in str(made) and made.chip_share == 0


def test_every_pattern_is_in_the_table_and_its_match_names_its_operands():
    assert all(p.name in table() and str(p) in table() for p in PATTERNS)
    found = match(trace(conv, "i8[1,4,6,6]").outputs[0])
    assert isinstance(found, Match)
    assert {name: n.type.dtype.name for name, n in found.operands.items()} == {
        "x": "i8", "weights": "i8", "bias": "i32", "scale": "f32",
    }  # fmt: skip
    assert [n.op for n in found.nodes] == ["conv", "add", "requantize"]
    assert found.macs == 4 * 6 * 6 * 4 * 9
