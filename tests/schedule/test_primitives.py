"""The schedule primitives keep the meaning, and refuse what would change it.

Random schedules of random kernels, run by the loop interpreter before and after: same bits.
"""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

from course_lib.cost.machine import Machine
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.interp import run_kernel, unwritten
from course_lib.ir.loops.nest import Kernel, Loop, loops
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.text import print_kernel
from course_lib.lower.lower import lower_node
from course_lib.schedule.choose import choose
from course_lib.schedule.primitives import annotate, conflict, pack, sink, split, store_rows
from course_lib.schedule.schedule import packed


def outcome(kernel: Kernel, seed: int = 0) -> np.ndarray:
    """What the kernel writes for small whole numbers, whose sums are exact in any order.

    Operands that the schedule wants in blocks are generated plain and then rearranged.
    """
    rng = np.random.default_rng(seed)
    arrays = {}
    for buffer in kernel.params[:-1]:
        shape = list(buffer.type.dims)
        requests = [p for p in kernel.packed if p.param == buffer.name]
        for request in reversed(requests):
            outer, inner = shape.pop(0), shape.pop()
            shape.insert(request.axis, outer * inner)
        value = rng.integers(-4, 5, shape).astype(buffer.type.dtype.numpy)
        for request in requests:
            value = packed(value, request)
        arrays[buffer.name] = value
    arrays[kernel.out.name] = unwritten(kernel.out.type)
    run_kernel(kernel, arrays)
    return arrays[kernel.out.name]


def kernel_of(op: str, *types: str, **attrs) -> Kernel:
    operands = [inp(f"x{k}", t) for k, t in enumerate(types)]
    kernel = lower_node(apply(op, *operands, **attrs), op)
    assert kernel is not None
    return kernel


@st.composite
def kernels(draw: DrawFn) -> Kernel:
    """A matmul, convolution, reduction or pool of awkward sizes."""
    size: Callable[..., int] = lambda low, high: draw(st.integers(low, high))  # noqa: E731
    m, k, n = size(1, 9), size(1, 5), size(1, 9)
    match draw(st.sampled_from(["matmul", "batch", "conv", "depthwise", "sum", "pool"])):
        case "matmul":
            return kernel_of("matmul", f"f32[{m},{k}]", f"f32[{k},{n}]")
        case "batch":
            return kernel_of("matmul", f"f32[2,{m},{k}]", f"f32[{k},{n}]")
        case "conv":
            window = {"strides": (size(1, 2), size(1, 2))}
            return kernel_of("conv", f"f32[1,2,{m + 2},{n + 2}]", f"f32[{k},2,2,3]", **window)
        case "depthwise":
            return kernel_of("conv", f"f32[1,{k},{m + 2},{n}]", f"f32[{k},1,3,1]", groups=k)
        case "sum":
            return kernel_of("reduce_sum", f"f32[{m},{k},{n}]", axes=(size(0, 2),))
    return kernel_of("max_pool", f"f32[1,{k},{m + 1},{n + 1}]", kernel=(2, 2))


@given(kernel=kernels(), data=st.data())
def test_any_sequence_of_primitives_keeps_the_meaning(kernel: Kernel, data: DataObject) -> None:
    expected = outcome(kernel)
    for _ in range(data.draw(st.integers(1, 4))):
        names = list(dict.fromkeys(loop.var for loop in loops(kernel)))
        if not names:
            return
        var = data.draw(st.sampled_from(names))
        step = data.draw(st.sampled_from(["split", "sink", "vector", "unroll", "parallel"]))
        try:
            if step == "split":
                kernel = split(kernel, var, data.draw(st.integers(1, 4)))
            else:
                kernel = sink(kernel, var) if step == "sink" else annotate(kernel, var, step)
        except ValueError:
            continue  # refused: it would change the meaning
        np.testing.assert_array_equal(outcome(kernel), expected, f"after {step} {var}\n{kernel!r}")
    assert print_kernel(parse_kernel(print_kernel(kernel))) == print_kernel(kernel)


MACHINES = [
    Machine("", width, registers) for width in (1, 4, 16, 32, 64) for registers in (4, 16, 32)
]  # fmt: skip


@given(
    kernel=kernels(),
    machine=st.sampled_from(MACHINES),
    constants=st.sets(st.sampled_from(["x0", "x1"])),
)
def test_choose_keeps_the_meaning_on_any_machine(
    kernel: Kernel, machine: Machine, constants: set[str]
) -> None:
    scheduled = choose(kernel, machine, frozenset(constants))
    np.testing.assert_array_equal(outcome(scheduled), outcome(kernel), repr(scheduled))
    assert {p.param for p in scheduled.packed} <= constants


@pytest.mark.parametrize("fixed", ["x0", "x1"])
@pytest.mark.parametrize("sizes", [(47, 53, 59), (1, 64, 97), (64, 3, 1), (127, 2, 13)])
def test_choose_with_rests_in_both_directions(fixed: str, sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    kernel = kernel_of("matmul", f"f32[{m},{k}]", f"f32[{k},{n}]")
    choose(kernel, Machine("", 64, 32), frozenset([fixed]))


def test_choose_fills_the_registers_of_a_matmul() -> None:
    kernel = kernel_of("matmul", "f32[64,64]", "f32[64,64]")
    scheduled = choose(kernel, Machine(vector_bytes=64, registers=32))
    acc = scheduled.buffers["acc"].type
    assert acc.numel % 16 == 0 and 8 <= acc.numel // 16 <= 28, "accumulators, in registers of 16"
    assert {"parallel", "vector", "unroll"} <= {loop.kind for loop in loops(scheduled)}


@pytest.mark.parametrize("fixed", [frozenset(), frozenset(["x1"])])
def test_the_name_of_an_accumulator_means_nothing(fixed: frozenset[str]) -> None:
    kernel = kernel_of("conv", "f32[1,2,1,36]", "f32[16,2,1,1]")
    renamed = parse_kernel(print_kernel(kernel).replace("acc", "total"))
    machine = Machine(vector_bytes=64, registers=32)
    expected = print_kernel(choose(kernel, machine, fixed)).replace("acc", "total")
    assert print_kernel(choose(renamed, machine, fixed)) == expected


# ── each primitive, as text ──

SUMS = """kernel @sums(x: f32[10,3], out: f32[10]) {
  for i in 0..10 {
    local acc: f32[]
    acc[] = 0.0
    for k in 0..3 {
      acc[] += x[i, k]
    }
    out[i] = acc[]
  }
}
"""


def test_split_leaves_a_rest() -> None:
    after = split(parse_kernel(SUMS), "i", 4)
    outer, tail = [s for s in after.body if isinstance(s, Loop)]
    assert (outer.var, outer.extent) == ("io", 2)
    assert (tail.var, tail.start.const, tail.stop.const) == ("it", 8, 10)
    assert "out[ii + 4*io] = acc[]" in print_kernel(after)


def test_sink_gives_each_iteration_its_own_local() -> None:
    after = print_kernel(sink(parse_kernel(SUMS), "i"))
    assert after == """kernel @sums(x: f32[10,3], out: f32[10]) {
  local acc: f32[10]
  for i in 0..10 {
    acc[i] = 0.0
  }
  for k in 0..3 {
    for i in 0..10 {
      acc[i] += x[i, k]
    }
  }
  for i in 0..10 {
    out[i] = acc[i]
  }
}
"""  # fmt: skip


def body_loop(body: str) -> Loop:
    kernel = parse_kernel(f"kernel @k(x: f32[99], out: f32[99]) {{ for i in 0..10 {{ {body} }} }}")
    (loop,) = kernel.body
    assert isinstance(loop, Loop)
    return loop


@pytest.mark.parametrize(
    ("body", "through"),
    [
        ("out[i] = x[0]", None),
        ("out[2*i] = x[i]", None),
        ("for j in 0..3 { out[3*i + j] = x[j] }", None),
        ("for j in 0..3 { out[i] = out[i] + x[j] }", None),
        ("local t: f32[] t[] = x[i] out[i] = t[]", None),
        ("out[2*i] = x[i] out[2*i + 1] = 0.0", None),
        ("for j in 0..3 { out[4*i + j] = x[j] } for j in 3..4 { out[4*i + j] = 0.0 }", None),
        ("for j in 0..3 { out[4*i + j] = x[j] } for j in 3..5 { out[4*i + j] = 0.0 }", "out"),
        ("out[0] = x[i]", "out"),
        ("out[0] = out[0] + x[i]", "out"),
        ("out[i + 1] = out[i] + x[i]", "out"),
        ("for j in 0..4 { out[3*i + j] = x[j] }", "out"),
        ("for j in 0..i { out[i + j] = x[j] }", "out"),
        ("out[i] = x[i] out[i + 1] = 0.0", "out"),
    ],
)
def test_conflict(body: str, through: str | None) -> None:
    assert conflict(body_loop(body)) == through


def test_loops_that_combine_values_stay_where_they_are() -> None:
    kernel = parse_kernel(SUMS)
    for refused in (
        lambda: sink(kernel, "k"),
        lambda: annotate(kernel, "k", "parallel"),
        lambda: annotate(kernel, "k", "vector"),
    ):
        with pytest.raises(ValueError, match="iterations of k depend on each other through acc"):
            refused()
    assert "unroll k" in print_kernel(annotate(kernel, "k", "unroll"))


def test_words_for_what_is_not_there() -> None:
    kernel = parse_kernel(SUMS)
    with pytest.raises(ValueError, match="no loop 'j'; it has: i, k"):
        split(kernel, "j", 2)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        split(kernel, "i", 0)
    with pytest.raises(ValueError, match="unknown loop kind 'fast'"):
        annotate(kernel, "i", "fast")
    with pytest.raises(ValueError, match="no operand 'out'"):
        pack(kernel, "out", 0, 2)


def test_pack_reads_blocks() -> None:
    kernel = split(parse_kernel(SUMS), "i", 5)
    after = pack(kernel, "x", 0, 5)
    assert "x: f32[2,3,5]" in print_kernel(after)
    assert "x[io, k, ii]" in print_kernel(after)
    np.testing.assert_array_equal(outcome(after), outcome(kernel))


def test_pack_refuses_what_is_not_in_blocks() -> None:
    kernel = split(parse_kernel(SUMS), "i", 4)  # io: blocks of 4; it: 8 and 9
    with pytest.raises(ValueError, match="does not divide into blocks of 4"):
        pack(kernel, "x", 0, 4)
    with pytest.raises(ValueError, match="which is not 5 \\* outer \\+ inner"):
        pack(kernel, "x", 0, 5)
    rest = split(parse_kernel(SUMS.replace("10", "8")), "i", 6)  # it: 6 and 7, beyond a block of 4
    with pytest.raises(ValueError, match="not 4 \\* outer"):
        pack(split(rest, "io", 1), "x", 0, 4)


def test_store_rows_follows_the_order_of_the_result() -> None:
    kernel = kernel_of("conv", "f32[1,2,1,6]", "f32[8,2,1,1]")
    tiled = sink(sink(kernel, "o1"), "oc")
    tiled = annotate(annotate(tiled, "oc", "vector"), "o1", "unroll")
    after = store_rows(tiled, "oc", "o1")
    np.testing.assert_array_equal(outcome(after), outcome(kernel))
    assert "vector o1 in 0..6 {\n      out[0, oc, 0, o1] = tile[o1, oc]" in print_kernel(after)
