"""What a function was called with, and what of it is no longer so when the call is over.

    given = Given({"roots": [a], "done": {b}})
    given.changed()        ->  ""        # and after done.add(a):  "done"

Arguments cross as copies: what a function does to a list, a set, a dict, an array or an ONNX model
that it was given would be seen by nobody. In the compiler, which hands out the very thing, it would
be a bug. So it is looked for here, where the function runs. Nodes and graphs cannot change.

Next room: codec.py, the ends of the pipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.wire.onnx import is_onnx_model, onnx_bytes


class Given:
    """The arguments of one call, by name."""

    def __init__(self, arguments: Mapping[str, Any]):
        self._now = dict(arguments)
        self._before = {name: _fixed(value) for name, value in arguments.items()}

    def changed(self) -> str:
        """The name of the first argument that differs from what was given; "" if none does."""
        return next((name for name in self._now if not self._is_as_it_was(name)), "")

    def _is_as_it_was(self, name: str) -> bool:
        try:
            return bool(_fixed(self._now[name]) == self._before[name])
        except Exception:  # a student can put anything anywhere
            return False


def _fixed(value: Any) -> Any:
    """The value as something that stays equal to itself whatever happens to the value."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_fixed(part) for part in value]
    if isinstance(value, dict):
        return {key: _fixed(part) for key, part in value.items()}
    if isinstance(value, set):
        return frozenset(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_onnx_model(value):
        return onnx_bytes(value)
    return value
