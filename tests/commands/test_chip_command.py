"""`compile(..., target="systolic")` and `run --target systolic`: whole models on the chip, bit for
bit, with every number that the report promises."""

import json

import numpy as np
import pytest

import course_lib
from course_lib.__main__ import main
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.compiler import read
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.quantize.to_int8 import qdq, to_int8
from course_lib.targets.systolic import SystolicModel

pytest.importorskip("torch")
from course_lib.models import digits, example_inputs


def on_chip(graph, inputs, **options) -> SystolicModel:
    """Compiled, and of the interpreter's bits; its sums are sums."""
    model = course_lib.compile(graph, inputs, target="systolic", **options)
    assert isinstance(model, SystolicModel)
    wanted = run(model.graph, inputs)
    for have, want in zip(model.run(inputs), wanted, strict=True):
        np.testing.assert_array_equal(have, want)
    data = model.report().as_dict()
    for engine in ENGINES:
        assert sum(data["stalls"][engine].values()) == data["cycles"]
    assert sum(layer["clocks"] for layer in data["layers"]) == data["cycles"]
    json.dumps(data)
    return model


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_a_whole_image_model_bit_for_bit(imported, table, name):
    model = on_chip(imported(name), list(example_inputs(name)))
    data = model.report().as_dict()
    ratio = data["cycles"] / data["roofline_cycles"]
    table("Whole models on the chip", f"{name:<14}{data['cycles']:>10,} clocks  {ratio:.2f} x roof")
    assert data["offloaded_macs_share"] == 1 and ratio < 1.5
    dense = [x for x in data["layers"] if x["utilization"] > 0.035 and x["macs"]]
    assert max(x["distance"] for x in dense) < 2
    if name == "mobilenet_v2":  # one cell in 32, at best; a layer may begin earlier
        depthwise = [x for x in data["layers"] if x["name"].endswith("conv.1.0")]
        assert max(x["utilization"] for x in depthwise[1:]) < 1.05 / 32
    else:
        assert data["utilization"] > 0.7


def test_the_transformer_block_goes_to_the_chip_and_back(imported):
    model = on_chip(imported("block"), list(example_inputs("block")))
    report = model.report()
    assert len(model.offloaded.programs) == 4
    assert report.as_dict()["offloaded_macs_share"] == pytest.approx(786432 / (786432 + 65536))
    assert "on the processor: softmax" in str(report)


def test_the_digits_are_read_by_the_chip_as_the_integers_read_them():
    """Every layer of the network that was trained, on 20 images, and no race on the way."""
    images, labels = digits.data("test")
    model = on_chip(read(digits.digits(), [images[:20]]), [images[:20]])
    right = (model.run([images[:20]])[0].argmax(-1) == labels[:20]).mean()
    assert right >= 0.9
    for part, made in zip(
        [p for p in model.offloaded.partition.parts if p.device == "chip"],
        model.offloaded.programs,
        strict=True,
    ):
        values = [np.zeros(n.type.dims, np.int8) for n in part.graph.inputs]
        made.checked(values)  # raises a Fault for a race


def test_a_model_that_another_tool_quantized_keeps_its_scales():
    """Pairs of quantize and dequantize, or integers: the same program as from the floats."""
    images = digits.data("test")[0][:20]
    floats = read(digits.digits(), [images])
    graphs = [make(floats, [[images]]) for make in (qdq, to_int8)]
    wanted = run(graphs[1], [images])[0]
    found = [course_lib.compile(graph, [images], target="systolic") for graph in graphs]
    for model in found:
        np.testing.assert_array_equal(model.run([images])[0], wanted)
    one, other = (model.report().as_dict() for model in found)
    assert one["cycles"] == other["cycles"] and one["offloaded_macs_share"] == 1


@pytest.mark.parametrize("name", ["npu", "scalesim"])
def test_the_command_says_it_all(capsys, tmp_path, name):
    trace_file = tmp_path / "trace.json"
    words = ["run", "mlp", "--target", "systolic", "--preset", name, "--json"]
    if name == "npu":
        words += ["--trace", str(trace_file)]
    assert main(words) == 0
    data = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert data["preset"] == name and data["bit_exact"] and data["max_rel_error"] < 0.1
    assert data["offloaded_macs_share"] == 1
    macs = 784 * 512 + 512 * 512 + 512 * 10
    assert data["macs"] == macs and data["dram_bytes"] > macs
    assert data["utilization"] == macs / (data["cycles"] * PRESETS[name].macs)
    assert [layer["kind"] for layer in data["layers"]] == ["matmul"] * 3
    assert all(layer["distance"] >= 0.9 for layer in data["layers"])
    if name == "npu":
        names = {event["name"] for event in json.loads(trace_file.read_text())["traceEvents"]}
        assert {"ldw", "lda", "ldb", "act", "st"} <= names


def test_refusals_in_words(capsys):
    net = trace(b.relu, "f32[2,3]")
    with pytest.raises(ValueError, match=r"chip is one of npu, .* got 'tpu'"):
        course_lib.compile(net, target="systolic", chip="tpu")
    assert main(["run", "mlp", "--target", "systolic", "--winograd"]) == 1
    assert "for targets that compute in floats" in capsys.readouterr().err


def test_a_model_that_the_chip_has_nothing_of_and_ranges_of_random_numbers():
    model = course_lib.compile(trace(b.relu, "f32[2,3]"), target="systolic")
    x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
    np.testing.assert_array_equal(model(x), np.maximum(x, 0))
    report = model.report()
    assert report.as_dict()["cycles"] == 0 and "random numbers" in str(report)
