"""Functions of torch as text: read before they run, because anybody may have written them.

    made(text)                  the function; ValueError for what may not stand in such a text
    told(function, x, w)        its result, and what it prints
    graphs(text, x, w)          how many graphs Dynamo makes of it

What may stand in such a text is a list of kinds of syntax and of names; what it computes is as
small as its inputs. torch is imported where it is used. Next room: rows.py.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from textwrap import dedent
from typing import Any

import numpy as np

from course_lib.draw.plots.table import table
from lessons.u15.dynamo import graphs_of

SCALED = """
def scaled(x, w):
    h = torch.relu(x @ w)
    print("rows:", h.shape[0])
    if h.mean() > 0.5:
        h = h / 2
    top = h.max().item()
    return h * min(top, 4.0)
"""
LINES, PRODUCTS = 40, 12  # whole numbers may be multiplied, and get long
TORCH = {"relu", "where", "maximum", "minimum", "clamp", "mean", "max", "min", "sum"}
METHODS = {"mean", "max", "min", "sum", "item", "relu", "clamp", "maximum", "minimum", "shape"}
BUILTINS = {"print", "min", "max", "float", "int", "bool"}
ALLOWED = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.AugAssign, ast.Expr),
    *(ast.If, ast.Return, ast.Pass, ast.Name, ast.expr_context, ast.Constant, ast.keyword),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.UnaryOp, ast.USub, ast.Not),
    *(ast.Compare, ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq, ast.IfExp, ast.BoolOp),
    *(ast.And, ast.Or, ast.Call, ast.Attribute, ast.Subscript),
)
WORDS = {ast.For: "a loop", ast.While: "a loop", ast.Import: "an import", ast.Pow: "**",
         ast.Lambda: "a lambda", ast.JoinedStr: "an f-string", ast.FunctionDef: "two functions",
         ast.Try: "try", ast.With: "with", ast.Slice: "a slice", ast.Tuple: "a tuple"}  # fmt: skip


def checked(text: str) -> ast.Module:
    """The text as a tree; ValueError in words if it is anything but such a function."""
    text = dedent(text).strip()
    if len(text.splitlines()) > LINES or len(text) > 100 * LINES:
        raise ValueError(f"it has more than {LINES} lines of 100 characters")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is not Python: {error}") from None
    top = tree.body[0] if tree.body else None
    if len(tree.body) != 1 or not isinstance(top, ast.FunctionDef):
        raise ValueError("it must be one definition of a function, and nothing else")
    if not ast.unparse(top).startswith("def scaled(x, w):"):
        raise ValueError("it must begin with def scaled(x, w):")
    inside = [node for part in top.body for node in ast.walk(part)]
    parents = {child: node for node in inside for child in ast.iter_child_nodes(node)
               if not isinstance(node, ast.Expr)}  # fmt: skip
    for node in inside:
        _allowed(node, parents.get(node))
    named = [node for node in inside if isinstance(node, ast.Name)]
    known = {"x", "w", "torch", *BUILTINS} | {n.id for n in named if isinstance(n.ctx, ast.Store)}
    if strange := sorted({n.id for n in named} - known):
        raise ValueError(f"it may not use {strange[0]}")
    if sum(isinstance(node, ast.Mult) for node in inside) > PRODUCTS:
        raise ValueError(f"it has more than {PRODUCTS} products")
    return tree


def _allowed(node: ast.AST, parent: ast.AST | None) -> None:
    """ValueError for what such a function may not hold: what reaches beyond the tensors, and what
    could make a large thing of a small one."""
    if not isinstance(node, ALLOWED) or isinstance(node, ast.FunctionDef):
        raise ValueError(f"it may not contain {WORDS.get(type(node), type(node).__name__)}")
    if isinstance(node, ast.Attribute):
        of_torch = isinstance(node.value, ast.Name) and node.value.id == "torch"
        if node.attr not in (TORCH if of_torch else METHODS):
            raise ValueError(f"it may not use .{node.attr}")
        if node.attr == "shape" and not isinstance(parent, ast.Subscript):
            raise ValueError("a shape must be read as .shape[0] or .shape[1]")
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        _may_be_assigned(node.id)
    if isinstance(node, ast.Constant):
        printed = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "print"
        if isinstance(node.value, str) and parent is not None and not printed:
            raise ValueError("it may have text in a print only")
        if isinstance(node.value, (bytes, complex)) or node.value is ...:
            raise ValueError(f"it may not contain {node.value!r}")
        if isinstance(node.value, (int, float)) and not abs(node.value) <= 1e6:
            raise ValueError("its numbers must be at most a million")


def _may_be_assigned(name: str) -> None:
    if name in {"torch", *BUILTINS} or name.startswith("_"):
        raise ValueError(f"it may not assign to {name}")


def made(text: str) -> Callable[..., Any]:
    """The function of a text."""
    import torch

    names: dict[str, Any] = {"torch": torch}
    code = compile(checked(text), "<scaled>", "exec")
    lines = dedent(text).strip().splitlines(keepends=True)
    linecache.cache["<scaled>"] = (len(text), None, lines, "<scaled>")  # for Dynamo's reasons
    exec(code, names)
    return names["scaled"]


def told(function: Callable[..., Any], x: Any, w: Any) -> tuple[Any, str]:
    """The result for these arrays, and what is printed on the way."""
    import torch

    with redirect_stdout(StringIO()) as printed, torch.no_grad():
        result = function(torch.from_numpy(x.copy()), torch.from_numpy(w.copy()))
    return result, printed.getvalue()


def graphs(text: str, x: Any, w: Any) -> int:
    """How many graphs Dynamo makes of the function, called once."""
    import torch

    return len(graphs_of(made(text), torch.from_numpy(x.copy()), torch.from_numpy(w.copy())))


SMALL = {
    "a print in the middle": "h = x @ w\nprint(h.shape[0])\nreturn h + 1",
    "a print before anything": "print(x.shape[0])\nh = x @ w\nreturn h + 1",
    "a branch on data": "if x.sum() > 0:\n    return x * 2\nreturn x * 3",
    "a choice of values": "return torch.where(x.sum() > 0, x * 2, x * 3)",
    "a number of Python's": "return x * x.max().item()",
    "a tensor without axes": "return x * x.max()",
    "a branch on a size": "if x.shape[0] > 2:\n    return x * 2\nreturn x * 3",
}


def broken_table() -> Any:
    """Small functions, and how many graphs a call of each compiles."""
    ones = np.ones((4, 3), np.float32), np.ones((3, 5), np.float32)
    rows = []
    for what, body in SMALL.items():
        lines = body.splitlines()
        given = "\n".join(["def scaled(x, w):", *(f"    {line}" for line in lines)])
        rows.append(
            [what, "; ".join(map(str.strip, lines)).replace(":;", ":"), graphs(given, *ones)]
        )
    return table(rows, ["what it has", "function of x and w", "graphs"])
