"""The front door: targets agree, every form is seen in order, any passes give a right program."""

import re
from typing import Any

import numpy as np
import pytest

import course_lib
from course_lib import exercises
from course_lib.compiler import compile
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const
from course_lib.ir.loops.program import Program
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.infra.manager import pass_name
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose

RNG = np.random.default_rng(11)


def small_net() -> Graph:
    """Work for every pass of the default pipeline."""
    w, b = RNG.standard_normal((6, 3, 3, 3)), RNG.standard_normal((4, 1))
    vectors = [const(RNG.uniform(0.5, 2, 6).astype(np.float32)) for _ in range(4)]

    def net(x):
        y = apply("conv", x, const(w.astype(np.float32)), pads=[1, 1, 1, 1])
        y = relu(apply("batch_norm", y, *vectors)) + relu(apply("batch_norm", y, *vectors))
        y = apply("avg_pool", y, kernel=[2, 2], strides=[2, 2]) / 2.0 * 1.0
        flat = apply("reshape", y, shape=(4, -1)) + const(b.astype(np.float32)) ** 2.0
        return apply("softmax", flat, axis=-1), apply("layer_norm", flat)

    return trace(net, "f32[1,3,8,6]", name="small_net")


NET = small_net()
X = RNG.standard_normal((1, 3, 8, 6)).astype(np.float32)


def agree(results: Any, expected: Any) -> None:
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)


EXPECTED = compile(NET, target="interpreter", passes=[])(X)


@pytest.mark.parametrize("target", ["cpu", "interpreter"])  # the third one rounds to int8
def test_any_passes_give_the_same_results(target: str) -> None:
    for passes in (None, [], [decompose], [decompose, dce], DEFAULT[:-1]):
        agree(compile(NET, target=target, passes=passes)(X), EXPECTED)


def test_groups_around_padding_are_refused_in_words() -> None:
    """`fuse` alone groups a convolution that `decompose` can no longer reach."""
    weight = const(np.ones((6, 3, 3, 3), np.float32))
    net = trace(lambda x: relu(apply("conv", x, weight, pads=[1, 1, 1, 1])), "f32[1,3,8,6]")
    with pytest.raises(ValueError, match="`decompose` makes padding an op of its own, and has to"):
        compile(net, passes=[fuse])


def test_the_compiler_before_any_unit() -> None:
    """Every slot on the compiler's way has a baseline; together they compile whole models."""
    full = compile(NET)  # which loads all that is on its way
    names = [s.name for s in exercises.slots() if s.baseline is not None]
    assert {"passes.fuse", "schedule.memory.assign_offsets"} <= set(names)
    with exercises.baselines(*names):
        plain = compile(NET)
    agree(plain(X), EXPECTED)
    assert len(plain.kernels) > len(full.kernels)
    assert plain.memory is not None and plain.memory.size == plain.memory.without_reuse


def test_watch_sees_every_form_in_order() -> None:
    seen: list[tuple[str, Any]] = []
    compiled = compile(NET, watch=lambda name, form: seen.append((name, form)))
    names = [name for name, _ in seen]
    assert names == [stage.name for stage in compiled.stages]
    assert names[0] == "import"
    after_passes = names.index("loops")
    assert [re.sub(r"_\d+$", "", n) for n in names[1:after_passes]] == [
        pass_name(p) for p in DEFAULT
    ]
    assert names[after_passes:] == ["loops", "scheduled", "llvm", "optimized", "assembly"]
    forms = dict(seen)
    assert all(isinstance(form, Graph) for _, form in seen[:after_passes])
    assert isinstance(forms["loops"], Program) and isinstance(forms["scheduled"], Program)
    assert "define i64" in forms["llvm"] and "define" in forms["optimized"]
    assert "conv" in compiled.stage("assembly").text


def test_seconds_are_kept_for_each_step() -> None:
    compiled = compile(NET)
    assert list(compiled.compile_seconds) == [
        "import", "passes", "lower", "memory", "schedule", "codegen",
    ]  # fmt: skip
    assert list(compile(NET, target="interpreter").compile_seconds) == ["import", "passes"]


def test_course_lib_compile_is_the_front_door() -> None:
    agree(course_lib.compile(NET, [X])(X), EXPECTED)
    agree(course_lib.compile(NET, X)(X), EXPECTED)  # a single example input


def test_torch_module_keeps_its_module_paths() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)
    ).eval()
    x = torch.randn(2, 8)
    compiled = course_lib.compile(model, [x])
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x))
    assert [kernel.origin[0] for kernel in compiled.kernels] == ["0", "2"]


def test_words_for_what_cannot_be_compiled() -> None:
    with pytest.raises(
        ValueError, match="target must be one of cpu, interpreter, systolic, got 'gpu'"
    ):
        compile(NET, target="gpu")
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        compile(NET, threads=0)
    with pytest.raises(ValueError, match="threads must be at most 256, got 100000"):
        compile(NET, threads=100_000)
    with pytest.raises(ValueError, match=r"f32\[n\] has a symbolic size.*example inputs"):
        compile(trace(relu, "f32[n]"))
    with pytest.raises(ValueError, match=r"must be f32\[1,3,8,6\], got f32\[1,3,8,7\]"):
        compile(NET, [np.zeros((1, 3, 8, 7), np.float32)])
    with pytest.raises(ValueError, match="'broken' crashed"):
        compile(NET, passes=[_broken])


def _broken(graph: Graph) -> Graph:
    return graph.nodes[-1]["no such thing"]  # type: ignore[index]


_broken.__name__ = "broken"
