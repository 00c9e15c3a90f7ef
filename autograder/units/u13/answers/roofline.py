"""Why a layer stays away from its roofline: the exercise that is answered in words.

Next room: autograder/units/u13/checks/__init__.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u13.limits", unit=13, points=2, kind="explain")
def limits() -> Rubric:
    """In the table above, `depthwise` takes more than twice its roofline and `expand` 1.4 times, in
    the best tiles that our search finds. For each of the two, say which engine limits it, and
    derive that engine's busy clocks from the shape of the layer. Then say what would have to change
    in the machine (a number of `Chip`, another unit, another wire), and why another tile would not
    help. Write four to six sentences.
    """
    return Rubric(
        criteria="1 point for `depthwise`: the array is busy, 9 pixels of the window x 5 blocks of "
        "32 channels x 3,136 pixels = 141,120 clocks, because the weights stand on a diagonal and "
        "32 of 1,024 cells do useful work; every tile sends the same pixels through. A remedy is a "
        "unit that gives each column operands of its own, such as a vector unit, or wiring that "
        "sums several pixels of the window of one channel in a column. 1 point for `expand`: the "
        "store engine is busy, act takes 5 blocks x 3,136 rows = 15,680 clocks and st 3,136 x 144 "
        "bytes / 16 = 28,224, one after the other, while the roofline counts the port alone; every "
        "tile has the same results. A remedy is an engine of its own for act (with two slots for "
        "results), more sums per clock in act, or a wider port. Half of each point is for the "
        "engine and its clocks, half for a remedy that fits.",
        samples=(
            Sample(2, "In `depthwise`, the array is busy for 141,120 of 142,914 clocks: for each "
                   "of 5 blocks of 32 channels, 3,136 pixels stream through once for each of the 9 "
                   "pixels of the window. Only the diagonal holds weights, so 1 cell in 32 is of "
                   "use, and another tile sends the same pixels through. A vector unit with one "
                   "multiplier per channel and pixel of the window would do it faster. In "
                   "`expand`, store is the bottleneck: 5 * 3,136 clocks of act and 3,136 * 144 / "
                   "16 of st make 43,904, and the two never overlap. With act on an engine of its "
                   "own, the port alone would be the limit, which is what the roofline says; tiles "
                   "change neither the number of sums nor of bytes."),
            Sample(1, "The depthwise layer uses only the diagonal of the array, so 32 of 1,024 "
                   "cells work and the array takes 9 * 5 * 3,136 clocks whatever the tile is. It "
                   "needs a unit that computes channels side by side, without sums across rows. "
                   "`expand` is limited by memory, so the port should be wider."),
            Sample(0, "Both layers have few channels, so the tiles are too small for double "
                   "buffering. With larger SRAMs, larger tiles would fit and the loads would be "
                   "hidden."),
        ),
    )  # fmt: skip
