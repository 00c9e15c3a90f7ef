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


def _rows(text: str) -> list[tuple[int, int, int, bool, int, int]]:
    """Of each layer m, k, n and whether the drain counts; clocks with weights that stay, with sums
    that stay."""
    rows = [row.split() for row in text.replace(";", "\n").strip().splitlines()]
    return [(int(m), int(k), int(n), drain == "drain", int(ws), int(os))
            for m, k, n, drain, ws, os in rows]  # fmt: skip


LONG = _rows("""
49 745 524 beside 58800 34095;  49 527 516 drain 41783 25644;  64 630 361 beside 38470 22196
20 536 636 drain 39120 23720;  64 397 890 beside 58126 31982;  49 541 863 drain 66176 40719
49 698 614 beside 63380 37535;  49 709 819 drain 86023 49387;  49 525 530 beside 41832 24865
20 732 508 drain 42312 25491;  49 451 455 beside 32631 19729
""")
SHORT = _rows("""
100 21 803 beside 9078 10895;  128 48 1153 drain 18072 24671;  100 62 1226 beside 16896 22431
100 61 1300 drain 17764 27633;  100 32 1035 beside 12008 15552;  100 60 1229 drain 16847 25956
128 60 1374 beside 21176 25089;  128 36 718 drain 11380 14152;  128 28 1008 beside 14072 15510
""")
# many pixels
MANY = _rows("""
400 70 82 beside 6748 6473;  400 148 238 drain 25556 30882;  784 33 137 beside 12775 12461
""")
SHADOW = _rows("""
128 1146 538 beside 90737 168392;  128 876 430 drain 56750 78411;  49 1137 763 beside 96592 115293
49 869 489 drain 31891 38103;  128 689 641 beside 69010 95543
""")


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
