"""Models that nobody should send, through the commands: one error in words, never a traceback.

Gather(x, [7]) of f32[2,3], run   ->   error: while computing gather(x, i) ...: index 7 is outside
"""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from course_lib.__main__ import main

info, node = helper.make_tensor_value_info, helper.make_node
IMAGE, FILTERS = [1, 2, 6, 6], np.ones((3, 2, 3, 3), "f4")


def saved(op, operands=("x",), shape=(2, 3), opset=20, held=None, kind=1, **attributes) -> bytes:
    """A model of one op of x; what `held` names is a weight."""
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in (held or {}).items()]
    graph = helper.make_graph([node(op, operands, ["y"], name="bad", **attributes)], "g",
                              [info("x", kind, shape)], [info("y", 0, None)], weights)  # fmt: skip
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def weight(**fields) -> bytes:
    """x + w, where w is a tensor of these fields."""
    proto = onnx.load_from_string(saved("Add", ("x", "w")))
    tensor = proto.graph.initializer.add(name="w", data_type=fields.pop("data_type", 1))
    for name, value in fields.items():
        if name == "location":
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value=value)
        elif isinstance(value, bytes):
            setattr(tensor, name, value)
        else:
            getattr(tensor, name).extend(value)
    return proto.SerializeToString()


def conv(**attributes) -> bytes:
    return saved("Conv", ("x", "w"), IMAGE, held={"w": FILTERS}, **attributes)


def pool(**attributes) -> bytes:
    return saved("MaxPool", shape=IMAGE, kernel_shape=[2, 2], **attributes)


HOSTILE = {
    "an index outside": (
        saved("Gather", ("x", "i"), held={"i": np.array([7])}), "index 7 is outside"),
    "a range without an end": (
        saved("Range", ("a", "a", "a"), held={"a": np.array(0)}), "in steps of 0 has no end"),
    "no stride": (conv(auto_pad="SAME_UPPER", strides=[0, 0]), "strides and dilations start at 1"),
    "no stride, rounded up": (pool(ceil_mode=1, strides=[0, 0]), "start at 1"),
    "no dilation": (conv(dilations=[0, 0]), "start at 1"),
    "no group": (conv(group=0), "group"),
    "a kernel larger than the image": (conv(dilations=[9, 9]), "does not fit into 6"),
    "an axis outside": (saved("Softmax", axis=9), "axis 9 is out of range"),
    "an operand left out": (saved("MatMul", ("x", "")), "operand 'B' is left out"),
    "too few operands": (saved("Add"), "at least 2 are needed"),
    "too many operands": (saved("Relu", ("x", "x")), "at most 1 are allowed"),
    "no body": (saved("Loop", ("", "", "x")), "it needs the attribute 'body'"),
    "a scale of 0": (
        saved("Resize", ("x", "", "s"), held={"s": np.array([1, 0], "f4")}), "numbers above 0"),
    "a scale of NaN": (
        saved("Resize", ("x", "", "s"), held={"s": np.array([1, np.nan], "f4")}), "above 0"),
    "a value from nowhere": (saved("Relu", ("ghost",)), "reads 'ghost', which nothing before it"),
    "a loop of nodes": (saved("Relu", ("y",)), "reads 'y', which nothing before it defines"),
    "opset 999": (saved("Relu", opset=999), "is written in opset 999, which is newer than"),
    "opset 0": (saved("Relu", opset=0), "opset 0"),
    "a negative size": (saved("Relu", shape=(-3, 2)), "input 'x': a shape cannot have negative"),
    "strings": (saved("Identity", kind=TensorProto.STRING), "type STRING is not supported"),
    "8-bit floats": (weight(data_type=TensorProto.FLOAT8E4M3FN, dims=[2]), "FLOAT8E4M3FN is not"),
    "a weight of a negative size": (weight(dims=[-4], raw_data=bytes(16)), "negative sizes: [-4]"),
    "a weight that is too short": (weight(dims=[100], raw_data=bytes(16)), "initializer 'w'"),
    "weights elsewhere": (weight(dims=[3], location="absent.bin"), "in another file cannot"),
    "weights outside": (weight(dims=[3], location="../../etc/passwd"), "in another file cannot be"),
    "cut off": (conv()[:100], "is not an ONNX model, or is damaged"),
    "text": (b"hello", "is not an ONNX model, or is damaged"),
    "nothing": (b"", "is not an ONNX model"),
}  # fmt: skip
RUNS = ("an index outside", "a range without an end", "opset 999", "cut off")
COMMANDS = {
    "run": ("run", "--repeat", "1"), "systolic": ("run", "--target", "systolic"), "fma": ("fma",),
    "show": ("show",), "look": ("look",), "asm": ("asm",), "quantize": ("quantize",),
    "plug": ("plug",), "tune": ("tune", "--budget", "0.1", "--measure", "model"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "command"),
    [*((name, "run") for name in HOSTILE),
     *((name, command) for name in RUNS[1:] for command in COMMANDS if command != "run"),
     *((RUNS[0], command) for command in ("quantize", "plug", "systolic", "tune"))],
)  # fmt: skip
def test_a_hostile_model_is_refused_in_words(name: str, command: str, tmp_path, capsys) -> None:
    data, words = HOSTILE[name]
    (tmp_path / "bad.onnx").write_bytes(data)
    first, *others = COMMANDS[command]
    assert main([first, str(tmp_path / "bad.onnx"), *others]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("error: ") and words in said.err, said.err
    assert "Traceback" not in said.err and len(said.err.splitlines()) <= 3, said.err


def test_a_folder_is_no_model(tmp_path, capsys) -> None:
    assert main(["run", str(tmp_path)]) == 1
    assert f"{tmp_path} is a folder, not a file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plug", "systolic"])
def test_a_product_of_nothing_stays_off_the_chip(command: str, tmp_path, capsys) -> None:
    for shape in ((2, 0), (0, 3), (2, 3)):
        held = {"w": np.ones((shape[1], 4 * (shape != (2, 3))), "f4")}
        (tmp_path / "x.onnx").write_bytes(saved("MatMul", ("x", "w"), shape, held=held))
        first, *others = COMMANDS[command]
        assert main([first, str(tmp_path / "x.onnx"), *others]) == 0
        assert "the bits of the interpreter" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["toy", "npu"])
def test_bytes_are_no_program(command: str, tmp_path, capsys) -> None:
    (tmp_path / "x.mlir").write_bytes(b"\x80\x81")
    assert main([command, str(tmp_path / "x.mlir")]) == 1
    assert "is not text in UTF-8: byte 0 is 0x80" in capsys.readouterr().err
    assert main([command, str(tmp_path)]) == 1
    assert "is a folder" in capsys.readouterr().err
