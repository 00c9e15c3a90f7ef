"""Answers to the counts of unit 12, wrong and right."""

from __future__ import annotations

import math

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.accelerator.array import closed
from course_lib.accelerator.systolic import SystolicArray


def _parts(time, array, wait):
    return wait * array.rows, time + array.rows + array.cols - 2


@mutant("u12.clocks")
def forgets_the_wait(folds, time, array, wait):
    load, stream = _parts(time, array, 1)
    if array.shadow:
        return load + (folds - 1) * max(time, load) + stream
    return folds * (load + stream)


@mutant("u12.clocks")
def streams_always_follow_each_other(folds, time, array, wait):
    """Forgets that weights may be late."""
    load, stream = _parts(time, array, wait)
    return load + (folds - 1) * time + stream if array.shadow else folds * (load + stream)


@mutant("u12.clocks")
def the_fill_is_paid_for_each_fold(folds, time, array, wait):
    load, stream = _parts(time, array, wait)
    if array.shadow:
        return load + (folds - 1) * max(stream, load) + stream
    return folds * (load + stream)


@mutant("u12.clocks")
def shadow_loads_before_everything(folds, time, array, wait):
    load, stream = _parts(time, array, wait)
    return load + folds * time + stream - time if array.shadow else folds * load + stream


@mutant("u12.clocks")
def one_fill_without_shadow_too(folds, time, array, wait):
    load, stream = _parts(time, array, wait)
    if array.shadow:
        return load + (folds - 1) * max(time, load) + stream
    return folds * (load + time) + array.rows + array.cols - 2


@mutant("u12.clocks")
def one_load_is_hidden(folds, time, array, wait):
    load, stream = _parts(time, array, wait)
    if array.shadow:
        return (folds - 1) * max(time, load) + stream
    return folds * (load + stream)


@mutant("u12.clocks")
def output_stationary(folds, time, array, wait):
    return folds * (time + array.rows + array.cols - 2)


@mutant("u12.clocks")
def rows_and_columns_exchanged(folds, time, array, wait):
    other = SystolicArray(array.cols, array.rows, dataflow="ws", shadow=array.shadow)
    load, stream = _parts(time, other, wait)
    if array.shadow:
        return load + (folds - 1) * max(time, load) + stream
    return folds * (load + stream)


@mutant("u12.clocks")
def fold_by_fold(folds, time, array, wait):
    total = 0
    for number in range(folds):
        load, stream = _parts(time, array, wait)
        hidden = array.shadow and number + 1 < folds
        total += (max(time, load) if hidden else stream) + (
            load if not array.shadow or number == 0 else 0
        )
    return total


@mutant("u12.clocks")
def no_more_than_a_million_folds(folds, time, array, wait):
    load, stream = _parts(time, array, wait)
    folds = min(folds, 10**6)
    return (
        load + (folds - 1) * max(time, load) + stream if array.shadow else folds * (load + stream)
    )


@alternative("u12.clocks")
def from_start_to_start(folds, time, array, wait):
    load = wait * array.rows
    last = time + (array.rows - 1) + (array.cols - 1)
    between = max(time, load) if array.shadow else last + load
    return load + between * (folds - 1) + last


@alternative("u12.clocks")
def by_the_library(folds, time, array, wait):
    """What the library counts, and what slow weights add."""
    count = closed.cycles(time, array.rows * folds, array.cols, array)
    extra = (wait - 1) * array.rows
    if not array.shadow:
        return count + folds * extra
    late = max(time, wait * array.rows) - max(time, array.rows)
    return count + extra + (folds - 1) * late


@alternative("u12.clocks")
def the_number_of_the_last_clock(folds, time, array, wait):
    first = wait * array.rows + 1
    stream = time - 1 + array.rows - 1 + array.cols - 1
    if array.shadow:
        starts = first + (folds - 1) * (time if time > wait * array.rows else wait * array.rows)
    else:
        starts = first + (folds - 1) * (stream + 1 + wait * array.rows)
    return float(starts + stream)


def _counts(m, k, n, rows, cols):
    down, across, deep = -(-m // rows), -(-n // cols), -(-k // rows)
    a = down * across * (k + rows + cols - 2)
    e = (deep * across - 1) * max(m, rows) + m + 2 * rows + cols - 2
    return {"A": a, "B": a - 1, "C": a + down * across * rows,
            "D": deep * across * (m + 2 * rows + cols - 2), "E": e,
            "F": math.ceil(m * k * n / (rows * cols))}  # fmt: skip


def _those(counts, reported):
    return "".join(letter for letter, cycles in counts.items() if cycles == reported)


@mutant("u12.which")
def only_the_first(m, k, n, rows, cols, reported):
    return _those(_counts(m, k, n, rows, cols), reported)[:1]


@mutant("u12.which")
def rounds_down(m, k, n, rows, cols, reported):
    counts = _counts(m, k, n, rows, cols)
    return _those({**counts, "F": m * k * n // (rows * cols)}, reported)


@mutant("u12.which")
def one_less_for_each_fold(m, k, n, rows, cols, reported):
    counts = _counts(m, k, n, rows, cols)
    folds = -(-m // rows) * -(-n // cols)
    return _those({**counts, "B": counts["A"] - folds}, reported)


@mutant("u12.which")
def drains_once(m, k, n, rows, cols, reported):
    counts = _counts(m, k, n, rows, cols)
    return _those({**counts, "C": counts["A"] + rows}, reported)


@mutant("u12.which")
def shadow_hides_all_loads(m, k, n, rows, cols, reported):
    counts = _counts(m, k, n, rows, cols)
    return _those({**counts, "E": counts["E"] - rows}, reported)


@mutant("u12.which")
def one_fold(m, k, n, rows, cols, reported):
    counts = _counts(min(m, rows), k, min(n, cols), rows, cols)
    return _those(counts, reported)


@mutant("u12.which")
def as_if_there_were_always_one(m, k, n, rows, cols, reported):
    return _those(_counts(m, k, n, rows, cols), reported) or "A"


@alternative("u12.which")
def by_hand(m, k, n, rows, cols, reported):
    return _those(_counts(m, k, n, rows, cols), reported)


@alternative("u12.which")
def from_the_back_with_commas(m, k, n, rows, cols, reported):
    return ", ".join(reversed(_those(_counts(m, k, n, rows, cols), reported)))


@alternative("u12.which")
def one_question_after_the_other(m, k, n, rows, cols, reported):
    count, found = closed.cycles, ""
    outputs = count(m, k, n, SystolicArray(rows, cols))
    found += "a" if outputs == reported else ""
    found += "b" if outputs == reported + 1 else ""
    found += "c" if count(m, k, n, SystolicArray(rows, cols, drain=True)) == reported else ""
    for letter, shadow in (("d", False), ("e", True)):
        array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
        found += letter if count(m, k, n, array) == reported else ""
    cells = rows * cols
    return found + ("f" if (reported - 1) * cells < m * k * n <= reported * cells else "")


@mutant("u12.choose")
def always_the_square(m, k, n, cells):
    rows = max(r for r in range(1, math.isqrt(cells) + 1) if cells % r == 0)
    return SystolicArray(rows, cells // rows)


@mutant("u12.choose")
def always_weights(m, k, n, cells):
    return _best(m, k, n, cells, ("ws",))


@mutant("u12.choose")
def always_outputs(m, k, n, cells):
    return _best(m, k, n, cells, ("os",))


@mutant("u12.choose")
def never_inputs(m, k, n, cells):
    return _best(m, k, n, cells, ("os", "ws"))


@mutant("u12.choose")
def only_powers_of_two(m, k, n, cells):
    powers = [2**e for e in range(cells.bit_length()) if cells % 2**e == 0]
    arrays = [SystolicArray(r, cells // r, dataflow=kind)
              for r in powers for kind in ("os", "ws", "is")]  # fmt: skip
    return min(arrays, key=lambda array: closed.cycles(m, k, n, array))


@mutant("u12.choose")
def one_row_if_the_cells_are_prime(m, k, n, cells):
    prime = all(cells % d for d in range(2, math.isqrt(cells) + 1))
    return SystolicArray(1, cells) if prime else _best(m, k, n, cells, ("os", "ws", "is"))


@mutant("u12.choose")
def rows_up_to_the_root(m, k, n, cells):
    arrays = [SystolicArray(r, cells // r, dataflow=kind) for kind in ("os", "ws", "is")
              for r in range(1, math.isqrt(cells) + 1) if cells % r == 0]  # fmt: skip
    return min(arrays, key=lambda array: closed.cycles(m, k, n, array))


@mutant("u12.choose")
def the_largest_matrix_stays(m, k, n, cells):
    sizes = {"is": m * k, "ws": k * n, "os": m * n}
    return _best(m, k, n, cells, (max(sizes, key=sizes.get),))


@mutant("u12.choose")
def only_fewest_folds(m, k, n, cells):
    arrays = [SystolicArray(r, cells // r) for r in range(1, cells + 1) if cells % r == 0]
    return min(arrays, key=lambda x: -(-m // x.rows) * -(-n // x.cols))


@mutant("u12.choose")
def with_shadow_registers(m, k, n, cells):
    best = _best(m, k, n, cells, ("ws", "is"))
    return SystolicArray(best.rows, best.cols, dataflow=best.dataflow, shadow=True)


@mutant("u12.choose")
def fewer_cells(m, k, n, cells):
    return SystolicArray(min(m, cells), max(1, cells // min(m, cells)))


def _best(m, k, n, cells, kinds):
    arrays = [SystolicArray(r, cells // r, dataflow=kind)
              for r in range(1, cells + 1) if cells % r == 0 for kind in kinds]  # fmt: skip
    return min(arrays, key=lambda array: closed.cycles(m, k, n, array))


@alternative("u12.choose")
def the_last_of_the_best(m, k, n, cells):
    best = SystolicArray(1, cells)
    for rows in range(1, cells + 1):
        for kind in ("is", "os", "ws") if cells % rows == 0 else ():
            array = SystolicArray(rows, cells // rows, dataflow=kind)
            if closed.cycles(m, k, n, array) <= closed.cycles(m, k, n, best):
                best = array
    return best


@alternative("u12.choose")
def by_formula(m, k, n, cells):
    found = []
    for rows in filter(lambda r: cells % r == 0, range(1, cells + 1)):
        cols = cells // rows
        for kind, (down, across, time, load) in {
            "os": (m, n, k, 0), "ws": (k, n, m, rows), "is": (k, m, n, rows)
        }.items():  # fmt: skip
            folds = -(-down // rows) * -(-across // cols)
            found.append((folds * (time + load + rows + cols - 2), rows, kind))
    _, rows, kind = min(found)
    return SystolicArray(rows, cells // rows, dataflow=kind)


@alternative("u12.choose")
def sorted_by_cycles(m, k, n, cells):
    divisors = [d for d in range(1, cells + 1) if not cells % d]
    arrays = [SystolicArray(d, cells // d, False, kind) for kind in ("ws", "is", "os")
              for d in reversed(divisors)]  # fmt: skip
    return sorted(arrays, key=lambda array: closed.cycles(m, k, n, array))[0]


CHOOSE = "u12.choose"
TIE = "the same arrays in another order: any of the fastest is right"
equivalent(CHOOSE, "for rows in range(1, cells + 1)", "reversed(", because=TIE)
equivalent(
    CHOOSE, "SystolicArray(rows, cells // rows", "SystolicArray(cells // rows, rows", because=TIE
)
equivalent(CHOOSE, "('os', 'ws', 'is')", "('is', 'ws', 'os')", because=TIE)
equivalent(CHOOSE, "cells + 1)", "cells + 2)", because="cells + 1 does not divide cells")
