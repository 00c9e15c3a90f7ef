"""What must be true of a model that an answer to the surgery of unit 3 gave back.

It is another model, well-formed, has the inputs and outputs of the model before, and computes the
same (onnxruntime says what). `folds`: nothing but its batch norms is gone. Next room: onnx.py and
onnx_relu.py, the checks.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import onnx
from onnx import helper

from autograder.check.framework import Changed, Crashed, Stop, Wrong
from autograder.check.outside import Lost, OutsideError, run_onnx
from autograder.check.properties import close

Model = onnx.ModelProto

FOLD_ALL = "Fold each BatchNormalization of an ONNX model into the Conv before it"
FOLD_UNUSED = "Initializers that nothing reads any more are removed"
FOLD_NEW = "The input model is not changed"
FORMULA = "w2[oc] = w[oc] * factor[oc]"
NEW = "Returns a new model"
ENDS = "The inputs and outputs of the graph keep their names"
WELL_FORMED = "`onnx.checker.check_model` accepts"
ATTRIBUTES = "Its attributes stay"
WORDS = (FOLD_ALL, FOLD_NEW, FORMULA, NEW, FOLD_UNUSED, ENDS, WELL_FORMED, ATTRIBUTES)
GONE = str(Lost(None))


def called(surgery: Any, before: Model, spec: str = FOLD_NEW) -> Model:
    """What the answer makes of this model: another one."""
    try:
        after = surgery(before)
    except (Changed, Crashed) as error:
        error.program = text(before)
        if isinstance(error, Changed):
            error.spec = spec
        raise
    if not isinstance(after, Model):
        raise Wrong("The function must return an onnx.ModelProto.", got=repr(after)[:200], spec=NEW)
    if after is before:
        problem = "The result must be a new model; it is the one that was given. Work on a copy."
        raise Wrong(problem, program=text(before), spec=NEW)
    return after


def folds(before: Model, fold: Any, spec: str = FOLD_ALL, formula: str = FORMULA, left: int = 0,
          problem: str = "") -> Model:  # fmt: skip
    """All batch norms but `left` are gone, and nothing else is. `problem` is what is special."""
    after = called(fold, before)
    try:
        same(before, after, formula)
        _only_norms_are_gone(before, after, spec, left)
    except Wrong as error:
        error.problem = f"{problem} {error.problem}".strip()
        error.spec = spec if problem else error.spec
        raise
    if unread := _unread(after) - _unread(before):
        problem = f"{min(unread)!r} must be removed: nothing reads it any more."
        raise wrong(problem, before, after, FOLD_UNUSED)
    return after


def _only_norms_are_gone(before: Model, after: Model, spec: str, left: int) -> None:
    wanted, mine = ops_of(before), ops_of(after)
    for ops in (wanted, mine):
        for gone in ("Constant", "Identity"):  # they may stay or go
            del ops[gone]
    wanted["BatchNormalization"] = left
    dead = Counter(n.op_type for n in before.graph.node if not _read(before.graph) & {*n.output})
    if mine - wanted or wanted - mine - dead:  # what nothing reads may stay or go, too
        must = f"All batch norms here but {left} must" if left else "Every batch norm here must"
        problem = f"{must} be folded, so that these nodes are left: {counted(wanted)}."
        raise wrong(problem, before, after, spec)


def _unread(model: Model) -> set[str]:
    """The initializers that no node, no graph inside a node and no output reads."""
    inputs = {info.name for info in model.graph.input}
    return {t.name for t in model.graph.initializer} - _read(model.graph) - inputs


def _read(graph: onnx.GraphProto) -> set[str]:
    """The names that nodes, graphs inside nodes and outputs read."""
    read = {name for node in graph.node for name in node.input}
    return read.union((info.name for info in graph.output), *map(_read, inner_graphs(graph)))


def same(before: Model, after: Model, spec: str, tolerance: float = 1e-4) -> Model:
    """A well-formed folded model, that computes the same."""
    well_formed(before, after)
    computes_the_same(before, after, spec, tolerance)
    return after


def computes_the_same(before: Model, after: Model, spec: str, tolerance: float = 1e-4) -> None:
    results = zip(run_like(after, before), run_like(before, before), before.graph.output,
                  strict=True)  # fmt: skip
    for mine, ours, info in results:
        if isinstance(ours, str) and ours == GONE:  # no answer is to blame for this
            raise Stop(f"onnxruntime cannot run even the model that was given: {ours}.")
        if isinstance(ours, str):  # not even the model that was given runs: it has to be the same
            if nodes_of(after.graph) != nodes_of(before.graph):
                raise wrong("This model must stay as it is.", before, after, spec)
            continue
        if isinstance(mine, str):
            raise wrong(f"onnxruntime must run the result; it says: {mine}", before, after, spec)
        if mine.shape != ours.shape:
            problem = f"{info.name} must have the sizes {ours.shape}; it has {mine.shape}."
            raise wrong(problem, before, after, spec)
        if not close(mine, ours, tolerance):
            at = tuple(np.argwhere(~np.isclose(mine, ours, tolerance, tolerance))[0].tolist())
            problem = f"here {info.name}{list(at)} is {mine[at]:.6g} instead of {ours[at]:.6g}."
            raise wrong(f"The result must compute what the model computes; {problem}",
                        before, after, spec)  # fmt: skip


def well_formed(before: Model, after: Model) -> None:
    """Checked before anything runs: what comes back may be anything."""
    if more := [f"{count} {op}" for op, count in (ops_of(after) - ops_of(before)).items()]:
        raise wrong(f"Folding must add no node; the result has {more[0]} more.", before, after)
    known, left = _attributes(before), _attributes(after)
    changed = [*(left - known), *(known - left)]
    if changed and sum(known.values()) == sum(left.values()):
        problem = f"The attributes of each {changed[0][0]} must stay as they are."
        raise wrong(problem, before, after, ATTRIBUTES)
    size = sum(t.ByteSize() for t in before.graph.initializer)
    if sum(t.ByteSize() for t in after.graph.initializer) > 2 * size + 4096:
        raise wrong("The initializers must not grow to more than twice their size.", before, after)
    keeps_its_ends(before, after)
    is_accepted(before, after, WELL_FORMED)


def keeps_its_ends(before: Model, after: Model) -> None:
    for part in ("input", "output"):
        mine, ours = ([i.name for i in getattr(m.graph, part)] for m in (after, before))
        if mine != ours:
            raise wrong(f"The {part}s must stay {ours}; they are {mine}.", before, after, ENDS)


def is_accepted(before: Model, after: Model, spec: str) -> None:
    try:
        onnx.checker.check_model(after)
    except Exception as error:  # its own exceptions have no base class but this
        problem = f"onnx.checker says: {' '.join(str(error).partition('==>')[0].split())[:200]}"
        raise wrong(problem, before, after, spec) from None


_MAY_GO = ("BatchNormalization", "Constant", "Identity")


def _attributes(model: Model) -> Counter[tuple[str, tuple[bytes, ...]]]:
    """How often an operator has these attributes, for those that may not vanish."""
    read = _read(model.graph)
    return Counter((n.op_type, as_bytes(n.attribute)) for n in model.graph.node
                   if n.op_type not in _MAY_GO and read & {*n.output})  # fmt: skip


def as_bytes(parts: Any) -> tuple[bytes, ...]:
    return tuple(sorted(part.SerializeToString(deterministic=True) for part in parts))


def nodes_of(graph: onnx.GraphProto) -> tuple[bytes, ...]:
    """The nodes, whatever their own names are: those do not count."""
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in graph.node]
    for node in nodes:
        node.ClearField("name")
        if not node.domain:  # said or not said
            node.ClearField("domain")
    return as_bytes(nodes)


def inner_graphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    """The graphs inside its nodes."""
    return [a.g for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.GRAPH]


def kinds(graph: onnx.GraphProto) -> Counter[str]:
    """The operators of a graph and of the graphs inside its nodes."""
    mine = Counter(n.op_type for n in graph.node if n.op_type not in ("Constant", "Identity"))
    return sum(map(kinds, inner_graphs(graph)), mine)


def run_like(model: Model, like: Model) -> list[Any]:
    """Its outputs on random inputs of the sizes that `like` has."""
    shapes = [(i.name, i.type.tensor_type.shape.dim) for i in like.graph.input]
    sizes = tuple((name, tuple(d.dim_value for d in dims)) for name, dims in shapes)
    trimmed = Model.FromString(model.SerializeToString())
    trimmed.ir_version = min(model.ir_version, like.ir_version)  # make_model takes the newest
    for node in trimmed.graph.node:  # onnxruntime does not take outputs without a name
        while len(node.output) > 1 and not node.output[-1]:
            node.output.pop()
    return _outputs(trimmed.SerializeToString(deterministic=True), sizes)


@functools.lru_cache(maxsize=64)
def _outputs(model: bytes, sizes: tuple[tuple[str, tuple[int, ...]], ...]) -> list[Any]:
    """What onnxruntime computes, its own optimizations off; an error as text."""
    rng = np.random.default_rng(1)
    arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in sizes}
    try:
        return list(run_onnx(model, arrays))
    except OutsideError as error:
        return [str(error)[:200]] * len(onnx.load_from_string(model).graph.output)


def ops_of(model: Model) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def counted(ops: Counter[str]) -> str:
    return ", ".join(f"{count} {op}" for op, count in sorted(ops.items()) if count)


def wrong(problem: str, before: Model, after: Model, spec: str = "") -> Wrong:
    return Wrong(problem, program=text(before), got=text(after), spec=spec)


def text(model: Model) -> str:
    """A model in a few lines: inputs, initializers, nodes, outputs."""
    graph = model.graph
    lines = [f"input {i.name}" for i in graph.input]
    lines += [f"initializer {t.name}: {list(t.dims)}" for t in graph.initializer]
    for n in graph.node:
        attrs = ", ".join(f"{a.name}={_short(helper.get_attribute_value(a))}" for a in n.attribute)
        lines.append(f"{', '.join(n.output)} = {n.op_type}({', '.join(n.input)}) {attrs}".rstrip())
    return "\n".join([*lines, *(f"output {o.name}" for o in graph.output)])


def _short(value: Any) -> str:
    inner = isinstance(value, (onnx.GraphProto, onnx.TensorProto))
    return "{...}" if inner else f"{value}"[:40]
