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
from lessons.u14_lab_byoc.chip import places


@exercise("u14_lab_byoc.divided", unit=14, lab="byoc", points=5)
def divided(tvm: Any, module: Any) -> Any:
    """..."""
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
    if sizes.get("bias", columns) != columns or sizes["scale"] not in ([], columns):
        return False
    zeros = (found[name].value.numpy() for name in ("sums_zero", "zero"))
    return bool((found["step"].value.numpy() == 1).all() and not any(z.any() for z in zeros))


@exercise("u14_lab_byoc.layers", unit=14, lab="byoc", points=3)
def layers(tvm: Any, region: Any) -> dict[str, list]:
    """..."""
    numbers = {param: number for number, param in enumerate(region.params)}
    functions, found = {}, []
    for binding in region.body.blocks[0].bindings:
        if isinstance(binding.value, tvm.relax.Function):
            functions[binding.var] = binding.value
        else:
            call = binding.value
            found.append({"x": numbers[call.args[0]], **_layer(functions[call.op])})
            numbers[binding.var] = len(numbers)
    body = region.body.body
    results = body.fields if isinstance(body, tvm.relax.Tuple) else [body]
    return {"layers": found, "outputs": [numbers[result] for result in results]}


def _layer(function: Any) -> dict[str, Any]:
    calls = {b.value.op.name: b.value for b in function.body.blocks[0].bindings}
    weights = calls["relax.matmul"].args[1].value.numpy()
    bias = np.zeros(weights.shape[1], np.int32)
    if "relax.add" in calls:
        bias = calls["relax.add"].args[1].value.numpy()
    scale = np.broadcast_to(calls["relax.dequantize"].args[1].value.numpy(), bias.shape)
    return {"weights": weights, "bias": bias, "scale": scale.copy(),
            "relu": "relax.nn.relu" in calls}  # fmt: skip


@exercise("u14_lab_byoc.generate", unit=14, lab="byoc", points=5)
def generate(m: int, k: int, n: int, relu: bool, chip: Chip) -> str:
    """..."""
    at, result = places(m, k, n, chip), chip.acts // 2
    lines = []
    for block, first in enumerate(range(0, n, chip.cols)):
        width = min(chip.cols, n - first)
        lines.append(f"ldb dram={at.params + block * 8 * chip.cols} params=0 count=1")
        for row in range(0, k, chip.rows):
            depth, weights = min(chip.rows, k - row), at.weights + row * n + first
            lines += [
                f"lda dram={at.x + row} acts=0 h=1 w={m} bytes={depth} step={k} line={m * k}",
                f"ldw dram={weights} weights=0 rows={depth} bytes={width} pitch={n}",
                f"preload weights=0 k={depth} n={width} pitch={width}",
                f"matmul acts=0 h=1 w={m} step={depth} line={m * depth} k={depth} n={width} "
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
    """..."""

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
