"""`python -m course_lib plug`: the chip's part is judged by bits, the whole model by steps."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.accelerator.compile.build import ChipProgram
from course_lib.commands import plug as plug_command
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.node import apply
from course_lib.plugins import ours

SCALE = np.asarray(0.25, np.float32)


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The command for a product of 8 rows, so that tinygrad gives it to the chip, too."""
    weights = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
    path = tmp_path / "product.onnx"
    graph = trace(lambda x: b.matmul(x, weights), "f32[8,16]")
    path.write_bytes(to_onnx(graph).SerializeToString())
    return ["plug", str(path), "--preset", "teaching"]


def said(capsys, words: list[str]) -> tuple[int, dict, str]:
    status = main([*words, "--json"])
    data = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert main(words) == status
    return status, data, capsys.readouterr().out


@pytest.fixture(params=["ours", "tinygrad", "tvm"])
def into(request) -> str:
    """Each door, where its compiler is installed."""
    if request.param == "tinygrad":
        pytest.importorskip("tinygrad")
    if request.param == "tvm":
        request.getfixturevalue("tvm")
    return request.param


def test_a_door_says_what_ran_on_the_chip_and_how_the_whole_model_is(words, into, capsys):
    status, data, text = said(capsys, [*words, "--into", into])
    assert status == 0 and data["ran"] == 1 and data["differing"] == []
    assert data["chip_exact"] and data["bit_exact"] and data["agrees"] and data["steps"] == 0
    assert "1 piece of work on the chip, with the bits of the interpreter\n" in text
    assert "the whole model: the bits of the interpreter\n" in text


def test_one_wrong_bit_on_the_chip_is_an_error_however_near_the_model_is(
    words, into, capsys, monkeypatch
):
    def off_by_one(run):
        def wrong(*args, **more):
            results = run(*args, **more)
            first = results[0].copy()
            first.flat[0] += 1
            return type(results)([first, *results[1:]])

        return wrong

    monkeypatch.setattr(ChipProgram, "run", off_by_one(ChipProgram.run))
    if into == "tinygrad":
        from course_lib.plugins.tinygrad import device

        monkeypatch.setattr(device, "run_tiles", off_by_one(device.run_tiles))
    status, data, text = said(capsys, [*words, "--into", into])
    assert status == 1 and not data["chip_exact"] and len(data["differing"]) == 1
    assert "1 piece of work on the chip, 1 NOT with the bits of the interpreter: " in text
    assert data["agrees"] and data["steps"] <= 1, "one step, which a tolerance lets pass"


@pytest.mark.parametrize(("away", "status"), [(1, 0), (2, 0), (3, 1)])
def test_what_another_compiler_rounds_otherwise_is_counted_in_steps(
    words, capsys, monkeypatch, away: int, status: int
):
    """A door whose own part of the model is some steps away; what the chip did is right."""
    plug = ours.plug

    def elsewhere(integers, inputs, chip):
        outputs, report = plug(integers, inputs, chip)
        size = plug_command.step(integers.outputs[0])
        assert size is not None
        return [y + np.float32(away) * size for y in outputs], report

    monkeypatch.setattr(ours, "plug", elsewhere)
    got, data, text = said(capsys, words)
    assert (got, data["steps"]) == (status, away)
    assert data["chip_exact"] and not data["bit_exact"]
    assert f"the whole model: {away} steps of its results" in text
    assert ("TOO FAR" in text) == (status == 1)


def test_floats_that_a_door_computes_last_have_a_tolerance_and_no_steps():
    x = b.trace(lambda q: b.softmax(apply("dequantize", q, SCALE)), "i8[4]").outputs[0]
    moved = b.trace(lambda q: b.reshape(apply("dequantize", q, SCALE), (2, 2)), "i8[4]").outputs[0]
    assert plug_command.step(x) is None and plug_command.step(moved) == SCALE
    assert plug_command.step(b.trace(lambda q: b.reshape(q, (2, 2)), "i8[4]").outputs[0]) == 1
