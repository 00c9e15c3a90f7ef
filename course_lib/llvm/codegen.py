"""LLVM's own work: text of a module -> optimized -> machine code, once on this machine.

    generate("define i64 @k(ptr %x) ...", "host")   ->   Object(optimized text, object file)

Next room: `helpers.py`.
"""

from __future__ import annotations

from functools import cache

import llvmlite
import llvmlite.binding as llvm

from course_lib.llvm.host import instruction_set
from course_lib.llvm.objects import Object, is_made, made_once


def target_machine(cpu: str = "host") -> llvm.TargetMachine:
    """A code generator for this processor, or a level of x86-64 (`host.py`). Each engine needs one
    of its own."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = instruction_set(cpu)
    return target.create_target_machine(cpu=name, features=features, opt=3, jit=True)


def optimize(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    """Parse, verify and run LLVM's standard pipeline."""
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)
    return module


def generate(text: str, cpu: str) -> Object:
    """LLVM's work on one module, done once on this machine (`objects.py`)."""

    def make() -> Object:
        machine = target_machine(cpu)
        module = optimize(text, machine)
        return Object(str(module), machine.emit_object(module))

    return made_once(_key(text, cpu), make)


def is_generated(text: str, cpu: str) -> bool:
    """Is there nothing left to do for this module, or no place where it could be kept?"""
    return is_made(_key(text, cpu))


def _key(text: str, cpu: str) -> str:
    return repr((*_generator(cpu), text))


@cache
def _generator(cpu: str) -> tuple[object, ...]:
    return llvmlite.__version__, llvm.llvm_version_info, instruction_set(cpu)
