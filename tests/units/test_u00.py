"""Unit 0: its evidence is true, its notebook runs unsolved and solved."""

import re
import textwrap

import numpy as np
import pytest

import course_lib
from autograder.check.framework import TimedOut, mutants_of
from autograder.check.judging import judge
from autograder.check.verdict import WRONG
from autograder.edition.contents import COURSE
from autograder.units.u00 import exercises  # noqa: F401
from autograder.units.u00.checks.array import PARTS, clocks_of, simulated_cycles
from course_lib.accelerator.systolic import SystolicArray
from course_lib.accelerator.workload import Product, products, total_cycles, utilization
from course_lib.exercises import slot
from course_lib.ir.expr import Affine
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.node import const
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import accesses, loops, statements
from course_lib.ir.registry import traffic
from lessons.u00.boundaries import SETTLED, settled


@pytest.fixture(scope="module")
def kernel():
    """The kernel that `u00.claims` is about, as its text has it."""
    doc = slot("u00.claims").doc
    first, last = doc.index("    kernel @"), doc.index("\n\nThis is")
    return parse_kernel(textwrap.dedent(doc[first:last]))


def test_the_kernel_of_the_claims_computes_the_layer(kernel):
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.standard_normal(b.type.dims, "f") for b in kernel.params}
    run_kernel(kernel, arrays)
    expected = np.maximum(arrays["x0"] @ arrays["x1"] + arrays["x2"], 0)
    np.testing.assert_allclose(arrays["out"], expected, rtol=1e-4, atol=1e-5)


EXTENTS = [(2, 3, 6, 16, 64, 8), (2, 3, 6, 16, 64, 4), (1, 2, 12, 8, 1, 8), (3, 3, 4, 48, 7, 16)]


@pytest.mark.parametrize("extents", EXTENTS)
def test_what_the_claims_say_is_true_or_false_as_the_answer_has_it(extents):
    mo, no, mi, ni, k, lanes = extents
    kernel = parse_kernel(with_extents(mo, no, mi, ni, k))
    (inner,) = (loop for loop in loops(kernel.body) if loop.var == "k")
    unrolled, vector = (s for s in statements(inner.body) if isinstance(s, Loop))
    assert unrolled.extent and vector.extent
    instructions = unrolled.extent * vector.extent // lanes
    reads_in_k = {buffer for kind, buffer, _ in accesses(inner.body) if kind == "read"}
    written = [buffer for kind, buffer, _ in accesses(kernel.body) if kind == "write"]
    parallel = [loop.var for loop in loops(kernel.body) if loop.kind == "parallel"]
    truth = {
        "A": "x2" in reads_in_k,
        "B": written.count("out") == 1,
        "C": instructions == 12,
        "D": vector.kind == "vector" and steps(kernel, "x1", "ni_2") == [0, 1],
        "E": parallel == ["k"],
        "F": "no" not in read_vars(kernel, "x0") and extent(kernel, "no") == 3,
        "G": kernel.buffers["acc"].type.nbytes <= 16 * lanes * 4,
    }
    false = "".join(letter for letter, holds in truth.items() if not holds)
    assert slot("u00.claims").reference(*extents) == false


def with_extents(mo, no, mi, ni, k) -> str:
    """The text of the exercise's kernel, with other extents."""
    doc = slot("u00.claims").doc
    text = textwrap.dedent(doc[doc.index("    kernel @") : doc.index("\n\nThis is")])
    sizes = {"12,64": f"{mo * mi},{k}", "64,48": f"{k},{no * ni}", "[48]": f"[{no * ni}]",
             "12,48": f"{mo * mi},{no * ni}", "6,16": f"{mi},{ni}", "in 0..2 ": f"in 0..{mo} ",
             "in 0..3 ": f"in 0..{no} ", "in 0..6 ": f"in 0..{mi} ", "in 0..16 ": f"in 0..{ni} ",
             "in 0..64 ": f"in 0..{k} ", "6*mo": f"{mi}*mo", "16*no": f"{ni}*no"}  # fmt: skip
    found = re.compile("|".join(map(re.escape, sizes)))
    return found.sub(lambda match: sizes[match[0]], text)


def indices(kernel, buffer) -> list[Affine]:
    found = next(i for kind, name, i in accesses(kernel.body) if (kind, name) == ("read", buffer))
    return [index for index in found if isinstance(index, Affine)]


def steps(kernel, buffer, var):
    return [index.coefficient(var) for index in indices(kernel, buffer)]


def read_vars(kernel, buffer):
    return {var for index in indices(kernel, buffer) for var in index.vars}


def extent(kernel, var):
    return next(loop.extent for loop in loops(kernel.body) if loop.var == var)


def test_a_sum_without_a_schedule_may_be_reordered_and_one_with_a_schedule_may_not():
    for columns, flags in [(1, "contract reassoc nsz"), (32, "contract")]:
        graph = trace(lambda x, w: x @ w, "f32[64,256]", f"f32[256,{columns}]")
        program = course_lib.compile(graph, threads=1)
        sums = set(re.findall(r"fadd ([a-z ]+?) (?:float|<)", program.stage("llvm").text))
        assert sums == {flags}


def test_machine_code_does_not_know_where_it_comes_from(imported):
    program = course_lib.compile(imported("mlp"), threads=1)
    assert 'loc("' in str(program.stage("loops").form.steps[0].kernel)
    for stage in ("llvm", "optimized", "assembly"):
        assert "loc(" not in program.stage(stage).text


def test_each_form_settles_what_the_trace_of_the_line_says():
    weight = np.ones((256, 256), "f")
    line = trace(lambda x, b: relu(x @ const(weight) + b), "f32[64,256]", "f32[256]")
    program = course_lib.compile(line, threads=1)
    loops_text, scheduled = (str(program.stage(s).form.steps[0].kernel)
                             for s in ("loops", "scheduled"))  # fmt: skip
    assert "pack(" in scheduled and "pack(" not in loops_text
    assert "contract" in program.stage("llvm").text and "contract" not in scheduled


def test_the_trace_of_the_line_asks_what_the_notebook_asks(capsys):
    text = (COURSE / "notebooks" / "u00_tour.md").read_text()
    cell = text[text.index("settled({") :].split("})")[0]
    assert re.findall(r'"(.+?)": \.\.\.', cell) == list(SETTLED)
    assert settled(dict.fromkeys(SETTLED, ...)) is None
    said = capsys.readouterr().out
    assert all(question in said for question in SETTLED)
    table = settled(dict(zip(SETTLED, (1, 2, 3, 3), strict=True)))
    assert table is not None and "LLVM IR  machine code" in table.text


def test_what_the_text_says_about_the_traffic_of_the_line():
    line = trace(lambda x, w, b: relu(x @ w + b), "f32[64,256]", "f32[256,256]", "f32[256]")
    traffic_alone = 2 * 256 * 256 * 4 + sum(map(traffic, line.ops))
    crossing = sum(node.type.nbytes for node in (*line.inputs, *line.outputs))
    assert f"{(traffic_alone - crossing) / 1e6:.3f}" == "0.786"
    assert f"{2 * 256 * 256 * 4 / 1e6:.3f}" == "0.524"


def test_what_the_text_says_about_the_five_shapes(imported):
    layer, resnet = [Product((), 1, 64, 256, 256)], products(imported("resnet18"))
    shapes = [(16, 16), (8, 32), (4, 64), (2, 128), (1, 256)]
    clocks = {s: total_cycles(layer, SystolicArray(*s)) for s in shapes}
    assert min(clocks, key=clocks.__getitem__) == (16, 16)
    assert [clocks[s] for s in shapes] == [64 * (256 + r + c - 2) for r, c in shapes]
    clocks = {s: total_cycles(resnet, SystolicArray(*s)) for s in shapes}
    assert min(clocks, key=clocks.__getitem__) == (8, 32)
    assert round(100 * (1 - clocks[8, 32] / clocks[16, 16])) == 3


def test_what_the_text_says_about_mobilenet_on_the_chip(imported):
    chip, mobile = SystolicArray(32, 32), products(imported("mobilenet_v2"))
    resnet = products(imported("resnet18"))
    depthwise = [part for part in mobile if part.n == 1]
    assert len(depthwise) == 17 and {part.k for part in depthwise} == {9}
    assert round(total_cycles(resnet, chip) / 1e6, 1) == 2.1
    assert 2.8 < total_cycles(mobile, chip) / total_cycles(resnet, chip) < 2.9
    assert round(100 * total_cycles(depthwise, chip) / total_cycles(mobile, chip)) == 89
    macs = [sum(part.macs for part in parts) for parts in (depthwise, mobile, resnet)]
    assert round(100 * macs[0] / macs[1]) == 7 and round(macs[2] / macs[1]) == 6
    assert round(100 * utilization(depthwise, chip), 1) == 0.4
    assert round((9 + 62) / 9, 1) == 7.9


def test_with_tiles_back_to_back_the_order_is_reversed(imported):
    """Each product then pays the fill of 32 + 32 - 2 clocks once."""
    needed = {}
    for name in ("resnet18", "mobilenet_v2"):
        parts = products(imported(name))
        tiles = [-(-p.m // 32) * -(-p.n // 32) for p in parts]
        needed[name] = sum(p.count * (t * p.k + 62) for p, t in zip(parts, tiles, strict=True))
    assert round(needed["resnet18"] / 1e6, 1) == 2.0
    assert round(needed["mobilenet_v2"] / 1e6, 1) == 1.5


def test_the_fewest_clocks_of_the_visible_check_are_those_of_the_best_shape():
    for (cells, parts), (fewest, _) in PARTS.items():
        assert clocks_of(parts, slot("u00.shape").reference(list(parts), cells)) == fewest


@pytest.mark.parametrize("wrong", ["always_a_square", "only_wide_ones", "only_tall_ones",
                                   "the_longest_product_alone", "only_powers_of_two",
                                   "forgets_the_count", "only_the_first_product"])  # fmt: skip
def test_the_visible_check_sees_what_is_wrong_about_a_shape(wrong):
    verdict = judge("u00.shape", mutants_of("u00.shape")[wrong])
    assert verdict.kind == WRONG and "fewer clocks" in verdict.problem


@pytest.mark.parametrize(("name", "wrong", "said"), [
    ("u00.intensity", "counts_elements", "4 times too large"),
    ("u00.intensity", "not_a_number", "one number"),
    ("u00.claims", "threads_share_k", "Look at E again"),
    ("u00.claims", "all_of_them", "Look at B again"),
])  # fmt: skip
def test_a_failure_says_where_to_look(name, wrong, said):
    assert said in judge(name, mutants_of(name)[wrong]).problem


@pytest.mark.parametrize(("wrong", "words"), [
    ("forgets_the_fill", "when the last cell is done"),
    ("always_drains", "when the last cell is done"),
    ("drains_once", "computed one after another"),
    ("forgets_ragged_tiles", "costs as much as a whole one"),
])  # fmt: skip
def test_a_wrong_count_of_clocks_quotes_the_words_that_were_overlooked(wrong, words):
    answer = mutants_of("accelerator.systolic.cycles")[wrong]
    assert words in judge("accelerator.systolic.cycles", answer).spec


def test_a_fill_that_is_paid_for_once_is_told_about_tiles_and_not_about_edges():
    def fills_once(m, k, n, array):
        tiles = -(-m // array.rows) * -(-n // array.cols)
        drain = array.rows if array.drain else 0
        return tiles * (k + drain) + array.rows + array.cols - 2

    said = judge("accelerator.systolic.cycles", fills_once).spec
    assert "computed one after another" in said and "hangs over" not in said


def test_an_answer_that_simulates_is_told_so():
    def by_simulation(m, k, n, array):
        if m > 100:
            raise TimedOut("One call took over 10 seconds.")
        return simulated_cycles(m, k, n, array)

    assert "without simulating" in judge("accelerator.systolic.cycles", by_simulation).problem


def test_a_size_that_is_a_float_is_called_by_its_name():
    with pytest.raises(ValueError, match=r"a size is a whole number or a name, got '256.0'"):
        trace(lambda x, w: x @ w, "f32[16,256.0]", "f32[256.0,16]")


def test_no_shape_is_the_best_for_all_models(imported):
    chosen = set()
    for name in ("mlp", "block", "resnet18", "mobilenet_v2"):
        parts = [(p.count, p.m, p.k, p.n) for p in products(imported(name))]
        chosen.add(slot("u00.shape").reference(parts, 1024))
    assert len(chosen) == 4


def test_the_students_notebook_runs_without_any_answer(run_notebook):
    text = run_notebook("student", unit=0).text
    assert text.count("not attempted yet (0 of") == 5
    assert text.count("This cell needs your answer to") == 5
    assert "18,304 cycles" in text and "FusedGemm" in text


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=0).text
    for name, points in [("u00.intensity", 1), ("u00.claims", 2), ("u00.busy", 2)]:
        assert f"{name}: passed ({points} of {points} points)" in text
    assert "accelerator.systolic.cycles: passed (3 of 3 points)" in text
    assert "u00.shape: passed (2 of 2 bonus points)" in text
    assert "needs your answer" not in text
    assert "256 cells, five shapes" in text and "instructions executed" in text


def test_the_products_to_count_may_come_one_by_one():
    """An answer may filter them in an expression; nothing has to make a list of it."""
    array, parts = SystolicArray(4, 4), [Product((), 1, 4, 4, 4), Product((), 1, 8, 4, 4)]
    assert total_cycles((part for part in parts if part.m > 4), array) == parts[1].cycles(array)
