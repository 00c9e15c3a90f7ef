"""The interpreter of LLVM IR computes what the processor does, and counts what a call does."""

import ctypes

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.llvm.codegen import target_machine
from course_lib.llvm.inspect.fma import count_fma, fused, parse
from course_lib.llvm.inspect.listing import FORMS
from course_lib.llvm.inspect.llvm_interp import execute

DOT = """
define float @dot(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %px = getelementptr inbounds float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %a = load float, ptr %px, align 4
  %b = load float, ptr %py
  %p = fmul contract float %a, %b
  %more = fadd contract float %sum, %p
  %next = add nuw i64 %i, 1
  %over = icmp eq i64 %next, %n
  br i1 %over, label %done, label %loop
done:
  ret float %more
}
"""
INTEGERS = """
define i32 @f(i32 %a, i32 %b) {{
  %c = {op} i32 %a, %b
  %less = icmp {sign} i32 %c, %b
  %wide = sext i32 %c to i64
  %high = lshr i64 %wide, 33
  %low = trunc i64 %high to i32
  %r = select i1 %less, i32 %low, i32 %c
  ret i32 %r
}}
"""


def machine(text: str, name: str, kind, *arguments):
    """The same call by machine code."""
    engine = llvm.create_mcjit_compiler(parse(text), target_machine())
    engine.finalize_object()
    return ctypes.CFUNCTYPE(kind, *(type(a) for a in arguments))(engine.get_function_address(name))(
        *arguments
    )


@pytest.mark.parametrize("op", ["add", "sub", "mul", "and", "or", "xor"])
@pytest.mark.parametrize(
    "sign", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
)
def test_integers_are_those_of_the_processor(op, sign):
    text = INTEGERS.format(op=op, sign=sign)
    for a in (0, 1, 7, -1, -(2**31), 2**31 - 1):
        for b in (0, 3, -5, 2**31 - 1):
            there = machine(text, "f", ctypes.c_int32, ctypes.c_int32(a), ctypes.c_int32(b))
            assert execute(text, a, b).value == there % 2**32


@given(st.integers(1, 40), st.integers(0, 1 << 20))
def test_a_dot_product_rounds_as_its_text_says(n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    run = execute(DOT, x, y, n)
    expected = np.float32(0)
    for a, b in zip(x, y, strict=True):
        expected += a * b
    assert run.value == expected
    assert (run.products, run.sums, run.loads, run.stores, run.chain) == (n, n, 2 * n, 0, n + 1)
    assert run.blocks == {"entry": 1, "loop": n, "done": 1}
    count = count_fma(DOT, {"n": n})["dot"]
    assert count.runs.blocks == (1, n, 1)
    assert fused(count.dynamic or {}) == n


def test_fma_is_counted_and_rounded_once():
    text = (
        "define float @f(float %a, float %b, float %c) {\n"
        "  %r = call contract float @llvm.fma.f32(float %a, float %b, float %c)\n"
        "  ret float %r\n}\ndeclare float @llvm.fma.f32(float, float, float)"
    )
    with pytest.raises(ValueError, match="from its line `define` to its last brace"):
        execute(text.replace("declare float", "what"), 1, 1, 1)
    a = np.float32(1 + 2**-12)
    run = execute(text, a, a, -1)
    assert run.multiply_adds == 1
    assert run.value == np.float32(float(a) * float(a) - 1) != a * a - np.float32(1)


def test_stores_change_the_array_and_hand_on_the_chain():
    text = (
        "define void @f(ptr %x) {\n  %a = load float, ptr %x\n  %b = fadd float %a, %a\n"
        "  store float %b, ptr %x\n  %c = load float, ptr %x\n"
        "  %d = fmul float %c, 0x3FE0000000000000\n  store float %d, ptr %x, align 4\n  ret void\n}"
    )
    x = np.array([3], np.float32)
    run = execute(text, x)
    assert (run.chain, run.stores, x[0], run.value) == (2, 2, 3.0, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("%i, 1", "%i, 0"), "does not come to an end"),
        (("float %sum, %p", "float %sum, %q"), "%q has no value yet"),
        (("float %sum, %p", "float %i, %p"), "%i is of type i64, not float"),
        (("%py = ", "%px = "), "%px is defined a second time"),
        (("contract float %a", "contrakt float %a"), "here fmul is written `fmul float %a, %b`"),
        (("fmul contract", "fmull contract"), "fmull is not known here"),
        (("label %done, label %loop", "%done, %loop"), "br i1 %c, label %one, label %other`"),
        (("ret float %more", "ret i64 %i"), "this function returns float"),
        (("[ 0, %entry ], ", ""), "the phi has no value for the way from %entry"),
        (("label %done, label", "label %over, label"), "there is no block %over"),
        (("  %p = fmul", "  br label %loop\n  %p = fmul"), "a new one begins with its name"),
        (("%b = load", "load"), "a name for the result is missing"),
        (
            ("  %b = load float, ptr %py", "  %b = load <4 x float>, ptr %py"),
            "here load is written",
        ),
        (("  ret float %more\n", ""), "each block has at least one instruction"),
        (("float @dot(ptr %x", "float @dot([2 x float] %x"), "no pointer, integer or float"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(change, message):
    text = DOT.replace(*change)
    assert text != DOT
    x = np.ones(4, np.float32)
    with pytest.raises(ValueError, match=message):
        execute(text, x, x, 4, steps=1000)


def test_an_address_may_be_counted_in_bytes():
    x = np.arange(4, dtype=np.float32)
    text = DOT.replace("getelementptr float, ptr %y, i64 %i", "getelementptr i8, ptr %y, i64 %byte")
    text = text.replace("  %py", "  %byte = shl i64 %i, 2\n  %py")
    assert execute(text, x, x, 4).value == execute(DOT, x, x, 4).value == 14


def test_no_access_outside_of_an_array():
    x = np.ones(4, np.float32)
    with pytest.raises(ValueError, match="byte 16 of %x, which has 16"):
        execute(DOT, x, x, 5)
    with pytest.raises(ValueError, match="holds float64"):
        execute(DOT, x.astype(np.float64), x, 4)
    with pytest.raises(ValueError, match="takes %x, %y, %n: 2 arguments"):
        execute(DOT, x, 4)
    assert FORMS["load"].fullmatch("load float, ptr %px")


@pytest.mark.parametrize("op", ["sdiv", "udiv", "srem", "urem"])
def test_divisions_are_those_of_the_processor(op):
    text = f"define i32 @f(i32 %a, i32 %b) {{\n  %c = {op} i32 %a, %b\n  ret i32 %c\n}}"
    for a in (0, 1, 7, -1, -8, -(2**31), 2**31 - 1):
        for b in (1, 3, -5, 2**31 - 1):
            there = machine(text, "f", ctypes.c_int32, ctypes.c_int32(a), ctypes.c_int32(b))
            assert execute(text, a, b).value == there % 2**32
    with pytest.raises(ValueError, match="a division by zero"):
        execute(text, 1, 0)


OTHERS = """
%row = type { i8, [3 x float], i32 }
define i64 @"f" ( i64 %"n" , i64 %k)
{
  %p = inttoptr i64 0 to ptr
  switch i64 %k, label %other [
    i64 0, label %one
    i64 2, label %other
  ]
one:
  %q = ashr i64 %n, 1
  br label %done
other:
  %a = getelementptr %row, ptr %p, i64 %n, i32 1, i64 %k
  %b = getelementptr [2 x { i16, double }], ptr %a, i64 %k, i64 1, i32 1
  %d = ptrtoint ptr %b to i64
  br label %done
done:
  %r = phi i64 [ %q, %one ], [ %d, %other ]
  %x = sitofp i64 %r to double
  %y = fneg fast double %x, !fpmath !0
  %less = fcmp olt double %y, 3.5
  %z = fptosi double %y to i64
  %s = select i1 %less, i64 %z, i64 %r
  %t = freeze i64 %s
  ret i64 %t
}
!0 = !{float 2.5}
"""


def test_what_else_scalar_code_is_made_of():
    """Structures, conversions, several ways out of a block: as the processor does it, which takes
    an address of nothing where the interpreter wants one of its arrays."""
    ours = OTHERS.replace("i64 %k)", "i64 %k, ptr %p)").replace(
        "  %p = inttoptr i64 0 to ptr\n", ""
    )
    ours = ours.replace("to i64\n  br", "to i64\n  %e = ptrtoint ptr %p to i64\n  br", 1)
    ours = ours.replace("  %e", "  %d.0 = sub i64 %d, 0\n  %e").replace("[ %d,", "[ %near,")
    ours = ours.replace("to i64\n  br", "to i64\n  %near = sub i64 %d.0, %e\n  br", 1)
    x = np.zeros(1, np.float32)
    for n in (-7, 0, 1, 12):
        for k in (0, 1, 2):
            there = machine(OTHERS, "f", ctypes.c_int64, ctypes.c_int64(n), ctypes.c_int64(k))
            assert execute(ours, n, k, x).value == there % 2**64


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("[4 x float", "is no type that is known here"),
        ("<4 x float>", "is no type that is known here"),
        ("%pixel", "there is no type %pixel above this line"),
        ("[1 x " * 30 + "float" + "]" * 30, "is no type that is known here"),
    ],
)
def test_a_type_that_is_not_known_is_refused_with_its_line(kind, message):
    text = DOT.replace("getelementptr float, ptr %y", f"getelementptr {kind}, ptr %y")
    x = np.ones(4, np.float32)
    with pytest.raises(ValueError, match=f"line 9.*{message}"):
        execute(text, x, x, 4)


def test_a_type_that_grows_with_each_name_is_refused():
    rows = ["%t0 = type { float, float }"]
    rows += [f"%t{k} = type {{ %t{k - 1}, %t{k - 1}, %t{k - 1} }}" for k in range(1, 40)]
    x = np.ones(4, np.float32)
    with pytest.raises(ValueError, match="a type of more than 10,000 characters"):
        execute("\n".join(rows) + DOT, x, x, 4)
