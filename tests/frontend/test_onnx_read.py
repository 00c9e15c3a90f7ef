"""ONNX files become graphs: shape arithmetic, symbolic sizes, control flow, and clear errors."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from course_lib.frontend import UnsupportedOps, coverage, load
from course_lib.frontend.onnx.read import from_onnx
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run

RNG = np.random.default_rng(0)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list],
    outputs: tuple[str, ...] = ("y",),
    weights: dict[str, np.ndarray] | None = None,
    opset: int = 20,
    kinds: dict[str, int] | None = None,
) -> onnx.ModelProto:
    """A small model; values are float tensors unless `kinds` says otherwise."""
    kinds = kinds or {}

    def info(name: str, shape) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), shape)

    graph = helper.make_graph(
        nodes,
        "test",
        [info(name, shape) for name, shape in inputs.items()],
        [info(name, None) for name in outputs],
        [numpy_helper.from_array(v, k) for k, v in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def node(op: str, inputs: str, outputs: str = "y", **attrs) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attrs)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def agrees_with_onnxruntime(proto: onnx.ModelProto, *inputs: np.ndarray, **options) -> Graph:
    graph = from_onnx(proto, **options)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]
    want = session.run(None, dict(zip(names, inputs, strict=True)))
    for have, value in zip(run(graph, list(inputs)), want, strict=True):
        np.testing.assert_allclose(have, value, rtol=1e-5, atol=1e-5)
    return graph


# ── what exporters write ──


def test_shape_arithmetic_leaves_no_node() -> None:
    """x.reshape(x.shape[0], -1), as PyTorch's older exporter writes it."""
    proto = model(
        [
            node("Shape", "x", "s"),
            node("Gather", "s zero", "n", axis=0),
            node("Unsqueeze", "n axes", "n1"),
            node("Concat", "n1 minus", "shape", axis=0),
            node("Reshape", "x shape"),
        ],
        {"x": [2, 3, 4]},
        weights={"zero": np.array(0), "axes": np.array([0]), "minus": np.array([-1])},
    )
    graph = agrees_with_onnxruntime(proto, floats(2, 3, 4))
    assert [n.op for n in graph.ops] == ["reshape"]
    assert str(graph.outputs[0].type) == "f32[2,12]"


def test_symbolic_batch_becomes_a_symbol_and_survives_shape_arithmetic() -> None:
    proto = model(
        [
            node("Shape", "x", "s"),
            node("Gather", "s zero", "n", axis=0),
            node("Unsqueeze", "n axes", "n1"),
            node("Concat", "n1 minus", "shape", axis=0),
            node("Reshape", "x shape", "flat"),
            node("MatMul", "flat w", "y"),
        ],
        {"x": ["batch", 3, 4]},
        weights={
            "zero": np.array(0), "axes": np.array([0]), "minus": np.array([-1]), "w": floats(12, 5),
        },
    )  # fmt: skip
    graph = from_onnx(proto)
    assert "reshape(%x) {shape = [batch, -1]} : f32[batch,12]" in print_graph(graph)
    assert str(graph.outputs[0].type) == "f32[batch,5]"
    fixed = agrees_with_onnxruntime(proto, floats(7, 3, 4), example_inputs=[floats(7, 3, 4)])
    assert str(fixed.outputs[0].type) == "f32[7,5]"


def test_size_without_a_name_becomes_a_symbol_too() -> None:
    graph = from_onnx(model([node("Relu", "x")], {"x": [None, 4]}))
    assert str(graph.inputs[0].type) == "f32[x_0,4]"


def test_number_that_exporters_write_is_clipped_to_the_axis() -> None:
    weights = {"a": np.array([1]), "e": np.array([2**63 - 1]), "ax": np.array([1])}
    agrees_with_onnxruntime(
        model([node("Slice", "x a e ax")], {"x": [2, 5]}, weights=weights), floats(2, 5)
    )


def test_origin_is_the_node_name_or_its_place() -> None:
    proto = model([node("Exp", "x", "e", name="first"), node("Relu", "e")], {"x": [3]})
    assert [n.origin for n in from_onnx(proto).ops] == [("first",), ("Relu#1",)]


def test_op_without_a_rule_is_imported_by_its_definition() -> None:
    proto = model([node("Celu", "x", alpha=0.7, name="act")], {"x": [3, 4]})
    graph = agrees_with_onnxruntime(proto, floats(3, 4))
    assert {n.origin for n in graph.ops} == {("act",)}


def test_function_of_the_model_is_opened() -> None:
    body = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 20)]
    )
    proto = model([helper.make_node("Twice", ["x"], ["y"], domain="mine")], {"x": [3]})
    proto.functions.append(body)
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    assert [n.op for n in agrees_with_onnxruntime(proto, floats(3)).ops] == ["add"]


def test_einsum_of_three_operands_with_ellipsis_and_diagonal() -> None:
    for equation, shapes in {
        "ij,jk,kl->li": [(2, 3), (3, 4), (4, 5)],
        "...ij,...jk->...ik": [(6, 2, 3), (6, 3, 4)],
        "bhid,bhjd->bhij": [(2, 3, 4, 5), (2, 3, 6, 5)],
        "iij->ij": [(3, 3, 4)],
        "ij->": [(3, 4)],
        "i,j": [(3,), (4,)],
    }.items():
        names = [f"x{k}" for k in range(len(shapes))]
        proto = model(
            [helper.make_node("Einsum", names, ["y"], equation=equation)],
            {n: list(s) for n, s in zip(names, shapes, strict=True)},
        )
        arrays = [floats(*s) for s in shapes]
        got = run(from_onnx(proto), arrays)[0]
        np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5)


# ── control flow ──


def branches(then: str, other: str) -> dict:
    """The attributes of an If whose branches apply one op each to the outer value x."""

    def branch(op: str) -> onnx.GraphProto:
        out = helper.make_tensor_value_info("out", TensorProto.FLOAT, [3])
        return helper.make_graph([node(op, "x", "out")], op, [], [out])

    return {"then_branch": branch(then), "else_branch": branch(other)}


def test_if_with_a_constant_condition_keeps_the_taken_branch() -> None:
    proto = model(
        [node("If", "c", **branches("Exp", "Neg"))], {"x": [3]}, weights={"c": np.array(False)}
    )
    assert [n.op for n in agrees_with_onnxruntime(proto, floats(3)).ops] == ["neg"]


def test_if_that_depends_on_data_computes_both_branches() -> None:
    proto = model(
        [node("If", "c", **branches("Exp", "Neg"))],
        {"x": [3], "c": []},
        kinds={"c": TensorProto.BOOL},
    )
    for condition in (True, False):
        graph = agrees_with_onnxruntime(proto, floats(3), np.array(condition))
        assert graph.ops[-1].op == "select"


def looped(trips: int | None, condition: str = "go") -> onnx.ModelProto:
    """y = x + x + ... : each iteration adds x to the sum and also emits the sum."""
    values = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        helper.make_tensor_value_info("sum", TensorProto.FLOAT, [3]),
    ]
    nodes = [
        node("Add", "sum x", "sum2"),
        node("Identity", "sum2", "seen"),
        node("Identity", "go", "go2"),
        node("ReduceSum", "sum2", "total", keepdims=0),
        node("Less", "total limit", "small"),
    ]
    outs = [
        helper.make_tensor_value_info(
            "go2" if condition == "go" else "small", TensorProto.BOOL, []
        ),
        helper.make_tensor_value_info("sum2", TensorProto.FLOAT, [3]),
        helper.make_tensor_value_info("seen", TensorProto.FLOAT, [3]),
    ]
    body = helper.make_graph(nodes, "body", values, outs)
    weights = {"yes": np.array(True), "limit": np.array(9, np.float32), "n": np.array(trips or 0)}
    first = "n" if trips is not None else ""
    loop = helper.make_node("Loop", [first, "yes", "x"], ["y", "all"], body=body)
    return model([loop], {"x": [3]}, ("y", "all"), weights)


def test_loop_with_a_constant_trip_count_stays_a_loop() -> None:
    graph = agrees_with_onnxruntime(looped(400), floats(3))
    assert [n.op for n in graph.ops] == ["iota", "scan", "slice", "reshape"]
    assert str(graph.outputs[1].type) == "f32[400,3]"


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        (looped(None), r"Loop \(from Loop#0\): it goes on until its data say so, as a loop"),
        (looped(4, "data"), r"until its data say so \(its condition depends on the input 'x'\)"),
        (looped(1000, "data"), r"until its data say so \(its condition depends on the input 'x'\)"),
    ],
)
def test_loop_that_cannot_be_written_out_is_refused(proto: onnx.ModelProto, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        from_onnx(proto)


# ── errors ──


def test_unsupported_ops_are_listed_all_at_once_with_their_nodes() -> None:
    proto = model(
        [
            node("Det", "x", "d", name="volume"),
            node("Relu", "x", "r"),
            helper.make_node("Magic", ["r"], ["m"], domain="com.acme", name="spell"),
            node("Det", "x", "e"),
            node("Add", "d e"),
        ],
        {"x": [3, 3]},
    )
    with pytest.raises(UnsupportedOps) as caught:
        from_onnx(proto)
    message = str(caught.value)
    assert "Det (2 times): volume, Det#3" in message
    assert "com.acme::Magic (1 time): spell" in message
    assert "Relu" not in message and "Add" not in message


def test_unsupported_op_inside_a_branch_is_listed_too() -> None:
    proto = model(
        [node("If", "c", **branches("Det", "Neg"))], {"x": [3]}, weights={"c": np.array(True)}
    )
    with pytest.raises(UnsupportedOps, match="Det"):
        from_onnx(proto)


def test_unsupported_attribute_names_the_node() -> None:
    proto = model(
        [node("LSTM", "x w r", "y", hidden_size=2, clip=1.0, name="cell")],
        {"x": [3, 1, 4]},
        weights={"w": floats(1, 8, 4), "r": floats(1, 8, 2)},
    )
    with pytest.raises(ValueError, match=r"LSTM \(from cell\).*'clip'"):
        from_onnx(proto)


def test_shape_that_is_an_input_can_be_frozen() -> None:
    proto = model(
        [node("Reshape", "x shape")],
        {"x": [2, 6], "shape": [2]},
        kinds={"shape": TensorProto.INT64},
    )
    with pytest.raises(ValueError, match=r"depends on the input 'shape'.*freeze="):
        from_onnx(proto)
    graph = from_onnx(proto, freeze={"shape": np.array([4, 3])})
    assert [n.name for n in graph.inputs] == ["x"]
    assert str(graph.outputs[0].type) == "f32[4,3]"


def test_model_with_a_type_error_is_refused_by_the_node() -> None:
    proto = model([node("MatMul", "x x", name="mm")], {"x": [2, 3]})
    with pytest.raises(ValueError, match=r"MatMul \(from mm\): .*inner sizes differ"):
        from_onnx(proto)


def test_input_that_is_no_tensor_is_refused() -> None:
    proto = model([node("Relu", "x")], {"x": [3]})
    proto.graph.input[0].CopyFrom(
        helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [3])
    )
    with pytest.raises(ValueError, match=r"'x' is a sequence_type"):
        from_onnx(proto)


# ── files ──


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A model on the disk whose weights are in a second file."""
    proto = model([node("MatMul", "x w")], {"x": [2, 300]}, weights={"w": floats(300, 20)})
    path = tmp_path / "net.onnx"
    onnx.save_model(proto, path, save_as_external_data=True, location="net.data", size_threshold=0)
    return path


def test_weights_in_a_second_file_are_read(saved: Path) -> None:
    graph = from_onnx(saved)
    assert graph.constants[0].type.shape == (300, 20)
    x = floats(2, 300)
    np.testing.assert_allclose(run(graph, [x])[0], x @ graph.constants[0].value, rtol=1e-5)


def test_missing_second_file_is_named(saved: Path) -> None:
    (saved.parent / "net.data").unlink()
    with pytest.raises(ValueError, match=r"net\.onnx: the weights.*another file"):
        from_onnx(saved)


def test_second_file_that_is_too_short_is_refused(saved: Path) -> None:
    (saved.parent / "net.data").write_bytes(b"short")
    with pytest.raises(ValueError, match=r"net\.onnx"):
        from_onnx(saved)


def test_file_cut_in_half_is_refused(tmp_path: Path) -> None:
    proto = model([node("MatMul", "x w")], {"x": [2, 30]}, weights={"w": floats(30, 20)})
    path = tmp_path / "half.onnx"
    path.write_bytes(proto.SerializeToString()[:-1500])
    with pytest.raises(ValueError, match=r"half\.onnx"):
        from_onnx(path)


@pytest.mark.parametrize("content", [b"", b"hello, I am a text file\n", b"\x89PNG\r\n\x1a\n" * 9])
def test_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "picture.onnx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"picture\.onnx is not an ONNX model"):
        from_onnx(path)


def test_damaged_files_are_refused_in_words_whatever_the_damage() -> None:
    """Bytes changed, lost or added at random: a graph or a ValueError, nothing else."""
    proto = model(
        [
            node("Conv", "x w", "c", kernel_shape=[3, 3]),
            node("Relu", "c", "r"),
            node("Flatten", "r"),
        ],
        {"x": ["n", 1, 8, 8]},
        weights={"w": floats(2, 1, 3, 3)},
    )
    healthy, rng = proto.SerializeToString(), np.random.default_rng(0)
    outcomes = {"graph": 0, "refused": 0}
    for _ in range(300):
        damaged = bytearray(healthy)
        at, length = int(rng.integers(len(damaged))), int(rng.integers(1, 9))
        match int(rng.integers(3)):
            case 0:
                damaged[at] = int(rng.integers(256))
            case 1:
                del damaged[at : at + length]
            case _:
                damaged[at:at] = rng.bytes(length)
        try:
            from_onnx(bytes(damaged))
            outcomes["graph"] += 1
        except ValueError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 20, outcomes


def test_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match="there is no file nowhere"):
        load("nowhere.onnx")


def test_model_with_a_dangling_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Add \(from Add#0\): it reads 'ghost', which nothing"):
        from_onnx(model([node("Add", "x ghost")], {"x": [3]}))


def test_load_takes_paths_bytes_protos_and_graphs(saved: Path) -> None:
    proto = model([node("Relu", "x")], {"x": [3]})
    graph = load(proto)
    assert load(graph) is graph
    assert len(load(proto.SerializeToString()).ops) == 1
    assert len(load(str(saved)).ops) == 1
    with pytest.raises(ValueError, match="got int"):
        load(3)


def test_coverage_names_real_ops() -> None:
    known = coverage()
    assert {"conv2d", "linear", "softmax"} <= set(known["aten"])
    schemas = {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
    assert set(known["onnx"]) <= schemas and len(known["onnx"]) > 120


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([node("Relu", "a")], "it reads 'a', which nothing before it defines"),
        ([node("Relu", "x", "a"), node("Neg", "x", "a"), node("Abs", "a")],
         "Neg .*it defines 'a', which a node before it defines, too"),
        ([node("Relu", "x x")], "Relu .*it has 2 operands, at most 1 are allowed"),
    ],
    ids=["read before defined", "defined twice", "too many operands"],
)  # fmt: skip
def test_a_damaged_graph_is_refused_in_words(nodes: list[onnx.NodeProto], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        from_onnx(model(nodes, {"x": [2, 3]}))


# ── outputs that are declared ──


def declared(shape: list | None, kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """relu of f32[n,4], whose output is declared with this shape and element type."""
    proto = model([node("Relu", "x")], {"x": ["n", 4]})
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", kind, shape))
    return proto


@pytest.mark.parametrize(
    "shape", [None, ["n", 4], ["batch", 4], [None, None], [7, 4], ["n", "m"]], ids=str
)
def test_a_declared_output_that_can_be_right_is_accepted(shape: list | None) -> None:
    assert str(from_onnx(declared(shape)).outputs[0].type) == "f32[n,4]"


def test_an_output_without_a_declared_type_is_accepted() -> None:
    proto = declared(None)
    proto.graph.output[0].ClearField("type")
    assert str(from_onnx(proto).outputs[0].type) == "f32[n,4]"


@pytest.mark.parametrize("shape", [["n", 5], ["n"], [], ["n", 4, 1]], ids=str)
def test_a_wrong_declared_shape_is_refused(shape: list) -> None:
    with pytest.raises(ValueError, match=r"output 'y' is declared as f32.* computes f32\[n,4\]"):
        from_onnx(declared(shape))


def test_a_declared_shape_that_the_example_inputs_contradict_is_refused() -> None:
    with pytest.raises(ValueError, match=r"declared as f32\[7,4\], .* computes f32\[2,4\]"):
        from_onnx(declared([7, 4]), [floats(2, 4)])


@pytest.mark.parametrize("shape", [None, ["n", 4]], ids=str)
def test_a_wrong_declared_element_type_is_refused(shape: list | None) -> None:
    with pytest.raises(ValueError, match=r"output 'y' is declared as i64.* computes f32\[n,4\]"):
        from_onnx(declared(shape, TensorProto.INT64))


def test_an_output_that_is_declared_as_a_sequence_is_refused() -> None:
    proto = declared(None)
    sequence = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
    proto.graph.output[0].CopyFrom(sequence)
    with pytest.raises(ValueError, match="output 'y' is a sequence_type"):
        from_onnx(proto)


def test_an_output_without_a_name_is_not_what_a_left_out_operand_reads() -> None:
    nodes = [
        node("Split", "x", "first second", axis=0, num_outputs=2),
        node("Clip", "second"),
    ]
    nodes[0].output[0] = ""
    nodes[1].input.extend(["", ""])
    graph = from_onnx(model(nodes, {"x": [4]}))
    x = np.array([-1, 5, -2, 9], np.float32)
    np.testing.assert_array_equal(run(graph, [x])[0], x[2:])
