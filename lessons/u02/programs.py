"""Unit 2: a model on which its passes have work to do, a small decoder written the usual way.

Each layer works out the same table of rotary angles and the same causal mask, as many models did
that were published before 2025; norms are powers; two scalars are tensors, so that what depends on
them is computed anew in every run; and every layer measures an entropy that nobody asks for.
Next room: peers.py.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

import torch
from torch import nn

from course_lib.frontend.torch.export import from_torch
from course_lib.ir.graph.graph import Graph

TOKENS, WIDTH, HEADS, LAYERS = 16, 128, 2, 2


class Norm(nn.Module):
    """Root mean square norm: x / sqrt(mean(x ** 2)), and a trained factor for each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(WIDTH) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * (x * (x.pow(2).mean(-1, keepdim=True) + 1e-6) ** -0.5)


class Rotary(nn.Module):
    """The cosine and the sine of each position's angles; `stretch` is for longer contexts."""

    period: torch.Tensor
    stretch: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("period", 10_000.0 ** (torch.arange(0, size, 2) / size))
        self.register_buffer("stretch", torch.tensor(1.0))

    def forward(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        angles = positions[:, None].float() * (1.0 / self.period)
        angles = torch.cat((angles, angles), dim=-1)
        scaling = 0.1 * self.stretch.log() + 1.0
        return angles.cos() * scaling, angles.sin() * scaling


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Attention(nn.Module):
    size: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.rotary = Rotary(WIDTH // HEADS)
        self.register_buffer("size", torch.tensor(WIDTH / HEADS))
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, ...]:
        def split(y: torch.Tensor) -> torch.Tensor:  # [1, t, width] -> [1, heads, t, size]
            return y.view(1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)

        cos, sin = self.rotary(positions)
        q, k = rotated(split(self.q(x)), cos, sin), rotated(split(self.k(x)), cos, sin)
        scores = q @ k.transpose(-2, -1) / self.size.sqrt()
        future = positions[None, :] > positions[:, None]
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        entropy = -(weights * (weights + 1e-9).log()).sum(-1)
        mixed = (weights @ split(self.v(x))).transpose(1, 2).reshape(1, TOKENS, WIDTH)
        return self.out(mixed), entropy


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2, self.attention = Norm(), Norm(), Attention()
        self.gate, self.up = (nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        attended, _ = self.attention(self.norm1(x), positions)
        x = x + attended
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = Norm()

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, positions)
        return self.norm(x)


@functools.cache
def decoder_program() -> Any:
    """The decoder as `torch.export` gives it: an ExportedProgram."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.export.export(Decoder().eval(), example())


def decoder() -> Graph:
    """The same as a graph of ours, with all that `torch.export` keeps."""
    return from_torch(decoder_program(), keep_dead=True)


def calls(program: Any) -> int:
    """How many operations an FX graph calls."""
    return sum(node.op == "call_function" for node in program.graph.nodes)


def swept_by_torch(program: Any) -> int:
    """How many calls PyTorch's own dead-code elimination leaves; the program stays as it is."""
    graph = copy.deepcopy(program.graph_module).graph
    graph.eliminate_dead_code()
    return sum(node.op == "call_function" for node in graph.nodes)


def example() -> tuple[torch.Tensor, torch.Tensor]:
    """Sixteen tokens, already embedded, and their positions."""
    numbers = torch.Generator().manual_seed(0)
    return torch.randn(1, TOKENS, WIDTH, generator=numbers), torch.arange(TOKENS)
