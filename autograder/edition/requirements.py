"""Which packages a unit needs, at the versions of constraints.txt: found in the imports themselves.

    requirements("u00_tour", cells, files)      numpy==2.4.6, torch==2.13.0, ..., jupyterlab==4.6.6

A package is needed if a code cell, or a module of ours that a cell leads to, imports it: at its top
or later, in a function. Of these, a student installs what `make lab` installs; what is optional
there (islpy, psutil) is optional here, too.

Next room: handout.py, what else lies beside a notebook that is handed out.
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.edition.solutions import parsed

COURSE = Path(__file__).resolve().parents[2]
OURS = ("course_lib", "autograder", "lessons")
EXTRAS = ("torch", "llvm", "lab")  # of pyproject.toml: what `make lab` installs
TO_WORK_IN = {"jupyterlab", "ipykernel"}  # no notebook imports these
COMES_WITH = {"torch": "onnxscript"}  # torch's exporter of ONNX files imports it, we do not
MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)


def requirements(
    cells: Iterable[str], unit_modules: Iterable[str], files: Mapping[str, bytes]
) -> list[str]:
    """The lines of requirements.txt. `files` are those of the library, by their paths."""
    begin = [name for cell in cells for name in _imports(MAGIC.sub("", cell))]
    packages = _packages([*begin, *unit_modules], files) | TO_WORK_IN
    packages |= {COMES_WITH[name] for name in packages & COMES_WITH.keys()}
    pins = pinned()
    return [f"{name}=={pins[name]}" for name in installed_by_lab() if name in packages]


def installed_by_lab() -> list[str]:
    """The packages of `make lab`, in the order of pyproject.toml."""
    project = tomllib.loads((COURSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in EXTRAS:
        lines += project["optional-dependencies"][extra]
    return list(dict.fromkeys(re.split(r"[=<>;\[ ]", line)[0] for line in lines))


def pinned() -> dict[str, str]:
    """{"numpy": "2.4.6", ...}: constraints.txt."""
    lines = (COURSE / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def _packages(names: Iterable[str], files: Mapping[str, bytes]) -> set[str]:
    """The packages of others that these modules lead to, through all modules of ours."""
    seen, todo, packages = set[str](), list(names), set[str]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        top, _, inside = name.partition(".")
        if top not in OURS:
            packages.add(top)
            continue
        path = _path(name, files)
        if path:
            todo += _imports(files[path].decode())
        if inside:  # a package runs before its modules do, and `from a import name` names neither
            todo.append(name.rpartition(".")[0])
    return packages


def _path(module: str, files: Mapping[str, bytes]) -> str:
    stem = module.replace(".", "/")
    return next((p for p in (f"{stem}.py", f"{stem}/__init__.py") if p in files), "")


@functools.cache
def _imports(text: str) -> tuple[str, ...]:
    """All that is imported anywhere in a text; the names of `from` count as modules, too."""
    return tuple(_imported(parsed(text)))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
