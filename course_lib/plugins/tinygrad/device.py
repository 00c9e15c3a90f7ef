"""Our chips as devices of tinygrad: allocator, renderer, compiler, program.

    with session(chip_device(PRESETS["teaching"])) as launches:
        (Tensor(a).cast("int32") @ Tensor(b).cast("int32")).numpy()         # int8[8, 8] each
    launches[-1]     ->   Launch(kernel='r_8_2_2_2_2', tiles=8, macs=512, cycles=108, ...)

tinygrad finds a device by the name of a module, `tinygrad.runtime.ops_NAME`; it does not ask where
that comes from. Memory is numpy's, for the chip is simulated: a kernel's lanes are interpreted
(`uop_interp.py`), and the products of tiles in it become one program of the chip, whose values,
clocks and bytes are the simulator's. The lanes are the host of the chip, and their time is not
counted. Next room: `text.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

import numpy as np
from tinygrad import runtime
from tinygrad.device import Allocator, Compiled, Program
from tinygrad.renderer import Renderer
from tinygrad.uop import Ops

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.unit import MatrixUnit, TileWork, run_tiles, tile_program
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.trace.counters import counters
from course_lib.plugins.tinygrad.cores import tensor_core
from course_lib.plugins.tinygrad.listing import BINARY, UNARY, multiplied, read_listing
from course_lib.plugins.tinygrad.render import KINDS, render
from course_lib.plugins.tinygrad.uop_interp import Run

OPS = {op for op in Ops if op.name.lower() in (*BINARY, *UNARY, "where")}


@dataclass(frozen=True)
class Launch:
    """One kernel that ran.

    tiles         products of tiles on the chip
    macs          multiply-accumulates issued there; a tile that sticks out is multiplied whole
    cycles, dram_bytes, instructions   of the chip
    differing     sums of tiles that the chip gave and that are not those of whole numbers
    on_host       products of tiles that stayed with the lanes: their operands need not be int8
    arguments     the addresses of its buffers
    multiplied    those of them that products of tiles read
    programs      what ran on the chip: as a rule one program
    """

    kernel: str
    tiles: int = 0
    macs: int = 0
    cycles: int = 0
    dram_bytes: int = 0
    instructions: int = 0
    differing: int = 0
    on_host: int = 0
    arguments: tuple[int, ...] = field(default=(), repr=False)
    multiplied: tuple[int, ...] = field(default=(), repr=False)
    programs: tuple[Sequence[Instruction], ...] = field(default=(), repr=False, compare=False)


class HostAllocator(Allocator):
    """Memory of numpy, which the lanes and the chip's DRAM image share."""

    def _alloc(self, size: int, options: Any) -> np.ndarray:
        return np.zeros(size, np.uint8)

    def _copyin(self, dest: np.ndarray, src: memoryview) -> None:
        dest[:] = np.frombuffer(src, np.uint8)

    def _copyout(self, dest: memoryview, src: np.ndarray) -> None:
        dest[:] = src.data

    def _offset(self, buf: np.ndarray, size: int, offset: int) -> np.ndarray:
        return buf[offset : offset + size]


class OurDevice(Compiled):
    """A device with what ran on it, in order."""

    launches: list[Launch]


class ListingRenderer(Renderer):
    """Kernels as listings, whose lanes share no memory and load one number at a time."""

    supports_float4 = False
    has_shared = False
    shared_max = 0
    code_for_op = dict.fromkeys(OPS, lambda *operands: "")

    def render(self, uops: list) -> str:
        return render(uops)

    def supported_dtypes(self) -> set:
        return set(KINDS)


class ChipProgram(Program):
    """A kernel that is ready to run: its lines, and the chip's program once it is known."""

    chip: Chip

    def __init__(self, dev: Any, obj: Any) -> None:
        self.dev = dev
        self.name, self.lines = read_listing(obj.lib.decode())
        self.multiplied = multiplied(self.lines)
        self.known: list[tuple[TileWork, list]] = []

    def __call__(
        self, *bufs: np.ndarray, global_size: tuple = (1, 1, 1), local_size: Any = (1, 1, 1),
        vals: tuple = (), wait: bool = False, **more: Any,
    ) -> float | None:  # fmt: skip
        places = tuple(buf.ctypes.data for buf in bufs)
        multiplied_ = tuple(places[slot] for slot in sorted(self.multiplied))
        whole = Launch(self.name, arguments=places, multiplied=multiplied_)

        def multiply(work: TileWork, a: np.ndarray, b: np.ndarray) -> np.ndarray:
            nonlocal whole
            program = self.compiled(work)
            sums, run = run_tiles(program, work, self.chip, a, b)
            counted = counters(run)
            whole = replace(
                whole,
                tiles=whole.tiles + work.products,
                macs=whole.macs + counted.issued,
                cycles=whole.cycles + run.total,
                dram_bytes=whole.dram_bytes + counted.dram,
                instructions=whole.instructions + len(program),
                differing=whole.differing + int((sums != defined(work, a, b)).any((1, 2)).sum()),
                programs=(*whole.programs, program),
            )
            return sums

        state = Run(self.lines, bufs, global_size, local_size or (1, 1, 1), multiply, vals)
        state.run()
        self.dev.launches.append(replace(whole, on_host=state.on_host))
        return None

    def compiled(self, work: TileWork) -> list:
        """The chip's program for this work; it depends on no value, so it is written once."""
        for known, program in self.known:
            if known == work:
                return program
        program = tile_program(work, self.chip, (self.name,))
        self.known.append((work, program))
        return program


def defined(work: TileWork, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What `run_tiles` has to give: for each chain the sum of its products, in whole numbers."""
    pairs = [[a[left].astype(np.int32) @ b[right].astype(np.int32) for left, right in chain]
             for chain in work.chains]  # fmt: skip
    return np.stack([np.sum(chain, axis=0, dtype=np.int32) for chain in pairs])


def chip_device(chip: Chip) -> str:
    """Make a chip known to tinygrad as a device with its name, and say that name."""
    core = tensor_core(MatrixUnit.of(chip))
    renderer = type("ChipRenderer", (ListingRenderer,), {"tensor_cores": [core]})
    return add_device(chip.name, renderer, type("ThisChip", (ChipProgram,), {"chip": chip}), chip)


def add_device(name: str, renderer: type[Renderer], program: type[Program], what: Any) -> str:
    """A device of tinygrad from outside the package; once for each name. ValueError if the name is
    another device's already; `what` tells them apart."""
    name = name.upper()
    if not name.isalnum():
        raise ValueError(f"a device of tinygrad has letters and digits in its name, got {name!r}")
    key = f"tinygrad.runtime.ops_{name.lower()}"
    if getattr(sys.modules.get(key), "WHAT", what) != what or is_tinygrads(key):
        raise ValueError(f"tinygrad has a device {name} already, and it is another one")
    if key not in sys.modules:

        def open_(self: OurDevice, device: str) -> None:
            Compiled.__init__(self, device, HostAllocator(self), [renderer], program)
            self.launches = []

        module = ModuleType(key)
        module.__dict__["WHAT"] = what
        module.__dict__[f"{name}Device"] = type(f"{name}Device", (OurDevice,), {"__init__": open_})
        sys.modules[key] = module
    return name


def is_tinygrads(module: str) -> bool:
    """Does tinygrad itself bring a module of this name?"""
    return PathFinder.find_spec(module, runtime.__path__) is not None
