"""Three simulations of three dataflows: values equal numpy, values and cycles equal each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator import systolic
from course_lib.accelerator.array.access import accesses
from course_lib.accelerator.array.closed import cycles, definition
from course_lib.accelerator.array.dataflow import DATAFLOWS, Folding
from course_lib.accelerator.array.multiply import multiply
from course_lib.accelerator.array.registers import registers, simulate
from course_lib.accelerator.array.timing import timing
from course_lib.accelerator.systolic import SystolicArray

KINDS = [
    {},
    {"drain": True},
    {"dataflow": "ws"},
    {"dataflow": "ws", "shadow": True},
    {"dataflow": "is"},
    {"dataflow": "is", "shadow": True},
]
SIZES = st.integers(1, 11)
ARRAYS = st.builds(
    lambda rows, cols, kind: SystolicArray(rows, cols, **kind),
    *(st.integers(1, 6), st.integers(1, 6), st.sampled_from(KINDS)),
)


def int8(seed, *shape):
    return np.random.default_rng(seed).integers(-128, 128, shape, dtype=np.int8)


def agree(m, k, n, array):
    a, b = int8(m + 100 * k, m, k), int8(n + 100 * k, k, n)
    runs = [multiply(a, b, array, level) for level in (0, 1, 2)]
    for level, run in enumerate(runs):
        what = f"level {level}: [{m}, {k}] x [{k}, {n}], {array}"
        np.testing.assert_array_equal(run.values, a.astype(np.int32) @ b, what)
        assert run.values.dtype == np.int32
        assert (run.cycles, run.macs, run.tiles) == (runs[2].cycles, m * k * n, runs[2].tiles), what


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_three_levels_agree_on_many_shapes(kind):
    """170 shapes for each kind of array, 1,020 in all, and those that are 1 in some direction."""
    rng = np.random.default_rng(len(str(kind)))
    for m, k, n, rows, cols in rng.integers(1, (9, 9, 9, 6, 6), (170, 5)).tolist():
        agree(m, k, n, SystolicArray(rows, cols, **kind))
    for m, k, n in [(1, 1, 1), (1, 7, 7), (7, 1, 7), (7, 7, 1)]:
        for rows, cols in [(1, 1), (1, 4), (4, 1), (3, 4)]:
            agree(m, k, n, SystolicArray(rows, cols, **kind))


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_three_levels_agree(m, k, n, array):
    agree(m, k, n, array)


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_floats_agree_to_the_last_bit_where_sums_have_one_order(m, k, n, array):
    a, b = int8(m, m, k) / np.float32(3), int8(n, k, n) / np.float32(7)
    stepped, front, product = (multiply(a, b, array, level).values for level in (0, 1, 2))
    assert stepped.dtype == np.float32
    np.testing.assert_array_equal(stepped, front)
    np.testing.assert_allclose(stepped, product, rtol=1e-4, atol=1e-2)


@given(SIZES, SIZES, SIZES, st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_the_formula_of_unit_0_is_the_output_stationary_one(m, k, n, rows, cols, drain):
    array = SystolicArray(rows, cols, drain)
    assert cycles(m, k, n, array) == systolic.cycles(m, k, n, array)


def test_sums_wrap_at_32_bits_at_every_level():
    large = np.full((2, 3), 2**30, np.int32)
    for level in (0, 1, 2):
        for kind in KINDS:
            run = multiply(large, large.T // 2**29, SystolicArray(2, 2, **kind), level)
            np.testing.assert_array_equal(run.values, np.int64(6 * 2**30).astype(np.int32))


def test_what_stays_and_what_moves_follows_from_the_axes():
    found = {name: (flow.stays, flow.right, flow.down) for name, flow in DATAFLOWS.items()}
    assert found == {"os": ("c", "a", "b"), "ws": ("b", "a", "c"), "is": ("a", "b", "c")}


def test_a_weight_stands_still_while_its_operands_pass():
    """One fold of 3 x 2 weights: loaded in 3 clocks, and then each cell multiplies 4 times."""
    a, b = int8(1, 4, 3), int8(2, 3, 2)
    states = list(registers(a, b, SystolicArray(3, 2, dataflow="ws")))
    for i in range(3):
        for j in range(2):
            busy = [s for s in states if s.busy[i, j]]
            assert [s.number for s in busy] == [3 + 1 + i + j + t for t in range(4)]
            assert [s.stay[i, j] for s in busy] == [b[i, j]] * 4
            assert [s.right[i, j] for s in busy] == a[:, i].tolist()
            partial = a[:, : i + 1].astype(int) @ b[: i + 1, j]
            assert [s.down[i, j] for s in busy] == partial.tolist()


def test_with_shadow_registers_the_next_weights_wait_behind_these():
    a, b = int8(1, 6, 2), int8(2, 2, 4)
    array = SystolicArray(2, 2, dataflow="ws", shadow=True)
    states = list(registers(a, b, array))
    first, second = timing(Folding(array, 6, 2, 4))
    assert second.load is not None
    assert (first.load, first.start, second.load, second.start) == (0, 2, 2, 8)
    waiting = [s for s in states if second.load + 4 <= s.number <= second.start]
    assert waiting
    for state in waiting:
        np.testing.assert_array_equal(state.stay, b[:, :2])
        np.testing.assert_array_equal(state.spare, b[:, 2:])


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_cell_multiplies_once_for_each_point_of_its_folds(kind):
    array = SystolicArray(3, 4, **kind)
    folding = Folding(array, 5, 7, 6)
    states = list(registers(int8(0, 5, 7), int8(1, 7, 6), array))
    busy = np.sum([state.busy for state in states], axis=0)
    assert (busy == folding.folds * folding.time).all()
    assert sum(s.counted for s in states) == cycles(5, 7, 6, array)
    assert all(s.counted for s in states if s.busy.any())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ({}, 6 * (100 + 32 + 32 - 2)),  # SCALE-Sim's published lines, by hand: 3 x 2 folds
        ({"drain": True}, 6 * (100 + 64 + 32 - 2)),
        ({"dataflow": "ws"}, 4 * 2 * (96 + 64 + 32 - 2)),
        ({"dataflow": "is"}, 4 * 3 * (50 + 64 + 32 - 2)),
        ({"dataflow": "ws", "shadow": True}, 7 * 96 + 96 + 64 + 32 - 2),
    ],
)
def test_published_totals(kind, expected):
    assert cycles(96, 100, 50, SystolicArray(32, 32, **kind)) == expected


@pytest.mark.parametrize(
    ("dataflow", "reported", "reads", "writes"),
    [
        ("os", 447, (4000, 3300), None),  # it counts 1,576 writes where 40 x 33 results are stored
        ("ws", 535, (4000, 1650), 2640),
        ("is", 507, (2000, 3300), 2640),
    ],
)
def test_what_scale_sim_reported(dataflow, reported, reads, writes):
    """SCALE-Sim 2.0.2 on [40, 50] x [50, 33], 32 x 32, as it was run: compute cycles, which start
    at 0, and the SRAM accesses of DETAILED_ACCESS_REPORT.csv."""
    array = SystolicArray(32, 32, dataflow=dataflow)
    assert cycles(40, 50, 33, array) - 1 == reported
    found = accesses(40, 50, 33, array)
    assert (found["a"].sram_reads, found["b"].sram_reads) == reads
    assert writes is None or found["c"].sram_writes == writes


def test_short_streams_wait_for_the_next_weights():
    """3 operands pass in 3 clocks, but the next weights need 8."""
    array = SystolicArray(8, 2, dataflow="ws", shadow=True)
    assert cycles(3, 16, 2, array) == 8 + 3 + 2 * 8 + 2 - 2
    agree(3, 16, 2, array)


def test_a_definition_names_the_formula_and_what_is_left_out():
    assert definition(SystolicArray(32, 16, dataflow="ws")) == (
        "F(T + 2R + C - 2) with T = m, F = ceil(k/R) ceil(n/C), R = 32, C = 16: 32×16 "
        "weight-stationary array (counted: load of each tile, fill, not memory; whole tiles)"
    )


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "4"])
def test_sizes_that_are_no_sizes_are_refused(size):
    with pytest.raises(ValueError, match="k is a whole number of at least 1"):
        cycles(3, size, 3, SystolicArray())


def test_what_would_take_too_long_is_refused_at_once():
    one, wide = np.ones((1, 1)), np.ones((1, 2**20), np.int8)
    with pytest.raises(ValueError, match="too many for level 0"):
        simulate(one, wide, SystolicArray(2, 1))
    with pytest.raises(ValueError, match="too many for level 1"):
        multiply(one, wide, SystolicArray(64, 64), 1)


def test_no_such_level_and_shapes_that_do_not_multiply_are_refused():
    one = np.ones((2, 2))
    with pytest.raises(ValueError, match="levels 0, 1 and 2, got 3"):
        multiply(one, one, SystolicArray(), 3)
    for level in (0, 1, 2):
        with pytest.raises(ValueError, match=r"a \[m, k\] times b \[k, n\] expected"):
            multiply(one, np.ones((3, 2)), SystolicArray(), level)
