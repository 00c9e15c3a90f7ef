"""Unit 3, Fusion: the exercises that are no function of the library.

What they talk about is in evidence.py and programs.py, which students have; the bodies of
the exercises are our answers and never ship. Next room: autograder/units/u03/checks/__init__.py.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph.build import exp, reduce_sum
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp

# Kernels, and MB that they move, with the library's own passes (tests/units/test_u03.py).
REFERENCE_BILL = {
    "mlp": (3, 2.69),
    "block": (13, 9.45),
    "resnet18": (41, 95.9),
    "mobilenet_v2": (72, 104.0),
}


@exercise("u03.saved", unit=3, points=1, kind="number")
def saved() -> float:
    """Four kernels compute the end of a residual block:

        c = conv(x, w)      d = c + b      e = d + y      z = relu(e)

    c, d, e, y and z are f32[1,64,56,56], and b is one number for each channel. How many MB (1 MB
    is 10**6 bytes) less are read and written if all four are one kernel, within 1 %? Each kernel
    reads each of its operands once and writes its result once.
    """
    return 6 * 64 * 56 * 56 * 4 / 1e6


@exercise("u03.cycle", unit=3, points=2, kind="inverse")
def cycle() -> tuple[Graph, Node, Node]:
    """A program with two operations that must not become one kernel, though one could hold them.

    Return (graph, a, b), where a and b are nodes of the graph and b reads a.

    - Taken by themselves the two fit into one kernel: `kind_of([b, a])` is "elementwise".
    - As one kernel they would wait for themselves: an operation outside needs a, and b needs it.
    - A larger kernel is no way out: with everything that lies on a way from a to b,
      `kind_of` (users first) is None.
    - No operation of the program is a contraction (`groups.CONTRACTIONS`).

    At most 6 operations, all of them needed by the outputs. They are functions of nodes, such as
    `neg(x)`, `x + y`, `transpose(x, (1, 0))` and `reduce_sum(x, axes=(1,), keepdims=False)`.
    """
    x = inp("x", "f32[8,8]")
    a = exp(x)
    b = a / reduce_sum(a, (0,), keepdims=True)
    return Graph.of([x], [b]), a, b


@exercise("u03.illegal", unit=3, points=2, kind="evidence")
def illegal() -> dict[str, str]:
    """Which of the seven groups cannot be a kernel, and why?

    A dict from the letter of each illegal group to its reason; legal groups are left out. Judge
    each group as if every operation outside were a kernel of its own. The first reason of this list
    that holds counts:

        "no such kernel"     `kind_of(members)`, users first, is None
        "is an output"       a member other than the last is an output of the program
        "waits for itself"   the group needs the result of another kernel that needs the group's
        "is read outside"    another kernel reads a member other than the last
    """
    return {
        "B": "waits for itself",
        "C": "no such kernel",
        "E": "is an output",
        "F": "is read outside",
        "G": "no such kernel",
    }
