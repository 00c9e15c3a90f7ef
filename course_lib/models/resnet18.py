"""ResNet-18 (He et al. 2016) for 224 x 224 images: 20 convolutions, each with a batch norm.

    stem: conv 7x7 /2, norm, relu, maxpool /2     f32[n,3,224,224] -> f32[n,64,56,56]
    four stages of two residual blocks            -> f32[n,512,7,7]
    average pool, linear                          -> f32[n,1000]

Parameter names are those of the usual implementation, so that trained weights would load.
Next: `mobilenet_v2.py`.
"""

import torch
from torch import nn


def resnet18() -> nn.Module:
    """ResNet-18 with 1000 classes; the output are logits."""
    return ResNet18()


class ResNet18(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = stage(64, 64, stride=1)
        self.layer2 = stage(64, 128, stride=2)
        self.layer3 = stage(128, 256, stride=2)
        self.layer4 = stage(256, 512, stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def stage(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    """Two residual blocks; the first one may halve the image and widen the channels."""
    return nn.Sequential(ResidualBlock(inputs, outputs, stride), ResidualBlock(outputs, outputs, 1))


class ResidualBlock(nn.Module):
    """relu(x + f(x)), where f is two 3x3 convolutions; x is projected where its shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        shortcut = x if self.downsample is None else self.downsample(x)
        return self.relu(y + shortcut)
