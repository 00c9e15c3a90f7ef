"""Our answer with a few words of its text replaced: most wrong answers are that.

    edited(dce, "if node in live", "if node not in live")    ->   a function, which is wrong

The text is the one that `python -m autograder validate` prints lines of: Python's own spelling, one
statement a line, without docstrings. It is the function and what its file keeps private. What is to
be replaced stands there exactly once, so an edit that no longer fits is an error, not a right
answer. The edited definitions run in a copy of their module's names; the library stays as it is.

Next room: exemplars.py, which lists them.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

FUTURE = ast.parse("from __future__ import annotations").body


def edited(function: Callable[..., Any], *words: str) -> Callable[..., Any]:
    """`function` with each of `words` replaced by the next one: old, new, old, new.

    ValueError if what is old stands there never or several times."""
    text = text_of(function)
    for old, new in zip(words[::2], words[1::2], strict=True):
        if (times := text.count(old)) != 1:
            raise ValueError(f"{old!r} stands {times} times in the text of our answer:\n{text}")
        text = text.replace(old, new)
    names = dict(vars(sys.modules[function.__module__]))
    tree = ast.Module([*FUTURE, *ast.parse(text).body], [])
    exec(compile(tree, f"<{function.__name__}, edited>", "exec", dont_inherit=True), names)
    changed = names[function.__name__]
    changed.text = text
    return changed


@functools.cache
def text_of(function: Callable[..., Any]) -> str:
    """The function and the private definitions of its file, as Python spells them."""
    tree = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    parts = [n for n in tree.body if _is_private(n) or getattr(n, "name", "") == function.__name__]
    for part in parts:
        for node in ast.walk(part):
            _strip(node)
        if getattr(part, "name", "") == function.__name__:
            part.decorator_list = []  # type: ignore[attr-defined]
    return "\n\n".join(map(ast.unparse, parts))


def _is_private(node: ast.stmt) -> bool:
    """A function, class or value whose name begins with an underscore."""
    names = [getattr(node, "name", "")]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return any(name.startswith("_") and not name.startswith("__") for name in names)


def _strip(node: ast.AST) -> None:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
        node.body = node.body[1:] or [ast.Pass()]
