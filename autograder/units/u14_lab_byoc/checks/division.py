"""Visible checks of `divided`: programs with one thing that the chip cannot do, or with none.

`divides` judges an answer, here and in the hidden checks. Next room: program.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background
from autograder.check.shown import error_text, returned
from course_lib.plugins.byoc import machine
from course_lib.plugins.byoc.build import const, op, written
from course_lib.plugins.byoc.dense import between, layer, real, whole
from course_lib.plugins.byoc.told import Division, division
from course_lib.plugins.byoc.tree import IRModule, TensorType, Var
from course_lib.plugins.byoc.tvm import Tvm

NAME = "u14_lab_byoc.divided"
DIVIDE = "Divide a model between the chip and TVM's CPU"
AFTER = "the module after TVM's passes: `main`, and a function for each region"
CODEGEN = 'A region has the attribute Codegen with the value "chip"'
INSIDE = "It contains a function with the attribute Composite for each layer of the chip"
CHAIN = "each of which reads the result of the one before"
EITHER = "The bias may be either operand of `add`"
MISSING = "The bias (`add`) may be missing, and so may the relu"
X = "x is int8, with two axes and at most 64 rows"
WEIGHTS = "The weights are an int8 constant with two axes"
FOLDED = "What is computed from constants alone counts as a constant"
TYPES = "The sums are int32, and the result of `quantize` is int8"
BIAS = "The bias is a constant with one number for each column"
SCALE = "The scale of `dequantize` is a constant: a single number, or one for each column"
AXIS = "In the second case, its attribute `axis` is -1 or 1"
CONSTANTS = "The constants of a layer stand in its function, so x is its only operand"
STEP = "The scale of `quantize` is the constant 1, and both zero points are the constant 0"
LEAK = "Nothing outside the layer reads a value inside it, except for its result"
JOINED = "If a layer reads the result of another one, both are in the same region"
REST = "Everything else stays in `main`, unchanged"

background(NAME, "The chip can do a layer if all of this holds", because="the heading of the list")
background(NAME, "tvm the module `tvm`", because="what is given")
background(NAME, "module an IRModule ... one dataflow block", because="what is given")

PLAIN, BIASED = "matmul dequantize quantize", "matmul add dequantize nn.relu quantize"


def divides(divided: Any, module: IRModule, want: Division, spec: str) -> None:
    """Wrong unless the answer divides the module like this."""
    tvm, program = Tvm(), f"{module}\n"
    got = divided(tvm, module)
    if not isinstance(got, IRModule):
        raise Wrong("The answer must be a module.", program=program, got=returned(got), spec=AFTER)
    try:
        made = division(got)
    except (AttributeError, KeyError, TypeError) as error:
        raise Wrong("The answer must be a module with a `main`.", program=program,
                    got=error_text(error), spec=AFTER) from None  # fmt: skip
    if made != want:
        raise Wrong(_problem(made, want), program=program, got=str(made), expected=str(want),
                    spec=_sentence(made, spec))  # fmt: skip
    rng = np.random.default_rng(0)
    given = [rng.integers(-9, 9, p.ty.shape).astype(p.ty.dtype) for p in module["main"].params
             if isinstance(p.ty, TensorType)]  # fmt: skip
    try:
        results = machine.run(got["main"], given, got)
    except Exception as error:
        raise Wrong("The divided module must run.", program=program, got=error_text(error),
                    spec=REST) from None  # fmt: skip
    due = machine.run(module["main"], given, module)
    if len(results) != len(due) or not all(map(np.array_equal, results, due)):
        raise Wrong("The divided module must compute what the module computes.", program=program,
                    got=results, expected=due, spec=REST)  # fmt: skip


def _problem(made: Division, want: Division) -> str:
    mine, ours = (sum(map(len, d.regions)) for d in (made, want))
    if mine != ours:
        return f"The chip must do {ours} layer{'s' * (ours != 1)} of this program, not {mine}."
    if len(made.regions) != len(want.regions):
        return f"There must be {len(want.regions)} regions, not {len(made.regions)}."
    return "The program must be divided in another way."


def _sentence(made: Division, spec: str) -> str:
    if any(" operands" in words for region in made.regions for words in region):
        return CONSTANTS
    return CODEGEN if "a function without Codegen chip" in made.main else spec


def case(program: Callable[..., Any], main: str, regions: Sequence[str], spec: str,
         *types: TensorType) -> tuple[IRModule, Division, str]:  # fmt: skip
    """A program and how it must be divided. `main` has its operations; R stands for a region."""
    words, count = [], 0
    for word in main.split():
        words.append(f"region {count}" if word == "R" else word)
        count += word == "R"
    module = written(program, *(types or (ROWS,)))
    return module, Division(words, [region.split() for region in regions]), spec


ROWS = TensorType((4, 6), "int8")
B, R, BR = "dense+bias", "dense+relu", "dense+bias+relu"
W = const(np.arange(18).reshape(6, 3) - 9, "int8")


def bare(x: Var, n: int = 3, **other: Any) -> Var:
    """A layer without bias and relu."""
    return layer(x, n, False, False, **other)


def product(x: Var) -> Var:
    return op("matmul", x, W, out_dtype="int32")


def _inner(x: Var, which: int) -> list[Var]:
    """A layer whose value number `which` is a result, too."""
    steps = [product(x)]
    steps.append(op("add", steps[-1], const([1, 2, 3], "int32")))
    steps.append(real(steps[-1]))
    steps.append(op("nn.relu", steps[-1]))
    return [whole(steps[-1]), steps[which]]


def _read_first_by_another(x: Var) -> list[Var]:
    """The sums are read by the processor before the layer goes on."""
    other = op("negative", sums := product(x))
    return [whole(real(op("add", sums, const([1, 2, 3], "int32")))), other]


def _read_by_a_layer(x: Var) -> Var:
    """The sums of a layer, and a relu of them behind the layer."""
    y = whole(sums := real(product(x)))
    return op("add", whole(op("nn.relu", sums), 2), y)


def _relu_first(x: Var) -> Var:
    return whole(real(op("nn.relu", product(x))))


def _out_and_back(x: Var) -> Var:
    """The second layer of a chain is read by the processor, and the third, too."""
    y = layer(layer(x, 6), 6)
    return op("add", layer(y, 6), layer(op("negative", y), 6))


def _int(*shape: int, dtype: str = "int8") -> TensorType:
    return TensorType(shape, dtype)


TAKEN = [
    case(lambda x: layer(x, 3), "R", [BR], INSIDE),
    case(lambda x: layer(x, 3, bias=False), "R", [R], MISSING),
    case(lambda x: layer(x, 3, relu=False), "R", [B], MISSING),
    case(bare, "R", ["dense"], MISSING),
    case(lambda x: layer(x, 3, scale=const(0.01, "float32")), "R", [BR], SCALE),
    case(lambda x: layer(x, 3, axis=1), "R", [BR], AXIS),
    case(lambda x: layer(x, 3, scale=const(0.01, "float32"), axis=0), "R", [BR], SCALE),
    case(lambda x: layer(x, 3, transposed=True), "R", [BR], FOLDED),
    case(lambda x: layer(x, 3), "R", [BR], X, _int(64, 6)),
    case(lambda x: layer(x, 1), "R", [BR], BIAS, _int(1, 1)),
    case(lambda x: layer(layer(x, 5), 3, relu=False), "R", [f"{BR} {B}"], JOINED),
    case(lambda x: bare(layer(bare(x), 5, False), 2), "R", [f"dense {R} dense"], JOINED),
    case(lambda x: layer(between(layer(x, 5)), 3), "R dequantize sigmoid quantize R", [BR, BR],
         REST),
    case(lambda x: [layer(y := layer(x, 5), 3), layer(y, 4), y], "R", [f"{BR} {BR} {BR}"], JOINED),
    case(_out_and_back, "R negative R add", [f"{BR} {BR} {BR}", BR], JOINED),
    case(lambda x: [layer(x, 3), layer(x, 3)], "R R", [BR, BR], JOINED),
    case(lambda x: between(x), "dequantize sigmoid quantize", [], REST),
    case(lambda x: op("negative", bare(x)), "R negative", ["dense"], LEAK),
    case(lambda x: layer(x, 3, relu=False, bias_first=True), "R", [B], EITHER),
]  # fmt: skip
LEFT = [
    case(lambda x: layer(x, 3), BIASED, [], X, _int(4, 6, dtype="uint8")),
    case(lambda x: layer(x, 3), BIASED, [], X, _int(2, 4, 6)),
    case(lambda x: layer(x, 3), BIASED, [], X, _int(65, 6)),
    case(lambda x: bare(x), PLAIN, [], X, _int(6)),
    case(lambda x, w: bare(x, weights=w), PLAIN, [], WEIGHTS, ROWS, _int(6, 3)),
    case(lambda x, w: bare(x, weights=op("permute_dims", w)), f"permute_dims {PLAIN}", [],
         WEIGHTS, ROWS, _int(3, 6)),
    case(lambda x: bare(x, weights=const(np.ones((6, 3)), "uint8")), PLAIN, [], WEIGHTS),
    case(lambda x: bare(x, weights=const(np.ones((2, 6, 3)), "int8")), PLAIN, [], WEIGHTS),
    case(lambda x: bare(x, weights=const(np.ones(6), "int8"), scale=const(1, "float32")), PLAIN,
         [], WEIGHTS),
    case(lambda x: bare(x, sums="int8"), PLAIN, [], TYPES),
    case(lambda x: bare(x, out="uint8"), PLAIN, [], TYPES),
    case(lambda x, b: layer(x, 3, bias_value=b), BIASED, [], BIAS, ROWS, _int(3, dtype="int32")),
    case(lambda x: layer(x, 3, bias_value=const(np.ones((4, 3)), "int32")), BIASED, [], BIAS),
    case(lambda x: layer(x, 3, bias_value=const(7, "int32")), BIASED, [], BIAS),
    case(lambda x: layer(x, 3, bias_value=const([7], "int32")), BIASED, [], BIAS),
    case(lambda x, s: bare(x, scale=s), PLAIN, [], SCALE, ROWS, _int(3, dtype="float32")),
    case(lambda x, s: bare(x, scale=s), PLAIN, [], SCALE, ROWS, _int(dtype="float32")),
    case(lambda x: bare(x, scale=const([1, 2, 3, 4], "float32"), axis=0), PLAIN, [], SCALE),
    case(lambda x: bare(x, scale=const([1, 2, 3], "float32"), axis=0), PLAIN, [], AXIS,
         _int(3, 6)),
    case(lambda x: bare(x, step=const(0.5, "float32")), PLAIN, [], STEP),
    case(lambda x, s: bare(x, step=s), PLAIN, [], STEP, ROWS, _int(dtype="float32")),
    case(lambda x: bare(x, zero=const(3, "int8")), PLAIN, [], STEP),
    case(lambda x: bare(x, sums_zero=const(-1, "int32")), PLAIN, [], STEP),
    case(lambda x, z: bare(x, zero=z), PLAIN, [], STEP, ROWS, _int(dtype="int8")),
    *(case(lambda x, which=which: _inner(x, which), BIASED, [], LEAK) for which in range(4)),
    case(_read_first_by_another, "matmul negative add dequantize quantize", [], LEAK),
    case(_read_by_a_layer, "matmul dequantize quantize nn.relu quantize add", [], LEAK),
    case(_relu_first, "matmul nn.relu dequantize quantize", [], CHAIN),
    case(product, "matmul", [], INSIDE),
    case(lambda x: layer(bare(x, 5, step=const(2, "float32")), 3), f"{PLAIN} R", [BR], REST),
]  # fmt: skip


@for_each(NAME, TAKEN, "{} programs", spec=[DIVIDE, AFTER, CODEGEN, CONSTANTS])
def takes_what_the_chip_can(divided, module, want, spec):
    """Layers that the chip can do become regions."""
    divides(divided, module, want, spec)


@for_each(NAME, LEFT, "{} programs", spec=[REST, CONSTANTS])
def leaves_what_it_cannot(divided, module, want, spec):
    """Layers with one thing that the chip cannot do stay in main."""
    divides(divided, module, want, spec)
