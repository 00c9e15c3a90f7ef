"""The pass manager: passes in an order that can work, the graph verified after each.

    run_passes(graph, [fold, cse, dce], watch=lambda name, graph: print(name, len(graph.nodes)))
    fold 12
    cse 9
    dce 7

When a pass breaks the graph, the error names that pass and shows what it changed; when it crashes,
the error shows the line of the pass's author. It runs the passes that it is given; which ones the
compiler gives it is said in `passes/pipeline.py`. Next room: `passes/clean/fixpoint.py`.
"""

from __future__ import annotations

import difflib
import linecache
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.verify import verify
from course_lib.passes.infra.bodies import on_bodies
from course_lib.passes.infra.contract import Pass, misplaced, pass_name

LIBRARY = str(Path(__file__).resolve().parents[2])  # course_lib
SHOWN = 30  # lines of a diff


class PassError(ValueError):
    """Passes in an order that cannot work, or one that crashed or returned no well-formed graph."""

    def _render_traceback_(self) -> list[str]:
        """Notebooks show the words alone: they name the pass, and its author's line."""
        return [str(self)]


@dataclass(frozen=True)
class PassRun:
    """One pass that ran: its name, nodes before and after, and how long it took."""

    name: str
    before: int
    after: int
    seconds: float

    def __str__(self) -> str:
        change = f"{self.before:>6} -> {self.after:<6} nodes"
        return f"{self.name:<12} {change} {1e3 * self.seconds:8.1f} ms"


@takes
def run_passes(
    graph: Graph,
    passes: Iterable[Pass],
    watch: Callable[[str, Graph], object] | None = None,
    log: list[PassRun] | None = None,
) -> Graph:
    """Run the passes in order and return the last one's graph.

    `watch(name, graph)` sees the graph after each pass; `log` collects a `PassRun` for each. A
    pass that runs more than once is called fold, fold_2, fold_3.

    Raises PassError before anything runs if a pass needs what an earlier one has ended, or what
    only a later one gives (`contract.py`). Raises PassError naming the pass if it crashes, returns
    something else than a graph, changes the inputs or the types of the outputs, or returns a graph
    that `verify` refuses.
    """
    passes = list(passes)
    if (wrong := misplaced(passes)) is not None:
        raise PassError(wrong)
    times: dict[str, int] = {}
    for pass_ in passes:
        name = pass_name(pass_)
        times[name] = times.get(name, 0) + 1
        name = name if times[name] == 1 else f"{name}_{times[name]}"
        start = time.perf_counter()
        result = _everywhere(pass_, name, graph)
        seconds = time.perf_counter() - start
        if log is not None:
            log.append(PassRun(name, len(graph.nodes), len(result.nodes), seconds))
        graph = result
        if watch is not None:
            watch(name, graph)
    return graph


def _everywhere(pass_: Pass, name: str, graph: Graph) -> Graph:
    """What the pass makes of the graph, after it was given the body of each loop in it."""
    graph = on_bodies(graph, lambda body: _everywhere(pass_, name, body))
    result = _run(pass_, name, graph)
    _check(name, graph, result)
    return result


def _run(pass_: Pass, name: str, graph: Graph) -> Graph:
    try:
        return pass_(graph)
    except PassError:
        raise  # from a pass inside this one: it says more
    except NotImplementedError:
        raise  # an exercise without an answer has words of its own
    except Exception as error:
        raise PassError(
            f"the pass {name!r} crashed on @{graph.name}: {_words(error)}{_where(error)}"
        ) from error


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):  # its text is only the key
        return f"KeyError: nothing is stored under {error.args[0] if error.args else None!r}"
    return f"{type(error).__name__}: {error}"


def _where(error: Exception) -> str:
    """The innermost line that is the author's: outside this library, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if f.filename[0] == "<" or not _ours(f.filename)]
    frame = (theirs or frames)[-1]
    source = linecache.getline(frame.filename, frame.lineno or 0).strip()
    return f"\n  in {frame.name}, line {frame.lineno}: {source}"


def _ours(filename: str) -> bool:
    return filename.startswith(LIBRARY) or "site-packages" in filename or "lib/python" in filename


def _check(name: str, before: Graph, after: Graph) -> None:
    if not isinstance(after, Graph):
        hint = "; is a `return` missing?" if after is None else ""
        raise PassError(f"the pass {name!r} must return a Graph, it returned {after!r:.60}{hint}")
    if after is before:
        return
    try:
        verify(after)
        if after.inputs != before.inputs:
            raise ValueError("the inputs must stay as they are: callers rely on them")
        old, new = ([o.type for o in graph.outputs] for graph in (before, after))
        if old != new:
            raise ValueError(f"the outputs were {old}, now they are {new}")
    except ValueError as error:
        raise PassError(
            f"the pass {name!r} broke the graph: {error}\n{diff(before, after)}"
        ) from None


def diff(before: Graph, after: Graph) -> str:
    """What changed between two graphs, as the first lines of a unified diff of their text."""
    old, new = _text(before).splitlines(), _text(after).splitlines()
    lines = list(difflib.unified_diff(old, new, "before", "after", lineterm=""))
    more = [f"... and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join(lines[:SHOWN] + more)


def _text(graph: Graph) -> str:
    try:
        return print_graph(graph)
    except KeyError:  # a node uses what the graph does not list: show it where it would stand
        return print_graph(Graph.of(graph.inputs, graph.outputs, graph.name, also=graph.nodes))
