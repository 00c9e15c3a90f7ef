"""Wrong and right answers of the lab of unit 18."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.exercises import slot
from course_lib.ir.graph import build
from course_lib.measure.interval import interval as of_the_unit

# ── a model ──

MODEL = slot("u18_lab_report.model").reference

mutants(
    "u18_lab_report.model",
    the_seed_does_nothing=("default_rng(seed)", "default_rng(0)"),
    never_the_same_twice=("default_rng(seed)", "default_rng()"),
    the_seed_changes_sizes=("weights(32, 64)", "weights(32, 64 + seed % 7)", "weights(64, 10)",
                            "weights(64 + seed % 7, 10)"),
    one_layer_of_each=("((3, 16), (16, 32), (32, 32))", "((3, 32),)"),
    too_few_kinds=("return build.softmax(", "return build.relu(", "build.tanh(", "build.relu(",
                   "build.sigmoid(", "build.relu(", "build.mean(", "build.reduce_sum(",
                   "x = x * ", "x = x + "),
    an_image_as_large_as_a_screen=("f32[1,3,32,32]", "f32[1,3,512,512]"),
    an_image_of_eight_pixels=("f32[1,3,32,32]", "f32[1,3,7,7]"),
    any_number_of_images=("f32[1,3,32,32]", "f32[N,3,32,32]"),
    in_double=("f32[1,3,32,32]", "f64[1,3,32,32]", "astype(np.float32)", "astype(np.float64)"),
    too_many_weights=("weights(32, 64)", "weights(32, 80000)", "weights(64, 10)",
                      "weights(80000, 64)"),
    all_zero=("hidden, weights(64, 10)", "hidden * 0.0, weights(64, 10)"),
    not_finite=("build.softmax(", "build.log("),
    not_steady=("build.softmax(", "build.tanh(10000000.0 * "),
    two_outputs=("return build.softmax(", "return [hidden, build.softmax(", "weights(64, 10)))",
                 "weights(64, 10)))]"),
)  # fmt: skip


@mutant("u18_lab_report.model")
def not_called():
    return MODEL


@mutant("u18_lab_report.model")
def a_constant_with_much_dead_code(seed):
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((64, 64)).astype(np.float32)

    def net(x):
        for _ in range(3):
            x = build.tanh(build.matmul(x, w))
        return x

    return build.trace(net, "f32[256,64]")


@mutant("u18_lab_report.model")
def only_one_product(seed):
    w = np.random.default_rng(seed).standard_normal((256, 256)).astype(np.float32) / 16

    def net(x):
        x = build.matmul(x, w)
        for _ in range(5):
            x = build.tanh(build.relu(x) + build.sigmoid(x) * build.neg(x))
        return x

    return build.trace(net, "f32[64,256]")


@alternative("u18_lab_report.model")
def a_perceptron_with_gates(seed):
    rng = np.random.default_rng([seed, 3])

    def dense(x, outside):
        inside = x.type.shape[1]
        w = rng.uniform(-1, 1, (inside, outside)).astype(np.float32) / np.float32(inside**0.5)
        return build.matmul(x, w) + rng.uniform(-1, 1, outside).astype(np.float32)

    def net(x):
        for width in (256, 128, 64, 32):
            x = build.tanh(dense(x, width)) * build.sigmoid(dense(x, width))
        return build.softmax(dense(build.relu(x), 7), axis=1)

    return build.trace(net, "f32[16,300]")


@alternative("u18_lab_report.model")
def a_torch_module(seed):
    import torch  # torch is heavy
    from torch import nn

    from course_lib.compiler import read

    torch.manual_seed(seed)
    layers = []
    for inside, outside in ((1, 8), (8, 16), (16, 16), (16, 24), (24, 24)):
        layers += [nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.SiLU()]
    layers += [nn.MaxPool2d(2), nn.Tanh(), nn.Flatten(), nn.Linear(24 * 64, 10), nn.Softmax(1)]
    return read(nn.Sequential(*layers).eval(), [np.zeros((1, 1, 16, 16), np.float32)])


@alternative("u18_lab_report.model")
def ours_for_larger_images(seed):
    return _attention(np.random.default_rng(seed))


def _attention(rng):
    def w(*shape):
        return (rng.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)

    def net(x):
        for _ in range(2):
            q, k, v = (build.matmul(x, w(64, 64)) for _ in range(3))
            scores = build.softmax(build.matmul(q, build.transpose(k, (1, 0))) * 0.125)
            x = x + build.matmul(build.matmul(scores, v), w(64, 64))
            x = x + build.matmul(build.gelu(build.matmul(x, w(64, 128))), w(128, 64))
        return build.tanh(x)

    return build.trace(net, "f32[32,64]")


# ── what a report supports ──

mutants(
    "u18_lab_report.claims",
    the_median_decides=lambda report, interval: _claims(report, lambda a, b: (
        np.median(a) / np.median(b), 9.0)),
    the_librarys_own_interval=lambda report, interval: _claims(report, of_the_unit),
    medians_and_no_rounds=("interval(other['rounds'], one['rounds'])",
                           "interval(sorted(other['rounds']), sorted(one['rounds']))"),
    the_wrong_way_round=("interval(other['rounds'], one['rounds'])",
                         "interval(one['rounds'], other['rounds'])"),
    any_difference_counts=("low > 1.02", "low > 1.0"),
    five_percent=("low > 1.02", "low > 1.05"),
    the_upper_end=("low, _ = interval", "_, low = interval"),
    all_threads_together=("if one['threads'] == other['threads']:",
                          "if one['system'] != other['system'] and len(one['rounds']) == "
                          "len(other['rounds']):"),
    wrong_results_count=(" and (not row['problem'])", ""),
    crashed_ones_count=("not row['problem']", "not row['problem'] or 'crashed' in row['problem']"),
    no_rounds_count=("row['rounds'] and (not", "(not"),
    faster_than_one_is_enough=("if count == sum", "if count >= 1 or sum"),
    faster_than_all_but_one=("for row in rows)) - 1:", "for row in rows)) - 2:"),
    alone_is_fastest=("return found\n\ndef _sound",
                      "found += [('fastest', r['threads'], r['system']) for r in rows if "
                      "sum(s['threads'] == r['threads'] for s in rows) == 1]\n    return found\n\n"
                      "def _sound"),
    problems_have_to_be_beaten=("for row in rows)) - 1", "for row in report['rows'])) - 1"),
    any_peak=(">= 1.1 * peaks[1]", "> peaks[1]"),
    half_as_much_again=(">= 1.1 * peaks[1]", ">= 1.5 * peaks[1]"),
    an_unknown_peak_is_none=("if None not in peaks and ", "if "),
    an_unknown_peak_is_small=("peaks = (other['peak_bytes'], one['peak_bytes'])",
                              "peaks = (other['peak_bytes'] or 1, one['peak_bytes'] or 1)"),
    peaks_upside_down=("peaks[0] / peaks[1])", "peaks[1] / peaks[0])"),
    no_memory=("found.append(('smaller', *head, peaks[0] / peaks[1]))", "pass"),
    the_first_number_of_threads=("if one['threads'] == other['threads']:",
                                 "if one['threads'] == other['threads'] == "
                                 "report['rows'][0]['threads']:"),
    nobody_is_fastest=("found.append(('fastest', threads, system))", "pass"),
    what_the_report_says=lambda report, interval: [
        ("faster", row["threads"], row["beside"], row["system"], row["ratio"])
        for row in report["rows"] if row["ratio"] and row["ratio"] > 1
    ],
    every_claim_twice=("return found\n\ndef _sound", "return found + found\n\ndef _sound"),
    as_a_dict=lambda report, interval: {one[:-1]: one[-1] for one in _claims(report, interval)},
)  # fmt: skip


def _claims(report, interval):
    rows = [r for r in report["rows"] if not r["problem"] and len(r["rounds"])]
    found, slower = [], set()
    for a in rows:
        for b in rows:
            if a is b or a["threads"] != b["threads"]:
                continue
            head = (a["threads"], a["system"], b["system"])
            by = interval(b["rounds"], a["rounds"])[0]
            if by > 1.02:
                slower.add(head)
                found.append(["faster", *head, by])
            if a["peak_bytes"] and b["peak_bytes"]:
                more = b["peak_bytes"] / a["peak_bytes"]
                found += [["smaller", *head, more]] * (more >= 1.1)
    for a in rows:
        others = [b for b in rows if b["threads"] == a["threads"] and b is not a]
        heads = [(a["threads"], a["system"], b["system"]) for b in others]
        if heads and slower.issuperset(heads):
            found.append(["fastest", a["threads"], a["system"]])
    return found


@alternative("u18_lab_report.claims")
def with_loops(report, interval):
    return _claims(report, interval)


@alternative("u18_lab_report.claims")
def as_a_tuple_from_the_end(report, interval):
    return tuple(map(tuple, reversed(_claims(report, interval))))


@alternative("u18_lab_report.claims")
def by_pairs(report, interval):
    """One interval for both directions: the lower end of the one is 1 by the upper of the other."""
    found = [one for one in _claims(report, interval) if one[0] != "faster"]
    rows = [r for r in report["rows"] if r["rounds"] and r["problem"] == ""]
    for a, b in combinations(rows, 2):
        if a["threads"] == b["threads"]:
            for one, other in ((a, b), (b, a)):
                by = np.float64(interval(other["rounds"], one["rounds"])[0])
                if by > 1.02:
                    found.append(("faster", one["threads"], one["system"], other["system"], by))
    return found


# ── more threads ──

mutants(
    "u18_lab_report.scales",
    each_system_by_itself=lambda report, interval: _gains(report, interval, alone=True),
    the_librarys_own_interval=lambda report, interval: _gains(report, of_the_unit),
    the_middle_of_both=("behind[more][0] / behind[fewer][1]",
                        "sum(behind[more]) / sum(behind[fewer])"),
    the_lower_ends=("behind[fewer][1]", "behind[fewer][0]"),
    the_upper_ends=("behind[more][0]", "behind[more][1]"),
    only_on_more=("behind[more][0] / behind[fewer][1]", "behind[more][0]"),
    fewer_is_more=("behind[more][0] / behind[fewer][1]", "behind[fewer][0] / behind[more][1]"),
    the_other_one=("interval(rounds[n, other], rounds[n, system])",
                   "interval(rounds[n, system], rounds[n, other])"),
    any_gain=("by > 1.02", "by > 1.0"),
    ten_percent=("by > 1.02", "by > 1.1"),
    neighbours_only=("permutations(both, 2)", "zip(sorted(both), sorted(both)[1:])"),
    from_the_least_only=("permutations(both, 2)", "((min(both), n) for n in both)"),
    one_and_two_only=("fewer < more and", "(fewer, more) == (1, 2) and"),
    in_the_order_of_the_rows=("{threads for threads, _ in rounds}, ",
                              "dict.fromkeys(threads for threads, _ in rounds), ",
                              "fewer < more and", "both.index(fewer) < both.index(more) and"),
    wrong_results_count=(" and (not row['problem'])", ""),
    no_rounds_count=("row['rounds'] and (not", "(not"),
    both_directions=("fewer < more and ", ""),
    a_system_with_itself=("permutations(systems, 2)", "[(s, t) for s in systems for t in systems]",
                          "by > 1.02", "by >= 1.0"),
    every_system_on_every_number=("(n, system) in rounds and (n, other) in rounds",
                                  "all((n, s) in rounds for s in systems)"),
)  # fmt: skip


def _gains(report, interval, alone=False):
    table = {}
    for row in report["rows"]:
        if row["rounds"] and not row["problem"]:
            table.setdefault(row["system"], {})[row["threads"]] = row["rounds"]
    found = []
    for a, mine in table.items():
        for b, theirs in table.items():
            counts = sorted(mine.keys() & theirs.keys()) if a != b else []
            for fewer, more in combinations(counts, 2):
                if alone:
                    each = [np.median(one[fewer]) / np.median(one[more]) for one in (mine, theirs)]
                    by = each[0] / each[1]
                else:
                    least, _ = interval(theirs[more], mine[more])
                    _, most = interval(theirs[fewer], mine[fewer])
                    by = least / most
                if by > 1.02:
                    found.append([a, b, fewer, more, by])
    return found


@alternative("u18_lab_report.scales")
def by_system(report, interval):
    return _gains(report, interval)


@alternative("u18_lab_report.scales")
def with_numpys_numbers(report, interval):
    return [(a, b, np.int64(n), m, np.float64(by)) for a, b, n, m, by in _gains(report, interval)]


alternatives(
    "u18_lab_report.scales",
    from_the_end=lambda report, interval: tuple(reversed(_gains(report, interval))),
)

# ── advice ──

mutants(
    "u18_lab_report.advice",
    any_compiler_that_has_the_operations=("'target': shared", "'target': True"),
    dropped_targets_count=(" - {*known['drops'].values()}", ""),
    whatever_drops_something=("'target': shared", "'target': shared and not known['drops']"),
    facts_about_others_count=("if about == (compiler if says in _OF_COMPILERS else device):",
                              "if True:"),
    limits_of_others_count=("if about ==", "if says in _LIMITS or about =="),
    the_device_computes_everything=("'format': computes and runs", "'format': runs"),
    an_empty_list_of_lists_is_operations=("'format': computes and runs", "'format': computes"),
    any_format_of_the_device=("if value == form}", "}"),
    any_format_of_the_compiler=("if name == form}", "}"),
    some_operations_are_enough=("asked == {op for ops in runs.values() for op in ops}",
                                "any(runs.values())"),
    one_list_has_all=("asked == {op for ops in runs.values() for op in ops}",
                      "asked in runs.values()"),
    no_limits=("all((fits for _, fits in limits))", "True"),
    weights_alone=("for what in _LIMITS for", "for what in _LIMITS[:1] for"),
    activations_alone=("for what in _LIMITS for", "for what in _LIMITS[1:] for"),
    less_than_the_limit=("model[what] <= most", "model[what] < most"),
    a_limit_must_be_known=("all((fits for _, fits in limits))",
                           "limits and all((fits for _, fits in limits))"),
    one_limit_that_holds_is_enough=("all((fits for _, fits in limits))",
                                    "any((fits for _, fits in limits)) or not limits"),
    both_together=("model[what] <= most", "model['weights'] + model['activations'] <= most"),
    the_last_thing_missing=("missing[0]", "missing[-1]"),
    everything_missing=("missing[0]", "missing"),
    nothing_for_no=("missing[0]", "[]"),
    no_targets_behind_it=("{*used, ", "{"),
    one_target_is_enough=("for side in ('is', 'targets')", "for side in ('is',)"),
    every_target_behind_it=(" if value in shared}", "}"),
    no_limits_behind_it=(", *dict(limits)}", "}"),
    every_list_behind_it=("(n for n, ops in runs.items() if ops)", "runs"),
    no_list_behind_it=("*(n for n, ops in runs.items() if ops), ", ""),
    the_format_of_the_device_not=("*computes, ", ""),
    as_the_facts_come=("return sorted({", "behind = ({", "*dict(limits)})",
                       "*dict(limits)})\n    return [n for n, *_ in facts if n in behind]"),
    the_other_way_round=("*dict(limits)})", "*dict(limits)}, reverse=True)"),
    the_facts_themselves=("return sorted({", "return sorted(f for f in facts if f[0] in {"),
    yes=("return sorted({", "return bool({"),
)  # fmt: skip


@alternative("u18_lab_report.advice")
def row_by_row(model, device, compiler, facts):
    def rows(about, says):
        return [(n, v) for n, who, what, v in facts if (who, what) == (about, says)]

    dropped = [v for _, v in rows(compiler, "drops")]
    pairs = [(m, n) for m, v in rows(device, "is") for n, w in rows(compiler, "targets")
             if v == w and v not in dropped]  # fmt: skip
    if not pairs:
        return "target"
    computes = [n for n, v in rows(device, "computes") if v == model["format"]]
    lists = [(n, v[1]) for n, v in rows(compiler, "runs") if v[0] == model["format"]]
    if not computes or not lists:
        return "format"
    if not all(any(op in ops for _, ops in lists) for op in model["operations"]):
        return "operations"
    limits = [(n, v, what) for what in ("activations", "weights") for n, v in rows(device, what)]
    if any(model[what] > v for _, v, what in limits):
        return "memory"
    used = {n for pair in pairs for n in pair}.union(computes, (n for n, _, _ in limits))
    return sorted(used | {n for n, ops in lists if not {*ops}.isdisjoint(model["operations"])})


@alternative("u18_lab_report.advice")
def as_a_tuple(model, device, compiler, facts):
    found = row_by_row(model, device, compiler, facts)
    return found if isinstance(found, str) else tuple(found)


@alternative("u18_lab_report.advice")
def with_numpys_numbers_too(model, device, compiler, facts):
    found = row_by_row(model, device, compiler, sorted(facts, key=lambda fact: -fact[0]))
    return found if isinstance(found, str) else [np.int64(n) for n in found]


# ── what may be changed ──

for _name, _old, _new in (
    ("claims", "[row for row in", "reversed(list(report['rows']))"),
    ("claims", "in permutations(rows, 2)", "in reversed(list(permutations(rows, 2)))"),
    ("claims", "found.append((", "found.insert(0, ("),
    ("claims", "in slower.items()", "in reversed(list(slower.items()))"),
    ("scales", "[row for row in", "reversed(list(report['rows']))"),
    ("scales", "in permutations(systems, 2)", "in reversed(list(permutations(systems, 2)))"),
    ("scales", "in permutations(both, 2)", "in reversed(list(permutations(both, 2)))"),
    ("scales", "for n in counts if", "for n in reversed(list(counts)) if"),
    ("scales", "found.append((", "found.insert(0, ("),
    ("scales", "in permutations(both, 2)", "in list(permutations(both, 2))[:-1]"),
    ("advice", "_LIMITS = ('weights', ", "_LIMITS = ('activations', "),
    ("advice", "_OF_COMPILERS = ('targets', ", "_OF_COMPILERS = ('runs', "),
    ("advice", "_SAYS = ('is', ", "_SAYS = (*_OF_COMPILERS, "),
    ("advice", "for side in ('is', 'targets')", "for side in ('targets', 'is')"),
    ("advice", "for what in _LIMITS for", "for what in reversed(list(_LIMITS)) for"),
    ("advice", "in facts:", "in reversed(list(facts)):"),
):
    equivalent(f"u18_lab_report.{_name}", _old, _new, because="the order is free, or sorted away")
for _name, _old, _new in (
    ("scales", "_ in rounds}", "_ in list(rounds)[1:]}"),
    ("scales", "_ in rounds}", "_ in list(rounds)[:-1]}"),
    ("scales", "system in rounds}", "system in list(rounds)[1:]}"),
    ("scales", "system in rounds}", "system in list(rounds)[:-1]}"),
):
    equivalent(f"u18_lab_report.{_name}", _old, _new,
               because="what has a single row has nothing to be compared with")  # fmt: skip
for _name, _old, _new in (
    ("claims", "low > 1.02", "low >= 1.02"), ("scales", "by > 1.02", "by >= 1.02"),
):  # fmt: skip
    equivalent(f"u18_lab_report.{_name}", _old, _new, because="no ratio is exactly that")
equivalent("u18_lab_report.scales", "fewer < more", "fewer <= more",
           because="two numbers of threads are never equal here")  # fmt: skip
equivalent("u18_lab_report.claims", ">= 1.1 *", "> 1.1 *", because="no report has exactly that")
equivalent("u18_lab_report.advice", "known[says][number] = value", ".setdefault(number, value)",
           because="no number comes twice")  # fmt: skip
for _old, _new in (
    ("terms = np.prod(", "terms = "), ("(rng.standard_normal(shape) / ", "rng.standard_normal"),
    ("weights(outside, inside, 3, 3)", "weights(outside, inside, "), ("x = x * ", "x = x + "),
    ("axes=(2, 3)", "axes=(3, 2)"), ("weights(64, 10)", "weights(64, 11)"),
    ("weights(64, 10)", "weights(64, 9)"),
):  # fmt: skip
    equivalent("u18_lab_report.model", _old, _new, because="another model that is as good")
