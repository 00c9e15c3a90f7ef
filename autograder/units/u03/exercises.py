"""Unit 3, Fusion: the exercises that are no function of the library.

What they talk about is in evidence.py, programs.py and elsewhere.py, which students have; the
bodies of the exercises are our answers and never ship. Next room:
autograder/units/u03/checks/__init__.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph.build import exp, reduce_sum
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.registry import traffic
from course_lib.passes.fusion import groups as kernels

# Kernels, and MB that they move, with the library's own fusion and nothing of what is further
# (tests/units/test_u03.py).
REFERENCE_BILL = {"mlp": (3, 2.69), "block": (15, 8.92), "resnet18": (41, 95.9),
                  "mobilenet_v2": (72, 103.9)}  # fmt: skip


@exercise("u03.saved", unit=3, points=1, kind="number", further=True)
def saved(graph: Graph) -> float:
    """How many MB are no longer moved if all operations of `graph` become one kernel?

    Each kernel reads each of its operands once, however often it uses it, and writes its result
    once. Count everything that is read and written, before and after, even for a program that none
    of our kernels could hold. The program has no constants and one output; every other value in it
    is read by some operation.

    1 MB is 10**6 bytes. An answer within 1 % is right.
    """
    before = sum(map(traffic, graph.ops))
    after = sum(value.type.nbytes for value in (*graph.inputs, *graph.outputs))
    return (before - after) / 1e6


@exercise("u03.pays", unit=3, points=2, kind="explain")
def pays() -> Rubric:
    """Two steps took ResNet-18's file from 69 kernels to 40. Say what that did to its time on your
    machine, and explain it with at least one number from this page. (If the two times of a row
    differ as much as the rows do, say that the difference is noise.) Then name a program or a
    machine that would gain much more from the same two steps, and say why. Write three to five
    sentences.
    """
    return Rubric(
        criteria="1 point: states the measured effect (little or none on a processor; whatever "
                 "the student's own table shows counts, noise too where the two times of a row "
                 "show it) and explains it with a number: the convolutions' arithmetic sets the "
                 "time, with well over a hundred operations for each byte saved, or 29 calls at "
                 "about a microsecond against tens of milliseconds. 1 point: names a case where "
                 "it would pay and the right reason: few operations per byte (depthwise "
                 "convolutions, elementwise chains, small batches of large activations), or short "
                 "kernels where launches dominate (a GPU, tiny tensors). Half a point off for "
                 "'fewer kernels are always faster', or for crediting the layout level's gain to "
                 "fusion.",
        samples=(
            Sample(2, "69 to 40 kernels left 98 percent of the time on my machine. The saved "
                   "calls are 29 times about 1 µs, and the saved bytes belong to 3x3 "
                   "convolutions that do more than a hundred operations for each of them, so "
                   "arithmetic sets the time before and after. A net of depthwise convolutions "
                   "would gain: two operations for each byte saved, so it waits for memory and "
                   "memory is what fusion saves."),
            Sample(1, "It hardly changed (101 percent), because a convolution computes so long "
                   "that the few bytes of a ReLU do not matter: over 100 operations for each "
                   "byte. It would help on larger images, because there are more bytes to save."),
            Sample(0, "There are fewer kernels, so less overhead, and the model is faster. On a "
                   "larger model it would be even faster because it has more kernels."),
        ),
    )  # fmt: skip


@exercise("u03.cycle", unit=3, points=2, kind="inverse", further=True)
def cycle() -> tuple[Graph, Node, Node]:
    """Write a program with two operations that must not be fused, though a kernel could hold them.

    Return (graph, a, b), where a and b are nodes of the graph and b reads a.

    - By themselves, the two fit into one kernel: `kind_of([b, a])` is "elementwise".
    - As one kernel they would wait for themselves: an operation outside needs a, and b needs
      that one.
    - A larger kernel is no way out: with every node on a path from a to b added,
      `kind_of` (users before producers) is None.
    - No operation of the program is a contraction (one of `CONTRACTIONS`).

    At most 6 operations, all of them needed by the outputs. Operations are functions of nodes,
    such as `neg(x)`, `x + y`, `transpose(x, (1, 0))`, `reduce_sum(x, axes=(1,), keepdims=False)`.
    """
    x = inp("x", "f32[8,8]")
    a = exp(x)
    b = a / reduce_sum(a, (0,), keepdims=True)
    return Graph.of([x], [b]), a, b


@exercise("u03.illegal", unit=3, points=3, kind="evidence", further=True)
def illegal(graph: Graph, groups: dict[str, list[Node]]) -> dict[str, str]:
    """Which of these groups cannot be a kernel, and why?

    `groups` has the members of each group, in the order of the graph. The answer is a dict from the
    letter of each illegal group to its reason; legal groups are left out. Judge each group as if
    every operation outside were a kernel of its own. If several reasons hold, give the first in
    this list:

        "no such kernel"     `kind_of(members)`, users first, is None
        "is an output"       a member other than the last is an output of the program
        "waits for itself"   another kernel needs the group, and the group needs that kernel
        "is read outside"    another kernel reads a member other than the last
    """
    reasons = {letter: _why_not(graph, members) for letter, members in groups.items()}
    return {letter: reason for letter, reason in reasons.items() if reason}


def _why_not(graph: Graph, members: list[Node]) -> str:
    users, inside = graph.users(), set(members)
    early = members[:-1]
    outside = {user for member in early for user in users[member]} - inside
    if kernels.kind_of(members[::-1]) is None:
        return "no such kernel"
    if any(member in graph.outputs for member in early):
        return "is an output"
    if outside & set(topological_order(members)):
        return "waits for itself"
    return "is read outside" if outside else ""
