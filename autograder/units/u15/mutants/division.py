"""Mutants and alternatives of unit 15: graphs divided in two. Next room: text.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants

WAITS = "round_[x] + (x in ours and name not in ours)"
READS = "dict.fromkeys((x for name in step for x in operands[name] if x not in step))"
WRITES = "name for name in step if name in elsewhere or name == nodes[-1][0]"
BOTH = ("        steps += [[name] for name in names if name not in ours]\n"
        "        steps += [[name for name in names if name in ours]]\n")  # fmt: skip

equivalent("u15.parts", "for other in operands if", "for other in list(operands)[1:] if",
           because="the first node reads no other one")  # fmt: skip
equivalent("u15.parts", "round_[name] =", "round_.setdefault(name", because="a name is met once")
equivalent("u15.parts", "max(waits, default=0)", "max(waits, default=",
           because="rounds may begin with any number")  # fmt: skip
equivalent("u15.parts", "for x in reads if", "for x in reversed(list(reads)) if",
           "[name for name in step if", "[name for name in reversed(list(step)) if",
           because="the order does not matter there")  # fmt: skip
equivalent("u15.parts", "in sorted({*round_.values()})", "in {*round_.values()}",
           because="small whole numbers stand in a set in order")  # fmt: skip
equivalent("u15.parts", "step[0] in ours", "step[-1] in ours",
           because="the nodes of a step are of one kind")  # fmt: skip

mutants(
    "u15.parts",
    one_part_at_the_end=(WAITS, "0"),
    a_part_for_each_node=("steps += [[name for name in names if name in ours]]",
                          "steps += [[name] for name in names if name in ours]"),
    all_by_torch=("if op in takes}", "if False}"),
    all_by_ours=("if op in takes}", "}"),
    # Counts what a node of ours waits for, too.
    a_new_round_for_each_change=(WAITS, "round_[x] + ((x in ours) != (name in ours))"),
    a_new_round_for_each_node=(WAITS, "round_[x] + 1"),
    torch_after_ours=(BOTH, "        steps += [[name for name in names if name in ours]]\n"
                            "        steps += [[name] for name in names if name not in ours]\n"),
    the_first_operand_decides=("max(waits, default=0)", "(waits or [0])[0]"),
    the_earliest_operand_decides=("max(waits, default=0)", "min(waits, default=0)"),
    reads_its_own_nodes=(READS, READS.replace(" if x not in step", "")),
    reads_twice=(READS, READS.replace("dict.fromkeys(", "list(")),
    inputs_are_not_read=("for x in operands[name] if x not in step",
                         "for x in operands[name] if x not in step and x in operands"),
    writes_everything=(WRITES, "name for name in step"),
    the_output_is_not_written=(WRITES, WRITES.replace(" or name == nodes[-1][0]", "")),
    writes_the_output_alone=(WRITES, "name for name in step if name == nodes[-1][0]"),
    an_empty_part=("return result", "return result + [('ours', [], [], [])]"),
    torch_in_one_step=("steps += [[name] for name in names if name not in ours]",
                       "steps += [[name for name in names if name not in ours]]"),
    one_round_too_many_for_torch=("x in ours and name not in ours", "name not in ours"),
    no_round_for_the_inputs=("if x in round_]", "if x in round_ and x in ours]"),
    writes_what_nobody_reads=(
        WRITES,
        "name for name in step if name in elsewhere or not any(name in o for o in"
        " operands.values())",
    ),
    writes_what_any_node_reads=(
        WRITES,
        "name for name in step if any(name in o for o in operands.values())"
        " or name == nodes[-1][0]",
    ),
    reads_the_inputs_alone=("for x in operands[name] if x not in step",
                            "for x in operands[name] if x not in operands"),
    takes_all_but_sort=("if op in takes}", "if op != 'sort'}"),
    a_part_backwards=("steps += [[name for name in names if name in ours]]",
                      "steps += [[name for name in names if name in ours][::-1]]"),
    torch_backwards=("steps += [[name] for name in names if name not in ours]",
                     "steps += [[name] for name in names[::-1] if name not in ours]"),
    what_nobody_reads_is_left_out=(
        "for number in sorted({*round_.values()}):\n",
        "read = {x for o in operands.values() for x in o} | {nodes[-1][0]}\n"
        "    for number in sorted({*round_.values()}):\n"
        "        operands = {n: o for n, o in operands.items() if n in read}\n",
    ),
    in_the_order_of_names=("names = [name for name in operands",
                           "names = [name for name in sorted(operands)[::-1]"),
)  # fmt: skip


@alternative("u15.parts")
def by_turns(nodes, takes):
    """Torch runs whatever it can, then our compiler gets whatever it can."""
    left, steps = [*nodes], []
    while left:
        for mine in (False, True):
            taken = []
            for node in left:
                waiting = {other for other, _, _ in left} - {name for name, _, _ in taken}
                if (node[1] in takes) == mine and not waiting & {*node[2]}:
                    taken.append(node)
            left = [node for node in left if node not in taken]
            names = [name for name, _, _ in taken]
            steps += [("ours", names)] * (mine and bool(names))
            steps += [("torch", [name]) for name in names if not mine]
    return _listed(nodes, steps)


def _listed(nodes, steps):
    """Each step with the names that it reads, and those that other steps read of it."""
    reads = {name: operands for name, _, operands in nodes}
    outside = [{x for n in names for x in reads[n]} - {*names} for _, names in steps]
    return [(who, names, sorted(outside[k]),
             [n for n in names if n == nodes[-1][0] or any(n in o for o in outside)])
            for k, (who, names) in enumerate(steps)]  # fmt: skip


@alternative("u15.parts")
def as_late_as_possible(nodes, takes):
    """From the end: how many parts still come after a node."""
    after, users = {}, {}
    for name, _, operands in nodes:
        for x in operands:
            users.setdefault(x, []).append(name)
    op_of = {name: op for name, op, _ in nodes}
    for name, op, _ in reversed(nodes):
        after[name] = max(
            (after[u] + (op_of[u] in takes and op not in takes) for u in users.get(name, [])),
            default=0,
        )
    steps = []
    for number in sorted({*after.values()}, reverse=True):
        here = [node for node in nodes if after[node[0]] == number]
        part = [name for name, op, _ in here if op in takes]
        steps += [("ours", part)] * bool(part)
        steps += [("torch", [name]) for name, op, _ in here if op not in takes]
    result = []
    for who, names in steps:
        needs = [x for name, _, operands in nodes if name in names for x in operands]
        outside = {u for name in names for u in users.get(name, [])} - {*names}
        wanted = [
            name for name in names if name == nodes[-1][0] or outside & {*users.get(name, [])}
        ]
        result.append([who, tuple(names), [*{*needs} - {*names}], {*wanted}])
    return result


@mutant("u15.parts")
def once_for_each_path(nodes, takes):
    """The rounds by recursion, of which nothing is kept; else right."""
    operands, ops = {n: reads for n, _, reads in nodes}, {n: op for n, op, _ in nodes}

    def round_of(name):
        mine = ops[name] in takes
        return max(
            (round_of(x) + (ops[x] in takes and not mine) for x in operands[name] if x in ops),
            default=0,
        )

    last = max(map(round_of, operands))
    return by_turns(nodes, takes)[: 2 * last + len(nodes)]


@mutant("u15.parts")
def neighbours(nodes, takes):
    """The division in order: each node that is not taken ends a part."""
    steps = []
    for name, op, _ in nodes:
        if op in takes and steps and steps[-1][0] == "ours":
            steps[-1][1].append(name)
        else:
            steps.append(("ours" if op in takes else "torch", [name]))
    return _listed(nodes, steps)


alternatives(
    "u15.parts", reads_as_sets=(READS, "{x for name in step for x in operands[name]} - {*step}")
)
