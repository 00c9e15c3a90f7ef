"""Loads behind the array's back: pictures and clocks of one slot, of two, and of short queues.

    one_slot_gantt()   a layer with one slot for each operand
    two_slots_gantt()  the same layer with two
    slots_table()      layers of ResNet-18 with one slot, two, and with what is plugged in
    queues_table()     what the order of the loads is worth, by the length of the queues

Next room: flows.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.emit import Order, ahead
from course_lib.accelerator.compile.emit import in_turns as load_and_work
from course_lib.accelerator.compile.product import matrix
from course_lib.accelerator.compile.search import alone, clocks
from course_lib.accelerator.compile.slots import one_slot
from course_lib.accelerator.compile.tiles import Tile, smallest
from course_lib.accelerator.core.simulate import Run, times
from course_lib.accelerator.isa.state import State
from course_lib.accelerator.trace.gantt import gantt
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.exercises import plugged
from lessons.u13.tables import NPU, RESNET, in_turns, run_of, two_of, your_slots

SMALL, PIECES = matrix(48, 4, 4), Tile(1, 12, 4)


def small_run() -> Run:
    """Four pieces of 12 pixels on the teaching chip, with the slots that are plugged in."""
    return run_of(SMALL, PIECES, PRESETS["teaching"])


def one_slot_gantt() -> Picture:
    """That run with one slot for each operand."""
    with plugged("chip.slots", one_slot):
        run = small_run()
    return gantt(run, title=f"One slot: {run.total} clocks")


def two_slots_gantt() -> Picture:
    """And with two of those that are plugged in."""
    with plugged("chip.slots", two_of(your_slots())):
        run = small_run()
    return gantt(run, title=f"Two slots: {run.total} clocks")


def slots_table() -> Picture:
    """Two layers in the smallest tile: one slot, two in turns, and what is plugged in."""
    rows = []
    for name, _, product in (RESNET[n] for n in (1, 6)):
        tile = smallest(product, NPU)
        row: list[str | int] = [name]
        for slots in (one_slot, in_turns, your_slots()):
            with plugged("chip.slots", slots):
                row.append(clocks(product, tile, NPU))
        rows.append(row)
    heads = ["layer of ResNet-18", "one slot", "two in turns", "your slots"]
    return table(rows, heads, exact=heads[1:])


def queues_table() -> Picture:
    """The second layer with queues of several lengths, loads in turns and ahead."""
    product = RESNET[1][2]
    rows = []
    for queue in (64, 16, 4):
        chip = replace(NPU, queue=queue)
        rows.append([queue, *(ordered(order, chip) for order in (load_and_work, ahead))])
    heads = ["places in each queue", "load, work, load, work", "the next step's load first"]
    title = f"{RESNET[1][0]}, {product.size[0]} × {product.size[1]}: clocks"
    return table(rows, heads, title, exact=heads[1:])


def ordered(order: Order, chip: Chip) -> int:
    """The clocks of that layer with its loads in an order."""
    product = RESNET[1][2]
    program = alone(product, smallest(product, chip), chip, order)
    return Run(chip, program, times(program, chip), State(chip, np.zeros(1, np.int8))).total
