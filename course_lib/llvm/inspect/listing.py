"""LLVM IR as text -> its lines, taken apart: the part of the language that the interpreter knows.

    %s = fadd contract float %a, %b   ->   Line(7, "%s", "fadd", "float", ("%a", "%b"))

One function, scalars only. What is not known is refused with its line. LLVM's own parser knows all
of the language (`control/view.py`). Next room: `interp.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = (  # that change nothing for the interpreter
    "reassoc nnan ninf nsz arcp contract afn fast nuw nsw exact disjoint samesign nneg inbounds "
    "nusw tail"
)
_FLAGS = rf"(?:(?:{_WORDS.replace(' ', '|')}) )*"
_T, _V = r"(float|double|i\d{1,3}|ptr|void)", r"(%[-\w.$]+|[-+\w.]+)"
_NAME = r"%?([-\w.$]+)"
_END = r"(?:, align \d+)?(?:, ![\w.]+ ![\d]+)*"
_FORMS = {
    "binary": rf"(fadd|fsub|fmul|fdiv|add|sub|mul|shl|lshr|and|or) {_FLAGS}{_T} {_V}, {_V}",
    "icmp": rf"icmp {_FLAGS}(eq|ne|[su][lg][te]) {_T} {_V}, {_V}",
    "select": rf"select {_FLAGS}i1 {_V}, {_T} {_V}, {_T} {_V}",
    "cast": rf"(sext|zext|trunc) {_FLAGS}{_T} {_V} to {_T}",
    "gep": rf"getelementptr {_FLAGS}(float|double|i8), ptr {_V}, (i\d{{1,3}}) {_V}",
    "load": rf"load (float|double), ptr {_V}{_END}",
    "store": rf"store (float|double) {_V}, ptr {_V}{_END}",
    "call": rf"{_FLAGS}call {_FLAGS}(float|double) @llvm\.(?:fma|fmuladd)\.f(?:32|64)"
    rf"\((?:float|double) {_V}, (?:float|double) {_V}, (?:float|double) {_V}\)",
    "phi": rf"phi {_FLAGS}{_T} (\[.*\])",
    "jump": rf"br label %{_NAME[2:]}{_END}",
    "branch": rf"br i1 {_V}, label %{_NAME[2:]}, label %{_NAME[2:]}{_END}",
    "ret": rf"ret (?:(void)|{_T} {_V})",
}
FORMS = {name: re.compile(form) for name, form in _FORMS.items()}
_INTEGERS = ("add", "sub", "mul", "shl", "lshr", "and", "or")
_SHOWN = {  # how each opcode is written, for a message
    **{op: f"{op} float %a, %b" for op in ("fadd", "fsub", "fmul", "fdiv")},
    **{op: f"{op} i64 %a, %b" for op in _INTEGERS},
    **{op: f"{op} i32 %a to i64" for op in ("sext", "zext")},
    "trunc": "trunc i64 %a to i32",
    "icmp": "icmp slt i64 %a, %b",
    "select": "select i1 %c, float %a, float %b",
    "getelementptr": "getelementptr float, ptr %p, i64 %i",
    "load": "load float, ptr %p",
    "store": "store float %a, ptr %p",
    "call": "call float @llvm.fma.f32(float %a, float %b, float %c)",
    "phi": "phi float [ %a, %one ], [ %b, %other ]",
    "br": "br label %one` and `br i1 %c, label %one, label %other",
    "ret": "ret float %a",
}
_INCOMING = re.compile(rf"\[ ?{_V}, %{_NAME[2:]} ?\]")
_HEAD = re.compile(rf"define (?:.* )?{_T} @[-\w.$\"]+\((.*?)\).*\{{")
_SKIPPED = ("declare ", "target ", "source_filename", "attributes ", "!")


@dataclass(frozen=True)
class Line:
    """One instruction. `type` is that of its operands; `extra` a predicate, or a second type."""

    number: int
    text: str
    result: str
    opcode: str
    type: str
    parts: tuple[str, ...]
    extra: str = ""

    @property
    def result_type(self) -> str:
        return "ptr" if self.opcode == "getelementptr" else self.type

    def error(self, why: str) -> ValueError:
        return ValueError(f"line {self.number}, `{self.text}`: {why}")


Block = list[Line]


def body_of(text: str) -> tuple[list[tuple[str, str]], dict[str, Block]]:
    """The parameters (type, name) and the blocks by name of the only function of a text.

    ValueError, with the line, for what is not known here.
    """
    if not isinstance(text, str):
        raise ValueError(f"LLVM IR is a text, not a {type(text).__name__}")
    lines = [(n, line.split(";")[0].strip()) for n, line in enumerate(text.splitlines(), 1)]
    lines = [(n, line) for n, line in lines if line and not line.startswith(_SKIPPED)]
    heads = [k for k, (_, line) in enumerate(lines) if line.startswith("define ")]
    if len(heads) != 1 or heads[0] != 0 or lines[-1][1] != "}":
        raise ValueError("the text must be one function, from its line `define` to its last brace")
    head = _HEAD.fullmatch(lines[0][1])
    if head is None:
        raise ValueError(f"line {lines[0][0]}, `{lines[0][1]}`: no head of a function is read here")
    blocks = _blocks(lines[1:-1])
    for line in (line for block in blocks.values() for line in block):
        if line.opcode == "ret" and line.type != head[1]:
            raise line.error(f"this function returns {head[1]}")
    return _parameters(head[2]), blocks


def _parameters(text: str) -> list[tuple[str, str]]:
    found = []
    for word in filter(None, map(str.strip, text.split(","))):
        kind, *_, name = word.split()
        if not re.fullmatch(_T, kind) or not name.startswith("%"):
            raise ValueError(f"parameter `{word}` is no pointer, integer or float with a name")
        found.append((kind, name))
    return found


def _blocks(lines: list[tuple[int, str]]) -> dict[str, Block]:
    blocks: dict[str, Block] = {}
    here: Block | None = None
    defined: set[str] = set()
    for number, line in lines:
        if label := re.fullmatch(r"([-\w.$]+):", line):
            if label[1] in blocks:
                raise ValueError(f"line {number}: there is a block {label[1]} already")
            here = blocks.setdefault(label[1], [])
            continue
        if here is None:
            here = blocks.setdefault("0", [])  # the name that LLVM gives it is a number too
        instruction = _line(number, line)
        if instruction.result and instruction.result in defined:
            raise instruction.error(f"{instruction.result} is defined a second time")
        if here and here[-1].opcode in ("br", "ret"):
            raise instruction.error("a block ends with br or ret; a new one begins with its name")
        if instruction.opcode == "phi" and here and here[-1].opcode != "phi":
            raise instruction.error("a phi stands at the beginning of its block")
        defined.add(instruction.result)
        here.append(instruction)
    if not blocks or not all(blocks.values()):
        raise ValueError("each block has at least one instruction")
    return blocks


def _line(number: int, text: str) -> Line:
    result, _, rest = text.rpartition(" = ") if re.match(r"%[-\w.$]+ = ", text) else ("", "", text)
    rest = re.sub(r"\s+", " ", rest)
    for name, form in FORMS.items():
        if found := form.fullmatch(rest):
            line = _made(name, found, number, text, result)
            if bool(result) == (line.opcode in ("store", "br", "ret")):
                raise line.error("a name for the result is missing" if not result else
                                 "this instruction has no result")  # fmt: skip
            return line
    opcode = next((word for word in rest.split() if word != "tail"), "")
    form = _SHOWN.get(opcode)
    known = f"here {opcode} is written `{form}`" if form else f"{opcode} is not known here"
    raise ValueError(f"line {number}, `{text}`: {known}")


def _made(name: str, found: re.Match[str], number: int, text: str, result: str) -> Line:
    g = [part for part in found.groups() if part is not None]
    opcode, kind, parts, extra = name, "", tuple(g), ""
    match name:
        case "binary":
            opcode, kind, parts = g[0], g[1], tuple(g[2:])
        case "icmp":
            extra, kind, parts = g[0], g[1], tuple(g[2:])
        case "select":
            kind, parts = g[1], (g[0], g[2], g[4])
        case "cast":
            opcode, extra, parts, kind = g[0], g[1], (g[2],), g[3]
        case "gep":
            opcode, kind, parts, extra = "getelementptr", g[0], (g[1], g[3]), g[2]
        case "load" | "store" | "call":
            opcode, kind, parts = {"call": "fma"}.get(name, name), g[0], tuple(g[1:])
        case "phi":
            pairs = _INCOMING.findall(g[1])
            kind, parts = g[0], tuple(part for pair in pairs for part in pair)
        case "jump" | "branch":
            opcode, kind = "br", "i1"
        case "ret":
            kind, parts = g[0], tuple(g[1:])
    return Line(number, text, result, opcode, kind, parts, extra)
