"""Answers that are texts of MLIR modules.

    as_text(got, given)     the text that an answer returned; Wrong for anything else
    normal(text)            the same for two texts that differ in names of values and in blanks

Next room: autograder/units/u10/checks, which judges with them.
"""

from __future__ import annotations

import re
from typing import Any

from autograder.check.framework import Wrong
from autograder.check.shown import returned


def as_text(got: Any, given: str, spec: str = "returns") -> str:
    """What an answer made of the program `given`."""
    if not isinstance(got, str):
        raise Wrong("The function must return the text of a module.", program=given,
                    got=returned(got), spec=spec)  # fmt: skip
    return got


def normal(text: str) -> str:
    """The text with values numbered in the order in which they appear, without empty lines."""
    names = {name: f"%{k}" for k, name in enumerate(dict.fromkeys(re.findall(r"%\w+", text)))}
    renamed = re.sub(r"%\w+", lambda match: names[match[0]], text)
    return "\n".join(line.strip() for line in renamed.splitlines() if line.strip())
