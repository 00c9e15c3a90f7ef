"""Checks of unit 3 for `fuse_relu`, on ONNX files. onnxruntime says what a model computes.

The models are in onnx_relu_cases.py; what must be true of a result stands below.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx

from autograder.check.framework import Wrong, checks
from autograder.check.properties import close
from autograder.units.u03.checks.onnx_models import block, swept
from autograder.units.u03.checks.onnx_relu_cases import apart, chains, pairs
from autograder.units.u03.checks.onnx_results import called, nodes_of, ops_of, run_like, wrong

RELU = "frontend.onnx_surgery.fuse_relu"
DOMAIN = "com.microsoft"
FUSE = "Make one node of each Conv and the Relu that reads it"
RULE = 'y = FusedConv(x, w, b) {activation = "Relu"}'
KEEPS = "It keeps the Conv's operands and attributes, and gets one more attribute"
OWN = 'one of onnxruntime\'s own operators, in the domain "com.microsoft"'
IMPORT = "`opset_import` names its domain, once, in version 1"
NOTHING = "if it has none, nothing changes"
STAYS = "A pair stays as it is"
GIVEN = "The model that was given is not changed"
ENDS = "The inputs and outputs of the graph keep their names"
INSIDE = "What stands in a graph inside a node (the branches of an If) stays as it is"
WORDS = (FUSE, RULE, KEEPS, OWN, IMPORT, NOTHING, STAYS, GIVEN, ENDS, INSIDE,
         "Returns a new model", "If the result has one")  # fmt: skip


@checks(RELU, spec=WORDS)
def relu_fuses_one(fuse_relu):
    """Conv and Relu, with and without a bias: one node."""
    for rank in (1, 2, 3):
        for bias in (False, True):
            fused(_pair(rank, bias), fuse_relu, 1)
    return "one pair, with and without a bias"


def _pair(rank: int, bias: bool) -> onnx.ModelProto:
    """A block whose norm is left out."""
    model = block(rank, bias=bias)
    conv, norm, relu = model.graph.node
    relu.input[0] = conv.output[0]
    model.graph.node.remove(norm)
    return swept(model)


@checks(RELU, spec=[*WORDS, *(spec for _, _, spec in apart())])
def relu_leaves_what_it_must(fuse_relu):
    """Other readers, outputs, other operators, other types, and pairs inside an If."""
    for before, problem, spec in apart():
        fused(before, fuse_relu, 0, problem, spec)
    return f"{len(apart())} models with nothing to fuse"


@checks(RELU, spec=[*WORDS, *(spec for _, _, _, spec in pairs())])
def relu_fuses_every_pair(fuse_relu):
    """Attributes, readers of the Relu, several pairs, files that were fused before."""
    for before, wanted, problem, spec in pairs():
        fused(before, fuse_relu, wanted, problem, spec)
    return f"{len(pairs())} models with known pairs"


@checks(RELU, given=chains(), examples=25, what="random models", spec=WORDS)
def relu_fuses_what_it_can(fuse_relu, case):
    """Pairs that can be fused, between others that cannot."""
    model, wanted = case
    fused(model, fuse_relu, wanted)


def fused(
    before: onnx.ModelProto, fuse: Any, wanted: int, problem: str = "", spec: str = ""
) -> None:
    """`wanted` pairs have become one node each, rightly written, and nothing else has changed."""
    after = called(fuse, before, GIVEN)
    if not isinstance(after, onnx.ModelProto):
        raise Wrong("The result must be an onnx.ModelProto.", got=repr(after)[:200], spec=FUSE)
    if after is before:
        raise Wrong("The result must be a new model; it is the one that was given.",
                    spec="Returns a new model")  # fmt: skip
    _right_count(before, after, wanted, problem, spec or (FUSE if wanted else STAYS))
    _written_right(before, after)
    _the_rest_is_the_same(before, after)
    _all_is_written(before, after)
    try:
        onnx.checker.check_model(after)
    except Exception as error:  # its own exceptions have no base class but this
        raise wrong(f"onnx.checker says: {str(error).splitlines()[0][:200]}", before, after,
                    IMPORT) from None  # fmt: skip
    _computes_the_same(before, after)


def _right_count(
    before: onnx.ModelProto, after: onnx.ModelProto, wanted: int, problem: str, spec: str
) -> None:
    mine, ours = ops_of(after), ops_of(before) + Counter(FusedConv=wanted)
    ours -= Counter(Conv=wanted, Relu=wanted)
    if mine != ours:
        can = f"{wanted or 'no'} pair{'s' * (wanted != 1)} can be fused here"
        so = f"So {can}" if problem and not wanted else can.capitalize()
        told = f"{problem} {so}.".strip()
        raise wrong(f"{told} What is left must be {_counted(ours)}; it is {_counted(mine)}.",
                    before, after, spec)  # fmt: skip


def _written_right(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """Domain, activation, operands and attributes of each FusedConv, and what the file imports."""
    known = Counter(_row(n) for n in before.graph.node if n.op_type in ("Conv", "FusedConv"))
    for node in after.graph.node:
        if node.op_type != "FusedConv":
            continue
        if node.domain != DOMAIN:
            raise wrong(f"The domain of a FusedConv must be {DOMAIN!r}; here it is "
                        f"{node.domain!r}.", before, after, OWN)  # fmt: skip
        said = [a.s for a in node.attribute if a.name == "activation"]
        if said != [b"Relu"]:
            raise wrong(f"The activation of a FusedConv must be one string, 'Relu'; it is {said}.",
                        before, after, RULE)  # fmt: skip
        row = _row(node)
        if not known[row]:  # a bias that is left out by the name "" may go
            row = ((*row[0], ""), row[1])
        if not known[row]:
            raise wrong("A FusedConv must have the operands and attributes of its "
                        "Conv; no Conv of the file has those of this one.", before, after,
                        KEEPS)  # fmt: skip
        known[row] -= 1
    there = ops_of(after)["FusedConv"] > 0
    mine, ours = (sorted((o.domain, o.version) for o in m.opset_import) for m in (after, before))
    if there and (DOMAIN, 1) not in ours:
        ours = sorted([*ours, (DOMAIN, 1)])
    if mine != ours:
        raise wrong(f"opset_import must be {ours}; it is {mine}.", before, after,
                    IMPORT if there else NOTHING)  # fmt: skip


def _row(node: onnx.NodeProto) -> tuple[tuple[str, ...], tuple[bytes, ...]]:
    """The operands of a convolution, and its attributes but the activation."""
    kept = [a for a in node.attribute if a.name != "activation"]
    return tuple(node.input), tuple(sorted(a.SerializeToString(deterministic=True) for a in kept))


def _the_rest_is_the_same(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    for part in ("input", "output"):
        mine, ours = ([i.name for i in getattr(m.graph, part)] for m in (after, before))
        if mine != ours:
            raise wrong(f"The {part}s must stay {ours}; they are {mine}.", before, after, ENDS)
    ours, mine = ({t.name: t.SerializeToString() for t in m.graph.initializer}
                  for m in (before, after))  # fmt: skip
    if ours != mine:
        raise wrong("The weights must stay as they are in the file.", before, after, KEEPS)
    changed = nodes_of(after.graph) != nodes_of(before.graph) or _types(after) != _types(before)
    if not ops_of(after)["FusedConv"] and changed:
        raise wrong(
            "Nothing can be fused here, so everything must stay as it is.", before, after, NOTHING
        )
    if _inner(before) != _inner(after):
        raise wrong("A graph inside a node must stay as it is.", before, after, INSIDE)


def _all_is_written(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """Every name that a node or the caller reads is a name that something has."""
    graph = after.graph
    there = {name for node in graph.node for name in node.output} | {""}
    there |= {i.name for i in graph.input} | {t.name for t in graph.initializer}
    reads = [(info.name, "the caller", ENDS) for info in graph.output]
    reads += [(name, f"this {node.op_type}", RULE) for node in graph.node for name in node.input]
    for name, reader, spec in reads:
        if name not in there:
            raise wrong(f"Something must write {name!r}, which {reader} reads; nothing does.",
                        before, after, spec)  # fmt: skip


def _types(model: onnx.ModelProto) -> dict[str, int]:
    """The element types that the file declares for values inside."""
    return {i.name: i.type.tensor_type.elem_type for i in model.graph.value_info}


def _inner(model: onnx.ModelProto) -> list[bytes]:
    graphs = [a.g for n in model.graph.node for a in n.attribute
              if a.type == onnx.AttributeProto.GRAPH]  # fmt: skip
    return sorted(g.SerializeToString(deterministic=True) for g in graphs)


def _computes_the_same(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    for mine, ours, info in zip(run_like(after, before), run_like(before, before),
                                before.graph.output, strict=True):  # fmt: skip
        if isinstance(ours, str):  # not even the given model runs: that it stayed is all there is
            continue
        if isinstance(mine, str):
            raise wrong(f"onnxruntime must run the result; it says: {mine}", before, after, FUSE)
        if not close(mine, np.asarray(ours), 1e-5):
            raise wrong(f"The result must compute what the model computes; "
                        f"{info.name} differs.", before, after,
                        FUSE)  # fmt: skip


def _counted(ops: Counter[str]) -> str:
    return ", ".join(f"{count} {op}" for op, count in sorted(ops.items()) if count)
