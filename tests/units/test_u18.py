"""Unit 18: what its text says of its machines, logs and recordings is what they say."""

from __future__ import annotations

from math import comb, inf

import numpy as np
import pytest

from autograder.check.framework import mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.edition.contents import COURSE
from autograder.units.u18.checks import judged, kinds
from autograder.units.u18.checks.intervals import PROMISED, covered, ranks
from autograder.units.u18.checks.reports import as_claims, holds
from autograder.units.u18.hidden import AGAIN
from course_lib.exercises import baselines, plugged, slot, using
from course_lib.measure.claim import claim
from course_lib.measure.duel import verdict
from course_lib.measure.fair import fair_rounds
from course_lib.measure.interval import interval
from course_lib.peers.contest import Contest
from lessons.u18 import makers, shown
from lessons.u18.bench import FULL, MODELS, WIDE
from lessons.u18.evidence import FAULTS, logs
from lessons.u18.evidence import shown as shown_logs
from lessons.u18.experiments import KINDS, by_number, every_throw, experiment, rate
from lessons.u18.machines import TROUBLES, Machine, drawn
from lessons.u18.makers import FEW
from lessons.u18.wild import by_timeit, by_torch

TEXT = " ".join((COURSE / "notebooks/u18_benchmark.md").read_text("utf-8").split())
PAGE = " ".join((COURSE / "docs/units/u18.md").read_text("utf-8").split())
PLOTTED = ["course", "torch-eager", "torch.compile+freezing", "openvino", "tvm"]
LEAST = 12  # rounds of the systems that are compared
HEARD = ["measure.fair_rounds", "measure.interval", "u18.faults", "u18.turns", "u18.pays"]


@pytest.mark.parametrize("name", HEARD)
def test_a_wrong_answer_is_told_so_before_it_is_handed_in(name):
    """No mutant passes the visible checks; a claim may have to wait for the second run."""
    for label, wrong in mutants_of(name).items():
        with plugged(name, wrong):
            call = Here(slot(name))
            with using({}):
                verdict_of = judge(name, call, shrink=False)
        assert (verdict_of.earned or 0) < verdict_of.points, label


def test_two_people_find_what_the_text_says():
    text = shown.opening()
    assert "1.30 times" in text and "0.90 times" in text
    assert "1.30 times as fast as A, the other that it is 0.90 times as fast" in TEXT


def test_a_machine_without_trouble_says_what_is_true():
    machine = Machine((2e-4, 1e-4), 1.0)
    first, second = machine.timers()
    assert first(100) == pytest.approx(2e-4, rel=1e-6)
    assert second(1) == pytest.approx(1e-4, rel=1e-4)
    assert machine.now == pytest.approx(0.0201) and machine.ratio(1) == 2


def test_a_machine_does_what_its_troubles_say():
    cold = Machine((1e-3,), 1.0, cold=(0.01,), chill=(5.0,))
    assert [round(1e3 * cold.timed(0, 1), 3) for _ in range(4)] == [5, 5, 1, 1]
    coarse = Machine((3e-4,), 1.0, tick=1e-3)
    assert {round(1e3 * coarse.timed(0, 1), 6) for _ in range(20)} == {0, 1}
    stops = Machine((1e-3,), 1.0, pauses=(np.array([0.0015]), 0.25))
    assert [round(1e3 * stops.timed(0, 1), 3) for _ in range(3)] == [1, 251, 1]
    slow = Machine((1e-3,), 1.0, slow=np.linspace(1, 3, 4000))
    times = [slow.timed(0, 10) for _ in range(60)]
    assert times == sorted(times) and times[-1] > 1.5 * times[0]


def test_a_machine_goes_on_when_its_time_is_over():
    machine = Machine((1e-3, 1e-3), 0.1, slow=np.full(4000, 2.0))
    assert machine.timed(1, 1000) == pytest.approx(2e-3, rel=1e-6)


@pytest.mark.parametrize("number", [0, -1, 2.0, True])
def test_a_timer_runs_a_whole_number_of_times(number):
    with pytest.raises(ValueError, match="a whole number of times"):
        Machine((1e-3,), 1.0).timed(0, number)


def test_machines_are_as_the_task_says():
    rng = np.random.default_rng(4)
    for _ in range(300):
        machine = drawn(rng)
        assert all(1000 <= machine.seconds / cost <= 2_000_000 for cost in machine.costs)
        assert machine.tick <= 1e-4 * machine.seconds
        assert all(0 < cold <= machine.seconds / 50 for cold in machine.cold)
        assert 0.6 < machine.slow[0] < 4 and len(machine.slow) == 4000


@pytest.mark.parametrize("seed", range(6))
def test_our_rounds_are_fair_on_whatever_is_drawn(seed):
    for some in kinds(seed):
        assert judged(fair_rounds, *some) < 0.025


@pytest.mark.parametrize("seed", range(60))
def test_an_engine_is_warm_when_it_has_run_for_a_fiftieth_of_the_time(seed):
    """By the clock, which counts pauses and neighbours, too: that is all that a student sees."""
    machine = drawn(np.random.default_rng(seed))
    for engine, timer in enumerate(machine.timers()):
        number, spent = 1 + seed % 7, 0.0
        while spent < machine.seconds / 50:
            spent += number * timer(number)
            number += seed % 5
        timer(1)
        assert machine.calls[-1].engine == engine and not machine.calls[-1].cold


def test_nobody_waits_for_a_machine_that_runs_for_ever():
    with pytest.raises(ValueError, match="far longer than the 1 seconds"):
        Machine((1e-3,), 1.0).timed(0, 10**9)


def test_without_an_answer_an_engine_runs_once_in_a_round():
    with baselines("measure.fair_rounds"):
        times = fair_rounds(Machine((1e-3, 2e-3), 1.0).timers(), 1.0)
    assert [len(row) for row in times] == [15, 15]


@pytest.mark.parametrize("count", [6, 9, 12, 20, 30, 60, 200])
def test_an_interval_has_the_risk_of_a_sign_test(count):
    """As many ratios as possible are cut off, and not one more."""
    ratios = [float(n) for n in range(1, count + 1)]
    low, high = interval(ratios, [1.0] * count)
    assert low - 1 == count - high
    for cut, allowed in ((int(low), True), (int(low) + 1, False)):
        tail = sum(comb(count, k) for k in range(cut)) / 2**count
        assert (tail <= 0.025) is allowed


def test_five_rounds_tell_nothing_and_six_do():
    assert interval([2.0] * 5, [1.0] * 5) == (0.0, inf)
    assert interval([2.0] * 6, [1.0] * 6) == (2.0, 2.0)
    assert verdict([2.0] * 5, [1.0] * 5) == "not told apart"
    assert [verdict([2.0] * 6, [1.0] * 6, by) for by in (1.5, 2.0, 2.5)] == [
        "yes",
        "not told apart",
        "no",
    ]


def test_without_an_answer_an_interval_reaches_from_least_to_largest():
    with baselines("measure.interval"):
        ranks(interval, 1)
        assert interval([1.0, 3.0, 2.0] * 2, [1.0] * 6) == (1.0, 3.0)


def test_how_often_our_interval_misses_is_counted_and_not_drawn():
    """The page and the table say 4.28 %, whatever the kind of rounds and whatever is drawn."""
    for kind in KINDS:
        for count, share in ((6, 2 / 2**6), (7, 2 / 2**7), (30, 0.0428)):
            assert rate(interval, count, kind, each=1) == pytest.approx(share, abs=1e-4)
        assert covered(interval, every_throw(7, kind, seed=5), PROMISED) == 2 / 2**7
    assert "Ours misses the true ratio in 4.28 %" in PAGE


def test_coins_fall_in_every_way_and_their_weights_are_probabilities():
    every = list(every_throw(6, "wide"))
    above = sorted(sum(r > one.ratio for r in one.ratios) for one in every)
    assert len(every) == 64 and [above.count(k) for k in range(7)] == [comb(6, k) for k in range(7)]
    for count in (5, 30, 200):
        assert sum(one.weight for one in by_number(count, "still", 2)) == pytest.approx(1, abs=1e-6)


def test_a_bootstrap_misses_one_time_in_eight_with_seven_rounds():
    def resampled(first, second):
        ratios = np.array(first) / np.array(second)
        rng = np.random.default_rng(1)
        middles = np.median(rng.choice(ratios, (2000, len(ratios))), axis=1)
        return np.quantile(middles, 0.025), np.quantile(middles, 0.975)

    assert rate(resampled, 7, "still") == pytest.approx(1 / 8, abs=0.01)
    assert "misses one time in eight with seven rounds" in PAGE


def test_experiments_have_the_ratio_in_their_middle():
    for kind in KINDS:
        rng = np.random.default_rng(3)
        above = [r > one.ratio for one in (experiment(rng, 50, kind) for _ in range(80))
                 for r in one.ratios]  # fmt: skip
        assert 0.47 < np.mean(above) < 0.53


def test_the_interval_decides_what_the_benchmark_prints():
    """The answer to the exercise is what `python -m course_lib bench` asks."""
    fast, slow = [1.0, 1.1, 1.0, 1.2, 1.0, 1.1, 1.0], [1.5, 1.6, 1.6, 1.9, 1.4, 1.7, 1.5]
    assert claim(fast, slow).told
    with plugged("measure.interval", lambda first, second: (0.0, inf)):
        assert not claim(fast, slow).told
    with plugged("measure.interval", lambda first, second: (0.5, 3.0)):
        assert str(claim(fast, slow)) == "not told apart"


def test_the_logs_show_what_their_claims_say():
    assert len(logs()) == 8 and shown_logs().count("Claim: ") == 8
    assert {*slot("u18.faults").reference().values()} == {*FAULTS}
    ratios = {n: [float(word) for line in logs()[n].lines if line.startswith("A / B: ")
                  for word in line[7:].split()] for n in (1, 4, 8)}  # fmt: skip
    assert interval(ratios[1], [1.0] * len(ratios[1]))[0] > 1.05
    assert interval(ratios[4], [1.0] * len(ratios[4]))[0] > 1.0
    assert verdict(ratios[8], [1.0] * len(ratios[8])) == "not told apart"
    assert "1.17 times" in logs()[7].claim and "it is 1.17 for A" in TEXT


def test_the_recordings_hold_every_model_and_what_the_text_names():
    assert len(FULL.repeated()) >= 6
    for full, by in ((FULL, "full"), (AGAIN, "again")):
        assert full.recording.by == f"lessons.u18.makers:{by}"
        assert full.repeated() == FULL.repeated()
        for model in MODELS:
            systems = full.systems(model)
            assert len({len(full.rounds(model, system)) for system in systems}) == 1
            assert len(full.rounds(model, systems[0])) >= LEAST
            assert all(full.error(model, system) < 1e-4 for system in systems)
            assert [full.ms(model, s) for s in systems] == sorted(
                full.ms(model, s) for s in systems
            )


def test_every_system_ran_mobilenet():
    """Project 58: MobileNetV2 on TVM, onnxruntime and tinygrad, beside ours."""
    assert {"course", "onnxruntime", "tvm", "tinygrad"} <= {*FULL.systems(WIDE)}
    assert {len(FULL.rounds(WIDE, system)) for system in FULL.systems(WIDE)} == {FEW}


def test_the_number_of_kernels_does_not_explain_the_time():
    """Section 4 says so below a line that names the systems."""
    first, second = shown.alike(WIDE).splitlines()
    assert int(first.split()[0]) >= 3 and "kernels: " in first
    assert float(second.split(" takes ")[1].split()[0]) > 5


def test_compiling_longer_pays_from_some_run_on_or_never_or_was_never_needed():
    for model in MODELS:
        for one in FULL.repeated():
            for other in FULL.repeated():
                after = FULL.pays_after(model, one, other)
                longer = FULL.compiling(model, one) > FULL.compiling(model, other)
                faster = FULL.ms(model, one) < FULL.ms(model, other)
                assert after == (0 if not longer else inf) or (longer and faster and after > 0)


def test_no_two_series_of_a_plot_look_alike():
    plots = [shown.totals_plot(WIDE, PLOTTED), shown.rounds_plot("mlp"),
             shown.widths_plot(interval, 5)]  # fmt: skip
    for plot in plots:
        looks = [(line.get_color(), line.get_linestyle(), line.get_marker())
                 for line in plot.axes.lines]  # fmt: skip
        assert len(set(looks)) == len(looks) >= 4
    assert all(f'"{system}"' in TEXT for system in PLOTTED)


def test_the_two_recordings_are_two():
    assert FULL.rounds("resnet18", "course") != AGAIN.rounds("resnet18", "course")


def test_our_claims_hold_in_both_runs_and_bragging_does_not():
    ours = as_claims(slot("u18.claims").reference(), FULL)
    assert [holds(one, full) for one in ours for full in (FULL, AGAIN)] == [""] * 6
    form, model, system, other, _ = ours[0]
    assert holds((form, model, system, other, 1.5 * FULL.ratio(model, system, other)), FULL)


def test_what_the_bill_says_of_our_answers():
    ours = slot("measure.fair_rounds").reference, slot("measure.interval").reference
    rows = [line.split() for line in shown.bill(*ours).text.splitlines()[1:4]]
    assert all(row[-1] == row[-2] for row in rows)


def test_a_recording_that_is_interrupted_leaves_the_file_as_it_was(monkeypatch):
    """A contest keeps what it has when it is interrupted; half of it would be no recording."""
    monkeypatch.setattr(makers, "contest", lambda model, *_: Contest(model.name, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        makers.again.function()


def test_every_trouble_makes_one_of_the_usual_ways_wrong():
    """What `errors_table` shows is not the exception."""
    for trouble in TROUBLES:
        worst = max(shown.errors(way, [trouble], 6) for way in (shown.single, shown.blocks))
        assert worst > 3 * shown.errors(
            shown.by(slot("measure.fair_rounds").reference), [trouble], 6
        )


def test_other_timers_fail_where_the_text_says_so():
    assert shown.errors(by_timeit, ["slower and slower"], 3, 3.0) > 5
    assert shown.errors(by_timeit, ["coarse clock"], 3, 3.0) < 2
    assert shown.errors(by_torch, ["coarse clock"], 3, 3.0) > 5
    assert shown.errors(by_torch, ["clock rate"], 3, 3.0) > 5
