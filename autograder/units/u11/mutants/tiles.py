"""Answers about a product in tiles. Next room: turns.py."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from autograder.check.framework import alternative, equivalent, mutant

if TYPE_CHECKING or find_spec("xdsl"):
    from xdsl.builder import Builder
    from xdsl.pattern_rewriter import RewritePattern
    from xdsl.rewriter import InsertPoint, Rewriter

    from course_lib.mlir.npu.dialect import MatmulOp, ProductOp
    from course_lib.mlir.npu.machine import chip_of, memory
    from course_lib.mlir.npu.rules import shape
    from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp
    from lessons.u11.dialect import (
        finished,
        parsed,
        rewritten,
        steps,
    )

# ── tiles ──


def _places(m, n, rows, cols):
    return [(i, j) for i in range(0, m, rows) for j in range(0, n, cols)]


def _tile(text, rows, places=_places, cut=lambda m, n, rows, cols, i, j: (min(rows, m - i),
          min(cols, n - j)), height=min, overwrite=True, width=lambda op: chip_of(op).cols,
          shared=True):  # fmt: skip
    """The exercise with some part of it exchanged."""

    class Tile(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if not isinstance(op, ProductOp):
                return
            (m, k), (_, n), cols = shape(op.x), shape(op.w), width(op)
            most, made = height(rows, m), []

            def room():
                whole = chip_of(op).cols
                found = [
                    BufferOp(memory(size, space))
                    for size, space in (
                        ((1, most, k), "acts"),
                        ((1, k, whole), "weights"),
                        ((1, most, whole), "accs"),
                    )
                ]
                made.extend(found)
                return found  # fmt: skip

            three = room()
            for i, j in places(m, n, rows, cols):
                h, w = cut(m, n, rows, cols, i, j)
                xs, ws, ys = three if shared else room()
                a, b = SlotOp(xs.result, [0], [h, k]), SlotOp(ws.result, [0], [k, w])
                c = SlotOp(ys.result, [0], [h, w])
                made.extend([
                    a, b, c, DmaLoadOp(op.x, a.result, [i, 0], [h, k]),
                    DmaLoadOp(op.w, b.result, [0, j], [k, w]),
                    MatmulOp(a.result, b.result, c.result, "os", overwrite),
                    DmaStoreOp(op.y, c.result, [i, j], [h, w]),
                ])  # fmt: skip
            rewriter.replace(op, made, [])

    return rewritten(text, Tile())


@mutant("u11.tiled")
def the_last_tiles_are_forgotten(text, rows):
    return _tile(text, rows, lambda m, n, r, c: [(i, j) for i in range(0, m - m % r, r)
                                                 for j in range(0, n - n % c, c)])  # fmt: skip


@mutant("u11.tiled")
def the_last_tiles_overlap(text, rows):
    """They begin earlier, so that all are of one size."""

    def places(m, n, r, c):
        return [(min(i, max(0, m - r)), min(j, max(0, n - c))) for i, j in _places(m, n, r, c)]

    return _tile(text, rows, places)


@mutant("u11.tiled")
def columns_outside(text, rows):
    return _tile(text, rows, lambda m, n, r, c: sorted(_places(m, n, r, c), key=lambda p: p[::-1]))


@mutant("u11.tiled")
def adds_to_what_is_there(text, rows):
    return _tile(text, rows, overwrite=False)


@mutant("u11.tiled")
def a_buffer_of_rows_that_do_not_exist(text, rows):
    return _tile(text, rows, height=lambda rows, m: rows)


@mutant("u11.tiled")
def always_four_columns(text, rows):
    return _tile(text, rows, width=lambda op: 4)


@mutant("u11.tiled")
def as_many_columns_as_rows(text, rows):
    return _tile(text, rows, width=lambda op: min(rows, chip_of(op).cols))


@mutant("u11.tiled")
def tiles_of_equal_height(text, rows):
    """10 rows as 5 and 5, not as 8 and 2."""

    def even(m, r):
        many = -(-m // r)
        return -(-m // many)

    return _tile(text, rows, lambda m, n, r, c: _places(m, n, even(m, r), c),
                 lambda m, n, r, c, i, j: (min(even(m, r), m - i), min(c, n - j)))  # fmt: skip


@mutant("u11.tiled")
def new_buffers_for_every_tile(text, rows):
    return _tile(text, rows, shared=False)


@mutant("u11.tiled")
def whole_products_only(text, rows):
    return _tile(text, rows, lambda m, n, r, c: [(0, 0)])


@mutant("u11.tiled")
def weights_stay(text, rows):
    """The other dataflow computes the same, in other clocks."""
    return _tile(text, rows).replace('dataflow = "os"', 'dataflow = "ws"')


@mutant("u11.tiled")
def no_dataflow_is_named(text, rows):
    return _tile(text, rows).replace('dataflow = "os", ', "")


@mutant("u11.tiled")
def leaves_the_product_alone(text, rows):
    return text


@alternative("u11.tiled")
def from_above(text, rows):
    """The list of places first, and the sizes from their ends."""

    def cut(m, n, r, c, i, j):
        return min(i + r, m) - i, min(j + c, n) - j

    return _tile(text, rows, cut=cut)


@alternative("u11.tiled")
def with_a_builder(text, rows):
    module = parsed(text)
    for op in steps(module):
        builder = Builder(InsertPoint.before(op))
        (m, k), (_, n), cols = shape(op.x), shape(op.w), chip_of(op).cols
        h, first = min(m, rows), []
        for sizes, space in ((h, k), "acts"), ((k, cols), "weights"), ((h, cols), "accs"):
            first.append(builder.insert(BufferOp(memory((1, *sizes), space))).result)
        for i, j in _places(m, n, rows, cols):
            a, b = min(rows, m - i), min(cols, n - j)
            x, w, y = (
                builder.insert(SlotOp(one, [0], size)).result
                for one, size in zip(first, ((a, k), (k, b), (a, b)), strict=True)
            )
            builder.insert(DmaLoadOp(op.w, w, [0, j], [k, b]))
            builder.insert(DmaLoadOp(op.x, x, [i, 0], [a, k]))
            builder.insert(MatmulOp(x, w, y, "os", True))
            builder.insert(DmaStoreOp(op.y, y, [i, j], [a, b]))
        Rewriter.erase_op(op)
    return finished(module)  # fmt: skip


@alternative("u11.tiled")
def one_tile_after_another(text, rows):
    """One loop over numbers of tiles, and operations that are inserted, w first."""

    class Tile(RewritePattern):
        def match_and_rewrite(self, op, rewriter):
            if not isinstance(op, ProductOp):
                return
            m, n = shape(op.y)
            k, cols = shape(op.w)[0], chip_of(op).cols
            spaces = {"acts": (min(rows, m), k), "weights": (k, cols), "accs": (min(rows, m), cols)}
            room = {name: BufferOp(memory((1, *size), name)) for name, size in spaces.items()}
            rewriter.insert_op(list(room.values()), InsertPoint.before(op))
            for tile in range(-(-m // rows) * -(-n // cols)):
                i, j = (part * size for part, size in zip(
                    divmod(tile, -(-n // cols)), (rows, cols), strict=True))  # fmt: skip
                h, w = min(rows, m - i), min(cols, n - j)
                views = [
                    SlotOp(buffer.result, [0], size)
                    for buffer, size in zip(room.values(), ((h, k), (k, w), (h, w)), strict=True)
                ]
                a, b, c = (view.result for view in views)
                work = [
                    DmaLoadOp(op.w, b, [0, j], [k, w]),
                    DmaLoadOp(op.x, a, [i, 0], [h, k]),
                    MatmulOp(a, b, c, "os", overwrite=True),
                    DmaStoreOp(op.y, c, [i, j], [h, w]),
                ]
                rewriter.insert_op([*views, *work], InsertPoint.before(op))
            rewriter.erase_op(op)

    return rewritten(text, Tile())


equivalent("u11.tiled", "[xs, ws, ys]", "[ys, ws, xs]", because="buffers may come in any order")
equivalent("u11.tiled", "*(x, w, y)", "*(y, w, x)", because="slots may come in any order")
