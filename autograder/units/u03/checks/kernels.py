"""Which groups an answer to `passes.fuse` made, and whether each sentence is true of them.

Every operation of these programs has a name of its own, and a kernel's body keeps the names; so the
groups can be read off a result. No walk is done here: for each operation, the conditions of the
specification are asked about the groups as they are. Next room: fuse_cases.py, programs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong
from autograder.check.programs import ALL, graphs
from autograder.check.properties import same_meaning, valid_graph
from autograder.units.u03.checks.results import wrong
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.passes.fusion.groups import LARGEST, as_kernels, fits, kind_of

Pair = tuple[str, str]
JOINS = "A node joins the group of its users if"
EVERYONE = "*all* of them are in the same group, and it is not an output of the graph"
HOLDS = "one kernel can hold the group with it"
PAYS = "it pays for each of its users"
OWN = "Otherwise it begins a group of its own"
WRITTEN = "`as_kernels` writes the groups down"
WORDS = (JOINS, "it has users", EVERYONE, HOLDS, "`fits(node, group)`", PAYS, OWN, WRITTEN,
         "Put connected nodes into groups", "The result is the same bit for bit")  # fmt: skip

NOTHING_SHARED = ("Here no two operations share a kernel. `as_kernels` tests whether nodes have "
                  "the same list object: append to the users' list, for `group + [node]` is a new "
                  "list.")  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A program, and the edges to which the heuristic says no; all the others pay. One that is too
    large to be run is only looked at."""

    graph: Graph
    no: frozenset[Pair] = frozenset()
    runs: bool = True

    def pays(self, producer: Node, consumer: Node) -> bool:
        """Yes to every other edge of the program, and to nothing that is no edge."""
        return producer in consumer.inputs and (producer.name, consumer.name) not in self.no

    def __str__(self) -> str:
        """What the heuristic says, in words."""
        edges = ", ".join(f"(%{a}, %{b})" for a, b in sorted(self.no))
        yes = "should_fuse says yes to a node and any user of it"
        return f"{yes}, but no to {edges}." if edges else f"{yes}."


def named(graph: Graph) -> Graph:
    """The same program; each constant and operation has a name and an origin of its own."""
    names = {node: f"n{k}" for k, node in enumerate(graph.ops)}
    names |= {node: f"c{k}" for k, node in enumerate(graph.constants)}

    def one(node: Node, inputs: tuple[Node, ...]) -> Node:
        name = names[node]
        return replace(node.with_inputs(inputs), name=name, origin=(f"layer.{name}",))

    return graph.rebuild(one)


def edges(graph: Graph) -> list[Pair]:
    inside = set(graph.ops)
    return [(i.name, n.name) for n in graph.ops for i in dict.fromkeys(n.inputs) if i in inside]


@st.composite
def asked(draw: st.DrawFn, size: int = 8, ops: tuple[str, ...] = ALL, **more: Any) -> Asked:
    """A random program, and one to three edges, or none, to which the heuristic says no."""
    return with_dear_edges(draw, draw(graphs(size=size, ops=ops, **more)), 3)


def with_dear_edges(draw: st.DrawFn, graph: Graph, most: int) -> Asked:
    """Up to `most` edges of this program do not pay."""
    some = edges(graph := named(graph))
    no = draw(st.lists(st.sampled_from(some), max_size=most)) if some else []
    return Asked(graph, frozenset(no))


def grouped_as_said(case: Asked, result: Any) -> Graph:
    """Each operation is in the group in which the specification puts it, and written so."""
    runs = case.runs and all(node.type.is_static for node in case.graph.inputs)
    after = (same_meaning if runs else valid_graph)(result=result, before=case.graph, spec=WRITTEN)
    groups = _Groups(case, after)
    for node in case.graph.ops:
        groups.look_at(node)
    groups.look_at_kernels()
    return after


class _Groups:
    """The groups of a result, in terms of the program's own nodes."""

    def __init__(self, case: Asked, after: Graph) -> None:
        self.case, self.after, self.graph = case, after, case.graph
        self.users, self.outputs = case.graph.users(), set(case.graph.outputs)
        self.place = {node: k for k, node in enumerate(case.graph.nodes)}
        kernels: dict[str, list[Node]] = {node.name: [] for node in case.graph.ops}
        for kernel in after.ops:
            for member in _members(kernel):
                kernels.setdefault(member.name, []).append(kernel)
        together: dict[Node, list[Node]] = {kernel: [] for kernel in after.ops}
        self.group_of: dict[Node, list[Node]] = {}
        for node in case.graph.ops:
            if (count := len(kernels[node.name])) != 1:
                problem = "Every operation must be in one kernel, dead ones too;"
                names = "This check finds the operations by their names."
                text = f"{problem} %{node.name} is in {count or 'none'}. {names}"
                raise self.wrong(text, OWN)
            self.group_of[node] = together[kernels[node.name][0]]
            self.group_of[node].append(node)

    def look_at(self, node: Node) -> None:
        """Has this node joined, where all conditions hold, and only there?"""
        mine, users = self.group_of[node], self.users[node]
        reason = self._reason(node)
        if node is not mine[-1]:
            if reason is not None or self.group_of[users[0]] is not mine:
                problem, spec = reason or ("its users are in another group", EVERYONE)
                text = f"%{node.name} is in the group of %{mine[-1].name}, but {problem}."
                raise self.wrong(text, spec, node)
        elif reason is None and self._one_kernel_holds(node, group := self.group_of[users[0]]):
            text = "all of its users are in there, it is not an output, one kernel can hold them"
            text = f"%{node.name} must join the group of %{group[-1].name}: {text}, and it pays."
            if not any(kernel.op == "fused" for kernel in self.after.ops):
                text += f" {NOTHING_SHARED}"
            raise self.wrong(text, JOINS, node)

    def _reason(self, node: Node) -> tuple[str, str] | None:
        """Why this node may join no group, leaving aside what a kernel can hold."""
        users = self.users[node]
        if not users:
            return "nothing reads it", "it has users"
        if node in self.outputs:
            return "it is an output of the program", EVERYONE
        apart = next((u for u in users if self.group_of[u] is not self.group_of[users[0]]), None)
        if apart is not None:
            return f"%{apart.name} and %{users[0].name}, which are in two groups, read it", EVERYONE
        costly = next((u for u in users if not self.case.pays(node, u)), None)
        return costly and (f"should_fuse says no to computing it inside %{costly.name}", PAYS)

    def _one_kernel_holds(self, node: Node, group: list[Node]) -> bool:
        """Now, and when the walk from the last node to the first came to this node."""
        later = [m for m in reversed(group) if self.place[m] > self.place[node]]
        whole = sorted([*group, node], key=self.place.__getitem__, reverse=True)
        return fits(node, later) and len(whole) <= LARGEST and kind_of(whole) is not None

    def look_at_kernels(self) -> None:
        """Can each be a kernel, and is it written down as `as_kernels` does?"""
        for group in self.group_of.values():
            if len(group) > 1 and (len(group) > LARGEST or kind_of(group[::-1]) is None):
                more = [f"and {len(group) - 8} more"] * (len(group) > 8)
                names = ", ".join([*(f"%{n.name}" for n in group[:8]), *more])
                text = f"No kernel can hold these {len(group)} operations: {names}."
                raise self.wrong(text, HOLDS, group[-1])
        wanted = as_kernels(self.graph, self.group_of)
        rows = {node.name: _row(node) for node in self.after.ops}
        for node in wanted.ops:
            ours, mine = _row(node), rows.get(node.name, {})
            for what in [key for key in ours if ours[key] != mine.get(key)]:
                raise Wrong(f"The groups are right; the {what} of %{node.name} is not.",
                            program=self.graph, got=self.after, spec=WRITTEN,
                            expected=f"{ours[what]}, not {mine.get(what)}")  # fmt: skip
        if [n.name for n in self.after.outputs] != [n.name for n in wanted.outputs]:
            raise self.wrong("The outputs must keep their names.", WRITTEN)
        if self.after.name != wanted.name:
            text = f"The graph must be called @{wanted.name}; it is @{self.after.name}."
            raise self.wrong(text, WRITTEN)

    def wrong(self, problem: str, spec: str, *nodes: Node) -> Wrong:
        names = {node.name for node in nodes}
        marked = [k for k in self.after.ops if any(m.name in names for m in _members(k))]
        return wrong(f"{problem} ({self.case})", self.graph, self.after, spec, *marked)


def _members(kernel: Node) -> tuple[Node, ...]:
    return kernel.attrs["body"].ops if kernel.op == "fused" else (kernel,)


def _row(node: Node) -> dict[str, Any]:
    """What is written down of a kernel, apart from the names of its body's inputs."""
    body = [(m.op, m.name, m.origin, str(m.type)) for m in _members(node)]
    return {
        "operation": node.op,
        "origin": set(node.origin),
        "kind": node.attrs.get("kind"),
        "body": sorted(body) if node.op == "fused" else [],
        "operands": sorted(i.name for i in node.inputs),
    }
