"""Wrong and right answers of the lab of unit 9."""

from __future__ import annotations

import json
import math

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants

# ── logs ──

mutants(
    "u09_lab_tuners.records",
    the_mean=("min(times)", "sum(times) / len(times)"),
    the_first_time=("min(times)", "times[0]"),
    the_last_time=("min(times)", "times[-1]"),
    the_slowest=("else min(times)", "else max(times)"),
    leaves_out_what_failed=("found.append(", "failed or found.append("),
    a_failed_trial_keeps_its_time=("math.inf if failed else min(times)", "min(times)"),
    counts_from_nothing=("len(found) + 1", "len(found)"),
    every_time_that_is_large_failed=("failed = error != 0", "failed = max(times) >= 100.0"),
    only_error_number_two=("error != 0", "error == 2"),
    no_failure_in_metaschedule=("max(times) >= 10000000000.0", "False"),
    only_times_of_1e10_failed=("failed = error != 0", "failed = max(times) >= 1e9"),
    slow_is_failed_in_metaschedule=("max(times) >= 10000000000.0", "max(times) >= 500"),
    blank_lines_count=(
        *("filter(str.strip, text.splitlines())", "text.splitlines()"),
        *("row = json", "if not line.strip():\n            found.append((len(found) + 1, "
          "math.inf))\n            continue\n        row = json"),
    ),
    the_workload_is_the_number=("len(found) + 1", "row[0] if isinstance(row, list) else "
                                "len(found) + 1"),
    seconds_in_all=("min(times)", "(min(times) if isinstance(row, list) else _[0])"),
    milliseconds=("else min(times)", "else 1000.0 * min(times)"),
)  # fmt: skip


@alternative("u09_lab_tuners.records")
def with_a_generator(text):
    def seconds(row):
        match row:
            case {"result": [times, error, _, _]} | {"r": [times, error, _, _]}:
                return math.inf if error else min(times)
            case [_, [_, times, *_]]:
                return math.inf if times == [1e10] else min(times)

    lines = [line.strip() for line in text.split("\n")]
    return [[n, seconds(json.loads(line))] for n, line in enumerate([x for x in lines if x], 1)]


@alternative("u09_lab_tuners.records")
def with_numpy_numbers(text):
    rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    found = ()
    for row in rows:
        if type(row) is dict:
            times, error = (row.get("result") or row["r"])[:2]
        else:
            times = row[1][1]
            error = times[0] > 1e9
        least = np.inf if error else np.sort(times)[0]
        found += ((np.int64(len(found) + 1), np.float64(least)),)
    return found


alternatives(
    "u09_lab_tuners.records",
    sorted_times=("min(times)", "sorted(times)[0]"),
)

for _new in ("failed = min(", ">= 9999999999.0"):
    equivalent("u09_lab_tuners.records", "failed = max(times) >= 10000000000.0", _new,
               because="1e10 is the only time of such a trial")  # fmt: skip

# ── how a search gets on ──

mutants(
    "u09_lab_tuners.needed",
    a_goal_for_each=lambda logs, within: {
        name: _needed({name: log}, within)[name]
        for name, log in logs.items()
    },
    the_very_best=("(1 + within) * ", ""),
    strictly=("seconds <= goal", "seconds < goal"),
    seconds_beside_it=("(1 + within) *", "within +"),
    a_percent=("1 + within", "1 + within / 100"),
    failed_ones_do_not_count=("(n for n, seconds in log if", "(n for n, (_, seconds) in "
                              "enumerate([p for p in log if p[1] < math.inf], 1) if"),
    failed_ones_are_as_good_as_any=(" and seconds < math.inf", ""),
    leaves_out_who_never_has=lambda logs, within: {
        name: first for name, first in _needed(logs, within).items() if first is not None
    },
    zero_who_never_has=(", None)", ", 0)"),
    all_trials_of_who_never_has=(", None)", ", len(log))"),
    the_last=("(n for n, seconds in log if", "(n for n, seconds in reversed(log) if"),
    counts_from_nothing=("(n for n,", "(n - 1 for n,"),
    within_less_than_the_best=("1 + within", "1 - within"),
    how_many_are_good=lambda logs, within: {
        name: sum(s < math.inf and s <= (1 + within) * _best(logs) for _, s in log) or None
        for name, log in logs.items()
    },
)  # fmt: skip


def _best(logs):
    return min((s for log in logs.values() for _, s in log), default=math.inf)


def _needed(logs, within):
    found = {}
    for name, log in logs.items():
        found[name] = None
        for n, s in log:
            if s != math.inf and s <= _best(logs) * (1 + within):
                found[name] = n
                break
    return found


@alternative("u09_lab_tuners.needed")
def with_loops(logs, within):
    return _needed(logs, within)


@alternative("u09_lab_tuners.needed")
def by_improvements(logs, within):
    best = min([s for log in logs.values() for _, s in log] or [math.inf])
    good = {k: [n for n, s in log if math.isfinite(s) and s <= best + within * best]
            for k, log in logs.items()}  # fmt: skip
    return {k: min(numbers) if numbers else None for k, numbers in good.items()}


@alternative("u09_lab_tuners.needed")
def with_numpy_numbers_too(logs, within):
    found = {}
    for k, log in logs.items():
        ok = np.array([math.isfinite(s) and s <= (1 + within) * _best(logs) for _, s in log], bool)
        found[k] = np.int64(np.argmax(ok) + 1) if ok.any() else None
    return found


# ── features ──

mutants(
    "u09_lab_tuners.features",
    bytes_as_elements=("4 * (rows", "(rows"),
    eight_bytes=("4 * (rows", "8 * (rows"),
    forgets_c=(" + rows * columns)", ")"),
    forgets_a=("(rows * r1 + r1", "(r1"),
    the_whole_sum=("rows * r1 + r1 * columns", "rows * r0 * r1 + r0 * r1 * columns"),
    the_inner_tile_alone=("rows, columns = (i1 * i2, j1 * j2)", "rows, columns = (i2, j2)"),
    lanes_of_the_middle=("'lanes': j2", "'lanes': j1"),
    sums_of_a_block=("'sums': i2 * j2", "'sums': rows * columns"),
    sums_with_r=("'sums': i2 * j2", "'sums': i2 * j2 * r1"),
    traffic_of_i_and_j=("i0 * j0 * r0 * block", "i0 * j0 * block"),
    traffic_of_r_alone=("i0 * j0 * r0 * block", "r0 * block"),
    parts_from_the_inside=("schedule['j'], ", "schedule['j'][::-1], "),
    i_and_j_exchanged=("schedule['i'], schedule['j']", "schedule['j'], schedule['i']"),
    as_logarithms=lambda one: {name: math.log2(n) for name, n in _counted(one).items()},
    c_counts_twice=("+ rows * columns)", "+ 2 * rows * columns)"),
    as_a_list=lambda one: [*_counted(one).values()],
)  # fmt: skip


def _counted(one):
    m, n, k = (math.prod(one[name][1:]) for name in "ijr")
    block = 4 * (m * k + k * n + m * n)
    starts = one["i"][0] * one["j"][0] * one["r"][0]
    return {"lanes": one["j"][2], "sums": one["i"][2] * one["j"][2], "block": block,
            "traffic": starts * block}  # fmt: skip


@alternative("u09_lab_tuners.features")
def with_products(one):
    return _counted(one)


@alternative("u09_lab_tuners.features")
def as_numpy_numbers(one):
    i, j, r = (np.array(one[name]) for name in "ijr")
    rows, columns, depth = i[1:].prod(), j[1:].prod(), r[1]
    inside = np.float64(rows * depth + depth * columns + rows * columns) * 4
    starts = i[0] * j[0] * r[0]
    return {"lanes": j[-1], "sums": i[-1] * j[-1], "block": inside, "traffic": inside * starts}


@alternative("u09_lab_tuners.features")
def by_bytes(one):
    *_, j2 = one["j"]
    i1, i2, j1, (r0, r1) = one["i"][1], one["i"][2], one["j"][1], one["r"]
    a, b, c = 4 * i1 * i2 * r1, 4 * r1 * j1 * j2, 4 * i1 * i2 * j1 * j2
    return {"block": float(a + b + c), "traffic": one["i"][0] * one["j"][0] * r0 * (a + b + c),
            "sums": i2 * j2, "lanes": j2}  # fmt: skip


equivalent("u09_lab_tuners.features", "rows, columns = (i1 * i2, j1 * j2)", "(j1 * j2, i1 * i2)",
           because="the sum of the three blocks is the same in both directions")  # fmt: skip

# ── a model ──

RETURN = "return (_rows(asked) @ weights).tolist()"

mutants(
    "u09_lab_tuners.predicted",
    all_alike=lambda known, seconds, asked: [1.0] * len(asked),
    the_fastest_is_large=("(_rows(asked) @ weights)", "(-(_rows(asked) @ weights))"),
    at_random=lambda known, seconds, asked: np.random.default_rng(1).random(len(asked)).tolist(),
    of_the_wrong_length=lambda known, seconds, asked: [*seconds],
    the_first_times=lambda known, seconds, asked: [*seconds, *seconds, *seconds][: len(asked)],
    not_a_number=lambda known, seconds, asked: [math.nan] * len(asked),
    other_numbers_each_time=(
        RETURN,
        "return (_rows(asked) @ weights + np.random.default_rng().random(len(asked))).tolist()",
    ),
    traffic_alone=lambda known, seconds, asked: [_counted(one)["traffic"] for one in asked],
    lanes_alone=lambda known, seconds, asked: [-one["j"][2] for one in asked],
    the_seconds_themselves=lambda known, seconds, asked: _least_squares(known, seconds, asked),
    one_number=lambda known, seconds, asked: 1.0,
    a_column=(RETURN, "return (_rows(asked) @ weights)[:, None].tolist()"),
    places_in_the_order=(RETURN, "return np.argsort(_rows(asked) @ weights).tolist()"),
)


def _least_squares(known, seconds, asked):
    """Without logarithms, the slow schedules decide."""
    rows, new = ([[1.0, *_counted(one).values()] for one in some] for some in (known, asked))
    return (
        np.array(new) @ np.linalg.lstsq(np.array(rows), np.array(seconds), rcond=None)[0]
    ).tolist()


def _columns(schedules):
    logs = [[math.log2(n) for n in (*one["i"], *one["j"], *one["r"], *_counted(one).values())]
            for one in schedules]  # fmt: skip
    rows = np.array(
        [[one["unroll"], *row] for one, row in zip(schedules, logs, strict=True)], float
    )
    return np.hstack([np.ones((len(rows), 1)), rows, rows**2])


@alternative("u09_lab_tuners.predicted")
def with_squares(known, seconds, asked):
    rows = _columns(known)
    pull = np.eye(rows.shape[1])
    weights = np.linalg.solve(rows.T @ rows + pull, rows.T @ np.log(seconds))
    return np.exp(_columns(asked) @ weights)


def _scaled(known, asked):
    rows, new = (_columns(some)[:, 1:13] for some in (known, asked))
    return ((some - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-9) for some in (rows, new))


@alternative("u09_lab_tuners.predicted")
def by_kernel(known, seconds, asked):
    rows, new = _scaled(known, asked)

    def like(a, b):
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / 30)

    times = np.log(seconds)
    weights = np.linalg.solve(like(rows, rows) + 0.1 * np.eye(len(rows)), times - times.mean())
    return tuple(like(new, rows) @ weights)


@alternative("u09_lab_tuners.predicted")
def by_products_of_columns(known, seconds, asked):
    rows, new = (
        np.hstack([some, (some[:, :, None] * some[:, None, :]).reshape(len(some), -1)])
        for some in _scaled(known, asked)
    )
    times = np.log(np.array(seconds))
    weights = np.linalg.lstsq(
        np.vstack([rows, 4 * np.eye(rows.shape[1])]),
        np.concatenate([times - times.mean(), np.zeros(rows.shape[1])]), rcond=None,
    )[0]  # fmt: skip
    return [np.float64(n) for n in new @ weights]


for _old, _new, _why in [
    ("np.log2([[2", "for one in schedules])", "any one of the columns may be missing, or scaled"),
    ("logs[:, None, :]", ".reshape(len(logs), -", "all of these are the same array"),
    ("small = 100 *", "np.eye(rows.shape[1])", "how small hardly changes the order"),
]:
    equivalent("u09_lab_tuners.predicted", _old, _new, because=_why)
