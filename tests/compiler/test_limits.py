"""Before memory is taken that is not there, an error says which op wants it, and how many bytes.

    Expand(x, [1000000, 1000000]), Cos   ->   "fused(x) : f32[1000000,1000000]  # from Expand#0,
                                              Cos#1 takes 4,000,000,000,000 bytes, and this ..."

Every model here would take far more than any machine has.
"""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from course_lib import compile
from course_lib.__main__ import main
from course_lib.frontend.onnx.read import from_onnx
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.types import TensorType, f32
from course_lib.limits import _container, check_room, memory_limit

MILLION = 10**6
WIDE = np.array([MILLION, MILLION])
info, node = helper.make_tensor_value_info, helper.make_node


def model(nodes, x, **held) -> onnx.ModelProto:
    """A model of x: f32[...]; its result is y."""
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in held.items()]
    graph = helper.make_graph(nodes, "g", [info("x", 1, x)], [info("y", 1, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def after(first, **held) -> onnx.ModelProto:
    """The op that makes something huge, and a Cos behind it."""
    return model([first, node("Cos", ["h"], ["y"])], [2], **held)


def doubled(times: int) -> onnx.ModelProto:
    names = ["x", *(f"c{k}" for k in range(times))]
    nodes = [node("Concat", [a, a], [b], axis=0) for a, b in pairwise(names)]
    return model([*nodes, node("Cos", [names[-1]], ["y"])], [2])


IMAGE = [1, 1, 4, 4]
HUGE = {
    "Expand": after(node("Expand", ["x", "s"], ["h"]), s=np.array([MILLION, MILLION, 2])),
    "Tile": after(node("Tile", ["x", "s"], ["h"]), s=np.array([10**12])),
    "Pad": after(node("Pad", ["x", "s"], ["h"]), s=np.array([10**12, 0])),
    "Pad by edges": after(node("Pad", ["x", "s"], ["h"], mode="edge"), s=np.array([10**12, 0])),
    "ConstantOfShape": model([node("ConstantOfShape", ["s"], ["h"]),
                              node("Add", ["x", "h"], ["y"])], [1], s=WIDE),
    "Range": model([node("Range", ["a", "b", "c"], ["h"]), node("Mul", ["x", "h"], ["y"])], [1],
                   a=np.float32(0), b=np.float32(1e13), c=np.float32(1)),
    "Concat": doubled(50),
    "Reshape": model([node("Expand", ["x", "s"], ["h"]), node("Reshape", ["h", "r"], ["y"])], [1],
                     s=WIDE, r=np.array([-1])),
    "OneHot": model([node("OneHot", ["i", "d", "v"], ["h"]), node("Add", ["x", "h"], ["y"])], [1],
                    i=np.array([0, 1]), d=np.array(10**12), v=np.array([0, 1], "f4")),
    "MatMul": model([node("Reshape", ["x", "c"], ["h"]), node("MatMul", ["h", "x"], ["y"])],
                    [1, MILLION], c=np.array([MILLION, 1])),
    "Conv": model([node("Conv", ["x", "w"], ["y"], pads=4 * [MILLION])], IMAGE,
                  w=np.ones((1, 1, 3, 3), "f4")),
    "MaxPool": model([node("MaxPool", ["x"], ["y"], kernel_shape=2 * [2 * MILLION],
                           pads=4 * [MILLION])], IMAGE),
    "Resize": model([node("Resize", ["x", "", "", "s"], ["y"], mode="linear")], IMAGE,
                    s=np.array([1, 1, 10**12, 4])),
    "DFT": model([node("DFT", ["x", "n"], ["y"])], [1, 4, 1], n=np.array(10**12)),
    "HannWindow": model([node("HannWindow", ["n"], ["h"]), node("Mul", ["x", "h"], ["y"])], [1],
                        n=np.array(10**12)),
    "an input": model([node("Cos", ["x"], ["y"])], [MILLION, MILLION]),
    "a shape that has to be computed": model(
        [node("Expand", ["c", "s"], ["h"]), node("ReduceMax", ["h"], ["m"], keepdims=0),
         node("Unsqueeze", ["m", "z"], ["n"]), node("Expand", ["x", "n"], ["y"])], [1],
        s=WIDE, c=np.array([3]), z=np.array([0])),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "target"),
    [*((name, "interpreter") for name in HUGE), ("Expand", "cpu"), ("Concat", "cpu"),
     ("Reshape", "cpu"), ("Conv", "cpu"), ("MatMul", "cpu"), ("MaxPool", "cpu")],
)  # fmt: skip
def test_what_no_machine_has_room_for_is_refused_in_words(name, target, tmp_path, capsys) -> None:
    proto = HUGE[name]
    onnx.save(proto, tmp_path / "huge.onnx")
    assert main(["run", str(tmp_path / "huge.onnx"), "--target", target]) == 1
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1 and "Traceback" not in error, error
    assert re.search(r" takes [\d,]{14,} bytes, and this process may take [\d,]+: ", error), error
    assert any(n.op_type in error for n in proto.graph.node) or "input 'x'" in error, error


def test_a_model_that_fits_is_compiled_and_one_that_does_not_is_not(monkeypatch) -> None:
    """The same model: what it takes is counted exactly, whatever the machine has."""
    graph = trace(lambda x, y: x @ y, "f32[256,256]", "f32[256,256]")
    x = np.ones((256, 256), np.float32)
    monkeypatch.setenv("COURSE_LIB_MEMORY", str(4 * 256 * 256))
    assert compile(graph)(x, x)[0, 0] == 256
    monkeypatch.setenv("COURSE_LIB_MEMORY", str(4 * 256 * 256 - 1))
    words = (r"largest value is matmul\(x0, x1\) : f32\[256,256\] with 262,144 bytes. Together "
             r"that takes 262,144 bytes, and this process may take 262,143")  # fmt: skip
    with pytest.raises(ValueError, match=words):
        compile(graph)


def test_the_interpreter_counts_what_is_alive(monkeypatch) -> None:
    """A chain of any length holds two values at a time."""

    def chain(x):
        for _ in range(9):
            x = -x
        return x

    graph, x = trace(chain, "f32[1000]"), np.ones(1000, np.float32)
    monkeypatch.setenv("COURSE_LIB_MEMORY", "12000")
    assert run(graph, [x])[0][0] == -1
    monkeypatch.setenv("COURSE_LIB_MEMORY", "7999")
    with pytest.raises(
        ValueError, match=r"neg\(x0\) .* with 4,000 bytes of other values takes 8,000"
    ):
        run(graph, [x])


def test_a_type_that_no_address_reaches_the_end_of_is_refused() -> None:
    assert TensorType(f32, (2**31, 2**29)).nbytes == 2**62
    for shape in ((2**31, 2**31), (2**63,), (0, 2**63)):
        with pytest.raises(ValueError, match="no address reaches the end of a tensor of f32"):
            TensorType(f32, shape)


def test_the_limit_is_that_of_the_environment_or_of_the_container(monkeypatch, tmp_path) -> None:
    assert memory_limit() > 100 << 20
    monkeypatch.setenv("COURSE_LIB_MEMORY", "1000")
    check_room(1000, "x")
    with pytest.raises(ValueError, match="x takes 1,001 bytes, and this process may take 1,000"):
        check_room(1001, "x")
    monkeypatch.setenv("COURSE_LIB_MEMORY", "8 GB")
    with pytest.raises(ValueError, match="COURSE_LIB_MEMORY is a number of bytes, got '8 GB'"):
        memory_limit()
    machine = _container(tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    assert _container(tmp_path) == machine
    (tmp_path / "memory.max").write_text("5000\n")
    assert _container(tmp_path) == 5000


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path, capsys, monkeypatch) -> None:
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros((1, 784), np.float32))
    monkeypatch.setenv("COURSE_LIB_MEMORY", "3000")
    assert main(["run", "mlp", "--inputs", str(Path(tmp_path / "x.npz"))]) == 1
    assert "its arrays takes 3,264 bytes" in capsys.readouterr().err


def test_a_split_into_a_billion_parts_makes_those_that_somebody_reads() -> None:
    proto = model([node("Split", ["x"], ["y", "z"], num_outputs=10**9)], [4])
    assert len(from_onnx(proto).ops) == 1


def test_a_stride_of_a_billion_is_refused() -> None:
    proto = model([node("ConvTranspose", ["x", "w"], ["y"], strides=[10**9, 10**9])], IMAGE,
                  w=np.ones((1, 1, 3, 3), "f4"))  # fmt: skip
    with pytest.raises(ValueError, match="conv_transpose: a stride is 4096 or less"):
        from_onnx(proto)
