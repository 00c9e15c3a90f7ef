"""An answer as somebody hands it in who has it from somebody else: other names, no comments.

    copied("def sweep(graph):          ->    "def sweep(graph):
        # walk from the end                      my_used = set()
        used = set()                             return my_used"
        return used")

What it computes is the same: only names that one function of the cell gives to its own variables
are changed, and only where nothing else can mean them.

Next room: rehearsal.py, in whose class some copy.
"""

from __future__ import annotations

import ast
import builtins

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def copied(cell: str) -> str:
    """The cell with its variables called otherwise, without comments; any other text as it is."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:
        return cell
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            new = {name: f"my_{name}" for name in _own(node)}
            for name in ast.walk(node):
                if isinstance(name, ast.Name):
                    name.id = new.get(name.id, name.id)
    return ast.unparse(tree)


def _own(function: ast.AST) -> set[str]:
    """Names that are a variable of this function, and nothing besides."""
    nodes = list(ast.walk(function))
    if any(isinstance(node, ast.ClassDef | ast.Global | ast.Nonlocal) for node in nodes):
        return set()  # there a name may be an attribute, or somebody else's
    given = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    other = {n.arg for n in nodes if isinstance(n, ast.arg)}
    # Names that are text in the tree: of exceptions, imports, patterns, inner functions.
    for node in nodes:
        texts = (getattr(node, field, None) for field in ("name", "asname", "rest"))
        other |= {text for text in texts if isinstance(text, str)}
    return given - other - set(dir(builtins))
