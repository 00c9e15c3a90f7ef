"""What can be changed at one place of a program: the operators of mutation testing.

    a < b and c            ->   a < b      c      a < b or c      a <= b and c      a > b and c ...
    keep.append(node)      ->   pass
    sorted(x, key=size)    ->   x      sorted(x)      sorted(x, key=size, reverse=True)

`changes(function, names)` goes through every place and puts one change after the other there; while
a change is in place, the function can be printed or compiled. Annotations, decorators, docstrings,
assertions and the texts of errors stay as they are.

Next room: statements.py, the changes of whole statements; reference.py, which makes a wrong answer
of each change.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.soundness.statements import (
    ARITHMETIC,
    call,
    instead_of,
    minus,
    with_fields,
    without_ends,
)

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
COMMUTES = (ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_PAIRS = (
    *(("any", "all"), ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax")),
    *(("startswith", "endswith"), ("floor", "ceil"), ("nodes", "ops"), ("union", "intersection")),
)
TWINS = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
COPIES = ("list", "set", "dict", "deepcopy")  # of a name
DEFAULTS = ("get", "pop", "next", "getattr")  # the last argument is for what is not there
TRANSPARENT = ("sorted", "reversed", "abs")  # a call that may be left out
SYMMETRIC = ("min", "max")  # of numbers; `key=` and equal ones are rare
UNTOUCHED = ("annotation", "returns", "decorator_list", "type_comment", "args", "ctx", "op", "ops")


@dataclass(frozen=True)
class Names:
    """What a string or an attribute of the answer may be mistaken for."""

    strings: dict[str, str] = field(default_factory=dict)  # another op, another attribute of an op
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)  # fields of the same type


def changes(root: ast.stmt, names: Names) -> Iterator[int]:
    """Make every single change of `root` in turn, and undo it. Yields the line that is changed."""
    for owner, name, parameters in _places(root, ()):
        value = getattr(owner, name)
        if isinstance(value, ast.AST):
            for new in (*_instead(value, names), *_by_place(owner, name, value, parameters)):
                if hasattr(new, "is_turned") and _is_set(owner, name):
                    continue
                setattr(owner, name, new)
                yield getattr(value, "lineno", 0)
            setattr(owner, name, value)
        elif _is_body(name, value):
            for index, statement in enumerate(value):
                for block in instead_of(statement):
                    setattr(owner, name, [*value[:index], *block, *value[index + 1 :]])
                    yield statement.lineno
            setattr(owner, name, value)
        else:
            for index, item in enumerate(value):
                for new in (*_instead(item, names), *_by_place(owner, name, item, parameters)):
                    if hasattr(new, "is_turned") and _is_set(owner, name):
                        continue
                    value[index] = new
                    yield getattr(item, "lineno", 0)
                value[index] = item
        yield from _of_lists(owner, name, value)


def _places(node: ast.AST, parameters: tuple[str, ...]) -> Iterator[tuple[ast.AST, str, Any]]:
    """Every (node, field) with code in it, and the parameters of the function around it."""
    if isinstance(node, (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        parameters = tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))
    if isinstance(node, ast.Raise) or getattr(node, "arg", "") == "strict":
        return  # which error it is: _statements; what it says is nobody's business
    for name, value in ast.iter_fields(node):
        if name in UNTOUCHED and not (isinstance(node, ast.Call) and name == "args"):
            continue
        parts = value if isinstance(value, list) else [value]
        children = [part for part in parts if isinstance(part, ast.AST)]
        if children:
            yield node, name, parameters
        for child in children:
            yield from _places(child, parameters)


def _is_set(owner: ast.AST, name: str) -> bool:
    """Is a tuple there read as a set: `except (A, B)`, `isinstance(x, (A, B))`, `x in (1, 2)`?"""
    call = isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "isinstance"
    among = isinstance(owner, ast.Compare) and isinstance(owner.ops[-1], (ast.In, ast.NotIn))
    return call or (among and name == "comparators") or isinstance(owner, ast.ExceptHandler)


def _is_body(name: str, value: list[Any]) -> bool:
    return name in ("body", "orelse", "finalbody") and isinstance(value, list)


def _of_lists(owner: ast.AST, name: str, value: Any) -> Iterator[int]:
    """Changes of a list in the tree that is no list in the program: conditions, cases, keywords."""
    if name not in ("cases", "keywords", "ifs") or not value:
        return
    if name == "cases" and len(value) == 1:
        return
    for index, item in enumerate(value):
        if getattr(item, "arg", "") == "strict":
            continue
        setattr(owner, name, [*value[:index], *value[index + 1 :]])
        yield item.pattern.lineno if name == "cases" else getattr(item, "lineno", 0)
    setattr(owner, name, value)


# ── expressions ──


def _by_place(
    owner: ast.AST, name: str, node: ast.AST, parameters: tuple[str, ...]
) -> Iterator[ast.AST | None]:
    """What may stand in the place of an expression because of where it stands."""
    if name in ("test", "ifs", "guard") and not _has_opposite(node):
        yield ast.UnaryOp(ast.Not(), node)  # type: ignore[arg-type]
    if name == "guard":
        yield None
    if isinstance(owner, ast.Return):
        yield from (ast.Name(parameter, ast.Load()) for parameter in parameters)


def _has_opposite(node: ast.AST) -> bool:
    """Is the negation among the changes of the comparison itself, as `not in` for `in`?"""
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return False
    return len(COMPARED[type(node.ops[0])]) == 1


def _instead(node: Any, names: Names) -> Iterator[ast.AST]:
    """What may stand in the place of an expression."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        for other in names.fields.get(node.attr, ()):
            yield with_fields(node, attr=other)
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
        key = "id" if isinstance(node, ast.Name) else "attr"
        if (old := getattr(node, key)) in TWINS:
            yield with_fields(node, **{key: TWINS[old]})
    if isinstance(node, ast.Constant) and node.value in names.strings:
        yield ast.Constant(names.strings[node.value])
    change = _EXPRESSIONS.get(type(node))
    if change is not None:
        yield from change(node)


def _of_constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1) if node.value >= 1 else minus(1 - node.value)


def _of_bool_op(node: ast.BoolOp) -> Iterator[ast.AST]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield with_fields(node, op=other)
    for index in range(len(node.values)):
        rest = node.values[:index] + node.values[index + 1 :]
        yield rest[0] if len(rest) == 1 else with_fields(node, values=rest)


def _of_compare(node: ast.Compare) -> Iterator[ast.AST]:
    for index, op in enumerate(node.ops):
        for other in COMPARED[type(op)]:
            yield with_fields(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])
    if len(node.ops) > 1:
        yield with_fields(node, ops=node.ops[:-1], comparators=node.comparators[:-1])
        yield ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])


def _of_bin_op(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in ARITHMETIC:
        yield with_fields(node, op=ARITHMETIC[type(node.op)]())
    if not isinstance(node.op, COMMUTES) and not _is_sum(node):
        yield with_fields(node, left=node.right, right=node.left)
    if isinstance(node.op, (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd)):
        yield from (node.left, node.right)
    elif type(node.op) in ARITHMETIC:
        yield node.left


def _is_sum(node: ast.BinOp) -> bool:
    """An addition of numbers, as far as one can see: the order says nothing."""
    joined = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
    sides = (node.left, node.right)
    texts = any(isinstance(s, ast.Constant) and isinstance(s.value, str) for s in sides)
    return (
        isinstance(node.op, ast.Add) and not texts and not any(isinstance(s, joined) for s in sides)
    )


def _of_unary_op(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    name = getattr(node.func, "id", "")
    plain = [i for i, a in enumerate(node.args) if not isinstance(a, ast.Starred)]
    for i, j in itertools.pairwise(plain if name not in SYMMETRIC else []):
        arguments = list(node.args)
        arguments[i], arguments[j] = arguments[j], arguments[i]
        yield with_fields(node, args=arguments)
    if name in TRANSPARENT and node.args:
        yield node.args[0]
    yield from _without_copy(node, name)
    if name == "enumerate" and len(node.args) == 1 and not node.keywords:
        yield with_fields(node, args=[*node.args, ast.Constant(1)])
    if len(node.args) > 1 and (name or getattr(node.func, "attr", "")) in DEFAULTS:
        yield with_fields(node, args=node.args[:-1])
    if name == "sorted" and not any(k.arg == "reverse" for k in node.keywords):
        backwards = ast.keyword("reverse", ast.Constant(True))
        yield with_fields(node, keywords=[*node.keywords, backwards])


def _without_copy(node: ast.Call, name: str) -> Iterator[ast.AST]:
    """The original in the place of a copy: whoever changes the one changes the other."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        yield node.func.value
    if (
        name in COPIES
        and len(node.args) == 1
        and isinstance(node.args[0], (ast.Name, ast.Attribute))
    ):
        yield node.args[0]


def _of_elements(node: ast.Tuple | ast.List | ast.Set) -> Iterator[ast.AST]:
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    for index in range(len(node.elts)):
        rest = node.elts[:index] + node.elts[index + 1 :]
        if rest or not isinstance(node, ast.Set):
            yield with_fields(node, elts=rest)
    if len(node.elts) > 1 and not isinstance(node, ast.Set):
        turned = with_fields(node, elts=node.elts[::-1])
        turned.is_turned = True  # for _is_set: in some places the order says nothing
        yield turned


def _of_dict(node: ast.Dict) -> Iterator[ast.AST]:
    for index in range(len(node.keys)):
        keys = node.keys[:index] + node.keys[index + 1 :]
        yield with_fields(node, keys=keys, values=node.values[:index] + node.values[index + 1 :])


def _of_if_exp(node: ast.IfExp) -> Iterator[ast.AST]:
    yield from (node.body, node.orelse)


def _of_comprehension(node: Any) -> Iterator[ast.AST]:
    """Backwards, and without the first or the last."""
    first, *rest = node.generators
    if isinstance(node, ast.ListComp):
        turned = with_fields(first, iter=call("reversed", call("list", first.iter)))
        yield with_fields(node, generators=[turned, *rest])
    for part in without_ends(first.iter):
        yield with_fields(node, generators=[with_fields(first, iter=part), *rest])


def _of_match_or(node: ast.MatchOr) -> Iterator[ast.AST]:
    for index in range(len(node.patterns)):
        rest = node.patterns[:index] + node.patterns[index + 1 :]
        yield rest[0] if len(rest) == 1 else with_fields(node, patterns=rest)


def _of_slice(node: ast.Slice) -> Iterator[ast.AST]:
    for bound in ("lower", "upper", "step"):
        value = getattr(node, bound)
        if value is None:
            continue
        yield with_fields(node, **{bound: None})
        if bound != "step" and not isinstance(value, (ast.Constant, ast.UnaryOp)):
            yield with_fields(node, **{bound: ast.BinOp(value, ast.Add(), ast.Constant(1))})
            yield with_fields(node, **{bound: ast.BinOp(value, ast.Sub(), ast.Constant(1))})


_EXPRESSIONS: dict[type, Callable[[Any], Iterator[ast.AST]]] = {
    ast.Constant: _of_constant,
    ast.BoolOp: _of_bool_op,
    ast.Compare: _of_compare,
    ast.BinOp: _of_bin_op,
    ast.UnaryOp: _of_unary_op,
    ast.Call: _of_call,
    ast.Tuple: _of_elements,
    ast.List: _of_elements,
    ast.Set: _of_elements,
    ast.Dict: _of_dict,
    ast.IfExp: _of_if_exp,
    ast.ListComp: _of_comprehension,
    ast.SetComp: _of_comprehension,
    ast.DictComp: _of_comprehension,
    ast.GeneratorExp: _of_comprehension,
    ast.MatchOr: _of_match_or,
    ast.Slice: _of_slice,
}
