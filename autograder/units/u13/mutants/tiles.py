"""Wrong and right tiles: misunderstandings about room, and about what is fast."""

from __future__ import annotations

import heapq
import random

from autograder.check.framework import alternative, equivalent, in_the_library, mutants
from course_lib.accelerator.compile.estimate import bound, estimate
from course_lib.accelerator.compile.search import choose_tile, clocks
from course_lib.accelerator.compile.tiles import Tile, fits, footprint, parts, smallest

_WIDE, _LINES = "if width <= chip.accs", "if height == 1 or width > chip.rows"
_ENOUGH, _ORDER, _ALL = "if w >= min(", "if outer == PIXELS_FIRST", "return [product.channels]"
for _because, *_changes in [
    ("other tiles are proposed, or in another order; the best of them is legal and fast",
     "flow, wide = ", "flow, wide = ", "height, width = product.out", "product.size",
     "for (h, w), channels, blocks, outer in ", "for (h, w)", _WIDE, "for h in ",
     "for h in parts(", "for h in ", "yield (h, width)", "yield (width, h)", _LINES, "if ",
     _LINES, "for w in ", _ENOUGH, "if w ", _ENOUGH, "yield (1, w)", "yield (1, w)",
     "yield (2, w)", _WIDE, "if width", "for w in parts(", "for w in ", _ORDER, "if outer",
     "steps = [", "steps = ", "return [product.channels, *", "return ["),
    ("the few tiles that the estimate likes best earn all points, whichever of them is taken",
     "least = EQUAL", "least = ", "length = ", "length = ", "near = (", "near = ",
     "return (max(least", "return (", "return next(near", "return "),
    ("the same program is proposed again, in the other order", "continue", "pass", _ORDER, "pass"),
    ("tiles with one slot are proposed, too, and lose", "break", "pass", "break", "continue"),
    ("where two slots do not fit, the smallest tile is left; the six layers have room",
     "for one in (tile, replace(", "for one in "),
    ("a depthwise layer's channels are not cut: its tiles are the same", "if product.depthwise",
     "pass", _ALL, "return [product.", _ALL, "pass"),
    ("a depthwise layer gets its smallest tile; none of the six layers is one", _ALL, "return []"),
]:  # fmt: skip
    equivalent("chip.tile", *_changes, because=_because)


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


def _pick(merit, keep=lambda tile, product, chip: True, choose=min, **kinds):
    """The answer that takes, of these legal tiles, the one with the least merit, or the most."""

    def answer(product, chip):
        tiles = [t for t in _legal(product, chip, **kinds) if keep(t, product, chip)]
        return choose(tiles, key=lambda t: merit(product, t, chip), default=smallest(product, chip))

    return answer


def _taken(product, tile, chip):
    room = footprint(product, tile, chip)
    return room.patch * room.patches + room.weights * room.weight_slots


_known = {}

mutants(
    "chip.tile",
    the_smallest_is_safe=lambda product, chip: smallest(product, chip),
    in_words=lambda product, chip: str(smallest(product, chip)),
    one_tile_for_all=lambda product, chip: Tile(1, chip.rows, chip.rows),
    as_many_pixels_as_fit=_pick(
        lambda product, t, chip: (t.h * t.w, t.channels),
        lambda t, product, chip: t.blocks == 1 and t.outer == "weights", max),
    the_fullest_memory=_pick(_taken, choose=max),
    one_slot_leaves_room_for_larger_tiles=_pick(estimate, double=False),
    all_channels_at_once=_pick(
        lambda product, t, chip: t.h * t.w,
        lambda t, product, chip: t.channels == product.channels, max),
    counts_bytes_and_no_banks=lambda product, chip: next(
        (Tile(h, product.out[1], channels) for channels in [min(product.channels, chip.rows)]
         for h in range(product.out[0], 0, -1)
         if 2 * h * product.out[1] * channels <= chip.acts and h * product.out[1] <= chip.accs),
        None) or smallest(product, chip),
    whole_rows_or_nothing=lambda product, chip: min(
        _legal(product, chip, widths=False), key=lambda t: estimate(product, t, chip)),
    two_slots_or_nothing=lambda product, chip: min(
        _legal(product, chip), key=lambda t: estimate(product, t, chip)),
    never_more_pixels_than_rows=_pick(
        estimate, lambda t, product, chip: t.h * t.w <= chip.rows),
    # Remembers a layer's tile, and not for which chip it was found.
    the_same_on_every_chip=lambda product, chip: _known.setdefault(
        product, choose_tile(product, chip)),
    the_slowest_by_mistake=_pick(estimate, choose=max),
)  # fmt: skip


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
    candidates = sorted(_legal(product, chip), key=lambda t: estimate(product, t, chip))[:4]
    candidates = candidates or [smallest(product, chip)]
    return min(candidates, key=lambda t: clocks(product, t, chip))


@alternative("chip.tile")
def drawn_by_lot(product, chip):
    """Every other tile at random; the five that promise most are timed."""
    rng = random.Random(13)
    candidates = [t for t in _legal(product, chip) if rng.random() < 0.5]
    few = heapq.nsmallest(5, candidates or [smallest(product, chip)],
                          key=lambda t: estimate(product, t, chip))  # fmt: skip
    best = few[0]
    for tile in few:
        if clocks(product, tile, chip) < clocks(product, best, chip):
            best = tile
        if clocks(product, best, chip) < 1.05 * bound(product, chip):
            break
    return best


in_the_library("chip.tile", "course_lib.accelerator.compile.tiles.smallest",
               because="the stand-in: every legal tile earns a quarter of the points")  # fmt: skip
