"""Values as text for a verdict: short, the same on every run, and with the difference in sight.

    shown(graph)                  "graph @main(...) ...", and "... and 312 more lines" if it is long
    shown_pair(got, expected)     where one is long, from their first difference on

Nothing that is shown holds an address (`<object object at 0x7f31...>`): two runs say the same.

Next room: verdict.py, what is done with the texts.
"""

from __future__ import annotations

from typing import Any

from autograder.check.answer import BESIDE
from autograder.check.received import without_addresses
from course_lib.ir.graph.graph import Graph, print_graph

CALL_LIMIT = 300  # characters of each argument of a call that is shown
LINES, WIDTH = 60, 400  # of a text that is shown; a line may hold a fused body or an array
CONTEXT = 3  # equal lines that are kept before the first difference


def shown(value: Any) -> str:
    """A value as a learner sees it; "" for None."""
    return "" if value is None else _beginning(printed(value).split("\n"))


def shown_pair(got: Any, expected: Any) -> tuple[str, str]:
    """Both as text. If one is too long, what both begin with is left out."""
    texts = [printed(value).split("\n") if value is not None else [] for value in (got, expected)]
    mine, ours = texts
    alike = 0
    while alike < min(len(mine), len(ours)) and mine[alike] == ours[alike]:
        alike += 1
    skip = alike - CONTEXT if mine and ours and max(len(mine), len(ours)) > LINES else 0
    if skip > 1:
        left_out = f"... {skip} lines that are the same in both"
        mine, ours = [left_out, *mine[skip:]], [left_out, *ours[skip:]]
    return _beginning(mine), _beginning(ours)


def printed(value: Any) -> str:
    """The whole text of a value, without addresses."""
    if isinstance(value, str):
        text = value
    else:
        text = print_graph(value) if isinstance(value, Graph) else repr(value)
    return without_addresses(text)


def returned(value: Any, most: int = 200) -> str:
    """What an answer returned, where something else was asked for; so many letters of it."""
    return "nothing (is a `return` missing?)" if value is None else repr(value)[:most]


def error_text(error: BaseException) -> str:
    """Type and words of an error that a student's code may have made: its text may raise, too."""
    try:
        text = str(error)[:500]
    except Exception:
        text = "(an error that cannot be shown)"
    return without_addresses(f"{type(error).__name__}: {text}")


def call_shown(slot_name: str, args: tuple, kwargs: dict) -> Graph | str:
    """What a call was about: its only argument, if that is a graph, or the call as it is typed. A
    program, which has several lines, stands below the call."""
    named = {key: value for key, value in kwargs.items() if key != BESIDE}
    if len(args) == 1 and not named and isinstance(args[0], Graph):
        return args[0]
    texts = [v for v in (*args, *named.values()) if _is_program(v)]
    if len(texts) == 1:
        args = tuple(_TEXT if value is texts[0] else value for value in args)
        named = {key: _TEXT if value is texts[0] else value for key, value in named.items()}
    parts = [_short(a) for a in args] + [f"{k}={_short(v)}" for k, v in named.items()]
    call = f"{slot_name.rpartition('.')[2]}({', '.join(parts)})"
    return f"{call}, where text is\n{shown(str(texts[0]))}" if len(texts) == 1 else call


def _is_program(value: Any) -> bool:
    """A text of several lines, or an object of the library that prints as one."""
    if isinstance(value, str):
        return "\n" in value
    own = type(value).__module__.startswith("course_lib.")
    return own and type(value).__str__ is not object.__str__ and "\n" in str(value)


class _Text:
    """Stands for a program in a call."""

    def __repr__(self) -> str:
        return "text"


_TEXT = _Text()


def is_typed(value: Any) -> bool:
    """Numbers and short texts, in lists, tuples and dicts: what one types to try a call."""
    if isinstance(value, dict):
        return all(is_typed(part) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value).__module__ == "builtins" and all(map(is_typed, value))
    if isinstance(value, str):
        return "\n" not in value
    return value is None or isinstance(value, (bool, int, float))


def _short(value: Any) -> str:
    text = printed(repr(value))
    return text if len(text) <= CALL_LIMIT else text[:CALL_LIMIT] + "..."


def _beginning(lines: list[str]) -> str:
    kept = [line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in lines[:LINES]]
    more = len([line for line in lines[LINES:] if line.strip()])
    return "\n".join([*kept, f"... and {more} more lines"] if more else kept)
