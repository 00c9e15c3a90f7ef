"""TVM's code generator for the chip: each region becomes a program, and a function that runs it.

    R.call_dps_packed("fused_..._systolic", (x,), out_ty=...)      in main, after RunCodegen
    ==>  x into the chip's DRAM, the program, and its result into the tensor that TVM has made

`RunCodegen` looks for a function with the name relax.ext.systolic in TVM's registry and gives it
all regions. What it should return is machine code. Ours is a program for a simulator, so a Python
function for each region goes under its name into the same registry, where a virtual machine looks,
when it is made, for what no library has. Next room: `door.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.build import ChipProgram, build
from course_lib.accelerator.compile.layer import Choose
from course_lib.ir.graph.graph_interp import run as interpret
from course_lib.plugins.report import same_bits
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.patterns import NAME
from course_lib.plugins.tvm.read import read


@dataclass(frozen=True, eq=False)
class Region:
    """A part of a model on the chip. `symbol` is the name under which TVM calls it; `exact` says of
    each call whether it gave the bits of the interpreter."""

    symbol: str
    program: ChipProgram
    exact: list[bool] = field(default_factory=list)

    def __call__(self, *tensors: Any) -> None:
        """Destination-passing style: the last tensors are the results, to be filled."""
        count = len(self.program.graph.inputs)
        operands = [tensor.numpy() for tensor in tensors[:count]]
        results = self.program.run(operands)
        self.exact.append(same_bits(results, interpret(self.program.graph, operands)))
        for tensor, result in zip(tensors[count:], results, strict=True):
            tensor.copyfrom(np.ascontiguousarray(result))


def generate(module: Any, chip: Chip, choose: Choose) -> tuple[Any, tuple[Region, ...]]:
    """A divided module (`partition.py`) with calls of the chip in place of its regions, and the
    regions."""
    tvm = package()
    regions: list[Region] = []

    def codegen(functions: list[Any], options: Any, constant_names: Any) -> list[Any]:
        for function in functions:
            symbol = str(function.attrs["global_symbol"])
            regions.append(Region(symbol, build(read(function, symbol), chip, choose)))
            tvm.register_global_func(symbol, regions[-1], override=True)
        return []

    tvm.register_global_func(f"relax.ext.{NAME}", codegen, override=True)
    called = tvm.relax.transform.RunCodegen()(module)
    return called, tuple(regions)
