"""What is handed in together, a unit's notebook or a lab, is an assignment, and each has one key.

    key_of(7)                            "u07", as on the command line; a text is a key already
    key_in("u07_tiling.ipynb")           "u07", with which the notebook's name begins
    key_in("u07_lab_matmul.ipynb")       "u07_lab_matmul": a lab has no other name
    called("u07_lab_matmul")             "lab matmul of unit 7"

A key names the folder of the exercises, the lesson, the teacher's page and the table of
course.toml, and keys sort as the course goes: u07, u07_lab_matmul, u08.

Next room: loading.py, which finds the files of an assignment by its key.
"""

from __future__ import annotations

import re

KEY = re.compile(r"u(\d\d)(?:_lab_([a-z0-9]+))?")


def key_of(which: int | str) -> str:
    """The key of a unit's number, be it a text; anything else is taken for a key."""
    return f"u{int(which):02d}" if str(which).isdecimal() else str(which)


def key_in(name: str) -> str:
    """The key with which the name of a notebook begins; "" if it begins with none."""
    found = KEY.match(name)
    return found[0] if found else ""


def is_lab(key: str) -> bool:
    return "_lab_" in key


def called(key: str) -> str:
    """What a reader calls it."""
    found = KEY.fullmatch(key)
    if found is None:
        return key
    unit = int(found[1])
    return f"lab {found[2]} of unit {unit}" if found[2] else f"unit {unit}"
