"""The lab of unit 15: its recordings are what Inductor writes, and its text says what they say."""

from __future__ import annotations

import re
import shutil

import pytest

from autograder.check.framework import Wrong
from autograder.edition.contents import COURSE
from autograder.units.u15_lab_block import checks, hidden
from autograder.units.u15_lab_block.checks import tile as tiles
from autograder.units.u15_lab_block.makers import others
from course_lib.exercises import slot
from lessons.u15_lab_block import measured, shown, text
from lessons.u15_lab_block.eager import eager
from lessons.u15_lab_block.makers import for_avx512

OURS = {name: slot(f"u15_lab_block.{name}").reference for name in ("launched", "loops", "tile")}
TEXT = " ".join((COURSE / "notebooks/u15_lab_block.md").read_text("utf-8").split())


@pytest.fixture(scope="module")
def gxx(missing):
    if shutil.which("g++") is None:
        missing("it needs the program g++")


@pytest.mark.usefixtures("gxx")
def test_inductor_writes_what_is_recorded_whatever_this_processor_is():
    import torch

    assert for_avx512(*text.program("block")) == text.BY_INDUCTOR["block"]
    for name in ("attention", "sums of columns"):
        function, shapes = others()[name]
        now = for_avx512(function, *(torch.zeros(shape) for shape in shapes))
        assert now == hidden.BY_INDUCTOR[name]


def test_a_line_behind_a_loop_is_not_in_it():
    code = text.code_of(hidden.BY_INDUCTOR["sums of columns"], "cpp_fused_mul_sum_0")
    assert [row["stores"] for row in OURS["loops"](code)] == [["out_ptr0"], []]


@pytest.mark.usefixtures("gxx")
def test_what_is_written_here_differs_in_lanes_alone():
    here = text.cpp("block")[0]
    widths = re.compile(r"\+=(?:4|8|16)\)")
    assert widths.sub("+=W)", here) == widths.sub("+=W)", text.BY_INDUCTOR["block"])
    assert text.cpp("block")[1].startswith("written now by PyTorch")


def test_without_gxx_the_recorded_text_is_shown_and_nothing_is_measured(monkeypatch):
    monkeypatch.setattr(text, "which", lambda name: None)
    monkeypatch.setattr(measured, "which", lambda name: None)
    given, words = text.cpp.__wrapped__("gelu")
    assert given == text.BY_INDUCTOR["gelu"] and words.endswith("there is no g++ here")
    assert "there is no g++ here" in str(
        measured.measured_table({"gelu": measured.measure("gelu")})
    )


def test_launches_and_bytes_are_those_of_the_text():
    """16 launches become 14, of which 8 are products; GELU's nine move 22 arrays, and the one 2."""
    assert len(eager("block")) == 16 and len(eager("gelu")) == 9
    assert shown.megabytes(eager("gelu")) == 22 * 4 * 1024**2 / 1e6
    for given in (text.BY_GPU["block"], text.BY_INDUCTOR["block"]):
        names = [row[0] for row in OURS["launched"](given)]
        assert len(names) == 14 and sum("extern" in name for name in names) == 8
        assert shown.saved("block", given, OURS["launched"]) == pytest.approx(6.4, abs=0.05)
    assert shown.saved("gelu", text.BY_INDUCTOR["gelu"], OURS["launched"]) == pytest.approx(
        90.9, 1e-3
    )
    assert "there eight launches become six" in TEXT and "saves 91 %" in TEXT


def test_times_of_the_gpu_are_as_the_text_reads_them():
    one, many, ms = shown.KERNELS, shown.MANY, shown.MS
    for way in ("eager", "compiled"):
        assert sum(row[1] for row in one[f"block, {way}"]) < 1e3 * ms["block"][way] / 5
    assert len(one["block, eager"]) == 21 and ms["block"]["graph_eager"] == 0.09
    assert ms["block"]["compiled"] > ms["block"]["eager"]
    assert ms["block_b64"]["compiled"] < ms["block_b64"]["eager"]
    (softmax,) = (row for row in one["block, compiled"] if "softmax" in row[0])
    parts = [row[1] for row in one["block, eager"] if row[0] in ("div", "softmax")]
    assert softmax[1] > sum(parts) and softmax[2][0] == 16
    (softmax,) = (row for row in many["compiled"] if "softmax" in row[0])
    assert softmax[1] < sum(row[1] for row in many["eager"] if row[0] in ("div", "softmax")) / 2


def test_twelve_of_fifteen_rounds_are_seldom_won_by_chance():
    from math import comb

    assert 2 * sum(comb(15, k) for k in range(12, 16)) / 2**15 < 0.04
    assert {len(run.ratios) for run in measured.MEASURED.values()} == {measured.ROUNDS}


def test_a_wrong_answer_is_told_with_the_sentence_that_it_violates():
    given = text.BY_INDUCTOR["gelu"]
    due = OURS["launched"](given)
    for row, sentence in (
        (("cpp_fused_0", [], 1, 1), checks.IS),
        ((due[0][0], ["mul"], *due[0][2:]), checks.HELD),
        ((*due[0][:2], 0, due[0][3]), checks.ROLES),
    ):
        with pytest.raises(Wrong) as wrong:
            checks.same_rows([row], due, given)
        assert wrong.value.spec == sentence
    launch = tiles.RAN[0][0]
    with pytest.raises(Wrong) as wrong:
        tiles.as_it_must(lambda *given: {**launch.tile, "XBLOCK": 512}, launch)
    assert wrong.value.spec == tiles.LEAST


def test_every_loop_of_the_block_has_its_note_and_every_table_its_rows():
    for kernel in re.findall(r"(?m)^(cpp_\w+) = ", text.BY_INDUCTOR["block"]):
        code = text.code_of(text.BY_INDUCTOR["block"], kernel)
        assert shown.annotated(code, OURS["loops"]).count(" times") == code.count("for(")
    assert "32 × 128" in str(shown.tiles_table(OURS["tile"]))
    assert str(shown.softmax_table()).count("not recorded") == 2
    table = shown.launches_table(text.BY_GPU["block"], OURS["launched"], "the block")
    assert "var_mean, sub, add, rsqrt" in str(table) and "whole call" in str(shown.gpu_table())
