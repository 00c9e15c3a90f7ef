"""The website: built from the notebooks as readers get it, looked at in a real browser.

It is built once for all tests (conftest.py), with Sphinx's warnings as errors. The notebooks were
executed by site/build.py's own function; what they showed stands on the pages. Next:
test_site_kinds.py, one page of each kind.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from autograder.check.hints import ladder
from autograder.check.keys import is_lab, key_in
from autograder.edition.solutions import solution_body
from autograder.edition.sources import sources
from course_lib.exercises import slot

FETCHED = re.compile(
    r"""<(?:script|img|iframe)[^>]+src="(?:https?:)?//
    |<link[^>]+rel="(?:stylesheet|preload)"[^>]+href="(?:https?:)?//""",
    re.VERBOSE,
)

# The clock decides whether they can be told (u03), or the reader chooses what is measured.
SETTLED_ELSEWHERE = {
    "u03.latency", "u07.cpp", "u07_lab_matmul.tiled", "u07_lab_matmul.packed",
    "u15_lab_block.block", "u15_lab_block.gelu",
}  # fmt: skip
CUT = """[...document.querySelectorAll(".bd-article .highlight pre")].filter(box =>
    box.offsetParent && box.scrollWidth > box.clientWidth + 1
    && Math.max(...box.textContent.split("\\n").map(line => line.length)) <= 100
).map(box => box.textContent.slice(0, 80))"""


def exercises_of(root: Path) -> list[str]:
    return [name for source in sources(root / "notebooks") for name in source.exercises()]


def test_every_unit_and_every_document_has_a_page(website: Path, root: Path) -> None:
    wanted = {source.name for source in sources(root / "notebooks")}
    wanted |= {"index", "ops", "instructors", "deploy", "authoring", "playground"}
    assert wanted <= {page.stem for page in website.glob("*.html")}
    for source in sources(root / "notebooks"):  # the table of exercises is in the teacher's page
        page = (website / "units" / f"{source.key}.html").read_text()
        assert all(name in page for name in source.exercises()) and source.worth() in page
    index = (website / "index.html").read_text()
    assert all(f'href="{name}.html"' in index for name in wanted - {"index"})
    page = (
        website / "deploy.html"
    ).read_text()  # the files that it describes are there to download
    files = re.findall(r'class="reference download internal"[^>]*href="([^"]+)"', page)
    assert len(files) >= 7
    for file in files:
        original = root / "docs" / "deploy" / Path(file).name
        assert (website / file).read_bytes() == original.read_bytes()


def test_pages_show_stubs_hints_and_passing_checks_but_no_solution(website: Path, root: Path):
    for source in sources(root / "notebooks"):
        text = _visible((website / f"{source.name}.html").read_text())
        squeezed = _squeezed(text)
        for name in source.exercises():
            entry = slot(name)
            assert entry.name in text
            if entry.kind == "explain":
                continue
            assert "write your answer here" in text
            for hint in ladder(entry):
                assert _squeezed(hint) in squeezed, f"{name}: a hint is missing"
            body = _squeezed(" ".join(solution_body(entry.reference)))
            assert body not in squeezed, f"{name}: the page shows the solution"
        assert "HIDDEN TESTS" not in text and "BEGIN SOLUTION" not in text
        assert "Traceback" not in text and "needs your answer" not in text


def test_every_prediction_is_a_form_that_has_an_answer(website: Path, root: Path) -> None:
    """Where the answer depends on what a reader sets or on the clock, there may be none."""
    for source in sources(root / "notebooks"):
        page = (website / f"{source.name}.html").read_text()
        text = _visible(page)
        said = (
            "dots, then run the cell",
            "You made no prediction",
            "Kept: you say",
            'hint("',
            "points so far",
        )
        assert not [words for words in said if words in text], source.name
        asked = re.findall(r"^predict\(", source.path.read_text(), re.MULTILINE)
        answers = re.findall(r'class="prediction"[^>]*data-answer="([^"]*)"', page)
        assert len(answers) == len(asked), source.name
        open_ones = set(re.findall(r'data-key="([\w.]+)" data-unit="[^"]*" data-answer=""', page))
        assert open_ones <= SETTLED_ELSEWHERE, open_ones


def test_a_page_offers_the_notebook_that_a_student_gets(website: Path, root: Path) -> None:
    for source in sources(root / "notebooks"):
        assert (
            f'href="notebooks/{source.name}.ipynb"' in (website / f"{source.name}.html").read_text()
        )
        text = (website / "notebooks" / f"{source.name}.ipynb").read_text()
        assert "BEGIN SOLUTION" not in text and "predict(" in text


def test_the_playground_has_its_states_in_one_file_below_2_megabytes(website: Path, browser):
    assert (website / "_static" / "playground-states.js").stat().st_size < 2_000_000
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((website / "playground.html").as_uri() + "#swish/fold,cse,fuse/2/loops")
    assert page.locator(".pg-step").inner_text().startswith("step 2 of ")
    assert page.locator("#pg-program option").count() == 12
    page.get_by_role("button", name="dce").click()
    assert page.evaluate("location.hash") == "#swish/fold,cse,fuse,dce/0/loops"
    assert not complaints


def test_nothing_is_fetched_from_elsewhere(website: Path) -> None:
    """Links may lead out; scripts, styles, images and fonts may not."""
    for page in website.rglob("*.html"):
        assert not FETCHED.search(page.read_text()), page.name


def test_formulas_are_drawn_by_the_browser_itself(website: Path, root: Path) -> None:
    for source in sources(root / "notebooks"):
        page = (website / f"{source.name}.html").read_text()
        markdown = re.sub(r"```.*?```|`[^`\n]*`", "", source.path.read_text(), flags=re.DOTALL)
        if re.search(r"\$[^$\n]+\$", markdown):
            assert "<math" in page, source.name


def test_every_page_looks_right_in_light_and_in_dark_and_on_a_phone(
    website: Path, root: Path, browser
) -> None:
    """Each page is loaded once: as wide as a screen in two schemes, and then as narrow as a phone.
    On a phone, no page scrolls sideways; on a screen, code of up to 100 characters is not cut."""
    cut: list[str] = []
    units = {website / f"{source.name}.html" for source in sources(root / "notebooks")}
    page, complaints, wide = browser.new_page(), [], []
    page.set_default_timeout(600_000)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    for path in sorted(set(website.rglob("*.html")) - set(_alike(website))):
        page.set_viewport_size({"width": 1300, "height": 900})
        page.goto(path.as_uri())
        if path in units:
            units.remove(path)
            _looks_right(page, path.stem)
            page.set_viewport_size({"width": 1200, "height": 900})
            cut += page.evaluate(CUT)
        page.set_viewport_size({"width": 390, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(path.name)
    assert not wide and not complaints and not units and not cut, (wide, complaints, cut)


def _looks_right(page: Any, name: str) -> None:
    """The page is bright or dark as asked, has ink and drawings on it, and does not spill over."""
    from PIL import Image

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        pixels = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("L"), float)
        background = float(np.median(pixels))
        assert background > 200 if scheme == "light" else background < 60, (name, background)
        assert np.mean(np.abs(pixels - background) > 60) > 0.01, f"{name} is almost empty"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    if not is_lab(key_in(name)):  # the pictures of a lab are of the student's own answers
        assert page.locator("figure.cl svg").count() > 0, f"{name} has no drawing"


def _alike(website: Path) -> list[Path]:
    """The pages of ops, passes and rooms are hundreds: all but the two longest of each kind."""
    found: list[Path] = []
    for folder in ("ops", "passes", "api"):
        pages = sorted((website / folder).glob("*.html"), key=lambda page: page.stat().st_size)
        assert len(pages) > 15, folder
        found += pages[:-2]
    return found


def test_a_search_finds_what_was_asked_for_and_teachers_pages_last(website: Path, browser) -> None:
    page, complaints = browser.new_page(), []
    page.set_default_timeout(600_000)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    first = {
        "cse": "passes/cse.html", "matmul": "ops/matmul.html", "race": "glossary.html",
        "dead code": "glossary.html", "linear_scan": "u06_codegen.html", "fuse": "passes/fuse.html",
    }  # fmt: skip
    for query, wanted in first.items():
        page.goto(f"{(website / 'search.html').as_uri()}?q={query}")
        page.wait_for_function("/found|matching/.test(document.querySelector('.search-summary')"
                               "?.textContent ?? '')")  # fmt: skip
        links = "links => links.map(link => link.getAttribute('href').split(/[?#]/)[0])"
        found = page.eval_on_selector_all("#search-results li > a", links)
        assert found[0] == wanted, (query, found[:5])
        kind = page.locator("#search-results li").first.locator(".found-in")
        said = {"passes": "pass", "ops": "op", "glossary.html": "term"}.get(wanted.split("/")[0])
        assert kind.all_inner_texts() == ([said] if said else [])
        teachers = ("units/", "instructors", "deploy", "authoring")
        kinds = [name.startswith(teachers) for name in found]
        assert kinds == sorted(kinds), query
    assert any(name == "api/machine.html" for name in _hits(page, website, "linear_scan"))
    text = page.evaluate("Search.htmlToText", (website / "u02_rewrites.html").read_text())
    assert text.split()[0] == "u02" and "Dark" not in text and "note-" not in text
    assert not complaints


def _hits(page: Any, website: Path, query: str) -> list[str]:
    page.goto(f"{(website / 'search.html').as_uri()}?q={query}")
    page.wait_for_selector("#search-results li > a")
    page.wait_for_timeout(1_000)
    links = "links => links.map(link => link.getAttribute('href').split(/[?#]/)[0])"
    return page.eval_on_selector_all("#search-results li > a", links)


def test_terms_code_and_works_lead_to_their_pages(website: Path, root: Path, browser) -> None:
    for source in sources(root / "notebooks"):
        text = (website / f"{source.name}.html").read_text()
        marked = re.findall(r'class="term" tabindex="0" aria-describedby="(note-[^"]+)"', text)
        notes = re.findall(r'<span class="marginnote note" role="note" id="([^"]+)"', text)
        assert marked == notes and len(set(notes)) == len(notes), source.name
        assert notes or source.is_lab, source.name
        for name, anchor in re.findall(r'href="(glossary|bibliography)\.html#([^"]+)"', text):
            assert f'id="{anchor}"' in (website / f"{name}.html").read_text(), anchor
    rewrites = (website / "u02_rewrites.html").read_text()
    assert 'class="looked-up reference internal" href="passes/dce.html"' in rewrites
    assert 'href="bibliography.html#work-willsey-egg"' in rewrites
    index = (website / "genindex.html").read_text()
    assert all(f'href="{kind}' in index for kind in ("ops/conv.html", "glossary.html#term-race"))

    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.goto((website / "u11_npu.html").as_uri())
    word, note = page.locator(".term").first, page.locator(".note").first
    assert note.is_visible()
    article = page.locator(".bd-article").bounding_box()
    assert note.bounding_box()["x"] >= article["x"] + article["width"] - 40  # in the margin
    page.set_viewport_size({"width": 390, "height": 800})
    assert not note.is_visible()
    word.focus()
    assert note.is_visible() and note.bounding_box()["x"] + note.bounding_box()["width"] <= 390


def _visible(page: str) -> str:
    """The text of a page without its markup."""
    import html

    page = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def _squeezed(text: str) -> str:
    """Without white space and without the marks of Markdown, which a page does not show."""
    return re.sub(r"[\s`*_]+", "", text)
