"""Does a release hold an answer under another name, or as a part of something else?

    leaked({"course_lib/machine/linear_scan.py": (ours, shorn)}, lambda path: 6)
    -> ["machine.linear_scan: at least half of it is in course_lib/machine/linear_scan.py ..."]

Two functions are the same here if they differ in names, annotations and docstrings only. An answer
is its function and the private definitions that it needs; where at least half of that stands in
what students get, they have the answer. No edition for a class is made with a library that holds
one (contents.py), and `make validate` finds it before that.

What an answer *does*, however it is written, is asked by autograder/soundness/borrowed.py, which
takes longer. Next room: contents.py.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autograder.edition.solutions import Function, exercises_in, parsed

FOR_READERS = ("annotation", "returns", "decorator_list", "ctx", "type_comment")
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
Form = tuple[int | str, ...]
SMALL = 15  # nodes of a syntax tree: below that, two functions are alike by chance


def leaked(files: Mapping[str, tuple[str, str]], first: Callable[[str], int]) -> list[str]:
    """What is wrong with these files, each as it is with us and as students get it, in words.
    `first(path)` is the first unit whose answers must not be in that file."""
    standing: dict[Form, list[tuple[str, Function]]] = defaultdict(list)
    for path, (_, shorn) in files.items():
        for form, node in functions_in(shorn):
            standing[form].append((path, node))
    problems = []
    for path, (text, _) in files.items():
        for name, parts in exercises_in(text, first(path)):
            functions = [(part, size_of(part)) for part in parts if isinstance(part, Function)]
            matches = [(size, places) for part, size in functions if size >= SMALL
                     and (places := _alike(part, standing[form_of(part)]))]  # fmt: skip
            if matches and 2 * sum(size for size, _ in matches) >= sum(n for _, n in functions):
                where = ", ".join(sorted({places[0] for _, places in matches}))
                problems.append(f"{name}: at least half of it is in {where}")
    return problems


@functools.cache
def functions_in(text: str) -> tuple[tuple[Form, Function], ...]:
    """Every function and method of a file."""
    return tuple((form_of(node), node) for node in _functions(parsed(text).body))


def _functions(statements: list[Any]) -> Iterator[Function]:
    """Of these statements and of those inside them: no expression holds one."""
    for statement in statements:
        if isinstance(statement, Function):
            yield statement
        for block in BLOCKS:
            yield from _functions(getattr(statement, block, []))


def form_of(function: Function) -> Form:
    """What two that are the same have in common, and few others: how many arguments, and which
    kinds of statements. Most functions need no closer look."""
    given, body = function.args, function.body[ast.get_docstring(function) is not None :]
    arguments = (given.posonlyargs, given.args, given.kwonlyargs)
    return (*map(len, arguments), *(type(statement).__name__ for statement in body))


def size_of(node: ast.AST) -> int:
    """How many nodes there are, without those that only readers need."""
    return sum(1 for _ in _parts(node))


def _alike(part: Function, others: list[tuple[str, Function]]) -> list[str]:
    """Where a function stands that does the same."""
    wanted = _digest(part)
    return [f"{path} ({node.name})" for path, node in others if _digest(node) == wanted]


@functools.cache
def _digest(function: Function) -> str:
    """What a function does, whatever its own names are called."""
    inside = list(_parts(function))
    own = {function.name}
    for node, _ in inside:
        if isinstance(node, Function):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    numbers: dict[str, str] = {}
    parts = []
    for node, depth in inside:
        fields = [
            numbers.setdefault(value, f"v{len(numbers)}")
            if name in ("id", "arg", "name") and value in own and not isinstance(node, ast.keyword)
            else value
            for name, value in ast.iter_fields(node)
            if not isinstance(value, (ast.AST, list)) and name not in FOR_READERS
        ]
        parts.append((depth, type(node).__name__, fields))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _parts(node: ast.AST) -> Iterator[tuple[Any, int]]:
    """The nodes of a tree from the top, each with its depth, but docstrings, annotations and the
    like."""
    queue = [(node, 0)]
    while queue:
        one, depth = queue.pop()
        yield one, depth
        inside: list[Any] = []
        for name, value in ast.iter_fields(one):
            if name == "body" and isinstance(one, Function) and ast.get_docstring(one) is not None:
                inside += value[1:]
            elif name not in FOR_READERS:
                inside += value if isinstance(value, list) else [value]
        queue += [(part, depth + 1) for part in reversed(inside) if isinstance(part, ast.AST)]
