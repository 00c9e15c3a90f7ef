"""NVIDIA's assembler as a witness: is a text PTX, how many registers does it need, what spills?

    ptxas(text, "sm_80")    ->   {"copy": Assembled(registers=16, spilled=0, shared=0)}

Optional: it comes with NVIDIA's package `nvidia-cuda-nvcc` (Linux), and needs no GPU. Next room:
`cluster.py`.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60
PACKAGE = "nvidia-cuda-nvcc"
ENTRY = re.compile(
    r"Compiling entry function '(\w+)'.*?Used (\d+) registers(?:[^\n]*?(\d+) bytes smem)?", re.S
)
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


class PtxasError(ValueError):
    """PTX that the assembler refuses, in its words."""


@dataclass(frozen=True)
class Assembled:
    """What a kernel became: registers of a thread, bytes of them that did not fit, bytes of shared
    memory of a block."""

    registers: int
    spilled: int
    shared: int


def program() -> str | None:
    """Where it is: in this Python's packages, or on the path."""
    for folder in sys.path:
        found = sorted(Path(folder, "nvidia").glob("*/bin/ptxas")) if folder else []
        if found:
            return str(found[-1])
    return shutil.which("ptxas")


def installed() -> bool:
    return program() is not None and platform.system() == "Linux"


def ptxas(text: str, processor: str = "sm_80") -> dict[str, Assembled]:
    """Assemble a module for a card. PtxasError if it is missing or refuses the text."""
    command = program()
    if command is None:
        raise PtxasError(f"ptxas is not installed; the package {PACKAGE} has it")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(text)
        words = [command, "-v", f"-arch={processor}", str(source), "-o", str(source) + ".cubin"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise PtxasError(done.stderr.replace(str(source), "kernel.ptx").strip())
    found = {}
    for part in re.split(r"(?=ptxas info\s+: Compiling entry)", done.stderr):
        if match := ENTRY.search(part):
            spills = sum(int(n) for m in SPILLS.finditer(part) for n in m.groups())
            found[match[1]] = Assembled(int(match[2]), spills, int(match[3] or 0))
    return found
