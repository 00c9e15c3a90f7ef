"""Wrong and right answers of the lab of unit 18."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.compiler import read
from course_lib.measure.interval import interval as of_the_unit

# ── a model ──

mutants(
    "u18_lab_report.model",
    the_seed_does_nothing=("(seed)", "(0)"), never_the_same_twice=("(seed)", "()"),
    the_last_digit_alone=("default_rng(seed)", "default_rng(seed % 10)"),
    one_layer_of_each=("((3, 16), (16, 32), (32, 32))", "((3, 32),)"),
    an_image_as_large_as_a_screen=("f32[1,3,32,32]", "f32[1,3,512,512]"),
    any_number_of_images=("f32[1,3,32,32]", "f32[N,3,32,32]"),
    in_double=("f32[1,3,32,32]", "f64[1,3,32,32]", "astype(np.float32)", "astype(np.float64)"),
    all_zero=("hidden, weights(64, 10)", "hidden * 0.0, weights(64, 10)"),
    not_finite=("build.softmax(", "build.log("),
    not_steady=("build.softmax(", "build.tanh(10000000.0 * "),
    digits_lost_inside=("hidden, weights(64, 10)", "(hidden + 1e6) - 1e6, weights(64, 10)"),
    two_outputs=("return build.softmax(", "return [hidden, build.softmax(", "weights(64, 10)))",
                 "weights(64, 10)))]"),
)  # fmt: skip


@alternative("u18_lab_report.model")
def a_torch_module(seed):
    import torch  # torch is heavy
    from torch import nn

    torch.manual_seed(seed)
    layers = []
    for inside, outside in ((1, 8), (8, 16), (16, 16), (16, 24), (24, 24)):
        layers += [nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.SiLU()]
    layers += [nn.MaxPool2d(2), nn.Tanh(), nn.Flatten(), nn.Linear(24 * 64, 10), nn.Softmax(1)]
    return read(nn.Sequential(*layers).eval(), [np.zeros((1, 1, 16, 16), np.float32)])


alternatives(
    "u18_lab_report.model",
    two_larger_images=("f32[1,3,32,32]", "f32[2,3,40,24]"),
    with_residual_sums=("x = x * build.sigmoid", "x = x + build.tanh(x) * build.sigmoid"),
)

# ── what a report supports ──

mutants(
    "u18_lab_report.claims",
    the_median_decides=lambda report, interval: _claims(report, lambda a, b: (
        np.median(a) / np.median(b), 9.0)),
    the_librarys_own_interval=lambda report, interval: _claims(report, of_the_unit),
    the_wrong_way_round=("interval(other['rounds'], one['rounds'])",
                         "interval(one['rounds'], other['rounds'])"),
    any_difference_counts=("low > 1.02", "low > 1.0"), a_margin_of_3=("1.02", "1.03"),
    the_upper_end=("low, _ = interval", "_, low = interval"),
    all_threads_together=("if one['threads'] == other['threads']:",
                          "if len(one['rounds']) == len(other['rounds']):"),
    wrong_results_count=(" and (not row['problem'])", ""),
    crashed_ones_count=("not row['problem']", "not row['problem'] or 'crashed' in row['problem']"),
    faster_than_one_is_enough=("if count == sum", "if count >= 1 or sum"),
    the_next_one_is_enough=("if count == sum((row['threads'] == threads for row in rows)) - 1:",
                            "next_one = sorted((row['ms'], row['system']) for row in rows "
                            "if row['threads'] == threads)[1][1]\n        "
                            "if ('faster', threads, system, next_one) in {c[:4] for c in found}:"),
    problems_have_to_be_beaten=("for row in rows)) - 1", "for row in report['rows'])) - 1"),
    any_peak=(">= 1.1", "> 1.0"), a_margin_of_12=(">= 1.1", ">= 1.12"),
    an_unknown_peak_is_small=("peaks = (other['peak_bytes'], one['peak_bytes'])",
                              "peaks = (other['peak_bytes'] or 1, one['peak_bytes'] or 1)"),
    what_the_report_says=lambda report, interval: [
        ("faster", row["threads"], row["beside"], row["system"], row["ratio"])
        for row in report["rows"] if row["ratio"] and row["ratio"] > 1
    ],
    every_claim_twice=("return found", "return found + found"),
)  # fmt: skip


@alternative("u18_lab_report.claims")
def _claims(report, interval):
    rows = [r for r in report["rows"] if not r["problem"] and len(r["rounds"])]
    found = []
    for a in rows:
        others = [b for b in rows if b["threads"] == a["threads"] and b is not a]
        lows = {b["system"]: interval(b["rounds"], a["rounds"])[0] for b in others}
        found += [["faster", a["threads"], a["system"], b, np.float64(low)]
                  for b, low in lows.items() if low > 1.02]  # fmt: skip
        if others and min(lows.values()) > 1.02:
            found.append(["fastest", a["threads"], a["system"]])
        for b in others:
            if a["peak_bytes"] and (b["peak_bytes"] or 0) / a["peak_bytes"] >= 1.1:
                more = b["peak_bytes"] / a["peak_bytes"]
                found.append(["smaller", a["threads"], a["system"], b["system"], more])
    return found


alternatives(
    "u18_lab_report.claims",
    from_the_end=lambda report, interval: tuple(map(tuple, reversed(_claims(report, interval)))),
    sorted_by_threads=("rows, found = (_sound(report), [])",
                       "rows, found = (sorted(_sound(report), key=lambda r: r['threads']), [])"),
)  # fmt: skip

# ── more threads ──

_BY = "behind[more][0] / behind[fewer][1]"
mutants(
    "u18_lab_report.scales",
    each_system_by_itself=(_BY, "min(rounds[fewer, system]) / min(rounds[more, system])"),
    the_librarys_own_interval=("interval(rounds[n, other], rounds[n, system])",
                               "(min(ratios := [a / b for a, b in zip(rounds[n, other], "
                               "rounds[n, system])]), max(ratios))"),
    the_middle_of_both=(_BY, "sum(behind[more]) / sum(behind[fewer])"),
    the_lower_ends=("behind[fewer][1]", "behind[fewer][0]"),
    only_on_more=(_BY, "behind[more][0]"),
    fewer_is_more=(_BY, "behind[fewer][0] / behind[more][1]"),
    any_gain=("by > 1.02", "by > 1.0"), a_margin_of_3=("by > 1.02", "by > 1.03"),
    only_those_that_are_ahead=(_BY, "max(behind[more][0], 1) / max(behind[fewer][1], 1)"),
    neighbours_only=("permutations(both, 2)", "zip(sorted(both), sorted(both)[1:])"),
    one_and_two_only=("fewer < more and", "(fewer, more) == (1, 2) and"),
    wrong_results_count=(" and (not row['problem'])", ""),
    no_rounds_count=("row['rounds'] and (not", "(not"),
)  # fmt: skip
alternatives(
    "u18_lab_report.scales",
    as_lists_from_the_end=("return found", "return tuple(map(list, found[::-1]))"),
    in_order=("in permutations(both, 2)", "in ((a, b) for a in sorted(both) for b in both)"),
    with_numpys_numbers=("fewer, more, by)", "np.int64(fewer), np.int64(more), np.float64(by))"),
)

# ── advice ──

_ALL, _FIT = (
    "asked == {op for ops in runs.values() for op in ops}",
    "all((fits for _, fits in limits))",
)
mutants(
    "u18_lab_report.advice",
    any_compiler_that_has_the_operations=("'target': shared", "'target': True"),
    dropped_targets_count=(" - {*known['drops'].values()}", ""),
    whatever_drops_something=("'target': shared", "'target': shared and not known['drops']"),
    limits_of_others_count=("if about ==", "if says in _LIMITS or about =="),
    the_device_computes_everything=("'format': computes and runs", "'format': runs"),
    some_operations_are_enough=(_ALL, "any(runs.values())"),
    one_list_has_all=(_ALL, "asked in runs.values()"),
    weights_alone=("for what in _LIMITS for", "for what in _LIMITS[:1] for"),
    less_than_the_limit=("model[what] <= most", "model[what] < most"),
    the_last_limit_counts=("known[what].items()", "[*known[what].items()][-1:]"),
    a_limit_must_be_known=(_FIT, f"limits and {_FIT}"),
    both_together=("model[what] <= most", "model['weights'] + model['activations'] <= most"),
    the_last_thing_missing=("missing[0]", "missing[-1]"),
    every_target_behind_it=(" if value in shared}", "}"),
    one_fact_for_the_format=("*computes, *(n", "min(computes), *(n"),
    every_list_behind_it=("(n for n, ops in runs.items() if ops)", "runs"),
    yes=("return sorted({", "return bool({"),
)  # fmt: skip


alternatives(
    "u18_lab_report.advice",
    as_a_tuple=("return sorted({", "return (*sorted({", "*dict(limits)})", "*dict(limits)}),)"),
    without_a_list=("missing := [word for word, there in steps.items() if not there]",
                    "missing := tuple(word for word in steps if not steps[word])"),
    with_numpys_numbers=("known[says][number] = value", "known[says][np.int64(number)] = value"),
)  # fmt: skip

# ── what may be changed ──

FREE, ALONE = "the order is free, or sorted away", "what has a single row has no partner"
for _name, _why, _changes in (
    ("claims", FREE, (("[row for row in", "reversed("), ("permutations(rows, 2)", "reversed("),
                      ("found.append((", "insert(0"), ("slower.items()", "reversed("))),
    ("scales", FREE, (("[row for row in", "reversed("), ("for n in counts", "reversed("),
                      ("permutations(systems, 2)", "reversed("), ("found.append((", "insert(0"),
                      ("permutations(both, 2)", "reversed("))),
    ("scales", ALONE, (("in rounds", "in list(rounds)[1:]"), ("in rounds", "list(rounds)[:-1]"))),
    ("advice", FREE, (("_LIMITS = ('weights', ", "= ('activations', "),
                      ("_OF_COMPILERS = ('targets', ", "= ('runs', "), ("in facts:", "reversed("),
                      ("_SAYS = ('is', ", "= (*_OF_COMPILERS, "),
                      ("('is', 'targets')", "('targets', 'is')"),
                      ("for what in _LIMITS for", "reversed("))),
    ("claims", "no report has exactly that", (("low > 1.02", ">= 1.02"), (">= 1.1:", "> 1.1:"))),
    ("scales", "no report has exactly that", (("by > 1.02", ">= 1.02"), ("fewer < more", "<="))),
    ("advice", "no number comes twice", (("known[says][number] = value", ".setdefault("),)),
    ("model", "another model that is as good", (
        ("terms = np.prod(", "terms ="), ("rng.standard_normal(shape)", "standard_normal(shape)"),
        ("weights(outside, inside", "weights(outside"), ("x = x * ", "x = x"),
        ("x = x * build", "x = build"), ("build.mean(x", "build.mean("),
        ("weights(64, 10)", "weights(64"))),
):  # fmt: skip
    for _old, _new in _changes:
        equivalent(f"u18_lab_report.{_name}", _old, _new, because=_why)
