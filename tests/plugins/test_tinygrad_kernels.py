"""A kernel of tinygrad as a listing: its text, and two ways to run it, with tinygrad's own
interpreter as witness."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS
from course_lib.llvm.jit import compile_text

pytest.importorskip("tinygrad")

from tinygrad.codegen import to_program
from tinygrad.device import Device
from tinygrad.engine.jit import TinyJit
from tinygrad.tensor import Tensor
from tinygrad.uop.ops import UOp

from course_lib.plugins.tinygrad.device import chip_device
from course_lib.plugins.tinygrad.jit import llvm_device
from course_lib.plugins.tinygrad.listing import Line, print_listing, read_listing
from course_lib.plugins.tinygrad.scalars import compute, literal
from course_lib.plugins.tinygrad.session import session
from course_lib.plugins.tinygrad.text import llvm_ir

SMALL = """kernel twice
%0 = param f32[4] 0
%1 = param f32[4] 1
%2 = const i32 4
%3 = range i32 %2
%4 = index f32 %1 %3
%5 = load f32 %4
%6 = add f32 %5 %5
%7 = index f32 %0 %3
store %7 %6
end %3
"""


def devices():
    return chip_device(PRESETS["teaching"]), llvm_device()


def everywhere(compute_):
    """What each of our devices computes, beside tinygrad's interpreter."""
    found = []
    for device in ("PYTHON", *devices()):
        with session(device):
            found.append(compute_().numpy())
    return found


def test_a_listing_is_read_as_it_was_printed():
    name, lines = read_listing(SMALL)
    assert name == "twice" and len(lines) == 10
    assert lines[0] == Line(0, "param", "f32", (), 4, "0")
    assert print_listing(name, lines) == SMALL


@pytest.mark.parametrize("text", ["twice", "kernel a\n%0 = add i33 %1", "kernel a\n%x = const i32"])
def test_what_is_no_listing_is_refused(text):
    with pytest.raises(ValueError, match=r"listing begins|not an operation"):
        read_listing(text)


def test_every_kernel_of_tinygrad_reads_back():
    with session(chip_device(PRESETS["teaching"])):
        x = Tensor(np.ones((6, 7), np.float32))
        for y in (x.softmax(), x.sum(0).sin(), (x > 1).where(x.cast("int8"), 3), x.argmax(1)):
            for call in y.schedule_linear().src:
                if call.src[0].op.name == "SINK":
                    text = to_program(call.src[0], Device["TEACHING"].renderer).src[2].arg
                    assert print_listing(*read_listing(text)) == text


def test_the_llvm_ir_of_a_small_kernel(golden):
    golden("tinygrad_twice.ll", llvm_ir(*read_listing(SMALL)) + "\n")


def test_a_line_without_llvm_ir_is_named():
    with pytest.raises(NotImplementedError, match="exp2 f32 %0"):
        llvm_ir("k", [Line(0, "const", "f32", (), 1, "1.0"), Line(1, "exp2", "f32", (0,))])


def convolution(x, y):
    filters = y.reshape(1, 1, 5, 6)[:, :, :3, :3]
    return x.reshape(1, 1, 6, 5).conv2d(filters, padding=1)


def whole_numbers(x, y):
    a, b, c = (x * 9).cast("int32"), (y.T * 9).cast("int32"), (x * 500).cast("uint8")
    return a // 4 + b % 3 - c


def test_text_that_is_no_llvm_ir_is_refused():
    with pytest.raises(RuntimeError, match="expected"):
        compile_text("define i64 @k(ptr %x) { ret float }", "k", 1)


MODELS = {
    "softmax": lambda x, y: (x @ y).softmax(),
    "layer norm and gelu": lambda x, y: (x - 3).layernorm().gelu(),
    "padded convolution": convolution,
    "max pooling": lambda x, y: x.reshape(1, 1, 6, 5).max_pool2d(2),
    "truth values": lambda x, y: ((x > 0) & (y.T < 1)).logical_not().cumsum(0),
    "whole numbers": whole_numbers,
    "gather": lambda x, y: x.gather(0, (y.T.abs() * 2).cast("int32").clip(0, 5)),
    "bits": lambda x, y: x.bitcast("int32") ^ (y.T.bitcast("int32") << 3),
    "sorted": lambda x, y: x.sort(0)[0],
}


@pytest.mark.parametrize("name", MODELS)
def test_three_devices_agree(name):
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal(s).astype(np.float32) for s in ((6, 5), (5, 6)))
    theirs, lanes, machine = everywhere(lambda: MODELS[name](Tensor(x), Tensor(y)))
    for ours in (lanes, machine):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        if theirs.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-6)
        else:
            assert np.array_equal(ours, theirs)


def in_place(numbers):
    x = Tensor(numbers).realize()
    x.assign(x + 1).realize()
    return x.assign(x.flip(0) * x)


def views(numbers):
    return Tensor(numbers).realize()[2:].contiguous().realize()[1:] * 2


def sizes_of_the_call(numbers):
    """Two numbers that only the call knows, in an order that is not that of their names."""
    x, late, early = Tensor(numbers).realize(), UOp.variable("b", 1, 9), UOp.variable("a", 1, 9)
    return x[: late.bind(4)].sum() + 10 * x[: early.bind(2)].sum()


def gradient(numbers):
    weights = Tensor(numbers.reshape(4, 2)).realize()
    (Tensor(np.ones((3, 4), np.float32)) @ weights).softmax().log().mean().backward()
    return weights.grad


def noise(numbers):
    Tensor.manual_seed(3)
    return Tensor.rand(7, 5)


def captured(numbers):
    """A function that tinygrad records at its second call and replays from the third on."""
    step = TinyJit(lambda x: (x * 2 + 1).sum().realize())
    return [step(Tensor(numbers + k).realize()) for k in range(4)][-1]


@pytest.mark.parametrize(
    "program", [in_place, views, sizes_of_the_call, gradient, noise, captured]
)  # fmt: skip
def test_what_else_tensors_can_do(program):
    numbers = np.random.default_rng(1).standard_normal(8).astype(np.float32)
    theirs, *others = everywhere(lambda: program(numbers))
    for ours in others:
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-6)


def test_halves_are_rounded_after_every_operation():
    """tinygrad's interpreter computes them in float32 on Python 3.11, so numpy is the witness."""
    x = np.abs(np.random.default_rng(3).standard_normal(40)).astype(np.float32)
    wanted = np.sqrt((x.astype(np.float16) * np.float16(3)).astype(np.float64))
    for device in devices():
        with session(device):
            got = (Tensor(x).cast("float16") * 3).cast("float64").sqrt().numpy()
        assert got.dtype == np.float64 and np.array_equal(got, wanted)


@settings(max_examples=settings().max_examples // 2)
@given(
    st.sampled_from(["i8", "u8", "i32", "u32"]),
    st.sampled_from(["add", "sub", "mul", "max", "cdiv", "cmod", "and", "xor", "shr", "cmplt"]),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
)
def test_whole_numbers_by_numpy_and_by_llvm(kind, op, x, y):
    result = "bool" if op == "cmplt" else kind
    right = abs(y) % 7 + 1 if op in ("cdiv", "cmod", "shr") else y
    lines = [
        Line(0, "param", result, (), 1, "0"),
        Line(1, "const", "i64", (), 1, "0"),
        Line(2, "const", kind, (), 1, str(x)),
        Line(3, "const", kind, (), 1, str(right)),
        Line(4, op, result, (2, 3)),
        Line(5, "index", result, (0, 1)),
        Line(-1, "store", "", (5, 4)),
    ]
    made = np.zeros(1, lines[0].dtype)
    compile_text(llvm_ir("k", lines), "k", 1)(made.ctypes.data)
    with np.errstate(all="ignore"):
        assert made[0] == compute(lines[4], [literal(lines[2]), literal(lines[3])])


@pytest.mark.parametrize("kind", ["i8", "u8", "u32", "i64", "u64"])
@pytest.mark.parametrize("x", [3.9, -3.9, 300.5, -1e10, 1e30, -1e30, float("nan"), float("inf")])
def test_floats_become_whole_numbers_alike(x, kind):
    lines = [
        Line(0, "param", kind, (), 1, "0"),
        Line(1, "const", "i64", (), 1, "0"),
        Line(2, "const", "f32", (), 1, repr(x)),
        Line(3, "cast", kind, (2,)),
        Line(4, "index", kind, (0, 1)),
        Line(-1, "store", "", (4, 3)),
    ]
    made = np.zeros(1, lines[0].dtype)
    compile_text(llvm_ir("k", lines), "k", 1)(made.ctypes.data)
    assert made[0] == compute(lines[3], [literal(lines[2])])
