"""Packages that a unit may need, and that a learner's machine may lack.

    needs_a_package("xdsl")   ->   "", or, where it is missing,
                                   "This needs the package xdsl: pip install 'course-lib[mlir]'."

Next room: trial.py.
"""

from __future__ import annotations

from importlib.util import find_spec

from course_lib.packages import PACKAGES, install

NEEDS = "This needs "  # how every such sentence begins


def needs_a_package(name: str) -> str:
    """What to do about a package that is not installed; empty if it is, or if no unit needs it."""
    if name not in PACKAGES or find_spec(name) is not None:
        return ""
    return f"{NEEDS}the package {name}: {install(name)}."
