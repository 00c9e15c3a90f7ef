"""The NPU dialect, arithmetic: a whole product, and what the machine does with tiles of it.

    npu.clear %sums : memref<64x32xi32, #npu.space<accs>>
    npu.matmul %x, %w into %sums : memref<64x128xi8, #npu.space<acts>>,
         memref<128x32xi8, #npu.space<weights>> into memref<64x32xi32, #npu.space<accs>>
    npu.activate %sums, %entry into %out {low = 0 : i64, high = 127 : i64} : ...

`npu.product` works on arrays in DRAM; the way down begins with it. All others work on tiles, which
are on the chip, and their verifiers ask the machine: a tile that does not fit, an operand in the
wrong memory, a product of sizes that differ are refused with a reason. Next room: `module.py`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from course_lib.accelerator.chip import ACCS, ACTS, PARAMS, WEIGHTS
from course_lib.accelerator.compile.tiles import OS, WS
from course_lib.mlir.npu.machine import chip_of
from course_lib.mlir.npu.rules import at_most, is_array, is_in, memref, same, shape

MEMREF = MemRefType.constr()
I64 = IntegerAttr.constr(type=i64)
LIMITS = (-128, 127)
LARGEST = 65_535  # what an instruction can count, and a search for tiles can bear


@irdl_op_definition
class ProductOp(IRDLOperation):
    """y = x @ w for whole matrices in DRAM; with `params`, what the output pipeline makes of it:
    y = clamp(int8(round((x @ w + bias) * scale)), low, high). ReLU is low = 0."""

    name = "npu.product"
    x = operand_def(MEMREF)
    w = operand_def(MEMREF)
    params = opt_operand_def(MEMREF)
    y = operand_def(MEMREF)
    low = prop_def(I64, default_value=IntegerAttr(LIMITS[0], i64))
    high = prop_def(I64, default_value=IntegerAttr(LIMITS[1], i64))
    assembly_format = (
        "$x `,` $w (`,` $params^)? `into` $y attr-dict `:` type($x) `,` type($w) "
        "(`,` type($params)^)? `into` type($y)"
    )
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        params: SSAValue | None,
        y: SSAValue,
        limits: tuple[int, int] = LIMITS,
    ) -> None:
        low, high = (IntegerAttr(limit, i64) for limit in limits)
        super().__init__(operands=[x, w, params, y], properties={"low": low, "high": high})

    @property
    def limits(self) -> tuple[int, int]:
        return self.low.value.data, self.high.value.data

    def verify_(self) -> None:
        for what, value in (("x", self.x), ("w", self.w), ("y", self.y), ("params", self.params)):
            if value is not None:
                is_array(self, what, value)
        (m, k), (depth, n) = _matrix(self, "x", self.x), _matrix(self, "w", self.w)
        same(self, ("the depth of x", (k,)), ("that of w", (depth,)))
        same(self, ("x @ w", (m, n)), ("y", shape(self.y)))
        if not all(1 <= size <= LARGEST for size in (m, k, n)):
            message = f"sizes are 1 to {LARGEST:,}, not {m}x{k} times {k}x{n}"
            raise VerifyException(f"{self.name}: {message}")
        kind = i32 if self.params is None else i8
        if memref(self.y).element_type != kind:
            how = "sums are" if self.params is None else "results behind the output pipeline are"
            raise VerifyException(f"{self.name}: {how} {kind}, y has {memref(self.y).element_type}")
        if self.params is not None:
            cols = chip_of(self).cols
            same(self, ("params", shape(self.params)), ("one entry for", (-(-n // cols), 2, cols)))
        _check_limits(self, self.limits)


def _matrix(op: Operation, what: str, value: SSAValue) -> tuple[int, int]:
    if len(shape(value)) != 2:
        raise VerifyException(f"{op.name}: {what} is a matrix, not {value.type}")
    rows, columns = shape(value)
    return rows, columns


def _check_limits(op: Operation, limits: tuple[int, int]) -> None:
    if not LIMITS[0] <= limits[0] <= limits[1] <= LIMITS[1]:
        message = f"low and high are in order and from {LIMITS[0]} to {LIMITS[1]}, got {limits}"
        raise VerifyException(f"{op.name}: {message}")


@irdl_op_definition
class ClearOp(IRDLOperation):
    """sums = 0. The machine has no such instruction: a matmul that overwrites does it."""

    name = "npu.clear"
    sums = operand_def(MEMREF)
    assembly_format = "$sums attr-dict `:` type($sums)"

    def __init__(self, sums: SSAValue) -> None:
        super().__init__(operands=[sums])

    def verify_(self) -> None:
        is_in(self, "sums", self.sums, ACCS)


@irdl_op_definition
class MatmulOp(IRDLOperation):
    """sums += x @ w, or sums = x @ w if it overwrites. One block of columns; deep products are
    several passes through the array. `ws` keeps weights in the cells, `os` sums."""

    name = "npu.matmul"
    x = operand_def(MEMREF)
    w = operand_def(MEMREF)
    sums = operand_def(MEMREF)
    dataflow = prop_def(StringAttr, default_value=StringAttr(WS))
    overwrite = opt_prop_def(UnitAttr)
    assembly_format = (
        "$x `,` $w `into` $sums attr-dict `:` type($x) `,` type($w) `into` type($sums)"
    )
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self, x: SSAValue, w: SSAValue, sums: SSAValue, dataflow: str, overwrite: bool = False
    ) -> None:
        super().__init__(
            operands=[x, w, sums],
            properties={
                "dataflow": StringAttr(dataflow), "overwrite": UnitAttr() if overwrite else None
            },
        )  # fmt: skip

    def verify_(self) -> None:
        is_in(self, "x", self.x, ACTS)
        is_in(self, "w", self.w, WEIGHTS)
        is_in(self, "sums", self.sums, ACCS)
        (m, k), (depth, n) = _matrix(self, "x", self.x), _matrix(self, "w", self.w)
        same(self, ("the depth of x", (k,)), ("that of w", (depth,)))
        same(self, ("x @ w", (m, n)), ("sums", shape(self.sums)))
        at_most(self, f"{n} columns of weights", n, chip_of(self).cols, "the array has")
        if self.dataflow.data not in (WS, OS):
            message = f"dataflow is {WS} or {OS}, not {self.dataflow.data!r}"
            raise VerifyException(f"{self.name}: {message}")


@irdl_op_definition
class ActivateOp(IRDLOperation):
    """out = clamp(int8(round((sums + bias) * scale)), low, high): the output pipeline. `params` is
    a row of biases and a row of scales, the bits of float32."""

    name = "npu.activate"
    sums = operand_def(MEMREF)
    params = operand_def(MEMREF)
    out = operand_def(MEMREF)
    low = prop_def(I64)
    high = prop_def(I64)
    assembly_format = (
        "$sums `,` $params `into` $out attr-dict `:` type($sums) `,` type($params) "
        "`into` type($out)"
    )
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self, sums: SSAValue, params: SSAValue, out: SSAValue, limits: tuple[int, int]
    ) -> None:
        low, high = (IntegerAttr(limit, i64) for limit in limits)
        super().__init__(operands=[sums, params, out], properties={"low": low, "high": high})

    @property
    def limits(self) -> tuple[int, int]:
        return self.low.value.data, self.high.value.data

    def verify_(self) -> None:
        is_in(self, "sums", self.sums, ACCS)
        is_in(self, "params", self.params, PARAMS)
        is_in(self, "out", self.out, ACTS)
        same(self, ("sums", shape(self.sums)), ("out", shape(self.out)))
        same(self, ("params", shape(self.params)), ("an entry", (2, chip_of(self).cols)))
        _check_limits(self, self.limits)
