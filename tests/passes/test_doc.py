"""The examples in the docstrings of the passes run, and every exercise among them is complete."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import course_lib.cost
import course_lib.passes
from autograder.check.hints import ladder
from course_lib.exercises import baselines, slot
from course_lib.ir.graph.build import neg, trace
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.pipeline import DEFAULT

FILES = sorted(
    found.name
    for room in (course_lib.passes, course_lib.cost)
    for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
)
EXERCISES = {
    "passes.dce": 2,
    "passes.cse": 2,
    "passes.fold": 2,
    "passes.match": 2,
    "passes.simplify": 2,
    "passes.strength": 2,
    "passes.fixpoint": 2,
    "passes.bn_fold": 3,
    "passes.horizontal": 3,
    "passes.should_fuse": 3,
    "passes.fuse": 3,
    "passes.sink_relayouts": 4,
}


@pytest.mark.parametrize("name", FILES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", EXERCISES)
def test_exercise_has_specification_example_hints_and_baseline(name: str) -> None:
    exercise = slot(name)
    assert exercise.unit == EXERCISES[name]
    assert ">>> " in exercise.doc, "a specification has an example"
    assert len(ladder(exercise)) == 3
    assert exercise.baseline is not None, "the compiler runs through all of these"


def test_the_pipeline_runs_on_all_baselines() -> None:
    graph = trace(lambda x, y: neg(neg(x * 1.0)) / 2.0 + (y - 0.0), "f32[4]", "f32[4]")
    with baselines(*EXERCISES):
        plain = run_passes(graph, DEFAULT)
    assert len(plain.ops) == len(graph.ops), "nothing is optimized"
    assert len(run_passes(graph, DEFAULT).ops) == 1, "with the passes it is one kernel"
    arrays = [np.asarray(v, np.float32) for v in ([1, 2, 3, -4], [0.5, 1, 2, 3])]
    assert (run(plain, arrays)[0] == run(run_passes(graph, DEFAULT), arrays)[0]).all()
