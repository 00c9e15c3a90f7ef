"""LLVM's part: optimize a kernel, generate machine code, hand out functions that Python can call.

    code = compile_kernels([kernel])
    code.functions["relu_0"][0](x.ctypes.data, out.ctypes.data, 0, iterations)

`ctypes` releases the interpreter lock during a call, so kernels may run on several threads. Next
room: `course_lib/runtime/executable.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.ir.loops.nest import Kernel
from course_lib.llvm.emit import Part, emit_kernel
from course_lib.llvm.host import instruction_set
from course_lib.llvm.objects import Object, made_once


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code in memory. It lives as long as this object.

    functions  for each kernel its parts, in order: (callable, iterations of its parallel loop); one
               returns 1 if an index from the data was outside its buffer, else 0
    modules    for each kernel its LLVM IR before the optimizer, and after it
    cpu        whose instructions it uses (`host.py`)
    """

    functions: dict[str, list[tuple[Callable[..., int], int]]]
    modules: dict[str, tuple[str, str]]
    engine: llvm.ExecutionEngine
    cpu: str = "host"

    @property
    def llvm_ir(self) -> str:
        """All kernels as they were emitted."""
        return "\n".join(emitted for emitted, _ in self.modules.values())

    @property
    def optimized(self) -> str:
        """All kernels after LLVM's optimizer."""
        return "\n".join(optimized for _, optimized in self.modules.values())

    def assembly(self) -> str:
        """What the processor runs. Made when asked for: it takes as long as compiling did."""
        machine = target_machine(self.cpu)
        modules = [llvm.parse_assembly(optimized) for _, optimized in self.modules.values()]
        return "\n".join(machine.emit_assembly(module) for module in modules)


def target_machine(cpu: str = "host") -> llvm.TargetMachine:
    """A code generator for this processor, or a level of x86-64 (`host.py`). Each engine needs one
    of its own."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = instruction_set(cpu)
    return target.create_target_machine(cpu=name, features=features, opt=3, jit=True)


def emit_module(kernel: Kernel) -> tuple[str, list[Part]]:
    """A kernel as LLVM IR text, and the functions that it became."""
    module = ir.Module(kernel.name)
    module.triple = llvm.get_process_triple()
    parts = emit_kernel(kernel, module)
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


def generate(text: str, cpu: str) -> Object:
    """LLVM's work on one module, done once on this machine (`objects.py`)."""

    def make() -> Object:
        machine = target_machine(cpu)
        module = optimize(text, machine)
        return Object(str(module), machine.emit_object(module))

    version, processor = llvm.llvm_version_info, instruction_set(cpu)
    return made_once(repr((llvmlite.__version__, version, processor, text)), make)


def compile_kernels(kernels: Sequence[Kernel], cpu: str = "host") -> Code:
    """Machine code for some kernels with distinct names. ValueError for a `cpu` that this one is
    not (`host.py`)."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(cpu))
    parts, modules = {}, {}
    for kernel in kernels:
        emitted, parts[kernel.name] = emit_module(kernel)
        made = generate(emitted, cpu)
        engine.add_object_file(llvm.ObjectFileRef.from_data(made.code))
        modules[kernel.name] = emitted, made.optimized
    engine.finalize_object()
    functions = {}
    for kernel in kernels:
        arguments = [ctypes.c_void_p] * len(kernel.params) + [ctypes.c_int64] * 2
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)
        functions[kernel.name] = [
            (signature(engine.get_function_address(part.symbol)), part.iterations)
            for part in parts[kernel.name]
        ]
    return Code(functions, modules, engine, cpu)
