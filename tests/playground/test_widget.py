"""The widget in a real browser: by keyboard, by its address, without JavaScript, in a notebook."""

from pathlib import Path
from typing import Any

import pytest

from course_lib.exercises import plugged
from course_lib.ir.graph.graph import Graph
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.fold import fold
from course_lib.playground.explore import orders
from course_lib.playground.page import as_json, mount, script, shown, style
from course_lib.playground.playground import playground
from course_lib.playground.programs import FIVE, PROGRAMS
from course_lib.playground.table import unpack

NAMES = ("repeat", "order", "dense")
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/><title>p</title>
<meta name="viewport" content="width=device-width"/><style>{style}</style></head>
<body class="cl"><main><h1>The playground</h1>{mount}</main><script>const DATA={data};</script>
<script>{script}playground(document.getElementById("playground"), DATA, true);</script>
</body></html>
"""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return shown({name: PROGRAMS[name] for name in NAMES}, FIVE)


@pytest.fixture
def address(data: dict[str, Any], tmp_path: Path) -> str:
    page = PAGE.format(style=style(), mount=mount(data), data=as_json(data), script=script())
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


@pytest.fixture
def page(browser, address: str):
    """A page that complains about nothing."""
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith("file:") else complaints.append(r.url))
    page.goto(address)
    yield page
    assert not complaints


def at(page) -> str:
    """The fragment of the address."""
    return page.evaluate("location.hash.slice(1)")


def test_all_texts_and_all_orders_show_what_was_computed(page, address: str, data: dict):
    texts = unpack(data["table"])
    assert page.evaluate("unpacked(DATA.table)") == texts
    program = data["programs"][1]
    seen = page.evaluate(
        """async (orders) => { const seen = [];
        for (const order of orders) {
          location.hash = `#order/${order.join(",") || "none"}/0/graph`;
          await new Promise((done) => addEventListener("hashchange", done, { once: true }));
          seen.push([document.querySelector(".pg-status").textContent,
                     document.querySelector(".pg-text").textContent]);
        } return seen; }""",
        [[FIVE[k].__name__ for k in order] for order in orders(5)][1:],
    )
    for (status, text), end in zip(seen, program["ends"][1:], strict=True):
        form = program["forms"][end]
        nodes, kernels = form["nodes"], form["kernels"]
        assert status.startswith(f"{nodes} node{'s' * (nodes > 1)}, {kernels} kernel"), status
        assert f"{form['bytes']:,} bytes" in status
        assert f"{program['ends'].count(end)} of 326 orders end here" in status
        shown_lines = [line[2:] for line in text.rstrip("\n").split("\n")]
        assert shown_lines == texts[form["text"]].split("\n")


def test_everything_is_done_with_the_keyboard(page):
    keys = page.keyboard
    keys.press("Tab")
    keys.press("ArrowDown")  # the program
    assert at(page) == "order/none/0/graph"
    for name in ("fold", "simplify", "cse"):
        keys.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == name
        if name != "simplify":
            keys.press("Space")
    assert at(page) == "order/fold,cse/0/graph"
    page.get_by_label("cse: earlier").focus()
    keys.press("Enter")
    assert at(page) == "order/cse,fold/0/graph"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "cse: later"
    keys.press("Enter")
    assert at(page) == "order/fold,cse/0/graph"
    page.get_by_role("tab", name="Graph").focus()
    for view in ("loops", "llvm", "assembly", "ptx", "counts", "graph"):
        keys.press("ArrowRight")
        assert at(page) == f"order/fold,cse/0/{view}"
        assert page.evaluate("document.activeElement.id") == f"pg-tab-{view}"
    keys.press("ArrowLeft")
    assert page.get_by_role("tab", selected=True).inner_text() == "Counts"
    keys.press("Tab")  # back is disabled at the first step
    assert page.evaluate("document.activeElement.type") == "range"
    keys.press("ArrowRight")
    assert at(page) == "order/fold,cse/1/counts"
    assert page.get_by_role("button", name="on ›").is_disabled()
    page.get_by_role("button", name="none").focus()
    keys.press("Enter")
    assert at(page) == "order/none/0/counts"


def test_a_link_opens_the_state_and_nonsense_opens_what_is_known(page, address: str):
    page.goto("about:blank")
    page.goto(f"{address}#dense/fuse,fold/4/assembly")
    assert page.locator("select").evaluate("s => s.value") == "dense"
    assert page.locator("button[data-at='1']").inner_text() == "fuse"
    assert page.locator("button[data-at='2']").inner_text() == "fold"
    assert page.locator(".pg-step").inner_text().startswith("step 4 of ")
    assert "ymm" in page.locator(".pg-text").inner_text()
    assert page.get_by_role("link").get_attribute("href") == "#dense/fuse,fold/4/assembly"
    for nonsense in ("#nothing/x/y/z", "#dense/fold,fold,nope/999/views", "#dense", "#%"):
        page.goto("about:blank")
        page.goto(f"{address}{nonsense}")
        assert page.get_by_role("tab", selected=True).inner_text() == "Graph"
        assert page.locator(".pg-drawing svg").count() == 1


def test_each_step_shows_the_loops_the_code_and_the_counts_of_that_step(page, address, data):
    texts, program = unpack(data["table"]), data["programs"][2]
    end = program["forms"][program["ends"][orders(5).index((4,))]]
    kernel = program["kernels"][end["main"]]
    for number, step in enumerate(kernel["steps"]):
        for view in ("loops", "llvm", "assembly"):
            page.evaluate(f"location.hash = '#dense/fuse/{number}/{view}'")
            page.wait_for_selector(f"#pg-tab-{view}[aria-selected=true]")
            page.wait_for_function(f"document.querySelector('input').value === '{number}'")
            text = page.locator(".pg-text").text_content().rstrip("\n")
            lines = [line[2:] if view == "loops" and number else line for line in text.split("\n")]
            assert lines == texts[step[view]].split("\n")
    page.evaluate("location.hash = '#dense/fuse/2/counts'")
    page.wait_for_selector(".pg-now")
    cells = page.locator("tr.pg-now > *").all_inner_texts()
    step = kernel["steps"][2]
    assert cells == [step["step"], f"{step['fmas']:,}", f"{step['clocks']:,}"]
    page.evaluate("location.hash = '#dense/fuse/2/ptx'")
    page.wait_for_selector("#pg-tab-ptx[aria-selected=true]")
    assert ".entry" in page.locator(".pg-text").text_content()
    assert page.locator(".pg-stepper").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_scrolls_sideways_and_buttons_are_large(browser, address, scheme):
    page = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True, color_scheme=scheme
    ).new_page()
    for view in ("graph", "loops", "llvm", "assembly", "ptx", "counts"):
        page.goto("about:blank")
        page.goto(f"{address}#dense/fold,simplify,cse,dce,fuse/3/{view}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
        sizes = page.evaluate(
            "[...document.querySelectorAll('.pg button')].map((b) => b.getBoundingClientRect())"
            ".filter((r) => r.width).map((r) => Math.min(r.width, r.height))"
        )
        assert min(sizes) >= 40
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_in_any_view(browser, address: str, scheme: str, missing):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python")
    page = browser.new_page(color_scheme=scheme)
    for view in ("graph", "counts"):
        page.goto("about:blank")
        page.goto(f"{address}#order/fold,cse/1/{view}")
        found = Axe().run(page).response["violations"]
        assert not [(v["id"], v["nodes"][0]["html"]) for v in found]


def test_without_javascript_there_is_a_table_of_the_programs(browser, address: str):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    rows = page.locator("#playground tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == list(NAMES)
    context.close()


def test_in_a_notebook_the_frame_works_alone_and_as_dark_as_jupyterlab(browser, tmp_path: Path):
    html = playground("repeat").html
    for light, colour in (("true", "rgb(27, 31, 36)"), ("false", "rgb(230, 232, 235)")):
        path = tmp_path / "notebook.html"
        path.write_text(f'<body data-jp-theme-light="{light}">{html}</body>', encoding="utf-8")
        page = browser.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error, seen=complaints: seen.append(str(error)))
        page.goto(path.as_uri())
        page.locator("iframe").scroll_into_view_if_needed()
        frame = page.frame_locator("iframe")
        frame.get_by_role("button", name="cse").click()
        assert frame.locator(".pg-status").inner_text().startswith("5 nodes")
        assert frame.locator(".pg-status").evaluate("e => getComputedStyle(e).color") == colour
        assert not complaints and page.url == path.as_uri()
        page.close()


def no_op(graph: Graph) -> Graph:
    """A pass of somebody's own."""
    return graph


def broken(graph: Graph) -> Graph:
    seen: dict[str, Graph] = {}
    return seen[graph.nodes[-1].op]


def test_in_a_notebook_ones_own_pass_is_named_and_what_it_raises_is_a_card(browser, tmp_path: Path):
    with plugged("passes.cse", broken):
        html = playground("order", [fold, cse, no_op]).html
    path = tmp_path / "notebook.html"
    path.write_text(f'<body data-jp-theme-light="true">{html}</body>', encoding="utf-8")
    page = browser.new_page(viewport={"width": 600, "height": 900})
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    assert "Yours: cse, no_op; the library's: fold." in frame.locator(".pg-passes").inner_text()
    frame.get_by_role("button", name="all, in this order").click()
    card = frame.locator(".pg-wrong").inner_text()
    assert card.startswith("The pass 'cse' crashed on @order: KeyError") and "seen[" in card
    assert "Traceback" not in frame.locator("body").inner_text()
    assert frame.locator("select").count() == 0, "there is one program, so nothing to choose"
    page.wait_for_function("document.querySelector('iframe').style.height !== '62rem'")
    assert frame.locator("html").evaluate("e => e.scrollHeight - e.clientHeight") <= 1
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    frame.locator("html[data-theme=dark]").wait_for(state="attached")
    page.close()


def test_a_notebook_without_answers_says_that_all_passes_are_the_librarys():
    assert "All passes are the library's" in playground("repeat").text
    with plugged("passes.cse", no_op):
        assert "Passes of yours: cse" in playground("repeat").text
