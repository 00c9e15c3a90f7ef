"""`scan`: its type, its text, the passes in its body, and what becomes of awkward bodies."""

from typing import Any

import numpy as np
import pytest

import course_lib
from autograder.check.levels import levels_agree
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.recurrence import Parts, final, scan
from course_lib.ir.graph.verify import verify
from course_lib.ir.registry import flops
from course_lib.ir.types import parse_type
from course_lib.lower.lower import lower
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import fixpoint
from course_lib.passes.clean.fold import fold
from course_lib.passes.infra.manager import PassError, run_passes
from course_lib.passes.prepare.specialize import specialize
from course_lib.runtime.executable import CompiledModel

RNG = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def rnn(width: int = 4, steps: int | str = 6) -> Graph:
    """h' = tanh(x + h @ r), from inputs h and xs."""
    h, xs = inp("h", f"f32[1,{width}]"), inp("xs", f"f32[{steps},1,{width}]")
    r = const(floats(width, width) / width)
    return Graph.of([h, xs], [scan(lambda s, x: b.tanh(x + s @ r), h, [xs])], "rnn")


def test_it_is_the_history_of_the_state() -> None:
    graph = rnn()
    start, xs = floats(1, 4), floats(6, 1, 4)
    (r,) = [n.value for n in graph.constants]
    states = [start]
    for x in xs:
        states.append(np.tanh(x + states[-1] @ r))
    np.testing.assert_allclose(run(graph, [start, xs])[0], states[1:], rtol=1e-6)
    levels_agree(graph, [start, xs])


def test_text_reads_back() -> None:
    text = print_graph(rnn(), "exact")
    assert print_graph(parse_graph(text), "exact") == text


def test_flops_are_those_of_all_steps() -> None:
    (node,) = rnn(steps=6).outputs
    assert flops(node) == 6 * sum(flops(n) for n in node.attrs["body"].ops)


STATE, ELEMENT = inp("s", "f32[2]"), inp("x", "f32[3]")
BODY = Graph.of([STATE, ELEMENT], [STATE * 2.0], "step")


@pytest.mark.parametrize(
    ("operands", "attrs", "words"),
    [
        (["f32[2]", "f32[5,4]"], {}, r"the body takes \[f32\[2\], f32\[3\]\], each step gives it"),
        (["f32[2]", "f32[]"], {}, "needs an axis of steps"),
        (["f32[2]", "f32[5,3]"], {"sequences": 2}, "2 sequences, but 1 are given"),
        (["f32[2]", "f32[5,3]", "f32[4,3]"], {"sequences": 2}, r"of one length, got \[5, 4\]"),
        (["f32[2]", "f32[5,3]"], {"sequences": 0}, "from 1 on"),
        (["f32[2]", "f32[5,3]"], {"body": Graph.of([STATE, ELEMENT], [ELEMENT])},
         r"must give the next state, f32\[2\]; it gives \[f32\[3\]\]"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(operands: list[str], attrs: dict, words: str) -> None:
    nodes = [inp(f"v{k}", t) for k, t in enumerate(operands)]
    given: dict[str, Any] = {"body": BODY, **attrs}
    with pytest.raises(ValueError, match=words):
        apply("scan", *nodes, **given)


def test_what_needs_no_state_is_computed_before_the_loop() -> None:
    """Also where it is written inside the step: only numbers stay in the body."""
    w, h, xs = inp("w", "f32[4,4]"), inp("h", "f32[1,4]"), inp("xs", "f32[3,1,4]")
    node = scan(lambda s, x: (s + x) @ b.transpose(b.exp(w), (1, 0)) * 0.5, h, [xs])
    assert [n.op for n in node.attrs["body"].ops] == ["add", "matmul", "mul"]
    assert node.inputs[2].op == "transpose"


def test_passes_work_on_the_body() -> None:
    s, x = inp("s", "f32[4]"), inp("x", "f32[4]")
    new = (x * s + s * x) * b.sqrt(const(4.0))
    body = Graph.of([s, x], [new], "step", also=[b.exp(s)])
    h, xs = inp("h", "f32[4]"), inp("xs", "f32[5,4]")
    graph = Graph.of([h, xs], [apply("scan", h, xs, body=body)])
    better = run_passes(graph, [fold, cse, dce])
    assert [n.op for n in better.outputs[0].attrs["body"].ops] == ["mul", "add", "mul"]
    assert print_graph(fixpoint(graph, [fold, cse, dce])) == print_graph(better)


def test_a_pass_that_breaks_a_body_is_named() -> None:
    def lazy(graph: Graph) -> Graph:
        """Every graph without a loop becomes its first input."""
        has_loop = any(n.op == "scan" for n in graph.nodes)
        return graph if has_loop else Graph.of(graph.inputs, [graph.inputs[-1]], graph.name)

    with pytest.raises(PassError, match="the pass 'lazy' broke the graph"):
        run_passes(rnn(), [lazy])


def test_sizes_may_be_symbols_until_the_inputs_are_known() -> None:
    h, xs = inp("h", "f32[n,4]"), inp("xs", "f32[t,n,4]")
    graph = Graph.of([h, xs], [scan(lambda s, x: b.tanh(x + s), h, [xs])])
    assert str(graph.outputs[0].type) == "f32[t,n,4]"
    fixed = specialize(verify(graph), [parse_type("f32[2,4]"), parse_type("f32[3,2,4]")])
    assert "n" not in {str(d) for n in fixed.outputs[0].attrs["body"].nodes for d in n.type.shape}
    levels_agree(fixed, [floats(2, 4), floats(3, 2, 4)])


def test_a_constant_that_a_pass_leaves_in_a_body_becomes_an_operand() -> None:
    def step(state: Node, x: Node) -> Node:
        (width,) = x.type.dims
        mask = apply("iota", shape=(width,), dtype="f32")
        return state * 0.5 + x * mask  # `closed` takes it out; written by hand, it is inside

    s, x = inp("s", "f32[4]"), inp("x", "f32[4]")
    body = Graph.of([s, x], [step(s, x)], "step")
    h, xs = inp("h", "f32[4]"), inp("xs", "f32[5,4]")
    graph = run_passes(Graph.of([h, xs], [apply("scan", h, xs, body=body)]), [fold, dce])
    assert [c.value.size for c in graph.outputs[0].attrs["body"].constants] == [1, 4]
    program = lower(graph)
    (step_,) = program.steps
    assert step_.kernel is not None and len(step_.reads) == 3
    levels_agree(graph, [floats(4), floats(5, 4)])


def test_a_matrix_that_two_products_read_is_not_packed_for_one_of_them() -> None:
    h, xs, r = inp("h", "f32[2,16]"), inp("xs", "f32[3,2,16]"), const(floats(16, 16) / 16)
    graph = Graph.of([h, xs], [scan(lambda s, x: b.relu((s + x) @ r) @ r, h, [xs])])
    levels_agree(graph, [floats(2, 16), floats(3, 2, 16)])


@pytest.mark.parametrize("result", ["state", "element", "other", "number"])
def test_the_next_state_may_be_any_value(result: str) -> None:
    h, xs, w = inp("h", "f32[2,1]"), inp("xs", "f32[3,2,1]"), inp("w", "f32[2,1]")
    number = b.expand(const(1.5), (2, 1))
    given = {"other": w, "number": number}
    node = scan(lambda s, x: {"state": s, "element": x, **given}[result], h, [xs])
    levels_agree(Graph.of([h, xs, w], [node]), [floats(2, 1), floats(3, 2, 1), floats(2, 1)])


def steps_of(graph: Graph, *inputs: np.ndarray) -> list[bool]:
    """Compare machine code with the interpreter; which steps have a kernel."""
    model = course_lib.compile(graph, list(inputs))
    assert isinstance(model, CompiledModel)
    np.testing.assert_allclose(model.run(list(inputs))[0], run(graph, list(inputs))[0], rtol=1e-5)
    return [step.kernel is not None for step in model.program.steps]


def test_a_body_with_an_op_that_has_no_loops_runs_with_numpy() -> None:
    h, xs = inp("h", "i64[4]"), inp("xs", "i64[5,4]")
    graph = Graph.of([h, xs], [scan(lambda s, x: apply("argsort", s + x, axis=0), h, [xs])])
    assert steps_of(graph, np.arange(4), RNG.integers(0, 9, (5, 4))) == [False]


def test_a_body_that_is_too_big_for_the_stack_runs_with_numpy() -> None:
    """A state of 1 MiB has a kernel; one element more has none."""
    for size, kernel in ((1 << 18, True), ((1 << 18) + 1, False)):
        h, xs = inp("h", f"f32[{size}]"), inp("xs", f"f32[2,{size}]")
        graph = Graph.of([h, xs], [scan(lambda s, x: s + x, h, [xs])])
        assert steps_of(graph, floats(size), floats(2, size)) == [kernel]


def test_an_index_that_a_step_reads_is_checked() -> None:
    """A walk: each state is where the next one stands in the table."""
    table, start, xs = inp("table", "i64[4]"), inp("start", "i64[]"), inp("xs", "i64[5]")
    history = scan(lambda s, x: apply("gather", table, s, axis=0) + x, start, [xs])
    graph = Graph.of([table, start, xs], [history])
    walk = np.array([1, 2, 3, 0])
    levels_agree(graph, [walk, np.array(2), np.zeros(5, np.int64)])
    model = course_lib.compile(graph)
    with pytest.raises(IndexError):
        model(walk, np.array(2), np.array([0, 0, 7, 0, 0]))


def test_parts_lie_side_by_side_or_flat() -> None:
    beside = Parts((parse_type("f32[2,3]"), parse_type("f32[2,1]")))
    flat = Parts((parse_type("f32[2,3]"), parse_type("f32[]"), parse_type("f32[4]")))
    for parts, joined in ((beside, "f32[2,4]"), (flat, "f32[11]")):
        nodes = [inp(f"p{k}", t) for k, t in enumerate(parts.types)]
        state = parts.join(nodes)
        assert str(state.type) == joined
        back = Graph.of(nodes, [parts.part(state, k) for k in range(len(nodes))])
        arrays = [np.asarray(floats(*t.dims)) for t in parts.types]
        for have, want in zip(run(back, arrays), arrays, strict=True):
            np.testing.assert_array_equal(have, want)


def test_no_steps_leave_the_initial_state() -> None:
    h, xs = inp("h", "f32[2]"), inp("xs", "f32[0,2]")
    history = scan(lambda s, x: s + x, h, [xs])
    assert final(history, h) is h
    levels_agree(Graph.of([h, xs], [history]), [floats(2), floats(0, 2)])
