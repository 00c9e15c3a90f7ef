"""Unit 2: its evidence is what broken passes make, its numbers are true, its words help."""

import os
import platform
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from autograder.check.framework import mutants_of
from autograder.notebook import check
from autograder.units.u02.checks.shared import equal_bits
from autograder.units.u02.checks.simplify import INEXACT, SIMPLER
from autograder.units.u02.checks.strength import AS_CHEAP, CHEAPER
from autograder.units.u02.exercises import CANDIDATES, REFERENCE_OPS, drop_zeros
from autograder.validate import verdict_of
from course_lib.exercises import baselines, plugged, slot
from course_lib.frontend import load
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const
from course_lib.ir.graph.parse import parse_graph
from course_lib.llvm.inspect.price import nanoseconds
from course_lib.models import example_inputs
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.infra.manager import run_passes
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import rule
from course_lib.passes.pipeline import DEFAULT
from course_lib.passes.prepare.decompose import decompose
from lessons.u02 import peers, programs
from lessons.u02.bench import (
    both_sides,
    kinds,
    left_after,
    orders,
    same_bits,
    same_number,
    zero_additions,
)
from lessons.u02.evidence import DUMPS

PASSES = [dce, decompose, fold, cse, dce]
WITH_MUTANTS = [
    *("passes.dce", "passes.fold", "passes.cse", "passes.match", "passes.simplify"),
    *("passes.strength", "passes.fixpoint", "u02.after_fold", "u02.witnesses", "u02.sevenths"),
    *("u02.broken", "u02.every_pass", "u02.drop_zeros", "u02.careful", "u02.apply_rules"),
]


# ── the evidence ──


def test_the_dumps_are_what_the_passes_make_with_a_cse_that_ignores_attributes():
    stages = dict(DUMPS)
    graph = parse_graph(stages["import"])
    made = {}
    ignores_attributes = mutants_of("passes.cse")["ignores_attributes"]
    passes = [fold, simplify, strength, ignores_attributes, simplify, dce]
    run_passes(graph, passes, lambda name, now: made.setdefault(name, print_graph(now)))
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
    assert all(line in said for *_, line in SIMPLER)
    said = " ".join(slot("passes.strength").doc.split())
    assert all(line in said for *_, line in CHEAPER)
    assert len(INEXACT) >= 6 and len(AS_CHEAP) >= 8


# ── what the notebook says in prose ──


def test_the_rules_without_a_witness_hold():
    """The notebook says that fifteen of the thirty hold; here on many."""
    rng = np.random.default_rng(0)
    ends = np.arange(1 << 12, dtype=np.uint32)
    bits = [rng.integers(0, 1 << 32, 1 << 18, dtype=np.uint64).astype(np.uint32), ends,
            ends | np.uint32(1 << 31), np.uint32(0x7F7FF000) + ends]  # fmt: skip
    broken = slot("u02.witnesses").reference()
    x = np.concatenate(
        [np.concatenate(bits).view(np.float32), np.array([*broken.values()], np.float32)]
    )
    assert len(CANDIDATES) == 30 and len(broken) == 15
    for text, sides in CANDIDATES.items():
        results = [run(trace(lambda n, f=f: _node(f(n)), f"f32[{len(x)}]"), [x])[0] for f in sides]
        differ = ~equal_bits(*np.broadcast_arrays(*results))
        assert differ.any() == (text in broken), text


def _node(value):
    return const(value, "f32") if isinstance(value, float) else value


def test_a_rule_is_tried_on_one_number():
    for text, number in slot("u02.witnesses").reference().items():
        assert not same_number(*both_sides(CANDIDATES[text], number)), text
    for text in ("x * -1.0 -> -x", "-0.0 - x -> -x"):  # NaNs with other bits
        one, other = both_sides(CANDIDATES[text], np.nan)
        assert np.isnan(one) and np.isnan(other) and same_number(one, other)


def test_the_story_of_the_decoder():
    """What the notebook's ladders show; the graph of torch.export is as it was afterwards."""
    graph, program = programs.decoder(), programs.decoder_program()
    assert (len(graph.ops), programs.calls(program)) == (166, 154)
    assert programs.swept_by_torch(program) == 144
    assert len(programs.decoder().ops) == 166
    assert [n for _, n in left_after(graph, [dce, decompose, fold, cse, dce])] == [
        *(166, 156, 171, 145, 133, 133),
    ]
    holds = [rule(*CANDIDATES[t]) for t in CANDIDATES if t not in slot("u02.witnesses").reference()]

    def by_the_rules(now):
        return rewrite(now, holds)

    with baselines("passes.match"):  # further work: the core does without
        after = run_passes(graph, [dce, decompose, fold, by_the_rules, cse, dce])
    assert len(after.ops) == 131
    inputs = [tensor.numpy() for tensor in programs.example()]
    assert same_bits(graph, after, inputs)
    cheap = run_passes(graph, [dce, decompose, fold, strength])
    assert (kinds(run_passes(graph, [dce, decompose, fold]), "div", "pow"),
            kinds(cheap, "div", "pow")) == (9, 2)  # fmt: skip
    five = [fold, simplify, strength, cse, dce]
    outcomes = orders(decompose(graph), five, lambda g: (len(g.ops), kinds(g, "div", "pow")))
    assert outcomes == {(131, 2): 40, (131, 4): 20, (133, 2): 20, (133, 4): 40}


def test_three_opinions():
    by_line = {line: rest for line, *rest in peers.opinions()}
    assert by_line["x + 0.0"][:2] == ["fadd", "x"] and by_line["x + -0.0"][:2] == ["x", "x"]
    assert by_line["x / 4.0"][:2] == ["fmul", "Div"] and by_line["x ** 2.0"][:2] == ["fmul", "Pow"]
    assert by_line["x ** 0.5"][0] == "powf" and "powf" in by_line["abs(x) ** -0.5"][0]
    root = peers.instcombine("%r = call float @llvm.pow.f32(float %x, float 0.5)")
    assert len(root) == 4 and "llvm.sqrt.f32" in root and "select" in root
    absolute = "%a = call float @llvm.fabs.f32(float %x)\n"
    kept = peers.instcombine(f"{absolute}%r = call float @llvm.pow.f32(float %a, float -0.5)")
    assert "llvm.pow.f32" in kept
    no_errno = peers.instcombine("%r = call float @powf(float %x, float 0.5) memory(none)")
    assert no_errno == root, "what errno forbids, the function without it may"
    for flag in ("afn", "reassoc"):
        allowed = f"{absolute}%r = call {flag} float @llvm.pow.f32(float %a, float -0.5)"
        assert "llvm.pow.f32" not in peers.instcombine(allowed)
    assert peers.instcombine(f"{absolute}%r = fadd float %a, 0.0") == ["llvm.fabs.f32"]
    assert peers.instcombine("%r = fadd nsz float %x, 0.0") == ["x"]
    assert peers.one_over(peers.LEVELS.ORT_DISABLE_ALL) == np.inf
    assert peers.one_over(peers.LEVELS.ORT_ENABLE_BASIC) == -np.inf


def test_inductor_still_does_what_is_recorded(require_tool):
    require_tool("g++")
    import torch
    from torch._inductor.utils import run_and_get_code

    def lines(x):
        zeros = torch.zeros(64)
        return x + zeros, x + 0.0, x / 4.0, x**2.0, x**0.5, torch.abs(x) ** -0.5

    _, (code, *_) = run_and_get_code(torch.compile(lines), torch.randn(64))
    assert ".sqrt()" in code and ".pow(" in code and ".reciprocal()" not in code
    assert code.count(" / ") >= 1
    minus = torch.tensor([-np.inf, -0.0])
    assert torch.isnan((minus**0.5)[0]) and torch.signbit((minus**0.5)[1])  # eager PyTorch


def test_powers_and_their_cheap_forms():
    """One rounding: half a unit; two: between one and one and a half; powers of two: exact."""
    off = {line: (differ, before, after) for line, differ, before, after in peers.powers(50_000)}
    for line in ("x ** 2.0 -> x * x", "x ** 0.5 -> sqrt(x)", "x ** -1.0 -> reciprocal(x)"):
        assert off[line][2] <= 0.5 <= off[line][1] + 1e-3, line
    _, before, after = off["x ** -0.5 -> rsqrt(x)"]
    assert before < after < 1.5
    assert off["x / 4.0 -> x * 0.25"] == (0, 0, 0)


def kernels(path: Path, saved: Path) -> Counter:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(saved)
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return Counter(node.op_type for node in onnx.load(saved).graph.node)


@pytest.mark.parametrize("name", REFERENCE_OPS)
def test_the_bill(name, exported):
    traced = name != "decoder"
    graph = load(exported(name) / "traced.onnx") if traced else programs.decoder()
    assert len(run_passes(graph, PASSES).ops) == REFERENCE_OPS[name]


def test_the_story_of_resnet(exported):
    path = exported("resnet18") / "traced.onnx"
    graph = load(path)
    assert len(onnx.load(path).graph.node) == 176
    assert len(graph.ops) == 131
    spelled_out = decompose(graph)
    assert len(spelled_out.ops) == 310
    composites, simple = (Counter(n.op for n in g.ops) for g in (graph, spelled_out))
    assert composites["batch_norm"] == 20 and composites["mean"] == 1
    assert simple["pad"] - composites["pad"] == 18 and 20 * (9 - 1) + 18 + 1 == 310 - 131
    assert len(dce(cse(spelled_out)).ops) == 310 - 32
    assert [n for _, n in left_after(graph, [decompose, fold, cse, simplify, strength, dce])] == [
        *(131, 310, 129, 129, 129, 129, 129),
    ]
    late, early = [fold, decompose, dce], [decompose, fold, dce]
    once, twice, right = (len(run_passes(graph, passes).ops) for passes in (late, late * 2, early))
    assert once > twice == right == 129
    clean = run_passes(graph, [decompose, fold, cse, dce])
    assert len(zero_additions(clean)) == 20
    final = dce(drop_zeros(clean))
    assert len(final.ops) == 109
    assert same_bits(spelled_out, final, example_inputs("resnet18"))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other layouts")
def test_the_story_of_onnxruntime(exported, tmp_path):
    path = exported("resnet18") / "traced.onnx"
    once, twice, thrice = (tmp_path / f"{n}.onnx" for n in ("once", "twice", "thrice"))
    first, second, third = kernels(path, once), kernels(once, twice), kernels(twice, thrice)
    assert (first.total(), second.total()) == (108, 37)
    assert second == third, "a fixpoint"
    assert first["MaxPool"] == first["ReorderInput"] == 1, "one pooling is in a blocked layout"
    default = peers.exported("resnet18", clean=True)
    again = kernels(default, tmp_path / "clean.onnx"), kernels(tmp_path / "clean.onnx", twice)
    assert peers.counted(default).total() == 49 and [c.total() for c in again] == [25, 25]
    assert first["Cast"] == 17 and first["Expand"] == first["BatchNormalization"] == 20
    assert kernels(peers.with_cast(), tmp_path / "cast.onnx").total() == 25
    assert kernels(peers.with_unused_function(), tmp_path / "function.onnx").total() == 25
    control = kernels(peers.with_constant_operand(), tmp_path / "control.onnx")
    assert control.total() == 111
    assert control["Cast"] == control["Expand"] == control["BatchNormalization"] == 20


def test_onnxruntime_says_that_it_inlines_only_beside_a_local_function(exported, capfd):
    line = "does not have any local functions defined. AOT Inlining is not performed"
    for path in (exported("resnet18") / "traced.onnx", peers.with_unused_function()):
        options = ort.SessionOptions()
        options.log_severity_level = 1  # what it does, and no more
        ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        assert (line in capfd.readouterr().err) == (path.name == "traced.onnx")


def test_three_pairs_of_convolutions_read_the_same_value():
    model = peers.onnx_model("resnet18")
    read = [node.input[1] for node in model.graph.node if node.op_type == "CastLike"]
    assert len(read) == 20 and len(set(read)) == 17 and read.count("x") == 1


def test_an_added_zero_behind_a_convolution_is_fused_with_it():
    """Further: our own compiler adds it in a register."""
    weights, scale = const(np.ones((8, 8, 3, 3), "f")), const(np.full((1, 8, 1, 1), 0.3, "f"))
    zeros = const(np.zeros((1, 8, 1, 1), "f"))
    graph = trace(lambda x: (apply("conv", x, weights) + zeros) * scale, "f32[1,8,16,16]")
    (group,) = run_passes(graph, DEFAULT).ops
    assert group.op == "fused" and group.attrs["kind"] == "epilogue"


def test_a_sum_with_0_keeps_its_shape():
    """Why the fixpoint's program needs a second round, and a scalar one does not."""
    for given, left in (("i32[4]", 3), ("i32[]", 0)):
        graph = trace(lambda x: x * ((x - x) * 0 + 1), given)
        assert len(dce(simplify(graph)).ops) == left


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


def test_recursion_ends_where_it_does_in_the_grader():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(9000)  # as importing some libraries does
    try:
        with plugged("passes.dce", mutants_of("passes.dce")["recursive"]):
            verdict = check("passes.dce")
        assert verdict.got.startswith("RecursionError") and sys.getrecursionlimit() == 9000
        assert verdict.spec.endswith("without recursion.")
    finally:
        sys.setrecursionlimit(limit)


def test_one_large_program_is_not_counted_as_several():
    assert "a large program" in verdict_of(slot("passes.fold"), slot("passes.fold").reference).tried


def test_doing_nothing_earns_nothing():
    for name in ("passes.dce", "passes.fold", "passes.cse", "passes.simplify", "passes.strength"):
        assert verdict_of(slot(name), lambda graph: graph).earned == 0


# ── feedback ──


def test_a_fold_that_asks_for_the_size_of_an_open_shape_is_told_when_not_to():
    def fold_by_size(graph):
        assert all(node.type.nbytes >= 0 for node in graph.ops)
        return slot("passes.fold").reference(graph)

    with plugged("passes.fold", fold_by_size):
        verdict = check("passes.fold")
    assert verdict.kind == "wrong" and verdict.spec.startswith("For such a symbolic shape")


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=2).text
    for name in WITH_MUTANTS:
        one = slot(name)
        bonus = "bonus " if one.further else ""
        assert f"{name}: passed ({one.points} of {one.points} {bonus}point" in text
    assert "needs your answer" not in text
    assert "yours: 166 operations before, 156 after" in text
    assert "129 operations; 20 of them add 0.0" in text
    assert text.count("the same: True") == 3


def test_the_files_of_a_notebook_go_with_its_process(tmp_path: Path) -> None:
    """They are 0.6 GB, and a student starts the kernel anew many times a day."""
    text = "from lessons.u02 import peers; print(peers.with_cast())"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent.parent == tmp_path
    assert list(tmp_path.glob("course-u02-*")) == []
