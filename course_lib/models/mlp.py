"""A multi-layer perceptron for 28 x 28 images: 784 -> 512 -> 512 -> 10.

    f32[n,784] --linear, relu--> f32[n,512] --linear, relu--> f32[n,512] --linear--> f32[n,10]

Three matrix products and two ReLUs: small enough to print in full. Next: `block.py`.
"""

from torch import nn


def mlp() -> nn.Module:
    """784-512-512-10 with ReLU; the output are logits."""
    return nn.Sequential(
        nn.Linear(784, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    )
