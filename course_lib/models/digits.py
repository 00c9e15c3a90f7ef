"""Handwritten digits of 8 x 8 pixels, and a small network that was trained to read them.

    images, labels = data("test")       # f32[597,1,8,8] from 0 to 1, i64[597]
    accuracies()                        # {"float": ..., "qdq": ..., "int8": ...}

    conv 3x3, pool      f32[n,1,8,8] -> f32[n,16,4,4]
    residual block      depthwise 3x3, 1x1       -> f32[n,32,4,4]
    mean, linear        -> f32[n,10]

The other models have random weights, on which no accuracy can be lost: this one shows what
quantization costs. It has what they have (batch norms, a residual block, ReLU6, a depthwise
convolution), in 5,930 numbers. `scripts/train_digits.py` trained it. The images are the test set of
the UCI data set "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998; licence
CC BY 4.0) as scikit-learn ships it. Next room: `course_lib/passes/quantize/to_int8.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from course_lib.frontend import load
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.quantize.to_int8 import qdq, to_int8

IMAGES = Path(__file__).with_name("digits.npz")
WEIGHTS = Path(__file__).with_name("digits_weights.npz")
TRAINED_ON = 1200  # the first ones; the rest is for the test


def data(part: str) -> tuple[np.ndarray, np.ndarray]:
    """The images f32[n,1,8,8], from 0 to 1, and the digits i64[n]: 1,200 of the part "train", 597
    of the part "test"."""
    if part not in ("train", "test"):
        raise ValueError(f'the parts are "train" and "test", got {part!r}')
    with np.load(IMAGES) as stored:
        images, labels = stored["images"], stored["labels"]
    chosen = slice(0, TRAINED_ON) if part == "train" else slice(TRAINED_ON, None)
    return images[chosen, None].astype(np.float32) / 16, labels[chosen].astype(np.int64)


def digits() -> nn.Module:
    """The trained network in eval mode; the output are logits."""
    model = Digits()
    with np.load(WEIGHTS) as stored:
        model.load_state_dict({name: torch.from_numpy(stored[name]) for name in stored.files})
    return model.eval()


class Digits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = conv_norm(1, 16, 3)
        self.pool = nn.MaxPool2d(2)
        self.first, self.second = conv_norm(16, 16, 3), conv_norm(16, 16, 3)
        self.depthwise = conv_norm(16, 16, 3, groups=16)
        self.wide = conv_norm(16, 32, 1)
        self.relu, self.relu6 = nn.ReLU(), nn.ReLU6()
        self.classes = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.relu(self.stem(x)))
        x = self.relu(x + self.second(self.relu(self.first(x))))
        x = self.relu6(self.wide(self.relu6(self.depthwise(x))))
        return self.classes(x.mean(dim=(2, 3)))


def conv_norm(inputs: int, outputs: int, kernel: int, groups: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


def accuracy(model: Callable[[np.ndarray], np.ndarray], part: str = "test") -> float:
    """The share of images of which `model` (images -> logits) gives the right digit the most."""
    images, labels = data(part)
    return float(np.mean(np.asarray(model(images)).argmax(-1) == labels))


def graphs() -> dict[str, Graph]:
    """The network as it was trained ("float"), with pairs ("qdq") and in integers ("int8"), each
    for all images of the test at once. Calibrated on as many images that it was trained on."""
    seen = data("train")[0][: len(data("test")[0])]
    floats = load(digits(), [seen])
    return {"float": floats, "qdq": qdq(floats, [[seen]]), "int8": to_int8(floats, [[seen]])}


def accuracies() -> dict[str, float]:
    """What quantization costs: the accuracy of each of `graphs` on the test images."""
    return {name: accuracy(lambda x, g=g: run(g, [x])[0]) for name, g in graphs().items()}
