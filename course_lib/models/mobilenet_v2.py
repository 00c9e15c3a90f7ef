"""MobileNetV2 (Sandler et al. 2018) for 224 x 224 images: 52 convolutions, 17 of them depthwise.

    inverted residual:  expand 1x1, relu6 -> depthwise 3x3, relu6 -> project 1x1   (+ input)

A depthwise convolution does 9 multiply-adds per value that it reads: memory, not arithmetic, sets
its pace. That makes this model a different patient from `resnet18.py`.
Parameter names are those of the usual implementation. Next room: `course_lib/frontend`.
"""

import torch
from torch import nn

# One row per stage: expansion, output channels, number of blocks, stride of the first block.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2() -> nn.Module:
    """MobileNetV2 with 1000 classes; the output are logits."""
    return MobileNetV2()


class MobileNetV2(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [conv_bn_relu6(3, 32, kernel=3, stride=2)]
        channels = 32
        for expansion, outputs, blocks, first_stride in STAGES:
            for index in range(blocks):
                stride = first_stride if index == 0 else 1
                layers.append(InvertedResidual(channels, outputs, stride, expansion))
                channels = outputs
        layers.append(conv_bn_relu6(channels, 1280, kernel=1))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x).mean(dim=(2, 3)))


class InvertedResidual(nn.Module):
    """Widen, filter each channel by itself, narrow again; add the input where shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers.append(conv_bn_relu6(inputs, hidden, kernel=1))
        layers.append(conv_bn_relu6(hidden, hidden, kernel=3, stride=stride, groups=hidden))
        layers.append(nn.Conv2d(hidden, outputs, 1, bias=False))
        layers.append(nn.BatchNorm2d(outputs))
        self.conv = nn.Sequential(*layers)
        self.adds_input = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.adds_input else self.conv(x)


def conv_bn_relu6(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Convolution that keeps the image size (up to its stride), batch norm, ReLU6."""
    padding = (kernel - 1) // 2
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(),
    )
