"""Inductor's program as statements: Python that calls libraries, and kernels that it wrote in C++.

    buf1 = extern_kernels.convolution(buf0, arg0_1, ...)      a library's: one statement
    cpp_fused_relu_1(buf1, arg2_1, buf2)                      its own: those of its C++

It writes into buffers, which it uses again: what a call reads is what was written last. Which of
its arguments a kernel writes, its declaration says: those that are not `const`. Which of the
program's arguments are weights, the graph of Dynamo says by their names. Next room:
`other_forms.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from course_lib.peers.align.cpp_loops import Value, read_kernel
from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.statement import Statement

BOUND = re.compile(r"^(\w+) = async_compile\.cpp_pybinding\(\[(.*?)\]", re.M)
CALL = re.compile(r"^\s*(?:(buf\d+) = )?([A-Za-z_][\w.]*)\((.*)\)\s*(?:#.*)?$")
ALIAS = re.compile(r"^\s*(buf\d+) = (?:reinterpret_tensor\()?(\w+)\b(?!\.|\()")
BUFFER = re.compile(
    r"\b(?:buf\d+|arg\d+_\d+|_frozen_param\d+|primals_\d+|constant\d+|_tensor\w+)\b"
)
FROZEN = re.compile(r"\b(?:_frozen_param\d+|constant\d+)\b")
NODES = re.compile(r"# Topologically Sorted Source Nodes: \[(.*?)\]")
GIVEN = re.compile(r"^\s+((?:arg\d+_\d+, )+)?(arg\d+_\d+),? = args$", re.M)
ARGUMENT = re.compile(r"\barg\d+_\d+\b")
FORWARD = re.compile(r"^\s+def forward\(self, (.*)\):$", re.M)
NO_CALL = ("assert_", "empty_strided", "reinterpret_tensor", "del", "args.clear", "return")
Values = dict[str, Statement]


def read_inductor(text: str, others: Mapping[str, str]) -> list[Statement]:
    """The statements of the generated program; others: the stages before it."""
    return _Program(text, others).statements()


class _Program:
    def __init__(self, text: str, others: Mapping[str, str]) -> None:
        self.lines = text.splitlines()
        self.written = {name: [k for k, type in enumerate(re.findall(r"'([^']*)'", types))
                               if not type.startswith("const")]
                        for name, types in BOUND.findall(text)}  # fmt: skip
        frozen = {name: _argument("L_self_") for name in FROZEN.findall(text)}
        self.values: Values = frozen | arguments(text, others)
        self.done: list[Statement] = []

    def statements(self) -> list[Statement]:
        nodes: list[str] = []
        for number, line in self._program():
            if found := NODES.search(line):
                nodes = found[1].split(", ")
            elif (found := CALL.match(line)) and not found[2].startswith(NO_CALL):
                self._call(number, found[1] or "", found[2], found[3], nodes)
                nodes = []
            elif (found := ALIAS.match(line)) and found[2] in self.values:
                self.values[found[1]] = self.values[found[2]]
        return self.done

    def _program(self) -> Iterator[tuple[int, str]]:
        """The lines of `call`, with their numbers."""
        starts = (k for k, line in enumerate(self.lines) if "def call(" in line)
        for k in range(next(starts, len(self.lines)) + 1, len(self.lines)):
            if re.match(r"\s*return |\S", self.lines[k]):
                return
            yield k + 1, self.lines[k]

    def _call(self, number: int, result: str, word: str, given: str, nodes: list[str]) -> None:
        buffers: list[str] = BUFFER.findall(given)
        made = Statement(number, number, word, _library(word, given), calls=word)
        outs = [buffers[k] for k in self.written.get(word, ()) if k < len(buffers)]
        outs += re.findall(r"out=(?:reinterpret_tensor\()?(\w+)", given)
        if not result and not outs:
            outs = buffers[:1]  # a library's kernel without a result works in place
        fresh = {name for name in outs if name not in self.values}
        made.operands = [self.values.get(name, name) for name in buffers if name not in fresh]
        made.result, made.nodes = result, frozenset(nodes)
        if not self._in_its_loops(made, buffers):
            self.values |= dict.fromkeys([*outs, *filter(None, [result])], made)
            self.done.append(made)

    def _in_its_loops(self, made: Statement, buffers: list[str]) -> bool:
        """Read the kernel's own statements, if its C++ is there and says what it writes."""
        head = f"{made.calls} = async_compile.cpp_pybinding("
        first = next((k for k, line in enumerate(self.lines) if line.startswith(head)), -1)
        last = next((k for k in range(first + 1, len(self.lines))
                     if self.lines[k].startswith("''')")), 0) if first >= 0 else 0  # fmt: skip
        given: list[Value] = [self.values.get(name, name) for name in buffers]
        inside, ends = read_kernel(self.lines[first + 1 : last], first + 2, made, given)
        wrote = [ends[k] for k in self.written.get(made.calls, ()) if k < len(ends)]
        if not wrote or any(end is None for end in wrote):
            return False
        for name, end in zip(buffers, ends, strict=False):
            if isinstance(end, Statement):
                self.values[name] = end
            elif end is not None:  # a copy of what no statement computes
                self.values[name] = Statement(0, 0, end, frozenset({"other"}))
        made.inside = inside
        self.done += inside
        return True


def arguments(text: str, others: Mapping[str, str]) -> Values:
    """Those of the program, or of a graph of ATen: inputs, and weights, if they are no constants.
    Nothing, where no graph of Dynamo says which is which."""
    found = GIVEN.search(text) or FORWARD.search(text)
    names = ARGUMENT.findall(found[0]) if found else []
    frozen = bool(FROZEN.search(text))
    for graph in (graph for stage, graph in others.items() if stage.startswith("fx graph")):
        header = FORWARD.search(graph)
        given = re.findall(r"(\w+): \"", header[1]) if header else []
        given = [name for name in given if not (frozen and "L_self_" in name)]
        if len(given) == len(names):
            return {name: _argument(said) for name, said in zip(names, given, strict=True)}
    return {}


def _argument(said: str) -> Statement:
    own = "L_self_" in said
    return Statement(0, 0, said, frozenset({"constant" if own else "other"}))


def _library(word: str, given: str) -> frozenset[str]:
    """What a call does, with what a library's kernel adds, multiplies or clips in the end."""
    found = set(kinds(word))
    if word.startswith("cpp_fused"):  # named by the operations around it, too: these it calls
        found = found - {"conv", "matmul", "attention"} or {"pointwise"}
    if "conv" in found or "matmul" in found:
        found |= {"relu"} if re.search(r"'(?:relu|hardtanh)'", given) else set()
        found |= {"sum"} if re.search(r"\bbinary\b", word) else set()
    return frozenset(found)
