"""LLVM's part: optimize a module, generate machine code, hand out functions that Python can call.

    code = compile_kernels([kernel])
    code.functions["relu_0"][0](x.ctypes.data, out.ctypes.data, 0, iterations)

`ctypes` releases the interpreter lock during a call, so kernels may run on several threads. Next
room: `course_lib/runtime/executable.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.ir.loops.nest import Kernel
from course_lib.llvm.emit import Part, emit_kernel
from course_lib.llvm.host import instruction_set


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code in memory. It lives as long as this object.

    functions  for each kernel its parts, in order: (callable, iterations of its parallel loop); one
               returns 1 if an index from the data was outside its buffer, else 0
    llvm_ir    the module before LLVM's optimizer
    optimized  the same afterwards
    cpu        whose instructions it uses (`host.py`)
    """

    functions: dict[str, list[tuple[Callable[..., int], int]]]
    llvm_ir: str
    optimized: str
    engine: llvm.ExecutionEngine
    cpu: str = "host"

    def assembly(self) -> str:
        """What the processor runs. Made when asked for: it takes as long as compiling did."""
        return target_machine(self.cpu).emit_assembly(llvm.parse_assembly(self.optimized))


def target_machine(cpu: str = "host") -> llvm.TargetMachine:
    """A code generator for this processor, or a level of x86-64 (`host.py`). Each engine needs one
    of its own."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = instruction_set(cpu)
    return target.create_target_machine(cpu=name, features=features, opt=3, jit=True)


def emit_module(
    kernels: Sequence[Kernel], name: str = "model"
) -> tuple[str, dict[str, list[Part]]]:
    """LLVM IR text for some kernels, and the functions that each one became."""
    module = ir.Module(name)
    module.triple = llvm.get_process_triple()
    parts = {kernel.name: emit_kernel(kernel, module) for kernel in kernels}
    return str(module), parts


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


def compile_kernels(kernels: Sequence[Kernel], name: str = "model", cpu: str = "host") -> Code:
    """Machine code for some kernels with distinct names. ValueError for a `cpu` that this one is
    not (`host.py`)."""
    text, parts = emit_module(kernels, name)
    module = optimize(text, target_machine(cpu))
    optimized = str(module)
    engine = llvm.create_mcjit_compiler(module, target_machine(cpu))
    engine.finalize_object()
    functions = {}
    for kernel in kernels:
        arguments = [ctypes.c_void_p] * len(kernel.params) + [ctypes.c_int64] * 2
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)
        functions[kernel.name] = [
            (signature(engine.get_function_address(part.symbol)), part.iterations)
            for part in parts[kernel.name]
        ]
    return Code(functions, text, optimized, engine, cpu)
