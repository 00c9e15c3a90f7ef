"""Pages for a reader: no instruction for a notebook, predictions as forms, links, and paper."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pypdf import PdfReader

from autograder.edition.sources import expand, sources
from autograder.notebook import _apart

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "site"))  # its files are plain modules beside build.py

from links import repository, row  # noqa: E402
from predictions import answers, asked, form, without  # noqa: E402
from printing import document, print_pages  # noqa: E402
from reader import readable  # noqa: E402

UNITS = sources(ROOT / "notebooks")
# What is said to somebody who sits before a notebook, and makes no sense on a page.
INSTRUCTIONS = re.compile(
    r"\brun (the|this|that|your|these|all|each|every) cells?\b|\btype (in |your |a |an |two )+guess"
    r"|your own guess|in place of the dots|you made no prediction|shift ?\+ ?enter"
    r"|restart the kernel|gives the next of three hints|write your answer here\.|into the cell\b"
    r"|`check\(\)` without a name",
    re.IGNORECASE,
)
PAGE = (
    '<html><head><link rel="stylesheet" href="_static/print.css"></head><body>'
    '<article class="bd-article"><h1>{title}<a href="#top">#</a></h1><p id="top">{text}</p>'
    '<h4>Exercise <code>passes.dce</code></h4><details class="hints"><summary>Hint 1</summary>'
    "<p>Which node?</p></details></article></body></html>"
)


def said_in(text: str) -> list[str]:
    return [found[0] for found in INSTRUCTIONS.finditer(" ".join(text.split()))]


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_no_page_tells_its_reader_how_to_work_in_a_notebook(source):
    unsolved = expand(source, solutions=False)
    cells = readable(source, SimpleNamespace(cells=unsolved.cells)).cells
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert {text[:80]: said_in(text) for text in prose if said_in(text)} == {}
    wanted = re.findall(r"^predict\(\s*\"([\w.]+)\"", source.path.read_text("utf-8"), re.MULTILINE)
    page = "\n".join(prose)
    assert re.findall(r'class="prediction"[^>]*data-key="([\w.]+)"', page) == wanted
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    assert not [text for text in code if re.search(r"^predict\(", text, re.MULTILINE)]


def test_the_start_page_has_no_such_sentence_either():
    assert said_in("Type in a guess, then run the\ncell.") and said_in(
        "Put it in place of the dots"
    )
    assert said_in((ROOT / "site" / "welcome.md").read_text("utf-8")) == []


def test_a_prediction_leaves_its_cell_and_the_rest_stays():
    cell = '%%needs numpy\nx = 1\npredict("u02.left", ..., unit="operations")\nprint(x)'
    assert asked(cell) == [("u02.left", "operations")]
    assert without(cell) == "%%needs numpy\nx = 1\nprint(x)"
    assert without('predict("u05.phi", ...)') == "" and asked("x = (") == []
    said = "It is 58 operations. You made no prediction for u02.left."
    shown = {"outputs": [{"data": {"text/plain": said}}]}
    assert answers([shown, {}]) == {"u02.left": "58 operations"}


def test_links_need_the_repositorys_address_in_one_place(tmp_path):
    source = UNITS[0]
    assert "http" not in row(source, "", printed=False)
    assert f'href="pdf/{source.name}.pdf"' in row(source, "", printed=True)
    setting = tmp_path / "pyproject.toml"
    setting.write_text('[project]\n[project.urls]\nRepository = "https://github.com/a/b.git"\n')
    here = row(source, repository(setting), printed=False)
    for address in (
        f"mybinder.org/v2/gh/a/b/HEAD?urlpath=lab/tree/course/{source.name}.ipynb",
        f"github.com/a/b/blob/main/notebooks/{source.name}.md",
        f"github.com/a/b/edit/main/notebooks/{source.name}.md",
        f"github.com/a/b/issues/new?title={source.name}",
    ):
        assert f'href="https://{address}' in here
    there = row(source, "https://gitlab.com/a/b", printed=False)
    assert "/v2/gl/a%2Fb/HEAD" in there and "gitlab.com/a/b/-/edit/main/" in there
    setting.write_text("[project]\n")
    assert repository(setting) == ""


def test_a_page_remembers_a_guess_and_compares_as_the_notebook_does(tmp_path, browser):
    table = [("40", "58", "nodes"), ("57", "58", "nodes"), ("3", "0.5", "MB"), ("20", "35.5", "%"),
             ("35", "35.5", "%"), ("-4", "3", "cycles"), ("9e9", "12", "")]  # fmt: skip
    forms = [form(f"u0.k{k}", unit, f"{value} {unit}".strip())
             for k, (_, value, unit) in enumerate(table)]  # fmt: skip
    page, path = browser.new_page(), tmp_path / "page.html"
    script = f'<script src="{(ROOT / "site/static/reader.js").as_uri()}"></script>'
    answer = '<p class="answer" data-key="u0.k0">It is 58 nodes.</p>'
    path.write_text(f"<!DOCTYPE html>{''.join(forms)}{answer}{script}", encoding="utf-8")
    page.goto(path.as_uri())
    for k, (guess, value, unit) in enumerate(table):
        box = page.locator(".prediction").nth(k)
        box.locator("input").fill(guess)
        box.get_by_role("button", name="Compare").click()
        apart = _apart(float(guess), float(value), unit)
        said = f"You said {guess} {unit}".strip() + f"; it is {value} {unit}".rstrip() + f".{apart}"
        assert box.get_by_role("status").inner_text() == said
    page.reload()
    assert page.locator(".answer").inner_text().startswith("You said 40 nodes; it is 58 nodes.")
    page.get_by_role("button", name="Guess again").first.click()
    assert page.locator(".answer").inner_text() == "It is 58 nodes."
    assert page.locator(".prediction input").first.is_visible()


def test_without_javascript_the_answer_is_folded_below_the_question(browser):
    page = browser.new_page(java_script_enabled=False)
    page.set_content(form("u02.left", "operations", "58 operations"))
    assert not page.locator("form").is_visible() and not page.get_by_text("It is 58").is_visible()
    page.locator("summary").click()
    assert page.get_by_text("It is 58 operations.").is_visible()


def test_paper_has_every_unit_once_with_its_hints_at_the_end(tmp_path, require_tool):
    require_tool("chromium")
    link = '<a href="u01.html#top">there</a> <a href="ops.html">ops</a>'
    (tmp_path / "u00.html").write_text(PAGE.format(title="A tour", text=link))
    (tmp_path / "u01.html").write_text(PAGE.format(title="Graphs", text="b"))
    whole, alone = document(tmp_path, ["u00", "u01"]), document(tmp_path, ["u00"])
    assert '<a href="#u01-top">there</a>' in whole and 'id="u01-top"' in whole
    assert "u01.html" not in whole + alone and "ops.html" not in whole + alone
    assert whole.count("<h2>Hints</h2>") == 2 and "<details" not in whole
    assert alone.index("Which node?") > alone.index("<h2>Hints</h2>")
    level = alone.count("Which node?")
    third = (tmp_path / "u01.html").read_text().replace("h4>", "h3>")  # Sphinx's own levels
    (tmp_path / "u01.html").write_text(third)
    assert document(tmp_path, ["u01"]).count("Which node?") == level == 1
    print_pages(tmp_path, ["u00", "u01"])
    printed = sorted((tmp_path / "pdf").iterdir())
    assert [path.name for path in printed] == ["course.pdf", "u00.pdf", "u01.pdf"]
    assert all(path.read_bytes().startswith(b"%PDF") for path in printed)
    assert str(tmp_path).encode() not in b"".join(path.read_bytes() for path in printed)
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["u00.html", "u01.html"]


def test_the_whole_course_has_a_bookmark_for_each_heading_and_says_where_units_begin(
    tmp_path, require_tool
):
    """A heading of two lines, of which Chromium's own bookmark loses the space in between; a long
    line wraps, and a listing that fills a page breaks; a verdict is no chapter."""
    require_tool("chromium")
    (tmp_path / "_static").mkdir()
    style = (ROOT / "site" / "static" / "print.css").read_text("utf-8")
    (tmp_path / "_static" / "print.css").write_text(style)
    long = "A tour from a model in PyTorch to the machine code that a processor runs, and to a chip"
    listing = "y = 2\n" * 200 + "wide " * 60
    filled = (
        '<div style="height:247mm"></div><h2>Moved <code>to.the</code> next page</h2>'
        '<section class="verdict passed"><span>2</span>\n<h4><code>a</code>: passed</h4></section>'
        f'<div class="highlight"><pre>{listing}</pre></div>'
    )
    for name, title in (("u00", long), ("u01", "Graphs")):
        (tmp_path / f"{name}.html").write_text(PAGE.format(title=title, text=filled))
    print_pages(tmp_path, ["u00", "u01"])
    alone = PdfReader(tmp_path / "pdf" / "u00.pdf")
    course = PdfReader(tmp_path / "pdf" / "course.pdf")
    titles = ["Exercise passes.dce", "Hints", "passes.dce", "Moved to.the next page"]
    assert sorted(_titles(alone.outline)) == sorted([f"{long}#", *titles])
    tops = [one for one in course.outline if not isinstance(one, list)]
    begin = [course.get_destination_page_number(one) for one in tops]
    pages = len(alone.pages)
    assert begin == [0, 1, 1 + pages] and len(course.pages) == 1 + 2 * pages >= 7
    said = course.pages[0].extract_text().split()
    assert {"2", str(2 + pages), "Graphs"} <= set(said)
    assert "wide" in alone.pages[-1].extract_text() + alone.pages[-2].extract_text()


def _titles(outline: list[Any]) -> list[str]:
    """Of all levels."""
    return [t for one in outline for t in (_titles(one) if isinstance(one, list) else [one.title])]
