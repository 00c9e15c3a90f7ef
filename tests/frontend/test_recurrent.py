"""Recurrent layers and loops from both front ends: right, and each of them one kernel."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.utils._pytree import tree_leaves

import course_lib
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.onnx.write import to_onnx
from course_lib.frontend.torch.export import from_torch
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import inp
from course_lib.ir.graph.recurrence import Parts
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.walk import loops, names_of
from course_lib.ir.types import DTYPES, DType, type_of
from course_lib.runtime.executable import CompiledModel

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def close(have: list[np.ndarray], want: list[np.ndarray]) -> None:
    for a, b in zip(have, want, strict=True):
        if b.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(a, b, strict=True)


def compiled(model: object, *inputs: np.ndarray) -> CompiledModel:
    result = course_lib.compile(model, list(inputs))
    assert isinstance(result, CompiledModel)
    return result


def outputs(model: CompiledModel, *inputs: np.ndarray) -> list[np.ndarray]:
    result = model(*inputs)
    return list(result) if isinstance(result, tuple) else [result]


def scans(graph: Graph) -> int:
    return [n.op for n in graph.nodes].count("scan")


# ── torch ──


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (nn.LSTM, {}),
        (nn.LSTM, {"num_layers": 2, "bidirectional": True, "batch_first": True}),
        (nn.LSTM, {"proj_size": 5, "bias": False}),
        (nn.GRU, {}),
        (nn.GRU, {"num_layers": 2, "bidirectional": True, "bias": False}),
        (nn.RNN, {"num_layers": 2}),
        (nn.RNN, {"nonlinearity": "relu", "bidirectional": True, "batch_first": True}),
    ],
)
def test_layer_of_pytorch(kind: type[nn.Module], options: dict, batch: int) -> None:
    torch.manual_seed(0)
    module = kind(12, 16, **options).eval()
    x = torch.from_numpy(floats(*((batch, 9, 12) if module.batch_first else (9, batch, 12))))
    with torch.no_grad():
        want = [t.numpy() for t in tree_leaves(module(x))]
    graph = from_torch(module, [x])
    directions = 2 if options.get("bidirectional") else 1
    assert scans(graph) == options.get("num_layers", 1) * directions
    close(run(graph, [x.numpy()]), want)
    close(outputs(compiled(module, x.numpy()), x.numpy()), want)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_what_an_import_has_to_do_does_not_grow_with_the_steps(kind: type[nn.Module]) -> None:
    module = kind(8, 16, bidirectional=True, num_layers=2).eval()

    def calls(steps: int) -> int:
        """Functions that Python calls meanwhile."""
        count = 0

        def called(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(called)
        try:
            from_torch(module, [floats(steps, 1, 8)])
        finally:
            sys.setprofile(None)
        return count

    calls(4)  # what happens once only
    assert calls(400) < 1.5 * calls(40)


def test_states_that_are_inputs_and_a_sequence_without_a_batch() -> None:
    torch.manual_seed(0)
    module = nn.LSTM(4, 6).eval()

    class WithStates(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = module

        def forward(self, x, h, c):
            return self.lstm(x, (h, c))

    inputs = [floats(5, 4), floats(1, 6, seed=1), floats(1, 6, seed=2)]
    with torch.no_grad():
        want = [t.numpy() for t in tree_leaves(WithStates()(*map(torch.from_numpy, inputs)))]
    close(outputs(compiled(WithStates().eval(), *inputs), *inputs), want)


# ── ONNX layers ──


def layer(
    kind: str, steps: int, batch: int, width: int, direction: str, **attrs
) -> onnx.ModelProto:
    """A layer of 12 inputs with constant weights, and lengths for the rows if `attrs` has any."""
    lengths = attrs.pop("lengths", None)
    gates, count = GATES[kind], 2 if direction == "bidirectional" else 1
    weights: dict[str, np.ndarray] = {
        "w": floats(count, gates * width, 12, seed=1) / 4,
        "r": floats(count, gates * width, width, seed=2) / 4,
        "b": floats(count, 2 * gates * width, seed=3) / 4,
    }
    if lengths is not None:
        weights["lengths"] = np.array(lengths, np.int32)
    names = ["x", "w", "r", "b", "lengths" if lengths is not None else ""]
    results = ["y", "h", "c"] if kind == "LSTM" else ["y", "h"]
    node = helper.make_node(kind, names, results, hidden_size=width, direction=direction, **attrs)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "layer",
        [info("x", TensorProto.FLOAT, [steps, batch, 12])],
        [info(name, TensorProto.FLOAT, None) for name in results],
        [numpy_helper.from_array(v, k) for k, v in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def by_onnxruntime(proto: onnx.ModelProto, *inputs: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs, strict=True)))


def agrees(proto: onnx.ModelProto, *inputs: np.ndarray) -> Graph:
    """Interpreter, machine code and our own ONNX file against onnxruntime on the given one."""
    graph, want = from_onnx(proto, list(inputs)), by_onnxruntime(proto, *inputs)
    close(run(graph, list(inputs)), want)
    close(outputs(compiled(proto, *inputs), *inputs), want)
    close(by_onnxruntime(to_onnx(graph), *inputs), want)
    return graph


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_layer_of_onnx(kind: str, direction: str, batch: int) -> None:
    graph = agrees(layer(kind, 7, batch, 16, direction), floats(7, batch, 12))
    assert scans(graph) == (2 if direction == "bidirectional" else 1)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("kind", GATES)
def test_rows_of_different_lengths(kind: str, direction: str) -> None:
    agrees(layer(kind, 6, 3, 8, direction, lengths=[6, 1, 4]), floats(6, 3, 12))


def test_gru_that_resets_after_the_product() -> None:
    agrees(layer("GRU", 5, 2, 8, "forward", linear_before_reset=1), floats(5, 2, 12))


@pytest.mark.parametrize("kind", GATES)
def test_the_code_does_not_grow_with_the_steps(kind: str) -> None:
    """As many nodes, kernels and lines of LLVM IR for 400 steps as for 16."""
    sizes = []
    for steps in (16, 400):
        x = floats(steps, 1, 12)
        model = compiled(layer(kind, steps, 1, 16, "bidirectional"), x)
        loop = [k for s in model.program.steps if (k := s.kernel) and k.name.startswith("scan")]
        assert len(loop) == 2 and all(k.packed for k in loop)
        emitted = [model.code.modules[k.name][0].count("\n") for k in loop]
        sizes.append((len(from_onnx(layer(kind, steps, 1, 16, "bidirectional")).nodes),
                      len(model.kernels), emitted))  # fmt: skip
    assert sizes[0] == sizes[1]


def test_the_product_of_the_weights_and_the_state_is_tiled_like_any_other() -> None:
    """Lanes along the gates, and the constant matrix in blocks of them."""
    model = compiled(layer("LSTM", 5, 8, 16, "forward"), floats(5, 8, 12))
    (kernel,) = [s.kernel for s in model.program.steps if s.name.startswith("scan")]
    assert kernel is not None and len(kernel.packed) == 1
    (over_steps,) = [stmt for stmt in kernel.body if isinstance(stmt, Loop) and stmt.var == "step"]
    kinds = {loop.kind for loop in loops(over_steps.body)}
    assert over_steps.kind == "for" and "vector" in kinds and "parallel" not in kinds


# ── Scan and Loop ──


def scan_model(sequences: int = 2, **attrs) -> onnx.ModelProto:
    """h = tanh(h * x0 + x1), s = s + sum(h): h has an axis, s has none; h and -h are collected."""
    info, f = helper.make_tensor_value_info, TensorProto.FLOAT
    nodes = [
        helper.make_node("Mul", ["h", "x0"], ["hx"]),
        helper.make_node("Add", ["hx", "x1"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["h2"]),
        helper.make_node("ReduceSum", ["h2"], ["total"], keepdims=0),
        helper.make_node("Add", ["s", "total"], ["s2"]),
        helper.make_node("Identity", ["h2"], ["same"]),
        helper.make_node("Neg", ["h2"], ["minus"]),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [info(n, f, [] if n == "s" else [3]) for n in ("h", "s", "x0", "x1")],
        [info(n, f, [] if n == "s2" else [3]) for n in ("h2", "s2", "same", "minus")],
    )
    node = helper.make_node("Scan", ["h0", "s0", "a", "c"], ["h", "s", "hs", "ms"], body=body,
                            num_scan_inputs=sequences, **attrs)  # fmt: skip
    shape = [3, 50] if attrs.get("scan_input_axes") else [50, 3]
    graph = helper.make_graph(
        [node],
        "scan",
        [info("h0", f, [3]), info("s0", f, []), info("a", f, [50, 3]), info("c", f, shape)],
        [info(n, f, None) for n in ("h", "s", "hs", "ms")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"scan_input_directions": [0, 1], "scan_output_directions": [1, 0]},
        {"scan_input_axes": [0, 1], "scan_output_axes": [1, 0]},
    ],
)
def test_scan_with_states_of_several_shapes(attrs: dict) -> None:
    shape = (3, 50) if "scan_input_axes" in attrs else (50, 3)
    inputs = [floats(3), np.float32(0.5), floats(50, 3, seed=1), floats(*shape, seed=2)]
    graph = agrees(scan_model(**attrs), *map(np.asarray, inputs))
    assert scans(graph) == 1


def loop_model(trips: int, second: str) -> onnx.ModelProto:
    """x doubles, or grows by an iteration; beside it a state of type i64, if `second` is that."""
    info = helper.make_tensor_value_info
    kind = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64}[second]
    nodes = [
        helper.make_node("Identity", ["go"], ["go2"]),
        helper.make_node("Cast", ["i"], ["at"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["x", "at"], ["x2"]),
        helper.make_node("Add", ["k", "k"], ["k2"]),
    ]
    names = {"i": (TensorProto.INT64, []), "go": (TensorProto.BOOL, []),
             "x": (TensorProto.FLOAT, [2]), "k": (kind, [])}  # fmt: skip
    body = helper.make_graph(
        nodes,
        "body",
        [info(n, *of) for n, of in names.items()],
        [info(f"{n}2", *of) for n, of in names.items() if n != "i"],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "x", "k"], ["y", "z"], body=body)],
        "loop",
        [info("x", TensorProto.FLOAT, [2]), info("k", kind, [])],
        [info("y", TensorProto.FLOAT, None), info("z", kind, None)],
        [numpy_helper.from_array(np.array(trips), "n")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def test_loop_that_counts() -> None:
    graph = agrees(loop_model(20, "f32"), floats(2), np.array(0.01, np.float32))
    assert scans(graph) == 1


@pytest.mark.parametrize("trips", [5, 40, 400])
def test_loop_with_states_of_two_types_is_one_loop(trips: int) -> None:
    graph = agrees(loop_model(trips, "i64"), floats(2), np.array(-(2**52) - 1))
    assert scans(graph) == 1 and len(graph.nodes) < 30


def greedy(steps: int) -> onnx.ModelProto:
    """The next state by the token before; a token is the largest score. All tokens are collected,
    and whether one of them was 3."""
    info, f, i = helper.make_tensor_value_info, TensorProto.FLOAT, TensorProto.INT64
    nodes = [
        helper.make_node("Identity", ["go"], ["go2"]),
        helper.make_node("Gather", ["table", "t"], ["e"]),
        helper.make_node("MatMul", ["h", "w"], ["hw"]),
        helper.make_node("Add", ["hw", "e"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["h2"]),
        helper.make_node("ArgMax", ["h2"], ["t2"], axis=1, keepdims=0),
        helper.make_node("Equal", ["t2", "three"], ["now"]),
        helper.make_node("Or", ["seen", "now"], ["seen2"]),
    ]
    before = {"h": (f, [1, 8]), "t": (i, [1]), "seen": (TensorProto.BOOL, [1])}
    body = helper.make_graph(
        nodes,
        "body",
        [info("i", i, []), info("go", TensorProto.BOOL, []),
         *(info(n, *of) for n, of in before.items())],
        [info("go2", TensorProto.BOOL, []), *(info(f"{n}2", *of) for n, of in before.items()),
         info("t2", i, [1])],
    )  # fmt: skip
    values = {"n": np.array(steps), "w": floats(8, 8, seed=1) / 4, "table": floats(8, 8, seed=2),
              "three": np.array(3)}  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "h", "t", "seen"], ["y", "last", "any", "all"],
                          body=body)],
        "greedy",
        [info(n, *of) for n, of in before.items()],
        [info("y", f, None), info("last", i, None), info("any", TensorProto.BOOL, None),
         info("all", i, None)],
        [numpy_helper.from_array(v, n) for n, v in values.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def test_a_loop_over_tokens_is_one_kernel_however_long() -> None:
    inputs = floats(1, 8), np.array([5]), np.array([False])
    nodes = [len(agrees(greedy(n), *inputs).nodes) for n in (4, 40, 400)]
    assert len(set(nodes)) == 1
    kernels = [step.kernel for step in compiled(greedy(400), *inputs).program.steps]
    assert None not in kernels and sum("step" in names_of(k) for k in kernels if k) == 1


def counted_loop(condition: str, trips: int | None) -> onnx.ModelProto:
    """x + 1 until the condition ends it: by the number of the iteration, or by a state that counts
    down by twos from a constant, or from an input."""
    info, i = helper.make_tensor_value_info, TensorProto.INT64
    nodes = [
        helper.make_node("Less", ["i", "limit"], ["small"]),
        helper.make_node("Sub", ["c", "two"], ["c2"]),
        helper.make_node("Greater", ["c2", "i"], ["more"]),
        helper.make_node("Add", ["x", "one"], ["x2"]),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [info("i", i, []), info("go", TensorProto.BOOL, []), info("x", TensorProto.FLOAT, [2]),
         info("c", i, [])],
        [info(condition, TensorProto.BOOL, []), info("x2", TensorProto.FLOAT, [2]),
         info("c2", i, []), info("x2", TensorProto.FLOAT, [2])],
    )  # fmt: skip
    values = {"limit": np.array(1000), "two": np.array(2), "one": np.array(1, np.float32),
              "start": np.array(1200), "n": np.array(trips or 0)}  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n" if trips else "", "", "x", "start"], ["y", "c_end", "all"],
                          body=body)],
        "counted",
        [info("x", TensorProto.FLOAT, [2])],
        [info("y", TensorProto.FLOAT, None), info("c_end", i, None),
         info("all", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v, n) for n, v in values.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


@pytest.mark.parametrize(
    ("condition", "trips", "runs"),
    [("small", 400, 400), ("small", 2000, 1001), ("small", None, 1001),
     ("more", 300, 300), ("more", 2000, 401), ("more", 2**63 - 1, 401)],
)  # fmt: skip
def test_loop_whose_condition_does_not_depend_on_data(condition, trips, runs) -> None:
    graph = agrees(counted_loop(condition, trips), floats(2))
    assert scans(graph) == 1 and graph.outputs[2].type.dims == (runs, 2)


def test_loop_that_counts_for_too_long_is_refused() -> None:
    proto = counted_loop("small", None)
    (limit,) = (t for t in proto.graph.initializer if t.name == "limit")
    limit.CopyFrom(numpy_helper.from_array(np.array(2**40), "limit"))
    with pytest.raises(ValueError, match="its condition still holds after 100,000 iterations"):
        from_onnx(proto)


def extremes(dtype: DType) -> np.ndarray:
    """Seven numbers of a type: what is largest, smallest, or has the most digits."""
    if dtype.kind == "bool":
        return np.array([True, False, False, True, True, True, False])
    if dtype.is_float:
        edge = np.finfo(dtype.numpy)
        some = [edge.max, edge.min, edge.tiny, edge.smallest_subnormal, -0.0, np.inf, np.nan]
        return np.array(some, dtype.numpy)
    edge = np.iinfo(dtype.numpy)
    some = [edge.max, edge.min, edge.max - 1, edge.min + 1, edge.max // 2, edge.max // 3, 1]
    return np.array(some, dtype.numpy)


@pytest.mark.parametrize("shape", [(7,), (1, 7), (7, 1)])
def test_parts_of_several_types_keep_every_number(shape: tuple[int, ...]) -> None:
    """Also those that no f64 holds. A float keeps its sign, too."""
    numbers = [extremes(dtype).reshape(shape) for dtype in DTYPES.values()]
    inputs = [inp(f"a{k}", type_of(a)) for k, a in enumerate(numbers)]
    inputs.append(inp("one", "u8[1,7]"))  # of another shape, if theirs is not this one
    numbers.append(np.arange(7, dtype=np.uint8).reshape(1, 7))
    parts = Parts(tuple(n.type for n in inputs))
    join = Graph.of(inputs, [parts.join(inputs)])
    state = inp("state", join.outputs[0].type)
    part = Graph.of([state], [parts.part(state, k) for k in range(len(inputs))])
    (joined,) = run(join, numbers)
    (fast,) = outputs(compiled(join, *numbers), *numbers)
    assert joined.dtype == np.float64 and joined.tobytes() == fast.tobytes()
    for got in (run(part, [joined]), outputs(compiled(part, joined), joined)):
        for have, want in zip(got, numbers, strict=True):
            np.testing.assert_array_equal(have, want, strict=True)
            if want.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(have), np.signbit(want))
