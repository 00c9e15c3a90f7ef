"""A kernel of Inductor's as statements: the C++ that it wrote, loop by loop.

    auto tmp0 = loadu(in_ptr0 + x1 + 16*x0);           what was stored there last, or was given
    tmp_acc0_vec = maximum(tmp_acc0_vec, tmp0);        a reduction over the loop that it is in
    out_ptr0[x0] = tmp_acc0;                           from now on, this is what is loaded there

A statement has the lines of its loops, too. A loop whose length is no multiple of a vector ends
with a part of its own, which repeats its body: it is not read. Next room: `inductor.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.statement import Statement

PARAMETER = re.compile(r"\*\s*(\w+)\s*[,)]")
STORE = re.compile(r"(\w+)\.store\((\w+)")
WRITE = re.compile(r"(\w+)\[.*\] = (?:static_cast<\w+>\()?(\w+)\)?;$")
TRANSPOSED = re.compile(
    r"transpose_mxn<.*(?:false|true)>\((\w+)(?: \+ .*?)?, static_cast<int64_t>\(\w+\), (\w+)"
)
ASSIGN = re.compile(r"(?P<type>[\w:<>]+ )?(?P<name>\w+) = (?P<value>.*);$")
LOAD = re.compile(r"at::vec::\S*::loadu\((\w+)|(\w+)\[.*\]$")
WRAPPED = re.compile(
    r"^(?:at::vec::Vectorized<\w+>|static_cast<\w+>|c10::convert<\w+>|float)\((.*)\)$"
)
METHOD = re.compile(r"^\w+\.(\w+)\(\)$")
INFIX = re.compile(r"^\S+ ([-+*/<>]|[<>=!]=) \S+$")
CALL = re.compile(r"^([\w:]+?)(?:<.*?>)?\(.*\)$")
NAME = re.compile(r"\b[A-Za-z_]\w*")
NUMBER = re.compile(r"-?[\d.]+(?:e[-+]?\d+)?f?L?|-?std::numeric_limits<\w+>::\w+\(\)")
SIGNS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}  # every other one compares
Value = Statement | str


def read_kernel(lines: Sequence[str], first: int, call: Statement,
                given: Sequence[Value]) -> tuple[list[Statement], list[Value | None]]:  # fmt: skip
    """The statements of a kernel, and what its parameters point to in the end.

    lines   of its C++, of which the first one has the number `first`
    given   what each parameter points to when it is called
    """
    kernel = _Kernel(call, given)
    for number, line in enumerate(lines, first):
        kernel.line(number, line)
    ends = [kernel.memory.get(name) for name in kernel.parameters]
    return kernel.done, [None if end is before else end
                         for end, before in zip(ends, given, strict=False)]  # fmt: skip


class _Kernel:
    def __init__(self, call: Statement, given: Sequence[Value]) -> None:
        self.call, self.given = call, given
        self.parameters: list[str] = []
        self.memory: dict[str, Value] = {}  # by pointer or array
        self.same: dict[str, str] = {}  # pointers that are another one
        self.values: dict[str, Value] = {}
        self.loops: list[tuple[int, int]] = []  # how far to the right each begins, and its line
        self.whole = (-1, -1)  # the part of a loop in whole vectors: where it began, in which loop
        self.skipped = -1  # how far to the right the part that is not read began
        self.done: list[Statement] = []

    def line(self, number: int, line: str) -> None:
        indent, words = len(line) - len(line.lstrip()), line.strip()
        if self.skipped >= 0:
            self.skipped = -1 if words == "}" and indent == self.skipped else self.skipped
            return
        while self.loops and indent <= self.loops[-1][0] and words != "{":
            self.loops.pop()
        loop = self.loops[-1][1] if self.loops else 0
        if words.startswith("for"):
            self.loops.append((indent, number))
        elif words.startswith("if(C10_LIKELY"):
            self.whole = indent, loop
        elif words.startswith("if(C10_UNLIKELY") and self.whole == (indent, loop):
            self.skipped = indent
        elif not self.loops and (found := PARAMETER.findall(words)):
            self.parameters += found
            self.memory = dict(zip(self.parameters, self.given, strict=False))
        else:
            self._said(number, words)

    def _said(self, number: int, words: str) -> None:
        if found := STORE.match(words):
            self._write(found[2], self.values.get(found[1]))
        elif found := WRITE.match(words):
            self._write(found[1], self.values.get(found[2]))
        elif found := TRANSPOSED.match(words):
            self._write(found[2], self._pointed(found[1]))
        elif found := ASSIGN.match(words):
            name, value = found["name"], found["value"]
            if value in self.parameters:
                self.same[name] = value
            elif "_acc" in name:
                self._accumulated(number, name, value, begins=bool(found["type"]))
            else:
                self.values[name] = self._of(number, value)

    def _write(self, pointer: str, value: Value | None) -> None:
        if value is not None:
            self.memory[self.same.get(pointer, pointer)] = value

    def _pointed(self, pointer: str) -> Value | None:
        return self.memory.get(self.same.get(pointer, pointer))

    def _accumulated(self, number: int, name: str, value: str, begins: bool) -> None:
        """A maximum or a sum over a loop; or one of several numbers put together to one."""
        names = [one for one in NAME.findall(value) if one in self.values and one != name]
        if begins:
            self.values[name] = _number()
        elif whole := [one for one in names if "_acc" in one]:
            self.values[name] = self.values[whole[-1]]
        else:
            of = "reduce_max" if "max" in value else "reduce_sum" if "+" in value else "other"
            made = self._made(number, of, [self.values[one] for one in names])
            made.kinds = frozenset({of})
            self.values[name] = made

    def _of(self, number: int, value: str) -> Value:
        """What an expression yields."""
        if found := LOAD.match(value):
            return self._pointed(found[1] or found[2]) or _number()
        while found := WRAPPED.match(value):
            value = found[1]
        if value in self.values:
            return self.values[value]
        operands = [self.values[name] for name in NAME.findall(value) if name in self.values]
        if not operands or NUMBER.fullmatch(value):
            return _number()
        return self._made(number, _word(value), list(dict.fromkeys(operands)))

    def _made(self, number: int, word: str, operands: list[Value]) -> Statement:
        made = Statement(number, number, word, kinds(word), outer=self.call)
        made.operands = [*operands]
        made.also = (self.call.first, *(line for _, line in self.loops))
        self.done.append(made)
        return made


def _number() -> Statement:
    return Statement(0, 0, "constant", frozenset({"constant"}))


def _word(value: str) -> str:
    """What an expression does."""
    if found := METHOD.match(value):
        return found[1]
    if found := INFIX.match(value):
        return SIGNS.get(found[1], "cmp")
    if " ? " in value:
        return "where"
    found = CALL.match(value)
    return found[1].rpartition("::")[2] if found else "other"
