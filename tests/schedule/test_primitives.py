"""The schedule primitives keep the meaning, and refuse what would change it.

Random schedules of random kernels, run by the loop interpreter before and after: same bits.
"""

import doctest
import importlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

from course_lib.cost.machine import Machine
from course_lib.ir.graph.node import apply, inp
from course_lib.ir.loops.loop_interp import run_kernel, unwritten
from course_lib.ir.loops.nest import Kernel, Loop, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import loops
from course_lib.lower.lower import lower_node
from course_lib.schedule import steps
from course_lib.schedule.choose import choose
from course_lib.schedule.primitives.compute_at import compute_at
from course_lib.schedule.primitives.fission import fission
from course_lib.schedule.primitives.interchange import interchange
from course_lib.schedule.primitives.pack import pack
from course_lib.schedule.primitives.parallelize import parallelize
from course_lib.schedule.primitives.serial import serial
from course_lib.schedule.primitives.split import split
from course_lib.schedule.primitives.stage import stage
from course_lib.schedule.primitives.unroll import unroll
from course_lib.schedule.primitives.vectorize import vectorize
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


STEPS: list[Callable[..., Kernel]] = [
    split, fission, interchange, stage, vectorize, unroll, parallelize, serial
]  # fmt: skip


@given(kernel=kernels(), data=st.data())
def test_any_sequence_of_primitives_keeps_the_meaning(kernel: Kernel, data: DataObject) -> None:
    expected = outcome(kernel)
    for _ in range(data.draw(st.integers(1, 4))):
        names = [loop.var for loop in loops(kernel.body)]
        if not names:
            return
        var = data.draw(st.sampled_from(names))
        step = data.draw(st.sampled_from(STEPS))
        arguments = {
            split: [data.draw(st.integers(1, 4))],
            interchange: [data.draw(st.sampled_from(names))],
            stage: ["acc"],
        }
        try:
            kernel = step(kernel, var, *arguments.get(step, []))
        except ValueError:
            continue  # refused: it would change the meaning
        np.testing.assert_array_equal(
            outcome(kernel), expected, f"after {step.__name__} {var}\n{kernel!r}"
        )
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
    assert {"parallel", "vector", "unroll"} <= {loop.kind for loop in loops(scheduled.body)}


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


def test_split_of_a_loop_copies_what_is_inside_under_other_names() -> None:
    after = split(parse_kernel(SUMS), "i", 4)
    assert [loop.var for loop in loops(after.body)] == ["io", "ii", "k", "it", "k_2"]
    assert "acc_2[] += x[it, k_2]" in print_kernel(after)
    with pytest.raises(ValueError, match="split k: the kernel has a ko already"):
        split(split(split(after, "k", 2), "ki", 1), "k", 1)


def test_one_loop_of_several_nests_is_split_alone() -> None:
    kernel = kernel_of("concat", "f32[8]", "f32[8]", axis=0)
    after = split(kernel, "i0_2", 4)
    assert [loop.var for loop in loops(after.body)] == ["i0", "i0_2o", "i0_2i"]
    np.testing.assert_array_equal(outcome(after), outcome(kernel))


def test_fission_gives_each_iteration_its_own_local() -> None:
    after = print_kernel(fission(parse_kernel(SUMS), "i"))
    assert after == """kernel @sums(x: f32[10,3], out: f32[10]) {
  local acc: f32[10]
  for i in 0..10 {
    acc[i] = 0.0
  }
  for k in 0..3 {
    for i_2 in 0..10 {
      acc[i_2] += x[i_2, k]
    }
  }
  for i_3 in 0..10 {
    out[i_3] = acc[i_3]
  }
}
"""  # fmt: skip


def test_fission_refuses_a_loop_that_bounds_another() -> None:
    text = "kernel @k(out: f32[4,4]) { for i in 0..4 { for j in 0..i { out[i, j] = 0.0 } } }"
    with pytest.raises(ValueError, match="fission i: the bounds of a loop inside depend on it"):
        fission(parse_kernel(text), "i")


def test_a_reason_may_speak_of_loops_around() -> None:
    text = """kernel @k(x: f32[9,9], out: f32[9,9]) {
      local t: f32[9,9]
      for a in 0..9 { for b in 0..9 { t[a, b] = x[a, b] t[a, 0] += x[a, b] } }
      for i in 0..9 { for j in 0..9 { out[i, j] = t[i, j] } }
    }"""
    words = r"loop carries .* dependence through t: iteration \(a=\d, b=\d\) .*s t\[\d, 0\], which"
    with pytest.raises(ValueError, match=f"fission b: the {words}"):
        fission(parse_kernel(text), "b")
    with pytest.raises(ValueError, match=f"compute_at t, i: b: the {words}"):
        compute_at(parse_kernel(text), "t", "i")


@pytest.mark.parametrize("step", steps.STEPS.values(), ids=steps.STEPS)
def test_each_primitive_shows_its_rewrite_and_an_illegal_use(step: type[steps.Step]) -> None:
    """As examples that run: `test_examples_in_docstrings` in `test_fuzz_schedules.py`. One that is
    never refused says so."""
    module = importlib.import_module(step.primitive.__module__)
    (room,) = (t for t in doctest.DocTestFinder().find(module) if t.name == module.__name__)
    assert any(example.want.startswith("kernel @") for example in room.examples)
    refused = any("ValueError: " in (example.exc_msg or "") for example in room.examples)
    assert refused != ("is always legal" in (room.docstring or "")), "one of the two"
    assert "legal" in (room.docstring or "")


def nested(body: str) -> Kernel:
    return parse_kernel(
        "kernel @k(x: f32[9,9], out: f32[9,9]) "
        f"{{ for i in 0..8 {{ for j in 0..8 {{ {body} }} }} }}"
    )


@pytest.mark.parametrize(
    "body",
    [
        "out[i, j] = x[j, i]",
        "out[i + 1, j] = out[i, j]",
        "out[i + 1, j + 1] = out[i, j]",
        "out[0, i] = x[i, j]",
        "out[0, j] += x[i, j]",
    ],
)
def test_interchange_where_no_dependence_runs_backwards(body: str) -> None:
    kernel = nested(body)
    after = interchange(kernel, "i", "j")
    assert [loop.var for loop in loops(after.body)] == ["j", "i"]
    np.testing.assert_array_equal(outcome(after), outcome(kernel))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("out[i + 1, j] = out[i, j + 1]", "interchange i, j: a flow dependence through out"),
        ("out[i, j + 1] = out[i + 1, j]", "interchange i, j: an anti dependence through out"),
        ("out[0, 0] = x[i, j]", "interchange i, j: an output dependence through out"),
        ("out[0, 0] += x[i, j]", "dependence through out would run backwards"),
        ("out[i, j] = 0.0 } for l in 0..8 { out[i, l] = 1.0", "j must be all that the body of i"),
    ],
)
def test_interchange_refuses_the_others(body: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        interchange(nested(body), "i", "j")


def test_loops_that_combine_values_stay_where_they_are() -> None:
    kernel = parse_kernel(SUMS)
    for refused in (fission, parallelize, vectorize):
        with pytest.raises(ValueError, match=r"k: the loop carries an? .* through acc"):
            refused(kernel, "k")
    assert "unroll k" in print_kernel(unroll(kernel, "k"))


def test_serial_takes_a_promise_back() -> None:
    kernel = parse_kernel(SUMS)
    for promise in (parallelize, vectorize, unroll):
        assert promise(kernel, "i") != kernel
        assert serial(promise(kernel, "i"), "i") == kernel


def test_words_for_what_is_not_there() -> None:
    kernel = parse_kernel(SUMS)
    with pytest.raises(ValueError, match="no loop 'j'; it has: i, k"):
        split(kernel, "j", 2)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        split(kernel, "i", 0)
    with pytest.raises(ValueError, match="no operand 'out'"):
        pack(kernel, "out", 0, 2)
    with pytest.raises(ValueError, match="no local 'x'"):
        stage(kernel, "i", "x")
    with pytest.raises(ValueError, match="i must read acc at one place only"):
        stage(kernel, "i", "acc")


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


def test_a_tile_is_stored_in_the_order_of_the_result() -> None:
    kernel = kernel_of("conv", "f32[1,2,1,6]", "f32[8,2,1,1]")
    tiled = fission(fission(unroll(vectorize(kernel, "oc"), "o1"), "o1"), "oc")
    after = interchange(stage(tiled, "o1_3", "acc"), "o1_3", "oc_3")
    after = vectorize(serial(after, "oc_3"), "o1_3")
    np.testing.assert_array_equal(outcome(after), outcome(kernel))
    text = print_kernel(after)
    assert "vector oc_4 in 0..8 {\n      stage[o1_4, oc_4] = acc[o1_4, oc_4]" in text
    assert "vector o1_3 in 0..6 {\n      out[0, oc_3, 0, o1_3] = stage[o1_3, oc_3]" in text
