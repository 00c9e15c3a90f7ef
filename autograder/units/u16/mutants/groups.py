"""Answers to u16.dispatches, wrong and right. Next room: table.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants

JOINS = "program[name]['op'] == 'each' and program[reader]['op'] != 'product'"
ROOT = "program[name]['op'] != 'each' and free"
SAME = "all((other is readers[0] for other in readers))"
FREE = "all((program[inside]['op'] == 'each' for inside in readers[0]))"
RESULT = "return list({id(names): names for names in group.values()}.values())"
mutants(
    "u16.dispatches",
    each_alone=lambda program: [[n] for n, row in program.items() if row["op"] != "input"],
    all_in_one=lambda program: [[n for n, row in program.items() if row["op"] != "input"]],
    # rule B
    operands_of_products_join=(JOINS, "program[name]['op'] == 'each'"),
    never_into_a_sum=(JOINS, f"{JOINS} and program[reader]['op'] != 'sum'"),
    into_sums_only=(JOINS, "program[name]['op'] == 'each' and program[reader]['op'] == 'sum'"),
    # rule D
    sums_join_products=(FREE, "all((program[inside]['op'] != 'product' for inside in readers[0]))"),
    several_products_in_one=(FREE, "True"),
    # rule F: counts readers, not the groups that they are in
    one_reader_by_count=(SAME, "len(readers) == 1"),
    any_number_of_readers=(SAME, "True"),
    only_products_join=(ROOT, "program[name]['op'] == 'product' and free"),
    only_sums_join=(ROOT, "program[name]['op'] == 'sum' and free"),
    # before the elementwise operations are in groups
    roots_first=lambda program: _roots_first(program),
    the_last_reader_only=("for reader in group:", "for reader in list(group)[-1:]:"),
    # the last of two products takes the elementwise operation that reads both
    the_last_product_first=("for name in group:", "for name in list(group)[::-1]:"),
    products_before_sums=("for name in group:", "for name in sorted(group, key=lambda n: "
                          "program[n]['op']):"),
    sums_before_products=("for name in group:", "for name in sorted(group, key=lambda n: "
                          "program[n]['op'], reverse=True):"),
    fewest_readers_first=("for name in group:", "for name in sorted(group, key=lambda n: "
                          "sum(n in row['operands'] for row in program.values())):"),
    in_order_of_names=("for name in group:", "for name in sorted(group):"),
    names_once_more=(RESULT, "return list(group.values())"),
    with_the_inputs=(" if row['op'] != 'input'", ""),
    a_dict=(RESULT, "return {names[0]: len(names) for names in group.values()}"),
    the_number=(RESULT, "return len({id(names) for names in group.values()})"),
)  # fmt: skip


def _roots_first(program):
    """Products and sums join before elementwise operations do."""
    names = [n for n, row in program.items() if row["op"] != "input"]
    group = {n: {n} for n in names}

    def join(a, b):
        both = group[a] | group[b]
        for n in both:
            group[n] = both

    def readers(n):
        return [m for m in names if n in program[m]["operands"]]

    for n in names:
        if program[n]["op"] != "each" and len(readers(n)) == 1:
            (m,) = readers(n)
            if all(program[k]["op"] == "each" for k in group[m]):
                join(n, m)
    for n in reversed(names):
        for m in readers(n):
            roots = [k for k in group[n] | group[m] if program[k]["op"] != "each"]
            if program[n]["op"] == "each" and program[m]["op"] != "product" and len(roots) < 2:
                join(n, m)
    return [list(g) for g in {id(g): g for g in group.values()}.values()]


@alternative("u16.dispatches")
def with_numbers(program):
    """Each value has the number of its group; sets as the result."""
    names = [n for n in program if program[n]["op"] != "input"]
    number = {n: k for k, n in enumerate(names)}
    readers = {n: [m for m in names if n in program[m]["operands"]] for n in names}
    for n in names[::-1]:
        reader = readers[n][0] if program[n]["op"] == "each" and readers[n] else n
        if reader != n and program[reader]["op"] in ("each", "sum"):
            number[n] = number[reader]
    for n in names:
        targets = {number[m] for m in readers[n]}
        if program[n]["op"] in ("product", "sum") and len(targets) == 1:
            (target,) = targets
            if not any(program[m]["op"] != "each" for m in names if number[m] == target):
                mine = number[n]
                number = {m: target if k == mine else k for m, k in number.items()}
    return [{n for n in names if number[n] == k} for k in set(number.values())]


alternatives(
    "u16.dispatches",
    as_tuples=(RESULT, "return tuple({id(n): tuple(n) for n in group.values()}.values())"),
    as_a_set_of_sets=(RESULT, "return {frozenset(names) for names in group.values()}"),
)

FIRST, LAST = "the first one reads inputs only", "nothing reads the last one"
ANY, ONE = "groups may join in any order", "all of them are one group"
for before, after, why in (
    ("for reader in group:", "reversed(list(group))", ANY),
    ("for reader in group:", "list(group)[1:]", FIRST),
    ("for name in group:", "list(group)[:-1]", LAST),
    ("in program.items()", "list(program.items())[1:]", "the first row is an input"),
    ("in program[reader]['operands']:", "reversed(list(program[reader]", ANY),
    ("join(name, reader)", "join(reader, name)", ANY),
    ("for other in group if name in", "for other in reversed(list(group)) if name in", ANY),
    ("for other in group if name in", "for other in list(group)[1:] if name in", FIRST),
    ("for other in readers))", "for other in list(readers)[1:]))", ONE),
    ("other is readers[0]", "other is readers[-1]", ONE),
    ("for inside in readers[0]))", "for inside in readers[-1]))", ONE),
    ("join(name, readers[0][0])", "join(readers[0][0], name)", ANY),
    ("join(name, readers[0][0])", "join(name, readers[-1][0])", ONE),
    ("join(name, readers[0][0])", "join(name, readers[0][-1])", ONE),
):
    equivalent("u16.dispatches", before, after, because=why)
