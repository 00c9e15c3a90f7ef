"""Checks of unit 3 for the surgery on ONNX files. onnxruntime says what a model computes.

The models are in onnx_models.py.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.outside import OutsideError, run_onnx
from autograder.check.properties import close
from autograder.units.u03.checks.onnx_models import (
    Maker,
    block,
    empty_bias,
    foldable,
    left_alone,
    mixed,
    models,
    taken,
)

FOLD = "frontend.onnx_surgery.fold_batch_norms"

FOLD_ALL = "Fold each BatchNormalization of an ONNX model into the Conv before it"
FOLD_UNUSED = "Initializers that nobody reads any more are removed"
FOLD_EPSILON = "`epsilon` is an attribute of the batch norm"
FOLD_NEW = "The input model is not changed"
FORMULA = "w2[oc] = w[oc] * factor[oc]"

# ── checks ──


PAIR = (FOLD_ALL, FOLD_EPSILON, FOLD_NEW, FORMULA, "Returns a new model",
        "The Conv may have no bias", "may be grouped or depthwise", "Its attributes stay",
        "The inputs and outputs of the graph keep their names",
        "`onnx.checker.check_model` accepts")  # fmt: skip


@checks(FOLD, spec=PAIR)
def onnx_fold_folds_one(fold_batch_norms):
    """Conv, BatchNormalization, Relu: two nodes are left."""
    for model in (block(), block(bias=True), block(relu=False)):
        _folds(model, fold_batch_norms)
    _folds(block(epsilon=0.25), fold_batch_norms, formula=FOLD_EPSILON)
    return "with and without bias and epsilon"


@checks(FOLD, given=models(), examples=25, what="random models", spec=PAIR)
def onnx_fold_folds_all(fold_batch_norms, model):
    """1-D to 3-D, grouped and depthwise, with weights that others share."""
    _folds(model, fold_batch_norms)


@checks(FOLD, spec=[*PAIR, *(spec for _, _, spec in left_alone())])
def onnx_fold_leaves_what_it_must(fold_batch_norms):
    """Other readers, training mode, weights that are no constants, transposed convolutions."""
    cases = left_alone()
    for before, problem, spec in cases:
        after = _called(fold_batch_norms, before)
        if isinstance(after, onnx.ModelProto) and _kinds(after.graph) != _kinds(before.graph):
            raise _wrong(f"{problem} So nothing can be folded here.", before, after, spec)
        if after is before:
            raise Wrong("This is the very model that was given.", program=text(before),
                        spec="Returns a new model")  # fmt: skip
        _same(before, after, spec)
    return f"{len(cases)} models with nothing to fold"


@checks(FOLD, spec=[*PAIR, *(spec for _, _, spec in foldable())])
def onnx_fold_takes_every_pair(fold_batch_norms):
    """Epsilons, biases, readers, branches, outputs and places that exporters know."""
    cases = foldable()
    for before, problem, spec in cases:
        try:
            _folds(before, fold_batch_norms, spec)
        except Wrong as error:
            error.problem = f"{problem} {error.problem}"
            error.spec = spec
            raise
    before, after = mixed(), _called(fold_batch_norms, mixed())
    if isinstance(after, onnx.ModelProto) and _ops(after)["BatchNormalization"] != 1:
        raise _wrong("The first norm must stay, the second can go.", before, after, FOLD_ALL)
    _same(before, after, FOLD_ALL)
    before = empty_bias()
    _same(before, _called(fold_batch_norms, before), "The Conv may have no bias")
    return f"{len(cases)} models in which every norm can go"


@checks(FOLD, spec=[*PAIR, "what a node Constant holds, and an Identity of either"])
def onnx_fold_knows_constants(fold_batch_norms):
    """As exporters write them: a mean that is an Identity of the shift, a weight in a Constant."""
    made = Maker((1, 4, 5))
    made.node("Identity", [made.weight("shift", 4)], "mean")
    w = numpy_helper.from_array(made.rng.uniform(-1, 1, (4, 4, 1)).astype(np.float32))
    made.nodes.append(helper.make_node("Constant", [], ["w"], "w", value=w))
    made.node("Conv", ["x", "w"], "c")
    vectors = [made.weight("scale", 4), "shift", "mean", made.weight("var", 4, low=0.1, high=2.0)]
    made.node("BatchNormalization", ["c", *vectors], "y")
    _folds(
        made.model("y"), fold_batch_norms, "what a node Constant holds, and an Identity of either"
    )
    return "constants as exporters write them"


@checks(FOLD, spec=[*PAIR, "with names that nothing else has"])
def onnx_fold_finds_free_names(fold_batch_norms):
    """Whatever the new initializers are called, the next file has values of those names."""

    before = taken()
    old = {t.name for t in before.graph.initializer}
    new = [t.name for t in _folds(before, fold_batch_norms).graph.initializer if t.name not in old]
    for name in new if len(new) == 2 else ():
        for role in ("initializer", "value", "argument", "inside"):
            model = taken(**{role: name})
            try:
                _folds(model, fold_batch_norms)
            except Wrong as error:
                error.problem = f"Another {role} is called {name!r}. {error.problem}"
                error.spec = "with names that nothing else has"
                raise
    return "names that are taken"


@checks(FOLD, spec=[*PAIR, FOLD_UNUSED])
def onnx_fold_cleans_up(fold_batch_norms):
    """The four vectors go; an initializer that another node reads stays."""
    made = Maker((1, 4, 5))
    made.node("Conv", ["x", made.weight("w", 4, 4, 1)], "c")
    y = made.norm("c", 4, "y")
    before = made.model(made.node("Add", [y, "w"], "z"))
    after = _folds(before, fold_batch_norms)
    used = {name for node in after.graph.node for name in node.input}
    left = [t.name for t in after.graph.initializer if t.name not in used]
    if left:
        raise _wrong(f"Nobody reads {left[0]!r} any more.", before, after, FOLD_UNUSED)
    return "initializers"


@checks(FOLD, spec=["of the weight's element type", *PAIR])
def onnx_fold_keeps_element_types(fold_batch_norms):
    """Weights in half and in double precision; onnxruntime may not run them, so types decide."""
    for kind in (np.float16, np.float64):
        before = block(bias=True, relu=False)
        for tensor in before.graph.initializer:
            array = numpy_helper.to_array(tensor).astype(kind)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        for info in (*before.graph.input, *before.graph.output):
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        after = _well_formed(before, _called(fold_batch_norms, before))
        if _ops(after)["BatchNormalization"]:
            raise _wrong(f"Weights may be {np.dtype(kind)}, too.", before, after, FOLD_ALL)
        _same(_in_single(before), _in_single(after), FORMULA, 2e-2 if kind == np.float16 else 1e-4)
        kinds = {numpy_helper.to_array(t).dtype for t in after.graph.initializer}
        if kinds != {np.dtype(kind)}:
            found = ", ".join(sorted(map(str, kinds)))
            raise _wrong(
                f"Here all weights are {np.dtype(kind)}; in the result: {found}.", before, after
            )
    return "element types"


def _in_single(model: onnx.ModelProto) -> onnx.ModelProto:
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


def _called(fold: Any, before: onnx.ModelProto) -> Any:
    try:
        return fold(before)
    except Crashed as error:
        error.program = text(before)
        raise


def _folds(
    before: onnx.ModelProto, fold: Any, spec: str = FOLD_ALL, formula: str = FORMULA
) -> onnx.ModelProto:
    """All batch norms are gone, and nothing else is."""
    after = _called(fold, before)
    if after is before:
        raise Wrong(
            "This is the very model that was given. Fold in a copy of it, and return that.",
            program=text(before),
            spec=FOLD_NEW,
        )
    after = _same(before, after, formula)
    wanted, left = _ops(before), _ops(after)
    for ops in (wanted, left):
        for gone in ("Constant", "Identity"):  # they may stay or go
            del ops[gone]
    del wanted["BatchNormalization"]
    if left != wanted:
        raise _wrong(
            f"Every batch norm here can be folded, so that these nodes are left: "
            f"{_counted(wanted)}.",
            before,
            after,
            spec,
        )
    return after


def _same(
    before: onnx.ModelProto, result: Any, spec: str, tolerance: float = 1e-4
) -> onnx.ModelProto:
    """A well-formed model with the same inputs and outputs, that computes the same."""
    after = _well_formed(before, result)
    for mine, ours, info in zip(
        _run(after, before), _run(before, before), before.graph.output, strict=True
    ):
        if isinstance(ours, str):  # not even the model that was given runs: it has to be the same
            if _nodes(after.graph) != _nodes(before.graph):
                raise _wrong("This model has to stay as it is.", before, after, spec)
            continue
        if isinstance(mine, str):
            raise _wrong(f"onnxruntime runs the result: {mine}", before, after, spec)
        if mine.shape != ours.shape:
            problem = f"{info.name} has the sizes {mine.shape} instead of {ours.shape}."
            raise _wrong(problem, before, after, spec)
        if not close(mine, ours, tolerance):
            at = tuple(int(i) for i in np.argwhere(~np.isclose(mine, ours, 1e-4, 1e-4))[0])
            raise _wrong(
                f"The result computes what the model computes. {info.name}{list(at)} is "
                f"{mine[at]:.6g} instead of {ours[at]:.6g}.",
                before,
                after,
                spec,
            )
    return after


def _well_formed(before: onnx.ModelProto, result: Any) -> onnx.ModelProto:
    """Checked before anything runs: what comes back may be anything."""
    if not isinstance(result, onnx.ModelProto):
        raise Wrong("The function returns an onnx.ModelProto.", got=repr(result)[:200])
    if more := [f"{count} {op}" for op, count in (_ops(result) - _ops(before)).items()]:
        raise _wrong(f"Folding adds no node; here are {more[0]} more.", before, result)
    known, left = _attributes(before), _attributes(result)
    if known != left and (changed := [*(left - known), *(known - left)]):
        raise _wrong(
            f"The attributes of a {changed[0][0]} changed.", before, result, "Its attributes stay"
        )
    size = sum(t.ByteSize() for t in before.graph.initializer)
    if sum(t.ByteSize() for t in result.graph.initializer) > 2 * size + 4096:
        raise _wrong("The initializers have grown to more than twice their size.", before, result)
    spec = "The inputs and outputs of the graph keep their names"
    for part in ("input", "output"):
        mine, ours = ([i.name for i in getattr(m.graph, part)] for m in (result, before))
        if mine != ours:
            raise _wrong(f"The {part}s are {ours}, not {mine}.", before, result, spec)
    try:
        onnx.checker.check_model(result)
    except Exception as error:  # its own exceptions have no base class but this
        words = str(error).splitlines()[0][:200]
        raise _wrong(
            f"onnx.checker says: {words}", before, result, "`onnx.checker.check_model` accepts"
        ) from None
    return result


_MAY_GO = ("BatchNormalization", "Constant", "Identity")


def _attributes(model: onnx.ModelProto) -> Counter[tuple[str, tuple[bytes, ...]]]:
    """How often an operator has these attributes, for those that may not vanish."""
    return Counter(
        (n.op_type, tuple(sorted(a.SerializeToString(deterministic=True) for a in n.attribute)))
        for n in model.graph.node
        if n.op_type not in _MAY_GO
    )


def _nodes(graph: onnx.GraphProto) -> list[bytes]:
    return sorted(node.SerializeToString(deterministic=True) for node in graph.node)


def _kinds(graph: onnx.GraphProto) -> Counter[str]:
    """The operators of a graph and of the graphs inside its nodes."""
    inner = [a.g for n in graph.node for a in n.attribute if a.type == onnx.AttributeProto.GRAPH]
    mine = Counter(n.op_type for n in graph.node if n.op_type not in ("Constant", "Identity"))
    return sum(map(_kinds, inner), mine)


def _run(model: onnx.ModelProto, like: onnx.ModelProto) -> list[Any]:
    """Its outputs on random inputs of the sizes that `like` has."""
    sizes = [
        (i.name, tuple(d.dim_value for d in i.type.tensor_type.shape.dim)) for i in like.graph.input
    ]
    trimmed = onnx.ModelProto()
    trimmed.CopyFrom(model)
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


def _ops(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def _counted(ops: Counter[str]) -> str:
    return ", ".join(f"{count} {op}" for op, count in ops.items() if count)


def _wrong(problem: str, before: onnx.ModelProto, after: onnx.ModelProto, spec: str = "") -> Wrong:
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
