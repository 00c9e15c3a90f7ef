"""A line of a dump that computes a value: what it is, what it reads, and where it came from.

    statement.kinds     ->  {"matmul"}                    `kinds.py`
    statement.reads     ->  [Statement, ...]              those whose values it reads
    statement.names     ->  {"attention#8"}               where in the model it came from
    statement.kernel    ->  the statement that it was fused into; itself, if into none

Next room: `reading.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

ADDRESS_ONLY = frozenset({"movement", "constant"})


@dataclass(eq=False)
class Statement:
    """`first` and `last` are line numbers of the text, from 1.

    also      other lines of it
    operands  in order; a name for what no statement of the text computes: a weight, a parameter
    result    what its value is called, which is another name in each system's graph
    label     what it is itself called, where that is not the name of its value
    names     of parts of the model, from which it came
    nodes     results of an earlier stage of the same system, from which it came
    calls     what it launches by name: a kernel, a dispatch, a function of the text
    """

    first: int
    last: int
    word: str
    kinds: frozenset[str]
    operands: list[Statement | str] = field(default_factory=list)
    result: str = ""
    label: str = ""
    names: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()
    outer: Statement | None = None
    inside: list[Statement] = field(default_factory=list)
    calls: str = ""
    also: tuple[int, ...] = ()

    @property
    def lines(self) -> list[int]:
        return [*range(self.first, self.last + 1), *self.also]

    @property
    def reads(self) -> list[Statement]:
        return [one for one in self.operands if isinstance(one, Statement)]

    @property
    def kernel(self) -> Statement:
        return self if self.outer is None else self.outer.kernel

    @property
    def computes(self) -> bool:
        """Does it do more than to lay numbers out in another way?"""
        return not self.kinds <= ADDRESS_ONLY


def fixed(one: Statement) -> bool:
    """Is it computed from constants of the text alone, as the factor of a batch norm is?"""
    seen: set[Statement] = set()
    todo = [one]
    while todo:
        now = todo.pop()
        if now in seen or now.kinds == {"constant"}:
            continue
        if not now.operands or any(isinstance(operand, str) for operand in now.operands):
            return False
        seen.add(now)
        todo += now.reads
    return True


def users_of(statements: Iterable[Statement]) -> dict[Statement, list[Statement]]:
    """Who reads the value of each statement."""
    users: dict[Statement, list[Statement]] = {}
    for one in statements:
        for read in dict.fromkeys(one.reads):
            users.setdefault(read, []).append(one)
    return users


def after(start: Statement, users: dict[Statement, list[Statement]]) -> set[Statement]:
    """Everything that depends on a statement."""
    seen, todo = {start}, [start]
    while todo:
        for user in users.get(todo.pop(), ()):
            if user not in seen:
                seen.add(user)
                todo.append(user)
    return seen


def in_order(places: Sequence[Statement], users: dict[Statement, list[Statement]]) -> bool:
    """Does each of them depend on the one before it? Then there is one order only."""
    return all(b in after(a, users) for a, b in pairwise(places))
