"""A rewrite rule of ours inside tinygrad: the same values, fewer bytes between kernels."""

import numpy as np
import pytest

pytest.importorskip("tinygrad")

from tinygrad.codegen import to_program
from tinygrad.device import Device
from tinygrad.schedule import rangeify
from tinygrad.tensor import Tensor
from tinygrad.uop.ops import PatternMatcher

from course_lib.plugins.narrow import narrowed
from course_lib.plugins.rewriting import rules_of
from course_lib.plugins.tinygrad.jit import llvm_device
from course_lib.plugins.tinygrad.listing import read_listing
from course_lib.plugins.tinygrad.rules import added
from course_lib.plugins.tinygrad.session import session

NOTHING = PatternMatcher([])
NARROW = rules_of(narrowed)
RNG = np.random.default_rng(0)
X, W, V = (RNG.integers(-128, 128, s, np.int8) for s in ((8, 16), (16, 12), (12, 4)))


def two_products(low=-128, high=127):
    """Two layers of a quantized model: rescaled, clipped, multiplied again."""
    hidden = (Tensor(X).cast("int32") @ Tensor(W).cast("int32")) * 0.01
    whole = hidden.round().clip(low, high).cast("int16" if high > 127 else "int8")
    return whole.cast("int32") @ Tensor(V).cast("int32")


def kernels(make, rules):
    """The listings of a tensor's kernels."""
    with session(llvm_device()), added(rules):
        calls = [call.src[0] for call in make().schedule_linear().src]
        asts = [ast for ast in calls if ast.op.name == "SINK"]
        texts = [to_program(ast, Device[Device.DEFAULT].renderer).src[2].arg for ast in asts]
    return [read_listing(text)[1] for text in texts]


def stored(make, rules):
    """The types of the buffers that its kernels write, and how many bytes these have."""
    written = [next(line for line in lines if line.op == "param" and line.more == "0")
               for lines in kernels(make, rules)]  # fmt: skip
    return [line.kind for line in written], sum(p.size * p.dtype.itemsize for p in written)


def value(make, rules):
    with session(llvm_device()), added(rules):
        return make().numpy()


def test_what_lies_between_two_products_is_stored_in_bytes():
    assert stored(two_products, NOTHING) == (["i32", "i32"], 4 * (8 * 12 + 8 * 4))
    assert stored(two_products, NARROW) == (["i8", "i32"], 8 * 12 + 4 * 8 * 4)


def test_the_values_are_the_same():
    off, on = value(two_products, NOTHING), value(two_products, NARROW)
    hidden = np.rint(
        (X.astype(np.int32) @ W.astype(np.int32)).astype(np.float32) * np.float32(0.01)
    )
    wanted = np.clip(hidden, -128, 127).astype(np.int32) @ V.astype(np.int32)
    assert np.array_equal(off, wanted) and np.array_equal(on, wanted)


def test_what_need_not_fit_is_left_alone():
    def wide():
        return two_products(-300, 300)

    assert stored(wide, NOTHING) == stored(wide, NARROW)
    assert np.array_equal(value(wide, NOTHING), value(wide, NARROW))


@pytest.mark.parametrize(
    "make",
    [lambda: Tensor(X).argmax(1), lambda: Tensor(X).sort(0)[1],
     lambda: Tensor(W).gather(0, Tensor(X[:, :12]).cast("int32").abs() % 16),
     lambda: (Tensor(X) > 3).cast("int32").cumsum(1)],
)  # fmt: skip
def test_other_programs_mean_the_same_with_it(make):
    off, on = value(make, NOTHING), value(make, NARROW)
    assert off.dtype == on.dtype and np.array_equal(off, on)


def test_the_rules_are_gone_afterwards_whatever_happens():
    before = rangeify.pm_limit_bufs
    with pytest.raises(ZeroDivisionError), added(NARROW):
        assert len(rangeify.pm_limit_bufs.patterns) == len(before.patterns) + 1
        raise ZeroDivisionError
    assert rangeify.pm_limit_bufs is before
