"""Unit 14: the figures of its text are counted here, and its records are what the doors say."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from autograder.check.framework import mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.units.u14 import exercises
from autograder.units.u14.checks.costs import GOOD
from autograder.units.u14.checks.plans import BY_HAND, pieces, plan_of, runs
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.partition import CHIP, partition
from course_lib.accelerator.compile.search import choose_tile
from course_lib.exercises import plugged, slot, using
from course_lib.ir.graph.build import neg, trace
from course_lib.ir.graph.node import apply, const
from course_lib.models import example_inputs
from lessons.u14 import annotate, offload, regions, reports, tables, wild

HEARD = ["u14.rows", "u14.deadlock", "u14.merged", "u14.least", "u14.chosen"]
BLOCK = ["attention.query", "attention.key", "attention.value", "attention.out", "mlp.0", "mlp.2"]


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks."""
    for wrong in mutants_of(name).values():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict = judge(name, call, shrink=False)
        assert (verdict.earned or 0) < verdict.points, wrong.__name__


def test_the_numbers_of_the_opening_question():
    mine, theirs = reports.report("ours"), reports.report("tinygrad")
    assert (mine.cycles, theirs.cycles) == (124_760, 205_104)
    assert round(100 * mine.macs_share, 1) == 92.3 and theirs.macs_share == 1
    assert sum(layer.macs > 0 for layer in mine.layers) == 6
    assert sum(layer.macs > 0 for layer in theirs.layers) == 8
    assert round(theirs.cycles / mine.cycles, 2) == 1.64
    assert round(theirs.macs_offloaded / mine.macs_offloaded, 2) == 1.08
    assert theirs.cycles - mine.cycles == 80_344
    assert round(reports.new_share()) == 44


def test_where_the_clocks_went():
    mine, theirs = (reports.parts_of(reports.report(into)) for into in ("ours", "tinygrad"))
    assert theirs["attention"] == 35_400
    assert theirs["products"] - mine["products"] == 54_260 > 80_344 / 2
    clocks = {into: {layer.name: layer.cycles for layer in reports.report(into).layers}
              for into in ("ours", "tinygrad")}  # fmt: skip
    extra = {name: clocks["tinygrad"][name] - clocks["ours"][name] for name in BLOCK}
    assert (extra.pop("mlp.2"), sum(extra.values())) == (17_518, 36_742)
    bounds = {n: slot("u14.least").reference(*reports.SHAPES[n], annotate.NPU) for n in BLOCK}
    assert bounds["mlp.2"] == (32_768, 32_768)
    assert sum(b - a for a, b in bounds.values()) == 42_496
    above = {into: sum(each[n] - bounds[n][k] for n in BLOCK if n != "mlp.2")
             for k, (into, each) in enumerate(clocks.items())}  # fmt: skip
    assert above == {"ours": 12_054, "tinygrad": 6_300}
    (bytes_,) = (n.dram_bytes for n in reports.report("tinygrad").layers if n.name == "mlp.2")
    assert bytes_ / 16 == 40_960
    assert -(-reports.report("tinygrad").dram_bytes // 16) == 184_320
    assert round(1 - reports.report("ours").cycles / reports.report("tinygrad").cycles, 1) == 0.4


def test_without_our_rule_tinygrad_is_what_was_recorded():
    """Fewer products on the chip, and none of attention's: their operands are stored as i32."""
    pytest.importorskip("tinygrad")
    from course_lib.plugins.tinygrad.door import plug

    inputs = [np.asarray(x) for x in example_inputs("block")]
    made = plug(annotate.block(), inputs, annotate.NPU, rule=False)[1]
    assert made == reports.report("tinygrad alone")
    assert (len(made.layers), made.cycles, round(100 * made.macs_share, 1)) == (5, 154_560, 84.6)
    assert "attention" not in {layer.name for layer in made.layers}


@pytest.mark.parametrize("into", ["ours", "tvm", "tinygrad"])
def test_a_record_adds_up(into):
    found = reports.report(into)
    assert sum(layer.cycles for layer in found.layers) == found.cycles
    assert sum(layer.dram_bytes for layer in found.layers) == found.dram_bytes
    assert sum(layer.macs for layer in found.layers) == found.macs_offloaded
    assert {*BLOCK} <= {layer.name for layer in found.layers}


def test_our_record_is_what_our_door_says():
    """Clocks and bytes of the block, of the compiler of today; what is refused, too."""
    from functools import partial

    from course_lib.accelerator.compile.offload import offload as offloaded
    from course_lib.ir.graph.graph_interp import run
    from course_lib.plugins.ours import chip_layers

    model = offloaded(annotate.block(), annotate.NPU, lambda part: partial(run, part), choose_tile)
    layers = [row for made in model.programs for row in chip_layers(made)]
    recorded = reports.report("ours")
    assert [*recorded.layers] == layers
    assert [*recorded.refusals] == [str(one) for one in model.partition.refusals]
    assert recorded.subgraphs == len(model.programs) == 4


def test_tvms_record_differs_by_the_starts_of_three_products():
    mine, theirs = reports.report("ours"), reports.report("tvm")
    assert (theirs.cycles, theirs.subgraphs) == (126_966, 6)
    assert sorted(theirs.refusals) == sorted(mine.refusals)
    assert theirs.dram_bytes == mine.dram_bytes
    differ = {a.name for a, b in zip(mine.layers, theirs.layers, strict=True) if a != b}
    assert differ == {"attention.query", "attention.key", "attention.value"}


def test_a_row_joins_two_parts_of_the_block():
    today, newer = annotate.divided(), annotate.divided(exercises.rows())
    assert [sum(p.device == CHIP for p in made.parts) for made in (today, newer)] == [4, 3]
    assert (annotate.border(today), annotate.border(newer)) == (589_824, 327_680)
    assert today.chip_share == newer.chip_share
    assert round(100 * (1 - 327_680 / 589_824)) == 44
    assert len(annotate.block().ops) == 46
    assert not any(node.op == "relu" for node in annotate.block().ops)


def test_the_regions_of_the_block():
    graph, given = annotate.block(), tables.pieces()
    made = exercises.merged(graph, given)
    assert (len(given), len(made)) == (8, 6)
    assert (tables.bytes_of(graph, given), tables.bytes_of(graph, made)) == (786_432, 655_360)
    assert len(regions.joined(graph, given)) == 6
    assert min(tables.bytes_of(graph, plan) for plan in plans_of(graph, given)) == 655_360


def plans_of(graph, plan):
    """This plan, and all that come of it if neighbours are joined."""
    yield plan
    for a, b in combinations(plan, 2):
        better = [piece for piece in plan if piece is not a and piece is not b] + [a + b]
        if regions.neighbours(a, b) and "waits" not in regions.told(graph, better):
            yield from plans_of(graph, better)


def test_the_program_that_deadlocks():
    graph = exercises.deadlock()
    plan = regions.joined(graph, regions.units(graph))
    assert all(regions.convex(graph, region) for region in plan)
    assert regions.started(graph, plan) == []
    told = regions.told(graph, exercises.merged(graph, regions.units(graph)))
    assert told.count("chip") == 3 and "waits" not in told


@pytest.mark.parametrize("order", ["late", "early"])
def test_the_program_for_tvm_would_deadlock_joined_and_is_no_answer(order):
    graph = wild.crossed(order)
    plan = regions.joined(graph, [[node] for node in graph.ops if node.op != "neg"])
    assert len(plan) == 2 and regions.started(graph, plan) == []
    assert regions.units(graph) == []


def test_in_our_compiler_no_part_waits():
    def rescaled(x, scale):
        return apply("requantize", apply("cast", x, dtype="i32"), const(scale))

    def negative(x, scale):
        wide = apply("neg", apply("dequantize", x, const(scale)))
        return apply("quantize", wide, const(0.07))

    def program(x, y):
        a, b = rescaled(x, 0.5), rescaled(y, 0.6)
        crossed = ((a, negative(b, 0.1)), (b, negative(a, 0.2)))
        return [apply("add_quantized", *pair, const(0.3), const(-0.7)) for pair in crossed]

    parts = partition(trace(program, "i8[2,8]", "i8[2,8]")).parts
    assert [part.device for part in parts] == ["chip", "cpu", "chip"]


def test_the_six_programs_have_no_better_plans():
    for case, fewest in zip(offload.programs(), offload.FEWEST, strict=True):
        assert offload.total(*case, set(exercises.chosen(*case))) == fewest


def test_a_minimum_cut_is_the_best_of_all_plans():
    for seed in range(6):
        graph, chip, host = case = offload.drawn(np.random.default_rng(seed), 9)
        plans = (set(p) for size in range(len(chip) + 1) for p in combinations(chip, size))
        least = min(offload.total(*case, plan) for plan in plans)
        assert offload.total(*case, set(exercises.chosen(graph, chip, host))) == least


def test_one_operation_at_a_time_earns_a_part_of_the_points():
    ratios = [
        fewest / offload.total(*case, tables.one_at_a_time(*case))
        for case, fewest in zip(offload.programs(), offload.FEWEST, strict=True)
    ]
    assert round(1 - 10 * (GOOD - np.mean(ratios)), 2) == 0.32
    assert ratios[-1] == 1 and max(ratios[:-1]) < 0.95


def test_where_one_operation_at_a_time_stops():
    """Two operations would have to move together in one of six programs, more in four."""
    pair = []
    for case in offload.programs():
        plan = tables.one_at_a_time(*case)
        took = offload.total(*case, plan)
        pairs = (set(p) for p in combinations(case[1], 2))
        pair.append(any(offload.total(*case, plan ^ group) < took for group in pairs))
    assert pair == [False, False, False, False, True, False]


def test_bounds_are_below_what_was_counted():
    least = slot("u14.least").reference
    for into, which in (("ours", 0), ("tinygrad", 1)):
        for layer in reports.report(into).layers:
            if layer.name in reports.SHAPES:
                bound = least(*reports.SHAPES[layer.name], PRESETS["npu"])[which]
                assert bound <= layer.cycles
                assert layer.dram_bytes / 16 <= layer.cycles
    wide = replace(PRESETS["npu"], dma_bytes=64)
    assert least(128, 256, 1024, wide) == (32_768, 32_768)


def test_a_product_in_tinygrad():
    pytest.importorskip("tinygrad")
    assert "64 products of tiles, 510 clocks, 1,536 bytes" in wild.on_tiles(16, 16, 16)
    for flat in ((1, 8, 8), (8, 8, 1), (8, 1, 8)):
        assert "0 products of tiles" in wild.on_tiles(*flat)
    assert "WRONG" not in wild.on_tiles(8, 6, 8)


@pytest.mark.usefixtures("tvm")
@pytest.mark.parametrize("name", wild.DIVIDED)
def test_tvm_makes_what_is_recorded(name):
    assert wild.divided(name) == wild.DIVIDED[name].strip()


@pytest.mark.usefixtures("tvm")
def test_tvm_with_the_rows_of_the_exercise_makes_what_is_recorded():
    assert wild.divided_with(exercises.rows()) == wild.WITH_ROWS.strip()


@pytest.mark.usefixtures("tvm")
def test_six_of_tvms_patterns_are_one_row():
    from course_lib.accelerator.compile.support import PATTERNS
    from course_lib.plugins.tvm.patterns import dataflow_patterns

    (conv,) = (row for row in PATTERNS if row.name == "conv")
    assert len([*dataflow_patterns(conv.expression)]) == 6


def test_without_tvm_the_text_says_so(monkeypatch):
    monkeypatch.setattr(wild, "find_spec", lambda name: None)
    for name in wild.DIVIDED:
        assert "recorded with apache-tvm 0.27.0.post1" in wild.divided(name)
    assert "our rows; recorded with apache-tvm" in wild.divided_with(exercises.rows())
    assert "recorded with torch 2.13.0" in wild.by_torch()


HOSTILE = {
    "deep": [("a",) * 2, ("quantize",) + ("x",) * 50],
    "numbers": [1, 2],
    "empty": [(), ()],
    "names": ["x", "*"],
    "nothing": None,
    "no operation": [(1, "x"), ("relu", 2)],
    "a star": [("relu", "*"), ("relu", "")],
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_row_is_a_wrong_answer(value):
    from autograder.check.framework import Wrong
    from autograder.units.u14.checks.table import cases, judged

    with pytest.raises(Wrong):
        judged(lambda: value, cases())


def test_pieces_have_any_size_and_order():
    """What `u14.merged` is tried with: each alone at first, then up to five that read one another,
    of any operation, in plans that run."""
    graph = BY_HAND[5]
    assert pieces(graph, 0) == regions.units(graph)
    found = [pieces(graph, number) for number in range(1, 60)]
    assert all(runs(graph, plan) for plan in found)
    assert {len(piece) for plan in found for piece in plan} >= {1, 2, 3}
    assert any(node.op == "neg" for plan in found for piece in plan for node in piece)
    orders = [[graph.nodes.index(piece[0]) for piece in plan] for plan in found]
    assert any(order != sorted(order) for order in orders)


def test_no_region_at_all_may_be_any_collection():
    """Where the chip has no piece, an empty tuple is as good as an empty list."""
    graph = trace(neg, "f32[2]")
    for empty in ([], (), {}.values(), iter(())):
        assert plan_of(lambda graph, pieces, empty=empty: empty, graph, []) == []
