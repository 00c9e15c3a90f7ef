"""Unit 4: its lives and figures are those of the models, its evidence is true, its words help."""

import platform
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from autograder.check.framework import alternatives_of, mutants_of
from autograder.units.u04.checks.kernels import ILLEGAL, LEGAL
from autograder.units.u04.checks.liveness import CASES
from autograder.units.u04.checks.offsets import RANDOM, the_arena_is_small
from autograder.units.u04.checks.order import SMALLEST, the_peak_is_low
from autograder.units.u04.checks.relayouts import CASES as RELAYOUTS
from autograder.units.u04.exercises import BROKEN, BROKEN_LIVES, BROKEN_OFFSETS, REFERENCE_ARENA
from autograder.units.u04.hidden import smallest_peak
from autograder.validate import verdict_of
from course_lib.compiler import compile as compile_graph
from course_lib.cost.layout import cost
from course_lib.exercises import baselines, plugged, slot
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.program import owner
from course_lib.ir.loops.walk import loops
from course_lib.ir.ops.layout import rearranged
from course_lib.lower.lower import lower
from course_lib.memory.liveness import Interval, lifetimes
from course_lib.memory.offsets import arena_size, assign_offsets, lower_bound, one_after_another
from course_lib.memory.plan import place, plan
from course_lib.memory.planners import first_fit
from course_lib.models import MODELS, example_inputs
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.layout.layout import in_layouts, layout, layouts_of
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from lessons.u04.chip import (
    COLUMNS,
    NETS,
    SRAM,
    busiest,
    memory_of,
    program_of,
    read_net,
)
from lessons.u04.layers import OTHER_LOOPS, SIZES, innermost, layers
from lessons.u04.lives import LIVES, random_tasks
from lessons.u04.pictures import READ, window_lines
from lessons.u04.tested import by_name, two_tests
from lessons.u04.traces import EAGER, highest, most_alive, requests_of

WITH_MUTANTS = [
    *("schedule.memory.liveness", "schedule.memory.assign_offsets"),
    *("schedule.in_place.may_overwrite", "schedule.order.order", "passes.sink_relayouts"),
    *("u04.clash", "u04.first_fit_wins", "u04.lines", "u04.allocator"),
]
largest_first = alternatives_of("schedule.memory.assign_offsets")["largest_first"]
least_growth_first = alternatives_of("schedule.order.order")["least_growth_first"]
PLAIN = [one for one in DEFAULT if one not in (layout, sink_relayouts)]


@pytest.mark.parametrize("layout", READ)
def test_the_lines_in_the_picture_are_those_of_the_window(layout):
    numbered = np.arange(32 * 14 * 14).reshape(1, 32, 14, 14)
    memory = rearranged(numbered, "nchw", layout).reshape(-1)
    elements = np.flatnonzero(np.isin(memory, numbered[0, :, 4:7, 4:7]))
    assert sorted(set((elements * 4 // 64).tolist())) == READ[layout]
    assert f"{layout}: {len(READ[layout])} of 392 lines" in window_lines().text


# ── lives, tasks, figures ──


UNFUSED = [fold, simplify, decompose, fold, simplify, cse, dce]


@pytest.mark.parametrize("name", LIVES)
def test_the_lives_are_those_of_the_models(name, imported):
    found = lifetimes(lower(run_passes(imported(name), UNFUSED)))
    rows = [[(i.size, i.first, i.last) for i in lives] for lives in (found, LIVES[name])]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("name", REFERENCE_ARENA)
def test_the_bill(name, imported):
    model, _, unfused = name.partition(", ")
    program = lower(decompose(run_passes(imported(model), UNFUSED if unfused else PLAIN)))
    plain, best = place(program), plan(program)[1]
    assert plain.size == plain.lower_bound
    by_size = arena_size(plain.intervals, largest_first(plain.intervals))
    assert by_size == plain.lower_bound or (unfused and by_size > 1.4 * plain.lower_bound)
    assert best.size == best.lower_bound == REFERENCE_ARENA[name]
    if name == "resnet18":
        assert (len(plain.intervals), round(plain.without_reuse / (1 << 20))) == (31, 15)
    with baselines("schedule.memory.liveness", "schedule.memory.assign_offsets"):
        assert place(program).size == plain.without_reuse


@pytest.mark.parametrize("name", ["mlp", "resnet18", "mobilenet_v2"])
def test_the_peak_of_three_models_is_one_step_alone(name, imported):
    """So no order lowers it."""
    program = lower(decompose(run_passes(imported(name), PLAIN)))
    size = {i.name: i.size for i in lifetimes(program)}
    alone = [
        sum(size.get(v, 0) for v in {step.writes, *map(program.owner, step.reads)})
        for step in program.steps
    ]
    assert max(alone) == place(program).lower_bound
    assert [s.node for s in plan(program)[0].steps] == [s.node for s in program.steps]


def test_six_values_for_which_largest_first_needs_three_places():
    chain = [i for i in LIVES["mobilenet_v2"] if 15 <= i.first <= 20]
    size = chain[0].size
    assert list(largest_first(chain)[i.name] for i in chain) == [0, size, 0, size, 2 * size, 0]
    bound = lower_bound(chain)
    assert arena_size(chain, largest_first(chain)) > bound
    assert arena_size(chain, first_fit(chain)) == arena_size(chain, assign_offsets(chain)) == bound


def test_counting_bytes_cannot_show_that_a_plan_has_enough(imported):
    """A plan that ends every life at once is smaller, writes all its bytes, and is wrong."""

    def at_once(tasks, views, outside):
        kept = {owner(name, views) for name in outside}
        steps = [(n, task) for n, task in enumerate(tasks) if task.writes not in kept]
        return [Interval(task.writes, task.size, n, n) for n, task in steps]

    inputs, graph = example_inputs("block"), imported("block")
    with baselines("schedule.in_place.may_overwrite", "schedule.order.order"):
        right = compile_graph(graph, passes=PLAIN, threads=1)
        with plugged("schedule.memory.liveness", at_once):
            small = compile_graph(graph, passes=PLAIN, threads=1)
    made: list[Any] = [right, small]
    assert [each.memory.size >> 10 for each in made] == [896, 512]
    assert all(each.touched(inputs).sum() == each.memory.size for each in made)
    assert np.abs(right(*inputs) - small(*inputs)).max() > 0.1


def test_a_plan_by_name_writes_all_its_bytes_and_is_wrong(imported):
    """The first row of the notebook's table; the second is right."""
    wrong, right = (two_tests("block", imported("block"), lives) for lives in (by_name, None))
    for planned, written, _ in (wrong, right):
        assert planned == written
    assert float(wrong[2]) > 0.1
    assert float(right[2]) < 1e-4


def test_planning_alone_is_not_what_eager_mode_lacks():
    """Unfused, ResNet-18 needs by our plan what PyTorch needs but for copies of filters."""
    lives = LIVES["resnet18"]
    assert arena_size(lives, assign_offsets(lives)) == lower_bound(lives)
    assert lower_bound(lives) / (1 << 20) == pytest.approx(6.235, abs=0.001)


def test_no_order_has_a_smaller_peak():
    assert {s: smallest_peak(random_tasks(s)) for s in SMALLEST} == {
        seed: 64 * units for seed, units in SMALLEST.items()
    }


# ── the chip ──

ON_THE_CHIP = {  # KiB: no reuse, first fit, the plan, and in another order, and in place
    "ResNet-18, 64×64 pixels": (1553, 410, 353, 353, 353),
    "transformer block, 80 tokens": (1400, 600, 500, 480, 480),
    "transformer block, 84 tokens": (1480, 640, 530, 504, 504),
    "ResNet-50, 64×64 pixels": (4069, 666, 576, 576, 450),
    "MobileNetV2, 64×64 pixels": (2799, 594, 530, 530, 530),
}


@pytest.mark.parametrize(("name", "model", "shape"), NETS, ids=lambda each: str(each))
def test_what_fits_the_chip(name, model, shape):
    """One network after each piece, and one never: its bound is too high."""
    pytest.importorskip("torch")
    program = program_of(read_net(model, shape))
    found = {column: size(program) for column, size in COLUMNS.items()}
    expected = dict(zip(COLUMNS, ON_THE_CHIP[name], strict=False))
    for column, kib in expected.items():
        assert found[column] / 1024 == pytest.approx(kib, abs=0.6), column
    assert found["your plan"] == found["lower bound"]
    by_size = largest_first(place(program).intervals)
    assert arena_size(place(program).intervals, by_size) == found["lower bound"]
    fits = [size <= SRAM for size in found.values()][:5]
    first = {"ResNet-18": 1, "transformer block, 80": 2, "transformer block, 84": 3, "ResNet-50": 4}
    start = next((k for word, k in first.items() if name.startswith(word)), 5)
    assert fits == [k >= start for k in range(5)]


def test_the_peak_of_mobilenet_on_the_chip_is_the_padded_image_and_what_is_made_of_it():
    _, model, shape = NETS[-1]
    program = program_of(read_net(model, shape))
    (step,) = [s for s in program.steps if s.writes == "hardtanh_3"]
    sizes = [program.types[v].nbytes / 1024 for v in (step.reads[0], step.writes)]
    assert sizes == [433.5, 96.0]
    assert sum(sizes) * 1024 == place(program).lower_bound > SRAM > (384 + 96) * 1024
    found = [line.split() for line in busiest(program).text.splitlines() if "%" in line]
    assert [(row[0], row[-1]) for row in found][:2] == [("%hardtanh_3", "17.5"), ("%2", "-14.5")]


def test_no_window_reads_the_last_row_and_column_of_the_padded_image():
    """Without them, the whole network fits: another program, one row and one column smaller."""
    _, model, shape = NETS[-1]
    program = program_of(read_net(model, shape))
    (step,) = [s for s in program.steps if s.writes == "hardtanh_3"]
    assert step.kernel is not None
    rng = np.random.default_rng(0)
    given = {p.name: rng.random(p.type.dims, np.float32) for p in step.kernel.params}
    spoilt = {name: array.copy() for name, array in given.items()}
    image = spoilt["x0"]
    assert image.shape == (1, 96, 34, 34)
    image[:, :, 33, :] = image[:, :, :, 33] = np.nan
    run_kernel(step.kernel, given)
    run_kernel(step.kernel, spoilt)
    assert np.array_equal(given["out"], spoilt["out"])
    smaller, padded = 4 * 96 * 33 * 33, step.reads[0]
    lives = [replace(i, size=smaller) if i.name == padded else i for i in lifetimes(program)]
    assert arena_size(lives, assign_offsets(lives)) / 1024 == 504.375 <= SRAM / 1024


def test_all_of_the_memory(imported):
    """The weights three times, and the arena beside them."""
    model = compile_graph(imported("resnet18"), passes=PLAIN, threads=1)
    megabytes = [size for _, size in memory_of(model)]
    assert megabytes[:4] == pytest.approx([46.8, 46.7, 46.7, 4.13], rel=0.01)


# ── what an allocator is asked for ──


def test_the_trace_of_pytorch():
    """Its peak, and the copy of filters that makes most of it."""
    assert len([size for _, size in EAGER if size > 0]) == 173
    assert most_alive(EAGER) / (1 << 20) == pytest.approx(10.34, abs=0.01)
    assert 4 * 512 * 512 * 3 * 3 == 9437184 == max(size for _, size in EAGER)
    assert highest(EAGER, slot("u04.allocator").reference(EAGER)) == most_alive(EAGER)
    filters = {4 * a * b * 9 for a, b in [(64, 64), (128, 64), (128, 128), (256, 128), (256, 256),
                                          (512, 256), (512, 512)]}  # fmt: skip
    others = [(name, size) for name, size in EAGER if abs(size) not in filters]
    assert most_alive(others) / (1 << 20) == pytest.approx(6.13, abs=0.01)


def test_pytorch_asks_for_more_than_a_plan_needs():
    """What it copies depends on the processor, what its operations return does not."""
    torch = pytest.importorskip("torch")
    from torch.profiler import ProfilerActivity, profile

    model, (x,) = MODELS["resnet18"].build(), map(torch.from_numpy, example_inputs("resnet18"))
    with torch.no_grad():
        model(x)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            model(x)
    results: Any = seen.profiler
    events = [e for e in results.kineto_results.events() if e.name() == "[memory]"]
    alive = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        alive += event.nbytes()
        most = max(most, alive)
    assert alive == 0
    assert most > 1.5 * REFERENCE_ARENA["resnet18"]


def test_the_allocator_is_first_fit():
    """On the lives of a program it needs what `first_fit` needs."""
    for lives in LIVES.values():
        trace = requests_of(lives)
        assert most_alive(trace) == lower_bound(lives)
        offsets = slot("u04.allocator").reference(trace)
        assert highest(trace, offsets) == arena_size(lives, first_fit(lives))


# ── layouts ──


def loads(counts):
    """The instructions of a loop that read an image or filters."""
    return sum(bool(re.search(r"\(%r(?!sp)", line)) for line in counts.text.splitlines())


def test_what_the_loop_that_multiplies_does_in_each_layout():
    """In code for AVX-512, on every processor: only one of ten loops spills, and not for its
    images: in the same layout, with other filters, its loops are in another order."""
    made = {(each.name, each.layout): each for each in layers()}
    counts = {key: innermost(each.kernel) for key, each in made.items()}
    first, last, small = SIZES
    assert [key for key, found in counts.items() if found.on_the_stack] == [(first, "nchw")]
    spilling = counts[first, "nchw"]
    assert (spilling.multiply_adds, spilling.on_the_stack) == (84, 86)
    assert counts[first, OTHER_LOOPS].multiply_adds == counts[first, "nhwc"].multiply_adds == 28
    assert counts[last, "nchw"].multiply_adds == 126
    used = {key: (loads(found), found.multiply_adds) for key, found in counts.items()}
    assert used[first, "nhwc"] == used[small, "nhwc"] == (16, 28)
    assert used[first, "nchw16c"] == used[small, "nchw16c"] == (29, 28)
    assert (used[last, "nhwc"], used[last, "nchw16c"]) == ((9, 14), (8, 7))

    def gain(name, layout):
        return cost(made[name, "nchw"].graph) / cost(made[name, layout].graph)

    expected = [gain(name, "nhwc") for name in (first, last, small)]
    assert expected == pytest.approx([1.48, 1.00, 1.31], abs=0.01)
    assert gain(first, OTHER_LOOPS) == pytest.approx(1.43, abs=0.01)
    assert gain(last, "nchw16c") == pytest.approx(0.88, abs=0.01)


def test_which_of_mobilenets_convolutions_stay_in_nchw(imported):
    def blocks(graph):
        return in_layouts(graph, {n: of for n in graph.ops if (of := layouts_of(n, "nchw16c"))})

    passes = [blocks if one is layout else one for one in DEFAULT]
    graph = run_passes(imported("mobilenet_v2"), passes)
    bodies = [n.attrs["body"] for n in graph.ops if n.op == "fused"]
    plain = [n for body in bodies for n in body.ops if n.op == "conv"]
    assert [n.type.dims[1] for n in plain] == [24, 24]
    assert len(relayouts(graph)) == 2


def assigned_at_the_bound(lives):
    return arena_size(lives, assign_offsets(lives)) == lower_bound(lives)


def test_the_figures_of_the_scored_exercises():
    """As the notebook says them."""
    assert "4.46 on average" in the_arena_is_small(one_after_another).seen
    assert "1.13 on average" in the_arena_is_small(first_fit).seen
    ours = the_arena_is_small(assign_offsets)
    assert "1.00 on average" in ours.seen and "mobilenet_v2 1.00" in ours.seen
    assert all(assigned_at_the_bound(lives) for lives in [*LIVES.values(), *RANDOM])
    by_size = the_arena_is_small(largest_first)
    assert "1.03 on average" in by_size.seen and "mobilenet_v2 1.47" in by_size.seen
    greedy = the_peak_is_low(least_growth_first)
    assert "1.28 on average" in greedy.seen and "1.39 as given" in greedy.seen
    assert "1.00 on average" in the_peak_is_low(slot("schedule.order.order").reference).seen


# ── the evidence ──


def test_only_one_life_of_the_broken_plan_is_too_short():
    program = lower(parse_graph(BROKEN))
    lives = {i.name: i for i in lifetimes(program)}
    shown = {i.name: i for i in BROKEN_LIVES}
    assert [name for name in lives if lives[name] != shown[name]] == ["a"]
    assert first_fit(BROKEN_LIVES) == BROKEN_OFFSETS


def test_the_broken_plan_breaks_what_the_answer_says():
    """Run the program on an arena, at the offsets of the plan."""
    program = lower(parse_graph(BROKEN))
    x = np.random.default_rng(0).random((16, 16), np.float32)
    arena, right, wrong = np.zeros(1 << 13, np.uint8), {"x": x}, []

    def at(name):
        kind, start = program.types[name], BROKEN_OFFSETS[program.owner(name)]
        return arena[start : start + kind.nbytes].view(np.float32).reshape(kind.dims)

    for step in program.steps:
        good = [right[program.owner(v)].reshape(program.types[v].dims) for v in step.reads]
        right[step.writes] = evaluate(step.node, good)
        got = evaluate(step.node, [x if v == "x" else at(v).copy() for v in step.reads])
        if not np.array_equal(got, right[step.writes]):
            wrong.append(step.writes)
        if step.writes in BROKEN_OFFSETS:
            at(step.writes)[...] = got
    lost, taker, first_wrong = slot("u04.clash").reference()
    assert wrong[0] == first_wrong
    assert BROKEN_OFFSETS[lost] == BROKEN_OFFSETS[taker]


def test_each_case_quotes_its_specification():
    for name, words in [
        ("schedule.memory.liveness", [spec for *_, spec in CASES]),
        ("schedule.in_place.may_overwrite", [spec for spec, *_ in LEGAL]),
        ("schedule.in_place.may_overwrite", [spec for _, spec, _ in ILLEGAL]),
        ("passes.sink_relayouts", [spec for spec, *_ in RELAYOUTS]),
    ]:
        said = " ".join(slot(name).doc.split())
        assert not [spec for spec in words if " ".join(spec.split()) not in said]


@pytest.mark.parametrize(("name", "answer", "words"), [
    ("schedule.memory.liveness", lambda tasks, views, outside: [("a", 64, 0, 1)], "a list of the"),
    ("u04.allocator", mutants_of("u04.allocator")["the_block_that_was_freed_last"], "the lowest"),
])  # fmt: skip
def test_the_sentence_that_is_quoted_is_the_one_that_is_violated(name, answer, words):
    assert words in verdict_of(slot(name), answer, shrink=False).spec


def test_a_gap_that_is_too_small_is_shown_with_four_values():
    name = "schedule.memory.assign_offsets"
    verdict = verdict_of(slot(name), mutants_of(name)["any_gap_will_do"], shrink=False)
    assert len(verdict.program.splitlines()) == 4


# ── what the notebook says in prose ──


def relayouts(graph):
    bodies = [n.attrs["body"] for n in graph.ops if n.op == "fused"]
    return [n for g in (graph, *bodies) for n in g.ops if n.op == "relayout"]


def test_the_story_of_the_relayouts(imported):
    def everywhere(graph):
        return in_layouts(graph, {n: of for n in graph.ops if (of := layouts_of(n, "nhwc"))})

    passes = [everywhere if one is layout else one for one in DEFAULT]
    with baselines("passes.sink_relayouts"):
        there = relayouts(run_passes(imported("resnet18"), passes))
    assert Counter(n.attrs["dst"] for n in there) == {"nhwc": 19, "nchw": 20}
    for name in ("resnet18", "mobilenet_v2"):
        assert relayouts(run_passes(imported(name), passes)) == []


def test_the_lanes_of_a_convolution_in_blocks_are_the_channels_of_a_block():
    """Also where there are 32 blocks, which would be wider."""
    x, weights = inp("x", "f32[1,512,9,9]"), const(np.ones((512, 512, 3, 3), np.float32))
    graph = Graph.of([x], [apply("conv", x, weights)])
    able = {n: of for n in graph.ops if (of := layouts_of(n, "nchw16c"))}
    made = compile_graph(graph, passes=[lambda g: in_layouts(g, able), fold], threads=1)
    steps = made.stage("scheduled").form.steps
    (kernel,) = [s.kernel for s in steps if s.kernel and s.kernel.name.startswith("conv")]
    assert {s.extent for s in loops(kernel.body) if s.kind == "vector"} == {16}


@pytest.mark.parametrize("level", ["LAYOUT", "ALL"])
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other layouts")
@pytest.mark.parametrize("pooling", ["ReduceMean", "GlobalAveragePool"])
def test_the_story_of_onnxruntime(tmp_path, level, pooling, imported):
    """The pooling of our file stands behind a relayout; the other kind runs in blocks."""
    written = to_onnx(imported("resnet18"))
    (mean,) = [n for n in written.graph.node if n.op_type == "ReduceMean"]
    if pooling != "ReduceMean":
        mean.op_type = pooling
        del mean.attribute[:], mean.input[1:]
    onnx.save(written, tmp_path / "model.onnx")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    options.optimized_model_filepath = str(tmp_path / "all.onnx")
    ort.InferenceSession(str(tmp_path / "model.onnx"), options, providers=["CPUExecutionProvider"])
    ops = [n.op_type for n in onnx.load(tmp_path / "all.onnx").graph.node]
    assert (ops.count("Conv"), ops.count("ReorderInput"), ops.count("ReorderOutput")) == (20, 0, 1)
    before, after = (ops[ops.index("ReorderOutput") + step] for step in (-1, 1))
    assert (before if pooling == "GlobalAveragePool" else after) == pooling


# ── feedback ──


def test_simpler_planners_earn_a_part():
    parts = {}
    for name in ("schedule.memory.assign_offsets", "schedule.order.order"):
        for label, answer in alternatives_of(name).items():
            parts[label] = verdict_of(slot(name), answer).earned
    assert parts == {
        "the_best_of_several": 4,
        "largest_first": 3.68,
        "in_order_of_time": 1.61,
        "by_area": 3.27,
        "least_growth_first": 3.09,
        "the_best_of_all": 4,
        "a_few_hundred_beginnings": 4,
    }


def test_doing_nothing_earns_nothing():
    for name in ("passes.sink_relayouts", "schedule.memory.liveness", "schedule.order.order"):
        simple = slot(name).baseline
        assert simple is not None
        assert verdict_of(slot(name), lambda *args, run=simple: run(*args)).earned == 0
    assert verdict_of(slot("schedule.in_place.may_overwrite"), lambda *_: False).earned == 0


def test_the_lines_of_a_window_depend_on_where_it_lies():
    lines = slot("u04.lines").reference
    ratios = [one["nchw"] / one["nhwc"] for one in (lines(w, w + 2) for w in range(54))]
    assert round(ratios[14], 1) == 8.9 and round(sum(ratios) / 54, 1) == 5.9
    assert sum(round(ratio, 1) == 5.3 for ratio in ratios) == 42


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=4).text
    for name in WITH_MUTANTS:
        points, bonus = slot(name).points, "bonus " * slot(name).further
        assert f"{name}: passed ({points} of {points} {bonus}points)" in text
    assert "needs your answer" not in text
    assert "peak 384 B, lower bound 320 B, the plan is 20 % above it" in text, "the eight values"
    assert re.search(r"by name +786,432 +786,432 +\d\n", text), "planned and written bytes"
    assert re.search(r"yours +1,179,648 +1,179,648 +\de-0\d", text)
    for found in ("it is 0 relayouts.", "it is 2 networks.", "it is 3.94 MiB."):
        assert found in text
    expected = {"resnet18 +nhwc": "0 +1.31", "resnet18 +nchw16c": "0 +1.23",
                "mobilenet_v2 +nhwc": "0 +1.33", "mobilenet_v2 +nchw16c": "2 +1.12"}  # fmt: skip
    for row, numbers in expected.items():
        assert re.search(f"{row} +{numbers} ", text), "relayouts left, expected speed-up"
