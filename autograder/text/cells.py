"""The text of a code cell: Python without IPython's own syntax, and which exercises it answers.

    plain_python("%%time\\n%matplotlib inline\\nx = f(a\\n  % b)")  ->  "\\npass\\nx = f(a\\n  % b)"
    answered('@implements("passes.dce")\\ndef dce(graph): ...', ways)  ->  ("passes.dce",)

Line numbers stay as the student sees them. Nothing is run here.

Next room: needed.py, what an answer needs from the other cells.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

INDIGESTIBLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # of code that was handed in
HARMLESS_MAGICS = ("needs", "time", "timeit", "capture", "prun")
MAGIC = re.compile(r"(\s*+)(?:(?:\w[\w, ]*=\s*)?[%!]|\?|[\w.*]+\?+\s*$).*", re.MULTILINE)
TIMED = re.compile(r"(\s*+)%time\s+(?=\S)(.*)")
# What decides where a logical line begins: strings, comments, brackets, ends of lines.
TOKEN = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}"""
    r"""|"(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+'|\#[^\n]*+|[(\[{]|[)\]}]|\\\n|\n""",
    re.DOTALL,
)
IMPLEMENTS = re.compile(r"""\bimplements\(\s*(?:name\s*=\s*)?["']([\w.]+)["']""")
EXERCISE = re.compile(r"\w+(\.\w+)+")


# Most cells are the lesson's own: what follows from the text alone is found once for a class. Trees
# are large, and asked for again soon or never.
for_a_class = functools.lru_cache(maxsize=1024)
for_a_notebook = functools.lru_cache(maxsize=64)


@for_a_class
def plain_python(source: str) -> str:
    """The cell without IPython's own syntax; line numbers stay."""
    first, _, rest = source.partition("\n")
    if first.startswith("%%"):
        name, *arguments = first[2:].split() or [""]
        if name == "writefile" and arguments:
            return _writes(arguments[-1], rest, "-a" in arguments)
        source = "\n" + rest if name in HARMLESS_MAGICS else ""
    return source if tree_of(source) else "".join(_without_magics(source))


@for_a_notebook
def tree_of(source: str) -> ast.Module | None:
    """The syntax tree; None for what Python itself cannot digest."""
    try:
        return ast.parse(source)
    except INDIGESTIBLE:
        return None


def _writes(file: str, text: str, append: bool) -> str:
    """`%%writefile helper.py` as Python, which gives the module's name a value."""
    module = file.removesuffix(".py")
    module = module if module.isidentifier() else "_"
    if not text.endswith("\n"):
        text += "\n"
    return f"{module} = open({file!r}, {'a' if append else 'w'!r}).write({text!r})"


def _without_magics(source: str) -> Iterable[str]:
    """The lines, `pass` where a statement begins with %, ! or ?, or ends with ?."""
    place, depth, begins = 0, 0, True
    while place < len(source):
        if begins and (magic := MAGIC.match(source, place, _end_of_line(source, place))):
            timed = TIMED.match(magic[0])
            yield timed[1] + timed[2] if timed else f"{magic[1]}pass"
            place, begins = magic.end(), False
            continue
        match = TOKEN.search(source, place)
        end = match.end() if match else len(source)
        yield source[place:end]
        token = match[0] if match else ""
        depth = max(0, depth + (token in ("(", "[", "{")) - (token in (")", "]", "}")))
        place, begins = end, token == "\n" and depth == 0


def _end_of_line(source: str, place: int) -> int:
    end = source.find("\n", place)
    return len(source) if end < 0 else end


@dataclass(frozen=True)
class Ways:
    """How a notebook says `implements`: by which names, and what stands for an exercise's name."""

    names: frozenset[str]
    constants: dict[str, str]

    @staticmethod
    def of(cells: Iterable[str]) -> Ways:
        """`from autograder import implements as answer`, `plug = implements`, `NAME = "a.b"`, and
        functions that call it for their caller."""
        names, constants = {"implements"}, dict[str, str]()
        for part in (part for cell in cells for part in _mentions(cell)):
            if names & part.calls:
                names.add(part.name)
            elif part.constant is not None:
                constants[part.name] = part.constant
        return Ways(frozenset(names), constants)


@dataclass(frozen=True)
class Mention:
    """A name that a cell gives to something: it stands for `implements` if one of `calls` does."""

    name: str
    calls: frozenset[str] = frozenset()
    constant: str | None = None


@for_a_class
def _mentions(code: str) -> tuple[Mention, ...]:
    mentions: list[Mention] = []
    for part in ast.walk(tree_of(code) or ast.Module([], [])):
        if isinstance(part, ast.ImportFrom):
            mentions += [Mention(a.asname, frozenset([a.name])) for a in part.names if a.asname]
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            value = part.value.value if isinstance(part.value, ast.Constant) else None
            constant = value if isinstance(value, str) else None
            mentions.append(
                Mention(part.targets[0].id, frozenset([_last_name(part.value)]), constant)
            )
        elif isinstance(part, ast.FunctionDef):
            parameters = {a.arg for a in part.args.args}
            calls = (c for c in ast.walk(part) if isinstance(c, ast.Call))
            given = (_last_name(c.func) for c in calls if _argument_name(c) in parameters)
            mentions.append(Mention(part.name, frozenset(given)))
    return tuple(mentions)


def answered(code: str, ways: Ways) -> tuple[str, ...]:
    """The exercises into which this cell plugs a function, as far as its text says."""
    if code.isascii() and not any(name in code for name in ways.names):
        return ()
    tree = tree_of(code)
    if tree is None:
        return tuple(dict.fromkeys(IMPLEMENTS.findall(code)))
    names: list[str] = []
    for call in _calls(tree, ways.names):
        argument = _argument(call)
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            names.append(argument.value)
        elif isinstance(argument, ast.Name) and argument.id in ways.constants:
            names.append(ways.constants[argument.id])
        elif argument is not None:  # computed: whatever looks like an exercise's name
            texts = (c.value for c in ast.walk(tree) if isinstance(c, ast.Constant))
            names += [t for t in texts if isinstance(t, str) and EXERCISE.fullmatch(t)]
    return tuple(dict.fromkeys(names))


def _calls(tree: ast.AST, names: Iterable[str]) -> list[ast.Call]:
    """The calls of these functions, in the order in which they stand."""
    calls = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and _last_name(c.func) in names]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _argument(call: ast.Call) -> ast.expr | None:
    named = [k.value for k in call.keywords if k.arg == "name"]
    return (call.args + named + [None])[0]  # type: ignore[list-item]


def _argument_name(call: ast.Call) -> str:
    argument = _argument(call)
    return argument.id if isinstance(argument, ast.Name) else ""


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
