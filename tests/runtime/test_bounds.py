"""The debug run notices kernels that leave their buffers. They are written by hand, as text."""

from dataclasses import replace

import numpy as np
import pytest

from autograder.check.levels import levels_agree
from course_lib.compiler import compile
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops import parse
from course_lib.llvm.jit import compile_kernels
from course_lib.runtime.bounds import out_of_bounds
from course_lib.runtime.executable import CompiledModel

GRAPH = """
graph @f(%x: f32[8]) -> (f32[8]) {
  %y = exp(%x) : f32[8]
  return %y
}"""


def with_kernel(line: str, type: str = "f32", loop: str = "for i in 0..8") -> CompiledModel:
    """A compiled model whose only kernel runs this line in this loop, unverified."""
    model = compile(parse_graph(GRAPH.replace("f32", type).replace("exp", "neg")), passes=[])
    assert isinstance(model, CompiledModel) and model.memory is not None
    with pytest.MonkeyPatch.context() as patch:  # the verifier would refuse most of these kernels
        patch.setattr(parse, "verify", lambda kernel: kernel)
        text = f"kernel @k(x0: {type}[8], out: {type}[8]) {{ {loop} {{ {line} }} }}"
        kernel = parse.parse_kernel(text)
    (step,) = model.program.steps
    program = replace(model.program, steps=(replace(step, kernel=kernel),))
    return CompiledModel(model.graph, program, model.memory, compile_kernels([kernel]), [], {})


def faults(line: str, type: str = "f32", **more: str) -> list[str]:
    numbers = np.array([5, -5, 1, -1, 2, 3, 0, 4]).astype({"f32": "f4", "i8": "i1"}[type])
    return out_of_bounds(with_kernel(line, type, **more), [numbers])


OUTSIDE = "of 32 bytes of %y come from outside of its operands, or are never written"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("out[i] = x0[i]", []),
        ("out[i + 1] = x0[i]", ["writes to %y, behind its end", f"4 {OUTSIDE}"]),
        ("out[i + -2] = x0[i]", ["writes to %y, before its beginning", f"8 {OUTSIDE}"]),
        ("out[i] = x0[i] x0[i + 8] = x0[i]", ["writes to %x, behind its end"]),
        ("out[i] = x0[i] x0[i] = 9.0", ["writes to %x, which it may only read"]),
        ("out[i] = x0[i + 1]", [f"4 {OUTSIDE}"]),
        ("out[i] = x0[i + -3]", [f"12 {OUTSIDE}"]),
        ("out[0] = x0[i]", [f"28 {OUTSIDE}"]),
        ("out[i] = add(out[i], x0[i])", [f"32 {OUTSIDE}"]),
    ],
)
def test_each_way_to_leave_a_buffer_has_words(line: str, words: list[str]) -> None:
    assert faults(line) == [f"step 0, k: {each}" for each in words]


@pytest.mark.parametrize("type", ["f32", "i8"])
@pytest.mark.parametrize("combine", ["add", "max", "min"])
def test_a_number_from_outside_shows_whatever_is_computed_from_it(type: str, combine: str) -> None:
    assert len(faults(f"out[i] = {combine}(x0[i], x0[i + 1])", type)) == 1


def test_vectors_that_reach_behind_the_end_are_noticed() -> None:
    assert faults("out[i] = x0[i]", loop="vector i in 0..8") == []
    found = faults("out[i] = x0[i]", loop="vector i in 0..16")
    assert found == ["step 0, k: writes to %y, behind its end"]  # out[8] = x0[8], and so on


def test_steps_views_and_results_in_place_are_followed() -> None:
    graph = parse_graph("""
graph @f(%x: f32[4,3], %i: i64[2,3], %u: f32[2,3]) -> (f32[12], f32[4,3]) {
  %a = exp(%x) : f32[4,3]
  %b = scatter_elements(%a, %i, %u) {axis = 0, reduction = "add"} : f32[4,3]
  %c = reshape(%b) {shape = [12]} : f32[12]
  %d = neg(%c) : f32[12]
  %e = abs(%d) : f32[12]
  return %e, %a
}""")
    model = compile(graph, passes=[])
    assert isinstance(model, CompiledModel) and model.memory is not None and model.memory.in_place
    inputs = [np.ones((4, 3), np.float32), np.zeros((2, 3), np.int64), np.ones((2, 3), np.float32)]
    assert out_of_bounds(model, inputs) == []


def test_levels_agree_only_if_kernels_stay_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    graph: Graph = parse_graph(GRAPH)
    monkeypatch.setitem(levels_agree.__globals__, "out_of_bounds", lambda *_: ["step 0, k: writes"])
    with pytest.raises(AssertionError, match="step 0, k: writes"):
        levels_agree(graph, [np.ones(8, np.float32)])
