"""A model is tuned: what is kept, what is given up, how it ends early, how it goes on.

A stand-in times kernels here: every verdict is the same on any machine.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import course_lib
from course_lib.__main__ import main
from course_lib.cost.machine import Machine
from course_lib.exercises import plugged
from course_lib.ir.graph.build import conv, matmul, relu, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import const, inp
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.passes.layout.winograd import winograd_as
from course_lib.schedule.script import Schedule
from course_lib.schedule.search.choice import Choice
from course_lib.schedule.search.problem import Timing
from course_lib.schedule.search.tuned import Tuned, load_tuned, parse_tuned
from course_lib.tune import tune as room
from course_lib.tune import whole
from course_lib.tune.shares import Work, shares
from course_lib.tune.tune import How, Tuning, tune

X = np.arange(48, dtype=np.float32).reshape(6, 8) / 48
FEW = {"width": 2, "depth": 2}


def model() -> Graph:
    x, w = inp("x", "f32[6,8]"), inp("w", "f32[8,16]")
    return Graph.of([x, w], [relu(matmul(transpose(relu(matmul(x, w)), (1, 0)), x))], "small")


INPUTS = [X, np.linspace(-1, 1, 128, dtype=np.float32).reshape(8, 16)]


@dataclass
class Stand:
    """Times by a rule: whatever is not the default, the first of a batch, is twice as fast."""

    interrupt: int = -1
    batches: list[Sequence[Kernel]] = field(default_factory=list)

    def __call__(self, kernels: Sequence[Kernel], machine: Machine, ask=None) -> list[Timing]:
        self.batches.append(kernels)
        if len(self.batches) == self.interrupt:
            raise KeyboardInterrupt
        return [Timing.of([1.0 if number == 0 else 0.5] * 5) for number in range(len(kernels))]

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def stand(monkeypatch, tmp_path):
    """The stand-in, and whole models of which the second is as much faster as `verdict` says."""
    monkeypatch.setenv("COURSE_LIB_CACHE", str(tmp_path / "kept"))
    found, verdict = Stand(), [2.0]
    monkeypatch.setattr(room, "_timer", lambda how, machine: found)

    def turns(calls, seconds, rounds=15):
        for call in calls:
            call()
        return [[1.0] * 5, [1 / verdict[0]] * 5][: len(calls)]

    monkeypatch.setattr(whole, "for_seconds", turns)
    return found, verdict


def tuned_with(**how) -> Tuning:
    return tune(model(), INPUTS, 1000, How(options=FEW, priced=40, threads=2), **how)


def test_a_tuned_model_computes_the_same_with_the_schedules_that_were_found(stand, tmp_path):
    path = tmp_path / "small.tuned.json"
    heard = []
    found = tuned_with(path=path, progress=lambda seconds, words: heard.append(words))
    assert found.gain == 2 and found.stopped == "complete" and heard
    entries = list(found.tuned.kernels.values())
    assert len(entries) == len(found.work) > 1 and any(e.gain == 2 for e in entries)
    assert load_tuned(path) == found.tuned
    default = course_lib.compile(model(), INPUTS, threads=2)
    for search in (found.tuned, path, str(path), "kept"):
        run = course_lib.compile(model(), INPUTS, threads=2, search=search)
        np.testing.assert_allclose(run(*INPUTS), default(*INPUTS), rtol=1e-5)
        scheduled = run.stage("scheduled").form.steps
        for step, before in zip(scheduled, default.stage("loops").form.steps, strict=True):
            given = found.tuned.schedule_of(before.kernel, frozenset())
            assert given is None or step.kernel == given.apply(before.kernel)
        assert scheduled != default.stage("scheduled").form.steps


def test_what_is_not_faster_in_the_model_is_given_up(stand):
    stand[1][0] = 0.9
    found = tuned_with()
    assert found.gain == 1 and found.default_ms == found.tuned_ms
    assert all(entry.value is None for entry in found.tuned.kernels.values())
    assert "the model was no faster with it" in {e.why for e in found.tuned.kernels.values()}


def test_a_wrong_result_is_never_kept(stand, monkeypatch):
    monkeypatch.setattr(whole.Whole, "agrees", lambda self, model, wanted: False)
    assert all(e.value is None for e in tuned_with().tuned.kernels.values())


def test_tuning_goes_on_where_it_was_interrupted(stand, tmp_path):
    path = tmp_path / "t.json"
    stand[0].interrupt = 2
    first = tuned_with(path=path)
    assert first.stopped == "interrupted"
    assert 0 < len(first.tuned.kernels) < len(first.work)
    assert load_tuned(path) == first.tuned
    stand[0].interrupt = -1
    second = tuned_with(path=path, resume=load_tuned(path))
    assert len(second.tuned.kernels) == len(second.work)
    assert set(second.records).isdisjoint(first.tuned.kernels)
    third = tuned_with(resume=second.tuned)
    assert third.records == {} and third.tuned.kernels.keys() == second.tuned.kernels.keys()
    with pytest.raises(ValueError, match="cannot resume"):
        tuned_with(resume=Tuned(Machine("another")))


def test_no_time_leaves_the_default(stand):
    found = tune(model(), INPUTS, 0.01, How(threads=2))
    assert found.tuned.kernels == {} and found.gain == 1
    assert {row["why"] for row in found.as_dict()["kernels"]} == {"not searched"}


def test_the_model_alone_may_decide_the_search(stand):
    how = How(options=FEW, decides="model", priced=30, threads=1)
    found = tune(model(), INPUTS, 1000, how)
    assert all(record.measured == 0 for record in found.records.values())
    with pytest.raises(ValueError, match="decides is one of model, time, both"):
        How(decides="luck")


def test_rows_say_what_became_of_each_kernel(stand):
    data = tuned_with().as_dict()
    assert sum(row["share"] for row in data["kernels"]) == pytest.approx(1)
    assert data["tried"] == sum(row["tried"] for row in data["kernels"]) > 0
    best = [row for row in data["kernels"] if row["schedule"]]
    assert all(row["measured_speedup"] == 2 and row["predicted_speedup"] for row in best)
    assert json.loads(json.dumps(data)) == data


# ── groups of nodes ──


def apart():
    """A heuristic that leaves everything alone, so that a search has something to find."""
    return plugged("passes.should_fuse", lambda producer, consumer: False)


def test_groups_that_gain_are_kept_and_compiled_later(stand, tmp_path):
    path = tmp_path / "small.tuned.json"
    with apart():
        found = tuned_with(path=path)
        default = course_lib.compile(model(), INPUTS, threads=2)
    assert found.groups and found.groups.gain == 2 and found.groups.tried > 1
    before, after = found.groups.predicted
    assert before and after and after < before
    assert load_tuned(path) == found.tuned and found.gain == 2
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()
    before = [step.node.op for step in default.stage("loops").form.steps]
    assert "fused" not in before
    for search in (path, "kept"):
        with apart():
            run = course_lib.compile(model(), INPUTS, threads=2, search=search)
        after = [step.node.op for step in run.stage("loops").form.steps]
        assert after.count("fused") == 2 and len(after) < len(before)
        np.testing.assert_allclose(run(*INPUTS), default(*INPUTS), rtol=1e-5)
    with apart():
        again = tuned_with(resume=found.tuned)
    assert again.groups == found.groups


@pytest.mark.parametrize("verdict", [1.0, 0.9])
def test_groups_that_gain_nothing_are_given_up(stand, verdict):
    stand[1][0] = verdict
    with apart():
        found = tuned_with()
    assert found.groups and found.groups.value is None
    assert found.groups.why == "faster by less than the noise, if at all"


def test_groups_with_which_the_model_loses_in_the_end_are_given_up(stand, monkeypatch):
    def faster(before, after):
        stand[1][0] = 0.9  # from now on
        return True

    monkeypatch.setattr(whole, "faster", faster)
    monkeypatch.setattr(whole, "PROPOSED", 1)
    with apart():
        found = tuned_with()
    assert found.groups and found.groups.value is None
    assert found.groups.why == "the model was no faster with it" and found.gain == 1


def test_the_groups_of_the_heuristic_stay_where_none_are_cheaper(stand):
    found = tuned_with()
    assert found.groups and found.groups.value is None
    assert found.groups.why == "no other groups are cheaper by the cost model"
    assert found.groups.tried > 1


# ── convolutions ──

IMAGE = np.random.default_rng(0).standard_normal((1, 16, 8, 8)).astype(np.float32)


def convolution(channels: int = 16) -> Graph:
    x, w = inp("x", f"f32[1,{channels},8,8]"), np.ones((16, channels, 3, 3), np.float32) / 9
    return Graph.of([x], [relu(conv(x, const(w), pads=(1, 1, 1, 1)))], "image")


def tuned_image(**how) -> Tuning:
    how = {"options": FEW, "priced": 10, "threads": 1, **how}
    return tune(convolution(), [IMAGE], 1000, How(**how))


def ops(search) -> list[str]:
    run = course_lib.compile(convolution(), [IMAGE], threads=1, search=search)
    np.testing.assert_allclose(run(IMAGE), course_lib.compile(convolution(), [IMAGE])(IMAGE), 1e-4)
    return [node.op for node in run.stage("winograd").form.nodes] if search else []


def test_convolutions_by_winograd_are_kept_where_the_model_gains(stand):
    found = tuned_image()
    assert found.convolutions and found.convolutions.gain == 2
    assert parse_tuned(str(found.tuned)) == found.tuned
    assert "winograd_tiles" in ops(found.tuned) and "winograd_tiles" in ops("kept")
    assert found.as_dict()["convolutions"]["winograd"] == list(found.convolutions.value or ())
    assert tuned_image(direct=True).convolutions is None
    again = tune(convolution(), [IMAGE], 1000, How(threads=1), found.tuned)
    assert again.convolutions == found.convolutions


def test_convolutions_stay_direct_where_the_model_does_not_gain(stand):
    stand[1][0] = 1.0
    found = tuned_image()
    assert found.convolutions and found.convolutions.value is None
    assert found.convolutions.why == "faster by less than the noise, if at all"
    assert "winograd_tiles" not in ops(found.tuned)


def test_convolutions_with_which_the_model_loses_in_the_end_are_direct_again(stand, monkeypatch):
    def faster(before, after):
        stand[1][0] = 0.9  # from now on
        return True

    monkeypatch.setattr(whole, "faster", faster)
    found = tuned_image()
    assert found.convolutions and found.convolutions.value is None and found.gain == 1
    assert found.convolutions.why == "the model was no faster with it"
    assert "winograd_tiles" not in ops(found.tuned)


def test_a_model_without_such_convolutions_says_so(stand):
    found = tuned_with().convolutions
    assert found and found.tried == 0 and found.why == "there is none for Winograd"


def test_names_that_fit_no_convolution_are_passed_over():
    graph = convolution()
    assert winograd_as(lambda _: ["nothing", "x"])(graph).ops[-1].op == graph.ops[-1].op


# ── the command ──


def said(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_command_tunes_and_run_takes_the_file(capsys, tmp_path):
    pytest.importorskip("torch")
    path = str(tmp_path / "mlp.json")
    found = said(capsys, "tune", "mlp", "--beam", "1", "--depth", "1", "--budget", "2",
                 "--threads", "1", "-o", path)  # fmt: skip
    assert found["model"] == "mlp" and found["written"] == path
    assert found["default_ms"] > 0 and found["tuned_ms"] > 0 and found["speedup"] >= 1
    assert len(found["kernels"]) == 3 and found["tried"] >= 0
    ran = said(capsys, "run", "mlp", "--tuned", path, "--threads", "1", "--repeat", "1")
    assert ran["run_ms"] > 0
    with pytest.warns(UserWarning, match="another machine"):
        said(capsys, "run", "mlp", "--tuned", path, "--threads", "3", "--repeat", "1")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--budget", "0"], "--budget must be more than 0"),
        (["--resume", "nowhere.json"], "nowhere.json"),
        (["-o", "/nowhere/at/all.json"], "no such folder"),
    ],
)
def test_wrong_usage_is_said_in_words(capsys, words, says):
    assert main(["tune", "mlp", *words]) == 1
    assert says in capsys.readouterr().err


def test_a_kernel_gets_its_part_of_the_time_that_is_left_if_it_is_not_too_short():
    """Nothing runs here: of 1e9 s, what passes between two lines is no part."""
    copy = "kernel @k(x: f32[8], out: f32[8]) { for i in 0..8 { out[i] = x[i] } }"
    kernels = [parse_kernel(copy.replace("8", str(n))) for n in (4, 8, 16)]
    work = [Work(kernel, frozenset(), calls, 1, 1.0)
            for kernel, calls in zip(kernels, (6, 3, 1), strict=True)]  # fmt: skip
    tuned, end = Tuned(Machine()), time.perf_counter() + 1e9
    parts = [(one.calls, round(share / 1e9, 3)) for one, share in shares(work, tuned, end)]
    assert parts == [(6, 0.6), (3, 0.75), (1, 1.0)], "whoever ends early leaves the rest to others"
    few, many = Choice[Schedule](None, tried=1), Choice[Schedule](None, tried=40)
    tuned = tuned.with_schedule(kernels[0], frozenset(), many)
    tuned = tuned.with_schedule(kernels[1], frozenset(), few)
    assert [one.calls for one, _ in shares(work, tuned, end)] == [3, 1]
    assert list(shares(work, tuned, time.perf_counter())) == []
