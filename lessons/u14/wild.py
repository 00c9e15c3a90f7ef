"""The same programs in other compilers, run here or recorded: TVM's regions, tinygrad's kernels.

    divided("layer")        what TVM's partitioner makes of a layer, with the chip's table
    divided_with(rows())    and with more rows in the table
    divided("late")         and of a program that could deadlock; "early" is the same program
    by_torch()              what PyTorch's partitioner makes of it
    on_tiles(8, 8, 8)       a product in tinygrad, on the teaching chip

What is recorded says so: TVM is an extra of 340 MB. Next room: autograder/units/u14/checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.support import PATTERNS, Pattern
from course_lib.ir.graph.build import exp, neg, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.maker import maker
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.partition import joined, trouble
from course_lib.plugins.tvm.write import write
from course_lib.recorded import recorded
from lessons.u14.annotate import as_patterns

TEACHING = PRESETS["teaching"]
BY_TVM, BY_PYTORCH = (recorded(__file__, f"{tool}.txt") for tool in ("tvm", "torch"))
ABSENT = "which is not installed here"
DIVIDED = {name: BY_TVM[name] for name in ("layer", "late", "early")}
WITH_ROWS, BY_TORCH = BY_TVM["layer, with our rows"], BY_PYTORCH["regions"].strip()


@cache
def crossed(order: str = "late") -> Graph:
    """Two pieces and two products for a chip with `exp` and `mul`, with each `neg` just before the
    product that reads it, or with both of them early."""
    x, y = inp("x", "f32[4]"), inp("y", "f32[4]")
    a, b = exp(x), exp(y)
    negs = [neg(a), neg(b)]
    products = [a * negs[1], b * negs[0]]
    return Graph.of((x, y), products, order, also=[a, b, *negs] if order == "early" else ())


@cache
def layer() -> Graph:
    """A dense layer of 8-bit integers with bias and relu, and a change of the scale behind it."""

    def dense(x: Node) -> Node:
        total = apply("matmul", x, const(np.ones((8, 4), np.int8)), sums="i32", name="sum")
        total = apply("add", total, const(np.ones(4, np.int32)), name="biased")
        scale = const(np.full(4, 0.01, np.float32))
        y = apply("requantize", total, scale, axis=1, low=0, name="y")
        return apply("quantize", apply("gelu", apply("dequantize", y, const(0.1))), const(0.05))

    return trace(dense, "i8[2,8]", name="layer")


def divided_with(expressions: Sequence[Any]) -> str:
    """What TVM makes of `layer` if these rows are in the chip's table, too."""
    if find_spec("tvm") is None:
        return f"{WITH_ROWS}(with our rows; {BY_TVM.words}, {ABSENT})"
    return tvm_text(layer(), as_patterns(expressions))


def divided(name: str) -> str:
    """What TVM makes of a program: its main function, and what each region holds."""
    if find_spec("tvm") is None:
        return f"{DIVIDED[name]}({BY_TVM.words}, {ABSENT})"
    return tvm_text(layer()) if name == "layer" else tvm_small(crossed(name))


def tvm_text(graph: Graph, more: Sequence[Pattern] = ()) -> str:
    """A program for our chip, divided by TVM; `more` is added to the chip's table."""
    return _told(joined(write(graph), TEACHING, (*PATTERNS, *more)))


def tvm_small(graph: Graph) -> str:
    """A program for a chip with `exp` and `mul`, divided by TVM."""
    relax = package().relax
    one, two = (relax.dpl.wildcard() for _ in range(2))
    patterns = [("small.exp", relax.dpl.is_op("relax.exp")(relax.dpl.wildcard())),
                ("small.mul", relax.dpl.is_op("relax.multiply")(one, two))]  # fmt: skip
    pieces = relax.transform.FuseOpsByPattern(patterns, annotate_codegen=False)(write(graph))
    return _told(relax.transform.MergeCompositeFunctions()(pieces))


def _told(module: Any) -> str:
    """A divided module in short: what is called with what, the rows in each region, and what TVM's
    check says of it."""
    called: list[str] = []  # the function of each region; TVM has one for equal regions
    lines, known = ["main"], []
    for binding in _bindings(module["main"]):
        value = binding.value
        if hasattr(value, "op"):
            call = _call(value, called, known)
            lines.append(f"  {_name(binding.var, known)} = {call}")
        elif hasattr(value, "tuple_value"):
            whole = _name(value.tuple_value, known)
            lines.append(f"  {_name(binding.var, known)} = {whole}[{value.index}]")
    functions = {str(var.name_hint): function for var, function in module.functions.items()}
    for k, symbol in enumerate(called):
        lines.append(f"region {k}: {', '.join(_rows(functions[symbol]))}")
    fault = trouble(module)
    return "\n".join([*lines, *([f"TVM's check: {fault}"] if fault else [])])


def _bindings(function: Any) -> list[Any]:
    return [binding for block in function.body.blocks for binding in block.bindings]


Known = list[tuple[Any, str]]


def _name(var: Any, known: Known) -> str:
    """A name for each variable; TVM may give two variables one."""
    name = next((name for other, name in known if other.same_as(var)), "")
    if not name:
        name, taken = str(var.name), {name for _, name in known}
        while name in taken:
            name += "_1"
        known.append((var, name))
    return name


def _call(call: Any, called: list[str], known: Known) -> str:
    operands = ", ".join(_name(arg, known) for arg in call.args if hasattr(arg, "name"))
    if hasattr(call.op, "name_hint"):
        called.append(str(call.op.name_hint))
        return f"region {len(called) - 1}({operands})"
    return f"{str(call.op.name).removeprefix('relax.')}({operands})"


def _rows(function: Any) -> list[str]:
    """The rows of the table in a region, in the order in which they are computed."""
    attrs = [getattr(binding.value, "attrs", None) or {} for binding in _bindings(function)]
    return [str(a["Composite"]).partition(".")[2] for a in attrs if "Composite" in a]


def by_torch() -> str:
    """The regions that PyTorch's partitioner makes of the program `early`, for a backend with exp
    and mul."""
    if find_spec("torch") is None:
        return f"{BY_TORCH}\n({BY_PYTORCH.words}, {ABSENT})"
    import torch
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    from torch.fx.passes.operator_support import OperatorSupportBase

    class OnChip(OperatorSupportBase):
        def is_node_supported(self, submodules: Any, node: Any) -> bool:
            return node.target in (torch.exp, torch.mul)

    def program(x: Any, y: Any) -> Any:
        a, b = torch.exp(x), torch.exp(y)
        negs = torch.neg(a), torch.neg(b)
        return torch.mul(a, negs[1]), torch.mul(b, negs[0])

    traced = torch.fx.symbolic_trace(program)
    partitioner = CapabilityBasedPartitioner(traced, OnChip(), allows_single_node_partition=True)
    regions = [
        sorted(node.name for node in part.nodes) for part in partitioner.propose_partitions()
    ]
    return "\n".join(f"region {k}: {', '.join(names)}" for k, names in enumerate(sorted(regions)))


@maker("torch", "torch")
def regions_by_torch() -> dict[str, str]:
    return {"regions": by_torch()}


def on_tiles(m: int, k: int, n: int) -> str:
    """A product of two int8 matrices in tinygrad, on 4 × 4 cells: right or not, and what ran."""
    from tinygrad.tensor import Tensor

    from course_lib.plugins.tinygrad.device import chip_device  # tinygrad need not be installed
    from course_lib.plugins.tinygrad.session import session

    rng = np.random.default_rng(14)
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    with session(chip_device(TEACHING)) as launches:
        got = (Tensor(a).cast("int32") @ Tensor(b).cast("int32")).numpy()
    right = np.array_equal(got, a.astype(np.int32) @ b.astype(np.int32))
    ran = "; ".join(
        f"{one.tiles} products of tiles, {one.cycles} clocks, "
        f"{one.dram_bytes:,} bytes over the port" for one in launches
    )  # fmt: skip
    return f"[{m}, {k}] · [{k}, {n}]: {ran}; the result is {'right' if right else 'WRONG'}"
