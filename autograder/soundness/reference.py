"""Our answer with one thing changed: wrong answers that nobody had to think of.

    for wrong in changed(slot("passes.dce")):
        print(wrong)                  # line 69: 'if node in live:' -> 'if node not in live:'
        verdict_of(entry, loaded(entry, wrong.source, steps))

What is changed is the function and the private helpers that leave the student edition with it. The
changed definitions run in a copy of their module's names, so the library itself stays as it is.

Next room: mutation.py, which runs them all.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autograder.check.framework import TimedOut
from autograder.edition.solutions import parts_of_answer
from autograder.soundness.operators import Names, changes
from course_lib.exercises import Slot
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import OPS

SHOWN = 24  # characters to the left and right of what changed


@dataclass(frozen=True)
class Changed:
    """Our answer with one line changed. `source` is the whole answer, helpers in front."""

    exercise: str
    line: int  # in the file of the library
    old: str  # that line, as Python prints it on one line
    new: str
    source: str

    def fragments(self) -> tuple[str, str]:
        """The parts of the line, before and after, that differ, with a little around them."""
        start = _alike(self.old, self.new)
        back = _alike(self.old[start:][::-1], self.new[start:][::-1])
        left = self.old.rfind(" ", 0, max(0, start - SHOWN)) + 1
        old, new = (
            text[left : min(len(text) - max(0, back - SHOWN), start + 2 * SHOWN)].strip()
            for text in (self.old, self.new)
        )
        return old, new

    def __str__(self) -> str:
        old, new = self.fragments()
        return f"line {self.line}: {old!r} -> {new!r}"


def can_be_changed(entry: Slot) -> bool:
    """An answer that takes nothing is one value; only one that takes something is a program."""
    return entry.kind != "explain" and bool(entry.signature.parameters)


def source_of(entry: Slot) -> str:
    """Our answer as it stands, in the form in which it is changed."""
    return "\n\n".join(map(ast.unparse, _plain_parts(entry)))


def changed(entry: Slot) -> list[Changed]:
    """Every answer that differs from ours by one change, each once, in the order of the lines."""
    parts = _plain_parts(entry)
    names = _names(entry, parts)
    texts = [ast.unparse(part) for part in parts]
    by_text: dict[str, Changed] = {}
    for index, part in enumerate(parts):
        if _is_type(part, entry):
            continue
        for line in changes(part, names):
            text = ast.unparse(ast.fix_missing_locations(part))
            if text == texts[index] or text in by_text or not _compiles(text):
                continue
            whole = "\n\n".join([*texts[:index], text, *texts[index + 1 :]])
            old, new = _difference(texts[index], text)
            by_text[text] = Changed(entry.name, line or part.lineno, old, new, whole)
    return list(by_text.values())


class Steps:
    """Counts loops and calls of an answer; with a limit, stops it by raising TimedOut."""

    def __init__(self, limit: int | None = None):
        self.taken, self.limit = 0, limit

    def __call__(self) -> None:
        self.taken += 1
        if self.limit is not None and self.taken > self.limit:
            raise TimedOut(f"Over {self.limit} steps.")


def loaded(entry: Slot, source: str, steps: Steps) -> Callable[..., Any]:
    """The function that `source` defines. Each call and each turn of a loop in it is a step."""
    module = sys.modules[entry.reference.__module__]
    names = dict(vars(module)) | {"_one_step": steps}
    tree = _Counted().visit(ast.parse(source))
    later = ast.parse("from __future__ import annotations").body
    tree = ast.fix_missing_locations(ast.Module([*later, *tree.body], []))
    exec(compile(tree, f"<{entry.name}, changed>", "exec", dont_inherit=True), names)
    return names[entry.reference.__name__]


class _Counted(ast.NodeTransformer):
    def visit_body(self, node: Any) -> Any:
        self.generic_visit(node)
        call = ast.Expr(ast.Call(ast.Name("_one_step", ast.Load()), [], []))
        node.body.insert(0, call)
        return node

    visit_FunctionDef = visit_For = visit_While = visit_body


def _plain_parts(entry: Slot) -> list[Any]:
    """The definitions of our answer without docstrings and without `@exercise`."""
    parts = copy.deepcopy(parts_of_answer(entry.reference))
    parts[-1].decorator_list = []
    for node in (n for part in parts for n in ast.walk(part)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return parts


def _names(entry: Slot, parts: list[Any]) -> Names:
    """What may be mistaken for what, by the op table and the records that the answer can see."""
    texts = {
        node.value
        for part in parts
        for node in ast.walk(part)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    strings: dict[str, str] = {}
    attributes = sorted({name for row in OPS.values() for name in row.attrs})
    for known in (sorted(OPS), attributes):
        for text in sorted(texts & set(known)):
            near = [name for name in known if name in texts and name != text] or known
            strings[text] = _after(text, near)
    visible = [v for v in vars(sys.modules[entry.reference.__module__]).values()]
    records = {v for v in visible if isinstance(v, type) and dataclasses.is_dataclass(v)}
    fields: dict[str, tuple[str, ...]] = {}
    for record in sorted(records | {Graph, Node}, key=lambda r: r.__name__):
        for one in dataclasses.fields(record):
            same = [f.name for f in dataclasses.fields(record) if f.type == one.type]
            others = {*fields.get(one.name, ()), *same} - {one.name}
            fields[one.name] = tuple(sorted(others))
    return Names(strings, fields)


def _alike(a: str, b: str) -> int:
    """How many characters at the beginning are the same."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def _after(text: str, names: list[str]) -> str:
    return next((name for name in names if name > text), names[0])


def _is_type(part: Any, entry: Slot) -> bool:
    """A name for a type, such as `_Pair = tuple[int, int]`: only annotations read it."""
    value = vars(sys.modules[entry.reference.__module__]).get(_name_of(part))
    return isinstance(value, (types.GenericAlias, types.UnionType))


def _name_of(part: Any) -> str:
    target = getattr(part, "targets", [getattr(part, "target", None)])[0]
    return getattr(target, "id", "")


def _compiles(text: str) -> bool:
    try:
        compile(text, "<changed>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first line that differs, before and after."""
    old, new = before.split("\n"), after.split("\n")
    pairs: Iterator[tuple[str, str]] = zip(old, new, strict=False)
    return next(((a.strip(), b.strip()) for a, b in pairs if a != b), (old[-1].strip(), "pass"))
