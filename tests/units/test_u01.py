"""Unit 1: its recordings are what the tool writes, its numbers are true, its words help."""

import re
import sys
from collections import Counter
from importlib.util import find_spec

import nbformat
import numpy as np
import onnx
import pytest

from autograder.check.verdict import as_text
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.sources import sources
from autograder.grading.assignment import Assignment
from autograder.grading.grade import grade
from autograder.grading.program import read
from autograder.notebook import check
from autograder.units.u01.checks.evidence import FORMS
from autograder.validate import verdict_of
from course_lib.cost.machine import Machine
from course_lib.exercises import baselines, plugged, slot
from course_lib.frontend import load
from course_lib.ir.graph.build import relu, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.order import from_the_top, topological_order
from course_lib.ir.graph.verify import verify
from course_lib.ir.windows import by_counting, positions
from course_lib.lower.lower import lower
from course_lib.models import MODELS, example_inputs
from course_lib.schedule.schedule import schedule
from lessons.u01 import captures, forms, pictures, tools
from lessons.u01.dumps import CHANGED_HEAD, GATE, TINYGRAD

torch = pytest.importorskip("torch")

LIBRARY = ["ir.verify.misplaced", "ir.graph.topological_order", "ir.windows.positions"]
CORE = ["ir.graph.topological_order", "u01.record", "u01.redundant"]
FURTHER = ["ir.verify.misplaced", "ir.windows.positions", "u01.power", "u01.wrong_line"]
FURTHER += ["u01.boundaries", "u01.llvm", "u01.limit", "u01.fx"]
ALL = [*CORE, *FURTHER]


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
    model, x = captures.Gate().eval(), torch.randn(2, 8)
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


# ── what the notebook says in prose ──


def counts(text: str) -> tuple[int, int]:
    """Products and tanh in a text."""
    words = r"target=fc\]|linear\.default|matmul\("
    return len(re.findall(words, text)), len(re.findall(r"tanh\]|tanh\.default|= tanh\(", text))


def test_who_keeps_what_of_the_gate():
    model, x = captures.Gate().eval(), torch.randn(2, 8)
    recorded = torch.fx.symbolic_trace(model).graph
    assert counts(str(recorded)) == (2, 1) and len(recorded.nodes) == 10
    assert counts(str(torch.export.export(model, (x,)).graph)) == (2, 1)
    graph = load(model, [x])
    assert counts(print_graph(graph)) == (2, 0)
    decomposed = torch.export.export(model, (x,)).run_decompositions({})
    assert counts(str(decomposed.graph)) == (2, 0), "what the ONNX exporter asks for drops the tanh"
    texts = captures.languages(model, x)
    assert [name for name, text in texts.items() if "tanh" in text] == ["torch.fx", "torch.export"]
    products = {name: captures.weight_products(text) for name, text in texts.items()}
    once = ["ONNX, cleaned up", "StableHLO"]
    assert len(texts) == 7 and products == {n: 1 if n in once else 2 for n in texts}


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


# ── what the notebook says of PyTorch's recorders and passes ──


def simple(x):
    a = x * 2
    b = a + 1
    c = b * 3
    return c - a


def twice(x):
    return (x + 1.0) * (x + 1.0)


def spare(x):
    unused = x * 3.0  # noqa: F841
    return x + 1.0


def six(x):
    return x * (2.0 * 3.0) - x


def noise(x):
    return torch.rand_like(x) + torch.rand_like(x)


def decides(x):
    return x if x.sum() > 0 else -x


SIX = {
    "simple": simple,
    "twice": twice,
    "spare": spare,
    "six": six,
    "noise": noise,
    "gate": captures.Gate(),
}


def test_the_six_graphs_are_as_the_answer_says():
    """PyTorch's own passes agree, but for the two random numbers that its CSE makes one."""
    for name, (count, passes) in slot("u01.fx").reference().items():
        recorded, fold, dce, cse = captures._left_by_fx(SIX[name])
        assert recorded == count
        shorter = {p for p, left in (("fold", fold), ("dce", dce), ("cse", cse)) if left < count}
        assert shorter == ({"cse"} if name == "noise" else set(passes.split())), name
    assert captures._left_by_fx(SIX["gate"]) == [10, 8, 9, 9], "its folding drops the tanh, too"


def test_two_random_numbers_stay_two_where_the_pass_is_told_so():
    from torch.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops

    class Noise(torch.nn.Module):
        def forward(self, x):
            return noise(x)

    module = torch.export.export(Noise(), (torch.ones(4),)).graph_module
    told = CSEPass(banned_ops=get_CSE_banned_ops())(module)
    assert told is not None and not told.modified
    assert str(told.graph_module.graph).count("rand_like.default") == 2
    traced = CSEPass(banned_ops=get_CSE_banned_ops())(torch.fx.symbolic_trace(noise))
    assert traced is not None and traced.modified, "the list names operations of torch.export"


def test_dynamo_breaks_the_graph_and_guards_what_it_made():
    with captures.dynamo(decides) as (compiled, graphs):
        made = []
        for x in (torch.ones(4), -torch.ones(4), torch.ones(4)):
            assert torch.equal(compiled(x), torch.ones(4))
            made.append(len(graphs))
    assert made == [1, 2, 2]

    def scaled(x, k):
        return (x * k).relu()

    sizes = ((4, 2.0), (4, 2.0), (5, 2.0), (6, 2.0), (6, 3.0), (6, 4.0), (1, 4.0))
    with captures.dynamo(scaled) as (compiled, graphs):
        made = []
        for size, k in sizes:
            compiled(torch.ones(size), k)
            made.append(len(graphs))
    assert made == [1, 1, 2, 2, 3, 3, 4]
    with captures.dynamo(scaled) as (compiled, graphs):
        for rank in range(1, 11):
            compiled(torch.ones([2] * rank), 2.0)
    assert len(graphs) == 8, "then Python runs it"
    asked = captures.guards(scaled, torch.ones(4), 2.0)
    assert any("L['k'] == 2.0" in line for line in asked)
    assert any("size=[4]" in line for line in asked)


def test_dynamo_leaves_a_function_that_breaks_in_a_loop_to_python():
    def breaks(x):
        for _ in range(2):
            x = x * 2 if x.sum() > 0 else -x
        return x

    with captures.dynamo(breaks) as (compiled, graphs):
        assert torch.equal(compiled(torch.ones(4)), torch.full((4,), 4.0))
    assert not graphs


def test_torch_export_refuses_and_leaves_a_size_open_when_told():
    said = captures.who_records(decides, torch.ones(4)).text
    assert "TraceError" in said and "DataDependent" in said and "records it" not in said
    batch = {"x": {0: torch.export.Dim("batch")}}
    program = torch.export.export(captures.Gate().eval(), (torch.ones(2, 8),), dynamic_shapes=batch)
    shapes = [n.meta["val"].shape for n in program.graph.nodes if n.name == "x"]
    assert isinstance(shapes[0][0], torch.SymInt)


def test_the_multiplications_by_one_come_from_pytorch():
    table = pytest.importorskip("torch_mlir.extras.fx_decomp_util").get_decomposition_table()
    exported = torch.export.export(torch.nn.Linear(8, 4), (torch.ones(2, 8),))
    names = [n.target.__name__ for n in exported.run_decompositions(table).graph.nodes
             if n.op == "call_function"]  # fmt: skip
    assert [n.split(".")[0] for n in names] == ["permute", "mm", "mul", "mul", "add"]


def test_onnxruntime_takes_the_image_through_castlike(exported):
    left = pictures.runtime_leaves(onnx.load(exported("resnet18") / "traced.onnx"))
    assert left.total() == 106
    assert left["Expand"] == left["BatchNormalization"] == 20 and not left["Shape"]
    assert left["Cast"] == 17, "three of them are shared"


def test_the_features_need_50_of_71_operations(imported):
    graph = imported("resnet18")
    (features,) = [n for n in graph.ops if n.origin[-1:] == ("layer3.1.relu",)][-1:]
    assert len(graph.ops) == 71 and len(graph.nodes) == 174
    assert len(Graph.of(graph.inputs, [features]).ops) == 50
    slow = pictures.steps_of(from_the_top, graph.outputs)
    assert slow > 5 * pictures.steps_of(topological_order, graph.outputs)


# ── one product, all the way down ──


@pytest.mark.skipif(find_spec("tinygrad") is None, reason="needs tinygrad")
def test_tinygrad_writes_what_was_recorded():
    limit = sys.getrecursionlimit()
    made, how = forms.tinygrads()
    assert sys.getrecursionlimit() == limit, "or a recursion passes here, and not in the grader"
    assert made == TINYGRAD and how.endswith("its interpreter agrees with numpy")
    assert tuple(made) == FORMS["tinygrad"]


def test_the_forms_settle_what_the_answer_says():
    class Product(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(16, 16))

        def forward(self, x):
            return x @ self.w

    ours = forms.ours(Product().eval(), torch.randn(4, 16))
    assert tuple(ours) == FORMS["ours"]
    first = {
        "ours order": next(n for n, text in ours.items() if "for k in" in text),
        "ours layout": next(n for n, text in ours.items() if "pack(" in text),
        "ours shape": next(n for n, text in ours.items() if not re.search(r"f32\[4, ?16\]", text)),
        "tinygrad order": next(n for n, text in TINYGRAD.items() if "RANGE(16, %4" in text),
        "tinygrad layout": next(n for n, text in TINYGRAD.items() if ".index((c10*" in text),
        "tinygrad shape": next(n for n, text in TINYGRAD.items() if "(4, 16)" not in text),
    }
    assert first == slot("u01.boundaries").reference()


@pytest.mark.parametrize("vector_bytes, registers", [(16, 16), (32, 16), (64, 32), (16, 32)])
def test_the_weight_is_packed_on_every_kind_of_processor(vector_bytes, registers):
    x, w = inp("x", "f32[4,16]"), const(np.ones((16, 16), np.float32))
    machine = Machine("some", vector_bytes=vector_bytes, registers=registers)
    assert "pack(x1" in str(schedule(lower(Graph.of([x], [x @ w])), machine))


@pytest.mark.parametrize(
    "between, how, loads",
    [
        ("", "", 1),
        ("store float 1.0, ptr %q\n", "", 2),
        ("store float 1.0, ptr %q\n", "noalias", 1),  # it knows that this is elsewhere
        ("store float %a, ptr %p\n", "", 1),  # or that the value stays
    ],
)
def test_llvm_minds_a_store_between_two_loads(between, how, loads):
    """Sentence P of the table: `cse` on a graph need not."""
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = (f"define float @f(ptr {how} %p, ptr %q) {{\n%a = load float, ptr %p\n" + between
            + "%b = load float, ptr %p\n%c = fadd float %a, %b\nret float %c\n}")  # fmt: skip
    module = llvm.parse_assembly(text)
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(target.create_target_machine(), options)
    builder.getModulePassManager().run(module, builder)
    assert str(module).count("load float") == loads


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


def test_models_compile_with_the_stand_ins(imported):
    x = example_inputs("mlp")
    expected = run(imported("mlp"), x)[0]
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


# ── the unit ──


def test_the_core_is_four_exercises_and_the_rest_a_bonus():
    core = [*CORE, "u01.why_refuse"]
    assert not any(slot(name).further for name in core)
    assert all(slot(name).further for name in FURTHER)


@pytest.mark.parametrize(
    "listed, words",
    [
        (lambda graph: (*graph.nodes, *graph.inputs), "= input stands in the graph twice"),
        (lambda graph: graph.nodes[::-1], "stands in the graph before its operand"),
    ],
)
def test_a_class_without_a_verifier_is_told_what_stands_in_the_wrong_place(listed, words):
    def record(source, *types):
        graph = slot("u01.record").reference(source, *types)
        return Graph(graph.name, graph.inputs, tuple(listed(graph)), graph.outputs)

    with baselines("ir.verify.misplaced"), plugged("u01.record", record):
        verdict = check("u01.record")
    assert verdict.kind == "wrong" and words in verdict.problem


def test_a_wrong_pass_is_answered_with_a_reason():
    right = slot("u01.fx").reference()
    with plugged("u01.fx", lambda: right | {"noise": (5, "cse")}):
        assert check("u01.fx").spec == "the result stays what it was"
    wrong = slot("u01.fx").reference() | {"simple": (6, "cse")}
    with plugged("u01.fx", lambda: wrong):
        verdict = check("u01.fx")
    assert "read twice, and computed once" in as_text(verdict)


# ── feedback ──


def test_a_cast_that_is_called_a_copy_is_answered_with_what_a_cast_is():
    def redundant(lines, inputs, outputs):
        as_copies = [(r, "Identity" if op == "Cast" else op, o) for r, op, o in lines]
        return slot("u01.redundant").reference(as_copies, inputs, outputs)

    with plugged("u01.redundant", redundant):
        verdict = check("u01.redundant")
    assert verdict.problem == "a and b hold the elements of x, in another type."
    assert verdict.spec.endswith("All other operations read data.")


def test_doing_nothing_earns_nothing():
    nothing = {
        "ir.verify.misplaced": lambda nodes: None,
        "ir.graph.topological_order": lambda roots, done=frozenset(): list(roots),
        "ir.windows.positions": lambda size, *rest, **more: size,
        "u01.redundant": lambda lines, inputs, outputs: {},
        "u01.record": lambda source, *types: trace(lambda x: x, types[0]),
        "u01.power": lambda: trace(lambda x: apply("mul", x, x), "f32[4]"),
        "u01.fx": dict,
        "u01.boundaries": dict,
        "u01.llvm": dict,
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
    by_hand = {"u01.why_refuse"}
    assert lost - by_hand == {"ir.graph.topological_order"}, "power calls trace, which calls it"


# ── the notebook, solved ──


def test_the_solved_notebook_passes_and_uses_the_answers(run_notebook):
    text = run_notebook("instructor", unit=1).text
    for name in ALL:
        points, bonus = slot(name).points, "bonus " * slot(name).further
        assert f"{name}: passed ({points} of {points} {bonus}point" in text
    assert "needs your answer" not in text
    assert "which is defined later in the graph" in text
    assert re.search(r"read before it is defined +refuses +refuses +accepts +refuses", text)
    assert re.search(r"inner sizes differ +accepts +refuses +refuses +refuses", text)
    assert re.search(r"defined twice +refuses +accepts +refuses +refuses", text)


def test_each_switch_of_shape_inference_refuses_other_programs():
    def refused(**switches):
        def infer(model):
            onnx.shape_inference.infer_shapes(model, **switches)

        faults = tools._faults().items()
        return {name for name, (model, _) in faults if tools._verdict(infer, model)[0] == "refuses"}

    assert refused() == set()
    assert refused(check_type=True) == {"an operand too many"}
    strict = refused(strict_mode=True)
    assert "read before it is defined" in strict and "an operand too many" not in strict
    assert refused(strict_mode=True, check_type=True) == strict | {"an operand too many"}
