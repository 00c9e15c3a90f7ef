"""Weights that are random, repeatable, and different enough from the defaults to catch mistakes.

    nn.BatchNorm2d(64)    mean = 0, var = 1, weight = 1, bias = 0      PyTorch's start
    seeded(...)           all four drawn at random                    ours

With PyTorch's start values a batch norm in eval mode is (nearly) the identity, and a compiler that
folds it wrongly, or drops it, would still give the right answer. Next room: `mlp.py`.
"""

from collections.abc import Callable

import torch
from torch import nn


def seeded(constructor: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a model with weights drawn from `seed`; the global random state stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = constructor()
        for module in model.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d):
                randomize(module)
    return model.eval()


@torch.no_grad()
def randomize(norm: nn.BatchNorm2d) -> None:
    """Give a batch norm the statistics and the affine part of a layer that has been trained."""
    assert norm.running_mean is not None and norm.running_var is not None
    norm.running_mean.normal_(0.0, 0.2)
    norm.running_var.uniform_(0.5, 1.5)
    norm.weight.uniform_(0.5, 1.5)
    norm.bias.normal_(0.0, 0.2)
