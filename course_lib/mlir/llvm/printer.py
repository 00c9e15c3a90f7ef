"""A runtime for compiled programs that print: it keeps the text, and the numbers exactly.

>>> printer = Printer()
>>> printer.functions["print_f64"](0.1)
>>> printer.functions["print_newline"]()
>>> printer.text, printer.numbers
('0.100000 \\n', [0.1])

Next room: `mlir/toy/stages.py`.
"""

from __future__ import annotations

from collections.abc import Callable


class Printer:
    """`functions` is what `execute.py: load` takes; `text` is in the format of C's `%f `."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.numbers: list[float] = []

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def functions(self) -> dict[str, Callable[..., None]]:
        return {"print_f64": self.number, "print_newline": self.newline}

    def number(self, value: float) -> None:
        self.numbers.append(value)
        self.parts.append(f"{value:f} ")

    def newline(self) -> None:
        self.parts.append("\n")
