"""What makes the hidden recordings of the lab beside unit 16: other programs, layers, networks."""

from __future__ import annotations

from typing import Any

from course_lib.exercises import slot
from course_lib.maker import in_rows, maker
from lessons.u16_lab_stages.makers import c_of, in_iree, in_tvm, in_xla, searched
from lessons.u16_lab_stages.shown import NETWORK, sections, variants


def twice(r: Any, x: Any) -> Any:
    """Two softmaxes of one exponential's sum, written out, and one as a library has it."""
    e = r.exp(r.subtract(x, r.max(x)))
    s = r.sum(e)
    return r.softmax(r.add(r.divide(e, s), r.multiply(r.divide(r.const(1.0), s), e)))


def shifted(r: Any, x: Any) -> Any:
    """The sum with one added, and twice the exponential's share."""
    e = r.exp(r.tanh(x))
    s = r.sum(e)
    return r.add(r.divide(e, r.add(s, r.const(1.0))), r.multiply(e, r.divide(r.const(2.0), s)))


def squares(r: Any, x: Any) -> Any:
    """Squares divided by their sum, a logistic function, and a softmax of the result."""
    q = r.multiply(x, x)
    g = r.divide(r.const(1.0), r.add(r.exp(r.negative(x)), r.const(1.0)))
    return r.softmax(r.add(r.divide(q, r.sum(q)), g))


def logarithm(r: Any, x: Any) -> Any:
    """The logarithm of the sum of exponentials, and the sum divided by an exponential."""
    e = r.exp(x)
    return r.add(r.subtract(x, r.log(r.sum(e))), r.divide(r.sum(e), e))


PROGRAMS = {"twice": twice, "shifted": shifted, "squares": squares, "logarithm": logarithm}
TRIALS = 12
IMAGE = {
    "steps": [["conv_relu", ["x", "w0", "b0"], "a"], ["conv_relu", ["a", "w1", "b1"], "b"],
              ["add", ["b", "a"], "c"], ["softmax", ["c"], "y"]],
    "shapes": {"x": [1, 2, 8, 16], "w0": [4, 2, 3, 3], "b0": [4, 1, 1], "a": [1, 4, 8, 16],
               "w1": [4, 4, 3, 3], "b1": [4, 1, 1], "b": [1, 4, 8, 16], "c": [1, 4, 8, 16],
               "y": [1, 4, 8, 16]},
}  # fmt: skip
CHAIN = {
    "steps": [["dense_relu", ["p0", "u0", "v0"], "h0"], ["dense_relu", ["h0", "m0", "n0"], "g0"],
              ["dense", ["g0", "q0", "r0"], "k0"], ["dense_relu", ["k0", "s0", "t0"], "z0"]],
    "shapes": {"p0": [8, 32], "u0": [32, 16], "v0": [16], "h0": [8, 16], "m0": [16, 64], "n0": [64],
               "g0": [8, 64], "q0": [64, 32], "r0": [32], "k0": [8, 32], "s0": [32, 16], "t0": [16],
               "z0": [8, 16]},
}  # fmt: skip


@maker("jax", "jax", compared="names of texts", seconds=8)
def by_xla() -> dict[str, str]:
    return in_xla(PROGRAMS)


@maker("IREE", "iree", "jax", seconds=8)
def by_iree() -> dict[str, str]:
    return in_iree(PROGRAMS)


@maker("apache-tvm", "tvm", seconds=8)
def by_tvm() -> dict[str, str]:
    return in_tvm(PROGRAMS)


@maker("apache-tvm", "tvm", compared="names of texts", seconds=120)
def layers() -> dict[str, str]:
    from course_lib.peers.tvm_layers import Layer  # it imports TVM

    sizes = {"conv2d": (4, 10, 8, 3), "dense": (8, 64, 96), "batch_matmul": (3, 16, 32, 48)}
    return {kind: searched(Layer(kind, one), TRIALS, 7) for kind, one in sizes.items()}


@maker("apache-tvm", "tvm", seconds=8)
def in_c() -> dict[str, str]:
    return c_of({"image": IMAGE, "chain": CHAIN})


@maker("clang", "clang-22", "llvm-size-22", "llvm-nm-22", seconds=2)
def by_clang() -> dict[str, str]:
    """The network with our runner, and without, for a Cortex-M4."""
    ours = slot("u16_lab_stages.runner").reference(NETWORK.about)
    return {"sections": in_rows(sections(variants(ours)))}
