"""tinygrad's settings, in one place, and a device of ours while it is the default.

    with session("TEACHING") as launches:
        Tensor([1, 2, 3]).sum().item()
    launches     ->   [Launch("r_3", ...)]

tinygrad keeps its settings in variables with the names of environment variables. Here they are set
for the time of a session, whatever the environment says: no file in the home directory, no
processes of its own, no search, and a product may be padded to whole tiles (TC_OPT=2). Python's
limit of recursion is raised for a session alone. Next room: `listing.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tinygrad.device import Device
from tinygrad.helpers import Context, Target

SETTINGS = {
    "CACHELEVEL": 0,
    "CCACHE": 0,
    "PARALLEL": 0,
    "BEAM": 0,
    "TC": 1,
    "TC_OPT": 2,
    "DEBUG": 0,
}
DEEP = 10_000  # as deep as tinygrad wants to be able to recurse


@contextmanager
def session(device: str, **settings: int) -> Iterator[list[Any]]:
    """tinygrad with this device as its default: the kernels that ran on it meanwhile, in order."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEP))
    try:
        with Context(DEV=Target.parse(device), **{**SETTINGS, **settings}):
            launches = getattr(Device[device], "launches", [])
            launches.clear()
            yield launches
    finally:
        sys.setrecursionlimit(limit)
