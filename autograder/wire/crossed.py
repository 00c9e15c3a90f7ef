"""What has crossed between the two processes since a call began, by number.

    crossed.remember(node)  ->  7      crossed.number_of(node)  ->  7      crossed.known(7) is node

Both ends count in the order in which things cross. Next room: writing.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.wire.onnx import Unsendable

DTYPES = {np.dtype(d).str for d in (*"?bBhHiIqQ", "f2", "f4", "f8", "c8", "c16")}


class Crossed:
    """What one end has sent and got. `call(number, args, kwargs)` runs a function of the other end;
    the grader's end has none: no function crosses from a student to it."""

    def __init__(self, call: Callable[[int, tuple, dict], Any] | None = None):
        self.call = call
        self.reset()

    def reset(self) -> None:
        """Forget what crossed: the next call begins."""
        self.functions: list[Callable[..., Any]] = []
        self.seen: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.weights: dict[int, int] = {}  # of graphs: their nodes, and those of graphs inside

    def adopt(self, other: Crossed) -> None:
        """Go on where another end stands that has written the same."""
        self.seen, self.numbers = list(other.seen), dict(other.numbers)

    def remember(self, value: Any) -> int:
        number = self.numbers[id(value)] = len(self.seen)
        self.seen.append(value)
        return number

    def number_of(self, value: Any) -> int | None:
        return self.numbers.get(id(value))

    def known(self, number: int) -> Any:
        if type(number) is not int or not 0 <= number < len(self.seen):
            raise Unsendable(f"nothing has the number {number!r:.50}")
        return self.seen[number]

    def mark(self) -> int:
        """Where `forget` may go back to."""
        return len(self.seen)

    def forget(self, mark: int) -> None:
        """As if nothing had crossed since then."""
        for value in self.seen[mark:]:
            del self.numbers[id(value)]
        del self.seen[mark:]
