"""The numbers that the notebook of unit 11 prints, and its pictures.

    opening()                   two programs of the library's compiler, compared
    tiles_table(tiled)          the layer in tiles of several heights, with your passes
    bill(tiled, turns)          clocks and bytes, beside the library's and the bound

Next room: autograder/units/u11/checks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.tiles import OS, PIXELS_FIRST, WEIGHTS_FIRST, Tile
from course_lib.accelerator.core.simulate import Run
from course_lib.accelerator.isa.text import disassemble
from course_lib.accelerator.trace.gantt import gantt
from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.plots.table import table
from course_lib.mlir.npu.counts import moved
from course_lib.mlir.npu.example import linalg_text
from course_lib.mlir.npu.ods.forms import forms
from course_lib.mlir.npu.stages import Compiled, compile_npu
from lessons.bill import bill_of
from lessons.u11.chip import Ran, busy, kept, product, ran
from lessons.u11.dialect import careless, fitted, parsed
from lessons.u11.meaning import equal

LAYER = 197, 768, 768
ROWS = 42, 64, 85
# 85 rows in their whole depth, 32 columns, rows outside. Sums stay in the cells ("os"): what the
# compiler does for "ws" is an exercise of unit 13.
WHOLE = Tile(1, 85, 768, 1, PIXELS_FIRST, OS)
# The library with all of its exercises solved, in tiles that its search found ("ws").
RECORDED = (
    ("our dialect's passes, weights in the cells", "int32", 1_537, 2_102_784, 143_983),
    ("the same", "int8", 1_567, 1_655_040, 116_207),
    ('our compiler, target="systolic"', "int8", None, None, 116_207),
)
Tiled = Callable[[str, int], str]
Turns = Callable[[str, int], str]


@cache
def library(turns: bool = True) -> tuple[Compiled, int]:
    """What the library's passes make of the layer, with more slots or without, and its clocks."""
    m, k, n = LAYER
    without = ["ahead"] if turns else ["ahead", "double_buffer"]
    text = linalg_text(m, k, n, pipeline=False)
    compiled = compile_npu(text, PRESETS["npu"], without=without, choose=lambda *_: WHOLE)
    return compiled, compiled.run(np.ones((m, k), np.int8), np.ones((k, n), np.int8))[1].total


def opening() -> Any:
    """The two programs of the first question: what is equal, and what is not."""
    rows = []
    for name, turns in (("the first", False), ("the second", True)):
        compiled, total = library(turns)
        bytes_ = sum(moved(compiled.modules["ahead"]).values())
        rows.append([name, len(compiled.assembled.program), bytes_, total])
    heads = ["program", "instructions", "bytes moved", "clocks"]
    return table(rows, heads, exact=heads[1:])


def differences() -> str:
    """How many lines differ between the two, as instructions and in the dialect."""
    one, two = (library(turns)[0] for turns in (False, True))
    names = [[i.name for i in each.assembled.program] for each in (one, two)]
    pairs = zip(one.assembled.program, two.assembled.program, strict=True)
    words = sum(str(a) != str(b) for a, b in pairs)
    old, new = (set(each.text("double_buffer").splitlines()) for each in (one, two))
    order = "in the same order" if names[0] == names[1] else "in another order"
    return (
        f"{len(names[0]):,} instructions {order}; {words:,} of them differ in an address or a "
        f"token.\n{len(one.text('double_buffer').splitlines())} lines in the NPU dialect; "
        f"{len(old - new)} of them differ, and {len(new - old) - len(old - new)} are new."
    )


@cache
def small(*without: str) -> Compiled:
    """[64, 16] x [16, 2] on the teaching chip, in four tiles."""
    return compile_npu(linalg_text(64, 16, 2, pipeline=False), PRESETS["teaching"], without=without,
                       choose=lambda *_: Tile(1, 16, 16, 1, WEIGHTS_FIRST, OS))  # fmt: skip


@cache
def small_runs() -> list[Run]:
    """The program as it runs with one slot for x, and with four."""
    pair = small("ahead", "rename", "double_buffer"), small("ahead", "rename")
    return [one.run(np.ones((64, 16), np.int8), np.ones((16, 2), np.int8))[1] for one in pair]


def small_pictures() -> Picture:
    """When each engine does what in both."""
    pages = [
        (name, gantt(run, title=f"{name} for x: {run.total} clocks"))
        for name, run in zip(("one slot", "four slots"), small_runs(), strict=True)
    ]
    return stepper(pages, "four tiles")  # fmt: skip


def small_loads() -> str:
    """The instructions that load x, in both."""
    return "\n\n".join(
        disassemble(i for i in run.program if i.name == "lda").replace("  ; dense", "").rstrip()
        for run in small_runs()
    )


_X, _T = "memref<4x4xi8, #npu.space<dram>>", "memref<4x4xi8, #npu.space<acts>>"
_SLOTS = "memref<2x4x4xi8, #npu.space<acts>>"
# A program to begin with in `hazard`: it copies x to y, through a slot.
START = f"""\
module attributes {{npu.chip = {{preset = "teaching"}}}} {{
  func.func @f(%x: {_X}, %y: {_X}, %z: {_X}) {{
    %b = npu.buffer : {_SLOTS}
    %0 = npu.slot %b[0] [4, 4] : {_SLOTS} to {_T}
    %1 = npu.slot %b[1] [4, 4] : {_SLOTS} to {_T}
    npu.dma_load %x[0, 0] [4, 4] to %0 : {_X} to {_T}
    npu.dma_store %0 to %y[0, 0] [4, 4] : {_T} to {_X}
    func.return
  }}
}}"""


def three_forms(name: str = "matmul") -> Picture:
    """An operation of the dialect in xDSL, in ODS and C++, and in IRDL."""
    pages: list[tuple[str, str | Picture]] = [(f.title, listing("", f.text)) for f in forms(name)]
    return stepper(pages, f"npu.{name} in three forms")


WRONG = (
    ("weights of another depth", "memref<16x4xi8, #npu.space<weights>>", "16x4"),
    ("eight columns for an array of four", "memref<8x8xi8, #npu.space<weights>>", "16x8"),
    ("w in `acts`", "memref<8x4xi8, #npu.space<acts>>", "16x4"),
)


def refusals() -> None:
    """Print what the verifiers say to three products of tiles, and to a tile that is too high."""
    x = "memref<16x8xi8, #npu.space<acts>>"
    for what, w, sums in WRONG:
        y = f"memref<{sums}xi32, #npu.space<accs>>"
        text = f"""
            module attributes {{npu.chip = {{preset = "teaching"}}}} {{
              func.func @f(%x: {x}, %w: {w}, %s: {y}) {{
                npu.matmul %x, %w into %s : {x}, {w} into {y}
                func.return
              }}
            }}"""
        try:
            parsed(text)
        except ValueError as error:
            print(f"{what:<36} {str(error).splitlines()[0]}")
    try:
        fitted(product(200, 8, 3, "teaching"))
    except ValueError as error:
        print(f"{'200 rows of x in one slot':<36} {str(error).splitlines()[0]}")


def tiles_table(tiled: Tiled, turns: Turns | None = None) -> Any:
    """The layer in tiles of several heights; with `turns`, also with all slots that fit."""
    rows = []
    for height in ROWS:
        one = plain(height, tiled)
        line = [height, one.bytes, one.bytes // PRESETS["npu"].dma_bytes, one.clocks]
        rows.append([*line, *([more(height, tiled, turns).clocks] if turns else [])])
    heads = ["rows of a tile", "bytes moved", "clocks of the port", "clocks in all",
             *["with slots in turns"] * bool(turns)]  # fmt: skip
    return table(rows, heads, exact=heads)


@lru_cache(maxsize=24)
def text_of(height: int, tiled: Tiled) -> str:
    """The layer in tiles of this height, one slot each, without loads of what is there."""
    return kept(tiled(product(*LAYER), height))


@lru_cache(maxsize=24)
def plain(height: int, tiled: Tiled) -> Ran:
    """What it takes with one slot each."""
    return ran(text_of(height, tiled))


@lru_cache(maxsize=24)
def more(height: int, tiled: Tiled, turns: Turns) -> Ran:
    """The same with all slots that fit."""
    return ran(turns(text_of(height, tiled), 64))


def change(tiled: Tiled, turns: Turns) -> float:
    """How many percent more clocks 42 rows take than 85, slots in turns."""
    half, whole = (more(height, tiled, turns) for height in (42, 85))
    return 100 * (half.clocks / whole.clocks - 1)


def more_room(tiled: Tiled, turns: Turns) -> str:
    """The layer in tiles of 85 rows on a chip that has room for two of them."""
    room = 2 * PRESETS["npu"].acts
    text = product(*LAYER).replace('"npu"}', f'"npu", acts = {room} : i64}}')
    clocks = ran(turns(kept(tiled(text, 85)), 64)).clocks
    return f"85 rows, with slots in turns and twice the memory for inputs: {clocks:,} clocks"


def early_table(tiled: Tiled, turns: Turns) -> Any:
    """A small product with one slot, with two, with loads moved up; for three lengths of queues."""
    rows = []
    for queue in (2, 4, 64):
        chip = f'"teaching", queue = {queue} : i64'
        one_slot = kept(tiled(product(64, 16, 8, "teaching").replace('"teaching"', chip), 16))
        two_slots = turns(one_slot, 2)
        moved_up = careless(two_slots)
        clocks = [ran(text).clocks for text in (one_slot, two_slots, moved_up)]
        rows.append([queue, *clocks, "yes" if equal(one_slot, moved_up) else "no"])
    heads = ["places in a queue", "one slot", "two slots", "loads moved up", "same results"]
    return table(rows, heads, exact=heads[:4])


def bill(tiled: Tiled, turns: Turns) -> Any:
    """The layer once more: yours, the library's, and what no program can beat."""
    m, k, n = LAYER
    least = m * k + k * n + 4 * m * n
    yours = {"one slot each": plain(85, tiled), "slots in turns": more(85, tiled, turns)}
    rows = [[f"your tiles, {name}", "int32", one.words, one.bytes, one.clocks]
            for name, one in yours.items()]  # fmt: skip
    rows += map(list, RECORDED)
    rows.append(["every array once, every cell busy", "int32", None, least, busy(m, k, n)])
    return bill_of(rows, ["program", "results", "instructions", "bytes", "clocks"])
