"""Visible checks of unit 3, Fusion.

Here are those of the number, the program and the evidence. Folding, in our graphs and in ONNX
files, is checked in fold.py, onnx.py and onnx_relu.py; the fusing pass in fuse.py, its heuristic in
should_fuse.py; siblings in horizontal.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number, valid_graph
from autograder.units.u03.checks.groups_cases import SMALL
from course_lib.ir.graph.build import exp, reduce_sum, relu
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.fusion.groups import CONTRACTIONS, kind_of
from lessons.u03.evidence import EVIDENCE, GROUPS, REASONS

_ONCE = "Each kernel reads each of its operands once"
_UNIT = "1 MB is 10**6 bytes"
_ANY = "even for a program that none of our kernels could hold"


@checks(
    "u03.saved",
    spec=[
        *(_UNIT, _ONCE, "however often it uses it, and writes its result once"),
        *(
            "How many MB are no longer moved",
            "Count everything that is read and written, before and after",
        ),
        *(_ANY, "The program has no constants and one output", "An answer within 1 % is right"),
    ],
)
def counts_what_is_not_moved(saved):
    """A chain, a value with two readers, one that is used twice, operands that two kernels read."""
    for graph, wanted, problem, spec in _moving():
        value = a_number(saved(graph), unit="MB")
        if not math.isclose(value, wanted, rel_tol=0.01, abs_tol=1e-9):
            slip, words = _slip(value, wanted) or (problem, spec)
            raise Wrong(slip, program=graph, got=f"{value:.4g} MB", expected=f"{wanted:.4g} MB",
                        spec=words)  # fmt: skip
    return f"{len(_moving())} programs by hand"


def _moving() -> list[tuple[Graph, float, str, str]]:
    """(program, MB that one kernel saves, what to think of, words of the text)"""
    x, y, w = (inp(name, "f32[500,500]") for name in "xyw")  # 1 MB each
    a = exp(x)
    total = x + y
    return [
        (Graph.of([x], [relu(a)]), 2.0, "One kernel writes the value between them, the "
         "other reads it.", _ONCE),
        (Graph.of([x], [relu(x)]), 0.0, "One kernel is one kernel already.",
         "How many MB are no longer moved"),
        (Graph.of([x], [relu(relu(relu(a)))]), 6.0, "There are three values between four kernels.",
         "Count everything that is read and written, before and after"),
        (Graph.of([x], [a * relu(a)]), 5.0, "Of the two values between the kernels, one has two "
         "readers.", "Count everything that is read and written, before and after"),
        (Graph.of([x, y], [total * total]), 2.0, "mul uses one operand twice: that "
         "must count as one read.", "however often it uses it"),
        (Graph.of([x], [x * exp(x)]), 3.0, "Two kernels read x: for one kernel that must count "
         "as one read.", "Count everything that is read and written, before and after"),
        (Graph.of([x, y, w], [relu(x @ w + y)]), 4.0, "What the caller gives must be "
         "counted both before and after.",
         "Count everything that is read and written, before and after"),
        (Graph.of([x], [reduce_sum(a, (1,))]), 2.0, "All that a reduction reads must be counted.",
         _ONCE),
        (Graph.of([x, y], [relu(x @ y) @ y]), 5.0, "None of our kernels holds two products; "
         "they must be counted all the same.", _ANY),
    ]  # fmt: skip


def _slip(value: float, wanted: float) -> tuple[str, str] | None:
    """What the right number was multiplied by, if that tells what was overlooked."""
    for factor, (problem, spec) in _SLIPS.items():
        if wanted and math.isclose(value * factor, wanted, rel_tol=1e-3):
            return problem, spec
    return None


_SLIPS = {
    2**20 / 1e6: ("The answer must be in MB; this one is in MiB, 2**20 bytes.", _UNIT),
    1e-6: ("The answer must be in MB; this one is in bytes.", _UNIT),
    4.0: ("The answer must be in MB; this one counts numbers. An f32 has four bytes.", _UNIT),
}


@checks(
    "u03.cycle",
    spec=[
        *("where a and b are nodes of the graph", "A larger kernel is no way out", "b reads a"),
        *("No operation of the program is a contraction", "an operation outside needs a, and b"),
        *(
            '`kind_of([b, a])` is "elementwise"',
            "Write a program with two operations that must not",
        ),
        "At most 6 operations, all of them needed by the outputs",
        "an operation outside needs a, and b needs that one",
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
            "An operation outside must need a, and b must need that operation. Here nothing "
            "outside lies on a way from a to b, so one kernel can compute both.",
            program=graph,
            marked=(names[a], names[b]),
            spec="an operation outside needs a, and b needs that one",
        )
    whole = [n for n in reversed(graph.nodes) if n in (a, b, *between)]
    if kind_of(whole) is not None:
        raise Wrong(
            f"Together with what lies between a and b, kind_of must be None; it is "
            f"{kind_of(whole)!r}. A fuser that takes all of it makes no cycle.",
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
        read = ", ".join(f"%{names[i]}" for i in dict.fromkeys(b.inputs)) or "nothing"
        turned = f"b must read a; here b, %{names[b]}, reads {read}."
        if b in a.inputs:
            turned = "The order must be (graph, a, b), where b reads a; here a reads b."
        raise Wrong(turned, program=graph, marked=pair, spec="b reads a")
    if kind_of([b, a]) != "elementwise":
        raise Wrong(
            f'kind_of([b, a]) must be "elementwise"; here it is {kind_of([b, a])!r}.',
            program=graph,
            marked=pair,
            spec='`kind_of([b, a])` is "elementwise"',
        )
    marked = tuple(names[n] for n in graph.ops if n.op in CONTRACTIONS)
    if marked:
        raise Wrong(
            "No operation may be a contraction: section 3 already shows one that makes a kernel "
            "wait.",
            program=graph,
            marked=marked,
            spec="No operation of the program is a contraction",
        )


def _program(answer: Any) -> tuple[Graph, Node, Node]:
    parts = answer if isinstance(answer, (tuple, list)) else ()
    if len(parts) != 3 or not isinstance(parts[0], Graph):
        got = answer if isinstance(answer, Graph) else repr(answer)[:200]
        raise Wrong("The answer must be (graph, a, b).", got=got)
    graph, a, b = valid_graph(parts[0]), parts[1], parts[2]
    if a not in graph.ops or b not in graph.ops:
        raise Wrong(
            "a and b must be operations of the graph: the very nodes, not copies of them.",
            program=graph,
            got=f"{a!r} and {b!r}",
            spec="where a and b are nodes of the graph",
        )
    unneeded = len(set(graph.ops) - set(topological_order(graph.outputs)))
    if len(graph.ops) > 6 or unneeded:
        raise Wrong(
            "The program must have at most 6 operations, all of them needed by the outputs; here "
            f"are {len(graph.ops)}, of which {unneeded} are not needed.",
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


background("u03.cycle", "Operations are functions of nodes", because="help with writing")


_FIRST = "If several reasons hold, give the first in this list"
_ALONE = "Judge each group as if every operation outside were a kernel of its own"
_DICT = "The answer is a dict from the letter of each illegal group to its reason"


@checks("u03.illegal", spec=["Which of these groups", _ALONE, *REASONS, _FIRST, _DICT,
        "`groups` has the members of each group"])  # fmt: skip
def illegal_judges_one_group(illegal):
    """Small programs with one group each."""
    for text, names, wanted, problem in SMALL:
        graph = parse_graph(text)
        node_of = {name: node for node, name in value_names(graph).items()}
        given = _judged(illegal, graph, {"A": [node_of[name] for name in names]})
        if given != ({"A": wanted} if wanted else {}):
            raise Wrong(f"{problem} The group is {', '.join(names)}.", program=graph,
                        got=repr(given), expected=f"A: {wanted}" if wanted else "a legal group",
                        marked=tuple(names), spec=_FIRST if wanted else _ALONE)  # fmt: skip
    return f"{len(SMALL)} small programs"


@checks("u03.illegal", spec=["Which of these groups", _ALONE, _FIRST, _DICT,
        "legal groups are left out"])  # fmt: skip
def illegal_judges_the_seven(illegal):
    """The seven groups of the notebook: the letters of the illegal ones, and the reasons."""
    graph = parse_graph(EVIDENCE)
    node_of = {name: node for node, name in value_names(graph).items()}
    groups = {letter: [node_of[name] for name in names] for letter, names in GROUPS.items()}
    given = _judged(illegal, graph, groups)
    extra, missing = len(given.keys() - ILLEGAL), len(ILLEGAL.keys() - given)
    if extra or missing:
        counted = [f"{extra} too many"] * (extra > 0) + [f"{missing} missing"] * (missing > 0)
        raise Wrong(
            f"These are not the illegal groups: {' and '.join(counted)}.",
            got=", ".join(sorted(given)) or "none",
            spec=_ALONE,
        )
    wrong = sum(reason != ILLEGAL[group] for group, reason in given.items())
    if wrong:
        raise Wrong(
            f"The groups are right; of the reasons, {wrong} {'is' if wrong == 1 else 'are'} not. "
            "Is each the first in the list that holds?",
            got=repr(given),
            spec=_FIRST,
        )
    return "the seven groups and their reasons"


def _judged(illegal: Any, graph: Graph, groups: dict[str, list[Node]]) -> dict[str, str]:
    """What the answer says of these groups, if it is of the right kind."""
    answer = illegal(graph, groups)
    if not isinstance(answer, Mapping):
        raise Wrong('The answer must be a dict: {"A": "is an output", ...}.',
                    got=repr(answer)[:200], spec=_DICT)  # fmt: skip
    given = {str(letter): str(reason) for letter, reason in answer.items()}
    strange = [letter for letter in given if letter not in groups]
    if strange:
        raise Wrong(
            f"The letters must be among {', '.join(groups)}; there is no {strange[0]!r}.",
            spec=_DICT,
        )
    unknown = [reason for reason in given.values() if reason not in REASONS]
    if unknown:
        raise Wrong(
            f"A reason must be one of these: {'; '.join(REASONS)}.",
            got=repr(unknown[0]),
            spec=_FIRST,
        )
    return given


ILLEGAL = {"B": "waits for itself", "C": "no such kernel", "E": "is an output",
           "F": "is read outside", "G": "no such kernel"}  # fmt: skip
