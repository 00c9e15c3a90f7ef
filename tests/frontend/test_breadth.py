"""Models beyond the four of the course come in through both doors, and mean the same.

ResNet-50 as it is, and small versions of: a BERT-style encoder, a GPT-style decoder, a vision
transformer, a U-Net, and an LSTM cell unrolled over time. Each goes torch.export -> Graph and
torch.onnx.export -> Graph, and is compared with PyTorch in float64, on both targets.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import course_lib
from course_lib.frontend.onnx.read import from_onnx
from course_lib.frontend.torch.export import from_torch
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run


class Bottleneck(nn.Module):
    """relu(x + f(x)): f is 1x1, 3x3 (with the stride), 1x1 with four times the channels."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.narrow, self.norm1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.middle = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.wide = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(4 * width)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != 4 * width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norm1(self.narrow(x)))
        y = F.relu(self.norm2(self.middle(y)))
        return F.relu(self.norm3(self.wide(y)) + self.shortcut(x))


class ResNet50(nn.Sequential):
    """53 convolutions, 25.6 million parameters (He et al. 2016)."""

    def __init__(self) -> None:
        blocks: list[nn.Module] = []
        inputs = 64
        for depth, width, stride in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
            for number in range(depth):
                blocks.append(Bottleneck(inputs, width, stride if number == 0 else 1))
                inputs = 4 * width
        super().__init__(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
            nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(2048, 1000),
        )  # fmt: skip


class Bert(nn.Module):
    """Token and position embeddings, post-norm encoder layers, a padding mask, a pooler."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 32), nn.Embedding(16, 32)
        self.norm = nn.LayerNorm(32, eps=1e-12)
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pooler = nn.Linear(32, 32)

    def forward(self, tokens: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1])
        x = self.norm(self.words(tokens) + self.places(places))
        x = self.encoder(x, src_key_padding_mask=padding)
        return torch.tanh(self.pooler(x[:, 0]))


class GptBlock(nn.Module):
    """A decoder block that masks the future with a buffer, as in minimal GPT implementations."""

    def __init__(self, width: int = 32, heads: int = 4, longest: int = 16) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.mask: torch.Tensor
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, t, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(width, dim=2)
        q, k, v = (y.view(n, t, self.heads, -1).transpose(1, 2) for y in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * k.size(-1) ** -0.5
        scores = scores.masked_fill(self.mask[:t, :t] == 0, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(n, t, width)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """Two blocks; the output layer shares the embedding's weights; attention once as one op."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 32), nn.Embedding(16, 32)
        self.blocks = nn.Sequential(GptBlock(), GptBlock())
        self.norm = nn.LayerNorm(32)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        head = x[:, None]  # one head: [n, 1, t, width]
        x = x + F.scaled_dot_product_attention(head, head, head, is_causal=True)[:, 0]
        return self.norm(self.blocks(x)) @ self.words.weight.T


class VisionTransformer(nn.Module):
    """Patches by a strided convolution, a class token, learned positions, pre-norm encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, stride=8)
        self.token = nn.Parameter(torch.randn(1, 1, 32))
        self.places = nn.Parameter(torch.randn(1, 17, 32))
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.encoder(x)[:, 0])


class UNet(nn.Module):
    """Down twice, up once by a transposed convolution and once by resizing, with skips."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2 = self.twice(3, 8), self.twice(8, 16)
        self.middle = self.twice(16, 32)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.up2, self.up1 = self.twice(32, 16), self.twice(24, 8)
        self.out = nn.Conv2d(8, 2, 1)

    @staticmethod
    def twice(inputs: int, outputs: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(True),
            nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.SiLU(),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.down1(x)
        c = self.down2(F.max_pool2d(a, 2))
        y = self.middle(F.max_pool2d(c, 2))
        y = self.up2(torch.cat([self.up(y), c], dim=1))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.up1(torch.cat([y, a], dim=1)))


class Unrolled(nn.Module):
    """An LSTM cell, written as a Python loop over time."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(12, 16)
        self.out = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = torch.zeros(x.shape[0], 16, dtype=x.dtype)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.out(h)


TOKENS = torch.randint(0, 50, (2, 12), generator=torch.Generator().manual_seed(0))
PADDING = torch.arange(12)[None, :] >= torch.tensor([[12], [7]])


def floats(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


BREADTH = {
    "resnet50": (ResNet50, floats(1, 3, 64, 64)),
    "bert": (Bert, TOKENS, PADDING),
    "gpt": (Gpt, TOKENS),
    "vit": (VisionTransformer, floats(2, 3, 32, 32)),
    "unet": (UNet, floats(1, 3, 24, 32)),
    "lstm": (Unrolled, floats(2, 4, 12)),
}


@pytest.fixture(params=BREADTH)
def case(request: pytest.FixtureRequest):
    """A model, its inputs, and what PyTorch computes in float64."""
    build, *inputs = BREADTH[request.param]
    torch.manual_seed(0)
    model = build().eval()
    wide = [x.double() if x.is_floating_point() else x for x in inputs]
    with torch.no_grad():
        want = model.double()(*wide).numpy()
    return model.float(), inputs, want


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == np.float32 and got.shape == want.shape
    assert np.abs(got - want).max() / np.abs(want).max() <= 1e-4


def test_import_from_torch(case) -> None:
    model, inputs, want = case
    arrays = [x.numpy() for x in inputs]
    graph = from_torch(model, inputs)
    assert all(node.origin for node in graph.ops)
    assert_close(run(graph, arrays)[0], want)
    assert_close(np.asarray(course_lib.compile(graph, arrays)(*arrays)), want)


def test_import_from_onnx(case, tmp_path: Path) -> None:
    model, inputs, want = case
    arrays = [x.numpy() for x in inputs]
    graph = via_onnx(model, inputs, tmp_path)
    assert all(node.origin for node in graph.ops)
    assert_close(run(graph, arrays)[0], want)
    assert_close(np.asarray(course_lib.compile(graph, arrays)(*arrays)), want)


@pytest.mark.parametrize(
    "options",
    [{"opset_version": 24}, {"opset_version": 14, "dynamo": False}],
    ids=["opset24", "old_exporter_opset14"],
)
@pytest.mark.parametrize("case", [name for name in BREADTH if name != "resnet50"], indirect=True)
def test_import_of_other_opsets(case, options: dict, tmp_path: Path) -> None:
    """ResNet-50 is large, and its few kinds of ops are in the others and in ResNet-18 too."""
    model, inputs, want = case
    graph = via_onnx(model, inputs, tmp_path, **options)
    assert all(node.origin for node in graph.ops)
    assert_close(run(graph, [x.numpy() for x in inputs])[0], want)


@pytest.mark.parametrize("name", ["unet", "lstm"])
def test_import_of_opset_13(name: str, tmp_path: Path) -> None:
    """The others need 14: PyTorch's exporter has no attention in 13."""
    build, *inputs = BREADTH[name]
    model = build().eval()
    graph = via_onnx(model, inputs, tmp_path, opset_version=13, dynamo=False)
    with torch.no_grad():
        want = model(*inputs).numpy()
    assert_close(run(graph, [x.numpy() for x in inputs])[0], want)


def via_onnx(model: nn.Module, inputs: list[torch.Tensor], folder: Path, **options) -> Graph:
    path = folder / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own deprecations
        torch.onnx.export(model, tuple(inputs), path, verbose=False, **options)
    return from_onnx(path)
