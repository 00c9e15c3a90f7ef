"""The arguments of public functions, checked against their annotations.

    @takes
    def split(kernel: Kernel, var: str, factor: int) -> Kernel: ...

    split(kernel, "n", 2.0)   ->   ValueError: split: factor is a whole number, got 2.0 (a float)

For functions that people call. Inside the library, values have the right types already, and nothing
is checked. If a value of the right type is wrong, the function itself says so. Of a class that is
imported for type checkers alone, only the name is compared. Next room: `packages.py`.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import dataclasses
import functools
import inspect
import numbers
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, ForwardRef, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
NAMED = {  # one, and many
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("a text", "texts"),
    bool: ("True or False", "truth values"),
    type(None): ("None", "None"),
}
UNIONS = (Union, types.UnionType)
LISTS = (list, tuple, collections.abc.Sequence)


def takes(function: Function) -> Function:
    """The same function, which looks at its arguments first: ValueError in words if one of them is
    not what the annotations say."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        explain(function, args, kwargs)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def explain(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """ValueError in words if one of a call's arguments is not what the annotations say."""
    kinds, order, more = _parameters(function)
    for name, value in chain(zip(chain(order, repeat(more)), args, strict=False), kwargs.items()):
        if name in kinds and not fits(value, kinds[name]):
            raise ValueError(f"{function.__name__}: {mismatch(name, kinds[name], value)}")


def check_fields(record: Any) -> None:
    """The same for the fields of a dataclass: its `__post_init__` calls this."""
    for name, kind in _fields(type(record)).items():
        if not fits(value := getattr(record, name), kind):
            raise ValueError(f"{type(record).__name__}: {mismatch(name, kind, value)}")


def mismatch(name: str, kind: Any, value: Any) -> str:
    """What was expected, and what came."""
    text = repr(value)
    text = f"{text} " if len(text) <= 60 and "\n" not in text else ""
    came = "None" if value is None else f"{text}({_with_article(type(value).__name__)})"
    return f"{name} is {words(kind)}, got {came}"


class Names(dict[str, Any]):
    """The names of a module. One that it imports for type checkers alone stands for itself.
    NameError if it knows no such name."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if name in _for_type_checkers(self["__name__"]):
            return ForwardRef(name)
        raise NameError(
            f"an annotation of {self['__name__']} says {name}, which is not known there"
        )


@functools.cache
def _for_type_checkers(module: str) -> frozenset[str]:
    """What a module imports `if TYPE_CHECKING`."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    checked = [node for node in body if isinstance(node, ast.If) and "TYPE_CHECKING" in
               {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}]  # fmt: skip
    imports = [step for node in checked for step in node.body
               if isinstance(step, (ast.Import, ast.ImportFrom))]  # fmt: skip
    return frozenset(alias.asname or alias.name for step in imports for alias in step.names)


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of the parameters; what is returned may need a heavy package."""
    own = inspect.unwrap(function)
    asked = types.SimpleNamespace(__annotations__={**own.__annotations__, "return": None})
    return get_type_hints(asked, own.__globals__, Names(own.__globals__))


@functools.cache
def _fields(record_type: type) -> dict[str, Any]:
    kinds = get_type_hints(record_type)
    return {field.name: kinds[field.name] for field in dataclasses.fields(record_type)}


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[dict[str, Any], list[str], str | None]:
    """The annotations; the names of what comes by position; the name of what may follow that."""
    kinds, order = hints(function), list[str]()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return kinds, order, name
        order.append(name)
    return kinds, order, None


def fits(value: Any, kind: Any) -> bool:
    """Is the value one of this annotation? What the annotation does not say, fits."""
    if type(value) is kind:  # the usual case
        return True
    if isinstance(kind, ForwardRef):  # whoever made the value has imported its class
        return kind.__forward_arg__ in {one.__name__ for one in type(value).__mro__}
    if kind in (int, float):
        number = numbers.Integral if kind is int else numbers.Real
        return isinstance(value, number) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and origin is None and kind is not Any:
        return getattr(kind, "_is_protocol", False) or isinstance(value, kind)
    if origin in UNIONS:
        return any(fits(value, one) for one in inner)
    if origin is collections.abc.Callable:
        return callable(value)
    if origin in (dict, collections.abc.Mapping):
        return isinstance(value, Mapping) and all(fits(one, inner[1]) for one in value.values())
    if isinstance(value, (str, bytes)):
        return origin not in (*LISTS, collections.abc.Iterable)
    if origin is collections.abc.Iterable:
        seen = value if isinstance(value, collections.abc.Collection) else ()  # the rest runs out
        return isinstance(value, origin) and all(fits(one, inner[0]) for one in seen)
    if origin in LISTS:
        return _is_listed(value) and all(_elements_fit(value, origin, inner))
    return True


def _is_listed(value: Any) -> bool:
    """A list, or what serves as one: an array with axes, the values of a dict."""
    several = isinstance(value, collections.abc.Collection) and not isinstance(value, Mapping)
    return several and getattr(value, "shape", None) != ()


def _elements_fit(
    value: collections.abc.Collection[Any], origin: Any, inner: Sequence[Any]
) -> Iterator[bool]:
    if origin is tuple and inner[-1] is not Ellipsis:
        yield len(value) == len(inner)
        yield from map(fits, value, inner)
    else:
        yield from (fits(one, inner[0]) for one in value)


def words(kind: Any, many: bool = False) -> str:
    """An annotation in words: "a whole number or None", "a list of functions"."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in NAMED:
        return NAMED[kind][many]
    if origin in UNIONS:
        last = sorted(inner, key=lambda one: one is type(None))
        return " or ".join(dict.fromkeys(words(one, many) for one in last))
    if origin is collections.abc.Callable:
        return "functions" if many else "a function"
    if origin in (dict, collections.abc.Mapping):
        return "dicts" if many else "a dict"
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"({', '.join(map(words, inner))})"
    if origin in (*LISTS, collections.abc.Iterable):
        of = "" if inner[0] is Any else f" of {words(inner[0], many=True)}"
        return f"{'lists' if many else 'a list'}{of}"
    name = kind.__forward_arg__ if isinstance(kind, ForwardRef) else None
    name = name or getattr(kind, "__name__", str(kind))
    return f"{name}s" if many else _with_article(name)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
