"""Hidden checks of chip.dataflow: layers drawn for this run, with shadow weights or without.

Their clocks with either dataflow, in our tiles, are recorded: a test simulates some of them again.
"""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import Score, hidden
from autograder.units.u13.checks.flows import worth
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.product import matrix
from lessons.u13.flows import Flow

SEED = 131_321
# m, k, n, whether the drain counts, clocks with weights that stay, with sums that stay
LONG = [
    (49, 745, 524, False, 58_800, 34_095),
    (49, 527, 516, True, 41_783, 25_644),
    (64, 630, 361, False, 38_470, 22_196),
    (20, 536, 636, True, 39_120, 23_720),
    (64, 397, 890, False, 58_126, 31_982),
    (49, 541, 863, True, 66_176, 40_719),
    (49, 698, 614, False, 63_380, 37_535),
    (49, 709, 819, True, 86_023, 49_387),
    (49, 525, 530, False, 41_832, 24_865),
    (20, 732, 508, True, 42_312, 25_491),
    (49, 451, 455, False, 32_631, 19_729),
]
SHORT = [
    (100, 21, 803, False, 9_078, 10_895),
    (128, 48, 1153, True, 18_072, 24_671),
    (100, 62, 1226, False, 16_896, 22_431),
    (100, 61, 1300, True, 17_764, 27_633),
    (100, 32, 1035, False, 12_008, 15_552),
    (100, 60, 1229, True, 16_847, 25_956),
    (128, 60, 1374, False, 21_176, 25_089),
    (128, 36, 718, True, 11_380, 14_152),
    (128, 28, 1008, False, 14_072, 15_510),
]
MANY = [  # pixels
    (400, 70, 82, False, 6_748, 6_473),
    (400, 148, 238, True, 25_556, 30_882),
    (784, 33, 137, False, 12_775, 12_461),
]
SHADOW = [
    (128, 1146, 538, False, 90_737, 168_392),
    (128, 876, 430, True, 56_750, 78_411),
    (49, 1137, 763, False, 96_592, 115_293),
    (49, 869, 489, True, 31_891, 38_103),
    (128, 689, 641, False, 69_010, 95_543),
]


def flow_of(row: tuple[int, int, int, bool, int, int], shadow: bool) -> Flow:
    m, k, n, drain, ws, os = row
    chip = replace(PRESETS["scalesim"], shadow=shadow, drain=drain)
    return Flow(f"[{m}, {k}] x [{k}, {n}]", matrix(m, k, n), chip, ws, os)


@hidden("chip.dataflow", seed=SEED)
def other_layers(choose_dataflow, rng):
    """Products that were drawn for this run, with and without shadow weights."""
    flows = [
        flow_of(rows[number], rows is SHADOW)
        for rows, many in ((LONG, 5), (SHORT, 4), (MANY, 1), (SHADOW, 2))
        for number in rng.permutation(len(rows))[:many]
    ]
    got, fraction = worth(flows, choose_dataflow)
    return Score(fraction, f"fewest / yours: {got:.3f} over {len(flows)} other layers")
