"""Is what a pass made the program that it should have made?

    same_program_as(before, cse(before), wanted)     # the same nodes, in whatever order they stand

Which objects the nodes are does not count, nor the order in which they stand. What they compute
does, from what, and, where the specification says so, how they are called and where they come from.
Next room: dead.py.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.check.framework import Crashed, Wrong
from autograder.check.properties import valid_graph
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.clean.cse import exactly

BECOMES = re.compile(r"\n +=>")  # of a line that is too long: it goes on in the next one
PARTS = 40  # parts of a program that are tried, to show the smallest that fails


def same_program_as(
    before: Graph, result: Any, wanted: Graph, *, problem: str = "", spec: str = "",
    label_spec: str = "",
) -> Graph:  # fmt: skip
    """`result` has the nodes of `wanted`, as often, in any order, and returns the same of them.

    Their names and origins count too (a set of origins, in any order). Where nothing else differs,
    the first wrong name or origin is told, and `label_spec` quoted.
    """
    got = valid_graph(result, before, spec=spec)
    if _same(got, wanted, labels=True):
        return got
    mine, ours = _marks(got, True), _marks(wanted, True)
    if wrong := _mislabelled(got, wanted):
        problem, spec = _wrong_label(got, *wrong[0]), label_spec or spec
    marked = [g for g, _ in wrong] or _surplus(mine, ours)
    names = value_names(got)
    raise Wrong(problem or _in_words(got, wanted, set(mine.values()) == set(ours.values())),
                program=before, got=got, expected=wanted,
                marked=tuple(names[n] for n in marked), spec=spec)  # fmt: skip


def programs_in(file: str) -> list[tuple[str, str, str]]:
    """The programs of a text file beside this one: (program, why, words of the specification)."""
    rows = []
    for block in Path(__file__).with_name(file).read_text("utf-8").strip().split("\n\n")[1:]:
        above, graph, program = block.partition("graph ")
        why, _, words = " ".join(above.replace("// ", "").split()).partition(" “")
        rows.append((graph + program, why, words.removesuffix("”")))
    return rows


@functools.cache
def two_programs(text: str) -> tuple[Graph, Graph]:
    """A program in the IR, and what a pass makes of it: `%c = neg(%a) : f32[]  => constant ...`.

    What stands behind `=>` takes the place of the operation; with nothing behind it, the line goes.
    """
    before, after = [], []
    for line in BECOMES.sub("  =>", text).splitlines():
        old, becomes, new = line.partition("=>")
        before.append(old)
        if not becomes or new.strip().startswith("return"):
            after.append(new if becomes else old)
        elif new.strip():
            after.append(f"{old.partition('=')[0]}={new}")
    return parse_graph("\n".join(before)), parse_graph("\n".join(after))


def smallest(check: Callable[[Graph], Any], graph: Graph) -> None:
    """`check(graph)`; when that raises, the same for parts of the graph, to show a small one."""
    objection = _objection(check, graph)
    if objection is None:
        return
    if isinstance(objection.program, Graph) and len(objection.program.nodes) < len(graph.nodes):
        raise _objection(check, objection.program) or objection
    outputs = list(dict.fromkeys(graph.outputs))
    size, tries = len(outputs) // 2, PARTS
    while size and tries > 0:
        for start in range(0, len(outputs), size):
            rest = outputs[:start] + outputs[start + size :]
            smaller = _objection(check, cut(graph, rest))
            tries -= 1
            if smaller is not None:
                outputs, objection, size = rest, smaller, min(size, len(rest) // 2)
                break
        else:
            size //= 2
    raise objection


def _objection(check: Callable[[Graph], Any], graph: Graph) -> Wrong | Crashed | None:
    try:
        check(graph)
    except (Wrong, Crashed) as error:
        return error
    return None


def cut(graph: Graph, outputs: list[Node]) -> Graph:
    """What these outputs need of the graph, in its order; of the inputs those that are read."""
    needed = set(outputs)
    for node in reversed(graph.nodes):
        if node in needed:
            needed.update(node.inputs)
    kept = tuple(n for n in graph.nodes if n in needed)
    return Graph(graph.name, tuple(i for i in graph.inputs if i in needed), kept, tuple(outputs))


@functools.lru_cache(maxsize=256)
def _marks(graph: Graph, labels: bool) -> dict[Node, tuple[str, int]]:
    """For each node what it computes, from what, as a digest, and how many read it."""
    place = {node: k for k, node in enumerate(graph.inputs)}
    digests: dict[Node, str] = {}
    for node in graph.nodes:
        facts: list[Any] = [node.op, str(node.type), place.get(node)]
        facts += [digests[i] for i in node.inputs]
        facts += [(name, exactly(value)) for name, value in sorted(node.attrs.items())]
        if labels and node.op != "input":
            facts += [node.name, sorted(set(node.origin))]
        digests[node] = hashlib.sha256(repr(facts).encode()).hexdigest()
    readers = Counter(i for node in graph.nodes for i in node.inputs)
    return {node: (digest, readers[node]) for node, digest in digests.items()}


def _same(got: Graph, wanted: Graph, labels: bool) -> bool:
    """The same nodes, each as often, and the same of them returned?"""
    mine, ours = _marks(got, labels), _marks(wanted, labels)
    returned = [mine[n] for n in got.outputs] == [ours[n] for n in wanted.outputs]
    return returned and Counter(mine.values()) == Counter(ours.values())


def _surplus(mine: dict[Node, Any], ours: dict[Node, Any]) -> list[Node]:
    """Nodes of which there are more than there should be."""
    more = Counter(mine.values()) - Counter(ours.values())
    return [node for node, mark in mine.items() if mark in more]


def _mislabelled(got: Graph, wanted: Graph) -> list[tuple[Node, Node]]:
    """If only names or origins differ: the nodes whose do, each beside what it should be."""
    if not _same(got, wanted, labels=False):
        return []
    mine, ours = _marks(got, False), _marks(wanted, False)
    pairs = []
    for mark in dict.fromkeys(ours.values()):
        here = [n for n in got.nodes if mine[n] == mark]
        there = [n for n in wanted.nodes if ours[n] == mark]
        for node in list(here):
            same = next((n for n in there if _label(n) == _label(node)), None)
            if same is not None:
                here.remove(node)
                there.remove(same)
        pairs += zip(here, there, strict=True)
    return pairs


def _label(node: Node) -> tuple[str, list[str]]:
    return ("" if node.op == "input" else node.name), sorted(set(node.origin))


def _wrong_label(got: Graph, node: Node, wanted: Node) -> str:
    name = value_names(got)[node]
    if _label(node)[0] != _label(wanted)[0]:
        must = f"be called %{wanted.name}" if wanted.name else "have no name of its own"
        return f"Every value is right, but one name is not: %{name} must {must}."
    layers, mine = (", ".join(sorted(set(n.origin))) or "no layer" for n in (wanted, node))
    problem = f"Every value is right, but one origin is not: that of %{name} must name"
    return f"{problem} {layers}, not {mine}."


def _in_words(got: Graph, wanted: Graph, same_nodes: bool) -> str:
    if len(got.nodes) != len(wanted.nodes):
        return f"{len(wanted.nodes)} nodes must be left here, but there are {len(got.nodes)}."
    if same_nodes:
        return "The nodes are right, but the outputs are not."
    return "The number of nodes is right, but some nodes are not: look at the lines that differ."
