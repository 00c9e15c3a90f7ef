"""Lab beside unit 14, a backend of TVM: its exercises.

The bodies are our answers and never ship. They are written for TVM 0.27 and run in the stand-in
`course_lib/plugins/byoc` as well. Next room: checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.check.rubrics import Rubric, Sample
from course_lib.accelerator.chip import Chip
from course_lib.exercises import exercise
from course_lib.plugins.byoc.memory import places


@exercise("u14_lab_byoc.divided", unit=14, lab="byoc", points=5)
def divided(tvm: Any, module: Any) -> Any:
    """Divide a model between the chip and TVM's CPU.

    tvm      the module `tvm`
    module   an IRModule with one function, `main`, whose calls are all in one dataflow block
    returns  the module after TVM's passes: `main`, and a function for each region

    A region has the attribute Codegen with the value "chip". It contains a function with the
    attribute Composite for each layer of the chip: `matmul`, `add`, `dequantize`, `nn.relu`,
    `quantize`, each of which reads the result of the one before. The bias (`add`) may be missing,
    and so may the relu. The bias may be either operand of `add`: TVM's pattern of an `add` matches
    both orders. The constants of a layer stand in its function, so x is its only operand.
    The chip can do a layer if all of this holds:

    - x is int8, with two axes and at most 64 rows.
    - The weights are an int8 constant with two axes. What is computed from constants alone counts
      as a constant.
    - The sums are int32, and the result of `quantize` is int8.
    - The bias is a constant with one number for each column.
    - The scale of `dequantize` is a constant: a single number, or one for each column. In the
      second case, its attribute `axis` is -1 or 1.
    - The scale of `quantize` is the constant 1, and both zero points are the constant 0.
    - Nothing outside the layer reads a value inside it, except for its result.

    If a layer reads the result of another one, both are in the same region. Everything else stays
    in `main`, unchanged.
    """
    dpl, transform = tvm.relax.dpl, tvm.relax.transform
    rows = [_row(dpl, bias, relu) for bias in (True, False) for relu in (True, False)]
    module = transform.FoldConstant()(module)
    module = transform.FuseOpsByPattern(rows)(module)
    return transform.MergeCompositeFunctions()(module)


def _row(dpl: Any, bias: bool, relu: bool) -> tuple:
    x = dpl.wildcard().has_dtype("int8")
    parts = {"x": x, "weights": dpl.is_const().has_dtype("int8")}
    value = dpl.is_op("relax.matmul")(x, parts["weights"]).has_dtype("int32")
    if bias:
        parts["bias"] = dpl.is_const()
        value = dpl.is_op("relax.add")(value, parts["bias"])
    parts |= {"scale": dpl.is_const(), "sums_zero": dpl.is_const()}
    value = dpl.is_op("relax.dequantize")(value, parts["scale"], parts["sums_zero"])
    parts["real"] = value
    if relu:
        value = dpl.is_op("relax.nn.relu")(value)
    parts |= {"step": dpl.is_const(), "zero": dpl.is_const()}
    value = dpl.is_op("relax.quantize")(value, parts["step"], parts["zero"]).has_dtype("int8")
    return f"chip.dense{'_bias' * bias}{'_relu' * relu}", value, parts, _accepts


def _accepts(context: Any) -> bool:
    inside = context.matched_bindings
    for var, value in inside.items():
        leaves = any(user not in inside for user in context.var_usages[var])
        if leaves and not value.same_as(context.matched_expr):
            return False
    found = context.annotated_expr
    sizes = {name: [int(size) for size in value.ty.shape] for name, value in found.items()}
    if len(sizes["x"]) != 2 or sizes["x"][0] > 64 or len(sizes["weights"]) != 2:
        return False
    columns = sizes["weights"][1:]
    by_column = sizes["scale"] == columns and int(found["real"].attrs.axis) in (-1, 1)
    if sizes.get("bias", columns) != columns or not (sizes["scale"] == [] or by_column):
        return False
    numbers = [found[name].value.numpy().tolist() for name in ("sums_zero", "step", "zero")]
    return numbers == [0, 1, 0]


@exercise("u14_lab_byoc.generate", unit=14, lab="byoc", points=6, kind="budget")
def generate(tvm: Any, function: Any, chip: Chip) -> dict[str, Any]:
    """The code of a layer: a program for the chip, and the numbers that it needs in DRAM.

    tvm       the module `tvm`
    function  a function with the attribute Composite that `divided` makes
    chip      an array of `chip.rows` × `chip.cols` cells, memories of `chip.acts` and
              `chip.weights` bytes, and `chip.accs` rows of sums
    returns   a dict with these keys

    - "weights": an int8 array [k, n]
    - "bias": an int32 array [n], of zeros if the layer has none
    - "scale": a float32 array [n]; a single number is repeated
    - "program": a text with one instruction on each line

    In DRAM, x [m, k], weights, parameters and y [m, n] begin at `places(m, k, n, chip)`. The
    program writes y, and no other byte of DRAM. y is what the function returns for x. The program
    must be right when its instructions run one after the other. It has no tokens and no `halt`;
    both are added later. There is room for m rows of sums, for four pieces [m, rows] or [m, cols]
    in `acts`, and for two tiles [rows, cols] in `weights`.

    Your points depend on the clocks of the model's layers on the teaching chip. Up to twice 22,144
    clocks earn all points. Each tenth of 22,144 beyond that costs 2.5 %, down to half of them.
    """
    calls = {b.value.op.name: b.value for b in function.body.blocks[0].bindings}
    m, k = (int(size) for size in function.params[0].ty.shape)
    weights = calls["relax.matmul"].args[1].value.numpy()
    bias = np.zeros(weights.shape[1], np.int32)
    if "relax.add" in calls:  # its operands may stand in either order
        operands = calls["relax.add"].args
        bias = next(o for o in operands if isinstance(o, tvm.ir.GenericConst)).value.numpy()
    scale = calls["relax.dequantize"].args[1].value.numpy() * np.ones(bias.shape, np.float32)
    program = _program(m, k, len(bias), "relax.nn.relu" in calls, chip)
    return {"weights": weights, "bias": bias, "scale": scale, "program": program}


def _program(m: int, k: int, n: int, relu: bool, chip: Chip) -> str:
    at, result = places(m, k, n, chip), chip.acts // 2
    lines, turn = [], 0
    for block, first in enumerate(range(0, n, chip.cols)):
        width = min(chip.cols, n - first)
        lines.append(f"ldb dram={at.params + block * 8 * chip.cols} params=0 count=1")
        for row in range(0, k, chip.rows):
            depth, dram = min(chip.rows, k - row), at.weights + row * n + first
            acts, weights = turn * (chip.acts // 4), turn * (chip.weights // 2)
            turn = 1 - turn  # the next tile is loaded while the array works on this one
            lines += [
                f"lda dram={at.x + row} acts={acts} h=1 w={m} bytes={depth} step={k} line={m * k}",
                f"ldw dram={dram} weights={weights} rows={depth} bytes={width} pitch={n}",
                f"preload weights={weights} k={depth} n={width} pitch={width}",
                f"matmul acts={acts} h=1 w={m} step={depth} line={m * depth} k={depth} n={width} "
                f"accs=0 add={int(row > 0)}",
            ]
        lines += [
            f"act accs=0 n={width} params=0 acts={result} h=1 w={m} step={width} "
            f"line={m * width} low={0 if relu else -128}",
            f"st acts={result} dram={at.y + first} h=1 w={m} bytes={width} step={n} line={m * n}",
        ]
    return "\n".join(lines)


@exercise("u14_lab_byoc.run", unit=14, lab="byoc", points=4)
def run(tvm: Any, module: Any, x: np.ndarray, start: Callable) -> np.ndarray:
    """Run a divided module: its regions on the chip, everything else on TVM's CPU.

    tvm      the module `tvm`
    module   what `divided` returns; its `main` takes one tensor and returns one
    x        what `main` is called with, a numpy array
    start    start(region, operands) starts the chip. It takes a function with the attribute Codegen
             and a list of numpy arrays, and returns a list of numpy arrays
    returns  the result of `main`, a numpy array

    Register a function as relax.ext.chip. `RunCodegen` calls it with a list of all regions, the
    options and the constants' names, and expects a list of machine code, which is empty here. For
    each region, register a function under its attribute global_symbol. TVM calls this function with
    the region's operands and then with its results, which are tensors that the function has to
    fill. Each such call starts the chip once. Both kinds of functions need `override=True`, because
    those of an earlier run still exist.
    """

    def codegen(regions: Any, options: Any, constants: Any) -> list:
        for region in regions:
            symbol = str(region.attrs["global_symbol"])
            tvm.register_global_func(symbol, _packed(region, start), override=True)
        return []

    tvm.register_global_func("relax.ext.chip", codegen, override=True)
    called = tvm.relax.transform.RunCodegen()(module)
    built = tvm.compile(called, target=tvm.target.Target({"kind": "llvm"}))
    machine = tvm.relax.VirtualMachine(built, tvm.cpu())
    return machine["main"](tvm.runtime.tensor(x)).numpy()


def _packed(region: Any, start: Callable) -> Callable:
    count = len(region.params)

    def call(*tensors: Any) -> None:
        results = start(region, [tensor.numpy() for tensor in tensors[:count]])
        for tensor, result in zip(tensors[count:], results, strict=True):
            tensor.copyfrom(result)

    return call


@exercise("u14_lab_byoc.why", unit=14, lab="byoc", points=3, kind="explain")
def why() -> Rubric:
    """Conclude from your own table. First, say what the array waits for in your program, with
    figures of one layer, and which instruction you would change next. Second, TVM put layers that
    follow each other into one region. Say what your backend gains from that, and what it would have
    to do to gain more. Third, name one condition of `divided` that you could leave out without
    any error, and say what a user would see. Write four to six sentences; each of the three answers
    is worth a point.
    """
    return Rubric(
        criteria="1 point: says from the table that the array is busy about half of the clocks and "
        "the port two thirds (or the figures of the answer's own generator), derives it for one "
        "layer (x is loaded again for each block of columns, 24 times in a layer with 96; or each "
        "small lda and ldw pays 10 clocks of latency), and names a change that fits: one lda of a "
        "piece of x, and one ldw, for several blocks of columns (64 rows of sums are room for four "
        "blocks of 16 rows, and then the model takes 24,750 clocks), or loads of the next step "
        "before the work of this one, into another bank. Half a point without figures. "
        "1 point: a region of two layers saves a start and a trip of the tensor through TVM, and "
        "no clock of the chip, because each layer still stores y to DRAM and loads it again; to "
        "gain more, the generator would keep the result of the first layer in acts. "
        "1 point: a condition whose loss gives wrong numbers without an error: zero points, the "
        "scale of quantize, the axis of the scale, the type of x, of the weights or of the sums; "
        "the user sees other results, perhaps a lower accuracy, and only a comparison with TVM's "
        "CPU shows it. "
        "Half a point for a condition whose loss leads to an error.",
        samples=(
            Sample(3, "My program takes 42,996 clocks and the bound is 22,144; the array is busy "
                   "for 52 % of them and the port for 68 %. In the layer of 96 x 96, each of 24 "
                   "blocks loads all of x again, in pieces of 64 bytes that take 16 clocks and "
                   "another 10 of latency. The sums of four blocks fit into accs, so I would use "
                   "the piece of each lda for four blocks before the next lda. A region "
                   "of two layers saves one start by TVM, but my generator stores the result of "
                   "the first layer and loads it again, so the chip's clocks are the same. It "
                   "would have to leave the bytes of act in acts for the next matmul. If I forgot "
                   "the check of the zero points, nothing would fail: every result would be off "
                   "by a constant, and only the comparison with the CPU would show that."),
            Sample(1, "The chip takes almost twice the bound because of memory, so I would load "
                   "less. Joining layers makes it faster because there are fewer calls. Without "
                   "the check of the scale of quantize the numbers would be wrong, and nobody "
                   "would notice before the accuracy is measured."),
            Sample(0, "The simulator is slow because it is in Python. A larger region is always "
                   "better. Without is_const, TVM would raise an error."),
        ),
    )  # fmt: skip
