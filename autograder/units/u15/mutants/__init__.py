"""Answers to unit 15: plausible mistakes that every check must catch, other right ones that pass.

Here: which calls compile. Next room: rows.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from lessons.u15.cache import LIMIT, asked, holds

DYNAMIC = "len(seen[name]) > 1 and size > 1"
STATIC = "all((sizes[name] == before[name] for name in sizes if name not in dynamic))"
ASKED = "all((holds(c, sizes) == holds(c, before) for c in conditions))"
SAME = "others == others_before"
SEEN = ["            for name, size in sizes.items():\n"
        "                seen.setdefault(name, set()).add(size)\n", ""]  # fmt: skip
ALWAYS = ["    for number, (sizes, others) in enumerate(calls):\n",
          "    for number, (sizes, others) in enumerate(calls):\n"
          "        for name, size in sizes.items():\n"
          "            seen.setdefault(name, set()).add(size)\n"]  # fmt: skip

equivalent("u15.compiled", "in sizes.items()", "in reversed(list(sizes.items()))",
           "graphs.append(", "graphs.insert(0, ", because="their order is free")  # fmt: skip

mutants(
    "u15.compiled",
    every_call=lambda conditions, calls: [*range(len(calls))],
    the_first_call=lambda conditions, calls: [0],
    each_new_shape=lambda conditions, calls: [k for k, call in enumerate(calls)
                                              if call not in calls[:k]],
    # As with dynamic=False.
    all_sizes_are_static=(DYNAMIC, "False"),
    # As with dynamic=True.
    dynamic_from_the_first_call=(DYNAMIC, "size > 1"),
    one_is_dynamic=(DYNAMIC, "len(seen[name]) > 1"),
    one_but_not_zero_is_dynamic=(DYNAMIC, "len(seen[name]) > 1 and size > 0"),
    all_sizes_once_one_is=("len(seen[name]) > 1", "max(map(len, seen.values())) > 1"),
    a_dynamic_size_may_be_one=("sizes[name] >= 2", "sizes[name] >= 1"),
    a_dynamic_size_may_be_anything=("sizes[name] >= 2", "sizes[name] >= 0"),
    a_dynamic_size_is_larger_than_two=("sizes[name] >= 2", "sizes[name] > 2"),
    conditions_are_not_asked=(ASKED, "True"),
    conditions_must_be_true=(ASKED, "all((holds(c, sizes) for c in conditions))"),
    the_first_condition=(ASKED, ASKED.replace("in conditions", "in conditions[:1]")),
    # As PyTorch did for sizes that are dynamic from the first call on.
    equal_sizes_stay_equal=(
        ASKED, f"{ASKED} and all((sizes[a] == sizes[b] for a in dynamic for b in dynamic"
               " if before[a] == before[b]))"),
    other_arguments_do_not_matter=(SAME, "True"),
    static_sizes_do_not_matter=(STATIC, "True"),
    only_the_last_graph=("for g in graphs)", "for g in graphs[-1:])"),
    only_the_first_graph=("for g in graphs)", "for g in graphs[:1])"),
    without_a_limit=("len(graphs) < LIMIT and ", ""),
    one_graph_more=("len(graphs) < LIMIT", "len(graphs) <= LIMIT"),
    a_limit_on_calls=("len(graphs) < LIMIT", "number < LIMIT"),
    dynamic_if_the_first_graph_differs=(
        DYNAMIC, "size > 1 and bool(graphs) and graphs[0][0][name] != size"),
    dynamic_if_the_last_graph_differs=(
        DYNAMIC, "size > 1 and bool(graphs) and graphs[-1][0][name] != size"),
    dynamic_by_graphs_with_the_same_arguments=(
        DYNAMIC, "size > 1 and any((g[0][name] != size and g[1] == others for g in graphs))"),
    other_arguments_without_their_names=(
        SAME, "sorted(map(str, others.values())) == sorted(map(str, others_before.values()))"),
    only_whether_they_are_true=(
        SAME, "all((bool(others[k]) == bool(others_before[k]) for k in others))"),
    how_many_conditions_are_true=(
        ASKED, "sum((holds(c, sizes) for c in conditions))"
               " == sum((holds(c, before) for c in conditions))"),
    one_condition_is_enough=(ASKED, f"any{ASKED.removeprefix('all')} or not conditions"),
    two_sizes=("for name in sizes if", "for name in list(sizes)[:2] if"),
    a_limit_for_each_argument=(
        "len(graphs) < LIMIT", "sum((g[1] == others for g in graphs)) < LIMIT"),
    asks_dynamo=lambda conditions, calls: asked(conditions, calls),
    numbers_from_one=("numbers.append(number)", "numbers.append(number + 1)"),
    how_many=("return numbers", "return len(numbers)"),
)  # fmt: skip
alternatives(
    "u15.compiled",
    as_a_tuple=("return numbers", "return tuple(numbers)"),
    as_an_array=lambda conditions, calls: np.array(with_keys(conditions, calls)),
    # A call that runs a graph has no value that would be new to it.
    every_call_is_remembered=(*SEEN, *ALWAYS),
    by_the_graphs_before=(
        DYNAMIC,
        f"({DYNAMIC}) or (size > 1 and any((g[0][name] != size for g in graphs)))",
    ),
)


@alternative("u15.compiled")
def with_keys(conditions, calls):
    """A graph is a function that says whether it may be used."""
    numbers, usable, first, varied = [], [], {}, set()
    for number, (sizes, others) in enumerate(calls):
        if any(fits(sizes, others) for fits in usable) or len(usable) == LIMIT:
            continue
        varied |= {name for name, size in sizes.items() if first.setdefault(name, size) != size}
        usable.append(
            _graph(conditions, sizes, others, varied - {n for n in sizes if sizes[n] < 2})
        )
        numbers.append(number)
    return numbers


def _graph(conditions, before, others_before, dynamic):
    def key(sizes):
        """What must be the same again."""
        static = tuple(sizes[name] for name in sizes if name not in dynamic)
        return static, tuple(holds(c, sizes) for c in conditions)

    def fits(sizes, others):
        large = min((sizes[name] for name in dynamic), default=2) >= 2
        return large and others == others_before and key(sizes) == key(before)

    return fits
