"""The same operation in the dumps of several systems: which lines of each stage are it, and how
that is known.

    found = align(attention("block"), {"jax": stages, "iree": stages})
    found["jax"]["optimized hlo"].how       ->  "by name"     a name of the model stands there
    found["jax"]["optimized hlo"].lines     ->  {81: "...", 84: "...", ...}
    found["jax"]["optimized hlo"].kernels   ->  ["fusion", ...]   those that compute it
    found.table(), found.stepper()

By name: the dump names what the model's graph names, at statements of the right kind. By pattern:
the dump has as many places of this form as the model's graph, and if there are several, each
depends on the one before it. In every other case it is not found, with the reason: that a place
looks alike is not enough. Next room: `pages.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib.draw.base.picture import Picture
from course_lib.peers.align.operation import Operation, Place
from course_lib.peers.align.other_forms import read
from course_lib.peers.align.pages import stepper_of, table_of
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

    def table(self) -> Picture:
        """Stages and systems, with how it was found in each."""
        return table_of(self)

    def stepper(self) -> Picture:
        """The operation in each system's stages, page by page."""
        return stepper_of(self)

    def __getitem__(self, system: str) -> Mapping[str, Found]:
        return self.systems[system]


def align(operation: Operation, dumps: Mapping[str, Mapping[str, str]]) -> Alignment:
    """The operation in every stage of every system. Nothing is run."""
    found = {system: _of_a_system(operation, stages) for system, stages in dumps.items()}
    return Alignment(operation, found)


def _of_a_system(operation: Operation, stages: Mapping[str, str]) -> dict[str, Found]:
    """Stage by stage: the kernels in which it was found lead to their code."""
    found: dict[str, Found] = {}
    called: set[str] = set()
    trusted: bool | None = None
    for name, text in stages.items():
        statements = read(text) if len(text) < LONGEST else []
        if trusted is None:
            trusted = operation.known <= {one.result for one in statements}
        one, place = in_stage(operation, statements, text.splitlines(), trusted)
        if not one and (code := _functions(text, called)):
            lines, kernels = code
            one = Found("by the kernel's name", lines, kernels)
        found[name] = one
        called |= {kernel.calls or kernel.word for kernel in _kernels(place)}
    return found


def in_stage(
    operation: Operation, statements: list[Statement], lines: list[str], trusted: bool
) -> tuple[Found, Place]:
    """Where it stands in one dump. `trusted`: the system was given the values' names, too."""
    places = _distinct(operation.pattern(statements))
    names = operation.names | (operation.results if trusted else frozenset())
    how, place = _chosen(operation, names, places, statements)
    if not place:
        return Found(f"not found: {how}"), []
    kernels = _kernels(place)
    numbers = sorted({k for one in place for k in _own_lines(one)})
    inside = [one for kernel in kernels for one in kernel.inside]
    others = [one.word for one in inside if one not in place and one.computes]
    apart = operation.core | {"pointwise", "movement", "max", "other"}
    others += [kind for one in kernels if not one.inside for kind in sorted(one.kinds - apart)]
    shown = {k: lines[k - 1] for k in numbers}
    words = tuple(one.calls or one.word for one in kernels)
    return Found(how, shown, words, tuple(dict.fromkeys(others))), place


def _distinct(places: list[Place]) -> list[Place]:
    """Without those that are part of another one: of a product that reads two softmaxes, say."""
    return [one for k, one in enumerate(places)
            if not any(set(one) < set(other) or (set(one) == set(other) and j < k)
                       for j, other in enumerate(places) if j != k)]  # fmt: skip


def _chosen(
    operation: Operation, names: frozenset[str], places: list[Place], statements: list[Statement]
) -> tuple[str, Place]:
    """The place that is meant and how that is known, or why none is."""
    named = [place for place in places
             if any(_said(one) & names for one in place if one.kinds & operation.core)]  # fmt: skip
    whole = [place for place in named if _has_all(operation, place)]
    named = whole or named
    if len(named) == 1:
        return "by name", named[0]
    if len(named) > 1:
        return f"{len(named)} places have its names", []
    if not places:
        alone = _alone(operation, names, statements)
        return ("by name", alone) if alone else ("nothing has its names, and nothing its form", [])
    if len(places) != operation.count:
        return f"{len(places)} places have its form, and the model has {operation.count}", []
    firsts = [place[0] for place in places]
    if not in_order(firsts, users_of(statements)):
        return f"{len(places)} places have its form, in no certain order", []
    return "by pattern", places[operation.which]


def _has_all(operation: Operation, place: Place) -> bool:
    """Does it have a name of each part? A kernel may have one of its neighbours' too."""
    said = frozenset().union(*map(_said, place))
    return all(said & part for part in operation.each)


def _said(one: Statement) -> frozenset[str]:
    """The names that it has, without what onnxruntime writes behind them."""
    return frozenset(re.sub(r"_nchwc$", "", name) for name in (*one.names, one.result) if name)


def _alone(operation: Operation, names: frozenset[str], statements: list[Statement]) -> Place:
    """Statements that have its names, where no form is to be seen: all of its parts, or none."""
    said = [one for one in statements if one.computes and _said(one) & names]
    place = [one for one in said if one.kinds & operation.core]
    kinds = frozenset().union(*(one.kinds for one in place))
    if all(kinds & part for part in operation.parts):
        return place
    unknown = [one for one in said if one.kinds == {"other"} and _ends_it(operation, one)]
    return unknown if len(unknown) == 1 and not place else []


def _ends_it(operation: Operation, one: Statement) -> bool:
    """Does what no kind is known of have names of several of its parts, and of the last one?"""
    said = [bool(_said(one) & part) for part in operation.each]
    return sum(said) > 1 and said[-1]


def _kernels(place: Place) -> list[Statement]:
    """What is launched for it, without what only names values anew."""
    kernels = dict.fromkeys(one.kernel for one in place if one.computes)
    return list(kernels)


def _own_lines(one: Statement) -> range:
    return range(one.first, one.last + 1)


def _functions(text: str, names: set[str]) -> tuple[dict[int, str], tuple[str, ...]] | None:
    """The lines of functions of these names, in whatever language, and which of them there are."""
    if not names:
        return None
    lines, shown, found = text.splitlines(), {}, []
    any_of = "|".join(map(re.escape, sorted(names)))
    header = re.compile(
        rf"^\s*(?:kernel @|define .*@\"?|(?:\w+ )*func\.func .*@|def |.*\bvoid\s+)(?P<a>{any_of})\b"
        rf"|^(?P<b>{any_of})(?::| = async_compile)"
    )
    k = 0
    while k < len(lines):
        if not (match := header.match(lines[k])):
            k += 1
            continue
        found.append(match["a"] or match["b"])
        end = _end(lines, k)
        shown |= {j + 1: lines[j] for j in range(k, end)}
        k = end
    return (shown, tuple(dict.fromkeys(found))) if shown else None


def _end(lines: list[str], start: int) -> int:
    """Behind the last line of a function: where its bracket closes, or the next label stands."""
    if lines[start].rstrip().endswith(":") and not lines[start].lstrip().startswith("def "):
        stops = (
            k for k in range(start + 1, len(lines)) if re.match(r"[A-Za-z_][\w$.]*:", lines[k])
        )
        return next(stops, len(lines))
    margin = len(lines[start]) - len(lines[start].lstrip())
    for k in range(start + 1, len(lines)):
        line = lines[k]
        if re.match(r"\s*(?:\}|'''\))", line) and len(line) - len(line.lstrip()) <= margin:
            return k + 1
        if (
            lines[start].lstrip().startswith("def ")
            and line.strip()
            and (len(line) - len(line.lstrip()) <= margin)
        ):
            return k
    return len(lines)
