"""Unit 13, tokens, slots and dataflows: the figures of the text, and what the programs do."""

from dataclasses import replace

import pytest

from autograder.units.u13.answers import loads
from autograder.units.u13.answers.flows import FLOWS, PLAIN, share
from autograder.units.u13.answers.hand import PRODUCT, by_hand
from autograder.units.u13.answers.tables import NPU, RESNET
from autograder.units.u13.answers.tokens import (
    FASTEST,
    RACE,
    SLOW,
    STUCK,
    TEACHING,
    mend,
    mended,
    ran,
    report,
    with_latency,
)
from autograder.units.u13.checks.slots import followed, longest_ago
from autograder.units.u13.hidden.flows import fastest
from course_lib.accelerator.compile.emit import ahead, in_turns
from course_lib.accelerator.compile.search import clocks
from course_lib.accelerator.compile.slots import one_slot
from course_lib.accelerator.compile.tiles import smallest
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.text import assemble
from course_lib.exercises import plugged, slot


def test_without_its_first_wait_the_program_written_by_hand_has_a_race():
    with pytest.raises(Fault, match=r"instruction 3 reads .* of weights, which instruction 0"):
        by_hand(PRODUCT.replace("pitch=4 wait=load", "pitch=4"))


def test_stuck_is_stuck_and_race_is_right_by_luck():
    assert report(assemble(STUCK)).startswith("deadlock: no engine can go on")
    assert "instruction 3 reads bytes 0 to 15 of weights" in report(assemble(RACE))
    found = {n: ran(assemble(RACE), with_latency(n))[1] for n in (0, 5, 10, 20, 40, 100)}
    assert found == {0: True, 5: True, 10: True, 20: False, 40: False, 100: False}


def test_race_has_two_races_and_the_check_finds_one_after_the_other():
    once = mended(RACE, {0: "", 1: "signal=execute"})
    assert "overwritten in use: instruction 6" in report(once)


@pytest.mark.parametrize("name, text", [("stuck", STUCK), ("race", RACE)])
def test_the_mended_programs_take_the_clocks_that_the_text_allows(name, text):
    program = mended(text, mend()[name])
    run, right = ran(program, with_latency(SLOW), hazards=True)
    assert right and run.total == FASTEST
    assert report(program) == "264 clocks, no deadlock, no race"
    assert TEACHING.dma_latency == 10


def test_a_second_slot_takes_the_array_s_waiting_away():
    assert "wait=load" in str(loads.one())
    after = str(loads.several()).split("matmul        clock 38 to 50")[1].split("store")[0]
    assert "wait=load" not in after and "wait=store" in str(loads.several())


def test_slots_on_the_large_chip():
    product = RESNET[1][2]
    with plugged("chip.slots", one_slot):
        assert clocks(product, smallest(product, NPU), NPU) == 561_816
    assert clocks(product, smallest(product, NPU), NPU) == 130_471 < 561_816 / 4


def test_the_order_of_loads_counts_where_queues_are_short():
    def both(queue):
        chip = replace(NPU, queue=queue)
        return [loads.ordered(order, chip) for order in (in_turns, ahead)]

    turns, first = both(64)
    assert first < turns < 1.005 * first
    turns, first = both(4)
    assert turns > 1.5 * first


def test_a_list_of_slots_is_judged_by_its_loads():
    assert followed(slot("chip.slots").reference, [0, 1, 2, 0, 1, 2], 3) == 3
    assert longest_ago([0, 1, 2, 0, 1, 2], 3) == 3 and longest_ago([0, 1, 2, 0, 1, 2], 2) == 6
    assert one_slot([0, 1, 2, 0, 1, 2], 3) == [(0, True)] * 6


@pytest.mark.parametrize("number", [5, 6, 8, 9, 10, 12])
def test_the_clocks_of_the_dataflows_are_those_of_the_simulator(number):
    flow = FLOWS[number]
    assert [fastest(flow.product, flow.chip, kind) for kind in ("ws", "os")] == [flow.ws, flow.os]


def test_the_rule_for_the_dataflow_is_near_the_best():
    assert share(FLOWS, slot("chip.dataflow").reference) > 0.98
    assert PLAIN.rows + PLAIN.rows + PLAIN.cols - 2 == 94
