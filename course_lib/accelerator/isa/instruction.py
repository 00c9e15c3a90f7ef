"""What all instructions share: fields with widths, tokens, the model's operation they come from.

    @dataclass(frozen=True, kw_only=True)
    class Preload(Instruction):
        k: int = bits(12)
    Preload(k=5000, ...)   ->   field: preload: k is a whole number from 0 to 4,095, got 5000

The three engines run side by side, each in the order of the program. What one must not do before
another is ready is said by tokens, as in VTA (Moreau et al., IEEE Micro 2019): an instruction
takes a token from each engine in `wait` before it starts, and gives one to each engine in `signal`
when it is done. There is a counter of tokens for each pair of engines. Next room:
`addresses.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.region import Region
from course_lib.accelerator.isa.state import State

LOAD, EXECUTE, STORE, FETCH = "load", "execute", "store", "fetch"
ENGINES = (LOAD, EXECUTE, STORE)
LARGEST = float(np.finfo(np.float32).max)


def bits(width: int, signed: bool = False, default: Any = dataclasses.MISSING) -> Any:
    """A field of an instruction: a whole number of `width` bits."""
    return dataclasses.field(default=default, metadata={"bits": width, "signed": signed})


def count(width: int) -> Any:
    """A field that counts something: a whole number of `width` bits, at least 1."""
    return dataclasses.field(metadata={"bits": width, "least": 1})


def real(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a float32, 32 bits."""
    return dataclasses.field(default=default, metadata={"bits": 32, "real": True})


@dataclass(frozen=True)
class Field:
    """One field of an instruction's word. `low` and `high` are the least and greatest value."""

    name: str
    width: int
    signed: bool
    real: bool
    least: int
    default: Any

    @property
    def optional(self) -> bool:
        return self.default is not dataclasses.MISSING

    @cached_property
    def low(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else self.least

    @cached_property
    def high(self) -> int:
        return (1 << (self.width - self.signed)) - 1


@dataclass(frozen=True, kw_only=True, repr=False)
class Instruction:
    """One instruction. A class below it is one row of the machine language: its fields are the
    encoding, its docstring says the meaning, `run` is the meaning. `reads`, `writes` and `clocks`
    are plain arithmetic on fields, so that they also work where the fields are arrays (`columns`).

    wait, signal  engines that a token is taken from before it starts, given to when it is done
    origin        where in the model it comes from; not part of the word
    """

    wait: tuple[str, ...] = ()
    signal: tuple[str, ...] = ()
    origin: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    engine: ClassVar[str] = FETCH
    name: ClassVar[str] = ""
    fields: ClassVar[tuple[Field, ...]] = ()

    def __post_init__(self) -> None:
        values = self.__dict__
        for f in self.fields:
            value = values[f.name]
            if type(value) is not int or not f.low <= value <= f.high:
                object.__setattr__(self, f.name, _converted(self.name, f, value))
        for key in ("wait", "signal"):
            if values[key] != ():
                object.__setattr__(self, key, self._engines(key, values[key]))
        if not isinstance(self.origin, tuple):
            message = f"{self.name}: origin is a tuple of names, got {self.origin!r}"
            raise Fault("field", message, "a comma behind a single name: origin=('conv1',)")

    def _engines(self, key: str, given: Any) -> tuple[str, ...]:
        several = isinstance(given, Iterable) and not isinstance(given, str)
        names = tuple(given) if several else ()
        named = tuple(e for e in ENGINES if e in names)
        if not several or self.engine in named or len(named) < len(names):
            others = ", ".join(e for e in ENGINES if e != self.engine)
            look = f"the engines that an instruction of {self.engine} may name, once: {others}"
            message = f"{self.name}: {key} cannot be {given!r}"
            raise Fault("field", message, look)
        return named

    def with_tokens(self, wait: tuple[str, ...], signal: tuple[str, ...]) -> Instruction:
        """The same with other tokens. Its fields need no second look, unlike those that
        `dataclasses.replace` would set."""
        copy = object.__new__(type(self))
        tokens = {"wait": wait, "signal": signal}
        named = {key: self._engines(key, names) if names else () for key, names in tokens.items()}
        vars(copy).update(vars(self), **named)
        return copy

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        """What it reads, of all memories."""
        return ()

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        """What it writes, of all memories."""
        return ()

    def most(self, chip: Chip) -> dict[str, int]:
        """Fields (or properties) that the array has only so much room for."""
        return {}

    def run(self, state: State) -> None:
        """Its meaning: change the state."""

    def clocks(self, chip: Chip) -> tuple[int, int]:
        """Clocks in which its engine is busy with it, and more clocks until it is done."""
        return 0, 0

    def __str__(self) -> str:
        words = [self.name]
        for f in self.fields:
            value = getattr(self, f.name)
            if not f.optional or value != f.default:
                words.append(f"{f.name}={value!r}")
        words += [f"wait={','.join(self.wait)}"] if self.wait else []
        words += [f"signal={','.join(self.signal)}"] if self.signal else []
        return " ".join(words)

    __repr__ = __str__


def columns(program: Sequence[Instruction]) -> Any:
    """Instructions of one kind as one instruction whose fields are int64 arrays."""
    cls = type(program[0])
    table = object.__new__(cls)
    for f in cls.fields:
        values = np.array(list(map(attrgetter(f.name), program)))
        object.__setattr__(table, f.name, values)
    return table


def row(engine: str) -> Any:
    """Make a class a row of the machine language: a frozen dataclass that knows its fields."""

    def as_row(cls: Any) -> Any:
        cls = dataclass(frozen=True, kw_only=True, repr=False)(cls)
        cls.engine = engine
        cls.name = "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__)[1:]
        cls.fields = tuple(
            Field(f.name, f.metadata["bits"], f.metadata.get("signed", False),
                  f.metadata.get("real", False), f.metadata.get("least", 0), f.default)
            for f in dataclasses.fields(cls) if "bits" in f.metadata
        )  # fmt: skip
        return cls

    return as_row


def _converted(name: str, f: Field, value: Any) -> Any:
    """The value in the type of its field; a Fault if it does not fit."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if f.real and number and abs(value) <= LARGEST:
        return float(np.float32(value))
    if isinstance(value, (int, np.integer)) and f.low <= int(value) <= f.high and not f.real:
        return int(value)
    want = "a finite float32" if f.real else f"a whole number from {f.low:,} to {f.high:,}"
    raise Fault("field", f"{name}: {f.name} is {want}, got {value!r}", "who computed this field")
