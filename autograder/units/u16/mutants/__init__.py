"""Answers to unit 16: plausible mistakes that every check must catch, other right ones that pass.

Here: softmaxes. texts.py: a rewrite and a kernel. Next room: texts.py.
"""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants

MAP = "where = [where[axis] for axis in program[s]['dims']]"
LOOP = "while program[s]['op'] == 'broadcast_in_dim':"
SUM = "total['with'] == 'add' and (total['operands'] == [e])"
KEPT = "(where == kept)"
ONE = "len(kept) == len(axes) - 1"
FOUND = "found[name] = total['dims'][0]"
EXP = "program[e]['op'] == 'exponential'"
mutants(
    "u16.softmaxes",
    # the pattern of unit 2: what stands there, without the axis
    shapes_tell_enough=(KEPT, "True"),
    only_the_number_of_axes=(KEPT, "len(where) == len(axes) - 1"),
    the_same_axes_in_any_order=(KEPT, "(sorted(where) == kept)"),
    # as if the last broadcast said it all
    the_last_broadcast_only=(MAP, "where = program[s]['dims']"),
    the_first_broadcast_only=(MAP, "where = [*where] if len(where) < len(axes) else "
                              "program[s]['dims']"),
    the_map_the_other_way=(MAP, "where = [program[s]['dims'].index(a) for a in where "
                           "if a in program[s]['dims']]"),
    one_broadcast_only=(LOOP, "for _ in range(program[s]['op'] == 'broadcast_in_dim'):"),
    two_broadcasts_always=(LOOP, "for _ in range(2 * (program[s]['op'] == 'broadcast_in_dim')):"),
    any_reduction=(SUM, "total['operands'] == [e]"),
    any_numerator=(EXP, "True"),
    # two exponentials of one program are not the same value
    any_exponential_is_summed=(SUM, "total['with'] == 'add' and "
                               "program[total['operands'][0]]['op'] == 'exponential'"),
    any_sum=(SUM, "total['with'] == 'add'"),
    several_axes=(f"{ONE} and ", ""),
    products_as_well=("row['op'] == 'divide'", "row['op'] in ('divide', 'multiply') and "
                      "len(row['operands']) == 2"),
    in_either_order=("e, s = row['operands']", "e, s = sorted(row['operands'], key=lambda n: "
                     "program[n]['op'] == 'broadcast_in_dim')"),
    the_first_one_only=(FOUND, "return {name: total['dims'][0]}"),
    the_last_axis_only=(ONE, "kept == axes[:-1]"),
    not_the_first_axis=(ONE, f"{ONE} and total['dims'][0]"),
    the_axis_that_stays=(FOUND, "found[name] = where[0] if where else 0"),
    the_exponential_instead=(FOUND, "found[e] = total['dims'][0]"),
    # needs the maximum, which nothing says
    the_exponential_of_a_difference=(
        EXP, f"{EXP} and program[program[e]['operands'][0]]['op'] == 'subtract'"
    ),
    names_alone=("return found", "return list(found)"),
    counts_axes_from_the_end=(FOUND, "found[name] = total['dims'][0] - len(axes)"),
    squares_only=(ONE, f"{ONE} and len(axes) == 2"),
)  # fmt: skip


@alternative("u16.softmaxes")
def from_the_sums_up(program):
    """From each sum to its readers, with the axis of `e` that each axis of a value stands for."""
    origin, found = {}, {}
    for name, row in program.items():
        if row["op"] == "reduce" and row["with"] == "add":
            e = row["operands"][0]
            axes = [k for k in range(len(program[e]["shape"])) if k not in row["dims"]]
            if len(row["dims"]) == 1 and program[e]["op"] == "exponential":
                origin[name] = e, row["dims"][0], axes
        elif row["op"] == "broadcast_in_dim" and row["operands"][0] in origin:
            e, axis, axes = origin[row["operands"][0]]
            now = [None] * len(row["shape"])
            for k, place in enumerate(row["dims"]):
                now[place] = axes[k]
            origin[name] = e, axis, now
        elif row["op"] == "divide" and row["operands"][1] in origin:
            e, axis, axes = origin[row["operands"][1]]
            whole = [k if k != axis else None for k in range(len(axes))]
            if e == row["operands"][0] and axes == whole:
                found[name] = axis
    return found


@alternative("u16.softmaxes")
def by_recursion(program):
    def source(name):
        row = program[name]
        if row["op"] != "broadcast_in_dim":
            return name, tuple(range(len(row["shape"])))
        below, axes = source(row["operands"][0])
        return below, tuple(row["dims"][axis] for axis in axes)

    def axis_of(top, bottom):
        total, axes = source(bottom)
        row = program[total]
        ok = (program[top]["op"] == "exponential" and row["op"] == "reduce"
              and row.get("with") == "add" and row["operands"] == [top])  # fmt: skip
        missing = sorted(set(range(len(program[top]["shape"]))) - set(axes))
        ok = ok and len(missing) == 1 and axes == tuple(sorted(axes))
        if ok and row["dims"] == missing:
            return missing[0]
        return None

    divisions = {n: axis_of(*r["operands"]) for n, r in program.items() if r["op"] == "divide"}
    return {name: axis for name, axis in divisions.items() if axis is not None}


alternatives(
    "u16.softmaxes",
    as_numbers_of_numpy=(FOUND, "found[name] = __import__('numpy').int64(total['dims'][0])"),
)

ITEMS, ONCE = "in program.items():", "there is one of them only"
for before, after, why in (
    (ITEMS, "in reversed(list(program.items())):", "the order of a dict is left open"),
    (ITEMS, "in list(program.items())[1:]:", "the first row is an input"),
    ("= program[s]['operands'][0]", "['operands'][-1]", "a broadcast has one operand"),
    ("= total['dims'][0]", "found.setdefault", ONCE),
    ("= total['dims'][0]", "= total['dims'][-1]", ONCE),
):
    equivalent("u16.softmaxes", before, after, because=why)
