"""Checks of unit 2 for the pass manager and the rewriter that the student writes.

Next room: compared.py, results that differ; rules.py, the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.properties import live_ops, raises, valid_graph
from autograder.units.u02.checks import rules as by
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


def anew(graph: Graph) -> Graph:
    """A pass that changes nothing and builds every node anew."""
    return graph.rebuild(lambda node, inputs: replace(node, inputs=inputs))


def each_node(change: Callable[[Node, tuple[Node, ...]], Node | None]) -> Callable[[Any], Graph]:
    """A pass with the name of this function, which says what becomes of a node."""

    def one(graph: Graph) -> Graph:
        return graph.rebuild(lambda node, i: change(node, i) or node.with_inputs(i))

    one.__name__ = change.__name__
    return one


@each_node
def turns_minus(node: Node, inputs: tuple[Node, ...]) -> Node | None:
    """A broken pass: sub(x, y) becomes sub(y, x)."""
    return node.with_inputs(inputs[::-1]) if node.op == "sub" else None


@each_node
def minus_zero(node: Node, inputs: tuple[Node, ...]) -> Node | None:
    """Writes -0.0 for 0.0 in constants: the bytes change, the numbers do not."""
    return const(-np.abs(node.value)) if node.op == "constant" and not node.value.any() else None


def of_outputs(name: str, change: Callable[..., Iterable[Node]]) -> Callable[[Graph], Graph]:
    """A pass with this name, which returns something else."""

    def one(graph: Graph) -> Graph:
        return Graph.of(graph.inputs, list(change(*graph.outputs)), graph.name)

    one.__name__ = name
    return one


# Broken passes. The last of them is right if it runs twice.
doubles_the_last = of_outputs("doubles_the_last", lambda *o: (*o[:-1], o[-1] + o[-1]))
adds_a_millionth = of_outputs("adds_a_millionth", lambda *o: (o[0] * 1.000001, *o[1:]))
negates = of_outputs("negates", lambda *o: (neg(o[0]), *o[1:]))


def back_to_front(graph: Graph) -> Graph:
    """Not a well-formed graph: the nodes are in the wrong order."""
    return replace(graph, nodes=graph.nodes[::-1])


def programs() -> list[tuple[Graph, list[np.ndarray]]]:
    """Programs of two outputs, and inputs for them, one with NaN among its results."""
    two = trace(lambda x, y: (relu(x) * 2.0, exp(y) - x), "f32[3]", "f32[3]")
    some = [np.array(v, np.float32) for v in ([1, 2, -3], [0, 1, 2])]
    whole = trace(lambda k: (k + 1, k * k - k), "i32[3]")
    nan = trace(lambda x: (x - x, x * 0.0), "f32[2]")
    return [(two, some), (whole, [np.array([1, 2, 5], np.int32)]),
            (nan, [np.array([np.inf, 1], np.float32)])]  # fmt: skip


@checks("u02.careful", spec=[RESULT, ALL_GOOD, EQUAL, NO_LATER])
def lets_good_passes_through(careful):
    """Passes that keep the results run, in order, and the last one's graph comes back."""
    for graph, inputs in programs():
        ends(careful, graph, [anew, minus_zero, anew], inputs, 3, EQUAL)
    graph, inputs = programs()[0]
    ends(careful, graph, [], inputs, 0, ALL_GOOD)
    return "passes that keep the results"


# (passes, how many of them are good, words of the specification)
BROKEN: list[tuple[list, int, str]] = [
    ([anew, turns_minus, anew], 1, STOPS),
    ([turns_minus, turns_minus], 0, COMPARED),
    ([anew, anew, doubles_the_last], 2, EVERY),
    ([anew, negates, negates], 1, STOPS),
    ([adds_a_millionth, anew], 0, EVERY),
]


@for_each("u02.careful", BROKEN, "passes that change a result", spec=[NO_LATER, RESULT])
def stops_before_a_broken_pass(careful, passes, good, spec):
    """A pass that changes any output is not kept, and what stands behind it is not run."""
    graph, inputs = programs()[0]
    ends(careful, graph, passes, inputs, good, spec)


def ends(careful: Any, graph: Graph, passes: list, inputs: Any, good: int, spec: str) -> None:
    """`careful` keeps so many of the passes, which are good, and runs one more at most."""
    ran: list[str] = []
    wrong = partial(Wrong, program=graph)
    result = careful(graph, [noted(one, ran) for one in passes], inputs)
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        problem = "The result must be a pair: a graph and a number."
        raise wrong(problem, got=repr(result)[:200], spec=RESULT)
    wanted = graph
    for one in passes[:good]:
        wanted = one(wanted)
    after = valid_graph(result[0], graph, spec=RESULT)
    lead = f"The passes are: {', '.join(one.__name__.strip('_') for one in passes) or 'none'}."
    kept = f"{lead} {_kept(good, len(passes))}"
    if result[1] != good or isinstance(result[1], bool):
        got = f"the number {result[1]!r:.50}"
        raise wrong(kept, got=got, expected=f"the number {good}", spec=spec)
    if not same_program(after, wanted):
        raise wrong(f"{kept} The graph must be the last one whose outputs are right.",
                    got=after, expected=wanted, spec=RESULT)  # fmt: skip
    if len(ran) > good + 1:
        problem = f"{lead} No pass may run after the first broken one."
        raise wrong(problem, got=", ".join(ran), spec=NO_LATER)


def _kept(good: int, count: int) -> str:
    if good == count:
        return "Each of them keeps every output." if count else "So there is nothing to run."
    if not good:
        return "The first of them changes an output."
    return (
        f"The first {'one keeps' if good == 1 else f'{good} keep'} every output; the next does not."
    )


def noted(one: Any, ran: list[str], name: str = "") -> Any:
    """The pass, which notes its name when it runs."""

    def run(graph: Graph) -> Graph:
        ran.append(name or one.__name__)
        return one(graph)

    return run


@checks("u02.careful", spec=EACH)
def refuses_what_is_no_graph(careful):
    """A pass whose result does not verify raises, as it does in `run_passes`."""
    graph, inputs = programs()[0]
    raises(ValueError, lambda: careful(graph, [anew, back_to_front], inputs), "This pass writes "
           "the nodes back to front: run_passes raises, and your function must raise too.",
           program=graph, spec=EACH)  # fmt: skip
    return "passes that return no valid graph"


# ── u02.apply_rules ──

FIRST = "the first that returns a node *of the same type* wins"
OTHER_TYPE = "a replacement of another type counts as None"
NEW = "Each node, with its new operands, is offered to the rules in their order"
AGAIN = "The replacement is offered to all the rules again, until none applies"
HUNDRED = "If a node has been replaced 100 times and a rule still applies, raise ValueError"
STAYS = "Nodes that nothing reads are left for `dce`"
A_RULE = "A rule is a function: it takes a node and returns the node to put in its place, or None"


F = "f32[4]"
# (program, rules, what comes out, why, words of the specification)
REWRITTEN: list[tuple[Any, list, Any, str, str]] = [
    (lambda x: neg(neg(neg(neg(x)))), [by.no_double_neg], lambda x: x,
     "Each node is offered with its new operands: the last neg finds two in a row as well.", NEW),
    (relu, [by.relu_to_exp, by.relu_to_tanh], exp, "Both rules apply, and the first wins.", FIRST),
    (relu, [by.relu_to_tanh, by.relu_to_exp], tanh, "Both rules apply, and the first wins.", FIRST),
    (lambda x: relu(x * const(np.ones((2, 4), np.float32))), [by.mul_by_one],
     lambda x: relu(x * const(np.ones((2, 4), np.float32))),
     "The mul is f32[2,4] and x is f32[4], which is another type.", OTHER_TYPE),
    (lambda x: relu(apply("mul", x, const(np.ones((2, 4), np.float32)))),
     [by.mul_by_one, by.relu_to_tanh], lambda x: tanh(x * const(np.ones((2, 4), np.float32))),
     "One rule does not apply, but the other does.", OTHER_TYPE),
    (lambda x: x * const(np.ones((2, 4), np.float32)), [by.mul_by_one, by.mul_to_max],
     lambda x: apply("max", x, const(np.ones((2, 4), np.float32))),
     "What the first rule gives is f32[4], so the second one is tried.", OTHER_TYPE),
    (relu, [by.exp_to_negs, by.relu_to_exp], lambda x: neg(relu(x)),
     "relu becomes exp, and exp is offered to all rules: neg(relu(x)). The relu in it is new, "
     "below the replacement, and stays.", AGAIN),
    (lambda x: x * 3.0, [by.countdown, by.mul_to_max], lambda x: apply("max", x, const(0.0)),
     "After a replacement the first rule is tried first again: 3.0, 2.0, 1.0, 0.0, and then max.",
     AGAIN),
    (lambda x: x * 3.0, [by.mul_by_one, by.countdown], lambda x: x,
     "After the second replacement this is x * 1.0, and mul_by_one stands first.", AGAIN),
    (lambda x: neg(exp(x)), [by.no_double_neg, by.exp_to_negs, by.relu_to_tanh], tanh,
     "neg(neg(relu(x))) is replaced by relu(x), and this is offered to all rules, too.", AGAIN),
    (lambda x: x + 2.0, [by.two_to_three], lambda x: x + 3.0, "A constant is a node.", NEW),
    (lambda x: tanh(x * 5.0), [by.mul_to_twos, by.two_to_three],
     lambda x: tanh(const(np.full(4, 3.0, np.float32))),
     "The replacement is a constant, and is offered to all rules.", AGAIN),
    (relu, [by.relu_to_integers, by.relu_to_tanh], tanh, "i32[4] is another type than f32[4].",
     OTHER_TYPE),
    (relu, [by.relu_to_half, by.relu_to_tanh], tanh, "f32[2] is another type than f32[4].",
     OTHER_TYPE),
    (relu, [by.relu_to_matrix, by.relu_to_tanh], tanh, "f32[2,2] is another type than f32[4].",
     OTHER_TYPE),
    (lambda x: exp(exp(x)), [by.exp_to_negs], lambda x: neg(relu(neg(relu(x)))),
     "Both exp are replaced.", "what is new below it is left as the rule made it"),
    (lambda x: x * 100.0, [by.countdown], lambda x: x * 0.0,
     "Exactly 100 replacements are allowed.", HUNDRED),
    (lambda x: (tanh(x), relu(x) + relu(x)), [by.relu_to_tanh],
     lambda x: (tanh(x), tanh(x) + tanh(x)), "All three become tanh; merging is for cse.",
     "Apply rules in one walk from the inputs to the outputs"),
    (lambda x: x, [by.relu_to_tanh], lambda x: x, "A program without operations.", A_RULE),
]  # fmt: skip


@for_each("u02.apply_rules", REWRITTEN, "{} small programs")
def applies_the_rules(apply_rules, make, rules, wanted, why, spec):
    """The first rule that applies wins, its result is offered again, other types do not count."""
    before, after = trace(make, F), trace(wanted, F)
    lead = f"The rules are {', '.join(rule.__name__ for rule in rules)}. {why}"
    call = partial(apply_rules, before, rules)
    result = at_rest(call, lead, before, HUNDRED) if by.countdown in rules else call()
    got = valid_graph(result, before, spec=spec)
    mine = Graph.of(got.inputs, got.outputs, got.name)
    if not _alike(mine, after):
        raise Wrong(lead, program=before, got=mine, expected=after, spec=spec)


def at_rest(call: Callable[[], Any], lead: str, program: Graph, spec: str) -> Any:
    """What comes out of this call, which must not say with a ValueError that it has no end."""
    try:
        return call()
    except Crashed as error:
        if "ValueError" not in error.kinds:
            raise
        raise Wrong(f"{lead} Yours raised {error.error}", program=program, spec=spec) from None


def _alike(a: Graph, b: Graph) -> bool:
    """Do the outputs say the same, as nested expressions?"""
    return [_expression(n) for n in a.outputs] == [_expression(n) for n in b.outputs]


def _expression(node: Node) -> Any:
    value = node.value.tobytes() if node.op == "constant" else ""
    return (node.op, str(node.type), value, *map(_expression, node.inputs))


@checks("u02.apply_rules", spec=[HUNDRED, "Rules that undo each other never come to rest"])
def gives_up_after_a_hundred(apply_rules):
    """Rules that undo each other, and one that takes 101 replacements: ValueError."""
    undo = [by.relu_to_tanh, by.tanh_to_relu]
    for make, rules in ((relu, undo), (lambda x: x * 101.0, [by.countdown])):
        program = trace(make, F)
        raises(ValueError, lambda p=program, r=rules: apply_rules(p, r), "After 100 replacements "
               "of one node a rule still applies, so ValueError must be raised.", program=program,
               spec=HUNDRED)  # fmt: skip
    program = trace(lambda x: [x * float(n) for n in (60, 61, 62)], F)
    each = "The rules are countdown. The 100 replacements must be counted anew for each node."
    call = partial(apply_rules, program, [by.countdown])
    after = valid_graph(at_rest(call, each, program, HUNDRED), program)
    if any(n.inputs[1].value for n in live_ops(after) if n.op == "mul"):
        raise Wrong(each, program=program, got=after, spec=HUNDRED)
    return "rules that undo each other"


@checks("u02.apply_rules", spec=[STAYS, NEW])
def keeps_dead_code_and_bits(apply_rules):
    """A rule that holds keeps every bit; nodes that nothing reads stay and are rewritten too."""
    graph = trace(lambda x: neg(neg(x)) + relu(neg(neg(x))), F)
    same_bits(graph, apply_rules(graph, [by.no_double_neg]), spec=NEW)
    (x,) = graph.inputs
    beside = Graph("main", (x,), (x, dead := neg(x), relu(dead), last := tanh(x)), (last,))
    for rule, left, problem, spec in (
        (by.no_double_neg, ["neg", "relu", "tanh"], "Dead operations must stay.", STAYS),
        (by.relu_to_tanh, ["neg", "tanh", "tanh"],
         "The rules are relu_to_tanh. Dead operations are offered to them as well.", NEW),
    ):  # fmt: skip
        after = valid_graph(apply_rules(beside, [rule]), beside)
        if sorted(n.op for n in after.ops) != left:
            raise Wrong(problem, program=beside, got=after, spec=spec)
    return "dead operations kept"
