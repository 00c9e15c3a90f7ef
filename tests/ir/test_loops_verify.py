"""The verifier of loop nests: what it refuses, in which words, and what it must accept."""

import pytest

from course_lib.ir.expr import Affine, Call, Load, literal
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Store
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import extreme, span
from course_lib.ir.types import bool_, f32, i64, parse_type

PARAMS = "n: i32[8], p: i64[8], b: bool[8], x: f32[8], out: f32[8]"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        # names
        ("for i in 0..8 { out[i] = 0.0 } for i in 0..8 { out[i] = 1.0 }", "the name i is given"),
        ("for x in 0..8 { out[x] = 0.0 }", "the name x is given twice"),
        ("local t: f32[] t[] = 0.0 for i in 0..8 { local t: f32[] t[] = 0.0 }", "the name t is"),
        # types
        ("for i in 0..8 { out[i] = n[i] }", "out holds f32, but n[i] is i32"),
        ("for i in 0..8 { out[i] = index(i) }", "out holds f32, but index(i) is i64"),
        ("for i in 0..8 { out[i] += 1 }", "out holds f32, but 1 is i64"),
        ("for i in 0..8 { out[i] = x[i] + n[i] }", "add is not defined for f32, i32: x[i] + n[i]"),
        ("for i in 0..8 { out[i] = select(b[i], x[i], n[i]) }", "select needs a bool and two val"),
        ("for i in 0..8 { out[i] = select(x[i], x[i], x[i]) }", "select needs a bool and two val"),
        ("for i in 0..8 { out[i] = cast(exp(n[i]), f32) }", "exp is not defined for i32"),
        ("for i in 0..8 { out[i] = x[abs(x[i])] }", "the index abs(x[i]) of x is f32, not a whole"),
        # bounds
        ("for i in 0..9 { out[i] = 0.0 }", "out[i] is outside f32[8]: i runs from 0 to 8"),
        ("for i in 0..8 { out[i] = x[i - 1] }", "x[i - 1] is outside f32[8]: i - 1 runs from -1"),
        ("for i in 0..4 { out[2*i + 2] = 0.0 }", "2*i + 2 runs from 2 to 8"),
        ("for i in 0..3 { for j in 0..3 { out[3*i + j] = 0.0 } }", "runs from 0 to 8"),
        ("for i in 0..8 { for j in i..9 { out[j] = 0.0 } }", "j runs from 0 to 8"),
        ("for i in 0..8 { for j in i..i + 2 { out[j] = 0.0 } }", "j runs from 0 to 8"),
        ("local t: f32[4] for i in 0..8 { t[i] = 0.0 }", "t[i] is outside f32[4]"),
        # promises
        ("vector i in 0..8 { out[0] = x[i] }", "vector i: the loop carries an output dependence"),
        ("parallel i in 0..7 { out[i] = out[i + 1] }", "parallel i: the loop carries an anti dep"),
        ("parallel i in 0..7 { out[i + 1] = out[i] }", "parallel i: the loop carries a flow dep"),
        ("parallel i in 0..8 { out[p[i]] = x[i] }", "parallel i: the loop carries an output dep"),
        ("parallel i in 0..8 { out[p[i]] += x[i] }", "parallel i: the loop carries an anti depend"),
        ("vector i in 0..8 { out[p[i]] = x[i] }", "vector i: the loop carries an output dependen"),
        ("for i in 0..8 { out[x[i]] = x[i] }", "the index x[i] of out is f32, not a whole"),
        ("for i in 0..8 { vector j in 0..i { out[j] = 0.0 } }", "vector j: its bounds must be nu"),
        ("for i in 0..8 { unroll j in 0..i { out[j] = 0.0 } }", "unroll j: its bounds must be nu"),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, words: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_kernel(f"kernel @k({PARAMS}) {{ {body} }}")
    assert str(error.value).startswith("kernel @k: ") and words in str(error.value)


@pytest.mark.parametrize(
    "body",
    [
        "for i in 0..0 { out[i + 100] = 0.0 }",
        "for i in 0..8 { for j in i..8 { out[j - i] = x[7 - j] } }",
        "for i in 0..2 { for j in 0..4 { out[4*i + j] = 0.0 } } for t in 8..8 { out[t] = 0.0 }",
        "for i in 0..8 { for j in 4*i..4*i + 4 { out[i] = x[j - 4*i] } }",
        "vector i in 0..8 { out[i] = x[7 - i] }",
        "for i in 0..8 { out[i] = select(b[i] * b[7 - i], 1.0, 0.0) }",
        "for i in 0..8 { out[p[i]] = x[abs(p[i])] }",
        "parallel i in 0..8 { local t: f32[] t[] = x[i] out[i] = t[] }",
        "for i in 0..8 { out[i] = select(lt(n[i], 3:i32), x[i], cast(n[i], f32)) }",
    ],
)
def test_what_is_accepted(body: str) -> None:
    parse_kernel(f"kernel @k({PARAMS}) {{ {body} }}")


def test_an_expression_has_the_type_that_its_function_gives() -> None:
    out = Buffer("out", parse_type("f32[1]"))
    wrong = {
        "lt(1.0, 1.0) is not f32": Call("lt", (literal(1.0, f32),) * 2, f32),
        "exp(1.0) is not i64": Call("cast", (Call("exp", (literal(1.0, f32),), i64),), f32),
        "out holds f32, but is read as bool": Load("out", (Affine(),), bool_),
    }
    for words, value in wrong.items():
        with pytest.raises(ValueError) as error:
            verify_kernel(Kernel("k", (out,), (Store("out", (Affine(),), value),)))
        assert words in str(error.value)


def test_a_local_lives_until_its_block_ends() -> None:
    inner = Local(Buffer("t", parse_type("f32[]")))
    use = Store("t", (), literal(1.0, f32))
    loop = Loop("i", Affine(), Affine((), 2), (inner, use))
    out = Buffer("out", parse_type("f32[]"))
    verify_kernel(Kernel("k", (out,), (loop,)))
    with pytest.raises(ValueError, match="t is not a parameter or a local in scope"):
        verify_kernel(Kernel("k", (out,), (loop, use)))
    with pytest.raises(ValueError, match="unknown loop kind 'fast'"):
        verify_kernel(Kernel("k", (out,), (Loop("i", Affine(), Affine(), (), "fast"),)))


def test_a_span_is_what_the_extremes_say_and_leaves_out_what_stands_still() -> None:
    index = Affine((("i", -2), ("j", 3)), 5)
    around = [Loop("i", Affine.of(1), Affine.of(4), ()), Loop("j", Affine.of(0), Affine.of(2), ())]
    least, most = (extreme(index, around, sign).const for sign in (-1, +1))
    assert span(index, {"i": 1, "j": 0}, {"i": 3, "j": 1}) == (least, most) == (-1, 6)
    assert span(index, {"j": 0}, {"j": 1}) == (5, 8)
