"""The stepper of any dataflow shows every clock, what is in the cells and what comes next."""

import numpy as np
import pytest

from course_lib.accelerator.array.closed import cycles
from course_lib.accelerator.look import dataflow_steps
from course_lib.accelerator.systolic import SystolicArray

A = np.array([[2, 3], [4, 5]])
B = np.array([[1, 6], [7, 0]])


def states(picture):
    _, *found = picture.text.split("\n\n")
    return [" ".join(line.split()) for line in found]


def test_weights_are_loaded_and_then_operands_pass():
    picture = dataflow_steps(A, B, SystolicArray(2, 2, dataflow="ws"))
    assert picture.title == "2 x 2 cells, weight-stationary: one fold, 6 clocks"
    found = states(picture)
    assert len(found) == 7
    assert "from above: 7 1; · 0 6" in found[0]  # also the weight that is 0
    assert "*2 · 1 Σ↓ 2" in found[3]
    assert "*3 · 7 Σ↓ 23" in found[4]  # 2 * 1 + 3 * 7


def test_shadow_registers_show_what_comes_next():
    picture = dataflow_steps(
        A, np.hstack([B, B + 1]), SystolicArray(2, 2, dataflow="ws", shadow=True)
    )
    assert picture.text.count("next 8") and "2 folds" in picture.title


@pytest.mark.parametrize("kind", [{}, {"drain": True}, {"dataflow": "is"}])
def test_there_is_a_state_for_each_counted_clock(kind):
    array = SystolicArray(2, 2, **kind)
    found = states(dataflow_steps(A, B, array))
    assert len(found) == cycles(2, 2, 2, array) + 1
    assert "4 of 4 cells multiply" not in found[0]
    if not kind:
        assert "Σ 23" in found[-1] and "Σ 24" in found[-1]


def test_long_products_are_refused():
    with pytest.raises(ValueError, match="60 clocks at most, this product has 61"):
        dataflow_steps(np.ones((1, 61)), np.ones((61, 1)), SystolicArray(1, 1))
