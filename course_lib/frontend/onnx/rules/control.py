"""If, Loop and Scan, where they can be decided, or computed, without jumps.

    If(true) {then} {else}     ->   then
    If(%c) {then} {else}       ->   select(%c, then, else)          both are computed
    Loop(400, true) {body}     ->   scan(...) {body}
    Scan(%state, %xs) {body}   ->   scan(%state, %xs) {body}

Our `scan` has a fixed number of steps and one state, so that all states and results of a loop are
parts of one tensor. A loop that does not fit (its states change their shapes, or a shape depends on
them) is written out, one copy of the body for each iteration, if it is short. One whose end depends
on data is refused. Next: `frontend/onnx/writer.py`, the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.onnx.functions import Growth
from course_lib.frontend.onnx.table import attributes
from course_lib.frontend.onnx.values import NeedsConstant, numbers
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.recurrence import Parts, final, scan
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import i64

LONGEST = 256  # iterations of a loop that we are willing to write out,
MOST = 100_000  # and to count, where a condition has to be computed for each
# (states, one element of each sequence) -> new states, results of this step
Step = Callable[[Sequence[Node], Sequence[Node]], tuple[list[Node], list[Node]]]


class UntilData(ValueError):
    """A loop ends when its data say so, so that nobody knows its steps before it runs."""

    def __init__(self, looks_at: Sequence[str] = ()) -> None:
        named = " and ".join(repr(name) for name in looks_at if name)
        where = f" (its condition depends on the input {named})" if named else ""
        super().__init__(
            f"it goes on until its data say so{where}, as a loop that writes tokens until the end "
            "of the sequence does. The loops of this compiler have a number of steps that is known "
            "before they run: compile what is inside as a model of its own and loop around it, or "
            "export the model with a fixed number of steps and without that condition"
        )


def translate(importer: Any, node: Any, inputs: Sequence[Any], origin: tuple[str, ...]) -> list:
    """The results of an If, Loop or Scan node; `importer` imports the graphs inside."""
    inside = attributes(node)
    if node.op_type == "If":
        return _if(importer, inside["then_branch"], inside["else_branch"], inputs[0], origin)
    if node.op_type == "Loop":
        return _loop(importer, inside["body"], inputs, origin)
    return _scan(importer, inside, inputs, origin)


def _if(importer: Any, then: Any, other: Any, condition: Node, origin: tuple[str, ...]) -> list:
    try:
        taken = then if numbers(condition, "the condition").item() else other
        return importer.subgraph(taken, [], origin)
    except NeedsConstant:
        pass
    yes = importer.subgraph(then, [], origin)
    no = importer.subgraph(other, [], origin)
    for a, c in zip(yes, no, strict=True):
        if not isinstance(a, Node) or not isinstance(c, Node) or a.type != c.type:
            raise ValueError("the branches of an If that depends on data must give tensors of "
                             "the same types")  # fmt: skip
    condition = b.reshape(condition, ())
    return [b.select(condition, a, c) for a, c in zip(yes, no, strict=True)]


def _loop(importer: Any, body: Any, inputs: Sequence[Any], origin: tuple[str, ...]) -> list:
    limit, condition, *carried = inputs
    trips = None if limit is None else int(numbers(limit, "the trip count of a Loop").item())
    if condition is not None and not numbers(condition, "its condition").item():
        trips = 0

    def once(trip: Node, states: Sequence[Node]) -> tuple[Any, list, list]:
        goes_on, *results = importer.subgraph(body, [trip, b.const(True), *states], origin)
        return goes_on, results[: len(states)], results[len(states) :]

    if trips is None or trips > 0:
        try:
            trips = known_trips(once, carried, trips, importer.growth)
            steps = apply("iota", shape=(trips,))
            new, columns = one_loop(lambda old, at: once(at[0], old)[1:], carried, [steps])
            return [*new, *columns]
        except ValueError as error:
            refuse_long("Loop", trips, error)
    scanned: list[list[Node]] = []
    for trip in range(trips or 0):
        goes_on, carried, given = once(b.const(trip, i64), carried)
        scanned.append(given)
        if not _holds(goes_on):
            break
    return [*carried, *(blocks.stack(column, 0) for column in zip(*scanned, strict=True))]


def _holds(condition: Any) -> bool:
    """Does a Loop go on? UntilData if only its data say so."""
    try:
        return bool(numbers(condition, "the condition that a Loop goes on with").item())
    except NeedsConstant as error:
        raise UntilData(error.inputs) from None


def known_trips(
    once: Callable[..., Any], states: Sequence[Any], limit: int | None, growth: Growth
) -> int:
    """How many iterations a Loop has; if there is a `limit`, at most so many.

    Its condition may depend on the number of the iteration, on constants, and on states that depend
    on nothing else, as a counter does. That part of the body is run here, again and again.
    UntilData if the condition depends on more.
    """
    trip, before = inp("", "i64[]"), as_inputs(states)
    goes_on, after, _ = once(trip, before)
    counters = _needed(goes_on, before, after)
    part = Graph.of(
        [trip, *(before[k] for k in counters)], [goes_on, *(after[k] for k in counters)]
    )
    if others := [n.name for n in part.nodes if n.op == "input" and n not in part.inputs]:
        raise UntilData(others)
    if len(part.inputs) == 1 and not part.users()[trip] and _holds(goes_on):
        if limit is None:
            raise UntilData
        return limit
    try:
        values = [numbers(states[k], "what a counter begins with") for k in counters]
    except NeedsConstant as error:
        raise UntilData(error.inputs) from None
    for count in range(MOST if limit is None else min(limit, MOST)):
        growth.turn()
        goes, *values = run(part, [np.array(count), *values])
        if not goes.item():
            return count + 1
    if limit is None or limit > MOST:
        raise ValueError(f"its condition still holds after {MOST:,} iterations")
    return limit


def _needed(goes_on: Any, before: Sequence[Node], after: Sequence[Any]) -> list[int]:
    """The states that decide how long a Loop goes on: those that its condition reads, those that
    the next ones of these are made of, and so on."""
    needed: list[int] = []
    while True:
        ends = [goes_on, *(after[k] for k in needed)]
        if not all(isinstance(end, Node) for end in ends):
            raise ValueError("its condition depends on something that is not a tensor")
        if any(after[k].type != before[k].type for k in needed):
            raise ValueError("a state that its condition depends on changes its type")
        reads = set(topological_order(ends))
        more = [k for k, state in enumerate(before) if state in reads and k not in needed]
        if not more:
            return needed
        needed += more


def _scan(importer: Any, inside: Any, inputs: Sequence[Any], origin: tuple[str, ...]) -> list:
    """States go from one iteration to the next; of each sequence, every iteration gets a slice."""
    body, count = inside["body"], inside["num_scan_inputs"]
    states, sequences = list(inputs[:-count]), inputs[-count:]
    results = len(body.output) - len(states)
    axes = inside.get("scan_input_axes", [0] * count)
    backwards = inside.get("scan_input_directions", [0] * count)
    out_axes = inside.get("scan_output_axes", [0] * results)
    out_backwards = inside.get("scan_output_directions", [0] * results)
    ordered = [
        blocks.flip(x, [0]) if back else x
        for x, back in zip(map(_steps_first, sequences, axes), backwards, strict=True)
    ]

    def step(states: Sequence[Node], elements: Sequence[Node]) -> tuple[list, list]:
        given = importer.subgraph(body, [*states, *elements], origin)
        return given[: len(states)], given[len(states) :]

    states, columns = _run(step, states, ordered)
    columns = [blocks.flip(y, [0]) if back else y
               for y, back in zip(columns, out_backwards, strict=True)]  # fmt: skip
    return [*states, *map(_steps_at, columns, out_axes)]


def _run(step: Step, states: list[Node], sequences: Sequence[Node]) -> tuple[list, list]:
    """All iterations of a Scan: as one loop, or else written out."""
    trips = sequences[0].type.dims[0]
    if trips:
        try:
            return one_loop(step, states, sequences)
        except ValueError as error:
            refuse_long("Scan", trips, error)
    scanned: list[list[Node]] = []
    for trip in range(trips):
        states, given = step(states, [blocks.item(x, 0, trip) for x in sequences])
        scanned.append(given)
    return states, [blocks.stack(column, 0) for column in zip(*scanned, strict=True)]


def _steps_first(x: Node, axis: int) -> Node:
    axis = normal_axis(axis, x.type.rank, "Scan")
    others = [a for a in range(x.type.rank) if a != axis]
    return b.transpose(x, (axis, *others)) if axis else x


def _steps_at(x: Node, axis: int) -> Node:
    axis = normal_axis(axis, x.type.rank, "Scan")
    perm = list(range(1, x.type.rank))
    return b.transpose(x, (*perm[:axis], 0, *perm[axis:])) if axis else x


# ── one loop, or many copies of its body ──


def one_loop(
    step: Step, states: Sequence[Node], sequences: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    """The states after the last step, and the stacked results of all steps, as one `scan`.

    A result is a part of the state that no step reads. ValueError says why it cannot be done.
    """
    kinds, before = [s.type for s in states], as_inputs(states)
    elements = [s.type.with_shape(s.type.shape[1:]) for s in sequences]
    new, given = step(before, [inp("", t) for t in elements])
    if not all(isinstance(value, Node) for value in (*new, *given)):
        raise ValueError("a step of it gives something that is not a tensor")
    after = [n.type for n in new]
    if after != kinds:
        raise ValueError(f"its states begin as {kinds} and are {after} after a step")
    extra = [k for k, y in enumerate(given) if y not in new]  # the others are states themselves
    parts = Parts((*kinds, *(given[k].type for k in extra)))
    if not parts.types:
        raise ValueError("it has neither states nor results")

    def joined(state: Node, *elements: Node) -> Node:
        old = [parts.part(state, k) for k in range(len(states))]
        new, given = step(old, elements)
        return parts.join([*new, *(given[k] for k in extra)])

    empty = [b.expand(b.const(0, given[k].type.dtype), given[k].type.shape) for k in extra]
    initial = parts.join([*states, *empty])
    history = scan(joined, initial, sequences)
    end = final(history, initial)
    count = len(states)
    place = [count + extra.index(k) if k in extra else new.index(y) for k, y in enumerate(given)]
    return [parts.part(end, k) for k in range(count)], [parts.part(history, k) for k in place]


def as_inputs(states: Sequence[Any]) -> list[Node]:
    """A value of each state's type that nobody knows."""
    if not all(isinstance(state, Node) for state in states):
        raise ValueError("it begins with something that is not a tensor")
    return [inp("", state.type) for state in states]


def refuse_long(what: str, trips: int | None, why: ValueError) -> None:
    """A loop that cannot be one of ours is written out, unless it is too long for that. What a
    step of it gets has no name, unlike the inputs of the model."""
    if isinstance(why, NeedsConstant) and all(why.inputs):
        raise why  # an input of the model, which the caller may freeze
    if trips is None or trips > LONGEST:
        if isinstance(why, UntilData):
            raise why
        count = "an unknown number of" if trips is None else trips
        raise ValueError(
            f"a {what} of {count} iterations is too long to write out (> {LONGEST}), and it cannot "
            f"stay a loop: {why}"
        ) from None
