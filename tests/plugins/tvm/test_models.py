"""Models of the course, imported by TVM's own frontends, on the chip through TVM: near PyTorch, the
bits of the interpreter, and layer by layer what our own partitioner gives to the chip."""

import json
from collections import Counter
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.offload import Offloaded, offload
from course_lib.accelerator.compile.tiles import smallest
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.plugins import ours
from course_lib.plugins.report import PlugReport
from course_lib.plugins.tvm.door import Plugged, compile, plug
from course_lib.plugins.tvm.models import from_onnx, from_torch, quantized

pytestmark = pytest.mark.usefixtures("tvm")
NPU = PRESETS["npu"]
NEAR = 0.08  # of the largest result: what 8 bits may cost; the table at the end of a run has more
SHAPES = {"mlp": (1, 784), "block": (1, 128, 256), "resnet18": (1, 3, 32, 32)}


class Case(NamedTuple):
    module: Any
    inputs: list[np.ndarray]
    wanted: np.ndarray
    integers: Graph
    model: Plugged
    ours: Offloaded


@cache
def case(name: str) -> Case:
    """A model through torch.export and TVM's importer onto the chip, in the smallest tiles, and the
    same integers through our own partitioner."""
    import torch

    from course_lib.models import MODELS

    module = MODELS[name].build()
    inputs = [np.random.default_rng(0).standard_normal(SHAPES[name]).astype(np.float32)]
    with torch.no_grad():
        wanted = module(*map(torch.from_numpy, inputs)).numpy()
    integers = quantized(from_torch(module, inputs), inputs)
    model = compile(integers, NPU, smallest)
    mine = offload(integers, NPU, lambda part: partial(run, part), smallest)
    return Case(module, inputs, wanted, integers, model, mine)


@pytest.mark.parametrize("name", SHAPES)
def test_a_model_from_torch_export(name, table):
    found = case(name)
    (have,), (exact,) = found.model.run(found.inputs), run(found.integers, found.inputs)
    if name == "block":  # the floats between its parts may differ in the last bit, and so by a step
        np.testing.assert_allclose(have, exact, atol=2 / 127 * np.abs(exact).max())
    else:
        np.testing.assert_array_equal(have, exact)
    error = np.abs(have - found.wanted).max() / np.abs(found.wanted).max()
    assert error < NEAR
    share = found.model.report().macs_share
    table("Through TVM onto the chip", f"{name:<9} {error:.2%} from torch, {share:.1%} of the MACs")


@pytest.mark.parametrize("name", SHAPES)
def test_the_chip_gets_the_layers_that_our_partitioner_gives_it(name):
    """The same layers in the same tiles, and each alone has the same instructions but for its
    addresses; the same is refused, in the same words."""
    found = case(name)

    def layers(programs):
        return Counter(
            (layer.name, layer.pattern, layer.macs, str(layer.tile), len(layer.program))
            for made in programs
            for layer in made.layers
        )

    theirs = [region.program for region in found.model.regions]
    assert layers(theirs) == layers(found.ours.programs)
    refusals = found.ours.partition.refusals
    assert Counter(map(str, found.model.refusals)) == Counter(map(str, refusals))


@pytest.mark.parametrize("name", ["mlp", "resnet18"])
def test_where_the_partition_is_the_same_the_clocks_are_the_same(name):
    found = case(name)
    (region,), (mine,) = found.model.regions, found.ours.programs
    assert region.program.timing.total == mine.timing.total
    assert region.program.layer_clocks() == mine.layer_clocks()


def test_tvm_joins_only_neighbours_so_the_block_has_more_regions_than_our_parts():
    """Query, key and value read the same input: our parts, which have numbers, take all three at
    once; for TVM they are no neighbours. Every clock of a start is paid three times."""
    found = case("block")
    theirs = [region.program for region in found.model.regions]
    assert len(theirs) == 6 and len(found.ours.programs) == 4
    assert sum(r.timing.total for r in theirs) > sum(p.timing.total for p in found.ours.programs)


def test_our_own_frontend_leads_to_the_same_integers(imported):
    """PyTorch -> TVM -> our graph, or PyTorch -> our graph: the same model in 8 bits."""
    from course_lib.passes.quantize.to_int8 import to_int8

    found = case("mlp")
    mine = to_int8(imported("mlp"), [found.inputs])
    np.testing.assert_array_equal(run(mine, found.inputs)[0], found.model.run(found.inputs)[0])


def test_an_onnx_file_through_tvms_importer(exported):
    found = case("mlp")
    file = exported("mlp") / "default.onnx"
    for model in (file, file.read_bytes()):
        integers = quantized(from_onnx(model), found.inputs)
        outputs = run(integers, found.inputs)
        np.testing.assert_array_equal(outputs[0], found.model.run(found.inputs)[0])


def test_the_door_says_what_ours_says():
    """The same object with the same numbers, where the partition is the same."""
    import torch

    layers = torch.nn.Linear(24, 16), torch.nn.ReLU(), torch.nn.Linear(16, 6)
    inputs = [np.random.default_rng(0).standard_normal((8, 24)).astype(np.float32)]
    integers = quantized(from_torch(torch.nn.Sequential(*layers).eval(), inputs), inputs)
    outputs, report = plug(integers, inputs, PRESETS["teaching"])
    mine, said = ours.plug(integers, inputs, PRESETS["teaching"])
    assert isinstance(report, PlugReport) and report.into == "tvm"
    np.testing.assert_array_equal(outputs[0], mine[0])
    plain, other = report.as_dict(), said.as_dict()
    assert {k for k in plain if plain[k] != other[k]} == {"into"}
    assert plain["macs_share"] == 1 and plain["cycles"] > 0 and len(plain["layers"]) == 2


def test_the_command_says_so_as_data(tmp_path, capsys):
    import onnx
    import torch

    from course_lib.frontend import load
    from course_lib.frontend.onnx.write import to_onnx

    file = tmp_path / "small.onnx"
    onnx.save(to_onnx(load(torch.nn.Linear(8, 4).eval(), [np.zeros((3, 8), np.float32)])), file)
    assert main(["plug", str(file), "--into", "tvm", "--preset", "teaching", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["into"], said["subgraphs"], said["macs_share"]) == ("tvm", 1, 1.0)
    assert said["bit_exact"] and said["cycles"] > 0 and len(said["refusals"]) == 2


def test_models_that_cannot_be_imported_are_refused_in_words(tmp_path):
    import torch

    class Sorts(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x)

    square = [np.eye(3, dtype=np.float32)]
    with pytest.raises(ValueError, match="TVM cannot import this model"):
        from_torch(Sorts().eval(), square)
    with pytest.raises(ValueError, match="training mode"):
        from_torch(Sorts(), square)
    with pytest.raises(ValueError, match="there is no file"):
        from_onnx(tmp_path / "none.onnx")
