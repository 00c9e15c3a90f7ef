"""One transformer encoder block (Vaswani et al. 2017; norms first, as in Xiong et al. 2020).

    f32[n,t,256] --> x + attention(norm(x)) --> x + mlp(norm(x)) --> f32[n,t,256]

Attention is written out (three projections, two batched products, a softmax), so that a compiler
sees every step. The three projections share one input: a chance to merge them that unit 3 takes.
Real encoders stack 12 or more of these blocks, and mask padding. Next: `resnet18.py`.
"""

import math

import torch
from torch import nn


def block() -> nn.Module:
    """Width 256, 4 heads, hidden width 1024; the course runs it on 128 tokens."""
    return EncoderBlock(width=256, heads=4)


class EncoderBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, t, width = x.shape

        def split(y: torch.Tensor) -> torch.Tensor:  # [n, t, width] -> [n, heads, t, width / heads]
            return y.reshape(n, t, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(n, t, width))
