"""What an answer looks like when names, layout and comments are taken away.

    total = 0                                 <Assign> v0 0
    for node in graph.nodes:          ->      <For> v1 .nodes graph
        total += node.size                    <AugAssign> v0 <Add> .size v1

Two answers of the same shape say the same thing in other words. Names that the answer itself gives
become v0, v1, ... in the order in which they appear; attributes, constants and the names of the
library stay. An explanation's shape are its words.

Next room: statistics.py, equal shapes; originality.py, shapes that share much.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from autograder.grading.program import Program

TOO_DEEP = (SyntaxError, ValueError, RecursionError, MemoryError)
MOST = 20_000  # tokens of an answer; no honest one has as many
Token = tuple[str, int]  # what it is, and its line, from 1


@dataclass(frozen=True)
class Shape:
    """An answer's source and its tokens."""

    source: str
    tokens: tuple[Token, ...]

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(what for what, _ in self.tokens)


def shape_of(program: Program, exercise: str) -> Shape | None:
    """The shape of the answer to an exercise; None where there is none that can be read."""
    if exercise in program.texts:
        return text_shape(program.texts[exercise])
    cells = [cell for cell in program.cells if exercise in cell.answers]
    return code_shape(_answer(cells[-1].source, exercise)) if cells else None


def helpers_of(program: Program) -> Shape | None:
    """The shape of everything that the answers take from other cells."""
    return code_shape("\n\n".join(cell.source for cell in program.cells if not cell.answers))


@functools.lru_cache(maxsize=8192)
def code_shape(source: str) -> Shape | None:
    try:
        tree = ast.parse(source)
        return Shape(source, tuple(islice(_tokens(tree), MOST)))
    except TOO_DEEP:
        return None


def text_shape(text: str) -> Shape:
    words = [
        (word.lower(), number)
        for number, line in enumerate(text[: 10 * MOST].splitlines(), 1)
        for word in re.findall(r"\w+", line)
    ]
    return Shape(text, tuple(words))


def _answer(source: str, exercise: str) -> str:
    """The definition that plugs the exercise in; the whole cell where it cannot be found."""
    try:
        body = ast.parse(source).body
        for node in body if len(body) > 1 else ():
            decorators = getattr(node, "decorator_list", [])
            if any(f"'{exercise}'" in ast.dump(d) for d in decorators):
                lines = source.splitlines()
                return "\n".join(lines[decorators[0].lineno - 1 : node.end_lineno])
    except TOO_DEEP:
        pass
    return source


def _tokens(tree: ast.AST) -> Iterator[Token]:
    nodes = list(islice(_in_order(tree), MOST))
    given = {name for node, _ in nodes if (name := _given_name(node))}
    numbers: dict[str, int] = {}
    for node, line in nodes:
        for text in _texts(node):
            if text in given:
                text = f"v{numbers.setdefault(text, len(numbers))}"
            yield text, line


def _in_order(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """The nodes that say something, parents first, each with its line; no docstrings."""
    stack: list[tuple[ast.AST, int]] = [(tree, 1)]
    while stack:
        node, line = stack.pop()
        line = getattr(node, "lineno", line)
        if _is_docstring(node):
            continue
        yield node, line
        children: list[tuple[ast.AST, int]] = []
        for name in node._fields:
            child = None if name in SKIPPED else getattr(node, name, None)
            if isinstance(child, ast.AST):
                children.append((child, line))
            elif isinstance(child, list):
                children += [(c, line) for c in child if isinstance(c, ast.AST)]
        stack += reversed(children)


def _texts(node: ast.AST) -> tuple[str, ...]:
    """The tokens that one node stands for itself; a name that it binds or uses stands alone."""
    kind = type(node)
    if kind is ast.Name or kind is ast.arg:
        return (node.id if isinstance(node, ast.Name) else node.arg,)  # type: ignore[attr-defined]
    if isinstance(node, ast.Attribute):
        return (f".{node.attr}",)
    if isinstance(node, ast.Constant):
        return (repr(node.value)[:80],)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (f"<{kind.__name__}>", node.name)
    if isinstance(node, ast.keyword | ast.alias):
        return (f"={node.arg if isinstance(node, ast.keyword) else node.name}",)
    return () if kind in SILENT else (f"<{kind.__name__}>",)


def _given_name(node: ast.AST) -> str:
    """The name that the source itself binds here, imports apart; "" if it binds none."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return ""


def _is_docstring(node: ast.AST) -> bool:
    """A text that stands alone, which is a docstring or a comment."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


SKIPPED = ("ctx", "annotation", "returns", "type_comment", "decorator_list", "type_ignores")
SILENT = (ast.Module, ast.Expr, ast.arguments)
