"""Visible checks of `layers`: regions that are written by hand. Next room: program.py.

`describes` judges an answer, here and in the hidden checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background
from autograder.check.shown import returned
from course_lib.plugins.byoc.build import const
from course_lib.plugins.byoc.tree import Function, GenericConst, IRModule, RelaxCall, TensorType
from course_lib.plugins.byoc.tvm import Tvm
from lessons.u14_lab_byoc.regions import region

NAME = "u14_lab_byoc.layers"
DATA = "What a region computes, as plain data"
KEYS = '{"layers": [...], "outputs": [...]}'
NUMBERS = "its parameters come first, in their order, and then the results of the layers, in the order in which the region calls them"  # fmt: skip
OUTPUTS = '"outputs" has the numbers of the values that the region returns, in order'
DICTS = '"layers" has a dict for each layer, in the order of the calls, with these keys'
READS = '"x": the number of the value that it reads'
WEIGHTS = '"weights": an int8 array [k, n]'
BIAS = '"bias": an int32 array [n]: the constant operand of `add`, which may be the first or the second, and zeros if there is no `add`'  # fmt: skip
SCALE = '"scale": a float32 array [n]; if the layer has a single number, it is repeated'
RELU = '"relu": whether the layer has one, True or False'
SENTENCES = {"x": READS, "weights": WEIGHTS, "bias": BIAS, "scale": SCALE, "relu": RELU}
background(NAME, "tvm the module `tvm`", because="what is given")
background(NAME, "region a function ... makes it", because="what is given")
TYPES = {"weights": np.int8, "bias": np.int32, "scale": np.float32}


def describes(layers: Any, function: Function, chain: Sequence[tuple], outputs: list[int],
              spec: str = DATA) -> None:  # fmt: skip
    """Wrong unless the answer says what `chain`, of which the region is made, says."""
    got = layers(Tvm(), function)
    program = f"{IRModule((('region', function),))}\n"

    def wrong(problem: str, spec: str, got: Any = None, expected: Any = None) -> Wrong:
        return Wrong(problem, program=program, got=got, expected=expected, spec=spec)

    if not isinstance(got, dict) or {*got} != {"layers", "outputs"}:
        raise wrong("The answer must be a dict with layers and outputs.", KEYS, returned(got))
    made = got["layers"]
    if not isinstance(made, (list, tuple)) or not all(
        isinstance(one, dict) and {*one} == {*SENTENCES} for one in made
    ):
        raise wrong("Each layer must be a dict with the five keys.", DICTS, returned(made))
    if len(made) != len(chain):
        raise wrong(f"There must be {len(chain)} layers.", DICTS, str(len(made)))
    inner = [b.value for b in function.bindings if isinstance(b.value, Function)]
    for number, (one, (read, _, how), body) in enumerate(zip(made, chain, inner, strict=True), 1):
        due = {"x": read, "relu": how.get("relu", True), **_constants(body)}
        for key, want in due.items():
            have = one[key]
            if key in TYPES:
                array = isinstance(have, np.ndarray)
                same = array and have.dtype == TYPES[key] and np.array_equal(have, want)
                shown = f"{have.dtype}{list(have.shape)}\n{have}" if array else returned(have)
                wanted = f"{want.dtype}{list(want.shape)}\n{want}"
            else:
                number_ = isinstance(have, (bool, np.bool_) if key == "relu" else (int, np.integer))
                same, shown, wanted = bool(number_ and have == want), returned(have), repr(want)
            if not same:
                raise wrong(f'"{key}" of layer {number} must be what the region says.',
                            SENTENCES[key], shown, wanted)  # fmt: skip
    if not isinstance(got["outputs"], (list, tuple)) or [*got["outputs"]] != outputs:
        raise wrong("The outputs must be the region's.", OUTPUTS, returned(got["outputs"]),
                    repr(outputs))  # fmt: skip


def _constants(body: Function) -> dict[str, np.ndarray]:
    """Weights, bias and scale that stand in a layer."""
    found: dict[str, np.ndarray] = {}
    for b in body.bindings:
        assert isinstance(b.value, RelaxCall)
        key = {"relax.matmul": "weights", "relax.add": "bias", "relax.dequantize": "scale"}.get(
            getattr(b.value.op, "name", ""))  # fmt: skip
        constants = [a.value.numpy() for a in b.value.args if isinstance(a, GenericConst)]
        if key:
            found[key] = constants[0]
    columns = found["weights"].shape[1]
    zeros = np.zeros(columns, np.int32)
    return {**found, "bias": found.get("bias", zeros),
            "scale": np.broadcast_to(found["scale"], columns)}  # fmt: skip

    return str(IRModule((("region", function),)))


ONE = const(0.03, "float32")
REGIONS: list[tuple[list[tuple[int, int, dict]], list[int], str]] = [
    ([(0, 3, {})], [1], WEIGHTS),
    ([(0, 3, {"relu": False})], [1], RELU),
    ([(0, 3, {"bias": False})], [1], BIAS),
    ([(0, 3, {"bias_first": True})], [1], BIAS),
    ([(0, 4, {"scale": ONE, "bias": False, "relu": False})], [1], SCALE),
    ([(0, 5, {}), (1, 3, {"relu": False})], [2], NUMBERS),
    ([(0, 5, {}), (1, 3, {"relu": False})], [1, 2], OUTPUTS),
    ([(0, 5, {}), (1, 3, {"bias": False}), (1, 2, {})], [3, 2], OUTPUTS),
    ([(0, 6, {"bias_first": True}), (0, 6, {}), (1, 6, {"scale": ONE})], [2, 3], READS),
    ([(0, 1, {}), (1, 1, {}), (2, 1, {"relu": False}), (1, 2, {})], [3, 4], READS),
]
X = TensorType((4, 6), "int8")


@for_each(NAME, REGIONS, "{} regions", spec=[DATA, KEYS, DICTS])
def describes_regions(layers, chain, outputs, spec):
    """Regions of one to four layers."""
    describes(layers, region("fused_0_chip", X, chain, outputs), chain, outputs)
