"""A page for each pass: what it does, what it needs and ends, where it stands in the pipeline.

    course_lib/passes/clean/dce.py   ->   passes/dce.md

Next: `op_pages.py`, which does the same for ops.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_lib import passes
from course_lib.passes.infra.contract import FACTS, contract_of
from course_lib.passes.pipeline import DEFAULT
from reference.prose import escaped, fenced, first_paragraph, markdown

ROOMS = {
    "prepare": "Make a graph plain",
    "clean": "Less work, the same structure",
    "fusion": "Several operations in one kernel",
    "layout": "How images lie in memory",
    "quantize": "From floats to 8-bit integers",
}
VERBS = {
    "needs": "It needs that",
    "wants": "It finds more to do if",
    "gives": "It makes sure that",
    "ends": "After it, it no longer holds that",
}


def found() -> Iterator[tuple[str, str, Any]]:
    """Room, name and module of each pass: a file whose public function has its name."""
    for room in ROOMS:
        for path in sorted((Path(passes.__path__[0]) / room).glob("*.py")):
            module = importlib.import_module(f"course_lib.passes.{room}.{path.stem}")
            if _makes_a_graph(getattr(module, path.stem, None)):
                yield room, path.stem, module


def _makes_a_graph(function: Any) -> bool:
    """Is it a function from graph to graph, whatever else it takes?"""
    if not callable(function):
        return False
    signature = inspect.signature(inspect.unwrap(function))
    first = next(iter(signature.parameters.values()), None)
    return first is not None and (first.annotation, signature.return_annotation) == ("Graph",) * 2


def names() -> dict[str, str]:
    """What links to a page here. A name that is also an op's leads there."""
    return {name: f"/passes/{name}" for _, name, _ in found()}


def pages() -> dict[str, str]:
    """All pages, by their names."""
    all_passes = list(found())
    made = {f"passes/{name}": _page(room, name, module) for room, name, module in all_passes}
    parts = [
        "# The passes\n\nA pass is a function from graph to graph. The compiler runs them in this "
        f"order, some of them several times:\n\n{_order()}"
    ]
    for room, title in ROOMS.items():
        rows = [
            f"| [`{name}`](passes/{name}.md) | {first_paragraph(module.__doc__)} |"
            for where, name, module in all_passes
            if where == room
        ]
        parts.append(f"## {title}\n\n| pass | what it does |\n|---|---|\n" + "\n".join(rows))
    return made | {"passes": "\n\n".join(parts) + "\n"}


def _order() -> str:
    return " → ".join(f"[`{p.__name__}`](passes/{p.__name__}.md)" for p in DEFAULT)


def _page(room: str, name: str, module: Any) -> str:
    function = getattr(module, name)
    full = f"course_lib.passes.{room}.{name}.{name}"
    said = [
        f"- {words} {escaped(FACTS[fact])} (*{fact}*)."
        for verb, words in VERBS.items()
        for fact in getattr(contract_of(function), verb)
    ]
    signature = f"{name}{inspect.signature(inspect.unwrap(function))}".replace("'", "")
    parts = [
        f"---\norphan: true\n---\n\n```{{index}} ! {name}\n```\n\n# {name}",
        f"[All passes](../passes.md) · {ROOMS[room][0].lower()}{ROOMS[room][1:]}",
        markdown(module.__doc__),
        f"## Its function\n\n{fenced(signature, 'python')}",
        markdown(inspect.unwrap(function).__doc__),
        f"In the library: {{py:obj}}`{full}`.",
        "## Its place in the pipeline\n\n" + _place(name),
        "\n".join(said),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _place(name: str) -> str:
    order = [p.__name__ for p in DEFAULT]
    if name not in order:
        return "The default pipeline does not run it."
    times = order.count(name)
    words = " → ".join(f"**{p}**" if p == name else p for p in order)
    return f"It runs {'once' if times == 1 else f'{times} times'}: {words}."
