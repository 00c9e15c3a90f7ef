"""The machine language as a table: a row for each instruction, with its word and its meaning.

    manual()     # instruction, engine, the fields of its word from bit 0 on, meaning

Everything in it is read from the classes. Next room: `check.py`.
"""

from __future__ import annotations

import inspect

from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.instructions import ROWS
from course_lib.accelerator.isa.word import WORD, layout
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table


def manual() -> Picture:
    """The whole table, drawn and as text."""
    rows = [[cls.name, cls.engine, word_of(cls), meaning(cls)] for cls in ROWS]
    headers = ["instruction", "engine", "fields (bits)", "meaning"]
    return table(rows, headers, f"The machine language, words of {8 * WORD} bits")


def word_of(cls: type[Instruction]) -> str:
    """The fields of a word from its lowest bit on: `opcode 4, wait 3, signal 3, dram 32, ...`."""
    return ", ".join(f"{name} {width}" for name, _, width in layout(cls))


def meaning(cls: type[Instruction]) -> str:
    """What its docstring says, as one line."""
    return " ".join((inspect.getdoc(cls) or "").replace("`", "").split())
