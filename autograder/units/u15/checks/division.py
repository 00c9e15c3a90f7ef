"""Visible checks of unit 15: a graph divided between ours and PyTorch. Next room: text.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from autograder.check.steps import with_steps
from lessons.u15.division import Node

Step = tuple[str, list[str], list[str], list[str]]  # who, names, reads, writes

RUN = "(name, op, operands), in an order in which they can run"
INPUT = "an operand that is not a node is an input of the graph"
OUTPUT = "The last node is the graph's output"
STEPS = "steps in the order in which they run"
PART = '("ours", names, reads, writes) for a part that our compiler gets as a whole'
ALONE = '("torch", [name], reads, writes) for any other node'
EACH = "Each node is in one step"
TAKEN = "all nodes that our compiler takes are in its parts"
FEW = "there are as few parts as possible"
ORDER = "The nodes of a part stand in an order in which they can run"
APART = "and need not be connected"
READS = "`reads` names what the step needs from outside"
WRITES = "`writes` those of its nodes that other steps need, or the caller"
EVERY = "each once, in any order"
THERE = "Everything that a step reads is there before the step runs"
TAKES = "the ops that our compiler takes"
CLAIM = "Divide a graph between our compiler and PyTorch"
FORM = [CLAIM, RUN, INPUT, STEPS, PART, ALONE, EACH, TAKEN, ORDER, READS, WRITES, EVERY, THERE,
        OUTPUT, TAKES]  # fmt: skip
OURS = {"mul", "add", "gelu"}
ENOUGH = 100_000  # steps; ours takes some 3,000 for sixty nodes


def nodes_of(text: str) -> list[Node]:
    """ "a = mul x y; b = sort a" as nodes."""
    made = []
    for line in text.split(";"):
        name, _, right = line.strip().partition(" = ")
        op, *operands = right.split()
        made.append((name, op, operands))
    return made


# Graphs, the fewest parts, and what they are about: tests/units/test_u15.py tries all divisions.
KNOWN = [
    ("a = mul x y", 1, PART),
    ("a = sort x", 0, ALONE),
    ("a = mul x x; b = add a x; c = gelu b", 1, WRITES),
    ("a = mul x y; b = sort a; c = add b x", 2, FEW),
    ("a = mul x y; b = sort a; c = add b a", 2, WRITES),
    ("a = mul x y; b = sort x; c = add a b", 1, FEW),
    ("a = sort x; b = mul x x; c = sort a; d = add c b", 1, FEW),
    ("a = mul x x; b = sort a; c = add y y; d = sort b; e = add d c", 2, APART),
    ("a = mul x x; b = mul y y; c = sort b; d = add a c", 2, FEW),
    ("a = mul x x; b = sort a; c = mul b b; d = sort c; e = mul d a", 3, READS),
    ("a = sort x; b = sort a; c = sort b", 0, ALONE),
    ("a = mul x y; b = sort a; c = mul x b; d = sort y; e = mul d d; f = add c e", 2, APART),
    ("a = gelu x; b = sort x; c = add b x; d = sort c; e = add d a; f = mul e c", 2, FEW),
    ("a = mul x x; b = add a a; c = sort a; d = sort b; e = add c d", 2, EVERY),
    ("a = mul x x; b = sort y; c = gelu b; d = sort c", 1, OUTPUT),
    ("b = mul first w2; a = sort b; d = add a first; c = sort d", 2, INPUT),
    ("a = mul x x; b = sort a; c = add a b; d = mul x y", 2, OUTPUT),
]  # fmt: skip


@for_each("u15.parts", KNOWN, "{} graphs, in as few parts as possible", spec=FORM)
def as_few_parts_as_possible(parts, text, fewest, why):
    """Each node is in one step, steps read what is there, and the parts are few."""
    divided(parts, nodes_of(text), OURS, fewest, why)


@checks("u15.parts", spec=[*FORM, FEW])
def looks_at_each_node_once(parts):
    """Sixty nodes between which there are 2**60 paths."""
    few = with_steps(parts, ENOUGH, "60 nodes", "is a node looked at once for each path to it?")
    nodes: list[Node] = [("n0", "mul", ["x", "x"])]
    for k in range(1, 60):
        nodes.append((f"n{k}", "sort" if k % 6 == 5 else "mul", [f"n{k - 1}"] * 2))
    many = divided(few, nodes, OURS, 10, FEW)
    return f"60 nodes in {many} parts"


@checks("u15.parts", spec=FORM)
def takes_what_is_said(parts):
    """The ops that our compiler takes are those of the second argument, whichever they are."""
    known = [nodes_of(text) for text, *_ in KNOWN]
    for takes in ({"sort"}, {"mul"}, {"add", "sort"}, set(), {"mul", "add", "gelu", "sort"}):
        for nodes in known:
            divided(parts, nodes, takes)
    return f"{len(known)} graphs, other compilers"


@st.composite
def drawn(draw: DrawFn, size: int = 8) -> list[Node]:
    """Nodes of ops that our compiler takes or not, each with one to three operands."""
    nodes: list[Node] = []
    for k in range(draw(st.integers(1, size))):
        known = ["x", "y", *(name for name, _, _ in nodes)]
        operands = draw(st.lists(st.sampled_from(known[-5:] + known[:2]), min_size=1, max_size=3))
        nodes.append((f"n{k}", draw(st.sampled_from(["mul", "add", "sort", "sort"])), operands))
    return nodes


@checks("u15.parts", given=drawn(), examples=60, what="random graphs", spec=FORM)
def steps_that_can_run(parts, nodes):
    """Each step runs after what it reads, and says what it reads and writes."""
    divided(parts, nodes, OURS)


def divided(parts: Any, nodes: list[Node], takes: set[str], fewest: int = 0, why: str = "") -> int:
    """The number of parts of a division that can run; with `fewest`, there are no more."""
    wrong = partial(Wrong, program=as_text(nodes, takes))
    got = parts([(name, op, [*reads]) for name, op, reads in nodes], {*takes})
    if not isinstance(got, (list, tuple)):
        raise wrong("The answer must be a list of steps.", got=returned(got), spec=STEPS)
    steps = [_step(one, wrong) for one in got]
    shown = partial(wrong, got="\n".join(map(str, got)))
    operands = {name: reads for name, _, reads in nodes}
    placed = [name for _, names, _, _ in steps for name in names]
    for name in {*placed, *operands}:
        if placed.count(name) != 1 or name not in operands:
            raise shown(f"{name} is in {placed.count(name)} steps." if name in operands else
                        f"{name} is no node.", spec=EACH)  # fmt: skip
    done = {x for reads in operands.values() for x in reads} - {*operands}
    for step in steps:
        _can_run(step, nodes, takes, done, shown)
    many = sum(who == "ours" for who, *_ in steps)
    if why and many > fewest:
        raise shown(f"{fewest} part{'s' * (fewest != 1)} would do for this graph; here are {many}.",
                    spec=APART if why == APART else FEW)  # fmt: skip
    return many


def _can_run(
    step: Step, nodes: list[Node], takes: set[str], done: set[str], shown: Callable[..., Wrong]
) -> None:
    """The step is of one compiler, says what it reads and writes, and comes after what it reads.
    Then its nodes are done."""
    who, names, reads, writes = step
    operands, ops = {n: r for n, _, r in nodes}, {n: op for n, op, _ in nodes}
    mine = who == "ours"
    for name in names:
        if (ops[name] in takes) != mine:
            raise shown(f"{name} is {ops[name]}, and {who!r} runs it.",
                        spec=ALONE if mine else TAKEN)  # fmt: skip
    if not mine and len(names) != 1:
        raise shown("A step of torch must have one node.", spec=ALONE)
    needs = {x for name in names for x in operands[name]} - {*names}
    wanted = _writes(names, nodes)
    for what, have, due, spec in (("reads", reads, needs, READS),
                                  ("writes", writes, wanted, WRITES)):  # fmt: skip
        if {*have} != due:
            raise shown(f"The {what} of the step with {', '.join(names)} must be {_listed(due)}, "
                        f"not {_listed({*have})}.", spec=spec)  # fmt: skip
        if len(have) != len(due):
            raise shown(f"The {what} of the step with {', '.join(names)} name something twice.",
                        spec=EVERY)  # fmt: skip
    if late := sorted(needs - done):
        raise shown(f"The step with {', '.join(names)} reads {late[0]}, which is not there yet.",
                    spec=THERE)  # fmt: skip
    for name in names:
        if late := sorted({*operands[name]} & {*names} - done):
            raise shown(f"{name} stands before {late[0]}, which it reads.", spec=ORDER)
        done.add(name)


def _writes(names: Sequence[str], nodes: list[Node]) -> set[str]:
    inside = {*names}
    outside = {x for name, _, reads in nodes if name not in inside for x in reads}
    return {name for name in inside if name in outside or name == nodes[-1][0]}


def _step(one: Any, wrong: Any) -> Step:
    """A step with lists in it; Wrong if it has another form."""
    if isinstance(one, (tuple, list)) and len(one) == 4 and one[0] in ("ours", "torch"):
        who, *rest = one
        kinds = (list, tuple, set, frozenset, dict)
        of_names = (isinstance(part, kinds) and all(isinstance(x, str) for x in part)
                    for part in rest)  # fmt: skip
        if all(of_names) and isinstance(rest[0], (list, tuple)) and rest[0]:
            return who, [*rest[0]], [*rest[1]], [*rest[2]]
    raise wrong('A step must be ("ours" or "torch", names, reads, writes), with a node at least.',
                got=returned(one), spec=PART)  # fmt: skip


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def as_text(nodes: list[Node], takes: set[str]) -> str:
    """The nodes, one in a line; what our compiler takes has a mark."""
    return "\n".join(f"{name} = {op}({', '.join(reads)})" + (" # ours" if op in takes else "")
                     for name, op, reads in nodes)  # fmt: skip
