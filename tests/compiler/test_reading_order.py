"""One can read the compiler from file to file: each names one to open next, and that one exists.

Next room: `graph/graph.py`, where ...      ->   course_lib/ir/graph/graph.py
"""

import ast
import re
from pathlib import Path

NAMED = re.compile(r"Next(?:\s+room)?:\s+`?([\w/]+(?:\.(?:py|v))?)")


def files(root: Path) -> list[Path]:
    found = sorted((root / "course_lib").rglob("*.py"))
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


def test_every_file_of_the_library_names_a_next_room_that_exists(root):
    lost = []
    for path in files(root):
        name = next_room(path)
        if name is None or stands_for(root, path, name) is None:
            lost.append(f"{path.relative_to(root)}: {name}")
    assert lost == []
