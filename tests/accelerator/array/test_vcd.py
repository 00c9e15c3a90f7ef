"""A wave form read back by a small reader gives every register of every clock."""

import numpy as np
import pytest

from course_lib.accelerator.array.registers import registers
from course_lib.accelerator.array.vcd import BITS, NUMBERS, vcd, write_vcd
from course_lib.accelerator.systolic import SystolicArray

from .test_levels import KINDS, int8

THIRD = np.float32(1 / 3)


def read(text):
    """{(row, col, name): [value at each time]}, by the grammar of IEEE 1364, clause 18."""
    head, body = text.split("$enddefinitions $end")
    scope, names, words = [], {}, head.split()
    for place, word in enumerate(words):
        if word == "$scope":
            scope.append(words[place + 2])
        elif word == "$upscope":
            scope.pop()
        elif word == "$var":
            row, col = (int(part.lstrip("rowcl")) for part in scope)
            assert words[place + 3] not in names  # each code stands for one variable
            names[words[place + 3]] = (row, col, words[place + 4])
    assert not scope
    now, seen, tokens = {}, [], iter(body.split())
    for token in tokens:
        if token.startswith("#"):
            seen.append(now)
            now = dict(now)
        elif token[0] == "b":
            number = int(token[1:], 2)
            now[names[next(tokens)]] = number - (number >> 31 << 32)
        elif token[0] == "r":
            now[names[next(tokens)]] = float(token[1:])
        elif token[0] in "01":
            now[names[token[1:]]] = int(token[0])
        else:
            assert token in ("$dumpvars", "$end")
    return seen[1:]  # what holds when the next time begins


@pytest.mark.parametrize(("kind", "scale"), [*((kind, 1) for kind in KINDS), ({}, THIRD)])
def test_a_wave_form_reads_back_as_every_register_of_every_clock(kind, scale):
    states = list(registers(int8(0, 3, 4) * scale, int8(1, 4, 5) * scale,
                            SystolicArray(2, 7, **kind)))  # fmt: skip
    found = read("\n".join(vcd(states)))
    assert len(found) == len(states) + 1  # and zeros at time 0
    assert not any(found[0].values()) and len(found[0]) == 14 * (len(NUMBERS) + len(BITS))
    for state, values in zip(states, found[1:], strict=True):
        for (row, col, name), value in values.items():
            mine = (
                getattr(state, name)[row, col]
                if name in NUMBERS
                else bool(state.control[row, col] & BITS[name])
            )
            assert value == mine, (state.number, row, col, name)


def test_the_file_is_whole_or_not_there(tmp_path):
    with pytest.raises(ValueError, match="at least one clock"):
        write_vcd(tmp_path / "run.vcd", [])
    assert not list(tmp_path.iterdir())
    write_vcd(tmp_path / "run.vcd", registers(int8(0, 2, 2), int8(1, 2, 2), SystolicArray(2, 2)))
    assert [file.name for file in tmp_path.iterdir()] == ["run.vcd"]
