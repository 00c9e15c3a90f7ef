"""LLVM's work on a module, done once on this machine.

    generate("define i64 @k(ptr %x) ...", "host")   ->   Object(optimized text, object file)

Next room: `helpers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from course_lib.llvm.backend import code_generator, compiled
from course_lib.llvm.host import instruction_set, meant
from course_lib.llvm.objects import Object, is_made, made_once

Backend = Callable[[str, str, str], tuple[str, bytes]]  # such as `backend.compiled`


def target_machine(cpu: str = "host") -> llvm.TargetMachine:
    """A code generator for this processor, or a level of x86-64 (`host.py`). Each engine needs one
    of its own."""
    return code_generator(*instruction_set(cpu))


def generate(text: str, cpu: str, by: Backend = compiled) -> Object:
    """LLVM's work on one module, done `by` this process or another one, unless it is kept
    (`objects.py`)."""
    return made_once(_key(text, cpu), lambda: Object(*by(text, *instruction_set(cpu))))


def is_generated(text: str, cpu: str) -> bool:
    """Is there nothing left to do for this module, or no place where it could be kept?"""
    return is_made(_key(text, cpu))


def _key(text: str, cpu: str) -> str:
    return repr((*_generator(meant(cpu)), text))


@cache
def _generator(cpu: str) -> tuple[object, ...]:
    return llvmlite.__version__, llvm.llvm_version_info, instruction_set(cpu)
