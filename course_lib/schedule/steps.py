"""The primitives as values: a step says which primitive, and with what.

>>> Split("n", 32)
Split(loop='n', factor=32)
>>> print(Split("n", 32), Reorder(("no", "m", "ni")), Cache("x", "no"), sep="; ")
split(n, 32); reorder(no, m, ni); cache(x, no)

`step.apply(kernel)` calls the primitive. A class of steps follows from the signature of its
primitive: the fields are the parameters, all but the kernel, with the same defaults. Next room:
`script.py`, which makes a schedule of steps.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, astuple, dataclass, field, fields, make_dataclass
from typing import Any, ClassVar

from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.primitives.cache import cache
from course_lib.schedule.primitives.compute_at import compute_at
from course_lib.schedule.primitives.demote import demote
from course_lib.schedule.primitives.fission import fission
from course_lib.schedule.primitives.fuse import fuse
from course_lib.schedule.primitives.interchange import interchange
from course_lib.schedule.primitives.pack import pack
from course_lib.schedule.primitives.pad import pad
from course_lib.schedule.primitives.parallelize import parallelize
from course_lib.schedule.primitives.prefetch import prefetch
from course_lib.schedule.primitives.promote import promote
from course_lib.schedule.primitives.reorder import reorder
from course_lib.schedule.primitives.serial import serial
from course_lib.schedule.primitives.skew import skew
from course_lib.schedule.primitives.split import split
from course_lib.schedule.primitives.stage import stage
from course_lib.schedule.primitives.unroll import unroll
from course_lib.schedule.primitives.vectorize import vectorize

STEPS: dict[str, type[Step]] = {}  # of each primitive
FIELDS = {"var": "loop", "order": "loops", "param": "operand"}  # what steps call these parameters


@dataclass(frozen=True)
class Step:
    """A primitive with its arguments, all but the kernel. Names are text, sizes whole numbers."""

    primitive: ClassVar[Callable[..., Kernel]]

    def apply(self, kernel: Kernel) -> Kernel:
        """The kernel after this step; ValueError with the reason if it does not fit."""
        return type(self).primitive(kernel, *astuple(self))

    def __str__(self) -> str:
        given = [v for f, v in zip(fields(self), astuple(self), strict=True) if v != f.default]
        words = [w for value in given for w in (value if isinstance(value, tuple) else [value])]
        return f"{type(self).primitive.__name__}({', '.join(map(str, words))})"


def steps_of(primitive: Callable[..., Kernel]) -> Any:
    """The class of steps of a primitive, which is in `STEPS` from now on: `ComputeAt` of
    `compute_at`. A sequence of names is one field, and stands last."""
    _, *parameters = inspect.signature(primitive).parameters.values()
    name = primitive.__name__.title().replace("_", "")
    own = {"primitive": staticmethod(primitive), "__module__": __name__}
    arguments = [
        (
            FIELDS.get(p.name, p.name),
            "tuple[str, ...]" if _is_several(p) else p.annotation,
            field(default=MISSING if p.default is p.empty else p.default),
        )
        for p in parameters
    ]
    kind = make_dataclass(name, arguments, bases=(Step,), namespace=own, frozen=True)
    STEPS[primitive.__name__] = kind
    return kind


def _is_several(parameter: inspect.Parameter) -> bool:
    return "Sequence" in str(parameter.annotation)


Cache = steps_of(cache)
ComputeAt = steps_of(compute_at)
Demote = steps_of(demote)
Fission = steps_of(fission)
Fuse = steps_of(fuse)
Interchange = steps_of(interchange)
Pack = steps_of(pack)
Pad = steps_of(pad)
Parallelize = steps_of(parallelize)
Prefetch = steps_of(prefetch)
Promote = steps_of(promote)
Reorder = steps_of(reorder)
Serial = steps_of(serial)
Skew = steps_of(skew)
Split = steps_of(split)
Stage = steps_of(stage)
Unroll = steps_of(unroll)
Vectorize = steps_of(vectorize)


def step_of(name: str, values: list[str | int]) -> Step:
    """The step with this name and these arguments; ValueError in words if there is none."""
    kind = STEPS.get(name)
    if kind is None:
        raise ValueError(f"no primitive {name!r}; there are {', '.join(sorted(STEPS))}")
    takes = fields(kind)
    several = [f for f in takes if "tuple" in str(f.type)]
    arguments: list[Any] = list(values)
    if several:  # the last field takes all the names that are left
        arguments[len(takes) - 1 :] = [tuple(values[len(takes) - 1 :])]
    needed = [f for f in takes if f.default is MISSING]
    if not len(needed) <= len(arguments) <= len(takes):
        raise ValueError(f"{name} takes ({', '.join(f.name for f in takes)})")
    for its, value in zip(takes, arguments, strict=False):
        wanted, what = (int, "a whole number") if "int" in str(its.type) else (str, "a name")
        listed = value if its in several else [value]
        if not listed:
            raise ValueError(f"{name}: {its.name} must be one name or several, and there is none")
        for given in listed:
            if not isinstance(given, wanted):
                raise ValueError(f"{name}: {its.name} must be {what}, not {given}")
    return kind(*arguments)
