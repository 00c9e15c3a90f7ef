"""The four models are the ones that the literature describes, and catch batch-norm mistakes."""

import subprocess
import sys

import numpy as np
import pytest

from course_lib.models import MODELS, example_inputs

# As published; the block has 12 d^2 + 13 d parameters with d = 256, the MLP one row per layer.
PARAMETERS = {"mlp": 669_706, "block": 789_760, "resnet18": 11_689_512, "mobilenet_v2": 3_504_872}
CONVOLUTIONS = {"mlp": 0, "block": 0, "resnet18": 20, "mobilenet_v2": 52}
OUTPUT_SHAPES = {
    "mlp": (1, 10),
    "block": (1, 128, 256),
    "resnet18": (1, 1000),
    "mobilenet_v2": (1, 1000),
}


def run(model, name):
    import torch

    with torch.no_grad():
        return model(*map(torch.from_numpy, example_inputs(name))).numpy()


@pytest.mark.parametrize("name", MODELS)
def test_model_has_the_published_size(name):
    from torch import nn

    model = MODELS[name].build()
    convolutions = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS[name]
    assert len(convolutions) == CONVOLUTIONS[name]
    assert not model.training


@pytest.mark.parametrize("name", MODELS)
def test_same_seed_gives_the_same_output_and_another_seed_another(name):
    first, again, other = (run(MODELS[name].build(seed=seed), name) for seed in (0, 0, 1))
    assert first.shape == OUTPUT_SHAPES[name]
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize("name", MODELS)
def test_output_is_a_sane_number_everywhere(name):
    output = run(MODELS[name].build(), name)
    assert np.isfinite(output).all()
    assert 0.01 < output.std() < 100


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_dropping_the_batch_norms_changes_the_output(name):
    from torch import nn

    model = MODELS[name].build()
    expected = run(model, name)
    for module in list(model.modules()):
        for child_name, child in list(module.named_children()):
            if isinstance(child, nn.BatchNorm2d):
                setattr(module, child_name, nn.Identity())
    changed = run(model, name)
    assert np.abs(changed - expected).max() > 0.1 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_each_statistic_of_a_batch_norm_matters(name):
    from torch import nn

    model = MODELS[name].build()
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    assert len(norms) == CONVOLUTIONS[name]
    for norm in norms:
        assert norm.running_mean is not None and norm.running_var is not None
        for values, start in [
            (norm.running_mean, 0),
            (norm.running_var, 1),
            (norm.weight, 1),
            (norm.bias, 0),
        ]:
            assert (values - start).abs().max() > 0.1
        assert norm.running_var.min() > 0


def test_building_leaves_the_global_random_state_alone():
    import torch

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    MODELS["mlp"].build()
    assert torch.equal(torch.rand(3), expected)


def test_unknown_model_is_named_with_the_known_ones():
    from course_lib.models import build

    with pytest.raises(ValueError, match=r"no model 'vgg'; the course has mlp, block"):
        build("vgg")


def test_the_table_loads_without_torch():
    code = "import sys; sys.modules['torch'] = None; from course_lib.models import MODELS"
    subprocess.run([sys.executable, "-c", code], check=True)
