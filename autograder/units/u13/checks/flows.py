"""Visible checks of chip.dataflow: clocks of layers whose clocks with either dataflow are known.

`named` and `worth` judge an answer, here and in the hidden checks. Next room: hidden checks of the
teachers' edition.
"""

from __future__ import annotations

from typing import Any

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.product import Product
from lessons.u13.flows import FLOWS, Chooser, Flow, share

NAME = 'What stays in the cells during a layer: "ws" for its weights, "os" for its sums'
POINTS = ("Your points depend on the clocks of a list of layers, each with a good tile for the "
          "dataflow that you return", "the fewest clocks divided by yours, on average",
          "From 0.97 on you earn all points, and each hundredth below that costs 20 %, down to "
          "nothing")  # fmt: skip
GOOD = 0.97

background("chip.dataflow", "With shadow weights, the next ... if they are long",
           because="what the choice is about")  # fmt: skip


def named(choose_dataflow: Any) -> Chooser:
    """The answer, each time looked at: Wrong unless it names a dataflow."""

    def choose(product: Product, chip: Chip) -> str:
        got = choose_dataflow(product, chip)
        if got not in ("ws", "os"):
            answer = returned(got, 100)
            raise Wrong('The answer must be "ws" or "os".', program=f"{product}\n{chip.name}",
                        got=answer, spec=NAME)  # fmt: skip
        return str(got)

    return choose


def worth(flows: list[Flow], choose_dataflow: Any) -> tuple[float, float]:
    """Fewest clocks / the answer's, and the part of the points that it earns."""
    got = share(flows, named(choose_dataflow))
    return got, min(1.0, max(0.0, 1.0 - 20 * (GOOD - got)))


@checks("chip.dataflow", spec=[NAME, *POINTS])
def few_clocks(choose_dataflow):
    """Clocks of layers with the dataflow that was chosen for each."""
    got, fraction = worth(FLOWS, choose_dataflow)
    summary = f"fewest / yours: {got:.3f} over {len(FLOWS)} layers; all points from {GOOD}"
    if fraction < 1:
        choose = named(choose_dataflow)
        worst = min(FLOWS, key=lambda f: min(f.ws, f.os) / f.clocks(choose(f.product, f.chip)))
        with_shadow = "with" if worst.chip.shadow else "without"
        summary += f". {worst.name}, {with_shadow} shadow weights, takes {worst.ws:,} clocks with "
        summary += f"weights that stay and {worst.os:,} with sums that stay"
    return Score(fraction, summary)
