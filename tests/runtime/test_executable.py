"""Executables: results belong to the caller, inputs may lie in memory in any way, threads agree."""

import ctypes
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import get_type_hints

import numpy as np
import pytest

from course_lib.compiler import compile
from course_lib.cost import work
from course_lib.draw.graphs.stages import picture
from course_lib.ir.graph.build import concat, matmul, relu, reshape, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const, inp
from course_lib.runtime.code import Entry, MachineCode, Part
from course_lib.runtime.executable import CompiledModel

RNG = np.random.default_rng(3)
WEIGHTS = RNG.standard_normal((8, 6)).astype(np.float32)


def layer() -> Graph:
    return trace(lambda x: relu(x @ const(WEIGHTS)), "f32[5,8]", name="layer")


def numbers(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


both = pytest.mark.parametrize("target", ["cpu", "interpreter"])


# ── machine code ──


@dataclass(frozen=True)
class Written:
    """Machine code of one kernel, which nobody compiled: three times as much, in Python."""

    functions: Mapping[str, Sequence[Part]]
    entries: Sequence[Entry] = ()
    modules: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def assembly(self) -> str:
        return ""


def test_machine_code_may_be_from_anywhere() -> None:
    def times_three(x: int, out: int, low: int, high: int) -> int:
        read, written = (ctypes.cast(at, ctypes.POINTER(ctypes.c_float)) for at in (x, out))
        for k in range(low, high):
            written[k] = 3 * read[k]
        return 0

    model = compile(trace(relu, "f32[4]"))
    assert isinstance(model, CompiledModel) and model.memory
    assert get_type_hints(CompiledModel.__init__)["code"] is MachineCode
    (step,) = model.program.steps
    assert step.kernel is not None
    code = Written({step.kernel.name: [(times_three, 4)]})
    made = CompiledModel(model.graph, model.program, model.memory, code, [], {})
    np.testing.assert_array_equal(made(np.array([0, 1, 2, 3], "f4")), [0, 3, 6, 9])
    assert repr(made).startswith("@") and "1 thread" in repr(made)


# ── results ──


@both
def test_a_result_that_is_an_input_a_constant_or_a_view_is_a_copy(target: str) -> None:
    x = inp("x", "f32[2,3]")
    y, c = relu(x), const(np.array([1, 2, 3], np.float32))
    outputs = [x, c, reshape(x, (6,)), y, reshape(y, (3, 2)), y, reshape(c, (1, 3))]
    compiled = compile(Graph.of([x], outputs, "views"), target=target)
    given = numbers(2, 3)
    first = compiled(given)
    expected = [given, c.value, given.reshape(6), np.maximum(given, 0)]
    for got, want in zip(first, expected, strict=False):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(first[4], first[3].reshape(3, 2))
    for k, one in enumerate(first):
        assert one.flags.writeable and not np.shares_memory(one, given)
        assert not any(np.shares_memory(one, other) for other in first[k + 1 :])
    for one in first:
        one[...] = 99  # what the caller does with results is the caller's business
    np.testing.assert_array_equal(compiled(np.zeros((2, 3), np.float32))[1], [1, 2, 3])


@both
def test_a_second_call_leaves_the_first_result_alone(target: str) -> None:
    compiled = compile(layer(), target=target)
    first = compiled(numbers(5, 8))
    kept = first.copy()
    compiled(numbers(5, 8))
    np.testing.assert_array_equal(first, kept)


@both
def test_graph_without_inputs_or_without_steps(target: str) -> None:
    two = compile(Graph.of([], [const(np.array([2.0], np.float32))], "two"), target=target)
    assert two().tolist() == [2.0]
    x = inp("x", "i32[]")
    same = compile(Graph.of([x], [x], "same"), target=target)
    assert same(np.int32(7)).shape == () and same(np.int32(7)) == 7


# ── inputs ──


@both
def test_inputs_may_lie_in_memory_in_any_way(target: str) -> None:
    compiled = compile(layer(), target=target)
    x = numbers(5, 8)
    expected = compiled(x)
    wide = np.zeros((5, 16), np.float32)
    wide[:, ::2] = x
    read_only = x.copy()
    read_only.setflags(write=False)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.float32, offset=1).reshape(5, 8)
    backwards = x[::-1].copy()[::-1]
    for other in (np.asfortranarray(x), wide[:, ::2], read_only, unaligned, backwards):
        before = other.copy()
        np.testing.assert_array_equal(compiled(other), expected)
        np.testing.assert_array_equal(other, before, "inputs are never written")


@both
def test_one_array_given_twice(target: str) -> None:
    graph = trace(lambda a, b: a * b + a, "f32[40]", "f32[40]")
    x = numbers(40)
    np.testing.assert_allclose(compile(graph, target=target)(x, x), x * x + x, rtol=1e-6)


def test_torch_tensors_in_torch_tensors_out() -> None:
    torch = pytest.importorskip("torch")
    compiled = compile(layer())
    x = torch.from_numpy(numbers(5, 8)).requires_grad_()
    y = compiled(x)
    assert isinstance(y, torch.Tensor) and not y.requires_grad
    np.testing.assert_array_equal(y.numpy(), compiled(x.detach().numpy()))
    columns = x.detach().t().contiguous().t()  # not row-major
    assert torch.equal(compiled(columns), y)


@both
def test_words_for_wrong_inputs(target: str) -> None:
    compiled = compile(layer(), target=target)
    with pytest.raises(ValueError, match=r"takes 1 inputs \['x0'\], got 2"):
        compiled(numbers(5, 8), numbers(5, 8))
    with pytest.raises(ValueError, match=r"%x0 must be f32\[5,8\], got f32\[4,8\]"):
        compiled(numbers(4, 8))
    with pytest.raises(ValueError, match=r"%x0 must be f32\[5,8\], got f64\[5,8\]"):
        compiled(numbers(5, 8).astype(np.float64))
    with pytest.raises(ValueError, match="complex64 is not supported"):
        compiled(numbers(5, 8).astype(np.complex64))


@both
def test_symbolic_batch_becomes_a_number(target: str) -> None:
    x = inp("x", "f32[n,8]")
    graph = Graph.of([x], [relu(matmul(x, const(WEIGHTS)))], "batch")
    for size in (1, 3):
        given = numbers(size, 8)
        compiled = compile(graph, [given], target=target)
        np.testing.assert_allclose(compiled(given), np.maximum(given @ WEIGHTS, 0), rtol=1e-5)
    with pytest.raises(ValueError, match=r"f32\[3,8\], got f32\[4,8\]"):
        compiled(numbers(4, 8))


# ── steps, threads, memory ──


def test_ops_without_loops_run_between_kernels() -> None:
    x = inp("x", "f32[4,3]")
    order = apply("argsort", relu(x), axis=0)
    graph = Graph.of([x], [order * 2, apply("argsort", -x, axis=1)], "mixed")
    compiled = compile(graph)
    assert [k.name for k in compiled.kernels].count("numpy_argsort") == 2
    inputs = [numbers(4, 3)]
    for got, want in zip(compiled(*inputs), run(graph, inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def many_kernels() -> Graph:
    def model(x, w, v):
        y = relu(apply("conv", x, w, pads=[1, 1, 1, 1]))
        z = apply("max_pool", y, kernel=[2, 2], strides=[2, 2])
        z = apply("conv", z, v)
        return apply("softmax", reshape(z, (3, -1)), axis=-1), concat([y, y], 1)

    return trace(model, "f32[1,4,21,23]", "f32[7,4,3,3]", "f32[3,7,1,1]")


def test_two_threads_compute_the_same_bits_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "WORTH_A_THREAD", 0)
    inputs = [numbers(*n.type.dims) for n in many_kernels().inputs]
    one, two, three = (compile(many_kernels(), threads=t)(*inputs) for t in (1, 2, 3))
    for a, b, c in zip(one, two, three, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


def test_many_callers_share_one_executable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "WORTH_A_THREAD", 0)
    compiled = compile(many_kernels(), threads=2)
    calls = [[numbers(*n.type.dims) for n in compiled.graph.inputs] for _ in range(12)]
    alone = [compiled(*inputs) for inputs in calls]
    with ThreadPoolExecutor(4) as callers:
        together = list(callers.map(lambda inputs: compiled(*inputs), calls * 3))
    for k, results in enumerate(together):
        for a, b in zip(results, alone[k % 12], strict=True):
            assert a.tobytes() == b.tobytes()


def test_the_arena_is_reused_and_as_large_as_planned() -> None:
    compiled = compile(many_kernels())
    plan = compiled.memory
    assert plan is not None
    assert plan.lower_bound <= plan.size < plan.without_reuse


def test_stages_kernels_and_report() -> None:
    compiled = compile(layer())
    names = [stage.name for stage in compiled.stages]
    assert names[0] == "import" and names[-5:] == [
        "loops", "scheduled", "llvm", "optimized", "assembly",
    ]  # fmt: skip
    assert [compiled.stage(n).level for n in ("import", "loops", "llvm")] == [
        "graph", "loops", "code",
    ]  # fmt: skip
    for stage in compiled.stages:
        assert stage.text.strip() and picture(stage).html
    with pytest.raises(ValueError, match="no stage 'mlir'; this compilation has: import"):
        compiled.stage("mlir")
    report = compiled.report()
    assert report.flops == sum(k.flops for k in compiled.kernels) > 2 * 5 * 8 * 6
    assert report.as_dict()["kernels"] == 1 and "matmul_relu_0" in str(report)
    assert "matmul_relu_0" in repr(report)


# ── what it says of itself ──


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("cpu", "@layer for cpu (1 kernel, 1 thread): x0: f32[5,8] -> f32[5,6]"),
        ("interpreter", "@layer for interpreter (1 operation): x0: f32[5,8] -> f32[5,6]"),
    ],
)
def test_it_says_what_it_is_in_a_line(target, said):
    assert repr(compile(layer(), target=target, threads=1)) == said


def test_on_the_chip_it_says_how_many_parts_run_there():
    said = repr(compile(layer(), target="systolic", threads=1))
    assert said.startswith("@layer for systolic (") and "1 part on the chip)" in said


def test_of_many_inputs_it_names_the_first_ones():
    many = trace(lambda *inputs: concat(inputs, 0), *["f32[2]"] * 9)
    said = repr(compile(many, target="interpreter"))
    assert "x3: f32[2], ... (9 in all) -> f32[18]" in said and "x4" not in said
