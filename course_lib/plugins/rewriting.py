"""Lines of `staged.py` as tinygrad's operations, and rewrite rules on them.

    rewritten("i = range 8 ...", PatternMatcher([...]))      ->   the program after the rules

The rules are tinygrad's: a pattern, and a function that gives the new operation, or None. They are
applied until none applies any more, as in tinygrad's own passes. tinygrad itself refuses functions
that read names of another function around them; here they may. Next room: `narrow.py`.
"""

from __future__ import annotations

import course_lib.plugins.pin  # noqa: F401  # isort: skip  before tinygrad

import inspect
from collections.abc import Callable
from typing import Any

from tinygrad.dtype import AddrSpace, dtypes, to_dtype
from tinygrad.schedule.indexing import BufferizeOpts
from tinygrad.uop import Ops
from tinygrad.uop.ops import PatternMatcher, UOp, graph_rewrite

from course_lib.plugins.staged import STORED, Operand, Staged, read_staged

ALU = {"add": Ops.ADD, "mul": Ops.MUL, "max": Ops.MAX, "lt": Ops.CMPLT, "where": Ops.WHERE}
NAMES = {op: name for name, op in ALU.items()}
NOTHING = PatternMatcher([])


def rewritten(program: str, rules: PatternMatcher) -> str:
    """The program after these rules."""
    opened = PatternMatcher([(pattern, _opened(fxn)) for pattern, fxn in rules.patterns])
    if isinstance(program, _Asked):
        program.rules = opened
        return ""
    try:
        return _text(graph_rewrite(operations(program), opened))
    except KeyError as error:  # an operation would have to be ready before it is
        if not isinstance(error.args[0], UOp):
            raise
        raise RuntimeError(
            "the result of a rule contains what the rule matches, so the rule is applied to its "
            "own result without end"
        ) from None


def rules_of(function: Callable[[str], str]) -> PatternMatcher:
    """The rules that a function of programs hands to `rewritten`; none if it never does."""
    asked = _Asked()
    function(asked)
    return asked.rules


class _Asked(str):
    """No program, but the question which rules there are."""

    rules: PatternMatcher = NOTHING


def _opened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function without names of a function around it."""
    if function.__closure__ is None:
        return function
    names = list(inspect.signature(function).parameters)
    given = {"inner": function}
    passed = ", ".join(f"{name}={name}" for name in names)
    exec(f"def rule({', '.join(names)}):\n    return inner({passed})", given)  # names are names
    return given["rule"]


def operations(program: str) -> UOp:
    """The program's last line as an operation of tinygrad."""
    known: dict[str, UOp] = {}
    lines = read_staged(program)
    for line in lines:
        known[line.name] = _operation(line, known, len(known))
    return known[lines[-1].name]


def _operation(line: Staged, known: dict[str, UOp], number: int) -> UOp:
    named = [known[x] for x in line.operands if isinstance(x, str)]
    like = next((u.dtype for u in named[::-1] if u.op is not Ops.RANGE), dtypes.weakint)
    src = [known[x] if isinstance(x, str) else UOp.const(x, like) for x in line.operands]
    if line.op == "param":
        return UOp.placeholder((line.size,), to_dtype(line.kind), number)
    if line.op == "range":
        return UOp.range(line.size, number)
    if line.op == "index":
        return src[0].index(*src[1:])
    if line.op == "cast":
        return src[0].cast(to_dtype(line.kind))
    if line.op == "sum":
        return UOp(Ops.REDUCE, src=tuple(src), arg=(Ops.ADD, 0))
    if line.op in STORED:
        space = AddrSpace.GLOBAL if line.op == "stage" else AddrSpace.LOCAL
        return UOp(Ops.STAGE, src=tuple(src), arg=BufferizeOpts(device=None, addrspace=space))
    return UOp(ALU[line.op], src=tuple(src))


def _text(last: UOp) -> str:
    names: dict[UOp, Operand] = {}
    lines: list[Staged] = []
    for u in last.toposort():
        if u.op is Ops.CONST:
            names[u] = u.val
        elif u.op is not Ops.STACK:
            name = f"v{len(lines)}"
            lines.append(_line(u, name, tuple(names[s] for s in u.src if s in names)))
            names[u] = name
    return "".join(f"{line}\n" for line in lines)


def _line(u: UOp, name: str, operands: tuple[Operand, ...]) -> Staged:
    if u.op is Ops.PARAM:
        return Staged(name, "param", (), _kind(u), u.max_numel())
    if u.op is Ops.RANGE:
        return Staged(name, "range", (), size=int(u.vmax) + 1)
    if u.op is Ops.CAST:
        return Staged(name, "cast", operands, _kind(u))
    if u.op is Ops.STAGE:
        op = "stage" if u.arg.addrspace is AddrSpace.GLOBAL else "local"
        return Staged(name, op, operands)
    named = {Ops.INDEX: "index", Ops.REDUCE: "sum", **NAMES}.get(u.op)
    if named is None:
        raise ValueError(f"{u.op} has no line of its own in these programs")
    return Staged(name, named, operands)


def _kind(u: UOp) -> str:
    known = {
        "signed char": "int8",
        "unsigned char": "uint8",
        "short": "int16",
        "unsigned short": "uint16",
        "int": "int32",
        "unsigned int": "uint32",
        "long": "int64",
        "unsigned long": "uint64",
        "float": "float32",
        "bool": "bool",
    }
    return known[u.dtype.name]
