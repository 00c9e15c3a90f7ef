"""Targets: one file each, found by name, told what was asked for; what happens is in one log.

compile(model, target="systolic")   its part for the processor: "f_cpu_0.loops", ...
"""

import sys
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import course_lib
from course_lib.draw.graphs.stages import slider
from course_lib.ir.graph.build import relu, softmax, trace
from course_lib.ir.graph.graph import Graph
from course_lib.passes.clean.dce import dce
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import key_of_graph
from course_lib.passes.infra.asks import asked, asks
from course_lib.passes.infra.manager import pass_name, run_passes
from course_lib.passes.layout.layout import layout
from course_lib.passes.pipeline import DEFAULT
from course_lib.targets.interpreter import Interpreter
from course_lib.targets.target import TARGETS, Log, Options, target

pytest.importorskip("llvmlite")
from course_lib.targets.tuned import ANSWERS, passes_with

X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)


def net() -> Graph:
    return trace(lambda x: softmax(relu(x) + 1.0, axis=-1), "f32[2,3]", name="f")


@pytest.mark.parametrize("name", TARGETS)
def test_each_target_is_a_file_of_its_name(name):
    found = target(name)
    assert found is import_module(f"course_lib.targets.{name}").TARGET and found.name == name
    log = Log()
    graph = run_passes(net(), found.passes(Options()), log.see)
    run = found.executable(graph, Options(), log)
    assert run.target == name and run.stages is log.stages and run.compile_seconds is log.seconds
    wanted = course_lib.compile(net(), target="interpreter", passes=[])(X)
    np.testing.assert_allclose(run(X), wanted, rtol=1e-5, atol=0.02 * (name == "systolic"))


def test_a_new_target_is_a_file_and_a_line(monkeypatch):
    """It decides which passes run, and gets what was asked for."""

    class Counting(Interpreter):
        name = "counting"

        def passes(self, options: Options):
            return [dce]

        def executable(self, graph: Graph, options: Options, log: Log):
            log.see(f"{options.threads} threads", "text")
            return super().executable(graph, options, log)

    monkeypatch.setitem(TARGETS, "counting", ())
    module = SimpleNamespace(TARGET=Counting())
    monkeypatch.setitem(sys.modules, "course_lib.targets.counting", module)
    run = course_lib.compile(net(), target="counting", threads=3)
    assert [stage.name for stage in run.stages] == ["import", "dce", "3 threads"]
    with pytest.raises(ValueError, match="cpu, interpreter, systolic, counting, got 'gpu'"):
        course_lib.compile(net(), target="gpu")


def test_what_the_chip_leaves_to_the_processor_is_seen_and_kept():
    seen: list[str] = []
    run = course_lib.compile(net(), [X], "systolic", watch=lambda name, form: seen.append(name))
    names = [stage.name for stage in run.stages]
    assert seen == names and len(set(names)) == len(names)
    assert names[:2] == ["import", "quantize"] and names[-1] == "chip"
    own = [name.removeprefix("f_cpu_0.") for name in names[2:-1]]
    assert own[0] == "part" and own[-5:] == ["loops", "scheduled", "llvm", "optimized", "assembly"]
    passes = run_passes(run.stage("f_cpu_0.part").form, DEFAULT)
    assert run.stage("f_cpu_0.dce_3").text == str(passes)
    assert "for" in run.stage("f_cpu_0.loops").text
    assert {"import", "passes", "lower", "codegen", "quantize", "chip"} <= set(run.compile_seconds)
    assert "f_cpu_0.scheduled" in slider(run.stages, "f").html


def test_seconds_of_steps_within_steps_are_counted_once():
    log = Log()
    with log.timed("chip"):
        for _ in range(2):
            with log.timed("passes"):
                sum(range(100_000))
    assert list(log.seconds) == ["passes", "chip"]
    assert 0 <= log.seconds["chip"] < log.seconds["passes"]


def test_passes_of_the_options_are_run_on_the_parts_for_the_processor():
    names = [s.name for s in course_lib.compile(net(), [X], "systolic", passes=[dce]).stages]
    assert names[2:5] == ["f_cpu_0.part", "f_cpu_0.dce", "f_cpu_0.loops"]


# ── what passes ask for ──


class Found:
    """As if a search had found that nothing shares a kernel."""

    def __init__(self, graph: Graph):
        self.key = key_of_graph(graph)

    def groups_of(self, graph: Graph):
        return () if key_of_graph(graph) == self.key else None

    def convolutions_of(self, graph: Graph):
        return None

    def schedule_of(self, kernel, constants):
        return None


def test_passes_that_ask_are_told_and_no_others():
    assert asked(fuse) == "groups" and asked(layout) == "convolutions" and asked(dce) == ""
    assert {kind for one in DEFAULT if (kind := asked(one))} == set(ANSWERS)
    told = passes_with(DEFAULT, Found(net()))
    same = [one for one in told if one in DEFAULT]
    assert [pass_name(one) for one in told if one not in DEFAULT] == ["winograd", "fuse"]
    assert same == [one for one in DEFAULT if asked(one) != "groups"]
    assert passes_with(DEFAULT, None) is DEFAULT


def test_a_pass_of_ones_own_may_ask_too():
    """The library's `fuse` is not in this list: what asks is what says so."""

    @asks("groups")
    def my_fuse(graph: Graph) -> Graph:
        return fuse(graph)

    graph = trace(lambda x: relu(x + 1.0), "f32[2,3]", name="f")
    options = Options(passes=passes_with([my_fuse], Found(graph)))
    assert len(run_passes(graph, options.passes).ops) == 2  # as it was found
    other = trace(lambda x: relu(x + 2.0) + 1.0, "f32[2,3]", name="f")
    assert len(run_passes(other, options.passes).ops) == 1  # nothing was found: `my_fuse` runs


def test_options_are_a_value():
    options = Options(threads=2)
    assert replace(options, cpu="x86-64").threads == 2 and options.cpu == "host"
    with pytest.raises(AttributeError):
        options.threads = 3  # type: ignore[misc]
