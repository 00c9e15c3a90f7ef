"""Bars of what was measured: the quartiles stand at their ends, and what is far too long is cut."""

import re

import pytest

from course_lib.draw.plots.spreads import MOST, WIDTH, Spread, spreads

ROWS = [Spread("ours", 10.0, 9.0, 12.0, marked=True), Spread("slow", 40.0, 38.0, 41.0),
        Spread("unknown", 20.0)]  # fmt: skip


def widths(svg: str) -> list[float]:
    return [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', svg)]


def test_a_bar_is_as_long_as_its_median_and_the_best_is_marked():
    picture = spreads(ROWS, "ms", "Time")
    ours, slow, unknown = widths(picture.svg)
    assert slow == pytest.approx(4 * ours, rel=0.01) and unknown == pytest.approx(
        2 * ours, rel=0.01
    )
    assert "▸ ours" in picture.svg and "▸ slow" not in picture.svg
    assert "▸ ours" in picture.text and "from 9.00 to 12.0" in picture.text


def test_one_that_is_many_times_as_long_is_cut_and_keeps_its_figure():
    picture = spreads([*ROWS, Spread("far", 11 * MOST)], "ms", "Time")
    assert widths(picture.svg)[-1] == WIDTH and "88.0 ms" in picture.svg


def test_nothing_and_no_time_at_all_are_refused():
    for rows in ([], [Spread("none", 0.0)]):
        with pytest.raises(ValueError, match="needs values above 0"):
            spreads(rows, "ms", "Time")
