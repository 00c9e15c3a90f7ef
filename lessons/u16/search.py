"""A search of MetaSchedule for the loops of one product: it draws schedules, and times each.

    search_table()      as written, the best of some trials, and of a long search, in microseconds

It is recorded: before its first trial, TVM reads the intrinsics of every target that it knows, half
a minute long. Next room: `wild.py`.
"""

from __future__ import annotations

import json

from course_lib import peers
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.recorded import recorded

SHOWN = (2, 8, 64)
LONG = recorded(peers.__file__, "tvm_log.txt")  # 128 trials for all kernels of the block


def search_table() -> Picture:
    """What trials find."""
    kept = recorded(__file__, "search.txt")
    plain, *trials = kept.data("microseconds")
    rows: list[list[str | int]] = [["as it is written", plain]]
    rows += [[f"the best of the first {count}", min(trials[:count])] for count in SHOWN]
    rows += [[f"the worst of {len(trials)}", max(trials)],
             ["with two additions, in a search of 128 trials for the block", _long()]]  # fmt: skip
    return table(rows, ["[128, 256] x [256, 256]", "µs"], f"{kept.words}; the long one {LONG.date}",
                 exact=["µs"])  # fmt: skip


def _long() -> int:
    """Microseconds of the block's product of these sizes, with bias and sum, as the log has it."""
    shapes = [[1, 128, 256], [256, 256], [256], [1, 128, 256], [1, 128, 256]]
    records = [json.loads(line)[1] for line in LONG["records"].splitlines()]
    (found,) = [one[1] for one in records if [operand[2] for operand in one[3]] == shapes]
    return round(1e6 * min(found))
