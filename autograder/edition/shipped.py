"""Which files of this package leave the teacher's machine. The rest stays with the teacher.

    ships(PurePath("units/u02/checks/cse.py"))   ->  True
    ships(PurePath("units/u02/hidden.py"))       ->  False

A students' edition asks this (contents.py), and so does the wheel (setup.py, which runs this file
where nothing is installed yet: it needs the standard library only). What is named here ships; a new
file or room stays until it is. Next room: solutions.py, which takes our answers out of what ships.
"""

from __future__ import annotations

from pathlib import PurePath

# The part of this package that runs in a student's notebook.
FILES = ("__init__.py", "mine.py", "notebook.py", "units/__init__.py")
ROOMS = ("check", "progress", "text", "wire", "process")
OF_A_UNIT = ("__init__", "checks", "exercises", "hints.md")


def ships(inside: PurePath) -> bool:
    """Does this file go to students? The path is the one inside the package `autograder`."""
    if inside.as_posix() in FILES or inside.parts[0] in ROOMS:
        return True
    return len(inside.parts) > 2 and inside.parts[0] == "units" and _of_a_unit(inside.parts[2])


def _of_a_unit(name: str) -> bool:
    return name.removesuffix(".py") in OF_A_UNIT
