"""The website, one page of each kind: legible to all, light, and with a way on from anywhere."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

# A page of each kind, and what stands behind its address.
KINDS = dict.fromkeys(
    ("index", "u11_npu", "u09_lab_tuners", "glossary", "bibliography", "ops", "ops/conv",
     "passes/fuse", "api/trace", "units/u07", "instructors", "404"), ""
) | {"search": "?q=fuse", "playground": "#swish/fold,cse,fuse/2/loops"}  # fmt: skip
UNSAID = ("search",)  # a page without a description
# What axe-core looks for: everything, and then what another scheme can change.
RULES = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}


def test_pages_of_each_kind_are_light_and_legible_to_all(
    website: Path, root: Path, browser, missing
) -> None:
    """What a server sends, compressed as servers do: the first page is below 500 kB, any other one
    below 1.5 MB. Nothing is asked for elsewhere, and nothing scrolls sideways. axe-core finds
    nothing wrong in either scheme."""
    axe, shared, asked = _axe(missing), 0, set[str]()
    assert not (website / ".doctrees").exists() and not list(website.rglob("fontawesome.js"))
    page = browser.new_page(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(600_000)
    page.on("request", lambda request: asked.add(request.url))
    for name in KINDS:
        asked.clear()
        page.emulate_media(color_scheme="light")
        page.goto((website / f"{name}.html").as_uri() + KINDS[name])
        for image in page.locator("img").all():
            image.evaluate("image => image.loading = 'eager'")
        page.wait_for_load_state("networkidle")
        if name == "search":
            page.wait_for_selector("#search-results .highlighted")
        assert page.locator('meta[name="description"]').count() == (name not in UNSAID), name
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200, name
        for scheme, rules in RULES.items():
            page.emulate_media(color_scheme=scheme)
            if name != "404":  # which has the browser's own scheme
                page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
            found = axe.run(page, options=rules).response["violations"]
            assert not found, (name, scheme, [(v["id"], v["nodes"][0]["html"]) for v in found])
        assert all(url.startswith(("data:", "file:")) for url in asked), asked
        files = [Path(url[7:].split("?")[0].split("#")[0]) for url in asked if url[:5] == "file:"]
        sent = {file.name: len(gzip.compress(file.read_bytes())) for file in files}
        assert sum(sent.values()) < (500_000 if name == "index" else 1_500_000), (name, sent)
        if name.startswith("u"):
            own = f"{name.rpartition('/')[2]}.html"
            shared = max(shared, sum(size for file, size in sent.items() if file != own))
    page.close()
    for path in website.rglob("*.html"):
        assert shared + len(gzip.compress(path.read_bytes())) < 1_500_000, path.name


def test_a_page_that_is_not_there_leads_to_those_that_are(website: Path, browser) -> None:
    """On a server that has the course in some folder of its own."""
    page = browser.new_page(color_scheme="dark")

    def answer(route: Any) -> None:
        path = website / route.request.url.removeprefix("http://course.test/ml/")
        there = "/ml/" in route.request.url and path.is_file()
        route.fulfill(path=path if there else website / "404.html", status=200 if there else 404)

    page.route("**/*", answer)
    page.goto("http://course.test/ml/units/u99/nothing.html")
    first = page.get_by_role("link", name="The first page")
    page.wait_for_function("document.querySelector('[data-page]').href.endsWith('/ml/index.html')")
    first.click()
    assert page.url == "http://course.test/ml/index.html"
    page.close()


def test_on_a_phone_a_list_says_what_the_map_says(website: Path, browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.set_default_timeout(600_000)
    page.goto((website / "index.html").as_uri())
    listed = page.locator(".map-list")
    assert listed.is_visible() and not page.locator(".course-map").is_visible()
    fold = listed.locator("details").nth(3)
    fold.locator("summary").click()
    assert "minutes. Needs u01 Graphs as IR, u02 Rewrites." in fold.inner_text()
    fold.get_by_role("link", name="To u03").click()
    page.wait_for_url("**/u03_fusion.html")
    page.goto((website / "index.html").as_uri())
    page.set_viewport_size({"width": 1200, "height": 900})
    assert page.locator(".course-map").is_visible() and not page.locator(".map-list").is_visible()
    page.close()


def test_the_map_says_what_a_unit_is_about_by_mouse_and_by_keyboard(website: Path, browser) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(600_000)
    page.goto((website / "index.html").as_uri())
    said, box = page.locator(".map-about"), page.locator('.course-map a[data-key="u03"]')
    before = said.inner_text()
    box.hover()
    assert said.inner_text().startswith("u03. ") and "minutes" in said.inner_text()
    marked = page.locator(".course-map .map-needed")
    assert [one.get_attribute("data-key") for one in marked.all()] == ["u01", "u02"]
    page.mouse.move(0, 0)
    assert said.inner_text() == before
    box.focus()
    assert said.inner_text().startswith("u03. ")
    page.keyboard.press("Enter")
    page.wait_for_url("**/u03_fusion.html")
    page.close()


def _axe(missing: Any) -> Any:
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python")
    return Axe()
