"""What an attribute may be, and what no op may do: read or write beside its operands."""

import numpy as np
import pytest

from course_lib.ir.graph.build import as_type, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.registry import OPS

X, IMAGE, BYTES = inp("x", "f32[4]"), inp("i", "f32[1,2,4,4]"), inp("u", "u8[3]")
FILTERS = inp("w", "f32[2,1,3,3]")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: apply("softmax", X, axis=1.5), "softmax: axis must be a whole number, got 1.5"),
        (lambda: apply("softmax", X, axis=True), "axis must be a whole number, got True"),
        (lambda: apply("max_pool", IMAGE, kernel=[1.5, 2]), "kernel must be a tuple of whole n"),
        (lambda: apply("max_pool", IMAGE, kernel=[0, 0]), r"whole numbers from 1 on, got \[0, 0\]"),
        (lambda: apply("group_norm", IMAGE, groups=0), "groups must be a whole number from 1 on"),
        (lambda: apply("conv", IMAGE, IMAGE, strides=[0, 1]), "strides must be .* from 1 on"),
        (lambda: apply("pad", X, low=[-1], high=[0]), "low must be .* from 0 on"),
        (lambda: apply("reduce_sum", X, keepdims=1), "keepdims must be true or false, got 1"),
        (lambda: apply("cast", X, dtype="f31"), "dtype must be one of f16, f32"),
        (lambda: apply("gelu", X, approximate="tan"), "must be one of none, tanh, got 'tan'"),
        (lambda: apply("fused", X, body=3), "fused: body must be a graph, got 3"),
        (lambda: apply("conv_transpose", IMAGE, FILTERS, output_padding=[1]), "needs 2 numbers"),
        (lambda: apply("clamp", BYTES, max=0.5), "0.5 does not fit a tensor of u8"),
    ],
)  # fmt: skip
def test_attribute_of_another_kind_is_refused_in_words(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_attributes_are_checked_when_a_graph_is_read_and_verified() -> None:
    text = print_graph(trace(lambda x: apply("softmax", x, axis=0), "f32[4]"))
    with pytest.raises(ValueError, match=r"line 2: softmax: axis .* got 1\.5"):
        parse_graph(text.replace("axis = 0", "axis = 1.5"))
    wrong = Node("softmax", (X,), {"axis": "0"}, X.type)
    with pytest.raises(ValueError, match="axis must be a whole number, got '0'"):
        verify(Graph.of([X], [wrong]))


def test_defaults_are_what_the_row_says_they_may_be() -> None:
    for row in OPS.values():
        for name, attr in row.attrs.items():
            if attr.default is None or isinstance(attr.default, (int, float, str)):
                attr.check(attr.default, f"{row.name}: {name}")


def test_slice_backwards_begins_inside_its_operand() -> None:
    with pytest.raises(ValueError, match=r"slice: 4..0 by -1 is not inside axis 0 of f32\[4\]"):
        apply("slice", X, starts=[4], stops=[0], steps=[-1])
    with pytest.raises(ValueError, match="is not inside axis 0"):
        apply("slice", inp("e", "f32[0]"), starts=[0], stops=[-1], steps=[-1])
    assert apply("slice", X, starts=[3], stops=[0], steps=[-1]).type.dims == (3,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: BYTES + 300, "add: the number 300 does not fit a tensor of u8"),
        (lambda: BYTES - (-1), "the number -1 does not fit a tensor of u8"),
        (lambda: const(-1, "u8"), "u8 has no number -1"),
        (lambda: as_type(256, BYTES.type.dtype), "u8 has no number 256"),
        (lambda: apply("pad", BYTES, low=[1], high=[0], value=-1), "pad: u8 has no number -1"),
        (lambda: parse_graph("graph @f() -> (u8[]) {\n %a = constant dense<-1> : u8[]\n}"),
         "line 2: u8 has no number -1"),
        (lambda: parse_graph("graph @f() -> (u8[1]) {\n %a = constant dense<[n]> : u8[1]\n}"),
         "line 2: .* needs numbers, got n"),
    ],
)  # fmt: skip
def test_number_that_a_type_does_not_have_is_refused_in_words(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


HUGE = 10**400


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: X + HUGE, "add: the number 10+ does not fit a tensor of f32"),
        (lambda: X + 1e300, r"the number 1e\+300 does not fit a tensor of f32"),
        (lambda: apply("clamp", X, max=HUGE), "clamp: max must be a number that f64 has, got 10+"),
        (lambda: apply("clamp", X, max=1e300), "does not fit a tensor of f32"),
        (lambda: apply("layer_norm", X, eps=HUGE), "eps must be a number that f64 has"),
        (lambda: apply("pad", X, low=[1], high=[0], value=HUGE), "value must be a number that f64"),
        (lambda: apply("pad", X, low=[1], high=[0], value=-1e300), r"f32 has no number -1e\+300"),
        (lambda: const(HUGE, "f32"), "f32 has no number 10+"),
        (lambda: const([[1.0], [HUGE]], "f64"), "f64 has no number 10+"),
        (lambda: const([1e60]), r"f32 has no number 1e\+60"),
        (lambda: const([300, 1], "u8"), "u8 has no number 300"),
        (lambda: const(65520, "f16"), "f16 has no number 65520"),
        (lambda: const(np.float64(1e60), "f32"), r"f32 has no number 1e\+60"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_number_beyond_a_float_type_is_refused_in_words(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (number, kind)
        for number in ("9" * 400, "9" * 5000, "-1e400")
        for kind in ("f32", "f64", "u8")
    ]
    + [("1e40", "f16"), ("65520", "f16"), ("1e60", "f32"), ("3.4028236e38", "f32")],
)
@pytest.mark.filterwarnings("error")
def test_number_beyond_a_float_type_is_refused_with_its_line(number: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"line 2: .*(no number|too large)"):
        parse_graph(f"graph @f() -> ({kind}[]) {{\n %a = constant dense<{number}> : {kind}[]\n}}")
    with pytest.raises(ValueError, match=r"line 3: .*(no number|too large)"):
        parse_kernel(
            f"kernel @k(out: {kind}[4]) {{\n for i in 0..4 {{\n  out[i] = {number}:{kind}\n }}\n}}"
        )


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.filterwarnings("error")
def test_infinity_and_what_rounds_to_the_largest_number_are_a_float_types_own(kind: str) -> None:
    largest = np.finfo(kind.replace("f", "float")).max
    half = (int(largest) - int(np.nextafter(largest, largest * 0))) // 2
    for number in (np.inf, -np.inf, float(largest), int(largest) + half // 2):
        wanted = number if number in (np.inf, -np.inf) else largest
        assert const(number, kind).value == wanted
        text = (
            f"graph @f() -> ({kind}[]) {{\n %a = constant dense<{number}> : {kind}[]\n return %a }}"
        )
        assert kind == "f64" or run(parse_graph(text), [])[0] == wanted
    assert np.isnan(const(np.nan, kind).value)
    assert apply("pad", X, low=[1], high=[0], value=-np.inf).type.dims == (5,)


def test_zero_minus_an_unsigned_tensor_wraps_around() -> None:
    graph = trace(lambda x: 0 - x, "u8[2]")
    assert run(graph, [np.array([0, 1], np.uint8)])[0].tolist() == [0, 255]
