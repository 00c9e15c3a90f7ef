"""Level 2: the text form parses back, errors name the line; the verifier, the interpreter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from course_lib.cost.work import operations
from course_lib.ir.expr import (
    Affine,
    Call,
    Const,
    Expr,
    Iter,
    Load,
    call,
    cast,
    literal,
    print_expr,
)
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Loop, Stmt, Store, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.verify import verify_kernel as verify
from course_lib.ir.loops.walk import accesses
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import DTYPES, DType, bool_, f32, i64, parse_type

SCALED = """kernel @scaled_sum(x: f32[8,4], out: f32[8]) pack(x, 0, 4) loc("a \\"b\\"", "c") {
  parallel i in 0..8 {
    local acc: f32[]
    acc[] = 0.0
    for r in 0..4 {
      acc[] += x[i, r] * 0.5
    }
    out[i] = acc[]
  }
}
"""


def test_kernel_prints_as_it_was_written() -> None:
    assert print_kernel(parse_kernel(SCALED)) == SCALED


@st.composite
def expressions(draw: DrawFn, dtype: DType = f32, depth: int = 3) -> Expr:
    """Any expression of a type over `x: <dtype>[9]` and the loop variable i."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        if dtype == i64 and draw(st.booleans()):
            return Iter(Affine.var("i") * draw(st.integers(-3, 3)) + draw(st.integers(-9, 9)))
        if draw(st.booleans()):
            step = draw(st.integers(-2, 2))
            first = draw(st.integers(max(0, -3 * step), 8 - max(0, 3 * step)))
            index = Affine.var("i") * step + first
            return Load(f"x_{dtype}", (index,), dtype)
        if dtype.is_float:
            numbers = st.floats(width=32, allow_nan=False)
        else:
            numbers = st.booleans() if dtype == bool_ else st.integers(0, 100)
        return literal(draw(numbers), dtype)
    inner = lambda t: draw(expressions(t, depth - 1))  # noqa: E731
    kind = draw(st.sampled_from(["scalar", "select", "cast", "gather"]))
    if kind == "select":
        return call("select", inner(bool_), inner(dtype), inner(dtype))
    if kind == "gather":
        return Load(f"x_{dtype}", (call("abs", inner(i64)),), dtype)
    if kind == "cast":
        return cast(inner(draw(st.sampled_from([t for t in KINDS if t != dtype]))), dtype)
    rows = [s for s in SCALARS.values() if dtype.kind in s.accepts and s.result == "same"]
    if dtype == bool_ and draw(st.booleans()):
        test = draw(st.sampled_from(["lt", "eq", "ge"]))
        return call(test, inner(f32), inner(f32))
    row = draw(st.sampled_from(rows))
    return call(row.name, *(inner(dtype) for _ in range(row.arity)))


KINDS = [DTYPES[n] for n in ("f16", "f32", "f64", "i8", "i64", "u32", "bool")]


def kernel_with(expr: Expr, dtype: DType) -> Kernel:
    buffers = [Buffer(f"x_{t}", parse_type(f"{t}[9]")) for t in KINDS]
    out = Buffer("out", parse_type(f"{dtype}[4]"))
    body: tuple[Stmt, ...] = (Store("out", (Affine.var("i"),), expr),)
    return verify(Kernel("k", (*buffers, out), (Loop("i", Affine(), Affine((), 4), body),)))


@given(data=st.data(), dtype=st.sampled_from(KINDS))
def test_any_expression_parses_back(data: st.DataObject, dtype: DType) -> None:
    kernel = kernel_with(data.draw(expressions(dtype)), dtype)
    text = print_kernel(kernel)
    again = parse_kernel(text)
    assert print_kernel(again) == text
    assert again == kernel


def test_parentheses_stand_only_where_they_are_needed() -> None:
    a, b, c = (Load(n, (), f32) for n in "abc")
    assert print_expr(call("sub", a, call("sub", b, c))) == "a[] - (b[] - c[])"
    assert print_expr(call("sub", call("sub", a, b), c)) == "a[] - b[] - c[]"
    assert print_expr(call("mul", call("add", a, b), c)) == "(a[] + b[]) * c[]"
    assert print_expr(call("add", a, call("mul", b, c))) == "a[] + b[] * c[]"


@pytest.mark.parametrize(
    ("number", "dtype", "text"),
    [
        (1.0, "f32", "1.0"), (-0.0, "f32", "-0.0"), (1e30, "f32", "1e+30"), (3, "i64", "3"),
        (1e300, "f64", "1e+300:f64"), (-2, "i8", "-2:i8"), (float("-inf"), "f16", "-inf:f16"),
        (True, "bool", "true"),
    ],
)  # fmt: skip
def test_literals(number: float, dtype: str, text: str) -> None:
    constant = literal(number, DTYPES[dtype])
    assert print_expr(constant) == text
    kernel = parse_kernel(f"kernel @k(out: {dtype}[]) {{ out[] = {text} }}")
    (store,) = kernel.body
    assert isinstance(store, Store) and isinstance(store.value, Const)
    assert (repr(store.value.value), store.value.dtype) == (repr(constant.value), constant.dtype)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kernel @k(out: f32[4]) {\n  out[i] = 1.0\n}", "index i uses i, which no loop"),
        ("kernel @k(out: f32[4]) {\n  out[0] = y[0]\n}", "line 2: y is not a parameter or a local"),
        ("kernel @k(out: f32[4]) {\n\n  out[0] = 1.0 ?\n}", "line 3: cannot read '?"),
        ("kernel @k(out: f32[4]) {\n  out[0] = \n}", "line 3: expected name, found '}'"),
        ("kernel @k(out: f32[4]) {\n  out[0, 0] = 1.0\n}", "out has 1 axes, indexed with 2"),
        ("kernel @k(out: f32[4]) {\n  out[0] = maxx(1.0, 2.0)\n}", "2: no scalar function maxx"),
        ("kernel @k(out: f32[4]) {\n  out[0.5] = 1.0\n}", "line 2: an index must be"),
        ("kernel @k(out: i8[4]) {\n  out[0] = 1.5:i8\n}", "line 2: 1.5 is not a whole number"),
        ("kernel @k(out: f32[4]) {\n  for i in 0..4 {\n", "line 3: expected name, found 'end of"),
        ("kernel @k(out: f32[4]) { for i in 0..4 { for i in 0..4 { out[i] = 1.0 } } }", "twice"),
        ("kernel @k(out: f32[4]) { for i in 0..4 { local t: f32[] } out[0] = t[] }", "t is not"),
    ],
)  # fmt: skip
def test_errors_say_where_and_what(text: str, words: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_kernel(text)
    assert words in str(error.value)


def test_interpreter_runs_every_loop_kind_as_for() -> None:
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    text = SCALED.replace(" pack(x, 0, 4)", "")
    for kind in ("for", "parallel", "vector", "unroll"):
        out = np.empty(8, np.float32)
        run_kernel(parse_kernel(text.replace("parallel", kind)), {"x": x, "out": out})
        np.testing.assert_array_equal(out, x.sum(1) * 0.5)


def test_interpreter_guards_every_index_and_every_type() -> None:
    kernel = parse_kernel("kernel @k(p: i64[1], x: f32[4], out: f32[]) { out[] = x[p[0]] }")
    p, x, out = np.array([4]), np.zeros(4, np.float32), np.zeros((), np.float32)
    with pytest.raises(IndexError, match=r"x\[4\] is outside its shape \[4\]"):
        run_kernel(kernel, {"p": p, "x": x, "out": out})
    with pytest.raises(ValueError, match=r"x must be f32\[4\], got float64\[4\]"):
        run_kernel(kernel, {"p": p, "x": x.astype(float), "out": out})


def test_memory_that_was_never_written_shows() -> None:
    kernel = parse_kernel("kernel @k(out: f32[]) { local t: f32[] out[] = t[] * 0.0 }")
    out = np.zeros((), np.float32)
    run_kernel(kernel, {"out": out})
    assert np.isnan(out)


@pytest.mark.parametrize(
    ("sign", "start", "result"),
    [("+=", "0.0", 10.0), ("*=", "1.0", 24.0), ("max=", "-inf", 4.0), ("min=", "inf", 1.0)],
)
def test_accumulating_combines_what_is_there_with_the_value(
    sign: str, start: str, result: float
) -> None:
    text = f"""kernel @k(x: f32[4], out: f32[]) {{
  out[] = {start}
  for i in 0..4 {{
    out[] {sign} x[i]
  }}
}}
"""
    kernel = parse_kernel(text)
    assert print_kernel(kernel) == text
    out = np.zeros((), np.float32)
    run_kernel(kernel, {"x": np.array([3, 1, 4, 2], np.float32), "out": out})
    assert out == result
    assert operations(kernel) == 4
    assert [a[:2] for a in accesses(kernel.body)][1:] == [
        ("read", "out"), ("read", "x"), ("write", "out"),
    ]  # fmt: skip


def test_accumulating_with_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1: expected =, found '-'"):
        parse_kernel("kernel @k(out: f32[]) { out[] -= 1.0 }")
    out = Buffer("out", parse_type("f32[]"))
    with pytest.raises(ValueError, match="out cannot accumulate with sub: add, mul, max, min"):
        verify(Kernel("k", (out,), (Accumulate("out", (), "sub", literal(1.0, f32)),)))


def test_triangular_loops() -> None:
    text = "kernel @k(out: f32[4,4]) { for i in 0..4 { for j in i..4 { out[i, j] = 1.0 } } }"
    out = np.zeros((4, 4), np.float32)
    run_kernel(parse_kernel(text), {"out": out})
    np.testing.assert_array_equal(out, np.triu(np.ones((4, 4))))


def test_accesses_include_those_of_indices() -> None:
    kernel = parse_kernel("kernel @k(p: i64[4], x: f32[4], out: f32[4]) { out[p[1]] = x[p[2]] }")
    found = [(way, name) for way, name, _ in accesses(kernel.body)]
    assert found == [("read", "p"), ("read", "x"), ("read", "p"), ("write", "out")]


def test_affine_arithmetic() -> None:
    i, j = Affine.var("i"), Affine.var("j")
    assert str(i * 2 - j + 3) == "2*i - j + 3"
    assert i + j - i == j and i * 0 == Affine()
    assert (i * 4 + j).substitute({"i": j + 1}) == j * 5 + 4
    assert (i * 4 + j).evaluate({"i": 2, "j": 1}) == 9


def test_call_of_an_unknown_function_is_refused() -> None:
    bad = Call("sinus", (literal(1.0, f32),), f32)
    with pytest.raises(ValueError, match="no scalar function sinus of 1 arguments"):
        kernel_with(bad, f32)
