"""Instruction selection: cover an expression tree with patterns, as cheaply as possible.

    ("add", ("mul", "v1", ("const", 0.5)), ("load", "y", 0))

    fma v1, li, ld    3 instructions        muli, addm    2 instructions

A tree is a tuple: an operation and its operands. A leaf is a register ("v1"), ("load", buffer,
offset), ("broadcast", buffer, offset) or ("const", number). A pattern is an instruction seen as a
piece of such a tree. It has "_" where the instruction reads a register, and a leaf that it swallows
by its kind alone, as in ("add", "_", ("load",)). Next room: `select.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from course_lib.exercises import exercise
from course_lib.machine.core import INSTRUCTIONS, Pattern

Tree = Any  # a register's name, or (operation, operand, ...), or (kind of leaf, ...)
Patterns = Mapping[str, tuple[Pattern, float]]  # {name: (pattern, cost)}

# What our compiler adds up: 2 for an instruction, 1 for `li`, because a number is put into a
# register once, however many trees need it (`select.py`).
PATTERNS: Patterns = {
    row.name: (row.pattern, 1 if row.name == "li" else 2)
    for row in INSTRUCTIONS.values()
    if row.pattern
}


def match(pattern: Pattern, tree: Tree) -> list[Tree] | None:
    """The subtrees at the "_" of a pattern, from left to right; None if it does not fit here.

    >>> match(("add", "_", ("load",)), ("add", ("mul", "v1", "v2"), ("load", "y", 0)))
    [('mul', 'v1', 'v2')]
    """
    if pattern == "_":
        return [tree]
    if isinstance(tree, str) or tree[0] != pattern[0]:
        return None
    subtrees: list[Tree] = []
    for part, operand in zip(pattern[1:], tree[1:], strict=False):
        inside = match(part, operand)
        if inside is None:
            return None
        subtrees += inside
    return subtrees


def one_by_one(tree: Tree, patterns: Patterns) -> list[str]:
    """The baseline: the pattern that covers least, so that each operation is an instruction."""
    return _greedily(tree, patterns, min)


def maximal_munch(tree: Tree, patterns: Patterns) -> list[str]:
    """From the root down, always the pattern that covers most (Cattell, 1980): operations first,
    then leaves. Fast, not optimal."""
    return _greedily(tree, patterns, max)


@exercise("machine.cover", unit=6, points=4, baseline=one_by_one)
def cover(tree: Tree, patterns: Patterns) -> list[str]:
    """Cover an expression tree with patterns so that the sum of their costs is as small as
    possible.

    tree      a register such as "v1", another leaf such as ("const", 0.5) or ("load", "y", 0), or
              a tuple (operation, operand, ...) whose operands are trees
    patterns  {name: (pattern, cost)}; costs are positive numbers, not always whole, and for every
              operation and leaf some pattern fits
    returns   the names of the patterns, in the order in which they are executed: the patterns of an
              instruction's operands come before it, those of its left operand first

    A register is there already and needs no pattern. Each of several equal subtrees is paid for.
    Each subtree is worked out only once. Of several cheapest covers, any of them will do.

    >>> patterns = {"li": (("const",), 1), "ld": (("load",), 1)}
    >>> patterns |= {"muli": (("mul", "_", ("const",)), 1), "addm": (("add", "_", ("load",)), 1)}
    >>> patterns |= {"fma": (("add", ("mul", "_", "_"), "_"), 1)}
    >>> cover(("add", ("mul", "v1", ("const", 0.5)), ("load", "y", 0)), patterns)
    ['muli', 'addm']
    """
    return _cheapest(tree, patterns, {})[1]


def _cheapest(tree: Tree, patterns: Patterns, known: dict[int, Any]) -> tuple[float, list[str]]:
    """The least cost of a tree, and the patterns that have it."""
    if isinstance(tree, str):
        return 0, []
    if id(tree) not in known:
        covers = []
        for name, (pattern, cost) in patterns.items():
            operands = match(pattern, tree)
            if operands is not None:
                parts = [_cheapest(operand, patterns, known) for operand in operands]
                names = [n for _, inside in parts for n in inside]
                covers.append((cost + sum(c for c, _ in parts), [*names, name]))
        known[id(tree)] = min(covers, key=lambda one: one[0])
    return known[id(tree)]


def placed(
    tree: Tree, names: Sequence[str], patterns: Patterns
) -> Iterator[tuple[str, Tree, list[Tree]]]:
    """Where each pattern of a cover lies, the root first: (name, subtree, subtrees in its holes).

    ValueError if the names are no cover of the tree in the order of execution.
    """
    left = list(names)

    def walk(at: Tree) -> Iterator[tuple[str, Tree, list[Tree]]]:
        if isinstance(at, str):
            return
        if not left:
            raise ValueError(f"no pattern is left for {shown(at)}")
        name = left.pop()
        if name not in patterns:
            raise ValueError(f"there is no pattern {name!r}")
        operands = match(patterns[name][0], at)
        if operands is None:
            raise ValueError(f"{name} does not fit {shown(at)}")
        yield name, at, operands
        for operand in reversed(operands):
            yield from walk(operand)

    yield from walk(tree)
    if left:
        raise ValueError(f"the tree is covered, but {left[0]} is left over")


def shown(tree: Tree) -> str:
    """A tree as text: add(mul(v1, 0.5), y[0])."""
    if isinstance(tree, str):
        return tree
    if tree[0] in ("load", "broadcast"):
        return f"{tree[1]}[{tree[2]}]"
    if tree[0] == "const":
        return f"{tree[1]:g}"
    return f"{tree[0]}({', '.join(map(shown, tree[1:]))})"


def _greedily(tree: Tree, patterns: Patterns, choose: Callable[..., str]) -> list[str]:
    if isinstance(tree, str):
        return []
    fits = {name: operands for name, (pattern, _) in patterns.items()
            if (operands := match(pattern, tree)) is not None}  # fmt: skip
    name = choose(fits, key=lambda one: _size(patterns[one][0]))
    return [n for operand in fits[name] for n in _greedily(operand, patterns, choose)] + [name]


def _size(pattern: Pattern) -> tuple[int, int]:
    """How many operations a pattern covers, and how many leaves."""
    if pattern == "_":
        return 0, 0
    inside = [_size(part) for part in pattern[1:]]
    operations, leaves = (
        (sum(numbers) for numbers in zip(*inside, strict=True)) if inside else (0, 0)
    )
    return (operations + 1, leaves) if inside else (0, 1)
