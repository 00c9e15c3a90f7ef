"""In place: a result may take an operand's bytes only where nobody can tell the difference."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.check.levels import MACHINES
from autograder.check.programs import graphs
from autograder.wire.codec import Codec
from course_lib.compiler import compile
from course_lib.cost import work
from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.build import matmul, relu, reshape, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.program import Program, print_program, run_program
from course_lib.llvm.jit import emit_module
from course_lib.lower.lower import lower, lower_node
from course_lib.memory.in_place import in_place, may_overwrite, reading_out
from course_lib.memory.plan import place
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.prepare.decompose import decompose
from course_lib.schedule.schedule import schedule

RNG = np.random.default_rng(4)
X, Y, ROW = inp("x", "f32[4,6]"), inp("y", "f32[4,6]"), inp("r", "f32[6]")
SQUARE, IMAGE = inp("s", "f32[5,5]"), inp("i", "f32[1,3,7,7]")
WEIGHTS = const(RNG.standard_normal((3, 3, 3, 3)).astype(np.float32))
PLACES = inp("p", "i64[4,6]")


def fused(*outputs: Node) -> Node:
    """The one group that fusion makes of a graph."""
    inputs = [n for n in topological_order(outputs) if n.op == "input"]
    (node,) = fuse(decompose(Graph.of(inputs, outputs))).ops
    return node


def residual() -> Node:
    x = inp("x", "f32[1,3,9,9]")
    return fused(relu(apply("conv", x, WEIGHTS) + IMAGE))


# ── which kernels may ──


@pytest.mark.parametrize(
    ("node", "operand"),
    [
        (relu(X), "x0"),
        (X + Y, "x0"),
        (X + Y, "x1"),
        (X + ROW, "x0"),
        (fused(relu(X * Y) + ROW), "x1"),
        (fused(matmul(X, inp("w", "f32[6,6]")) + Y), "x2"),
        (residual(), "x2"),
        (fused(apply("softmax", X, axis=-1)), "x0"),
        (fused(apply("layer_norm", X)), "x0"),
        (fused(apply("softmax", X + Y, axis=-1)), "x1"),
        (apply("cumsum", X, axis=1), "x0"),
    ],
)
def test_kernels_that_read_each_element_before_they_write_it(node: Node, operand: str) -> None:
    kernel = lower_node(node, "k")
    assert kernel is not None and may_overwrite(kernel, operand)


@pytest.mark.parametrize(
    ("node", "operand"),
    [
        (X + ROW, "x1"),  # another type
        (apply("cast", X, dtype="i32"), "x0"),
        (transpose(SQUARE, (1, 0)), "x0"),
        (fused(SQUARE + transpose(SQUARE * 2.0, (1, 0))), "x0"),
        (apply("slice", X, starts=(3, 0), stops=(-1, 6), steps=(-1, 1)), "x0"),
        (apply("expand", inp("c", "f32[1,6]"), shape=(4, 6)), "x0"),
        (matmul(SQUARE, inp("t", "f32[5,5]")), "x0"),
        (matmul(SQUARE, inp("t", "f32[5,5]")), "x1"),
        (apply("conv", IMAGE, WEIGHTS, pads=(1, 1, 1, 1)), "x0"),
        (apply("max_pool", IMAGE, kernel=(3, 3), pads=(1, 1, 1, 1)), "x0"),
        (apply("gather", inp("g", "f32[4]"), inp("at", "i64[4]"), axis=0), "x0"),
        (apply("cumsum", X, axis=1, exclusive=True), "x0"),
        (apply("reduce_sum", SQUARE, axes=(1,)), "x0"),
    ],
)
def test_kernels_that_read_too_late(node: Node, operand: str) -> None:
    (plain,) = decompose(Graph.of(list(node.inputs), [node])).ops[-1:]
    kernel = lower_node(plain, "k")
    assert kernel is not None and not may_overwrite(kernel, operand)


def kernel_text(body: str) -> str:
    return f"kernel @k(x: f32[4,4], out: f32[4,4]) {{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "legal"),
    [
        ("for i in 0..4 { for j in 0..4 { out[i, j] = x[i, j] + x[i, j] } }", True),
        ("for i in 0..4 { for j in 0..4 { out[i, j] = x[i, j] + x[i, 3] } }", False),
        ("for i in 0..4 { for j in 0..4 { out[i, j] = x[i, 3 - j] } }", False),
        ("for i in 0..4 { for j in 0..2 { out[i, 2*j] = x[i, 2*j + 1] } }", True),
        ("for i in 0..4 { for j in 0..3 { out[i, j] = x[i, j + 1] } }", False),
        ("for k in 0..2 { for i in 0..4 { for j in 0..4 { out[i, j] = x[i, j] } } }", False),
        (
            "for k in 0..4 { for l in 0..4 { out[k, l] = 0.0 } }\n"
            "for i in 0..4 { for j in 0..4 { out[i, j] = x[i, j] } }",
            False,
        ),
        (
            "for i in 0..4 { local a: f32[]\n a[] = 0.0\n"
            " for j in 0..4 { a[] += x[i, j] }\n"
            " for k in 0..4 { out[i, k] = x[i, k] * a[] } }",
            True,
        ),
        (
            "for i in 0..4 { local a: f32[]\n a[] = 0.0\n"
            " for j in 0..4 { out[i, j] = a[] }\n"
            " for k in 0..4 { a[] += x[i, k] } }",
            False,
        ),
        (
            "for j in 0..4 { local a: f32[]\n a[] = 0.0\n"
            " for i in 0..4 { a[] += x[i, j] }\n"
            " for k in 0..4 { out[j, k] = x[j, k] * a[] } }",
            False,
        ),
    ],
)
def test_written_out_loops(body: str, legal: bool) -> None:
    kernel = parse_kernel(kernel_text(body.replace(" }", "\n}").replace("{ ", "{\n")))
    assert may_overwrite(kernel, "x") == legal
    x = RNG.standard_normal((4, 4)).astype(np.float32)
    apart, over = np.zeros((4, 4), np.float32), x.copy()
    run_kernel(kernel, {"x": x, "out": apart})
    run_kernel(reading_out(kernel, "x"), {"x": np.zeros_like(x), "out": over})
    written = apart != 0
    if legal:
        np.testing.assert_array_equal(over[written], apart[written])


def same_bits(got: list[np.ndarray], want: list[np.ndarray]) -> None:
    for a, b in zip(got, want, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()


def numbers(graph: Graph, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        (rng.uniform(-2, 2, n.type.dims) if n.type.dtype.is_float
         else rng.integers(-9, 10, n.type.dims)).astype(n.type.dtype.numpy)
        for n in graph.inputs
    ]  # fmt: skip


def everything_is_read(graph: Graph) -> Graph:
    """Fewer results and longer chains: the last value only, made of what nobody read."""
    users = graph.users()
    ends = [n for n in graph.ops if not users[n] and n.type.dtype.is_float]
    total = None
    for end in ends:
        one = apply("reduce_sum", end, axes=tuple(range(end.type.rank)))
        one = apply("cast", one, dtype="f32")
        total = one if total is None else total + one
    return Graph.of(graph.inputs, [total] if total is not None else graph.outputs, graph.name)


@given(graph=graphs(size=14), seed=st.integers(0, 99))
def test_random_programs_keep_every_bit(graph: Graph, seed: int) -> None:
    inputs = numbers(graph, seed)
    for some in (graph, everything_is_read(graph)):
        for form in (decompose(some), fuse(decompose(some))):
            before = lower(form)
            after = in_place(before)
            want = run_program(before, [x.copy() for x in inputs])
            given_away = [x.copy() for x in inputs]
            same_bits(run_program(after, given_away), want)
            same_bits(given_away, inputs)
            machine = MACHINES[seed % len(MACHINES)]
            same_bits(
                run_program(schedule(after, machine), inputs),
                run_program(schedule(before, machine), inputs),
            )
            assert place(after).lower_bound <= place(before).lower_bound


@given(graph=graphs(size=12), seed=st.integers(0, 99))
def test_random_machine_code_keeps_every_bit(graph: Graph, seed: int) -> None:
    graph = everything_is_read(graph)
    inputs = numbers(graph, seed)
    with patch.object(work, "WORTH_A_THREAD", 0):
        ours = compile(graph, threads=2)(*inputs)
    with baselines("schedule.in_place.may_overwrite"):
        theirs = compile(graph, threads=1)
    same_bits([np.asarray(ours)], [np.asarray(theirs(*inputs))])
    assert theirs.memory is not None and theirs.memory.in_place == 0


# ── which operands may be written over ──


def over(program: Program) -> dict[str, str]:
    """{result: operand} for what `in_place` puts in place."""
    return over_now(in_place(program))


def over_now(program: Program) -> dict[str, str]:
    written = {s.writes for s in program.steps}
    return {v: of for v, of in program.views.items() if v in written}


def test_a_chain_lives_in_one_buffer() -> None:
    x = inp("x", "f32[64]")
    a = apply("exp", x)
    b = reshape(apply("neg", a), (8, 8))
    c = apply("abs", b)
    program = in_place(lower(Graph.of([x], [apply("reduce_sum", c, axes=(0,))])))
    assert len(program.buffers) == 2 and {program.owner(v) for v in program.views} == {"0"}
    plan = place(program)
    assert (plan.in_place, plan.size, len(plan.intervals)) == (2, 256, 1)
    assert "2 results in place" in str(plan)


def test_a_value_that_is_read_later_is_kept_also_through_a_view() -> None:
    x = inp("x", "f32[4,4]")
    a = apply("exp", x)
    view = reshape(a, (16,))
    b = apply("neg", a)
    c = apply("abs", view)
    graph = Graph.of([x], [apply("reduce_sum", b), apply("reduce_sum", c)])
    program = lower(graph)
    (last,) = [s.writes for s in program.steps if s.node is c]
    assert list(over(program)) == [last]


def test_inputs_constants_and_results_are_never_written_over() -> None:
    x, c = inp("x", "f32[8]"), const(np.arange(8, dtype=np.float32))
    a = relu(x)
    b = apply("neg", reshape(a, (8,)))
    total = apply("reduce_sum", b * apply("exp", c))
    assert over(lower(Graph.of([x], [apply("abs", x), apply("abs", c)]))) == {}
    names = {s.node: s.writes for s in lower(Graph.of([x], [a, total])).steps}
    assert names[b] not in over(lower(Graph.of([x], [a, total])))
    assert names[b] in over(lower(Graph.of([x], [total])))


def test_one_value_given_twice_is_kept() -> None:
    x = inp("x", "f32[4]")
    a = apply("exp", x)
    program = lower(Graph.of([x], [apply("reduce_sum", apply("mul", a, reshape(a, (4,))))]))
    assert over(program) == {}


def test_a_result_may_take_over_a_value_but_no_second_one_may() -> None:
    """The value then lives in the memory of the result; what follows must leave it alone."""
    x = inp("x", "f32[32]")
    y = apply("neg", apply("exp", x))
    graph = Graph.of([x], [y, apply("abs", y), reshape(y, (4, 8))])
    program = lower(graph)
    assert len(over(program)) == 1
    compiled = compile(graph, passes=[])
    assert compiled.memory is not None
    assert (compiled.memory.size, compiled.memory.in_place) == (0, 1)
    given = RNG.standard_normal(32).astype(np.float32)
    first, second, third = compiled(given)
    np.testing.assert_allclose(first, -np.exp(given), rtol=1e-6)
    np.testing.assert_array_equal(second, np.abs(first))
    np.testing.assert_array_equal(third.ravel(), first)
    assert not np.shares_memory(first, third)
    kept = first.copy()
    compiled(given + 1)
    np.testing.assert_array_equal(first, kept)


def test_ops_without_loops_stay_out_of_it() -> None:
    x = inp("x", "i64[4,3]")
    order = apply("argsort", apply("abs", x), axis=1)
    graph = Graph.of([x], [apply("reduce_sum", apply("neg", order))])
    written = over(lower(graph))
    assert [s.node.op for s in lower(graph).steps if s.writes in written] == ["neg"]


# ── what the kernel, its text and its machine code say ──


def test_the_residual_of_a_convolution_is_read_from_out() -> None:
    x = inp("x", "f32[1,3,7,7]")
    a = apply("exp", x)
    y = relu(apply("conv", apply("pad", a, low=(0, 0, 1, 1), high=(0, 0, 1, 1)), WEIGHTS) + a)
    graph = fuse(Graph.of([x], [apply("reduce_max", y)]))
    program = in_place(lower(graph))
    (name,) = over(lower(graph))
    text = print_program(program, kernels=False)
    assert f"%{name} = conv_add_relu_0(" in text and f" over %{program.views[name]} : " in text
    assert f"view %{name}" not in text
    (step,) = [s for s in program.steps if s.writes == name]
    assert step.kernel is not None
    assert "out[0, oc, o0, o1] = relu(acc[] + out[0, oc, o0, o1])" in repr(step.kernel)
    assert repr(parse_kernel(repr(step.kernel))) == repr(step.kernel)
    llvm, _ = emit_module(step.kernel)
    assert llvm.count("noalias") == len(step.kernel.params)
    assert "%x2," not in llvm.split("{", 1)[1]  # the pointer is passed, and nobody uses it


def test_run_program_shows_a_wrong_answer() -> None:
    """The meaning of a program is in place, too: writing over what is needed changes results."""
    x = inp("x", "f32[3,3]")
    turned = transpose(apply("exp", x), (1, 0))
    given = RNG.standard_normal((3, 3)).astype(np.float32)
    smaller = Graph.of([x], [apply("reduce_sum", apply("exp", x), axes=(0,))])
    with plugged("schedule.in_place.may_overwrite", lambda kernel, operand: True):
        wrong = in_place(lower(Graph.of([x], [turned])))
        with pytest.raises(ValueError, match=r"x0 is f32\[3,3\], so it has no room for out"):
            in_place(lower(smaller))
    assert over_now(wrong) and not np.allclose(run_program(wrong, [given])[0], np.exp(given).T)


def test_kernels_cross_the_pipe_of_the_grader() -> None:
    here, there = Codec(), Codec(call=lambda *_: None)
    for node in (residual(), fused(apply("softmax", X + Y, axis=-1)), relu(X)):
        kernel = lower_node(node, "k")
        assert there.decode(here.encode([kernel, "x0"])) == [kernel, "x0"]


def test_a_whole_block_with_two_threads() -> None:
    def block(x, w):
        for _ in range(3):
            x = relu(apply("conv", relu(apply("conv", x, w, pads=(1, 1, 1, 1))), w,
                           pads=(1, 1, 1, 1)) + x)  # fmt: skip
        return apply("softmax", reshape(apply("silu", x), (16, -1)), axis=-1)

    graph = trace(block, "f32[1,16,20,20]", "f32[16,16,3,3]")
    inputs = [x * np.float32(0.1) for x in numbers(graph, 1)]
    with patch.object(work, "WORTH_A_THREAD", 0):
        ours = compile(graph, threads=2)
        with baselines("schedule.in_place.may_overwrite"):
            theirs = compile(graph, threads=2)
        same_bits([ours(*inputs)], [theirs(*inputs)])
    assert ours.memory is not None and ours.memory.in_place >= 3
