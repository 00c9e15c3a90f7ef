"""Which line of the loops became which lines of LLVM IR and of assembly.

    3    out[i] = x0[i] * 2.0         loops
    3    %6 = fmul contract <8 x float> %wide.load, splat (float 2.0)
    3    vmulps (%rdi,%rax,4), %ymm0, %ymm1

A second build of the kernel, only to be looked at, carries debug locations: each instruction names
the line of the printed loops that asked for it. LLVM hands them on through its passes, and the
assembler's directive `.loc` says them at the end. Where LLVM merged instructions of several lines,
there is none. The machine code that runs is built without. Next room: `changes.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import llvmlite.binding as llvm
from llvmlite import ir

from course_lib.ir.loops.nest import Kernel, Loop, Stmt, print_kernel
from course_lib.llvm.backend import optimize
from course_lib.llvm.codegen import target_machine
from course_lib.llvm.emit import Emitter, emit_kernel
from course_lib.llvm.parts import Part, only_loop

Line = tuple[str, int | None]  # a line of text, and the line of the loops that it comes from


@dataclass(frozen=True)
class Source:
    """A kernel in its last three forms, line by line."""

    loops: tuple[Line, ...]
    llvm_ir: tuple[Line, ...]
    assembly: tuple[Line, ...]


def source(kernel: Kernel, cpu: str = "host") -> Source:
    """The kernel's loops, its LLVM IR after the optimizer, and its assembly."""
    machine = target_machine(cpu)
    module = optimize(located(kernel), machine)
    loops = tuple((text, k) for k, text in enumerate(print_kernel(kernel).splitlines(), 1))
    return Source(loops, _of_ir(str(module)), _of_assembly(machine.emit_assembly(module)))


def located(kernel: Kernel) -> str:
    """The kernel as LLVM IR in which each instruction names its line of the printed kernel."""
    module = ir.Module(kernel.name)
    module.triple = llvm.get_process_triple()
    file = module.add_debug_info("DIFile", {"filename": f"{kernel.name}.loops", "directory": ""})
    unit = {"language": ir.DIToken("DW_LANG_C"), "file": file, "producer": "course_lib",
            "runtimeVersion": 0, "isOptimized": True,
            "emissionKind": ir.DIToken("LineTablesOnly")}  # fmt: skip
    compiled = module.add_debug_info("DICompileUnit", unit, is_distinct=True)
    module.add_named_metadata("llvm.dbg.cu", compiled)
    version = [ir.IntType(32)(2), "Debug Info Version", ir.IntType(32)(3)]
    module.add_named_metadata("llvm.module.flags", version)
    emit_kernel(kernel, module, Located)
    return str(module)


class Located(Emitter):
    """An emitter that says with each instruction which line it is at."""

    def function(self, body: tuple[Stmt, ...]) -> Part:
        module, (unit,) = self.module, self.module.get_named_metadata("llvm.dbg.cu").operands
        file = dict(unit.operands)["file"]
        kind = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([])})
        fields = {"name": self.symbol, "file": file, "line": 1, "type": kind, "unit": unit,
                  "isLocal": False, "isDefinition": True, "isOptimized": True}  # fmt: skip
        self.scope = module.add_debug_info("DISubprogram", fields, is_distinct=True)
        self.fn.set_metadata("dbg", self.scope)
        before = next(k for k, stmt in enumerate(self.kernel.body) if stmt is body[0])
        first = 2 + sum(map(height, self.kernel.body[:before]))
        self.at_line(first if only_loop(body) else first - 1)  # the emitter enters this loop itself
        return super().function(body)

    def block(self, body: tuple[Stmt, ...]) -> None:
        around = self.line
        line = around + 1
        for stmt in body:
            self.at_line(line)
            super().block((stmt,))
            line += height(stmt)
        self.at_line(around)  # what closes a loop belongs to its first line

    def at_line(self, line: int) -> None:
        self.line = line
        place = {"line": line, "column": 1, "scope": self.scope}
        self.b.debug_metadata = self.module.add_debug_info("DILocation", place)


def height(stmt: Stmt) -> int:
    """How many lines a statement takes when it is printed."""
    return 2 + sum(map(height, stmt.body)) if isinstance(stmt, Loop) else 1


def _of_ir(text: str) -> tuple[Line, ...]:
    """The functions of a module, without what tells of debug locations."""
    places = dict(re.findall(r"^(!\d+) = !DILocation\(line: (\d+)", text, re.M))
    body = text[text.index("define ") :].split("\n!", 1)[0].rstrip()
    lines: list[Line] = []
    for line in body.splitlines():
        if line.startswith(("attributes ", "declare ", "; Function Attrs")):
            continue
        place = re.search(r", !dbg (!\d+)", line)
        number = int(places.get(place[1], 0)) if place and line.startswith(" ") else 0
        lines.append((re.sub(r",? !dbg !\d+", "", line), number or None))
    return tuple(_without_gaps(lines))


def _of_assembly(text: str) -> tuple[Line, ...]:
    """Labels and instructions of the functions; labels of constants are left out."""
    lines: list[Line] = []
    number, code = 0, False
    for line in text.splitlines():
        if place := re.match(r"\s+\.loc\s+\d+ (\d+)", line):
            number = int(place[1])
        label = re.match(r"[^\s#]\S*:", line)
        code = (code or label is not None) and not re.match(r"\s+\.section", line)
        if label and not re.match(r"\.L(tmp|func_|debug|info|cu_|Ltmp|CPI)", line):
            lines.append((line.split("#")[0].rstrip(), None))
        elif code and re.match(r"\s+[a-z]", line):
            words = line.split("#")[0].rstrip().expandtabs(8).strip()
            lines.append((f"    {words}", number or None))
    return tuple(lines)


def _without_gaps(lines: list[Line]) -> list[Line]:
    """Without a blank line behind another one."""
    pairs = zip([("", None), *lines], lines, strict=False)
    return [line for before, line in pairs if line[0] or before[0]]
