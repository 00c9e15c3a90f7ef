"""Wrong and right tiles: what somebody believes about room, and about what is fast."""

from __future__ import annotations

import heapq
import random

from autograder.check.framework import alternative, equivalent, in_the_library, mutant
from course_lib.accelerator.compile.estimate import bound, estimate
from course_lib.accelerator.compile.search import clocks
from course_lib.accelerator.compile.tiles import Tile, fits, footprint, parts, smallest

OTHERS = "other tiles are proposed, or in another order; the best of them is legal and fast"
GOOD = "the few tiles that the estimate likes best earn all points, whichever of them is taken"
for old, new in (
    ("flow, wide = ", "flow, wide = "),
    ("for (h, w), channels, blocks, outer in ", "for (h, w)"),
    ("height, width = product.out", "product.size"),
    ("if width <= chip.accs", "if width"),
    ("if width <= chip.accs", "for h in "),
    ("for h in parts(", "for h in "),
    ("yield (h, width)", "yield (width, h)"),
    ("if height == 1 or width > chip.rows", "if "),
    ("if height == 1 or width > chip.rows", "for w in "),
    ("if w >= min(chip.rows, 16)", "if w "),
    ("if w >= min(chip.rows, 16)", "if not w "),
    ("if outer == PIXELS_FIRST and", "if not ("),
    ("if w >= min(chip.rows, 16)", "yield (1, w)"),
    ("yield (1, w)", "yield (2, w)"),
    ("for w in parts(", "for w in "),
    ("steps = [", "steps = "),
    ("return [product.channels, *", "return ["),
):
    equivalent("chip.tile", old, new, because=OTHERS)
for old, new in (
    ("least = EQUAL", "least = "),
    ("length = ", "length = "),
    ("return (max(least", "return ("),
    ("near = (", "near = "),
    ("return next(near", "return "),
):
    equivalent("chip.tile", old, new, because=GOOD)
TWICE = "the same program is proposed again, in the other order"
equivalent("chip.tile", "continue", "pass", because=TWICE)
equivalent("chip.tile", "if outer == PIXELS_FIRST", "if outer", because=OTHERS)
equivalent("chip.tile", "if outer == PIXELS_FIRST", "pass", because=TWICE)
WITH_ONE = "tiles with one slot are proposed, too, and lose"
equivalent("chip.tile", "break", "pass", because=WITH_ONE)
equivalent("chip.tile", "break", "continue", because=WITH_ONE)
WITHOUT = "where two slots do not fit, the smallest tile is left; the six layers have room"
equivalent("chip.tile", "for one in (tile, replace(", "for one in ", because=WITHOUT)
WHOLE = "a depthwise layer's channels are not cut: its tiles are the same"
equivalent("chip.tile", "if product.depthwise", "pass", because=WHOLE)
SMALLEST = "a depthwise layer gets its smallest tile; none of the six layers is one"
equivalent("chip.tile", "return [product.channels]", "return []", because=SMALLEST)
equivalent("chip.tile", "return [product.channels]", "return [product.", because=WHOLE)
equivalent("chip.tile", "return [product.channels]", "pass", because=WHOLE)


def _legal(product, chip, *, double=True, outer=("weights", "pixels"), widths=True):
    """Many legal tiles."""
    height, width = product.out
    areas = [(h, width) for h in parts(height, height)]
    areas += [(1, w) for w in parts(width, width)] if widths else []
    depths = {product.channels, *(min(chip.rows * f, product.channels) for f in (1, 2, 3, 4, 8))}
    wide = -(-product.outputs // chip.cols)
    for h, w in areas:
        for depth in sorted(depths):
            for blocks in parts(wide, wide):
                for order in outer:
                    tile = Tile(h, w, depth, blocks, order, double=double)
                    if fits(product, tile, chip):
                        yield tile


@mutant("chip.tile")
def the_smallest_is_safe(product, chip):
    return smallest(product, chip)


@mutant("chip.tile")
def as_many_pixels_as_fit(product, chip):
    found = [t for t in _legal(product, chip) if t.blocks == 1 and t.outer == "weights"]
    return max(found, key=lambda t: (t.h * t.w, t.channels), default=smallest(product, chip))


@mutant("chip.tile")
def the_fullest_memory(product, chip):
    def taken(tile):
        room = footprint(product, tile, chip)
        return room.patch * room.patches + room.weights * room.weight_slots

    return max(_legal(product, chip), key=taken, default=smallest(product, chip))


@mutant("chip.tile")
def one_slot_leaves_room_for_larger_tiles(product, chip):
    found = list(_legal(product, chip, double=False))
    return min(found, key=lambda t: estimate(product, t, chip), default=smallest(product, chip))


@mutant("chip.tile")
def all_channels_at_once(product, chip):
    found = [t for t in _legal(product, chip) if t.channels == product.channels]
    return max(found, key=lambda t: t.h * t.w, default=smallest(product, chip))


@mutant("chip.tile")
def counts_bytes_and_no_banks(product, chip):
    for h in range(product.out[0], 0, -1):
        size = h * product.out[1] * min(product.channels, chip.rows)
        if 2 * size <= chip.acts and h * product.out[1] <= chip.accs:
            return Tile(h, product.out[1], min(product.channels, chip.rows))
    return smallest(product, chip)


@mutant("chip.tile")
def one_tile_for_all(product, chip):
    return Tile(1, chip.rows, chip.rows)


@mutant("chip.tile")
def whole_rows_or_nothing(product, chip):
    return min(_legal(product, chip, widths=False), key=lambda t: estimate(product, t, chip))


@mutant("chip.tile")
def two_slots_or_nothing(product, chip):
    return min(_legal(product, chip), key=lambda t: estimate(product, t, chip))


@mutant("chip.tile")
def never_more_pixels_than_rows(product, chip):
    found = [t for t in _legal(product, chip) if t.h * t.w <= chip.rows]
    return min(found, key=lambda t: estimate(product, t, chip), default=smallest(product, chip))


@mutant("chip.tile")
def the_slowest_by_mistake(product, chip):
    found = list(_legal(product, chip))
    return max(found, key=lambda t: estimate(product, t, chip), default=smallest(product, chip))


@mutant("chip.tile")
def in_words(product, chip):
    return str(smallest(product, chip))


@alternative("chip.tile")
def pixels_first_then_the_rest(product, chip):
    """Two tiles are timed for each of the three areas that promise most."""
    areas = {}
    for tile in sorted(_legal(product, chip), key=lambda t: estimate(product, t, chip)):
        areas.setdefault((tile.h, tile.w), []).append(tile)
    few = [tile for group in list(areas.values())[:3] for tile in group[:2]]
    return min(few, key=lambda t: clocks(product, t, chip), default=smallest(product, chip))


@alternative("chip.tile")
def the_best_of_four_guesses(product, chip):
    found = sorted(_legal(product, chip), key=lambda t: estimate(product, t, chip))[:4]
    found = found or [smallest(product, chip)]
    return min(found, key=lambda t: clocks(product, t, chip))


@alternative("chip.tile")
def drawn_by_lot(product, chip):
    """Every other tile at random; the five that promise most are timed."""
    rng = random.Random(13)
    found = [t for t in _legal(product, chip) if rng.random() < 0.5] or [smallest(product, chip)]
    few = heapq.nsmallest(5, found, key=lambda t: estimate(product, t, chip))
    best = few[0]
    for tile in few:
        if clocks(product, tile, chip) < clocks(product, best, chip):
            best = tile
        if clocks(product, best, chip) < 1.05 * bound(product, chip):
            break
    return best


in_the_library("chip.tile", "course_lib.accelerator.compile.tiles.smallest",
               because="the stand-in: every legal tile earns a quarter of the points")  # fmt: skip
