"""Answers about an operation and its instruction. Next room: tiles.py.

What needs xDSL is imported where it is there.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternatives, mutants

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.dialects.builtin import IntegerAttr, MemRefType
    from xdsl.irdl import IRDLOperation, attr_def, irdl_op_definition, operand_def
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.npu.dialect import MEMREF
    from course_lib.mlir.npu.machine import space_of
    from course_lib.mlir.npu.rules import is_in, same, shape
    from lessons.u11.dialect import checked

X_PLACE, OUT_PLACE = "is_in(self, 'x', self.x, 'acts')", "is_in(self, 'out', self.out, 'acts')"
SIZES = "given != (each * result[0], result[1])"
MATRICES = "len(result) != 2 or "


def _places(wrong: str) -> tuple[str, ...]:
    """An edit: another rule of which memories, `x` and `out`, are refused."""
    return (X_PLACE, "from course_lib.mlir.npu.machine import space_of\n            "
            "x, out = (space_of(self.x.type), space_of(self.out.type))\n            "
            f"if {wrong}:\n                raise VerifyException('another memory')",
            OUT_PLACE, "")  # fmt: skip


mutants(
    "u11.greatest",
    no_verifier=(X_PLACE, "return"),
    does_not_ask_where=(X_PLACE, "", OUT_PLACE, ""),
    asks_for_one_of_the_memories=(OUT_PLACE, ""),
    the_same_memory_is_enough=_places("x != out"),
    sixteen_rows_in_four_bits=("<= 15", "<= 16"),
    does_not_ask_for_the_range=("not 1 <= each <= 15", "False"),
    no_lower_limit=("1 <= each <= 15", "each <= 15"),
    a_last_row_may_be_left_over=(
        SIZES, "len(given) != 2 or (given[0] // max(each, 1), given[1]) != result"),
    does_not_compare_columns=(SIZES, "given[:-1] != (each * result[0],)"),
    # What has four times as many rows may be either of the two.
    the_wrong_way_round=(SIZES, f"{SIZES} and result != (each * given[0], *given[1:])"),
    any_number_of_dimensions=(MATRICES, "len(result) != len(given) or len(result) == 2 and "),
    only_if_both_are_elsewhere=_places("x != 'acts' and out != 'acts'"),
    only_if_one_is_elsewhere=_places("(x == 'acts') != (out == 'acts')"),
    anywhere_but_in_dram=_places("'dram' in (x, out)"),
    as_many_dimensions_as_the_other=(
        MATRICES + SIZES,
        "len(result) != len(given) or (given[0], *given[1:]) != (each * result[0], *result[1:])"),
    # Of whatever has two sizes or more.
    matrices_at_the_end=(
        MATRICES + SIZES, "len(result) < 2 or given[-2:] != (each * result[-2], result[-1])"),
    enough_columns=(
        SIZES, "len(given) != 2 or given[0] != each * result[0] or result[1] < given[1]"),
    written_otherwise=("$x `into`", "$x `,`", "checked(text",
                       "checked(text.replace(' into %out', ', %out')"),
    gives_the_text_back=lambda text: text,
)  # fmt: skip


def _verified(verify):
    def answer(text):
        @irdl_op_definition
        class MaxOp(IRDLOperation):
            name = "npu.max"
            x = operand_def(MEMREF)
            out = operand_def(MEMREF)
            rows = attr_def(IntegerAttr)
            assembly_format = "$x `into` $out attr-dict `:` type($x) `into` type($out)"

            def verify_(self):
                verify(self, self.rows.value.data)

        return checked(text, MaxOp)

    return answer


def _with_same(op, each):
    is_in(op, "x", op.x, "acts")
    is_in(op, "out", op.out, "acts")
    if each < 1 or each > 15:
        raise VerifyException("too many rows")
    same(op, ("x and out", (2, 2)), ("matrices", (len(shape(op.x)), len(shape(op.out)))))
    h, w = shape(op.out)
    same(op, ("x", shape(op.x)), ("what out needs", (each * h, w)))


def _by_hand(op, each):
    for value in op.operands:
        if not isinstance(value.type, MemRefType) or space_of(value.type) != "acts":
            raise VerifyException("not in acts")
        if len(value.type.get_shape()) != 2:
            raise VerifyException("no matrix")
    (m, n), (h, w) = (value.type.get_shape() for value in op.operands)
    if each not in range(1, 16) or m % each or (m // each, n) != (h, w):
        raise VerifyException("sizes do not fit")


alternatives(
    "u11.greatest",
    rows_as_a_property=(
        "@irdl", "from xdsl.irdl import ParsePropInAttrDict, prop_def\n\n    @irdl",
        "attr_def(IntegerAttr)",
        "prop_def(IntegerAttr)\n        irdl_options = (ParsePropInAttrDict(),)"),
    with_same=_verified(_with_same),
    by_hand=_verified(_by_hand),
)  # fmt: skip

# ── its instruction ──

STEPS = "step={n} line={rows * n}"
ALONG_X = "h={m // rows} w=1", "h=1 w={m // rows}"
mutants(
    "u11.vmax",
    # Right only for windows that do not overlap in a row: the next row is not n * w further.
    rows_side_by_side=ALONG_X,
    windows_overlap=(STEPS, "step={n} line={n}"),
    columns_as_pixels=(f"w=1 bytes={{n}} {STEPS}", "w={n} bytes=1 step=1 line={n}"),
    as_many_results_as_rows=("{m // rows}", "{m}"),
    one_row_of_each=("kh={rows}", "kh=1"),
    places_exchanged=("src={src} acts={acts}", "src={acts} acts={src}"),
    lines_without_bytes=(STEPS, "step=1 line={rows}", "kline={n}", "kline=1"),
)
alternatives(
    "u11.vmax",
    # All pixels in one row: `step` leads from a window to the next.
    windows_along_x=(*ALONG_X, STEPS, "step={rows * n} line={m * n}"),
    windows_that_are_wide=("step={n}", "step=0", "kh={rows} kw=1 kline={n}",
                           "kh=1 kw={rows} kline=0"),
    fields_in_another_order=lambda src, acts, m, n, rows: (
        f"vmax kline={n} kw=1 kh={rows} line={n * rows} step=0 bytes={n} w=1 h={m // rows} "
        f"acts={acts} src={src}"),
)  # fmt: skip
