"""PTX is read: a text becomes a `Module`.

    read(text).entry("copy").instructions[0]
    ->  Instruction("ld.param.u64", (Register("%rd1", b64), Address(Symbol("copy_0"))), line=25)

The grammar is that of NVIDIA's "Parallel Thread Execution ISA", as far as compilers write it: what
nvcc, clang and Triton make of kernels, and our own backend. Debug directives are skipped. Registers
of an inner { } get names of their own. Next room: `flow.py`.
"""

from __future__ import annotations

from course_lib.gpu.ptx.parts import (
    Address,
    Entry,
    Instruction,
    Module,
    Operand,
    Pair,
    Parameter,
    PtxError,
    Register,
    Special,
    Symbol,
    Variable,
    Vector,
)
from course_lib.gpu.ptx.scope import Body, Scope
from course_lib.gpu.ptx.tokens import SPECIALS, Token, number, tokens
from course_lib.gpu.ptx.types import TYPES, Type

SKIPPED = (".loc", ".file", ".extern_func", ".noreturn", ".minnctapersm", ".maxntid", ".maxnreg")
SPACES = (".shared", ".global", ".const", ".local")
DEEPEST = 100


def read(text: str) -> Module:
    """The module of a PTX text. PtxError with the line, where it is none or has what is not
    supported."""
    return _Reader(list(tokens(text)), tuple(text.splitlines())).module()


class _Reader:
    """A recursive descent over the tokens."""

    def __init__(self, tokens: list[Token], lines: tuple[str, ...]) -> None:
        self.tokens, self.lines, self.at = tokens, lines, 0
        self.scopes: list[Scope] = []
        self.globals: list[Variable] = []
        self.opened = 0

    # ── tokens ──

    @property
    def line(self) -> int:
        return self.tokens[min(self.at, len(self.tokens) - 1)].line if self.tokens else 1

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def next(self) -> Token:
        if self.at == len(self.tokens):
            raise PtxError("the text ends in the middle", self.line)
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        token = self.next()
        if token.text != text:
            raise PtxError(f"{text!r} is expected, and {token.text!r} stands there", token.line)

    def skip_line(self) -> None:
        line = self.line
        while self.at < len(self.tokens) and self.line == line:
            self.at += 1

    def skip_braces(self) -> None:
        while not self.accept("{"):
            self.next()
        depth = 1
        while depth:
            text = self.next().text
            depth += (text == "{") - (text == "}")

    # ── a module ──

    def module(self) -> Module:
        version = target = ""
        entries: dict[str, Entry] = {}
        linkage = (".visible", ".extern", ".weak", ".common")
        while self.at < len(self.tokens):
            token = self.next()
            if token.text == ".version":
                version = self.next().text
            elif token.text == ".target":
                target = self.next().text
                while self.accept(","):
                    self.next()
            elif token.text == ".address_size":
                if self.next().text != "64":
                    raise PtxError("addresses of 64 bits are supported only", token.line)
            elif token.text in linkage:
                continue
            elif token.text == ".entry":
                entry = self.entry()
                entries[entry.name] = entry
            elif token.text in SPACES:
                self.globals.append(self.variable(token.text))
            elif token.text == ".section":
                self.skip_braces()
            elif token.text in SKIPPED:
                self.at -= 1
                self.skip_line()
            elif token.text == ".func":
                raise PtxError("functions besides entries are not supported", token.line,
                               "compile with inlining")  # fmt: skip
            else:
                raise PtxError(f"{token.text!r} cannot stand here", token.line)
        if not version:
            raise PtxError("a module begins with .version", 1)
        return Module(version, target, entries)

    def entry(self) -> Entry:
        name = self.next().text
        self.scopes, self.opened = [Scope()], 0
        parameters: list[Parameter] = []
        if self.accept("("):
            while not self.accept(")"):
                parameters.append(self.parameter())
                self.accept(",")
        threads: tuple[int, ...] = ()
        while self.peek() != "{":
            directive = self.next().text
            numbers = self.numbers()
            threads = numbers if directive == ".reqntid" else threads
        self.expect("{")
        body = Body()
        self.block(body)
        body.check_branches()
        return Entry(name, tuple(parameters), tuple(body.instructions), body.labels,
                     (*self.globals, *body.variables), threads, self.lines)  # fmt: skip

    def numbers(self) -> tuple[int, ...]:
        found = []
        while self.kind() == "number":
            found.append(self.integer())
            self.accept(",")
        return tuple(found)

    def parameter(self) -> Parameter:
        self.expect(".param")
        type = self.type_and_align()[0]  # each lies at a multiple of its size
        token = self.next()
        if type is None:
            raise PtxError(f"parameter {token.text} has no type", token.line)
        count = 1
        if self.accept("["):
            count = self.integer()
            self.expect("]")
        return Parameter(token.text, type, type.nbytes * count)

    def type_and_align(self) -> tuple[Type | None, int]:
        type, align = None, 1
        while self.peek().startswith("."):
            word = self.next()
            if word.text == ".align":
                align = self.integer()
                if align not in (1, 2, 4, 8, 16, 32, 64, 128, 256):
                    raise PtxError(f".align {align} is no power of two up to 256", word.line)
            elif word.text[1:] in TYPES:
                type = TYPES[word.text[1:]]
        return type, align

    def variable(self, space: str) -> Variable:
        """.shared .align 4 .b8 t[4096];"""
        type, align = self.type_and_align()
        token = self.next()
        if type is None:
            raise PtxError(f"{token.text} has no type", token.line)
        count: int | None = 1
        while self.accept("["):
            count = None if self.peek() == "]" else (count or 1) * self.integer()
            self.expect("]")
        data = self.initial(type) if self.accept("=") else b""
        self.expect(";")
        nbytes = None if count is None else count * type.nbytes
        return Variable(token.text, space[1:], max(align, type.nbytes), nbytes, data)

    def initial(self, type: Type) -> bytes:
        values = []
        if self.accept("{"):
            while not self.accept("}"):
                values.append(self.number())
                self.accept(",")
        else:
            values.append(self.number())
        import numpy as np  # only a table of constants needs it here

        if not type.is_float:  # negative ones by their bits
            values = [int(value) & ((1 << type.bits) - 1) for value in values]
        return np.array(values, type.numpy if type.is_float else f"u{type.nbytes}").tobytes()

    # ── a body ──

    def block(self, body: Body) -> None:
        """All up to the closing brace."""
        while not self.accept("}"):
            token = self.next()
            if token.text == "{":
                self.opened += 1
                self.scopes.append(Scope())
                if len(self.scopes) > DEEPEST:
                    raise PtxError(f"more than {DEEPEST} braces within each other", token.line)
                self.block(body)
                self.scopes.pop()
            elif token.text == ".reg":
                self.registers()
            elif token.text in SPACES:
                body.variables.append(self.variable(token.text))
            elif token.text == ".pragma":
                while not self.accept(";"):
                    self.next()
            elif token.text in SKIPPED:
                self.at -= 1
                self.skip_line()
            elif self.peek() == ":":
                self.next()
                if token.text in body.labels:
                    raise PtxError(f"the label {token.text} stands twice", token.line)
                body.labels[token.text] = len(body.instructions)
            else:
                self.at -= 1
                body.instructions.append(self.instruction())

    def registers(self) -> None:
        """.reg .b32 %r<31>, %count;"""
        word = self.next()
        if word.text[1:] not in TYPES:
            raise PtxError(f"no registers of {word.text}", word.line)
        type, scope = TYPES[word.text[1:]], self.scopes[-1]
        suffix = f"#{self.opened}" if len(self.scopes) > 1 else ""
        while not self.accept(";"):
            name = self.next().text
            if self.accept("<"):
                scope.families[name] = self.integer(), type, suffix
                self.expect(">")
            else:
                scope.registers[name] = Register(name + suffix, type)
            self.accept(",")

    def instruction(self) -> Instruction:
        line, guard = self.line, None
        if self.accept("@"):
            negated = self.accept("!")
            token = self.next()
            found = self.register(token.text)
            if found is None or found.type.kind != "p":
                raise PtxError(f"{token.text} is no predicate", token.line)
            guard = Register(found.name, found.type, negated)
        opcode = self.next()
        if opcode.kind != "word":
            raise PtxError(f"an instruction is expected, and {opcode.text!r} stands there", line)
        operands = []
        while not self.accept(";"):
            operands.append(self.operand())
            if self.peek() != ";":
                self.expect(",")
        return Instruction(opcode.text, tuple(operands), guard, line)

    def register(self, name: str) -> Register | None:
        return next((found for s in reversed(self.scopes) if (found := s.register(name))), None)

    def operand(self) -> Operand:
        first = self.simple()
        return Pair(first, self.simple()) if self.accept("|") else first

    def simple(self) -> Operand:
        if self.accept("{"):
            parts = []
            while not self.accept("}"):
                if self.peek() == "{":
                    raise PtxError("braces within braces", self.line)
                parts.append(self.simple())
                self.accept(",")
            return Vector(tuple(parts))
        if self.accept("["):
            return self.address()
        if self.accept("!"):
            name = self.next()
            found = self.register(name.text)
            if found is None or found.type.kind != "p":
                raise PtxError(f"{name.text} is no predicate", name.line)
            return Register(found.name, found.type, True)
        if self.peek() == "-" or self.kind() == "number":
            return self.number()
        return self.named()

    def named(self) -> Operand:
        token = self.next()
        if token.kind != "word":
            raise PtxError(f"an operand is expected, and {token.text!r} stands there", token.line)
        if found := self.register(token.text):
            return found
        if SPECIALS.fullmatch(token.text):
            return Special(token.text)
        if token.text.startswith("%"):
            raise PtxError(f"{token.text} is not declared", token.line)
        return Symbol(token.text)

    def address(self) -> Address:
        base: Register | Symbol | None = None
        offset = 0
        if self.kind() == "word":
            named = self.named()
            if not isinstance(named, (Register, Symbol)):
                raise PtxError(f"{named} is no address", self.line)
            base = named
        while not self.accept("]"):
            negative = False
            while self.peek() in ("+", "-"):
                negative ^= self.next().text == "-"
            value = self.integer()
            offset += -value if negative else value
        return Address(base, offset)

    def integer(self) -> int:
        line, value = self.line, self.number()
        if not isinstance(value, int):
            raise PtxError(f"a whole number is expected, and {value} stands there", line)
        return value

    def number(self) -> int | float:
        sign = -1 if self.accept("-") else 1
        token = self.next()
        if token.kind != "number":
            raise PtxError(f"a number is expected, and {token.text!r} stands there", token.line)
        value = number(token.text)
        if isinstance(value, int) and value >> 64:
            raise PtxError("a number has more than 64 bits", token.line)
        return sign * value
