"""Unit 11, an NPU dialect: its exercises. The library has passes of the same kind, on loops.

The bodies are our answers and never ship. What the notebook shows stands in lessons.
The exercises can be listed where xDSL is not installed, and answered only where it is. Next room:
lessons/u11/dialect.py.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.dialects.builtin import IntegerAttr
    from xdsl.ir import Operation
    from xdsl.irdl import IRDLOperation, attr_def, irdl_op_definition, operand_def
    from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
    from xdsl.utils.exceptions import VerifyException

    from course_lib.mlir.npu.dialect import MEMREF, MatmulOp, ProductOp
    from course_lib.mlir.npu.machine import chip_of, memory
    from course_lib.mlir.npu.rules import is_in, shape
    from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp
    from lessons.u11.dialect import (
        body,
        buffers,
        checked,
        finished,
        fitting,
        overwritten,
        parsed,
        resized,
        rewritten,
        steps,
    )


def read_early(name: str, text: str, *_: object) -> None:
    """Read the program of a call before there is an answer: once for a class."""
    if name in ("u11.tiled", "u11.turns"):
        parsed(text)


@exercise("u11.moved", unit=11, points=2, kind="number")
def moved(m: int, k: int, n: int, tm: int, tn: int, outer: str) -> int:
    """How many bytes does a product in tiles move between DRAM and the chip?

    m, k, n  x is int8[m, k], w is int8[k, n], and the sums y are int32[m, n]
    tm, tn   a tile of y has tm rows and tn columns; the last ones may be smaller
    outer    "rows": all tiles of the first rows, then the next rows; "columns": the other way round
    returns  the bytes of all loads and stores, exactly

    For each tile of y, the program loads its rows of x and its columns of w, both in their whole
    depth k, multiplies them, and stores the tile. There is one slot for x, one for w, and one for
    the sums. A load of what is already in its slot is left out.
    """
    down, across = -(-m // tm), -(-n // tn)
    x = across if outer == "columns" and down > 1 else 1
    w = down if outer == "rows" and across > 1 else 1
    return x * m * k + w * k * n + 4 * m * n


@exercise("u11.greatest", unit=11, points=3, kind="implement", further=True)
def greatest(text: str) -> str:
    """Give the dialect an operation for the instruction `vmax`, with a verifier.

    text     a program that may contain `npu.max`
    returns  checked(text, MaxOp), where MaxOp is a class of yours

    In `npu.max %x into %out {rows = 4 : i64} : T into U`, T and U are the types of %x and %out.
    Each row of `out` holds the greatest numbers of 4 rows of `x`, column by column: row 0 of `out`
    holds those of rows 0 to 3, row 1 holds those of rows 4 to 7, and so on. Both are matrices in
    `acts`. No row of `x` is left over. `rows` is a number from 1 to 15, because the instruction has
    four bits for it. Raise VerifyException for an operation that breaks one of these rules.
    """

    @irdl_op_definition
    class MaxOp(IRDLOperation):
        name = "npu.max"
        x = operand_def(MEMREF)
        out = operand_def(MEMREF)
        rows = attr_def(IntegerAttr)
        assembly_format = "$x `into` $out attr-dict `:` type($x) `into` type($out)"

        def verify_(self) -> None:
            is_in(self, "x", self.x, "acts")
            is_in(self, "out", self.out, "acts")
            each = self.rows.value.data
            if not 1 <= each <= 15:
                raise VerifyException(f"npu.max: the machine takes 1 to 15 rows, not {each}")
            given, result = shape(self.x), shape(self.out)
            if len(result) != 2 or given != (each * result[0], result[1]):
                raise VerifyException(f"npu.max: {each} rows each of {given} are not {result}")

    return checked(text, MaxOp)


@exercise("u11.tiled", unit=11, points=4, kind="implement")
def tiled(text: str, rows: int) -> str:
    """Cut every `npu.product` into tiles.

    text     a program with products into int32 sums
    rows     how many rows of x and of y a tile has
    returns  rewritten(text, Tile()), where Tile is a pattern of yours

    A tile of y has `rows` rows, and as many columns as the array of the module's chip. Where the
    sizes do not divide evenly, the last tiles are smaller. Rows are outside: all tiles of the first
    rows come first, from left to right. For each tile, load its rows of x and its columns of w, in
    either order, multiply, and store the sums. Sums stay in the cells (`"os"`). A product has one
    buffer in `acts`, one in `weights` and one in `accs`, each with one slot. The slot is as high as
    its largest tile; in `acts` it is as wide as that tile, in the other two as wide as the array.
    """

    class Tile(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: ProductOp, rewriter: PatternRewriter) -> None:
            (m, k), (_, n), cols = shape(op.x), shape(op.w), chip_of(op).cols
            most = min(rows, m)
            xs = BufferOp(memory((1, most, k), "acts"))
            ws = BufferOp(memory((1, k, cols), "weights"))
            ys = BufferOp(memory((1, most, cols), "accs"))
            ops: list[Operation] = [xs, ws, ys]
            for i in range(0, m, most):
                for j in range(0, n, cols):
                    h, wide = min(most, m - i), min(cols, n - j)
                    x = SlotOp(xs.result, [0], [h, k])
                    w = SlotOp(ws.result, [0], [k, wide])
                    y = SlotOp(ys.result, [0], [h, wide])
                    ops += [
                        *(x, w, y),
                        DmaLoadOp(op.x, x.result, [i, 0], [h, k]),
                        DmaLoadOp(op.w, w.result, [0, j], [k, wide]),
                        MatmulOp(x.result, w.result, y.result, "os", overwrite=True),
                        DmaStoreOp(op.y, y.result, [i, j], [h, wide]),
                    ]
            rewriter.replace(op, ops, [])

    return rewritten(text, Tile())


@exercise("u11.turns", unit=11, points=4, kind="implement")
def turns(text: str, most: int) -> str:
    """Let the contents of each buffer take turns in several slots.

    text     a program whose buffers have one slot each, `%b[0]`. No operation reads more of a slot
             than was written by the last operation that overwrote it
    most     how many slots a buffer may have
    returns  finished(module), the program afterwards

    One buffer after another gets `most` slots, or as many as `fitting` says, if those are fewer.
    Whenever an operation overwrites one of its tiles, the new contents go to the next slot: the
    first ones to slot 0, the next to slot 1, and after the last slot to slot 0 again. Every
    operation that reads them, or adds to them, finds them there. Everything else stays as it is.
    """
    module = parsed(text)
    for buffer in buffers(module):
        many, turn = min(most, fitting(buffer)), -1
        resized(buffer, many)
        for op in steps(module):
            for number, value in enumerate(op.operands):
                old = value.owner
                if isinstance(old, SlotOp) and old.buffer is buffer.result:
                    turn += overwritten(op) is value
                    new = SlotOp(buffer.result, [turn % many], old.tile)
                    body(module).insert_op_before(new, op)
                    op.operands[number] = new.result
    return finished(module)


@exercise("u11.hazard", unit=11, points=3, kind="inverse")
def hazard() -> str:
    """A program that `careless` breaks.

    returns  the text of a module for the teaching chip, with one function without loops

    The program is valid and reads nothing from the chip that was not written there before. After
    `careless`, its operations are still valid, but an array in DRAM ends up with different
    contents than without it. At most 12 operations move or compute something.
    """
    x, t = "memref<4x4xi8, #npu.space<dram>>", "memref<4x4xi8, #npu.space<acts>>"
    slots = "memref<2x4x4xi8, #npu.space<acts>>"
    return f"""
    module attributes {{npu.chip = {{preset = "teaching"}}}} {{
      func.func @f(%x: {x}, %y: {x}, %z: {x}) {{
        %b = npu.buffer : {slots}
        %0 = npu.slot %b[0] [4, 4] : {slots} to {t}
        %1 = npu.slot %b[1] [4, 4] : {slots} to {t}
        npu.dma_load %x[0, 0] [4, 4] to %0 : {x} to {t}
        npu.dma_store %0 to %y[0, 0] [4, 4] : {t} to {x}
        npu.dma_load %y[0, 0] [4, 4] to %1 : {x} to {t}
        npu.dma_store %1 to %z[0, 0] [4, 4] : {t} to {x}
        func.return
      }}
    }}
    """


@exercise("u11.says", unit=11, points=2, kind="explain")
def says() -> Rubric:
    """A colleague wants to write `turns` for the chip's instructions, because every compiler for
    this chip ends there and one pass would then serve all of them. What does your pass read off the
    types and operations of the dialect that theirs would first have to find out? Which decision
    should be made only in the instructions, and why? Why does no verifier find what `careless` does
    to your program in `hazard`? Write three to five sentences.
    """
    return Rubric(
        criteria="0.5 points: a buffer and its slots are values with a type: which memory, how "
        "many slots, which shape; all uses of a tile are listed, and the operations say what "
        "they overwrite. Instructions name a memory, addresses and lengths, so a pass can compute "
        "what overlaps, but has to find out which bytes belong to one buffer, which instructions "
        "use the same contents, and where there is free room. "
        "0.5 points: a decision that belongs to the instructions, with a reason: addresses, tokens "
        "between engines, splitting a deep product into passes, encoding. They depend on sizes of "
        "memories and queues, follow from everything above, and would only hide it. "
        "0.5 points: a verifier sees one program, and both are valid: no single operation, and no "
        "type, is wrong after the pass. "
        "0.5 points: the fault is that the second program means something other than the first: a "
        "read-after-write dependence through an array in DRAM is gone. Finding it takes both "
        "programs: run them and compare the arrays, or compare the dependences. (Looking for races "
        "in the second does not help: tokens follow the order that the pass has made.)",
        samples=(
            Sample(2, "In the dialect a tile belongs to a buffer, the type says in which memory it "
                   "is and how many slots there are, and a value lists its uses, so I only have to "
                   "count. In the instructions there are addresses: the pass must find out which "
                   "of them mean the same tile, what belongs to one buffer, and what memory is "
                   "free. The tokens should be set only in the instructions, because they follow "
                   "from the addresses and from which engine runs what. A verifier sees one "
                   "program, and the moved one is a perfectly valid program; it only computes "
                   "something else, because a load went before the store of the array that it "
                   "reads, and that shows only beside the first one."),
            Sample(1, "The dialect has types with memory spaces and slots, and instructions have "
                   "only numbers. Addresses should come late. The verifier does not find it "
                   "because the types still fit."),
            Sample(0, "The instructions are too many for a pass. The verifier should be made "
                   "stricter."),
        ),
    )  # fmt: skip


@exercise("u11.vmax", unit=11, points=2, kind="implement", further=True)
def vmax(src: int, acts: int, m: int, n: int, rows: int) -> str:
    """The instruction for an `npu.max`, as a line of assembly.

    src, acts  where x and out begin, in bytes of `acts`
    m, n       x is a matrix of m rows and n columns of int8, without gaps
    rows       how many rows of x make one row of `out`; m is a multiple of it
    returns    "vmax src=.. acts=.. h=.. w=.. bytes=.. step=.. line=.. kh=.. kw=.. kline=.."

    The instruction sees an image of `bytes` channels. The result has h × w pixels, without gaps;
    each is the maximum, channel by channel, of a window of kh × kw pixels. The window of pixel
    (y, x) begins at src + y · line + x · step. Inside it, the next row is `kline` bytes further,
    and the next pixel of a row is `bytes` further. Neither kh nor kw may be above 15.
    """
    return (
        f"vmax src={src} acts={acts} h={m // rows} w=1 bytes={n} step={n} line={rows * n} "
        f"kh={rows} kw=1 kline={n}"
    )
