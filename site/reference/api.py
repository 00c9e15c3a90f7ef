"""The library's reference: a page for each room of course_lib, from its docstrings.

    course_lib/passes/clean/*.py   ->   api/passes.clean.md   modules, classes, functions

The sources are read and not imported, so nothing has to be installed for a page. What begins with
an underscore is private. Rules of the importers and composite ops are rows of a table, and stand on
the pages of the ops. Next: `links.py`, which leads from code in a unit to its place here.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import course_lib
from reference.prose import first_sentence, markdown

ROWS = {"translates", "composite"}
Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Thing:
    """A public function, class, method or property: its full name, how it is called, its text."""

    name: str
    kind: str
    arguments: str
    text: str
    parts: tuple[Thing, ...] = ()
    exercise: str = ""  # the slot whose answer stands here


@dataclass(frozen=True)
class Module:
    """A file: its dotted name, its docstring, what is public in it."""

    name: str
    text: str
    things: tuple[Thing, ...]


Rooms = dict[str, list[Module]]


def rooms() -> Rooms:
    """All modules with something public, by room, each room's own file first."""
    top = Path(course_lib.__file__).parent
    found: Rooms = defaultdict(list)
    for path in sorted(top.rglob("*.py")):
        parts = path.relative_to(top.parent).with_suffix("").parts
        if "__pycache__" in parts or parts[-1] == "__main__":
            continue
        is_room = parts[-1] == "__init__"
        room = ".".join(parts[:-1])
        module = _module(room if is_room else ".".join(parts), path.read_text(encoding="utf-8"))
        found[room].insert(0 if is_room else len(found[room]), module)
    return dict(found)


def _module(name: str, text: str) -> Module:
    tree = _with_full_types(ast.parse(text), name)
    public = {n.name: n for n in tree.body if isinstance(n, Definition) and _public(n)}
    things = tuple(_thing(f"{name}.{n.name}", n) for n in public.values())
    return Module(name, ast.get_docstring(tree) or "", things)


class _FullNames(ast.NodeTransformer):
    """Types by their full names, so that each leads to its own place: `Run` is a class of several
    files. Sphinx shows the last word alone."""

    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id))


def _with_full_types(tree: ast.Module, module: str) -> ast.Module:
    names = {n.name: f"{module}.{n.name}" for n in tree.body if isinstance(n, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_lib"):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    full = _FullNames(names)
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
            node.annotation = full.visit(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns:
            node.returns = full.visit(node.returns)
    return tree


def _public(node: Definition) -> bool:
    return not node.name.startswith("_") and not ROWS & set(_decorators(node))


def _decorators(node: Definition) -> Iterator[str]:
    for each in node.decorator_list:
        call = each.func if isinstance(each, ast.Call) else each
        yield ast.unparse(call).rsplit(".", 1)[-1]


def _thing(name: str, node: Definition) -> Thing:
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        return Thing(name, "function", _arguments(node), text, exercise=_exercise(node))
    parts = [n for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    methods = {n.name: _method(f"{name}.{n.name}", n) for n in parts}
    return Thing(name, "class", _fields(node), text, tuple(methods.values()))


def _exercise(node: ast.FunctionDef) -> str:
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "exercise":
            return ast.literal_eval(each.args[0])
    return ""


def _method(name: str, node: ast.FunctionDef) -> Thing:
    text, decorators = ast.get_docstring(node) or "", set(_decorators(node))
    if decorators & {"property", "cached_property"}:
        return Thing(name, "property", "", text)
    kind = next((k for k in ("staticmethod", "classmethod") if k in decorators), "method")
    return Thing(name, kind, _arguments(node, skip=kind != "staticmethod"), text)


def _arguments(node: ast.FunctionDef, skip: bool = False) -> str:
    given = ast.unparse(node.args)
    if skip:  # self
        given = given.partition(",")[2].strip()
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({given}){result}"


def _fields(node: ast.ClassDef) -> str:
    """How an object is made: by its `__init__`, or from the fields of a dataclass."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return _arguments(each, skip=True).removesuffix(" -> None")
    if "dataclass" not in set(_decorators(node)):
        return ""
    fields = [n for n in node.body if isinstance(n, ast.AnnAssign)]
    return (
        "(" + ", ".join(ast.unparse(n) for n in fields if "init=False" not in ast.unparse(n)) + ")"
    )


# ── pages ──


def pages(found: Rooms) -> dict[str, str]:
    """A page for each room, and one that lists the rooms."""
    made = {f"api/{_short(room)}": _page(room, modules) for room, modules in found.items()}
    rows = [f"| [`{room}`]({_short(room)}.md) | {_about(found[room])} |" for room in found]
    head = (
        "# The library\n\n"
        "`course_lib` room by room, from its docstrings. A room is a folder; each page has its "
        "files in the order of the alphabet. Names with an underscore before them are left out, "
        "and so are the rows of the [op table](../ops.md).\n\n"
        "| room | what it is for |\n|---|---|\n"
    )
    return made | {"api/index": head + "\n".join(rows) + "\n"}


def _short(room: str) -> str:
    return room.removeprefix("course_lib.")


def _about(modules: list[Module]) -> str:
    return first_sentence(modules[0].text)


def _page(room: str, modules: list[Module]) -> str:
    parts = [f"---\norphan: true\n---\n\n# {room}\n", "[All rooms](index.md)\n"]
    for module in modules:
        own = module.name == room
        title = "" if own else f"## {module.name.rsplit('.', 1)[-1]}.py\n\n"
        mark = f"`````{{py:module}} {module.name}\n`````\n"
        entries = [_entry(thing, f"{module.name}.") for thing in module.things]
        parts += [f"{title}{mark}\n{markdown(module.text)}", *entries]
    return "\n".join(parts)


def _entry(thing: Thing, prefix: str, outer: int = 9) -> str:
    """The thing as Sphinx describes it; a fence that holds others is longer than theirs."""
    fence = "`" * outer
    inner = "\n".join(_entry(part, f"{thing.name}.", outer - 2) for part in thing.parts)
    body = markdown(thing.text) if thing.text else ""
    call = thing.name.removeprefix(prefix) + thing.arguments.replace("\n", " ")
    return f"{fence}{{py:{thing.kind}}} {call}\n\n{body}\n{inner}{fence}\n"


# ── names ──


def names(found: Rooms) -> dict[str, str]:
    """What a text may call a thing, and its full name: dotted names, paths of files, exercises."""
    known: dict[str, str] = {}
    for room, modules in found.items():
        for module in modules:
            path = module.name.replace(".", "/")
            known |= {module.name: module.name}
            known |= {path: module.name} if module.name == room else {f"{path}.py": module.name}
            known |= {thing.name: thing.name for thing in module.things}
            known |= {thing.exercise: thing.name for thing in module.things if thing.exercise}
    return known


IMPORT = re.compile(r"^from (course_lib[\w.]*) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)


def imported(source: Path, found: Rooms) -> dict[str, str]:
    """What the code of a unit imports from the library, under the name that it has there. In that
    unit, the bare name means just this."""
    full = {thing.name for modules in found.values() for m in modules for thing in m.things}
    known: dict[str, str] = {}
    for module, listed in IMPORT.findall(source.read_text(encoding="utf-8")):
        for item in listed.strip("()").split(","):
            name, _, alias = (word.strip() for word in item.partition(" as "))
            if f"{module}.{name}" in full:
                known[alias or name] = f"{module}.{name}"
    return known
