"""Answers to unit 8 that change loops, or are written as loops, wrong and right."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.exercises import slot
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.walk import rewrite, substitute

V = Affine.var
BOTH = "bounded(replace(loop, body=body), starts, stops)"
STARTS, STOPS = (f"[{end} + further for {end} in loop.{end}s]" for end in ("start", "stop"))
EACH = "body=tuple(({} for new, old in zip(body, loop.body)))"

mutants(
    "schedule.skewed",
    the_body_moves_the_same_way=("- further", "+ further"),
    the_bounds_stay=("start + further", "start", "stop + further", "stop"),
    the_body_stays=("body=body", "body=loop.body"),
    # Right in each nest in which the loop around is over t.
    always_over_t=("Affine.var(outer)", "Affine.var('t')"),
    always_over_i=("{loop.var: Affine.var(loop.var) -", "{'i': Affine.var('i') -"),
    # The loop moves, and not by more the further the loop around it is.
    by_a_number=("Affine.var(outer) * factor", "Affine.of(factor)"),
    always_by_one=(" * factor", ""),
    by_three_at_most=(" * factor", " * max(-3, min(3, factor))"),
    only_the_start_moves=("stop + further", "stop"),
    one_bound_of_several=(
        BOTH,
        "replace(loop, body=body, start=loop.start + further, stop=loop.stop + further)",
    ),
    the_old_bounds_are_numbers=(
        *(STARTS, "[Affine((), loop.start.const) + further]"),
        *(STOPS, "[Affine((), loop.stop.const) + further]"),
    ),
    two_bounds_at_most=(" starts, stops)", " starts[:2], stops[:2])"),
    the_body_alone_is_returned=(BOTH, "body"),
    under_a_new_name=(
        *("body=body", "var=f'{loop.var}s', body=body"),
        *("Affine.var(loop.var) -", "Affine.var(f'{loop.var}s') -"),
    ),
    the_loops_inside_keep_their_bounds=(
        "body=body",
        EACH.format(
            "replace(new, start=old.start, stop=old.stop) if isinstance(old, Loop) else new"
        ),
    ),
    the_first_statement_alone=("body=body", "body=body[:1]"),
    the_last_statement_first=("body=body", "body=body[::-1]"),
    equal_statements_once=("body=body", "body=tuple(dict.fromkeys(body))"),
    sums_stay_as_they_are=("body=body", EACH.format("old if 'Accum' in repr(type(old)) else new")),
)


@mutant("schedule.skewed")
def every_loop_inside_is_a_plain_one(loop, outer, factor):
    return _inside(loop, outer, factor, lambda stmt: replace(stmt, kind="for"))


@mutant("schedule.skewed")
def every_loop_inside_has_one_bound(loop, outer, factor):
    return _inside(loop, outer, factor, lambda stmt: replace(stmt, above=(), below=()))


@alternative("schedule.skewed")
def with_other_names_inside(loop, outer, factor):
    """A loop inside may be called otherwise: what it runs is the same."""

    def renamed(stmt):
        new = f"{stmt.var}_new"
        return replace(stmt, var=new, body=substitute(stmt.body, {stmt.var: V(new)}))

    return _inside(loop, outer, factor, renamed)


def _inside(loop, outer, factor, change):
    """The right loop, but for the loops in its body."""
    skewed = slot("schedule.skewed").reference(loop, outer, factor)
    body = rewrite(skewed.body, lambda s: (change(s) if isinstance(s, Loop) else s,))
    return replace(skewed, body=body)


alternatives(
    "schedule.skewed",
    as_the_words_say=(
        *("Affine.var(loop.var) - further", "Affine.var(loop.var) + Affine.var(outer) * -factor"),
        *(STARTS, "tuple((start - Affine.var(outer) * -factor for start in loop.starts))"),
        *(STOPS, "tuple((stop - Affine.var(outer) * -factor for stop in loop.stops))"),
    ),
    by_the_fields=(
        *(BOTH, "replace(loop, body=body, start=starts[0], stop=stops[0], {MORE})"),
        *("{MORE}", "above=tuple(starts[1:]), below=tuple(stops[1:])"),
    ),
)


@alternative("schedule.skewed")
def one_step_at_a_time(loop, outer, factor):
    """By 1 or -1, as often as the factor says."""
    sign = 1 if factor > 0 else -1
    for _ in range(abs(factor)):
        loop = slot("schedule.skewed").reference(loop, outer, sign)
    return loop


for ends in ("starts", "stops"):
    equivalent(
        "schedule.skewed",
        f"in loop.{ends}",
        f"in reversed(list(loop.{ends}))",
        because="the largest start and the smallest stop count, in whatever order they are",
    )


# ── schedules ──

mutants(
    "u08.time_blocks",
    as_written=lambda *_: "",
    no_skew=lambda *_: "split(t, 4)\nsplit(i, 4)\nreorder(to, io, ti, ii, j)",
    always_skewed_by_one=("skew(t, i, {reach})", "skew(t, i, 1)"),
    all_the_time_at_once=("split(t, {depth})", "", "(to, io, ti, ii, j)", "(io, t, ii, j)"),
    # The reach is forgotten: each pass needs more than one row more.
    as_deep_as_the_cache=("reach * (d + 2) <= room", "4 * columns * d <= size"),
    two_passes=("split(t, {depth})", "split(t, 2)"),
    one_size_for_all=("split(t, {depth})", "split(t, 3)"),
    # Skewed and cut, but the blocks of time are outside of nothing.
    time_inside=("split(i, {reach})", "split(i, 8)", "reorder(to, io, ti, ii, j)", ""),
    a_list=lambda *_: ["skew(t, i, 1)"],
)
alternatives(
    "u08.time_blocks",
    cut_first=("skew(t, i, {reach})", "", "split(i", r"skew(ti, i, {reach})\n        split(i"),
    all_three_skewed=("skew(t, i, {reach})", r"skew(t, i, {reach})\n        skew(t, j, 1)"),
    row_by_row=("split(i, {reach})", r"// blocks of one row\n        split(i, 1)"),
)

for new in ("[1:]", "[:-1]", "range(2, steps)"):
    equivalent("u08.time_blocks", "in range(1, steps)", new,
               because="the depths that fit best are still among them")  # fmt: skip


# ── a nest as text ──

SUM, OUT = "out[i - 1, j] + out[i, j - 1]", "out: f32[9,9]"

mutants(
    "u08.one_thread",
    may_not_change_places=("j in 1..9", "j in 1..8", "out[i, j - 1]", "out[i - 1, j + 1]"),
    nothing_depends=(SUM, "x[j, i]", OUT, f"x: f32[9,9], {OUT}"),
    the_inner_loop_is_free=("out[i, j - 1]", "out[i, j]"),
    the_outer_loop_is_free=("out[i - 1, j]", "out[i, j]"),
    # (1, 1) is carried by the loop outside; the other one may run in parallel.
    a_diagonal_is_carried_once=(SUM, "out[i - 1, j - 1]"),
    a_sum=(f"out[i, j] = {SUM}", "out[0] += x[i, j]", OUT, "x: f32[9,9], out: f32[1]"),
    the_row=(
        *(f"out[i, j] = {SUM}", "out[j] = out[j - 1] + out[j + 1]", OUT, "out: f32[9]"),
        *("i in 1..9", "i in 0..4", "j in 1..9", "j in 1..8"),
    ),
    three_loops=("for i", "for t in 0..3 { for i", SUM, SUM + " }"),
    # Which element x[idx[i]] is depends on data.
    an_index_is_data=(SUM, SUM + " + x[idx[i]]", OUT, f"x: f32[9], idx: i32[9], {OUT}"),
    a_triangle_begins_with_one=("j in 1..9", "j in 1..i + 1"),
    loops_that_hardly_run=("i in 1..9", "i in 1..3", "j in 1..9", "j in 1..3"),
)
alternatives(
    "u08.one_thread",
    anti_dependences=(
        *("i in 1..9", "i in 0..8", "j in 1..9", "j in 0..8"),
        *(SUM, "out[i + 1, j] * out[i, j + 1]"),
    ),
    with_a_bound_that_moves=("j in 1..9", "j in 1..i + 4", OUT, "out: f32[9,12]"),
    two_statements=(
        *(SUM, r"out[i - 1, j] + x[i, j]\n          out[i, j] = out[i, j - 1] * 0.5"),
        *(OUT, f"x: f32[9,9], {OUT}"),
    ),
    with_a_reach_of_two=("i in 1..9", "i in 2..9", "out[i - 1, j]", "out[i - 2, j]"),
)
