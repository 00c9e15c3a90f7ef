"""The first page: map, cards, pictures; and what every page is spared. Without building a site."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.edition.atlas import Part, atlas, drawn
from autograder.edition.sources import sources


@pytest.fixture
def landing(root: Path, monkeypatch) -> Any:
    monkeypatch.syspath_prepend(str(root / "site"))  # its files are plain modules
    import landing  # where the tests are collected, nobody finds it

    return landing


@pytest.fixture
def slim(root: Path, monkeypatch) -> Any:
    monkeypatch.syspath_prepend(str(root / "site"))
    import slim

    return slim


@pytest.fixture(scope="module")
def parts(root: Path) -> list[Part]:
    index = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    return atlas(index, sources(root / "notebooks"))


def test_only_units_that_exist_are_links_and_each_need_is_a_line(landing, parts):
    tree = ET.fromstring(landing.course_map(parts))
    units = [unit for part in parts for unit in part.units]
    links = {box.get("data-key"): box for box in tree if box.tag.endswith("}a")}
    planned = {box.get("data-key") for box in tree if box.get("class") == "map-planned"}
    assert set(links) == {unit.key for unit in units if unit.source}
    assert planned == {unit.key for unit in units if not unit.source} != set()
    for unit in units:
        if unit.source:
            said = links[unit.key].get("data-about") or ""
            assert links[unit.key].get("href") == f"{unit.source.name}.html"
            assert unit.question in said and f"{unit.minutes} minutes" in said
            assert unit.changed in said and all(need in said for need in unit.needs)
    lines = {one.get("data-between") for one in tree if one.get("data-between")}
    assert lines == {f"{need} {key}" for key, needs in drawn(units).items() for need in needs}


def test_the_boxes_of_the_map_do_not_overlap_and_lie_on_it(landing, parts):
    tree = ET.fromstring(landing.course_map(parts))
    boxes = [
        tuple(float(rect.get(name) or 0) for name in ("x", "y", "width", "height"))
        for rect in tree.iter("{http://www.w3.org/2000/svg}rect")
    ]
    wide, high = float(tree.get("width") or 0), float(tree.get("height") or 0)
    assert len(boxes) == len({unit.key for part in parts for unit in part.units})
    assert all(x >= 0 and y >= 0 and x + w <= wide and y + h <= high for x, y, w, h in boxes)
    for k, (x, y, w, h) in enumerate(boxes):
        for u, v, _, _ in boxes[:k]:
            assert abs(x - u) >= w or abs(y - v) >= h


def test_a_line_past_other_rows_runs_between_the_columns(landing, parts):
    tree = ET.fromstring(landing.course_map(parts))
    rects = list(tree.iter("{http://www.w3.org/2000/svg}rect"))
    sides = [float(r.get("x") or 0) for r in rects]
    paths = [path.get("d") or "" for path in tree.iter("{http://www.w3.org/2000/svg}path")]
    past = [float(found[1]) for path in paths if (found := re.search(r" ([\d.]+) [\d.]+V", path))]
    assert len(past) > 5
    assert not [x for x in past if any(side <= x <= side + landing.WIDE for side in sides)]
    assert all(0 < x < float(tree.get("width") or 0) for x in past)


def test_the_list_has_every_unit_and_links_those_that_exist(landing, parts):
    tree = ET.fromstring(landing.course_list(parts))
    rows = ["".join(row.itertext()) for row in tree.iter("li")]
    units = [unit for part in parts for unit in part.units]
    assert [row[:3] for row in rows] == [unit.key for unit in units]
    links = [link.get("href") for link in tree.iter("a")]
    assert links == [f"{unit.source.name}.html" for unit in units if unit.source]
    for unit, row in zip(units, rows, strict=True):
        assert not unit.source or (unit.question in row and unit.changed in row)


def test_every_unit_and_lab_has_a_card_with_its_facts(landing, parts, root):
    welcome = (root / "site" / "welcome.md").read_text(encoding="utf-8")
    text = landing.page(welcome, parts, {"u02"})
    for source in sources(root / "notebooks"):
        assert f'class="card-name"><a href="{source.name}.html">' in text
        assert source.worth() in text
    assert text.count('class="course-card"') == len(sources(root / "notebooks"))
    assert all(f"cards/u02-{scheme}.svg" in text for scheme in ("light", "dark"))
    assert "cards/u03" not in text and not re.search(r"%(map|tour|cards)", text)


def _picture(wide: int, high: int, inside: str = "") -> str:
    space = 'xmlns="http://www.w3.org/2000/svg"'
    return f'<svg {space} width="{wide}" height="{high}">{inside}</svg>'


def test_a_card_shows_the_fullest_picture_that_fits(landing, tmp_path):
    nested = _picture(400, 200, "<svg><g/></svg><svg/><g/>")
    shown = [_picture(400, 200, "<g/>"), nested, _picture(400, 900, "<g/>" * 9)]
    cells = [
        nbformat.v4.new_code_cell(
            "draw()",
            outputs=[nbformat.v4.new_output("display_data", {"text/html": f"<figure>{svg}"})],
        )
        for svg in shown
    ]
    book = tmp_path / "u01_x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), book)
    bare = tmp_path / "u02_x.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), bare)
    tour = tmp_path / "tour.svg"
    tour.write_text(f"<svg><style>{landing.BY_SYSTEM}{{}}</style></svg>")
    found = landing.pictures([("u01", book), ("u02", bare)], tour, tmp_path / "cards")
    assert found == {"u01"}
    assert (tmp_path / "cards" / "u01-dark.svg").read_text() == nested
    assert "@media all" in (tmp_path / "cards" / "tour-dark.svg").read_text()
    assert "@media not all" in (tmp_path / "cards" / "tour-light.svg").read_text()


def test_the_readmes_picture_has_both_schemes(landing, root):
    assert landing.BY_SYSTEM in (root / "docs" / "img" / "tour.svg").read_text()


def test_the_icons_are_those_of_the_theme_and_small(slim):
    theme = pytest.importorskip("pydata_sphinx_theme")
    static = Path(theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
    script = (static / "scripts" / "fontawesome.js").read_text(encoding="utf-8")
    sheet = slim.icon_sheet(script)
    assert len(sheet) < 15_000 < len(script) / 100
    assert all(f".fa-{name}" in sheet for name in slim.ICONS)
    with pytest.raises(KeyError, match="arrow-up"):
        slim.icon_sheet("no icons here")


def test_a_page_loses_the_script_of_the_icons_and_gets_its_marks(slim):
    page = (
        '<script defer src="_static/scripts/fontawesome.js?digest=1"></script>'
        '<div id="pst-primary-sidebar"></div><th class="head text-left"><p></p></th>'
        '<summary><span class="toctree-toggle"></span></summary>'
        '<script src="_static/map.js"></script>'
    )
    text = slim.slimmed(page)
    assert "fontawesome" not in text and "map.js" in text
    assert '<summary aria-label="The pages below"><span' in text
    assert 'role="navigation"' in text and '<td class="head text-left"></td>' in text
