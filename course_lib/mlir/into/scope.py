"""The values that are known at a place in the text, by their names.

    scope["%0"] = relu(x)        scope.node("%0")  ->  the node

A value whose operation could not be read is lost, and what needs it cannot be read either; only the
first of them is a trouble. Next room: `maps.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.node import Node, const
from course_lib.ir.types import TensorType
from course_lib.mlir.into.cursor import Unreadable
from course_lib.mlir.into.maps import expanded


class Lost(Exception):
    """A value is needed whose own operation could not be read."""


@dataclass(frozen=True)
class Empty:
    """A tensor of which only the shape counts."""

    type: TensorType


Value = Node | Empty | None  # None: lost


class Scope:
    """Values of a block, and of those around it; `loops` are the extents inside a generic."""

    def __init__(self, above: Scope | None = None, loops: Sequence[int] = ()) -> None:
        self.above, self.loops = above, loops
        self.values: dict[str, Value | Callable[[], Node]] = {}

    def __setitem__(self, name: str, value: Value | Callable[[], Node]) -> None:
        self.values[name] = value

    def find(self, name: str) -> Node | Empty:
        """The value of a name. Lost or Unreadable if there is none."""
        if name not in self.values:
            if self.above is None:
                raise Unreadable(f"{name} is not defined before")
            return self.above.find(name)
        value = self.values[name]
        if value is None:
            raise Lost(name)
        if not isinstance(value, (Node, Empty)):  # made when it is first needed
            make, self.values[name] = value, None
            value = self.values[name] = make()
        return value

    def node(self, name: str) -> Node:
        """The same; zeros for a tensor of which only the shape counts."""
        value = self.find(name)
        if isinstance(value, Empty):
            return expanded(const(value.type.dtype.numpy.type(0)), value.type.dims)
        return value


def fill_of(value: Node | Empty) -> np.generic | None:
    """The one number that a tensor is full of, if that is known."""
    if isinstance(value, Empty):
        return None
    source = value.inputs[0] if value.op == "expand" else value
    if source.op != "constant" or not source.value.size:
        return None
    first = source.value.flat[0]
    return first if np.all(source.value == first) else None
