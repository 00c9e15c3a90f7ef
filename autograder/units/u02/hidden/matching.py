"""Hidden checks of match: patterns and nodes made from them, a little changed.

Next room: rules.py.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, hidden
from autograder.units.u02.checks.match import ALL, AS_MANY, MATCH, WHETHER, pair_of, sound
from autograder.units.u02.checks.shared import in_the_compiler
from autograder.units.u02.hidden.programs import pick, told_once
from course_lib.exercises import slot
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.passes.infra.match import COMMUTATIVE

SEED = 20_650
OPS = ("add", "mul", "add", "sub", "max", "neg", "relu")


@hidden("passes.match", seed=SEED, given=st.integers(0, 2**48), examples=2, what="sets of pairs",
        spec=[*MATCH, ALL])  # fmt: skip
@told_once
def match_agrees_on_whether_it_matches(match, seed):
    """It finds a match exactly where there is one: a pattern, and that pattern a little changed."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        pattern, node = _pair(rng)
        mine, ours = match(pattern, node), slot("passes.match").reference(pattern, node)
        sound(mine, pattern, node)
        if (mine is None) != (ours is None):
            problem, got, spec = ("There is a match.", "None", ALL) if mine is None else (
                "There is no match.", "a match", AS_MANY)  # fmt: skip
            raise Wrong(problem, program=pair_of(pattern, node), got=got, spec=spec)


def _pair(rng: np.random.Generator) -> tuple[Node, Node]:
    """A pattern of up to six operations, and the same with its variables replaced, turned around
    where it commutes, and in two of three cases with one thing changed."""
    variables = [inp(n, "f32[]") for n in "abc"]
    nodes: list[Node] = [*variables, const(2.0)]
    for _ in range(int(rng.integers(2, 7))):
        op = pick(rng, OPS)
        recent = nodes[-4:] if rng.random() < 0.7 else nodes
        operands = [pick(rng, recent) for _ in range(1 if op in ("neg", "relu") else 2)]
        nodes.append(apply(op, *operands))
    values = [inp(n, "f32[2,3]") for n in "xyz"]
    values += [apply("neg", values[0]), const(np.full(3, 2.0, np.float32))]
    new: dict[Node, Node] = {v: pick(rng, values) for v in variables}
    new[nodes[3]] = const(np.full((2, 3), 2.0, np.float32))
    changed = pick(rng, nodes[3:]) if rng.random() < 0.66 else None
    for node in nodes[4:]:
        operands = [new[i] for i in node.inputs]
        if node.op in COMMUTATIVE and rng.random() < 0.5:
            operands.reverse()
        if node is changed:  # a twin of an operand, or another operand
            place, other = int(rng.integers(len(operands))), pick(rng, list(new.values()))
            twin = operands[place]
            again = twin.inputs and rng.random() < 0.5
            operands[place] = apply(twin.op, *twin.inputs) if again else other
        new[node] = apply(node.op, *operands)
    if changed is nodes[3] and rng.random() < 0.3:
        new[nodes[-1]] = apply("neg", new[nodes[-1]])
    return nodes[-1], new[nodes[-1]]


@hidden("passes.match", seed=SEED, spec=WHETHER)
def match_works_in_the_compiler(match):
    """simplify and strength find what they look for with this match."""

    ones = const(np.ones(3, np.float32))
    before = trace(lambda x, y: ((x + -y) * ones) / 4.0, "f32[3]", "f32[3]")
    after = in_the_compiler("passes.match", match, before)
    if [n.op for n in after.ops] != ["sub", "mul"]:
        raise Wrong("With this match, simplify and strength leave a sub and a mul here.",
                    program=before, got=after, spec=WHETHER)  # fmt: skip
    return "simplify and strength with your match"
