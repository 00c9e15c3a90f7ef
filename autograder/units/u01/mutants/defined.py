"""Answers to unit 1 about what must be defined above. Next room: recording.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants

NAME = "ir.verify.misplaced"
TWICE, EARLY, SEEN = "node in seen", "not seen.issuperset(node.inputs)", "seen.add(node)"
KEY = "(node.op, node.inputs, node.name)"

mutants(
    NAME,
    undefined_only=lambda nodes: next(
        (k for k, n in enumerate(nodes) if any(i not in nodes for i in n.inputs)), None),
    forgets_twice=(f"{TWICE} or ", ""),
    first_of_the_two=(TWICE, "nodes.count(node) > 1"),
    # two nodes with one operation and the same operands are called one
    by_what_they_compute=(TWICE, f"{KEY} in seen", SEEN, f"seen.update([node, {KEY}])"),
    # where the operand stands, not who reads it too early
    the_operand=("return place", "late = [i for i in node.inputs if i not in seen]; "
                 "return nodes.index(late[0]) if late and late[0] in nodes else place"),
    counts_from_one=("return place", "return place + 1"),
    # a name that was seen is a value that was seen; without a name, it asks for the object
    names_are_values=(TWICE, "(node.name or node) in seen", SEEN, "seen.add(node.name or node)",
                      EARLY, "not seen.issuperset([i.name or i for i in node.inputs])"),
    looks_at_two_operands=(EARLY, "not seen.issuperset(node.inputs[:2])"),  # a select has three
    looks_at_the_ends=(EARLY, "not seen.issuperset([*node.inputs[:1], *node.inputs[-1:]])"),
    # right, after 50 million comparisons for 10,000 nodes
    compares_all_pairs=(TWICE, "any([other is node for other in nodes[:place]])"),
    # an input below an operation is misplaced to it; the text says nothing of it
    inputs_stand_on_top=(TWICE, "node in seen or (node.op == 'input' and "
                         "any((n.op != 'input' for n in seen)))"),
)  # fmt: skip


@alternative(NAME)
def by_first_places(nodes):
    """Where each value is defined first, and then all positions at once."""
    first = {}
    for place, node in enumerate(nodes):
        first.setdefault(node, place)
    after = len(nodes)

    def wrong(place, node):
        return first[node] < place or any(first.get(i, after) >= place for i in node.inputs)

    return min((k for k, node in enumerate(nodes) if wrong(k, node)), default=None)


alternatives(
    NAME,
    with_ids_in_a_set=(TWICE, "id(node) in seen", EARLY, "not all((id(i) in seen for i in "
                       "node.inputs))", SEEN, "seen.add(id(node))"),
    with_a_dict_of_positions=("seen: set[Node] = set()", "seen = {}", SEEN, "seen[node] = place",
                              EARLY, "any((i not in seen for i in node.inputs))"),
)  # fmt: skip
equivalent(NAME, "return None", "pass", because="a function that ends returns None")
