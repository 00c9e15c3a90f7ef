"""A listing as LLVM IR: one case for each kind of line.

    %4 = add f32 %3 %3         ->    %v4 = fadd float %v3, %v3
    %5 = range i32 %1          ->    br label %head5 ... %v5 = phi i32 [0, ...], [%next5, ...]
    end %5                     ->    br label %latch5 ...

A truth value is i1, and a byte in memory. Floats are computed as they stand: no flag lets LLVM join
a product with a sum or change the order of a sum. A load under a condition reads the first element
instead where the condition does not hold, and then takes the other value. Next room: `jit.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from course_lib.plugins.tinygrad.listing import BINARY, TYPES, Line
from course_lib.plugins.tinygrad.scalars import literal

FLOATS = {"f16": "half", "f32": "float", "f64": "double"}
SUFFIX = {"f16": "f16", "f32": "f32", "f64": "f64"}
ARITHMETIC = {  # op -> for signed, unsigned, floats
    "add": ("add", "add", "fadd"), "sub": ("sub", "sub", "fsub"), "mul": ("mul", "mul", "fmul"),
    "cdiv": ("sdiv", "udiv", ""), "cmod": ("srem", "urem", ""), "fdiv": ("", "", "fdiv"),
    "and": ("and", "and", ""), "or": ("or", "or", ""), "xor": ("xor", "xor", ""),
    "shl": ("shl", "shl", ""), "shr": ("ashr", "lshr", ""),
    "cmplt": ("icmp slt", "icmp ult", "fcmp olt"), "cmpne": ("icmp ne", "icmp ne", "fcmp une"),
    "cmpeq": ("icmp eq", "icmp eq", "fcmp oeq"),
}  # fmt: skip


def llvm_ir(name: str, lines: Sequence[Line]) -> str:
    """The text of a module with one function, `i64 @name(ptr ..., i64 ...)`, which returns 0: first
    the addresses of the arguments in order, then numbers that only the call knows."""
    writer = _Writer({line.name: line for line in lines})
    for line in lines:
        writer.line(line)
    params = sorted((line for line in lines if line.op == "param"), key=lambda p: p.slot)
    numbers = sorted((line for line in lines if line.op == "value"), key=lambda n: n.slot)
    head = [f"ptr noalias %v{p.name}" for p in params] + [f"i64 %n{n.name}" for n in numbers]
    body = [*writer.entry, "  br label %start", "start:", *writer.text, "  ret i64 0"]
    declared = [f"declare {signature}" for signature in sorted(writer.declared)]
    return "\n".join([f"define i64 @{name}({', '.join(head)}) {{", "entry:", *body, "}", *declared])


def scalar_type(kind: str) -> str:
    """LLVM's type of a value of this kind."""
    return FLOATS.get(kind) or ("i1" if kind == "bool" else f"i{kind[1:]}")


def stored_type(kind: str) -> str:
    """The same in memory."""
    return "i8" if kind == "bool" else scalar_type(kind)


def number(line: Line) -> str:
    """A literal as LLVM reads it: floats as the bits of the double that they are."""
    value = literal(line)
    if line.kind in FLOATS:
        return f"0x{struct.pack('>d', float(value)).hex().upper()}"
    return str(int(value))


@dataclass
class _Writer:
    """`entry` has the memory of lanes, `text` all else; `block` is where we are."""

    lines: dict[int, Line]
    entry: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    block: str = "start"
    loops: dict[int, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.text.append(f"  {text}")

    def label(self, name: str) -> None:
        self.text.append(f"{name}:")
        self.block = name

    def name(self, number_: int) -> str:
        line = self.lines[number_]
        return number(line) if line.op == "const" else f"%v{number_}"

    def typed(self, number_: int) -> str:
        return f"{scalar_type(self.lines[number_].kind)} {self.name(number_)}"

    def line(self, line: Line) -> None:
        match line.op:
            case "const" | "param":
                pass
            case "value":
                self.say(f"%v{line.name} = trunc i64 %n{line.name} to {scalar_type(line.kind)}")
            case "register":
                memory_type = f"alloca [{line.size} x {stored_type(line.kind)}]"
                self.entry.append(f"  %v{line.name} = {memory_type}")
            case "index":
                memory, at = line.args
                kind = stored_type(line.kind)
                self.say(f"%v{line.name} = getelementptr inbounds {kind}, ptr {self.name(memory)}, "
                         f"{self.typed(at)}")  # fmt: skip
            case "load":
                self.load(line)
            case "store":
                self.store(line)
            case "range":
                self.range(line)
            case "end":
                self.end(line.args[0])
            case "if":
                self.condition(line)
            case "endif":
                after = self.open.pop()
                self.say(f"br label %{after}")
                self.label(after)
            case _:
                self.scalar(line)

    # ── memory ──

    def load(self, line: Line) -> None:
        place, v = self.name(line.args[0]), f"%v{line.name}"
        if len(line.args) > 1:
            _, otherwise, gate = line.args
            first = self.name(self.lines[line.args[0]].args[0])
            self.say(f"{v}.at = select {self.typed(gate)}, ptr {place}, ptr {first}")
            self.read(f"{v}.read", f"{v}.at", line.kind)
            kind = scalar_type(line.kind)
            self.say(f"{v} = select {self.typed(gate)}, {kind} {v}.read, {self.typed(otherwise)}")
        else:
            self.read(v, place, line.kind)

    def read(self, name: str, place: str, kind: str) -> None:
        if kind == "bool":
            self.say(f"{name}.byte = load i8, ptr {place}")
            self.say(f"{name} = trunc i8 {name}.byte to i1")
        else:
            self.say(f"{name} = load {scalar_type(kind)}, ptr {place}")

    def store(self, line: Line) -> None:
        place, value = line.args
        if self.lines[value].kind == "bool":
            byte = f"%byte{len(self.text)}"
            self.say(f"{byte} = zext {self.typed(value)} to i8")
            self.say(f"store i8 {byte}, ptr {self.name(place)}")
        else:
            self.say(f"store {self.typed(value)}, ptr {self.name(place)}")

    # ── control ──

    def range(self, line: Line) -> None:
        n, kind = line.name, scalar_type(line.kind)
        self.loops[n] = self.block
        self.say(f"br label %head{n}")
        self.label(f"head{n}")
        self.say(f"%v{n} = phi {kind} [ 0, %{self.loops[n]} ], [ %next{n}, %latch{n} ]")
        self.say(f"%more{n} = icmp slt {kind} %v{n}, {self.name(line.args[0])}")
        self.say(f"br i1 %more{n}, label %body{n}, label %exit{n}")
        self.label(f"body{n}")

    def end(self, n: int) -> None:
        self.say(f"br label %latch{n}")
        self.label(f"latch{n}")
        self.say(f"%next{n} = add {scalar_type(self.lines[n].kind)} %v{n}, 1")
        self.say(f"br label %head{n}")
        self.label(f"exit{n}")

    def condition(self, line: Line) -> None:
        inside, after = f"then{len(self.text)}", f"after{len(self.text)}"
        self.say(f"br {self.typed(line.args[0])}, label %{inside}, label %{after}")
        self.label(inside)
        self.open.append(after)

    # ── scalars ──

    def scalar(self, line: Line) -> None:
        v, kind = f"%v{line.name}", scalar_type(line.kind)
        if line.op in ("cast", "bitcast"):
            self.cast(line)
        elif line.op == "where":
            self.say(f"{v} = select {', '.join(map(self.typed, line.args))}")
        elif line.op in BINARY and line.op != "max":
            taken = self.lines[line.args[0]].kind
            op = ARITHMETIC[line.op][2 if taken in FLOATS else taken[0] != "i"]
            x, y = map(self.name, line.args)
            self.say(f"{v} = {op} {scalar_type(taken)} {x}, {y}")
        elif line.op == "neg":
            x = self.name(line.args[0])
            self.say(
                f"{v} = fneg {kind} {x}" if line.kind in FLOATS else f"{v} = sub {kind} 0, {x}"
            )
        elif line.op == "reciprocal":
            one = number(Line(-1, "const", line.kind, (), more="1.0"))
            self.say(f"{v} = fdiv {kind} {one}, {self.name(line.args[0])}")
        elif line.op in ("sqrt", "trunc", "max"):
            self.intrinsic(line)
        else:
            raise NotImplementedError(f"no LLVM IR for the line: {line}")

    def intrinsic(self, line: Line) -> None:
        kind = scalar_type(line.kind)
        if line.op == "max":
            op = "maximum" if line.kind in FLOATS else "smax" if line.kind[0] == "i" else "umax"
        else:
            op = line.op
        called = f"@llvm.{op}.{SUFFIX.get(line.kind, kind)}"
        self.declared.add(f"{kind} {called}({', '.join([kind] * len(line.args))})")
        operands = ", ".join(map(self.typed, line.args))
        self.say(f"%v{line.name} = call {kind} {called}({operands})")

    def cast(self, line: Line) -> None:
        (x,) = line.args
        given, wanted = self.lines[x].kind, line.kind
        a, b = scalar_type(given), scalar_type(wanted)
        if line.op == "bitcast" or a == b:
            op = "bitcast"
        elif wanted == "bool":
            zero = number(Line(-1, "const", given, (), more="0"))
            op = "fcmp une" if given in FLOATS else "icmp ne"
            self.say(f"%v{line.name} = {op} {self.typed(x)}, {zero}")
            return
        elif given in FLOATS and wanted not in FLOATS:
            self.whole(line)
            return
        else:
            op = conversion(given, wanted)
        self.say(f"%v{line.name} = {op} {self.typed(x)} to {b}")

    def whole(self, line: Line) -> None:
        """A float's whole part: 64 bits of it, saturated, of which the low ones are kept."""
        (x,), given = line.args, self.lines[line.args[0]].kind
        called = f"@llvm.fpto{'u' if line.kind == 'u64' else 's'}i.sat.i64.{SUFFIX[given]}"
        self.declared.add(f"i64 {called}({scalar_type(given)})")
        result = f"%v{line.name}" + ("" if line.kind in ("i64", "u64") else ".wide")
        self.say(f"{result} = call i64 {called}({self.typed(x)})")
        if line.kind not in ("i64", "u64"):
            self.say(f"%v{line.name} = trunc i64 {result} to {scalar_type(line.kind)}")


def conversion(given: str, wanted: str) -> str:
    """LLVM's instruction between two kinds of different types."""
    narrower = TYPES[wanted].itemsize < TYPES[given].itemsize
    if given in FLOATS and wanted in FLOATS:
        return "fptrunc" if narrower else "fpext"
    if wanted in FLOATS:
        return "sitofp" if given[0] == "i" else "uitofp"
    return "trunc" if narrower else "sext" if given[0] == "i" else "zext"
