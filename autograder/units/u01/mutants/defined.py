"""Answers to unit 1 about what must be defined above. Next room: recording.py."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant


@mutant("ir.verify.misplaced")
def undefined_only(nodes):
    return next((k for k, n in enumerate(nodes) if any(i not in nodes for i in n.inputs)), None)


@mutant("ir.verify.misplaced")
def forgets_twice(nodes):
    seen = set()
    for place, node in enumerate(nodes):
        if not seen.issuperset(node.inputs):
            return place
        seen.add(node)
    return None


@mutant("ir.verify.misplaced")
def first_of_the_two(nodes):
    for place, node in enumerate(nodes):
        above = nodes[:place]
        if any(i not in above for i in node.inputs) or nodes.count(node) > 1:
            return place
    return None


@mutant("ir.verify.misplaced")
def by_what_they_compute(nodes):
    """Two nodes with one operation and the same operands are called one."""
    seen, keys = set(), set()
    for place, node in enumerate(nodes):
        key = (node.op, node.inputs, node.name)
        if not seen.issuperset(node.inputs) or key in keys:
            return place
        seen.add(node)
        keys.add(key)
    return None


@mutant("ir.verify.misplaced")
def the_operand(nodes):
    """Where the operand stands, not who reads it too early."""
    for place, node in enumerate(nodes):
        late = [i for i in node.inputs if i not in nodes[:place]]
        if late:
            return nodes.index(late[0]) if late[0] in nodes else place
        if node in nodes[:place]:
            return place
    return None


@mutant("ir.verify.misplaced")
def counts_from_one(nodes):
    place = with_a_dict_of_positions(nodes)
    return None if place is None else place + 1


@mutant("ir.verify.misplaced")
def names_are_values(nodes):
    """A name that was seen is a value that was seen; without a name, it asks for the object."""
    seen = set()
    for place, node in enumerate(nodes):
        keys = [i.name or i for i in node.inputs]
        if (node.name or node) in seen or not seen.issuperset(keys):
            return place
        seen.add(node.name or node)
    return None


@mutant("ir.verify.misplaced")
def looks_at_two_operands(nodes):
    """A select has three."""
    seen = set()
    for place, node in enumerate(nodes):
        if node in seen or not seen.issuperset(node.inputs[:2]):
            return place
        seen.add(node)
    return None


@alternative("ir.verify.misplaced")
def by_first_places(nodes):
    """Where each value is defined first, and then all positions at once."""
    first = {}
    for place, node in enumerate(nodes):
        first.setdefault(node, place)
    after = len(nodes)

    def wrong(place, node):
        return first[node] < place or any(first.get(i, after) >= place for i in node.inputs)

    return min((k for k, node in enumerate(nodes) if wrong(k, node)), default=None)


@alternative("ir.verify.misplaced")
def with_ids_in_a_set(nodes):
    seen = set()
    for place, node in enumerate(nodes):
        if id(node) in seen or not all(id(i) in seen for i in node.inputs):
            return place
        seen.add(id(node))
    return None


@alternative("ir.verify.misplaced")
def with_a_dict_of_positions(nodes):
    position = {}
    for place, node in enumerate(nodes):
        if node in position or any(i not in position for i in node.inputs):
            return place
        position[node] = place
    return None


@mutant("ir.verify.misplaced")
def compares_all_pairs(nodes):
    """Right, after 50 million comparisons for 10,000 nodes."""
    for place, node in enumerate(nodes):
        missing = set(node.inputs)
        for other in nodes[:place]:
            missing.discard(other)
            if other is node:
                return place
        if missing:
            return place
    return None


@mutant("ir.verify.misplaced")
def inputs_stand_on_top(nodes):
    """An input below an operation is misplaced to it; the text says nothing of it."""
    seen, computed = set(), False
    for place, node in enumerate(nodes):
        if node in seen or not seen.issuperset(node.inputs) or (computed and node.op == "input"):
            return place
        seen.add(node)
        computed = computed or node.op != "input"
    return None


equivalent("ir.verify.misplaced", "return None", "pass",
           because="a function that ends returns None")  # fmt: skip
