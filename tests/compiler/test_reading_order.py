"""One can read the compiler from file to file: each names one to open next, and that one exists.

Next room: `graph/graph.py`, where ...      ->   course_lib/ir/graph/graph.py
"""

import ast
import re
from pathlib import Path

import pytest

NAMED = re.compile(r"Next(?:\s+rooms?)?:\s+`?([\w./]+\w)")


def files(root: Path, *packages: str) -> list[Path]:
    found = sorted(path for package in packages for path in (root / package).rglob("*.py"))
    return [path for path in found if path.name not in ("__init__.py", "__main__.py")]


def next_room(path: Path) -> str | None:
    """What the file's docstring names after "Next room:"."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    match = NAMED.search(text)
    return match[1] if match else None


def stands_for(root: Path, path: Path, name: str) -> Path | None:
    """The file or folder that is meant: beside this file, below its package, or from the top."""
    places = [path.parent, *list(path.parent.parents)[: len(path.relative_to(root).parts) - 1]]
    return next((place / name for place in places if (place / name).exists()), None)


def lost(root: Path, paths: list[Path]) -> list[str]:
    """Of these files, those that name no next room, or one that does not exist."""
    named = [(path, next_room(path)) for path in paths]
    return [f"{path.relative_to(root)}: {name}" for path, name in named
            if name is None or stands_for(root, path, name) is None]  # fmt: skip


def test_every_file_of_the_library_names_a_next_room_that_exists(root):
    assert lost(root, files(root, "course_lib")) == []


def test_so_does_every_file_of_a_lesson(root):
    assert lost(root, files(root, "lessons")) == []


def test_the_rooms_of_a_lesson_lead_out_of_it(root):
    """Who goes on from any of its files comes to none twice."""
    for path in files(root, "lessons"):
        read, now = [], path
        while now.suffix == ".py" and (root / "lessons") in now.parents:
            assert now not in read, f"{path.relative_to(root)} leads back to {now.name}"
            read.append(now)
            now = stands_for(root, now, next_room(now) or "..").resolve()


def test_so_does_every_file_of_the_autograder_but_some_of_a_unit(root):
    """What exercises, checks and wrong answers of a unit name exists; not each names something."""
    of_units = files(root, "autograder/units")
    others = [path for path in files(root, "autograder") if path not in of_units]
    assert lost(root, others) == []
    assert lost(root, [path for path in of_units if next_room(path)]) == []


@pytest.mark.parametrize("unit", ["u10", "u11"])
def test_a_unit_is_read_from_its_exercises_to_the_page_for_teachers(root, unit):
    """The rooms lead through every file of the lesson, its checks and its wrong answers, once."""
    units, lesson = root / "autograder/units" / unit, root / "lessons" / unit
    read, now = [], units / "exercises.py"
    while now.suffix == ".py":
        assert now not in read, f"{now.relative_to(root)} is met again"
        read.append(now)
        after = stands_for(root, now, next_room(now) or "")
        assert after is not None, f"{now.relative_to(root)} leads nowhere"
        now = (after / "__init__.py" if after.is_dir() else after).resolve()
    assert now == root / "docs/units" / f"{unit}.md"
    outside = {units / "__init__.py", lesson / "__init__.py"}
    assert {*units.rglob("*.py"), *lesson.glob("*.py")} - {*read} == outside
