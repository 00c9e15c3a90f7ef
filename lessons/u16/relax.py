"""TVM's language Relax on numpy, as far as this unit's texts go.

    returned("def f(x, w): return R.matmul(x, w)", "f", [x, w])

A rewrite is a text with two functions, `before` and `after`. `script` makes of it what TVM reads.
Next room: `stablehlo.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.u16.texts import call, functions


class Relax:
    """The room `R`."""

    def matmul(self, x1: Any, x2: Any) -> Any:
        if np.ndim(x1) < 1 or np.ndim(x2) < 1:
            raise ValueError("matmul takes arrays")
        return np.matmul(x1, x2)

    def add(self, x1: Any, x2: Any) -> Any:
        return np.add(x1, x2)

    def subtract(self, x1: Any, x2: Any) -> Any:
        return np.subtract(x1, x2)

    def multiply(self, x1: Any, x2: Any) -> Any:
        return np.multiply(x1, x2)

    def concat(self, tensors: Any, axis: int = 0) -> Any:
        return np.concatenate(tensors, axis=axis)

    def split(self, x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
        where = indices_or_sections
        if not isinstance(where, int) and not isinstance(where, tuple):
            raise ValueError("split takes a number of parts, or where they begin")
        if isinstance(where, int) and not 1 <= where <= 64:
            raise ValueError(f"split into 1 to 64 parts, not {where}")
        return tuple(np.split(x, where if isinstance(where, int) else list(where), axis=axis))

    def permute_dims(self, x: Any, axes: Any = None) -> Any:
        return np.transpose(x, axes)


def returned(source: str, name: str, arguments: Sequence[Any]) -> Any:
    """What a function of Relax returns, as numpy's arrays; ValueError in words."""
    return call(source, name, arguments, {"R": Relax()})


def script(source: str, types: Sequence[str]) -> str:
    """A text with `before` and `after` as TVM reads a rewrite, for parameters of these types."""
    import ast

    lines = []
    for name, title in (("before", "pattern"), ("after", "replacement")):
        function = functions(source)[name]
        names = [one.arg for one in function.args.args]
        given = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
        body = ast.unparse(function.body).replace("\n", "\n        ")
        lines += ["    @R.function(private=True)", f"    def {title}({given}):", f"        {body}"]
    return "\n".join(["@R.rewriter", "class Rewrite:", *lines])
