"""Visible checks of unit 3, Fusion.

Here are those of the number, the program and the evidence. Folding, in our graphs and in ONNX
files, is checked in fold.py and onnx.py; the fusing passes in fuse.py; siblings in
horizontal.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number, seal_of, valid_graph
from autograder.units.u03.answers.evidence import GROUPS, REASONS
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.order import topological_order
from course_lib.passes.fusion.groups import CONTRACTIONS, kind_of


@checks(
    "u03.saved",
    spec=[
        *("1 MB is 10**6 bytes", "Each kernel reads each of its operands once and writes its"),
        *("Four kernels compute the end", "c, d, e, y and z are", "writes its result once"),
        "Each kernel reads each of its operands once and writes its result once",
    ],
)
def is_a_number_of_megabytes(saved):
    """What need not be read and written any more."""
    value = a_number(saved(), unit="MB")
    if _is_saved(value):
        return "the right number"
    for factor, (problem, spec) in _SLIPS.items():
        if _is_saved(value * factor):
            raise Wrong(problem, got=f"{value:.4g} MB", spec=spec)
    raise Wrong(
        "This is not what is saved. Count, for each tensor between two kernels, how often it "
        "crosses the memory bus; and a number has four bytes.",
        got=f"{value:.4g} MB",
        spec=_ONCE,
    )


def _is_saved(value: float) -> bool:
    """To one percent: nobody has to type all digits."""
    near = [value * (1 + k / 1000) for k in range(-10, 11)]
    return any(seal_of("u03.saved", v) == SAVED for v in near)


_ONCE = "Each kernel reads each of its operands once and writes its result once"
_SLIPS = {  # what the answer is to be multiplied by, and what was overlooked
    2**20 / 1e6: ("That is in MiB, 2**20 bytes.", "1 MB is 10**6 bytes"),
    1e-6: ("That is in bytes.", "1 MB is 10**6 bytes"),
    2.0: ("That is half: what one kernel writes, the next one reads.", _ONCE),
    4.0: ("Those are numbers, in millions. A number in f32 has four bytes.", "1 MB is 10**6 bytes"),
}


@checks(
    "u03.cycle",
    spec=[
        *("where a and b are nodes of the graph", "A larger kernel is no way out", "b reads a"),
        *("No operation of the program is a contraction", "an operation outside needs a, and b"),
        *('`kind_of([b, a])` is "elementwise"', "A program with two operations that must not"),
        "At most 6 operations, all of them needed by the outputs",
        "an operation outside needs a, and b needs it",
    ],
)
def the_two_would_wait_for_themselves(cycle):
    """As one kernel, a and b would need a result that needs theirs."""
    graph, a, b = _program(cycle())
    _pair_that_one_kernel_can_hold(graph, a, b)
    between = _between(graph, a, b)
    names = value_names(graph)
    if not between:
        raise Wrong(
            "Nothing outside lies on a way from a to b, so one kernel can compute both: nothing "
            "waits.",
            program=graph,
            marked=(names[a], names[b]),
            spec="an operation outside needs a, and b needs it",
        )
    whole = [n for n in reversed(graph.nodes) if n in (a, b, *between)]
    if kind_of(whole) is not None:
        raise Wrong(
            f"One kernel of kind {kind_of(whole)!r} can hold a, b and what is between them: a "
            "fuser that takes it all makes no cycle.",
            program=graph,
            marked=tuple(names[n] for n in whole),
            spec="A larger kernel is no way out",
        )
    return f"{len(graph.ops)} operations, {len(between)} of them between a and b"


def _pair_that_one_kernel_can_hold(graph: Graph, a: Node, b: Node) -> None:
    """b reads a, both would be elementwise, and no contraction makes it too easy."""
    names = value_names(graph)
    pair = (names[a], names[b])
    if a not in b.inputs:
        turned = "The order is (graph, a, b); here a reads b." if b in a.inputs else "b reads a."
        raise Wrong(turned, program=graph, marked=pair, spec="b reads a")
    if kind_of([b, a]) != "elementwise":
        raise Wrong(
            f"kind_of([b, a]) is {kind_of([b, a])!r}: these two are no elementwise kernel anyway.",
            program=graph,
            marked=pair,
            spec='`kind_of([b, a])` is "elementwise"',
        )
    marked = tuple(names[n] for n in graph.ops if n.op in CONTRACTIONS)
    if marked:
        raise Wrong(
            "That a contraction makes a kernel wait is shown above. Find another operation.",
            program=graph,
            marked=marked,
            spec="No operation of the program is a contraction",
        )


def _program(answer: Any) -> tuple[Graph, Node, Node]:
    parts = answer if isinstance(answer, (tuple, list)) else ()
    if len(parts) != 3 or not isinstance(parts[0], Graph):
        got = answer if isinstance(answer, Graph) else repr(answer)[:200]
        raise Wrong("The answer is (graph, a, b).", got=got)
    graph, a, b = valid_graph(parts[0]), parts[1], parts[2]
    if a not in graph.ops or b not in graph.ops:
        raise Wrong(
            "a and b are operations of the graph: the very nodes, not copies of them.",
            program=graph,
            got=f"{a!r} and {b!r}",
            spec="where a and b are nodes of the graph",
        )
    if len(graph.ops) > 6 or set(graph.ops) - set(topological_order(graph.outputs)):
        raise Wrong(
            "At most 6 operations, and none that no output needs.",
            program=graph,
            spec="At most 6 operations, all of them needed by the outputs",
        )
    return graph, a, b


def _between(graph: Graph, a: Node, b: Node) -> list[Node]:
    """What needs a and is needed by b."""
    needed, after = set(topological_order([b])), {a}
    for node in graph.nodes:
        if any(i in after for i in node.inputs):
            after.add(node)
    return [n for n in graph.ops if n in needed and n in after and n not in (a, b)]


background("u03.cycle", "They are functions of nodes", because="help with writing")


@checks(
    "u03.illegal",
    spec=[
        *("The first reason of this list that holds counts", "A dict from the letter of each"),
        *("as if every operation outside were a kernel of its own", "Which of the seven groups"),
    ],
)
def names_the_groups_and_the_reasons(illegal):
    """The letters of the illegal groups, and for each its reason."""
    answer = illegal()
    if not isinstance(answer, Mapping):
        raise Wrong('The answer is a dict: {"A": "is an output", ...}.', got=repr(answer)[:200])
    given = {str(group).strip().upper(): _words(reason) for group, reason in answer.items()}
    strange = [g for g in given if g not in GROUPS]
    if strange:
        raise Wrong(f"The groups are {', '.join(GROUPS)}; there is no {strange[0]!r}.")
    unknown = [reason for reason in given.values() if reason not in REASONS]
    if unknown:
        raise Wrong(f"The reasons are {'; '.join(REASONS)}.", got=repr(unknown[0]))
    right = [g for g in given if seal_of("u03.illegal", g) in ILLEGAL]
    extra, missing = len(given) - len(right), len(ILLEGAL) - len(right)
    if extra or missing:
        counted = [f"{extra} too many"] * (extra > 0) + [f"{missing} missing"] * (missing > 0)
        raise Wrong(
            f"These are not the illegal groups: {' and '.join(counted)}.",
            got=", ".join(sorted(given)) or "none",
            spec="as if every operation outside were a kernel of its own",
        )
    wrong = sum(seal_of("u03.illegal", [g, r]) not in REASONS_OF for g, r in given.items())
    if wrong:
        raise Wrong(
            f"The groups are right; of the reasons, {wrong} {'is' if wrong == 1 else 'are'} not. "
            "Is it the first of the list that holds?",
            got=repr(given),
            spec="The first reason of this list that holds counts",
        )
    return "the groups and the reasons"


def _words(reason: Any) -> str:
    one = reason[0] if isinstance(reason, Sequence) and len(reason) == 1 else reason
    return " ".join(str(one).lower().split())


SAVED = "66cf4638f088"
ILLEGAL = {"07fb094aa850", "45bd2b17c53d", "561a206b1839", "8bc9c185bcb3", "f27686c53c76"}
REASONS_OF = {"70480c429fcf", "766931c4c1c7", "7bcedd6a4155", "8456761ef2cf", "f6a9d0f0ed84"}
