"""Timelines, rooflines, diffs, tables and callouts say the right numbers in words."""

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import StepPatch
from matplotlib.path import Path
from matplotlib.text import Annotation, Text

from course_lib.draw.base.callout import KINDS, callout
from course_lib.draw.base.diff import ir_diff
from course_lib.draw.base.units import binary, digits, scaled
from course_lib.draw.plots import labels
from course_lib.draw.plots.charts import histogram, lines, scatter
from course_lib.draw.plots.roofline import Dot, roofline
from course_lib.draw.plots.table import bars, table
from course_lib.draw.plots.timeline import Span, ticks, timeline

NAMESPACE = "{http://www.w3.org/2000/svg}"


def spans() -> list[Span]:
    return [
        Span("x", 0, 2, 0, 4096),
        Span("conv", 1, 4, 4096, 20480, heat=1.0),
        Span("y", 2, 6, 0, 4096, state="marked"),
    ]


def lanes() -> list[Span]:
    return [
        Span("load", 0, 4, lane="DMA"),
        Span("tile", 4, 9, lane="PE array"),
        Span("wait", 9, 10, lane="PE array", state="stall"),
    ]


def parse(markup: str) -> ET.Element:
    return ET.fromstring(markup.removeprefix("<!DOCTYPE html>\n"))


def words_of(element: ET.Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


# ── the other pictures ──


def test_a_memory_plan_names_its_peak_and_bound():
    picture = timeline(spans(), "plan", bound=16384)
    assert "peak 20 KiB, lower bound 16 KiB, the plan is 25 % above it" in picture.text
    assert "address (KiB)" in picture.svg and "schedule step" in picture.svg


def test_lanes_say_how_busy_they_are():
    assert "busy: DMA 40 %, PE array 50 %" in timeline(lanes(), "pipeline", "clock cycle").text


def test_names_that_find_no_place_are_left_out_of_the_roofline_and_not_of_its_text(monkeypatch):
    monkeypatch.setattr(labels, "DISTANCES", (8.0, 14.0))  # fewer places, less to try
    plot = roofline([Dot(f"kernel {k}", 8 + k / 1e3, 4e10) for k in range(8)], 1e11, 1e10)
    notes = [a for a in plot.axes.texts if a.get_text().startswith("kernel")]
    assert len(notes) == 8 > sum(a.get_visible() for a in notes) > 2
    for k in range(8):
        assert f"kernel {k}: 8" in plot.text and f"kernel {k}: 8" in plot.svg


def test_a_long_number_at_the_end_of_the_axis_is_not_cut_off():
    svg = timeline([Span("x", 0, 2_000_000, lane="DMA")], "pipeline", "clock").svg
    (end,) = re.findall(r'x="([\d.]+)"[^>]*>2,000,000<', svg)
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', svg)
    assert float(width) - float(end) > len("2,000,000") * 9.5 * 0.6 / 2


def test_a_span_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="x ends before it starts"):
        timeline([Span("x", 3, 1)], "plan")
    with pytest.raises(ValueError, match="nothing to draw"):
        timeline([], "plan")


def test_roofline_labels_do_not_collide():
    dots = [Dot(f"kernel {k}", 8 * 1.02**k, 4e10 * 1.03**k) for k in range(8)]
    plot = roofline(dots, 1e11, 1e10)
    notes = [t for t in plot.axes.texts if t.get_text().startswith("kernel")]
    plot.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(note) for note in notes]
    assert len(boxes) == 8
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(
        box.count_contains(plot.axes.transData.transform(_places(dots))) == 0 for box in boxes
    )
    assert all(
        plot.axes.bbox.containsx(box.x1) and plot.axes.bbox.containsy(box.y1) for box in boxes
    )


def test_no_label_lies_on_an_arrow():
    dots = [Dot("conv, relu fused", 6, 6e10, before=(3, 3e10)), Dot("64 images", 20, 8e10)]
    plot = roofline(dots, 1e11, 2.5e10)
    plot.figure.draw_without_rendering()
    arrow = Path(plot.axes.transData.transform([(3, 30), (6, 60)]))
    (note,) = [t for t in plot.axes.texts if t.get_text() == "conv, relu fused"]
    assert not arrow.intersects_bbox(Text.get_window_extent(note), False)


def _places(dots: list[Dot]) -> list[tuple[float, float]]:
    return [(dot.intensity, dot.rate / 1e9) for dot in dots]


def test_a_dot_that_moved_says_where_it_was():
    plot = roofline([Dot("conv, relu", 6, 6e10, before=(3, 3e10))], 1e11, 1e10)
    assert "(before: 3 FLOP/byte, 30 GFLOP/s)" in plot.text
    text = roofline([Dot("conv", 6, 6e10, before=(3, 3e10))], 1e11, 1e10, unit="op").text
    assert "ridge at 10 op/byte" in text and "(before: 3 op/byte, 30 Gop/s)" in text
    notes = [t for t in plot.axes.texts if isinstance(t, Annotation) and not t.get_text()]
    assert ((6, 60), (3, 30)) in [(note.xy, note.xyann) for note in notes]
    with pytest.raises(ValueError, match="above zero"):
        roofline([Dot("conv", 6, 6e10, before=(0, 3e10))], 1e11, 1e10)


# ── what matplotlib draws ──


def test_a_plot_shows_what_is_added_to_its_axes():
    plot = lines({"ours": [(2, 1.0), (1, 3.0)]}, "rows (count)", "time (ms)", "Time by size")
    before = plot.svg
    plot.axes.axhline(2.0, color="#123456")
    assert "#123456" in plot.svg and "#123456" not in before
    assert plot.svg in plot.html and list(np.asarray(plot.axes.lines[0].get_xdata())) == [1, 2]


def test_a_plot_takes_its_colours_from_the_palette_and_keeps_words_as_words():
    plot = bars([("relu", 8.0, 2.0)], "MB", "Traffic of $x$")
    body = plot.svg.split("</style>")[1]
    assert not re.search(r"#[0-9a-f]{3,6}\b", body) and "var(--cl-focus)" in body
    words = [text.text for text in parse(plot.svg).iter(f"{NAMESPACE}text")]
    assert {"relu", "MB", "Traffic of $x$", "8.00", "2.00 (−75 %)"} <= set(words)


def test_what_leaves_the_axes_is_cut_off_without_a_name_for_the_cut():
    plot = lines({"ours": [(1, 1.0), (9, 9.0)]}, "rows (count)", "time (ms)", "Time by size")
    plot.axes.set_xlim(1, 2)
    cuts = [e for e in parse(plot.svg).iter(f"{NAMESPACE}svg") if e.get("viewBox")]
    assert len(cuts) > 1 and "clip-path" not in plot.svg


def test_the_readers_own_style_changes_nothing():
    from matplotlib import rc_context

    wanted = bars([("relu", 8.0)], "MB", "Traffic").svg
    with rc_context({"font.size": 30, "axes.grid": False, "svg.fonttype": "path"}):
        assert bars([("relu", 8.0)], "MB", "Traffic").svg == wanted


@pytest.mark.parametrize("words", ["time", "", "time ()", "(ms) time"])
def test_an_axis_without_a_unit_is_refused(words):
    with pytest.raises(ValueError, match="names no unit"):
        lines({"ours": [(1, 1)]}, words, "time (ms)", "t")


def test_charts_refuse_what_they_cannot_draw():
    x, y = "rows (count)", "time (ms)"
    for nothing in ({}, {"ours": []}):
        with pytest.raises(ValueError, match="nothing to draw"):
            scatter(nothing, x, y, "t")
        with pytest.raises(ValueError, match="nothing to draw"):
            histogram(nothing, x, "t")
    with pytest.raises(ValueError, match="finite"):
        lines({"ours": [(1, float("nan"))]}, x, y, "t")
    with pytest.raises(ValueError, match="logarithmic y axis needs values above zero"):
        lines({"ours": [(0, 0)]}, x, y, "t", log="y")
    with pytest.raises(ValueError, match='log is "", "x", "y" or "xy"'):
        lines({"ours": [(1, 1)]}, x, y, "t", log="z")


def test_a_histogram_counts_every_value_once():
    plot = histogram({"one": [1, 2, 2, 3], "two": [9]}, "time (ms)", "Runs", bins=4)
    steps = [patch for patch in plot.axes.patches if isinstance(patch, StepPatch)]
    counts = [patch.get_data()[0].sum() for patch in steps]
    assert counts == [4, 4, 1, 1]  # each series as an area and as its outline
    assert "one: 4 values, least 1, median 2, most 3" in plot.text


def test_a_plot_is_drawn_quietly_where_nothing_can_be_kept(tmp_path):
    home = tmp_path / "home"
    home.write_text("a file, so nobody can write into it")
    code = "from course_lib.draw.plots.table import bars; bars([('\U0001f600', 1)], 'MB', 't').svg"
    given = {k: v for k, v in os.environ.items() if k not in ("MPLCONFIGDIR", "XDG_CACHE_HOME")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**given, "HOME": str(home), "XDG_CONFIG_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_roofline_says_what_limits_each_kernel():
    text = roofline([Dot("relu", 0.125, 1e9), Dot("matmul", 60, 8e10)], 1e11, 1e10).text
    assert "ridge at 10 FLOP/byte" in text
    assert "relu: 0.125 FLOP/byte, 1 GFLOP/s, 80 % of the roof; limit: memory" in text
    assert "matmul: 60 FLOP/byte, 80 GFLOP/s, 80 % of the roof; limit: arithmetic" in text
    with pytest.raises(ValueError, match="above zero"):
        roofline([Dot("relu", 0, 1e9)], 1e11, 1e10)


def test_a_diff_keeps_every_line():
    assert ir_diff("a\nb\nc", "a\nx\nc").text.splitlines()[2:] == ["  a", "− x", "+ b", "  c"]


def test_tables_mark_the_best_and_round_to_three_digits():
    rows = [["ours", 25, 46.23], ["other", 19, 31.04], ["none", None, None]]
    text = table(rows, ["compiler", "kernels", "MB"], best={"MB": "least", "kernels": "most"}).text
    assert text.splitlines() == [
        "compiler  kernels      MB",
        "ours         ▸ 25    46.2",
        "other          19  ▸ 31.0",
        "none            –       –",
    ]
    with pytest.raises(ValueError, match="2 cells, the table 3 columns"):
        table([["a", 1]], ["a", "b", "c"])
    bare = table([["", "x"]], ["", "what"])._repr_html_()
    assert bare.count("<td></td>") == 2 and bare.count("<th") == 1 + bare.count("<thead")
    with pytest.raises(ValueError, match="least"):
        table(rows, ["compiler", "kernels", "MB"], best={"MB": "smallest"})


def test_bars_give_the_change():
    text = bars([("relu", 8.0, 2.0), ("add", 0.0, 1.0), ("mul", 2.0, 2.0)], "MB", "Traffic").text
    assert "before (MB)" in text
    assert re.search(r"relu +8.00 +2.00 +−75 %", text)
    assert re.search(r"add +0.00 +1.00 +new", text) and re.search(r"mul +2.00 +2.00 +=", text)
    with pytest.raises(ValueError, match="not negative"):
        bars([("a", -1.0)], "MB", "t")


@pytest.mark.parametrize("kind", KINDS)
def test_callouts_say_their_kind_in_words(kind):
    sign, word, _ = KINDS[kind]
    picture = callout(kind, "passes.cse", "One `relu`.\n\nTwo.")
    assert f"{sign} {word}" in words_of(parse(picture.html)) and f"{sign} {word}" in picture.text
    assert "<code>relu</code>" in picture.html and picture.html.count("<p>") == 3


def test_unknown_callout_is_refused():
    with pytest.raises(ValueError, match="passed, wrong"):
        callout("great", "passes.cse")


def test_numbers_have_at_most_three_digits():
    assert [digits(v) for v in (0, 7, 46.23, 1234.5, 0.01234, 2.0, 1e12, float("inf"))] == [
        "0",
        "7",
        "46.2",
        "1,230",
        "0.0123",
        "2",
        "1e+12",
        "∞",
    ]
    assert (digits(2.0, exactly=True), digits(999.6)) == ("2.00", "1,000")
    assert (scaled(3.6e9, "FLOP"), binary(2_408_448), binary(5)) == ("3.6 GFLOP", "2.3 MiB", "5 B")


@given(st.floats(0, 1e9), st.floats(1e-3, 1e9))
def test_ticks_are_round_inside_and_few(low, span):
    found = ticks(low, low + span, 8)
    assert len(found) <= 10
    assert all(low - span * 1e-6 <= t <= low + span * (1 + 1e-6) for t in found)
