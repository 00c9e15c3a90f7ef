"""Unit 9: its pictures and tables show what the searches did, for every right answer."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from autograder.edition.contents import COURSE
from course_lib.exercises import plugged, slot
from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.search.beam import beam, greedy
from course_lib.schedule.search.problem import Budget
from lessons.u09 import measuring
from lessons.u09.landscapes import AVX2, LAYERS, SHAPES
from lessons.u09.measuring import (
    Point,
    by_clock,
    chosen_table,
    clock_table,
    fitted_table,
    in_order,
    left_out,
    scatter_again,
    scatter_of,
)
from lessons.u09.searches import (
    FIRST,
    clocks,
    double,
    on_record,
    path_table,
    price,
    progress_plot,
    searches,
    tree_picture,
    wide,
    widths_table,
)

TEXT = (COURSE / "notebooks/u09_beam.md").read_text("utf-8")
FLAT = " ".join(TEXT.split())


def while_walking(start, successors, price, width, depth):
    """Beam search that prices each state when it is found."""
    costs, going_on, best = {start: price(start)}, [start], start
    for _ in range(depth):
        found = []
        for state in going_on:
            for new in successors(state):
                if new not in costs:
                    costs[new] = price(new)
                    found.append(new)
        found.sort(key=lambda state: costs[state])
        going_on = [state for state in found[:width] if costs[state] < math.inf]
        best = min([best, *going_on], key=lambda state: costs[state])
    return best


def as_the_model_says(kernels: Sequence[Kernel], *_, **__) -> list[float]:
    return [price(kernel, AVX2).seconds for kernel in kernels]


def test_the_tree_shows_who_went_on_however_the_answer_prices():
    text = tree_picture(wide(FIRST, 2), "a tree").text
    assert text.count("2 went on") == 3
    with plugged("schedule.beam_search", while_walking):
        assert tree_picture(wide(FIRST, 2), "a tree").text == text


def test_after_the_second_round_all_that_goes_on_has_one_tile():
    record = wide(FIRST, 2)
    numbers = {c.parent for c in record.candidates if c.parent is not None}
    parents = [record.candidates[n] for n in numbers]
    tiles = {(len(c.decisions), c.decisions[0]) for c in parents}
    assert [sum(n == depth for n, _ in tiles) for depth in (1, 2, 3, 4)] == [2, 1, 1, 1]
    assert "all states that go on after the second round have the same tile" in FLAT


def test_the_tree_is_drawn_in_the_colours_of_the_page():
    picture = tree_picture(wide(FIRST, 2), "a tree")
    assert "currentColor" in picture.svg and "black" not in picture.svg
    assert "cl-h" in picture.html and "cl-m" in picture.html


def test_the_way_to_the_best_is_printed_with_the_digits_that_tell():
    text = str(path_table(wide(FIRST, 2)))
    assert text.index("10.62") < text.index("unroll(k1)") < text.index("8.51")


def test_the_widths_of_the_table_price_as_many_on_the_layer_itself():
    assert on_record(FIRST, 4)[1] == wide(FIRST, 4).priced == 143
    table = str(widths_table((1, 2)))
    assert "56 to 101" in table and "with 56 to 101 prices" in FLAT
    assert "greedy that stops without gain" in table and "11.07" in table


def test_every_layer_of_the_table_has_its_default_first():
    for name in SHAPES:
        record = greedy(measuring.layer(name), Budget(priced=1), price, depth=1)
        assert round(clocks(record.default)) == LAYERS[name].price(LAYERS[name].tree[()][0])


def test_luck_is_drawn_with_its_range():
    plot = progress_plot()
    assert [len(runs) for runs in searches().values()] == [1, 1, 8, 8]
    assert len(plot.axes.collections) == len(plot.axes.get_lines()) == 4
    assert all(line.get_marker() == "" for line in plot.axes.get_lines())


def test_if_the_clock_is_the_model_both_beams_find_the_same(monkeypatch):
    monkeypatch.setattr(measuring, "times", as_the_model_says)
    chosen = str(chosen_table()).splitlines()
    assert len(chosen) == 5 and chosen[3].split()[-1] == "2.84" and chosen[1].split()[-1] == "3.69"
    default, by_model, measured = str(clock_table()).splitlines()[1:]
    assert default.split()[-1] == "3.69" and by_model.split()[-1] == "2.84"
    assert measured.split()[-1] == "2.84" and "measured)" in measured


def test_a_search_can_ask_the_clock():
    record = beam(double(), Budget(priced=20, measured=6), price, by_clock, width=1, depth=1)
    assert 1 < record.measured <= 6 and 0 < (record.best.measured or 0) < 1


POINTS = [Point("a", 3e-3, 2.5e-3, 3e-3, 3.3e-3, True), Point("b", 4e-3, 4e-3, 3e-3, 2e-3, False)]


def test_points_lie_on_the_line_if_the_model_is_right():
    axes = scatter_of(POINTS).axes
    assert axes.get_xlim() == axes.get_ylim() == (pytest.approx(1.8), pytest.approx(4.4))
    assert list(axes.get_xticks()) == [2, 3, 4]
    assert len(axes.get_lines()) == 4


def fitted(parts, seconds):
    return np.linalg.lstsq(parts / seconds[:, None], np.ones(len(seconds)))[0]


def test_weights_are_judged_by_schedules_that_they_have_not_seen():
    """The first part alone tells the time: the weights find that out, and neither formula does."""
    rng = np.random.default_rng(0)
    rows = [(n + 1.0, *rng.uniform(1, 9, 2)) for n in range(8)]
    seconds = [row[0] / 4 for row in rows]
    points = [Point("", -s, 1 / s, s, s, False, row) for s, row in zip(seconds, rows, strict=True)]
    assert left_out(points, fitted) == pytest.approx(seconds)
    lines = fitted_table(points, fitted, slot("u09.enough").reference).text.splitlines()[1:]
    assert [line.split()[-2:] for line in lines] == [["0%", "8"], ["0%", "8"], ["100%", "1"]]
    asked = []
    left_out(points, lambda parts, seconds: asked.append(len(parts)) or [1, 1, 1])
    assert asked == [7] * 8


def test_a_pair_is_in_order_if_the_model_says_which_one_is_faster():
    assert in_order([1, 2, 3], [10, 30, 20]) == pytest.approx(2 / 3)
    assert in_order([1, 1], [1, 2]) == 0


def test_of_two_measurements_the_shorter_counts():
    assert [p.measured for p in POINTS] == [3e-3, 2e-3]
    assert "30% apart in the median, 50% at most" in scatter_again(POINTS)
