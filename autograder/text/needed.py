"""What an answer needs from the other cells: definitions, and what changes them.

    RULES = []              taken: the answer below reads RULES
    RULES.append("cse")     taken: it changes RULES
    def setup(): global RULES; RULES = ["dce"]
    setup()                 taken: it changes RULES too
    print(RULES)            not taken

    @implements("passes.order")
    def order(graph): return RULES

reads.py says what a statement reads, effects.py what it changes; where nobody can tell
(`globals().update(...)`), it is taken. Next room: grading/worker.py, where all of it runs.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.text.cells import INDIGESTIBLE, for_a_class, tree_of
from autograder.text.effects import Effects, effects_of, is_for_everyone
from autograder.text.reads import reads


@dataclass(frozen=True)
class Statement:
    """A top-level statement outside the answer cells, which an answer may need."""

    number: int
    source: str
    effects: Effects
    always: bool


def statements(code: str, number: int) -> list[Statement]:
    """The statements of a cell; those that Python itself cannot digest are left out."""
    return [Statement(number, *parts) for parts in _statements(code)]


@for_a_class
def _statements(code: str) -> tuple[tuple[str, Effects, bool], ...]:
    tree = tree_of(code)
    rows: list[tuple[str, Effects, bool]] = []
    with contextlib.suppress(*INDIGESTIBLE):
        for node in tree.body if tree else ():
            effects = effects_of(node)
            rows.append((ast.unparse(node), effects, is_for_everyone(node)))
    return tuple(rows)


def needed(answers: Iterable[tuple[str, float]], others: list[Statement]) -> list[Statement]:
    """The statements that the answers need, directly or through each other.

    An answer is its source and the number of the cell that checks it. What stands below that is
    taken only for a name to which nothing above gives a value: the cells that follow are free to
    use the others for something else.
    """
    index = _Index(others)
    chosen = {number for number, statement in enumerate(others) if index.always(statement)}
    seen: set[str] = set()
    for number in sorted(chosen):
        index.follow(index.reads_of(number), float("inf"), chosen, seen)
    for source, until in answers:
        index.follow(reads(source), until, chosen, set())
    return [others[number] for number in sorted(chosen)]


class _Index:
    """Statements by the names that they change, themselves or through what they call."""

    def __init__(self, others: list[Statement]) -> None:
        self.others = others
        self.reads: dict[int, tuple[str, ...]] = {}  # by statement: its free names, once asked for
        self.variables = frozenset().union(*(s.effects.changes for s in others))  # not `str`
        self.functions: dict[str, list[Effects]] = {}
        for statement in others:
            for name in statement.effects.defines:
                self.functions.setdefault(name, []).append(statement.effects)
        self.calling: dict[str, Effects] = {}  # by function: what a call of it does
        self.by_name: dict[str, list[int]] = {}
        for number, statement in enumerate(others):
            for name in sorted(self.changes(statement.effects)):
                self.by_name.setdefault(name, []).append(number)

    def always(self, statement: Statement) -> bool:
        """Whether it may change whatever it likes."""
        effects = statement.effects
        return (
            statement.always
            or effects.anything
            or any(self.called(name).anything for name in effects.calls)
        )

    def changes(self, effects: Effects) -> frozenset[str]:
        """The names that running the statement changes."""
        mine = [self.called(name) for name in effects.calls if name in self.functions]
        handed = effects.given if mine else frozenset[str]()
        if any(effects_of_call.mutates for effects_of_call in mine):
            handed |= effects.lent
        return effects.changes.union(
            handed & self.variables, *(effects_of_call.changes for effects_of_call in mine)
        )

    def called(self, name: str) -> Effects:
        """What a call of the notebook's function `name` changes, through what it calls as well."""
        if name in self.calling:
            return self.calling[name]
        self.calling[name] = Effects()  # while we look: it calls itself
        changed, anything, mutates, seen, waiting = set[str](), False, False, {name}, [name]
        while waiting:
            for body in (e.body for e in self.functions.get(waiting.pop(), ()) if e.body):
                changed |= body.changes
                anything |= body.anything
                mutates |= body.mutates
                waiting += sorted(body.calls - seen)
                seen |= body.calls
        self.calling[name] = Effects(frozenset(changed), anything=anything, mutates=mutates)
        return self.calling[name]

    def follow(self, names: Iterable[str], until: float, chosen: set[int], seen: set[str]) -> None:
        """Add to `chosen` all that gives these names their values as cell `until` finds them."""
        waiting = [name for name in names if name not in seen]
        seen.update(waiting)
        while waiting:
            for number in self.above(self.by_name.get(waiting.pop(), ()), until):
                chosen.add(number)
                new = set(self.reads_of(number)) - seen
                seen |= new
                waiting += sorted(new)

    def above(self, numbers: Sequence[int], until: float) -> list[int]:
        """Those that have run when cell `until` runs, or all of them if none has."""
        return [n for n in numbers if self.others[n].number <= until] or list(numbers)

    def reads_of(self, number: int) -> tuple[str, ...]:
        if number not in self.reads:
            self.reads[number] = reads(self.others[number].source)
        return self.reads[number]
