"""Answers about a product in tiles. Next room: turns.py."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.exercises import slot

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.builder import Builder
    from xdsl.pattern_rewriter import RewritePattern
    from xdsl.rewriter import InsertPoint, Rewriter

    from course_lib.mlir.npu.dialect import MatmulOp, ProductOp
    from course_lib.mlir.npu.machine import chip_of, memory
    from course_lib.mlir.npu.rules import shape
    from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp
    from lessons.u11.dialect import finished, parsed, rewritten, steps

tiled = slot("u11.tiled").reference
DOWN, ACROSS = "range(0, m, most)", "range(0, n, cols)"
SIZES = "h, wide = (min(most, m - i), min(cols, n - j))"
LOOPS = "for i in range(0, m, most):\n                for j in range(0, n, cols):"
TURNED = "for j in range(0, n, cols):\n                for i in range(0, m, most):"


def _columns(width: str) -> tuple[str, ...]:
    """An edit: tiles of another width."""
    return ACROSS, f"range(0, n, {width})", "min(cols, n - j)", f"min({width}, n - j)"


EVEN = "-(-m // -(-m // most))"
ROOM = "(BufferOp(one.result.type) for one in (xs, ws, ys))"
NEW_ROOM = f"xs, ws, ys = {ROOM}", "ops += (xs, ws, ys)", SIZES
MATMUL = "MatmulOp(x.result, w.result, y.result, 'os', overwrite=True)"
ADD = MATMUL.replace("True", "False")
CLEAR = "most =", "from course_lib.mlir.npu.dialect import ClearOp\n            most ="
mutants(
    "u11.tiled",
    the_last_tiles_are_forgotten=(DOWN, "range(0, m - m % most, most)",
                                  ACROSS, "range(0, n - n % cols, cols)"),
    # They begin earlier, so that all are of one size.
    the_last_tiles_overlap=(SIZES, "i, j = (min(i, max(0, m - most)), min(j, max(0, n - cols)))\n"
                                   f"                    {SIZES}"),
    columns_outside=(LOOPS, TURNED),
    adds_to_what_is_there=("overwrite=True", "overwrite=False"),
    a_buffer_of_rows_that_do_not_exist=("min(rows, m)", "rows"),
    # Of the slots: the tiles of a narrower array leave a part of them empty.
    always_four_columns=(
        "memory((1, k, cols), 'weights')", "memory((1, k, max(4, cols)), 'weights')"),
    as_many_columns_as_rows=(
        "memory((1, k, cols), 'weights')", "memory((1, k, max(most, cols)), 'weights')"),
    # 10 rows as 5 and 5, not as 8 and 2.
    tiles_of_equal_height=(DOWN, f"range(0, m, {EVEN})",
                           "min(most, m - i)", f"min({EVEN}, m - i)"),
    new_buffers_for_every_tile=(SIZES, "\n                    ".join(NEW_ROOM)),
    whole_products_only=(DOWN, "[0]", ACROSS, "[0]"),
    # The other dataflow computes the same, in other clocks.
    weights_stay=("'os'", "'ws'"),
    no_dataflow_is_named=lambda text, rows: tiled(text, rows).replace('dataflow = "os", ', ""),
    leaves_the_product_alone=lambda text, rows: text,
    clears_behind_the_product=(*CLEAR, MATMUL, f"{ADD}, ClearOp(y.result)"),
    clears_but_a_part=(*CLEAR, MATMUL, f"ClearOp(part.result), {ADD}",
                       "(x, w, y)", "(x, w, y, part := SlotOp(ys.result, [0], [1, wide]))"),
)  # fmt: skip
alternatives(
    "u11.tiled",
    # The list of places first, and the sizes from their ends.
    from_above=(SIZES, "h, wide = (min(i + most, m) - i, min(j + cols, n) - j)"),
    clears_and_adds=(*CLEAR, MATMUL, f"ClearOp(y.result), {ADD}"),
    clears_what_it_overwrites=(*CLEAR, MATMUL, f"ClearOp(y.result), {MATMUL}"),
)  # fmt: skip


@alternative("u11.tiled")
def with_a_builder(text, rows):
    module = parsed(text)
    for op in steps(module):
        builder = Builder(InsertPoint.before(op))
        (m, k), (_, n), cols = shape(op.x), shape(op.w), chip_of(op).cols
        h = min(m, rows)
        xs, ws, ys = (
            builder.insert(BufferOp(memory((1, *sizes), space))).result
            for sizes, space in (((h, k), "acts"), ((k, cols), "weights"), ((h, cols), "accs"))
        )
        for i, j in ((i, j) for i in range(0, m, rows) for j in range(0, n, cols)):
            a, b = min(rows, m - i), min(cols, n - j)
            pairs = (xs, (a, k)), (ws, (k, b)), (ys, (a, b))
            x, w, y = (builder.insert(SlotOp(room, [0], size)).result for room, size in pairs)
            builder.insert(DmaLoadOp(op.w, w, [0, j], [k, b]))
            builder.insert(DmaLoadOp(op.x, x, [i, 0], [a, k]))
            builder.insert(MatmulOp(x, w, y, "os", True))
            builder.insert(DmaStoreOp(op.y, y, [i, j], [a, b]))
        Rewriter.erase_op(op)
    return finished(module)


@alternative("u11.tiled")
def one_tile_after_another(text, rows):
    """One loop over numbers of tiles, and operations that are inserted, w first."""

    class Tile(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if not isinstance(op, ProductOp):
                return
            (m, n), k, cols = shape(op.y), shape(op.w)[0], chip_of(op).cols
            spaces = {"acts": (min(rows, m), k), "weights": (k, cols), "accs": (min(rows, m), cols)}
            room = [BufferOp(memory((1, *size), name)) for name, size in spaces.items()]
            rewriter.insert_op(room, InsertPoint.before(op))
            for tile in range(-(-m // rows) * -(-n // cols)):
                i, j = tile // -(-n // cols) * rows, tile % -(-n // cols) * cols
                h, w = min(rows, m - i), min(cols, n - j)
                views = [
                    SlotOp(buffer.result, [0], size)
                    for buffer, size in zip(room, ((h, k), (k, w), (h, w)), strict=True)
                ]
                a, b, c = (view.result for view in views)
                work = DmaLoadOp(op.w, b, [0, j], [k, w]), DmaLoadOp(op.x, a, [i, 0], [h, k])
                multiplied = MatmulOp(a, b, c, "os", overwrite=True)
                stored = DmaStoreOp(op.y, c, [i, j], [h, w])
                rewriter.insert_op([*views, *work, multiplied, stored], InsertPoint.before(op))
            rewriter.erase_op(op)

    return rewritten(text, Tile())


equivalent("u11.tiled", "[xs, ws, ys]", "[ys, ws, xs]", because="buffers may come in any order")
equivalent("u11.tiled", "*(x, w, y)", "*(y, w, x)", because="slots may come in any order")
