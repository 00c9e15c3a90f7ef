"""How many fused multiply-adds does a function of LLVM IR hold, and how many does a call execute?

    %p = fmul contract <8 x float> %a, %b
    %s = fadd contract <8 x float> %p, %c          8 of them: one for each lane, wherever it stands

    in a loop that turns 512 times                 4,096 of them in one call

A multiply-add is an intrinsic (`llvm.fma`, `llvm.fmuladd`), or a product and the sum that it goes
into: both allow contraction, they stand in one block, and nothing else uses the product. That is
about how LLVM's instruction selection decides for x86. For other processors it decides otherwise:
for POWER and NVIDIA's GPUs it also fuses a product that two sums use, and multiplies twice; for
AArch64 it moves a sum into the block of its product. Other products and sums are counted apart.

How often a block runs, `control/` reads off the structure of the function. Where it cannot, the
count of the function is unknown, and the report says why. The same counter as a pass of LLVM's own
stands in `plugin/fma.cpp`. Next room: `plugin/build.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import llvmlite.binding as llvm

from course_lib.exercises import exercise
from course_lib.llvm.inspect.control.runs import Runs, runs
from course_lib.llvm.inspect.control.trips import MOST
from course_lib.llvm.inspect.control.view import Block, Function, Instruction, Other, functions

FUSED = ("fma", "fmuladd", "pair")
_INTRINSICS = {
    "llvm.fma.": "fma",
    "llvm.fmuladd.": "fmuladd",
    "llvm.vector.reduce.fadd.": "add",
    "llvm.vector.reduce.fmul.": "mul",
}
_SUMS = ("fadd", "fsub")
_FLAGS = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast")
_VECTOR = re.compile(r"<(vscale x )?(\d+) x \w+>")
_REDUCED = re.compile(r"llvm\.vector\.reduce\.\w+\.(nx)?v(\d+)")


@dataclass(frozen=True, eq=False)
class Count:
    """What was counted in one function. Every number counts lanes.

    A count is by kind: `fma` and `fmuladd` (the intrinsics), `pair`, `mul` and `add` (products and
    sums that are not fused). Of a vector whose length the machine decides, lanes count under
    "vscale fma" and so on, to be multiplied by its vscale.

    blocks  for each block its name and its counts
    runs    how often each block runs in one call
    """

    name: str
    blocks: tuple[tuple[str, Counter[str]], ...]
    runs: Runs

    @property
    def static(self) -> Counter[str]:
        """All that stands in the function."""
        return sum((counts for _, counts in self.blocks), Counter[str]())

    @property
    def dynamic(self) -> Counter[str] | None:
        """All that one call executes; None if the runs of a block that matters are not known, or
        a number is larger than `MOST`."""
        total: Counter[str] = Counter()
        for (_, counts), times in zip(self.blocks, self.runs.blocks, strict=True):
            if counts and times is None:
                return None
            total.update({kind: n * (times or 0) for kind, n in counts.items()})
        return None if any(n > MOST for n in total.values()) else +total

    @property
    def unknown(self) -> dict[str, str]:
        """The blocks that keep `dynamic` from being known, each with the reason."""
        every = zip(self.blocks, self.runs.blocks, self.runs.why, strict=True)
        return {name: why for (name, counts), times, why in every if counts and times is None}

    def as_dict(self) -> dict[str, Any]:
        """Plain data, the same as the pass plugin prints."""
        dynamic = self.dynamic
        return {
            "function": self.name,
            "static": _sorted(self.static),
            "dynamic": None if dynamic is None else _sorted(dynamic),
            "blocks": [
                {"name": name, "counts": _sorted(counts), "runs": times, "why": why}
                for (name, counts), times, why in zip(
                    self.blocks, self.runs.blocks, self.runs.why, strict=True
                )
            ],
            "loops": [
                {"header": self.blocks[header][0], "trips": trips.count, "why": trips.why}
                for header, trips in sorted(self.runs.trips.items())
            ],
        }


def fused(counts: Mapping[str, int]) -> int:
    """The multiply-adds of a count, without those of scalable vectors."""
    return sum(counts.get(kind, 0) for kind in FUSED)


def count_fma(
    module: llvm.ModuleRef | str, given: Mapping[str, int] | None = None
) -> dict[str, Count]:
    """Count each function of a module, or of a module's text, that has a body.

    given  numbers for integer arguments, by name, in every function that has one of that name
    """
    text = module if isinstance(module, str) else str(module)
    arithmetic_of = arithmetic(text)
    return {f.name: _count(f, arithmetic_of[f.name], given or {}) for f in functions(parse(text))}


def parse(text: str) -> llvm.ModuleRef:
    """LLVM IR as text -> a module that LLVM has verified; ValueError with LLVM's words."""
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise ValueError(str(error).strip()) from None
    return module


def _count(
    function: Function, counts: Sequence[Mapping[str, int]], given: Mapping[str, int]
) -> Count:
    names = [block.name or f"#{number}" for number, block in enumerate(function.blocks)]
    blocks = tuple(zip(names, map(Counter, counts), strict=True))
    return Count(function.name, blocks, runs(function, given))


@exercise("llvm.fma.arithmetic", unit=5, points=4)
def arithmetic(text: str) -> dict[str, list[dict[str, int]]]:
    """Count the floating-point arithmetic in LLVM IR, by kind.

    Return a dict from the name of each function with a body to a list: for each of its blocks in
    order, a dict from kind to count. Leave out kinds that do not occur.

        fma, fmuladd   calls of `llvm.fma.*` and `llvm.fmuladd.*`
        pair           an fadd or fsub fused with an fmul; together they count once
        add, mul       every other fadd or fsub, and every other fmul

    An fadd or fsub is fused with an fmul that is one of its own operands if both allow it (flag
    `contract` or `fast`), both are in the same block, and the product is used as an operand only
    this once. If both operands qualify, one product is fused and the other counts under mul. An
    instruction on `<8 x float>` counts as 8, one on a scalar of any type as 1. Vector reductions
    and vectors of unknown length need not be counted.
    """
    return {f.name: _of_function(f) for f in functions(parse(text))}


def _of_function(function: Function) -> list[dict[str, int]]:
    """The counts of each block."""
    fused = _pairs(function)
    return [_lanes_by_kind(block, fused) for block in function.blocks]


def _pairs(function: Function) -> set[Instruction]:
    """Each sum that takes in a product, and the product."""
    paired: set[Instruction] = set()
    for block in function.blocks:
        for total in block.instructions:
            if total.opcode in _SUMS and _contracts(total):
                products = [
                    o
                    for o in total.operands
                    if isinstance(o, Instruction) and _may_go(o, total, function)
                ]
                if products:
                    paired |= {total, products[0]}
    return paired


def _may_go(value: Instruction, into: Instruction, function: Function) -> bool:
    """Whether a value is a product that only this sum of the same block uses."""
    return (
        value.opcode == "fmul"
        and value.block == into.block
        and function.uses[value] == 1
        and _contracts(value)
    )


def _contracts(operation: Instruction) -> bool:
    """The flag `contract`, or `fast`, which holds it."""
    flags = takewhile(lambda word: word in _FLAGS, operation.words[1:])
    return not {"contract", "fast"}.isdisjoint(flags)


def _lanes_by_kind(block: Block, pairs: set[Instruction]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for instruction in block.instructions:
        kind = _kind(instruction, pairs)
        if kind:
            scalable, lanes = _lanes(instruction)
            counts[scalable + kind] += lanes
    return dict(counts)


def _kind(value: Instruction, pairs: set[Instruction]) -> str:
    """What an instruction counts as, if anything."""
    if value.opcode in _SUMS:
        return "pair" if value in pairs else "add"
    if value.opcode == "fmul":
        return "" if value in pairs else "mul"
    called = _called(value)
    return next((kind for start, kind in _INTRINSICS.items() if called.startswith(start)), "")


def _called(value: Instruction) -> str:
    """The name of the function that an instruction calls, if it does."""
    callee = value.operands[-1] if value.opcode == "call" else None
    return callee.name if isinstance(callee, Other) else ""


def _lanes(value: Instruction) -> tuple[str, int]:
    """`<8 x float>` -> ("", 8); a vector of `vscale` pieces -> ("vscale ", 4). A reduction counts
    the lanes that it adds up."""
    reduced, vector = _REDUCED.match(_called(value)), _VECTOR.fullmatch(value.type)
    if reduced:
        return "vscale " if reduced[1] else "", int(reduced[2])
    if vector is None:
        return "", 1
    return "vscale " if vector[1] else "", int(vector[2])


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: counts[kind] for kind in sorted(counts) if counts[kind]}
