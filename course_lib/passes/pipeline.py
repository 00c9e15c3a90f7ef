"""The pipeline: which passes the compiler runs, and in which order.

    run_passes(graph, DEFAULT)

`WINOGRAD` is the same with cheaper 3x3 convolutions, whose results differ in their last bits.

A fixed list with repeats. What a pass needs and wants stands above its function
(`infra/contract.py`): the manager refuses an order that cannot work, and a test holds these two
lists to what their passes want. The comments here say what an order gains.
The other answer to the question of the right order, round after round
until nothing changes, is `clean/fixpoint.py`. Next room: `lower/lower.py`, where the ops become
loops.
"""

from __future__ import annotations

from course_lib.passes.clean.bn_fold import bn_fold
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.fusion.absorb_pads import absorb_pads
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.horizontal import horizontal
from course_lib.passes.infra.manager import Pass
from course_lib.passes.layout.layout import layout
from course_lib.passes.layout.sink_relayouts import sink_relayouts
from course_lib.passes.layout.winograd import winograd
from course_lib.passes.prepare.decompose import decompose

DEFAULT: list[Pass] = [
    fold,  # constants first: the rules below look for them
    simplify,
    bn_fold,
    dce,  # weights that were folded: nobody has to rearrange them
    decompose,
    strength,
    layout,
    sink_relayouts,
    fold,  # what decompose made of weights, and the filters in their new layouts
    simplify,
    cse,
    horizontal,
    dce,
    fuse,
    absorb_pads,
    dce,  # what was padded
]

_before = DEFAULT.index(layout)
WINOGRAD: list[Pass] = [*DEFAULT[:_before], winograd, *DEFAULT[_before:]]
