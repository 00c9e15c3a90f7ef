"""What an option of a command may be.

    sub.add_argument("--repeat", type=number(1))
    --repeat 0      ->      it takes a whole number of at least 1, got '0'

Next room: `result.py`.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable


def number(least: int, most: int | None = None) -> Callable[[str], int]:
    """What an option takes: a whole number in this range. argparse prints the words otherwise."""

    def parse(word: str) -> int:
        try:
            value = int(word)
        except ValueError:
            value = None
        if value is None or value < least or (most is not None and value > most):
            limits = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ArgumentTypeError(f"it takes a whole number {limits}, got {word[:40]!r}")
        return value

    return parse
