"""What code reads of the names around it: those that have no value from itself by then.

    count = count + 1                   reads count
    count = 1; total = count            reads nothing
    if slow: table = {}                 reads slow
    total = len(table)                  and, below that, table: nobody knows which way it went
    def f(): return helper()            reads helper, if there is none when f may be called

Names are looked up in the order in which the code runs; those that stand in a function, where its
name is read first, and where the code ends.

Next room: needed.py, which looks for what gives these names their values.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Sequence

from autograder.text.cells import INDIGESTIBLE, for_a_class, tree_of
from autograder.text.effects import captured

BY_NAME = {"globals", "locals", "vars", "eval", "exec"}  # read what a string names
OF_MODULE = re.compile("__main__|modules|import")  # and so does getattr(sys.modules[..], "x")
LEAVES = ast.Raise | ast.Break | ast.Continue
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@for_a_class
def reads(source: str) -> tuple[str, ...]:
    """The names that the code reads and has given no value. A module that it imports counts: a cell
    may have written its file."""
    tree, order = tree_of(source), _Order()
    try:
        free = order.reads(tree.body) if tree else _words(source)
    except INDIGESTIBLE:
        free = _words(source)
    strings = bool(free & BY_NAME or ("getattr" in free and OF_MODULE.search(source)))
    if "import" in source or strings:
        free |= _named(source, strings)
    return tuple(sorted(free))


class _Order(ast.NodeVisitor):
    """Goes through code in the order in which it runs."""

    def __init__(self) -> None:
        self.read: set[str] = set()  # before they had a value
        self.known: set[str] = set()  # have a value by now, whichever way the code went
        self.new: set[str] = set()  # those that this part of the code has given one
        self.inside: dict[str, set[str]] = {}  # by function: what it reads, until it may be called
        self.later: set[str] = set()  # what all functions read

    def reads(self, body: Iterable[ast.stmt]) -> set[str]:
        for statement in body:
            self.visit(statement)
        return self.read | (self.later - self.known)

    def look_up(self, names: Iterable[str]) -> None:
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in self.known:
                self.read.add(name)
            waiting += self.inside.pop(name, ())  # from here on it may be called

    def give(self, names: Iterable[str]) -> None:
        names = set(names) - self.known
        self.known |= names
        self.new |= names

    def define(self, name: str, function: ast.AST) -> None:
        names = _inside(function)
        self.inside[name] = self.inside.get(name, set()) | names
        self.later |= names
        self.give([name])

    def perhaps(self, parts: Sequence[ast.AST | None], *given: str) -> set[str] | None:
        """Go through what may not run, and forget what it gives a value: that is returned; None
        where the code does not go on behind it."""
        before, self.new = self.new, set()
        self.give(given)
        for part in parts:
            if part is not None:
                self.visit(part)
        self.known -= self.new
        mine, self.new = self.new, before
        return None if any(isinstance(part, LEAVES) for part in parts) else mine

    def whichever(self, *ways: set[str] | None) -> None:
        """One of these parts has run, and what it has given a value is known if all give it."""
        if known_ways := [way for way in ways if way is not None]:
            self.give(set.intersection(*known_ways))

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            return self.give([node.id])
        self.look_up([node.id])
        if isinstance(node.ctx, ast.Del):
            self.known.discard(node.id)
            self.new.discard(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            self.visit(node.value.args)
            self.define(node.targets[0].id, node.value)
        else:
            self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.look_up([node.target.id])
        self.visit(node.value)
        self.visit(node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value:
            self.visit(node.value)
            self.visit(node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self.perhaps(node.values[1:])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self.perhaps([node.body])
        self.perhaps([node.orelse])

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self.look_up(_inside(node))

    def visit_comprehension_of(self, node: Comprehension) -> None:
        first, *more = node.generators
        self.visit(first.iter)
        parts = [first.target, *first.ifs]
        for one in more:
            parts += [one.iter, one.target, *one.ifs]
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.perhaps([*parts, *values])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in [*node.decorator_list, node.args, node.returns]:
            if part is not None:
                self.visit(part)
        self.define(node.name, node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        self.perhaps(node.body)
        self.define(node.name, node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.give((name.asname or name.name).split(".")[0] for name in node.names)

    visit_ImportFrom = visit_Import

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self.whichever(self.perhaps(node.body), self.perhaps(node.orelse))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.perhaps([node.target, *node.body])
        self.perhaps(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self.perhaps(node.body)
        self.perhaps(node.orelse)

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        ends = [self.perhaps([*node.body, *node.orelse])]
        for one in node.handlers:
            ends.append(self.perhaps([one.type, *one.body], *filter(None, [one.name])))
        self.whichever(*ends)
        for statement in node.finalbody:
            self.visit(statement)

    visit_TryStar = visit_Try

    def visit_match_case(self, node: ast.match_case) -> None:
        self.perhaps([node.pattern, node.guard, *node.body])

    def visit_captured(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        self.generic_visit(node)
        self.give(captured(node))

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = visit_captured


def _inside(function: ast.AST) -> set[str]:
    """What stands in a function or a class and is a name of the notebook."""
    tables = symtable.symtable(ast.unparse(function), "cell", "exec").get_children()
    names: set[str] = set()
    while tables:
        table = tables.pop()
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        tables += table.get_children()
    return names


def _words(source: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", source))


def _named(source: str, strings: bool) -> set[str]:
    """The modules that the code imports; with `strings`, the words of its strings as well."""
    names: set[str] = set()
    for part in _without_prose(tree_of(source) or ast.Module([], [])):
        if isinstance(part, ast.Import):
            names |= {alias.name.split(".")[0] for alias in part.names}
        elif isinstance(part, ast.ImportFrom) and part.module:
            names.add(part.module.split(".")[0])
        elif strings and isinstance(part, ast.Constant) and isinstance(part.value, str):
            names |= _words(part.value)
    return names


def _without_prose(tree: ast.AST) -> Iterable[ast.AST]:
    """All parts but the strings that are there to be read: a docstring, an error's text."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        text = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
        if not text and not isinstance(part, ast.Raise):
            yield part
            waiting += ast.iter_child_nodes(part)
