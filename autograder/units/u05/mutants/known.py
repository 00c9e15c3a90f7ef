"""Answers to unit 5 on constant registers and blocks that never run."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.llvm.inspect.rows import computed

NAME = "llvm.constants"
READ, NEW = "work += readers.get(result, set()) & runs", "work.append(to)"
MEET = "return numbers.pop() if len(numbers) == 1 else None"
BEFORE, KNOWN = " if block in before}", "return None if None in known else computed(op, *known)"
WAYS = "return [yes, no] if number is None else [yes] if number else [no]"
NUMBERS, RUNS = "return ({name: number for name, number in values.items() if ", "}, runs)"
START, NONE = "work = [next(iter(blocks))]", "{block: set() for block in blocks}"
EVERY = "{to: {b for b, rows in blocks.items() if to in rows[-1][2:]} for to in blocks}"
UNKNOWN = "} | {None for _, o in operands if isinstance(o, str) and o not in values}"

mutants(
    NAME,
    pessimistic_start=(NONE, EVERY, START, "work = [*blocks][::-1]"),
    pessimistic_about_loops=(BEFORE, UNKNOWN),
    a_phi_counts_all_of_its_blocks=(BEFORE, "}"),
    each_block_once=(READ, "pass", NEW, "work += [to] * (to not in runs)"),
    only_new_edges_lead_to_work=(READ, "pass"),
    a_new_edge_to_an_old_block=(NEW, "work += [to] * (to not in runs)"),
    readers_that_never_run=(READ, "work += readers.get(result, set())"),
    only_its_own_block_reads_it=(READ, "work += {block} & readers.get(result, set())"),
    every_block_again=(READ, "work += runs"),
    ends_never=("if result not in values or values[result] != found:", "if True:"),
    unequal_constants_are_the_last=(MEET, "return ([_number(o, values) for b, o in operands "
                                    "if b in before] or [None])[-1]"),
    unequal_constants_are_the_least=(MEET, "return None if None in numbers else min(numbers)"),
    varies_counts_for_nothing=(MEET, "numbers -= {None}; " + MEET),
    nought_is_not_known=(KNOWN, "return computed(op, *known) if all(known) else None"),
    nought_is_left_out=("number is not None}", "number}"),
    both_ways_always=(WAYS, "return [yes, no]"),
    the_other_way=(WAYS, WAYS.replace("if number else", "if not number else")),
    arguments_are_nought=("values.get(operand) if", "values.get(operand, 0) if"),
    the_entry_is_the_first_by_name=(START, "work = [min(blocks)]"),
    every_block_may_run=(RUNS, "}, set(blocks))"),
    a_product_with_nought=(KNOWN, "return 0 if 'mul' in op and 0 in known else None if None in "
                           "known else computed(op, *known)"),
    numbers_without_an_end=("computed(op, *known)", "sum(known) if 'add' in op else "
                            "computed(op, *known)"),
    what_is_not_computed_is_nought=("computed(op, *known)", "(computed(op, *known) or 0)"),
)  # fmt: skip
alternatives(
    NAME,
    a_set_of_work=(START, "work = {next(iter(blocks))}", NEW, "work.add(to)",
                   READ, READ.replace("+=", "|="), RUNS, "}, list(runs))"),
    first_in_first_out=("work.pop()", "work.pop(0)"),
)  # fmt: skip


@alternative(NAME)
def by_recursion(blocks):
    known, before, first = {}, {name: set() for name in blocks}, next(iter(blocks))

    def look(here):
        again = []
        for name, op, *rest in blocks[here]:
            of = [o[1] if op == "phi" else o for o in rest if op != "phi" or o[0] in before[here]]
            at = [known.get(o) if type(o) is str else o for o in of]
            if op == "br":
                ends = {*rest[-2:]} if None in at[:1] else {rest[2 - at[0]]}
                again += [end for end in ends if here not in before[end]]
                for end in ends:
                    before[end].add(here)
            elif name:
                same = op == "phi" and all(n == at[0] for n in at)
                new = at[0] if same else None if op == "phi" or None in at else computed(op, *at)
                if known.get(name, "?") != new:
                    known[name] = new
                    ran = [b for b in blocks if b == first or before[b]]
                    again += [b for b in ran if f"'{name}'" in repr(blocks[b])]
        for block in again:
            look(block)

    look(first)
    return {k: n for k, n in known.items() if n is not None}, {first, *filter(before.get, blocks)}


_ORDER = "the result does not depend on the order"
equivalent(NAME, " in ", "reversed", "[yes, no]", "[no, yes]", because=_ORDER)
equivalent(NAME, "work.append(to)", "work.insert(0, to)", because=_ORDER)
equivalent(NAME, "blocks.items()", "[1:]", because="nothing leads to the entry: it never changes")
equivalent(NAME, "elif result is not", "else:", because="without a result, nothing is computed")
