"""Visible checks of `tile`: kernels that are made up, and two as a GPU ran them.

Next room: autograder/units/u15_lab_block/hidden/__init__.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from autograder.units.u15_lab_block.checks.loops import plain
from lessons.u15_lab_block.text import BY_GPU, code_of

SAY = "Say which tile of numbers one program of a Triton kernel holds"
SIZE = "the size of each block by its name"
EACH = 'as "each" how many numbers of the tile a thread gets'
GRID = "how many programs were launched along the axes 0, 1 and 2"
THREADS = "how many threads each program had"
EVENLY = "The tile is as large as the product of its blocks, and divides evenly among the threads"
ENDS = "The name of a block ends in BLOCK"
STANDS = "Some sizes stand in the code"
CHOSEN = "The others are parameters, whose sizes were chosen at the launch"
DIVIDE = "says that the programs of axis 0 divide the `xnumel` numbers of x among themselves"
LEAST = "XBLOCK then is the smallest power of two with which the programs cover all of them"

KINDS = ["X", "Y X", "Z Y X", "X R0_", "Y X R0_", "X R0_ R1_", "R0_"]

background("u15_lab_block.tile", "code the kernel", because="what is given")


class Launch(NamedTuple):
    """A kernel, how it was launched, and its tile."""

    code: str
    grid: tuple[int, ...]
    threads: int
    tile: dict[str, int]

    def __str__(self) -> str:
        return f"{self.code}\ngrid {self.grid}, {self.threads} threads"


@st.composite
def drawn(draw: DrawFn) -> Launch:
    """A kernel over one to three axes, or with dimensions of which each program has all."""
    blocks, grid, lines = {}, [1, 1, 1], []
    axes = dict(zip("XYZ", draw(st.permutations(range(3))), strict=True))
    for word in draw(st.sampled_from(KINDS)).split():
        size = blocks[f"{word}BLOCK"] = 2 ** draw(st.integers(0, 10))
        many, least, name = 1, 1, word.lower()
        if word in axes:
            many = grid[axes[word]] = draw(st.sampled_from([1, 2, 3, 5, 16, 100, 4096]))
            least = max(many * size // 2, (many - 1) * size) + 1
            made = [f"{name}offset = tl.program_id({axes[word]}) * {word}BLOCK"]
        else:
            made = [f"{word}BLOCK: tl.constexpr = {size}"]
        lines += [f"{name}numel = {draw(st.integers(least, many * size))}", *made,
                  f"{name}index = tl.arange(0, {word}BLOCK)[:, None]"]  # fmt: skip
    chosen = "".join(f", {name} : tl.constexpr" for name in blocks if name[0] != "R")
    head = f"@triton.jit\ndef triton_per_fused_sum_0(in_ptr0, out_ptr0{chosen}):"
    body = [*lines, "tmp0 = tl.load(in_ptr0 + (r0_1 + 128*x0), xmask, other=0.0)"]
    each = 2 ** draw(st.integers(0, (prod(blocks.values())).bit_length() - 1))
    code = "\n".join([head, *(f"    {line}" for line in body), ""])
    return Launch(code, tuple(grid), prod(blocks.values()) // each, {**blocks, "each": each})


def as_it_must(tile: Any, launch: Launch) -> None:
    """Wrong unless the answer's tile is that of this launch."""
    got, text = tile(launch.code, launch.grid, launch.threads), str(launch)
    if not isinstance(got, Mapping):
        raise Wrong("The answer must be a dict.", program=text, got=returned(got), spec=SIZE)
    if {*got} != {*launch.tile}:
        raise Wrong("There must be the size of each block, and the numbers of a thread.",
                    program=text, got=", ".join(map(str, got)), expected=", ".join(launch.tile),
                    spec=ENDS)  # fmt: skip
    for name, size in launch.tile.items():
        if plain(got[name]) != size or isinstance(got[name], bool):
            spec = EVENLY if name == "each" else LEAST if f"{name} :" in launch.code else STANDS
            raise Wrong(f'"{name}" is not right.', program=text, got=returned(got[name]),
                        expected=str(size), spec=spec)  # fmt: skip


@checks("u15_lab_block.tile", given=drawn(), examples=100, what="made-up kernels",
        spec=[SAY, SIZE, EACH, GRID, THREADS, EVENLY, ENDS, STANDS, CHOSEN, DIVIDE,
              LEAST])  # fmt: skip
def tiles_of_kernels(tile, launch: Launch):
    """The blocks of a program, and the numbers of a thread."""
    as_it_must(tile, launch)


SOFTMAX = code_of(BY_GPU["block"], "triton_per_fused__softmax_amax_div_mul_sub_view_1")
GELU = code_of(BY_GPU["gelu"], "triton_poi_fused_add_mul_tanh_0")
RAN = [(Launch(SOFTMAX, (16, 1, 1), 64, {"R0_BLOCK": 128, "XBLOCK": 32, "each": 64}), SIZE),
       (Launch(GELU, (32_768, 1, 1), 128, {"XBLOCK": 1_024, "each": 8}), SIZE)]  # fmt: skip


@for_each("u15_lab_block.tile", RAN, "{} kernels as a GPU ran them")
def tiles_of_the_block(tile, launch, spec):
    """Softmax and GELU, launched as they were recorded."""
    as_it_must(tile, launch)
