"""JAX's own form as statements: a value a line, after its type, and functions within brackets.

    bi:f32[1,16,32] = add bg bh
    x:f32[4,4] = jit[name=relu jaxpr={ lambda ; a:f32[4,4]. let b:f32[4,4] = ... in (b,) }] w

What stands in the brackets of an operation is the function that it calls, or says how it computes;
what follows them is read. Names before the first semicolon are constants. Next room:
`other_forms.py`.
"""

from __future__ import annotations

import re

from course_lib.peers.align.kinds import kinds
from course_lib.peers.align.statement import Statement

VALUE = re.compile(
    r"^\s*(?P<name>[a-z_]+):\w+\[[^\]]*\](?: [a-z_]+:\w+\[[^\]]*\])* = (?P<word>\w+)"
)
TYPED = re.compile(r"([a-z_]+):\w+\[[^\]]*\]")
LITERAL = re.compile(r"(?<![\w\[])-?(?:\d[\d.e+-]*|inf|nan|True|False)(?::\w+\[\])?")
CONSTANT = frozenset({"constant"})
Values = dict[str, Statement]


def read_jaxpr(text: str) -> list[Statement]:
    """The statements, those of functions where they are called."""
    lines = text.splitlines()
    constants = TYPED.findall(text.partition(";")[0])
    values = {name: Statement(1, 1, "constant", CONSTANT) for name in constants}
    done: list[Statement] = []
    _read(lines, 0, len(lines), values, None, done)
    return done


def _read(lines: list[str], at: int, stop: int, values: Values, outer: Statement | None,
          done: list[Statement]) -> None:  # fmt: skip
    while at < stop:
        found, end = VALUE.match(lines[at]), at + 1
        if found:
            end = _end(lines, at)
            values[found["name"]] = _one(lines, at, end, values, outer, done)
        at = end


def _one(lines: list[str], at: int, end: int, values: Values, outer: Statement | None,
         done: list[Statement]) -> Statement:  # fmt: skip
    """A statement, or the last one of the function that it calls."""
    found = VALUE.match(lines[at])
    assert found
    whole = "\n".join(lines[at:end])[found.end() :]
    made = Statement(at + 1, end, found["word"], kinds(found["word"]), outer=outer)
    made.result = found["name"]
    made.operands = _operands(whole.rpartition("]")[2] if whole.startswith("[") else whole, values)
    called = re.search(r"jaxpr=\{ lambda [^;]*; ?(.*?)\. let", whole, re.S)
    if not called:
        done.append(made)
        return made
    own, before = dict(values), len(done)
    own |= {name: read for name, read in zip(TYPED.findall(called[1]), made.operands, strict=False)
            if isinstance(read, Statement)}  # fmt: skip
    _read(lines, at + 1, end, own, made, done)
    made.inside = done[before:]
    given = re.findall(r"in \(([a-z_]+),\)", whole)
    return own.get(given[-1], made) if given else made


def _operands(behind: str, values: Values) -> list[Statement | str]:
    """Names, and numbers, which are constants."""
    words = behind.split()
    return [values.get(word, word) if not LITERAL.fullmatch(word)
            else Statement(0, 0, "constant", CONSTANT) for word in words]  # fmt: skip


def _end(lines: list[str], at: int) -> int:
    """The line behind the one in which its brackets are closed."""
    depth = 0
    for k in range(at, len(lines)):
        depth += sum(map(lines[k].count, "[({")) - sum(map(lines[k].count, "])}"))
        if depth <= 0:
            return k + 1
    return len(lines)
