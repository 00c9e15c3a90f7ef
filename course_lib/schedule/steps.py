"""The primitives as values: a step says which primitive, and with what.

>>> Split("n", 32)
Split(loop='n', factor=32)
>>> print(Split("n", 32), Reorder(("no", "m", "ni")), Cache("x", "no"), sep="; ")
split(n, 32); reorder(no, m, ni); cache(x, no)

`step.apply(kernel)` calls the primitive. The fields of a step are the arguments of the function of
its name, in the same order. Next room: `script.py`, which makes a schedule of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, astuple, dataclass, fields
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

STEPS: dict[str, type[Step]] = {}  # of each primitive; a class of steps enters itself


@dataclass(frozen=True)
class Step:
    """A primitive with its arguments, all but the kernel. Names are text, sizes whole numbers."""

    primitive: ClassVar[Callable[..., Kernel]]

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "primitive"):
            STEPS[cls.primitive.__name__] = cls

    def apply(self, kernel: Kernel) -> Kernel:
        """The kernel after this step; ValueError with the reason if it does not fit."""
        return type(self).primitive(kernel, *astuple(self))

    def __str__(self) -> str:
        given = [v for f, v in zip(fields(self), astuple(self), strict=True) if v != f.default]
        return f"{type(self).primitive.__name__}({', '.join(map(str, given))})"


@dataclass(frozen=True)
class Split(Step):
    loop: str
    factor: int
    primitive = staticmethod(split)


@dataclass(frozen=True)
class Reorder(Step):
    loops: tuple[str, ...]
    primitive = staticmethod(reorder)

    def __str__(self) -> str:
        return f"reorder({', '.join(self.loops)})"


@dataclass(frozen=True)
class Interchange(Step):
    outer: str
    inner: str
    primitive = staticmethod(interchange)


@dataclass(frozen=True)
class Skew(Step):
    outer: str
    inner: str
    factor: int
    primitive = staticmethod(skew)


@dataclass(frozen=True)
class Fuse(Step):
    outer: str
    inner: str
    name: str
    primitive = staticmethod(fuse)


@dataclass(frozen=True)
class OneLoop(Step):
    loop: str


@dataclass(frozen=True)
class Vectorize(OneLoop):
    primitive = staticmethod(vectorize)


@dataclass(frozen=True)
class Unroll(OneLoop):
    primitive = staticmethod(unroll)


@dataclass(frozen=True)
class Parallelize(OneLoop):
    primitive = staticmethod(parallelize)


@dataclass(frozen=True)
class Serial(OneLoop):
    primitive = staticmethod(serial)


@dataclass(frozen=True)
class Fission(OneLoop):
    primitive = staticmethod(fission)


@dataclass(frozen=True)
class Stage(Step):
    loop: str
    local: str
    primitive = staticmethod(stage)


@dataclass(frozen=True)
class ComputeAt(Step):
    local: str
    loop: str
    primitive = staticmethod(compute_at)


@dataclass(frozen=True)
class Cache(Step):
    buffer: str
    loop: str
    axis: int | None = None
    factor: int = 1
    primitive = staticmethod(cache)


@dataclass(frozen=True)
class Promote(Step):
    buffer: str
    loop: str
    primitive = staticmethod(promote)


@dataclass(frozen=True)
class Demote(Step):
    local: str
    primitive = staticmethod(demote)


@dataclass(frozen=True)
class Pad(Step):
    local: str
    axis: int
    size: int
    primitive = staticmethod(pad)


@dataclass(frozen=True)
class Pack(Step):
    operand: str
    axis: int
    factor: int
    primitive = staticmethod(pack)


@dataclass(frozen=True)
class Prefetch(Step):
    operand: str
    loop: str
    within: str
    primitive = staticmethod(prefetch)


def step_of(name: str, values: list[str | int]) -> Step:
    """The step with this name and these arguments; ValueError in words if there is none."""
    kind = STEPS.get(name)
    if kind is None:
        raise ValueError(f"no primitive {name!r}; there are {', '.join(STEPS)}")
    arguments: list[Any] = [tuple(values)] if kind is Reorder else list(values)
    takes = fields(kind)
    needed = [f for f in takes if f.default is MISSING]
    if not len(needed) <= len(arguments) <= len(takes):
        raise ValueError(f"{name} takes ({', '.join(f.name for f in takes)})")
    for field, value in zip(takes, arguments, strict=False):
        wanted = int if "int" in str(field.type) else str
        if any(not isinstance(v, wanted) for v in (value if kind is Reorder else [value])):
            what = "a whole number" if wanted is int else "a name"
            raise ValueError(f"{name}: {field.name} must be {what}, not {value}")
    return kind(*arguments)
