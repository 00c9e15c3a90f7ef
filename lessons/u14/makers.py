"""What makes the recorded reports of unit 14 again. Next room: reports.py."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from course_lib.maker import maker
from course_lib.models import example_inputs
from course_lib.plugins import ours
from course_lib.plugins.report import PlugReport
from course_lib.plugins.tvm import door
from lessons.u14.annotate import NPU, block


@maker("course-lib", "course_lib", "llvmlite", seconds=5)
def by_our_door() -> dict[str, str]:
    return {"report": as_text(_through(ours.plug))}


@maker("tinygrad", "tinygrad", seconds=20)
def by_tinygrads_door() -> dict[str, str]:
    from course_lib.plugins.tinygrad.door import plug  # tinygrad need not be installed

    return {"report": as_text(_through(plug)),
            "report, without our rule": as_text(_through(partial(plug, rule=False)))}  # fmt: skip


def by_tvms_door() -> str:
    return as_text(_through(door.plug))


def _through(plug: Callable[..., Any]) -> PlugReport:
    """The transformer block through a door."""
    return plug(block(), [np.asarray(x) for x in example_inputs("block")], NPU)[1]


def as_text(plug: PlugReport) -> str:
    """What a report counts as a recording has it: each of its layers in a line."""
    counted = {field.name for field in fields(plug) if field.compare}
    found = {name: value for name, value in plug.as_dict().items() if name in counted}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    return re.sub(r"\{\n {3}(\S[^{}]*?)\n {2}\}", lambda m: "{" + re.sub(r"\n +", " ", m[1]) + "}",
                  text)  # fmt: skip
