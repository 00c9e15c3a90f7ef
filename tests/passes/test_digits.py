"""The network that the project trained itself: what quantization costs on images it never saw."""

import importlib.util

import numpy as np
import pytest

import course_lib
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.clean.dce import dce
from course_lib.passes.quantize.calibrate import Range, calibrate
from course_lib.passes.quantize.integers import integers
from course_lib.passes.quantize.quantize import quantize
from course_lib.passes.quantize.to_int8 import prepared

pytest.importorskip("torch")
from course_lib.models import digits


@pytest.fixture(scope="module")
def graphs():
    return digits.graphs()


def test_eight_bits_cost_next_to_nothing(table):
    found = digits.accuracies()
    table("Digits: right of 597", "  ".join(f"{k} {v * 597:.0f}" for k, v in found.items()))
    assert found["float"] > 0.96
    assert abs(found["qdq"] - found["float"]) < 0.01
    assert abs(found["int8"] - found["float"]) < 0.01


def test_the_integer_graph_answers_as_the_floats_do(graphs):
    images, _ = digits.data("test")
    floats, whole = (run(graphs[name], [images])[0] for name in ("float", "int8"))
    assert np.mean(floats.argmax(-1) == whole.argmax(-1)) > 0.98
    assert np.abs(floats - whole).mean() < 0.02 * np.abs(floats).max()


def test_ranges_that_are_far_too_wide_cost_what_the_few_steps_left_are_worth(graphs):
    """The same network with scales 60 times as large: 2 steps to each side instead of 127."""
    images, _ = digits.data("test")
    ready = prepared(graphs["float"])
    wide = {n: Range(60 * r.low, 60 * r.high) for n, r in calibrate(ready, [[images]]).items()}
    coarse = dce(integers(quantize(ready, wide)))
    assert digits.accuracy(lambda x: run(coarse, [x])[0]) < 0.8


def test_the_cpu_and_onnxruntime_give_the_same_bits_for_every_image(graphs):
    import onnxruntime

    from course_lib.frontend.onnx.write import to_onnx

    images, _ = digits.data("test")
    (want,) = run(graphs["int8"], [images])
    np.testing.assert_array_equal(course_lib.compile(graphs["int8"]).run([images])[0], want)
    session = onnxruntime.InferenceSession(to_onnx(graphs["int8"]).SerializeToString())
    name = session.get_inputs()[0].name
    np.testing.assert_array_equal(session.run(None, {name: images})[0], want)


def test_the_parts_of_the_data_do_not_overlap():
    (train, _), (test, _) = digits.data("train"), digits.data("test")
    assert (len(train), len(test)) == (1200, 597)
    seen = {image.tobytes() for image in train}
    assert sum(image.tobytes() in seen for image in test) == 0
    with pytest.raises(ValueError, match='"train" and "test"'):
        digits.data("all")


def test_the_script_trains(root, monkeypatch):
    import torch

    path = root / "scripts" / "train_digits.py"
    spec = importlib.util.spec_from_file_location("train_digits", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "EPOCHS", 3)
    threads = torch.get_num_threads()
    model = script.train()
    torch.set_num_threads(threads)
    assert digits.accuracy(lambda x: model(torch.from_numpy(x)).numpy()) > 0.4  # by chance: 0.1
