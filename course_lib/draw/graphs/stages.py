"""Stages as pictures: every form that a program had on its way (`ir/stage.py`).

picture(run.stage("import"))   drawn
slider(run.stages, "mlp")      a page that walks through all of them with the arrow keys

Next room: `course_lib/compiler.py`, the front door.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.arguments import takes
from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.graphs.compare import Changes, changes
from course_lib.draw.graphs.graph import graph as draw_graph
from course_lib.draw.graphs.lines import changed_lines
from course_lib.ir.graph.graph import Graph
from course_lib.ir.stage import Stage


def picture(stage: Stage) -> Picture:
    """Graphs are drawn, the other forms are shown as text."""
    if isinstance(stage.form, Graph):
        return draw_graph(stage.form, title=stage.name)
    return listing(stage.name, stage.text)


@takes
def slider(stages: Sequence[Stage], title: str, longest: int = 400) -> Picture:
    """All stages in one picture; of a graph, the nodes that its pass removed and added are marked.

    longest   lines of a stage that are shown; the rest is only counted
    """
    states: list[tuple[str, str | Picture]] = []
    for before, stage in zip([None, *stages], stages, strict=False):
        if isinstance(stage.form, Graph):
            old = before.form if before and before.part == stage.part else None
            old = old if isinstance(old, Graph) else stage.form  # the first of a part
            changed = changes(old, stage.form)
            marked = changed_lines(old, stage.form, stage.name, longest, changed)
            states.append((f"{stage.name} {_counts(changed)}".strip(), marked))
        else:
            states.append((stage.name, listing(stage.what, _first_lines(stage.text, longest))))
    return stepper(states, f"{title}: from the model to machine code")


def _counts(changed: Changes) -> str:
    """How many nodes went and came, and how many kernels were formed: `−12 +3`."""
    gone, new, formed = len(changed.gone), len(changed.new), len(changed.formed)
    counts = [f"−{gone}"] * bool(gone) + [f"+{new}"] * bool(new)
    counts += [f"{formed} group{'' if formed == 1 else 's'}"] * bool(formed)
    return " ".join(counts)


def _first_lines(text: str, longest: int) -> str:
    lines = text.splitlines()
    more = len(lines) - longest
    return "\n".join([*lines[:longest], f"... and {more:,} more lines"] if more > 0 else lines)
