"""The course's four models, and others, captured by torch.compile: every op is ours.

Machine code for two of the four; for the larger two, on smaller images, the interpreter runs the
graph as it was captured. Passes and machine code of the same ops have tests of their own.
"""

import sys

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import course_lib  # noqa: E402
from course_lib.models import MODELS, example_inputs  # noqa: E402
from course_lib.plugins.torch import report  # noqa: E402


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


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_every_op_of_the_convolutional_models_is_ours(ours, name):
    model = MODELS[name].build().eval()
    run = ours(model, fullgraph=True, options={"target": "interpreter", "passes": []})
    whole(run, model, [torch.randn(1, 3, 48, 48)])


@pytest.mark.parametrize("name", ["mlp", "block"])
def test_every_op_of_the_smaller_models_is_ours(ours, imported, name):
    model, inputs = MODELS[name].build().eval(), map(torch.from_numpy, example_inputs(name))
    run = ours(model, fullgraph=True, options={"threads": 1})
    (kernels,) = whole(run, model, list(inputs)).kernels.values()
    # torch.compile spells more out than torch.export, and nothing of it is left after the passes
    own = course_lib.compile(imported(name), threads=1).kernels
    assert [kernel.name for kernel in kernels] == [kernel.name for kernel in own]


def test_kernels_lead_back_to_modules_and_lines(ours, imported):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).relu()
            return x

    model = Net()
    graph = whole(ours(model, options={"threads": 1}), model, [torch.ones(2, 4)])
    (kernels,) = graph.kernels.values()
    line = Net.forward.__code__.co_firstlineno + 2
    assert ["layers.0" in kernels[0].origin, "layers.1" in kernels[1].origin] == [True, True]
    assert f"layers.0 (test_models.py:{line})" in graph.source(kernels[0])
    assert f"matmul_add_relu_0  from layers.0 (test_models.py:{line})" in str(report())


def test_an_encoder_layer_is_one_op_of_pytorchs_and_several_of_ours(ours):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu").eval()
    kernels = whole(ours(layer), layer, [torch.randn(2, 5, 8)]).kernels
    assert any(k.name.startswith("matmul_add_mul_mul_erf") for ks in kernels.values() for k in ks)


def test_a_recurrent_layer_is_one_kernel_where_dynamo_captures_it(ours):
    model = nn.Sequential(nn.Embedding(9, 4), nn.LSTM(4, 4, batch_first=True)).eval()
    x = torch.randint(0, 9, (2, 6))
    with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
        torch.testing.assert_close(ours(model)(x), model(x), rtol=1e-5, atol=1e-6)
    (graph,) = report().graphs
    assert (
        not graph.left and sum("scan" in k.name for ks in graph.kernels.values() for k in ks) == 1
    )


@pytest.mark.parametrize(
    "layer",
    [
        nn.InstanceNorm2d(3, affine=True),
        nn.AdaptiveAvgPool2d((None, 2)),
        nn.Upsample(scale_factor=2),
        nn.Upsample((7, 5), mode="bilinear", align_corners=True),
    ],
)
def test_layers_that_pytorch_would_spell_out(ours, layer):
    graph = whole(ours(layer, options={"target": "interpreter"}), layer, [torch.randn(2, 3, 4, 6)])
    assert graph.ops == 1


@pytest.mark.parametrize("name", ["autoencoder", "temporal", "recommender"])
def test_every_op_of_other_families_is_ours(ours, root, monkeypatch, name):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    families = __import__("families")
    sys.modules.pop("families")
    build, inputs = families.FAMILIES[name]
    model = build().eval()
    whole(ours(model, options={"target": "interpreter"}), model, inputs())
