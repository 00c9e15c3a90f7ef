"""ResNet-50 (He et al. 2016): the residual network whose blocks narrow the channels and widen them.

    1x1 to m channels, 3x3, 1x1 to 4m channels, plus the block's input     (a bottleneck)

Not one of the four models that every unit compiles: unit 4 plans its memory, because its peak is a
step that can be done in place. Next room: `course_lib/models/mobilenet_v2.py`.
"""

import torch
from torch import nn

STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # m, blocks, stride of the first


def resnet50() -> nn.Module:
    """ResNet-50 with 1000 classes, untrained; the output are logits."""
    layers: list[nn.Module] = [*normed(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, padding=1)]
    channels = 64
    for narrow, blocks, stride in STAGES:
        for block in range(blocks):
            layers.append(Bottleneck(channels, narrow, stride if block == 0 else 1))
            channels = 4 * narrow
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def normed(inputs: int, outputs: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """A convolution that keeps the size of the image, but for its stride, and a batch norm."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


class Bottleneck(nn.Module):
    """relu(f(x) + x), where x is projected if its shape changes."""

    def __init__(self, inputs: int, narrow: int, stride: int) -> None:
        super().__init__()
        first, second = normed(inputs, narrow, 1), normed(narrow, narrow, 3, stride)
        self.body = nn.Sequential(
            *first, nn.ReLU(), *second, nn.ReLU(), *normed(narrow, 4 * narrow, 1)
        )
        same = inputs == 4 * narrow and stride == 1
        self.shortcut = (
            nn.Identity() if same else nn.Sequential(*normed(inputs, 4 * narrow, 1, stride))
        )
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.body(x) + self.shortcut(x))
