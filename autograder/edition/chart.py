"""The course as a small file beside the notebooks, for the start page's map.

    chart(index, sources)      .course-map.json: parts, units and labs, exercises, points, minutes

It is made of the same lines and notebooks as the start page and the website's map (atlas.py), in
every edition: of all units, or of those that a class gets. Next room: contents.py, what else there
is; autograder/progress/course.py, which reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from autograder.edition.atlas import Unit, atlas
from autograder.edition.minutes import about, core, estimate
from autograder.edition.sources import Source
from course_lib.exercises import slot

SCHEMA = 1


def chart(index: str, sources: Sequence[Source]) -> bytes:
    """The file. `index` is the text of notebooks/index.md; units that it does not list, or all of
    them where it is "", stand in a part without a name."""
    parts = [
        {
            "name": f"Part {part.numeral}. {part.name}",
            "units": [
                _unit(one) for unit in part.units for one in (unit, *unit.labs) if one.source
            ],
        }
        for part in atlas(index, sources)
    ]
    listed = {unit["key"] for part in parts for unit in part["units"]}
    rest = [_plain(s, s.title, "", "", ()) for s in sources if s.key not in listed]
    parts += [{"name": "", "units": rest}]
    data = {"schema": SCHEMA, "parts": [part for part in parts if part["units"]]}
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def _unit(unit: Unit) -> dict[str, Any]:
    assert unit.source is not None
    name = f"Lab: {unit.question}" if unit.source.is_lab else unit.name
    question = "" if unit.source.is_lab else unit.question
    return _plain(unit.source, name, question, unit.changed, unit.needs)


def _plain(
    source: Source, name: str, question: str, changed: str, needs: Sequence[str]
) -> dict[str, Any]:
    entries = [slot(name) for name in source.exercises()]
    return {
        "key": source.key,
        "name": name,
        "notebook": f"{source.name}.ipynb",
        "question": question,
        "changed": changed,
        "needs": list(needs),
        "minutes": about(core(estimate(source.cells()))),
        "exercises": [[e.name, e.points, e.further, e.kind] for e in entries],
    }
