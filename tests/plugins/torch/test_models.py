"""The course's four models, and others, captured by torch.compile: every op is ours.

Machine code for two of the four; for the larger two the interpreter runs the same graphs, after the
same passes, whose machine code has tests of its own.
"""

import sys

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from course_lib.models import MODELS, example_inputs  # noqa: E402
from course_lib.passes.infra.manager import run_passes  # noqa: E402
from course_lib.passes.pipeline import DEFAULT  # noqa: E402
from course_lib.plugins.torch import report  # noqa: E402

TARGETS = {
    "mlp": "cpu",
    "block": "cpu",
    "resnet18": "interpreter",
    "mobilenet_v2": "interpreter",
}


def whole(run, model, inputs):
    """One graph, all ours, equal to eager within 1e-5 of the largest number."""
    with torch.no_grad():
        want, got = model(*inputs), run(*inputs)
    assert (got - want).abs().max() <= 1e-5 * want.abs().max()
    told = report()
    assert [graph.regions for graph in told.graphs] == [1]
    assert told.compiled == told.ops > 0
    assert not told.left and not told.failed
    return told.graphs[0]


@pytest.mark.parametrize("name", MODELS)
def test_every_op_of_the_courses_models_is_ours(ours, imported, name):
    model, inputs = MODELS[name].build().eval(), map(torch.from_numpy, example_inputs(name))
    options = {"target": TARGETS[name], "threads": 1}
    graph = whole(ours(model, fullgraph=True, options=options), model, list(inputs))
    (kernels,) = graph.kernels.values()
    # torch.compile spells more out than torch.export, and nothing of it is left after the passes
    assert len(kernels) == len(run_passes(imported(name), DEFAULT).ops)


def test_kernels_lead_back_to_modules_and_lines(ours, imported):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).relu()
            return x

    graph = whole(ours(Net(), options={"threads": 1}), Net(), [torch.zeros(2, 4)])
    (kernels,) = graph.kernels.values()
    line = Net.forward.__code__.co_firstlineno + 2
    assert ["layers.0" in kernels[0].origin, "layers.1" in kernels[1].origin] == [True, True]
    assert f"layers.0 (test_models.py:{line})" in graph.source(kernels[0])
    assert f"matmul_add_relu_0  from layers.0 (test_models.py:{line})" in str(report())


@pytest.mark.parametrize("name", ["autoencoder", "temporal", "llama"])
def test_every_op_of_other_families_is_ours(ours, root, monkeypatch, name):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    families = __import__("families")
    sys.modules.pop("families")
    build, inputs = families.FAMILIES[name]
    model = build().eval()
    whole(ours(model, options={"target": "interpreter"}), model, inputs())
