"""`run --compare onnxruntime` on models of 8-bit integers: distances in steps, two levels."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from course_lib.__main__ import main
from course_lib.bridges import steps as stepwise
from course_lib.commands.infra import compare
from course_lib.frontend.onnx.steps import output_steps

HALF, FOURTH = np.asarray(0.5, np.float32), np.asarray(0.25, np.float32)


@pytest.fixture
def model(tmp_path: Path) -> str:
    """x in steps of 0.25, doubled, in steps of 0.5."""
    path = tmp_path / "int8.onnx"
    onnx.save(made([("QuantizeLinear", "x fourth zero", "q", {}),
                    ("DequantizeLinear", "q fourth zero", "d", {}),
                    ("Add", "d d", "s", {}),
                    ("QuantizeLinear", "s half zero", "r", {}),
                    ("DequantizeLinear", "r half zero", "y", {})]), path)  # fmt: skip
    return str(path)


def made(nodes: Sequence[tuple[str, str, str, dict]], output: int = TensorProto.FLOAT):
    shape, name = [2, 3], nodes[-1][2].split()[0]
    held = {"half": HALF, "fourth": FOURTH, "zero": np.asarray(0, np.int8),
            "each": np.array([0.5, 0.25, 1], np.float32), "zeros": np.zeros(3, np.int8),
            "flat": np.array([3, 2])}  # fmt: skip
    return helper.make_model(
        helper.make_graph(
            [helper.make_node(op, i.split(), o.split(), **attrs) for op, i, o, attrs in nodes],
            "int8",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, output, shape)],
            [numpy_helper.from_array(value, key) for key, value in held.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )


ROUNDED = [("QuantizeLinear", "x half zero", "q", {}), ("DequantizeLinear", "q half zero", "d", {})]

COLUMNS = [("QuantizeLinear", "x each zeros", "q", {}),
           ("DequantizeLinear", "q each zeros", "y", {})]  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "output", "step"),
    [
        (ROUNDED, TensorProto.FLOAT, HALF),
        ([*ROUNDED, ("Reshape", "d flat", "y", {})], TensorProto.FLOAT, HALF),
        ([*ROUNDED, ("Softmax", "d", "y", {})], TensorProto.FLOAT, None),
        (ROUNDED[:1], TensorProto.INT8, np.asarray(1.0)),
        (COLUMNS, TensorProto.FLOAT, np.array([[0.5, 0.25, 1]], np.float32)),
    ],
    ids=["its scale", "moved", "floats at the end", "integers", "a scale for each column"],
)  # fmt: skip
def test_a_result_comes_in_steps_of_its_last_scale(nodes, output, step) -> None:
    found = output_steps(made(nodes, output))
    assert found is not None
    np.testing.assert_array_equal(found[0], step)


def test_a_model_of_floats_has_no_steps() -> None:
    assert output_steps(made([("Relu", "x", "y", {})])) is None


def test_distances_are_counted_in_steps_of_each_output() -> None:
    a, b = [f32(0, 1.5, np.nan), f32(3)], [f32(0, 0, np.nan), f32(5)]
    assert stepwise.in_steps(a, b, [HALF, np.asarray(1.0)]) == 3
    assert stepwise.in_steps(a, b, [None, np.asarray(1.0)]) == 2
    assert stepwise.in_steps(a, b, [None, None]) is None
    assert stepwise.in_steps([f32(0)], [f32(np.nan)], [HALF]) == np.inf


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_real_peer_gives_the_same_bits_on_both_levels(model, capsys) -> None:
    assert main(["run", model, "--compare", "onnxruntime", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["compare"]
    assert found["agrees"] and found["steps"]["same_bits"] == ["plain", "optimized"]


@pytest.mark.parametrize(("plain", "optimized", "status"), [(0, 20, 0), (2, 3, 0), (3, 0, 1)])
def test_the_plain_level_decides_and_both_are_told(
    model, capsys, monkeypatch, plain: int, optimized: int, status: int
) -> None:
    """A peer that is so many steps away, and with its optimizations so many."""
    real = compare.onnxruntime_session

    def session(source, threads=None, **level):
        away = 0.5 * (plain if level.get("plain") else optimized)
        return lambda arrays: [y + np.float32(away) for y in real(source, threads)(arrays)]

    monkeypatch.setattr(compare, "onnxruntime_session", session)
    words = ["run", model, "--compare", "onnxruntime"]
    assert main([*words, "--json"]) == status
    steps = json.loads(capsys.readouterr().out)["compare"]["steps"]
    assert (steps["plain"], steps["optimized"]) == (plain, optimized)
    assert steps["between_the_two"] == abs(plain - optimized)
    assert main(words) == status
    said = capsys.readouterr().out
    assert ("agrees with" if status == 0 else "DIFFERS from") in said
    far = "the same bits" if optimized == 0 else f"{optimized} steps"
    assert f"from onnxruntime with its optimizations: {far}" in said
