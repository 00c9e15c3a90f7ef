"""Checks of unit 3 for `fuse_relu`, on ONNX files. onnxruntime says what a model computes.

The models are in onnx_relu_cases.py; what must be true of a result stands below.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import onnx

from autograder.check.cases import for_each
from autograder.check.framework import checks
from autograder.units.u03.checks import onnx_relu_cases as given
from autograder.units.u03.checks import onnx_results as results
from autograder.units.u03.checks.onnx_models import small
from autograder.units.u03.checks.onnx_relu_cases import FUSE, IMPORT, INSIDE, NOTHING, chains
from autograder.units.u03.checks.onnx_results import ENDS, NEW, Model, ops_of, wrong

RELU = "frontend.onnx_surgery.fuse_relu"
DOMAIN = "com.microsoft"
RULE = 'y = FusedConv(x, w, b) {activation = "Relu"}'
KEEPS = "It keeps the Conv's operands and attributes, and gets one more attribute"
OWN = 'one of onnxruntime\'s own operators, in the domain "com.microsoft"'
STAYS = "A pair stays as it is"
GIVEN = "The model that was given is not changed"
WORDS = (FUSE, RULE, KEEPS, OWN, IMPORT, NOTHING, STAYS, GIVEN, ENDS, INSIDE, NEW,
         results.WELL_FORMED, "If at least one pair was fused")  # fmt: skip


@checks(RELU, spec=WORDS)
def relu_fuses_one(fuse_relu):
    """Conv and Relu, with and without a bias: one node."""
    for rank in (1, 2, 3):
        for bias in ("", ", b"):
            nodes = f"c = Conv <pads={[1] * (2 * rank)}> (x, w{bias}) z = Relu(c)"
            sizes = {"w": (6, 4, *[3] * rank), "b": (6,)}
            fused(fuse_relu, small(nodes, "z", x=(1, 4, *[5] * rank), sizes=sizes), 1)
    return "one pair, with and without a bias"


@for_each(RELU, given.apart(), "{} models with nothing to fuse", spec=WORDS)
def relu_leaves_what_it_must(fuse_relu, before, problem, spec):
    """Other readers, outputs, other operators, other types, and pairs inside an If."""
    fused(fuse_relu, before, 0, problem, spec)


@for_each(RELU, given.pairs(), "{} models with known pairs", spec=WORDS)
def relu_fuses_every_pair(fuse_relu, *row):
    """Attributes, readers of the Relu, several pairs, files that were fused before."""
    fused(fuse_relu, *row)


@checks(RELU, given=chains(), examples=25, what="random models", spec=WORDS)
def relu_fuses_what_it_can(fuse_relu, case):
    """Pairs that can be fused, between others that cannot."""
    fused(fuse_relu, *case)


def fused(fuse: Any, before: Model, wanted: int, problem: str = "", spec: str = "") -> None:
    """`wanted` pairs have become one node each, rightly written, and nothing else has changed."""
    after = results.called(fuse, before, GIVEN)
    _right_count(before, after, wanted, problem, spec or (FUSE if wanted else STAYS))
    _written_right(before, after)
    _imports_right(before, after)
    results.keeps_its_ends(before, after)
    _the_rest_is_the_same(before, after)
    _all_is_written(before, after)
    results.is_accepted(before, after, results.WELL_FORMED)
    results.computes_the_same(before, after, FUSE, 1e-5)


def _right_count(before: Model, after: Model, wanted: int, problem: str, spec: str) -> None:
    mine, ours = ops_of(after), ops_of(before) + Counter(FusedConv=wanted)
    ours -= Counter(Conv=wanted, Relu=wanted)
    if mine != ours:
        can = f"{wanted or 'no'} pair{'s' * (wanted != 1)} can be fused here"
        so = f"So {can}" if problem and not wanted else can.capitalize()
        left = f"What is left must be {results.counted(ours)}; it is {results.counted(mine)}."
        spec = spec if wanted or mine["FusedConv"] else NOTHING
        raise wrong(f"{problem} {so}. {left}".strip(), before, after, spec)


def _written_right(before: Model, after: Model) -> None:
    """Domain, activation, operands and attributes of each FusedConv."""
    known = Counter(_row(n) for n in before.graph.node if n.op_type in ("Conv", "FusedConv"))
    for node in [n for n in after.graph.node if n.op_type == "FusedConv"]:
        if node.domain != DOMAIN:
            problem = f"The domain of a FusedConv must be {DOMAIN!r}; here it is {node.domain!r}."
            raise wrong(problem, before, after, OWN)
        activations = [a.s for a in node.attribute if a.name == "activation"]
        if activations != [b"Relu"]:
            problem = "The activation of a FusedConv must be one string, 'Relu'; it is"
            raise wrong(f"{problem} {activations}.", before, after, RULE)
        row = _row(node)
        if not known[row]:  # a bias that is left out by the name "" may go
            row = ((*row[0], ""), row[1])
        if not known[row]:
            raise wrong("A FusedConv must have the operands and attributes of its Conv; no Conv of "
                        "the file has those of this one.", before, after, KEEPS)  # fmt: skip
        known[row] -= 1


def _row(node: onnx.NodeProto) -> tuple[tuple[str, ...], tuple[bytes, ...]]:
    """The operands of a convolution, and its attributes but the activation."""
    return tuple(node.input), results.as_bytes(a for a in node.attribute if a.name != "activation")


def _imports_right(before: Model, after: Model) -> None:
    there = ops_of(after)["FusedConv"] > 0
    mine, ours = (sorted((o.domain, o.version) for o in m.opset_import) for m in (after, before))
    if there and (DOMAIN, 1) not in ours:
        ours = sorted([*ours, (DOMAIN, 1)])
    if mine != ours:
        problem = f"opset_import must be {ours}; it is {mine}."
        raise wrong(problem, before, after, IMPORT if there else NOTHING)


def _the_rest_is_the_same(before: Model, after: Model) -> None:
    ours, mine = ({t.name: t.SerializeToString() for t in m.graph.initializer}
                  for m in (before, after))  # fmt: skip
    if ours != mine:
        raise wrong("The weights must stay as they are in the file.", before, after, KEEPS)
    old, new = ((results.nodes_of(m.graph), _types(m)) for m in (before, after))
    if not ops_of(after)["FusedConv"] and old != new:
        problem = "Nothing can be fused here, so everything must stay as it is."
        raise wrong(problem, before, after, NOTHING)
    if len({results.as_bytes(results.inner_graphs(model.graph)) for model in (before, after)}) > 1:
        raise wrong("A graph inside a node must stay as it is.", before, after, INSIDE)


def _types(model: Model) -> dict[str, int]:
    """The element types that the file declares for values inside."""
    return {i.name: i.type.tensor_type.elem_type for i in model.graph.value_info}


def _all_is_written(before: Model, after: Model) -> None:
    """Every name that a node or the caller reads is a name that something has."""
    graph = after.graph
    there = {name for node in graph.node for name in node.output} | {""}
    there |= {i.name for i in graph.input} | {t.name for t in graph.initializer}
    reads = [(info.name, "the caller", ENDS) for info in graph.output]
    reads += [(name, f"this {node.op_type}", RULE) for node in graph.node for name in node.input]
    for name, reader, spec in reads:
        if name not in there:
            problem = f"Something must write {name!r}, which {reader} reads; nothing does."
            raise wrong(problem, before, after, spec)
