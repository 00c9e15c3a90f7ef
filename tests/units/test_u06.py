"""Unit 6: its figures are what the small processor says, its listings are LLVM's."""

import re

import llvmlite.binding as llvm
import pytest

from autograder.check.framework import alternatives_of
from autograder.units.u06.answers import listings, tables, wild
from autograder.units.u06.answers.kernels import CONV_GRAPH, LINEAR_GRAPH, kernels, tile
from autograder.units.u06.checks import RANDOM, ratio
from course_lib.cost.machine import Machine
from course_lib.exercises import plugged, slot
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.walk import loops
from course_lib.lower.lower import lower
from course_lib.machine.block import block_of
from course_lib.machine.build import AFTER, BEFORE
from course_lib.machine.cover import TILES, cover, maximal_munch
from course_lib.machine.depends import bound, needs_of
from course_lib.machine.list_schedule import as_given
from course_lib.machine.lives import lives_of, pressure
from course_lib.machine.select import select
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT
from course_lib.schedule.schedule import schedule

LLVM_22 = llvm.llvm_version_info[0] == 22
LINEAR = "linear + relu"


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
    assert bound(needs_of(built.selected, built.lanes), 2) == tables.BOUNDS[name]


def test_the_steps_of_the_linear_layer():
    runs = {step: tables.built(LINEAR, step) for step in tables.STEPS}
    counts = {step: (run.instructions, run.spills, run.cycles) for step, (_, run) in runs.items()}
    assert counts == {
        "one by one": (770, 475, 1670),
        "your tiles": (674, 475, 1286),
        "your registers": (199, 0, 370),
        "your order": (199, 0, 254),
    }
    built, run = runs["your registers"]
    assert run.stalls == 246
    assert pressure(lives_of(built.selected)) == 15
    assert sum(i.op == "fma" for i in built.selected) == 96


def test_fewer_instructions_can_take_longer():
    runs = [tables.built("0.5·x + y", step)[1] for step in ("one by one", "your tiles")]
    assert [(run.instructions, run.cycles) for run in runs] == [(26, 54), (16, 65)]


def test_no_order_of_the_phases_is_right():
    both = {name: [tables.built(name, "your order", ways) for ways in ((BEFORE,), (AFTER,))]
            for name in (LINEAR, "conv 3×3 + relu", "polynomial of exp")}  # fmt: skip
    assert [run.cycles for _, run in both[LINEAR]] == [528, 254]
    assert len(both[LINEAR][0][0].spilled) == 42
    assert [run.cycles for _, run in both["conv 3×3 + relu"]] == [136, 202]
    assert [run.cycles for _, run in both["polynomial of exp"]] == [38, 75]


def test_which_free_register_is_taken_matters_to_the_order():
    last_freed = alternatives_of("machine.linear_scan")["the_highest_number_first"]
    with plugged("machine.linear_scan", last_freed):
        assert tables.built(LINEAR, "your order")[1].cycles == 326


def test_the_worked_example():
    tree = ("add", ("mul", "v1", ("const", 0.5)), ("load", "y", 0))
    assert cover(tree, TILES) == ["muli", "addm"]
    assert maximal_munch(tree, TILES) == ["li", "ld", "fma"]
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
    assert [round(mean, 2) for mean in means] == [1.87, 1.10, 1.01]


@pytest.mark.parametrize("size", [(4, 2), (6, 2), (7, 2), (8, 2), (4, 3)])
def test_the_rule_counts_what_is_alive(size):
    rows, vectors = size
    assert pressure(lives_of(select(block_of(tile(*size))))) == rows * vectors + vectors + 1


@pytest.mark.skipif(not LLVM_22, reason="the prose names LLVM 22")
def test_llvm_spills_where_the_rule_says():
    for rows, vectors in wild.TILES:
        stores, reads = wild.spills_in(wild.haswell(rows, vectors)[1])
        assert (stores > 0) == (reads > 0) == (rows * vectors + vectors + 1 > 16)
    assert wild.spills_in(wild.haswell(7, 2)[1]) == (3, 3)
    loop = wild.inner_loop()
    assert len(set(re.findall(r"%ymm\d+", loop))) == 15
    assert "%ymm15" not in loop
    assert loop.count("vfmadd") == 12


@pytest.mark.skipif(not LLVM_22, reason="the listings are LLVM 22's")
def test_the_listings_are_made_here():
    assert listings.made_now("nvptx") == listings.NVIDIA
    assert listings.made_now("amdgpu") == listings.AMD


def test_the_answers_stand_in_the_listings():
    answer = slot("u06.gpu").reference()
    loop = listings.NVIDIA.split("$L__BB0_2:")[1].split("bra")[0]
    assert 4 * loop.count("ld.global") == answer["bytes"]
    assert f"fma.rn.f32   {answer['sum']}," in loop
    assert f"add.s64   {answer['point']}, %rd8, %rd9" in listings.NVIDIA
    body = listings.AMD.split(".LBB0_2:")[1]
    assert f"s_waitcnt vmcnt({answer['flying']})\n  v_pk_fma" in body


@pytest.mark.skipif(wild.tool(wild.LLC) is None, reason="llc-22 is not installed")
def test_the_recorded_allocators_are_those_of_llc():
    for size, counts in wild.ALLOCATORS.items():
        assert wild._by_each(wild.tool(wild.LLC) or "", *size) == counts


def test_the_recorded_counts_are_tinygrads():
    pytest.importorskip("tinygrad")
    assert wild.tinygrad_counts() == (wild.TINYGRAD, "made just now")
