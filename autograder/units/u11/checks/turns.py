"""Visible checks of unit 11 about slots that take turns.

What needs xDSL is imported where it is used: it need not be installed.
Next room: ../hidden.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from autograder.check.framework import Wrong, checks
from autograder.units.u11.checks import programs
from autograder.units.u11.checks.programs import memref, parameter, straight

# ── turns ──

TURNS = "Let the contents of each buffer take turns in several slots"
GIVEN = "a program whose buffers have one slot each, `%b[0]`. No operation reads more of a"
MANY = "how many slots a buffer may have"
DONE = "finished(module), the program afterwards"
FIT = "One buffer after another gets `most` slots, or as many as `fitting` says"
FEWER = "if those are fewer"
NEXT = "Whenever an operation overwrites one of its tiles, the new contents go to the next slot"
ROUND = "the first ones to slot 0, the next to slot 1, and after the last slot to slot 0 again"
FIND = "Every operation that reads them, or adds to them, finds them there"
ELSE = "Everything else stays as it is"


@checks("u11.turns", spec=[FIND, NEXT, ROUND, FIT, ELSE, DONE])
def a_program_of_three_lines(turns):
    """Two loads into one buffer, and a store of the second contents."""
    right_turns(turns, THREE, 2)
    return "a program of three lines"


@checks("u11.turns", given=straight(), examples=12, what="random programs",
        spec=[TURNS, GIVEN, DONE, FIT, NEXT, ROUND, FIND, ELSE])  # fmt: skip
def contents_take_turns(turns, text):
    """New contents go to the next slot, and every operation finds them there."""
    right_turns(turns, text, 2 + len(text) % 2)


@checks("u11.turns", spec=[FIT, FEWER, MANY, ROUND])
def as_many_slots_as_fit(turns):
    """Buffers for which there is room for one, two, four and eight slots, and two in one memory."""
    for text, most in FITS:
        right_turns(turns, text, most)
    return f"{len(FITS)} programs"


def _filled(*sizes: str, rows: int = 20, stored: bool = True, chip: str = "teaching") -> str:
    """A program that fills buffers of these sizes in acts in turns, and stores all contents, or
    only the last ones."""
    array, tile = memref(f"{rows}x4", "i8", "dram"), memref("4x4", "i8", "acts")
    lines, names = [], [*map(str, range(len(sizes)))]
    for k, size in zip(names, sizes, strict=True):
        type = memref(size, "i8", "acts")
        lines += [f"%b{k} = npu.buffer : {type}",
                  f"%t{k} = npu.slot %b{k}[0] [4, 4] : {type} to {tile}"]  # fmt: skip
    for at in range(0, rows, 4):
        for k in names:
            lines.append(f"npu.dma_load %x[{at}, 0] [4, 4] to %t{k} : {array} to {tile}")
            if stored or at + 4 == rows:
                lines.append(f"npu.dma_store %t{k} to %y{k}[{at}, 0] [4, 4] : {tile} to {array}")
    arrays = dict.fromkeys(["x", *(f"y{k}" for k in names)], array)
    return programs.module(arrays, *lines, chip=f'{{preset = "{chip}"}}')


THREE = _filled("1x4x4", rows=8, stored=False)
FITS = [
    (_filled("1x4x4"), 1),
    (_filled("1x4x4"), 2),
    (_filled("1x4x4", stored=False), 9),
    (_filled("1x64x8", stored=False), 9),
    (_filled("1x60x12", stored=False), 9),
    (_filled("1x30x10", stored=False), 3),
    (_filled("1x4x4", "1x4x4", rows=12), 2),
    (_filled("1x4x4", "1x4x4", stored=False), 9),
    (_filled("1x64x8", "1x4x4", stored=False), 9),
    (_filled("1x4x4", rows=140, chip="npu"), 17),
]


def right_turns(turns: Any, text: str, most: int) -> None:
    """The answer does what is asked, slot by slot."""
    called = f"turns(text, {most}), where text is\n{text}"
    module, wrong = programs.result(lambda: turns(text, most), called, DONE, ELSE)
    before, sizes = _given(text, most)
    if before != (moves := _moves(module)):
        raise wrong("The operations and their windows must stay as they are, in the same order.",
                    got="\n".join(moves), expected="\n".join(before), spec=ELSE)  # fmt: skip
    if sizes != (mine := _buffers(module)):
        raise wrong(f"The buffers must be {', '.join(sizes)}, but are {', '.join(mine)}.", spec=FIT)
    _places(wrong, module)
    programs.same_contents(wrong, text, module, FIND)


@lru_cache(maxsize=256)
def _given(text: str, most: int) -> tuple[list[str], list[str]]:
    """What a program does, and the buffers that it must have with more slots."""
    from lessons.u11.dialect import buffers, fitting, parsed, resized

    module = parsed(text)
    before = _moves(module)
    for op in buffers(module):
        resized(op, min(most, fitting(op)))
    return before, _buffers(module)


def _buffers(module: Any) -> list[str]:
    """The sizes of all buffers."""
    from course_lib.mlir.npu.rules import shape, sized
    from lessons.u11.dialect import buffers

    return [sized(shape(op.result)) for op in buffers(module)]


def _moves(module: Any) -> list[str]:
    """The operations of a program in words: windows and sizes, no slots."""
    from course_lib.mlir.npu.transfer import DmaLoadOp, DmaStoreOp
    from lessons.u11.dialect import steps

    moves = []
    for op in steps(module):
        sizes = " ".join(str(value.type) for value in op.operands)
        if isinstance(op, DmaLoadOp | DmaStoreOp):
            at, window = op.window
            sizes = f"{parameter(op.array)}{_list(at)} {_list(window)} {sizes}"
        flag = "" if "overwrite" not in op.properties else " overwrite"
        moves.append(f"{op.name}{flag} {sizes}")
    return moves


def _list(numbers: Any) -> str:
    return f"[{', '.join(str(n) if isinstance(n, int) else '?' for n in numbers)}]"


def _places(wrong: Callable[..., Wrong], module: Any) -> None:
    """New contents go to slots 0, 1, 2, ... and round again, and are read where they are."""
    from course_lib.mlir.npu.rules import shape
    from course_lib.mlir.npu.transfer import SlotOp
    from lessons.u11.dialect import overwritten, steps

    seen: dict[Any, int] = {}
    for op in steps(module):
        for tile in op.operands:
            if not isinstance(slot := tile.owner, SlotOp):
                continue
            new = tile is overwritten(op)
            turn = seen[slot.buffer] = seen.get(slot.buffer, -1) + new
            right = turn % shape(slot.buffer)[0]
            if [*slot.at] != [right]:
                (index, *inner) = slot.at
                where = index if isinstance(index, int) and not inner else "?"
                does = (
                    f"puts new contents into slot {where}, but they must go to slot {right}"
                    if new
                    else f"uses slot {where}, but the contents are in slot {right}"
                )
                raise wrong(f"`{str(op).partition(' :')[0]}` {does}.",
                            spec=ROUND if new else FIND)  # fmt: skip
