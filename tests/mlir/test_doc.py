"""The examples in the docstrings of the room run."""

import doctest
import importlib
import pkgutil

import pytest

import course_lib.mlir

pytest.importorskip("xdsl")
pytest.importorskip("llvmlite")

FILES = [
    found.name for found in pkgutil.walk_packages(course_lib.mlir.__path__, "course_lib.mlir.")
]


@pytest.mark.parametrize("name", FILES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_some():
    modules = map(importlib.import_module, FILES)
    assert sum(doctest.testmod(module).attempted for module in modules) >= 10
