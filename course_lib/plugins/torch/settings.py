"""What `mode=` and `options=` of torch.compile may say to us.

    torch.compile(model, backend="course", options={"threads": 1, "weights": "inputs"})

PyTorch itself has an option, which does not come here. It leaves out the guards on modules, which
in a model of many small layers take longer than what we do around our code:

    unguarded = torch.compiler.skip_guard_on_all_nn_modules_unsafe
    torch.compile(model, backend="course",
                  options={"weights": "frozen", "guard_filter_fn": unguarded})

Each model is still computed with its own weights, and other inputs are still seen. What neither
PyTorch nor we see then: a changed attribute of a module (`model.eval()` after the first call, too),
a weight of another shape, and, because of "frozen", a weight that is written to. What was compiled
before for the same class, with the same backend and other options of PyTorch's, keeps its guards
and is found first, if `isolate_recompiles=True` is not said.

Next room: `divide.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch

from course_lib.passes.infra.manager import Pass

TARGETS = ("cpu", "interpreter")
WEIGHTS = ("constants", "frozen", "inputs")


@dataclass(frozen=True)
class Settings:
    """How to compile.

    threads   how many may work on one kernel; by default as many as PyTorch itself uses
    passes    graph passes in order; by default the compiler's own
    target    "cpu": machine code; "interpreter": numpy, node by node
    weights   "constants": they are folded and packed, and looked at in each call, because they may
              have changed; "frozen": nobody looks, for models whose weights stay as they are; a
              change in place is not seen then; "inputs": they are read in each call, as in
              training. For programs that change weights behind PyTorch's back (`w.data.mul_(2)`,
              `w.numpy()[0] = 1`): such a change raises no version, so nobody can see it
    """

    threads: int | None = None
    passes: Sequence[Pass] | None = None
    target: str = "cpu"
    weights: str = "constants"

    @property
    def workers(self) -> int:
        return torch.get_num_threads() if self.threads is None else self.threads


def settings(mode: str | None, options: Mapping[str, Any] | None) -> Settings:
    """ValueError in words for what there is not."""
    if mode not in (None, "default"):
        raise ValueError(f"the backend 'course' has no mode {mode!r}, only 'default'")
    given, known = dict(options or {}), [field.name for field in fields(Settings)]
    unknown = [name for name in given if name not in known]
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise ValueError(f"the backend 'course' has no option {names}; it has {', '.join(known)}")
    asked = Settings(**given)
    _one_of("target", asked.target, TARGETS)
    _one_of("weights", asked.weights, WEIGHTS)
    threads, passes = asked.threads, asked.passes
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ValueError(f"the option threads must be a whole number from 1 on, got {threads!r}")
    if passes is not None and not (
        isinstance(passes, (list, tuple)) and all(map(callable, passes))
    ):
        raise ValueError(f"the option passes must be a list of graph passes, got {passes!r}")
    return asked


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"the option {name} must be one of {', '.join(allowed)}, got {value!r}")
