"""Attributes: what is known about an op when it is made, and what kind of value that may be.

    Attr("axis", -1)                             # softmax: along which axis; else the last one
    apply("softmax", x, axis=1.5)  ->  ValueError: softmax: axis must be a whole number, got 1.5

Each row of the op table says so for its attributes. Next room: `registry.py`, the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.ir.types import DTYPES, Sym, f64

Attrs = Mapping[str, Any]
REQUIRED = object()  # the default of an attribute that has none


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and f64.holds(value)


def _tuple_of(item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(item, value))


_WHOLES = ("a tuple of whole numbers", _tuple_of(_whole))
ATTR_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _whole),
    "axis": ("a whole number", _whole),
    "float": ("a number that f64 has", lambda v: not isinstance(v, bool) and _number(v)),
    "number": ("a number that f64 has", _number),
    "bool": ("true or false", lambda v: isinstance(v, bool)),
    "string": ("a string", lambda v: isinstance(v, str)),
    "dtype": (f"one of {', '.join(DTYPES)}", lambda v: isinstance(v, str) and v in DTYPES),
    "ints": _WHOLES,
    "axes": _WHOLES,
    "sizes": ("a tuple of sizes", _tuple_of(lambda v: _whole(v) or isinstance(v, Sym))),
    "layouts": ("a tuple of strings", _tuple_of(lambda v: isinstance(v, str))),
    "array": ("a numpy array", lambda v: isinstance(v, np.ndarray)),
    "graph": ("a graph", lambda v: hasattr(v, "outputs")),  # Graph stands above this file
}


@dataclass(frozen=True)
class Attr:
    """What one attribute of an op may be.

    kind     a key of `ATTR_KINDS`
    default  its value if none is given; `REQUIRED` if there must be one. None says: may be absent
    least    the smallest that the number, or each number, may be
    among    the strings that it may be, if not all
    """

    kind: str
    default: Any = REQUIRED
    least: int | None = None
    among: tuple[str, ...] = ()

    def check(self, value: Any, what: str) -> None:
        """ValueError if the attribute cannot have this value; `what` names the attribute."""
        if value is None and self.default is None:
            return
        words, accepts = ATTR_KINDS[self.kind]
        if not accepts(value):
            raise ValueError(f"{what} must be {words}, got {_shown(value)}")
        if self.least is not None and not _at_least(value, self.least):
            raise ValueError(f"{what} must be {words} from {self.least} on, got {_shown(value)}")
        if self.among and value not in self.among:
            raise ValueError(f"{what} must be one of {', '.join(self.among)}, got {value!r}")


def _at_least(value: Any, least: int) -> bool:
    return all(n >= least for n in (value if isinstance(value, tuple) else (value,)))


def _shown(value: Any) -> str:
    return repr(list(value) if isinstance(value, tuple) else value)
