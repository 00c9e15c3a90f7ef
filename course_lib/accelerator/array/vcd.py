"""Every register of every clock as a wave form, for a viewer such as GTKWave or Surfer.

    write_vcd("run.vcd", registers(a, b, array))
    ->  $scope module row0 $end $scope module col0 $end $var wire 32 ! right $end ...
        #1 b101 ! ...

Value Change Dump (IEEE 1364, clause 18): a register appears at a clock only if it has changed. A
clock is one unit of time; numbers are 32 bits wide, floats are `real`, and the control bits have a
variable each. Next room: `rtl.py`, the same array in Verilog.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from course_lib.accelerator.array.registers import BUSY, FIRST, SHIFT, TAKE, Registers
from course_lib.files import replacing

NUMBERS = ("right", "down", "stay", "spare")
BITS = {"busy": BUSY, "first": FIRST, "shift": SHIFT, "take": TAKE}


def write_vcd(path: str | Path, states: Iterable[Registers]) -> None:
    """Write the states, one after another; the file is there whole or not at all.

    ValueError if there are none.
    """
    with replacing(path) as unfinished, unfinished.open("w") as file:
        file.writelines(f"{line}\n" for line in vcd(states))


def vcd(states: Iterable[Registers]) -> Iterator[str]:
    """The lines of the file."""
    before: list[np.ndarray] = []
    for state in states:
        now = _variables(state)
        if not before:
            yield from _head(state)
            yield "#0"
            yield "$dumpvars"
            before = [np.zeros_like(values) for values in now]
            yield from _changes([~values.astype(bool) for values in before], before)
            yield "$end"
        yield f"#{state.number}"
        yield from _changes([new != old for new, old in zip(now, before, strict=True)], now)
        before = now
    if not before:
        raise ValueError("a wave form needs at least one clock")
    yield f"#{state.number + 1}"


def _variables(state: Registers) -> list[np.ndarray]:
    numbers = [getattr(state, name) for name in NUMBERS]
    return numbers + [(state.control & bit) != 0 for bit in BITS.values()]


def _head(state: Registers) -> Iterator[str]:
    rows, cols = state.control.shape
    kinds = ["real 64" if state.stay.dtype.kind == "f" else "wire 32"] * len(NUMBERS)
    kinds += ["wire 1"] * len(BITS)
    yield "$comment a systolic array; a unit of time is a clock $end"
    yield "$timescale 1ns $end"
    for i in range(rows):
        yield f"$scope module row{i} $end"
        for j in range(cols):
            yield f"$scope module col{j} $end"
            for place, name in enumerate([*NUMBERS, *BITS]):
                yield f"$var {kinds[place]} {_code(place, i, j, cols)} {name} $end"
            yield "$upscope $end"
        yield "$upscope $end"
    yield "$enddefinitions $end"


def _changes(where: list[np.ndarray], values: list[np.ndarray]) -> Iterator[str]:
    for place, (changed, now) in enumerate(zip(where, values, strict=True)):
        for i, j in np.argwhere(changed).tolist():
            yield _value(now[i, j]) + _code(place, i, j, now.shape[1])


def _value(value: np.generic) -> str:
    if value.dtype.kind == "b":
        return str(int(value))
    if value.dtype.kind == "f":
        return f"r{float(value):.17g} "
    return f"b{int(value) & 0xFFFFFFFF:b} "


def _code(place: int, row: int, col: int, cols: int) -> str:
    """A short name of printable characters: a number in base 94."""
    number = (row * cols + col) * (len(NUMBERS) + len(BITS)) + place
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if number == 0:
            return text
