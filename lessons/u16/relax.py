"""TVM's language Relax: a text runs on numpy, becomes an expression, or becomes a rewrite of TVM.

    on_numpy(text, "before", [q, k, v])        the value
    expression(text, "before")                 what it computes, as nested tuples
    matches(pattern, whole)                    how often the pattern stands in an expression
    inside(pattern)                            the operations of it, operands first

One text, three rooms `R`: numpy's arrays (`Arrays`), tuples (`Trace`), and, where TVM is installed,
patterns and calls of TVM (`live.py`). Next room: `stablehlo.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.u16.texts import call, functions

PARAMETERS = {  # of the operations, in order; the rest of an operation are operands
    "permute_dims": ("x", "axes"),
    "reshape": ("x", "shape"),
    "nn_softmax": ("x", "axis"),
    "nn_attention": ("query", "key", "value", "bias", "scale"),
    "const": ("value", "dtype"),
}
IGNORED = {"out_dtype", "dtype"}  # f32 everywhere
Expression = tuple[Any, ...]  # the operation, its operands, its attributes


class Arrays:
    """The room `R` on numpy, as far as attention needs it."""

    def matmul(self, x1: Any, x2: Any, out_dtype: str = "float32") -> Any:
        return np.matmul(x1, x2)

    def divide(self, x1: Any, x2: Any) -> Any:
        return np.divide(x1, x2)

    def multiply(self, x1: Any, x2: Any) -> Any:
        return np.multiply(x1, x2)

    def const(self, value: float, dtype: str | None = None) -> Any:
        if dtype is None and isinstance(value, int):
            raise ValueError(f"R.const({value}) is an int32, which TVM does not mix with float32")
        return np.float64(value)

    def permute_dims(self, x: Any, axes: Any = None) -> Any:
        return np.transpose(x, axes)

    def nn_softmax(self, data: Any, axis: int = -1) -> Any:
        e = np.exp(data - data.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    def nn_attention(self, query: Any, key: Any, value: Any, bias: Any = None,
                     scale: float | None = None) -> Any:  # fmt: skip
        """On [batch, tokens, heads, size]."""
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        scores = scale * np.einsum("bihd,bjhd->bhij", query, key)
        if bias is not None:
            scores = scores + bias
        return np.einsum("bhij,bjhd->bihd", self.nn_softmax(scores), value)


class Trace:
    """The room `R` in which an operation is a tuple."""

    def any(self, name: str) -> Callable[..., Expression]:
        def operation(*given: Any, **named: Any) -> Expression:
            names = PARAMETERS.get(name, ())
            attributes = {**dict(zip(names[1:], given[1:], strict=False)), **named}
            operands = given[:1] if names and name != "nn_attention" else given
            kept = {k: v for k, v in attributes.items() if k not in IGNORED}
            return name, operands, tuple(sorted(kept.items()))

        return operation


def on_numpy(text: str, name: str, arrays: Sequence[np.ndarray]) -> Any:
    """The value of a function of the text; ValueError in words."""
    return call(text, name, arrays, {"R": Arrays()})


def expression(text: str, name: str) -> Expression:
    """What a function of the text returns, its parameters as ("input", name)."""
    inputs = [("input", one.arg) for one in functions(text)[name].args.args]
    return call(text, name, inputs, {"R": Trace()})


def matches(pattern: Expression, whole: Expression, attributes: bool = True) -> int:
    """In how many places of an expression the pattern stands; an input stands for anything.
    Without `attributes`, its last operation may have others."""
    found = inside(whole)
    if not attributes:
        pattern, found = (*pattern[:2], ()), [(*here[:2], ()) for here in found]
    return sum(_fits(pattern, here, {}) for here in found)


def inside(whole: Expression) -> list[Expression]:
    """The operations of an expression, each after its operands."""
    seen: dict[int, Expression] = {}
    _collect(whole, seen)
    return list(seen.values())


def called(here: Expression) -> str:
    """An operation as it stands in a text: R.nn.softmax(..., axis=-1)."""
    name, operands, attributes = here
    given = [str(operands[0]) if name == "const" else "..."]
    words = [f"{key}={list(x) if isinstance(x, tuple) else x}" for key, x in attributes
             if not isinstance(x, tuple) or not isinstance(x[0], str)]  # fmt: skip
    return f"R.{name.replace('nn_', 'nn.')}({', '.join(given + words)})"


def _collect(here: Any, seen: dict[int, Expression]) -> None:
    if isinstance(here, tuple) and id(here) not in seen:
        for part in here:
            _collect(part, seen)
        if len(here) == 3 and isinstance(here[0], str):
            seen[id(here)] = here


def _fits(pattern: Any, here: Any, bound: dict[str, Any]) -> bool:
    if isinstance(pattern, tuple) and pattern[:1] == ("input",):
        return bound.setdefault(pattern[1], here) is here
    if not isinstance(pattern, tuple) or not isinstance(here, tuple) or len(here) != 3:
        return pattern == here
    if pattern[0] != here[0] or pattern[2] != here[2] or len(pattern[1]) != len(here[1]):
        return False
    return all(_fits(p, h, bound) for p, h in zip(pattern[1], here[1], strict=True))


def as_function(script: str) -> str:
    """What TVM prints of a module, as a text of this room: without types and metadata."""
    lines = ["def main(x):"]
    for line in script.splitlines():
        line = re.sub(r'metadata\["[\w.]+"\]\[(\d+)\]', r"R.weight(\1)", line)
        if found := re.match(r"\s+(\w+): .*? = (R\..*)$", line):
            lines.append(f"    {found[1]} = {found[2]}")
    return "\n".join([*lines, f"    return {lines[-1].split()[0]}"])
