"""What makes a recording again: a function that returns its texts, with the tool that it runs.

    @maker("llc", "llc-22")                     # the tool's name, and what has its version
    def allocators_of() -> dict[str, str]:      # `by: lessons.u06.wild:allocators_of`
        return {"allocators": in_rows({...})}

    maker_of("lessons.u06.wild:allocators_of")  ->  a Maker: .lacking, .tool, .machine, its texts
    remade(kept, maker)                         ->  the Recording of today

`in_rows` writes JSON as recordings have it, a row in a line. The module is imported by its name and
only when it is asked for, so this room knows nothing of the lessons. Next room: `ir`.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, Literal

from course_lib.packages import PACKAGES, missing
from course_lib.recorded import Recording

Compared = Literal["every character", "all but numbers", "names of texts"]
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|\bnull\b")
NAME = re.compile(r"[\w.]+:\w+")
OURSELVES = "course_lib"  # as what a maker needs, if it runs nothing but this compiler
QUICK = 3  # seconds of the processor: a maker that takes longer is run by the command, by no test


@dataclass(frozen=True)
class Maker:
    """Call it for the texts of today.

    name      of the tool, as a recording shows it
    needs     packages and programs; the first one's version is the tool's
    compared  what must be the same again; less than every character, where the machine decides
    seconds   of the processor, about
    """

    function: Callable[[], Mapping[str, str]]
    name: str
    needs: tuple[str, ...]
    compared: Compared
    seconds: float

    def __call__(self) -> dict[str, str]:
        return {name: text.rstrip("\n") + "\n" for name, text in self.function().items()}

    @property
    def lacking(self) -> str:
        """What is not installed here, in words; "" if nothing is missing. Nothing is imported."""
        absent = (_absent(name) for name in self.needs)
        return next(filter(None, absent), "")

    @cached_property
    def tool(self) -> str:
        """With its version: "llc 22.1.8"."""
        return f"{self.name} {version_of(self.needs[0])}"

    @property
    def machine(self) -> str:
        """What a recording of today says of the machine."""
        return "any" if self.compared == "every character" else this_machine()

    def same(self, before: Mapping[str, str], now: Mapping[str, str]) -> bool:
        """Is it what was recorded, as far as that can be the same?"""
        if list(before) != list(now) or self.compared == "names of texts":
            return list(before) == list(now)
        without = NUMBER if self.compared == "all but numbers" else re.compile(r"\Z(?!)")
        return all(without.sub("#", before[k]) == without.sub("#", now[k]) for k in before)


def maker(
    name: str,
    *needs: str,
    compared: Compared = "every character",
    seconds: float = 1,
) -> Callable[[Callable[[], Mapping[str, str]]], Maker]:
    """Of a function without arguments, a Maker."""
    return lambda function: Maker(function, name, needs, compared, seconds)


def maker_of(by: str) -> Maker | None:
    """What a recording's `by` names; None where it says in words that nothing can make it.

    ValueError if there is no such maker; ModuleNotFoundError where its module is not here.
    """
    if not NAME.fullmatch(by):
        return None
    module, _, function = by.partition(":")
    found = getattr(import_module(module), function, None)
    if not isinstance(found, Maker):
        raise ValueError(f"by: {by} names no maker: `@maker(...) def {function}` in {module}")
    return found


def remade(kept: Recording, maker: Maker, now: Mapping[str, str] | None = None) -> Recording:
    """The recording with the texts of today, and with today's version, machine and date."""
    texts, today = maker() if now is None else now, datetime.date.today().isoformat()
    return replace(kept, tool=maker.tool, machine=maker.machine, date=today, texts=texts)


def in_rows(data: Any) -> str:
    """JSON as a recording has it: a row of a table, or an entry of a dictionary, in a line."""
    if isinstance(data, Mapping):
        lines = [f" {_plain(str(key))}: {_plain(value)}" for key, value in data.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"
    return "[\n" + ",\n".join(f" {_plain(row)}" for row in data) + "\n]\n"


def _plain(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def version_of(name: str) -> str:
    """Of a package, as `pip` knows it, or of a program, as it says itself."""
    if name == OURSELVES:
        return import_module(OURSELVES).__version__
    if name in PACKAGES:
        return version(PACKAGES[name].pip or name).partition("+")[0]
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+\.\d+[.\w]*", said)
    return found[0] if found else "of unknown version"


def this_machine() -> str:
    """The processor in words, and how many there are."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text() if cpuinfo.exists() else "",
                       re.M)  # fmt: skip
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} processors"


def _absent(name: str) -> str:
    if name == OURSELVES:
        return ""
    if name in PACKAGES:
        return "" if find_spec(name) else missing(name)
    return "" if which(name) else f"it needs the program {name}"
