"""The chip's table, read by TVM: each row is found, with the limits of the table and in its words.
What is divided runs, part after part, and gives the bits of the interpreter."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import cover
from course_lib.accelerator.compile.support import PATTERNS
from course_lib.accelerator.compile.tiles import smallest
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.passes.clean.cse import cse
from course_lib.plugins.tvm.codegen import generate
from course_lib.plugins.tvm.door import Plugged, compile
from course_lib.plugins.tvm.partition import joined, left_over, partition, trouble
from course_lib.plugins.tvm.write import write

pytestmark = pytest.mark.usefixtures("tvm")
TEACHING = PRESETS["teaching"]
RNG = np.random.default_rng(7)


def some(*shape: int) -> np.ndarray:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def rescaled(x: Node, channels: int, axis: int = 1, **limits: Any) -> Node:
    scale = RNG.uniform(0.001, 0.01, channels).astype(np.float32)
    return apply("requantize", x, const(scale), axis=axis, **limits)


def conv(x: Node, out: int, groups: int = 1, bias: bool = True, **window: Any) -> Node:
    """A convolution as the quantizer writes it, with a bias and a ReLU6."""
    w = const(some(out, x.type.dims[1] // groups, 3, 3))
    y = apply("conv", x, w, groups=groups, sums="i32", **window)
    y = y + const(RNG.integers(-999, 999, (1, out, 1, 1)).astype(np.int32)) if bias else y
    return rescaled(y, out, low=0, high=100)


def dense(x: Node, n: int, origin: str = "dense", **limits: Any) -> Node:
    weights = const(some(x.type.dims[-1], n))
    total = apply("matmul", x, weights, sums="i32", origin=(f"{origin}.sums",))
    scale = const(RNG.uniform(0.001, 0.01, n).astype(np.float32))
    return apply("requantize", total, scale, axis=x.type.rank - 1, origin=(origin,), **limits)


def add(x: Node, y: Any, origin: str = "add", **limits: Any) -> Node:
    return apply("add_quantized", x, y, const(0.5), const(-0.7), origin=(origin,), **limits)


def on_cpu(x: Node, origin: str = "f") -> Node:
    """Something for the processor."""
    y = apply("dequantize", x, const(0.1), origin=(f"{origin}.0",))
    return apply(
        "quantize", apply("neg", y, origin=(f"{origin}.1",)), const(0.07), origin=(origin,)
    )


def agrees(graph: Graph, chip: Chip = TEACHING) -> Plugged:
    """Through TVM: the bits of the interpreter."""
    made = compile(graph, chip, smallest)
    inputs = [some(*node.type.dims) for node in graph.inputs]
    for have, want in zip(made.run(inputs), run(graph, inputs), strict=True):
        np.testing.assert_array_equal(have, want)
    return made


# ── each row of the table ──

ROWS: dict[str, tuple[Callable[[Node], Node], str]] = {
    "conv": (lambda x: conv(x, 6, pads=[1, 0, 2, 1], strides=[2, 1]), "i8[1,5,9,8]"),
    "conv, depthwise": (lambda x: conv(x, 5, groups=5, bias=False), "i8[1,5,9,8]"),
    "matmul": (lambda x: dense(x, 5), "i8[3,7]"),
    "matmul, of rank 3": (lambda x: dense(x, 5, high=90), "i8[2,3,7]"),
    "mean": (lambda x: rescaled(b.reduce_sum(b.cast(x, "i32"), (2, 3), True), 5), "i8[1,5,4,4]"),
    "add": (lambda x: add(x, some(3, 7), low=0), "i8[3,7]"),
    "rescale": (lambda x: apply("requantize", b.cast(x, "i32"), const(0.7)), "i8[3,7]"),
    "max_pool": (
        lambda x: apply("max_pool", x, kernel=[3, 2], strides=[2, 1], pads=[1, 1, 1, 0]),
        "i8[1,5,9,8]",
    ),
    "relu": (b.relu, "i8[3,7]"),
    "reshape": (lambda x: b.reshape(x, (7, 3)), "i8[3,7]"),
}


def test_there_is_an_example_of_every_row():
    assert {name.split(",")[0] for name in ROWS} == {row.name for row in PATTERNS}


@pytest.mark.parametrize("name", ROWS)
def test_tvm_finds_every_row_of_the_table(name):
    make, type = ROWS[name]
    graph = trace(make, type)
    (region,) = generate(partition(write(graph), TEACHING), TEACHING, smallest)[1]
    (match,), refusals = cover(region.program.graph)
    assert match.pattern.name == name.split(",")[0] and not refusals
    x = some(*graph.inputs[0].type.dims)
    np.testing.assert_array_equal(region.program.run([x])[0], run(graph, [x])[0])


def everything(x: Node) -> list[Node]:
    """All rows one after another, and a value that is an output and goes on."""
    y = conv(x, 6, pads=[1, 1, 1, 1], strides=[2, 1])
    y = apply("max_pool", y, kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    z = conv(y, 6, groups=6, pads=[1, 1, 1, 1])
    y = b.relu(add(y, z))
    y = apply("requantize", b.cast(y, "i32"), const(0.7))
    mean = rescaled(b.reduce_sum(b.cast(y, "i32"), (2, 3), True), 6)
    return [dense(b.reshape(mean, (1, 6)), 10), z]


def test_neighbours_are_one_region():
    made = agrees(trace(everything, "i8[1,5,13,11]"))
    (region,) = made.regions
    kinds = [layer.pattern for layer in region.program.layers]
    wanted = ["add", "conv", "conv", "matmul", "max_pool", "mean", "relu", "rescale"]
    assert sorted(kinds) == wanted and made.refusals == ()


# ── no region waits for another one that waits for it ──


def convex(graph: Graph, inside: set[Node]) -> bool:
    """Does no path leave these nodes and come back?"""
    behind: set[Node] = set()  # outside, after something that is inside
    for node in graph.ops:
        if node in inside and behind & set(node.inputs):
            return False
        if node not in inside and (behind | inside) & set(node.inputs):
            behind.add(node)
    return True


def regions_of(graph: Graph) -> list[set[Node]]:
    """The nodes of each region, found again by where they come from."""
    divided = partition(write(graph), TEACHING)
    assert [r for r in left_over(divided, TEACHING) if "TVM has not found" in r.reason] == []
    found = []
    for region in generate(divided, TEACHING, smallest)[1]:
        names = {node.origin for node in region.program.graph.ops}
        found.append({node for node in graph.ops if node.origin in names})
        assert len(names) == len(found[-1])
    return found


def diamond(x: Node) -> Node:
    y = dense(x, 8, "first")
    return add(dense(y, 8, "second"), on_cpu(y), "third")


def test_no_cycle_where_a_path_leaves_the_chip_and_comes_back():
    """Chip -> processor -> chip, and a path beside it: one region would wait for the processor,
    which waits for it."""
    graph = trace(diamond, "i8[2,8]")
    on_chip = {n for n in graph.ops if n.op in ("matmul", "requantize", "add_quantized")}
    assert not convex(graph, on_chip)
    regions = regions_of(graph)
    assert len(regions) == 2 and set.union(*regions) == on_chip
    assert all(convex(graph, region) for region in regions)
    assert len(agrees(graph).regions) == 2


def crossed(x: Node, y: Node) -> list[Node]:
    """Two pieces, the processor's work on both, then two sums: TVM joins each piece with a sum."""
    one, two = (apply("requantize", b.cast(v, "i32"), const(s)) for v, s in ((x, 0.5), (y, 0.6)))
    first, second = on_cpu(one, "f"), on_cpu(two, "g")
    return [first, second, add(one, second, "sum"), add(two, first, "total", low=0)]


def test_regions_of_tvm_that_wait_for_each_other_are_not_handed_on():
    graph = trace(crossed, "i8[2,8]", "i8[2,8]")
    assert "is not defined" in trouble(joined(write(graph), TEACHING))
    assert trouble(partition(write(graph), TEACHING)) == ""
    assert len(agrees(graph).regions) == 4


@given(st.data())
def test_regions_of_any_graph_are_convex(data):
    """Random graphs of ops for the chip and for the processor: all that the table covers is in a
    region, and no path leaves a region and comes back. No two ops are equal: TVM has one function
    for equal pieces, which then have one origin."""
    values = [inp("x", "i8[2,8]"), inp("y", "i8[2,8]")]
    inputs = tuple(values)
    for k in range(data.draw(st.integers(1, 10), "ops")):
        kind = data.draw(st.sampled_from(("add", "rescale", "float", "dense", "sums")))
        one, two = (data.draw(st.sampled_from(values)) for _ in range(2))
        name = f"{kind}{k}"
        if kind == "add":
            scales = const(0.5 + k / 64), const(-0.7)
            values.append(apply("add_quantized", one, two, *scales, origin=(name,)))
        elif kind == "rescale":
            wide = apply("cast", one, dtype="i32", origin=(f"{name}.0",))
            values.append(apply("requantize", wide, const(0.5 + k / 64), origin=(name,)))
        elif kind == "float":
            values.append(on_cpu(one, name))
        else:
            values.append(dense(one, 8, name))
            if kind == "sums":  # the sums are read outside, too: the chip cannot keep them
                total = apply("dequantize", values[-1].inputs[0], const(0.1), origin=(f"{name}.f",))
                values.append(apply("quantize", total, const(0.3), origin=(f"{name}.q",)))
    outputs = data.draw(st.lists(st.sampled_from(values[2:]), min_size=1, max_size=3, unique=True))
    graph = cse(Graph.of(inputs, outputs, "any"))  # TVM does it, too
    regions = regions_of(graph)
    ours = {node for match in cover(graph)[0] for node in match.nodes}
    assert set().union(*regions) == ours, (
        f"{graph}\n{[n.origin for n in ours ^ set().union(*regions)]}"
    )
    assert all(convex(graph, region) for region in regions)


@pytest.mark.parametrize("shared", [False, True])
def test_a_value_that_somebody_else_reads_is_not_hidden_in_a_region(shared):
    def model(x: Node) -> list[Node]:
        total = apply("matmul", x, const(some(8, 8)), sums="i32")
        y = apply("requantize", total, const(0.01))
        return [y, apply("dequantize", total, const(0.1))] if shared else [y]

    made = agrees(trace(model, "i8[2,8]"))
    assert len(made.regions) == (not shared)
    said = [r.reason for r in made.refusals]
    assert ("matmul: something else reads its matmul" in said) == shared


# ── what the table refuses, TVM refuses, in the same words ──

TINY = Chip("tiny", 4, 4, weights=64, acts=128, accs=4, params=2, banks=(1, 1, 1))
REFUSED: dict[str, tuple[Callable[[Node], Node], str, Chip]] = {
    "2 groups": (lambda x: conv(x, 4, groups=2), "i8[1,4,6,6]", TEACHING),
    "does not fit the chip": (lambda x: conv(x, 4), "i8[1,16,9,9]", TINY),
    "one scale for all": (
        lambda x: apply("requantize", b.cast(x, "i32"), const(np.ones(4, np.float32)), axis=0),
        "i8[4,4]",
        TEACHING,
    ),
    "must be a constant": (
        lambda x: apply("requantize", apply("matmul", x, x, sums="i32"), const(0.01)),
        "i8[4,4]",
        TEACHING,
    ),
    "the window has gaps": (
        lambda x: apply("max_pool", x, kernel=[2, 2], dilations=[2, 2]),
        "i8[1,4,6,6]",
        TEACHING,
    ),
    "would have to be rearranged": (lambda x: b.reshape(x, (2, 8)), "i8[1,4,2,2]", TEACHING),
    "its result is f32": (lambda x: apply("dequantize", x, const(0.1)), "i8[4]", TEACHING),
    "no pattern of the chip fits": (lambda x: b.transpose(x, (1, 0)), "i8[2,3]", TEACHING),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_the_chip_refuses_stays_with_tvm_which_computes_the_same_bits(why):
    make, type, chip = REFUSED[why]
    graph = trace(make, type)
    made = agrees(graph, chip)
    assert made.regions == () and any(why in r.reason for r in made.refusals)
    ours = cover(graph, partial(refused, chip=chip))[1]
    assert sorted(map(str, made.refusals)) == sorted(map(str, ours))


# ── what the virtual machine runs ──


def test_two_models_with_regions_of_the_same_name_keep_their_own_weights():
    models = [agrees(trace(lambda x: dense(x, 4), "i8[3,8]")) for _ in range(2)]
    assert models[0].regions[0].symbol == models[1].regions[0].symbol
    x = some(3, 8)
    for model in models:
        np.testing.assert_array_equal(model.run([x])[0], run(model.integers, [x])[0])
    assert not np.array_equal(models[0].run([x])[0], models[1].run([x])[0])


def test_inputs_that_do_not_fit_are_refused_in_words():
    model = compile(trace(lambda x: dense(x, 4), "i8[3,8]"), TEACHING, smallest)
    with pytest.raises(ValueError, match=r"must be i8\[3,8\], got i8\[2,8\]"):
        model.run([some(2, 8)])
    with pytest.raises(ValueError, match="takes 1 inputs"):
        model.run([])
