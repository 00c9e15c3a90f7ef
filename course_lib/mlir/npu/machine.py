"""Where values live on the machine, and how much room there is: spaces, layouts, the chip.

    memref<768x768xi8, #npu.panels<32>, #npu.space<dram>>     the weights, outside the chip
    memref<2x64x128xi8, #npu.space<acts>>                     two slots for pieces of the input
    module attributes {npu.chip = {preset = "npu", rows = 16 : i64}}

A type says in which memory its elements are. Everything else is read from the `Chip` that the
module names (`accelerator/chip.py`): no size of a memory and no limit stands in this folder.
MLIR keeps such facts the same way, in memory spaces and in a module's target description (DLTI).
Next room: `rules.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from course_lib.accelerator.chip import ACCS, ACTS, DRAM, PARAMS, PRESETS, SRAMS, WEIGHTS, Chip

CHIP = "npu.chip"
ELEMENTS = {DRAM: (i8, i32), WEIGHTS: (i8,), ACTS: (i8,), ACCS: (i32,), PARAMS: (i32,)}


@irdl_attr_definition
class SpaceAttr(Data[str]):
    """A memory: dram, and the four of the chip."""

    name = "npu.space"
    ALL: ClassVar = (DRAM, *SRAMS)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            name = parser.parse_identifier()
        if name not in cls.ALL:
            parser.raise_error(f"there is no memory {name!r}; there are {', '.join(cls.ALL)}")
        return name

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class PanelsAttr(MemRefLayoutAttr, ParametrizedAttribute):
    """A matrix in panels of so many columns, one behind the other, the last one perhaps narrower.
    A panel is row-major. So the weights that the array takes at a time lie side by side, and DMA
    fetches them in one burst. `linalg.pack` does the same, but fills the last panel with zeros."""

    name = "npu.panels"
    columns: IntegerAttr[IntegerType]

    def __init__(self, columns: int) -> None:
        super().__init__(IntegerAttr(columns, i64))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [IntegerAttr(parser.parse_integer(allow_negative=False), i64)]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.width}>")

    def verify(self) -> None:
        if self.width < 1:
            raise VerifyException(f"panels have at least one column, got {self.width}")

    def get_affine_map(self) -> AffineMap:
        raise NotImplementedError("the last panel may be narrower: no affine map says that")

    @property
    def width(self) -> int:
        return self.columns.value.data


def memory(shape: Sequence[int], space: str, width: int | None = None) -> MemRefType:
    """The type of an array or a buffer: of bytes, but for sums and parameters, which are int32."""
    layout = NoneAttr() if width is None else PanelsAttr(width)
    return MemRefType(ELEMENTS[space][0], shape, layout, SpaceAttr(space))


def space_of(type: Attribute) -> str:
    """The memory that a type names. VerifyException if it names none, or says what cannot be
    there: other elements, or on the chip a layout."""
    assert isinstance(type, MemRefType)
    if not isinstance(type.memory_space, SpaceAttr):
        raise VerifyException(f"{type} does not say in which memory it is: #npu.space<...>")
    space = type.memory_space.data
    if type.element_type not in ELEMENTS[space]:
        known = " or ".join(str(t) for t in ELEMENTS[space])
        raise VerifyException(f"{space} holds {known}, not {type.element_type}")
    if space != DRAM and not isinstance(type.layout, NoneAttr):
        raise VerifyException(f"only arrays in dram have a layout, not {type}")
    return space


def chip_of(op: Operation) -> Chip:
    """The chip that the nearest module around an operation names; without one, preset `npu`."""
    around: Operation | None = op
    while around is not None and CHIP not in around.attributes:
        around = around.parent_op()
    if around is None:
        return PRESETS["npu"]
    attribute = around.attributes[CHIP]
    if not isinstance(attribute, DictionaryAttr):
        raise VerifyException(f'{CHIP} is a dictionary: {{preset = "npu", rows = 16 : i64}}')
    values: dict[str, Any] = {name: _plain(value) for name, value in attribute.data.items()}
    preset = values.pop("preset", "npu")
    try:
        base = PRESETS[preset]
        for name in values:  # a truth value is written as an integer
            if isinstance(getattr(base, name, None), bool) and values[name] in (0, 1):
                values[name] = bool(values[name])
        return replace(base, **values)
    except (KeyError, TypeError, ValueError) as error:
        raise VerifyException(f"{CHIP}: {error}") from None


def name_chip(module: ModuleOp, chip: Chip) -> None:
    """Write into a module for which chip it is: the preset of its name, and what differs."""
    preset = chip.name if chip.name in PRESETS else "npu"
    named: dict[str, Attribute] = {"preset": StringAttr(preset)}
    for field in fields(chip):
        value = getattr(chip, field.name)
        if value != getattr(PRESETS[preset], field.name):
            named[field.name] = _attribute(value)
    module.attributes[CHIP] = DictionaryAttr(named)


def _attribute(value: Any) -> Attribute:
    if isinstance(value, tuple):
        return ArrayAttr([_attribute(part) for part in value])
    if isinstance(value, float | str):
        return StringAttr(str(value))
    return IntegerAttr(int(value), i64)


def _plain(value: Attribute) -> Any:
    match value:
        case ArrayAttr(data=parts):
            return tuple(_plain(part) for part in parts)
        case IntegerAttr(value=number):
            return number.data
        case StringAttr(data=text):
            try:
                return float(text)
            except ValueError:
                return text
    raise ValueError(f"{value} is no value of a chip")


def room(chip: Chip, space: str) -> int:
    """How many elements an SRAM holds."""
    return chip.size(space)


def taken(chip: Chip, type: MemRefType) -> int:
    """How many elements of its memory a buffer takes."""
    return type.get_shape()[0] * slot_size(chip, type)


def slot_size(chip: Chip, type: MemRefType) -> int:
    """Elements from one slot of a buffer to the next: whole banks, so that an engine that fills one
    slot does not stop one that reads another. A row of accumulators or parameters is `cols` wide,
    whatever is in it."""
    space, size = space_of(type), math.prod(type.get_shape()[1:])
    bank = 1 if space == PARAMS else chip.size(space) // chip.bank_count(space)
    return -(-size // bank) * bank
