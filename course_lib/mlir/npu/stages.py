"""A product, stage by stage: what `python -m course_lib npu -m 9 -k 8 -n 5 --emit STAGE` shows.

    compiled = compile_npu(linalg_text(9, 8, 5), PRESETS["teaching"])
    compiled.text("tile")                      # the module after that stage
    compiled.text("asm")                       # the chip's instructions
    compiled.run(x, w, bias, scale)            # values, and clocks

    linalg         linalg.matmul and linalg.generic on tensors
    product        one operation on arrays in DRAM            product.py
    tile           loops over tiles: DMA and compute          tile.py
    double_buffer  several slots in each buffer               double_buffer.py
    unroll         no loops                                   unroll.py
    keep           nothing is loaded twice in a row           keep.py
    sums           new sums in new accumulators               sums.py
    ahead          loads before the work in front of them     ahead.py
    asm            instructions                               emit.py
    run            what they compute, and how long it takes

The module is verified after every pass. A program may enter at any stage before `unroll`, written
by hand: what a stage has nothing to do for, it leaves alone. Next room: `irdl_text.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.core.simulate import Run, simulate
from course_lib.accelerator.isa.text import disassemble
from course_lib.mlir.npu.ahead import ahead
from course_lib.mlir.npu.double_buffer import double_buffer
from course_lib.mlir.npu.emit import Assembled, emit
from course_lib.mlir.npu.keep import keep
from course_lib.mlir.npu.layout import entries, panels
from course_lib.mlir.npu.machine import PanelsAttr, chip_of, name_chip
from course_lib.mlir.npu.module import functions, read, verify, written
from course_lib.mlir.npu.npu_interp import dtype_of
from course_lib.mlir.npu.product import to_product
from course_lib.mlir.npu.sums import overwrite, rename
from course_lib.mlir.npu.tile import Choose, tile
from course_lib.mlir.npu.unroll import unroll

Pass = Callable[[ModuleOp], None]

STAGES: dict[str, tuple[Pass, ...]] = {
    "product": (to_product,),
    "tile": (tile,),
    "double_buffer": (double_buffer,),
    "unroll": (unroll,),
    "keep": (keep,),
    "sums": (rename, overwrite),
    "ahead": (ahead,),
}
PASSES = {p.__name__: p for passes in STAGES.values() for p in passes}
NAMES = ("linalg", *STAGES, "asm", "run")


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program after each stage that was asked for."""

    modules: dict[str, ModuleOp]

    @property
    def chip(self) -> Chip:
        return chip_of(self.modules["linalg"])

    @cached_property
    def assembled(self) -> Assembled:
        return emit(self.modules["ahead"])

    def text(self, stage: str) -> str:
        """What a stage looks like."""
        if stage == "asm":
            return disassemble(self.assembled.program)
        return written(self.modules[stage])

    def arrays(self, *operands: np.ndarray) -> list[np.ndarray]:
        """What the function on memrefs takes, from x, w and, if there is a pipeline, bias (or
        None) and scale: bias and scale as entries, and zeros for the result."""
        types = self._types()
        given = list(operands[:2])
        if len(types) == 4:
            given.append(entries(operands[2], operands[3], self.chip.cols))
        for array, type in zip(given, types, strict=False):
            if array.shape != type.get_shape():
                raise ValueError(f"the program takes a {type}, got {list(array.shape)}")
        return [*given, np.zeros(types[-1].get_shape(), dtype_of(types[-1]))]

    def _types(self) -> list[MemRefType]:
        (function,) = functions(self.modules["product"])
        return [t for t in function.function_type.inputs if isinstance(t, MemRefType)]

    def run(self, *operands: np.ndarray) -> tuple[np.ndarray, Run]:
        """The result on the simulated chip, and its clocks. Operands as for `arrays`."""
        assembled, arrays = self.assembled, self.arrays(*operands)
        dram = np.zeros(assembled.size, np.int8)
        for at, array, type in zip(assembled.arrays, arrays, self._types(), strict=True):
            wide = type.layout.width if isinstance(type.layout, PanelsAttr) else 0
            data = panels(array, wide) if wide else np.ascontiguousarray(array).ravel()
            dram[at : at + data.nbytes] = data.view(np.int8)
        run = simulate(assembled.program, dram, assembled.chip)
        result = arrays[-1]
        flat = dram[assembled.arrays[-1] :][: result.nbytes]
        return flat.view(result.dtype).reshape(result.shape).copy(), run


def compile_npu(
    text: str,
    chip: Chip | None = None,
    file: str = "input.mlir",
    until: str = "run",
    without: Sequence[str] = (),
    choose: Choose | None = None,
) -> Compiled:
    """All stages up to this one, for this chip (None: the one that the module names). The passes
    named in `without` are left out, to see what they are good for; `choose` says the tile of a
    product (None: the chip's own compiler does). NpuError for what is wrong with the program."""
    _known(without)
    module = _entered(text, chip, file)
    modules = {"linalg": module}
    for stage, passes in STAGES.items():
        if until == "linalg":
            break
        module = module.clone()
        for each in passes:
            if each is tile and choose is not None:
                tile(module, choose)
            elif each.__name__ not in without:
                each(module)
            verify(module)
        modules[stage] = module
        if stage == until:
            break
    return Compiled(modules)


def apply(names: Sequence[str], text: str, chip: Chip | None = None, file: str = "-") -> ModuleOp:
    """Only these passes, in this order: as `mlir-opt` does it."""
    _known(names)
    module = _entered(text, chip, file)
    for name in names:
        PASSES[name](module)
        verify(module)
    return module


def _entered(text: str, chip: Chip | None, file: str) -> ModuleOp:
    module = read(text, file)
    if chip is not None:
        name_chip(module, chip)
    return verify(module)


def _known(names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"there is no pass {unknown[0]!r}; there are {', '.join(PASSES)}")
