"""Unit 6: its figures are what the small processor says, its listings are LLVM's."""

import random
import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from autograder.check.framework import Wrong, alternatives_of, mutants_of
from autograder.units.u06.checks import TILES as TILES_TABLE
from autograder.units.u06.checks import fitting
from autograder.units.u06.checks.order import ORDER, RANDOM, SMALLEST, legal, ratio
from autograder.validate import verdict_of
from course_lib.cost.machine import Machine
from course_lib.exercises import plugged, slot
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.walk import loops
from course_lib.lower.lower import lower
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, BEFORE, measure
from course_lib.machine.cover import PATTERNS, cover, maximal_munch
from course_lib.machine.depends import bound, needs_of
from course_lib.machine.list_schedule import as_given
from course_lib.machine.lives import lives_of, pressure
from course_lib.machine.select import select
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.schedule.schedule import schedule
from lessons.u06 import listings, pipelined, tables, wild
from lessons.u06.experiments import experiments
from lessons.u06.kernels import CONV_GRAPH, LINEAR_GRAPH, kernels, tile

LLVM_22 = llvm.llvm_version_info[0] == 22
LINEAR = "linear + relu"
NUMBERS, BEFORE_IT = ORDER[:2]


def text(course):
    return (course / "notebooks/u06_codegen.md").read_text()


@pytest.mark.parametrize(
    ("name", "graph"), [(LINEAR, LINEAR_GRAPH), ("conv 3×3 + relu", CONV_GRAPH)]
)
def test_the_first_two_kernels_are_what_our_compiler_makes(name, graph):
    """The same loops, with the same kinds and bounds; only loops that run once may differ."""
    program = schedule(lower(run_passes(parse_graph(graph), DEFAULT)), Machine("haswell", 32, 16))
    (made,) = [step.kernel for step in program.steps if step.kernel]

    def shape(kernel):
        found = [loop for loop in loops(kernel.body) if isinstance(loop, Loop)]
        return [(loop.kind, str(loop.start), str(loop.stop)) for loop in found if loop.extent != 1]

    assert shape(made) == shape(kernels()[name])
    assert {b.name: b.type for b in made.params} == {b.name: b.type for b in kernels()[name].params}


@pytest.mark.parametrize("name", tables.REFERENCE)
def test_the_bill_is_counted_here(name):
    built, run = tables.built(name, "your order")
    assert run.cycles == tables.REFERENCE[name]
    bounds = dict(zip(tables.REFERENCE, (199, 269, 48, 32, 17), strict=True))
    assert tables.bound_of(built) == bound(needs_of(built.selected, built.lanes), 1) == bounds[name]


def test_the_steps_of_the_linear_layer():
    runs = {step: tables.built(LINEAR, step) for step in tables.STEPS}
    counts = {step: (run.instructions, run.spills, run.cycles) for step, (_, run) in runs.items()}
    assert counts == {
        "one by one": (770, 475, 1940),
        "your patterns": (674, 475, 1556),
        "your registers": (199, 0, 445),
        "your order": (199, 0, 322),
    }
    built, run = runs["your registers"]
    assert run.stalls == 246
    assert pressure(lives_of(built.selected)) == 15
    assert sum(i.op == "fma" for i in built.selected) == 96


@pytest.mark.parametrize(
    ("others", "instructions", "cycles"),
    [((), (48, 40, 32), (120, 88, 136)), (tables.SLOTS[1:], (48, 40, 32), (48, 40, 32))],
)
def test_the_fewest_instructions_pay_when_the_waits_are_filled(others, instructions, cycles):
    said = str(tables.covers_table(*others)).split("layer scale")[1].splitlines()[0].split()
    assert said == [str(n) for n in (*instructions, *cycles)]


def test_where_maximal_munch_wins():
    with plugged("machine.cover", maximal_munch):
        runs = {name: tables.built(name, "your order")[1].cycles for name in tables.REFERENCE}
    assert list(runs.values()) == [322, 269, 46, 40, 17]


def test_what_a_choice_is_worth_depends_on_the_others():
    cycles = {mine: found[LINEAR] for mine, found in tables.subsets().items()}
    none, every = cycles[()], cycles[tables.SLOTS]
    assert [none - cycles[(slot,)] for slot in tables.SLOTS] == [384, 1111, 1170]
    rest = [tuple(s for s in tables.SLOTS if s != slot) for slot in tables.SLOTS]
    assert [cycles[others] - every for others in rest] == [348, 352, 123]


@pytest.mark.parametrize("name", tables.REFERENCE)
def test_two_other_compilers(name):
    stays, counted = experiments(name)
    expected = dict(zip(tables.REFERENCE, ((230, 206), (269, 269), (60, 48), (32, 32), (20, 20)),
                        strict=True))  # fmt: skip
    assert (measure(stays).cycles, measure(counted).cycles) == expected[name]
    assert counted.spilled == ()
    rng = np.random.default_rng(1)
    params = stays.kernel.params
    arrays = {p.name: rng.integers(-4, 5, p.type.dims).astype(np.float32) for p in params}
    copies = [{key: array.copy() for key, array in arrays.items()} for _ in range(2)]
    measure(stays, copies[0])
    measure(counted, copies[1])
    run_kernel(stays.kernel, arrays)
    for copy in copies:
        np.testing.assert_allclose(copy["out"], arrays["out"], rtol=1e-5, atol=1e-4)


def test_no_order_of_the_phases_is_right():
    both = {name: [tables.built(name, "your order", ways) for ways in ((BEFORE,), (AFTER,))]
            for name in (LINEAR, "conv 3×3 + relu", "polynomial of exp")}  # fmt: skip
    assert [run.cycles for _, run in both[LINEAR]] == [705, 322]
    assert len(both[LINEAR][0][0].spilled) == 35
    assert [run.cycles for _, run in both["conv 3×3 + relu"]] == [269, 270]
    assert [run.cycles for _, run in both["polynomial of exp"]] == [48, 77]


def test_which_free_register_is_taken_matters_to_the_order():
    found = []
    for other in alternatives_of("machine.linear_scan").values():
        with plugged("machine.linear_scan", other):
            found.append(tables.built(LINEAR, "your order")[1].cycles)
            before, after = (tables.built("polynomial of exp", "your order", (way,))[1].cycles
                             for way in (BEFORE, AFTER))  # fmt: skip
            assert before < after  # what `u06.which_first` says
    assert sorted(found) == [365, 387, 396]
    with plugged("machine.linear_scan", in_any_free_register):
        assert tables.built(LINEAR, "your order", (AFTER,))[1].cycles == 283


def in_any_free_register(lives, registers, seed=30):
    """For lives of which none is spilled: the best of forty seeds."""
    drawn, free, active, held = random.Random(seed), list(range(registers)), [], {}
    for live in sorted(lives, key=lambda one: one.start):
        free += [held[one.name] for one in active if one.end <= live.start]
        active = [one for one in active if one.end > live.start] + [live]
        held[live.name] = free.pop(drawn.randrange(len(free)))
    return held


def test_the_worked_example():
    tree = ("add", ("mul", "v1", ("const", 0.5)), ("load", "y", 0))
    assert cover(tree, PATTERNS) == ["muli", "addm"]
    assert maximal_munch(tree, PATTERNS) == ["li", "ld", "fma"]
    one = select(block_of(kernels()["0.5·x + y"]))
    assert len(one) == 16


def test_scores_that_the_text_names():
    def starting_whatever_may_start(needs, width):
        with plugged("machine.list_schedule", None):
            start, order, cycle = {}, [], 0
            while len(order) < len(needs):
                for _ in range(width):
                    able = [
                        n
                        for n, wait in enumerate(needs)
                        if n not in start
                        and all(m in start and start[m] + c <= cycle for m, c in wait.items())
                    ]
                    if able:
                        start[able[0]] = cycle
                        order.append(able[0])
                cycle += 1
            return order

    ways = (as_given, starting_whatever_may_start, slot("machine.list_schedule").reference)
    means = [sum(ratio(way, *one) for one in RANDOM) / len(RANDOM) for way in ways]
    assert [round(mean, 2) for mean in means] == [1.92, 1.23, 1.01]


def test_small_programs_take_as_few_cycles_as_said():
    for needs, fewest in SMALLEST:
        assert bound(needs, 1) == fewest
        assert ratio(slot("machine.list_schedule").reference, needs, 1) == 1


@pytest.mark.parametrize("size", [(4, 2), (6, 2), (7, 2), (8, 2), (4, 3)])
def test_the_rule_counts_what_is_alive(size):
    rows, vectors = size
    assert pressure(lives_of(select(block_of(tile(*size))))) == rows * vectors + vectors + 1


@pytest.mark.parametrize(("interval", "registers"), [(17, 3), (6, 4), (5, 4), (4, 7)])
def test_a_pipelined_loop_computes_the_same_in_fewer_cycles(interval, registers):
    run, out = pipelined.measured(interval, 100)
    np.testing.assert_array_equal(out, 0.5 * np.arange(800) + 1)
    assert run.cycles <= interval * 100 + 20
    assert sum(pipelined.copies(pipelined.BODY, interval).values()) == registers


def test_an_interval_with_fewer_cycles_than_instructions_is_none():
    with pytest.raises(ValueError, match="4 instructions do not start in 3 cycles"):
        pipelined.offsets(pipelined.BODY, 3)


@pytest.mark.skipif(not LLVM_22, reason="the prose names LLVM 22")
def test_llvm_spills_where_the_rule_says():
    for rows, vectors in wild.TILES:
        stores, reads = wild.spills_in(wild.haswell(rows, vectors)[1])
        assert (stores > 0) == (reads > 0) == (rows * vectors + vectors + 1 > 16)
    assert wild.spills_in(wild.haswell(7, 2)[1]) == (3, 3)
    for rows, vectors in wild.OTHERS.values():
        assert wild.spills_in(wild.haswell(rows, vectors, rows_first=False)[1]) == (0, 0)
    loop = wild.inner_loop()
    assert len(set(re.findall(r"%ymm\d+", loop))) == 15
    assert "%ymm15" not in loop
    assert loop.count("vfmadd") == 12


@pytest.mark.skipif(not LLVM_22, reason="the prose names what LLVM 22 makes")
def test_what_becomes_of_eight_lanes():
    rows = [line.split() for line in repr(listings.lanes_table()).splitlines()[1:]]
    assert [row[-3:] for row in rows] == [
        ["4", "8", "32"], ["8", "4", "32"], ["4", "8", "32"], ["32", "1", "32"], ["16", "2", "32"],
    ]  # fmt: skip
    layer = [line.split() for line in repr(listings.targets_table()).splitlines()[1:4]]
    assert [int(row[-1]) * int(row[-2]) for row in layer] == [64, 64, 64]


@pytest.mark.skipif(not LLVM_22, reason="the prose names what LLVM 22 makes")
def test_the_address_space_decides_which_load_it_is():
    found = {name: listings.loads_from(number) for name, (number, _) in listings.SPACES.items()}
    assert found == {
        "global": ["ld.global.nc.b32", "global_load_dword"],
        "shared": ["ld.shared.b32", "ds_read_b32"],
        "a thread's own": ["ld.local.b32", "buffer_load_dword"],
        "generic": ["ld.b32", "flat_load_dword"],
    }


def test_the_answers_stand_in_the_listings():
    answer = slot("u06.gpu").reference()
    assert answer["own"] == len(re.findall(r"(ld|st)\.local", listings.NVIDIA))
    loop = listings.NVIDIA.split("$L__BB0_2:")[1].split("bra")[0]
    assert 4 * loop.count("ld.global") == answer["bytes"]
    assert f"fma.rn.f32   {answer['sum']}," in loop
    assert f"add.s64   {answer['point']}, %rd8, %rd9" in listings.NVIDIA
    answer = slot("u06.waits").reference()
    body = listings.AMD.split(".LBB0_2:")[1]
    assert f"s_waitcnt vmcnt({answer['flying']})\n  v_pk_fma" in body


# ── what a wrong answer is told ──


@pytest.mark.parametrize(
    ("order", "problem", "sentence"),
    [
        ([0, 1], "Instruction 2 is missing", NUMBERS),
        ([0, 1, 1], "Instruction 1 is named twice", NUMBERS),
        ([[0, 1], [2]], r"\[0, 1\] is no instruction", NUMBERS),
        ([0, 1, 3], "3 is no instruction: there are 3", NUMBERS),
        ([0.0, 1.0, 2.0], "0.0 is no instruction", NUMBERS),
        ([1, 0, 2], "instruction 1 must come after 0", BEFORE_IT),
    ],
)
def test_an_order_that_is_none_quotes_the_sentence_it_breaks(order, problem, sentence):
    with pytest.raises(Wrong, match=problem) as told:
        legal(lambda needs, width: order, [{}, {0: 4}, {}], 1)
    assert told.value.spec == sentence
    assert " ".join(sentence.split()) in " ".join(slot("machine.list_schedule").doc.split())


def test_what_is_kept_between_calls_is_told_so():
    """The call that is shown is right when it is made alone: that is not what is wrong with it."""
    kept = mutants_of("machine.cover")["remembered_between_calls"]
    verdict = verdict_of(slot("machine.cover"), kept)
    assert verdict.kind == "wrong"
    assert verdict.problem.startswith("An answer must not depend on earlier calls.")
    assert verdict.spec == ""


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        ("the_root_first", "come before it, those of its left operand first"),
        ("the_right_operand_first", "those of its left operand first"),
        ("without_the_leaves", "Cover an expression tree with patterns so that"),
    ],
)
def test_names_that_are_no_cover_quote_the_sentence_they_go_against(mistake, sentence):
    verdict = verdict_of(slot("machine.cover"), mutants_of("machine.cover")[mistake])
    assert verdict.problem.startswith("The names must be a cover of the tree")
    assert verdict.spec.startswith(sentence)


def test_a_cover_that_is_dear_in_every_call_is_told_its_cost():
    verdict = verdict_of(slot("machine.cover"), maximal_munch)
    assert "the least is" in verdict.problem


def test_costs_may_be_fractions():
    patterns = {"li": (("const",), 0.25), "mul": (("mul", "_", "_"), 0.5),
             "muli": (("mul", "_", ("const",)), 0.875)}  # fmt: skip
    assert cover(("mul", "v1", ("const", 2.0)), patterns) == ["li", "mul"]


def test_the_table_of_tiles_holds_the_best():
    best = slot("u06.tile").reference
    for registers, tile_of_it in TILES_TABLE.items():
        known, found = (fitting(lambda _, t=t: t, registers) for t in (tile_of_it, best(registers)))
        assert known == found


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("kernel @sums", "kernel @other() {} kernel @sums", "Write a kernel, as loop text"),
        ("0..24", "0..30", "Write a kernel, as loop text"),
        ("f32", "i32", "All values are f32"),
        ("24", "34", "The kernel has at most 100 values"),
        ("24", "20000", "The kernel has at most 100 values"),
    ],
)
def test_a_kernel_that_cannot_be_measured_is_told_the_sentence_it_breaks(old, new, sentence):
    changed = slot("u06.too_early").reference().replace(old, new)
    verdict = verdict_of(slot("u06.too_early"), lambda: changed)
    assert verdict.kind == "wrong"
    assert verdict.spec.startswith(sentence)
