"""Checks of unit 2 for the pass manager and the rewriter that the student writes.

Next room: compared.py, results that differ; rules.py, the rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.properties import live_ops, raises, valid_graph
from autograder.units.u02.checks.rules import (
    countdown,
    exp_to_negs,
    mul_by_one,
    mul_to_max,
    mul_to_twos,
    no_double_neg,
    relu_to_exp,
    relu_to_half,
    relu_to_integers,
    relu_to_matrix,
    relu_to_tanh,
    tanh_to_relu,
    two_to_three,
)
from autograder.units.u02.checks.shared import same_bits
from course_lib.ir.graph.build import exp, neg, relu, tanh, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.clean.fixpoint import same_program

# ── u02.careful ──

STOPS = "Run `passes` in order, and stop before the first that changes what the program computes"
EACH = "Run each pass through `run_passes([one])`, which raises where a graph does not verify"
COMPARED = "Then run the new program on `inputs` and compare it with the first program, `graph`"
EVERY = "every output must have the same elements"
EQUAL = "NaN is the same as NaN here, and 0.0 the same as -0.0"
RESULT = "Return the last graph whose outputs are right, and how many passes made it"
ALL_GOOD = "if every pass is good, that is all of them"
NO_LATER = "No pass runs after the first that is not"


def _anew(graph: Graph) -> Graph:
    return graph.rebuild(lambda node, inputs: replace(node, inputs=inputs))


def turns_minus(graph: Graph) -> Graph:
    """A broken pass: sub(x, y) becomes sub(y, x)."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        return node.with_inputs(inputs[::-1] if node.op == "sub" else inputs)

    return graph.rebuild(visit)


def doubles_the_last(graph: Graph) -> Graph:
    """A broken pass: the last output is doubled."""
    *others, last = graph.outputs
    return Graph.of(graph.inputs, [*others, last + last], graph.name)


def back_to_front(graph: Graph) -> Graph:
    """Not a well-formed graph: the nodes are in the wrong order."""
    return replace(graph, nodes=graph.nodes[::-1])


def _minus_zero(graph: Graph) -> Graph:
    """Writes -0.0 for 0.0 in constants."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op == "constant" and not node.value.any():
            return const(-np.abs(node.value))
        return node.with_inputs(inputs)

    return graph.rebuild(visit)


def programs() -> list[tuple[Graph, list[np.ndarray]]]:
    """Programs of two outputs, and inputs for them, one with NaN among its results."""
    two = trace(lambda x, y: (relu(x) * 2.0, exp(y) - x), "f32[3]", "f32[3]")
    some = [np.array(v, np.float32) for v in ([1, 2, -3], [0, 1, 2])]
    whole = trace(lambda k: (k + 1, k * k - k), "i32[3]")
    nan = trace(lambda x: (x - x, x * 0.0), "f32[2]")
    return [(two, some), (whole, [np.array([1, 2, 5], np.int32)]),
            (nan, [np.array([np.inf, 1], np.float32)])]  # fmt: skip


def adds_a_millionth(graph: Graph) -> Graph:
    """A broken pass: the first output is a little larger."""
    first, *others = graph.outputs
    return Graph.of(graph.inputs, [first * 1.000001, *others], graph.name)


def negates(graph: Graph) -> Graph:
    """A broken pass that is right if it runs twice: the first output is negated."""
    first, *others = graph.outputs
    return Graph.of(graph.inputs, [neg(first), *others], graph.name)


@checks("u02.careful", spec=[RESULT, ALL_GOOD, EQUAL, NO_LATER])
def lets_good_passes_through(careful):
    """Passes that keep the results run, in order, and the last one's graph comes back."""
    for graph, inputs in programs():
        ends(careful, graph, [_anew, _minus_zero, _anew], inputs, 3, EQUAL)
    graph, inputs = programs()[0]
    ends(careful, graph, [], inputs, 0, ALL_GOOD)
    return "passes that keep the results"


@checks("u02.careful", spec=[STOPS, COMPARED, EVERY, NO_LATER, RESULT])
def stops_before_a_broken_pass(careful):
    """A pass that changes any output is not kept, and what stands behind it is not run."""
    graph, inputs = programs()[0]
    for passes, good, spec in (
        ([_anew, turns_minus, _anew], 1, STOPS),
        ([turns_minus, turns_minus], 0, COMPARED),
        ([_anew, _anew, doubles_the_last], 2, EVERY),
        ([_anew, negates, negates], 1, STOPS),
        ([adds_a_millionth, _anew], 0, EVERY),
    ):
        ends(careful, graph, passes, inputs, good, spec)
    return "passes that change a result"


def ends(careful: Any, graph: Graph, passes: list, inputs: Any, good: int, spec: str) -> None:
    ran: list[str] = []
    result = careful(graph, [_noted(one, ran) for one in passes], inputs)
    names = ", ".join(one.__name__.strip("_") for one in passes) or "none"
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Wrong("The result must be a pair: a graph and a number.", program=graph,
                    got=repr(result)[:200], spec=RESULT)  # fmt: skip
    wanted = graph
    for one in passes[:good]:
        wanted = one(wanted)
    after = valid_graph(result[0], graph, spec=RESULT)
    if result[1] != good or isinstance(result[1], bool):
        raise Wrong(f"The passes are: {names}. {_kept(good, len(passes))}", program=graph,
                    got=f"the number {result[1]!r:.50}", expected=f"the number {good}",
                    spec=spec)  # fmt: skip
    if not same_program(after, wanted):
        raise Wrong(f"The passes are: {names}. {_kept(good, len(passes))} The graph must be the "
                    "last one whose outputs are right.", program=graph,
                    got=after, expected=wanted, spec=RESULT)  # fmt: skip
    if len(ran) > good + 1:
        raise Wrong(f"The passes are: {names}. No pass may run after the first broken one.",
                    program=graph, got=", ".join(ran), spec=NO_LATER)  # fmt: skip


def _kept(good: int, count: int) -> str:
    if good == count:
        return "Each of them keeps every output." if count else "So there is nothing to run."
    if not good:
        return "The first of them changes an output."
    kept, other = [("one keeps", "second"), ("two keep", "third")][good - 1]
    return f"The first {kept} every output, and the {other} does not."


def _noted(one: Any, ran: list[str]) -> Any:
    def run(graph: Graph) -> Graph:
        ran.append(one.__name__)
        return one(graph)

    return run


@checks("u02.careful", spec=EACH)
def refuses_what_is_no_graph(careful):
    """A pass whose result does not verify raises, as it does in `run_passes`."""
    graph, inputs = programs()[0]
    problem = (
        "This pass writes the nodes back to front: run_passes raises, and your function must raise "
        "too."
    )
    raises(ValueError, lambda: careful(graph, [_anew, back_to_front], inputs), problem,
           program=graph, spec=EACH)  # fmt: skip
    return "passes that return no valid graph"


# ── u02.apply_rules ──

FIRST = "the first that returns a node *of the same type* wins"
OTHER_TYPE = "a replacement of another type counts as None"
NEW = "Each node, with its new operands, is offered to the rules in their order"
AGAIN = "The replacement is offered to all the rules again, until none applies"
LEFT = "what is new below it is left as the rule made it"
HUNDRED = "If a node has been replaced 100 times and a rule still applies, raise ValueError"
STAYS = "Nodes that nobody reads are left for `dce`"
ONE_WALK = "Apply rules in one walk from the inputs to the outputs"
A_RULE = "A rule is a function: it takes a node and returns the node to put in its place, or None"


F = "f32[4]"
# (program, rules, what comes out, why, words of the specification)
REWRITTEN: list[tuple[Any, list, Any, str, str]] = [
    (lambda x: neg(neg(neg(neg(x)))), [no_double_neg], lambda x: x,
     "Each node is offered with its new operands: the last neg finds two in a row as well.", NEW),
    (relu, [relu_to_exp, relu_to_tanh], exp, "Both rules apply, and the first wins.", FIRST),
    (relu, [relu_to_tanh, relu_to_exp], tanh, "Both rules apply, and the first wins.", FIRST),
    (lambda x: relu(x * const(np.ones((2, 4), np.float32))), [mul_by_one],
     lambda x: relu(x * const(np.ones((2, 4), np.float32))),
     "The mul is f32[2,4] and x is f32[4], which is another type.", OTHER_TYPE),
    (lambda x: relu(apply("mul", x, const(np.ones((2, 4), np.float32)))),
     [mul_by_one, relu_to_tanh], lambda x: tanh(x * const(np.ones((2, 4), np.float32))),
     "One rule does not apply, but the other does.", OTHER_TYPE),
    (lambda x: x * const(np.ones((2, 4), np.float32)), [mul_by_one, mul_to_max],
     lambda x: apply("max", x, const(np.ones((2, 4), np.float32))),
     "What the first rule gives is f32[4], so the second one is asked.", OTHER_TYPE),
    (relu, [exp_to_negs, relu_to_exp], lambda x: neg(relu(x)),
     "relu becomes exp, and exp is offered to all rules: neg(relu(x)). The relu in it is new, "
     "below the replacement, and stays.", AGAIN),
    (lambda x: x * 3.0, [countdown, mul_to_max], lambda x: apply("max", x, const(0.0)),
     "After a replacement the first rule is asked first again: 3.0, 2.0, 1.0, 0.0, and then max.",
     AGAIN),
    (lambda x: x * 3.0, [mul_by_one, countdown], lambda x: x,
     "After the second replacement this is x * 1.0, and mul_by_one stands first.", AGAIN),
    (lambda x: neg(exp(x)), [no_double_neg, exp_to_negs, relu_to_tanh], tanh,
     "neg(neg(relu(x))) is replaced by relu(x), and this is offered to all rules, too.", AGAIN),
    (lambda x: x + 2.0, [two_to_three], lambda x: x + 3.0, "A constant is a node.", NEW),
    (lambda x: tanh(x * 5.0), [mul_to_twos, two_to_three],
     lambda x: tanh(const(np.full(4, 3.0, np.float32))),
     "The replacement is a constant, and is offered to all rules.", AGAIN),
    (relu, [relu_to_integers, relu_to_tanh], tanh, "i32[4] is another type than f32[4].",
     OTHER_TYPE),
    (relu, [relu_to_half, relu_to_tanh], tanh, "f32[2] is another type than f32[4].", OTHER_TYPE),
    (relu, [relu_to_matrix, relu_to_tanh], tanh, "f32[2,2] is another type than f32[4].",
     OTHER_TYPE),
    (lambda x: exp(exp(x)), [exp_to_negs], lambda x: neg(relu(neg(relu(x)))),
     "Both exp are replaced.", LEFT),
    (lambda x: x * 100.0, [countdown], lambda x: x * 0.0, "Exactly 100 replacements are allowed.",
     HUNDRED),
    (lambda x: (tanh(x), relu(x) + relu(x)), [relu_to_tanh],
     lambda x: (tanh(x), tanh(x) + tanh(x)), "All three become tanh; merging is for cse.",
     ONE_WALK),
    (lambda x: x, [relu_to_tanh], lambda x: x, "A program without operations.", A_RULE),
]  # fmt: skip


@checks("u02.apply_rules", spec=[spec for *_, spec in REWRITTEN])
def applies_the_rules(apply_rules):
    """The first rule that applies wins, its result is offered again, other types do not count."""
    for make, rules, wanted, why, spec in REWRITTEN:
        before, after = trace(make, F), trace(wanted, F)
        result = _counted_down(apply_rules, before, rules, why) if countdown in rules else None
        got = valid_graph(result or apply_rules(before, rules), before, spec=spec)
        mine = Graph.of(got.inputs, got.outputs, got.name)
        if not _alike(mine, after):
            names = ", ".join(rule.__name__ for rule in rules)
            raise Wrong(f"The rules are {names}. {why}", program=before, got=mine,
                        expected=after, spec=spec)  # fmt: skip
    return f"{len(REWRITTEN)} small programs"


def _counted_down(apply_rules: Any, program: Graph, rules: list, why: str) -> Any:
    """What comes out if `countdown` may be applied as often as this program needs."""
    try:
        return apply_rules(program, rules)
    except Crashed as error:
        if "ValueError" not in error.kinds:
            raise
        names = ", ".join(rule.__name__ for rule in rules)
        raise Wrong(f"The rules are {names}. {why} Yours raised {error.error}", program=program,
                    spec=HUNDRED) from None  # fmt: skip


def _alike(a: Graph, b: Graph) -> bool:
    """Do the outputs say the same, as nested expressions?"""
    return [_expression(n) for n in a.outputs] == [_expression(n) for n in b.outputs]


def _expression(node: Node) -> Any:
    value = node.value.tobytes() if node.op == "constant" else ""
    return (node.op, str(node.type), value, *map(_expression, node.inputs))


@checks("u02.apply_rules", spec=[HUNDRED, "Rules that undo each other never come to rest"])
def gives_up_after_a_hundred(apply_rules):
    """Rules that undo each other, and one that takes 101 replacements: ValueError."""
    for make, rules in ((relu, [relu_to_tanh, tanh_to_relu]), (lambda x: x * 101.0, [countdown])):
        program = trace(make, F)
        raises(ValueError, lambda p=program, r=rules: apply_rules(p, r), "After 100 replacements "
               "of one node a rule still applies, so ValueError must be raised.", program=program,
               spec=HUNDRED)  # fmt: skip
    program = trace(lambda x: [x * float(n) for n in (60, 61, 62)], F)
    anew = "The 100 replacements must be counted anew for each node."
    after = valid_graph(_counted_down(apply_rules, program, [countdown], anew), program)
    if any(n.inputs[1].value for n in live_ops(after) if n.op == "mul"):
        raise Wrong(anew, program=program, got=after, spec=HUNDRED)
    return "rules that undo each other"


@checks("u02.apply_rules", spec=[STAYS, NEW])
def keeps_dead_code_and_bits(apply_rules):
    """A rule that holds keeps every bit; nodes that nobody reads stay and are rewritten too."""
    graph = trace(lambda x: neg(neg(x)) + relu(neg(neg(x))), F)
    same_bits(graph, apply_rules(graph, [no_double_neg]), spec=NEW)
    (x,) = graph.inputs
    beside = Graph("main", (x,), (x, dead := neg(x), relu(dead), last := tanh(x)), (last,))
    after = valid_graph(apply_rules(beside, [no_double_neg]), beside)
    if sorted(n.op for n in after.ops) != ["neg", "relu", "tanh"]:
        raise Wrong(
            "Dead operations must stay.", program=beside, got=after, expected=beside, spec=STAYS
        )
    after = valid_graph(apply_rules(beside, [relu_to_tanh]), beside)
    if sorted(n.op for n in after.ops) != ["neg", "tanh", "tanh"]:
        raise Wrong("The rules are relu_to_tanh. Dead operations are offered to them as well.",
                    program=beside, got=after, spec=NEW)  # fmt: skip
    return "dead operations kept"
