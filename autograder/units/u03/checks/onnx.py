"""Checks of unit 3 for the surgery on ONNX files. onnxruntime says what a model computes.

The models are in onnx_models.py and onnx_left.py; onnx_results.py looks at what came back.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from autograder.check.framework import Wrong, checks
from autograder.units.u03.checks.onnx_left import left_alone, mixtures
from autograder.units.u03.checks.onnx_models import (
    NAMES,
    Maker,
    block,
    empty_bias,
    foldable,
    mixed,
    models,
    taken,
    twice,
)
from autograder.units.u03.checks.onnx_results import (
    FOLD_ALL,
    FOLD_NEW,
    FOLD_UNUSED,
    FORMULA,
    called,
    folds,
    in_single,
    kinds,
    ops_of,
    same,
    text,
    well_formed,
    wrong,
)

FOLD = "frontend.onnx_surgery.fold_batch_norms"
FOLD_EPSILON = "`epsilon` is an attribute of the batch norm"
FREE_NAMES = "with names that nothing else has"
IN_A_ROW = "Of two batch norms in a row the first folds; whether the second follows is up to you"
ELEMENTS = "of the weight's element type"
PAIR = (FOLD_ALL, FOLD_EPSILON, FOLD_NEW, FORMULA, "Returns a new model", FOLD_UNUSED,
        "The Conv may have no bias", "may be grouped or depthwise", "Its attributes stay",
        "The inputs and outputs of the graph keep their names",
        "`onnx.checker.check_model` accepts")  # fmt: skip


@checks(FOLD, spec=PAIR)
def onnx_fold_folds_one(fold_batch_norms):
    """Conv, BatchNormalization, Relu: two nodes are left."""
    for model in (block(), block(bias=True), block(relu=False)):
        folds(model, fold_batch_norms)
    folds(block(epsilon=0.25), fold_batch_norms, formula=FOLD_EPSILON)
    return "with and without bias and epsilon"


@checks(FOLD, given=models(), examples=25, what="random models", spec=PAIR)
def onnx_fold_folds_all(fold_batch_norms, model):
    """1-D to 3-D, grouped and depthwise, with weights that others share."""
    folds(model, fold_batch_norms)


@checks(FOLD, spec=[*PAIR, *(spec for _, _, spec in left_alone())])
def onnx_fold_leaves_what_it_must(fold_batch_norms):
    """Other readers, training mode, weights that are no constants, transposed convolutions."""
    cases = left_alone()
    for before, problem, spec in cases:
        after = called(fold_batch_norms, before)
        if isinstance(after, onnx.ModelProto) and kinds(after.graph) != kinds(before.graph):
            raise wrong(f"{problem} So everything must stay as it is.", before, after, spec)
        if after is before:
            raise Wrong("The result must be a new model; it is the one that was given.",
                        program=text(before), spec="Returns a new model")  # fmt: skip
        same(before, after, spec)
    return f"{len(cases)} models with nothing to fold"


STAYS = "A batch norm stays, and its Conv with it,"


@checks(FOLD, given=mixtures(), examples=25, what="random models", spec=[*PAIR, STAYS])
def onnx_fold_folds_what_it_can(fold_batch_norms, case):
    """Pairs that can be folded, between others that cannot."""
    model, left = case
    folds(model, fold_batch_norms, spec=STAYS if left else FOLD_ALL, left=left)


@checks(FOLD, spec=[*PAIR, IN_A_ROW, *(spec for _, _, spec in foldable())])
def onnx_fold_takes_every_pair(fold_batch_norms):
    """Epsilons, biases, readers, branches, outputs and places that exporters know."""
    cases = foldable()
    for before, problem, spec in cases:
        folds(before, fold_batch_norms, spec, problem=problem)
    folds(mixed(), fold_batch_norms, left=1, problem="The first norm must stay, the second can go.")
    for before, most, spec in (
        (empty_bias(), 1, "The Conv may have no bias"),
        (twice(), 1, IN_A_ROW),
    ):
        after = same(before, called(fold_batch_norms, before), spec)
        if ops_of(after)["BatchNormalization"] > most:
            raise wrong("Of two norms in a row the first must be folded.", before, after, spec)
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
    held = "what a node Constant holds, and an Identity of either"
    folds(made.model("y"), fold_batch_norms, held)
    return "constants as exporters write them"


@checks(FOLD, spec=[*PAIR, FREE_NAMES, "not even in the branches of an If"])
def onnx_fold_finds_free_names(fold_batch_norms):
    """Whatever the new initializers are called, the next file has values of those names."""
    for name in _new_names(fold_batch_norms, taken()):
        for role in NAMES:
            problem = f"Something else is called {name!r}: {role}."
            folds(taken(NAMES | {role: name}), fold_batch_norms, FREE_NAMES, problem=problem)
    seen: list[str] = []
    for _ in range(3):
        problem = f"Others are called {', '.join(seen)}." if seen else ""
        seen += [n for n in _new_names(fold_batch_norms, taken(also=seen), problem)]
    return "a file whose names are taken"


def _new_names(fold: object, before: onnx.ModelProto, problem: str = "") -> list[str]:
    """What the answer calls the initializers that it makes."""
    old = {tensor.name for tensor in before.graph.initializer}
    after = folds(before, fold, FREE_NAMES, problem=problem)
    return [tensor.name for tensor in after.graph.initializer if tensor.name not in old][:2]


@checks(FOLD, spec=[*PAIR, FOLD_UNUSED])
def onnx_fold_cleans_up(fold_batch_norms):
    """The four vectors go; an initializer that another node reads stays."""
    made = Maker((1, 4, 5))
    made.node("Conv", ["x", made.weight("w", 4, 4, 1)], "c")
    y = made.norm("c", 4, "y")
    folds(made.model(made.node("Add", [y, "w"], "z")), fold_batch_norms)
    return "initializers that go, and one that stays"


@checks(FOLD, spec=[ELEMENTS, *PAIR])
def onnx_fold_keeps_element_types(fold_batch_norms):
    """Weights in half and in double precision, with vectors of their own type or in single."""
    half, single, double = np.float16, np.float32, np.float64
    for kind, vectors in ((half, half), (double, double), (half, single), (double, single)):
        before = _typed(np.dtype(kind), np.dtype(vectors))
        after = well_formed(before, called(fold_batch_norms, before))
        if ops_of(after)["BatchNormalization"]:
            problem = f"The batch norm must be folded if the weights are {np.dtype(kind)}, too."
            raise wrong(problem, before, after, FOLD_ALL)
        same(in_single(before), in_single(after), FORMULA, 2e-2 if kind == half else 1e-4)
        found = {str(numpy_helper.to_array(t).dtype) for t in after.graph.initializer}
        if found != {str(np.dtype(kind))}:
            raise wrong(
                f"The new weight and bias must be {np.dtype(kind)}, as the old weight is (the "
                f"vectors are {np.dtype(vectors)}). They are {', '.join(sorted(found))}.",
                before,
                after,
                ELEMENTS,
            )
    return "half, single and double precision"


def _typed(kind: np.dtype, vectors: np.dtype) -> onnx.ModelProto:
    """A pair whose weight and bias are of one type, and the norm's vectors of another."""
    model = block(bias=True, relu=False)
    for tensor in model.graph.initializer:
        mine = kind if tensor.name in ("w", "b") else vectors
        array = numpy_helper.to_array(tensor).astype(mine)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(kind)
    return model
