"""Programs that nobody wrote: random trees and tiles, lives, and waits between instructions.

The same seed makes the same program everywhere. Next room: `listings.py`.
"""

from __future__ import annotations

import random
from typing import Any

from course_lib.machine.core import INSTRUCTIONS
from course_lib.machine.lives import Live

PATTERNS = {row.name: row.pattern for row in INSTRUCTIONS.values() if row.pattern}
OPERATIONS = ("add", "mul", "sub", "max", "relu")


def random_tree(seed: int, most: int = 12) -> Any:
    """A tree of at most so many operations."""
    rng = random.Random(seed)
    left = rng.randint(1, most)

    def grow() -> Any:
        nonlocal left
        if left <= 0 or rng.random() < 0.15:
            return leaf()
        left -= 1
        op = rng.choice(("add", "mul", "add", "mul", *OPERATIONS))
        return (op, *(grow() for _ in range(1 if op == "relu" else 2)))

    def leaf() -> Any:
        where = 8 * rng.randint(0, 9)
        kinds = [f"v{rng.randint(0, 9)}", ("load", "x", where), ("load", "y", where),
                 ("broadcast", "w", where), ("const", rng.randint(1, 9) / 4)]  # fmt: skip
        return rng.choice(kinds)

    left -= 1
    op = rng.choice(("add", "mul", "sub"))
    return (op, grow(), grow())


def random_tiles(seed: int) -> dict[str, tuple[Any, int]]:
    """The machine's instructions in another order, with costs that were drawn."""
    rng = random.Random(seed)
    names = list(PATTERNS)
    rng.shuffle(names)
    return {name: (PATTERNS[name], rng.randint(1, 9)) for name in names}


def random_lives(seed: int, most: int = 40) -> list[Live]:
    """Lives that start one after another and end anywhere, some of them together."""
    rng = random.Random(seed)
    count = rng.randint(1, most)
    starts = sorted(rng.sample(range(2 * count), count))
    reach = rng.choice((4, 12, 2 * count))
    lives = [Live(f"v{k}", at, at + rng.randint(1, reach)) for k, at in enumerate(starts)]
    rng.shuffle(lives)
    return lives


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
