"""The text form of graphs parses back bit for bit, and its errors name the line."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.check.programs import graphs
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph, print_graph, value_names
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.types import DTYPES
from course_lib.passes.fusion.fuse import fuse

MLP = """graph @mlp(%x: f32[1,4]) -> (f32[1,2]) {
  %w = constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, -0.0], [1e-07, inf]]> : f32[4,2]
  %0 = matmul(%x, %w) : f32[1,2] loc("layers.0", "a \\"quoted\\" name")
  %1 = pad(%0) {low = [0, 0], high = [0, 0], value = -inf} : f32[1,2]
  %2 = softmax(%1) {axis = 0} : f32[1,2]
  return %2
}
"""


def test_text_prints_as_it_was_written() -> None:
    assert print_graph(parse_graph(MLP), "exact") == MLP


@given(graph=graphs(size=8), fused=st.booleans())
def test_any_graph_prints_so_that_it_parses_back(graph: Graph, fused: bool) -> None:
    text = print_graph(fuse(graph) if fused else graph, "exact")
    assert print_graph(parse_graph(text), "exact") == text


arrays = st.sampled_from(list(DTYPES.values())).flatmap(
    lambda d: hnp.arrays(d.numpy, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@given(array=arrays)
def test_constants_keep_every_bit(array: np.ndarray) -> None:
    node = const(array)
    (again,) = parse_graph(print_graph(Graph.of([], [node]), "exact")).outputs
    assert again.type == node.type and not again.value.flags.writeable
    nan = array != array  # a NaN comes back as a NaN, perhaps another one
    assert again.value[~nan].tobytes() == array[~nan].tobytes()
    assert np.all(again.value[nan] != again.value[nan])


names = st.text("abzé_.0123 $-%\"'ß", max_size=5)


@given(st.lists(names, min_size=3, max_size=6), names)
def test_any_names_become_distinct_printable_ones(given_names: list[str], title: str) -> None:
    x = inp(given_names[0], "f32[2]")
    nodes = [apply("relu", x, name=name) for name in given_names[1:]]
    text = print_graph(Graph("g", (x,), (x, *nodes), tuple(nodes)), "exact")
    assert print_graph(parse_graph(text), "exact") == text
    assert len(parse_graph(text).nodes) == len(nodes) + 1
    titled = print_graph(Graph(title, (x,), (x,), (x,)), "exact")
    assert print_graph(parse_graph(titled), "exact") == titled


def test_thousands_of_values_with_one_name_are_told_apart_at_once() -> None:
    values = [inp("x", "f32[]")]
    for _ in range(20_000):
        values.append(apply("relu", values[-1], name="x"))
    begin = time.process_time()
    names = list(value_names(Graph("main", (values[0],), tuple(values), ())).values())
    assert names[:3] == ["x", "x_1", "x_2"] and len(set(names)) == 20_001
    assert time.process_time() - begin < 30


def test_summary_is_for_people() -> None:
    big = const(np.arange(17.0, dtype=np.float32))
    text = print_graph(Graph.of([], [big]))
    assert "dense<...> : f32[17]" in text
    with pytest.raises(ValueError, match=r'line 2: .*print with constants="exact"'):
        parse_graph(text)
    with pytest.raises(ValueError, match='"summary" or "exact", got \'short\''):
        print_graph(Graph.of([], [big]), "short")


def test_symbolic_sizes_and_comments() -> None:
    graph = trace(lambda x: apply("reshape", relu(x), shape=(-1,)), "f32[n,4]")
    text = print_graph(graph)
    assert "%x0: f32[n,4]" in text and "f32[4*n]" in text
    commented = text.replace("\n", " // as it should be\n")
    assert print_graph(parse_graph(commented)) == text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("%0 = matmul", "%0 = matmull", "line 3: unknown op 'matmull'"),
        ("matmul(%x, %w)", "matmul(%x, %v)", "line 3: %v is used before it is defined"),
        ("%1 = pad", "%0 = pad", "line 4: %0 is defined twice"),
        ("{axis = 0}", "{axes = 0}", "line 5: softmax has no attribute 'axes'; it has: axis"),
        ("{axis = 0}", "{axis = }", "line 5: expected a value, found '}'"),
        ("%2 = softmax(%1)", "%2 = softmax(%1", "line 5: expected ,, found '{'"),
        ("return %2", "return %1, %2", r"line 6: @mlp declares results .*, returns"),
        (": f32[4,2]", ": f33[4,2]", "line 2: unknown element type 'f33'"),
        (": f32[4,2]", ": f32[2,4]", r"line 2: declared f32\[2,4\], but the numbers have shape"),
        (": f32[4,2]", ": i32[4,2]", "line 2: i32.* needs whole numbers"),
        ("softmax(%1)", "softmax(%1) ?", "line 5: cannot read '\\?"),
        ("{axis = 0} : f32[1,2]", "{axis = 0} : f32[2]", "line 5: .*declared f32.2., but its op"),
        ("softmax(%1)", "softmax(%1, %1)", "line 5: softmax takes 1 operands, got 2"),
    ],
)  # fmt: skip
def test_errors_name_the_line(old: str, new: str, words: str) -> None:
    assert old in MLP
    with pytest.raises(ValueError, match=words):
        parse_graph(MLP.replace(old, new))
    with pytest.raises(ValueError, match="line 1: expected graph"):
        parse_graph("")
