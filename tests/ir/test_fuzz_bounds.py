"""No graph that verifies may read or write outside a buffer.

Hypothesis draws ops with sizes and attributes that no model has: negative, too large, too many. The
row of the op table refuses them with a ValueError, or they run. Then the loop interpreter, which
checks every index, and machine code between poisoned borders (`runtime/bounds.py`) stay inside.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.programs import graphs
from course_lib.compiler import compile
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.program import run_program
from course_lib.lower.lower import lower
from course_lib.passes.prepare.decompose import decompose
from course_lib.runtime.bounds import out_of_bounds
from course_lib.runtime.executable import CompiledModel

MANY = settings(max_examples=10 * settings().max_examples)  # single ops: cheap
FEW = settings(max_examples=2 * settings().max_examples // 3)  # whole programs, compiled
LAYOUTS = ("nchw", "nhwc", "nchw2c", "oihw", "ohwi", "oihw2i2o")
IMAGES = LAYOUTS[:3]
REDUCTIONS = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod")
LARGEST = 2000  # elements of a result


# ── ops with odd attributes ──


def _ints(draw: DrawFn, count: int, low: int, high: int) -> tuple[int, ...]:
    """So many whole numbers; one time in nine, one more or one less."""
    count = max(0, count + draw(st.sampled_from([0] * 7 + [-1, 1])))
    return tuple(draw(st.integers(low, high)) for _ in range(count))


def _shape(draw: DrawFn, least: int = 1, most: int = 4) -> tuple[int, ...]:
    size = st.sampled_from([1, 2, 3, 4, 5, 0])
    return tuple(draw(st.lists(size, min_size=least, max_size=most)))


def _window(draw: DrawFn, rank: int) -> dict[str, Any]:
    """Strides, pads and dilations; a missing one has its default."""
    wanted = {"strides": (rank, 0, 3), "pads": (2 * rank, -2, 3), "dilations": (rank, 0, 2)}
    given = draw(st.sets(st.sampled_from(sorted(wanted))))
    return {name: _ints(draw, *wanted[name]) for name in sorted(given)}


def _slice(draw: DrawFn) -> Node:
    """Ends one beyond the axis on either side, so that most of it is inside."""
    shape = _shape(draw, most=2)
    starts, stops = ([draw(st.integers(-1, n + 1)) for n in shape] for _ in range(2))
    steps = [draw(st.sampled_from([1, 2, -1, -2, 0])) for _ in shape]
    return apply("slice", inp("x", _type(shape)), starts=starts, stops=stops, steps=steps)


def _pad(draw: DrawFn) -> Node:
    n = len(shape := _shape(draw, most=3))
    low, high = _ints(draw, n, -3, 3), _ints(draw, n, -3, 3)
    interior = draw(st.sampled_from([None, _ints(draw, n, -1, 2)]))
    return apply("pad", inp("x", _type(shape)), low=low, high=high, interior=interior)


def _pool(draw: DrawFn) -> Node:
    n = len(shape := _shape(draw, 3, 4)) - 2
    op = draw(st.sampled_from(["max_pool", "sum_pool", "avg_pool"]))
    kernel = _ints(draw, n, 1, 4)
    return apply(op, inp("x", _type(shape)), kernel=kernel, **_window(draw, n))


def _conv(draw: DrawFn) -> Node:
    n = len(shape := _shape(draw, 3, 4)) - 2
    groups = draw(st.sampled_from([1, 2, -1]))
    outer, inner = draw(st.integers(0, 4)), max(0, shape[1] // groups)
    weights = (outer, inner, *_ints(draw, n, 1, 3))
    return apply("conv", inp("x", _type(shape)), inp("w", _type(weights)), groups=groups,
                 **_window(draw, n))  # fmt: skip


def _conv_transpose(draw: DrawFn) -> Node:
    n = len(shape := _shape(draw, 3, 4)) - 2
    weights = (shape[1], draw(st.integers(0, 3)), *_ints(draw, n, 1, 3))
    extra = draw(st.sampled_from([None, _ints(draw, n, -1, 3)]))
    return apply("conv_transpose", inp("x", _type(shape)), inp("w", _type(weights)),
                 output_padding=extra, **_window(draw, n))  # fmt: skip


def _gather(draw: DrawFn) -> Node:
    shape, where = _shape(draw, most=3), _shape(draw, 0, 3)
    op = draw(st.sampled_from(["gather", "gather_elements"]))
    indices = inp("i", _type(where, draw(st.sampled_from(["i64", "i8", "u8"]))))
    return apply(op, inp("x", _type(shape)), indices, axis=draw(st.integers(-4, 3)))


def _scatter(draw: DrawFn) -> Node:
    shape, where = _shape(draw, most=3), _shape(draw, 1, 3)
    op = draw(st.sampled_from(["scatter_elements", "scatter_nd"]))
    indices = inp("i", _type(where, draw(st.sampled_from(["i64", "i8", "u8"]))))
    rows = op == "scatter_nd"
    updates = (*where[:-1], *shape[where[-1] :]) if rows else where
    way: dict[str, Any] = {"reduction": draw(st.sampled_from(["none", "add", "max"]))}
    way |= {} if rows else {"axis": draw(st.integers(-4, 3))}
    return apply(op, inp("x", _type(shape)), indices, inp("u", _type(updates)), **way)


def _moved(draw: DrawFn) -> Node:
    """An op that puts the elements of one operand elsewhere, or combines them along axes."""
    n = len(shape := _shape(draw))
    x, axis = inp("x", _type(shape)), draw(st.integers(-n - 1, n))
    flags = {"exclusive": draw(st.booleans()), "reverse": draw(st.booleans())}
    names = {"src": draw(st.sampled_from(LAYOUTS)), "dst": draw(st.sampled_from(LAYOUTS))}
    ways: dict[str, dict[str, Any]] = {
        "transpose": {"perm": draw(st.permutations(range(n)))},
        "expand": {"shape": _ints(draw, n, 0, 5)},
        "reshape": {"shape": _ints(draw, n, -1, 6)},
        **{op: {"axes": _ints(draw, 1, -n - 1, n)} for op in REDUCTIONS},
        "argmax": {"axis": axis, "last": draw(st.booleans())},
        "cumsum": {"axis": axis, **flags},
        "softmax": {"axis": axis},
        "relayout": names,
    }
    op = draw(st.sampled_from(sorted(ways)))
    return apply(op, x, **ways[op])


def _concat(draw: DrawFn) -> Node:
    shape, axis = _shape(draw, most=3), draw(st.integers(-3, 2))
    other = tuple(draw(st.integers(0, 3)) if k == axis % 3 else n for k, n in enumerate(shape))
    return apply("concat", inp("x", _type(shape)), inp("y", _type(other)), axis=axis)


def _matmul(draw: DrawFn) -> Node:
    """Rows and columns agree, most of the time; the axes before them broadcast, or do not."""
    a, b = (_shape(draw, 2, 4) for _ in range(2))
    if draw(st.integers(0, 8)):
        b = (*b[:-2], a[-1], b[-1])
    kind = draw(st.sampled_from(["f32", "i8"]))
    sums = draw(st.sampled_from([None, "i32"]))
    return apply("matmul", inp("a", _type(a, kind)), inp("b", _type(b, kind)), sums=sums)


def _iota(draw: DrawFn) -> Node:
    shape = _ints(draw, draw(st.integers(0, 3)), -1, 5)
    kind = draw(st.sampled_from(["i64", "i8", "f32", "bool"]))
    return apply("iota", shape=shape, axis=draw(st.integers(-4, 3)), dtype=kind)


def _image(draw: DrawFn, layout: str) -> tuple[int, ...]:
    n, c, h, w = (draw(st.integers(1, 4)) for _ in range(4))
    return {"nchw": (n, 2 * c, h, w), "nhwc": (n, h, w, 2 * c)}.get(layout, (n, c, h, w, 2))


def _in_layout(draw: DrawFn) -> Node:
    layouts = [draw(st.sampled_from(IMAGES)) for _ in range(2)]
    op = draw(st.sampled_from(["max_pool_in_layout", "sum_pool_in_layout", "conv_in_layout"]))
    x, window = inp("x", _type(_image(draw, layouts[0]))), _window(draw, 2)
    if op != "conv_in_layout":
        return apply(op, x, kernel=_ints(draw, 2, 1, 3), layouts=layouts, **window)
    channels = x.type.dims[-1 if layouts[0] == "nhwc" else 1]
    filters, shape = draw(
        st.sampled_from([("oihw", (2, channels, 2, 1)), ("ohwi", (3, 1, 2, channels)),
                         ("oihw2i2o", (1, channels, 1, 2, 2, 2)), ("oihw2o", (2, 4, 1, 1, 2))])
    )  # fmt: skip
    layouts.insert(1, filters)
    return apply(op, x, inp("w", _type(shape)), layouts=layouts, **window)


def _grid_sample(draw: DrawFn) -> Node:
    n = len(shape := _shape(draw, 3, 4)) - 2
    positions = (shape[0], *_ints(draw, n, 0, 5), n)
    way: dict[str, Any] = {
        "mode": draw(st.sampled_from(["nearest", "linear", "cubic"])),
        "padding": draw(st.sampled_from(["zeros", "border", "reflection"])),
        "aligned": draw(st.booleans()),
    }
    return apply("grid_sample", inp("x", _type(shape)), inp("g", _type(positions)), **way)


def _type(shape: Sequence[int], dtype: str = "f32") -> str:
    return f"{dtype}[{','.join(map(str, shape))}]"


MAKERS = (
    _slice, _pad, _pool, _conv, _conv_transpose, _gather, _scatter, _moved, _concat, _matmul, _iota,
    _in_layout, _grid_sample,
)  # fmt: skip


@st.composite
def odd_graphs(draw: DrawFn, most: int) -> str:
    """The text of a graph of single ops, all of which the op table accepts."""
    inputs: list[Node] = []
    outputs: list[Node] = []
    for maker in draw(st.lists(st.sampled_from(MAKERS), min_size=1, max_size=most)):
        try:
            node = maker(draw)
        except ValueError:  # refused in words
            continue
        if node.type.numel <= LARGEST:
            own = [inp(f"x{len(inputs) + k}", i.type) for k, i in enumerate(node.inputs)]
            inputs, outputs = inputs + own, [*outputs, node.with_inputs(own)]
    assume(outputs)
    return print_graph(Graph.of(inputs, outputs, "odd"))


def numbers(graph: Graph) -> list[np.ndarray]:
    """Inputs: floats, and zeros where an integer is an index."""
    rng = np.random.default_rng(0)
    return [
        rng.uniform(-2, 2, n.type.dims).astype(n.type.dtype.numpy)
        if n.type.dtype.is_float
        else np.zeros(n.type.dims, n.type.dtype.numpy)
        for n in graph.inputs
    ]


def stays_inside(graph: Graph, inputs: list[np.ndarray], **options: Any) -> None:
    model = compile(graph, threads=1, **options)
    assert isinstance(model, CompiledModel)
    assert out_of_bounds(model, inputs) == []


@MANY
@given(text=odd_graphs(1))
def test_loops_stay_inside_whatever_the_attributes_are(text: str) -> None:
    graph = parse_graph(text)
    run_program(lower(decompose(graph)), numbers(graph))  # an IndexError says where


@FEW
@given(text=odd_graphs(12))
def test_machine_code_stays_inside_whatever_the_attributes_are(text: str) -> None:
    graph = parse_graph(text)
    stays_inside(graph, numbers(graph), passes=[])


@FEW
@given(text=odd_graphs(6), seed=st.integers(0, 99))
def test_indices_out_of_range_never_reach_other_memory(text: str, seed: int) -> None:
    """They are refused after the kernel has run; what it read was an element of the operand."""
    graph, rng = parse_graph(text), np.random.default_rng(seed)
    assume(any(not n.type.dtype.is_float for n in graph.inputs))
    inputs = [rng.integers(-99, 100, n.type.dims).astype(n.type.dtype.numpy) for n in graph.inputs]
    stays_inside(graph, inputs, passes=[])


@FEW
@given(text=graphs(size=12).map(print_graph))
def test_programs_after_all_passes_stay_inside(text: str) -> None:
    graph = parse_graph(text)
    stays_inside(graph, numbers(graph))
