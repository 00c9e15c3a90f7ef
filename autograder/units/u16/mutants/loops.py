"""Answers to u16.schedule, wrong and right. Next room: table.py."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants

FACTOR, ORDER = "_product(inner)", "names[place], base = (f'{base}o', f'{base}i')"
MARKS = "if kind != 'for':"
mutants(
    "u16.schedule",
    # the extent of the outer loop, where ours wants that of the inner one
    the_outer_extent=(f"{{{FACTOR}}}", "{loops[place][1]}"),
    only_the_next_extent=(f"{{{FACTOR}}}", "{inner[0]}"),
    outer_and_inner_changed_places=(ORDER, "names[place], base = (f'{base}i', f'{base}o')"),
    two_loops_at_most=("for place in places[:-1]:", "for place in places[:1][:len(places) - 1]:"),
    without_an_order=("steps.append(f\"reorder({', '.join(names)})\")", ""),
    in_the_other_order=("', '.join(names)", "', '.join(names[::-1])"),
    axis_by_axis=("', '.join(names)", "', '.join(sorted(names))"),
    no_kinds=(MARKS, "if False:"),
    no_parallel=(MARKS, "if kind not in ('for', 'parallel'):"),
    no_unrolling=(MARKS, "if kind not in ('for', 'unroll'):"),
    vectorized_is_unrolled=("'vectorized': 'vectorize'", "'vectorized': 'unroll'"),
    kinds_under_tvms_names=("'parallel': 'parallelize'", "'parallel': 'parallel'"),
    kinds_before_the_order=(
        "steps.append(f\"reorder({', '.join(names)})\")", "",
        "return '\\n'.join(steps)",
        "return '\\n'.join([*steps, f\"reorder({', '.join(names[::-1])})\"])",
    ),
    a_list_of_steps=("'\\n'.join(steps)", "steps"),
    every_axis_is_split=("for axis in 'ijk':", "for axis in 'ij':"),
)  # fmt: skip
alternatives(
    "u16.schedule",
    with_a_newline=("'\\n'.join(steps)", "'\\n'.join(steps) + '\\n'"),
    with_comments=("'\\n'.join(steps)", "'   // a step\\n'.join(steps)"),
)


@alternative("u16.schedule")
def from_the_inside_out(loops):
    """Cuts the innermost loop off first, so that the names grow on the other side."""
    text, names = [], {}
    for axis in ("i", "j", "k"):
        mine = [k for k, row in enumerate(loops) if row[0] == axis]
        rest = axis
        for k in mine[:0:-1]:
            text += [f"split({rest}, {loops[k][1]})"]
            names[k], rest = rest + "i", rest + "o"
        names[mine[0]] = rest
    text += ["reorder(" + ", ".join(names[k] for k in range(len(loops))) + ")"]
    words = {"parallel": "parallelize", "unroll": "unroll", "vectorized": "vectorize"}
    text += [f"{words[r[2]]}({names[k]})" for k, r in enumerate(loops) if r[2] in words]
    return "\n".join(text)


for before, after in (
    ("for number in numbers:", "reversed(list(numbers))"),
    ("for axis in 'ijk':", "reversed(list('ijk'))"),
    ("in zip(names, loops, strict=True):", "reversed(list(zip("),
):
    equivalent("u16.schedule", before, after, because="the order changes nothing")
