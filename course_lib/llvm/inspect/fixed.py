"""A processor that is the same everywhere: code to be looked at and counted, never to be run.

    optimized(text)   ->   LLVM IR after O3 for Intel's Haswell of 2013, the first with AVX2
    assembly(text)    ->   its machine code as text
    innermost(lines)  ->   the lines of the loop in it that multiplies

What LLVM's optimizer leaves depends on the processor, and so does every count of it. Two readers
who want the same number have to name one. Next room: `looking.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import llvmlite.binding as llvm

from course_lib.llvm.backend import optimize

TRIPLE, HASWELL = "x86_64-unknown-linux-gnu", "haswell"


def fixed_machine(cpu: str = HASWELL) -> llvm.TargetMachine:
    """A code generator for an x86-64 processor by LLVM's name, whatever this one is."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=cpu, opt=3)


def optimized(text: str, cpu: str = HASWELL) -> str:
    """A module after LLVM's O3 pipeline."""
    return str(optimize(text, fixed_machine(cpu)))


def assembly(text: str, cpu: str = HASWELL) -> str:
    """The machine code of a module as it stands, without the optimizer."""
    return fixed_machine(cpu).emit_assembly(llvm.parse_assembly(text))


def innermost(lines: Sequence[str]) -> list[str]:
    """The lines of the first innermost loop of an assembly that multiplies: from its label to the
    jump back to it. ValueError if there is none."""
    labels: dict[str, int] = {}
    for number, line in enumerate(lines):
        if label := re.match(r"(\.L\w+):", line):
            labels[label[1]] = number
        jump = re.match(r"\s+j\w+\s+(\.L\w+)", line)
        if jump and jump[1] in labels:
            loop = lines[labels[jump[1]] : number + 1]
            if any("fmadd" in each for each in loop):
                return list(loop)
    raise ValueError("no loop multiplies")
