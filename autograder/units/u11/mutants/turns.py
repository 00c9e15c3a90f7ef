"""Answers about slots that take turns. Next room: the teacher's page, docs/units/u11.md."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, equivalent, mutant

if TYPE_CHECKING or find_spec("xdsl"):
    from course_lib.mlir.npu.dialect import MatmulOp
    from course_lib.mlir.npu.rules import shape
    from course_lib.mlir.npu.transfer import DmaLoadOp, SlotOp
    from lessons.u11.dialect import (
        body,
        buffers,
        finished,
        fitting,
        overwritten,
        parsed,
        resized,
        steps,
    )


def _turn(text, most, many=lambda op, most: min(most, fitting(op)), counts=None,
          before=True, first=-1, only=lambda op: True, step=1):  # fmt: skip
    module = parsed(text)
    for buffer in buffers(module):
        if not only(buffer):
            continue
        number, turn = many(buffer, most), first
        resized(buffer, number)
        for op in steps(module):
            held = [
                (k, v)
                for k, v in enumerate(op.operands)
                if isinstance(v.owner, SlotOp) and v.owner.buffer is buffer.result
            ]
            for k, value in held:
                new = (counts or overwritten)(op) is value
                if before:
                    turn += new * step
                made = SlotOp(buffer.result, [turn % number], value.owner.tile)
                body(module).insert_op_before(made, op)
                op.operands[k] = made.result
                if not before:
                    turn += new * step
    return finished(module)  # fmt: skip


@mutant("u11.turns")
def counts_behind(text, most):
    """The new contents go to the old slot, and readers look into the next one."""
    return _turn(text, most, before=False, first=0)


@mutant("u11.turns")
def begins_with_slot_one(text, most):
    return _turn(text, most, first=0)


@mutant("u11.turns")
def only_loads(text, most):
    """Sums get slots that nobody uses."""
    return _turn(text, most, counts=lambda op: op.tile if isinstance(op, DmaLoadOp) else None,
                 first=0)  # fmt: skip


@mutant("u11.turns")
def loads_and_products_that_overwrite(text, most):
    """What `npu.clear` sets to 0 is new, too."""
    return _turn(text, most, counts=lambda op: op.tile if isinstance(op, DmaLoadOp) else op.sums
                 if isinstance(op, MatmulOp) and op.overwrite is not None else None,
                 first=0)  # fmt: skip


@mutant("u11.turns")
def every_product_is_new(text, most):
    """One that adds to sums needs them where they are."""
    return _turn(text, most, counts=lambda op: op.sums if isinstance(op, MatmulOp)
                 else overwritten(op))  # fmt: skip


@mutant("u11.turns")
def as_many_as_asked(text, most):
    return _turn(text, most, many=lambda op, most: most)


@mutant("u11.turns")
def as_many_as_fit(text, most):
    return _turn(text, most, many=lambda op, most: fitting(op))


@mutant("u11.turns")
def two_or_nothing(text, most):
    return _turn(text, most, many=lambda op, most: 2 if min(most, fitting(op)) > 1 else 1)


@mutant("u11.turns")
def the_first_buffer_only(text, most):
    module = parsed(text)
    first = str(buffers(module)[0].result.type)
    return _turn(text, most, only=lambda op: str(op.result.type) == first)


@mutant("u11.turns")
def every_use_takes_the_next_slot(text, most):
    module = parsed(text)
    for buffer in buffers(module):
        number, turn = min(most, fitting(buffer)), -1
        resized(buffer, number)
        for op in steps(module):
            for k, value in enumerate(op.operands):
                if isinstance(value.owner, SlotOp) and value.owner.buffer is buffer.result:
                    turn += 1
                    made = SlotOp(buffer.result, [turn % number], value.owner.tile)
                    body(module).insert_op_before(made, op)
                    op.operands[k] = made.result
    return finished(module)


@mutant("u11.turns")
def only_the_type_changes(text, most):
    module = parsed(text)
    for buffer in buffers(module):
        resized(buffer, min(most, fitting(buffer)))
    return finished(module)


@mutant("u11.turns")
def one_counter_for_all_buffers(text, most):
    module = parsed(text)
    many = {buffer: min(most, fitting(buffer)) for buffer in buffers(module)}
    for buffer, number in many.items():
        resized(buffer, number)
    turn, now = -1, {}
    for op in steps(module):
        tile = overwritten(op)
        if tile is not None and isinstance(tile.owner, SlotOp):
            turn += 1
            now[tile.owner.buffer.owner] = turn
        for k, value in enumerate(op.operands):
            if isinstance(slot := value.owner, SlotOp):
                buffer = slot.buffer.owner
                made = SlotOp(buffer.result, [now[buffer] % many[buffer]], slot.tile)
                body(module).insert_op_before(made, op)
                op.operands[k] = made.result
    return finished(module)


@mutant("u11.turns")
def gives_the_module(text, most):
    module = parsed(text)
    _turn(text, most)
    return module


@mutant("u11.turns")
def slots_stand_nowhere(text, most):
    module = parsed(text)
    for buffer in buffers(module):
        resized(buffer, min(most, fitting(buffer)))
        for op in steps(module):
            for k, value in enumerate(op.operands):
                if isinstance(value.owner, SlotOp) and value.owner.buffer is buffer.result:
                    op.operands[k] = SlotOp(buffer.result, [0], value.owner.tile).result
    return finished(module)


@mutant("u11.turns")
def readers_stay_in_slot_zero(text, most):
    module = parsed(text)
    for buffer in buffers(module):
        many, turn = min(most, fitting(buffer)), -1
        resized(buffer, many)
        for op in steps(module):
            tile = overwritten(op)
            if tile is not None and tile.owner.buffer is buffer.result:
                turn += 1
                made = SlotOp(buffer.result, [turn % many], tile.owner.tile)
                body(module).insert_op_before(made, op)
                op.operands[list(op.operands).index(tile)] = made.result
    return finished(module)


@mutant("u11.turns")
def leaves_it_alone(text, most):
    return text


@alternative("u11.turns")
def one_walk_with_a_dictionary(text, most):
    module = parsed(text)
    turn = {}
    for buffer in buffers(module):
        resized(buffer, min(most, fitting(buffer)))
        turn[buffer] = -1
    for op in steps(module):
        new = overwritten(op)
        if new is not None and isinstance(new.owner, SlotOp):
            turn[new.owner.buffer.owner] += 1
        for k, value in enumerate(op.operands):
            slot = value.owner
            if isinstance(slot, SlotOp):
                buffer = slot.buffer.owner
                at = turn[buffer] % shape(buffer.result)[0]
                made = SlotOp(buffer.result, [at], slot.tile)
                body(module).insert_op_before(made, op)
                op.operands[k] = made.result
    return finished(module)


@alternative("u11.turns")
def by_the_value_of_the_buffer(text, most):
    """Dictionaries by values that were there before the buffers got their slots."""
    module = parsed(text)
    turn = {buffer.result: -1 for buffer in buffers(module)}
    many = {}
    for buffer in buffers(module):
        many[buffer.result] = min(most, fitting(buffer))
        resized(buffer, many[buffer.result])
    for op in steps(module):
        for k, value in enumerate(op.operands):
            if isinstance(slot := value.owner, SlotOp):
                turn[slot.buffer] += value is overwritten(op)
                at = turn[slot.buffer] % many[slot.buffer]
                body(module).insert_op_before(new := SlotOp(slot.buffer, [at], slot.tile), op)
                op.operands[k] = new.result
    return finished(module)


@alternative("u11.turns")
def slots_made_once(text, most):
    """One view for each slot and size, and uses that are given to it."""
    module = parsed(text)
    for buffer in buffers(module):
        many, turn, views = min(most, fitting(buffer)), -1, {}
        resized(buffer, many)
        for op in steps(module):
            for k, value in enumerate(op.operands):
                slot = value.owner
                if not isinstance(slot, SlotOp) or slot.buffer is not buffer.result:
                    continue
                turn = turn + 1 if value is overwritten(op) else turn
                key = turn % many, tuple(slot.tile)
                if key not in views:
                    views[key] = SlotOp(buffer.result, [turn % many], slot.tile)
                    body(module).insert_op_before(views[key], op)
                op.operands[k] = views[key].result
    return finished(module)


@alternative("u11.turns")
def with_remainders(text, most):
    return _turn(text, most, many=lambda op, most: sorted((most, fitting(op)))[0])


equivalent(
    "u11.turns",
    "enumerate(op.operands)",
    "reversed(",
    because="no operation overwrites a tile of a buffer of which it has another operand",
)
