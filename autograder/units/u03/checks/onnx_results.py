"""What must be true of a model that an answer to the surgery of unit 3 gave back.

It is well-formed, has the inputs and outputs of the model before, computes the same (onnxruntime
says what), and nothing but its batch norms is gone. Next room: onnx.py, the checks.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autograder.check.framework import Changed, Crashed, Wrong
from autograder.check.outside import OutsideError, run_onnx
from autograder.check.properties import close

FOLD_ALL = "Fold each BatchNormalization of an ONNX model into the Conv before it"
FOLD_UNUSED = "Initializers that nobody reads any more are removed"
FOLD_NEW = "The input model is not changed"
FORMULA = "w2[oc] = w[oc] * factor[oc]"


def called(surgery: Any, before: onnx.ModelProto, spec: str = FOLD_NEW) -> Any:
    try:
        return surgery(before)
    except Changed as error:
        error.program, error.spec = text(before), spec
        raise
    except Crashed as error:
        error.program = text(before)
        raise


def folds(
    before: onnx.ModelProto,
    fold: Any,
    spec: str = FOLD_ALL,
    formula: str = FORMULA,
    left: int = 0,
    problem: str = "",
) -> onnx.ModelProto:
    """All batch norms but `left` are gone, and nothing else is. `problem` is what is special."""
    after = called(fold, before)
    if after is before:
        raise Wrong(
            "The result must be a new model; it is the one that was given. Fold in a copy of it.",
            program=text(before),
            spec=FOLD_NEW,
        )
    try:
        after = same(before, after, formula)
        _only_norms_are_gone(before, after, spec, left)
    except Wrong as error:
        error.problem = f"{problem} {error.problem}".strip()
        error.spec = spec if problem else error.spec
        raise
    if unread := _unread(after) - _unread(before):
        problem = f"{min(unread)!r} must be removed: nobody reads it any more."
        raise wrong(problem, before, after, FOLD_UNUSED)
    return after


def _only_norms_are_gone(
    before: onnx.ModelProto, after: onnx.ModelProto, spec: str, left: int
) -> None:
    wanted, mine = ops_of(before), ops_of(after)
    for ops in (wanted, mine):
        for gone in ("Constant", "Identity"):  # they may stay or go
            del ops[gone]
    wanted["BatchNormalization"] = left
    if mine - wanted or wanted - mine - _dead(before):
        must = "Every batch norm here must" if not left else f"All batch norms here but {left} must"
        raise wrong(
            f"{must} be folded, so that these nodes are left: {_counted(wanted)}.",
            before,
            after,
            spec,
        )


def _dead(model: onnx.ModelProto) -> Counter[str]:
    """The nodes that nobody reads: they may stay or go, too."""
    return Counter(n.op_type for n in model.graph.node if not _read(model.graph) & {*n.output})


def _unread(model: onnx.ModelProto) -> set[str]:
    """The initializers that no node, no graph inside a node and no output reads."""
    inputs = {info.name for info in model.graph.input}
    return {t.name for t in model.graph.initializer} - _read(model.graph) - inputs


def _read(graph: onnx.GraphProto) -> set[str]:
    """The names that nodes, graphs inside nodes and outputs read."""
    read = {info.name for info in graph.output}
    for node in graph.node:
        read.update(node.input)
        for attribute in node.attribute:
            read |= _read(attribute.g) if attribute.type == onnx.AttributeProto.GRAPH else set()
    return read


def same(
    before: onnx.ModelProto, result: Any, spec: str, tolerance: float = 1e-4
) -> onnx.ModelProto:
    """A well-formed model with the same inputs and outputs, that computes the same."""
    after = well_formed(before, result)
    for mine, ours, info in zip(
        run_like(after, before), run_like(before, before), before.graph.output, strict=True
    ):
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
            at = tuple(int(i) for i in np.argwhere(~np.isclose(mine, ours, 1e-4, 1e-4))[0])
            raise wrong(
                f"The result must compute what the model computes; here {info.name}{list(at)} is "
                f"{mine[at]:.6g} instead of {ours[at]:.6g}.",
                before,
                after,
                spec,
            )
    return after


def well_formed(before: onnx.ModelProto, result: Any) -> onnx.ModelProto:
    """Checked before anything runs: what comes back may be anything."""
    if not isinstance(result, onnx.ModelProto):
        raise Wrong("The function must return an onnx.ModelProto.", got=repr(result)[:200])
    if more := [f"{count} {op}" for op, count in (ops_of(result) - ops_of(before)).items()]:
        raise wrong(f"Folding must add no node; the result has {more[0]} more.", before, result)
    known, left = _attributes(before), _attributes(result)
    changed = [*(left - known), *(known - left)]
    if changed and sum(known.values()) == sum(left.values()):
        raise wrong(
            f"The attributes of each {changed[0][0]} must stay as they are.",
            before,
            result,
            "Its attributes stay",
        )
    size = sum(t.ByteSize() for t in before.graph.initializer)
    if sum(t.ByteSize() for t in result.graph.initializer) > 2 * size + 4096:
        raise wrong("The initializers must not grow to more than twice their size.", before, result)
    spec = "The inputs and outputs of the graph keep their names"
    for part in ("input", "output"):
        mine, ours = ([i.name for i in getattr(m.graph, part)] for m in (result, before))
        if mine != ours:
            raise wrong(f"The {part}s must stay {ours}; they are {mine}.", before, result, spec)
    try:
        onnx.checker.check_model(result)
    except Exception as error:  # its own exceptions have no base class but this
        words = str(error).splitlines()[0][:200]
        raise wrong(
            f"onnx.checker says: {words}", before, result, "`onnx.checker.check_model` accepts"
        ) from None
    return result


_MAY_GO = ("BatchNormalization", "Constant", "Identity")


def _attributes(model: onnx.ModelProto) -> Counter[tuple[str, tuple[bytes, ...]]]:
    """How often an operator has these attributes, for those that may not vanish."""
    read = _read(model.graph)
    return Counter(
        (n.op_type, tuple(sorted(a.SerializeToString(deterministic=True) for a in n.attribute)))
        for n in model.graph.node
        if n.op_type not in _MAY_GO and read & {*n.output}
    )


def nodes_of(graph: onnx.GraphProto) -> list[bytes]:
    """The nodes, whatever their own names are: those are nobody's business."""
    nodes = [onnx.NodeProto.FromString(n.SerializeToString()) for n in graph.node]
    for node in nodes:
        node.ClearField("name")
        if not node.domain:  # said or not said
            node.ClearField("domain")
    return sorted(node.SerializeToString(deterministic=True) for node in nodes)


def kinds(graph: onnx.GraphProto) -> Counter[str]:
    """The operators of a graph and of the graphs inside its nodes."""
    inner = [a.g for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.GRAPH]
    mine = Counter(n.op_type for n in graph.node if n.op_type not in ("Constant", "Identity"))
    return sum(map(kinds, inner), mine)


def run_like(model: onnx.ModelProto, like: onnx.ModelProto) -> list[Any]:
    """Its outputs on random inputs of the sizes that `like` has."""
    sizes = [
        (i.name, tuple(d.dim_value for d in i.type.tensor_type.shape.dim)) for i in like.graph.input
    ]
    trimmed = onnx.ModelProto()
    trimmed.CopyFrom(model)
    trimmed.ir_version = min(model.ir_version, like.ir_version)  # make_model takes the newest
    for node in trimmed.graph.node:  # onnxruntime does not take outputs without a name
        while len(node.output) > 1 and not node.output[-1]:
            node.output.pop()
    return _outputs(trimmed.SerializeToString(deterministic=True), tuple(sizes))


@functools.lru_cache(maxsize=64)
def _outputs(model: bytes, sizes: tuple[tuple[str, tuple[int, ...]], ...]) -> list[Any]:
    """What onnxruntime computes, its own optimizations off; an error as text."""
    rng = np.random.default_rng(1)
    arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in sizes}
    try:
        return list(run_onnx(model, arrays))
    except OutsideError as error:
        return [str(error)[:200]] * len(onnx.load_from_string(model).graph.output)


def ops_of(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def _counted(ops: Counter[str]) -> str:
    return ", ".join(f"{count} {op}" for op, count in ops.items() if count)


def wrong(problem: str, before: onnx.ModelProto, after: onnx.ModelProto, spec: str = "") -> Wrong:
    return Wrong(problem, program=text(before), got=text(after), spec=spec)


def text(model: onnx.ModelProto) -> str:
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


def in_single(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model in f32, which onnxruntime runs."""
    single = onnx.ModelProto()
    single.CopyFrom(model)
    for tensor in single.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for info in (*single.graph.input, *single.graph.output):
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    del single.graph.value_info[:]
    return single
