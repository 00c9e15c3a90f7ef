"""The website: built from the notebooks as readers get it, looked at in a real browser.

It is built once for all tests here, with Sphinx's warnings as errors. The notebooks were executed
by site/build.py's own function; what they showed stands on the pages.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


@pytest.fixture(scope="session")
def website(root: Path, once, run_notebook) -> Path:
    def make(folder: Path) -> None:
        (folder / "solved").mkdir()
        for source in sources(root / "notebooks"):
            shutil.copy(run_notebook("instructor", unit=source.key).path, folder / "solved")
        command = [sys.executable, str(root / "site" / "build.py")]
        command += ["--into", str(folder / "html"), "--solved", str(folder / "solved")]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]

    return once("website", make) / "html"


def exercises_of(root: Path) -> list[str]:
    return [name for source in sources(root / "notebooks") for name in source.exercises()]


def test_every_unit_and_every_document_has_a_page(website: Path, root: Path) -> None:
    wanted = {source.name for source in sources(root / "notebooks")}
    wanted |= {"index", "ops", "instructors", "authoring", "playground"}
    assert wanted <= {page.stem for page in website.glob("*.html")}
    for source in sources(root / "notebooks"):  # the table of exercises is in the teacher's page
        page = (website / "units" / f"{source.key}.html").read_text()
        assert all(name in page for name in source.exercises()) and source.worth() in page
    index = (website / "index.html").read_text()
    assert all(f'href="{name}.html"' in index for name in wanted - {"index"})


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


def test_no_page_tells_a_reader_to_run_a_cell_or_speaks_of_a_guess(website: Path, root: Path):
    for source in sources(root / "notebooks"):
        text = _visible((website / f"{source.name}.html").read_text())
        said = ("dots, then run the cell", "You made no prediction", "You said", "Kept: you say")
        assert not [words for words in said if words in text], source.name
        if "predict(" in source.path.read_text():
            assert "Make a guess before you read on" in text and "\nIt is " in text, source.name


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
    On a phone, no page scrolls sideways."""
    units = {website / f"{source.name}.html" for source in sources(root / "notebooks")}
    page, complaints, wide = browser.new_page(), [], []
    page.set_default_timeout(600_000)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    for path in sorted(website.rglob("*.html")):
        page.set_viewport_size({"width": 1300, "height": 900})
        page.goto(path.as_uri())
        if path in units:
            units.remove(path)
            _looks_right(page, path.stem)
        page.set_viewport_size({"width": 390, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(path.name)
    assert not wide and not complaints and not units


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


def _visible(page: str) -> str:
    """The text of a page without its markup."""
    import html

    page = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def _squeezed(text: str) -> str:
    """Without white space and without the marks of Markdown, which a page does not show."""
    return re.sub(r"[\s`*_]+", "", text)
