"""The NPU dialect, memory: buffers, their slots, and DMA between them and arrays in DRAM.

    %xs = npu.buffer : memref<2x64x128xi8, #npu.space<acts>>
    %t = npu.slot %xs[1] [64, 128] : memref<2x64x128xi8, #npu.space<acts>>
         to memref<64x128xi8, #npu.space<acts>>
    npu.dma_load %x[0, 128] [64, 128] to %t : memref<197x768xi8, #npu.space<dram>>
         to memref<64x128xi8, #npu.space<acts>>

A class is an operation: operands, attributes and results are fields, `assembly_format` is its
text, `verify_` says what IRDL cannot. Positions and sizes are numbers or values (then `?` in a
type), as in `memref.subview`. A window of a transfer says its sizes, and so does the tile: what
differs is refused. Next room: `dialect.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IndexType, MemRefType, i64
from xdsl.dialects.utils import DynamicIndexList
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from course_lib.accelerator.chip import ACCS, ACTS, DRAM, PARAMS, SRAMS, WEIGHTS
from course_lib.mlir.npu.machine import PanelsAttr, chip_of, memory, room, space_of, taken
from course_lib.mlir.npu.rules import (
    Index,
    apart,
    at_most,
    checked,
    is_array,
    is_in,
    memref,
    same,
    shape,
    sized,
    together,
)

MEMREF = MemRefType.constr()
NUMBERS = DenseArrayBase.constr(i64)


@irdl_op_definition
class BufferOp(IRDLOperation):
    """Room in a memory of the chip, for all of the program: so many slots, each for a tile. A slot
    takes whole banks. A buffer of parameters or weights may have a second dimension, the blocks of
    columns of a group, which lie in one slot."""

    name = "npu.buffer"
    result = result_def(MEMREF)
    assembly_format = "`:` type($result) attr-dict"

    def __init__(self, type: MemRefType) -> None:
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        chip, space = chip_of(self), space_of(self.result.type)
        if space == DRAM:
            raise VerifyException(f"{self.name}: a buffer is on the chip, not in dram")
        if len(shape(self.result)) < 3 or min(shape(self.result)) < 1:
            message = f"slots x tile, all sizes known, not {sized(shape(self.result))}"
            raise VerifyException(f"{self.name}: a buffer is {message}")
        if space == ACCS and shape(self.result)[-1] != chip.cols:
            message = f"a row of sums is {chip.cols} wide, not {shape(self.result)[-1]}"
            raise VerifyException(f"{self.name}: {message}")
        others = self.parent.ops if self.parent else [self]
        total = 0
        for other in others:
            if isinstance(other, BufferOp) and space_of(other.result.type) == space:
                total += taken(chip, memref(other.result))
            if other is self:
                break
        what = f"buffers of {total:,} elements in {space}"
        at_most(self, what, total, room(chip, space), "it holds")


class _Moves(IRDLOperation):
    """What has positions and sizes: `offsets` and `sizes` mix numbers and values."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    custom_directives = (DynamicIndexList,)


@irdl_op_definition
class SlotOp(_Moves):
    """A slot of a buffer, seen as a tile. The tile begins where the slot does; in `acts` and
    `weights` it has no gaps, in `accs` and `params` its rows are those of the memory."""

    name = "npu.slot"
    buffer = operand_def(MEMREF)
    indices = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    static_indices = prop_def(NUMBERS)
    static_sizes = prop_def(NUMBERS)
    result = result_def(MEMREF)
    traits = traits_def(NoMemoryEffect())
    assembly_format = (
        "$buffer `` custom<DynamicIndexList>($indices, $static_indices) "
        "custom<DynamicIndexList>($sizes, $static_sizes) "
        "attr-dict `:` type($buffer) `to` type($result)"
    )

    def __init__(self, buffer: SSAValue, at: Sequence[Index], sizes: Sequence[Index]) -> None:
        values, numbers = apart(at, sizes)
        type = memory(tuple(numbers[1].get_values()), space_of(buffer.type))
        super().__init__(
            operands=[buffer, *values],
            properties=dict(zip(("static_indices", "static_sizes"), numbers, strict=True)),
            result_types=[type],
        )

    @property
    def at(self) -> list[Index]:
        return together(self.static_indices, self.indices)

    @property
    def tile(self) -> list[Index]:
        return together(self.static_sizes, self.sizes)

    def verify_(self) -> None:
        at = checked(self, self.static_indices, self.indices)
        sizes = checked(self, self.static_sizes, self.sizes)
        buffer, tile = self.buffer, self.result
        is_in(self, "the buffer", buffer, *SRAMS)
        is_in(self, "the tile", tile, space_of(buffer.type))
        whole = shape(buffer)
        same(self, ("the tile", sizes), ("its type", shape(tile)))
        if len(at) + len(sizes) != len(whole):
            message = f"{len(at)} positions and a tile of {len(sizes)} sizes for {sized(whole)}"
            raise VerifyException(f"{self.name}: {message}")
        for index, size in zip(at, whole, strict=False):
            if index >= size:
                raise VerifyException(f"{self.name}: there is no slot {index}, there are {size}")
        for size, most in zip(sizes, whole[len(at) :], strict=True):
            if size > most:
                message = (
                    f"a tile of {sized(sizes)} does not fit a slot of {sized(whole[len(at) :])}"
                )
                raise VerifyException(f"{self.name}: {message}")


class _Dma(_Moves):
    """Between a window of an array in DRAM and a tile."""

    array = operand_def(MEMREF)
    tile = operand_def(MEMREF)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    static_offsets = prop_def(NUMBERS)
    static_sizes = prop_def(NUMBERS)
    SPACES: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, array: SSAValue, tile: SSAValue, offsets: Sequence[Index], sizes: Sequence[Index]
    ) -> None:
        values, numbers = apart(offsets, sizes)
        super().__init__(
            operands=[array, tile, *values],
            properties=dict(zip(("static_offsets", "static_sizes"), numbers, strict=True)),
        )

    @property
    def window(self) -> tuple[list[Index], list[Index]]:
        """Where the window begins in the array, and its sizes."""
        starts = together(self.static_offsets, self.offsets)
        return starts, together(self.static_sizes, self.sizes)

    def verify_(self) -> None:
        offsets = checked(self, self.static_offsets, self.offsets)
        sizes = checked(self, self.static_sizes, self.sizes)
        array, tile = self.array, self.tile
        is_array(self, "the array", array)
        is_in(self, "the tile", tile, *self.SPACES)
        whole = shape(array)
        same(self, ("the window", sizes), ("the tile", shape(tile)))
        kinds = [memref(value).element_type for value in (array, tile)]
        if len(sizes) != len(whole) or len(offsets) != len(whole) or kinds[0] != kinds[1]:
            message = f"between {array.type} and {tile.type}"
            raise VerifyException(f"{self.name}: there is no transfer {message}")
        if space_of(tile.type) == PARAMS:
            entry = (2, chip_of(self).cols)
            same(self, ("an entry of the array", whole[1:]), ("of the chip", entry))
            same(self, ("the window", sizes[1:]), ("whole entries", entry))
        elif len(whole) != 2:
            raise VerifyException(f"{self.name}: tiles are pieces of a matrix, not {sized(whole)}")
        for offset, size, most in zip(offsets, sizes, whole, strict=True):
            end = max(offset, 0) + max(size, 0)
            if end > most:
                message = f"the window reaches {end}, the array {sized(whole)} does not"
                raise VerifyException(f"{self.name}: {message}")
        self.check_panels(memref(array), offsets[-1], sizes[-1])

    def check_panels(self, array: MemRefType, first: int, columns: int) -> None:
        layout = array.layout
        if isinstance(layout, PanelsAttr) and min(first, columns) >= 0:
            whole = min(layout.width, array.get_shape()[-1] - first)
            if first % layout.width or columns != whole:
                message = f"columns {first} to {first + columns} are no panel of {layout.width}"
                raise VerifyException(f"{self.name}: {message}")


@irdl_op_definition
class DmaLoadOp(_Dma):
    """Copy a window of an array in DRAM into a tile."""

    name = "npu.dma_load"
    SPACES: ClassVar = (ACTS, WEIGHTS, PARAMS)
    assembly_format = (
        "$array `` custom<DynamicIndexList>($offsets, $static_offsets) "
        "custom<DynamicIndexList>($sizes, $static_sizes) `to` $tile "
        "attr-dict `:` type($array) `to` type($tile)"
    )


@irdl_op_definition
class DmaStoreOp(_Dma):
    """Copy a tile of results, or of sums, to where it belongs in an array in DRAM."""

    name = "npu.dma_store"
    SPACES: ClassVar = (ACTS, ACCS)
    assembly_format = (
        "$tile `to` $array `` custom<DynamicIndexList>($offsets, $static_offsets) "
        "custom<DynamicIndexList>($sizes, $static_sizes) "
        "attr-dict `:` type($tile) `to` type($array)"
    )
