"""The playground in a notebook: a program, and the passes as they are plugged in at this moment.

    playground("swish")                    # a program of `programs.py`
    playground(my_graph, [fold, my_pass])  # a graph of yours, and passes of yours

Every state is computed now, by the functions that are plugged in; the picture then stands alone and
needs no kernel. It is an `iframe` whose page is part of the output, as high as what it shows. Where
JavaScript may not run, a table of counts stands in it; where a notebook is not trusted, JupyterLab
leaves the frame out, and the counts stand below it as text. Next room: `course_lib/__main__.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.arguments import takes
from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.svg import escape, tag
from course_lib.exercises import plugs_now
from course_lib.ir.graph.graph import Graph
from course_lib.passes.infra.contract import pass_name
from course_lib.passes.infra.manager import Pass
from course_lib.playground.page import document, shown
from course_lib.playground.programs import FIVE, PROGRAMS, Program

MOST_NODES, MOST_PASSES = 40, 5  # beyond, a reader waits for minutes


@takes
def playground(program: Graph | str, passes: Sequence[Pass] | None = None) -> Picture:
    """The passes on, off and in any order on a small program, with all that becomes of it.

    program  a graph of at most 40 nodes, or the name of one of `PROGRAMS`
    passes   at most five; None: fold, simplify, cse, dce and fuse, with your answers plugged in

    A pass that fails is shown with the words of its error. ValueError if the program is not known
    or too large, or if there are too many passes.
    """
    if isinstance(program, str):
        if program not in PROGRAMS:
            raise ValueError(f"no program {program!r}; there are {', '.join(PROGRAMS)}")
        chosen = PROGRAMS[program]
    else:
        chosen = Program(program, "")
    passes = FIVE if passes is None else list(passes)
    if len(chosen.graph.nodes) > MOST_NODES:
        raise ValueError(f"a playground shows graphs of at most {MOST_NODES} nodes, this one has "
                         f"{len(chosen.graph.nodes)}")  # fmt: skip
    if not 1 <= len(passes) <= MOST_PASSES:
        raise ValueError(f"a playground takes 1 to {MOST_PASSES} passes, got {len(passes)}")
    title = f"Playground: {chosen.graph.name}"
    data = {**shown({chosen.graph.name: chosen}, passes), "yours": _yours(passes)}
    frame = tag("iframe", "", title=title, srcdoc=document(data, title), loading="lazy",
                style="width:100%;height:62rem;border:0")  # fmt: skip
    text = _as_text(title, data)
    words = tag("details", tag("summary", "as text"), tag("pre", escape(text)))
    return Picture(title, fragment(frame, words), text)


def _yours(passes: Sequence[Pass]) -> list[int]:
    """Positions of those that run a learner's code: plugged in, or no function of the library."""
    plugged = plugs_now()
    return [
        number
        for number, one in enumerate(passes)
        if f"passes.{pass_name(one)}" in plugged
        or not getattr(one, "__module__", "").startswith("course_lib.")
    ]


def _as_text(title: str, data: dict) -> str:
    """Each different graph that the orders end in: its counts, and the shortest order to it."""
    (program,) = data["programs"]
    lines = [f"{title}: {len(program['ends'])} orders end in {len(program['forms'])} graphs"]
    yours = ", ".join(data["passes"][number] for number in data["yours"])
    lines.append(f"Passes of yours: {yours}" if yours else "All passes are the library's")
    for number, form in enumerate(program["forms"]):
        order = data["orders"][program["ends"].index(number)]
        names = ", ".join(data["passes"][int(digit)] for digit in order) or "no pass"
        if "wrong" in form:
            lines.append(f"{names}: failed: {form['wrong'].splitlines()[0]}")
        else:
            lines.append(f"{names}: {form['nodes']} nodes, {form['kernels']} kernels, "
                         f"{form['bytes']:,} bytes, {form['flops']:,} FLOPs")  # fmt: skip
    return "\n".join(lines)
