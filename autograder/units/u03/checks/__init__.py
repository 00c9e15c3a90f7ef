"""Visible checks of unit 3, Fusion.

Here are those of the number, the program and the evidence. Folding, in our graphs and in ONNX
files, is checked in fold.py, onnx.py and onnx_relu.py; the fusing pass in fuse.py, its heuristic in
should_fuse.py; siblings in horizontal.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number, valid_graph
from autograder.units.u03.checks.groups_cases import small
from course_lib.ir.graph.build import exp, reduce_sum, relu, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.fusion.groups import CONTRACTIONS, kind_of
from lessons.u03.evidence import EVIDENCE, GROUPS, REASONS

# ── u03.saved ──

ONCE, OFTEN = "Each kernel reads each of its operands once", "however often it uses it"
UNIT = "1 MB is 10**6 bytes"
ANY = "even for a program that none of our kernels could hold"
ALL = "Count everything that is read and written, before and after"
MANY = "How many MB are no longer moved"


MB = "f32[500,500]"  # that many
SAVED: list[tuple[Graph, float, str, str]] = [  # a program, MB saved, what to think of, words
    (trace(lambda x: relu(exp(x)), MB), 2.0, "One kernel writes the value between them, the other "
     "reads it.", ONCE),
    (trace(lambda x: relu(x), MB), 0.0, "It is one kernel already.", MANY),
    (trace(lambda x: relu(relu(relu(exp(x)))), MB), 6.0, "There are three values between four "
     "kernels.", ALL),
    (trace(lambda x: (a := exp(x)) * relu(a), MB), 5.0, "Of the two values between the kernels, "
     "one has two readers.", ALL),
    (trace(lambda x, y: (total := x + y) * total, MB, MB), 2.0, "mul uses one operand twice: that "
     "must count as one read.", OFTEN),
    (trace(lambda x: x * exp(x), MB), 3.0, "Two kernels read x: for one kernel that must count as "
     "one read.", ALL),
    (trace(lambda x, y, w: relu(x @ w + y), MB, MB, MB), 4.0, "What the caller gives must be "
     "counted both before and after.", ALL),
    (trace(lambda x: reduce_sum(exp(x), (1,)), MB), 2.0, "All that a reduction reads must be "
     "counted.", ONCE),
    (trace(lambda x, y: relu(x @ y) @ y, MB, MB), 5.0, "None of our kernels holds two products; "
     "they must be counted all the same.", ANY),
]  # fmt: skip
# What the right number was multiplied by, and what was overlooked.
SLIPS = {
    2**20 / 1e6: "The answer must be in MB; this one is in MiB, 2**20 bytes.",
    1e-6: "The answer must be in MB; this one is in bytes.",
    4.0: "The answer must be in MB; this one counts numbers. An f32 has four bytes.",
}


@for_each("u03.saved", SAVED, "{} programs by hand", spec=[UNIT, ONCE, OFTEN, "and writes its "
          "result once", "The program has no constants and one output", "An answer within 1 % is "
          "right"])  # fmt: skip
def counts_what_is_not_moved(saved, graph, wanted, problem, spec):
    """A chain, a value with two readers, one that is used twice, operands that two kernels read."""
    value = a_number(saved(graph), unit="MB")
    if math.isclose(value, wanted, rel_tol=0.01, abs_tol=1e-9):
        return
    for factor, slip in SLIPS.items():
        if wanted and math.isclose(value * factor, wanted, rel_tol=1e-3):
            problem, spec = slip, UNIT
    got, expected = f"{value:.4g} MB", f"{wanted:.4g} MB"
    raise Wrong(problem, program=graph, got=got, expected=expected, spec=spec)


# ── u03.cycle ──

NODES, READS = "where a and b are nodes of the graph", "b reads a"
TWO = '`kind_of([b, a])` is "elementwise"'
NEEDS = "an operation outside needs a, and b needs that one"
LARGER = "A larger kernel is no way out"
CONTRACTION = "No operation of the program is a contraction"
SIX = "At most 6 operations, all of them needed by the outputs"
background("u03.cycle", "Operations are functions of nodes", because="help with writing")


@checks("u03.cycle", spec=[NODES, LARGER, READS, CONTRACTION, NEEDS, TWO, SIX,
        "Write a program with two operations that must not"])  # fmt: skip
def the_two_would_wait_for_themselves(cycle):
    """As one kernel, a and b would need a result that needs theirs."""
    graph, a, b = _program(cycle())
    between = _between(graph, a, b)
    for holds, problem, spec, nodes in _demands(graph, a, b, between):
        if not holds:
            marked = tuple(value_names(graph)[node] for node in nodes)
            raise Wrong(problem, program=graph, marked=marked, spec=spec)
    return f"{len(graph.ops)} operations, {len(between)} of them between a and b"


def _demands(graph: Graph, a: Node, b: Node, between: list[Node]) -> list[tuple]:
    """(is it so, what must be, words of the text, the nodes that show it)"""
    names, pair = value_names(graph), (a, b)
    read = ", ".join(f"%{names[i]}" for i in dict.fromkeys(b.inputs)) or "nothing"
    turned = "The order must be (graph, a, b), where b reads a; here a reads b."
    apart = f"b must read a; here b, %{names[b]}, reads {read}."
    contractions = [n for n in graph.ops if n.op in CONTRACTIONS]
    whole = [n for n in reversed(graph.nodes) if n in (a, b, *between)]
    two, all_ = kind_of([b, a]) if a in b.inputs else None, kind_of(whole)
    return [
        (a in b.inputs, turned if b in a.inputs else apart, READS, pair),
        (two == "elementwise", f'kind_of([b, a]) must be "elementwise"; here it is {two!r}.', TWO,
         pair),
        (not contractions, "No operation may be a contraction: section 2 already shows one that "
         "makes a kernel wait.", CONTRACTION, contractions),
        (between, "An operation outside must need a, and b must need that operation. Here nothing "
         "outside lies on a way from a to b, so one kernel can compute both.", NEEDS, pair),
        (all_ is None, f"Together with what lies between a and b, kind_of must be None; it is "
         f"{all_!r}. A fuser that takes all of it makes no cycle.", LARGER, whole),
    ]  # fmt: skip


def _program(answer: Any) -> tuple[Graph, Node, Node]:
    parts = answer if isinstance(answer, (tuple, list)) else ()
    if len(parts) != 3 or not isinstance(parts[0], Graph):
        got = answer if isinstance(answer, Graph) else repr(answer)[:200]
        raise Wrong("The answer must be (graph, a, b).", got=got)
    graph, a, b = valid_graph(parts[0]), parts[1], parts[2]
    if a not in graph.ops or b not in graph.ops:
        raise Wrong("a and b must be operations of the graph: the very nodes, not copies of them.",
                    program=graph, got=f"{a!r} and {b!r}", spec=NODES)  # fmt: skip
    unneeded = len(set(graph.ops) - set(topological_order(graph.outputs)))
    if len(graph.ops) > 6 or unneeded:
        are = f"here are {len(graph.ops)}, of which {unneeded} are not needed."
        problem = "The program must have at most 6 operations, all of them needed by the outputs;"
        raise Wrong(f"{problem} {are}", program=graph, spec=SIX)
    return graph, a, b


def _between(graph: Graph, a: Node, b: Node) -> list[Node]:
    """What needs a and is needed by b."""
    needed, after = set(topological_order([b])), {a}
    for node in graph.nodes:
        if any(i in after for i in node.inputs):
            after.add(node)
    return [n for n in graph.ops if n in needed and n in after and n not in (a, b)]


# ── u03.illegal ──

WHICH, FIRST = "Which of these groups", "If several reasons hold, give the first in this list"
ALONE = "Judge each group as if every operation outside were a kernel of its own"
DICT = "The answer is a dict from the letter of each illegal group to its reason"
ILLEGAL = {"B": "waits for itself", "C": "no such kernel", "E": "is an output",
           "F": "is read outside", "G": "no such kernel"}  # fmt: skip


@checks("u03.illegal", spec=[WHICH, ALONE, *REASONS, FIRST, DICT, "`groups` has the members of"])
def illegal_judges_one_group(illegal):
    """Small programs with one group each."""
    for graph, members, wanted, problem in small():
        given = judged(illegal, graph, {"A": members})
        if given != ({"A": wanted} if wanted else {}):
            names = tuple(node.name for node in members)
            raise Wrong(f"{problem} The group is {', '.join(names)}.", program=graph,
                        got=repr(given), expected=f"A: {wanted}" if wanted else "a legal group",
                        marked=names, spec=FIRST if wanted else ALONE)  # fmt: skip
    return f"{len(small())} small programs"


@checks("u03.illegal", spec=[WHICH, ALONE, FIRST, DICT, "legal groups are left out"])
def illegal_judges_the_seven(illegal):
    """The seven groups of the notebook: the letters of the illegal ones, and the reasons."""
    graph = parse_graph(EVIDENCE)
    node_of = {name: node for node, name in value_names(graph).items()}
    groups = {letter: [node_of[name] for name in names] for letter, names in GROUPS.items()}
    given = judged(illegal, graph, groups)
    counts = {"too many": len(given.keys() - ILLEGAL), "missing": len(ILLEGAL.keys() - given)}
    if any(counts.values()):
        counted = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
        raise Wrong(f"These are not the illegal groups: {counted}.",
                    got=", ".join(sorted(given)) or "none", spec=ALONE)  # fmt: skip
    if wrong := sum(reason != ILLEGAL[group] for group, reason in given.items()):
        are = f"The groups are right; of the reasons, {wrong} {'is' if wrong == 1 else 'are'} not."
        raise Wrong(f"{are} Is each the first in the list that holds?", got=repr(given), spec=FIRST)
    return "the seven groups and their reasons"


def judged(illegal: Any, graph: Graph, groups: dict[str, list[Node]]) -> dict[str, str]:
    """What the answer says of these groups, if it is of the right kind."""
    answer = illegal(graph, groups)
    if not isinstance(answer, Mapping):
        raise Wrong('The answer must be a dict: {"A": "is an output", ...}.',
                    got=repr(answer)[:200], spec=DICT)  # fmt: skip
    given = {str(letter): str(reason) for letter, reason in answer.items()}
    for letter, reason in given.items():
        if letter not in groups:
            known = ", ".join(groups)
            raise Wrong(f"The letters must be among {known}; there is no {letter!r}.", spec=DICT)
        if reason not in REASONS:
            problem = f"A reason must be one of these: {'; '.join(REASONS)}."
            raise Wrong(problem, got=repr(reason), spec=FIRST)
    return given
