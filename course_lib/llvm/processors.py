"""A kernel as assembly for processors that are not here: x86-64, AArch64, RISC-V, NVIDIA, AMD.

    assembly(kernel, "nvptx")      textbook loops: each point of the result is a thread
    assembly(kernel, "aarch64")    scheduled loops: vectors, registers

A processor with vectors gets the loops that the scheduler made for its registers. A GPU gets the
textbook loops: the outer loops whose iterations do not depend on each other are gone, and a thread
finds its own iteration from its number. Pointers say in which memory they point (`GLOBAL`,
`PRIVATE`), because a GPU has several. llvmlite is built with all of LLVM's code generators.
Next room: `inspect/looking.py`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.arguments import takes
from course_lib.cost.machine import Machine
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Buffer, Kernel, Loop, Stmt, Write
from course_lib.ir.loops.walk import loops, statements
from course_lib.llvm.backend import optimize
from course_lib.llvm.emit import Emitter, emit_kernel
from course_lib.llvm.lanes import all_affine
from course_lib.llvm.parts import Part, bodies_of
from course_lib.llvm.values import I32, I64, call
from course_lib.schedule.choose import choose

GLOBAL, PRIVATE = 1, 5  # address spaces: what all threads see; on AMD, what one thread has alone
THREADS = 256  # in a block


@dataclass(frozen=True)
class Gpu:
    """What kernels are called by a GPU's driver, and where a thread finds out who it is.

    block, thread  the intrinsics for the number of the block, and of the thread in its block
    private        the address space of locals
    lacks          functions for which LLVM has no instructions there: at one, it ends the process
    """

    convention: str
    block: str
    thread: str
    private: int
    lacks: frozenset[str]


@dataclass(frozen=True)
class Processor:
    """A processor as LLVM names it, and what a schedule for it has to know."""

    triple: str
    cpu: str
    features: str = ""
    machine: Machine | None = None
    gpu: Gpu | None = None


_NO_GPU = frozenset(["tan", "asin", "acos", "atan", "sinh", "cosh"])
PROCESSORS = {
    "x86-64": Processor("x86_64-unknown-linux-gnu", "haswell", "", Machine("haswell", 32, 16)),
    "aarch64": Processor("aarch64-unknown-linux-gnu", "neoverse-n1", "",
                      Machine("neoverse-n1", 16, 32)),
    "riscv64": Processor("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c,+v",
                      Machine("rv64gcv", 16, 32)),
    "nvptx": Processor("nvptx64-nvidia-cuda", "sm_80", "", None,
                    Gpu("ptx_kernel", "llvm.nvvm.read.ptx.sreg.ctaid.x",
                        "llvm.nvvm.read.ptx.sreg.tid.x", 0,
                        _NO_GPU | {"pow", "log", "sin", "cos"})),
    "amdgpu": Processor("amdgcn-amd-amdhsa", "gfx90a", "", None,
                     Gpu("amdgpu_kernel", "llvm.amdgcn.workgroup.id.x",
                         "llvm.amdgcn.workitem.id.x", PRIVATE, _NO_GPU)),
}  # fmt: skip


@takes
def assembly(kernel: Kernel, processor: str) -> str:
    """A kernel as assembly for a processor of `PROCESSORS`.

    Loops that have a schedule already (some are `vector` loops) keep it. ValueError for another
    one, and on a GPU for an index that comes from memory (nobody could be told that it is
    outside) and for a function that LLVM has no instructions for.
    """
    machine, text = target_machine(processor), llvm_ir(kernel, processor)
    if (gpu := PROCESSORS[processor].gpu) is not None:
        called = set(re.findall(r"@\"?llvm\.(\w+)\.", text))
        if missing := called & gpu.lacks:
            raise ValueError(
                f"@{kernel.name}: LLVM has no instructions for {', '.join(sorted(missing))} on "
                f"{processor}"
            )
    return machine.emit_assembly(optimize(text, machine))


@takes
def llvm_ir(kernel: Kernel, processor: str) -> str:
    """The LLVM IR that `assembly` starts from, as emitted."""
    to, module = _processor(processor), ir.Module(kernel.name)
    module.triple, module.data_layout = to.triple, str(target_machine(processor).target_data)
    if to.gpu is None:
        assert to.machine is not None
        done = any(loop.kind == "vector" for loop in loops(kernel.body))
        emit_kernel(kernel if done else choose(kernel, to.machine, frozenset()), module)
        return str(module)
    for number, body in enumerate(bodies_of(kernel)):
        symbol = kernel.name if not number else f"{kernel.name}_{number}"
        _Thread(replace(kernel, body=body), module, symbol, to.gpu).thread()
    space = f", addrspace({to.gpu.private})" if to.gpu.private else ""
    return re.sub(r"(= alloca .*)$", rf"\1{space}", str(module), flags=re.M)


def target_machine(processor: str) -> llvm.TargetMachine:
    """LLVM's code generator for a processor of `PROCESSORS`."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    to = _processor(processor)
    target = llvm.Target.from_triple(to.triple)
    return target.create_target_machine(cpu=to.cpu, features=to.features, opt=3)


def threads_of(body: tuple[Stmt, ...]) -> tuple[tuple[Loop, ...], tuple[Stmt, ...]]:
    """The outer loops whose iterations become threads, and what one thread does."""
    if len(body) == 1 and isinstance(body[0], Loop) and body[0].extent and not carried(body[0]):
        inner, work = threads_of(body[0].body)
        return (body[0], *inner), work
    return (), body


def _processor(name: str) -> Processor:
    if name not in PROCESSORS:
        raise ValueError(f"a processor is one of {', '.join(PROCESSORS)}, got {name!r}")
    return PROCESSORS[name]


class _Thread(Emitter):
    """What one thread of a GPU does: the emitter of loops, with pointers into other memories."""

    def __init__(self, kernel: Kernel, module: ir.Module, symbol: str, gpu: Gpu) -> None:
        super().__init__(kernel, ir.Module(), symbol)
        self.gpu, self.module = gpu, module
        pointers = [ir.PointerType(addrspace=GLOBAL)] * len(kernel.params)
        self.fn = ir.Function(module, ir.FunctionType(ir.VoidType(), pointers), symbol)
        self.fn.calling_convention = gpu.convention
        for param, argument in zip(kernel.params, self.fn.args, strict=True):
            argument.name = param.name
            argument.add_attribute("noalias")
            self.pointer[param.name] = argument
        self.entry = self.fn.append_basic_block("entry")
        self.b = ir.IRBuilder(self.fn.append_basic_block("body"))

    def thread(self) -> Part:
        """The whole function: which point is mine, is there one, compute it."""
        self.refuse_indices_from_memory()
        first = self.fn.blocks[1]
        around, work = threads_of(self.kernel.body)
        count = math.prod(loop.extent or 1 for loop in around)
        block, thread = (
            call(self.b, self.gpu.block, [], I32),
            call(self.b, self.gpu.thread, [], I32),
        )
        number = self.b.add(self.b.mul(self.b.zext(block, I64), I64(THREADS)),
                            self.b.zext(thread, I64))  # fmt: skip
        mine, done = self.fn.append_basic_block("mine"), self.fn.append_basic_block("done")
        self.b.cbranch(self.b.icmp_unsigned("<", number, I64(count)), mine, done)
        self.b.position_at_end(mine)
        for loop in reversed(around):
            at = self.b.urem(number, I64(loop.extent))
            self.at[loop.var] = self.b.add(at, self.index(loop.start))
            number = self.b.udiv(number, I64(loop.extent))
        self.block(work)
        self.b.branch(done)
        ir.IRBuilder(done).ret_void()
        ir.IRBuilder(self.entry).branch(first)
        return Part(self.symbol, count)

    def local(self, buffer: Buffer) -> None:
        """Memory of one thread; LLVM turns it into registers."""
        super().local(buffer)
        self.pointer[buffer.name].type = ir.PointerType(addrspace=self.gpu.private)

    def prefetch(self, loop: Loop) -> None:
        """Nothing: while one thread waits for memory, others of the same core run."""

    def refuse_indices_from_memory(self) -> None:
        for stmt in statements(self.kernel.body):
            if isinstance(stmt, Write) and not all_affine(stmt):
                raise ValueError(f"@{self.kernel.name}: an index comes from memory, and a GPU's "
                                 "kernel cannot say that it was outside")  # fmt: skip
