"""The lab of unit 10: what its own interpreter, its pipelines and its recordings promise."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("xdsl")
pytest.importorskip("llvmlite")

from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

import lessons.u10_lab_toy.torch as lesson
from autograder.check.framework import Stop, Wrong, mutants_of
from autograder.check.packages import NEEDS
from autograder.units.u10_lab_toy.checks import pipeline as checks
from autograder.units.u10_lab_toy.checks.operation import right_module
from autograder.units.u10_lab_toy.checks.pipeline import the_passes_lead_to_machine_code
from course_lib.exercises import slot
from course_lib.mlir.toy.affine_interp import ran
from course_lib.mlir.toy.canonical import canonicalize
from course_lib.mlir.toy.dialect import UNRANKED
from course_lib.mlir.toy.generate import generate
from course_lib.mlir.toy.parser import parse
from course_lib.mlir.toy.source import ToyError
from course_lib.mlir.upstream import engine
from course_lib.mlir.upstream.typed import by_dialect, typed
from lessons.u10_lab_toy.toy import PARTS, SUMS, bills, saved

NAMES = ("operation", "compiled", "pipeline")
operation, compiled, pipeline = (slot(f"u10_lab_toy.{name}").reference for name in NAMES)


@pytest.fixture
def mlir(missing):
    if not engine.engines():
        missing("mlir-opt-22")


def loops(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"builtin.module {{\n  func.func @main() {{\n{body}    func.return\n  }}\n}}\n"


# --- the sum ---


def test_the_program_of_the_first_screen_prints_what_it_says():
    assert compiled(SUMS)[1].split() == [f"{n}.000000" for n in (9, 12, 15, 36)]


def test_the_numbers_in_the_graded_answer_are_those_of_the_table():
    """One nest of three away, 6 of 24 loads and 6 of 15 stores."""
    turned, alone, both = (ran(compiled(program)[0]) for program in PARTS.values())
    assert (turned.nests + alone.nests, both.nests) == (3, 2)
    assert (turned.loads + alone.loads, both.loads) == (24, 18)
    assert (turned.stores + alone.stores, both.stores) == (15, 9)
    shown = repr(bills(compiled)).splitlines()
    assert shown[3].split() == ["these", "two", "together", "3", "24", "15"]
    assert saved(compiled) == 25
    (best, *_) = slot("u10_lab_toy.levels").reference().samples
    assert "nest of three away, 6 of 24 loads and 6 of 15 stores" in best.text


# --- loops, run one operation at a time ---


def test_memory_is_full_of_nan_until_it_is_written():
    done = ran(loops("%0 = memref.alloc() : memref<2xf64>", "toy.print %0 : memref<2xf64>"))
    assert np.isnan(done.printed[0]).all() and (done.buffers, done.freed) == (1, 0)


def test_an_index_out_of_bounds_is_an_error_and_no_other_element():
    load = "affine.load %0[%i, %i] : memref<2x3xf64>"
    with pytest.raises(ValueError, match=r"the index \(2, 2\) is outside .* shape \(2, 3\)"):
        ran(loops("%0 = memref.alloc() : memref<2x3xf64>", "affine.for %i = 0 to 3 {",
                  f"  %1 = {load}", "}"))  # fmt: skip


def test_a_program_ends_and_is_not_read_if_it_is_long():
    with pytest.raises(ValueError, match="had not ended after 60,000 operations"):
        ran(loops("affine.for %i = 0 to 100000000 {", "}"))
    with pytest.raises(ValueError, match="at most 60,000 are read"):
        ran(" " * 100_000)


@pytest.mark.parametrize("line", ["%0 = arith.constant dense<1.0> : tensor<2xf64>",
                                  "func.call @main() : () -> ()"])  # fmt: skip
def test_what_has_no_place_in_loops_is_named(line):
    with pytest.raises(ValueError, match=r"has no place in these loops"):
        ran(loops(line))


# --- the pipeline ---


def test_a_pass_that_is_not_in_the_table_is_not_run():
    for text, words in (
        ("location-snapshot{filename=x}", "no pipeline: a pass is a name|no pass"),
        ("func.func(cse", "not 'func.func"),
        ("cse," * 50, "at most 40 passes"),
        ("cse{top-down, max=3}", "'top-down,' is no option: spaces stand between two"),
    ):
        with pytest.raises(ValueError, match=words.removeprefix("no pipeline: ")):
            typed(text, lesson.PASSES)
    assert typed(" cse, func.func(cse) ,one-shot-bufferize{a b=c,d}", lesson.PASSES) == (
        "cse", "func.func(cse)", "one-shot-bufferize{a b=c,d}")  # fmt: skip


def test_where_no_tool_is_the_form_is_judged_and_a_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(checks, "engines", lambda: [])
    with pytest.raises(Stop) as stopped:
        the_passes_lead_to_machine_code(pipeline)
    assert stopped.value.problem.startswith(NEEDS) and "mlir-22-tools" in stopped.value.problem
    with pytest.raises(Wrong, match="no pass of the table is called 'lower-linalg'"):
        the_passes_lead_to_machine_code(lambda: "lower-linalg")
    monkeypatch.setattr(lesson, "tools", lambda: [])
    monkeypatch.setattr(lesson, "engines", lambda: [])
    monkeypatch.setattr(lesson, "after", lesson.after.__wrapped__)  # what a test before this made
    assert lesson.level("cse").startswith("Not shown: running MLIR's passes needs torch-mlir")
    assert lesson.runs("cse").startswith("Not run: running MLIR's passes needs")
    assert "recorded with torch-mlir 20261001" in repr(lesson.levels_table("cse"))


CARDS = [  # a change of our pipeline, the problem, and the lines that are shown
    (("hoist-static-allocs", "hoist"), "Nothing runs: .* no such option hoist", ""),
    (("convert-scf-to-cf,", "cse,convert-scf-to-cf,cse{x=1},"), "no such option x", ""),
    (("modify-public-functions", ""), "@main returns something", r"^ *llvm.func @main[^\n]*$"),
    (
        (" hoist-static-allocs", ""),
        "3 calls that allocate memory, and 0",
        r"@other(.|\n)*@malloc\(",
    ),
    (("convert-arith-to-llvm,", ""), "are left", r"^( .*arith\..*\n){10}\.\.\. and \d+ more$"),
]


@pytest.mark.parametrize(("change", "problem", "shows"), CARDS)
def test_a_card_shows_the_lines_that_are_wrong_and_no_whole_module(mlir, change, problem, shows):
    with pytest.raises(Wrong, match=problem) as wrong:
        the_passes_lead_to_machine_code(lambda: pipeline().replace(*change))
    shown = wrong.value.program or ""
    assert re.search(shows, shown) and len(shown.splitlines()) <= 11


def test_a_sum_in_another_form_is_shown_beside_the_sentence():
    text = operation(SUMS).replace(" along 0 :", " : 0 along")
    with pytest.raises(Wrong, match="A sum is written in another form") as wrong:
        right_module(lambda _: text, SUMS, "")
    assert "the module says" in wrong.value.spec and "toy.sum %2 : 0 along" in wrong.value.got


def test_an_axis_that_fits_no_attribute_is_refused_at_the_call():
    with pytest.raises(ToyError, match=r"out of range for type i64(.|\n)*at line:1:20"):
        operation("def main() { print(sum([1, 2], 100000000000000000000)); }")


def test_a_reshape_to_an_unknown_shape_is_refused_in_words():
    module = generate(parse("def main() { var x<2> = [[1, 2]]; print(x); }"), "x.toy")
    (reshape,) = (op for op in module.walk() if op.name == "toy.reshape")
    Rewriter.replace_value_with_new_type(reshape.results[0], UNRANKED)
    canonicalize(module)
    with pytest.raises(VerifyException, match=r"toy\.reshape"):
        module.verify()


def test_the_bytes_of_the_buffers_are_those_that_the_text_names():
    assert lesson.asked_for() == 4 * 4 * 16


def test_the_order_of_the_graded_answer_leaves_what_it_says(mlir):
    """In the end 14 operations of arith were left."""
    early = mutants_of("u10_lab_toy.pipeline")["arith_before_the_blocks"]()
    given = lesson.level("cse")
    assert by_dialect(lesson.after(early, given).states[-1].text)["arith"] == 14
    (best, *_) = slot("u10_lab_toy.levels").reference().samples
    assert re.search(r"14 operations of arith were left", best.text)
