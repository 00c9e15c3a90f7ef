"""The package tvm, imported when it is first needed: here, and at the top of `peers/tvm.py`.

    tvm = package()          # then tvm.relax, tvm.ir, ...

It is optional (`pip install 'course-lib[peers]'`, 340 MB). Importing it takes 3 to 4 s and 390 MB
of memory, for it brings torch with it. Where it is missing, all of this room says so in the same
words. Next room: `write.py`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from course_lib.packages import MissingPackage


def installed() -> bool:
    """Is tvm there? Nothing is imported."""
    return find_spec("tvm") is not None


@cache
def package() -> Any:
    """The module `tvm`, with `tvm.relax`. `MissingPackage` if it is not installed."""
    if not installed():
        raise MissingPackage("tvm")
    import_module("tvm.relax")
    return import_module("tvm")


def frontend(name: str) -> Any:
    """One of TVM's importers: `torch`, `onnx`."""
    package()
    return import_module(f"tvm.relax.frontend.{name}")
