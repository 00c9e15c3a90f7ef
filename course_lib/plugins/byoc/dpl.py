"""Relax's pattern language in small, and what a pattern matches.

    x, w = wildcard(), is_const()
    is_op("relax.nn.relu")(is_op("relax.matmul")(x, w))

As in TVM, a pattern that is used twice stands for one value that is used twice, all operands of a
call must be named, and they are matched in their order; those of `add` and `multiply` in the other
order as well. Next room: `transform.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course_lib.plugins.byoc.tree import GenericConst, Op, RelaxCall, TensorType, Var

Found = dict["DFPattern", Any]  # a pattern -> what it stands for
EITHER_ORDER = ("relax.add", "relax.multiply")


class DFPattern:
    """What an expression may look like. `matches` notes in `found` what each part stands for."""

    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        """`value` is what a variable is bound to, or a parameter, or a constant."""
        raise NotImplementedError

    def has_dtype(self, dtype: str) -> DFPattern:
        return _Typed(self, dtype=dtype)

    def has_shape(self, shape: Any) -> DFPattern:
        return _Typed(self, shape=tuple(shape))

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        return _WithAttrs(self, attrs)

    def __or__(self, other: DFPattern) -> DFPattern:
        return _Or(self, other)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = "has_dtype, has_shape, has_attr, | and, of is_op, a call with operands"
        raise AttributeError(f"a pattern of the stand-in has {known}; it has no {name}")


def match(pattern: DFPattern, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
    """Does the pattern match, with what has been found before? A variable is its value."""
    value = bindings.get(value, value) if isinstance(value, Var) else value
    if pattern in found:
        return found[pattern] is value or (isinstance(value, Var) and found[pattern] == value)
    if not pattern.matches(value, found, bindings):
        return False
    found[pattern] = value
    return True


class _Wildcard(DFPattern):
    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        return True


class _Constant(DFPattern):
    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        return isinstance(value, GenericConst)


class _Op(DFPattern):
    """An op alone; what is matched is a call of it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *operands: DFPattern) -> CallPattern:
        for operand in operands:
            if not isinstance(operand, DFPattern):
                raise TypeError(f"{self.name}: operands are patterns, got {operand!r:.60}")
        return CallPattern(self.name, operands)

    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        return isinstance(value, Op) and value.name == self.name


class CallPattern(DFPattern):
    """A call of an op with so many operands."""

    def __init__(self, name: str, operands: tuple[DFPattern, ...]) -> None:
        self.name, self.operands = name, operands

    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        if not isinstance(value, RelaxCall) or value.op != Op(self.name):
            return False
        orders = [value.args, value.args[::-1]] if self.name in EITHER_ORDER else [value.args]
        for args in orders:
            tried = dict(found)
            if len(args) == len(self.operands) and all(
                match(p, arg, tried, bindings) for p, arg in zip(self.operands, args, strict=True)
            ):
                found.update(tried)
                return True
        return False


class _Typed(DFPattern):
    def __init__(self, inner: DFPattern, **wanted: Any) -> None:
        self.inner, self.wanted = inner, wanted

    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        type = getattr(value, "ty", None)
        known = isinstance(type, TensorType)
        same = known and all(getattr(type, key) == want for key, want in self.wanted.items())
        return same and match(self.inner, value, found, bindings)


class _WithAttrs(DFPattern):
    def __init__(self, inner: DFPattern, wanted: Mapping[str, Any]) -> None:
        self.inner, self.wanted = inner, wanted

    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        attrs = getattr(value, "attrs", None)
        same = attrs is not None and all(attrs.get(k) == want for k, want in self.wanted.items())
        return same and match(self.inner, value, found, bindings)


class _Or(DFPattern):
    def __init__(self, left: DFPattern, right: DFPattern) -> None:
        self.sides = left, right

    def matches(self, value: Any, found: Found, bindings: Mapping[Var, Any]) -> bool:
        for side in self.sides:
            tried = dict(found)
            if match(side, value, tried, bindings):
                found.update(tried)
                return True
        return False


def wildcard() -> DFPattern:
    return _Wildcard()


def is_const() -> DFPattern:
    return _Constant()


def is_op(name: str) -> _Op:
    if not isinstance(name, str) or not name.startswith("relax."):
        raise ValueError(f"ops of Relax have names such as relax.matmul, got {name!r:.60}")
    return _Op(name)
