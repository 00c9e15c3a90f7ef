"""Visible checks of `layer`: layers with and without what may be missing. Next room: program.py.

`describes` judges an answer, here and in the hidden checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background
from autograder.check.shown import returned
from course_lib.plugins.byoc.build import const
from course_lib.plugins.byoc.regions import composite
from course_lib.plugins.byoc.tree import Function, GenericConst, IRModule, RelaxCall, TensorType
from course_lib.plugins.byoc.tvm import Tvm

NAME = "u14_lab_byoc.layer"
DATA = "What a layer of the chip computes, as plain data"
KEYS = "a dict with these keys"
SENTENCES = {
    "weights": '"weights": an int8 array [k, n]',
    "bias": '"bias": an int32 array [n], of zeros if the layer has none',
    "scale": '"scale": a float32 array [n]; a single number is repeated',
    "relu": '"relu": whether the layer has one',
}
EITHER = "The bias is the constant operand of `add`, which may be the first or the second"
TYPES = {"weights": np.int8, "bias": np.int32, "scale": np.float32}
OPS = {"relax.matmul": "weights", "relax.add": "bias", "relax.dequantize": "scale"}

background(NAME, "tvm the module `tvm`", because="what is given")
background(NAME, "function a function ... that `divided` makes", because="what is given")


def describes(layer: Any, function: Function, relu: bool, spec: str = "") -> None:
    """Wrong unless the answer says what stands in the function."""
    got, program = layer(Tvm(), function), f"{IRModule((('layer', function),))}\n"
    if not isinstance(got, dict) or {*got} != {*SENTENCES}:
        raise Wrong("The answer must be a dict with the four keys.", program=program,
                    got=returned(got), spec=KEYS)  # fmt: skip
    for key, want in {**_constants(function), "relu": relu}.items():
        have, quoted = got[key], spec if spec == EITHER and key == "bias" else SENTENCES[key]
        if key == "relu":
            good, shown = isinstance(have, (bool, np.bool_)) and have == want, returned(have)
        else:
            array = isinstance(have, np.ndarray)
            good = array and have.dtype == TYPES[key] and np.array_equal(have, want)
            shown = f"{have.dtype}{list(have.shape)}\n{have}" if array else returned(have)
        if not good:
            raise Wrong(f'"{key}" must be what the layer has.', program=program, got=shown,
                        expected=str(want), spec=quoted)  # fmt: skip


def _constants(function: Function) -> dict[str, np.ndarray]:
    """Weights, bias and scale that stand in a layer."""
    found: dict[str, np.ndarray] = {}
    for b in function.bindings:
        assert isinstance(b.value, RelaxCall)
        constants = [a.value.numpy() for a in b.value.args if isinstance(a, GenericConst)]
        if key := OPS.get(getattr(b.value.op, "name", "")):
            found[key] = constants[0]
    columns = found["weights"].shape[1]
    zeros = np.zeros(columns, np.int32)
    return {"bias": zeros, **found, "scale": np.broadcast_to(found["scale"], columns)}


X = TensorType((4, 6), "int8")
LAYERS: list[tuple[int, dict[str, Any], str]] = [
    (3, {}, SENTENCES["weights"]),
    (3, {"relu": False}, SENTENCES["relu"]),
    (4, {"bias": False}, SENTENCES["bias"]),
    (5, {"bias_first": True}, EITHER),
    (4, {"scale": const(0.03, "float32")}, SENTENCES["scale"]),
    (1, {"scale": const(0.03, "float32"), "bias": False, "relu": False}, SENTENCES["scale"]),
    (8, {"scale": const([0.01] * 8, "float32"), "bias_first": True, "relu": False}, EITHER),
]


@for_each(NAME, LAYERS, "{} layers", spec=[DATA, KEYS, *SENTENCES.values()])
def describes_layers(layer, n, how, spec):
    """Layers with one to eight columns."""
    describes(layer, composite(X, n, how), how.get("relu", True), spec)
