"""The systolic array: values equal numpy, clocks equal the formula, pictures say the same."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator import systolic
from course_lib.accelerator.array import closed
from course_lib.accelerator.array.multiply import multiply
from course_lib.accelerator.look import wavefront_steps
from course_lib.accelerator.systolic import SystolicArray, clocks, cycles, wavefront
from course_lib.accelerator.workload import products, total_cycles, utilization
from course_lib.draw.plots.cells import Cell, cells
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.node import apply
from course_lib.ir.graph.recurrence import scan
from course_lib.passes.fusion.fuse import fuse

SIZES = st.integers(1, 11)
ARRAYS = st.builds(SystolicArray, st.integers(1, 5), st.integers(1, 5), st.booleans())


def int8(rng, *shape):
    return rng.integers(-128, 128, shape, dtype=np.int8)


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_simulation_agrees_with_numpy_and_with_the_formula(m, k, n, array):
    rng = np.random.default_rng(m * 100 + k * 10 + n)
    a, b = int8(rng, m, k), int8(rng, k, n)
    run = wavefront(a, b, array)
    np.testing.assert_array_equal(run.values, a.astype(np.int32) @ b)
    assert run.values.dtype == np.int32
    assert run.cycles == cycles(m, k, n, array)
    assert run.macs == m * k * n
    assert 0 < run.utilization <= 1


def test_floats_are_summed_in_their_own_type():
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s, dtype=np.float32) for s in ((5, 7), (7, 6)))
    run = wavefront(a, b, SystolicArray(4, 4))
    assert run.values.dtype == np.float32
    np.testing.assert_allclose(run.values, a @ b, rtol=1e-5, atol=1e-6)


def test_each_cell_starts_a_clock_after_its_neighbours_and_works_k_clocks():
    states = list(clocks(np.ones((3, 5), int), np.ones((5, 4), int)))
    busy = np.array([s.busy for s in states])
    first = busy.argmax(axis=0) + 1
    rows, columns = np.indices((3, 4))
    np.testing.assert_array_equal(first, 1 + rows + columns)
    assert (busy.sum(axis=0) == 5).all()
    assert [s.number for s in states] == list(range(1, 5 + 3 + 4 - 2 + 1))


def test_published_scale_sim_totals():
    """Output-stationary lines of SCALE-Sim (F folds of K+R+C-2), by hand: 3 x 2 folds."""
    assert cycles(96, 100, 50, SystolicArray(32, 32)) == 3 * 2 * (100 + 32 + 32 - 2)
    assert cycles(96, 100, 50, SystolicArray(32, 32, drain=True)) == 6 * (100 + 32 + 62)


def test_an_array_says_what_it_counts():
    plain, with_drain = str(SystolicArray(8, 4)), str(SystolicArray(8, 4, drain=True))
    assert plain == (
        "8×4 output-stationary array (counted: fill, not drain, not memory; whole tiles)"
    )
    assert "counted: fill and drain, not memory" in with_drain
    run = wavefront(np.ones((4, 8)), np.ones((8, 4)), SystolicArray())
    assert str(run).splitlines()[0] == (
        "14 cycles for 128 multiply-accumulates in 1 tiles, utilization 57.1%"
    )


def test_other_dataflows_say_what_stays_and_what_is_counted():
    shadow = SystolicArray(8, 4, dataflow="ws", shadow=True)
    assert str(shadow) == (
        "8×4 weight-stationary array with shadow registers "
        "(counted: first load, fill, not memory; whole tiles)"
    )
    assert str(SystolicArray(dataflow="is")) == (
        "4×4 input-stationary array (counted: load of each tile, fill, not memory; whole tiles)"
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"dataflow": "rs"}, "one of os, ws, is, got 'rs'"),
        ({"shadow": True}, "an output-stationary array has none"),
        ({"dataflow": "is", "drain": True}, "where weights or inputs stay"),
    ],
)
def test_an_array_that_cannot_be_is_refused(fields, why):
    with pytest.raises(ValueError, match=why):
        SystolicArray(**fields)


def test_the_output_stationary_simulation_refuses_other_arrays():
    array = SystolicArray(dataflow="ws")
    with pytest.raises(ValueError, match="output-stationary arrays only"):
        wavefront(np.ones((2, 2)), np.ones((2, 2)), array)
    with pytest.raises(ValueError, match="output-stationary arrays only"):
        cycles(2, 2, 2, array)


@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((3,), (3, 1)), ((0, 2), (2, 2))])
def test_shapes_that_do_not_multiply_are_refused(shapes):
    with pytest.raises(ValueError, match=r"a \[m, k\] times b \[k, n\] expected"):
        wavefront(np.zeros(shapes[0]), np.zeros(shapes[1]), SystolicArray())


def test_an_array_without_cells_is_refused():
    for rows, cols in ((0, 4), (4, -1), (2.5, 4)):
        with pytest.raises(ValueError, match="a whole number of rows and columns"):
            SystolicArray(rows, cols)  # type: ignore[arg-type]


def test_a_product_without_size_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        closed.cycles(-5, 4, 4, SystolicArray())


@pytest.mark.parametrize("level", [0, 1, 2])
def test_integers_of_more_than_32_bits_are_refused(level):
    big = np.full((2, 2), 1 << 32)
    with pytest.raises(ValueError, match="integers of 32 bits expected"):
        multiply(big, np.ones((2, 2), int), SystolicArray(), level)
    most = np.array([[-(1 << 31), (1 << 31) - 1]])
    assert multiply(most, np.ones((2, 1), int), SystolicArray(), level).values.item() == -1


def test_products_of_convolutions_and_matmuls_also_in_fused_nodes():
    def model(x, w, d, v):
        y = apply("conv", x, w, strides=(2, 2), pads=(1, 1, 1, 1), origin=("stem",))
        y = apply("relu", apply("conv", y, d, groups=8))
        y = apply("reshape", y, shape=(1, 8, 16))
        return apply("relu", apply("matmul", y, v))

    types = ("f32[1,3,12,12]", "f32[8,3,3,3]", "f32[8,1,3,3]", "f32[16,5]")
    graph = trace(model, *types)
    stem, depthwise, dense = products(graph)
    assert (stem.origin, stem.count, stem.m, stem.k, stem.n) == (("stem",), 1, 36, 27, 8)
    assert (depthwise.count, depthwise.m, depthwise.k, depthwise.n) == (8, 16, 9, 1)
    assert (dense.count, dense.m, dense.k, dense.n) == (1, 8, 16, 5)
    assert products(fuse(graph)) == products(graph)
    array = SystolicArray(4, 4)
    parts = products(graph)
    assert total_cycles(parts, array) == 9 * 2 * 33 + 8 * 4 * 15 + 2 * 2 * 22
    assert utilization([stem], array) == 36 * 27 * 8 / (9 * 2 * 33 * 16)


def test_products_of_a_loop_count_once_for_each_step():
    def model(h, xs, w):
        return scan(lambda s, x: apply("tanh", s @ w + x), h, [xs])

    (product,) = products(trace(model, "f32[2,3]", "f32[7,2,3]", "f32[3,3]"))
    assert (product.count, product.m, product.k, product.n) == (7, 2, 3, 3)


def test_the_matmul_of_a_graph_takes_the_clocks_of_the_simulation():
    graph = trace(lambda x, w: x @ w, "f32[6,9]", "f32[9,7]")
    run = wavefront(np.ones((6, 9)), np.ones((9, 7)), SystolicArray(4, 3))
    assert total_cycles(products(graph), run.array) == run.cycles
    assert utilization(products(graph), run.array) == run.utilization


def test_products_of_a_model_on_an_array_where_weights_stay():
    parts = products(trace(lambda x, w: x @ w, "f32[6,9]", "f32[9,7]"))
    array = SystolicArray(4, 3, dataflow="ws")
    assert total_cycles(parts, array) == 3 * 3 * (6 + 2 * 4 + 3 - 2)


def test_the_stepper_shows_every_clock_with_operands_and_sums():
    picture = wavefront_steps(np.array([[2, 3], [4, 5]]), np.array([[1, 6], [7, 8]]))
    assert picture.title == "2 x 2 cells, k = 2: 4 clocks"
    assert picture.html.count("cells multiply") >= 5  # the start and four clocks
    third = picture.text.split("\n\n")[4].splitlines()
    assert third[0] == "3. clock 3"
    assert "3 of 4 cells multiply" in third[1]
    shown = [" ".join(line.split()) for line in third[3:]]
    assert shown == ["-> Σ 23 | *3 · 8 Σ 36", "-> *5 · 7 Σ 39 | *4 · 6 Σ 24"]
    assert picture.text.rstrip().endswith("*5 · 8 Σ 64")


def test_cells_draw_what_waits_at_the_edges():
    grid = [[Cell(("1", "2"), "marked"), Cell(("",), "stall")]]
    picture = cells(grid, "title", west=["9 8"], north=[["7"], []])
    assert picture.svg.count("<rect") == 2
    assert "cl-marked" in picture.svg and "cl-stall" in picture.svg
    assert ">9 8<" in picture.svg and ">7<" in picture.svg
    assert picture.text == "title\nfrom above: 7; -\n9 8 -> *1 2 |"


def test_cells_refuse_rows_of_different_length():
    with pytest.raises(ValueError, match="rows of one length"):
        cells([[Cell(("",))], []], "ragged")


def test_examples_in_the_text_are_true():
    assert doctest.testmod(systolic).failed == 0
