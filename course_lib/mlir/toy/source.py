"""Where something stands in a Toy program, and how to say that it is wrong.

>>> error = ToyError("expected ';', got '}'", Place(2, 12))
>>> print(error.shown("toy.toy", "def f() {\\n  return 1 }"))
expected ';', got '}'
  at toy.toy:2:12
      return 1 }
               ^

Next room: `lexer.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 80  # of a line that is shown; a longer one is cut around its place


@dataclass(frozen=True)
class Place:
    """A line and a column, both counted from 1. `note` says what stands there, such as "called"."""

    line: int
    column: int
    note: str = ""


class ToyError(ValueError):
    """What is wrong with a program, in words, and where: the place itself, then who called it."""

    def __init__(self, what: str, *places: Place) -> None:
        self.what, self.places = what, places
        super().__init__(self.shown("line"))

    def shown(self, file: str, text: str = "") -> str:
        """The message; with the text of the program, also the lines that it is about."""
        lines, shown = text.split("\n") if text else [], [self.what]
        for place in self.places:
            shown.append(f"  {place.note or 'at'} {file}:{place.line}:{place.column}")
            if place.line <= len(lines):
                shown += _pointed(lines[place.line - 1], place.column - 1)
        return "\n".join(shown)

    def within(self, file: str, text: str) -> ToyError:
        """The same error with the lines of the program in its message."""
        error = ToyError(self.what, *self.places)
        error.args = (self.shown(file, text),)
        return error


def _pointed(line: str, at: int) -> list[str]:
    """The line and, below, a caret; behind the same tabs, so that it stands where it should."""
    if len(line) > WIDTH:
        start = max(0, at - WIDTH // 2)
        mark = "..." if start else ""
        line, at = mark + line[start : start + WIDTH], len(mark) + at - start
    line = "".join(c if c.isprintable() or c == "\t" else "?" for c in line.rstrip())
    before = "".join("\t" if c == "\t" else " " for c in line[:at].ljust(at))
    return [f"    {line}", f"    {before}^"]
