"""Answers about an operation and its instruction. Next room: tiles.py.

What needs xDSL is imported where it is there.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, mutant

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.dialects.builtin import IntegerAttr, MemRefType
    from xdsl.irdl import (
        IRDLOperation,
        ParsePropInAttrDict,
        attr_def,
        irdl_op_definition,
        operand_def,
        prop_def,
    )
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.npu.dialect import MEMREF
    from course_lib.mlir.npu.machine import space_of
    from course_lib.mlir.npu.rules import is_in, same, shape
    from lessons.u11.dialect import checked

FORMAT = "$x `into` $out attr-dict `:` type($x) `into` type($out)"


def _with(text, verify, format=FORMAT):
    @irdl_op_definition
    class MaxOp(IRDLOperation):
        name = "npu.max"
        x = operand_def(MEMREF)
        out = operand_def(MEMREF)
        rows = attr_def(IntegerAttr)
        assembly_format = format

        def verify_(self):
            verify(self)

    return checked(text, MaxOp)


def _places(op):
    is_in(op, "x", op.x, "acts")
    is_in(op, "out", op.out, "acts")


def _range(op, most=15):
    if not 1 <= op.rows.value.data <= most:
        raise VerifyException("too many rows")


def _sizes(op):
    (h, w), each = shape(op.out), op.rows.value.data
    if shape(op.x) != (each * h, w):
        raise VerifyException("other sizes")


@mutant("u11.greatest")
def no_verifier(text):
    return _with(text, lambda op: None)


@mutant("u11.greatest")
def does_not_ask_where(text):
    return _with(text, lambda op: (_range(op), _sizes(op)))


@mutant("u11.greatest")
def asks_for_one_of_the_memories(text):
    return _with(text, lambda op: (is_in(op, "x", op.x, "acts"), _range(op), _sizes(op)))


@mutant("u11.greatest")
def the_same_memory_is_enough(text):
    def verify(op):
        if space_of(op.x.type) != space_of(op.out.type):
            raise VerifyException("two memories")
        _range(op)
        _sizes(op)

    return _with(text, verify)


@mutant("u11.greatest")
def sixteen_rows_in_four_bits(text):
    return _with(text, lambda op: (_places(op), _range(op, 16), _sizes(op)))


@mutant("u11.greatest")
def does_not_ask_for_the_range(text):
    return _with(text, lambda op: (_places(op), _sizes(op)))


@mutant("u11.greatest")
def no_lower_limit(text):
    def verify(op):
        _places(op)
        if op.rows.value.data > 15:
            raise VerifyException("too many rows")
        _sizes(op)

    return _with(text, verify)


@mutant("u11.greatest")
def a_last_row_may_be_left_over(text):
    def verify(op):
        _places(op)
        _range(op)
        (m, n), (h, w), each = shape(op.x), shape(op.out), op.rows.value.data
        if m // each != h or n != w:
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def does_not_compare_columns(text):
    def verify(op):
        _places(op)
        _range(op)
        (m, _), (h, _), each = shape(op.x), shape(op.out), op.rows.value.data
        if m != h * each:
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def the_wrong_way_round(text):
    def verify(op):
        _places(op)
        _range(op)
        (h, w), each = shape(op.x), op.rows.value.data
        if shape(op.out) != (each * h, w):
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def any_number_of_dimensions(text):
    def verify(op):
        _places(op)
        _range(op)
        x, out, each = shape(op.x), shape(op.out), op.rows.value.data
        if len(x) != len(out) or (x[-2:] != (each * out[-2:][0], *out[-1:]) and len(x) == 2):
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def only_if_both_are_elsewhere(text):
    def verify(op):
        if space_of(op.x.type) != "acts" and space_of(op.out.type) != "acts":
            raise VerifyException("not in acts")
        _range(op)
        _sizes(op)

    return _with(text, verify)


@mutant("u11.greatest")
def only_if_one_is_elsewhere(text):
    def verify(op):
        if (space_of(op.x.type) == "acts") != (space_of(op.out.type) == "acts"):
            raise VerifyException("two memories")
        _range(op)
        _sizes(op)

    return _with(text, verify)


@mutant("u11.greatest")
def anywhere_but_in_dram(text):
    def verify(op):
        if "dram" in (space_of(op.x.type), space_of(op.out.type)):
            raise VerifyException("in dram")
        _range(op)
        _sizes(op)

    return _with(text, verify)


@mutant("u11.greatest")
def as_many_dimensions_as_the_other(text):
    def verify(op):
        _places(op)
        _range(op)
        x, out, each = shape(op.x), shape(op.out), op.rows.value.data
        if len(x) != len(out) or x[0] != each * out[0] or x[1:] != out[1:]:
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def matrices_at_the_end(text):
    """Of whatever has two sizes or more."""

    def verify(op):
        _places(op)
        _range(op)
        x, out, each = shape(op.x)[-2:], shape(op.out)[-2:], op.rows.value.data
        if len(out) < 2 or x != (each * out[0], out[1]):
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def enough_columns(text):
    def verify(op):
        _places(op)
        _range(op)
        (m, n), (h, w), each = shape(op.x), shape(op.out), op.rows.value.data
        if m != each * h or w < n:
            raise VerifyException("other sizes")

    return _with(text, verify)


@mutant("u11.greatest")
def written_otherwise(text):
    return _with(text.replace(" into %out", ", %out"), lambda op: (_places(op), _range(op),
                 _sizes(op)), FORMAT.replace("$x `into`", "$x `,`"))  # fmt: skip


@mutant("u11.greatest")
def gives_the_text_back(text):
    return text


@alternative("u11.greatest")
def rows_as_a_property(text):
    @irdl_op_definition
    class MaxOp(IRDLOperation):
        name = "npu.max"
        x = operand_def(MEMREF)
        out = operand_def(MEMREF)
        rows = prop_def(IntegerAttr)
        assembly_format = FORMAT
        irdl_options = (ParsePropInAttrDict(),)

        def verify_(self):
            _places(self)
            _range(self)
            if len(shape(self.x)) != 2 or len(shape(self.out)) != 2:
                raise VerifyException("no matrices")
            _sizes(self)

    return checked(text, MaxOp)


@alternative("u11.greatest")
def with_same(text):
    def verify(op):
        _places(op)
        _range(op)
        same(op, ("x and out", (2, 2)), ("matrices", (len(shape(op.x)), len(shape(op.out)))))
        (h, w), each = shape(op.out), op.rows.value.data
        same(op, ("x", shape(op.x)), ("what out needs", (each * h, w)))

    return _with(text, verify)


@alternative("u11.greatest")
def by_hand(text):
    def verify(op):
        for value in op.operands:
            if not isinstance(value.type, MemRefType) or space_of(value.type) != "acts":
                raise VerifyException("not in acts")
            if len(value.type.get_shape()) != 2:
                raise VerifyException("no matrix")
        (m, n), (h, w) = (value.type.get_shape() for value in op.operands)
        each = op.rows.value.data
        if each not in range(1, 16) or m % each or (m // each, n) != (h, w):
            raise VerifyException("sizes do not fit")

    return _with(text, verify)


# ── its instruction ──


def _line(src, acts, **fields):
    words = {"src": src, "acts": acts, **fields}
    return "vmax " + " ".join(f"{name}={value}" for name, value in words.items())


@mutant("u11.vmax")
def rows_side_by_side(src, acts, m, n, rows):
    """Right only for windows that do not overlap in a row: the next row is not n * w further."""
    return _line(
        src, acts, h=1, w=m // rows, bytes=n, step=n, line=rows * n, kh=rows, kw=1, kline=n
    )


@mutant("u11.vmax")
def windows_overlap(src, acts, m, n, rows):
    return _line(src, acts, h=m // rows, w=1, bytes=n, step=n, line=n, kh=rows, kw=1, kline=n)


@mutant("u11.vmax")
def columns_as_pixels(src, acts, m, n, rows):
    return _line(src, acts, h=m // rows, w=n, bytes=1, step=1, line=n, kh=rows, kw=1, kline=n)


@mutant("u11.vmax")
def as_many_results_as_rows(src, acts, m, n, rows):
    return _line(src, acts, h=m, w=1, bytes=n, step=n, line=rows * n, kh=rows, kw=1, kline=n)


@mutant("u11.vmax")
def one_row_of_each(src, acts, m, n, rows):
    return _line(src, acts, h=m // rows, w=1, bytes=n, step=n, line=rows * n, kh=1, kw=1, kline=n)


@mutant("u11.vmax")
def places_exchanged(src, acts, m, n, rows):
    return _line(acts, src, h=m // rows, w=1, bytes=n, step=n, line=rows * n, kh=rows, kw=1,
                 kline=n)  # fmt: skip


@mutant("u11.vmax")
def lines_without_bytes(src, acts, m, n, rows):
    return _line(src, acts, h=m // rows, w=1, bytes=n, step=1, line=rows, kh=rows, kw=1, kline=1)


@alternative("u11.vmax")
def windows_along_x(src, acts, m, n, rows):
    """All pixels in one row: `step` leads from a window to the next."""
    return _line(src, acts, h=1, w=m // rows, bytes=n, step=rows * n, line=m * n, kh=rows, kw=1,
                 kline=n)  # fmt: skip


@alternative("u11.vmax")
def windows_that_are_wide(src, acts, m, n, rows):
    return _line(
        src, acts, h=m // rows, w=1, bytes=n, step=0, line=rows * n, kh=1, kw=rows, kline=0
    )


@alternative("u11.vmax")
def fields_in_another_order(src, acts, m, n, rows):
    return (f"vmax kline={n} kw=1 kh={rows} line={n * rows} step=0 bytes={n} w=1 h={m // rows} "
            f"acts={acts} src={src}")  # fmt: skip
