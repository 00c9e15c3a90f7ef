"""The map of the course: it agrees with the notebooks and with the pages for teachers."""

import re
from pathlib import Path

import pytest

from autograder.edition.atlas import WHAT, Unit, atlas, drawn
from autograder.edition.sources import sources


@pytest.fixture(scope="module")
def units(root: Path) -> list[Unit]:
    index = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    parts = atlas(index, sources(root / "notebooks"))
    assert [part.numeral for part in parts] == ["I", "II", "III", "IV", "V", "VI", "VII"]
    return [unit for part in parts for unit in part.units]


def test_every_notebook_is_on_the_map_and_nothing_else_is_described(units, root):
    there = [one for unit in units for one in (unit, *unit.labs) if one.source]
    keys = sorted(source.key for source in sources(root / "notebooks"))
    assert sorted(one.key for one in there) == sorted(WHAT) == keys
    for one in there:
        assert one.changed.endswith(".") and one.minutes > 0
    planned = [unit for unit in units if unit.source is None]
    assert all(not unit.needs and "Planned" not in unit.question for unit in planned)


def test_a_need_is_an_earlier_unit_that_the_pages_ask_for(units, root):
    """The notebook's opening, or the teacher's page below Prerequisites, names each of them."""
    for one in [one for unit in units for one in (unit, *unit.labs) if one.source]:
        opening = one.source.path.read_text(encoding="utf-8").split("```{code-cell}")[0]
        page = (root / "docs" / "units" / f"{one.key}.md").read_text(encoding="utf-8")
        asked = page.split("## Prerequisites")[1].split("\n## ")[0]
        named = {int(n) for n in re.findall(r"\bu(\d\d)\b", asked)}
        for first, second in re.findall(r"[Uu]nits?\s+(\d+)(?:\s+and\s+(\d+))?", opening + asked):
            named |= {int(n) for n in (first, second) if n}
        needed = {int(need[1:]) for need in one.needs}
        assert needed <= named and all(need < one.key for need in one.needs), one.key


def test_what_follows_from_another_need_is_not_drawn():
    class Fake(Unit):
        needs = property(lambda self: tuple(self.question.split()))  # type: ignore[assignment]

    units = [Fake("u00", "", ""), Fake("u01", "", "u00"), Fake("u02", "", "u00 u01")]
    assert drawn(units) == {"u00": (), "u01": ("u00",), "u02": ("u01",)}
