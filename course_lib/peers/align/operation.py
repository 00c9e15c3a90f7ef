"""One operation of a model: where it is in the model's own graph, and what it is called there.

    attention(model_of("block"))             softmax(Q K^T) V, the only one
    conv_relu(model_of("resnet18"), 2)       the third convolution with batch norm, ReLU

An operation is a pattern, a function that finds all places of a dump at which it stands, and the
one of these that is meant. A pattern looks at kinds and at who reads what, never at names. Next
room: `found.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_lib.peers.align.other_forms import read
from course_lib.peers.align.statement import Statement, after, fixed, users_of
from course_lib.peers.model import Model, model_of
from course_lib.peers.onnxruntime import as_text

Place = list[Statement]
Pattern = Callable[[Sequence[Statement]], list[Place]]
BETWEEN = frozenset(
    {"softmax", "exp", "reduce_max", "reduce_sum", "max", "pointwise", "movement", "constant"}
)
SCALED = frozenset({"norm", "pointwise", "movement", "constant"})


@dataclass(frozen=True)
class Operation:
    """What is looked for, and its place in the model.

    core      kinds that are it, whatever else stands between them
    parts     of each of these, it needs one kind at least
    names     of the parts of the model from which its statements come: modules, nodes of the file
    results   what their values are called, in the graph and the ONNX file; a system that was not
              given one of these may use the same word for another value
    each      of each of its parts in the model, names and results: who has all of them is it
    known     what all values of the model's graph are called
    which     of how many places of the model's graph, from 0
    """

    title: str
    pattern: Pattern
    core: frozenset[str]
    parts: tuple[frozenset[str], ...]
    names: frozenset[str]
    results: frozenset[str]
    each: tuple[frozenset[str], ...]
    known: frozenset[str]
    which: int
    count: int


def attention(model: object, which: int = 0) -> Operation:
    """softmax(Q K^T) V, with what scales, masks and rearranges the scores."""
    core = frozenset({"matmul", "softmax", "exp", "reduce_max", "reduce_sum", "attention"})
    parts = (frozenset({"matmul"}), frozenset({"softmax", "exp"}))
    return _operation("softmax(QKᵀ)V", attentions, core, parts, model, which)


def conv_relu(model: object, which: int = 0) -> Operation:
    """A convolution, batch norm where there is one, and ReLU."""
    core = frozenset({"conv", "norm", "relu"})
    parts = (frozenset({"conv"}), frozenset({"relu", "max"}))
    return _operation("conv + bn + relu", convolutions, core, parts, model, which)


def _operation(
    title: str,
    pattern: Pattern,
    core: frozenset[str],
    parts: tuple[frozenset[str], ...],
    model: object,
    which: int,
) -> Operation:
    """ValueError in words if the model does not have it, or not so often."""
    given = model_of(model)
    graph = read(f"{given.graph}")
    places = pattern(graph)
    if which >= len(places):
        raise ValueError(f"{given.name} has {len(places)} of {title}, so none is number {which}")
    mine, others = places[which], [place for place in places if place is not places[which]]
    results = _results(mine)
    for place in pattern(read(_onnx(given))):
        theirs = [place] if results & _results(place) else []
        mine = [*mine, *(one for place in theirs for one in place)]
        others += [] if theirs else [place]
    others += [[one for one in graph if one.computes and one not in mine]]
    elsewhere = {name for place in others for one in place for name in one.names}
    names = frozenset(name for one in mine for name in one.names) - elsewhere
    known = _results([one for one in graph if one.computes])
    parted: dict[str, frozenset[str]] = {}  # the graph and the file have the same results
    for one in mine:
        if one.kinds & core:
            parted[one.result] = parted.get(one.result, frozenset()) | one.names | {one.result}
    each = tuple(parted.values())
    count = len(places)
    return Operation(title, pattern, core, parts, names, results, each, known, which, count)


def _results(place: Place) -> frozenset[str]:
    """What its values are called: no bare numbers, which every dump counts on its own."""
    return frozenset(one.result for one in place if one.result and not one.result.isdigit())


def _onnx(model: Model) -> str:
    return as_text(model.onnx)


# ── patterns ──


def attentions(statements: Sequence[Statement]) -> list[Place]:
    """Each product that reads a softmax of exactly one product; and what a library calls so."""
    users = users_of(statements)
    places = [[one] for one in statements if "attention" in one.kinds]
    for last in statements:
        if "matmul" not in last.kinds:
            continue
        for operand in last.reads:
            between, firsts = _back(operand, BETWEEN, "matmul")
            said = {kind for one in between for kind in one.kinds}
            if len(firsts) != 1 or not _is_softmax(said):
                continue
            (first,) = firsts
            behind = after(first, users)
            inner = [one for one in statements if one in between and one in behind]
            if _is_softmax({kind for one in inner for kind in one.kinds}):
                places.append([first, *inner, last])
    return places


def _is_softmax(said: set[str]) -> bool:
    return "softmax" in said or {"exp", "reduce_sum"} <= said


def _back(
    start: Statement, through: frozenset[str], until: str
) -> tuple[set[Statement], set[Statement]]:
    """What is met on the way back from a value, and the statements of that kind at which it ends.
    What may not be passed ends it, too."""
    seen: set[Statement] = set()
    found: set[Statement] = set()
    todo = [start]
    while todo:
        one = todo.pop()
        if until in one.kinds:
            found.add(one)
        elif one not in seen and one.kinds <= through:
            seen.add(one)
            todo += one.reads
    return seen, found


def convolutions(statements: Sequence[Statement]) -> list[Place]:
    """Each convolution whose result goes, scaled and shifted by constants, into ReLU alone."""
    users = users_of(statements)
    places = []
    for conv in statements:
        if "conv" in conv.kinds and (place := _activated(conv, users)):
            places.append(place)
    return places


def _activated(conv: Statement, users: dict[Statement, list[Statement]]) -> Place:
    """From a convolution to its ReLU; nothing, if something else comes between them."""
    place, known = [conv], {conv}
    if conv.kinds & {"relu", "max", "sum"}:
        return place if "sum" not in conv.kinds else []
    while True:
        readers = users.get(place[-1], [])
        known |= {one for one in readers
                  if "cmp" in one.word and set(users.get(one, ())) < set(readers)}  # fmt: skip
        readers = [one for one in readers if one not in known]
        if len(readers) != 1:
            return []
        (one,) = readers
        if any(other not in known and _computed(other) for other in one.reads):
            return []
        place.append(one)
        known.add(one)
        if "relu" in one.kinds or ("max" in one.kinds and len(one.operands) >= 2):
            return place
        if not one.kinds <= SCALED:
            return []


def _computed(one: Statement) -> bool:
    """Is it an input or computed from one, however it is laid out anew, and no constant?"""
    if one.computes or not one.reads:
        return one.computes and not fixed(one)
    return any(map(_computed, one.reads))
