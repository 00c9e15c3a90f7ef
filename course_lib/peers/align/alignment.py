"""The same operation in the dumps of several systems: which lines of each stage are it, and how that
is known.

    found = align(attention("block"), {"jax": stages, "iree": stages})
    found["jax"]["optimized hlo"].how       ->  "by name"         a name of the model stands there
    found["jax"]["optimized hlo"].lines     ->  {81: "...", 84: "...", ...}
    found["jax"]["optimized hlo"].kernels   ->  ["fusion", ...]   those that compute it
    found.table(), found.stepper()

By name: the dump names what the model's graph names, at statements of the right kind. By pattern: the
dump has as many places of this form as the model's graph, and if there are several, each depends on
the one before it, in both. In every other case it is not found, with the reason: that a place looks
alike is not enough. Next room: `pages.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib.peers.align.operation import Operation, Place
from course_lib.peers.align.other_forms import read
from course_lib.peers.align.statement import Statement, in_order, users_of

LONGEST = 400_000  # characters of a text that is read as statements; machine code is longer


@dataclass(frozen=True)
class Found:
    """Of one stage: `how` is "by name", "by pattern", "by the kernel's name" or "not found: why".

    lines     by number, from 1
    kernels   what computes it, by the words of the dump, in order
    others    what else is in these kernels
    """

    how: str
    lines: Mapping[int, str] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass(frozen=True)
class Alignment:
    """By system and stage, in order."""

    operation: Operation
    systems: Mapping[str, Mapping[str, Found]]
    texts: Mapping[str, Mapping[str, str]]

    def __getitem__(self, system: str) -> Mapping[str, Found]:
        return self.systems[system]


def align(operation: Operation, dumps: Mapping[str, Mapping[str, str]]) -> Alignment:
    """The operation in every stage of every system. Nothing is run."""
    found = {system: _of_a_system(operation, stages) for system, stages in dumps.items()}
    return Alignment(operation, found, dumps)


def _of_a_system(operation: Operation, stages: Mapping[str, str]) -> dict[str, Found]:
    """Stage by stage: the kernels in which it was found lead to their code."""
    found: dict[str, Found] = {}
    called: set[str] = set()
    for name, text in stages.items():
        statements = read(text) if len(text) < LONGEST else []
        one, place = in_stage(operation, statements, text.splitlines())
        if not one and (code := _functions(text, called)):
            one = Found("by the kernel's name", code, tuple(sorted(called)))
        found[name] = one
        called |= {kernel.calls for kernel in _kernels(place) if kernel.calls}
    return found


def in_stage(
    operation: Operation, statements: list[Statement], lines: list[str]
) -> tuple[Found, Place]:
    """Where it stands in one dump."""
    places = _distinct(operation.pattern(statements))
    how, place = _chosen(operation, places, statements)
    if not place:
        return Found(f"not found: {how}"), []
    kernels = _kernels(place)
    numbers = sorted({k for one in place for k in _own_lines(one)})
    inside = [one for kernel in kernels for one in kernel.inside]
    others = [one.word for one in inside if one not in place and one.computes]
    others += [kind for one in kernels if not one.inside
               for kind in sorted(one.kinds - operation.core - {"pointwise", "movement"})]  # fmt: skip
    shown = {k: lines[k - 1] for k in numbers}
    words = tuple(one.calls or one.word for one in kernels)
    return Found(how, shown, words, tuple(dict.fromkeys(others))), place


def _distinct(places: list[Place]) -> list[Place]:
    """Without those that are part of another one: of a product that reads two softmaxes, say."""
    return [one for k, one in enumerate(places)
            if not any(set(one) < set(other) or (set(one) == set(other) and j < k)
                       for j, other in enumerate(places) if j != k)]  # fmt: skip


def _chosen(
    operation: Operation, places: list[Place], statements: list[Statement]
) -> tuple[str, Place]:
    """The place that is meant and how that is known, or why none is."""
    named = [place for place in places if any(_says(operation, one) for one in place)]
    if len(named) == 1:
        return "by name", named[0]
    if len(named) > 1:
        return f"{len(named)} places have its names", []
    if not places:
        alone = [one for one in statements if one.computes and _says(operation, one)]
        if alone:
            return "by name", alone
        return "no statement has its names, and none its form", []
    if len(places) != operation.count:
        return f"{len(places)} places have its form, and the model has {operation.count}", []
    firsts = [place[0] for place in places]
    if not in_order(firsts, users_of(statements)):
        return f"{len(places)} places have its form, in no certain order", []
    return "by pattern", places[operation.which]


def _says(operation: Operation, one: Statement) -> bool:
    """Does a statement of its kinds, or one that no kind is known of, have one of its names?"""
    fits = one.kinds & operation.core or one.kinds <= {"other"} or one.kinds == {"pointwise"}
    return bool(fits) and any(_base(name) in operation.names for name in one.names)


def _base(name: str) -> str:
    """Without what onnxruntime writes behind it when it changes a layout."""
    return re.sub(r"_nchwc$", "", name)


def _kernels(place: Place) -> list[Statement]:
    """What is launched for it, without what only names values anew."""
    kernels = dict.fromkeys(one.kernel for one in place if one.computes)
    return list(kernels)


def _own_lines(one: Statement) -> range:
    return range(one.first, one.last + 1)


def _functions(text: str, names: set[str]) -> dict[int, str]:
    """The lines of functions of these names, in whatever language."""
    if not names:
        return {}
    lines, shown = text.splitlines(), {}
    any_of = "|".join(map(re.escape, sorted(names)))
    header = re.compile(
        rf"^\s*(?:kernel @|define .*@\"?|(?:\w+ )*func\.func .*@|def |.*\bvoid\s+)(?:{any_of})\b"
        rf"|^(?:{any_of})(?::| = async_compile)"
    )
    k = 0
    while k < len(lines):
        if not header.match(lines[k]):
            k += 1
            continue
        end = _end(lines, k)
        shown |= {j + 1: lines[j] for j in range(k, end)}
        k = end
    return shown


def _end(lines: list[str], start: int) -> int:
    """Behind the last line of a function: where its bracket closes, or the next label stands."""
    if lines[start].rstrip().endswith(":") and not lines[start].lstrip().startswith("def"):
        stops = (k for k in range(start + 1, len(lines)) if re.match(r"[A-Za-z_]\w*:", lines[k]))
        return next(stops, len(lines))
    margin = len(lines[start]) - len(lines[start].lstrip())
    for k in range(start + 1, len(lines)):
        line = lines[k]
        if re.match(r"\s*(?:\}|'''\))", line) and len(line) - len(line.lstrip()) <= margin:
            return k + 1
        if lines[start].lstrip().startswith("def") and line.strip() and (
            len(line) - len(line.lstrip()) <= margin
        ):
            return k
    return len(lines)
