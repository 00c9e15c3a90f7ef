"""One chip, three doors: the same model through our own partitioner, tinygrad and TVM."""

import json
from functools import cache

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.support import macs
from course_lib.compiler import read
from course_lib.frontend.onnx.write import to_onnx
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.quantize.to_int8 import whole
from course_lib.plugins import ours

torch = pytest.importorskip("torch")
pytest.importorskip("tinygrad")


def convolutions():
    """A dense one and a depthwise one."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, groups=8)
    )


def block():
    from course_lib.models.block import EncoderBlock

    return EncoderBlock(16, 2)


def residual():
    from course_lib.models.resnet18 import ResidualBlock

    return ResidualBlock(4, 8, 2)


def perceptron(inputs=24, hidden=16, outputs=6):
    layers = [torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden),
              torch.nn.ReLU(), torch.nn.Linear(hidden, outputs)]  # fmt: skip
    return torch.nn.Sequential(*layers)


MODELS = {
    "perceptron": (perceptron, (8, 24)),
    "one row": (perceptron, (1, 24)),
    "whole tiles": (lambda: perceptron(64, 64, 32), (32, 64)),
    "block": (block, (1, 8, 16)),
    "residual": (residual, (1, 4, 8, 8)),
    "convolutions": (convolutions, (1, 3, 6, 6)),
}


@cache
def model(name):
    """A quantized model and its inputs."""
    make, shape = MODELS[name]
    torch.manual_seed(0)
    inputs = [np.random.default_rng(0).standard_normal(shape).astype(np.float32)]
    return whole(read(make().eval(), inputs), [inputs]), inputs


@cache
def through(name, into, chip="teaching", **more):
    graph, inputs = model(name)
    from course_lib.plugins.tinygrad import door
    from course_lib.plugins.tvm.door import plug as tvm_plug

    plug = {"ours": ours.plug, "tinygrad": door.plug, "tvm": tvm_plug}[into]
    outputs, report = plug(graph, inputs, PRESETS[chip], **more)
    wanted = run(graph, inputs)
    assert all(np.array_equal(a, b) for a, b in zip(outputs, wanted, strict=True))
    return report


@pytest.mark.parametrize("name", ["perceptron", "block", "residual", "convolutions"])
def test_both_give_the_bits_of_the_interpreter_and_the_same_report(name):
    mine, theirs = through(name, "ours"), through(name, "tinygrad")
    assert mine.as_dict().keys() == theirs.as_dict().keys()
    assert mine.macs == theirs.macs == sum(map(macs, model(name)[0].ops))
    for report in (mine, theirs):
        assert sum(row.macs for row in report.layers) == report.macs_offloaded
        assert sum(row.cycles for row in report.layers) == report.cycles
        assert sum(row.dram_bytes for row in report.layers) == report.dram_bytes


def test_where_both_offload_the_same_the_counts_agree():
    """The same layers with the same multiply-accumulates. Of the bytes, tinygrad's sums of 32 bits
    stand for ours of 8, and only ours loads a bias and a scale for each column."""
    mine, theirs = (through("whole tiles", into, "npu") for into in ("ours", "tinygrad"))
    assert mine.macs_share == theirs.macs_share == 1
    for row, other, n in zip(mine.layers, theirs.layers, (64, 64, 32), strict=True):
        assert (row.name, row.macs) == (other.name, other.macs)
        assert other.dram_bytes - row.dram_bytes == (4 - 1) * 32 * n - 8 * n
        assert row.cycles < other.cycles


@pytest.mark.usefixtures("tvm")
def test_through_all_three_doors_the_same_layers_are_counted():
    """TVM reads our table of patterns, so nothing differs but the name of the door."""
    mine, tvm, tinygrad = (
        through("whole tiles", into, "npu") for into in ("ours", "tvm", "tinygrad")
    )
    assert (mine.into, tvm.into, tinygrad.into) == ("ours", "tvm", "tinygrad")
    assert {**tvm.as_dict(), "into": "ours"} == mine.as_dict()
    named = [[(row.name, row.macs) for row in report.layers] for report in (mine, tvm, tinygrad)]
    assert named[0] == named[1] == named[2]


def test_a_product_of_one_row_is_refused_with_a_reason():
    report = through("one row", "tinygrad")
    assert (report.macs_offloaded, report.cycles, report.subgraphs) == (0, 0, 0)
    assert len(report.refusals) == 3
    assert all("an axis that the other lacks" in why for why in report.refusals)
    assert through("one row", "ours").macs_share == 1


def test_more_of_the_block_on_the_chip_is_slower():
    """tinygrad gives the products of attention to the chip, too, which our partitioner cannot."""
    mine, theirs = through("block", "ours"), through("block", "tinygrad")
    assert mine.macs_share < theirs.macs_share == 1
    assert mine.cycles < theirs.cycles and mine.dram_bytes < theirs.dram_bytes


def test_convolutions_go_to_the_chip_and_depthwise_ones_do_not():
    mine, theirs = through("convolutions", "ours"), through("convolutions", "tinygrad")
    assert mine.macs_share == 1
    assert [row.macs for row in theirs.layers] == [36 * 8 * 27]
    (why,) = theirs.refusals
    assert why.startswith("conv : i32[1,8,4,4]") and "an axis that the other lacks" in why


def test_of_two_products_in_a_kernel_one_goes_to_the_chip():
    """At the end of a residual block, tinygrad computes two convolutions in one kernel."""
    report = through("residual", "tinygrad")
    assert [row.name for row in report.layers] == ["conv1", "conv2"]
    (why,) = report.refusals
    assert "its kernel computes two products" in why
    assert through("residual", "ours").macs_share == 1


def test_the_rule_brings_all_products_to_the_chip():
    """Without it, what the first layer makes is stored as int32, and nothing says that it fits."""
    off, on = (through("perceptron", "tinygrad", rule=rule) for rule in (False, True))
    assert (off.subgraphs, on.subgraphs) == (1, 3)
    assert off.macs_share == pytest.approx(384 / 736) and on.macs_share == 1
    assert sum("stores it wider" in why for why in off.refusals) == 2


def test_the_command_says_the_same_as_text_and_as_data(tmp_path, capsys):
    path, inputs = tmp_path / "model.onnx", tmp_path / "inputs.npz"
    _, (x,) = model("perceptron")
    torch.manual_seed(0)
    path.write_bytes(to_onnx(read(perceptron().eval(), [x])).SerializeToString())
    np.savez(inputs, x)
    for into in ("ours", "tinygrad"):
        words = ["plug", str(path), "--into", into, "--preset", "teaching", "--inputs", str(inputs)]
        assert main([*words, "--json"]) == 0
        data = json.loads(capsys.readouterr().out.splitlines()[-1])
        report = through("perceptron", into)
        assert data["bit_exact"] and data["into"] == into and data["chip"] == "teaching"
        assert (data["cycles"], data["macs"]) == (report.cycles, report.macs)
        assert main(words) == 0
        assert f"{report.cycles:,} clocks" in capsys.readouterr().out
