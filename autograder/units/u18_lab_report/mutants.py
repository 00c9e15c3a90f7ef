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
    too_few_kinds=("build.softmax(build.matmul(hidden, weights(64, 10)))",
                   "build.matmul(hidden, weights(64, 10))", "build.tanh(", "build.relu(",
                   "build.sigmoid(", "build.relu(", "x = x * gate", "x = x + gate"),
    an_image_as_large_as_a_screen=("f32[1,3,32,32]", "f32[1,3,512,512]"),
    an_image_of_eight_pixels=("f32[1,3,32,32]", "f32[1,3,7,7]"),
    any_number_of_images=("f32[1,3,32,32]", "f32[N,3,32,32]"),
    in_double=("f32[1,3,32,32]", "f64[1,3,32,32]", "astype(np.float32)", "astype(np.float64)"),
    too_many_weights=("weights(32, 64)", "weights(32, 80000)", "weights(64, 10)",
                      "weights(80000, 64)"),
    all_zero=("build.softmax(build.matmul(hidden, weights(64, 10)))",
              "build.softmax(build.matmul(hidden * 0.0, weights(64, 10)))"),
    not_finite=("build.softmax(build.matmul(hidden, weights(64, 10)))",
                "build.log(build.matmul(hidden, weights(64, 10)))"),
    not_steady=("build.softmax(build.matmul(hidden, weights(64, 10)))",
                "build.tanh(1e7 * build.matmul(hidden, weights(64, 10)))"),
    two_outputs=("return build.softmax(build.matmul(hidden, weights(64, 10)))",
                 "return [hidden, build.softmax(build.matmul(hidden, weights(64, 10)))]"),
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
    medians_and_no_rounds=("interval(rows[other]['rounds'], rows[system]['rounds'])",
                           "interval(sorted(rows[other]['rounds']), sorted(rows[system]['rounds']))"),
    the_wrong_way_round=("interval(rows[other]['rounds'], rows[system]['rounds'])",
                         "interval(rows[system]['rounds'], rows[other]['rounds'])"),
    any_difference_counts=("low > 1.02", "low > 1.0"),
    five_percent=("low > 1.02", "low > 1.05"),
    the_upper_end=("low, _ = interval", "_, low = interval"),
    all_threads_together=("if row['threads'] == threads", "if True"),
    wrong_results_count=(" and (not row['problem'])", ""),
    crashed_ones_count=("not row['problem']", "not row['problem'] or 'crashed' in row['problem']"),
    no_rounds_count=("row['rounds'] and (not", "(not"),
    alone_is_fastest=("== len(rows) - 1 > 0", "== len(rows) - 1"),
    faster_than_one_is_enough=("count == len(rows) - 1 > 0", "count > 0"),
    problems_have_to_be_beaten=("for name, count in beaten.items() if count == len(rows) - 1 > 0",
                                "for name, count in beaten.items() if count == sum(row['threads'] "
                                "== threads for row in report['rows']) - 1 > 0"),
    any_peak=(">= 1.1 * peaks[0]", "> peaks[0]"),
    half_as_much_again=(">= 1.1 * peaks[0]", ">= 1.5 * peaks[0]"),
    an_unknown_peak_is_none=("if None not in peaks and ", "if "),
    an_unknown_peak_is_zero=("peaks = [", "peaks = [0 if p is None else p for p in [",
                             "(system, other)]", "(system, other)]] and [rows[n]['peak_bytes'] or "
                             "1 for n in (system, other)]"),
    peaks_upside_down=("peaks[1] / peaks[0])", "peaks[0] / peaks[1])"),
    no_memory=("found.append(('smaller', threads, system, other, peaks[1] / peaks[0]))", "pass"),
    the_first_number_of_threads=("in {row['threads'] for row in report['rows']}",
                                 "in [row['threads'] for row in report['rows']][:1]"),
    what_the_report_says=lambda report, interval: [
        ("faster", row["threads"], row["beside"], row["system"], row["ratio"])
        for row in report["rows"] if row["ratio"] and row["ratio"] > 1
    ],
    once_for_each_row=("in {row['threads'] for row in report['rows']}",
                       "in [row['threads'] for row in report['rows']]"),
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
    any_compiler_that_has_the_operations=(" if shared else 'target'", ""),
    dropped_targets_count=("shared -= set(known.get((compiler, 'drops'), {}).values())", "pass"),
    whatever_drops_something=("shared -= set(known.get((compiler, 'drops'), {}).values())",
                              "shared = set() if (compiler, 'drops') in known else shared"),
    a_target_that_anybody_drops=("known.get((compiler, 'drops'), {}).values()",
                                 "v for _, _, says, v in facts if says == 'drops'"),
    the_device_computes_everything=("if value == name}", "}"),
    any_format_of_the_compiler=("if format == name}", "}"),
    some_operations_are_enough=("if asked - {op for ops in runs.values() for op in ops}:",
                                "if not any(runs.values()):"),
    one_row_has_all=("if asked - {op for ops in runs.values() for op in ops}:",
                     "if all(asked - ops for ops in runs.values()):"),
    no_limits=("return 'memory'", "pass"),
    weights_alone=("for what in ('weights', 'activations')]", "for what in ('weights',)]"),
    activations_alone=("for what in ('weights', 'activations')]", "for what in ('activations',)]"),
    less_than_the_limit=("[what] > most", "[what] >= most"),
    a_limit_must_be_known=("if any((model", "if not all(row for _, row in limits) or any((model"),
    the_largest_limit=("if any((model['sizes'][name][what] > most for what, row in limits for most "
                       "in row.values())):",
                       "if any(model['sizes'][name][what] > max(row.values()) for what, row in "
                       "limits if row):"),
    every_device_limits=("known.get((device, what), {})",
                         "{n: v for n, _, says, v in facts if says == what}",
                         "def _way(model: Any, name: str, device: str, compiler: str, known: Any)",
                         "def _way(model: Any, name: str, device: str, compiler: str, known: Any, "
                         "facts: Any)", "compiler, known) for name", "compiler, known, facts) for "
                         "name"),
    the_first_thing_missing=("missing[-1]", "missing[0]"),
    only_the_best_format=("answer[compiler] = works or", "works = dict([*works.items()][:1])\n"
                          "        answer[compiler] = works or"),
    no_targets_behind_it=("sorted(used | way)", "sorted(way)"),
    one_target_is_enough=("used = {n for side in sides", "used = {n for side in sides[:1]"),
    no_limits_behind_it=("*(n for _, row in limits for n in row)", ""),
    every_list_behind_it=("(n for n, ops in runs.items() if ops)", "runs"),
    no_list_behind_it=("*(n for n, ops in runs.items() if ops), ", ""),
    the_format_of_the_device_not=("{*computes, ", "{"),
    not_sorted=("sorted(used | way)", "sorted(used | way, reverse=True)"),
    every_compiler=("if says == 'targets'", "if says in ('targets', 'runs')",
                    "known[compiler, 'targets']", "known.get((compiler, 'targets'), {})"),
    words_only=("answer[compiler] = works or", "works = works and 'works'\n"
                "        answer[compiler] = works or"),
)  # fmt: skip


@alternative("u18_lab_report.advice")
def row_by_row(model, device, facts):
    def rows(about, says):
        return [(n, v) for n, who, what, v in facts if (who, what) == (about, says)]

    answer = {}
    for compiler in {who for _, who, says, _ in facts if says == "targets"}:
        dropped = [v for _, v in rows(compiler, "drops")]
        pairs = [(m, n) for m, v in rows(device, "is") for n, w in rows(compiler, "targets")
                 if v == w and v not in dropped]  # fmt: skip
        stage, ways = 0, {}
        for format, size in model["sizes"].items():
            computes = [n for n, v in rows(device, "computes") if v == format]
            lists = [(n, v[1]) for n, v in rows(compiler, "runs") if v[0] == format]
            if not computes or not lists:
                continue
            stage = max(stage, 1)
            if not all(any(op in ops for _, ops in lists) for op in model["operations"]):
                continue
            stage = 2
            limits = [(n, v, what) for what in size for n, v in rows(device, what)]
            if all(size[what] <= v for _, v, what in limits):
                used = {n for pair in pairs for n in pair} | {*computes}
                used |= {n for n, ops in lists if {*ops} & {*model["operations"]}}
                ways[format] = sorted(used | {n for n, _, _ in limits})
        word = ("format", "operations", "memory")[stage]
        answer[compiler] = "target" if not pairs else ways or word
    return answer


@alternative("u18_lab_report.advice")
def as_tuples(model, device, facts):
    answer = row_by_row(model, device, facts)
    return {name: {k: tuple(v) for k, v in ways.items()} if isinstance(ways, dict) else ways
            for name, ways in sorted(answer.items())}  # fmt: skip


@alternative("u18_lab_report.advice")
def with_sorted_facts(model, device, facts):
    return row_by_row(model, device, sorted(facts, key=lambda fact: fact[0]))


# ── what may be changed ──

for _name, _old, _new in (
    ("claims", "[row for row in", "reversed(list(report['rows']))"),
    ("claims", "for threads in", "for threads in reversed(list("),
    ("claims", "in permutations(rows, 2)", "in reversed(list(permutations(rows, 2)))"),
    ("claims", "found.append((", "found.insert(0, (("),
    ("claims", "found.append((", "found.insert(0, ("),
    ("claims", "in beaten.items()", "in reversed(list(beaten.items()))"),
    ("claims", "for name in best]", "for name in reversed(list(best))]"),
    ("scales", "[row for row in", "reversed(list(report['rows']))"),
    ("scales", "in permutations(systems, 2)", "in reversed(list(permutations(systems, 2)))"),
    ("scales", "in permutations(both, 2)", "in reversed(list(permutations(both, 2)))"),
    ("scales", "for n in counts if", "for n in reversed(list(counts)) if"),
    ("scales", "found.append((", "found.insert(0, ("),
    ("advice", "('weights', 'activations')", "reversed(list(('weights', 'activations')))"),
    ("advice", "('weights', 'activations')", "('activations', 'weights')"),
    ("advice", "in facts:", "in reversed(list(facts)):"),
    ("advice", "in dict.fromkeys(", "in reversed(list(dict.fromkeys("),
    ("advice", "sides = [known.get((device, 'is'), {}), ", "sides = [known[compiler, 'targets'], "),
):
    equivalent(f"u18_lab_report.{_name}", _old, _new, because="the order is free, or sorted away")
for _name, _old, _new in (
    ("claims", "row in report['rows']}", "row in list(report['rows'])[1:]}"),
    ("claims", "row in report['rows']}", "row in list(report['rows'])[:-1]}"),
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
equivalent("u18_lab_report.advice", "[number] = value", ".setdefault(number, value)",
           because="no number comes twice")  # fmt: skip
equivalent("u18_lab_report.advice", "answer[compiler] =", "answer.setdefault(compiler,",
           because="no compiler comes twice")  # fmt: skip
