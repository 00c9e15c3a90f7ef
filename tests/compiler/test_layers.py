"""The import rules of docs/architecture.md hold, and the tool that checks them notices a breach.

    `import torch` in ir/types.py   ->   The core needs numpy and the standard library only BROKEN

The rules themselves stand in pyproject.toml; how long a function may be is said here.
"""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    command = [program, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def copy(root, tmp_path):
    """The packages and the rules, to be broken."""
    for package in ("course_lib", "autograder", "lessons"):
        shutil.copytree(root / package, tmp_path / package)
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


def picture(root: Path, title: str) -> list[str]:
    """The lines of the first drawing under a title of docs/architecture.md."""
    text = (root / "docs/architecture.md").read_text().split(f"## {title}")[1]
    return text.split("```text\n")[1].split("```")[0].splitlines()


def test_the_floor_plan_shows_every_room_and_no_other(root):
    drawn, above = set(), [""]
    for line in picture(root, "The floor plan"):
        name = line.split()[0]
        if name.endswith("/") and line.count("/  ") < 2:
            depth = (len(line) - len(line.lstrip())) // 2
            above = [*above[: depth + 1], f"{above[depth]}{name}"]
            drawn.add(above[-1])
    rooms = {
        f"{path.parent.relative_to(root)}/"
        for package in ("course_lib", "autograder", "lessons")
        for path in (root / package).rglob("*.py")
        if not re.search(r"(units|lessons)/u\d\d", str(path))
    }
    assert {name for name in drawn if name != "notebooks/"} == rooms


def test_the_page_shows_the_layers_that_are_checked(root):
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [
        c["layers"] for c in contracts["contracts"] if "course_lib" in c.get("containers", [])
    ]
    assert picture(root, "Which way imports run") == layers


def test_the_layers_hold(root):
    result = lint_imports(root)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("file", "line", "rule"),
    [
        ("ir/types.py", "import torch", "The core needs numpy"),
        ("ir/types.py", "from course_lib.passes.infra import manager", "Imports run downwards"),
        ("schedule/__init__.py", "import llvmlite", "The core needs numpy"),
        ("compiler.py", "import llvmlite", "llvmlite is seen by llvm and mlir.llvm only"),
        ("draw/base/svg.py", "import matplotlib", "matplotlib is seen by draw.plots only"),
        ("cost/__init__.py", "import graphviz", "matplotlib is seen by draw.plots only"),
        ("compiler.py", "import onnx", "torch and onnx are seen by frontend"),
        ("llvm/casts.py", "from course_lib.llvm.inspect import fma", "Compiling a model needs"),
        ("exercises.py", "import autograder", "course_lib never imports autograder"),
        ("attic.py", "", "Imports run downwards"),
    ],
)
def test_a_breach_is_noticed(copy, file, line, rule):
    path = copy / "course_lib" / file
    path.write_text((path.read_text() if path.exists() else "") + f"\n{line}\n")
    result = lint_imports(copy)
    assert result.returncode != 0
    broken = [line for line in result.stdout.splitlines() if line.endswith("BROKEN")]
    text = result.stdout + result.stderr
    assert any(line.startswith(rule) for line in broken) or "attic" in text, text


MOST = 40  # lines of code in a function, from `def` on: a screenful


def length(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """Without its docstring, comments and blank lines."""
    first = function.body[0]
    code = range(function.lineno, (function.end_lineno or 0) + 1)
    doc = range(first.lineno, (first.end_lineno or 0) + 1) if ast.get_docstring(function) else ()
    texts = [lines[n - 1].strip() for n in code if n not in doc]
    return sum(bool(text) and not text.startswith("#") for text in texts)


def test_every_function_fits_on_a_screen(root):
    long = [
        f"{path.relative_to(root)}:{node.lineno} {node.name}: {count} lines"
        for folder in ("course_lib", "autograder", "tests")
        for path in (root / folder).rglob("*.py")
        for text in [path.read_text()]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (count := length(node, text.splitlines())) > MOST
    ]
    assert long == []
