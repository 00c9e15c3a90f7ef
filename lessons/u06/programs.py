"""Programs that nobody wrote: random trees and patterns, lives, and waits between instructions.

The same seed makes the same program everywhere. Next room: `listings.py`.
"""

from __future__ import annotations

import random
from typing import Any

from course_lib.machine.core import INSTRUCTIONS
from course_lib.machine.lives import Live

PATTERNS = {row.name: row.pattern for row in INSTRUCTIONS.values() if row.pattern}
OPERATIONS = ("add", "mul", "sub", "max", "relu", "div", "select")
ARITY = {"relu": 1, "select": 3}  # two operands for every other operation
LEAVES = ("load", "broadcast", "const")
DISPENSABLE = ("addi", "muli", "addm", "mulm", "fma", "fnma", "fmam")
MORE = {  # instructions that the machine does not have
    "madd": ("mul", ("add", "_", "_"), "_"),
    "addrelu": ("relu", ("add", "_", "_")),
    "ladd": ("add", ("load",), "_"),
    "dot": ("add", ("add", ("mul", "_", "_"), ("mul", "_", "_")), "_"),
    "keep": ("select", "_", ("const",), "_"),
    "twice": ("mul", ("const",), ("load",)),
}


def random_tree(seed: int, most: int = 12) -> Any:
    """A tree of at most so many operations; some of its subtrees are equal, some even the same."""
    rng = random.Random(seed)
    left = rng.randint(1, most)
    grown: list[Any] = []

    def grow() -> Any:
        nonlocal left
        if grown and rng.random() < 0.2:
            tree = rng.choice(grown)
            left -= _operations(tree)
            return tree if rng.random() < 0.5 else _copy(tree)
        grown.append(leaf() if left <= 0 or rng.random() < 0.15 else operation())
        return grown[-1]

    def operation() -> Any:
        nonlocal left
        left -= 1
        op = rng.choice(("add", "mul", "add", "mul", *OPERATIONS))
        return (op, *(grow() for _ in range(ARITY.get(op, 2))))

    def leaf() -> Any:
        where = 8 * rng.randint(0, 9)
        kinds = [f"v{rng.randint(0, 9)}", ("load", "x", where), ("load", "y", where),
                 ("broadcast", "w", where), ("const", rng.randint(1, 9) / 4)]  # fmt: skip
        return rng.choice(kinds)

    return operation()


def _operations(tree: Any) -> int:
    return 0 if isinstance(tree, str) or tree[0] in LEAVES else 1 + sum(map(_operations, tree[1:]))


def _copy(tree: Any) -> Any:
    """An equal tree of which no part is the same."""
    if isinstance(tree, str):
        return tree
    parts = tree[1:] if tree[0] in LEAVES else map(_copy, tree[1:])
    return tuple([tree[0], *parts])


def random_patterns(seed: int) -> dict[str, tuple[Any, float]]:
    """Instructions in another order, with costs that were drawn: some of those that a tree can do
    without are gone, some are of no machine that we know, some have another name. Costs may be no
    whole numbers, or large; all of them are sums of powers of two, so that adding them is exact."""
    rng = random.Random(seed)
    patterns = PATTERNS | {"sel": ("select", "_", "_", "_")}
    for name in rng.sample(list(MORE), rng.randint(0, 4)):
        patterns[name] = MORE[name]
    for name in rng.sample(DISPENSABLE, rng.randint(0, 4)):
        del patterns[name]
    names = list(patterns)
    rng.shuffle(names)
    unit, most = rng.choice(((1, 9), (1, 9), (0.25, 9), (0.125, 9), (1 / 4096, 9999), (10**9, 9)))
    renamed = {name: f"t{k}" if rng.random() < 0.2 else name for k, name in enumerate(names)}
    return {renamed[name]: (patterns[name], unit * rng.randint(1, most)) for name in names}


def random_lives(seed: int, most: int = 40) -> list[Live]:
    """Lives that start anywhere, even late, and end anywhere, some of them together. Their names
    say nothing."""
    rng = random.Random(seed)
    count = rng.randint(1, most)
    first = rng.choice((0, 0, 1, rng.randint(0, 5000)))
    starts = rng.sample(range(first, first + 2 * count), count)
    reach = rng.choice((4, 12, 2 * count, rng.choice((12, 3000))))
    names = rng.sample(
        ["a", "acc", "sum", "B", "x[0]", *(f"v{k}" for k in range(2 * count))], count
    )
    return [Live(name, at, at + rng.randint(1, reach))
            for name, at in zip(names, starts, strict=True)]  # fmt: skip


def random_needs(seed: int, most: int = 60) -> list[dict[int, int]]:
    """Instructions as they come from a program: loads, then what reads them, chains and sums."""
    rng = random.Random(seed)
    needs: list[dict[int, int]] = []
    latency: list[int] = []
    for n in range(rng.randint(2, most)):
        fresh = not n or rng.random() < 0.6
        wait = {}
        if not fresh:
            near = rng.choice((2, 6, n))
            for m in rng.sample(range(max(0, n - near), n), k=min(n, rng.choice((1, 2, 2, 3)))
                                if near >= 3 else 1):  # fmt: skip
                wait[m] = latency[m]
            if rng.random() < 0.1:
                wait.setdefault(rng.randrange(n), 0)
        needs.append(wait)
        latency.append(4 if fresh else rng.choice((1, 1, 1, 4, 12, 24)))
    return needs


def layered_needs(seed: int) -> list[dict[int, int]]:
    """A wide net of short waits in front of one long chain: many ways lead through the net, but the
    chain is what the program waits for."""
    rng = random.Random(seed)
    needs: list[dict[int, int]] = [{} for _ in range(rng.randint(9, 12))]
    before = list(range(len(needs)))
    for _ in range(3):
        layer = list(range(len(needs), len(needs) + 4))
        needs += [dict.fromkeys(before, 1) for _ in layer]
        before = layer
    needs += [{}, {len(needs): 12}, {len(needs) + 1: rng.choice((12, 13))}]
    return needs
