"""Ten rewrite rules of an invented pull request, and what their two sides are.

    RULES[1]             ->   ("(x * 8 + y) // 8", "x + y // 8")
    side("x % 4", {"x": 7})    ->   3

Next room: autograder/units/u17/checks.
"""

from __future__ import annotations

from lessons.u17.rows import wrapped

RULES = {
    1: ("(x * 8 + y) // 8", "x + y // 8"),
    2: ("(x + y) // 8", "x // 8 + y // 8"),
    3: ("(x % 12) % 5", "x % 5"),
    4: ("(x % 12) % 4", "x % 4"),
    5: ("(x // 3) // 5", "x // 15"),
    6: ("(x * 6) // 4", "(x * 3) // 2"),
    7: ("cdiv(x * 8 + y, 8)", "x + cdiv(y, 8)"),
    8: ("max(x, y) * -2", "max(x * -2, y * -2)"),
    9: ("i8(x * 16) + 100", "i8(x * 16 + 100)"),
    10: ("i8(i8(x * 16) + 100)", "i8(x * 16 + 100)"),
}
VALUES = range(-20, 21)


def side(text: str, values: dict[str, int]) -> int:
    """What one side of a rule of `RULES` gives for these values."""
    known = {"max": max, "cdiv": _cdiv, "i8": lambda a: wrapped(a, "int8"), **values}
    return int(eval(text, {"__builtins__": {}}, known))  # the texts are those above


def _cdiv(a: int, b: int) -> int:
    return -(-a // b) if (a < 0) != (b < 0) else a // b


def shown() -> str:
    """The rules, one in a line."""
    return "\n".join(f"{k:>2}   {left:<22} -> {right}" for k, (left, right) in RULES.items())
