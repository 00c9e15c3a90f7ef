"""What verifiers of this dialect ask: sizes, memories, limits, each with an answer in words.

    same(op, ("the window", (64, 128)), ("the tile", (64, 100)))
    ->   VerifyException: npu.dma_load: the window is 64x128, the tile 64x100

Next room: `transfer.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    NoneAttr,
    i64,
)
from xdsl.dialects.utils.dynamic_index_list import (
    get_dynamic_index_list,
    split_dynamic_index_list,
    verify_dynamic_index_list,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from course_lib.accelerator.chip import DRAM
from course_lib.mlir.npu.machine import PanelsAttr, space_of

Index = int | SSAValue  # a position or a size
Numbers = DenseArrayBase[IntegerType]


def memref(value: SSAValue) -> MemRefType[Attribute]:
    """The type of an array, a buffer or a tile."""
    assert isinstance(value.type, MemRefType)
    return value.type


def shape(value: SSAValue) -> tuple[int, ...]:
    """The sizes in the type of a value; DYNAMIC_INDEX where only the value knows."""
    return memref(value).get_shape()


def sized(sizes: Sequence[int]) -> str:
    """Sizes as MLIR writes them: 64x?"""
    return "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in sizes)


def is_in(op: Operation, what: str, value: SSAValue, *spaces: str) -> None:
    """VerifyException unless a value is in one of these memories."""
    if (space := space_of(value.type)) not in spaces:
        raise VerifyException(f"{op.name}: {what} is in {' or '.join(spaces)}, not in {space}")


def is_array(op: Operation, what: str, value: SSAValue) -> None:
    """VerifyException unless a value is an array in DRAM whose place of each element is known."""
    is_in(op, what, value, DRAM)
    layout = memref(value).layout
    if DYNAMIC_INDEX in shape(value) or not isinstance(layout, PanelsAttr | NoneAttr):
        message = f"{what} has known sizes, and lies row by row or in panels; it is a {value.type}"
        raise VerifyException(f"{op.name}: {message}")
    if isinstance(layout, PanelsAttr) and len(shape(value)) != 2:
        raise VerifyException(f"{op.name}: {what} lies in panels, but is no matrix")


def same(op: Operation, *sides: tuple[str, Sequence[int]]) -> None:
    """VerifyException unless sizes agree, as far as they are known."""
    (first, given), (second, wanted) = sides
    pairs = zip(given, wanted, strict=False)
    differ = any(a != b and DYNAMIC_INDEX not in (a, b) for a, b in pairs)
    if differ or len(given) != len(wanted):
        message = f"{first} is {sized(given)}, {second} {sized(wanted)}"
        raise VerifyException(f"{op.name}: {message}")


def at_most(op: Operation, what: str, size: int, most: int, why: str) -> None:
    """VerifyException for a size above a limit of the machine."""
    if size > most:
        raise VerifyException(f"{op.name}: {what}, but {why} {most:,}")


# ── numbers and values in one list ──


def apart(*lists: Sequence[Index]) -> tuple[list[list[SSAValue]], list[Numbers]]:
    """Numbers and values, as operations keep them."""
    split = [split_dynamic_index_list(list(each), DYNAMIC_INDEX) for each in lists]
    return [v for _, v in split], [DenseArrayBase.from_list(i64, s) for s, _ in split]


def together(numbers: Numbers, values: Sequence[SSAValue]) -> list[Index]:
    """The list again."""
    return get_dynamic_index_list(numbers.get_values(), values, DYNAMIC_INDEX)


def checked(op: Operation, numbers: Numbers, values: Sequence[SSAValue]) -> Sequence[int]:
    """The numbers; where a value stands, DYNAMIC_INDEX, which is below 0. VerifyException unless
    there is a value for each that is missing, and no other is below 0."""
    given = numbers.get_values()
    verify_dynamic_index_list(given, values, DYNAMIC_INDEX)
    if any(number < 0 and number != DYNAMIC_INDEX for number in given):
        message = f"positions and sizes are not below 0: {sized(given)}"
        raise VerifyException(f"{op.name}: {message}")
    return given
