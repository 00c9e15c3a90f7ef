"""A wrong or right answer of a unit as the cell of a notebook: somebody's whole answer.

    cell_of("passes.dce", "by_walking_backwards", function)   ->   the text of a code cell

An answer stands in a file of the unit's `mutants`, as a function, as a row of a table, or as an
edit of ours. Its cell holds what it needs of that file, and of ours what it asks for.

Next room: rehearsal.py, which hands such cells in.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from autograder.check.edits import text_of
from autograder.text.needed import needed, statements
from course_lib.exercises import slot

FUTURE = "from __future__ import annotations"
TABLES = ("mutants", "alternatives")  # what lists answers of a unit


def cell_of(name: str, label: str, function: Callable[..., Any]) -> str:
    """The code of a mutant or an alternative as a cell: with what it needs of its file above it.
    Where it asks for our own answer, that stands there, too."""
    if hasattr(function, "text"):  # our answer, edited
        return _our_cell(function, vars(function)["text"], f"@implements({name!r})\n")
    module, tree, answer = _file_with(name, label, function)
    answer.decorator_list = []
    around = "\n".join(ast.unparse(n) for n in tree.body[1:] if not _is_ours(n) and n is not answer)
    above = [one.source for one in needed([(ast.unparse(answer), 2)], statements(around, 1))]
    cell = "\n\n".join([*above, f"@implements({name!r})\n{ast.unparse(answer)}"])
    return _with_ours(cell, vars(module))


def _file_with(
    name: str, label: str, function: Callable[..., Any]
) -> tuple[ModuleType, ast.Module, ast.FunctionDef]:
    """The file of the unit that has the answer, and the answer as a function in it."""
    rooms = f"autograder.units.{slot(name).key}.mutants"
    files = [m for n, m in sorted(sys.modules.items()) if n == rooms or n.startswith(f"{rooms}.")]
    if (its := inspect.getmodule(function)) is not None:
        files.insert(0, its)
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    for module in files:
        tree = ast.parse(inspect.getsource(module))
        named = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == label]
        own = [n for n in named if _begins(n) == line]  # two exercises may have one name
        if answer := own[0] if own else _of_a_table(tree, label) or (named[0] if named else None):
            return module, tree, answer
    raise ValueError(f"{name}: no file in {rooms} has an answer called {label}")


def _begins(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _with_ours(cell: str, names: dict[str, Any]) -> str:
    """The cell with our answers written out in front: where it says `slot(...).reference`, and
    where it keeps an edit of one, `ours = edited(...)`. `names` are those of its file."""
    front: dict[str, str] = {}

    def as_it_is(call: re.Match[str]) -> str:
        ours = slot(eval(call[1], names)).reference  # a text, or the name of one in our own file
        called = f"our_{ours.__name__}"
        front[called] = _called(called, ours, text_of(ours))
        return called

    def edit(line: re.Match[str]) -> str:
        front[line[1]] = _called(line[1], names[line[1]], names[line[1]].text)
        return ""

    text = re.sub(r"^(\w+) = edited\(.*\)$", edit, cell, flags=re.MULTILINE)
    text = re.sub(r"slot\(([^()]+)\)\.reference\b", as_it_is, text)
    whole = "\n\n".join([*front.values(), text])
    return f"{FUTURE}\n{whole.replace(FUTURE, '')}" if front else text


def _called(name: str, function: Callable[..., Any], text: str) -> str:
    """That text with its function under another name."""
    return re.sub(rf"\b{function.__name__}(?=\()", name, _our_cell(function, text))


def _our_cell(function: Callable[..., Any], text: str, decorator: str = "") -> str:
    """A text of our answer, after the imports of its file and what that defines for everybody."""
    module = inspect.getmodule(function)
    assert module is not None
    tree = ast.parse(inspect.getsource(module))
    branches = [n.body for n in tree.body if isinstance(n, ast.If)]  # if its package is there
    imports = [ast.unparse(n) for n in [*tree.body, *(n for body in branches for n in body)]
               if isinstance(n, (ast.Import, ast.ImportFrom))]  # fmt: skip
    bound = {getattr(n, "id", "") for top in tree.body for n in ast.walk(top)
             if isinstance(getattr(n, "ctx", None), ast.Store)}  # fmt: skip
    bound |= {getattr(n, "name", "") for n in tree.body} - {function.__name__}
    used = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)} & bound
    public = sorted(n for n in used if not n.startswith("_") and hasattr(module, n))
    imports += [f"from {module.__name__} import {', '.join(public)}"] if public else []
    *_, own = re.finditer(rf"^def {function.__name__}\(", text, re.MULTILINE)
    at = own.start()  # a text in the answer may define a function of that name, too
    return "\n".join(imports) + f"\n\n{text[:at]}{decorator}{text[at:]}"


def _of_a_table(tree: ast.Module, label: str) -> ast.FunctionDef | None:
    """The entry of that name in `mutants(...)` or `alternatives(...)`, as a function."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    values = [k.value for n in calls for k in n.keywords
              if k.arg == label and ast.unparse(n.func) in TABLES]  # fmt: skip
    if not values:
        return None
    value = values[0]
    function = ast.parse(f"def {label}(*given, **named):\n    return ()(*given, **named)").body[0]
    assert isinstance(function, ast.FunctionDef)
    if isinstance(value, ast.Lambda):
        function.args, function.body = value.args, [ast.Return(value.body)]
    else:
        given = ast.Starred(ast.Name("given", ast.Load()), ast.Load())
        call = ast.Call(value, [given], [ast.keyword(None, ast.Name("named", ast.Load()))])
        function.body = [ast.Return(call)]
    return ast.fix_missing_locations(function)


def _is_ours(node: ast.stmt) -> bool:
    """A registration, or an import of what students do not have."""
    calls = {ast.unparse(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
    if isinstance(node, ast.FunctionDef):  # another answer may call it
        node.decorator_list = [d for d in node.decorator_list if not _registers(d)]
    elif calls & {*TABLES, "mutant", "alternative", "equivalent", "in_the_library"}:
        return True
    module = getattr(node, "module", None) or ""
    return isinstance(node, ast.ImportFrom) and module.startswith("autograder.check.framework")


def _registers(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith(("mutant(", "alternative("))
