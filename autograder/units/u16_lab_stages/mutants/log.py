"""Wrong and right answers to `winner`. Next room: firmware.py."""

from __future__ import annotations

import math

from autograder.check.framework import alternative, alternatives, mutants

FAILED = "math.inf if t['seconds'] is None else t['seconds']"
NEAR = "time <= 1.1 * best"
LONG = "kind == 'GetLoops' and order and (len(outputs) == len(order))"
mutants(
    "u16_lab_stages.winner",
    the_last_of_equals=("at = seconds.index(best)", "at = max(k for k, s in enumerate(seconds) if "
                        "s == best)"),
    failed_ones_do_not_count=("for t in log['trials']]", "for t in log['trials'] if t['seconds']]"),
    failed_ones_take_no_time=(FAILED, "t['seconds'] or 0.0"),
    upside_down=("log['plain'] / best", "best / log['plain']"),
    the_fastest_itself=(NEAR, "time <= best"),
    a_tenth_of_a_second=(NEAR, "time <= best + 0.1"),
    the_first_trace=("log['trials'][at]['trace']", "log['trials'][0]['trace']"),
    decisions_in_order=("made['tiles'].append(chosen[place])", "made['tiles'].append(decisions"
                        "[len(made['tiles'])][1][::-1])"),
    the_choice_for_the_number=("attributes[0][chosen[place]]", "chosen[place]"),
    the_last_choice=("attributes == ['meta_schedule.unroll_explicit'] and kind == 'Annotate'",
                     "kind == 'Annotate' and inputs[-1] in value", "value[inputs[1]]",
                     "value[inputs[-1]]"),
    the_limits=("made[_MARKS[kind]] = value[inputs[0]]", "made[_MARKS[kind]] = 32"),
    marks_of_every_nest=(LONG, "kind == 'GetLoops' and order"),
    the_last_nest=("elif kind in _MARKS and inputs[0] in value", "elif kind in _MARKS"
                   , "value[inputs[0]]", "value.get(inputs[0], 1)"),
    the_order_of_the_splits=("order = inputs", "order = sorted(inputs, key=lambda n: int(n[1:]))"),
    the_sum_of_the_loops=("math.prod((value[loop] for loop in inputs))", "sum(value[loop] for loop "
                          "in inputs)"),
    the_first_of_the_loops=("math.prod((value[loop] for loop in inputs))", "value[inputs[0]]"),
    jobs_for_lanes=("_MARKS[kind]", "{'Parallel': 'lanes', 'Vectorize': 'jobs'}[kind]"),
    one_list=("made['tiles'].append(chosen[place])", "made['tiles'].extend(chosen[place])"),
)  # fmt: skip


@alternative("u16_lab_stages.winner")
def in_two_passes(log):
    timed = [(t["seconds"], k) for k, t in enumerate(log["trials"]) if t["seconds"] is not None]
    best, at = min(timed)
    instructions, decisions = log["trials"][at]["trace"]
    where = {place: value for place, value in decisions}
    tiles, loops, unroll, names = [], {}, 0, {}
    for place, (kind, read, more, makes) in enumerate(instructions):
        if kind == "SamplePerfectTile":
            tiles.append(tuple(where[place]))
        if kind == "Split":
            loops.update(zip(makes, tiles[-1], strict=True))
        if kind == "SampleCategorical":
            names[makes[0]] = more[0][where[place]]
        if kind == "Annotate" and more[0].endswith("unroll_explicit") and read[1] in names:
            unroll = names[read[1]]
    start = next(k for k, one in enumerate(instructions) if one[0] == "EnterPostproc")
    (nest,) = [one[1] for one in instructions if one[0] == "Reorder"]
    marks, fused = {}, {}
    for kind, read, _, makes in instructions[start:]:
        if kind == "GetLoops":
            now = dict(zip(makes, nest, strict=True)) if len(makes) == len(nest) else {}
        if kind == "Fuse":
            known = [loops[now[one]] for one in read if one in now]
            fused[makes[0]] = math.prod(known) if len(known) == len(read) else None
        if kind in ("Parallel", "Vectorize") and fused.get(read[0]):
            marks[kind] = fused[read[0]]
    return {"jobs": marks.get("Parallel", 1), "lanes": marks.get("Vectorize", 1), "tiles": tiles,
            "unroll": float(unroll), "trial": 1 + at, "ratio": log["plain"] / best,
            "needed": 1 + min(k for s, k in timed if s <= best * 1.1)}  # fmt: skip


alternatives(
    "u16_lab_stages.winner",
    tiles_as_tuples=("made['tiles'].append(chosen[place])", "made['tiles'].append(tuple(chosen"
                     "[place]))"),
    by_sorting=("best = min(seconds)", "best = sorted(seconds)[0]", "seconds.index(best)",
                "min(range(len(seconds)), key=seconds.__getitem__)"),
)  # fmt: skip
