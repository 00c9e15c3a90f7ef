"""The lab beside unit 14: figures of its text, and a stand-in that does what TVM does."""

import numpy as np
import pytest

from autograder.check.edits import edited
from autograder.check.framework import Wrong, alternatives_of, mutants_of
from autograder.check.shown import call_shown
from autograder.units.u14_lab_byoc import exercises
from autograder.units.u14_lab_byoc.checks import division, program, runtime
from course_lib.accelerator.compile.product import matrix
from course_lib.accelerator.compile.search import choose_tile, clocks
from course_lib.exercises import slot
from course_lib.plugins.byoc.memory import TEACHING
from course_lib.plugins.byoc.real import real
from course_lib.plugins.byoc.tvm import Tvm
from lessons.u14_lab_byoc import plugged
from lessons.u14_lab_byoc.programs import model

DIVIDED = "u14_lab_byoc.divided"
CASES = [*division.TAKEN, *division.LEFT]
OURS = exercises.divided, exercises.generate, exercises.run


@pytest.fixture
def tvm():
    pytest.importorskip("tvm")
    return plugged.package()


def test_the_figures_of_the_text():
    report = plugged.plugged(*OURS, stand_in=True)
    assert report.equal and report.starts == 2 and len(report.layers) == 4
    assert (report.bound, report.clocks) == (program.BOUND, 42_996) and report.bound == 22_144
    assert str(report.table()).startswith(
        "the stand-in for TVM: the same numbers as its CPU alone\n"
    )
    shapes = [(ran.m, ran.k, ran.n) for ran in report.layers]
    assert shapes == [shape[:3] for shape in program.MODEL]
    layers = [matrix(*shape) for shape in shapes]
    assert sum(clocks(la, choose_tile(la, TEACHING), TEACHING) for la in layers) == 22_768
    assert sum(k * n for _, k, n in shapes) == 4 * 5_536
    assert [round(100 * share) for share in (report.port, 5_536 / report.clocks)] == [68, 13]


def test_without_two_places_that_take_turns_it_takes_3_64_times_the_bound():
    alone = edited(exercises.generate, "turn = 1 - turn", "turn = 0")
    total = plugged.plugged(exercises.divided, alone, exercises.run, stand_in=True).clocks
    assert total == 80_632 and round(total / program.BOUND, 2) == 3.64
    assert round(program.worth(total), 2) == 0.59


def test_a_piece_of_x_for_four_blocks_of_columns_almost_halves_the_clocks():
    """And the rubric and the teacher's page say so."""
    grouped = alternatives_of("u14_lab_byoc.generate")["with_one_load_of_x_for_four_blocks"]
    report = plugged.plugged(OURS[0], grouped, OURS[2], stand_in=True)
    assert report.equal and report.clocks == 24_750
    assert "24,750 clocks" in slot("u14_lab_byoc.why").reference().criteria


def test_two_places_in_one_bank_save_no_clock():
    """The next load waits for the array as if there were one place, and the table shows it."""
    beside = edited(
        exercises.generate, "turn * (chip.acts // 4)", "turn * m * chip.rows",
        "turn * (chip.weights // 2)", "turn * chip.rows * chip.cols",
    )  # fmt: skip
    report = plugged.plugged(exercises.divided, beside, exercises.run, stand_in=True)
    assert report.equal and report.clocks == 80_632
    _, heads, first, *_ = (line for line in str(report.table()).splitlines() if line)
    assert "array waits for loads (%)  load waits for array (%)" in heads
    assert first.split()[-4:] == ["27", "66", "58", "37"]


@pytest.mark.parametrize(
    "old, new, sentence",
    [
        ("dram={at.y + first} h=1", "dram={at.size} h=1", program.PLACES),
        ("acts={result} dram", "acts={chip.acts} dram", program.FITS),
        ("params=0 acts", "params={chip.params} acts", ""),
        ("pitch={width}", "pitch={width + 1}", program.ORDER),
        ("st acts", "st act", program.TEXT),
        ("k={depth} n={width} pitch", "k={depth + chip.rows} n={width} pitch", program.SIZES),
        ("0 if relu else -128", "0", program.MEANING),
    ],
)
def test_a_wrong_program_is_told_with_the_sentence_that_it_violates(old, new, sentence):
    answer = edited(exercises.generate, old, new)
    with pytest.raises(Wrong) as wrong:
        program.computes(answer, 3, 4, 4, {"relu": False}, TEACHING)
    assert wrong.value.spec == sentence


def test_an_error_in_an_answer_is_shown_with_the_program():
    call = call_shown("u14_lab_byoc.divided", (Tvm(), model()), {})
    assert str(call).startswith("divided(Tvm(), text), where text is\nmain(x0: int8[16, 64])\n")


def test_what_a_check_is_told_and_a_name_without_a_backend_are_as_in_tvm(tvm):
    """Nothing reads the only result of a program, and a tuple reads several."""
    for module, _, _ in (division.TAKEN[3], division.TAKEN[13]):
        told = []
        for kind, given in ((Tvm(), module), (tvm, real(tvm, module))):
            whole = kind.relax.dpl.is_op("relax.quantize")(
                *(kind.relax.dpl.wildcard() for _ in "xsz")
            )

            def check(context, told=told):
                told.append(sorted(len(users) for users in context.var_usages.values() if users))
                return True

            fuse = kind.relax.transform.FuseOpsByPattern
            fused = fuse([("chip", whole, {}, check)])(given)
            with pytest.raises(Exception, match=r"(?s)backend\.something|followed by period"):
                kind.relax.transform.MergeCompositeFunctions()(fused)
        assert told[0] == told[-1]


def test_our_answers_run_in_tvm(tvm):
    report = plugged.plugged(*OURS)
    assert report.equal and (report.starts, report.clocks) == (2, 42_996)


def divisions(tvm, answer, cases):
    """How an answer divides programs in the stand-in and in TVM; None where it raises."""
    for module, _, _ in cases:
        pair = []
        for kind, given in ((Tvm(), module), (tvm, real(tvm, module))):
            try:
                pair.append(division.division(answer(kind, given)))
            except Exception:
                pair.append(None)
        yield pair


def test_the_stand_in_divides_as_tvm_does(tvm):
    """Right answers on all programs of the checks, wrong ones on some."""
    for answer in (slot(DIVIDED).reference, *alternatives_of(DIVIDED).values()):
        assert all(a == b is not None for a, b in divisions(tvm, answer, CASES)), answer.__name__
    for number, (name, answer) in enumerate(mutants_of(DIVIDED).items()):
        some = CASES[number % 7 :: 7]
        assert all(a == b for a, b in divisions(tvm, answer, some)), name


def test_modules_written_by_hand_are_regions_as_tvm_makes_them():
    """With results in the order in which the region returns them."""
    module, _ = runtime.MODULES[4]
    words = division.division(module)
    assert [len(region) for region in words.regions] == [2, 3, 2]
    (first,) = (f for name, f in module.parts if name == "fused_0_chip")
    assert [r.name for r in first.results] == ["y2", "y1"]


def test_where_tvm_is_missing_the_cells_say_so(monkeypatch):
    monkeypatch.setattr(plugged, "installed", lambda: False)
    said = plugged.by_tvm(exercises.divided, model())
    assert "region 1:" in said and "TVM is not installed here" in said
    assert plugged.plugged(*OURS).by == "the stand-in for TVM"


def test_the_stand_in_says_what_it_has():
    tvm = Tvm()
    with pytest.raises(
        AttributeError, match=r"no tvm\.relax\.dpl\.is_tuple, but wildcard, is_const"
    ):
        _ = tvm.relax.dpl.is_tuple
    with pytest.raises(AttributeError, match=r"no tvm\.nd, but relax, runtime"):
        _ = tvm.nd
    with pytest.raises(AttributeError, match="it has no optional"):
        _ = tvm.relax.dpl.wildcard().optional
    with pytest.raises(ValueError, match=r"names such as relax\.matmul"):
        tvm.relax.dpl.is_op("nn.relu")
    with pytest.raises(ValueError, match=r"int8\[2\] is expected, got int64\[2\]"):
        tvm.runtime.tensor(np.zeros(2, np.int8)).copyfrom(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="already registered; override=True replaces it"):
        for _ in range(2):
            tvm.register_global_func("f", print)
    with pytest.raises(ValueError, match=r"no function with the name relax\.ext\.chip"):
        tvm.relax.transform.RunCodegen()(runtime.MODULES[0][0])
