"""Visible checks of unit 4 for layouts: sink_relayouts.

What counts are the relayouts of images that are left: live, and not of a constant, which is
rearranged at compile time. Whatever else the pass does, the program computes the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.compiled import works_in_the_compiler
from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import same_meaning
from autograder.check.steps import with_steps
from autograder.units.u04.checks import relayouts as given
from autograder.units.u04.checks.relayouts import down, pad, pool, reduced, up
from course_lib.ir.graph.build import concat, reduce_sum, relu, reshape, softmax, tanh, trace
from course_lib.ir.graph.graph import Graph, print_graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.passes.clean.fixpoint import same_program

SHAPES = {"nhwc": "4,4,16", "nchw16c": "1,4,4,16", "nchw8c": "2,4,4,8", "nchw4c": "4,4,4,4"}  # 4x4
SAME_SHAPE = ("layer", "relu", "bias", "add")
NEW_SHAPE = ("pad", "pool", "max", "concat")


@st.composite
def networks(draw: DrawFn, most: int = 6, stops: bool = True) -> Graph:
    """Layers that want another layout, with other operations between them.

    With `stops`, some of those operations are such that no relayout can pass.
    """
    layout, images = draw(st.sampled_from(sorted(SHAPES))), draw(st.integers(1, 4))
    first, plain = inp("x", f"f32[{images},{SHAPES[layout]}]"), inp("y", f"f32[{images},16,4,4]")
    values = [up(first, layout)]
    kinds = [*SAME_SHAPE, *SAME_SHAPE, *NEW_SHAPE, *("image", "softmax") * stops]
    for _ in range(draw(st.integers(1, most))):
        x, kind = draw(st.sampled_from(values[-2:])), draw(st.sampled_from(kinds))
        fitting = [v for v in (*values, *[plain] * (kind == "image")) if v.type == x.type]
        values.append(_layer(kind, x, draw(st.sampled_from(fitting[-3:])), layout))
    x = values[-1]
    end = draw(st.sampled_from(["as it is", "down", "down", "mean", "flat"]))
    if end == "down":
        x = down(x, layout)
    elif end == "mean":
        x = reduce_sum(x, axes=(2, 3))
    elif end == "flat":
        x = reshape(reduced("sum", x, (2, 3)), (images, x.type.dims[1]))
    return Graph.of([first, plain], [x], "random")


def _layer(kind: str, x: Node, other: Node, layout: str) -> Node:
    """One more operation of a network: of `x`, and of `other`, which has the type of `x`."""
    bias = np.arange(x.type.dims[1], dtype=np.float32).reshape(-1, 1, 1)
    makers: dict[str, Callable[[], Node]] = {
        "layer": lambda: up(tanh(down(x, layout)), layout),
        "bias": lambda: x - const(bias),
        "add": lambda: x + other,
        "image": lambda: x + other,
        "concat": lambda: concat([x, other], axis=1),
        "softmax": lambda: softmax(x, axis=1),
        "max": lambda: reduced("max", x, (2, 3)),
        "pool": lambda: pool(x) if min(x.type.dims[2:]) > 1 else relu(x),
        "pad": lambda: pad(x),
        "relu": lambda: relu(x),
    }
    return makers[kind]()


SLOT = "passes.sink_relayouts"
background(SLOT, "`joined` does the first of them", because="what is given")


CASES = [(*row, spec) for spec, *row in given.CASES]
STAYS = [(*row, spec) for spec, *row in given.STAYS]


@for_each(SLOT, CASES, "{} small programs", spec=given.RULES)
def each_relayout_that_can_cancel_does(sink_relayouts, expected, types, why, program, spec):
    """On small programs, as many relayouts are left as must be."""
    before = trace(program, *types.split())
    after = same_meaning(before, sink_relayouts(before), spec=spec)
    wanted = f"{why} {_count(expected)} of {len(moving(before))}"
    _at_most(expected, before, after, wanted, spec)


FAR = "Move each relayout `src -> nchw` down as far as it goes"


@checks(SLOT, given=networks(6, stops=False), examples=40, what="random networks", spec=FAR)
def every_relayout_reaches_the_end(sink_relayouts, graph):
    """Where nothing stops a relayout, one is left behind the last operation, or none."""
    after = same_meaning(graph, sink_relayouts(graph))
    (end,) = graph.outputs
    in_nchw = end.type.rank == 4 and (end.op != "relayout" or end.attrs["dst"] == "nchw")
    expected = 1 if in_nchw else 0
    _at_most(expected, graph, after, f"Nothing stops a relayout here. {_count(expected)}")
    if in_nchw and after.outputs[0].op != "relayout":
        why = "Nothing stops a relayout here: it must go after the last operation."
        raise Wrong(why, program=graph, got=after, marked=(value_names(after)[after.outputs[0]],))


def _at_most(expected: int, before: Graph, after: Graph, wanted: str, spec: str = "") -> None:
    left = moving(after)
    if len(left) > expected:
        problem = f"{wanted} may be left, but {len(left)} {'are' if len(left) > 1 else 'is'}."
        marked = tuple(map(value_names(after).__getitem__, left))
        raise Wrong(problem, program=before, got=after, marked=marked, spec=spec)


@checks(SLOT, given=networks(6), examples=20, what="random networks", spec=given.RULES)
def sinking_keeps_the_meaning(sink_relayouts, graph):
    """The result computes what the program computes."""
    same_meaning(graph, sink_relayouts(graph))


@for_each(SLOT, STAYS, "{} programs with nothing to do")
def what_no_rule_is_about_stays(sink_relayouts, types, why, program, spec):
    """A program that no rewrite fits comes back as it went in."""
    before = trace(program, *types.split())
    after = same_meaning(before, sink_relayouts(before), spec=spec)
    live = Graph.of(after.inputs, after.outputs, after.name)
    if not same_program(before, live):
        raise Wrong(why, program=before, got=live, expected=print_graph(before), spec=spec)


@checks(SLOT, spec="One walk from the inputs to the outputs")
def each_node_is_visited_once(sink_relayouts):
    """121 operations with 2**40 paths."""

    def layers(x: Node) -> Node:
        y = up(x)
        for _ in range(40):
            y = apply("max", relu(y), tanh(y))
        return down(y)

    before = trace(layers, "f32[1,2,2,2]")
    why = "each shared node is walked once for each path to it"
    few = with_steps(sink_relayouts, 300_000, "a network of 121 operations", why)
    after = same_meaning(before, few(before))
    _at_most(0, before, after, "A long network is no obstacle. No relayout")


@checks(SLOT, spec="A rewritten node keeps its name and origin")
def rewritten_nodes_keep_their_names(sink_relayouts):
    """An operation that is made anew still has its name, and says which layer it came from."""
    x = inp("x", given.PIXELS)

    def called(name: str, node: Node) -> Node:
        return replace(node, name=name, origin=(f"layer {name}",))

    padded = called("p", pad(called("r", relu(up(x)))))
    pooled = called("m", pool(padded))
    ends = [down(pooled), called("t", tanh(pooled))]
    ends += [called("s", reduce_sum(pooled, axes=(2, 3)))]
    ends += [called("f", reshape(called("g", reduced("max", padded, (2, 3))), (16,)))]
    before = Graph.of([x], ends, "layers")
    after = same_meaning(before, sink_relayouts(before))
    left = [(n.op.removesuffix("_in_layout"), n.name, n.origin) for n in
            topological_order(after.outputs)]  # fmt: skip
    for node in [n for n in before.ops if n.origin]:
        whole = node.type.rank == 4  # otherwise a reshape may stand for it
        ops = [op for op, *names in left if names == [node.name, node.origin]]
        if not ops or (whole and node.op not in ops):
            which = f"A {node.op} called %{node.name} that comes from {node.origin[0]}"
            raise Wrong(f"{which} must still be there, but is not.", program=before, got=after)
    return "names and origins, kept"


@checks(SLOT, spec="Bit-exact")
def sinking_works_in_the_compiler(sink_relayouts):
    """Two layers in blocks, one of which is read twice, compiled with this pass in its place."""

    def layers(x: Node) -> list[Node]:
        y = up(x, "nchw16c")
        z = up(down(relu(y + const(given.BIAS)), "nchw16c"), "nchw16c")
        return [down(z + y, "nchw16c"), reduce_sum(pad(z), axes=(2, 3))]

    program = works_in_the_compiler(SLOT, sink_relayouts, trace(layers, given.BLOCKS))
    return f"compiled to {len(program.steps)} kernels"


def moving(graph: Graph) -> list[Node]:
    """The live relayouts of something that is not known at compile time."""
    live = topological_order(graph.outputs)
    known: set[Node] = set()
    for node in live:  # a constant, or made of constants alone
        if node.op == "constant" or (node.inputs and known.issuperset(node.inputs)):
            known.add(node)
    return [n for n in live if n.op == "relayout" and n not in known]


def _count(number: int) -> str:
    return "None" if number == 0 else str(number)
