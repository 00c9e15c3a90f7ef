"""LLVM IR as text -> its lines, taken apart: the part of the language that the interpreter knows.

    %s = fadd contract float %a, %b   ->   Line(7, "%s", "fadd", "float", ("%a", "%b"))

One function, scalars only. What is not known is refused with its line. Blanks, quotes around a
plain name, comments, metadata and attributes change nothing. LLVM's own parser knows all of the
language (`control/view.py`). Next room: `llvm_interp.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from course_lib.llvm.inspect.layout import layout

_WORDS = (  # that change nothing for the interpreter
    "reassoc nnan ninf nsz arcp contract afn fast nuw nsw exact disjoint samesign nneg inbounds "
    "nusw tail"
)
_FLAGS = rf"(?:(?:{_WORDS.replace(' ', '|')}) )*"
_I, _F = r"(i[1-9]\d{0,2})", r"(float|double)"
_T, _V = r"(float|double|i[1-9]\d{0,2}|ptr|void)", r"(%[-\w.$]+|[-+\w.]+)"
_NAME = r"%?([-\w.$]+)"
_END = r"(?:, align \d+)?"
_INTEGERS = "add sub mul sdiv udiv srem urem shl lshr ashr and or xor"
_FORMS = {
    "binary": rf"(fadd|fsub|fmul|fdiv) {_FLAGS}{_F} {_V}, {_V}",
    "integers": rf"({_INTEGERS.replace(' ', '|')}) {_FLAGS}{_I} {_V}, {_V}",
    "unary": rf"(fneg) {_FLAGS}{_F} {_V}",
    "freeze": rf"(freeze) {_T} {_V}",
    "icmp": rf"(icmp) {_FLAGS}(eq|ne|[su][lg][te]) (i[1-9]\d{{0,2}}|ptr) {_V}, {_V}",
    "fcmp": rf"(fcmp) {_FLAGS}(ord|uno|[ou](?:eq|ne|[lg][te])) {_F} {_V}, {_V}",
    "select": rf"select {_FLAGS}i1 {_V}, {_T} {_V}, {_T} {_V}",
    "bits": rf"(sext|zext|trunc) {_FLAGS}{_I} {_V} to {_I}",
    "rounds": rf"(fpext|fptrunc) {_FLAGS}{_F} {_V} to {_F}",
    "to float": rf"(sitofp|uitofp) {_FLAGS}{_I} {_V} to {_F}",
    "to integer": rf"(fptosi|fptoui) {_F} {_V} to {_I}",
    "address": rf"(ptrtoint) (ptr) {_V} to {_I}",
    "pointer": rf"(inttoptr) {_I} {_V} to (ptr)",
    "gep": rf"getelementptr {_FLAGS}(.+?), ptr {_V}((?:, i[1-9]\d{{0,2}} {_V})+)",
    "load": rf"load {_F}, ptr {_V}{_END}",
    "store": rf"store {_F} {_V}, ptr {_V}{_END}",
    "call": rf"{_FLAGS}call {_FLAGS}{_F} @llvm\.(?:fma|fmuladd)\.f(?:32|64)"
    rf"\((?:float|double) {_V}, (?:float|double) {_V}, (?:float|double) {_V}\)",
    "phi": rf"phi {_FLAGS}{_T} (\[.*\])",
    "jump": rf"br label %{_NAME[2:]}",
    "branch": rf"br i1 {_V}, label %{_NAME[2:]}, label %{_NAME[2:]}",
    "switch": rf"switch {_I} {_V}, label %{_NAME[2:]} \[(.*)\]",
    "ret": rf"ret (?:(void)|{_T} {_V})",
}
FORMS = {name: re.compile(form) for name, form in _FORMS.items()}
_ENDS = ("br", "switch", "ret")  # of a block
_SHOWN = {  # how each opcode is written, for a message
    **{op: f"{op} float %a, %b" for op in ("fadd", "fsub", "fmul", "fdiv")},
    **{op: f"{op} i64 %a, %b" for op in _INTEGERS.split()},
    **{op: f"{op} i32 %a to i64" for op in ("sext", "zext")},
    "trunc": "trunc i64 %a to i32",
    "fpext": "fpext float %a to double",
    "fptrunc": "fptrunc double %a to float",
    "fneg": "fneg float %a",
    "icmp": "icmp slt i64 %a, %b",
    "fcmp": "fcmp olt float %a, %b",
    "select": "select i1 %c, float %a, float %b",
    "getelementptr": "getelementptr float, ptr %p, i64 %i",
    "load": "load float, ptr %p",
    "store": "store float %a, ptr %p",
    "call": "call float @llvm.fma.f32(float %a, float %b, float %c)",
    "phi": "phi float [ %a, %one ], [ %b, %other ]",
    "br": "br label %one` and `br i1 %c, label %one, label %other",
    "switch": "switch i64 %a, label %one [ i64 0, label %other ]",
    "ret": "ret float %a",
}
_INCOMING = re.compile(rf"\[ ?{_V}, %{_NAME[2:]} ?\]")
_CASES = re.compile(rf"i\d{{1,3}} ([-\w]+), label %{_NAME[2:]}")
_HEAD = re.compile(rf"define (?:.* )?{_T} @[-\w.$\"]+\((.*?)\).*\{{")
_TYPE = re.compile(r"(%[-\w.$]+) = type (.+)")
_LONGEST = 10_000  # characters of a type without names
_SKIPPED = ("declare ", "target ", "source_filename", "attributes ", "!")
_NOTHING = re.compile(r",? ![\w.]+(?: !\d+)?(?=,|$)| #\d+| noundef\b")  # to the interpreter


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
    lines = lines_of(text)
    types = types_of(text)
    lines = [(n, line) for n, line in lines if not _TYPE.fullmatch(line)]
    heads = [k for k, (_, line) in enumerate(lines) if line.startswith("define ")]
    if len(heads) != 1 or heads[0] != 0 or lines[-1][1] != "}":
        raise ValueError("the text must be one function, from its line `define` to its last brace")
    head = _HEAD.fullmatch(lines[0][1])
    if head is None:
        raise ValueError(f"line {lines[0][0]}, `{lines[0][1]}`: no head of a function is read here")
    blocks = _blocks(lines[1:-1], types)
    for line in (line for block in blocks.values() for line in block):
        if line.opcode == "ret" and line.type != head[1]:
            raise line.error(f"this function returns {head[1]}")
    return _parameters(head[2]), blocks


def lines_of(text: str) -> list[tuple[int, str]]:
    """Each line that says something, with its number, written as LLVM writes it. The cases of a
    switch belong to its line, and a brace to the line of its head."""
    if not isinstance(text, str):
        raise ValueError(f"LLVM IR is a text, not a {type(text).__name__}")
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(line.split(";")[0].split())
        if not words or words.startswith(_SKIPPED):
            continue
        if lines and (_is_open(lines[-1][1]) or words == "{"):
            number, before = lines.pop()
            words = f"{before} {words}"
        lines.append((number, words))
    return [(number, _tidy(line)) for number, line in lines]


def _is_open(line: str) -> bool:
    return line.startswith("switch ") and "]" not in line


def _tidy(line: str) -> str:
    """`add i64 %"i" ,4, !range !3` -> `add i64 %i, 4`"""
    line = re.sub(r'([%@])"([-\w.$]+)"', r"\1\2", line)
    line = re.sub(r'^"([-\w.$]+)":', r"\1:", line)
    line = re.sub(r" ?, ?", ", ", line)
    line = re.sub(r" ?\( ?", "(", line).replace(" )", ")")
    return _NOTHING.sub("", line)


def types_of(text: str) -> dict[str, str]:
    """The types that a text names, written without names: {"%pair": "{ float, float }"}."""
    types: dict[str, str] = {}
    for number, line in lines_of(text):
        if definition := _TYPE.fullmatch(line):
            try:
                types[definition[1]] = _without_names(definition[2], types)
                layout(types[definition[1]])
            except ValueError as error:
                raise ValueError(f"line {number}, `{line}`: {error}") from None
    return types


def _without_names(kind: str, types: dict[str, str]) -> str:
    for name in re.findall(r"%[-\w.$]+", kind):
        if name not in types:
            raise ValueError(f"there is no type {name} above this line")
        kind = re.sub(rf"{re.escape(name)}(?![-\w.$])", types[name], kind)
        if len(kind) > _LONGEST:
            raise ValueError(f"a type of more than {_LONGEST:,} characters")
    return kind


def _parameters(text: str) -> list[tuple[str, str]]:
    parameters = []
    for word in filter(None, map(str.strip, text.split(","))):
        kind, *_, name = word.split()
        if not re.fullmatch(_T, kind) or not name.startswith("%"):
            raise ValueError(f"parameter `{word}` is no pointer, integer or float with a name")
        parameters.append((kind, name))
    return parameters


def _blocks(lines: list[tuple[int, str]], types: dict[str, str]) -> dict[str, Block]:
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
        instruction = _line(number, line, types)
        if instruction.result and instruction.result in defined:
            raise instruction.error(f"{instruction.result} is defined a second time")
        if here and here[-1].opcode in _ENDS:
            raise instruction.error("a block ends with br or ret; a new one begins with its name")
        if instruction.opcode == "phi" and here and here[-1].opcode != "phi":
            raise instruction.error("a phi stands at the beginning of its block")
        defined.add(instruction.result)
        here.append(instruction)
    if not blocks or not all(blocks.values()):
        raise ValueError("each block has at least one instruction")
    return blocks


def _line(number: int, text: str, types: dict[str, str]) -> Line:
    result, _, rest = text.rpartition(" = ") if re.match(r"%[-\w.$]+ = ", text) else ("", "", text)
    for name, form in FORMS.items():
        if fields := form.fullmatch(rest):
            line = _parsed(name, fields, number, text, result, types)
            if bool(result) == (line.opcode in ("store", *_ENDS)):
                raise line.error("a name for the result is missing" if not result else
                                 "this instruction has no result")  # fmt: skip
            return line
    opcode = next((word for word in rest.split() if word != "tail"), "")
    form = _SHOWN.get(opcode)
    known = f"here {opcode} is written `{form}`" if form else f"{opcode} is not known here"
    raise ValueError(f"line {number}, `{text}`: {known}")


def _parsed(
    name: str, fields: re.Match[str], number: int, text: str, result: str, types: dict[str, str]
) -> Line:
    g = [part for part in fields.groups() if part is not None]
    opcode, kind, parts, extra = name, "", tuple(g), ""
    match name:
        case "binary" | "integers" | "unary" | "freeze":
            opcode, kind, parts = g[0], g[1], tuple(g[2:])
        case "icmp" | "fcmp":
            opcode, extra, kind, parts = g[0], g[1], g[2], tuple(g[3:])
        case "select":
            kind, parts = g[1], (g[0], g[2], g[4])
        case "bits" | "rounds" | "to float" | "to integer" | "address" | "pointer":
            opcode, extra, parts, kind = g[0], g[1], (g[2],), g[3]
        case "gep":
            indices = re.findall(rf"(i\d+) {_V}", g[2])
            opcode, kind = "getelementptr", g[0]
            parts, extra = (g[1], *(v for _, v in indices)), " ".join(t for t, _ in indices)
        case "load" | "store" | "call":
            opcode, kind, parts = {"call": "fma"}.get(name, name), g[0], tuple(g[1:])
        case "phi":
            pairs = _INCOMING.findall(g[1])
            kind, parts = g[0], tuple(part for pair in pairs for part in pair)
        case "jump" | "branch":
            opcode, kind = "br", "i1"
        case "switch":
            cases = [part for case in _CASES.findall(g[3]) for part in case]
            kind, parts = g[0], (g[1], g[2], *cases)
        case "ret":
            kind, parts = g[0], tuple(g[1:])
    line = Line(number, text, result, opcode, kind, parts, extra)
    return _with_layout(line, types) if name == "gep" else line


def _with_layout(line: Line, types: dict[str, str]) -> Line:
    """The type of a `getelementptr` without names."""
    try:
        kind = _without_names(line.type, types)
        layout(kind)
    except ValueError as error:
        raise line.error(str(error)) from None
    return replace(line, type=kind)
