"""Answers to unit 12: plausible mistakes that every check must catch, other right ones that pass.

Here: the clock of a grid and the fault in a trace. Next room: counts.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant, mutants
from autograder.units.u12.exercises import clock

mutants(
    "u12.clock",
    multiplies_the_operand_of_the_last_clock=("operand * stay", "right * stay"),
    multiplies_with_the_new_weight=("operand * stay", "operand * np.where(shift, weight, stay)"),
    # As in an output-stationary array.
    sums_stay_in_the_cell=("np.vstack([np.zeros_like(down[:1]), down[:-1]])", "down"),
    operands_move_down=("np.column_stack([enters, right[:, :-1]])",
                        "np.vstack([np.resize(enters, right.shape[1]), right[:-1]])"),
    every_weight_shifts=("np.where(shift, weight, stay)", "weight"),
    a_new_weight_is_the_one_that_enters=("np.vstack([weights, stay[:-1]])", "weights"),
    the_edges_are_connected=("np.vstack([np.zeros_like(down[:1]), down[:-1]])",
                             "np.roll(down, 1, 0)"),
    sums_of_16_bits=("above + operand * stay", "(above + operand * stay).astype(np.int16)"),
    in_another_order=("operand, above + operand * stay, np.where(shift, weight, stay)",
                      "operand, np.where(shift, weight, stay), above + operand * stay"),
    no_more_than_16_columns=("above = ", "operand[:, 16:] = 0; above = "),
    no_more_than_16_rows=("above = ", "operand[16:] = 0; above = "),
)  # fmt: skip


@mutant("u12.clock")
def one_cell_after_the_other(right, down, stay, shift, enters, weights):
    """A cell sees what its neighbours have taken in the same clock."""
    right, down, stay = right.copy(), down.copy(), stay.copy()
    for i in range(len(right)):
        for j in range(right.shape[1]):
            right[i, j] = right[i, j - 1] if j else enters[i]
            down[i, j] = (down[i - 1, j] if i else 0) + right[i, j] * stay[i, j]
            if shift[i, j]:
                stay[i, j] = stay[i - 1, j] if i else weights[j]
    return right, down, stay


@alternative("u12.clock")
def cell_by_cell(right, down, stay, shift, enters, weights):
    new = [np.zeros_like(one) for one in (right, down, stay)]
    for i in range(len(right)):
        for j in range(right.shape[1]):
            new[0][i, j] = right[i, j - 1] if j else enters[i]
            new[1][i, j] = (down[i - 1, j] if i else 0) + new[0][i, j] * stay[i, j]
            above = stay[i - 1, j] if i else weights[j]
            new[2][i, j] = above if shift[i, j] else stay[i, j]
    return tuple(new)


@alternative("u12.clock")
def with_slices(right, down, stay, shift, enters, weights):
    operand = right.copy()
    operand[:, 1:], operand[:, 0] = right[:, :-1], enters
    sums = operand * stay
    sums[1:] += down[:-1]
    weight = stay.copy()
    above = np.concatenate([weights.reshape(1, -1), stay])[:-1]
    weight[shift] = above[shift]
    return [operand, sums, weight]


@alternative("u12.clock")
def in_nested_lists(right, down, stay, shift, enters, weights):
    rows, cols = range(len(right)), range(len(right[0]))
    took = [[right[i][j - 1] if j else enters[i] for j in cols] for i in rows]
    sums = [[(down[i - 1][j] if i else 0) + took[i][j] * stay[i][j] for j in cols] for i in rows]
    above = [weights, *stay]
    return took, sums, [[(above if shift[i][j] else stay)[i][j] for j in cols]
                        for i in rows]  # fmt: skip


@alternative("u12.clock")
def by_rolling(right, down, stay, shift, enters, weights):
    operand, above, weight = np.roll(right, 1, 1), np.roll(down, 1, 0), np.roll(stay, 1, 0)
    operand[:, 0], above[0], weight[0] = enters, 0, weights
    return operand, above + operand * stay, shift * weight + (1 - shift) * stay


def _own_grid(right, down, stay, shift, enters, weights):
    """All that differs from a grid that is clocked beside the trace."""
    held, differ = tuple(np.zeros_like(right[0]) for _ in range(3)), []
    for n in range(len(right)):
        held = clock(*held, shift[n], enters[n], weights[n])
        for name, mine, got in zip(("right", "down", "stay"), held, (right, down, stay),
                                   strict=True):  # fmt: skip
            differ += [(n + 1, name, *at) for at in np.argwhere(mine != got[n]).tolist()]
    return differ


NEVER = (
    "raise ValueError('no register took a wrong value after clock 1')",
    "return (1, 'down', 0, 0)",
)
mutants(
    "u12.fault",
    the_first_fault=("reversed(range(1, len(right)))", "range(len(right))",
                     "(right[number - 1], down[number - 1], stay[number - 1])",
                     "[one[number - 1] * (number > 0) for one in (right, down, stay)]"),
    clocks_from_zero=("number + 1, name", "number, name"),
    cells_from_one=("row, col)", "row + 1, col + 1)"),
    the_first_that_differs=lambda *states: _own_grid(*states)[0],
    the_second_that_differs=lambda *states: _own_grid(*states)[:2][-1],
    the_last_that_differs=lambda *states: _own_grid(*states)[-1],
    # Looks at partial sums alone, because they are what is wrong in the end.
    only_the_sums=("zip(('right', 'down', 'stay'), due, now, strict=True)",
                   "[('down', due[1], now[1])]", *NEVER),
    wrong_is_too_large=("wanted != found).any()", "wanted < found).any()", *NEVER),
    in_parts=("row, col)", "row + 0.5, col)"),
    row_and_column_exchanged=("row, col)", "col, row)"),
    weights_never_change=("shift[number],", "0 * shift[number],"),
    no_more_than_16_columns=("wanted != found).any()", "wanted != found)[:, :16].any()", *NEVER),
    no_more_than_16_rows=("wanted != found).any()", "wanted != found)[:16].any()", *NEVER),
)  # fmt: skip


@alternative("u12.fault")
def all_that_differ(right, down, stay, shift, enters, weights):
    """Every clock from the one before, in the trace; then the last difference."""
    zero = np.zeros_like(right[:1])
    before = [np.concatenate([zero, one[:-1]]) for one in (right, down, stay)]
    found = []
    for n in range(len(right)):
        due = clock(before[0][n], before[1][n], before[2][n], shift[n], enters[n], weights[n])
        for name, wanted, got in zip(("right", "down", "stay"), due,
                                     (right[n], down[n], stay[n]), strict=True):  # fmt: skip
            found += [(n + 1, name, int(i), int(j)) for i, j in np.argwhere(wanted != got)]
    return found[-1]


@alternative("u12.fault")
def register_by_register(right, down, stay, shift, enters, weights):
    """Three comparisons of whole traces, without a clock."""
    was = [np.concatenate([np.zeros_like(one[:1]), one[:-1]]) for one in (right, down, stay)]
    took = np.concatenate([enters[:, :, None], was[0][:, :, :-1]], axis=2)
    zeros = np.zeros_like(was[1][:, :1])
    due_down = np.concatenate([zeros, was[1][:, :-1]], axis=1) + took * was[2]
    above = np.concatenate([weights[:, None], was[2][:, :-1]], axis=1)
    dues = {"right": (took, right), "down": (due_down, down),
            "stay": (np.where(shift, above, was[2]), stay)}  # fmt: skip
    found = [(n + 1, name, i, j) for name, (due, got) in dues.items()
             for n, i, j in np.argwhere(due != got).tolist()]  # fmt: skip
    return max(found)


@alternative("u12.fault")
def a_grid_that_starts_again(right, down, stay, shift, enters, weights):
    """A grid of its own that takes over the wrong value as soon as one is seen."""
    own, found = [np.zeros_like(right[0]) for _ in range(3)], None
    for n in range(len(right)):
        own = [np.array(one) for one in clock(*own, shift[n], enters[n], weights[n])]
        for mine, name, got in zip(own, ("right", "down", "stay"), (right, down, stay),
                                   strict=True):  # fmt: skip
            for i, j in np.argwhere(mine != got[n]).tolist():
                found, mine[i, j] = [n + 1, name, i, j], got[n, i, j]
    return found


@alternative("u12.fault")
def cell_after_cell(right, down, stay, shift, enters, weights):
    clocks, rows, cols = right.shape
    found = [0]
    for n in range(clocks):
        for i in range(rows):
            for j in range(cols):
                took = int(enters[n, i]) if j == 0 else _was(right, n, i, j - 1)
                if right[n, i, j] != took:
                    found = [n + 1, "right", i, j]
                above = _was(down, n, i - 1, j) if i else 0
                if down[n, i, j] != above + took * _was(stay, n, i, j):
                    found = [n + 1, "down", i, j]
                came = (_was(stay, n, i - 1, j) if i else weights[n, j]) if shift[n, i, j] else None
                if stay[n, i, j] != (_was(stay, n, i, j) if came is None else came):
                    found = [n + 1, "stay", i, j]
    return found


def _was(one, n, i, j):
    return int(one[n - 1, i, j]) if n else 0


FAULT = "u12.fault"
NONE = "every trace has a fault after clock 1, so the end is never reached"
ONE = "one register differs in one cell, so it does not matter which is looked at first"
equivalent(FAULT, "raise ValueError", "pass", because=NONE)
equivalent(FAULT, "raise ValueError", "raise ArithmeticError", because=NONE)
equivalent(FAULT, "range(1, len(right))", "range(0, ", because="clock 1 holds no second fault")
equivalent(FAULT, "for name, wanted, found in zip(", "reversed(", because=ONE)
equivalent(FAULT, "due, now, strict=True", "now, due, strict=True", because="!= is symmetric")
equivalent(FAULT, "[0].tolist()", "[-1].tolist()", because=ONE)
