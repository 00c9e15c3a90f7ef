"""A notebook source as cells: MyST Markdown, read once, and what a cell of it is.

    parsed(text).cells       the cells, as Jupyter's format has them; nobody changes them
    pointer(cell)            "passes.dce" of a cell that says `%exercise passes.dce`, and no more
    FURTHER                  the heading below which nothing is needed by a later unit

Next room: minutes.py, which estimates how long the cells take; sources.py, which makes notebooks.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import jupytext

FURTHER = re.compile(r"^##+ Further\b", re.MULTILINE)
POINTER = re.compile(r"%exercise\s+([\w.]+)\s*")


@functools.cache
def parsed(text: str) -> Any:
    """The cells of a notebook's text, for everybody: nobody changes them."""
    return jupytext.reads(text, fmt="md:myst")


def pointer(cell: Any) -> str | None:
    """The exercise that a cell points to, if it is a pointer."""
    match = POINTER.fullmatch(cell.source.strip()) if cell.cell_type == "code" else None
    return match[1] if match else None
