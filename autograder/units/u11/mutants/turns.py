"""Answers about slots that take turns. Next room: docs/units/u11.md."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternatives, equivalent, mutants

if TYPE_CHECKING or find_spec("xdsl"):
    from course_lib.mlir.npu.transfer import SlotOp
    from lessons.u11 import dialect

NEW, MANY = "overwritten(op) is value", "min(most, fitting(buffer))"
BUFFERS, BEGIN = "for buffer in buffers(module):", f"many, turn = ({MANY}, -1)"
FIRST = "turn % many", "max(turn, 0) % many"  # what was not counted is in slot 0
INSERTED, GIVEN = "body(module).insert_op_before(new, op)", "op.operands[number] = new.result"
mutants(
    "u11.turns",
    # The new contents go to the old slot, and readers look into the next one.
    counts_behind=(f"turn += {NEW}", "", GIVEN,
                   f"turn += {NEW}\n                    {GIVEN}", ", -1)", ", 0)"),
    begins_with_slot_one=(", -1)", ", 0)"),
    # Sums get slots that nobody uses.
    only_loads=(NEW, "isinstance(op, DmaLoadOp) and op.tile is value", *FIRST),
    # What `npu.clear` sets to 0 is new, too.
    loads_and_products_that_overwrite=(NEW, f"op.name != 'npu.clear' and {NEW}", *FIRST),
    # One that adds to sums needs them where they are.
    every_product_is_new=(
        NEW, "(op.sums if isinstance(op, MatmulOp) else overwritten(op)) is value"),
    as_many_as_asked=(MANY, "most"),
    as_many_as_fit=(MANY, "fitting(buffer)"),
    at_most_four=(MANY, "min(most, 4, fitting(buffer))"),
    two_or_nothing=(MANY, f"1 + ({MANY} > 1)"),
    the_first_buffer_only=(BUFFERS, "for buffer in buffers(module)[:1]:"),
    every_use_takes_the_next_slot=(NEW, "True"),
    only_the_type_changes=("for op in steps(module):", "for op in ():"),
    one_counter_for_all_buffers=(BUFFERS, f"turn = -1\n    {BUFFERS}", BEGIN, f"many = {MANY}"),
    gives_the_module=("return finished(module)", "finished(module)\n    return module"),
    slots_that_nobody_uses=(GIVEN, "pass"),
    # Each contents get a slot, and all who use the buffer share the one that was set last.
    slots_stand_nowhere=(INSERTED, "old.attributes.update(new.attributes)", GIVEN, "pass"),
    # Who reads may need fewer rows than were written.
    all_that_was_written=("old.tile", f"size := old.tile if {NEW} else size"),
    the_first_forty_operations=("in steps(module)", "in list(steps(module))[:40]"),
    readers_stay_in_slot_zero=("isinstance(old, SlotOp) and", f"{NEW} and"),
    leaves_it_alone=lambda text, most: text,
)  # fmt: skip


def _one_walk(key):
    """All buffers at once, each with its number of slots and its turn, in dictionaries by what
    `key` makes of a buffer."""

    def answer(text, most):
        module = dialect.parsed(text)
        turn, many = {key(buffer): -1 for buffer in dialect.buffers(module)}, {}
        for buffer in dialect.buffers(module):
            many[key(buffer)] = min(most, dialect.fitting(buffer))
            dialect.resized(buffer, many[key(buffer)])
        for op in dialect.steps(module):
            for k, value in enumerate(op.operands):
                if isinstance(slot := value.owner, SlotOp):
                    which = key(slot.buffer.owner)
                    turn[which] += value is dialect.overwritten(op)
                    new = SlotOp(slot.buffer, [turn[which] % many[which]], slot.tile)
                    dialect.body(module).insert_op_before(new, op)
                    op.operands[k] = new.result
        return dialect.finished(module)

    return answer


alternatives(
    "u11.turns",
    one_walk_with_a_dictionary=_one_walk(lambda buffer: buffer),
    # Values that were there before the buffers got their slots.
    by_the_value_of_the_buffer=_one_walk(lambda buffer: buffer.result),
    # One view for each slot and size, and uses that are given to it.
    slots_made_once=(
        BEGIN, f"many, turn, views = ({MANY}, -1, {{}})", INSERTED,
        "new = views.setdefault((turn % many, tuple(old.tile)), new)\n                    "
        f"if new.parent is None:\n                        {INSERTED}"),
    with_remainders=(MANY, "sorted((most, fitting(buffer)))[0]"),
)  # fmt: skip

equivalent("u11.turns", "enumerate(op.operands)", "reversed(", because="no operation overwrites a "
           "tile of a buffer of which it has another operand")  # fmt: skip
