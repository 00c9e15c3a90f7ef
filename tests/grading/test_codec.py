"""Plain data crosses; nothing else does."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import struct
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.check.programs import graphs
from autograder.wire.arguments import Given
from autograder.wire.codec import Codec, Unsendable
from autograder.wire.iterators import run_out
from autograder.wire.named import both_have
from course_lib.cost.machine import Machine
from course_lib.exercises import plugged
from course_lib.ir.graph.build import relu, softmax, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.recurrence import scan
from course_lib.ir.types import parse_type
from course_lib.lower.lower import lower
from course_lib.memory.liveness import Interval

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers())
    ),
    max_leaves=10,
)


def ends() -> tuple[Codec, Codec]:
    """The grader's end and the student's."""
    return Codec(), Codec(call=lambda *_: None)


def exact(graph: Graph) -> str:
    return print_graph(graph, constants="exact")


@given(PLAIN)
def test_plain_data_round_trips(value):
    ours, theirs = ends()
    assert theirs.decode(ours.encode(value)) == value


@pytest.mark.parametrize(
    "value", [range(3), deque([0, 1, 2]), {0: 5, 1: 6, 2: 7}.keys(), dict(a=0, b=1, c=2).values()]
)
def test_what_is_read_like_a_list_arrives_as_one(value):
    ours, theirs = ends()
    assert ours.decode(theirs.encode(value)) == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8"])
def test_arrays_keep_dtype_shape_and_bits(dtype):
    ours, theirs = ends()
    array = np.arange(6).reshape(2, 3).astype(dtype)
    got = theirs.decode(ours.encode(array))
    assert (got.dtype, got.shape, got.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert theirs.decode(ours.encode(np.float32(1.5))).dtype == np.float32


def test_fractions_stay_exact_and_are_fractions():
    ours, theirs = ends()
    values = [Fraction(1, 3), Fraction(-(10**30), 7), np.array([Fraction(2), 5], dtype=object)]
    got = ours.decode(theirs.encode(values))
    assert got == [Fraction(1, 3), Fraction(-(10**30), 7), [2, 5]]
    assert type(got[0]) is Fraction
    hostile = theirs.encode([Fraction(1, 3)]).replace(b"[1,3]", b"[1,0]")
    with pytest.raises(Unsendable):
        ours.decode(hostile)


def test_arrays_of_text_and_of_objects_come_as_lists():
    ours, theirs = ends()
    values = [np.array(["a", "b"]), np.array(1.5, dtype=object), np.array([[1, "c"]], dtype=object)]
    assert ours.decode(theirs.encode(values)) == [["a", "b"], 1.5, [[1, "c"]]]


def test_nan_and_infinity():
    ours, theirs = ends()
    nan, up = theirs.decode(ours.encode([math.nan, math.inf]))
    assert math.isnan(nan) and up == math.inf


@given(graphs(size=10))
def test_graphs_round_trip(graph):
    ours, theirs = ends()
    assert exact(theirs.decode(ours.encode(graph))) == exact(graph)


def test_node_that_comes_back_is_the_node_that_went_out():
    ours, theirs = ends()
    graph = trace(lambda x: -x + 1.0, "f32[2]")
    there = theirs.decode(ours.encode((graph,)))[0]
    trimmed = Graph.of(there.inputs, there.nodes[1:2], "trimmed")
    back = ours.decode(theirs.encode(trimmed))
    assert all(node in graph.nodes for node in back.nodes)
    assert ours.decode(theirs.encode(there)) is graph


def test_nodes_as_keys():
    ours, theirs = ends()
    a, b = inp("a", "f32[2]"), inp("b", "f32[2]")
    x, y = theirs.decode(ours.encode((a, b)))
    assert ours.decode(theirs.encode({x: y})) == {a: b}


def test_names_types_and_origins_survive():
    ours, theirs = ends()
    node = apply("relu", inp("x", "f32[n,4]"), name="act", origin=("layers.0",))
    got = theirs.decode(ours.encode(node))
    assert (got.name, got.origin, got.type) == ("act", ("layers.0",), parse_type("f32[n,4]"))


def test_an_attribute_called_value_survives():
    """A pad says with what: only a constant's own value travels apart from its attributes."""
    padded = trace(lambda x: apply("pad", x, low=(1,), high=(0,), value=-1.0), "f32[4]")
    ours, theirs = ends()
    assert exact(theirs.decode(ours.encode(padded))) == exact(padded)


def test_records_of_the_library_cross():
    ours, theirs = ends()
    lives = [Interval("a", 64, 0, 2), Interval("b", 128, 1, 3)]
    assert theirs.decode(ours.encode(lives)) == lives


def test_kernel_crosses_with_everything_in_it():
    ours, theirs = ends()
    program = trace(lambda x, w: relu(softmax(x @ w)), "f32[4,8]", "f32[8,4]")
    kernels = [step.kernel for step in lower(program).steps]
    assert theirs.decode(ours.encode(kernels)) == kernels


def test_record_travels_by_its_own_name_whatever_file_its_class_is_in():
    data = forged({"rows": [], "body": {"record": ["Interval", {"dict": [
        ["name", "a"], ["size", 64], ["first", 0], ["last", 2]]}]}})  # fmt: skip
    assert Codec().decode(data) == Interval("a", 64, 0, 2)
    assert b"course_lib" not in Codec().encode(Interval("a", 64, 0, 2))


def test_dataclass_that_is_not_in_the_table_does_not_cross():
    with pytest.raises(Unsendable, match="A Machine is not plain data"):
        Codec().encode(Machine("small"))


def test_functions_go_one_way():
    ours = Codec()
    theirs = Codec(call=lambda number, args, kwargs: ours.functions[number](*args, **kwargs))
    step = theirs.decode(ours.encode(lambda n: n + 1))
    assert step(4) == 5
    with pytest.raises(Unsendable, match="not plain data"):
        theirs.encode(lambda n: n)


class Magic:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


def test_an_iterator_is_run_to_its_end_and_one_without_an_end_is_too_long():
    assert run_out(k for k in (2, 0, 1)) == run_out(map(int, "201")) == [2, 0, 1]
    value = {"a": range(2)}
    assert run_out(value) is value
    with pytest.raises(Unsendable, match="parts"):
        Codec().encode(run_out(itertools.count()))


@pytest.mark.parametrize("value", [Magic(), object(), iter([]), b"bytes", np.array([object()])])
def test_objects_do_not_cross(value):
    with pytest.raises(Unsendable):
        ends()[1].encode(value)


def test_failed_encoding_leaves_both_ends_in_step():
    ours, theirs = ends()
    graph = theirs.decode(ours.encode(trace(lambda x: -x, "f32[2]")))
    new = apply("relu", graph.outputs[0])
    with pytest.raises(Unsendable):
        theirs.encode([new, object()])
    assert ours.decode(theirs.encode(new)).op == "relu"


def forged(content: dict, *blobs: bytes) -> bytes:
    text = json.dumps(content).encode()
    head = struct.pack("<QI", len(text), len(blobs)) + struct.pack(
        f"<{len(blobs)}Q", *map(len, blobs)
    )
    return head + text + b"".join(blobs)


def row(op: str = "input", inputs: tuple = (), type: str = "f32[2]") -> list:
    return [op, list(inputs), [], type, "x"]


HOSTILE = {
    "empty": b"",
    "cut_short": forged({"rows": [], "body": None})[:-1],
    "no_json": struct.pack("<QI", 3, 0) + b"abc",
    "huge_sizes": struct.pack("<QI", 2**63, 2**31),
    "unknown_tag": forged({"rows": [], "body": {"pickle": "x"}}),
    "two_tags": forged({"rows": [], "body": {"list": [], "tuple": []}}),
    "bad_number": forged({"rows": [], "body": {"known": 10**9}}),
    "negative_number": forged({"rows": [], "body": {"known": -1}}),
    "true_as_number": forged({"rows": [row()], "body": {"known": True}}),
    "bad_dtype": forged(
        {"rows": [], "body": {"array": {"dtype": "O", "shape": [1], "blob": 0}}}, b"x"
    ),
    "bad_shape": forged(
        {"rows": [], "body": {"array": {"dtype": "<f4", "shape": [-1], "blob": 0}}}, b"abcd"
    ),
    "bytes_do_not_fill": forged(
        {"rows": [], "body": {"array": {"dtype": "<f4", "shape": [9], "blob": 0}}}, b"abcd"
    ),
    "unknown_op": forged({"rows": [row("rm -rf")], "body": None}),
    "wrong_type": forged({"rows": [row(), row("neg", (0,), "f32[9]")], "body": None}),
    "too_large": forged({"rows": [row(type="f32[100000,100000]")], "body": None}),
    "record_that_is_not_ours": forged(
        {"rows": [], "body": {"record": ["os.system", {"dict": []}]}}
    ),
    "dataclass_that_is_not_sendable": forged(
        {"rows": [], "body": {"record": ["Machine", {"dict": []}]}}
    ),
    "function_to_the_grader": forged({"rows": [], "body": {"function": 0}}),
    "graph_that_is_not_verified": forged({"rows": [], "body": {"record": ["Graph", {"dict": []}]}}),
    "one_array_a_thousand_times": forged(
        {
            "rows": [],
            "body": {"list": [{"array": {"dtype": "|u1", "shape": [1 << 20], "blob": 0}}] * 1000},
        },
        bytes(1 << 20),
    ),
    "attribute_with_a_number_for_a_name": forged(
        {"rows": [row(), ["neg", [0], [[7, 1]], "f32[2]", "y"]], "body": None}
    ),
    "too_much_text": struct.pack("<QI", 1 << 26, 0) + b" " * (1 << 26),
    "deep": b"",
}
HOSTILE["deep"] = struct.pack("<QI", 200_000, 0) + b"[" * 200_000


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused(name):
    with pytest.raises(Unsendable):
        Codec().decode(HOSTILE[name])


def test_attributes_count_as_keys():
    """Names can be made to collide, those of a node like those of a dict."""
    many = [[str(n), 1] for n in range(60_000)]
    with pytest.raises(Unsendable, match="keys together"):
        Codec().decode(forged({"rows": [row(), ["neg", [0], many, "f32[2]", "y"]], "body": None}))


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_plain(data):
    with contextlib.suppress(Unsendable):
        Codec().decode(data)


def test_graph_that_would_take_hours_is_refused():
    ours, theirs = ends()
    ones = apply("expand", const(1.0, "f16"), shape=(5000, 5000))
    slow = Graph.of([], [apply("matmul", ones, ones)])
    with pytest.raises(Unsendable, match="floating-point operations"):
        ours.decode(theirs.encode(slow))


def test_loop_of_a_billion_steps_over_nothing_is_refused():
    """Its tensors have no elements, and no step computes anything."""
    for steps, refused in ((1_000_000_000, True), (1000, False)):
        ours, theirs = ends()
        h, xs = inp("h", "f32[0]"), inp("xs", f"f32[{steps},0]")
        graph = Graph.of([h, xs], [scan(lambda s, x: relu(s + x), h, [xs])])
        with pytest.raises(Unsendable, match="oper") if refused else contextlib.nullcontext():
            assert exact(ours.decode(theirs.encode(graph))) == exact(graph)


def test_large_constants_cross_as_bytes():
    ours, theirs = ends()
    weights = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)
    graph = trace(lambda x: x @ const(weights), "f32[1,512]")
    data = ours.encode(graph)
    assert len(data) < weights.nbytes * 1.01
    assert np.array_equal(theirs.decode(data).constants[0].value, weights)


# ── arguments ──


def onnx_model():
    onnx = pytest.importorskip("onnx")
    return onnx.helper.make_model(onnx.helper.make_graph([], "empty", [], []))


NODE = inp("x", "f32[4]")
CHANGES = {
    "a list": (lambda: [2, 1], lambda value: value.sort()),
    "a list in a dict": (lambda: {"a": [NODE]}, lambda value: value["a"].append(NODE)),
    "a list in a tuple": (lambda: ([1], 2), lambda value: value[0].clear()),
    "a node in a list": (
        lambda: [NODE],
        lambda value: value.__setitem__(0, inp("x", "f32[4]")),
    ),
    "a dict": (lambda: {"a": 1}, lambda value: value.pop("a")),
    "a set": (lambda: {NODE}, lambda value: value.add(relu(NODE))),
    "an array": (lambda: np.zeros(3), lambda value: value.__setitem__(0, -0.0)),
    "a model": (onnx_model, lambda value: setattr(value.graph, "name", "full")),
    "a list in itself": (lambda: [1], lambda value: value.append(value)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_argument_that_an_answer_changes_is_missed_by_nobody(name):
    make, change = CHANGES[name]
    ours, theirs = ends()
    arguments = theirs.decode(ours.encode({"other": [1], "this": make()}))
    given = Given(arguments)
    assert given.changed() == ""
    change(arguments["this"])
    assert given.changed() == "this"


@given(PLAIN)
def test_no_argument_changes_by_itself(value):
    assert Given({"value": value}).changed() == ""


def test_what_is_put_back_has_not_changed():
    work, done, views = [3, 1], {NODE}, {"a": math.nan, "b": 2}
    given = Given({"work": work, "done": done, "views": views})
    work.reverse()
    done.add(relu(NODE))
    views.update(a=views.pop("a"))
    assert given.changed() == "work"
    work.reverse()
    done.intersection_update({NODE})
    assert given.changed() == ""


@both_have
def doubled(number: int) -> int:
    return 2 * number


def test_a_function_that_both_ends_have_crosses_as_its_name_and_to_the_student_alone():
    ours, theirs = ends()
    data = ours.encode([doubled])
    assert theirs.decode(data) == [doubled] and not ours.functions
    with pytest.raises(Unsendable, match="unknown tag 'named'"):
        ours.decode(data)
    with pytest.raises(Unsendable):
        theirs.encode([doubled])


def test_what_is_plugged_in_is_not_asked_when_a_message_is_written_or_read():
    def wrong(roots, done=frozenset()):
        raise AssertionError

    ours, theirs = ends()
    graph = trace(lambda x: relu(softmax(x, -1)), "f32[2,3]")
    turned = Graph("turned", graph.inputs, graph.nodes[::-1], graph.outputs)
    with plugged("ir.graph.topological_order", wrong):
        got = theirs.decode(ours.encode([graph, turned]))
        assert [n.op for n in got[1].nodes] == ["relu", "softmax", "input"]
        assert theirs.encode(got) and theirs.encode(relu(got[0].outputs[0]))
