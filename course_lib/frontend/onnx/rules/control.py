"""If, Loop and Scan, where they can be decided, or computed, without control flow.

    If(true) {then} {else}     ->   then
    If(%c) {then} {else}       ->   select(%c, then, else)          both are computed
    Loop(3, true) {body}       ->   body, body, body
    Scan(%state, %xs) {body}   ->   body, body, ...                 one for each slice of xs

Our graphs have no jumps: all that a pass or a kernel has to know is dataflow. What cannot be
brought into that form (a loop whose end depends on data) is refused with a clear error.
Next: `frontend/onnx/writer.py`, the way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course_lib.frontend import blocks
from course_lib.frontend.onnx.table import attributes
from course_lib.frontend.onnx.values import NeedsConstant, numbers
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import i64

LONGEST = 256  # iterations of a loop that we are willing to write out


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
    if limit is None:
        raise ValueError("a Loop without a trip count ends when its data say so; not supported")
    trips = int(numbers(limit, "the trip count of a Loop").item())
    running = True if condition is None else bool(numbers(condition, "its condition").item())
    if trips > LONGEST:
        raise ValueError(f"a Loop of {trips} iterations is too long to write out (> {LONGEST})")
    scanned: list[list[Node]] = []
    for trip in range(trips):
        if not running:
            break
        results = importer.subgraph(body, [b.const(trip, i64), b.const(True), *carried], origin)
        running = bool(numbers(results[0], "the condition that a Loop goes on with").item())
        carried = results[1 : 1 + len(carried)]
        scanned.append(results[1 + len(carried) :])
    return [*carried, *(blocks.stack(column, 0) for column in zip(*scanned, strict=True))]


def _scan(importer: Any, inside: Any, inputs: Sequence[Any], origin: tuple[str, ...]) -> list:
    """States go from one iteration to the next; of each sequence, every iteration gets a slice."""
    body, count = inside["body"], inside["num_scan_inputs"]
    states, sequences = list(inputs[:-count]), inputs[-count:]
    results = len(body.output) - len(states)
    axes = inside.get("scan_input_axes", [0] * count)
    backwards = inside.get("scan_input_directions", [0] * count)
    out_axes = inside.get("scan_output_axes", [0] * results)
    out_backwards = inside.get("scan_output_directions", [0] * results)
    axes = [normal_axis(a, x.type.rank, "Scan") for a, x in zip(axes, sequences, strict=True)]
    trips = sequences[0].type.dims[axes[0]]
    if trips > LONGEST:
        raise ValueError(f"a Scan of {trips} iterations is too long to write out (> {LONGEST})")
    scanned: list[list[Node]] = []
    for trip in range(trips):
        slices = [
            blocks.item(x, axis, trips - 1 - trip if back else trip)
            for x, axis, back in zip(sequences, axes, backwards, strict=True)
        ]
        given = importer.subgraph(body, [*states, *slices], origin)
        states = given[: len(states)]
        scanned.append(given[len(states) :])
    columns = [
        blocks.stack(column[::-1] if back else column, axis)
        for column, axis, back in zip(
            zip(*scanned, strict=True), out_axes, out_backwards, strict=True
        )
    ]
    return [*states, *columns]
