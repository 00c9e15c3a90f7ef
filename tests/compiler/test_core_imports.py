"""The core runs where torch, onnx and llvmlite do not exist: in a browser, or on a small laptop.

    exercises, measure, trace, ir, cost, passes, lower, schedule, memory, draw, accelerator,
    machine: numpy and the standard library only

The import rules (test_layers.py) say it of the text; here it is tried.
"""

import subprocess
import sys

import pytest

CORE = ("exercises", "measure", "trace", "ir", "cost", "passes", "lower", "schedule", "memory",
        "draw", "accelerator", "machine")  # fmt: skip
BLOCKED = (
    "torch",
    "onnx",
    "onnxruntime",
    "onnxscript",
    "llvmlite",
    "matplotlib",
    "graphviz",
    "IPython",
    "tqdm",
)

IMPORT_ALL = """
import importlib, pkgutil, sys
blocked, core = {blocked!r}, {core!r}
sys.modules.update(dict.fromkeys(blocked))      # `import torch` now raises ImportError
import course_lib
for room in core:
    module = importlib.import_module("course_lib." + room)
    print(module.__name__)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), module.__name__ + "."):
        importlib.import_module(found.name)
        print(found.name)
"""


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_every_module_of_the_core_imports_without_the_heavy_packages():
    result = run_python(IMPORT_ALL.format(blocked=BLOCKED, core=CORE))
    assert result.returncode == 0, result.stderr
    imported = result.stdout.split()
    for module in ("ir.ops", "ir.graph.graph_interp", "passes.clean.cse", "schedule", "exercises"):
        assert f"course_lib.{module}" in imported


def test_the_block_does_block():
    result = run_python(IMPORT_ALL.format(blocked=BLOCKED, core=["models.weights"]))
    assert "ModuleNotFoundError: import of torch halted" in result.stderr


def test_importing_course_lib_loads_nothing_heavy():
    result = run_python("import sys, course_lib; print(*sys.modules)")
    assert not set(BLOCKED) & set(result.stdout.split())


@pytest.mark.parametrize(
    "module",
    ["autograder.check.pictures", "autograder.check.feedback", "autograder.grading.worker"],
)
def test_checks_and_grading_load_no_package_for_pictures(module):
    result = run_python(f"import sys, {module}; print(*sys.modules)")
    assert result.returncode == 0, result.stderr
    assert not {"matplotlib", "graphviz"} & set(result.stdout.split())
