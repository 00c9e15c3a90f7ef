"""Pictures are valid, complete, the same every time, safe with any name, and legible."""

import itertools
import re
import subprocess
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.draw import style
from course_lib.draw.boxes import lay_out
from course_lib.draw.callout import KINDS, callout
from course_lib.draw.compare import changes
from course_lib.draw.diff import ir_diff
from course_lib.draw.dot import dot_source
from course_lib.draw.graph import before_after, graph
from course_lib.draw.layout import Size, layered
from course_lib.draw.legend import legend
from course_lib.draw.picture import page
from course_lib.draw.roofline import Dot, roofline
from course_lib.draw.scene import scene
from course_lib.draw.stepper import stepper
from course_lib.draw.table import bars, table
from course_lib.draw.ticks import log_ticks, ticks
from course_lib.draw.timeline import Span, timeline
from course_lib.draw.units import binary, digits, scaled
from course_lib.ir.build import apply, const, exp, inp, matmul, mean, relu, reshape, softmax, trace
from course_lib.ir.graph import Graph
from course_lib.ir.text import print_graph

HOSTILE = [
    "<script>alert(1)</script>",
    "a\"b'c&d",
    "]]>--><!--",
    "\x00\x1b\x0b\ud800",
    "x" * 500,
    "}</style><u>",
]
NAMESPACE = "{http://www.w3.org/2000/svg}"


def residual_block(blocks: int = 1) -> Graph:
    """A residual network with the names of modules, like a traced ResNet."""

    def net(x):
        for k in range(blocks):
            y = x
            for part in ("conv1", "conv2"):
                where = {"origin": (f"layer1.{k}.{part}",)}
                y = apply("conv", y, np.ones((4, 4, 3, 3), np.float32), pads=(1, 1, 1, 1), **where)
                y = apply("batch_norm", y, *[np.ones(4, np.float32)] * 4, **where)
                y = apply("relu", y, **where) if part == "conv1" else y
            x = apply("relu", apply("add", x, y, origin=(f"layer1.{k}",)), origin=(f"layer1.{k}",))
        x = reshape(mean(x, axes=(2, 3)), (1, 4))
        return softmax(matmul(x, np.ones((4, 3), np.float32)))

    return trace(net, "f32[1,4,8,8]", name="net")


def fused_graph() -> Graph:
    x, p = inp("x", "f32[4]"), inp("p", "f32[4]")
    body = Graph.of([p], [p * 2.0 + 1.0], "body")
    return Graph.of([x], [softmax(apply("fused", exp(x), body=body))], "f")


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


def every_picture(name: str = "name"):
    """One of each, with `name` wherever a user may put words."""
    x = inp(name, "f32[4]")
    y = apply("relu", x + const(np.ones(4, np.float32), name=name), name=name, origin=(name, name))
    g = Graph.of([x], [y], name)
    text = print_graph(fused_graph())
    small = legend()
    return {
        "graph": graph(g, groups={name: [y]}, title=name, heat="flops", marked=[y]),
        "collapsed": graph(g, title=name, collapse=1),
        "before_after": before_after(g, Graph.of([x], [exp(y)], name), title=name),
        "fused": graph(fused_graph()),
        "plan": timeline([*spans(), Span(name, 6, 9, 0, 5, tip=name)], name, name, bound=20000),
        "lanes": timeline([*lanes(), Span(name, 1, 2, lane=name)], name, name),
        "roofline": roofline([Dot(name, 3, 1e9, tip=name), Dot("b", 3, 1e9)], 1e11, 1e10, name),
        "stepper": stepper([(name, name), ("b", text), ("c", small)], name),
        "many": stepper([(f"{name} {k}", f"clock {k} {name}") for k in range(12)], name),
        "diff": ir_diff(text, f"{text}{name}", name),
        "columns": ir_diff(text, f"{text}{name}", name, columns=2),
        "table": table(
            [[name, 2, 1.5], ["b", None, 1.25]], [name, "n", "MB"], name, {"MB": "least"}
        ),
        "bars": bars([(name, 3.0, 1.0), ("b", 0.0, 2.0)], name, name),
        "callout": callout("wrong", name, [name, small]),
        "legend": small,
    }


def parse(markup: str) -> ET.Element:
    return ET.fromstring(markup.removeprefix("<!DOCTYPE html>\n"))


def words_of(element: ET.Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


# ── every picture ──


@pytest.mark.parametrize("name", ["name", *HOSTILE])
def test_every_picture_is_well_formed_and_keeps_names_as_text(name):
    for kind, picture in every_picture(name).items():
        for markup in (picture.svg, picture.html):
            if not markup:
                continue
            root = parse(markup)  # ElementTree refuses what is not XML
            tags = {e.tag.removeprefix(NAMESPACE) for e in root.iter()}
            assert not tags & {"script", "u"}, kind
            assert not [k for e in root.iter() for k in e.attrib if k.startswith("on")], kind
        page_root = parse(picture.page)
        assert page_root.tag == "html"


def test_every_picture_is_the_same_every_time():
    for first, second in zip(every_picture().values(), every_picture().values(), strict=True):
        assert (first.html, first.svg, first.text) == (second.html, second.svg, second.text)


def test_nothing_is_fetched_and_nothing_needs_an_id():
    for kind, picture in every_picture().items():
        markup = picture.html.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|url\(|@import|<script|<link| src=", markup), kind
        assert not re.search(r"\sid=", markup), kind  # so none can be there twice


def test_every_drawing_says_what_it_is():
    for kind, picture in every_picture().items():
        assert picture.text.strip(), kind
        if picture.svg:
            root = parse(picture.svg)
            assert root.get("role") == "img" and root.get("aria-label"), kind
            assert root.find(f"{NAMESPACE}title") is not None, kind
            assert root.find(f"{NAMESPACE}desc") is not None, kind
            assert set(picture.text.split()) <= set(words_of(parse(picture.html)).split()), kind


def test_drawings_follow_the_page_and_the_system():
    svg = graph(fused_graph()).svg
    assert "@media(prefers-color-scheme:dark)" in svg
    assert "[data-jp-theme-light=false]" in svg and "html[data-theme=dark]" in svg
    assert "[data-jp-theme-light=true]" in svg and "html[data-theme=light]" in svg
    body = svg.split("</style>")[1]
    assert not re.search(r"#[0-9a-f]{3,6}\b", body), "colours come from the palette only"


@pytest.mark.parametrize("text, fill", style.TEXT_ON)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_can_be_read_on_every_fill(text, fill, mode):
    k = ["light", "dark"].index(mode)
    assert style.contrast(style.PALETTE[text][k], style.PALETTE[fill][k]) >= 4.5


def test_contrast_agrees_with_the_definition():
    assert style.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert style.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_what_changed_can_be_told_apart_without_colour():
    root = parse(before_after(trace(relu, "f32[4]"), trace(exp, "f32[4]")).svg)
    words = words_of(root)
    assert "−" in words and "+" in words
    assert "stroke-dasharray" in style.SVG


# ── saving ──


def test_saves_by_suffix_and_leaves_nothing_half_written(tmp_path):
    picture = graph(fused_graph())
    for suffix, content in ((".svg", picture.svg), (".html", picture.page), (".txt", picture.text)):
        path = picture.save(tmp_path / f"g{suffix}")
        assert path.read_text(encoding="utf-8").strip() == content.strip()
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".html", ".svg", ".txt"]


def test_says_which_files_it_can_write(tmp_path):
    with pytest.raises(ValueError, match=r"\.svg, \.html or \.txt"):
        legend().save(tmp_path / "g.png")
    with pytest.raises(ValueError, match="save it as"):
        table([["a", 1]], ["name", "n"]).save(tmp_path / "t.svg")
    assert not list(tmp_path.iterdir())


# ── graphs ──


def test_every_node_is_in_the_picture():
    g = residual_block()
    words = words_of(parse(graph(g).svg))
    for node in g.ops:
        assert node.op in words
    tips = [words_of(e) for e in parse(graph(g).svg).iter(f"{NAMESPACE}title")]
    assert sum("FLOP flops" in tip for tip in tips) == len(g.ops), "the cost is in the tooltips"
    assert any("from layer1.0.conv1" in tip for tip in tips)
    boxes = [i for i in scene(g, {}, {}).items if i.shape != "output"]
    assert len(boxes) == len(g.ops) + len(g.inputs)
    drawn_constants = sum(len(i.tabs) for i in boxes)
    assert drawn_constants >= 4 and any(
        t.text.startswith("+ 2 more") for i in boxes for t in i.tabs
    )


def test_fused_bodies_are_regions():
    drawn = scene(fused_graph(), {}, {})
    (region,) = drawn.regions
    assert [drawn.items[k].title for k in region.members] == ["mul", "add"]
    assert "fused: elementwise" in graph(fused_graph()).svg


def test_modules_collapse_to_one_box_each():
    g = residual_block(3)
    titles = [i.title for i in scene(g, {}, {}, collapse=2).items]
    assert titles[:4] == ["%x0", "layer1.0", "layer1.1", "layer1.2"]
    assert "layer1" in [i.title for i in scene(g, {}, {}, collapse=1).items]


def test_a_module_that_is_used_twice_stays_open():
    def net(x):
        y = apply("relu", x, origin=("act",))
        z = apply("exp", y, origin=("other",))
        return apply("relu", z, origin=("act",))

    titles = [i.title for i in scene(trace(net, "f32[4]"), {}, {}, collapse=1).items]
    assert titles == ["%x0", "relu", "exp", "relu", "output"]


def test_marks_by_node_or_by_printed_name():
    g = trace(lambda x: exp(relu(x)), "f32[4]")
    assert graph(g, marked=["%1"]).svg == graph(g, marked=[g.outputs[0]]).svg
    assert "◆   %1 = exp" in graph(g, marked=["%1"]).text
    with pytest.raises(ValueError, match="no '%7' to mark"):
        graph(g, marked=["%7"])


def test_heat_needs_a_known_measure_and_shows_numbers():
    with pytest.raises(ValueError, match="flops, traffic"):
        graph(fused_graph(), heat="beauty")
    assert "cl-heat4" in graph(residual_block(), heat="flops").svg.split("</style>")[1]


def test_a_symbolic_size_is_drawn_without_a_cost():
    g = trace(lambda x: relu(x), "f32[n,4]")
    assert "f32[n,4]" in graph(g, heat="flops").svg


def test_graphs_without_ops_are_drawn():
    x = inp("x", "f32[4]")
    for g in (
        Graph.of([x], [x], "same"),
        Graph.of([], [], "empty"),
        Graph.of([x], [const(1.0)], "c"),
    ):
        parse(graph(g).svg)


def test_a_long_chain_is_not_a_deep_recursion():
    def net(x):
        for _ in range(2000):
            x = relu(x)
        return x

    g = trace(net, "f32[4]")
    assert graph(g).svg.count(">relu<") == 2000
    assert changes(g, trace(net, "f32[4]")) == (set(), set())


def test_a_model_of_a_few_hundred_nodes_is_small_and_quick():
    g = residual_block(20)
    assert len(g.nodes) > 300
    start = time.perf_counter()
    svg = graph(g).svg
    assert len(svg) < 300_000
    # Not a benchmark: it takes 0.05 s, and a layout that is quadratic would take minutes.
    assert time.perf_counter() - start < 20


# ── what changed ──


def test_rebuilt_nodes_are_not_changes():
    def net(x):
        return softmax(relu(x / 2.0) + 1.0)

    before = trace(net, "f32[4]")
    after = before.rebuild(lambda node, new: new[0] * 0.5 if node.op == "div" else None)
    after = Graph.of(after.inputs, after.outputs, after.name)
    gone, new = changes(before, after)
    assert sorted(n.op for n in gone) == ["constant", "div"]
    assert sorted(n.op for n in new) == ["constant", "mul"]
    assert "2 removed, 2 added" in before_after(before, after).text


def test_merged_nodes_are_removed_once():
    x = inp("x", "f32[4]")
    a, b = relu(x), relu(x)
    gone, new = changes(Graph.of([x], [a + b]), Graph.of([x], [a + a]))
    assert gone == {b} and not new


def test_the_same_computation_made_anew_is_no_change():
    assert changes(residual_block(), residual_block()) == (set(), set())
    assert "nothing changed" in before_after(residual_block(), residual_block()).text


def test_constants_differ_by_their_bytes():
    x = inp("x", "f32[2]")
    old, new = const([1.0, 2.0]), const([1.0, 3.0])
    assert changes(Graph.of([x], [x + old]), Graph.of([x], [x + new])) == ({old}, {new})


def test_fusion_removes_nothing_and_forms_a_group():
    x = inp("x", "f32[4]")
    before = Graph.of([x], [softmax(exp(x) * 2.0 + 1.0)], "f")
    summary = before_after(before, fused_graph()).text.splitlines()[0]
    assert summary.endswith("7 nodes → 4 nodes: 1 group formed")


# ── layout ──


@st.composite
def acyclic(draw):
    count = draw(st.integers(1, 14))
    pairs = list(itertools.combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), max_size=24, unique=True)) if pairs else []
    size = st.floats(4, 90)
    return [Size(draw(size), draw(size), draw(size)) for _ in range(count)], sorted(edges)


@given(acyclic())
@settings(max_examples=150, deadline=None)
def test_boxes_never_overlap_and_lines_run_down(case):
    sizes, edges = case
    layout = layered(sizes, edges)
    corners = []
    for size, (x, y) in zip(sizes, layout.at, strict=True):
        left, right = x - size.left, x + size.right
        top, low = y - size.height / 2, y + size.height / 2
        assert left >= -0.01 and right <= layout.width + 0.01
        assert top >= -0.01 and low <= layout.height + 0.01
        corners.append((left, top, right, low))
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(corners, 2):
        assert c <= e + 0.01 or g <= a + 0.01 or d <= f + 0.01 or h <= b + 0.01
    for line in layout.lines:
        assert all(y0 <= y1 + 0.01 for (_, y0), (_, y1) in itertools.pairwise(line))


def test_the_longest_way_is_straight():
    drawn = scene(residual_block(3), {}, {})
    layout = lay_out(drawn)
    conv = [x for item, (x, _) in zip(drawn.items, layout.at, strict=True) if item.title == "conv"]
    assert max(conv) - min(conv) < 1.0


def test_graphviz_reads_our_source(require_tool):
    for g in (fused_graph(), residual_block()):
        result = subprocess.run(
            [require_tool("dot"), "-Tplain"], input=dot_source(g), capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        nodes = [line for line in result.stdout.splitlines() if line.startswith("node ")]
        drawn = len(scene(g, {}, {}).items)
        assert len(nodes) >= drawn


# ── the other pictures ──


def test_a_memory_plan_names_its_peak_and_bound():
    picture = timeline(spans(), "plan", bound=16384)
    assert "peak 20 KiB, lower bound 16 KiB, the plan is 25 % above it" in picture.text
    assert "address (KiB)" in picture.svg and "schedule step" in picture.svg


def test_lanes_say_how_busy_they_are():
    assert "busy: DMA 40 %, PE array 50 %" in timeline(lanes(), "pipeline", "clock cycle").text


def test_a_span_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="x ends before it starts"):
        timeline([Span("x", 3, 1)], "plan")
    with pytest.raises(ValueError, match="nothing to draw"):
        timeline([], "plan")


def test_roofline_labels_do_not_collide():
    dots = [Dot(f"kernel {k}", 8 * 1.02**k, 4e10 * 1.03**k) for k in range(8)]
    root = parse(roofline(dots, 1e11, 1e10).svg)
    boxes = []
    for text in root.iter(f"{NAMESPACE}text"):
        if (text.text or "").startswith("kernel"):
            x, y = float(text.get("x", 0)), float(text.get("y", 0))
            boxes.append((x, y - 10, x + 6.0 * len(text.text or ""), y))
    assert len(boxes) == 8
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert c <= e or g <= a or d <= f or h <= b


def test_roofline_says_what_limits_each_kernel():
    text = roofline([Dot("relu", 0.125, 1e9), Dot("matmul", 60, 8e10)], 1e11, 1e10).text
    assert "ridge at 10 FLOP/byte" in text
    assert "relu: 0.125 FLOP/byte, 1 GFLOP/s, 80 % of the roof; limit: memory" in text
    assert "matmul: 60 FLOP/byte, 80 GFLOP/s, 80 % of the roof; limit: arithmetic" in text
    with pytest.raises(ValueError, match="above zero"):
        roofline([Dot("relu", 0, 1e9)], 1e11, 1e10)


def test_diff_keeps_every_line_or_says_how_many_it_left_out():
    got, expected = "a\nb\nc", "a\nx\nc"
    assert ir_diff(got, expected).text.splitlines()[2:] == ["  a", "− x", "+ b", "  c"]
    long = "\n".join(f"line {k}" for k in range(30))
    text = ir_diff(f"{long}\nnew", long).text
    assert "… 27 equal lines" in text and "+ new" in text
    assert "line 3" in ir_diff(f"{long}\nnew", long, context=None).text
    with pytest.raises(ValueError, match="1 or 2 columns"):
        ir_diff(got, expected, columns=3)


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
    found = ticks(low, low + span)
    assert len(found) <= 10
    assert all(low - span * 1e-6 <= t <= low + span * (1 + 1e-6) for t in found)
    assert log_ticks(1 + low, (1 + low) * 10)


# ── in a browser ──


@pytest.fixture(scope="module")
def browser(require_tool):
    sync_api = pytest.importorskip("playwright.sync_api")
    path = require_tool("chromium")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


def open_page(browser, markup, **options):
    tab = browser.new_context(**options).new_page()
    tab.set_content(markup)
    return tab


def test_arrow_keys_walk_through_a_stepper(browser):
    states = [("import", "a\nb"), ("fold", "a\nc"), ("cse", "c")]
    steps = stepper(states, "Passes")
    tab = open_page(browser, page("two steppers", steps.html, steps.html))
    panels = tab.locator("form").first.locator(".cl-state")
    tab.keyboard.press("Tab")
    assert tab.locator("input:focus").get_attribute("aria-label") == "0. import"
    outline = tab.locator("input:focus + span").evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid", "the focus is visible"
    assert [panels.nth(k).is_visible() for k in range(3)] == [True, False, False]
    tab.keyboard.press("ArrowRight")
    assert [panels.nth(k).is_visible() for k in range(3)] == [False, True, False]
    assert panels.nth(1).locator("del").inner_text() == "−b"
    assert panels.nth(1).locator("ins").inner_text() == "+c"
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")
    assert panels.nth(0).is_visible(), "Enter sends no form"
    other = tab.locator("form").nth(1).locator(".cl-state")
    assert other.nth(0).is_visible(), "equal steppers do not share their state"


def test_a_stepper_on_paper_shows_every_state(browser):
    tab = open_page(browser, stepper([("a", "1"), ("b", "2")], "Steps").page)
    tab.emulate_media(media="print")
    assert all(tab.locator(".cl-state").nth(k).is_visible() for k in range(2))


def test_a_stepper_works_without_javascript(browser):
    tab = open_page(browser, stepper([("a", "1"), ("b", "2")], "S").page, java_script_enabled=False)
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    assert tab.locator(".cl-state").nth(1).is_visible()
    assert not tab.locator(".cl-state").nth(0).is_visible()


@pytest.mark.parametrize(
    "host, scheme, mode",
    [
        ("<html>", "light", "light"),
        ("<html>", "dark", "dark"),
        ('<html data-theme="dark">', "light", "dark"),
        ('<html data-theme="light">', "dark", "light"),
        ('<html><body data-jp-theme-light="false">', "light", "dark"),
        ('<html><body data-jp-theme-light="true">', "dark", "light"),
    ],
)
def test_a_picture_is_as_light_or_dark_as_its_page(browser, host, scheme, mode):
    tab = open_page(browser, f"<!DOCTYPE html>{host}{legend().html}", color_scheme=scheme)
    fill = tab.locator("svg .cl-n").first.evaluate("e => getComputedStyle(e).fill")
    wanted = style.PALETTE["node"][["light", "dark"].index(mode)]
    assert fill == f"rgb({', '.join(str(int(wanted[k : k + 2], 16)) for k in (1, 3, 5))})"


def test_words_stay_inside_their_boxes(browser):
    tab = open_page(browser, graph(residual_block(), heat="traffic").page)
    wider = tab.evaluate(
        """() => [...document.querySelectorAll('svg g')].filter(g => {
            const box = g.querySelector(':scope > rect, :scope > polygon');
            const words = [...g.querySelectorAll(':scope > text')];
            return box && words.some(t => t.getBBox().width > box.getBBox().width - 4);
        }).map(g => g.textContent)"""
    )
    assert wider == []
