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
BOTH = {"relu", "maximum", "minimum", "clamp", "mean", "max", "min", "sum", "amax", "amin", "where",
        "matmul", "mm", "add", "sub", "mul", "div"}  # fmt: skip
TORCH, METHODS = BOTH | {"tensor"}, BOTH | {"item", "shape", "size"}
BUILTINS = {"print", "str", "len", "min", "max", "float", "int", "bool"}
ALLOWED = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Assign, ast.AugAssign, ast.Expr),
    *(ast.If, ast.Return, ast.Pass, ast.Name, ast.expr_context, ast.Constant, ast.keyword),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.UnaryOp, ast.USub, ast.Not),
    *(ast.Compare, ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq, ast.IfExp, ast.BoolOp),
    *(ast.And, ast.Or, ast.Call, ast.Attribute, ast.Subscript, ast.JoinedStr, ast.FormattedValue),
)
WORDS = {ast.For: "a loop", ast.While: "a loop", ast.Import: "an import", ast.Pow: "**",
         ast.Lambda: "a lambda", ast.FunctionDef: "two functions", ast.Mod: "%",
         ast.AnnAssign: "a variable with a type", ast.Try: "try", ast.With: "with",
         ast.Slice: "a slice", ast.Tuple: "a tuple", ast.Starred: "a star"}  # fmt: skip


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
    for one in (*top.args.args, *top.args.kwonlyargs):
        one.annotation = None  # types may be said, and are not looked at
    top.returns = None
    if not ast.unparse(top).startswith("def scaled(x, w):"):
        raise ValueError("it must begin with def scaled(x, w):")
    inside = [node for part in top.body for node in ast.walk(part)]
    parents = {child: node for node in inside for child in ast.iter_child_nodes(node)
               if not isinstance(node, ast.Expr)}  # fmt: skip
    for node in inside:
        _allowed(node, parents)
    named = [node for node in inside if isinstance(node, ast.Name)]
    known = {"x", "w", "torch", *BUILTINS} | {n.id for n in named if isinstance(n.ctx, ast.Store)}
    if strange := sorted({n.id for n in named} - known):
        raise ValueError(f"it may not use {strange[0]}")
    if sum(isinstance(node, ast.Mult) for node in inside) > PRODUCTS:
        raise ValueError(f"it has more than {PRODUCTS} products")
    return tree


def _allowed(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> None:
    """ValueError for what such a function may not hold: what reaches beyond the tensors, and what
    could make a large thing of a small one."""
    parent = parents.get(node)
    if not isinstance(node, ALLOWED) or isinstance(node, ast.FunctionDef):
        raise ValueError(f"it may not contain {WORDS.get(type(node), type(node).__name__)}")
    if isinstance(node, ast.Attribute):
        of_torch = isinstance(node.value, ast.Name) and node.value.id == "torch"
        if node.attr not in (TORCH if of_torch else METHODS):
            raise ValueError(f"it may not use .{node.attr}")
        if node.attr == "shape" and not isinstance(parent, ast.Subscript):
            raise ValueError("a shape must be read as .shape[0] or .shape[1]")
        if node.attr == "size" and not _of_one_axis(parent):
            raise ValueError("a size must be read as .size(0) or .size(1)")
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        _may_be_assigned(node.id)
    if _is_text(node) and parent is not None and not _printed(node, parents):
        raise ValueError("text may only be an argument of print")
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        raise ValueError("it may not contain a format, such as :5d")
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (bytes, complex)) or node.value is ...:
            raise ValueError(f"it may not contain {node.value!r}")
        if isinstance(node.value, (int, float)) and not abs(node.value) <= 1e6:
            raise ValueError("its numbers must be at most a million")


def _of_one_axis(call: ast.AST | None) -> bool:
    """Is it .size(0), which is a number, and not .size(), which is a tuple?"""
    return (
        isinstance(call, ast.Call)
        and len(call.args) == 1
        and not call.keywords
        and isinstance(call.args[0], ast.Constant)
        and type(call.args[0].value) is int
    )


def _is_text(node: ast.AST) -> bool:
    """Is the value a string: written down, an f-string, or what `str` makes?"""
    if isinstance(node, ast.Name):
        return node.id == "str"
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _printed(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Does this text go into a print as it is, or with other text before it or behind it?"""
    at = parents.get(node)
    if isinstance(node, ast.Name) and isinstance(at, ast.Call) and at.func is node:
        at = parents.get(at)
    while isinstance(at, (ast.keyword, ast.JoinedStr, ast.FormattedValue)) or (
        isinstance(at, ast.BinOp) and isinstance(at.op, ast.Add)
    ):
        at = parents.get(at)
    return isinstance(at, ast.Call) and ast.unparse(at.func) == "print"


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
    "a number taken out": "return x * x.max().item()",
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
