"""C for a machine without a system: what it leaves undefined, and how large its sections are.

    looked_at("float f(float x) { return expf(x); }")    undefined: ["expf"]; text, data, bss: bytes

clang compiles for a Cortex-M4 with a unit for floats, and nothing is linked: the object says what
a linker would look for. Optional: `lacking()` says which program is missing. Next room: `gxx.py`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

CLANG, NM, SIZE = (("clang-22", "clang"), ("llvm-nm-22", "llvm-nm"), ("llvm-size-22", "llvm-size"))
CORTEX_M4 = ("--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4")
FLAGS = ("-std=c11", "-Os", "-ffreestanding", "-ffunction-sections")
COMPILING = 60  # seconds


class Object(NamedTuple):
    """Names that it does not define, and the bytes of its code and constants, of what it changes
    and begins with a value, and of what it changes and begins with zeros."""

    undefined: list[str]
    text: int
    data: int
    bss: int


def lacking() -> str:
    """Which program is missing here, in words; "" if none is."""
    absent = [names[0] for names in (CLANG, NM, SIZE) if not _found(names)]
    return f"{' and '.join(absent)} not found" if absent else ""


def looked_at(text: str, target: Sequence[str] = CORTEX_M4) -> Object:
    """The object that clang makes of some C. ValueError with what clang says if it makes none."""
    with tempfile.TemporaryDirectory() as folder:
        source, object = Path(folder, "text.c"), Path(folder, "text.o")
        source.write_text(text)
        _said(CLANG, *target, *FLAGS, "-c", str(source), "-o", str(object))
        names = re.findall(r"\bU (\S+)", _said(NM, "--undefined-only", str(object)))
        sizes = _said(SIZE, str(object)).splitlines()[1].split()
    return Object(sorted(names), *(int(size) for size in sizes[:3]))


def _said(names: Sequence[str], *arguments: str) -> str:
    program = _found(names)
    if program is None:
        raise ValueError(f"{names[0]} is not installed")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=COMPILING)
    if done.returncode:
        raise ValueError(f"{names[0]} says:\n{done.stderr.strip()}")
    return done.stdout


def _found(names: Sequence[str]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)
