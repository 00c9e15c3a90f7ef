"""LLVM's own work on one module: text -> optimized text -> an object file of machine code.

    compiled("define i64 @k(ptr %x) ...", "znver4", "+avx2")   ->   ("define ...", b"\\x7fELF...")

Run as a program, the file does so for each module that it is sent, until there are no more: that
is what a helper is (`helpers.py`). It needs nothing but llvmlite, so that a helper starts at
once. Next room: `codegen.py`.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache

import llvmlite.binding as llvm


def code_generator(name: str, features: str) -> llvm.TargetMachine:
    """LLVM's code generator for a processor, by LLVM's name of it and its features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
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


def compiled(text: str, name: str, features: str) -> tuple[str, bytes]:
    """The module after LLVM's optimizer, and its machine code."""
    machine = _code_generator(name, features)
    module = optimize(text, machine)
    return str(module), machine.emit_object(module)


_code_generator = cache(code_generator)  # one for all modules


def main() -> None:
    """A module after another from standard input, what became of it to standard output."""
    while True:
        try:
            order = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(compiled(*order), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
