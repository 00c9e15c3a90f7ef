"""An import of ours stands at the top of its file, unless it would load a heavy package there.

    def page(): from course_lib.ir.graph.graph import Graph     ->  loads numpy only: to the top
    def read(): from course_lib.frontend.onnx.read import ...   ->  loads onnx: may be late

docs/architecture.md says so, and the line, or the top of its file, says why. Which packages a
module loads is read from the text: from what stands at the top of it, of the packages around it,
and of all modules of ours that these import.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# Heavy, not always installed, or not in every system.
HEAVY = {
    "IPython", "MNN", "distributed", "graphviz", "hypothesis", "iree", "islpy", "jax", "llvmlite",
    "matplotlib", "nbclient", "nbformat", "nbgrader", "onnx", "onnxruntime", "openvino", "psutil",
    "resource", "tinygrad", "torch", "torch_mlir", "tqdm", "tvm", "xdsl",
}  # fmt: skip
OTHER_REASONS = {
    "autograder.grading.worker": "where our packages are is known only when its process has begun",
}
ROOT = Path(__file__).resolve().parents[2]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("course_lib", "autograder", "lessons")
    for path in (ROOT / package).rglob("*.py")
}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text())


def named(statement: ast.AST) -> list[str]:
    """The modules that an import names: a file of ours, or a package."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    if not isinstance(statement, ast.ImportFrom):
        return []
    within = [f"{statement.module}.{alias.name}" for alias in statement.names]
    return [name if name in FILES else str(statement.module) for name in within]


@cache
def loaded(module: str) -> frozenset[str]:
    """The heavy packages that come with a module; not what it imports under a condition."""
    seen, todo, heavy = set(), [module], set()
    while todo:
        name = todo.pop()
        if name in FILES and name not in seen:
            todo += [other for statement in tree(name).body for other in named(statement)]
            todo += [name.rpartition(".")[0]]
        seen.add(name)
        heavy |= HEAVY & {name.partition(".")[0]}
    return frozenset(heavy)


def late(module: str) -> Iterator[tuple[int, str]]:
    """Lines of functions that import a module of ours, and which."""
    for function in inside(tree(module)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in inside(function):
                yield from ((node.lineno, name) for name in named(node) if name in FILES)


def inside(node: ast.AST) -> Iterator[Any]:
    """The statements in it; expressions, which hold none, take most of the time to walk."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(node, block, []):
            yield one
            yield from inside(one)


def test_an_import_in_a_function_loads_a_heavy_package():
    needless = {
        f"{module}:{line} imports {name}, which loads no heavy package: it belongs to the top"
        for module in FILES.keys() - OTHER_REASONS.keys()
        for line, name in late(module)
        if loaded(name) <= loaded(module)
    }
    assert sorted(needless) == []


def says_why(module: str, line: int) -> bool:
    """Is there a comment at the import or above it, be it above others like it, or a word at the
    top of the file?"""
    top = " ".join((ast.get_docstring(tree(module)) or "").split())
    if module in OTHER_REASONS or re.search("imported (late|when|where)", top):
        return True
    lines = FILES[module].read_text().splitlines()[:line]
    while "#" not in lines[-1] and re.match(r"\s+(from|import) ", lines[-1]):
        lines.pop()
    return "#" in lines[-1]


def test_an_import_in_a_function_says_which_package_is_heavy_or_missing():
    silent = {f"{module}:{line} imports {name}" for module in FILES for line, name in late(module)
              if not says_why(module, line)}  # fmt: skip
    assert sorted(silent) == []


def test_each_other_reason_is_still_one():
    assert all(list(late(module)) for module in OTHER_REASONS)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [("course_lib.ir.graph.graph", set()), ("course_lib.frontend", set()),
     ("course_lib.frontend.onnx.read", {"onnx"}), ("course_lib.llvm.jit", {"llvmlite"}),
     ("course_lib.mlir.toy.dialect", {"xdsl"})],
)  # fmt: skip
def test_what_a_module_loads_is_known(module, heavy):
    assert loaded(module) == heavy
