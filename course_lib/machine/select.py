"""A block -> instructions on as many registers as it likes: v0, v1, v2 ...

    v3 = mul v1, v2       ->    fma v5, v1, v2, v4
    v5 = add v3, v4

A block is a graph, and patterns cover trees. So the graph is cut at a value with several readers,
which is computed into a register once. What could be gained across such a cut is lost; to cover a
graph as cheaply as possible is NP-complete (Koes and Goldstein, 2008). A very deep tree is cut,
too. Next room: `lives.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.machine.block import Block, Value
from course_lib.machine.core import Instr, leaves
from course_lib.machine.cover import PATTERNS, Patterns, Tree, cover, placed

DEEPEST = 64  # levels of one tree
_RANK = {"mul": 0, "load": 2, "broadcast": 2, "const": 3}  # of operands whose order is free


def select(block: Block, patterns: Patterns = PATTERNS) -> list[Instr]:
    """Instructions for a block, in the order of the program.

    Each stands where the program computes its result; a store follows its value at once, unless
    what it overwrites is read somewhere.
    """
    placed_instrs: list[tuple[float, Instr]] = []
    for tree, number in trees(block):
        for name, at, operands in placed(tree, cover(tree, patterns), patterns):
            placed_instrs.append(_instr(name, at, operands, number, patterns))
    for place, number in block.stores:
        placed_instrs.append(
            (_after(block, place, number), Instr("st", "", (f"v{number}",), place))
        )
    return _numbers_once([instr for _, instr in sorted(placed_instrs, key=lambda one: one[0])])


def trees(block: Block) -> list[tuple[Tree, int]]:
    """The trees of a block, and the number of the value that each computes."""
    uses, stored = block.uses(), {number for _, number in block.stores}
    roots: list[int] = []
    depth: list[int] = []  # of each value in its tree
    for n, value in enumerate(block.values):
        depth.append(1 + max((depth[a] for a in value.args), default=0))
        several = uses[n] > 1 and value.op != "const"
        if n in stored or several or depth[n] > DEEPEST:
            roots.append(n)
            depth[n] = 0
    return [(_tree(block, n, frozenset(roots) - {n}), n) for n in roots]


class _Numbered(tuple):
    """A tree that remembers which value it is."""

    value: int


def _tree(block: Block, number: int, registers: frozenset[int]) -> Tree:
    if number in registers:
        return f"v{number}"
    value = block.values[number]
    if value.at is not None:
        tree = _Numbered((value.op, *value.at))
    elif value.op == "const":
        tree = _Numbered(("const", value.number))
    else:
        args = sorted(value.args, key=lambda a: _rank(block.values[a], a in registers)) \
            if value.op in ("add", "mul") else value.args  # fmt: skip
        tree = _Numbered((value.op, *(_tree(block, a, registers) for a in args)))
    tree.value = number
    return tree


def _rank(value: Value, in_register: bool) -> int:
    return 1 if in_register else _RANK.get(value.op, 1)


def _register(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"v{tree.value}"


def _instr(
    name: str, at: Tree, operands: list[Tree], root: int, patterns: Patterns
) -> tuple[float, Instr]:
    """The instruction whose pattern lies at `at`, and its place in the order of the program."""
    where, number = None, None
    for kind, leaf in zip(
        leaves(patterns[name][0]), _leaves_of(patterns[name][0], at), strict=True
    ):
        if kind == "const":
            number = leaf[1]
        elif kind != "_":
            where = (leaf[1], leaf[2])
    reads = tuple(_register(operand) for operand in operands)
    return at.value, Instr(name, f"v{at.value}", reads, where, number)


def _leaves_of(pattern: Tree, tree: Tree) -> list[Tree]:
    if pattern == "_" or len(pattern) == 1:
        return [tree]
    return [
        leaf
        for part, operand in zip(pattern[1:], tree[1:], strict=True)
        for leaf in _leaves_of(part, operand)
    ]


def _after(block: Block, place: tuple[str, int], number: int) -> float:
    buffer, first = place
    for value in block.values:
        if value.at is not None and value.at[0] == buffer:
            width = block.lanes if value.op == "load" else 1
            if value.at[1] < first + block.lanes and first < value.at[1] + width:
                return len(block.values)  # at the end: the old number is still read
    return number + 0.5


def _numbers_once(code: list[Instr]) -> list[Instr]:
    """The same code, in which each number is put into a register once."""
    first: dict[str, str] = {}
    same: dict[str, str] = {}
    kept = []
    for instr in code:
        if instr.op == "li":
            if str(instr.number) in first:
                same[instr.into] = first[str(instr.number)]
                continue
            first[str(instr.number)] = instr.into
        kept.append(replace(instr, reads=tuple(same.get(r, r) for r in instr.reads)))
    return kept
