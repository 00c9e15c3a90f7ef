"""Checks of unit 3 for the surgery on ONNX files. onnxruntime says what a model computes.

The models are in onnx_models.py and onnx_left.py; onnx_results.py looks at what came back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from autograder.check.cases import for_each
from autograder.check.framework import checks
from autograder.units.u03.checks import onnx_models as given
from autograder.units.u03.checks import onnx_results as results
from autograder.units.u03.checks.onnx_left import left_alone, mixtures
from autograder.units.u03.checks.onnx_results import FOLD_ALL, called, folds, ops_of, same, wrong

FOLD = "frontend.onnx_surgery.fold_batch_norms"
FOLD_EPSILON = "`epsilon` is an attribute of the batch norm"
FREE_NAMES = "with names that nothing else has"
IN_A_ROW = "Of two batch norms in a row the first folds; whether the second follows is up to you"
ELEMENTS = "of the weight's element type"
NO_BIAS = "The Conv may have no bias"
STAYS = "A batch norm stays, and its Conv with it,"
WORDS = (*results.WORDS, FOLD_EPSILON, NO_BIAS, "may be grouped or depthwise")


@checks(FOLD, spec=WORDS)
def onnx_fold_folds_one(fold_batch_norms):
    """Conv, BatchNormalization, Relu: two nodes are left."""
    for model in (given.block(), given.block(bias=True), given.block(relu=False)):
        folds(model, fold_batch_norms)
    folds(given.block(attrs="epsilon=0.25"), fold_batch_norms, formula=FOLD_EPSILON)
    return "with and without bias and epsilon"


@checks(FOLD, given=given.models(), examples=25, what="random models", spec=WORDS)
def onnx_fold_folds_all(fold_batch_norms, model):
    """1-D to 3-D, grouped and depthwise, with weights that others share."""
    folds(model, fold_batch_norms)


@for_each(FOLD, left_alone(), "{} models with nothing to fold", spec=WORDS)
def onnx_fold_leaves_what_it_must(fold_batch_norms, before, problem, spec):
    """Other readers, training mode, weights that are no constants, transposed convolutions."""
    after = called(fold_batch_norms, before)
    if results.kinds(after.graph) != results.kinds(before.graph):
        raise wrong(f"{problem} So everything must stay as it is.", before, after, spec)
    same(before, after, spec)


@checks(FOLD, given=mixtures(), examples=25, what="random models", spec=[*WORDS, STAYS])
def onnx_fold_folds_what_it_can(fold_batch_norms, case):
    """Pairs that can be folded, between others that cannot."""
    model, left = case
    folds(model, fold_batch_norms, spec=STAYS if left else FOLD_ALL, left=left)


@checks(FOLD, spec=[*WORDS, IN_A_ROW, *(spec for _, _, spec in given.foldable())])
def onnx_fold_takes_every_pair(fold_batch_norms):
    """Epsilons, biases, readers, branches, outputs and places that exporters write."""
    cases = given.foldable()
    for before, problem, spec in cases:
        folds(before, fold_batch_norms, spec, problem=problem)
    mixed = given.two_pairs("Sum(c1, y1, y2)")
    folds(mixed, fold_batch_norms, left=1, problem="The first norm must stay, the second can go.")
    unnamed = given.small('c = Conv(x, w, "")\n' + given.norm(), "y")  # its bias: fold it or not
    twice = given.small(given.PAIR + given.norm("y", "z"), "z")
    for before, spec in ((unnamed, NO_BIAS), (twice, IN_A_ROW)):
        after = same(before, called(fold_batch_norms, before), spec)
        if ops_of(after)["BatchNormalization"] > 1:
            raise wrong("Of two norms in a row the first must be folded.", before, after, spec)
    return f"{len(cases)} models in which every norm can go"


@checks(FOLD, spec=[*WORDS, FREE_NAMES, "not even in the branches of an If"])
def onnx_fold_finds_free_names(fold_batch_norms):
    """Whatever the new initializers are called, the next file has values of those names."""
    for name in _new_names(fold_batch_norms, {}):
        for role, old in given.NAMES.items():
            problem = f"Something else is called {name!r}: {role}."
            _new_names(fold_batch_norms, {old: name}, problem)
    seen: list[str] = []
    for _ in range(3):
        problem = f"Others are called {', '.join(seen)}." if seen else ""
        names = dict(zip(given.NAMES.values(), seen, strict=False))
        seen += _new_names(fold_batch_norms, names, problem)
    return "a file whose names are taken"


def _new_names(fold: Any, names: dict[str, str], problem: str = "") -> list[str]:
    """What the answer calls the initializers that it makes in a file with these names."""
    before = given.taken(names)
    old = {tensor.name for tensor in before.graph.initializer}
    after = folds(before, fold, FREE_NAMES, problem=problem)
    return [tensor.name for tensor in after.graph.initializer if tensor.name not in old][:2]


@checks(FOLD, spec=[ELEMENTS, *WORDS])
def onnx_fold_keeps_element_types(fold_batch_norms):
    """Weights in half and in double precision, with vectors of their own type or in single."""
    half, single, double = np.float16, np.float32, np.float64
    for kind, vectors in ((half, half), (double, double), (half, single), (double, single)):
        before = given.typed(given.block(bias=True, relu=False), kind, vectors)
        name = np.dtype(kind).name
        after = called(fold_batch_norms, before)
        results.well_formed(before, after)
        if ops_of(after)["BatchNormalization"]:
            problem = f"The batch norm must be folded if the weights are {name}, too."
            raise wrong(problem, before, after, FOLD_ALL)
        kinds_after = {str(numpy_helper.to_array(t).dtype) for t in after.graph.initializer}
        _same_in_single(before, after, 2e-2 if kind == half else 1e-4)
        if kinds_after != {name}:
            vectors = f"(the vectors are {np.dtype(vectors)})"
            raise wrong(f"The new weight and bias must be {name}, as the old weight is {vectors}. "
                        f"They are {', '.join(sorted(kinds_after))}.", before, after,
                        ELEMENTS)  # fmt: skip
    return "half, single and double precision"


def _same_in_single(before: onnx.ModelProto, after: onnx.ModelProto, tolerance: float) -> None:
    """The same in f32, which onnxruntime runs."""
    copies = (onnx.ModelProto.FromString(m.SerializeToString()) for m in (before, after))
    old, new = (given.typed(copy, np.float32) for copy in copies)
    same(old, new, results.FORMULA, tolerance)
