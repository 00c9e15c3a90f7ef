"""Unit 2: its evidence is what broken passes make, its numbers are true, its words help."""

import platform
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from autograder.check.feedback import as_html
from autograder.check.framework import mutants_of
from autograder.check.verdict import as_text
from autograder.notebook import check
from autograder.units.u02.answers import REFERENCE_OPS, SCHOOL_RULES
from autograder.units.u02.answers.evidence import DUMPS
from autograder.units.u02.checks.simplify import INEXACT, SIMPLER
from autograder.units.u02.checks.strength import AS_CHEAP, CHEAPER
from autograder.units.u02.mutants.merging import ignores_attributes
from autograder.validate import verdict_of
from course_lib.exercises import plugged, slot
from course_lib.frontend import load
from course_lib.ir.graph.graph import print_graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.parse import parse_graph
from course_lib.llvm.price import nanoseconds
from course_lib.models import example_inputs
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.prepare.decompose import decompose

PASSES = [decompose, fold, simplify, strength, cse, dce]
WITH_MUTANTS = [
    *("passes.dce", "passes.fold", "passes.cse", "passes.match", "passes.simplify"),
    *("passes.strength", "passes.fixpoint", "u02.after_fold", "u02.witnesses", "u02.sevenths"),
    *("u02.broken", "u02.every_pass"),
]


# ── the evidence ──


def test_the_dumps_are_what_the_passes_make_with_a_cse_that_ignores_attributes():
    stages = dict(DUMPS)
    graph = parse_graph(stages["import"])
    made = {}
    passes = [fold, simplify, strength, ignores_attributes, simplify, dce]
    run_passes(graph, passes, lambda name, now: made.setdefault(name, print_graph(now)))
    made["cse"] = made.pop("ignores_attributes")
    assert made == {name: text for name, text in DUMPS[1:]}


def test_only_the_pass_that_the_answer_names_changes_the_meaning():
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((4, 4), "f"), rng.standard_normal(4, "f")]
    results = [run(parse_graph(text), inputs)[0] for _, text in DUMPS]
    names = [name for name, _ in DUMPS]
    changed = [
        name
        for name, a, b in zip(names[1:], results, results[1:], strict=False)
        if not np.allclose(a, b, rtol=1e-5)
    ]
    guilty, value = slot("u02.broken").reference()
    assert changed == [guilty]
    assert f"%{value} = " in dict(DUMPS)["strength"]
    assert f"%{value} = " not in dict(DUMPS)[guilty]


def test_every_line_of_the_specifications_has_a_program():
    said = " ".join(slot("passes.simplify").doc.split())
    assert all(line in said for line, *_ in SIMPLER)
    said = " ".join(slot("passes.strength").doc.split())
    assert all(line in said for line, *_ in CHEAPER)
    assert len(INEXACT) >= 6 and len(AS_CHEAP) >= 8
    assert set(slot("u02.witnesses").reference()) == set(SCHOOL_RULES)


# ── what the notebook says in prose ──


def kernels(path: Path, saved: Path) -> Counter:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(saved)
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return Counter(node.op_type for node in onnx.load(saved).graph.node)


@pytest.mark.parametrize("name", REFERENCE_OPS)
def test_the_bill(name, exported):
    after = run_passes(load(exported(name) / "traced.onnx"), PASSES)
    assert len(after.ops) == REFERENCE_OPS[name]


def test_the_story_of_resnet(exported):
    path = exported("resnet18") / "traced.onnx"
    graph = load(path)
    assert len(onnx.load(path).graph.node) == 176
    assert len(graph.ops) == 131
    spelled_out = decompose(graph)
    assert len(spelled_out.ops) == 310
    assert len(dce(cse(spelled_out)).ops) == 310 - 32
    final = run_passes(graph, PASSES)
    zeros = [
        n
        for n in final.ops
        if n.op == "add" and any(i.op == "constant" and not i.value.any() for i in n.inputs)
    ]
    assert len(zeros) == 20
    x = example_inputs("resnet18")
    assert np.array_equal(run(spelled_out, x)[0], run(final, x)[0]), "every bit is the same"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other layouts")
def test_the_story_of_onnxruntime(exported, tmp_path):
    path = exported("resnet18") / "traced.onnx"
    once, twice, thrice = (tmp_path / f"{n}.onnx" for n in ("once", "twice", "thrice"))
    first, second, third = kernels(path, once), kernels(once, twice), kernels(twice, thrice)
    assert (first.total(), second.total()) == (108, 37)
    assert second == third, "a fixpoint"
    assert first["MaxPool"] == first["ReorderInput"] == 1, "one pooling is in a blocked layout"
    by_hand = onnx.load(path)
    for node in by_hand.graph.node:
        if node.op_type == "CastLike":
            node.op_type = "Cast"
            del node.input[1:]
            node.attribute.append(onnx.helper.make_attribute("to", onnx.TensorProto.FLOAT))
    onnx.save(by_hand, tmp_path / "cast.onnx")
    assert kernels(tmp_path / "cast.onnx", tmp_path / "cast_once.onnx").total() == 25


def test_one_program_that_every_pass_changes():
    now = slot("u02.every_pass").reference()
    assert len(now.nodes) == 5
    for one in (fold, simplify, strength, cse, dce):
        before, now = now, one(now)
        assert not same_program(before, now)


def test_a_price_is_a_time():
    multiply, divide = (nanoseconds(f"{op} {{x}}, %y", repeat=3) for op in ("fmul", "fdiv"))
    assert 0 < multiply < 1e3 and 0 < divide < 1e3


# ── feedback ──


@pytest.mark.parametrize("name", WITH_MUTANTS)
def test_what_a_wrong_answer_is_told(name):
    said = " ".join(slot(name).doc.split())
    for label, answer in mutants_of(name).items():
        with plugged(name, answer):
            verdict = check(name)
        kinds = ("wrong", "crashed", "timed out")
        assert verdict.kind in kinds, f"{label}: the visible checks see it"
        assert " ".join(verdict.spec.split()) in said, f"{label}: quotes the specification"
        text, page = as_text(verdict), as_html(verdict)
        assert f'hint("{name}")' in text
        assert "Traceback" not in text and "site-packages" not in text
        usable = verdict.kind == "wrong" and "cannot be used" not in verdict.problem
        drawable = "graph @" in text and "dense<...>" not in text and usable
        drawable &= name != "passes.match"  # shows two graphs as one text
        assert "<svg" in page or not drawable, f"{label}: programs are drawn"


def test_doing_nothing_earns_nothing():
    for name in ("passes.dce", "passes.fold", "passes.cse", "passes.simplify", "passes.strength"):
        assert verdict_of(slot(name), lambda graph: graph).earned == 0


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=2).text
    for name in WITH_MUTANTS:
        points = slot(name).points
        assert f"{name}: passed ({points} of {points} point" in text
    assert "needs your answer" not in text
    assert "310 kernels before, 129 after, every bit the same: True" in text
    assert "129 operations; 20 of them add 0.0" in text
