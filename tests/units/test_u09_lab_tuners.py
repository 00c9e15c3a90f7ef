"""The lab of unit 9: its recordings are whole, and its text says what they say."""

import inspect
import json
import math
import shutil
from itertools import accumulate
from statistics import median

import pytest

from autograder.check.framework import Wrong
from autograder.check.sentences import to_the_end
from autograder.edition.contents import COURSE
from autograder.units.u09_lab_tuners.checks import NAMES as NAMES_OF
from autograder.units.u09_lab_tuners.checks import (
    SEEN,
    WORST,
    reads_each_form,
    score,
    the_first_that_is_good_enough,
)
from autograder.units.u09_lab_tuners.hidden import LAYERS
from course_lib.exercises import slot
from lessons.u09_lab_tuners import beams
from lessons.u09_lab_tuners.beams import RECORDED, WIDTHS
from lessons.u09_lab_tuners.logs import (
    AGAIN,
    BY_TVM,
    LAYER,
    LEARNED,
    LOGS,
    SECONDS,
    judged,
    rank_correlation,
    regret,
)
from lessons.u09_lab_tuners.shown import (
    again_table,
    beams_table,
    curves_plot,
    models_table,
    tuners_table,
)

NAMES = ("records", "needed", "features", "predicted")
OURS = {name: slot(f"u09_lab_tuners.{name}").reference for name in NAMES}
TEXT = " ".join((COURSE / "notebooks/u09_lab_tuners.md").read_text("utf-8").split())


@pytest.fixture(scope="module")
def logs():
    return {tuner: OURS["records"](text) for tuner, text in LOGS.items()}


def test_the_number_of_kernels_is_the_same_for_every_width():
    assert tuple(RECORDED) == WIDTHS
    assert {run.kernels for runs in RECORDED.values() for run in runs} == {3}
    assert {len(run.chosen) for runs in RECORDED.values() for run in runs} == {3}
    assert "The number of kernels is the same for every width" in TEXT


def test_a_wider_beam_tries_more_candidates_and_none_without_a_search():
    least = [min(run.candidates for run in RECORDED[width]) for width in WIDTHS]
    assert least == sorted(least) and least[0] == 0 < least[1]


def test_without_clang_nothing_is_measured(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert beams.measure(0) is None


def test_a_width_that_was_not_measured_says_why():
    table = str(beams_table({0: RECORDED[0][:1], 1: [None]}))
    assert "one measurement" in table and "tinygrad or clang is missing here" in table


def test_the_rubric_counts_the_runs_after_which_a_width_has_paid():
    ms, seconds = (
        [median(getattr(run, what) for run in RECORDED[width]) for width in WIDTHS]
        for what in ("milliseconds", "seconds")
    )
    pays = [1e3 * (seconds[w] - seconds[0]) / (ms[0] - ms[w]) for w in (1, 2, 3)]
    assert pays == sorted(pays)
    rubric = slot("u09_lab_tuners.worth").reference()
    assert f"BEAM=1 pays after about {pays[0]:,.0f}"[:-3] in rubric.criteria
    costs = f"BEAM=1 costs {seconds[1] - seconds[0]:.1f} s and saves {ms[0] - ms[1]:.2f} ms a run"
    assert all(costs in sample.text for sample in rubric.samples[:2])
    assert all(f"{round(pays[w - 1], -2):,.0f}" in rubric.samples[0].text for w in (1, 3))


def test_a_wrong_number_is_told_with_its_own_sentence():
    text = inspect.getdoc(OURS["features"]) or ""
    assert [to_the_end(NAMES_OF[name], text) for name in ("lanes", "sums")] == [
        "how many iterations j2 has", "how many elements of c the loops i2 and j2 update",
    ]  # fmt: skip


def test_what_an_answer_returned_is_shown_as_it_is():
    nothing, floats = lambda logs, within: dict.fromkeys(logs), lambda text: [(1, 0.5)]
    for check, answer, given, got in [
        (the_first_that_is_good_enough, nothing, ({"x": [(1, 1.0)]}, 0.0), "None"),
        (reads_each_form, floats, ("", []), "[(1, 0.5)]"),
    ]:
        with pytest.raises(Wrong) as wrong:
            check(answer, given)
        assert wrong.value.got == got


def test_every_log_is_read_and_each_tuner_has_a_price(logs):
    assert {tuner: len(trials) for tuner, trials in logs.items()} == {
        "AutoTVM, random": 160, "AutoTVM, learned": 128, "Ansor": 128, "MetaSchedule": 128,
    }  # fmt: skip
    assert set(SECONDS) == set(LOGS) and min(SECONDS.values()) > 1
    assert "def by_ansor" in BY_TVM["script"]


def test_schedules_and_seconds_are_those_of_the_log(logs):
    measured = [seconds for _, seconds in logs["AutoTVM, random"] if seconds < math.inf]
    assert measured == [*LAYER.seconds] and len(measured) < 160
    for one in (*LAYER.schedules, *LEARNED.schedules):
        assert [math.prod(one[name]) for name in "ijr"] == [128, 512, 784]


def test_both_runs_of_autotvm_draw_the_same_schedules_before_one_has_a_model():
    assert LAYER.schedules[:16] == LEARNED.schedules[:16]
    pairs = zip(LAYER.seconds[:16], LEARNED.seconds[:16], strict=True)
    assert round(median(max(p) / min(p) for p in pairs), 1) == 1.4
    last = " ms in one run and ".join(f"{1e3 * some.seconds[15]:.2f}" for some in (LAYER, LEARNED))
    assert "differ by a factor of 1.4 in the median" in TEXT and f"took {last} ms in" in TEXT


def test_the_order_of_the_best_schedules_is_the_same_in_turns_and_in_a_row():
    """No run follows the plain loops: what does is slower, whichever it is."""
    orders = [sorted(LOGS, key=lambda tuner, way=way: AGAIN[tuner][way]) for way in (0, 1)]
    assert orders[0] == orders[1] and orders[0][0] == "AutoTVM, random"
    assert f"the plain loops take {AGAIN['no search'][1]:.0f} ms" in TEXT


def test_among_good_schedules_our_model_is_no_better_than_chance():
    assert len(LEARNED.fast(2).seconds) == 76 and "76 of these 128" in TEXT
    wide, good = judged(OURS["predicted"], LAYER), judged(OURS["predicted"], LEARNED, within=2)
    assert [round(n, 2) for n in (wide[0], *good)] == [0.84, 0.35, 0.03]
    by_chance = judged(lambda known, seconds, asked: range(len(asked)), LEARNED, within=2)
    assert abs(by_chance[0]) < 0.15 and by_chance[1] < 2 * good[1]


def test_no_layer_of_the_hidden_check_is_one_that_students_have():
    seen = {json.dumps(one) for layer in SEEN.values() for one in layer.schedules}
    for layer in LAYERS.values():
        assert not seen & {json.dumps(one) for one in layer.schedules}


def test_our_model_earns_all_points_and_lanes_alone_none():
    for layers in (SEEN, {**SEEN, **LAYERS}):
        assert score(OURS["predicted"], layers, seed=900).fraction == 1
    lanes = score(lambda known, seconds, asked: [-s["j"][2] for s in asked], SEEN, seed=900)
    assert lanes.fraction == 0 < WORST


def test_rank_correlation_shares_the_places_of_equal_numbers():
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([3, 2, 1], [10, 20, 30]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 1], [10, 20, 30]) == 0
    assert rank_correlation([1, 1, 2], [10, 20, 20]) == pytest.approx(0.5)


def test_regret_is_what_is_lost_if_only_the_first_are_measured():
    assert regret([1, 2, 3], [4.0, 3.0, 2.0], 2) == pytest.approx(0.5)
    assert regret([1, 2, 3], [4.0, 3.0, 2.0], 3) == 0


def test_the_tables_and_the_plot_show_every_tuner(logs):
    words = str(tuners_table(logs, OURS["needed"]))
    best = {tuner: [*accumulate((s for _, s in log), min)] for tuner, log in logs.items()}
    plot, again = str(curves_plot(best)), str(again_table(logs))
    assert all(tuner in words and tuner in again for tuner in LOGS)
    assert all(tuner.removeprefix("AutoTVM, ") in plot for tuner in LOGS)
    assert all(f"BEAM={width}" in str(beams_table(RECORDED)) for width in WIDTHS)
    assert "your model" in str(models_table(OURS["predicted"], OURS["features"]))
