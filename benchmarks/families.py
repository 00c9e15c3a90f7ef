"""Models beyond the four of the course, at sizes that people run: one of each family.

    build, inputs = FAMILIES["bert"]

Written in plain PyTorch, after the papers named beside them; the weights are random, which changes
no time. Each is small enough to be read, and most are the first layers of a deeper one: the later
layers repeat them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.models.resnet50 import resnet50


class Residual(nn.Module):
    """x + f(x)."""

    def __init__(self, *inside: nn.Module) -> None:
        super().__init__()
        self.inside = nn.Sequential(*inside)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inside(x)


class Joined(nn.Module):
    """What several branches make of the same x, one after the other along the channels."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], dim=1)


def conv(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1,
         act: Callable[[], nn.Module] = nn.ReLU) -> nn.Sequential:  # fmt: skip
    """Convolution, batch norm, activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        act(),
    )


def classifier(channels: int, classes: int = 1000) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]


# ── images ──


def vgg() -> nn.Module:
    """Simonyan and Zisserman 2014: eleven layers, without the two largest ones."""
    layers: list[nn.Module] = []
    for inputs, outputs, last in (
        (3, 64, True), (64, 128, True), (128, 256, False), (256, 256, True),
        (256, 512, False), (512, 512, True), (512, 512, False), (512, 512, True),
    ):  # fmt: skip
        layers += [conv(inputs, outputs), *([nn.MaxPool2d(2)] if last else [])]
    return nn.Sequential(*layers, *classifier(512))


def squeezenet() -> nn.Module:
    """Iandola et al. 2016: fire modules, 1x1 before 1x1 and 3x3 side by side."""

    def fire(inputs: int, few: int, many: int) -> list[nn.Module]:
        wide = Joined(
            nn.Sequential(nn.Conv2d(few, many, 1), nn.ReLU()),
            nn.Sequential(nn.Conv2d(few, many, 3, padding=1), nn.ReLU()),
        )
        return [nn.Conv2d(inputs, few, 1), nn.ReLU(), wide]

    pool = nn.MaxPool2d(3, 2, ceil_mode=True)
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 2), nn.ReLU(), pool, *fire(64, 16, 64), *fire(128, 16, 64), pool,
        *fire(128, 32, 128), *fire(256, 32, 128), pool, *fire(256, 48, 192), *fire(384, 64, 256),
        nn.Conv2d(512, 1000, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )  # fmt: skip


class Dense(nn.Module):
    """Huang et al. 2016: each layer reads what all layers before it made."""

    def __init__(self, inputs: int, growth: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d(inputs + k * growth), nn.ReLU(),
                nn.Conv2d(inputs + k * growth, 4 * growth, 1, bias=False),
                nn.BatchNorm2d(4 * growth), nn.ReLU(),
                nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False),
            )
            for k in range(layers)
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.cat([x, layer(x)], dim=1)
        return x


def densenet() -> nn.Module:
    return nn.Sequential(
        conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1), Dense(64, 32, 6),
        nn.BatchNorm2d(256), nn.ReLU(), nn.Conv2d(256, 128, 1), nn.AvgPool2d(2),
        Dense(128, 32, 6), *classifier(320),
    )  # fmt: skip


class Shuffled(nn.Module):
    """Ma et al. 2018: half of the channels pass; both halves are shuffled."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.branch = nn.Sequential(
            conv(half, half, 1), conv(half, half, 3, groups=half, act=nn.Identity),
            conv(half, half, 1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=1)
        y = torch.cat([left, self.branch(right)], dim=1)
        n, c, h, w = y.shape
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


def shufflenet() -> nn.Module:
    return nn.Sequential(
        conv(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1), conv(24, 116, 3, 2), *map(Shuffled, [116] * 3),
        conv(116, 232, 3, 2), *map(Shuffled, [232] * 7), conv(232, 1024, 1), *classifier(1024),
    )  # fmt: skip


class Scaled(nn.Module):
    """Hu et al. 2017: each channel times a factor that all channels decide."""

    def __init__(self, channels: int, few: int) -> None:
        super().__init__()
        self.factors = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, few, 1), nn.SiLU(),
            nn.Conv2d(few, channels, 1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factors(x)


def efficientnet() -> nn.Module:
    """Tan and Le 2019: the inverted bottlenecks of B0."""

    def bottleneck(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Module:
        wide = 6 * inputs
        inside = [
            conv(inputs, wide, 1, act=nn.SiLU),
            conv(wide, wide, kernel, stride, groups=wide, act=nn.SiLU),
            Scaled(wide, inputs // 4), conv(wide, outputs, 1, act=nn.Identity),
        ]  # fmt: skip
        return Residual(*inside) if (inputs, stride) == (outputs, 1) else nn.Sequential(*inside)

    rows = [(16, 24, 3, 2), (24, 24, 3, 1), (24, 40, 5, 2), (40, 40, 5, 1), (40, 80, 3, 2)]
    rows += [(80, 80, 3, 1), (80, 112, 5, 1), (112, 112, 5, 1), (112, 192, 5, 2), (192, 192, 5, 1)]
    return nn.Sequential(
        conv(3, 32, 3, 2, act=nn.SiLU), conv(32, 16, 1, act=nn.SiLU),
        *(bottleneck(*row) for row in rows), conv(192, 1280, 1, act=nn.SiLU), *classifier(1280),
    )  # fmt: skip


class Last(nn.Module):
    """A module that wants the channels last."""

    def __init__(self, inside: nn.Module) -> None:
        super().__init__()
        self.inside = inside

    def forward(self, x: Tensor) -> Tensor:
        return self.inside(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convnext() -> nn.Module:
    """Liu et al. 2022: 7x7 depthwise, layer norm, two products with gelu between them."""

    def block(c: int) -> nn.Module:
        inner = nn.Sequential(nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c))
        return Residual(nn.Conv2d(c, c, 7, padding=3, groups=c), Last(inner))

    return nn.Sequential(
        nn.Conv2d(3, 96, 4, 4), Last(nn.LayerNorm(96)), block(96), block(96),
        Last(nn.LayerNorm(96)), nn.Conv2d(96, 192, 2, 2), block(192), block(192), *classifier(192),
    )  # fmt: skip


class UNet(nn.Module):
    """Ronneberger et al. 2015: down three times, and up again beside what was there."""

    def __init__(self) -> None:
        super().__init__()
        widths = [32, 64, 128, 256]
        self.down = nn.ModuleList(
            nn.Sequential(conv(i, o), conv(o, o))
            for i, o in zip([3, *widths], widths, strict=False)
        )
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[-2::-1])
        self.merge = nn.ModuleList(
            nn.Sequential(conv(2 * w, w), conv(w, w)) for w in widths[-2::-1]
        )
        self.out = nn.Conv2d(32, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for number, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if number else x)
            kept.append(x)
        for up, merge, skip in zip(self.up, self.merge, kept[-2::-1], strict=True):
            x = merge(torch.cat([up(x), skip], dim=1))
        return self.out(x)


class Segmenter(nn.Module):
    """Chen et al. 2017: dilated convolutions side by side, and resizing back to the image."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(conv(3, 32, 3, 2), conv(32, 64, 3, 2), conv(64, 128, 3, 2))
        self.sides = Joined(
            conv(128, 64, 1), *(
                nn.Sequential(nn.Conv2d(128, 64, 3, padding=d, dilation=d), nn.ReLU())
                for d in (2, 4, 8)
            )
        )  # fmt: skip
        self.head = nn.Sequential(conv(256, 64, 1), nn.Conv2d(64, 21, 1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.head(self.sides(self.body(x)))
        return F.interpolate(y, scale_factor=8, mode="bilinear", align_corners=False)


def superresolution() -> nn.Module:
    """Shi et al. 2016: pixels out of channels."""
    return nn.Sequential(
        nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
        nn.Conv2d(32, 9, 3, padding=1), nn.PixelShuffle(3),
    )  # fmt: skip


def generator() -> nn.Module:
    """Radford et al. 2015: an image out of noise, by transposed convolutions."""
    layers: list[nn.Module] = [nn.ConvTranspose2d(100, 256, 4), nn.BatchNorm2d(256), nn.ReLU()]
    for inputs, outputs in ((256, 128), (128, 64), (64, 32)):
        layers += [nn.ConvTranspose2d(inputs, outputs, 4, 2, 1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh())


def styletransfer() -> nn.Module:
    """Johnson et al. 2016: residual blocks with instance norm."""
    block = lambda: Residual(  # noqa: E731
        nn.Conv2d(64, 64, 3, padding=1), nn.InstanceNorm2d(64, affine=True), nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1), nn.InstanceNorm2d(64, affine=True),
    )  # fmt: skip
    return nn.Sequential(
        nn.ReflectionPad2d(4), nn.Conv2d(3, 32, 9), nn.ReLU(),
        nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(),
        *(block() for _ in range(3)), nn.Upsample(scale_factor=2), nn.Conv2d(64, 3, 9, padding=4),
    )  # fmt: skip


class Mixer(nn.Module):
    """Tolstikhin et al. 2021: products along the patches, then along the channels."""

    def __init__(self, patches: int = 196, width: int = 256) -> None:
        super().__init__()

        def mlp(size: int, inside: int) -> nn.Module:
            return nn.Sequential(nn.Linear(size, inside), nn.GELU(), nn.Linear(inside, size))

        self.patches = nn.Conv2d(3, width, 16, 16)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(8))
        self.along = nn.ModuleList(mlp(patches, 256) for _ in range(4))
        self.across = nn.ModuleList(mlp(width, 1024) for _ in range(4))
        self.head = nn.Linear(width, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        for k, (along, across) in enumerate(zip(self.along, self.across, strict=True)):
            x = x + along(self.norms[2 * k](x).transpose(1, 2)).transpose(1, 2)
            x = x + across(self.norms[2 * k + 1](x))
        return self.head(x.mean(1))


class VisionTransformer(nn.Module):
    """Dosovitskiy et al. 2020, four layers."""

    def __init__(self, width: int = 192, heads: int = 3) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 197, width))
        self.layers = encoder(width, heads, 4, norm_first=True)
        self.head = nn.Linear(width, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.layers(x)[:, 0])


# ── text ──


def encoder(width: int, heads: int, layers: int, norm_first: bool = False) -> nn.Module:
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, activation="gelu", batch_first=True, norm_first=norm_first
    )
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


class Bert(nn.Module):
    """Devlin et al. 2018, four layers of 256: embeddings, encoder, a class of the first token."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30000, 256), nn.Embedding(128, 256)
        self.norm, self.layers = nn.LayerNorm(256), encoder(256, 4, 4)
        self.head = nn.Linear(256, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1])))
        return self.head(self.layers(x)[:, 0])


class Attention(nn.Module):
    """Causal attention, with rotated positions where `angles` are given."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor, angles: Tensor | None = None) -> Tensor:
        n, t, width = x.shape
        q, k, v = (
            y.view(n, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(width, dim=2)
        )
        if angles is not None:
            q, k = (self._rotated(y, angles) for y in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, t, width))

    @staticmethod
    def _rotated(x: Tensor, angles: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


class Gpt(nn.Module):
    """Radford et al. 2019: four blocks of 256, and a row of scores for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(8000, 256), nn.Embedding(128, 256)
        self.norms = nn.ModuleList(nn.LayerNorm(256) for _ in range(8))
        self.attention = nn.ModuleList(Attention(256, 4) for _ in range(4))
        self.mlp = nn.ModuleList(
            nn.Sequential(nn.Linear(256, 1024), nn.GELU("tanh"), nn.Linear(1024, 256))
            for _ in range(4)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for k, (attention, mlp) in enumerate(zip(self.attention, self.mlp, strict=True)):
            x = x + attention(self.norms[2 * k](x))
            x = x + mlp(self.norms[2 * k + 1](x))
        return x @ self.words.weight.T


class RootMeanSquare(nn.Module):
    """Zhang and Sennrich 2019: the norm without the mean. (PyTorch's own does not export.)"""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Llama(nn.Module):
    """Touvron et al. 2023: root-mean-square norm, rotated positions, gated products."""

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.norms = nn.ModuleList(RootMeanSquare(width) for _ in range(8))
        self.attention = nn.ModuleList(Attention(width, 4) for _ in range(4))
        self.gate, self.up, self.down = (
            nn.ModuleList(nn.Linear(a, b, bias=False) for _ in range(4))
            for a, b in ((width, 688), (width, 688), (688, width))
        )
        rates = 1e4 ** (-torch.arange(0, 1, 2 / 64))
        self.angles: Tensor
        self.register_buffer("angles", torch.arange(128.0)[:, None] * rates)

    def forward(self, x: Tensor) -> Tensor:
        for k in range(4):
            x = x + self.attention[k](self.norms[2 * k](x), self.angles)
            y = self.norms[2 * k + 1](x)
            x = x + self.down[k](F.silu(self.gate[k](y)) * self.up[k](y))
        return x


class Recurrent(nn.Module):
    """Words through a recurrent layer, and a class for each of them."""

    def __init__(self, layer: nn.Module, outputs: int) -> None:
        super().__init__()
        self.words, self.layer, self.head = nn.Embedding(8000, 128), layer, nn.Linear(outputs, 20)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.layer(self.words(tokens))[0])


# ── sound, tables, graphs ──


def temporal() -> nn.Module:
    """Bai et al. 2018: dilated convolutions in time."""
    blocks = [
        Residual(nn.Conv1d(64, 64, 3, padding=d, dilation=d), nn.ReLU(), nn.Conv1d(64, 64, 1))
        for d in (1, 2, 4, 8, 16)
    ]
    return nn.Sequential(nn.Conv1d(16, 64, 1), *blocks, nn.Conv1d(64, 10, 1))


def keywords() -> nn.Module:
    """Zhang et al. 2017: keyword spotting by depthwise convolutions."""
    pair = lambda: [conv(64, 64, 3, groups=64), conv(64, 64, 1)]  # noqa: E731
    return nn.Sequential(nn.Conv2d(1, 64, (10, 4), 2, (5, 1)), nn.ReLU(), *pair(), *pair(),
                         *pair(), *pair(), *classifier(64, 12))  # fmt: skip


def autoencoder() -> nn.Module:
    sizes = [640, 128, 128, 128, 8, 128, 128, 128, 640]
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Recommender(nn.Module):
    """Naumov et al. 2019: embeddings, all products of two, two stacks of layers."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10000, 64) for _ in range(8))
        self.below = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU())
        self.above = nn.Sequential(nn.Linear(64 + 81, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, numbers: Tensor, kinds: Tensor) -> Tensor:
        dense = self.below(numbers)
        rows = [dense, *(table(kinds[:, k]) for k, table in enumerate(self.tables))]
        together = torch.stack(rows, dim=1)
        products = (together @ together.transpose(1, 2)).flatten(1)
        return torch.sigmoid(self.above(torch.cat([dense, products], dim=1)))


class GraphNetwork(nn.Module):
    """Kipf and Welling 2016: neighbours by index, added up."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128), nn.Linear(128, 7)])

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        for layer in self.layers:
            y = layer(x)
            to = edges[1][:, None].expand(-1, y.shape[1])
            x = F.relu(y + torch.zeros_like(y).scatter_add(0, to, y[edges[0]]))
        return x


class PointNet(nn.Module):
    """Qi et al. 2016: each point alone, then the largest of all."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(
            nn.Conv1d(3, 64, 1), nn.ReLU(), nn.Conv1d(64, 128, 1), nn.ReLU(), nn.Conv1d(128, 512, 1)
        )
        self.all = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 40))

    def forward(self, points: Tensor) -> Tensor:
        return self.all(self.each(points).amax(2))


def image(size: int, channels: int = 3) -> Tensor:
    return torch.randn(1, channels, size, size)


def tokens(count: int = 128) -> Tensor:
    return torch.randint(0, 8000, (1, count))


FAMILIES: dict[str, tuple[Callable[[], nn.Module], Callable[[], list[Tensor]]]] = {
    "resnet50": (resnet50, lambda: [image(224)]),
    "vgg": (vgg, lambda: [image(128)]),
    "squeezenet": (squeezenet, lambda: [image(224)]),
    "densenet": (densenet, lambda: [image(128)]),
    "shufflenet": (shufflenet, lambda: [image(224)]),
    "efficientnet": (efficientnet, lambda: [image(160)]),
    "convnext": (convnext, lambda: [image(128)]),
    "unet": (UNet, lambda: [image(128)]),
    "segmenter": (Segmenter, lambda: [image(128)]),
    "superresolution": (superresolution, lambda: [image(96, 1)]),
    "generator": (generator, lambda: [torch.randn(1, 100, 1, 1)]),
    "styletransfer": (styletransfer, lambda: [image(96)]),
    "mixer": (Mixer, lambda: [image(224)]),
    "vit": (VisionTransformer, lambda: [image(224)]),
    "bert": (Bert, lambda: [tokens()]),
    "gpt": (Gpt, lambda: [tokens()]),
    "llama": (Llama, lambda: [torch.randn(1, 128, 256)]),
    "lstm": (lambda: Recurrent(nn.LSTM(128, 128, 2, batch_first=True), 128), lambda: [tokens(64)]),
    "bilstm": (
        lambda: Recurrent(nn.LSTM(128, 128, bidirectional=True, batch_first=True), 256),
        lambda: [tokens(64)],
    ),
    "gru": (lambda: Recurrent(nn.GRU(128, 128, batch_first=True), 128), lambda: [tokens(64)]),
    "temporal": (temporal, lambda: [torch.randn(1, 16, 512)]),
    "keywords": (keywords, lambda: [torch.randn(1, 1, 49, 10)]),
    "autoencoder": (autoencoder, lambda: [torch.randn(1, 640)]),
    "recommender": (
        Recommender,
        lambda: [torch.randn(32, 13), torch.randint(0, 10000, (32, 8))],
    ),
    "graph": (GraphNetwork, lambda: [torch.randn(1000, 64), torch.randint(0, 1000, (2, 5000))]),
    "pointnet": (PointNet, lambda: [torch.randn(1, 3, 1024)]),
}
