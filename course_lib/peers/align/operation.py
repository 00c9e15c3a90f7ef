"""One operation of a model: where it is in the model's own graph, and what it is called there.

    attention(model_of("block"))             softmax(Q K^T) V, the only one
    conv_relu(model_of("resnet18"), 2)       the third convolution with batch norm and ReLU

An operation is a pattern, a function that finds all places of a dump at which it stands, and the one
of these that is meant. A pattern looks at kinds and at who reads what, never at names. Next room:
`alignment.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_lib.peers.align.other_forms import read
from course_lib.peers.align.statement import Statement, after, users_of
from course_lib.peers.model import Model, model_of

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
    names     of the statements of its kinds, in the model's graph and in its ONNX file
    which     of how many places of the model's graph, from 0
    """

    title: str
    pattern: Pattern
    core: frozenset[str]
    names: frozenset[str]
    which: int
    count: int


def attention(model: object, which: int = 0) -> Operation:
    """softmax(Q K^T) V, with what scales, masks and rearranges the scores."""
    core = frozenset({"matmul", "softmax", "exp", "reduce_max", "reduce_sum", "attention"})
    return _operation("softmax(QKᵀ)V", attentions, core, model, which)


def conv_relu(model: object, which: int = 0) -> Operation:
    """A convolution, batch norm where there is one, and ReLU."""
    core = frozenset({"conv", "norm", "relu"})
    return _operation("conv + bn + relu", convolutions, core, model, which)


def _operation(
    title: str, pattern: Pattern, core: frozenset[str], model: object, which: int
) -> Operation:
    """ValueError in words if the model does not have it, or not so often."""
    given = model_of(model)
    places = pattern(read(f"{given.graph}"))
    if which >= len(places):
        raise ValueError(f"{given.name} has {len(places)} of {title}, so none is number {which}")
    names = _names(places[which], core)
    for place in pattern(read(_onnx(given))):
        if names & (found := _names(place, core)):
            names |= found
    shared = frozenset().union(*(_names(place, core) for k, place in enumerate(places) if k != which))
    return Operation(title, pattern, core, names - shared, which, len(places))


def _names(place: Place, core: frozenset[str]) -> frozenset[str]:
    """What its statements are called: no bare numbers, which every dump counts on its own."""
    names = (name for one in place if one.kinds & (core | {"pointwise"}) for name in one.names)
    return frozenset(name for name in names if not name.isdigit())


def _onnx(model: Model) -> str:
    from course_lib.peers.onnxruntime import as_text  # onnx is heavy

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


def _back(start: Statement, through: frozenset[str], until: str) -> tuple[set[Statement], set[Statement]]:
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
    """Each convolution whose result goes, scaled and shifted by constants at most, into ReLU alone."""
    users = users_of(statements)
    places = []
    for conv in statements:
        if "conv" in conv.kinds and (place := _activated(conv, users)):
            places.append(place)
    return places


def _activated(conv: Statement, users: dict[Statement, list[Statement]]) -> Place:
    """From a convolution to its ReLU; nothing, if something else comes between them."""
    place, known = [conv], {conv}
    if conv.kinds & {"relu", "sum"}:
        return place if "sum" not in conv.kinds else []
    while True:
        readers = [one for one in users.get(place[-1], ()) if one is not place[-1]]
        if len(readers) != 1:
            return []
        (one,) = readers
        if any(other.computes and other not in known for other in one.reads):
            return []
        place.append(one)
        known.add(one)
        if "relu" in one.kinds or ("max" in one.kinds and len(one.operands) == 2):
            return place
        if not one.kinds <= SCALED:
            return []
