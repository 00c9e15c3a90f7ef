"""Source surgery on exercises: our answer as the body of a notebook cell, and files without it.

    solution_body(cse)        ->  the lines between the docstring and the end, with the private
                                  helpers and the imports that they need in front
    without_answers(text, 2)  ->  the file with the bodies of unit 2 and later taken out

The rule for authors: what only the solution uses starts with an underscore and stands in the same
file. Such helpers leave the student edition together with the body.

Next room: sources.py, which puts bodies into notebooks; contents.py, which takes them out of files.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef
WIDTH = 100  # of a line in a notebook
GLUE = "\0"  # a space at which no line is broken


def solution_body(function: Callable[..., Any]) -> list[str]:
    """The body of an exercise as lines, complete in itself."""
    module = sys.modules[function.__module__]
    text = inspect.getsource(module)
    tree = ast.parse(text)
    node = _function(tree, function.__name__)
    private = _private_definitions(tree)
    body = ast.Module(node.body, [])
    helpers = _closure(body, private)
    names = _names(body) - {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    for name in helpers:
        names |= _names(private[name])
    names -= {*helpers, function.__name__, *_signature_names(node)}
    parts = [_imports(names, function)]
    parts += [_lines(text, private[n]) for n in sorted(helpers, key=lambda n: private[n].lineno)]
    parts.append(_body(text, node))
    return "\n\n".join("\n".join(part) for part in parts if part).split("\n")


def parts_of_answer(function: Callable[..., Any]) -> list[Any]:
    """The syntax trees of an answer: the private definitions that it needs, then the function."""
    tree = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    return _parts(_function(tree, function.__name__), _private_definitions(tree))


def _parts(node: Function, private: dict[str, Any]) -> list[Any]:
    needed = {id(private[name]): private[name] for name in _closure(node, private)}
    return [*sorted(needed.values(), key=lambda part: part.lineno), node]


def imports_of_signature(function: Callable[..., Any]) -> list[str]:
    """The import lines without which the `def` line of the stub does not run."""
    return _imports(_signature_names(_own_node(function)), function)


def signature_line(function: Callable[..., Any]) -> str:
    """The `def` line as the library has it; its arguments stand below it if they would be long."""
    node = _own_node(function)
    arguments = ast.unparse(node.args)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"def {node.name}({arguments}){returns}:"
    if len(line) <= WIDTH or set("'\"") & set(arguments):
        return line
    inside = textwrap.fill(_glued(arguments), WIDTH - 4, break_on_hyphens=False)
    inside = textwrap.indent(inside.replace(GLUE, " "), "    ")
    return f"def {node.name}(\n{inside}\n){returns}:"


def _glued(arguments: str) -> str:
    """The arguments with a space between two of them, and `GLUE` for all other spaces."""
    depth, text = 0, ""
    for letter, before in zip(arguments, f" {arguments}", strict=False):
        depth += (letter in "([{") - (letter in ")]}")
        text += GLUE if letter == " " and (depth or before != ",") else letter
    return text


@functools.cache
def parsed(text: str) -> ast.Module:
    """The file's tree, which nobody changes: reading all files of the course takes seconds."""
    return ast.parse(text)


def without_answers(text: str, unit: int) -> str:
    """The file's text with the bodies of the exercises of `unit` and later units taken out."""
    if "exercise(" not in text:
        return text  # most files
    tree = parsed(text)
    gone = [n for n in tree.body if isinstance(n, Function) and _belongs_to(n, unit)]
    if not gone:
        return text
    lines = text.split("\n")
    cuts: list[tuple[int, int, list[str]]] = []
    for node in gone:
        first, last = _body_span(node, lines)
        cuts.append((first, last, _replacement(node)))
    for node in _unused_helpers(tree, gone):
        cuts.append((_start_with_comments(node, lines), node.end_lineno or node.lineno, []))
    for first, last, new in sorted(cuts, reverse=True):
        lines[first - 1 : last] = new
    return _squeezed("\n".join(lines))


def exercises_in(text: str, unit: int) -> list[tuple[str, list[Any]]]:
    """The exercises of `unit` and later units in a file: the name, and the parts of the answer."""
    if "exercise(" not in text:
        return []
    tree = parsed(text)
    private = _private_definitions(tree)
    nodes = [n for n in tree.body if isinstance(n, Function) and _belongs_to(n, unit)]
    return [(exercise_name(node) or "", _parts(node, private)) for node in nodes]


def exercise_name(node: ast.AST) -> str | None:
    """The name in a `@exercise("name", ...)` decorator; where it is computed, how."""
    call = _decorator(node)
    if call is None:
        return None
    name = call.args[0]
    return str(name.value) if isinstance(name, ast.Constant) else ast.unparse(name)


def _decorator(node: ast.AST) -> ast.Call | None:
    for call in getattr(node, "decorator_list", []):
        if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] == "exercise":
            return call
    return None


def _keyword(node: ast.AST, name: str) -> ast.expr | None:
    call = _decorator(node)
    return next((k.value for k in call.keywords if k.arg == name), None) if call else None


def _unit_of(node: ast.AST) -> int | None:
    value = _keyword(node, "unit")
    return int(ast.literal_eval(value)) if value is not None else None


def _belongs_to(node: ast.AST, unit: int) -> bool:
    """Is it an exercise of that unit, or of a later one?"""
    own = _unit_of(node)
    return own is not None and own >= unit


def _replacement(node: Function) -> list[str]:
    baseline = _keyword(node, "baseline")
    if baseline is None or (isinstance(baseline, ast.Constant) and baseline.value is None):
        return [
            "    from course_lib.exercises import NotAnswered",
            "",
            f'    raise NotAnswered("{exercise_name(node)}")',
        ]
    function = ast.unparse(baseline)
    function = f"({function})" if isinstance(baseline, ast.Lambda) else function
    arguments = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]
    arguments += [f"*{node.args.vararg.arg}"] if node.args.vararg else []
    arguments += [f"{a.arg}={a.arg}" for a in node.args.kwonlyargs]
    arguments += [f"**{node.args.kwarg.arg}"] if node.args.kwarg else []
    return [f"    return {function}({', '.join(arguments)})"]


def _unused_helpers(tree: ast.Module, gone: list[Function]) -> list[ast.stmt]:
    """Private definitions that nothing needs once the bodies of `gone` are out."""
    private = _private_definitions(tree)
    kept = [n for n in tree.body if n not in private.values() and n not in gone]
    needed: set[str] = set()
    for node in kept:
        needed |= _names(node)
    for node in gone:
        for part in [*node.decorator_list, node.args, node.returns]:
            needed |= _names(part) if part is not None else set()
    queue = [name for name in needed if name in private]
    seen = set(queue)
    while queue:
        new = (_names(private[queue.pop()]) & set(private)) - seen
        seen |= new
        queue += new
    return list({id(node): node for name, node in private.items() if name not in seen}.values())


def _private_definitions(tree: ast.Module) -> dict[str, Any]:
    """Top-level functions, classes and plain assignments whose names start with an underscore."""
    definitions: dict[str, Any] = {}
    for node in tree.body:
        for name in _bound_names(node):
            if name.startswith("_") and not name.startswith("__"):
                definitions[name] = node
    return definitions


def _bound_names(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [t.id for t in targets if isinstance(t, ast.Name)]


def _closure(node: ast.AST, private: dict[str, Any]) -> set[str]:
    """The private names that a function needs, directly or through each other."""
    queue, seen = [node], set()
    while queue:
        for name in _names(queue.pop()) & set(private):
            if name not in seen:
                seen.add(name)
                queue.append(private[name])
    return seen


def _names(node: ast.AST) -> set[str]:
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
        text = part.value if isinstance(part, ast.Constant) else None
        if isinstance(text, str) and text.isidentifier():
            names.add(text)  # a quoted annotation, or __getattr__ by name
    return names


def _imports(names: Iterable[str], function: Callable[..., Any]) -> list[str]:
    """The import lines by which another file gets these globals of the function's module."""
    lines: list[str] = []
    by_home: dict[str, list[str]] = {}
    for name in sorted(set(names) & set(function.__globals__)):
        value = function.__globals__[name]
        if inspect.ismodule(value):
            alias = f" as {name}" if name != value.__name__ else ""
            lines.append(f"import {value.__name__}{alias}")
            continue
        home = getattr(value, "__module__", None)
        if home is None or getattr(sys.modules.get(home), name, None) is not value:
            home = function.__module__
        by_home.setdefault(home, []).append(name)
    return lines + [f"from {home} import {', '.join(by_home[home])}" for home in sorted(by_home)]


def _own_node(function: Callable[..., Any]) -> Function:
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, Function)
    return node


def _signature_names(node: Function) -> set[str]:
    return _names(node.args) | (_names(node.returns) if node.returns else set())


def _function(tree: ast.Module, name: str) -> Function:
    for node in tree.body:
        if isinstance(node, Function) and node.name == name:
            return node
    raise ValueError(f"{name} is not a top-level function of its file")


def _lines(text: str, node: Any) -> list[str]:
    lines = text.split("\n")
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return lines[first - 1 : node.end_lineno]


def _body(text: str, node: Function) -> list[str]:
    lines = text.split("\n")
    first, last = _body_span(node, lines)
    return textwrap.dedent("\n".join(lines[first - 1 : last])).strip("\n").split("\n")


def _body_span(node: Function, lines: list[str]) -> tuple[int, int]:
    """First and last line of the body, from 1: comments belong to it, the docstring does not."""
    first = node.body[0].lineno
    if ast.get_docstring(node) is not None:
        first = (node.body[0].end_lineno or first) + 1
    last = node.end_lineno or node.lineno
    while last < len(lines) and lines[last].startswith((" ", "\t")) and lines[last].strip():
        last += 1
    return first, last


def _start_with_comments(node: Any, lines: list[str]) -> int:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return first


def _squeezed(text: str) -> str:
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text.rstrip("\n") + "\n"
