"""Pictures are well formed, the same every time, safe with any name, legible, and need no mouse."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from course_lib.draw.base import style
from course_lib.draw.base.beside import Column, beside
from course_lib.draw.base.callout import callout
from course_lib.draw.base.diff import ir_diff
from course_lib.draw.base.forms import Form, forms
from course_lib.draw.base.legend import legend
from course_lib.draw.base.listing import listing
from course_lib.draw.base.picture import Picture, page
from course_lib.draw.base.stepper import stepper
from course_lib.draw.graphs.flow import flow
from course_lib.draw.graphs.graph import before_after, graph
from course_lib.draw.plots.addresses import addresses, cache_lines
from course_lib.draw.plots.cells import Cell, cells
from course_lib.draw.plots.charts import histogram, lines, scatter
from course_lib.draw.plots.figure import chart
from course_lib.draw.plots.roofline import Dot, roofline
from course_lib.draw.plots.table import bars, table
from course_lib.draw.plots.tiles import tiles
from course_lib.draw.plots.timeline import Span, timeline
from course_lib.ir.graph.build import exp, relu, softmax, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import apply, const, inp

HOSTILE = [
    "<script>alert(1)</script>",
    "a\"b'c&d",
    "]]>--><!--",
    "\x00\x1b\x0b\ud800",
    "x" * 500,
    "}</style><u>",
]
NAMESPACE = "{http://www.w3.org/2000/svg}"


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


def every_picture(name: str = "name") -> dict[str, Picture]:
    """One of each, with `name` wherever a user may put words; each drawn once."""
    return {
        kind: Picture(made.title, made.html, made.text, made.svg)
        for kind, made in made_pictures(name).items()
    }


def made_pictures(name: str) -> dict[str, Picture]:
    return {**pictures_of_graphs(name), **plots(name), **pictures_of_text(name)}


def pictures_of_graphs(name: str) -> dict[str, Picture]:
    x = inp(name, "f32[4]")
    y = apply("relu", x + const(np.ones(4, np.float32), name=name), name=name, origin=(name, name))
    g = Graph.of([x], [y], name)
    return {
        "graph": graph(g, groups={name: [y]}, title=name, heat={y: 4}, unit=name),
        "marked": graph(g, title=name, marked=[y]),
        "before_after": before_after(g, Graph.of([x], [exp(y)], name), title=name),
        "fused": graph(fused_graph()),
        "bytes": before_after(g, Graph.of([x], [exp(y)], name), title=name, edge_bytes=True),
        "flow": flow([[name], [name, name]], [(0, 1), (1, 1), (1, 0)], name, name, [1]),
    }


def plots(name: str) -> dict[str, Picture]:
    return {
        "plan": timeline([*spans(), Span(name, 6, 9, 0, 5, tip=name)], name, name, bound=20000),
        "lanes": timeline([*lanes(), Span(name, 1, 2, lane=name)], name, name),
        "roofline": roofline(
            [Dot(name, 3, 1e9, tip=name), Dot("b", 3, 1e9, "marked", before=(2, 9e8))],
            1e11,
            1e10,
            name,
        ),
        "lines": lines({name: [(1, 2), (3, 4)], "b": [(1, 1)]}, f"{name} (m)", "y (s)", name, "x"),
        "scatter": scatter({name: [(1, 2), (3, 4)]}, "x (m)", f"{name} (s)", name),
        "histogram": histogram({name: [1, 2, 2], "b": [2]}, f"{name} (m)", name),
        "chart": chart(name, "x (m)", "y (s)", name),
        "bars": bars([(name, 3.0, 1.0), ("b", 0.0, 2.0)], name, name),
        "cells": cells([[Cell((name, "Σ 6"), "marked")]], name, name, [name], [[name]]),
        "tiles": tiles(2, 3, 2, (2, 2, 1)),
        "addresses": addresses((1, 3, 2, 2), "nhwc", [(0, 0, 0, 0), (0, 2, 1, 1)]),
        "cache_lines": cache_lines({name: [0, 3]}, 60, 64, name),
    }


def pictures_of_text(name: str) -> dict[str, Picture]:
    text = print_graph(fused_graph())
    small = legend()
    return {
        "stepper": stepper([(name, name), ("b", text), ("c", small)], name),
        "many": stepper([(f"{name} {k}", f"clock {k} {name}") for k in range(12)], name),
        "diff": ir_diff(text, f"{text}{name}", name),
        "table": table(
            [[name, 2, 1.5], ["b", None, 1.25]], [name, "n", "MB"], name, {"MB": "least"}
        ),
        "listing": listing(name, name),
        "beside": beside([Column(name, [(name, 1)]), Column(name, [(name, 1), ("", None)])], name),
        "forms": forms([Form(name, [(name, "1"), ("", "1.2"), (name, "")], name)], name, name),
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


def test_jupyterlab_leaves_the_keys_to_what_can_be_focused():
    for kind, picture in every_picture().items():
        for element in parse(picture.html).iter():
            if element.tag in ("input", "summary") or element.get("tabindex"):
                assert element.get("data-lm-suppress-shortcuts") == "true", kind


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


def test_every_class_of_a_drawing_has_a_rule():
    """A path of a class that no rule knows has no stroke: the line is not seen."""
    for kind, picture in every_picture().items():
        rules, _, body = picture.svg.rpartition("</style>")
        used = {c for words in re.findall(r'class="([^"]*)"', body) for c in words.split()}
        assert not used - set(re.findall(r"\.(cl-[\w-]+)", rules)) - {"cl"}, kind


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
    tab.set_default_timeout(600_000)
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
    assert panels.nth(0).is_visible()
    tab.keyboard.press("ArrowRight")
    other = tab.locator("form").nth(1).locator(".cl-state")
    assert other.nth(0).is_visible(), "equal steppers do not share their state"


def test_many_states_stand_close_and_keep_what_tells_them_apart():
    clocks = parse(stepper([(f"clock {k}", "") for k in range(12)], "Array").html)
    assert [words_of(e) for e in clocks.iter("label")] == [str(k) for k in range(12)]
    passes = [f"pass_{k}" for k in "abcdefghijkl"]
    shown = parse(stepper([(name, "") for name in passes], "Passes").html)
    assert [words_of(e) for e in shown.iter("label")] == passes


def test_a_text_state_marks_no_line_that_only_got_other_numbers():
    first, second = (
        "%0 = exp(%x)\n%1 = relu(%0)\n%2 = add(%1, %0)",
        "%0 = exp(%x)\n%1 = add(%5, %0)",
    )
    text = stepper([("a", first), ("b", second)], "Steps").text
    assert text.endswith("1. b\n  %0 = exp(%x)\n− %1 = relu(%0)\n  %1 = add(%5, %0)")


def test_a_tall_state_leaves_no_hole_under_a_short_one(browser):
    tab = open_page(browser, stepper([("a", "1"), ("b", "2\n" * 60)], "Steps").page)
    assert tab.locator("form").bounding_box()["height"] < 200
    even = open_page(browser, stepper([("a", "1"), ("b", "2\n3")], "Steps").page)
    before = even.locator("form").bounding_box()
    even.keyboard.press("Tab")
    even.keyboard.press("ArrowRight")
    assert even.locator("form").bounding_box() == before, "nothing jumps"


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
    names = ["mmmmmmmmmmmmmmmmmmmm", "a_name_with_many_letters"]

    def net(x):
        for op, name in itertools.product(("relu", "softmax", "reduce_max", "expand"), names):
            full = {"relu": {}, "softmax": {}, "reduce_max": {"axes": (1,), "keepdims": True}}
            attrs = full.get(op, {"shape": (40000, 100000)})
            x = apply(op, x, name=name, **attrs)
        return x

    wide = trace(net, "f32[40000,100000]")
    tab = open_page(browser, graph(wide, heat={node: 1.0 for node in wide.ops}).page)
    wider = tab.evaluate(
        """() => [...document.querySelectorAll('svg g')].filter(g => {
            const box = g.querySelector(':scope > rect, :scope > polygon');
            const words = [...g.querySelectorAll(':scope > text')];
            return box && words.some(t => t.getBBox().width > box.getBBox().width - 4);
        }).map(g => g.textContent)"""
    )
    assert wider == []
