"""Machine code in memory: compile what a program needs, load it, hand out what Python can call.

    code = compile_kernels([kernel])
    code.functions["relu_0"][0](x.ctypes.data, out.ctypes.data, 0, iterations)

    code = compile_program(program)
    code.entries[0](table)         // all steps of a model, on a table of addresses: `entry.py`

`ctypes` releases the interpreter lock during a call. Next room: `helpers.py`.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.exercises import plugs_now
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.loops.program import Program
from course_lib.keep import kept, sources
from course_lib.llvm.codegen import generate, target_machine
from course_lib.llvm.emit import emit_kernel
from course_lib.llvm.entry import Entries, Run, emit_entries, entries_of, runs
from course_lib.llvm.objects import Object
from course_lib.llvm.parts import Part
from course_lib.llvm.pool import start_workers

Generate = Callable[[str, str], Object]  # such as `codegen.generate`


@dataclass(frozen=True, eq=False)
class Entry:
    """The machine code of some steps of a program, one after the other.

    first, last  the steps, `last` excluded
    workers      how many threads shall help
    """

    first: int
    last: int
    workers: int
    code: Callable[[Any], int]

    def __call__(self, table: ctypes.Array) -> int | None:
        """Run them on the buffers whose addresses are in the table.

        The number of the step that met an index outside its axis; None: no step.
        """
        start_workers(self.workers)
        status = self.code(table)
        return status - 1 if status else None


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code in memory. It lives as long as this object.

    functions  for each kernel its parts, in order: (callable, iterations of the outermost loop); it
               returns 1 if an index from the data was outside its buffer, else 0
    entries    the steps of a program that follow each other without numpy in between
    modules    for each module its LLVM IR before the optimizer, and after it: one for each kernel,
               and one of the entries
    cpu        whose instructions it uses (`host.py`)
    """

    functions: Mapping[str, Sequence[tuple[Callable[..., int], int]]]
    entries: Sequence[Entry]
    modules: Mapping[str, tuple[str, str]]
    engine: llvm.ExecutionEngine
    cpu: str = "host"

    @property
    def llvm_ir(self) -> str:
        """All modules as they were emitted."""
        return "\n".join(emitted for emitted, _ in self.modules.values())

    @property
    def optimized(self) -> str:
        """All modules after LLVM's optimizer."""
        return "\n".join(optimized for _, optimized in self.modules.values())

    def assembly(self) -> str:
        """What the processor runs. Made when asked for: it takes as long as compiling did."""
        machine = target_machine(self.cpu)
        modules = [llvm.parse_assembly(optimized) for _, optimized in self.modules.values()]
        return "\n".join(machine.emit_assembly(module) for module in modules)


def emit_module(kernel: Kernel) -> tuple[str, list[Part]]:
    """A kernel as LLVM IR text, and the functions that it became."""
    module = ir.Module(kernel.name)
    module.triple = llvm.get_process_triple()
    parts = emit_kernel(kernel, module)
    return str(module), parts


def emit_once(kernel: Kernel) -> tuple[str, list[Part]]:
    """The same, emitted once on this machine; each time if an answer to an exercise is plugged in,
    for it may emit otherwise."""
    if plugs_now():
        return emit_module(kernel)

    def parts() -> tuple[bytes, bytes]:
        text, functions = emit_module(kernel)
        return json.dumps([astuple(part) for part in functions]).encode(), text.encode()

    of = print_kernel(replace(kernel, origin=()))
    functions, text = kept("emitted", _emitted(of), parts)
    return text.decode(), [Part(*part) for part in json.loads(functions)]


def emit_entries_once(name: str, entries: Entries) -> str:
    """The module of the entries, emitted once on this machine."""
    key = _emitted(repr((name, entries)))
    return kept("emitted", key, lambda: (b"", emit_entries(name, entries).encode()))[1].decode()


def _emitted(of: str) -> str:
    """What emitted text depends on."""
    return repr((of, llvmlite.__version__, llvm.get_process_triple(), sources("ir", "llvm")))


def compile_kernels(kernels: Sequence[Kernel], cpu: str = "host") -> Code:
    """Machine code for some kernels with distinct names. ValueError for a `cpu` that this one is
    not (`host.py`)."""
    loaded = _Loaded(cpu)
    parts = {}
    for kernel in kernels:
        text, parts[kernel.name] = emit_once(kernel)
        loaded.add(kernel.name, text, generate(text, cpu))
    return loaded.code(kernels, parts)


def compile_program(
    program: Program, cpu: str = "host", threads: int = 1, generate: Generate = generate
) -> Code:
    """Machine code for the kernels of a program, and for running them in order.

    threads   how many may work on one kernel
    generate  who has LLVM compile a module (`helpers.py`)
    """
    kernels = list({s.kernel.name: s.kernel for s in program.steps if s.kernel}.values())
    emitted = {kernel.name: emit_once(kernel) for kernel in kernels}
    parts = {name: functions for name, (_, functions) in emitted.items()}
    texts = {name: text for name, (text, _) in emitted.items()}
    stretches = runs(program)
    if stretches:
        start_workers(threads - 1)  # the entries name the pool's function
        texts["entries"] = emit_entries_once(program.name, entries_of(program, parts, threads))
    loaded = _Loaded(cpu)
    objects = {
        name: generate(texts[name], cpu) for name in reversed(texts)
    }  # helpers begin in front
    for name, text in texts.items():
        loaded.add(name, text, objects[name])
    return loaded.code(kernels, parts, stretches, threads - 1)


def compile_text(text: str, symbol: str, pointers: int, numbers: int = 0) -> Callable[..., int]:
    """A function of LLVM IR that somebody else wrote, `i64 symbol(ptr ..., i64 ...)`. Its machine
    code lives as long as the result. RuntimeError if LLVM cannot read the text."""
    loaded = _Loaded("host")
    loaded.add(symbol, text, generate(text, "host"))
    loaded.engine.finalize_object()
    function = loaded._function(symbol, pointers, numbers)

    def call(*arguments: int) -> int:
        assert loaded.engine is not None
        return function(*arguments)

    return call


class _Loaded:
    """An engine that collects modules and then gives addresses."""

    def __init__(self, cpu: str) -> None:
        self.cpu, self.modules = cpu, {}
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(cpu))

    def add(self, name: str, text: str, compiled: Object) -> None:
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(compiled.code))
        self.modules[name] = text, compiled.optimized

    def code(
        self,
        kernels: Sequence[Kernel],
        parts: Mapping[str, Sequence[Part]],
        stretches: Sequence[Run] = (),
        workers: int = 0,
    ) -> Code:
        self.engine.finalize_object()
        functions = {
            kernel.name: [
                (self._function(part.symbol, len(kernel.params), 2), part.iterations)
                for part in parts[kernel.name]
            ]
            for kernel in kernels
        }
        entries = [
            Entry(run.first, run.last, workers, self._function(run.symbol, 1, 0))
            for run in stretches
        ]
        return Code(functions, entries, self.modules, self.engine, self.cpu)

    def _function(self, symbol: str, pointers: int, numbers: int) -> Callable[..., int]:
        arguments = [ctypes.c_void_p] * pointers + [ctypes.c_int64] * numbers
        return ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)(
            self.engine.get_function_address(symbol)
        )
