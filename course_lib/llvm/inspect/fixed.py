"""A processor that is the same everywhere: code to be looked at and counted, never to be run.

    optimized(text)   ->   LLVM IR after O3 for Intel's Haswell of 2013, the first with AVX2
    assembly(text)    ->   its machine code as text

What LLVM's optimizer leaves depends on the processor, and so does every count of it. Two readers
who want the same number have to name one. Next room: `looking.py`.
"""

from __future__ import annotations

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
