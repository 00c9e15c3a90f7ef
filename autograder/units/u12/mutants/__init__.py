"""Answers to unit 12: plausible mistakes that every check must catch, other right ones that pass.

Here: the clock of a grid and the fault in a trace. Next room: counts.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
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
    sums_of_32_bits=("above + operand * stay", "(above + operand * stay).astype(np.int32)"),
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


def _differences(right, down, stay, shift, enters, weights, follows=False, clock=clock):
    """All that differs from a grid that is clocked beside the trace, or that `follows` it."""
    held, differ = 3 * [np.zeros_like(right[0])], []
    for n, got in enumerate(zip(right, down, stay, strict=True)):
        due = clock(*held, shift[n], enters[n], weights[n])
        for name, mine, theirs in zip(("right", "down", "stay"), due, got, strict=True):
            differ += [(n + 1, name, *at) for at in np.argwhere(mine != theirs).tolist()]
        held = got if follows else due
    return differ


THE_END = "raise ValueError('no register took a wrong value after clock 1')"
NEVER, DIFFERS = (THE_END, "return (1, 'down', 0, 0)"), "wanted != present).any()"
mutants(
    "u12.fault",
    the_first_fault=lambda *states: _differences(*states, follows=True)[0],
    clocks_from_zero=("number + 1, name", "number, name"),
    cells_from_one=("row, col)", "row + 1, col + 1)"),
    the_first_that_differs=lambda *states: _differences(*states)[0],
    the_second_that_differs=lambda *states: _differences(*states)[:2][-1],
    the_last_that_differs=lambda *states: _differences(*states)[-1],
    # Looks at partial sums alone, because they are what is wrong in the end.
    only_the_sums=("zip(('right', 'down', 'stay'), due, now, strict=True)",
                   "[('down', due[1], now[1])]", *NEVER),
    wrong_is_too_large=(DIFFERS, "wanted < present).any()", *NEVER),
    in_parts=("row, col)", "row + 0.5, col)"),
    row_and_column_exchanged=("row, col)", "col, row)"),
    weights_never_change=("shift[number],", "0 * shift[number],"),
    no_more_than_16_columns=(DIFFERS, "wanted != present)[:, :16].any()", *NEVER),
    no_more_than_16_rows=(DIFFERS, "wanted != present)[:16].any()", *NEVER),
)  # fmt: skip


alternatives(
    "u12.fault",
    # Every clock from the one before, in the trace; then the last difference.
    all_that_differ=lambda *states: _differences(*states, follows=True)[-1],
    cell_after_cell=lambda *states: list(_differences(*states, True, cell_by_cell)[-1]),
)


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
    wrong = [(n + 1, name, i, j) for name, (due, got) in dues.items()
             for n, i, j in np.argwhere(due != got).tolist()]  # fmt: skip
    return max(wrong)


@alternative("u12.fault")
def a_grid_that_starts_again(right, down, stay, shift, enters, weights):
    """A grid of its own that takes over the wrong value as soon as one is seen."""
    own, last = [np.zeros_like(right[0]) for _ in range(3)], None
    for n in range(len(right)):
        own = [np.array(one) for one in clock(*own, shift[n], enters[n], weights[n])]
        trace = ("right", right), ("down", down), ("stay", stay)
        for mine, (name, got) in zip(own, trace, strict=True):
            for i, j in np.argwhere(mine != got[n]).tolist():
                last, mine[i, j] = [n + 1, name, i, j], got[n, i, j]
    return last


FAULT = "u12.fault"
NONE = "every trace has a fault after clock 1, so the end is never reached"
ONE = "one register differs in one cell, so it does not matter which is looked at first"
equivalent(FAULT, "raise ValueError", "pass", because=NONE)
equivalent(FAULT, "raise ValueError", "raise ArithmeticError", because=NONE)
equivalent(FAULT, "range(1, len(right))", "range(0, ", because="clock 1 holds no second fault")
equivalent(FAULT, "for name, wanted, present in zip(", "reversed(", because=ONE)
equivalent(FAULT, "due, now, strict=True", "now, due, strict=True", because="!= is symmetric")
equivalent(FAULT, "[0].tolist()", "[-1].tolist()", because=ONE)
