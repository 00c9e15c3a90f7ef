"""Small programs for the checks of `u03.illegal`, with one group each, and random ones.

Next room: fold.py.
"""

from __future__ import annotations

from hypothesis import strategies as st

from autograder.check.programs import graphs
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node

HEAD = "graph @f(%x: f32[4,4], %w: f32[4,4]) -> "
ONE, TWO = f"{HEAD}(f32[4,4]) {{\n", f"{HEAD}(f32[4,4], f32[4,4]) {{\n"
CHAIN = """  %a = exp(%x) : f32[4,4]
  %b = neg(%a) : f32[4,4]
  %c = relu(%b) : f32[4,4]
"""
BESIDE = """  %a = exp(%x) : f32[4,4]
  %m = matmul(%a, %w) : f32[4,4]
  %b = add(%a, %m) : f32[4,4]
"""
PRODUCTS = """  %a = matmul(%x, %w) : f32[4,4]
  %b = matmul(%a, %w) : f32[4,4]
  %c = matmul(%b, %a) : f32[4,4]
"""
TURNED = """  %m = matmul(%x, %w) : f32[4,4]
  %a = relu(%m) : f32[4,4]
  %t = transpose(%a) {perm = [1, 0]} : f32[4,4]
"""
LONG_WAY = """  %a = exp(%x) : f32[4,4]
  %m = matmul(%a, %w) : f32[4,4]
  %n = relu(%m) : f32[4,4]
  %b = add(%a, %n) : f32[4,4]
  %c = neg(%b) : f32[4,4]
"""

# (program, members of its one group, the reason or "", what to think of)
SMALL: list[tuple[str, tuple[str, ...], str, str]] = [
    (f"{ONE}{CHAIN}  return %c\n}}", ("a", "b", "c"), "", "Each is read only by the next."),
    (f"{ONE}{CHAIN}  return %c\n}}", ("a", "b"), "", "Only the last member is read outside."),
    (f"{TWO}{CHAIN}  return %c, %b\n}}", ("b", "c"), "is an output",
     "The caller wants a member that is not the last."),
    (f"{TWO}{CHAIN}  return %a, %c\n}}", ("b", "c"), "", "The output is no member."),
    (f"{TWO}{CHAIN}  return %b, %c\n}}", ("a", "b"), "", "The last member may be an output."),
    (f"{ONE}{BESIDE}  return %b\n}}", ("a", "b"), "waits for itself",
     "The product outside needs a, and b needs the product."),
    (f"{ONE}{LONG_WAY}  return %c\n}}", ("a", "b", "c"), "waits for itself",
     "The way from a to b leads through two kernels outside."),
    (f"{ONE}{BESIDE}  return %b\n}}", ("m", "b"), "", "a is an operand from outside."),
    (f"{TWO}{BESIDE}  return %b, %m\n}}", ("a", "b"), "waits for itself",
     "The product is a result, and b needs it as well."),
    (f"{TWO}{BESIDE}  %c = neg(%a) : f32[4,4]\n  return %b, %c\n}}", ("a", "c"), "is read outside",
     "The product reads a, and the group needs no product."),
    (f"{ONE}{PRODUCTS}  return %c\n}}", ("a", "b"), "no such kernel",
     "There are two contractions, and a is also read outside: the first reason counts."),
    (f"{ONE}{TURNED}  return %t\n}}", ("m", "a", "t"), "no such kernel",
     "What follows a contraction in its kernel must be elementwise; a transpose is not."),
    (f"{TWO}{BESIDE}  return %a, %b\n}}", ("a", "b"), "is an output",
     "It also waits for itself: the first reason counts."),
]  # fmt: skip


@st.composite
def grouped(draw: st.DrawFn, size: int = 12) -> tuple[Graph, dict[str, list[Node]]]:
    """A random program, and up to three groups of its operations, neighbours mostly."""
    graph = draw(graphs(size=size))
    ops, users = list(graph.ops), graph.users()
    found: dict[str, list[Node]] = {}
    for letter in "ABC":
        free = [n for n in ops if not any(n in members for members in found.values())]
        if not free:
            break
        members = [draw(st.sampled_from(free))]  # a list: the order of a set is not repeated
        for _ in range(draw(st.integers(0, 4))):
            near = [n for m in members for n in (*m.inputs, *users[m]) if n in free]
            members += [draw(st.sampled_from(near))] if near else []
        found[letter] = [n for n in ops if n in members]
    return graph, found
