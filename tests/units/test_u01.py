"""Unit 1: its recordings are what the tool writes, its numbers are true, its words help."""

import contextlib
import re
from collections import Counter
from functools import reduce

import nbformat
import numpy as np
import onnx
import pytest

from autograder.check.feedback import as_html
from autograder.check.framework import mutants_of
from autograder.check.verdict import as_text
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.sources import sources
from autograder.grading.assignment import Assignment
from autograder.grading.grade import grade
from autograder.grading.program import read
from autograder.notebook import check
from autograder.units.u01.answers.dumps import CHANGED_HEAD, GATE, TORCH_MLIR
from autograder.validate import verdict_of
from course_lib.exercises import baselines, plugged, slot
from course_lib.frontend import load
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import apply
from course_lib.ir.graph.order import from_the_top, topological_order
from course_lib.ir.graph.verify import verify
from course_lib.ir.windows import by_counting, positions
from course_lib.models import MODELS, example_inputs
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold

torch = pytest.importorskip("torch")

LIBRARY = ["ir.verify.misplaced", "ir.graph.topological_order", "ir.windows.positions"]
ALL = [*LIBRARY, *(f"u01.{n}" for n in ("power", "record", "wrong_line", "redundant", "limit"))]


class Gate(torch.nn.Module):  # as in the notebook
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 4)
        self.scale = torch.nn.Parameter(torch.full((4,), 3.0))

    def forward(self, x):
        value = self.fc(x)
        gate = torch.sigmoid(self.fc(x))
        torch.tanh(value)
        return value * gate * (self.scale * 2.0)


class Head(torch.nn.Module):  # as in the notebook
    def __init__(self):
        super().__init__()
        self.w1, self.b1 = torch.nn.Parameter(torch.randn(8, 8)), torch.nn.Parameter(torch.randn(8))
        self.w2, self.b2 = torch.nn.Parameter(torch.randn(8, 8)), torch.nn.Parameter(torch.randn(8))

    def forward(self, x):
        h = torch.relu(x @ self.w1 + self.b1)
        return torch.softmax(h @ self.w2 + self.b2, dim=1)


# ── StableHLO: a program, not only a text ──


def evaluate(text: str, weights: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Run the part of StableHLO that the two recordings use; every declared type is checked."""
    values = {"%arg0": x}
    for line in text.splitlines():
        found = re.match(r"\s+(%\w+) = (?:stablehlo|arith)\.(\w+)(.*)", line)
        if not found:
            continue
        name, op, rest = found.groups()
        shape, kind = re.findall(r"tensor<([\dx]*?)x?(f32|f64|i64)>", rest)[-1]
        sizes = tuple(map(int, shape.split("x"))) if shape else ()
        operands = [values[v] for v in re.findall(r"%\w+", rest.split(" : ")[0]) if v in values]
        dims = [int(d) for d in re.findall(r"\d+", (re.findall(r"\[([\d, ]*)\]", rest) or [""])[0])]
        values[name] = result = np.asarray(_value(name, op, rest, operands, dims, sizes, weights))
        assert result.shape == sizes, line
        values[name] = result.astype({"f32": "f4", "f64": "f8", "i64": "i8"}[kind])
    return values[re.findall(r"return (%\w+)", text)[0]]


def _value(name, op, rest, operands, dims, sizes, weights):
    if op == "constant":
        if name in weights:
            return weights[name]
        number = re.findall(r"dense<(.*?)>", rest)[0]
        return np.full(sizes, -np.inf if number == "0xFF800000" else float(number))
    if op == "reduce":
        combine = np.max if "maximum" in rest else np.sum
        return combine(operands[0], axis=dims[0])
    if op == "broadcast_in_dim":
        shape = [1] * len(sizes)
        for axis, size in zip(dims, operands[0].shape, strict=True):
            shape[axis] = size
        return np.broadcast_to(operands[0].reshape(shape), sizes)
    simple = {
        "transpose": lambda a: a.transpose(dims),
        "dot_general": np.matmul,
        "convert": lambda a: a,
        "reshape": lambda a: a.reshape(sizes),
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "divide": np.divide,
        "maximum": np.maximum,
        "exponential": np.exp,
        "logistic": lambda a: 1 / (1 + np.exp(-a)),
    }
    return simple[op](*operands)


def arrays(model, **names) -> dict[str, np.ndarray]:
    state = model.state_dict()
    return {f"%{name}": state[key].numpy() for name, key in names.items()}


def restored(line: str = "") -> str:
    """CHANGED_HEAD as torch-mlir wrote it, but for the named line."""
    right = {
        "%5": ("%cst, dims = [0]", "%cst, dims = [1]"),
        "%7": ("maximum across dimensions = [0]", "maximum across dimensions = [1]"),
    }
    text = CHANGED_HEAD
    for name, (now, before) in right.items():
        assert text.count(now) == 1
        text = text if name == line else text.replace(now, before)
    return text


def test_the_recorded_gate_computes_what_the_model_computes():
    model, x = Gate().eval(), torch.randn(2, 8)
    weights = arrays(model, cst="scale", cst_0="fc.bias", cst_1="fc.weight")
    expected = model(x).detach().numpy()
    assert np.allclose(evaluate(GATE, weights, x.numpy()), expected, rtol=1e-5, atol=1e-6)
    assert GATE.count("dot_general") == 1 and "tanh" not in GATE


def test_one_of_the_two_changes_gives_another_result():
    model, x = Head().eval(), torch.randn(8, 8)
    weights = arrays(model, cst="b2", cst_0="w2", cst_1="b1", cst_2="w1")
    expected = model(x).detach().numpy()
    close = {
        line: np.allclose(
            evaluate(restored(line), weights, x.numpy()), expected, rtol=1e-4, atol=1e-6
        )
        for line in ("", "%5", "%7")
    }
    assert close == {"": True, "%5": False, "%7": True}
    assert slot("u01.wrong_line").reference() == "%5"


def test_the_recordings_are_what_torch_mlir_writes():
    fx = pytest.importorskip("torch_mlir.fx")
    from importlib.metadata import PackageNotFoundError, version

    with contextlib.suppress(PackageNotFoundError):
        assert version("torch-mlir") == TORCH_MLIR
    for model, x, text in (
        (Gate(), torch.randn(2, 8), GATE),
        (Head(), torch.randn(8, 8), restored()),
    ):
        module = fx.export_and_import(model.eval(), x, output_type="stablehlo")
        made = module.operation.get_asm(large_elements_limit=4).split("{-#")[0].strip() + "\n"
        assert made == text


# ── what the notebook says in prose ──


def counts(text: str) -> tuple[int, int]:
    """Products and tanh in a text."""
    words = r"target=fc\]|linear\.default|matmul\("
    return len(re.findall(words, text)), len(re.findall(r"tanh\]|tanh\.default|= tanh\(", text))


def test_who_keeps_what_of_the_gate():
    model, x = Gate().eval(), torch.randn(2, 8)
    recorded = torch.fx.symbolic_trace(model).graph
    assert counts(str(recorded)) == (2, 1) and len(recorded.nodes) == 10
    assert counts(str(torch.export.export(model, (x,)).graph)) == (2, 1)
    graph = load(model, [x])
    assert counts(print_graph(graph)) == (2, 0)
    assert len(cse(graph).ops) < len(graph.ops) and len(dce(fold(graph)).ops) < len(graph.ops)
    assert len(dce(graph).ops) == len(graph.ops), "no dead code was imported"
    dead = Graph.of(graph.inputs, graph.outputs, also=[apply("tanh", graph.ops[2])])
    trials = ([], [dce], [fold, dce], [cse, dce], [fold, cse, dce])
    left = [len(reduce(lambda g, one: one(g), passes, dead).ops) for passes in trials]
    assert left == [11, 10, 7, 7, 5], "the notebook says so"
    decomposed = torch.export.export(model, (x,)).run_decompositions({})
    assert counts(str(decomposed.graph)) == (2, 0), "what the ONNX exporter asks for drops the tanh"


@pytest.mark.parametrize("name", MODELS)
def test_the_bill(name, exported):
    """What has no reason is what the exporter's clean-up leaves, but for one transpose."""
    traced, cleaned = (onnx.load(exported(name) / f"{how}.onnx") for how in ("traced", "default"))
    lines = [(n.output[0], n.op_type, list(n.input)) for n in traced.graph.node]
    ends = (traced.graph.input, traced.graph.output)
    inputs, outputs = ([value.name for value in part] for part in ends)
    after = Counter(node.op_type for node in cleaned.graph.node)
    reasons = slot("u01.redundant").reference(lines, inputs, outputs)
    left = Counter(op for result, op, _ in lines if result not in reasons)
    assert left - after == (Counter(["Transpose"]) if name == "block" else Counter())
    assert not after - left
    if name == "resnet18":
        assert len(lines) == 176 and after.total() == 49
        assert Counter(reasons.values()) == {"fixed": 107, "absorbed": 20}
        first = [op for _, op, _ in lines[:7]]
        assert first == ["Shape", "Constant", "Expand", "Constant", "CastLike", "Expand", "Conv"]


def test_63_needs_8_multiplications():
    """No chain of 7 sums reaches 63, and ours has 8."""

    def reaches(chain, steps):
        if chain[-1] == 63:
            return True
        if steps == 0 or chain[-1] << steps < 63:
            return False
        sums = {a + b for a in chain for b in chain if chain[-1] < a + b <= 63}
        return any(reaches((*chain, s), steps - 1) for s in sums)

    assert not reaches((1,), 7)
    assert len(slot("u01.power").reference().ops) == 8


def test_a_product_of_n_rows_does_n_sixths_of_a_flop_per_byte():
    from course_lib.ir.registry import flops, traffic

    for n in (6, 96, 1536):
        (node,) = trace(lambda x, w: x @ w, f"f32[{n},{n}]", f"f32[{n},{n}]").ops
        assert flops(node) / traffic(node) == pytest.approx(n / 6)


# ── the stand-ins of the student edition ──


def test_the_slow_order_is_our_order(imported):
    graph = imported("resnet18")
    half = set(graph.nodes[:90])
    assert from_the_top(graph.outputs) == topological_order(graph.outputs)
    assert from_the_top(graph.outputs, half) == topological_order(graph.outputs, half)


def test_counting_gives_the_formula():
    rng = np.random.default_rng(0)
    for _ in range(300):
        numbers = (*rng.integers(0, 20, 1), *rng.integers(1, 5, 3), *rng.integers(0, 4, 2))
        case = [int(n) for n in numbers]
        assert by_counting(*case) == positions(*case)


def test_models_compile_with_the_stand_ins():
    x = example_inputs("mlp")
    expected = run(load(MODELS["mlp"].build(), x), x)[0]
    with baselines(*LIBRARY):
        graph = load(MODELS["mlp"].build(), x)
        assert np.array_equal(run(verify(graph), x)[0], expected)


def test_a_verifier_that_sees_ghosts_is_told_so():
    graph = trace(relu, "f32[4]")
    with (
        plugged("ir.verify.misplaced", lambda nodes: 1),
        pytest.raises(ValueError, match="nothing"),
    ):
        verify(graph)


# ── feedback ──


@pytest.mark.parametrize("name", ALL)
def test_what_a_wrong_answer_is_told(name):
    said = " ".join(slot(name).doc.split())
    for label, answer in mutants_of(name).items():
        with plugged(name, answer):
            verdict = check(name)
        if name == "u01.power" and verdict.kind == "passed":
            assert (verdict.earned or 0) < verdict.points, (
                "right, with more multiplications than needed"
            )
            continue
        kinds = ("wrong", "crashed", "timed out")
        assert verdict.kind in kinds, f"{label}: the visible checks see it"
        assert " ".join(verdict.spec.split()) in said, f"{label}: quotes the specification"
        text = as_text(verdict)
        assert f'hint("{name}")' in text
        assert "Traceback" not in text and "site-packages" not in text
        if "graph @" in text and "dense<...>" not in text:
            assert "<svg" in as_html(verdict), f"{label}: programs are drawn"


def test_doing_nothing_earns_nothing():
    nothing = {
        "ir.verify.misplaced": lambda nodes: None,
        "ir.graph.topological_order": lambda roots, done=frozenset(): list(roots),
        "ir.windows.positions": lambda size, *rest, **more: size,
        "u01.redundant": lambda lines, inputs, outputs: {},
        "u01.record": lambda source, *types: trace(lambda x: x, types[0]),
        "u01.power": lambda: trace(lambda x: apply("mul", x, x), "f32[4]"),
    }
    for name, answer in nothing.items():
        assert verdict_of(slot(name), answer).earned == 0, name


def test_a_wrong_order_costs_its_own_points(tmp_path):
    """What crosses to the grader is written by the library, whatever the student has plugged in."""
    (source,) = sources(COURSE / "notebooks", 1)
    notebook = nbformat.reads(notebook_bytes(source, solutions=True).decode(), as_version=4)
    for cell in notebook.cells:
        if cell.id == "ir-graph-topological_order":
            head = cell.source.split('    """')[0]
            cell.source = head + "    return []"
    assignment = Assignment.of(source, tmp_path)
    report = grade(assignment, read(nbformat.writes(notebook).encode(), assignment.explanations))
    lost = {v.exercise for v in report.verdicts if v.earned != v.points}
    assert lost == {"ir.graph.topological_order"}, "power calls trace, which calls it"


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=1).text
    for name in ALL:
        points = slot(name).points
        assert f"{name}: passed ({points} of {points} point" in text
    assert "needs your answer" not in text
    assert "which is defined later in the graph" in text
    assert re.search(r"read before it is defined +refuses +refuses +accepts +refuses", text)
    assert re.search(r"inner sizes differ +accepts +refuses +refuses +refuses", text)
    assert re.search(r"defined twice +refuses +accepts +refuses +refuses", text)
