"""Answers to unit 8 that change loops, or are written as loops, wrong and right."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Accumulate, Loop
from course_lib.ir.loops.walk import bounded, rewrite, substitute

V = Affine.var


def _changed(loop, index, move):
    """The loop with another index in its body, and with bounds moved."""
    body = substitute(loop.body, {loop.var: index})
    starts, stops = [s + move for s in loop.starts], [s + move for s in loop.stops]
    return bounded(replace(loop, body=body), starts, stops)


@mutant("schedule.skewed")
def the_body_moves_the_same_way(loop, outer, factor):
    further = V(outer) * factor
    return _changed(loop, V(loop.var) + further, further)


@mutant("schedule.skewed")
def the_bounds_stay(loop, outer, factor):
    return _changed(loop, V(loop.var) - V(outer) * factor, Affine())


@mutant("schedule.skewed")
def the_body_stays(loop, outer, factor):
    return _changed(loop, V(loop.var), V(outer) * factor)


@mutant("schedule.skewed")
def always_over_t(loop, outer, factor):
    """Right in each nest in which the loop around is over t."""
    return _changed(loop, V(loop.var) - V("t") * factor, V("t") * factor)


@mutant("schedule.skewed")
def always_over_i(loop, outer, factor):
    further = V(outer) * factor
    body = substitute(loop.body, {"i": V("i") - further})
    starts, stops = [s + further for s in loop.starts], [s + further for s in loop.stops]
    return bounded(replace(loop, body=body), starts, stops)


@mutant("schedule.skewed")
def by_a_number(loop, outer, factor):
    """The loop moves, and not by more the further the loop around it is."""
    return _changed(loop, V(loop.var) - factor, Affine.of(factor))


@mutant("schedule.skewed")
def always_by_one(loop, outer, factor):
    return _changed(loop, V(loop.var) - V(outer), V(outer))


@mutant("schedule.skewed")
def only_the_start_moves(loop, outer, factor):
    further = V(outer) * factor
    body = substitute(loop.body, {loop.var: V(loop.var) - further})
    return bounded(replace(loop, body=body), [s + further for s in loop.starts], loop.stops)


@mutant("schedule.skewed")
def one_bound_of_several(loop, outer, factor):
    further = V(outer) * factor
    body = substitute(loop.body, {loop.var: V(loop.var) - further})
    return replace(loop, body=body, start=loop.start + further, stop=loop.stop + further)


@mutant("schedule.skewed")
def the_old_bounds_are_numbers(loop, outer, factor):
    further = V(outer) * factor
    body = substitute(loop.body, {loop.var: V(loop.var) - further})
    low, high = (Affine((), end.const) for end in (loop.start, loop.stop))
    return bounded(replace(loop, body=body), [low + further], [high + further])


@mutant("schedule.skewed")
def the_body_alone_is_returned(loop, outer, factor):
    return substitute(loop.body, {loop.var: V(loop.var) - V(outer) * factor})


@mutant("schedule.skewed")
def under_a_new_name(loop, outer, factor):
    skewed = _changed(loop, V(loop.var) - V(outer) * factor, V(outer) * factor)
    return replace(skewed, var=loop.var + "s",
                   body=substitute(skewed.body, {loop.var: V(loop.var + "s")}))  # fmt: skip


@mutant("schedule.skewed")
def the_loops_inside_keep_their_bounds(loop, outer, factor):
    skewed = _changed(loop, V(loop.var) - V(outer) * factor, V(outer) * factor)
    body = tuple(replace(new, start=old.start, stop=old.stop) if hasattr(old, "start") else new
                 for new, old in zip(skewed.body, loop.body, strict=True))  # fmt: skip
    return replace(skewed, body=body)


def _body_of(loop, outer, factor):
    return _changed(loop, V(loop.var) - V(outer) * factor, V(outer) * factor).body


def _skewed(loop, outer, factor, body):
    """The right loop, but for its body."""
    skewed = _changed(loop, V(loop.var) - V(outer) * factor, V(outer) * factor)
    return replace(skewed, body=tuple(body))


@mutant("schedule.skewed")
def the_first_statement_alone(loop, outer, factor):
    return _skewed(loop, outer, factor, _body_of(loop, outer, factor)[:1])


@mutant("schedule.skewed")
def the_last_statement_first(loop, outer, factor):
    return _skewed(loop, outer, factor, reversed(_body_of(loop, outer, factor)))


@mutant("schedule.skewed")
def equal_statements_once(loop, outer, factor):
    return _skewed(loop, outer, factor, dict.fromkeys(_body_of(loop, outer, factor)))


@mutant("schedule.skewed")
def sums_stay_as_they_are(loop, outer, factor):
    both = zip(_body_of(loop, outer, factor), loop.body, strict=True)
    return _skewed(loop, outer, factor, (old if isinstance(old, Accumulate) else new
                                         for new, old in both))  # fmt: skip


@mutant("schedule.skewed")
def every_loop_inside_is_a_plain_one(loop, outer, factor):
    def plain(stmt):
        return (replace(stmt, kind="for"),) if isinstance(stmt, Loop) else (stmt,)

    return _skewed(loop, outer, factor, rewrite(_body_of(loop, outer, factor), plain))


@mutant("schedule.skewed")
def every_loop_inside_has_one_bound(loop, outer, factor):
    def plain(stmt):
        return (replace(stmt, above=(), below=()),) if isinstance(stmt, Loop) else (stmt,)

    return _skewed(loop, outer, factor, rewrite(_body_of(loop, outer, factor), plain))


@mutant("schedule.skewed")
def two_bounds_at_most(loop, outer, factor):
    skewed = _changed(loop, V(loop.var) - V(outer) * factor, V(outer) * factor)
    return replace(skewed, above=skewed.above[:1], below=skewed.below[:1])


@mutant("schedule.skewed")
def by_three_at_most(loop, outer, factor):
    return _skewed(loop, outer, max(-3, min(3, factor)), _body_of(loop, outer, factor))


@alternative("schedule.skewed")
def with_other_names_inside(loop, outer, factor):
    """A loop inside may be called otherwise: what it runs is the same."""

    def renamed(stmt):
        if not isinstance(stmt, Loop):
            return (stmt,)
        new = f"{stmt.var}_new"
        return (replace(stmt, var=new, body=substitute(stmt.body, {stmt.var: V(new)})),)

    return _skewed(loop, outer, factor, rewrite(_body_of(loop, outer, factor), renamed))


@alternative("schedule.skewed")
def as_the_words_say(loop, outer, factor):
    j = V(loop.var) + V(outer) * (-factor)
    body = substitute(loop.body, {loop.var: j})
    starts = tuple(start - V(outer) * -factor for start in loop.starts)
    stops = tuple(stop - V(outer) * -factor for stop in loop.stops)
    return bounded(replace(loop, body=body), starts, stops)


@alternative("schedule.skewed")
def by_the_fields(loop, outer, factor):
    def moved(bound):
        return bound + V(outer) * factor

    return replace(
        loop, start=moved(loop.start), stop=moved(loop.stop), above=tuple(map(moved, loop.above)),
        below=tuple(map(moved, loop.below)),
        body=substitute(loop.body, {loop.var: V(loop.var) - V(outer) * factor}),
    )  # fmt: skip


@alternative("schedule.skewed")
def one_step_at_a_time(loop, outer, factor):
    """By 1 or -1, as often as the factor says."""
    sign = 1 if factor > 0 else -1
    for _ in range(abs(factor)):
        loop = _changed(loop, V(loop.var) - V(outer) * sign, V(outer) * sign)
    return loop


for ends in ("starts", "stops"):
    equivalent(
        "schedule.skewed",
        f"in loop.{ends}",
        f"in reversed(list(loop.{ends}))",
        because="the largest start and the smallest stop count, in whatever order they are",
    )


# ── schedules ──


def _depth(columns, steps, reach, size, block):
    room = 0.94 * size / (4 * columns)
    depths = [d for d in range(1, steps + 1) if steps % d == 0]
    return max([d for d in depths if reach * (d + 1) + block <= room], default=1)


@mutant("u08.time_blocks")
def as_written(rows, columns, steps, reach, size):
    return ""


@mutant("u08.time_blocks")
def no_skew(rows, columns, steps, reach, size):
    return "split(t, 4)\nsplit(i, 4)\nreorder(to, io, ti, ii, j)"


@mutant("u08.time_blocks")
def always_skewed_by_one(rows, columns, steps, reach, size):
    return "skew(t, i, 1)\nsplit(t, 4)\nsplit(i, 2)\nreorder(to, io, ti, ii, j)"


@mutant("u08.time_blocks")
def all_the_time_at_once(rows, columns, steps, reach, size):
    return f"skew(t, i, {reach})\nsplit(i, {reach})\nreorder(io, t, ii, j)"


@mutant("u08.time_blocks")
def as_deep_as_the_cache(rows, columns, steps, reach, size):
    """The reach is forgotten: each pass needs more than one row more."""
    depth = max(d for d in range(1, steps + 1) if steps % d == 0 and 4 * columns * d <= size)
    return f"skew(t, i, {reach})\nsplit(t, {depth})\nsplit(i, {reach})\nreorder(to, io, ti, ii, j)"


@mutant("u08.time_blocks")
def two_passes(rows, columns, steps, reach, size):
    return f"skew(t, i, {reach})\nsplit(t, 2)\nsplit(i, {reach})\nreorder(to, io, ti, ii, j)"


@mutant("u08.time_blocks")
def one_size_for_all(rows, columns, steps, reach, size):
    return f"skew(t, i, {reach})\nsplit(t, 3)\nsplit(i, {reach})\nreorder(to, io, ti, ii, j)"


@mutant("u08.time_blocks")
def time_inside(rows, columns, steps, reach, size):
    """Skewed and cut, but the blocks of time are outside of nothing."""
    return f"skew(t, i, {reach})\nsplit(t, 4)\nsplit(i, 8)"


@mutant("u08.time_blocks")
def a_list(rows, columns, steps, reach, size):
    return [f"skew(t, i, {reach})"]


@alternative("u08.time_blocks")
def cut_first(rows, columns, steps, reach, size):
    depth = _depth(columns, steps, reach, size, reach)
    return f"split(t, {depth})\nskew(ti, i, {reach})\nsplit(i, {reach})\nreorder(to, io, ti, ii, j)"


@alternative("u08.time_blocks")
def all_three_skewed(rows, columns, steps, reach, size):
    depth = _depth(columns, steps, reach, size, reach)
    return (
        f"skew(t, i, {reach})\nskew(t, j, 1)\nsplit(t, {depth})\nsplit(i, {reach})\n"
        "reorder(to, io, ti, ii, j)"
    )


@alternative("u08.time_blocks")
def row_by_row(rows, columns, steps, reach, size):
    depth = _depth(columns, steps, reach, size, reach)
    return f"""
        // blocks of one row
        skew(t, i, {reach})
        split(t, {depth})
        split(i, 1)
        reorder(to, io, ti, ii, j)"""


for new in ("[1:]", "[:-1]", "range(2, steps)"):
    equivalent("u08.time_blocks", "in range(1, steps)", new,
               because="the depths that fit best are still among them")  # fmt: skip


# ── a nest as text ──

BOTH = """
kernel @both(out: f32[9,9]) {
  for i in 1..9 { for j in 1..9 { out[i, j] = out[i - 1, j] + out[i, j - 1] } }
}"""


@mutant("u08.one_thread")
def may_not_change_places():
    return BOTH.replace("j in 1..9", "j in 1..8").replace("out[i, j - 1]", "out[i - 1, j + 1]")


@mutant("u08.one_thread")
def nothing_depends():
    return """kernel @k(x: f32[4,4], out: f32[4,4]) {
      for i in 0..4 { for j in 0..4 { out[i, j] = x[j, i] } } }"""


@mutant("u08.one_thread")
def the_inner_loop_is_free():
    return BOTH.replace("out[i, j - 1]", "out[i, j]")


@mutant("u08.one_thread")
def the_outer_loop_is_free():
    return BOTH.replace("out[i - 1, j]", "out[i, j]")


@mutant("u08.one_thread")
def a_diagonal_is_carried_once():
    """(1, 1) is carried by the loop outside; the other one may run in parallel."""
    return BOTH.replace("out[i - 1, j] + out[i, j - 1]", "out[i - 1, j - 1]")


@mutant("u08.one_thread")
def a_sum():
    return """kernel @k(x: f32[4,4], out: f32[1]) {
      for i in 0..4 { for j in 0..4 { out[0] += x[i, j] } } }"""


@mutant("u08.one_thread")
def the_row():
    return """kernel @row(out: f32[9]) {
      for t in 0..4 { for i in 1..8 { out[i] = out[i - 1] + out[i + 1] } } }"""


@mutant("u08.one_thread")
def three_loops():
    return BOTH.replace("for i", "for t in 0..3 { for i").replace("} }\n}", "} } }\n}")


@mutant("u08.one_thread")
def an_index_is_data():
    """Who knows which element x[idx[i]] is?"""
    return """kernel @k(x: f32[9], idx: i32[9], out: f32[9,9]) {
      for i in 1..9 { for j in 1..9 { out[i, j] = out[i - 1, j] + out[i, j - 1] + x[idx[i]] } } }"""


@mutant("u08.one_thread")
def a_triangle_begins_with_one():
    return BOTH.replace("j in 1..9", "j in 1..i + 1")


@mutant("u08.one_thread")
def loops_that_hardly_run():
    return BOTH.replace("1..9", "1..3")


@alternative("u08.one_thread")
def anti_dependences():
    return """kernel @anti(out: f32[9,9]) {
      for i in 0..8 { for j in 0..8 { out[i, j] = out[i + 1, j] * out[i, j + 1] } } }"""


@alternative("u08.one_thread")
def with_a_bound_that_moves():
    return """kernel @moves(out: f32[9,12]) {
      for i in 1..9 { for j in 1..i + 4 { out[i, j] = out[i - 1, j] + out[i, j - 1] } } }"""


@alternative("u08.one_thread")
def two_statements():
    return """kernel @two(x: f32[8,8], out: f32[8,8]) {
      for a in 1..8 {
        for b in 1..8 {
          out[a, b] = out[a - 1, b] + x[a, b]
          out[a, b] = out[a, b - 1] * 0.5
        }
      }
    }"""


@alternative("u08.one_thread")
def with_a_reach_of_two():
    return """kernel @far(out: f32[12,12]) {
      for t in 2..12 { for i in 1..12 { out[t, i] = out[t - 2, i] + out[t, i - 1] } } }"""
