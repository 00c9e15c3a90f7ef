"""Mutants and alternatives of unit 15: programs without changes in place. Next: division.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants

PUT = "now[array] = new('put', now.get(array, array), changed, low, high)"
NAMES = "return (made, {name: value(name) for name in dict.fromkeys(names)})"

equivalent("u15.functional", "views[name] =", "views.setdefault(name",
           "now[name] = new(op", "now.setdefault(name", because="a name is made once")  # fmt: skip
equivalent("u15.functional", "views.get(x, (x, 0, 0))", "views.get(x, (x, 0,",
           because="where an array ends is not asked")  # fmt: skip
equivalent("u15.functional", "value(name), value(rest[0])", "value(rest[0]), value(name)",
           because="sums and products commute")  # fmt: skip
equivalent("u15.functional", "*rest in rows for x in", "*rest in reversed(list(rows)) for x in",
           "for x in (name, *rest) if", "for x in (*rest, name) if",
           because="the dict is in any order")  # fmt: skip
equivalent("u15.functional", "(name, *rest) if isinstance(x, str)]", "(name, *rest)]",
           because="more keys of the dict do no harm")  # fmt: skip
equivalent("u15.functional", "value(rest[0])", "value(rest[-1])", because="there is one operand")

mutants(
    "u15.functional",
    as_it_stands=lambda rows: (rows, {x: x for row in rows for x in row if isinstance(x, str)}),
    views_are_copies=("views[name] = (array, start + low, start + high)",
                      "now[name] = new('slice', now.get(x, x), low, high)"),
    # The array behind a view is never told.
    a_view_changes_alone=(PUT, "views.pop(name)\n                now[name] = changed"),
    # ... or the view that it was changed through is not.
    a_view_of_a_view_begins_at_zero=("start + low, start + high", "low, high"),
    a_view_of_a_view_keeps_its_start=("start + low, start + high", "start + low, high"),
    put_in_the_first_array=(PUT, "now[array] = new('put', array, changed, low, high)"),
    sliced_from_the_first_array=("new('slice', now.get(array, array), low, high)",
                                 "new('slice', array, low, high)"),
    every_change_is_an_addition=("new(op[:-1], value(name)", "new('add', value(name)"),
    the_operand_as_it_was=("value(rest[0]))", "rest[0])"),
    the_operand_in_place_of_the_result=("changed = new(op[:-1], value(name), value(rest[0]))",
                                        "changed = value(rest[0])"),
    only_the_names_that_changed=("in dict.fromkeys(names)}",
                                 "in dict.fromkeys(names) if name in now}"),
    inputs_are_left_out=("for x in (name, *rest)", "for x in (name,)"),
    names_of_the_beginning=(NAMES, "return (made, {name: now.get(name, name) for name in names})"),
    names_are_used_again=("f'%{len(made)}'", "f'%{len(made) % 9}'"),
    names_that_may_be_taken=("f'%{len(made)}'", "f't{len(made)}'"),
    names_of_the_result=("f'%{len(made)}'", "f'{name}{len(made)}'"),
    # No name of the first rows is met, but one of a later row is.
    names_that_were_not_met_so_far=(
        "made.append((f'%{len(made)}', *row))",
        "k = len(made)\n        while f't{k}' in [x for r in rows[:2] for x in r]:\n"
        "            k += 1\n        made.append((f't{k}', *row))",
    ),
    the_last_view_alone=("views.get(x, (x, 0, 0))", "(x, 0, 0)"),
    a_put_of_the_operand=(
        PUT, "now[array] = new('put', now.get(array, array), value(rest[0]), low, high)"),
    a_change_is_a_new_name=(
        "    if name not in views:\n                now[name] = changed\n",
        "    if name not in views:\n                now[name] = new('add', changed, changed)\n"),
    views_at_the_end_as_they_were=(
        NAMES,
        "where = {name: value(name) for name in dict.fromkeys(names)}\n"
        "    return (made, where | {v: now.get(a, a) for v, (a, _, _) in views.items()})",
    ),
    products_are_sums=("now[name] = new(op,", "now[name] = new('add',"),
    only_the_program=(NAMES, "return made"),
    # Every view of an array is made anew after each change of it.
    all_views_after_each_change=(
        PUT,
        f"{PUT}\n                for other in views:\n                    value(other)",
    ),
    a_new_array_is_a_view=("now[name] = new(op, *map(value, rest))",
                           "now[name] = new(op, *rest)"),
)  # fmt: skip
alternatives(
    "u15.functional",
    as_lists=(
        NAMES,
        "where = {name: value(name) for name in dict.fromkeys(names)}\n"
        "    return [[list(row) for row in made], where]",
    ),
    # The whole is put again where the whole was changed.
    whole_arrays_are_views=("views.get(x, (x, 0, 0))", "views.get(x) or (x, 0, 0)"),
    names_in_any_order=("in dict.fromkeys(names)}", "in {*names}}"),
)


@alternative("u15.functional")
def chains_of_views(rows):
    """Keeps what each view was made of, and walks up when its numbers are needed."""
    made, value_of, parent = [], {}, {}

    def emit(*row):
        made.append((f"new {len(made)}", *row))
        return made[-1][0]

    def place(name):
        """The array, and the first of its numbers, and how many."""
        offset, length = 0, None
        while name in parent:
            name, start, end = parent[name]
            length = end - start if length is None else length
            offset += start
        return name, offset, length

    def now(name):
        array, offset, length = place(name)
        whole = value_of.get(array, array)
        return whole if length is None else emit("slice", whole, offset, offset + length)

    for name, op, *rest in rows:
        if op == "view":
            parent[name] = tuple(rest)
        elif op[-1] == "_":
            result = emit(op[:-1], now(name), now(rest[0]))
            array, offset, length = place(name)
            if length is not None:
                whole = value_of.get(array, array)
                result = emit("put", whole, result, offset, offset + length)
            value_of[array] = result
        else:
            value_of[name] = emit(op, now(rest[0]), now(rest[1]))
    every = {x for row in rows for x in (row[0], *row[2:]) if isinstance(x, str)}
    return made, {name: now(name) for name in sorted(every)}


@alternative("u15.functional")
def names_that_nobody_took(rows):
    """Bounds are integers of numpy; the names are those of variables, and are looked up first."""
    taken = {x for row in rows for x in row if isinstance(x, str)}
    made, value_of, root = [], {}, {}

    def emit(*row):
        name = next(f"t{k}" for k in range(10**6) if f"t{k}" not in taken)
        taken.add(name)
        made.append((name, *row))
        return name

    def now(name):
        array, low, high = root.get(name, (name, None, None))
        whole = value_of.get(array, array)
        return whole if low is None else emit("slice", whole, np.int64(low), np.int64(high))

    for name, op, *rest in rows:
        if op == "view":
            array, start, _ = root.get(rest[0], (rest[0], 0, 0))
            root[name] = array, (start or 0) + rest[1], (start or 0) + rest[2]
        elif op[-1] == "_":
            result = emit(op[:-1], now(name), now(rest[0]))
            array, low, high = root.get(name, (name, None, None))
            if low is not None:
                result = emit("put", value_of.get(array, array), result, low, high)
            value_of[array] = result
        else:
            value_of[name] = emit(op, now(rest[0]), now(rest[1]))
    every = {x for row in rows for x in (row[0], *row[2:]) if isinstance(x, str)}
    return made, {name: now(name) for name in every}
