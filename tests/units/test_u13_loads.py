"""Unit 13, tokens, slots and dataflows: the figures of the text, and what the programs do."""

from dataclasses import replace

import numpy as np
import pytest

from autograder import check
from autograder.check.edits import edited
from autograder.check.verdict import WRONG
from autograder.units.u13.checks.kept import LIMITS, LIVE, MAKES, PARTS, PLACE, SAFE, SAME
from autograder.units.u13.checks.slots import followed, longest_ago
from autograder.units.u13.exercises import kept, mend
from autograder.units.u13.hidden.flows import LONG, MANY, SHADOW, SHORT, flow_of
from course_lib.accelerator.compile.emit import ahead, in_turns
from course_lib.accelerator.compile.search import clocks
from course_lib.accelerator.compile.slots import one_slot
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.text import assemble
from course_lib.exercises import plugged, slot
from lessons.u13 import loads, tables
from lessons.u13.flows import FLOWS, PLAIN, share
from lessons.u13.hand import PRODUCT, by_hand
from lessons.u13.kept import DETOUR, SIX, Y, due, played
from lessons.u13.tables import NPU
from lessons.u13.tokens import (
    FASTEST,
    RACE,
    SLOW,
    STUCK,
    TEACHING,
    mended,
    ran,
    report,
    with_latency,
)
from lessons.u13.wild import BY_VELA


def test_without_its_first_wait_the_program_written_by_hand_has_a_race():
    with pytest.raises(Fault, match=r"instruction 3 reads .* of weights, which instruction 0"):
        by_hand(PRODUCT.replace("pitch=4 wait=load", "pitch=4"))


def test_stuck_is_stuck_and_race_is_right_by_luck():
    assert report(assemble(STUCK)).startswith("deadlock: no engine can go on")
    assert "instruction 3 reads bytes 0 to 15 of weights" in report(assemble(RACE))
    found = {n: ran(assemble(RACE), with_latency(n))[1] for n in (0, 5, 10, 20, 40, 100)}
    assert found == {0: True, 5: True, 10: True, 20: False, 40: False, 100: False}


def test_the_report_leaves_the_advice_to_whoever_wants_it():
    for text in (STUCK, RACE):
        assert "look at" not in report(assemble(text))
        assert report(assemble(text), advice=True).startswith(report(assemble(text)))
        assert "\n  look at: " in report(assemble(text), advice=True)


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


WHOLE = """\
ldw dram=64 weights=0 rows=4 bytes=4 pitch=4 signal=execute
lda dram=0 acts=0 h=1 w=16 bytes=4 step=4 line=64 signal=execute
ldb dram=96 params=0 count=2 signal=store
ldw dram=80 weights=512 rows=4 bytes=4 pitch=4 signal=execute
preload weights=0 k=4 n=4 pitch=4 wait=load
matmul acts=0 h=1 w=16 step=4 line=64 k=4 n=4 accs=0 wait=load signal=store
act accs=0 n=4 params=0 acts=256 h=1 w=16 step=4 line=64 low=0 high=120 wait=load,execute \
signal=execute
preload weights=512 k=4 n=4 pitch=4 wait=load
matmul acts=256 h=1 w=16 step=4 line=64 k=4 n=4 accs=32 wait=store signal=store
act accs=32 n=4 params=1 acts=768 h=1 w=16 step=4 line=64 wait=execute
st acts=768 dram=224 h=1 w=16 bytes=4 step=4 line=64
halt
"""


@pytest.mark.parametrize("text, limits, clocks", [
    (DETOUR, (-128, 127), 172), (WHOLE, (0, SIX), 122), (kept(), (0, SIX), 100)
])  # fmt: skip
def test_a_result_that_stays_saves_fifty_clocks_and_halves_save_more(text, limits, clocks):
    run, before, after = played(assemble(text), 5)
    np.testing.assert_array_equal(after[Y:].reshape(16, 4), due(before, *limits))
    assert run.total == clocks


def test_a_second_slot_takes_the_array_s_waiting_away():
    assert "wait=load" in str(loads.one_slot_gantt())
    one, two = (
        str(picture).split("\n") for picture in (loads.one_slot_gantt(), loads.two_slots_gantt())
    )
    assert (one[0], two[0]) == ("One slot: 200 clocks", "Two slots: 164 clocks")

    def waited(lines, engine="load"):
        waits = [li.split() for li in lines if f"wait={engine}" in li and " execute " in li]
        return sum(int(w[4]) - int(w[2]) for w in waits if int(w[2]) > 34)

    assert (waited(one), waited(two), waited(two, "store")) == (84, 16, 14)


def test_with_two_slots_the_second_piece_is_there_before_the_first_product_ends():
    lines = [line.split() for line in str(loads.two_slots_gantt()).splitlines()]
    (load,) = ((int(w[3]), int(w[5])) for w in lines if w[:2] == ["lda", "3"])
    (product,) = ((int(w[3]), int(w[5])) for w in lines if w[:2] == ["matmul", "5"])
    assert load[0] < product[0] < load[1] + TEACHING.dma_latency < product[1]


def test_slots_on_the_large_chip():
    assert tables.in_turns([7, 8, 7, 7, 9], 2) == [
        (0, True), (1, True), (0, True), (0, False), (1, True),
    ]  # fmt: skip
    assert tables.in_turns([7, 7, 8], 1) == [(0, True), (0, False), (0, True)]
    text = str(loads.slots_table())
    for number in ("561,816", "348,146", "130,471", "1,006,798", "591,518"):
        assert number in text


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
    assert longest_ago([0, 1, 2, 3] * 2, 3) == 8
    ahead_of_time = [(0, True), (1, True), (2, True), (1, True), (0, False), (1, True), (2, False)]
    assert followed(lambda *_: [*ahead_of_time, (0, True)], [0, 1, 2, 3] * 2, 3) == 6


@pytest.mark.parametrize("ahead, loads", [(False, 5), (True, 6)])
def test_the_fewest_loads_of_four_pieces_that_come_round_twice(ahead, loads):
    """With three slots. `ahead`: a load may not go to the slot of the step before it."""

    def fewest(wanted, slots, before):
        if not wanted:
            return 0
        piece, *rest = wanted
        if piece in slots:
            return fewest(rest, slots, slots.index(piece))
        free = [k for k in range(3) if not (ahead and k == before)]
        return 1 + min(fewest(rest, (*slots[:k], piece, *slots[k + 1 :]), k) for k in free)

    assert fewest([0, 1, 2, 3] * 2, (None, None, None), None) == loads


RECORDED = [FLOWS[number] for number in (5, 6, 8, 9, 10, 11, 12, 13, 15)]
RECORDED += [flow_of(rows[-1], rows is SHADOW) for rows in (LONG, SHORT, MANY, SHADOW)]


@pytest.mark.parametrize("flow", RECORDED, ids=lambda flow: flow.name)
def test_the_clocks_of_the_dataflows_are_those_of_the_simulator(flow):
    for kind in ("ws", "os"):
        with plugged("chip.dataflow", lambda product, chip, kind=kind: kind):
            tile = slot("chip.tile").reference(flow.product, flow.chip)
            assert clocks(flow.product, tile, flow.chip) == flow.clocks(kind)


def test_the_rule_for_the_dataflow_is_near_the_best():
    assert share(FLOWS, slot("chip.dataflow").reference) > 0.98
    assert PLAIN.rows + PLAIN.rows + PLAIN.cols - 2 == 94


def test_what_arm_s_compiler_did_with_two_layers():
    first, second = BY_VELA.data("performance")
    assert first["cycles"] == first["DRAM"] > 3 * second["cycles"]
    assert second["cycles"] == second["array"] > second["DRAM"]
    commands = BY_VELA["commands"].split("\n")
    assert commands.count("NPU_OP_DMA_START") == 4 and commands.count("NPU_OP_CONV") == 5
    assert sum("KERNEL_WAIT" in line for line in commands) == 2
    assert f"NPU_SET_ACTIVATION_MAX  {SIX}" in commands
    assert tables.LAYER.pixels * tables.LAYER.outputs == 50_176


@pytest.mark.parametrize(("change", "sentence"), [
    ((" low=0 high=120", ""), LIMITS),
    (("high=120", "high=6"), LIMITS),
    (("params=1", "params=0"), SAME),
    (("dram=224", "dram=160"), PLACE),
    (("wait=load,execute signal=execute", "wait=load,execute"), LIVE),
    (("wait=store signal=store", "signal=store"), SAFE),
])  # fmt: skip
def test_a_program_that_keeps_a_result_wrongly_quotes_the_sentence_that_it_breaks(change, sentence):
    text = kept().replace(*change)
    with plugged("u13.kept", lambda: text):
        verdict = check("u13.kept")
    assert verdict.kind == WRONG and sentence in verdict.spec


@pytest.mark.parametrize(("change", "sentence"), [
    (("np.rint(bias / one)", "np.trunc(bias / one)"), PARTS["biases"]),
    (("np.rint(bias / one)", "np.rint(bias / y)"), MAKES),
])  # fmt: skip
def test_biases_in_other_units_are_not_told_about_their_rounding(change, sentence):
    with plugged("u13.scales", edited(slot("u13.scales").reference, *change)):
        verdict = check("u13.scales")
    assert verdict.kind == WRONG and verdict.spec.startswith(sentence)


def test_a_whole_layer_after_the_other_earns_most_of_the_points():
    with plugged("u13.kept", lambda: WHOLE):
        assert "122 clocks; all points from 100" in str(check("u13.kept"))
