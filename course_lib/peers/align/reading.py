"""A dump as statements, whatever system wrote it, if a line of it gives a name to a value.

    %5 = matmul(%3, %4) : f32[4,16]                                 ours, and MLIR's dialects
    softmax: "f32[4,16]" = torch.ops.aten.softmax.int(div, -1)      torch.fx
    ["attention#8"] softmax = Softmax <axis: int = -1> (div)        ONNX
    %dot.1 = f32[4,16]{1,0} dot(%a, %b), metadata={op_name="..."}   HLO
    lv1: R.Tensor((4, 16), "float32") = R.matmul(x, lv)             Relax

A statement ends where its brackets are closed, so a group of our fusion and a `linalg.generic` are
read with what stands inside them; a fusion of HLO and a dispatch of IREE are read where they are
called. Whose text is of another form is read elsewhere. Next room: `other_forms.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.statement import Statement

RESULT = re.compile(
    r"""^\s*(?:ROOT\s+)?(?:\[(?P<node>"[^"]*"|[^\]"]*)\]\s*)?
        (?P<sign>%?)"?(?P<name>[A-Za-z_0-9][\w.$-]*)"?(?::\d+)?\s*
        (?::\s*(?:"[^"]*"|R\..*?\)(?=\s=\s)|[\w.]+))?\s=\s(?P<rest>\S.*)$""",
    re.X,
)
HEADER = re.compile(
    r"^\s*(?:ENTRY\s+|(?:func\.func|util\.func|flow\.func)\s+(?:public\s+|private\s+)?@|def\s+|"
    r"(?:private\s+)?graph\s+@)?%?(?P<name>[\w.$]+)\s*"
    r"(?:\((?P<params>.*)\)\s*(?:->.*)?[{:](?:\s*loc.*)?|\{)$"
)
TYPED = re.compile(r"^(?:\([^()]*\)|\w+\[[\d,<=]*\](?:\{[^}]*\})?)\s+(?=[a-z])")  # HLO: type first
CALLED = re.compile(
    r"(?:call_tir\w*\(\s*(?:cls\.)?(?=[A-Za-z])|call_dps_packed\(\s*\"|flow\.dispatch\s+(?:@[\w$.]+::)*@|"
    r"calls=%?)(?P<name>[\w$.]+)"
)
INFIX = re.compile(r"^(?P<a>[A-Za-z_]\w*) (?P<op>[-@*/+]) (?P<b>[\w.]+)\s*(?:;|$)")
SIGNS = {"@": "matmul", "*": "mul", "/": "div", "+": "add", "-": "sub"}
METHOD = re.compile(r"^(?P<self>[A-Za-z_]\w*)\.(?P<op>[a-z_]\w*)\((?!.*torch\.ops)")
ORIGIN = re.compile(r'op_name="([^"]*)"|loc\((".*?"(?:, ".*?")*|#loc\d*)\)')
GIVEN = re.compile(r"graph @|\s*(?:func|util)\.func\b|\w+ \(.*\) => \(.*\{$")
CAPTURED = re.compile(r"\s+def forward\(self, .*\bL_\w+: ")
OTHER = frozenset({"other"})
VIEW = re.compile(r"^  view %([\w.]+) = %([\w.]+)", re.M)
KERNEL = re.compile(r"^kernel @(\w+)\(.*\bloc\((.*)\) \{$", re.M)  # ours, in loops
ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.M)
WORDS = re.compile(r"[A-Za-z_0-9][\w.$-]*|\"[^\"]+\"")
NUMBER = re.compile(r"[\d.eE+-]+|True|False|None")
OURS = ("graph @", "program @")
OPEN, CLOSE = "([{", ")]}"
Values = dict[str, Statement]


def read_ssa(text: str, known: Mapping[str, Statement] = MappingProxyType({})) -> list[Statement]:
    """The statements of the text, those inside of others too, each after what it reads; known:
    what it is given, by name."""
    return _Reader(text).statements(known)


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines() or [""]
        self.aliases = dict(ALIAS.findall(text))
        self.views = dict(VIEW.findall(text))  # our programs list them first
        self.functions = self._functions()
        self.kernels = {
            name: set(re.findall(r'"([^"]*)"', locs)) for name, locs in KERNEL.findall(text)
        }
        self.done: list[Statement] = []

    def statements(self, known: Mapping[str, Statement]) -> list[Statement]:
        called = {m["name"] for line in self.lines for m in CALLED.finditer(line)}
        inlined = [self.functions[name][1:] for name in called if name in self.functions]
        inlined += [self.functions[name][1:] for name in self._regions() if name in self.functions]
        values: Values = {**known}
        at = 0
        while at < len(self.lines):
            values |= self._given(at)
            skipped = next((end for start, end in inlined if start == at), 0)
            at = skipped or self._one(at, len(self.lines), values, None)
        return self._alive(values) if self.lines[0].startswith(OURS) else self.done

    def _given(self, at: int) -> Values:
        """The inputs that a header names: no constants, whatever reads them."""
        line = self.lines[at]
        if CAPTURED.match(line):  # by Dynamo, with the model's own as L_self_...
            names = [name for name in re.findall(r"(\w+): \"", line) if "L_self_" not in name]
            return {name: Statement(at + 1, at + 1, "input", OTHER) for name in names}
        if not GIVEN.match(line):
            return {}
        names = re.findall(r"%(\w+): |(?:float|int\d*)\[[^\]]*\] (\w+)", line.split("->")[0])
        names = [a or b for a, b in names]
        return {name: Statement(at + 1, at + 1, "input", OTHER) for name in names}

    def _alive(self, values: Values) -> list[Statement]:
        """Those that a result needs: our graphs show what will be swept, too."""
        returned = [line for line in self.lines if line.startswith("  return ")]
        names = re.findall(r"%([\w.]+)", returned[-1]) if returned else []
        names = [self._viewed(name) for name in names]
        todo = [values[name] for name in names if name in values]
        alive = set()
        while todo:
            if (one := todo.pop()) not in alive:
                alive.add(one)
                todo += [*one.reads, *([one.outer] if one.outer else [])]
        return [one for one in self.done if one in alive]

    def _viewed(self, name: str) -> str:
        """Of which value it is a view."""
        while name in self.views:
            name = self.views[name]
        return name

    def _functions(self) -> dict[str, tuple[list[str], int, int]]:
        """By name: the parameters, and the lines between its first and its last one."""
        found = {}
        for at, line in enumerate(self.lines):
            if (m := HEADER.match(line)) and not RESULT.match(line):
                params = re.findall(r"(?:^|, )%?([A-Za-z_]\w*(?:\.\w+)*)\s*:", m["params"] or "")
                end = self._end(at) if line.rstrip().endswith("{") else self._indented(at)
                found.setdefault(m["name"], (params, at, end))
        return found

    def _regions(self) -> set[str]:
        """Functions of HLO that say how to reduce."""
        return {m for line in self.lines for m in re.findall(r"to_apply=%?([\w.]+)", line)}

    def _end(self, at: int) -> int:
        """The line behind the one in which all brackets are closed again."""
        depth = 0
        for k in range(at, min(at + 2000, len(self.lines))):
            plain = re.sub(r'"[^"]*"|->|=>|<=|>=', "", self.lines[k])
            depth += sum(plain.count(c) for c in OPEN) - sum(plain.count(c) for c in CLOSE)
            if depth <= 0:
                return k + 1
        return at + 1

    def _indented(self, at: int) -> int:
        """The line behind the last one that stands further to the right than this one."""
        margin = len(self.lines[at]) - len(self.lines[at].lstrip())
        for k in range(at + 1, len(self.lines)):
            line = self.lines[k]
            if line.strip() and len(line) - len(line.lstrip()) <= margin:
                return k
        return len(self.lines)

    def _one(self, at: int, stop: int, values: Values, outer: Statement | None) -> int:
        """Read what begins in this line, if it is a statement; the line to go on with."""
        line = self.lines[at]
        found = RESULT.match(line.split("; ")[0] if "torch" in line or ";  " in line else line)
        if not found:
            return at + 1
        end = min(self._end(at), stop)
        made = self._statement(found, at, end, values, outer)
        inner = self._inside(made, at, end, values)
        values[found["name"]] = inner or made
        return end

    def _statement(self, found: re.Match[str], at: int, end: int, values: Values,
                   outer: Statement | None) -> Statement:  # fmt: skip
        rest = found["rest"]
        word, operands, calls = _word(rest)
        if found["sign"]:  # where values have a %, a bare number is one
            operands = [name for name in operands if not name.isdigit() or f"%{name}" in rest]
        operands = [self._viewed(name) for name in operands]
        whole = " ".join([rest, *self.lines[at + 1 : end]]) if end - at < 400 else rest
        what = kinds(word) | self._reduced(word, rest) | _activation(rest)
        what = what - {"other"} or what
        read = [values[name] for name in operands if name in values]
        if any("cmp" in one.word and set(one.reads) & set(read) for one in read):
            what = {"max"}  # the greater one, or the smaller one, of a value and another
        made = Statement(at + 1, end, word, frozenset(what), outer=outer, calls=calls)
        made.operands = [values.get(name, name) for name in operands
                         if name in values or not NUMBER.fullmatch(name)]  # fmt: skip
        if "conv" in made.kinds and "com.microsoft" in word and len(made.operands) > 3:
            made.kinds |= {"sum"}  # onnxruntime's kernel adds what it finds there
        made.result = found["name"]
        made.names = frozenset(self._origins(found["node"], whole) | self.kernels.get(word, set()))
        made.calls = made.calls or (word if word in self.kernels else "")
        return made

    def _inside(self, made: Statement, at: int, end: int, values: Values) -> Statement | None:
        """Read what stands in it, or in the function that it calls, and give back what that yields.
        What has something inside is no computation of its own."""
        if made.calls in self.functions and "." not in made.word:
            params, start, stop = self.functions[made.calls]
        elif end - at > 1:
            head = " ".join(self.lines[at : at + 2])
            params = re.findall(r"%(\w+): ", head.partition("body = graph")[2])
            if block := re.search(r"\^bb0\(([^)]*)\)", "\n".join(self.lines[at:end])):
                params = re.findall(r"%(\w+):", block[1])
            start, stop = at, end
        else:
            self.done.append(made)
            return None
        own = {name: value for name, value in values.items() if name not in params}
        own |= {name: value for name, value in zip(params, made.operands, strict=False)
                if isinstance(value, Statement)}  # fmt: skip
        before, k = len(self.done), start + 1
        while k < stop:
            k = self._parameter(k, own, made) or self._one(k, stop, own, made)
        made.inside = self.done[before:]
        if not any(one.computes for one in made.inside):
            if made.inside:
                made.kinds = frozenset({"movement"})
            del self.done[before:]
            made.inside = []
            self.done.append(made)
            return None
        last = _yielded(self.lines[start:stop], own) or made.inside[-1]
        if '"reduction"' in self.lines[at] + "".join(self.lines[at + 1 : at + 3]):
            last.kinds = _summed(last)
        return last

    def _parameter(self, at: int, own: Values, made: Statement) -> int:
        """A parameter of a computation of HLO is an operand of who calls it."""
        found = re.match(r"\s*%?([\w.-]+) = \S+ parameter\((\d+)\)", self.lines[at])
        if not found:
            return 0
        own.pop(found[1], None)
        given = made.operands[int(found[2]) : int(found[2]) + 1]
        if given and isinstance(given[0], Statement):
            own[found[1]] = given[0]
        return at + 1

    def _reduced(self, word: str, rest: str) -> set[str]:
        """What a reduction does with its elements."""
        if "reduce" not in word:
            return set()
        region = re.search(r"to_apply=%?([\w.]+)", rest)
        body = rest
        if region and region[1] in self.functions:
            _, start, stop = self.functions[region[1]]
            body = " ".join(line for line in self.lines[start:stop] if "ROOT" in line)
        found = set()
        if re.search(r"\b(?:\w+\.)?max(?:imum)?(?:imumf)?\b", body.partition("metadata")[0]):
            found.add("reduce_max")
        if re.search(r"\b(?:\w+\.)?add\b", body.partition("metadata")[0]):
            found.add("reduce_sum")
        return found

    def _origins(self, node: str | None, text: str) -> set[str]:
        """Names of the model's parts that stand beside it."""
        names = {node.strip('"')} if node else set()
        for path, loc in ORIGIN.findall(text):
            words = self.aliases.get(loc, loc)
            names |= set(re.findall(r'"([^"]*)"', words))
            names |= {part for part in path.split("/") if not part.startswith("jit(")}
        return {part for name in names for part in (name, *name.split("/")) if part}


def _word(rest: str) -> tuple[str, list[str], str]:
    """What is done, the names that are read, and what is called."""
    if m := INFIX.match(rest):
        return SIGNS[m["op"]], [m["a"], m["b"]], ""
    plain = TYPED.sub("", rest)
    if alias := re.match(r"([A-Za-z_][\w.]*)(?:\[\d+\])?\s*(?:;.*)?$", plain):
        return "view", [alias[1]], ""
    method = METHOD.match(plain)
    found = re.match(r'(?:torch\.operator )?"?([A-Za-z_][\w.]*)"?', plain)
    word = method["op"] if method else found[1] if found else plain[:20]
    if word == "call" and (of := re.search(r"call @([\w.]+)|to_apply=%?([\w.]+)", rest)):
        word = of[1] or of[2]
    called = CALLED.search(rest)
    if called and not plain.startswith("fusion"):
        word = called["name"]
    body = re.sub(
        r"<[^<>]*: (?:int|ints|float|string)[^<>]*>", "", plain[len(found[0]) if found else 0 :]
    )
    body = re.split(r"\bmetadata=|\bto_apply=|\bcalls=| loc\(|body = graph", body)[0]
    body = re.sub(r"(?<!%)\{[^{}]*\}", "", body) if "%" in body else body
    body = re.sub(r"\b[a-z_]\w*\s?=(?!=)", " ", body)  # dims = [0]
    names = [name.strip('"') for name in WORDS.findall(body)]
    if "%" in body:
        names = re.findall(r"%([\w.$-]+)", body)
    return word, ([method["self"]] if method else []) + names, called["name"] if called else ""


def _summed(last: Statement) -> frozenset[str]:
    """What a nest with reductions does with what it computes in each iteration."""
    if "max" in last.kinds:
        return frozenset({"reduce_max"})
    products = [one for one in last.reads if one.outer is last.outer and "mul" in one.word]
    if products and len(set(products[0].operands)) == 2:
        return frozenset({"matmul"})
    return frozenset({"reduce_sum"}) if "add" in last.word else last.kinds


def _activation(rest: str) -> set[str]:
    """What a library's kernel does in the end, as an attribute says."""
    found = {"relu"} if re.search(r'activation: string = "(?:Relu|Clip)"', rest) else set()
    return found


def _yielded(lines: list[str], values: Values) -> Statement | None:
    """What a body gives to who reads it."""
    for line in reversed(lines):
        if m := re.search(r"(?:return|linalg\.yield|ROOT)\s+%?([\w.-]+)", line):
            return values.get(m[1])
    return None


Reader = Callable[[str], list[Statement]]
