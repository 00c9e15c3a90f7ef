"""Other groups than those of `fuse`: a grouping is a value, and one step leads to the next one.

    (("2", "3"), ("5", "6", "7"))     %2 and %3 are one kernel, and so are %5, %6 and %7

    cut    ("5", "6", "7")      ->   ("6", "7") and %5 alone, which is written to memory
    join   ("2", "3"), ("4",)   ->   ("2", "3", "4"), if nothing else reads %3

From every legal grouping these steps lead to every other one: cut all groups, then join. The result
stays the same; how long it takes does not. `tune/groups.py` searches, and `fuse_as` replays what
was found. Next room: `absorb_pads.py`.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from course_lib.ir.graph.graph import Graph, print_graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.passes.fusion.fuse import fuse, making_groups
from course_lib.passes.fusion.groups import LARGEST, as_kernels, check_group, kernel_of
from course_lib.passes.infra.manager import Pass

Group = tuple[str, ...]  # the names of two or more nodes, as the graph is printed, in its order
Grouping = tuple[Group, ...]  # in the order of their last nodes


@dataclass(frozen=True)
class Regrouping:
    """The groupings of one graph, none of whose nodes is `fused` yet."""

    graph: Graph

    @cached_property
    def names(self) -> dict[Node, str]:
        return value_names(self.graph)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return {name: node for node, name in self.names.items()}

    @cached_property
    def users(self) -> Mapping[Node, Sequence[Node]]:
        return self.graph.users()

    @cached_property
    def place(self) -> dict[str, int]:
        return {self.names[node]: place for place, node in enumerate(self.graph.nodes)}

    # ── between groupings and graphs ──

    def fused(self, grouping: Grouping) -> Graph:
        """The graph with a `fused` node for each group. ValueError if a group is not legal."""
        group_of: dict[Node, list[Node]] = {node: [] for node in self.graph.ops}
        for group in grouping:
            members = self.members(group)
            for node in members:
                if group_of[node]:
                    raise ValueError(f"%{self.names[node]} is in two groups")
                group_of[node] = members
        return as_kernels(self.graph, group_of)

    def members(self, group: Group) -> list[Node]:
        """The nodes of a group. ValueError if one is not there, or computes nothing."""
        for name in group:
            if name not in self.nodes or self.nodes[name].op in ("input", "constant"):
                raise ValueError(f"the graph @{self.graph.name} computes no %{name}")
        return [self.nodes[name] for name in group]

    def groups_of(self, fused: Graph) -> Grouping:
        """The inverse of `fused`: which nodes of the graph stand in each `fused` node.

        Both graphs compute the same outputs, so they are walked side by side from there.
        """
        ours: dict[Node, Node] = {}  # a node of the other graph, or of a body in it -> our node
        outside: dict[Node, Node] = {}  # an input of a body -> the operand of its `fused` node
        pairs = list(zip(fused.outputs, self.graph.outputs, strict=True))
        while pairs:
            theirs, node = pairs.pop()
            if theirs in ours:
                continue
            ours[theirs] = node
            if theirs.op == "fused":
                body = theirs.attrs["body"]
                outside |= zip(body.inputs, theirs.inputs, strict=True)
                pairs += zip(body.outputs, [node], strict=True)
            elif theirs in outside:
                pairs.append((outside[theirs], node))
            else:
                pairs += zip(theirs.inputs, node.inputs, strict=True)
        bodies = [node.attrs["body"].ops for node in ours if node.op == "fused"]
        return self._ordered([self.names[ours[n]] for n in ops] for ops in bodies)

    def kernel(self, group: Group) -> Node:
        """The node that a group of one or more becomes; its operands are nodes of the graph."""
        members = self.members(group)
        return kernel_of(members) if len(members) > 1 else members[0]

    def kernels(self, grouping: Grouping) -> list[Group]:
        """All groups, those of one node, too."""
        grouped = {name for group in grouping for name in group}
        alone = [(self.names[n],) for n in self.graph.ops if self.names[n] not in grouped]
        return [*grouping, *alone]

    # ── from a grouping to the next ones ──

    def steps(self, grouping: Grouping) -> Iterator[Grouping]:
        """Every legal grouping with one cut more, or one join more."""
        group_of = {name: group for group in self.kernels(grouping) for name in group}
        for group in dict.fromkeys(group_of.values()):
            for parts in (*self._cuts(group), *self._joins(group, group_of)):
                old, new = parts
                rest = [members for members in grouping if members not in old]
                yield self._ordered([*rest, *(members for members in new if len(members) > 1)])

    def _cuts(self, group: Group) -> Iterator[tuple[list[Group], list[Group]]]:
        """One member becomes the last one of a group of its own, with what only it needs."""
        for last in group[:-1]:
            above = {self.nodes[last]}
            for node in reversed(self.members(group[: group.index(last)])):
                if all(user in above for user in self.users[node]):
                    above.add(node)
            first = tuple(name for name in group if self.nodes[name] in above)
            second = tuple(name for name in group if name not in first)
            if self._is_legal(first) and self._is_legal(second):
                yield [group], [first, second]

    def _joins(
        self, group: Group, group_of: Mapping[str, Group]
    ) -> Iterator[tuple[list[Group], list[Group]]]:
        """The group becomes a part of the only one that reads it."""
        readers = {group_of[self.names[user]] for user in self.users[self.nodes[group[-1]]]}
        if len(readers) == 1:
            (reader,) = readers
            joined = self._sorted([*group, *reader])
            if len(joined) <= LARGEST and self._is_legal(joined):
                yield [group, reader], [joined]

    def _is_legal(self, group: Group) -> bool:
        try:
            check_group(self.members(group), self.users, self.graph.outputs)
        except ValueError:
            return False
        return True

    def _sorted(self, names: Sequence[str]) -> Group:
        return tuple(sorted(names, key=self.place.__getitem__))

    def _ordered(self, groups: Iterable[Sequence[str]]) -> Grouping:
        in_order = [self._sorted(group) for group in groups]
        return tuple(sorted(in_order, key=lambda group: self.place[group[-1]]))


def key_of_graph(graph: Graph) -> str:
    """The hash of a graph's text: the same for graphs that may share a grouping."""
    return hashlib.sha256(print_graph(graph).encode()).hexdigest()


def fuse_as(look_up: Callable[[Graph], Grouping | None], otherwise: Pass = fuse) -> Pass:
    """The pass `fuse`, or `otherwise`, but for graphs for which a grouping is known."""

    @making_groups
    def fuse_(graph: Graph) -> Graph:
        grouping = look_up(graph)
        if grouping is None:
            return otherwise(graph)
        try:
            return Regrouping(graph).fused(grouping)
        except ValueError as error:
            warnings.warn(f"the groups that were found do not fit: {error}", stacklevel=2)
            return otherwise(graph)

    fuse_.__name__ = "fuse"
    return fuse_
