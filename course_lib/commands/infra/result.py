"""What a command returns: text for people, plain data for programs, a status for the shell.

    Result(text="compiled in 120 ms ...", data={"run_ms": 0.4, ...}, status=0)

Next room: `task.py`.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Result:
    """`data` for --json, `text` for people, `status` for the shell."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    status: int = 0


def shown(picture: Any, what: str, data: dict[str, Any], options: Namespace) -> Result:
    """A picture: printed, or written to the file that was asked for."""
    if options.output is None:
        return Result(str(picture), data)
    path = picture.save(options.output)
    return Result(f"{what} written to {path}", {**data, "output": str(path)})
