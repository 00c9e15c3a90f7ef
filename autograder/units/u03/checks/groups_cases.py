"""Small programs for the checks of `u03.illegal`, with one group each, and random ones.

Next room: fold.py.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from hypothesis import strategies as st

from autograder.check.programs import graphs
from course_lib.ir.graph.build import add, exp, neg, relu, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp

Case = tuple[list[Node], list[Node], str, str]


@functools.cache
def small() -> list[tuple[Graph, list[Node], str, str]]:
    """(program, members of its one group, the reason or "", what to think of)"""
    x, w = inp("x", "f32[4,4]"), inp("w", "f32[4,4]")
    a = _as("a", exp(x))
    b = _as("b", neg(a))
    c = _as("c", relu(b))
    m = _as("m", a @ w)  # beside: two ways from a
    s = _as("s", add(a, m))
    far = _as("far", add(a, relu(m)))
    last, e = _as("last", neg(far)), _as("e", neg(a))
    p = _as("p", x @ w)
    q = _as("q", p @ w)
    r = _as("r", relu(p))
    t = _as("t", transpose(r, (1, 0)))
    waits = "waits for itself"
    cases: list[Case] = [
        ([c], [a, b, c], "", "Each is read only by the next."),
        ([c], [a, b], "", "Only the last member is read outside."),
        ([c, b], [b, c], "is an output", "A member that is not the last is an output."),
        ([a, c], [b, c], "", "The output is no member."),
        ([b, c], [a, b], "", "The last member may be an output."),
        ([s], [a, s], waits, "The product outside needs a, and s needs the product."),
        ([last], [a, far, last], waits, "The way from a to far leads through two kernels outside."),
        ([s], [m, s], "", "a is an operand from outside."),
        ([s, m], [a, s], waits, "The product is a result, and s needs it as well."),
        ([s, e], [a, e], "is read outside", "The product reads a, and the group needs no product."),
        ([q @ p], [p, q], "no such kernel", "There are two contractions, and p is also read "
         "outside: the first reason counts."),
        ([t], [p, r, t], "no such kernel", "What follows a contraction in its kernel must be "
         "elementwise; a transpose is not."),
        ([a, s], [a, s], "is an output", "It also waits for itself: the first reason counts."),
    ]  # fmt: skip
    return [(Graph.of([x, w], ends), group, why, text) for ends, group, why, text in cases]


def _as(name: str, node: Node) -> Node:
    return replace(node, name=name)


@st.composite
def grouped(draw: st.DrawFn, size: int = 12) -> tuple[Graph, dict[str, list[Node]]]:
    """A random program, and up to three groups of its operations, neighbours mostly."""
    graph = draw(graphs(size=size))
    ops, users = list(graph.ops), graph.users()
    groups: dict[str, list[Node]] = {}
    for letter in "ABC":
        free = [n for n in ops if not any(n in members for members in groups.values())]
        if not free:
            break
        members = [draw(st.sampled_from(free))]  # a list: the order of a set is not repeated
        for _ in range(draw(st.integers(0, 4))):
            near = [n for m in members for n in (*m.inputs, *users[m]) if n in free]
            members += [draw(st.sampled_from(near))] if near else []
        groups[letter] = [n for n in ops if n in members]
    return graph, groups
