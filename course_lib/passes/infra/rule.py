"""A rewrite rule is two ordinary functions: before and after.

    rule(lambda x: -(-x), lambda x: x)          neg(neg(%x)) -> %x

Both are run on input nodes; what they return is the pattern and the replacement. The rule's text is
printed from these, so it cannot disagree with what the rule does. Next room: `rewrite.py`, which
applies rules wherever they match.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.provenance import origins
from course_lib.ir.types import DTYPES, DType, TensorType
from course_lib.passes.infra.match import match, number_of

OPS_OF = {
    "course_lib.ir.graph.build",
    "course_lib.ir.graph.node",
}  # each a function of its operands
VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
SAMPLES = tuple(DTYPES[name] for name in ("f32", "i32", "bool"))  # to print a rule and to check it


def rule(
    before: Callable[..., Node],
    after: Callable[..., Node | bool | int | float],
    guard: Callable[..., bool] | None = None,
    types: Mapping[str, str] | None = None,
) -> Rule:
    """The rule that replaces what looks like `before(...)` by `after(...)`.

    The parameters of `before` are the variables of the pattern; each stands for any node. `after`
    gets the nodes that they matched, and so does `guard`, which can refuse: it sees types, values
    of constants, ops. Numbers in `before` match constants of any shape filled with that number;
    a number as the result of `after` stands for a constant of the replaced node's type.

    A pattern is made for each element type for which both sides type-check. `x * 1` does for all
    numbers, so it matches f16 to u64; `x / 2.0` does not for i32, so it matches floats alone;
    `0 - x -> -x` leaves u8 alone, which has no negative numbers; `not x` is for bool.
    Variables of another type than that of the last operand say so in `types`, with an example:
    `types={"c": "bool[]"}`. Only its element type is compared.

    Raises ValueError if the two fit no element type, or if `after` has another type.

    >>> from course_lib.ir.graph.node import inp
    >>> double_negation = rule(lambda x: -(-x), lambda x: x)
    >>> print(double_negation)
    neg(neg(%x)) -> %x
    >>> x = inp("x", "f32[4]")
    >>> double_negation(-(-x)) is x
    True
    >>> def whole(x): return not x.type.dtype.is_float
    >>> print(rule(lambda x: x * 0, lambda x: 0, guard=whole))
    mul(%x, 0) -> 0 if whole
    """
    result = Rule(_parameters(before), before, after, guard, dict(types or {}))
    words = *_words(before), *_words(after)
    key = (words, *result.types.items())
    if key in _traces:
        result.op, result.patterns = _traces[key]
        return result
    for sample in SAMPLES:
        pattern = result.pattern(sample)
        if pattern is not None:
            _check(pattern)
            result.op = pattern.root.op
            if _are_formulas(words):
                _traces[key] = result.op, result.patterns
            return result
    reasons = "; ".join(f"{dtype}: {result.patterns[dtype]}" for dtype in SAMPLES)
    raise ValueError(f"the rule fits no element type ({reasons})")


@dataclass(frozen=True)
class Pattern:
    """A rule for one element type: its variables, and what `before` and `after` make of them.

    result    None if `after` reads the value of a constant, which only a match has
    """

    variables: tuple[Node, ...]
    root: Node
    result: Node | None

    @cached_property
    def operands(self) -> tuple[int, list[Any]]:
        """Of the root's operands, how many differ, and what they say of those of a match; a
        variable says nothing."""
        inputs = self.root.inputs
        return len(set(inputs)), [_label(i) for i in inputs if i.op != "input"]

    def may_match(self, node: Node) -> bool:
        """A look at a node's operands, which spares most nodes a search."""
        distinct, wanted = self.operands
        if len(node.inputs) > distinct and len(set(node.inputs)) > distinct:
            return False
        if not wanted:
            return True
        labels = [_label(i) for i in node.inputs]
        return all([label in labels for label in wanted])


def _label(node: Node) -> Any:
    """An operation's name, a constant's number."""
    return number_of(node) if node.op == "constant" else node.op


@dataclass(eq=False)
class Rule:
    """Call it with a node: the answer is the replacement, or None where the rule does not apply."""

    parameters: tuple[str, ...]
    before: Callable[..., Node]
    after: Callable[..., Any]
    guard: Callable[..., bool] | None
    types: dict[str, str]
    op: str = ""
    patterns: dict[DType, Pattern | str] = field(default_factory=dict)  # or why there is none

    def __str__(self) -> str:
        return _text(self, next(p for p in self.patterns.values() if isinstance(p, Pattern)))

    def __call__(self, node: Node) -> Node | None:
        if node.op != self.op or not node.inputs:
            return None
        pattern = self.pattern(node.inputs[-1].type.dtype)
        if pattern is None or not pattern.may_match(node):
            return None
        matched = match(pattern.root, node)
        if matched is None:
            return None
        nodes = [matched[variable] for variable in pattern.variables]
        if self.guard is not None and not self.guard(*nodes):
            return None
        new = _as_node(self.after(*nodes), node.type)
        if new in nodes:
            return new
        replaced = [n for p, n in matched.items() if p.op != "input"]
        return replace(new, origin=origins(*replaced))

    def pattern(self, dtype: DType) -> Pattern | None:
        """The rule for operands of this element type; None if a side does not type-check."""
        pattern = self.patterns.get(dtype)
        if pattern is None:
            pattern = self.patterns[dtype] = self._traced(dtype)
        return None if isinstance(pattern, str) else pattern

    def _traced(self, dtype: DType) -> Pattern | str:
        try:
            variables = tuple(inp(p, self.types.get(p, f"{dtype}[]")) for p in self.parameters)
            root = self.before(*variables)
            if not isinstance(root, Node) or root in variables:
                raise ValueError(f"`before` must compute something, it returns {root!r}")
            return Pattern(variables, root, self._result(variables, root))
        except (ValueError, OverflowError) as error:
            return str(error)

    def _result(self, variables: tuple[Node, ...], root: Node) -> Node | None:
        try:
            return _as_node(self.after(*variables), root.type)
        except AssertionError:  # it reads the value of a constant
            return None


# Where functions that are formulas of their parameters alone begin, an op, and their patterns.
_traces: dict[tuple, tuple[str, dict[DType, Pattern | str]]] = {}


def _words(fn: Callable[..., Any]) -> tuple:
    """All that says what a formula does: its code, and the functions that it names. None stands for
    what is no function. A pass makes its rules anew in every call, so this is asked often."""
    if not isinstance(fn, FunctionType) or fn.__defaults__ or fn.__kwdefaults__:
        return (None,)
    named = [fn.__globals__.get(name) for name in fn.__code__.co_names]
    if fn.__closure__:
        named += [_content(cell) for cell in fn.__closure__]
    return fn.__code__, *[value if isinstance(value, FunctionType) else None for value in named]


def _are_formulas(words: tuple) -> bool:
    """Do these say it all: code without functions inside, and ops?"""
    for word in words:
        if isinstance(word, CodeType):
            if any(isinstance(value, CodeType) for value in word.co_consts):
                return False
        elif word is None or word.__module__ not in OPS_OF:
            return False
    return True


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _parameters(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of its parameters. A plain function's code has them: a pass makes its rules anew
    in every call, and `inspect` takes a quarter of that time."""
    if isinstance(fn, FunctionType) and not fn.__dict__ and not fn.__code__.co_flags & VARIADIC:
        return fn.__code__.co_varnames[: fn.__code__.co_argcount + fn.__code__.co_kwonlyargcount]
    return tuple(inspect.signature(fn).parameters)


def _check(pattern: Pattern) -> None:
    root, result = pattern.root.type, pattern.result
    if result is not None and result.type.dtype != root.dtype:
        raise ValueError(f"`before` gives {root}, but `after` gives {result.type}")


def _as_node(value: Any, type: TensorType) -> Node:
    if isinstance(value, Node):
        return value
    number = const(np.asarray(value, type.dtype.numpy))
    return apply("expand", number, shape=type.shape) if type.shape else number


def _text(rule: Rule, pattern: Pattern) -> str:
    """`before -> after if guard`, as nested expressions."""
    guard = f" if {rule.guard.__name__}" if rule.guard else ""
    call = f"{rule.after.__name__}({', '.join('%' + p for p in rule.parameters)})"
    after = call if pattern.result is None else _expression(pattern.result)
    return f"{_expression(pattern.root)} -> {after}{guard}"


def _expression(node: Node) -> str:
    if node.op == "input":
        return f"%{node.name}"
    if node.op == "constant":
        value = node.value.item() if node.value.size == 1 else "dense<...>"
        return f"{value:g}" if isinstance(value, float) else f"{value}".lower()
    attrs = [f"{name} = {value}" for name, value in node.attrs.items()]
    return f"{node.op}({', '.join([*map(_expression, node.inputs), *attrs])})"
