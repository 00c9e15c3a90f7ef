"""The chip's numbers for C++: one line each, and whoever reads them says what a line means.

    #define NUMBER(name, least, most) int64_t name;
    #include "chips.inc"                              ->   int64_t rows; int64_t cols; ...

So no size of a memory and no limit stands in the C++ either; MLIR keeps such lists alike (`.def`
files). Next room: `build.py`.

>>> print(text().split("NUMBER(queue")[0].split("#endif")[-1].strip())
NUMBER(rows, 1, 4095)
NUMBER(cols, 1, 4095)
NUMBER(weights, 1, 16777216)
NUMBER(acts, 1, 16777216)
NUMBER(accs, 1, 65536)
NUMBER(params, 1, 4096)
NUMBER(dma_bytes, 1, INT64_MAX)
NUMBER(dma_latency, 0, INT64_MAX)
"""

from __future__ import annotations

from dataclasses import fields

from course_lib.accelerator.chip import MOST, PRESETS, Chip
from course_lib.mlir.npu.dialect import LARGEST, LIMITS

MACROS = ("NUMBER", "OTHER", "PRESET", "LIMIT")


def text() -> str:
    """What `chips.inc` says: fields of a chip and what they may be, the presets, other limits."""
    numbers = [field.name for field in fields(Chip) if field.type == "int"]
    lines = [f"#ifndef {macro}\n#define {macro}(...)\n#endif" for macro in MACROS]
    for name in numbers:
        least = 0 if name == "dma_latency" else 1
        lines.append(f"NUMBER({name}, {least}, {MOST.get(name, 'INT64_MAX')})")
    others = [field.name for field in fields(Chip) if field.name not in (*numbers, "banks")]
    lines += [f"OTHER({name})" for name in others]
    for name, chip in PRESETS.items():
        values = ", ".join(str(getattr(chip, number)) for number in numbers)
        banks = ", ".join(map(str, chip.banks))
        lines.append(f'PRESET("{name}", {values}, {{{banks}}})')
    limits = {"lowest": LIMITS[0], "highest": LIMITS[1], "largest": LARGEST}
    lines += [f"LIMIT({name}, {value})" for name, value in limits.items()]
    return "\n".join([*lines, *(f"#undef {macro}" for macro in MACROS), ""])
