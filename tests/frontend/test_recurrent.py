"""Recurrent layers and loops from both front ends: right, and each of them one kernel."""

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
from course_lib.ir.graph.interp import run
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.walk import loops
from course_lib.runtime.executable import CompiledModel

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def close(have: list[np.ndarray], want: list[np.ndarray]) -> None:
    for a, b in zip(have, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


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


def test_loop_with_states_of_two_types_is_written_out_or_refused() -> None:
    graph = agrees(loop_model(5, "i64"), floats(2), np.array(3))
    assert scans(graph) == 0
    with pytest.raises(
        ValueError, match=r"Loop of 400 .* one element type, they are f32\[2\], i64"
    ):
        from_onnx(loop_model(400, "i64"))
